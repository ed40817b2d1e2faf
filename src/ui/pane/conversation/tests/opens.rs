//! What opens: copies, whole outputs.

use super::*;

#[test]
fn copies_are_source_and_a_click_opens() {
    let mut state = synced(&full());
    draw(&mut state, 66, 24);
    assert_eq!(
        press(&mut state, Msg::Copy),
        [Out::Copy("I'll split this in **two**:\n\n1. the lexer\n2. the manual".into())]
    );
    press(&mut state, Msg::NextUser);
    assert_eq!(
        press(&mut state, Msg::Copy),
        [Out::Copy("make the lexer skip nested comments,\nin parallel with docs".into())]
    );
    press(&mut state, Msg::NextError);
    assert_eq!(press(&mut state, Msg::Copy), [Out::Copy("test lexer::eof ... FAILED\nmore\n".into())]);
    let row = screen(&mut state, 66, 24).lines().position(|line| line.contains("edit")).unwrap();
    let click = |state: &mut State, at: u64| {
        update(state, Msg::Press { column: 9, row: row as u16 }, Millis(at));
        update(state, Msg::Release, Millis(at));
    };
    click(&mut state, 1_000);
    assert!(screen(&mut state, 66, 24).contains("new();"));
    click(&mut state, 2_000);
    assert!(!screen(&mut state, 66, 24).contains("new();"));
    let transcript = state.transcript();
    assert!(transcript.contains("❯ make the lexer") && transcript.contains("I'll split this in **two**"));
    assert!(transcript.contains("[bash · error] cargo test"));
}

#[test]
fn an_opened_call_asks_for_its_whole_output_and_drops_it_again() {
    let mut fake = Fake::new();
    fake.start("c1", "bash", json!({"command": "seq 9"}));
    fake.settle("c1", CallStatus::Ok, "1\n[… 8 lines]", Details::None);
    let mut cut = (*fake.0.path[1]).clone();
    if let EntryBody::CallSettle(settle) = &mut cut.body {
        settle.artifact = Some(PathBuf::from("/s/artifact"));
        settle.dropped = 16;
    }
    fake.0.path[1] = Arc::new(cut);
    let mut state = synced(&fake);
    draw(&mut state, 60, 20);
    let asked = press(&mut state, Msg::Toggle);
    let [Out::Ask { token, query: Query::Artifact { offset: 0, .. } }] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert!(screen(&mut state, 60, 20).contains("16 bytes more in /s/artifact"));
    let text: String = (1..10).map(|n| format!("{n}\n")).collect();
    press(&mut state, Msg::Answered { token: *token, reply: Reply::Artifact { text, size: 18 } });
    let shown = screen(&mut state, 60, 20);
    assert!(shown.contains("\n     9\n") && shown.contains("all of it is in /s/artifact"), "{shown}");
    assert!(press(&mut state, Msg::Toggle).is_empty());
    assert!(!screen(&mut state, 60, 20).contains("     9"));
}

/// A command that went on as a job, and its end.
fn job(left: bool, last: &str) -> Fake {
    use crate::api::job::{JobEnd, JobOutcome};
    use crate::base::JobId;
    let mut fake = Fake::new();
    let call = CallId::new("c1");
    fake.start("c1", "bash", json!({"command": "npm run dev"}));
    let mut start = (*fake.0.path[0]).clone();
    if let EntryBody::CallStart(start) = &mut start.body {
        start.spool = Some(PathBuf::from("/s/calls/c1/output"));
    }
    fake.0.path[0] = Arc::new(start);
    let details = Details::Command {
        end: if left { "exit 0" } else { "detached" }.into(),
        exit_code: left.then_some(0),
        survivors: Vec::new(),
        job: Some(JobId(3)),
        left: if left { 2 } else { 0 },
        told: None,
    };
    fake.settle("c1", if left { CallStatus::Ok } else { CallStatus::Detached }, "ready\n", details);
    let outcome = JobOutcome {
        end: crate::law::job::End::Killed { by: crate::law::job::By::User },
        exit_code: None,
        exit_signal: None,
        ended: Millis(0),
        duration: Millis(61_000),
        bytes: last.len() as u64,
        lines: 2,
        last: last.into(),
        gone: 2,
        survivors: Vec::new(),
        trouble: None,
    };
    let command = "npm run dev".into();
    fake.commit(EntryBody::JobEnd(JobEnd { job: JobId(3), call, command, hidden: false, left, outcome }));
    fake
}

#[test]
fn a_call_that_goes_on_names_its_job_and_the_jobs_end_opens_to_its_last_lines() {
    let mut state = synced(&job(false, "GET /\nbye"));
    let shown = screen(&mut state, 60, 12);
    assert!(shown.contains("detached → j3 0:12"), "{shown}");
    let folded = "▸ j3 ✗ stopped by you · 2 processes gone after 1:01 · npm";
    assert!(shown.contains(folded) && !shown.contains("GET /"), "{shown}");
    assert_eq!(press(&mut state, Msg::Toggle), [], "its last lines stand in its entry");
    let shown = screen(&mut state, 60, 12);
    let rest = "\n     GET /\n     bye\n     all of it is in /s/calls/c1/output";
    assert!(shown.contains("▾ j3 ✗ stopped") && shown.contains(rest), "{shown}");
    press(&mut state, Msg::Next);
    press(&mut state, Msg::Previous);
    let copied = press(&mut state, Msg::Copy);
    assert!(
        matches!(&copied[..], [Out::Copy(text)] if text.ends_with("npm run dev\nGET /\nbye")),
        "{copied:?}"
    );
    assert!(state.transcript().ends_with("GET /\nbye\n[all of it: /s/calls/c1/output]\n"));
    press(&mut state, Msg::Search("get /".into()));
    assert_eq!(state.hits(), Some((1, 1)));
}

#[test]
fn what_a_command_left_behind_opens_to_a_file_of_its_own() {
    let mut state = synced(&job(true, ""));
    let shown = screen(&mut state, 80, 12);
    assert!(shown.contains("✓ · left 2 processes behind (j3)"), "{shown}");
    let shown = screen(&mut state, 60, 12);
    assert!(shown.contains("✓ · left 2 (j3)"), "{shown}");
    press(&mut state, Msg::Toggle);
    let shown = screen(&mut state, 60, 12);
    assert!(shown.contains("all of it is in /s/calls/c1/left"), "{shown}");
}

#[test]
fn a_command_that_printed_nothing_has_no_lines() {
    let details = |code| Details::Command {
        end: format!("exit {code}"),
        exit_code: Some(code),
        survivors: Vec::new(),
        job: None,
        left: 0,
        told: None,
    };
    let mut fake = Fake::new();
    fake.start("c1", "bash", json!({"command": "true"}));
    fake.settle_bytes("c1", (CallStatus::Ok, "[no output, exit 0]"), 0, details(0));
    fake.start("c2", "bash", json!({"command": "echo x"}));
    fake.settle_bytes("c2", (CallStatus::Ok, "x\n"), 2, details(0));
    let shown = screen(&mut synced(&fake), 60, 12);
    assert!(shown.contains("· 1 l") && shown.matches(" l ").count() == 1, "{shown}");
}
