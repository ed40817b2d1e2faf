//! What happens to the program and to the file while a conflict is decided: SIGKILL, after which what was chosen and
//! what was being written by hand is there when the session is opened again; and saves of other programs.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;

use crate::agents::{bash, calls, says, script, spawn};
use crate::outside::Home;
use crate::terminal::Program;

fn lines(first: &str, last: &str) -> String {
    let middle: String = (0..20).map(|n| format!("line {n}\n")).collect();
    format!("{first}\n{middle}{last}\n")
}

/// What is kept of the drafts beneath a directory.
fn drafts(state: &Path) -> String {
    let mut all = String::new();
    let mut dirs = vec![state.to_owned()];
    while let Some(dir) = dirs.pop() {
        for item in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = item.path();
            if path.is_dir() {
                dirs.push(path);
            } else if dir.ends_with("drafts") && !item.file_name().as_encoded_bytes().starts_with(b".") {
                all.push_str(&fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
    all
}

/// A home with a session that has a conflict, shown.
fn shown() -> (Home, Program) {
    shown_in(Home::new(), &std::env::var("PATH").unwrap())
}

/// The same in this home, with this `PATH`.
pub fn shown_in(home: Home, path: &str) -> (Home, Program) {
    home.write("work/text", &lines("base", "base"));
    home.write("childs", &lines("child", "child"));
    let (at, go) = (home.path("at"), home.path("go"));
    let work = format!(
        "cp '{}' text; touch '{}'; until [ -e '{}' ]; do sleep 0.02; done",
        home.path("childs").display(),
        at.display(),
        go.display()
    );
    let agents = [("lexer", vec![bash(work), says("done")])];
    let script = script(&[calls(&[spawn("lexer", "isolated")]), says("asked")], &agents);
    let model = home.script(&serde_json::from_str(&script).unwrap());
    let mut program = Program::sized(
        home.command(&["--model", &model, "--approve", "auto", "go"])
            .current_dir(home.path("work"))
            .env("PATH", path),
        120,
        40,
    );
    program.until("the child is at work", |_| at.exists());
    home.write("work/text", &lines("parent", "parent"));
    fs::write(go, "").unwrap();
    (home, program)
}

#[test]
fn a_save_by_another_program_is_seen_without_a_key() {
    let (home, mut program) = shown();
    program.wait_for("⚑ 1 conflict");
    program.send("\x18h");
    program.wait_for("hunk 1 of 2 · open");
    program.send("c");
    program.wait_for("hunk 2 of 2 · open");
    home.write("work/text", &lines("parent", "another"));
    program.wait_for("text was changed outside: 1 choice kept");
    program.wait_for("another");
    fs::remove_file(home.path("work/text")).unwrap();
    program.wait_for("1 choice is kept for when the text is back");
    home.write("work/text", &lines("parent", "parent"));
    program.wait_for("text was changed outside: 1 choice kept");
    program.send("q");
    program.wait_gone("Hand-back · ");
    program.send("\x03\x03");
    program.end();
}

#[test]
fn what_was_decided_of_the_open_path_outlives_sigkill() {
    let (home, mut program) = shown();
    program.wait_for("⚑ 1 conflict");
    program.send("\x18h");
    program.wait_for("hunk 1 of 2 · open");
    program.send("c");
    program.wait_for("hunk 2 of 2 · open");
    program.send("e");
    program.send("mine ");
    program.wait_for("mine parent");
    let mine = b"mine parent".map(|byte| byte.to_string()).join(",");
    program.until("it is kept", |_| drafts(&home.path("state")).contains(&mine));
    program.signal(Signal::SIGKILL);
    program.end();
    let mut again = Program::sized(
        home.command(&["--continue", "--approve", "auto"]).current_dir(home.path("work")),
        120,
        40,
    );
    again.wait_for("⚑ 1 conflict");
    again.send("\x18h");
    again.wait_for("all chosen");
    again.send("w");
    again.wait_for(": written · ");
    assert_eq!(home.read("work/text"), lines("child", "mine parent"));
    again.send("q");
    again.wait_gone("Hand-back · ");
    again.send("\x03\x03");
    again.end();
}
