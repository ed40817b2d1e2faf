//! The program at rest: after a turn with a call, a second and a half passes in which none of its threads
//! wakes and no byte comes.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use serde_json::json;

use super::Home;

/// How often each thread has waited so far.
fn waits(pid: i32) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten() {
        // a thread that ends meanwhile has no say
        let Ok(status) = fs::read_to_string(task.path().join("status")) else { continue };
        let waited = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap_or("");
        let name = status.lines().next().unwrap_or_default();
        out.insert(format!("{name} {}", task.file_name().display()), waited.to_owned());
    }
    out
}

#[test]
fn after_a_turn_the_program_neither_wakes_nor_writes() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [
        {"say": "I look.", "calls": [{"tool": "bash", "input": {"command": "seq 100"}}]},
        {"say": "```rust\nfn main() {}\n```\n\nThat is all of it."},
    ]}));
    let mut program = home.show(&["--approve", "auto", "--model", &model]);
    program.wait_for("keys");
    program.send("go\r");
    program.wait_for("That is all of it.");
    let pid = program.pid().as_raw();
    // what the turn's end still does (git is looked at) may take a while on a busy machine
    let quiet = (0..10).any(|_| {
        let before = waits(pid);
        assert!(before.len() > 1, "{before:?}");
        let bytes = program.read(Duration::from_millis(1500));
        bytes == 0 && waits(pid).iter().all(|(thread, waited)| before.get(thread) == Some(waited))
    });
    assert!(quiet, "it never came to rest: {:?}", waits(pid));
}
