//! Turns of agents that an end begins or cuts short, waits for who cannot end, and looks at who is not here.
//!
//! Not here: what `exec` tells of agents (`agents_crash`), agents at work (`agents`).

use serde_json::{Value, json};
use windlass::api::access::Mode;
use windlass::api::agent::{AgentEnd, AgentState};
use windlass::api::board::Record;
use windlass::api::command::{AgentAsk, Command};
use windlass::api::entry::{CallStatus, EntryBody, TurnStatus};
use windlass::engine::Which;
use windlass::law::children::{Bounds, End};

use crate::agents::{beside, calls, ended, ends, go, says, script, spawn, state, until};
use crate::session::{Place, Running};

fn slowly(words: &str) -> Value {
    let chunks: Vec<&str> = words.split_inclusive(' ').collect();
    json!({"say": chunks, "pace_ms": 20})
}

/// A session in which each end of an agent begins a turn of who asked for it.
fn open(place: &Place, script: &str) -> Running {
    place.open_with(script, Mode::Auto, Which::New, |options| {
        options.limits.agent_end_starts_turn = true;
        options.limits.agents = Bounds { at_once: 64, depth: 2, stall: None };
    })
}

fn rests(session: &mut Running, path: &str) {
    session.until(&format!("{path} at rest"), |record| {
        (state(record, path) == Some(AgentState::Resting)).then_some(())
    });
}

/// How each of its turns ended.
fn turn_ends(place: &Place, end: &AgentEnd) -> Vec<TurnStatus> {
    let opened = windlass::store::view(&place.dirs(), &end.node.session).unwrap();
    let turn = |body: &EntryBody| match body {
        EntryBody::TurnEnd(end) => Some(end.status),
        _ => None,
    };
    opened.branch().iter().filter_map(|entry| turn(&entry.body)).collect()
}

#[test]
fn an_answer_stays_whole_though_the_last_of_its_own_agents_ends_after_it() {
    let place = Place::new();
    let text = script(
        &[calls(&[spawn("a", "shared")]), says("asked"), says("seen")],
        &[
            (
                "a",
                vec![
                    calls(&[spawn("x", "shared")]),
                    says("the whole answer"),
                    slowly("half of an answer that is never whole"),
                ],
            ),
            ("x", vec![until(&beside(&place, "go")), says("x done")]),
        ],
    );
    let mut session = open(&place, &text);
    session.send("go");
    rests(&mut session, "a");
    go(&place, "go");
    let end = ended(&mut session, "a");
    assert_eq!((&end.end, end.answer.as_str()), (&End::Answered, "the whole answer"));
    assert_eq!(turn_ends(&place, &end), [TurnStatus::Done], "a request was paid for nothing");
    // the session itself goes on by the end
    assert_eq!(session.turn_end(2), TurnStatus::Done);
}

#[test]
fn an_end_that_comes_while_the_last_answer_is_said_begins_a_turn_after_it() {
    let place = Place::new();
    let long = "word ".repeat(100);
    let a = vec![until(&beside(&place, "go")), says("a done")];
    let text = script(&[calls(&[spawn("a", "shared")]), slowly(&long), says("seen")], &[("a", a)]);
    let mut session = open(&place, &text);
    session.send("go");
    // its request is on its way: it does not tell of the end any more
    session.until("the last answer", |record| {
        (record.path.iter().filter(|entry| matches!(entry.body, EntryBody::CallSettle(_))).count() == 1
            && !record.live.parts.is_empty())
        .then_some(())
    });
    go(&place, "go");
    assert_eq!(ended(&mut session, "a").end, End::Answered);
    assert_eq!([session.turn_end(1), session.turn_end(2)], [TurnStatus::Done; 2]);
}

#[test]
fn a_turn_that_an_end_began_is_never_cut_by_the_next_one() {
    let place = Place::new();
    let names: Vec<String> = (0..8).map(|n| format!("a{n}")).collect();
    let parent = vec![
        calls(&[spawn("x", "shared"), spawn("y", "shared")]),
        says("first"),
        slowly("second and whole"),
        slowly("third and whole"),
    ];
    let waits = || vec![until(&beside(&place, "go")), says("done")];
    let mut agents: Vec<(&str, Vec<Value>)> =
        names.iter().map(|name| (name.as_str(), parent.clone())).collect();
    agents.extend([("x", waits()), ("y", waits())]);
    let asked: Vec<(&str, Value)> = names.iter().map(|name| spawn(name, "shared")).collect();
    let mut turns = vec![calls(&asked), says("asked")];
    turns.extend((0..20).map(|_| says("seen")));
    let mut session = open(&place, &script(&turns, &agents));
    session.send("go");
    for name in &names {
        rests(&mut session, name);
    }
    go(&place, "go");
    for name in &names {
        let end = ended(&mut session, name);
        assert_eq!(end.end, End::Answered, "{name}");
        assert!(
            turn_ends(&place, &end).iter().all(|status| *status == TurnStatus::Done),
            "{name}: one was cut"
        );
        let whole = ["first", "second and whole", "third and whole"];
        assert_eq!(end.answer, whole[turn_ends(&place, &end).len() - 1], "{name}");
    }
}

#[test]
fn what_one_at_rest_is_told_is_read_or_refused_however_its_own_agents_end() {
    let place = Place::new();
    let names: Vec<String> = (0..8).map(|n| format!("a{n}")).collect();
    let mut parent = vec![calls(&[spawn("x", "shared")]), says("first")];
    parent.extend((0..4).map(|_| slowly("second and whole")));
    let mut agents: Vec<(&str, Vec<Value>)> =
        names.iter().map(|name| (name.as_str(), parent.clone())).collect();
    agents.push(("x", vec![until(&beside(&place, "go")), says("done")]));
    let asked: Vec<(&str, Value)> = names.iter().map(|name| spawn(name, "shared")).collect();
    let text = script(&[calls(&asked), says("asked")], &agents);
    let mut session = place.open_with(&text, Mode::Auto, Which::New, |options| {
        options.limits.agents = Bounds { at_once: 64, depth: 2, stall: None };
    });
    session.send("go");
    for name in &names {
        rests(&mut session, name);
    }
    go(&place, "go");
    for name in names.iter().cycle().take(24) {
        let open = |record: &Record| state(record, name) == Some(AgentState::Resting);
        if session.look(open) {
            session.command(Command::Agent { path: name.clone(), ask: AgentAsk::Message("more".into()) });
        }
    }
    for name in &names {
        ended(&mut session, name);
    }
    for end in ends(&session) {
        assert_eq!((&end.trouble, &end.end), (&None, &End::Answered), "{}", end.node.name);
        assert!(turn_ends(&place, &end).iter().all(|status| *status == TurnStatus::Done), "one was cut");
    }
}

#[test]
fn a_read_only_view_shows_what_an_agent_said_and_says_why_it_cannot() {
    let place = Place::new();
    let text = script(
        &[calls(&[spawn("a", "shared"), spawn("b", "shared")]), says("asked")],
        &[("a", vec![says("a done")]), ("b", vec![says("b done")])],
    );
    let mut session = place.open(&text, Mode::Auto, Which::New);
    session.send("go");
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    let gone = ended(&mut session, "b").node.session.clone();
    ended(&mut session, "a");
    session.until_so("both ends", |session| ends(session).len() == 2);
    std::fs::remove_dir_all(place.dirs().session(&gone)).unwrap();
    let mut view = place.open(&text, Mode::Auto, Which::Id(session.id()));
    view.until("both in the view", |record| {
        (record.status.read_only.is_some() && record.agents.iter().count() == 2).then_some(())
    });
    for path in ["a", "b"] {
        view.command(Command::Agent { path: path.into(), ask: AgentAsk::Look });
    }
    view.until_so("what a said", |view| view.agents().get("a").is_some());
    let said = view.agents().get("a").unwrap();
    assert!(
        said.read().path.iter().any(|entry| matches!(&entry.body, EntryBody::User(m) if m.text == "do a"))
    );
    view.until_so("why b cannot be shown", |view| view.agents().why_not("b").is_some());
    let why = view.agents().why_not("b").unwrap();
    assert!(why.contains(gone.as_str()), "{why}");
    view.command(Command::Agent { path: "a".into(), ask: AgentAsk::Message("more".into()) });
    view.until_said("read-only");
}

#[test]
fn a_wait_for_one_that_was_cut_is_answered_at_once() {
    let place = Place::new();
    let text = script(
        &[calls(&[spawn("w", "shared")]), says("asked")],
        &[("w", vec![until(&beside(&place, "never")), says("never")])],
    );
    let mut session = place.open(&text, Mode::Auto, Which::New);
    session.send("go");
    session.turn_end(1);
    session.until("w at work", |record| (state(record, "w") == Some(AgentState::Working)).then_some(()));
    let id = session.id();
    session.close();
    let wait = calls(&[("agents", json!({"action": "wait", "name": "w"}))]);
    let mut again = place.open(&script(&[wait, says("seen")], &[("w", vec![])]), Mode::Auto, Which::Id(id));
    again.send("wait");
    assert_eq!(again.turn_end(2), TurnStatus::Done);
    let told = again.settles().last().unwrap().clone();
    assert_eq!(told.status, CallStatus::Ok);
    assert!(told.output.starts_with("w (shared) was cut by the end of the program"), "{}", told.output);
}
