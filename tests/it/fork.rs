//! A branch becomes a session of its own: what it holds, what stays with the old one, and that its first open says
//! nothing false.

use serde_json::json;
use windlass::api::access::Mode;
use windlass::api::command::{Command, Query};
use windlass::api::entry::EntryBody;
use windlass::api::event::{Event, Reply};
use windlass::base::{EntryId, JobId, SessionId};
use windlass::engine::Which;
use windlass::store;

use crate::commands::{carrying, mark};
use crate::rewind_files::{ask, calls, event, rewind, script, turn, write};
use crate::session::{Place, Running, transcript};

fn fork(session: &mut Running, to: Option<&EntryId>, take_back: Option<&EntryId>) -> SessionId {
    session.events.clear();
    session.command(Command::Fork { to: to.cloned(), take_back: take_back.cloned() });
    event(session, |event| match event {
        Event::Forked(id) => Some(id.clone()),
        _ => None,
    })
}

#[test]
fn a_fork_is_the_branch_with_its_bytes_and_nothing_of_the_others() {
    let place = Place::new();
    place.write("f", "one");
    let long = json!({"command": "seq 1 100000"});
    let turns = [calls(&[write("f", "two"), ("bash", long)]), calls(&[])];
    let mut session = place.open(&script(&turns), Mode::Auto, Which::New);
    let first = turn(&mut session, "make it two");
    let told = transcript(&session.path());
    let artifact = session.settles()[1].artifact.clone().expect("an output that was cut");
    turn(&mut session, "more");
    let message =
        session.path().iter().rev().find(|e| matches!(e.body, EntryBody::User(_))).unwrap().id.clone();
    let id = fork(&mut session, Some(&first), Some(&message));
    assert_ne!(id, session.id());
    // it is whole and closed while the old session is open, and stays so when that one is gone
    let listed = store::list(&place.dirs(), Some(&place.cwd()));
    assert_eq!(listed.iter().filter(|info| info.title == "fork of make it two").count(), 1, "{listed:?}");
    let old = place.dirs().session(&session.id()).join("blobs");
    drop(session);
    std::fs::remove_dir_all(old).unwrap();
    let mut fork = place.open(&script(&[calls(&[])]), Mode::Auto, Which::Id(id.clone()));
    assert_eq!(transcript(&fork.path()), told);
    let piece = ask(&mut fork, Query::Artifact { path: artifact, offset: 0, limit: 4 });
    assert!(matches!(&piece, Reply::Artifact { text, .. } if text == "1\n2\n"), "{piece:?}");
    fork.events.retain(|event| matches!(event, Event::TakenBack { .. }));
    assert_eq!(rewind(&mut fork, None, true).restored, [place.cwd().join("f")]);
    assert_eq!(place.read("f"), "one");
    turn(&mut fork, "on");
    drop(fork);
    let again = place.open(&script(&[]), Mode::Auto, Which::Id(id));
    assert!(
        transcript(&again.path()).starts_with("restore 1\nuser(Sent) on\n"),
        "{}",
        transcript(&again.path())
    );
    again.command(Command::Interrupt);
}

#[test]
fn the_message_that_a_fork_is_made_before_stands_in_its_composer() {
    let place = Place::new();
    let mut session = place.open(&script(&[calls(&[])]), Mode::Auto, Which::New);
    turn(&mut session, "first words");
    let message = session.path()[0].id.clone();
    let id = fork(&mut session, None, Some(&message));
    drop(session);
    let mut fork = place.open(&script(&[]), Mode::Auto, Which::Id(id));
    let back = event(&mut fork, |event| match event {
        Event::TakenBack { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!((back.as_str(), fork.path().len()), ("first words", 0));
}

#[test]
fn what_runs_stays_with_the_old_session_and_names_are_not_used_again() {
    let place = Place::new();
    let (call, job) = (mark(), mark());
    let background = json!({"command": format!("sleep {job}"), "background": true});
    let waits = json!({"command": format!("sleep {call}")});
    let turns = [calls(&[("bash", background)]), calls(&[("bash", waits)])];
    let mut session = place.open(&script(&turns), Mode::Auto, Which::New);
    turn(&mut session, "a job");
    session.send("a call");
    let start = session.until("the call", |record| {
        let start = record.path.iter().rev().find(|e| matches!(e.body, EntryBody::CallStart(_)))?;
        (record.calls.iter().count() == 1).then(|| start.id.clone())
    });
    session
        .until("its process", |_| (!carrying(&call).is_empty() && !carrying(&job).is_empty()).then_some(()));
    let id = fork(&mut session, Some(&start), None);
    let next = json!({"command": "true", "background": true});
    let mut fork = place.open(&script(&[calls(&[("bash", next)])]), Mode::Auto, Which::Id(id));
    let told = transcript(&fork.path());
    assert!(told.ends_with("start c2 bash\nsettle c2 interrupted\nturn interrupted\n"), "{told}");
    turn(&mut fork, "a job of its own");
    fork.until("its job", |record| record.jobs.get(&JobId(2)).map(drop));
    drop(fork);
    assert!(!carrying(&call).is_empty() && !carrying(&job).is_empty(), "both run on in the old session");
    drop(session);
    assert!(carrying(&call).is_empty() && carrying(&job).is_empty());
}

#[test]
fn a_session_that_another_program_has_open_can_be_forked() {
    let place = Place::new();
    place.write("f", "one");
    let mut session = place.open(&script(&[calls(&[write("f", "two")])]), Mode::Auto, Which::New);
    let end = turn(&mut session, "make it two");
    let mut view = place.open(&script(&[]), Mode::Auto, Which::Id(session.id()));
    assert!(view.until("the view", |record| record.status.read_only.clone()).contains("pid"));
    let id = fork(&mut view, Some(&end), None);
    drop(view);
    let mut fork = place.open(&script(&[]), Mode::Auto, Which::Id(id));
    assert_eq!(transcript(&fork.path()), transcript(&session.path()));
    assert_eq!(rewind(&mut fork, None, true).restored.len(), 1);
    assert_eq!(place.read("f"), "one");
}
