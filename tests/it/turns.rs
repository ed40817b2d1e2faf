//! Turns from end to end: what is said, called, steered, interrupted, refused, retried and recovered.

use std::time::{Duration, Instant};

use windlass::api::access::{Decision, Mode};
use windlass::api::board::Phase;
use windlass::api::command::Command;
use windlass::api::entry::{CallStatus, Details, EntryBody, TurnStatus};
use windlass::api::event::Event;
use windlass::engine::Which;

use crate::session::{Place, alive, transcript};

#[test]
fn a_question_is_answered_and_stands_in_the_journal() {
    let place = Place::new();
    let mut session = place.open(r#"{"turns": [{"say": ["Hel", "lo."]}]}"#, Mode::Ask, Which::New);
    session.send("hi");
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    assert_eq!(transcript(&session.path()), "user(Sent) hi\nanswer Finished(End) Hello.\nturn done\n");
    let id = session.id();
    session.close();
    let journal = std::fs::read_to_string(place.journal(&id)).unwrap();
    let kinds: Vec<String> = journal
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            value["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds, ["session", "user", "answer", "turn_end"]);
}

#[test]
fn calls_run_and_their_results_are_what_the_model_reads_next() {
    let place = Place::new();
    place.write("a.txt", "one\ntwo\n");
    let script = r#"{"turns": [
        {"say": "Looking.", "calls": [{"tool": "read", "input": {"path": "a.txt"}}]},
        {"expect": {"contains": "two"}, "calls": [
            {"tool": "edit", "input": {"path": "a.txt", "edits": [{"old": "two", "new": "three"}]}}]},
        {"calls": [{"tool": "bash", "input": {"command": "cat a.txt"}}]},
        {"expect": {"contains": "three"}, "say": "Done."}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("edit it");
    assert_eq!(session.turn_end(1), TurnStatus::Done, "{}", transcript(&session.path()));
    assert_eq!(place.read("a.txt"), "one\nthree\n");
    let settles = session.settles();
    assert!(settles.iter().all(|s| s.status == CallStatus::Ok), "{settles:?}");
    assert!(matches!(&settles[1].details, Details::Diff { added: 1, removed: 1, .. }));
    assert_eq!(settles[1].touched.len(), 1);
}

#[test]
fn an_approval_is_asked_for_and_the_answer_is_carried_out() {
    let place = Place::new();
    place.write("a.txt", "x");
    let script = r#"{"turns": [
        {"calls": [{"tool": "write", "input": {"path": "a.txt", "content": "y"}}]},
        {"calls": [{"tool": "write", "input": {"path": "a.txt", "content": "z"}}]},
        {"say": "Done."}]}"#;
    let mut session = place.open(script, Mode::Ask, Which::New);
    session.send("go");
    let first = session.until("an approval", |r| r.approvals.first().cloned());
    assert_eq!(place.read("a.txt"), "x", "nothing happens before the answer");
    session.command(Command::Decide {
        call: first.call.clone(),
        decision: Decision::No(Some("not yet".into())),
    });
    let second =
        session.until("another approval", |r| r.approvals.iter().find(|a| a.call != first.call).cloned());
    session.command(Command::Decide { call: second.call, decision: Decision::Once });
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    assert_eq!(place.read("a.txt"), "z");
    let settles = session.settles();
    assert_eq!(settles[0].status, CallStatus::Refused);
    assert!(settles[0].output.contains("not yet"));
}

#[test]
fn an_interrupt_ends_the_whole_tree_and_every_call_gets_its_result() {
    let place = Place::new();
    let script = r#"{"turns": [
        {"calls": [
            {"tool": "bash", "input": {"command": "setsid sleep 300 & echo $! > a.pid; sleep 300 & echo $! > b.pid; echo ready; wait"}},
            {"tool": "bash", "input": {"command": "echo never"}}]},
        {"say": "next"}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("go");
    session.until("the command's output", |r| {
        r.calls.iter().any(|(_, p)| p.tail.contains("ready")).then_some(())
    });
    let pids: Vec<i32> = ["a.pid", "b.pid"].iter().map(|n| place.read(n).trim().parse().unwrap()).collect();
    let began = Instant::now();
    session.command(Command::Interrupt);
    assert_eq!(session.turn_end(1), TurnStatus::Interrupted);
    assert!(began.elapsed() < Duration::from_secs(3), "the law's bound for a whole tree");
    assert!(!pids.iter().any(|pid| alive(*pid)), "the tree is gone: {pids:?}");
    assert_eq!(
        transcript(&session.path()),
        "user(Sent) go\nanswer Finished(Calls)\nstart c1 bash\nstart c2 bash\nsettle c2 cancelled\nsettle c1 cancelled\nturn interrupted\n"
    );
    session.send("and now?");
    assert_eq!(session.turn_end(2), TurnStatus::Done);
}

#[test]
fn a_steer_reaches_the_model_after_the_results_and_a_queued_message_after_the_turn() {
    let place = Place::new();
    let script = r#"{"turns": [
        {"calls": [{"tool": "bash", "input": {"command": "until [ -e go ]; do sleep 0.02; done"}}]},
        {"say": "steered"}, {"say": "queued"}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("one");
    session.until("the call", |r| r.calls.iter().next().map(|_| ()));
    session.command(Command::Send { text: "three".into(), images: vec![], after_turn: true });
    session.send("two");
    session.until("both waiting", |r| (r.status.pending.len() == 2).then_some(()));
    place.write("go", "");
    assert_eq!(session.turn_end(2), TurnStatus::Done);
    assert_eq!(
        transcript(&session.path()),
        "user(Sent) one\nanswer Finished(Calls)\nstart c1 bash\nsettle c1 ok\nuser(Steered) two\n\
         answer Finished(End) steered\nturn done\nuser(Queued) three\nanswer Finished(End) queued\nturn done\n"
    );
}

#[test]
fn an_interrupt_gives_undelivered_messages_back() {
    let place = Place::new();
    let script =
        r#"{"turns": [{"calls": [{"tool": "bash", "input": {"command": "sleep 300"}}]}, {"say": "x"}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("one");
    session.until("the call", |r| r.calls.iter().next().map(|_| ()));
    session.send("two");
    session.until("the message waiting", |r| (r.status.pending.len() == 1).then_some(()));
    session.command(Command::Interrupt);
    session.turn_end(1);
    let events = session.close();
    assert!(events.contains(&Event::TakenBack { text: "two".into(), images: vec![] }), "{events:?}");
}

#[test]
fn a_cut_stream_is_kept_marked_and_tried_again() {
    let place = Place::new();
    let script = r#"{"turns": [{"say": "abcdefgh", "cut_after_bytes": 3}, {"say": "whole"}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("go");
    session.until("the wait before the next try", |r| {
        matches!(r.status.phase, Phase::Retrying { attempt: 2, .. }).then_some(())
    });
    session.command(Command::Retry);
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    let text = transcript(&session.path());
    assert!(text.contains("answer Truncated") && text.contains("abc\n"), "{text}");
    assert!(text.ends_with("answer Finished(End) whole\nturn done\n"), "{text}");
}

#[test]
fn a_failed_turn_says_why_and_a_key_tries_it_again() {
    let place = Place::new();
    let script = r#"{"turns": [{"fail": {"status": 400, "message": "no such thing"}}, {"say": "well"}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("go");
    assert_eq!(session.turn_end(1), TurnStatus::Failed);
    assert!(transcript(&session.path()).contains("no such thing"));
    session.command(Command::Retry);
    assert_eq!(session.turn_end(2), TurnStatus::Done);
}

#[test]
fn an_unknown_tool_and_a_bad_input_are_errors_that_the_model_reads() {
    let place = Place::new();
    let script = r#"{"turns": [
        {"calls": [{"tool": "frobnicate", "input": {}}, {"tool": "read", "input": {"pth": 1}}]},
        {"expect": {"contains": "frobnicate"}, "say": "sorry"}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("go");
    assert_eq!(session.turn_end(1), TurnStatus::Done, "{}", transcript(&session.path()));
    let settles = session.settles();
    assert!(settles.iter().all(|s| s.status == CallStatus::Error));
}

#[test]
fn what_a_crash_left_is_settled_once_and_a_clean_session_is_left_as_it_is() {
    let place = Place::new();
    let script = r#"{"turns": [{"calls": [{"tool": "read", "input": {"path": "a.txt"}}]}, {"say": "x"}]}"#;
    place.write("a.txt", "one\n");
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("go");
    session.turn_end(1);
    let id = session.id();
    session.close();
    // The journal of a program that was killed while the call ran.
    let journal = std::fs::read_to_string(place.journal(&id)).unwrap();
    let cut: String = journal.lines().take(4).map(|l| format!("{l}\n")).collect();
    assert!(cut.lines().last().unwrap().contains("call_start"));
    std::fs::write(place.journal(&id), &cut).unwrap();
    let again = r#"{"turns": [{"say": "on we go"}]}"#;
    let mut session = place.open(again, Mode::Auto, Which::Id(id.clone()));
    let text = transcript(&session.path());
    assert!(
        text.ends_with("settle c1 interrupted\nturn interrupted the program ended while the turn ran\n"),
        "{text}"
    );
    session.send("go on");
    assert_eq!(session.turn_end(2), TurnStatus::Done);
    session.close();
    let before = std::fs::read(place.journal(&id)).unwrap();
    place.open(again, Mode::Auto, Which::Id(id.clone())).close();
    assert_eq!(std::fs::read(place.journal(&id)).unwrap(), before, "opening and leaving changes no byte");
}

#[test]
fn older_entries_are_summarised_when_the_window_fills_and_by_hand() {
    let place = Place::new();
    let script = format!(
        r#"{{"window": 60000, "turns": [
            {{"say": "{}", "usage": {{"input": 10, "output": 30000}}}},
            {{"say": "{}", "usage": {{"input": 50000, "output": 5000}}}},
            {{"say": "SUMMARY"}},
            {{"say": "after"}}]}}"#,
        "a ".repeat(100),
        "b ".repeat(100),
    );
    let mut session = place.open_with(&script, Mode::Auto, Which::New, |o| o.limits.keep_recent = 60);
    session.send("one");
    session.turn_end(1);
    session.send("two");
    session.turn_end(2);
    session.send("three");
    assert_eq!(session.turn_end(3), TurnStatus::Done, "{}", transcript(&session.path()));
    let text = transcript(&session.path());
    assert!(text.contains("user(Sent) three\ncompaction"), "{text}");
    let summaries = session
        .path()
        .iter()
        .filter(|e| matches!(&e.body, EntryBody::Compaction(c) if c.summary == "SUMMARY"))
        .count();
    assert_eq!(summaries, 1, "at most one in a turn");
}

#[test]
fn a_command_of_the_person_runs_beside_the_turn_and_is_shown_to_the_model() {
    let place = Place::new();
    let script = r#"{"turns": [{"expect": {"contains": "shown-42"}, "say": "I see."}]}"#;
    let mut session = place.open(script, Mode::Ask, Which::New);
    session.command(Command::Shell { command: "echo shown-$((6*7))".into(), hidden: false });
    session.until("its settle", |r| {
        r.path.iter().any(|e| matches!(&e.body, EntryBody::CallSettle(_))).then_some(())
    });
    // the instructions and tools of the request that comes are in the window, though nothing was sent yet
    session.until("the window's use", |r| (r.status.context.used? > 1_000).then_some(()));
    session.send("what did it say?");
    assert_eq!(session.turn_end(1), TurnStatus::Done, "{}", transcript(&session.path()));
}

#[test]
fn a_second_program_gets_a_read_only_view_and_its_message_back() {
    let place = Place::new();
    let script = r#"{"turns": [{"say": "one"}]}"#;
    let mut first = place.open(script, Mode::Auto, Which::New);
    first.send("hi");
    first.turn_end(1);
    let mut second = place.open(script, Mode::Auto, Which::Id(first.id()));
    second.until("the view", |r| (r.path.len() == 3 && r.status.read_only.is_some()).then_some(()));
    second.send("me too");
    let events = second.close();
    assert!(events.contains(&Event::TakenBack { text: "me too".into(), images: vec![] }), "{events:?}");
    assert_eq!(first.path().len(), 3);
}

#[test]
fn reads_of_one_message_run_at_the_same_time_and_changes_wait_for_their_turn() {
    let place = Place::new();
    place.write("a.txt", "1\n");
    let script = r#"{"turns": [
        {"calls": [
            {"tool": "read", "input": {"path": "a.txt"}},
            {"tool": "glob", "input": {"pattern": "*.txt"}},
            {"tool": "write", "input": {"path": "a.txt", "content": "2\n"}},
            {"tool": "read", "input": {"path": "a.txt"}}]},
        {"say": "done"}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("go");
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    let text = transcript(&session.path());
    let (one, two) = (text.find("start c2 glob").unwrap(), text.find("settle").unwrap());
    assert!(one < two, "both reads had begun before the first settled: {text}");
    let (three, four) = (text.find("settle c3").unwrap(), text.find("start c4").unwrap());
    assert!(three < four, "{text}");
    let settles = session.settles();
    let of = |call: &str| settles.iter().find(|s| s.call.as_str() == call).unwrap().output.clone();
    assert!(of("c1").contains('1') && of("c4").contains('2'), "{settles:?}");
}

#[test]
fn a_session_cannot_change_its_own_record_unasked() {
    let place = Place::new();
    let script = r#"{"turns": [{"say": "hi"}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("hi");
    session.turn_end(1);
    let id = session.id();
    session.close();
    let journal = place.journal(&id).display().to_string();
    let script = format!(
        r#"{{"turns": [{{"calls": [{{"tool": "write", "input": {{"path": "{journal}", "content": ""}}}}]}}, {{"say": "x"}}]}}"#
    );
    let mut session = place.open(&script, Mode::Auto, Which::Id(id));
    session.send("wipe it");
    let approval = session.until("a question", |r| r.approvals.first().cloned());
    session.command(Command::Decide { call: approval.call, decision: Decision::No(None) });
    assert_eq!(session.turn_end(2), TurnStatus::Done);
    assert_eq!(session.settles()[0].status, CallStatus::Refused);
}

#[test]
fn an_approval_for_the_session_covers_the_open_questions_that_it_says() {
    let place = Place::new();
    let script = r#"{"turns": [
        {"calls": [{"tool": "bash", "input": {"command": "echo one"}}]},
        {"calls": [{"tool": "bash", "input": {"command": "echo two"}}]},
        {"say": "done"}]}"#;
    let mut session = place.open(script, Mode::Ask, Which::New);
    session.send("go");
    let approval = session.until("a question", |r| r.approvals.first().cloned());
    assert!(approval.rule.is_some());
    session.command(Command::Decide { call: approval.call.clone(), decision: Decision::Session });
    let second = session.until("the next question or the end", |r| {
        let ended = r.path.iter().any(|e| matches!(&e.body, EntryBody::TurnEnd(_)));
        ended
            .then_some(None)
            .or_else(|| r.approvals.iter().find(|a| a.call != approval.call).map(|a| Some(a.call.clone())))
    });
    if let Some(call) = second {
        session.command(Command::Decide { call, decision: Decision::Once });
    }
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    assert!(session.settles().iter().all(|s| s.status == CallStatus::Ok));
}

#[test]
fn a_message_that_is_longer_than_what_stays_verbatim_is_still_read_whole() {
    let place = Place::new();
    let script = r#"{"window": 60000, "turns": [
        {"say": "one", "usage": {"input": 50000, "output": 5000}},
        {"say": "SUMMARY"},
        {"expect": {"contains": "needle"}, "say": "found"}]}"#;
    let mut session = place.open_with(script, Mode::Auto, Which::New, |o| o.limits.keep_recent = 10);
    session.send("one");
    session.turn_end(1);
    session.send(&format!("{} needle", "long ".repeat(100)));
    assert_eq!(session.turn_end(2), TurnStatus::Done, "{}", transcript(&session.path()));
}

#[test]
fn a_journal_that_is_lost_under_a_call_holds_nothing_up() {
    let place = Place::new();
    let script = r#"{"turns": [
        {"calls": [{"tool": "bash", "input": {"command": "until [ -e go ]; do sleep 0.02; done"}}]},
        {"say": "never"}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("go");
    session.until("the call", |r| r.calls.iter().next().map(|_| ()));
    std::fs::write(place.journal(&session.id()), "").unwrap();
    place.write("go", "");
    session.until_said("could not be written");
    session.command(Command::Interrupt);
    session.until("rest", |r| (!r.status.phase.busy()).then_some(()));
    session.close();
}

#[test]
fn what_was_typed_and_what_was_not_delivered_outlives_the_program() {
    let place = Place::new();
    let script = r#"{"turns": [{"calls": [{"tool": "bash", "input": {"command": "sleep 300"}}]}]}"#;
    let mut session = place.open(script, Mode::Auto, Which::New);
    session.send("go");
    session.until("the call", |r| r.calls.iter().next().map(|_| ()));
    session.send("steer");
    session.until("it waits", |r| (r.status.pending.len() == 1).then_some(()));
    let id = session.id();
    let kept = place.dirs().session(&id).join("draft");
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "steer", "also if the program is killed now");
    session.command(Command::Draft("half a word".into()));
    session.close();
    let again = place.open(script, Mode::Auto, Which::Id(id));
    let events = again.close();
    let back = Event::TakenBack { text: "steer\n\nhalf a word".into(), images: vec![] };
    assert!(events.contains(&back), "{events:?}");
}

#[test]
fn a_draft_of_a_session_that_never_began_is_offered_by_the_next_one() {
    let place = Place::new();
    let script = r#"{"turns": [{"say": "hi"}]}"#;
    let session = place.open(script, Mode::Auto, Which::New);
    session.command(Command::Draft("an idea".into()));
    session.close();
    let mut next = place.open(script, Mode::Auto, Which::New);
    next.send("hello");
    next.turn_end(1);
    let events = next.close();
    assert!(events.contains(&Event::TakenBack { text: "an idea".into(), images: vec![] }), "{events:?}");
    let events = place.open(script, Mode::Auto, Which::New).close();
    assert!(!events.iter().any(|e| matches!(e, Event::TakenBack { .. })), "it was sent: {events:?}");
}
