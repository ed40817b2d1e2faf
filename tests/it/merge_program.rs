//! A merge program that takes long: nothing waits for it, and however one leaves, it is ended with what it started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;

use crate::merge_killed::shown_in;
use crate::outside::Home;
use crate::terminal::Program;

/// A stand-in that never ends by itself, in this directory; the `PATH` that has it.
fn endless(dir: &Path) -> String {
    let pids = dir.join("pids");
    let script = format!(
        "#!/bin/sh\nsleep 1000 &\necho \"$$ $!\" >'{0}.new'\nmv '{0}.new' '{0}'\nwait\n",
        pids.display()
    );
    put(dir, &script)
}

/// A stand-in of this script; the `PATH` that has it.
fn put(dir: &Path, script: &str) -> String {
    let bin = dir.join("bin");
    fs::create_dir_all(&bin).unwrap();
    crate::executable(&bin.join("mergiraf"), script.as_bytes());
    format!("{}:/usr/bin:/bin", bin.display())
}

/// Whether the stand-in works.
fn works(dir: &Path) -> bool {
    dir.join("pids").exists()
}

/// Waits for the end of all that the stand-in is.
fn all_ended(program: &mut Program, dir: &Path) {
    let pids = fs::read_to_string(dir.join("pids")).unwrap();
    let lives = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    };
    program.until("the end of the stand-in", |_| !pids.split_whitespace().any(lives));
}

/// One merge, shown.
fn merge(dir: &Path, path: &str) -> Program {
    let three = [("base", "0"), ("local", "1"), ("remote", "2"), ("merged", "old")];
    for (name, number) in three {
        fs::write(dir.join(name), format!("fn count() {{\n    {number};\n}}\n")).unwrap();
    }
    fs::create_dir_all(dir.join("tmp")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.args(["merge", "base", "local", "remote", "-o", "merged", "--path", "src/count.rs"]);
    command.current_dir(dir).env("HOME", dir).env("PATH", path).env("TMPDIR", dir.join("tmp"));
    let mut program = Program::start(&command);
    program.wait_for("hunk 1 of 1 · open");
    program
}

fn merged(dir: &Path) -> String {
    fs::read_to_string(dir.join("merged")).unwrap()
}

/// A merge at which the stand-in works.
fn at_work() -> (tempfile::TempDir, PathBuf, Program) {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().to_owned();
    let path = endless(&dir);
    let mut program = merge(&dir, &path);
    program.send("M");
    program.wait_for("mergiraf works … ");
    program.until("the stand-in", |_| works(&dir));
    (tmp, dir, program)
}

#[test]
fn leaving_ends_a_merge_program_that_is_at_work() {
    type Leaves = fn(&mut Program);
    let ways: [(&str, Leaves, i32); 5] = [
        ("q", |program| program.send("q"), 1),
        (
            "^C ^C",
            |program| {
                program.send("\x03");
                program.wait_for("^C again leaves");
                program.send("\x03");
            },
            1,
        ),
        ("SIGTERM", |program| program.signal(Signal::SIGTERM), 143),
        ("SIGHUP", |program| program.signal(Signal::SIGHUP), 129),
        (
            "the terminal is closed",
            |program| drop(std::mem::replace(&mut program.master, fs::File::open("/dev/null").unwrap())),
            129,
        ),
    ];
    for (name, leaves, code) in ways {
        let (_tmp, dir, mut program) = at_work();
        leaves(&mut program);
        assert_eq!(program.end(), code, "{name}:\n{}", program.screen());
        all_ended(&mut program, &dir);
        assert_eq!(fs::read_dir(dir.join("tmp")).unwrap().count(), 0, "{name}");
        assert!(merged(&dir).contains("old"), "{name}");
    }
}

#[test]
fn a_merge_program_is_seen_at_work_and_stopped_and_a_choice_does_not_wait_for_it() {
    for key in ["\x1b", "M"] {
        let (_tmp, dir, mut program) = at_work();
        program.wait_for("Esc stops it");
        program.wait_for("mergiraf works … 1 s");
        program.send(key);
        program.wait_for("mergiraf was stopped");
        all_ended(&mut program, &dir);
        program.send("q");
        assert_eq!(program.end(), 1, "{}", program.screen());
    }
    let (_tmp, dir, mut program) = at_work();
    assert!(program.screen().contains("src/count.rs"), "{}", program.screen());
    program.send("c");
    program.wait_for("all chosen");
    program.send("w");
    assert_eq!(program.end(), 0, "{}", program.screen());
    all_ended(&mut program, &dir);
    assert_eq!(merged(&dir), "fn count() {\n    2;\n}\n");
}

#[test]
fn leaving_a_session_ends_a_merge_program_that_is_at_work() {
    for (keys, code) in [("q", 0), ("", 143)] {
        let home = Home::new();
        let dir = home.path("work").with_file_name("beside");
        fs::create_dir_all(&dir).unwrap();
        let path = endless(&dir);
        let (_home, mut program) = shown_in(home, &path);
        program.wait_for("⚑ 1 conflict");
        program.send("\x18h");
        program.wait_for("hunk 1 of 2 · open");
        program.send("M");
        program.until("the stand-in", |_| works(&dir));
        if keys.is_empty() {
            program.signal(Signal::SIGTERM);
        } else {
            program.send(keys);
            program.wait_gone("Hand-back · ");
            all_ended(&mut program, &dir);
            program.send("\x03\x03");
        }
        assert_eq!(program.end(), code, "{}", program.screen());
        all_ended(&mut program, &dir);
    }
}

#[test]
fn a_merge_that_comes_after_a_choice_is_offered_and_not_taken() {
    let script = |dir: &Path| {
        let go = dir.join("go");
        let text = "fn count() {\\n    3;\\n}\\n";
        format!("#!/bin/sh\nuntil [ -e '{}' ]; do sleep 0.02; done\nprintf '{text}'\n", go.display())
    };
    for edits in [false, true] {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path();
        let path = put(dir, &script(dir));
        let mut program = merge(dir, &path);
        program.send("M");
        program.wait_for("mergiraf works … ");
        if edits {
            program.send("e");
            program.send("mine");
            program.wait_for("mine");
        } else {
            program.send("c");
            program.wait_for("all chosen");
        }
        fs::write(dir.join("go"), "").unwrap();
        program.wait_for("mergiraf's merge is there: M takes it");
        if edits {
            program.send("\x1b");
            program.wait_gone("Esc takes it");
            assert!(program.screen().contains("mine"), "{}", program.screen());
        }
        program.send("M");
        program.wait_for("a proposal, of mergiraf");
        // it is one step
        program.send("u");
        program.wait_gone("proposal, of mergiraf");
        program.send("w");
        assert_eq!(program.end(), 0, "{}", program.screen());
        assert!(merged(dir).contains(if edits { "mine" } else { "    2;\n" }), "{}", merged(dir));
    }
}
