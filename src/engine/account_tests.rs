//! Accounts of entries that are made up.

use super::*;
use crate::api::agent::{AgentEnd, AgentNode, Workspace};
use crate::api::entry::{CallSettle, TurnEnd, UserMessage};
use crate::api::message::Stop;
use crate::base::EntryId;
use crate::law::children::End;

fn entry(at: u64, body: EntryBody) -> Arc<Entry> {
    Arc::new(Entry { id: EntryId::new(format!("e{at}")), parent: None, at: Millis(at), body })
}

fn said(at: u64, text: &str) -> Arc<Entry> {
    entry(at, EntryBody::User(UserMessage { text: text.into(), ..UserMessage::default() }))
}

fn answered(at: u64, model: &str, input: u64, output: u64) -> Arc<Entry> {
    let usage = Some(Usage { input, output, ..Usage::default() });
    let finish = Finish::Finished(Stop::End);
    entry(
        at,
        EntryBody::Answer(Answer { wire: "x".into(), model: model.into(), blocks: vec![], finish, usage }),
    )
}

fn over(at: u64) -> Arc<Entry> {
    entry(at, EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Done, why: None }))
}

fn start(at: u64, call: &str) -> Arc<Entry> {
    let start = CallStart {
        call: CallId::new(call),
        wire_id: call.into(),
        tool: "bash".into(),
        input: serde_json::Value::Null,
        spool: None,
    };
    entry(at, EntryBody::CallStart(start))
}

fn settle(at: u64, call: &str, asked: u64, status: CallStatus) -> Arc<Entry> {
    let settle = CallSettle { asked: Millis(asked), ..CallSettle::new(CallId::new(call), status, "out") };
    entry(at, EntryBody::CallSettle(settle))
}

#[test]
fn what_was_spent_adds_up_by_model_and_by_turn_and_an_unknown_price_is_unknown() {
    let entries = [
        said(1, "first"),
        answered(2, "a/m", 100, 10),
        answered(3, "b/n", 50, 5),
        over(4),
        said(5, "\nsecond"),
        answered(6, "a/m", 200, 20),
    ];
    let price = |model: &str, usage: &Usage| (model == "a/m").then_some(usage.total() as f64);
    let report = usage(&entries, &price, vec![]);
    assert_eq!((report.total.usage.total(), report.total.answers, report.total.cost), (385, 3, None));
    let models: Vec<_> = report.models.iter().map(|(m, s)| (m.as_str(), s.usage.total(), s.cost)).collect();
    assert_eq!(models, [("a/m", 330, Some(330.0)), ("b/n", 55, None)]);
    let turns: Vec<_> = report.turns.iter().map(|(t, s)| (t.as_str(), s.usage.total(), s.cost)).collect();
    assert_eq!(turns, [("first", 165, None), ("second", 220, Some(220.0))]);
}

fn agent_ended(at: u64, name: &str, input: u64, cost: Option<f64>, again: bool) -> Arc<Entry> {
    let node = AgentNode {
        name: name.into(),
        session: SessionId::new(format!("s-{name}")),
        workspace: Workspace::Shared,
        room: None,
        model: None,
        tools: None,
        budget: None,
        run: 1,
        after: None,
        asked: Millis(0),
        told: Millis(0),
    };
    let usage = Usage { input, ..Usage::default() };
    let end = AgentEnd {
        node,
        end: End::Answered,
        answer: String::new(),
        calls: 1,
        usage,
        cost,
        hand_back: None,
        trouble: None,
        again,
        ended: Millis(at),
        duration: Millis(1),
    };
    entry(at, EntryBody::AgentEnd(end))
}

/// What is told by agent, and what is in the sum: each token and each dollar stands in one of them.
#[test]
fn an_agent_that_was_woken_again_is_counted_once_whichever_branch_its_runs_ended_on() {
    // one run ended on a branch that was left, another on the one at hand; a hand-back that was tried again counts nothing
    let entries = [
        said(1, "first"),
        agent_ended(2, "lexer", 100, Some(1.0), false),
        said(3, "the other branch"),
        agent_ended(4, "lexer", 40, Some(0.5), false),
        agent_ended(5, "lexer", 40, Some(0.5), true),
        agent_ended(6, "dear", 7, None, false),
    ];
    let spent = |input, cost| Spent { answers: 0, usage: Usage { input, ..Usage::default() }, cost };
    let runs = |name: &str, input, cost| Running {
        path: name.into(),
        session: SessionId::new(format!("s-{name}")),
        spent: spent(input, cost),
    };
    let running = vec![runs("lexer", 150, Some(1.75)), runs("dear", 9, None), runs("new", 3, Some(0.25))];
    let report = usage(&entries, &|_, _| None, running);
    assert_eq!(report.total, spent(147, None));
    let told: Vec<_> = report.agents.iter().map(|a| (a.path.as_str(), a.runs, a.spent)).collect();
    let wanted = [
        ("lexer", false, spent(140, Some(1.5))),
        ("dear", false, spent(7, None)),
        ("lexer", true, spent(10, Some(0.25))),
        ("dear", true, spent(2, None)),
        ("new", true, spent(3, Some(0.25))),
    ];
    assert_eq!(told, wanted);
}

#[test]
fn a_timeline_has_the_model_between_calls_and_what_waited_for_a_person() {
    let path = [
        said(1000, "go"),
        answered(3000, "a/m", 1, 1),
        start(3100, "c1"),
        start(3200, "c2"),
        settle(4000, "c2", 0, CallStatus::Error),
        settle(9000, "c1", 5000, CallStatus::Ok),
        answered(11_000, "a/m", 1, 1),
        over(11_100),
        said(20_000, "again"),
        start(20_500, "c3"),
    ];
    let running = [(CallId::new("c3"), Progress { asking: true, ..Progress::default() })];
    let turns = timeline(&path, &running, &|_| "make".into(), Millis(30_000));
    let rows: Vec<_> = turns[0]
        .rows
        .iter()
        .map(|r| (r.tool.as_deref().unwrap_or("model"), r.began.0, r.asked.0, r.ended.0, r.word))
        .collect();
    assert_eq!(
        rows,
        [
            ("model", 1000, 0, 3000, ""),
            ("bash", 3100, 5000, 9000, ""),
            ("bash", 3200, 0, 4000, "error"),
            ("model", 9000, 0, 11_000, ""),
        ]
    );
    assert_eq!((turns[0].ended, turns[0].runs), (Millis(11_100), false));
    let open = &turns[1];
    assert_eq!((open.title.as_str(), open.runs, open.ended), ("again", true, Millis(30_000)));
    assert_eq!((open.rows[0].asked, open.rows[0].ended), (Millis(9500), Millis(30_000)));
}

#[test]
fn the_parts_of_the_window_are_the_meters_count_to_the_token() {
    for used in [0, 1, 2, 7, 99, 100, 101, 1_000_003] {
        let part =
            |tokens| ContextPart { share: Share::Rest, name: String::new(), tokens, note: String::new() };
        let mut parts = vec![part(33), part(33), part(34)];
        agree(&mut parts, used);
        assert_eq!(parts.iter().map(|part| part.tokens).sum::<u64>(), used, "{parts:?}");
    }
}
