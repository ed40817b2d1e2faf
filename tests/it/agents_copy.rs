//! What an agent in a copy is told of where it is: its instructions are its copy's.
//!
//! Not here: what its tools and commands do there (`hold`), how its changes come back (`hand_back`).

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use windlass::api::access::Mode;
use windlass::api::agent::AgentState;
use windlass::api::command::{AgentAsk, Command};
use windlass::api::entry::CallStatus;
use windlass::engine::Which;
use windlass::provider::scripted::Scripted;

use crate::agents::{beside, calls, ended, says, script, spawn, state, until};
use crate::jobs_tool::{Asked, Listening, OneModel};
use crate::session::{Place, Running};

/// A session whose models, its agents' too, are heard.
fn heard(place: &Place, text: &str, which: Which) -> (Running, Asked) {
    let asked = Asked::default();
    let listening =
        Listening { script: Arc::new(Scripted::parse("test.json", text).unwrap()), asked: asked.clone() };
    let session = place.open_with(text, Mode::Auto, which, |options| {
        options.models = Arc::new(OneModel(Arc::new(listening)))
    });
    (session, asked)
}

/// The instructions that the agent's model was given, each time.
fn told(asked: &Asked) -> Vec<String> {
    let asked = asked.lock().unwrap();
    asked.iter().map(|ask| ask.system.clone()).filter(|told| told.contains("You are a subagent")).collect()
}

fn named(path: &Path) -> String {
    format!("<instructions from=\"{}\">", path.display())
}

#[test]
fn an_agent_in_a_copy_goes_by_the_instructions_of_its_copy() {
    let place = Place::new();
    place.write("AGENTS.md", "as it was\n");
    let own = json!({"path": "AGENTS.md", "content": "as the agent wrote\n"});
    let turns = vec![calls(&[("write", own)]), until(&beside(&place, "go")), says("w done")];
    let text = script(&[calls(&[spawn("w", "isolated")]), says("asked")], &[("w", turns)]);
    let (mut session, asked) = heard(&place, &text, Which::New);
    session.send("go");
    session.turn_end(1);
    let wrote = |record: &windlass::api::board::Record| {
        record.agents.get(&"w".to_owned()).is_some_and(|row| row.calls > 1)
    };
    session.until("its own words are written", |record| wrote(record).then_some(()));
    let first = told(&asked);
    assert!(first[0].contains("as it was"), "{}", first[0]);
    assert!(first.iter().all(|told| told == &first[0]), "they stay the same while it runs");
    let id = session.id();
    session.close();

    place.write("AGENTS.md", "as the parent has it now\n");
    let text = script(&[], &[("w", vec![says("w done")])]);
    let (mut session, asked) = heard(&place, &text, Which::Id(id));
    session.until("it was cut", |record| (state(record, "w") == Some(AgentState::Cut)).then_some(()));
    session.command(Command::Agent { path: "w".into(), ask: AgentAsk::Message("go on".into()) });
    let end = ended(&mut session, "w");
    let again = told(&asked);
    assert!(again[0].contains("as the agent wrote") && !again[0].contains("as the parent"), "{}", again[0]);
    assert!(again[0].contains(&named(&place.cwd().join("AGENTS.md"))), "{}", again[0]);
    assert!(end.hand_back.is_some(), "{end:?}");
}

#[test]
fn a_session_is_open_while_a_copy_that_was_cut_is_removed() {
    let place = Place::new();
    let mut session = place.open(&script(&[says("hello")], &[]), Mode::Auto, Which::New);
    session.send("hello");
    session.turn_end(1);
    let id = session.id();
    session.close();
    // what a crash leaves of a copy; who holds its lock makes the removal take as long as the largest would
    let rooms = place.dirs().workspaces_of(&id);
    std::fs::create_dir_all(rooms.join("x/base/d")).unwrap();
    let mut private = std::fs::OpenOptions::new();
    let lock = private.write(true).create_new(true).mode(0o600).open(rooms.join("x/lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();

    let text = script(&[calls(&[spawn("x", "isolated")]), says("asked")], &[("x", vec![says("x done")])]);
    let mut session = place.open(&text, Mode::Auto, Which::Id(id));
    session.send("go");
    session.turn_end(2);
    assert_eq!(session.settles()[0].status, CallStatus::Ok, "its name is free: {:?}", session.settles());
    ended(&mut session, "x");
    drop(lock);
    session.close();
    let left: Vec<_> = std::fs::read_dir(&rooms).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "x"), "{left:?}");
}
