//! `windlass handback` from outside: real workspaces, the real binary, files read with our own eyes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use serde_json::{Value, json};

use windlass::base::SessionId;
use windlass::store::Dirs;
use windlass::workspace::child::{Progress, Room};

use crate::outside::{Home, Ran};
use crate::terminal::Program;

const BASE: &str = "one\ntwo\nthree\nfour\nfive\n";
const PARENT: &str = "one\nTWO\nthree\nfour\nfive\n";
const CHILD: &str = "one\nzwei\nthree\nfour\nfive\nsix\n";

/// A session in the directory, and a child `tests` of it that has a copy.
fn spawned(home: &Home) -> Room {
    let model = home.script(&json!({"turns": [{"say": "hello"}]}));
    assert_eq!(home.run(&["exec", "--model", &model, "go"]).code, Some(0));
    let id = home.run(&["sessions", "--json"]).events()[0]["id"].as_str().unwrap().to_owned();
    let dirs = Dirs::at(home.path("state/windlass"), home.path("config/windlass"));
    home.write("work/text", BASE);
    for name in ["taken", "gone", "bits", "same"] {
        home.write(&format!("work/{name}"), "base\n");
    }
    let room = Room::at(dirs.workspace(&SessionId::new(id), "tests"));
    room.make(&home.path("work"), &Progress::default()).unwrap();
    room
}

/// The same after both sides changed files and the child's came back.
fn handed_back() -> (Home, Room) {
    let home = Home::new();
    let room = spawned(&home);
    let copy = |name: &str| room.copy().join(name);
    fs::write(copy("text"), CHILD).unwrap();
    fs::write(copy("taken"), "child\n").unwrap();
    fs::write(copy("same"), "new\n").unwrap();
    fs::write(copy("gone"), "child\n").unwrap();
    fs::write(copy("bits"), b"child\0").unwrap();
    fs::set_permissions(copy("bits"), fs::Permissions::from_mode(0o755)).unwrap();
    home.write("work/text", PARENT);
    home.write("work/same", "new\n");
    fs::remove_file(home.path("work/gone")).unwrap();
    fs::write(home.path("work/bits"), b"parent\0").unwrap();
    room.hand_back(&home.path("work")).unwrap();
    (home, room)
}

fn handback(home: &Home, words: &[&str]) -> Ran {
    home.run(&[&["handback"], words].concat())
}

fn done(home: &Home, words: &[&str]) -> String {
    let ran = handback(home, words);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    ran.out
}

fn refused(home: &Home, words: &[&str], code: i32) -> String {
    let ran = handback(home, words);
    assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{}", ran.err);
    ran.err
}

fn row(home: &Home) -> Value {
    handback(home, &["list", "--json"]).events()[0].clone()
}

#[test]
fn what_came_back_is_listed_and_shown() {
    let (home, room) = handed_back();
    assert_eq!(
        done(&home, &["list"]),
        "tests  1 taken, 1 the same, 3 conflicts, 3 open\n  \
         bits  both changed it, differently\n  \
         gone  removed here, changed by the child\n  \
         text  both changed it, differently\n"
    );
    let row = row(&home);
    assert_eq!(row["dir"], room.dir().display().to_string());
    assert_eq!(
        (&row["child"], &row["state"], &row["taken"], &row["same"], &row["conflicts"], &row["open"]),
        (
            &json!("tests"),
            &json!("handed_back"),
            &json!(["taken"]),
            &json!(["same"]),
            &json!(["bits", "gone", "text"]),
            &json!(["bits", "gone", "text"])
        )
    );
    assert_eq!(
        done(&home, &["show", "tests"]),
        "bits  open: both changed it, differently\ngone  open: removed here, changed by the child\n\
         same  the same here already\ntaken  taken\ntext  open: both changed it, differently\n"
    );
    let text = done(&home, &["show", "tests", "text"]);
    let hunk = "@@ base 2,1 parent 2,1 child 2,1 @@ both changed it, differently\n       | one\n\
                base   | two\nparent | TWO\nchild  | zwei\n       | three\n";
    assert!(
        text.starts_with("text  open: both changed it, differently\nbase    a file of 24 bytes, "),
        "{text}"
    );
    assert!(text.contains(hunk) && text.contains("child  | six\n"), "{text}");
    let bits = done(&home, &["show", "tests", &home.path("work/bits").display().to_string()]);
    assert!(
        bits.contains("child   an executable file of 6 bytes, binary, ") && !bits.contains("@@"),
        "{bits}"
    );
    assert!(done(&home, &["show", "tests", "./gone"]).contains("parent  nothing\n"));
}

#[test]
fn half_of_a_rename_that_is_put_back_names_the_other() {
    let home = Home::new();
    let room = spawned(&home);
    fs::rename(room.copy().join("taken"), room.copy().join("moved")).unwrap();
    room.hand_back(&home.path("work")).unwrap();
    assert_eq!(
        done(&home, &["revert", "tests", "moved"]),
        "moved: put back as it was; no conflict is open\nit is one half of a rename; taken is the file's old path, which \
         is still gone: `windlass handback revert tests taken` puts that back too\n"
    );
    assert_eq!(
        done(&home, &["revert", "tests", "taken"]),
        "taken: put back as it was; no conflict is open\n"
    );
    assert_eq!((home.read("work/taken").as_str(), home.path("work/moved").exists()), ("base\n", false));
}

#[test]
fn a_conflict_is_resolved_by_each_way_and_taken_back() {
    let (home, room) = handed_back();
    let text = || home.read("work/text");
    assert_eq!(
        done(&home, &["resolve", "tests", "text", "--take", "both"]),
        "text: written; 2 conflicts are open\n"
    );
    assert_eq!(text(), "one\nTWO\nzwei\nthree\nfour\nfive\nsix\n");
    assert!(done(&home, &["show", "tests"]).contains("text  resolved: both changed it, differently\n"));
    let told = refused(&home, &["resolve", "tests", "text", "--take", "both"], 1);
    assert!(told.contains("text is resolved already; `windlass handback revert tests text` takes"), "{told}");
    assert_eq!(done(&home, &["revert", "tests", "text"]), "text: taken back; 3 conflicts are open\n");
    assert_eq!(text(), PARENT);
    let told = refused(&home, &["revert", "tests", "text"], 1);
    assert!(told.contains("what was done about text is taken back already: it is as it was"), "{told}");
    for (version, expected) in [("child", CHILD), ("base", BASE), ("parent", PARENT)] {
        done(&home, &["resolve", "tests", "text", "--take", version]);
        assert_eq!(text(), expected, "{version}");
    }
    home.write("result", "by hand\n");
    let file = home.path("result").display().to_string();
    done(&home, &["resolve", "tests", "text", "--file", &file]);
    assert_eq!(text(), "by hand\n");

    // what is no text
    done(&home, &["resolve", "tests", "bits", "--take", "child"]);
    let bits = home.path("work/bits");
    assert_eq!(fs::read(&bits).unwrap(), b"child\0");
    assert_eq!(fs::metadata(&bits).unwrap().permissions().mode() & 0o111, 0o111);
    let told = refused(&home, &["resolve", "tests", "bits", "--take", "both"], 1);
    assert!(told.contains("bits has no lines to merge in all its versions"), "{told}");
    // removed here, changed by the agent: one verdict, and no lines of both
    let shown = done(&home, &["show", "tests", "gone"]);
    assert!(shown.starts_with("gone  open: removed here, changed by the child\n"), "{shown}");
    assert!(
        shown.contains("@@ removed here, changed by the child\n") && !shown.contains("differently"),
        "{shown}"
    );
    for from in [["--take", "both"], ["--tool", "true"]] {
        let told = refused(&home, &[&["resolve", "tests", "gone"][..], &from].concat(), 1);
        assert!(
            told.contains("gone was removed here, changed by the child, so there are no lines of both"),
            "{told}"
        );
        assert!(told.contains("take `parent` (it stays removed), `child` (it comes back"), "{told}");
    }
    assert_eq!(
        done(&home, &["resolve", "tests", "gone", "--take", "parent"]),
        "gone: settled as it is; no conflict is open\n"
    );
    assert!(!home.path("work/gone").exists());
    done(&home, &["resolve", "tests", "gone", "--take", "child"]);
    assert_eq!(home.read("work/gone"), "child\n");
    assert_eq!(row(&home)["open"], json!([]));

    // what was taken without a question
    done(&home, &["revert", "tests", "taken"]);
    assert_eq!(home.read("work/taken"), "base\n");
    assert!(done(&home, &["show", "tests"]).contains("taken  taken, then put back\n"));
    let told = refused(&home, &["revert", "tests", "taken"], 1);
    assert!(told.contains("`windlass handback resolve tests taken --take child` takes it again"), "{told}");
    done(&home, &["resolve", "tests", "taken", "--take", "child"]);
    assert_eq!(home.read("work/taken"), "child\n");
    assert!(room.dir().join("versions").exists());
}

#[test]
fn what_was_changed_since_is_not_written_over() {
    let (home, _room) = handed_back();
    let mine = PARENT.replace("five", "FIVE");
    home.write("work/text", &mine);
    let told = refused(&home, &["resolve", "tests", "text", "--take", "child"], 1);
    assert!(told.starts_with("windlass: text was changed here since the hand-back"), "{told}");
    assert_eq!(home.read("work/text"), mine);
    // its lines are in a merge
    done(&home, &["resolve", "tests", "text", "--take", "both"]);
    let merged = home.read("work/text");
    assert!(merged.contains("TWO\nzwei\n") && merged.contains("FIVE\n"), "{merged}");
    home.write("work/text", "again\n");
    let told = refused(&home, &["revert", "tests", "text"], 1);
    assert!(told.contains("text was changed here since, so it stays"), "{told}");
    assert_eq!(home.read("work/text"), "again\n");
    // settled as it is, a whole version may be taken, and that can be taken back
    done(&home, &["resolve", "tests", "text", "--take", "parent"]);
    done(&home, &["resolve", "tests", "text", "--take", "child"]);
    assert_eq!(home.read("work/text"), CHILD);
    done(&home, &["revert", "tests", "text"]);
    assert_eq!(home.read("work/text"), "again\n");
    // where a directory is, no file can be
    fs::create_dir(home.path("work/gone")).unwrap();
    let told = refused(&home, &["resolve", "tests", "gone", "--take", "child"], 1);
    assert!(told.contains("is in the place of gone here; move it away"), "{told}");
}

#[test]
fn a_merge_program_gets_the_three_versions_and_its_word_counts() {
    let (home, _room) = handed_back();
    let with = |tool: &str| handback(&home, &["resolve", "tests", "text", "--tool", tool]);
    for (tool, words) in [
        ("exit 3", "ended with exit status: 3; text is as it was"),
        ("true", "left a conflict as it was"),
        ("sed -i /^=====/d \"$MERGED\"", "left markers in line 2"),
        ("rm \"$MERGED\"", "cannot be read"),
        ("rm \"$MERGED\"; mkfifo \"$MERGED\"", "it is no regular file; text is as it was"),
    ] {
        let ran = with(tool);
        assert!(ran.code == Some(1) && ran.err.contains(words), "{tool}: {}", ran.err);
        assert_eq!(home.read("work/text"), PARENT);
    }
    let ran = with("cat \"$BASE\" \"$LOCAL\" \"$REMOTE\" >\"$MERGED\"");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(home.read("work/text"), [BASE, PARENT, CHILD].concat());
    let left = fs::read_dir(home.path("tmp")).unwrap().count();
    assert_eq!(left, 0, "the program's files are removed");
}

#[test]
fn a_merge_program_ends_with_who_ran_it_and_nothing_is_written() {
    let (home, _room) = handed_back();
    let pids = home.path("pids");
    let lives = |pid: &str| {
        // one that waits to be reaped by who inherited it is over
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
    };
    for (signal, code, trap) in
        [(Signal::SIGINT, 130, ""), (Signal::SIGTERM, 143, ""), (Signal::SIGTERM, 143, "trap '' TERM INT; ")]
    {
        let _ = fs::remove_file(&pids);
        let tool = format!(
            "{trap}echo taken >\"$MERGED\"; setsid sleep 500 & echo $$ $! >{0}.new; mv {0}.new {0}; sleep 500",
            pids.display()
        );
        let mut command = home.command(&["handback", "resolve", "tests", "text", "--tool", &tool]);
        let running =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut tries = 0;
        while !pids.exists() {
            tries += 1;
            assert!(tries < 30_000, "the merge program did not begin");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let started = home.read("pids");
        assert!(started.split_whitespace().all(lives), "{started}");
        nix::sys::signal::kill(Pid::from_raw(running.id() as i32), signal).unwrap();
        let ended = running.wait_with_output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(code), "{told}");
        assert!(told.ends_with(&format!("was ended, for {signal} came; text is as it was\n")), "{told}");
        assert!(!started.split_whitespace().any(lives), "{started}");
        assert_eq!(home.read("work/text"), PARENT);
        assert_eq!(fs::read_dir(home.path("tmp")).unwrap().count(), 0, "the program's files are removed");
    }
}

#[test]
fn a_workspace_is_dropped_when_nothing_is_open_or_it_is_said_twice() {
    let (home, room) = handed_back();
    let told = refused(&home, &["drop", "tests"], 1);
    assert!(told.contains("tests has 3 open conflicts"), "{told}");
    for path in ["text", "bits", "gone"] {
        done(&home, &["resolve", "tests", path, "--take", "parent"]);
    }
    let told = refused(&home, &["drop", "tests"], 1);
    assert!(told.contains("nobody can be asked here") && room.dir().exists(), "{told}");
    let ask = |answer: &str| {
        let mut program = Program::start(&home.command(&["handback", "drop", "tests"]));
        program.wait_for("for good? [y/N]");
        program.send(answer);
        program.end()
    };
    assert_eq!((ask("\n"), room.dir().exists()), (1, true));
    assert_eq!((ask("y\n"), room.dir().exists()), (0, false));
    assert_eq!(done(&home, &["list"]), "no agent has a copy of its own\n");
    assert_eq!(home.read("work/taken"), "child\n", "what was taken stays");
}

#[test]
fn what_is_not_there_or_not_over_is_told() {
    let home = Home::new();
    assert!(refused(&home, &["list"], 2).contains("has no session"));
    let room = spawned(&home);
    assert_eq!(done(&home, &["list"]), "tests  has not handed back\n");
    assert_eq!(row(&home)["state"], "at_work");
    assert!(
        refused(&home, &["show", "docs"], 2).contains("no agent docs with a copy of its own; it has tests")
    );
    assert!(refused(&home, &["show", "tests"], 1).contains("tests has not handed back yet"));
    let told = refused(&home, &["drop", "tests"], 1);
    assert!(told.contains("its work is nowhere else") && room.dir().exists(), "{told}");
    // its hand-back was begun and cut, or failed: who asks ends it
    fs::write(room.copy().join("taken"), "child\n").unwrap();
    fs::write(room.ending(), "{}").unwrap();
    fs::set_permissions(room.ending(), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(done(&home, &["show", "tests"]), "taken  taken\n");
    assert_eq!((home.read("work/taken").as_str(), room.copy().exists()), ("child\n", false));
    let told = refused(&home, &["show", "tests", "text"], 2);
    assert!(told.contains("tests did not change text"), "{told}");
    // two at once: the second waits for the first and is told, and so is who comes too late
    let dir: PathBuf = room.dir().into();
    assert_eq!(done(&home, &["drop", "tests", "--force"]), "tests: dropped\n");
    assert!(!dir.exists());
}

#[test]
fn the_same_clash_seen_again_can_be_resolved_as_before() {
    let (home, room) = handed_back();
    let told = refused(&home, &["resolve", "tests", "text", "--take", "earlier"], 1);
    assert!(told.contains("no earlier resolution is known of these versions of text"), "{told}");
    home.write("result", "by hand\n");
    done(&home, &["resolve", "tests", "text", "--file", &home.path("result").display().to_string()]);
    // another child comes with the same again
    let again = Room::at(room.dir().with_file_name("again"));
    home.write("work/text", BASE);
    again.make(&home.path("work"), &Progress::default()).unwrap();
    fs::write(again.copy().join("text"), CHILD).unwrap();
    home.write("work/text", PARENT);
    again.hand_back(&home.path("work")).unwrap();
    let shown = done(&home, &["show", "again", "text"]);
    assert!(
        shown.contains("these three were resolved before: `--take earlier` does it the same way\n"),
        "{shown}"
    );
    done(&home, &["resolve", "again", "text", "--take", "earlier"]);
    assert_eq!(home.read("work/text"), "by hand\n");
    // what was taken back is no example
    done(&home, &["revert", "again", "text"]);
    assert!(!done(&home, &["show", "again", "text"]).contains("earlier"));
    let kept = home.path("state/windlass/resolutions");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 0);
}

#[test]
fn what_is_damaged_or_was_cut_hides_nothing_else_and_is_not_dropped_unseen() {
    let (home, room) = handed_back();
    let broken = Room::at(room.dir().with_file_name("broken"));
    fs::create_dir(broken.dir()).unwrap();
    fs::write(broken.record(), "{").unwrap();
    let ran = handback(&home, &["list"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    assert!(
        ran.out.contains("broken  cannot be read: ") && ran.out.contains("tests  1 taken"),
        "{}",
        ran.out
    );
    let rows = handback(&home, &["list", "--json"]).events();
    assert_eq!((&rows[0]["state"], &rows[1]["state"]), (&json!("damaged"), &json!("handed_back")));
    // a resolution that cannot be ended stops no other
    let stuck = room.dir().join("resolutions/000000");
    windlass::store::private::dir_all(&stuck).unwrap();
    fs::write(stuck.join("resolution.json"), "{").unwrap();
    let ran = handback(&home, &["resolve", "tests", "text", "--take", "child"]);
    assert_eq!((ran.code, home.read("work/text").as_str()), (Some(0), CHILD), "{}", ran.err);
    assert!(ran.err.contains("a resolution that was cut could not be ended"), "{}", ran.err);
    let ran = handback(&home, &["revert", "tests", "text"]);
    assert_eq!((ran.code, home.read("work/text").as_str()), (Some(0), PARENT), "{}", ran.err);
    // as a kill leaves it once the hand-back has begun: the parent's files may be beside their places
    let cut = Room::at(room.dir().with_file_name("cut"));
    cut.make(&home.path("work"), &Progress::default()).unwrap();
    fs::create_dir(cut.dir().join("run")).unwrap();
    fs::write(cut.dir().join("run/plan.json"), "{}").unwrap();
    fs::write(cut.dir().join("run/prepared.json"), "[]").unwrap();
    for flags in [&["drop", "cut"][..], &["drop", "cut", "--force"]] {
        let told = refused(&home, flags, 1);
        assert!(told.contains("cut was cut half way, and files of ") && cut.dir().exists(), "{told}");
    }
    // one that failed before anything was moved
    fs::remove_dir_all(cut.dir().join("run")).unwrap();
    windlass::store::private::replace(&cut.dir().join("failed"), b"No space left on device").unwrap();
    fs::write(cut.copy().join("taken"), "cut's\n").unwrap();
    fs::write(cut.copy().join("another"), "cut's\n").unwrap();
    let told = refused(&home, &["drop", "cut"], 1);
    assert!(
        told.contains("its work is nowhere else; `windlass handback retry cut` tries again, and"),
        "{told}"
    );
    assert_eq!(
        done(&home, &["drop", "cut", "--force"]),
        "cut: dropped, with 2 changed paths that had not come back\n"
    );
    assert!(!cut.dir().exists());
}

#[test]
fn what_stands_in_the_way_can_be_settled_and_what_is_no_file_is_put_nowhere() {
    let home = Home::new();
    let room = spawned(&home);
    fs::write(room.copy().join("gone"), "child\n").unwrap();
    fs::remove_file(room.copy().join("bits")).unwrap();
    nix::unistd::mkfifo(&room.copy().join("bits"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::remove_file(home.path("work/gone")).unwrap();
    fs::create_dir(home.path("work/gone")).unwrap();
    home.write("work/gone/inside", "mine\n");
    room.hand_back(&home.path("work")).unwrap();
    let told = refused(&home, &["resolve", "tests", "gone", "--take", "child"], 1);
    assert!(told.contains("is in the place of gone here"), "{told}");
    let settled = done(&home, &["resolve", "tests", "gone", "--take", "parent"]);
    assert_eq!(settled, "gone: settled as it is; no conflict is open\n");
    assert_eq!(home.read("work/gone/inside"), "mine\n");
    let told = refused(&home, &["resolve", "tests", "bits", "--take", "child"], 1);
    assert!(told.contains("is no file, or could not be read, so it is put nowhere"), "{told}");
    assert_eq!(home.read("work/bits"), "base\n");
}

#[test]
fn a_terminal_obeys_nothing_that_stands_in_a_version() {
    let home = Home::new();
    let room = spawned(&home);
    fs::write(room.copy().join("text"), "\x1b]0;owned\x07\x1b[2Jchild\n").unwrap();
    std::os::unix::fs::symlink("\x1b[31mred", room.copy().join("link")).unwrap();
    home.write("work/text", PARENT);
    room.hand_back(&home.path("work")).unwrap();
    for (path, wanted) in [("text", "\\x1B]0;owned\\x07\\x1B[2Jchild"), ("link", "a link to \\x1B[31mred")] {
        let mut program = Program::start(&home.command(&["handback", "show", "tests", path]));
        program.wait_for(wanted);
        assert_eq!(program.end(), 0);
        assert!(!program.bytes.contains(&0x1b), "{}", String::from_utf8_lossy(&program.bytes));
    }
}
