//! How the program ends when its surroundings fail it, and what it lets through to a terminal.

use std::fs::File;

use nix::sys::signal::Signal;
use serde_json::json;

use super::Home;

/// A model that says this, once.
fn says(home: &Home, text: &str) -> String {
    home.script(&json!({"turns": [{"say": text}]}))
}

#[test]
fn a_terminal_that_closes_ends_a_session_that_has_entries_with_129() {
    let home = Home::new();
    let model = says(&home, "All is well.");
    let mut program = home.show(&["--model", &model]);
    program.wait_for("keys");
    program.send("go\r");
    program.wait_for("All is well.");
    program.master = File::open("/dev/null").unwrap();
    assert_eq!(program.end(), 129);
}

#[test]
fn a_quit_signal_from_outside_leaves_the_terminal_clean() {
    let home = Home::new();
    let model = says(&home, "All is well.");
    let mut program = home.show(&["--model", &model]);
    program.wait_for("keys");
    program.signal(Signal::SIGQUIT);
    assert_eq!(program.end(), 131);
    program.assert_clean();
}

#[test]
fn a_signal_while_the_editor_is_open_ends_both_and_leaves_the_terminal_clean() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let mut home = Home::new();
        let pid = home.path("pid");
        home.set("EDITOR", &format!("echo $$ > {}; sleep 100; :", pid.display()));
        let model = says(&home, "All is well.");
        let mut program = home.show(&["--model", &model]);
        program.wait_for("keys");
        program.send("\x07");
        program.until("the editor", |_| std::fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')));
        program.signal(signal);
        assert_eq!(program.end(), code, "{signal}");
        program.assert_clean();
        let pid = std::fs::read_to_string(&pid).unwrap();
        assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "{signal}: the editor lives on");
    }
}

#[test]
fn a_limit_on_the_size_of_files_fails_a_run_and_does_not_kill_it() {
    let home = Home::new();
    let model = says(&home, &"a long answer ".repeat(4096));
    let line = "ulimit -f 16; exec \"$0\" \"$@\"";
    let binary = env!("CARGO_BIN_EXE_windlass");
    let command = home.of_program("bash", &["-c", line, binary, "exec", "--json", "--model", &model, "go"]);
    let out = assert_cmd::Command::from_std(command).timeout(crate::terminal::PATIENCE).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap();
    assert_eq!((out.status.code(), &last["type"]), (Some(1), &json!("session.ended")), "{text:.2000}");
}

#[test]
fn a_command_under_a_limit_on_the_size_of_files_ends_as_the_system_ends_it() {
    let home = Home::new();
    let command = "ulimit -f 1; head -c 9000 /dev/zero > big; echo code $?";
    let model = home.script(&json!({"turns": [
        {"calls": [{"tool": "bash", "input": {"command": command}}]}, {"say": "done"},
    ]}));
    let ran = home.run(&["exec", "--json", "--approve", "auto", "--model", &model, "go"]);
    assert!(ran.out.contains("code 153"), "{}", ran.out);
}

#[test]
fn what_others_wrote_is_shown_to_a_terminal_and_not_obeyed_by_it() {
    let home = Home::new();
    let nasty = "a\x1b]52;c;eA==\x07b\x1b[2Jc\u{9b}2Jd";
    let model = says(&home, nasty);
    let mut program = home.show(&["exec", "--model", &model, "go"]);
    assert_eq!(program.end(), 0);
    let shown = String::from_utf8_lossy(&program.bytes).into_owned();
    assert!(shown.contains("a\\x1B]52;c;eA==\\x07b\\x1B[2Jc\\x9B2Jd"), "{shown:?}");
    assert_eq!(
        home.run(&["exec", "--model", &model, "go"]).out,
        format!("{nasty}\n"),
        "a pipe gets it as it is"
    );
    let id = home.sessions()[0].file_name().unwrap().to_str().unwrap().to_owned();
    for line in [&["export", &id][..], &["export", "--jsonl", &id], &["resume", "\x1b[2Jx"], &["sessions"]] {
        let mut program = home.show(line);
        program.end();
        let shown = String::from_utf8_lossy(&program.bytes).into_owned();
        let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        assert!(!shown.is_empty() && !shown.contains(obeyed), "{line:?}: {shown:?}");
    }
}
