//! The messages are valid whatever happened: random sessions, likely and unlikely ones, cut at every
//! entry as a crash would.

use proptest::prelude::*;
use serde_json::json;
use serde_json::value::RawValue;

use super::*;
use crate::api::entry::{Delivery, Details, Level, Notice, TurnEnd, TurnStatus};
use crate::api::job::JobOutcome;
use crate::api::message::Stop;
use crate::base::{EntryId, JobId, Millis};

/// One thing that happens to a session; the numbers choose among what is there.
#[derive(Clone, Debug)]
enum Act {
    User(String),
    Answer { blocks: Vec<u8>, finish: u8 },
    Start(usize),
    Settle { which: usize, status: u8, output: String },
    Person { shown: bool },
    JobEnd { hidden: bool },
    Notice,
    TurnEnd,
    Compact(Option<usize>),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => "[a-z ]{0,4}".prop_map(Act::User),
        6 => (proptest::collection::vec(0u8..7, 0..5), 0u8..8).prop_map(|(blocks, finish)| Act::Answer { blocks, finish }),
        6 => (0usize..4).prop_map(Act::Start),
        6 => (0usize..9, 0u8..6, "[a-z]{0,3}").prop_map(|(which, status, output)| {
            Act::Settle { which, status, output }
        }),
        1 => any::<bool>().prop_map(|shown| Act::Person { shown }),
        2 => any::<bool>().prop_map(|hidden| Act::JobEnd { hidden }),
        1 => Just(Act::Notice),
        2 => Just(Act::TurnEnd),
        1 => proptest::option::of(0usize..40).prop_map(Act::Compact),
    ]
}

fn block(kind: u8, n: usize) -> Block {
    let call = |id: String| Body::Call { id, name: "bash".into(), input: json!({"command": "ls"}) };
    let body = match kind {
        0 => Body::Text(format!("text {n}")),
        1 => Body::Text(" ".into()),
        2 => Body::Thinking("hm".into()),
        3 => Body::Unknown,
        4 => call("call_0".into()),
        _ => call(format!("w{n}")),
    };
    let raw = RawValue::from_string(format!("{{\"n\":{n}}}")).unwrap();
    Block { body, raw: Some(raw) }
}

fn finish(kind: u8) -> Finish {
    match kind {
        0 => Finish::Truncated("connection closed".into()),
        1 => Finish::Cancelled,
        2 => Finish::Failed("overloaded".into()),
        3 => Finish::Finished(Stop::MaxTokens),
        _ => Finish::Finished(Stop::End),
    }
}

fn status(kind: u8) -> CallStatus {
    match kind {
        0 => CallStatus::Error,
        1 => CallStatus::Refused,
        2 => CallStatus::Cancelled,
        3 => CallStatus::Detached,
        4 => CallStatus::Interrupted,
        _ => CallStatus::Ok,
    }
}

fn settle(call: &CallId, status: CallStatus, output: &str) -> CallSettle {
    CallSettle::new(call.clone(), status, output)
}

fn start(call: &CallId, wire_id: &str) -> CallStart {
    let (tool, input) = ("bash".to_owned(), json!({"command": "ls"}));
    CallStart { call: call.clone(), wire_id: wire_id.into(), tool, input, spool: None }
}

fn job_end(call: &CallId, job: u32, end: End, hidden: bool) -> EntryBody {
    let outcome = JobOutcome {
        end,
        exit_code: None,
        exit_signal: None,
        ended: Millis(0),
        duration: Millis(250_000),
        bytes: 9,
        lines: 2,
        last: "a\nb".into(),
        gone: 0,
        survivors: Vec::new(),
        trouble: None,
    };
    let job = JobId(job);
    let command = "npm run\ndev".into();
    EntryBody::JobEnd(JobEnd { job, call: call.clone(), command, hidden, left: false, outcome })
}

fn user(text: &str) -> EntryBody {
    EntryBody::User(UserMessage { text: text.into(), images: Vec::new(), delivery: Delivery::Sent })
}

fn answer(blocks: Vec<Block>, finish: Finish) -> EntryBody {
    EntryBody::Answer(Answer { wire: "scripted".into(), model: "m/m".into(), blocks, finish, usage: None })
}

fn entries(bodies: Vec<EntryBody>) -> Vec<Arc<Entry>> {
    let id = |n: usize| EntryId::new(format!("e{n}"));
    bodies
        .into_iter()
        .enumerate()
        .map(|(n, body)| Arc::new(Entry { id: id(n), parent: n.checked_sub(1).map(id), at: Millis(0), body }))
        .collect()
}

/// A session out of acts. Starts and settles mostly fit, but nothing makes them.
fn session(acts: Vec<Act>) -> Vec<Arc<Entry>> {
    let mut bodies = vec![user("begin")];
    let mut wire_ids: Vec<String> = Vec::new();
    let mut begun: Vec<CallId> = Vec::new();
    for (n, act) in acts.into_iter().enumerate() {
        let call = CallId::new(format!("c{n}"));
        match act {
            Act::User(text) => bodies.push(user(&text)),
            Act::Answer { blocks, finish: kind } => {
                let blocks: Vec<Block> =
                    blocks.iter().enumerate().map(|(at, kind)| block(*kind, n * 10 + at)).collect();
                let body = answer(blocks, finish(kind));
                if let EntryBody::Answer(answer) = &body {
                    wire_ids = answer.calls().map(|(_, id, ..)| id.to_owned()).collect();
                }
                bodies.push(body);
            }
            Act::Start(which) => {
                let wire_id = wire_ids.get(which).cloned().unwrap_or_else(|| "stray".into());
                bodies.push(EntryBody::CallStart(start(&call, &wire_id)));
                begun.push(call);
            }
            Act::Settle { which, status: kind, output } => {
                let call = begun.iter().rev().nth(which).cloned().unwrap_or(call);
                bodies.push(EntryBody::CallSettle(settle(&call, status(kind), &output)));
            }
            Act::Person { shown } => {
                let wire_id = if shown { PERSON_SHOWN } else { PERSON_HIDDEN };
                bodies.push(EntryBody::CallStart(start(&call, wire_id)));
                bodies.push(EntryBody::CallSettle(settle(&call, CallStatus::Ok, "mine")));
            }
            Act::JobEnd { hidden } => {
                bodies.push(job_end(&call, n as u32, End::Exited { code: 1 }, hidden));
            }
            Act::Notice => {
                bodies.push(EntryBody::Notice(Notice { level: Level::Info, text: "n".into() }));
            }
            Act::TurnEnd => {
                bodies.push(EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Failed, why: None }))
            }
            Act::Compact(from) => bodies.push(EntryBody::Compaction(Compaction {
                summary: "so far".into(),
                keep_from: from.map(|n| EntryId::new(format!("e{n}"))),
                tokens_before: 0,
                tokens_after: 0,
            })),
        }
    }
    entries(bodies)
}

/// What every wire demands.
fn valid(messages: &[Message]) -> Result<(), String> {
    if !matches!(messages.first(), Some(Message::User { .. })) {
        return Err("it does not begin with the person".into());
    }
    let mut owed: Vec<(String, String)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let before = at.checked_sub(1).map(|n| &messages[n]);
        match message {
            Message::User { text, images } => {
                if matches!(before, Some(Message::User { .. }))
                    || (text.trim().is_empty() && images.is_empty())
                {
                    return Err(format!("message {at}: two of the person, or an empty one"));
                }
            }
            Message::Answer(answer) => {
                if !matches!(before, Some(Message::User { .. } | Message::Results(_))) || says_nothing(answer)
                {
                    return Err(format!("message {at}: two answers, or an empty one"));
                }
                let finished = matches!(answer.finish, Finish::Finished(_));
                if !finished && answer.blocks.iter().any(|b| b.raw.is_some()) {
                    return Err(format!("message {at}: raw blocks of an answer that broke off"));
                }
            }
            Message::Results(results) => {
                let given: Vec<_> = results.iter().map(|r| (r.id.clone(), r.name.clone())).collect();
                if owed.is_empty() || given != owed || results.iter().any(|r| r.text.trim().is_empty()) {
                    return Err(format!("message {at}: results {given:?} for calls {owed:?}"));
                }
                owed.clear();
            }
        }
        if !owed.is_empty() {
            return Err(format!("message {at}: no results for {owed:?}"));
        }
        if let Message::Answer(answer) = message {
            owed = answer.calls().map(|(_, id, name, _)| (id.into(), name.into())).collect();
        }
    }
    if owed.is_empty() { Ok(()) } else { Err(format!("no results for {owed:?}")) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_gets_a_result(acts in proptest::collection::vec(act(), 0..30)) {
        let path = session(acts);
        for cut in 1..=path.len() {
            let messages = messages(&path[..cut]);
            prop_assert_eq!(valid(&messages), Ok(()), "cut at {}: {:#?}\n{:#?}", cut, &path[..cut], messages);
        }
    }

    #[test]
    fn what_was_said_is_told_once_and_in_order(acts in proptest::collection::vec(act(), 0..30)) {
        let path = session(acts);
        let (_, entries) = visible(&path);
        let told = messages(&path);
        let finished: Vec<&Answer> = entries
            .iter()
            .filter_map(|e| match &e.body {
                EntryBody::Answer(a) if matches!(a.finish, Finish::Finished(_)) && !says_nothing(a) => Some(a),
                _ => None,
            })
            .collect();
        let answers: Vec<&Answer> = told
            .iter()
            .filter_map(|m| match m {
                Message::Answer(a) if matches!(a.finish, Finish::Finished(_)) => Some(a),
                _ => None,
            })
            .collect();
        prop_assert_eq!(answers, finished, "whole answers are told block by block as they came");
        let all: String = told.iter().map(|m| if let Message::User { text, .. } = m { text.as_str() } else { "" }).collect::<Vec<_>>().join("\n\n");
        for entry in &entries {
            if let EntryBody::JobEnd(end) = &entry.body {
                let told = all.matches(&format!("[job {} (", end.job)).count();
                prop_assert_eq!(told, usize::from(!end.hidden), "the end of {} in {:?}", end.job, all);
            }
        }
        let mut rest = all.as_str();
        for entry in &entries {
            if let EntryBody::User(said) = &entry.body && !said.text.trim().is_empty() {
                let at = rest.find(&said.text);
                prop_assert!(at.is_some(), "{:?} is missing in {:?}", said.text, all);
                rest = &rest[at.unwrap_or(0) + said.text.len()..];
            }
        }
    }
}

fn call(id: &str) -> Block {
    Block::plain(Body::Call { id: id.into(), name: "bash".into(), input: json!({}) })
}

fn text(text: &str) -> Block {
    Block::plain(Body::Text(text.into()))
}

fn done() -> Finish {
    Finish::Finished(Stop::End)
}

fn outline(messages: &[Message]) -> Vec<String> {
    let line = |message: &Message| match message {
        Message::User { text, .. } => format!("user {text}"),
        Message::Answer(a) => format!("answer {} +{}", a.text(), a.calls().count()),
        Message::Results(rs) => {
            let all: Vec<String> = rs.iter().map(|r| format!("{}={}", r.id, r.text)).collect();
            format!("results {}", all.join(" "))
        }
    };
    messages.iter().map(line).collect()
}

#[test]
fn results_stand_in_the_order_of_the_calls_and_steering_comes_after_them() {
    let (a, b) = (CallId::new("c1"), CallId::new("c2"));
    let path = entries(vec![
        user("go"),
        answer(vec![call("x"), call("y")], done()),
        EntryBody::CallStart(start(&a, "x")),
        EntryBody::CallStart(start(&b, "y")),
        EntryBody::CallSettle(settle(&b, CallStatus::Ok, "second")),
        user("steered"),
        EntryBody::CallSettle(settle(&a, CallStatus::Ok, "first")),
    ]);
    assert_eq!(
        outline(&messages(&path)),
        ["user go", "answer  +2", "results x=first y=second", "user steered"]
    );
    let crashed = outline(&messages(&path[..6]));
    assert_eq!(crashed[2], format!("results x={NO_RESULT} y=second"));
}

#[test]
fn an_answer_that_broke_off_is_left_out_when_asked_again_and_marked_when_answered() {
    let cut = || answer(vec![text("half"), call("x")], Finish::Truncated("closed".into()));
    let end = || EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Failed, why: None });
    let again = entries(vec![user("go"), cut(), end(), answer(vec![text("whole")], done())]);
    assert_eq!(outline(&messages(&again)), ["user go", "answer whole +0"]);
    assert_eq!(outline(&messages(&again[..3])), ["user go"]);
    let replied = entries(vec![user("go"), cut(), end(), user("and?")]);
    assert_eq!(
        outline(&messages(&replied)),
        ["user go", "answer half\n\n[This answer was cut off: closed] +0", "user and?"]
    );
}

#[test]
fn a_summary_stands_in_the_place_of_what_it_summarises() {
    let compaction = |keep_from: Option<&str>| {
        EntryBody::Compaction(Compaction {
            summary: "old things".into(),
            keep_from: keep_from.map(EntryId::new),
            tokens_before: 9,
            tokens_after: 1,
        })
    };
    let path = |from| {
        entries(vec![
            user("one"),
            answer(vec![text("1")], done()),
            user("two"),
            answer(vec![text("2")], done()),
            compaction(from),
            user("three"),
        ])
    };
    let summary = "user Summary of the conversation up to here:\n\nold things";
    assert_eq!(
        outline(&messages(&path(Some("e2")))),
        [format!("{summary}\n\ntwo"), "answer 2 +0".into(), "user three".into()]
    );
    assert_eq!(outline(&messages(&path(None))), [format!("{summary}\n\nthree")]);
}

#[test]
fn a_command_of_the_person_is_told_unless_it_is_hidden() {
    let (a, b) = (CallId::new("c1"), CallId::new("c2"));
    let path = entries(vec![
        EntryBody::CallStart(start(&a, PERSON_SHOWN)),
        EntryBody::CallSettle(settle(&a, CallStatus::Ok, "Cargo.toml")),
        EntryBody::CallStart(start(&b, PERSON_HIDDEN)),
        EntryBody::CallSettle(settle(&b, CallStatus::Ok, "secret")),
    ]);
    assert_eq!(outline(&messages(&path)), ["user I ran this command myself (ok):\n\n$ ls\nCargo.toml"]);
}

#[test]
fn a_jobs_end_is_told_once_and_never_between_a_call_and_its_result() {
    let (a, b) = (CallId::new("c1"), CallId::new("c2"));
    let mut begun = start(&a, "x");
    begun.spool = Some("/s/calls/c1/output".into());
    let path = entries(vec![
        user("go"),
        answer(vec![call("x"), call("y")], done()),
        EntryBody::CallStart(begun),
        EntryBody::CallStart(start(&b, "y")),
        job_end(&a, 3, End::Exited { code: 1 }, false),
        EntryBody::CallSettle(settle(&a, CallStatus::Detached, "first")),
        job_end(&b, 4, End::Exited { code: 0 }, true),
        job_end(&b, 5, End::Killed { by: By::Rewind }, false),
        EntryBody::CallSettle(settle(&b, CallStatus::Ok, "second")),
        job_end(&a, 6, End::Ended, false),
    ]);
    assert_eq!(
        outline(&messages(&path)),
        [
            "user go",
            "answer  +2",
            "results x=first y=second",
            "user [job j3 (npm run dev) ended: exit 1 after 4:10; its last lines:\na\nb\n\
             the whole output: /s/calls/c1/output]\n\n\
             [job j6 (npm run dev) ended: ended by themselves after 4:10; its last lines:\na\nb\n\
             the whole output: /s/calls/c1/left]",
        ]
    );
}

#[test]
fn an_end_that_a_call_told_is_not_told_again_and_what_was_told_stays() {
    let (a, b) = (CallId::new("c1"), CallId::new("c2"));
    let told = |call: &CallId, job: u32| {
        let details = Details::Command {
            end: "killed by the model".into(),
            exit_code: None,
            survivors: Vec::new(),
            job: None,
            left: 0,
            told: Some(JobId(job)),
        };
        EntryBody::CallSettle(CallSettle { details, ..settle(call, CallStatus::Ok, "it ended") })
    };
    let ended = || job_end(&a, 3, End::Killed { by: By::Model }, false);
    let begin = || vec![user("go"), answer(vec![call("x")], done()), EntryBody::CallStart(start(&b, "x"))];
    let once = ["user go", "answer  +1", "results x=it ended"];
    // whichever comes first
    for rest in [vec![ended(), told(&b, 3)], vec![told(&b, 3), ended()]] {
        let path = entries(begin().into_iter().chain(rest).collect());
        assert_eq!(outline(&messages(&path)), once);
    }
    // of another job, or interrupted: it is told
    for settled in [told(&b, 4), EntryBody::CallSettle(settle(&b, CallStatus::Interrupted, "it ended"))] {
        let path = entries(begin().into_iter().chain([ended(), settled]).collect());
        assert!(
            outline(&messages(&path))[3].starts_with("user [job j3 ("),
            "{:?}",
            outline(&messages(&path))
        );
    }
    // told before the call began: what was said stays as it was
    let mut early = vec![user("go"), ended()];
    early.extend(begin().split_off(1));
    early.push(told(&b, 3));
    let path = entries(early);
    let (before, after) = (outline(&messages(&path[..2])), outline(&messages(&path)));
    assert!(before[0].contains("[job j3 (") && after[0] == before[0], "{after:?}");
}
