//! The bridge of the law of children: generated histories of a session with agents are carried out by a real session
//! and by the pure rule (`law::children`); what both say after each act, and the ends in their order, must be the same.
//!
//! The real side looks at the record's board and at the entries of the conversation. The rule's side is told the same
//! acts, and answers its effects as a shell would at once. Not here: copies and hand-backs (`agents`), places of those
//! that wait for their own (`law::children`), crashes (`agents_crash`).
//!
//! Keeps `child_ends_once`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use windlass::api::access::Mode;
use windlass::api::agent::AgentState;
use windlass::api::command::{AgentAsk, Command};
use windlass::api::entry::EntryBody;
use windlass::api::message::{Answer, Ask, Block, Body, Finish, Message, Stop};
use windlass::base::Millis;
use windlass::engine::Which;
use windlass::law::children::{Asked, Bounds, By, Children, Effect, End, Event, State};
use windlass::provider::{Answering, Control, Failure, FailureKind, Provider, StreamEvent};

use crate::jobs_tool::OneModel;
use crate::scenarios;
use crate::session::{Place, Running};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const WHY: &str = "it was told to fail";

#[derive(Clone, Copy, Debug)]
enum Act {
    Ask(usize),
    Answers(usize),
    Fails(usize),
    Stop(usize),
    Tell(usize),
}

#[derive(Clone, Debug)]
struct Scenario {
    at_once: u32,
    acts: Vec<Act>,
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let which = 0..NAMES.len();
    let act = prop_oneof![
        4 => which.clone().prop_map(Act::Ask),
        3 => which.clone().prop_map(Act::Answers),
        1 => which.clone().prop_map(Act::Fails),
        2 => which.clone().prop_map(Act::Stop),
        1 => which.prop_map(Act::Tell),
    ];
    (1u32..4, proptest::collection::vec(act, 3..9)).prop_map(|(at_once, acts)| Scenario { at_once, acts })
}

/// How a child stands, in a word, from whichever side.
fn line(out: &mut String, name: &str, words: &str) {
    let _ = writeln!(out, "{name} {words}");
}

// The rule.

struct Rule {
    law: Children,
    ends: Vec<String>,
}

impl Rule {
    fn shell(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            let next = match effect {
                Effect::Prepare(path) => self.law.step(&path, Event::Prepared, Millis(0)),
                Effect::Close(path) => self.law.step(&path, Event::Closed, Millis(0)),
                Effect::Ended(path, end) => {
                    self.ends.push(format!("{path} {}", end.words()));
                    Vec::new()
                }
                Effect::HandBack(path) => self.law.step(&path, Event::HandedBack, Millis(0)),
                Effect::Begin(_) | Effect::Halt(_) | Effect::Forget(_) | Effect::CameBack(_) => Vec::new(),
            };
            effects.extend(next);
        }
    }

    /// What an act means; whether it is one that can be done now.
    fn act(&mut self, act: Act) -> bool {
        let works = |law: &Children, at: usize| matches!(law.state(NAMES[at]), Some(State::Working(_)));
        let effects = match act {
            Act::Ask(at) => {
                let asked = Asked { parent: None, name: NAMES[at].into(), isolated: false, budget: None };
                self.law.ask(asked, Millis(0)).unwrap_or_default()
            }
            Act::Answers(at) if works(&self.law, at) => {
                self.law.step(NAMES[at], Event::Over(End::Answered), Millis(0))
            }
            Act::Fails(at) if works(&self.law, at) => {
                self.law.step(NAMES[at], Event::Over(End::Failed { why: WHY.into() }), Millis(0))
            }
            Act::Stop(at) if self.law.state(NAMES[at]).is_some() => {
                self.law.step(NAMES[at], Event::Stop(By::User), Millis(0))
            }
            Act::Tell(at) if matches!(self.law.state(NAMES[at]), Some(State::Ended(_))) => {
                self.law.step(NAMES[at], Event::Woken, Millis(0))
            }
            Act::Answers(_) | Act::Fails(_) | Act::Stop(_) | Act::Tell(_) => return false,
        };
        self.shell(effects);
        true
    }

    fn shown(&self) -> String {
        let mut out = String::new();
        for (path, state) in self.law.iter() {
            match state {
                State::Waiting => line(&mut out, path, &format!("waits {}", self.law.number(path).unwrap())),
                State::Working(_) => line(&mut out, path, "works"),
                State::Ended(end) => line(&mut out, path, &end.words()),
                State::Preparing
                | State::Stopping(..)
                | State::HandingBack(_)
                | State::Again(_)
                | State::Cut => line(&mut out, path, "on its way"),
            }
        }
        out
    }
}

// The real one.

type Outcomes = Arc<Mutex<BTreeMap<String, watch::Sender<Option<bool>>>>>;

/// The session's model asks for the agent that a message names; an agent's answers, or fails, when it is told to.
struct Told {
    agent: Option<String>,
    outcomes: Outcomes,
}

impl Provider for Told {
    fn stream(&self, ask: Ask, control: Control, events: mpsc::Sender<StreamEvent>) -> Answering {
        let told = self.agent.as_ref().map(|agent| self.outcomes.lock().unwrap()[agent].subscribe());
        Box::pin(async move {
            let (blocks, finish) = match told {
                None => spoken(&ask),
                Some(mut told) => tokio::select! {
                    () = control.cancel.cancelled() => (Vec::new(), Finish::Cancelled),
                    outcome = told.wait_for(Option::is_some) => match *outcome.unwrap() {
                        Some(true) => (vec![Body::Text("done".into())], Finish::Finished(Stop::End)),
                        _ => (Vec::new(), Finish::Failed(WHY.into())),
                    },
                },
            };
            let failure = matches!(finish, Finish::Failed(_)).then(|| Failure {
                kind: FailureKind::Invalid,
                status: None,
                text: WHY.into(),
            });
            let blocks = blocks.into_iter().map(Block::plain).collect();
            let answer =
                Answer { wire: "scripted".into(), model: "told".into(), blocks, finish, usage: None };
            let _ = events.send(StreamEvent::End { answer, failure }).await;
        })
    }

    fn for_agent(&self, path: &str) -> Option<Result<Arc<dyn Provider>, String>> {
        self.outcomes.lock().unwrap().entry(path.to_owned()).or_insert_with(|| watch::channel(None).0);
        let outcomes = Arc::clone(&self.outcomes);
        Some(Ok(Arc::new(Told { agent: Some(path.to_owned()), outcomes })))
    }
}

fn spoken(ask: &Ask) -> (Vec<Body>, Finish) {
    match ask.messages.last() {
        Some(Message::User { text, .. }) => {
            let name = text.lines().find_map(|line| line.strip_prefix("ask ")).unwrap_or_default().trim();
            let input = json!({"name": name, "prompt": "p"});
            let call = Body::Call { id: format!("w{}", ask.messages.len()), name: "spawn".into(), input };
            (vec![call], Finish::Finished(Stop::Calls))
        }
        _ => (vec![Body::Text("ok".into())], Finish::Finished(Stop::End)),
    }
}

fn shown(session: &Running) -> String {
    let mut out = String::new();
    session.look(|record| {
        for (path, row) in record.agents.iter() {
            match &row.state {
                AgentState::Waiting { number } => line(&mut out, path, &format!("waits {number}")),
                AgentState::Working => line(&mut out, path, "works"),
                AgentState::Ended(end) => line(&mut out, path, &end.end.words()),
                AgentState::Preparing { .. }
                | AgentState::Resting
                | AgentState::Stopping
                | AgentState::HandingBack
                | AgentState::Cut => line(&mut out, path, "on its way"),
            }
        }
    });
    out
}

fn ends(session: &Running) -> Vec<String> {
    let end = |body: &EntryBody| match body {
        EntryBody::AgentEnd(end) => Some(format!("{} {}", end.node.name, end.end.words())),
        _ => None,
    };
    session.path().iter().filter_map(|entry| end(&entry.body)).collect()
}

fn carry_out(scenario: &Scenario) {
    let place = Place::in_memory();
    let outcomes = Outcomes::default();
    let told = Told { agent: None, outcomes: Arc::clone(&outcomes) };
    let models = Arc::new(OneModel(Arc::new(told)));
    let mut session = place.open_with(r#"{"turns": []}"#, Mode::Auto, Which::New, |options| {
        options.models = models;
        options.limits.agents = Bounds { at_once: scenario.at_once, depth: 1, stall: None };
    });
    let bounds = Bounds { at_once: scenario.at_once, depth: 1, stall: None };
    let mut rule = Rule { law: Children::new(bounds), ends: Vec::new() };
    let mut turns = 0;
    for act in &scenario.acts {
        if !rule.act(*act) {
            continue;
        }
        let tell = |at: usize, outcome: bool| {
            let outcomes = outcomes.lock().unwrap();
            outcomes[NAMES[at]].send_replace(Some(outcome));
        };
        let agent = |at: usize, ask: AgentAsk| Command::Agent { path: NAMES[at].into(), ask };
        match act {
            Act::Ask(at) => {
                turns += 1;
                session.send(&format!("ask {}", NAMES[*at]));
                session.turn_end(turns);
            }
            Act::Answers(at) => tell(*at, true),
            Act::Fails(at) => tell(*at, false),
            Act::Stop(at) => session.command(agent(*at, AgentAsk::Stop)),
            Act::Tell(at) => {
                outcomes.lock().unwrap()[NAMES[*at]].send_replace(None);
                session.command(agent(*at, AgentAsk::Message("more".into())));
            }
        }
        let wanted = (rule.shown(), rule.ends.len());
        session.until_so(&format!("after {act:?} of {scenario:?}:\n{}", wanted.0), |session| {
            (shown(session), ends(session).len()) == wanted
        });
    }
    assert_eq!(rule.ends, ends(&session), "{scenario:?}");
}

#[test]
fn child_ends_once() {
    scenarios::on_threads(&scenario(), carry_out);
}
