//! What was allowed is what is done: links and directories swapped between the question and the deed.

use std::os::unix::fs::symlink;

use serde_json::json;
use windlass::api::access::{Decision, Mode};
use windlass::api::command::Command;
use windlass::api::entry::{CallStatus, TurnStatus};
use windlass::api::event::Event;
use windlass::engine::Which;
use windlass::tool::table;

use crate::session::{Place, transcript};
use crate::tools_place;

#[test]
fn an_approved_edit_is_not_written_somewhere_else_when_its_directory_becomes_a_link() {
    let place = Place::new();
    std::fs::create_dir(place.cwd().join("d")).unwrap();
    place.write("d/victim", "one\n");
    let out = place.cwd().parent().unwrap().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("victim"), "one\n").unwrap();
    let edit = r#"{"tool": "edit", "input": {"path": "d/victim", "edits": [{"old": "one", "new": "two"}]}}"#;
    let script = format!(r#"{{"turns": [{{"calls": [{edit}]}}, {{"say": "Done."}}]}}"#);
    let mut session = place.open(&script, Mode::Ask, Which::New);
    session.send("go");
    let asked = session.until("an approval", |r| r.approvals.first().cloned());
    std::fs::rename(place.cwd().join("d"), place.cwd().join("moved")).unwrap();
    symlink("../out", place.cwd().join("d")).unwrap();
    session.command(Command::Decide { call: asked.call, decision: Decision::Once });
    assert_eq!(session.turn_end(1), TurnStatus::Done, "{}", transcript(&session.path()));
    assert_eq!(std::fs::read_to_string(out.join("victim")).unwrap(), "one\n");
    assert_eq!(place.read("moved/victim"), "one\n");
    let settle = &session.settles()[0];
    assert_eq!(settle.status, CallStatus::Error);
    assert!(settle.output.contains("is not what was allowed"), "{}", settle.output);
}

#[test]
fn no_file_tool_goes_where_a_link_leads_after_the_wish() {
    let place = tools_place::Place::new();
    let out = place.cwd.parent().unwrap().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("f"), "one\n").unwrap();
    let patch = "*** Begin Patch\n*** Update File: d/f\n@@\n-one\n+two\n*** End Patch\n";
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (name, input) in [
        ("read", json!({"path": "d/f"})),
        ("write", json!({"path": "d/f", "content": "two\n"})),
        ("write", json!({"path": "d/new", "content": "two\n"})),
        ("edit", json!({"path": "d/f", "edits": [{"old": "one", "new": "two"}]})),
        ("apply_patch", json!({"patch": patch})),
        ("grep", json!({"pattern": "one", "path": "d"})),
        ("glob", json!({"pattern": "*", "path": "d"})),
    ] {
        let tool = table::find(&table::all(), name).unwrap();
        place.file("d/f", "one\n");
        let wish = tool.wish(&place.cwd, &input).unwrap();
        std::fs::remove_dir_all(place.cwd.join("d")).unwrap();
        symlink("../out", place.cwd.join("d")).unwrap();
        let end = runtime.block_on(tool.run(&place.context(wish.paths), &input));
        assert_eq!(end.status, CallStatus::Error, "{name}: {}", end.output);
        assert!(end.output.contains("is not what was allowed"), "{name}: {}", end.output);
        assert_eq!(std::fs::read(out.join("f")).unwrap(), b"one\n", "{name}");
        assert!(!out.join("new").exists());
        std::fs::remove_file(place.cwd.join("d")).unwrap();
    }
}

/// A session whose directory goes through `change` after its first call.
fn directory_changes(change: &str, then: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.cwd().parent().unwrap().join("out")).unwrap();
    let script = json!({"turns": [
        {"calls": [{"tool": "bash", "input": {"command": change}}]},
        {"calls": [{"tool": "write", "input": {"path": "w", "content": "x"}}]},
        {"calls": [{"tool": "bash", "input": {"command": "echo ran > r"}}]},
        {"say": "Done."}]});
    let mut session = place.open(&script.to_string(), Mode::Auto, Which::New);
    session.send("go");
    assert_eq!(session.turn_end(1), TurnStatus::Done, "{}", transcript(&session.path()));
    let settles = session.settles();
    for settle in &settles[1..] {
        assert_eq!(settle.status, CallStatus::Error, "{}", settle.output);
        assert!(settle.output.contains(then), "{}", settle.output);
    }
    let events = session.close();
    let said = |event: &&Event| matches!(event, Event::Said { text, .. } if text.contains(then));
    assert_eq!(events.iter().filter(said).count(), 1, "the person is told once: {events:?}");
    place
}

#[test]
fn a_session_directory_that_vanished_is_an_error_and_is_not_made_again() {
    let place = directory_changes("rm -rf \"$PWD\"", "is gone");
    assert!(!place.cwd().exists());
}

#[test]
fn a_session_directory_that_became_a_link_is_an_error_and_nothing_runs_where_it_leads() {
    let place = directory_changes("rm -rf \"$PWD\"; ln -s out \"$PWD\"", "another place");
    let out = place.cwd().parent().unwrap().join("out");
    assert_eq!(std::fs::read_dir(out).unwrap().count(), 0);
}
