//! A subagent's copy of many files while it is made: how far it is stands on the screen, keys are taken, and a cancel
//! leaves nothing of it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::Home;

const DIRS: usize = 100;
const FILES: usize = 20_000;

fn spawn(name: &str) -> Value {
    json!({"calls": [{"tool": "spawn", "input": {"name": name, "prompt": "work", "workspace": "isolated"}}]})
}

/// What there is of copies: one directory for each.
fn copies(home: &Home) -> usize {
    let list = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|of| of.path()).collect();
    let sessions: Vec<_> = list(&home.path("state/windlass/workspaces"));
    sessions.iter().map(|of| list(of).len()).sum()
}

#[test]
fn a_copy_of_many_files_is_shown_takes_keys_meanwhile_and_goes_without_a_trace() {
    let home = Home::new();
    for dir in 0..DIRS {
        let dir = home.path(&format!("work/d{dir}"));
        fs::create_dir(&dir).unwrap();
        (0..FILES / DIRS).for_each(|n| fs::write(dir.join(n.to_string()), "some text\n").unwrap());
    }
    let turns = json!({
        "turns": [spawn("first"), spawn("second"), {"say": "it was stopped"}],
        "agents": {"first": {"turns": []}, "second": {"turns": []}},
    });
    let model = home.script(&turns);
    let mut program = home.show(&["--approve", "auto", "--model", &model]);
    program.wait_for("keys");
    let progress = format!("% of {FILES} files");
    // by the key of the turn
    program.send("go\r");
    program.wait_for(&progress);
    assert_eq!(copies(&home), 1);
    program.send("typed");
    program.until("keys beside the progress", |program| {
        let screen = program.screen();
        screen.contains("❯ typed") && screen.contains(&progress)
    });
    program.send("\x1b");
    program.wait_for("cancelled");
    program.wait_for("no agent was asked for");
    assert_eq!(copies(&home), 0);
    // by the key of the agent: the call is over with it
    program.send("\x15again\r");
    program.wait_for("second");
    program.wait_for(&progress);
    program.send("\x18ax");
    program.wait_for("it was stopped");
    program.wait_for("stopped by you");
    assert_eq!(copies(&home), 0);
    assert_eq!(home.sessions().len(), 1, "neither had one of its own");
    program.send("\x1b");
    program.wait_for("Enter send");
    program.send("\x04");
    assert_eq!(program.end(), 0);
    // the session knows of the one that ended, and of nothing else
    let mut program = home.show(&["--approve", "auto", "--model", &model, "-c"]);
    program.wait_for("second ✗ stopped by you");
    assert!(!program.screen().contains("│ first"), "{}", program.screen());
    program.send("\x04");
    assert_eq!(program.end(), 0);
}
