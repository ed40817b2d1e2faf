//! Bad input and bad surroundings: files that are malformed, providers that fail, disks that are full or
//! closed, a directory that goes away, a terminal or a reader that is gone.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::rehearsal::quit;
use super::wires::{Served, says};
use super::{Home, WIRES, files, until};
use crate::server::Reply;
use crate::session::alive;

#[test]
fn malformed_settings_keymaps_and_themes_are_named_and_used_as_far_as_they_are_valid() {
    let home = Home::new();
    home.write("config/windlass/settings.json", "{\n  // mine\n  \"theme\": \"mine\",\n  \"mouse\": 3,\n}");
    home.write("config/windlass/keymap.json", "{\"composer\": {\n\"ctrl-y\": \"no-such-action\"}}");
    home.write("config/windlass/themes/mine.json", "{\"styles\": {\n\"text\": \"no-such-colour\"\n}}");
    let ran = home.run(&["config", "check"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let said = ran.out + &ran.err;
    for (file, what) in
        [("settings.json:4", "mouse"), ("keymap.json:2", "no-such-action"), ("mine.json:2", "no-such-colour")]
    {
        assert!(said.lines().any(|l| l.contains(file) && l.contains(what)), "{file}: {what}:\n{said}");
    }
    let model = home.script(&json!({"turns": [{"say": "hello there"}]}));
    let mut program = home.show(&["--model", &model, "hi"]);
    program.wait_for("hello there");
    assert_eq!(quit(&mut program), 0);
    program.assert_clean();
}

#[test]
fn a_malformed_script_is_not_used() {
    let home = Home::new();
    home.write("script.json", "{\"turns\": [\n{\"say\": 3}]}");
    let model = format!("scripted:{}", home.path("script.json").display());
    for line in [&["exec", "--model", &model, "hi"][..], &["--model", &model, "hi"]] {
        let ran = home.run(line);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("script.json:2") && ran.err.contains("say"), "{}", ran.err);
    }
}

#[test]
fn a_providers_error_is_shown_in_its_own_words() {
    for wire in WIRES {
        let mut home = Home::new();
        let body =
            json!({"error": {"type": "invalid_request_error", "message": "the frobnicator is too small"}});
        let server = Served::start(wire, vec![Reply::error(400, &[], &body.to_string())]);
        home.serve(wire, &server.url());
        let ran = home.run(&["exec", "--json", "hi"]);
        assert_eq!(ran.code, Some(1), "{wire}");
        let said = ran.of("notice");
        assert!(
            said.iter().any(|n| n["text"].as_str().unwrap().contains("the frobnicator is too small")),
            "{wire}: {}",
            ran.out
        );
        let mut program = home.show(&["hi"]);
        program.wait_for("frobnicator is too");
        assert_eq!(quit(&mut program), 0);
    }
}

/// The lines of all journals, whole ones only.
fn committed(home: &Home) -> String {
    let mut out = String::new();
    for session in home.sessions() {
        let text = std::fs::read_to_string(session.join("journal.jsonl")).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "a torn line: {text}");
        for line in text.lines() {
            serde_json::from_str::<Value>(line).unwrap();
        }
        out.push_str(&text);
    }
    out
}

#[test]
fn a_full_disk_loses_nothing_that_was_committed() {
    // a limit of the file size stands in for the disk: the journal's next write fails half-way
    let home = Home::new();
    let big = "word ".repeat(4000);
    let model = home.script(&json!({"turns": [{"say": "first answer"}, {"say": big}, {"say": "third"}]}));
    let limited = |line: &str| {
        let shell = format!("ulimit -f 8; exec {} {line}", env!("CARGO_BIN_EXE_windlass"));
        home.of_program("bash", &["-c", &shell])
    };
    let mut program = crate::terminal::Program::start(&limited(&format!("--model {model} first-message")));
    program.wait_for("first answer");
    let before = committed(&home);
    program.send("second-message\r");
    program.wait_for("could not be");
    assert!(committed(&home).starts_with(&before));
    // it lives and says so; nothing is torn, and it leaves when asked
    program.send("\x03\x03");
    let until = Instant::now() + Duration::from_secs(10);
    while program.child.try_wait().unwrap().is_none() && Instant::now() < until {
        program.send("\x03");
        program.read(Duration::from_millis(200));
    }
    program.end();
    program.assert_clean();
    assert!(committed(&home).starts_with(&before));
    let mut program = home.show(&["-c", "--model", &model]);
    program.wait_for("first answer");
    program.send("again\r");
    program.wait_for("first answer");
    assert_eq!(quit(&mut program), 0);

    let home = Home::new();
    let model = home.script(&json!({"turns": [{"say": big}]}));
    let shell =
        format!("ulimit -f 8; exec {} exec --json --model {model} hi", env!("CARGO_BIN_EXE_windlass"));
    let out = home.of_program("bash", &["-c", &shell]).output().unwrap();
    assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["exit"]), (&json!("session.ended"), &json!(1)), "{text}");
    assert!(text.contains("could not be written"), "{text}");
    assert!(committed(&home).contains("\"hi\""));
}

#[test]
fn a_state_directory_that_cannot_be_written_is_named() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [{"say": "hello"}]}));
    // a file in its place, so that root is refused too
    home.write("state", "");
    let ran = home.run(&["exec", "--model", &model, "hi"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("state") && !ran.err.contains("panicked"), "{}", ran.err);
    let mut program = home.show(&["--model", &model, "hi"]);
    program.wait_for("could not be");
    program.wait_for("❯ hi");
    program.send("\x03");
    program.wait_gone("❯ hi");
    quit(&mut program);
    program.assert_clean();

    let home = Home::new();
    let model = home.script(&json!({"turns": [{"say": "hello"}]}));
    std::fs::create_dir_all(home.path("state/windlass")).unwrap();
    std::fs::set_permissions(home.path("state/windlass"), std::fs::Permissions::from_mode(0o500)).unwrap();
    if !nix::unistd::geteuid().is_root() {
        let ran = home.run(&["exec", "--model", &model, "hi"]);
        assert!(matches!(ran.code, Some(1 | 2)), "{}", ran.err);
        assert!(ran.err.contains("sessions") || ran.err.contains("windlass"), "{}", ran.err);
    }
    std::fs::set_permissions(home.path("state/windlass"), std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_directory_that_vanishes_is_said_and_nothing_loops() {
    let home = Home::new();
    home.write("away/file", "x");
    let cwd = home.path("away").display().to_string();
    let model = home.script(&json!({"turns": [
        {"say": "hello there"},
        {"calls": [{"tool": "bash", "input": {"command": "echo ran"}}, {"tool": "read", "input": {"path": "file"}},
                   {"tool": "write", "input": {"path": "new", "content": "x"}}]},
        {"say": "it is gone"},
    ]}));
    let mut program = home.show(&["--cwd", &cwd, "--approve", "auto", "--model", &model, "hi"]);
    program.wait_for("hello there");
    std::fs::remove_dir_all(home.path("away")).unwrap();
    program.send("go on\r");
    program.wait_for("it is gone");
    let journal = home.journal();
    let settles: Vec<Value> = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|r| r["type"] == "call_settle")
        .collect();
    assert_eq!(settles.len(), 3, "{journal}");
    for settle in &settles {
        let text = settle.to_string();
        assert!(text.contains("\"error\""), "{text}");
        assert!(
            text.contains("gone") || text.contains("not there") || text.contains("No such file"),
            "{text}"
        );
    }
    assert!(!home.path("away").exists(), "nothing made it again");
    assert_eq!(quit(&mut program), 0);
    let ran = home.run(&["exec", "--session", &session_id(&home), "--model", &model, "hi"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("gone") && ran.err.contains(&cwd), "{}", ran.err);
}

fn session_id(home: &Home) -> String {
    home.sessions()[0].file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_closed_terminal_ends_it_within_two_seconds_and_all_is_saved() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [
        {"say": "I start it.", "calls": [{"tool": "bash", "input": {"command": "echo $$ > pid; echo it-runs; sleep 300"}}]},
    ]}));
    let mut program = home.show(&["--approve", "auto", "--model", &model, "hi"]);
    program.wait_for("it-runs");
    until("its id", || std::fs::read_to_string(home.path("work/pid")).is_ok_and(|text| text.ends_with('\n')));
    let command: i32 = home.read("work/pid").trim().parse().unwrap();
    let pid = program.pid().as_raw();
    let gone = Instant::now();
    program.master = std::fs::File::open("/dev/null").unwrap();
    until("its end", || program.child.try_wait().unwrap().is_some() || !alive(pid));
    assert!(gone.elapsed() < Duration::from_secs(2), "{:?}", gone.elapsed());
    until("the command's end", || !alive(command));
    let journal = home.journal();
    let last: Value = serde_json::from_str(journal.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "turn_end", "{journal}");
    assert!(journal.contains("call_settle") && journal.contains("it-runs"), "{journal}");
}

#[test]
fn a_reader_that_goes_ends_exec_and_its_command() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [
        {"say": "I start it.", "calls": [{"tool": "bash", "input": {"command": "echo $$ > pid; while :; do sleep 0.05; done"}}]},
        {"say": "never"},
    ]}));
    let shell = format!(
        "{} exec --json --approve auto --model {model} hi | while [ ! -s pid ]; do sleep 0.02; done",
        env!("CARGO_BIN_EXE_windlass")
    );
    let mut child =
        home.of_program("bash", &["-c", &shell]).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    child.wait().unwrap();
    let pid: i32 = home.read("work/pid").trim().parse().unwrap();
    until("the command's end", || !alive(pid));
    until("the turn's end", || home.journal().contains("turn_end"));
}

#[test]
fn a_prompt_in_hand_reads_no_standard_input() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [{"say": "hello"}]}));
    // an open pipe that never says anything must not hold it up
    let mut child = home
        .command(&["exec", "--model", &model, "hi"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("its end", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_silent_failure_is_none() {
    // whatever ends it, a last line is there: also when the server drops the connection each time
    let mut home = Home::new();
    let server = Served::start(
        "openai-chat",
        vec![Reply::error(503, &["retry-after: 0"], "overloaded"), says("openai-chat", "at last")],
    );
    home.serve("openai-chat", &server.url());
    let ran = home.run(&["exec", "--json", "hi"]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.out.contains("at last"));
    assert!(files(&home.path("tmp")).is_empty());
}
