//! A job over the whole screen, from outside: typing into its terminal, a long log.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use serde_json::json;

use super::rehearsal::quit;
use super::{Home, files};
use crate::terminal::Program;

/// A program whose model has started a command as a job.
fn with_job(home: &Home, command: &str, terminal: bool) -> Program {
    let input = json!({"command": command, "background": true, "terminal": terminal});
    let script = json!({"turns": [
        {"calls": [{"tool": "bash", "input": input}]},
        {"say": "It runs now."},
        {"say": "So it ended."},
    ]});
    let model = home.script(&script);
    let mut program = home.show(&["--model", &model, "--approve", "auto", "go"]);
    program.wait_for("It runs now.");
    program
}

/// Ends the job from its view, and the program.
fn kill_and_quit(mut program: Program) {
    program.send("x");
    program.wait_for("stopped by you");
    program.send("q");
    program.wait_for("Conversation");
    program.send("q");
    assert_eq!(quit(&mut program), 0);
}

#[test]
fn a_person_types_into_a_jobs_terminal_and_leaves_it() {
    let home = Home::new();
    let mut program = with_job(&home, "exec python3 -q -i", true);
    program.send("\x18ja");
    program.wait_for("attached to j1");
    program.wait_for(">>>");
    program.send("6 * 7\r");
    program.wait_for("42");
    // its terminal is as large as its place on the screen
    program.send("import os; tuple(os.get_terminal_size())\r");
    program.wait_for("(120, 38)");
    // `x` and `q` are letters there
    program.send("'x' + 'q' * 3\r");
    program.wait_for("'xqqq'");
    program.send("\x1d");
    program.wait_for("Conversation");
    program.send("\r");
    program.wait_for("terminal");
    program.wait_for("'xqqq'");
    program.send("a\x1b[24~");
    program.wait_gone("attached");
    // all that it wrote, in place of its picture
    program.send("\t");
    program.wait_for("follow");
    kill_and_quit(program);
}

#[test]
fn what_is_typed_at_a_hidden_prompt_stands_nowhere_and_the_end_is_told() {
    const SECRET: &str = "hunter2-swordfish";
    let home = Home::new();
    let command = "read -r -s -p 'Password: ' word; echo; echo \"it has ${#word} letters\"; exec sleep 1";
    let mut program = with_job(&home, command, true);
    program.send("\x18ja");
    program.wait_for("attached to j1");
    program.wait_for("Password:");
    program.send(SECRET);
    program.send("\r");
    program.wait_for("it has 17 letters");
    program.wait_for("has ended");
    program.send("\x1d");
    program.wait_for("dismiss");
    program.send("\x18d");
    program.wait_for("messages");
    program.send("q");
    program.wait_for("Conversation");
    program.send("q");
    assert_eq!(quit(&mut program), 0);
    let shown = String::from_utf8_lossy(&program.bytes).into_owned();
    assert!(!shown.contains(SECRET), "the screen");
    let mut looked = 0;
    for dir in ["state", "tmp", "work", "config"] {
        for file in files(&home.path(dir)) {
            let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
            for part in [SECRET, "hunter2", "swordfish"] {
                assert!(!text.contains(part), "{} holds it", file.display());
            }
            looked += usize::from(text.contains("Char('•')") || text.contains("Password:"));
        }
    }
    assert!(looked >= 2, "neither the dump nor the output was looked at");
}

#[test]
fn a_gigabyte_opens_at_its_end_and_scrolls() {
    const SIZE: u64 = 1 << 30;
    let home = Home::new();
    let mut program = with_job(&home, "echo The Start; exec sleep 300", false);
    let spool = files(&home.path("state")).into_iter().find(|file| file.ends_with("c1/output"));
    let spool =
        spool.or_else(|| files(&home.path("state")).into_iter().find(|file| file.ends_with("output")));
    let file = File::options().write(true).open(spool.unwrap()).unwrap();
    let mut end = Vec::new();
    for n in 0..20_000 {
        end.extend_from_slice(format!("line {n} of the end\n").as_bytes());
    }
    file.write_all_at(&end, SIZE - end.len() as u64).unwrap();
    program.send("\x18j\r");
    program.wait_for("line 19999 of the end");
    program.send("\x1b[5~");
    program.wait_for("line 19930 of the end");
    program.wait_gone("line 19999 of the end");
    program.send("/The Start\r");
    program.wait_for("none below it");
    program.wait_for("The Start");
    program.send("G");
    program.wait_for("line 19999 of the end");
    program.send("g");
    program.wait_for("The Start");
    kill_and_quit(program);
}

#[test]
fn leaving_waits_for_what_is_ended_and_not_for_what_goes_on() {
    let home = Home::new();
    let mark = crate::commands::mark();
    let model = home.script(&json!({"turns": []}));
    let mut program = home.show(&["--model", &model]);
    program.wait_for("❯");
    program.send(&format!("!exec sleep {mark}"));
    program.wait_for("!exec");
    program.send("\r");
    program.until("the command", |_| crate::commands::carrying(&mark).len() == 1);
    program.wait_for("bash exec sleep");
    program.send("\x02");
    program.wait_for("detached");
    // nothing else may wake the session while it leaves
    let state = home.path("state");
    program.until("its node in the journal", |_| {
        let journal = files(&state).into_iter().find(|file| file.ends_with("journal.jsonl"));
        journal.is_some_and(|file| std::fs::read_to_string(file).unwrap().contains(r#""type":"job""#))
    });
    let leave = |program: &mut Program, downs: usize| {
        program.send("\x04");
        program.wait_for("Kill all");
        program.send(&"\x1b[B".repeat(downs));
        program.send("\r");
        let asked = std::time::Instant::now();
        assert_eq!(program.end(), 0);
        asked.elapsed()
    };
    // until it may no longer wait for anything at all, a session takes 8 s
    assert!(leave(&mut program, 2) < std::time::Duration::from_secs(5), "it waited for what goes on");
    assert_eq!(crate::commands::carrying(&mark).len(), 1);
    let mut again = home.show(&["--model", &model, "-c"]);
    again.wait_for("Jobs (1)");
    again.wait_for("K exec sleep");
    leave(&mut again, 1);
    assert_eq!(crate::commands::carrying(&mark), [0i32; 0], "it left before what was to end had ended");
}
