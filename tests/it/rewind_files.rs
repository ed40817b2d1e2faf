//! Rewinding with files, in a real session: what is planned, put back, left alone, taken back, and in which order;
//! and the tree of branches that it leaves.
//!
//! Not here: generated histories (`restore_bridge`), crashes (`restore_crash`), jobs alone (`rewind_bridge`).

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};
use windlass::api::access::Mode;
use windlass::api::command::{Command, Query};
use windlass::api::entry::{EntryBody, TurnStatus};
use windlass::api::event::{Event, Reply, RewindPlan, Rewound, TreeEntry};
use windlass::base::{EntryId, JobId};
use windlass::engine::Which;

use crate::session::{Place, Running, transcript};

/// Calls of the model, if any, and what it says then.
pub fn calls(calls: &[(&str, Value)]) -> Vec<Value> {
    if calls.is_empty() {
        return vec![json!({"say": "done"})];
    }
    let calls: Vec<Value> = calls.iter().map(|(tool, input)| json!({"tool": tool, "input": input})).collect();
    vec![json!({ "calls": calls }), json!({"say": "done"})]
}

pub fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write", json!({"path": path, "content": content}))
}

pub fn remove(path: &str) -> (&'static str, Value) {
    let patch = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n");
    ("apply_patch", json!({"patch": patch}))
}

pub fn script(turns: &[Vec<Value>]) -> String {
    json!({"turns": turns.concat()}).to_string()
}

/// Says something and waits for the turn's end, which it names.
pub fn turn(session: &mut Running, text: &str) -> EntryId {
    session.send(text);
    session.until("the turn's end", |record| {
        let said = |e: &windlass::api::entry::Entry| matches!(&e.body, EntryBody::User(m) if m.text == text);
        let from = record.path.iter().rposition(|e| said(e))?;
        let end = record.path[from..].iter().find(|e| matches!(e.body, EntryBody::TurnEnd(_)))?;
        (!record.status.phase.busy()).then(|| end.id.clone())
    })
}

/// Asks and waits for the answer.
pub fn ask(session: &mut Running, query: Query) -> Reply {
    session.events.clear();
    session.command(Command::Ask { number: 7, query });
    event(session, |event| match event {
        Event::Answered { reply, .. } => Some(reply.clone()),
        _ => None,
    })
}

pub fn plan(session: &mut Running, to: Option<&EntryId>) -> RewindPlan {
    match ask(session, Query::RewindPlan { to: to.cloned() }) {
        Reply::RewindPlan(plan) => plan,
        other => panic!("{other:?}"),
    }
}

pub fn tree(session: &mut Running) -> Vec<TreeEntry> {
    match ask(session, Query::Tree) {
        Reply::Tree(rows) => rows,
        other => panic!("{other:?}"),
    }
}

/// Waits for an event.
pub fn event<T>(session: &mut Running, look: impl Fn(&Event) -> Option<T>) -> T {
    loop {
        if let Some(found) = session.events.iter().find_map(&look) {
            return found;
        }
        let mut looked = false;
        session.until("an event", |_| std::mem::replace(&mut looked, true).then_some(()));
    }
}

pub fn rewind(session: &mut Running, to: Option<&EntryId>, restore: bool) -> Rewound {
    session.events.clear();
    session.command(Command::Rewind { to: to.cloned(), restore, take_back: None });
    event(session, |event| match event {
        Event::Rewound(rewound) => Some(rewound.clone()),
        _ => None,
    })
}

/// Takes the newest restoring back; what is said of it.
pub fn undo(session: &mut Running) -> String {
    session.events.clear();
    session.command(Command::UndoRestore);
    event(session, |event| match event {
        Event::Said { text, .. } => Some(text.clone()),
        _ => None,
    })
}

fn names(place: &Place) -> Vec<String> {
    let mut names: Vec<String> = walk(&place.cwd(), &place.cwd());
    names.sort();
    names
}

fn walk(root: &std::path::Path, dir: &std::path::Path) -> Vec<String> {
    let mut out = Vec::new();
    for item in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = item.path();
        out.push(path.strip_prefix(root).unwrap().display().to_string());
        if item.file_type().unwrap().is_dir() {
            out.extend(walk(root, &path));
        }
    }
    out
}

fn mode(place: &Place, name: &str) -> u32 {
    place.cwd().join(name).metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_the_tools_did_is_put_back_and_what_others_did_stays() {
    let place = Place::new();
    place.write("edited", "one");
    place.write("removed", "gone one");
    place.write("theirs", "one");
    place.write("untouched", "one");
    std::fs::set_permissions(place.cwd().join("removed"), PermissionsExt::from_mode(0o751)).unwrap();
    let turns = [
        calls(&[]),
        calls(&[
            write("edited", "two"),
            write("made/in/here", "new"),
            write("made/too", "new"),
            write("kept/dir", "new"),
            remove("removed"),
            write("theirs", "two"),
        ]),
        calls(&[write("edited", "three")]),
    ];
    let mut session = place.open(&script(&turns), Mode::Auto, Which::New);
    let first = turn(&mut session, "begin");
    turn(&mut session, "change");
    turn(&mut session, "again");
    place.write("theirs", "mine");
    place.write("untouched", "mine");
    place.write("kept/mine", "mine");
    let path = |name: &str| place.cwd().join(name);
    let restored: Vec<PathBuf> =
        ["edited", "kept/dir", "made/in/here", "made/too", "removed"].map(path).to_vec();
    let conflicts = vec![(path("theirs"), "was changed by someone else since".to_owned())];
    let plan = plan(&mut session, Some(&first));
    assert_eq!((&plan.restores, &plan.conflicts, plan.commands), (&restored, &conflicts, 0));
    let rewound = rewind(&mut session, Some(&first), true);
    assert_eq!((&rewound.restored, &rewound.conflicts), (&restored, &conflicts));
    assert_eq!(names(&place), ["edited", "kept", "kept/mine", "removed", "theirs", "untouched"]);
    assert_eq!((place.read("edited"), place.read("removed")), ("one".into(), "gone one".into()));
    assert_eq!((place.read("theirs"), mode(&place, "removed")), ("mine".into(), 0o751));
    assert!(
        transcript(&session.path()).ends_with("turn done\nrestore 5\n"),
        "{}",
        transcript(&session.path())
    );
    // and all of it back again, as often as one likes
    assert!(undo(&mut session).starts_with("Undone: 5 files changed again"));
    let after = [
        "edited",
        "kept",
        "kept/dir",
        "kept/mine",
        "made",
        "made/in",
        "made/in/here",
        "made/too",
        "theirs",
        "untouched",
    ];
    assert_eq!(names(&place), after);
    assert_eq!((place.read("edited"), place.read("theirs")), ("three".into(), "mine".into()));
    undo(&mut session);
    assert_eq!(names(&place), ["edited", "kept", "kept/mine", "removed", "theirs", "untouched"]);
    assert_eq!(mode(&place, "removed"), 0o751);
}

#[test]
fn a_directory_has_one_history_whatever_branch_one_goes_to() {
    let place = Place::new();
    place.write("f", "0");
    let turns: Vec<Vec<Value>> = (1..6).map(|n| calls(&[write("f", &n.to_string())])).collect();
    let mut session = place.open(&script(&turns), Mode::Auto, Which::New);
    let one = turn(&mut session, "1");
    let two = turn(&mut session, "2");
    // the files stay at first, and are offered when one comes there again
    assert_eq!(rewind(&mut session, Some(&one), false).restored, Vec::<PathBuf>::new());
    assert_eq!(place.read("f"), "2");
    assert_eq!(rewind(&mut session, Some(&one), true).restored.len(), 1);
    assert_eq!(place.read("f"), "1");
    let three = turn(&mut session, "3");
    turn(&mut session, "4");
    // to another branch, to this one again, to before everything
    for (to, wanted) in
        [(Some(&two), "2"), (Some(&three), "3"), (Some(&two), "2"), (None, "0"), (Some(&three), "3")]
    {
        rewind(&mut session, to, true);
        assert_eq!(place.read("f"), wanted, "{to:?}");
        let head = session
            .path()
            .iter()
            .rev()
            .find(|e| !matches!(e.body, EntryBody::Restore(_)))
            .map(|e| e.id.clone());
        assert_eq!(head.as_ref(), to);
    }
    assert_eq!(turn(&mut session, "5"), session.path().last().unwrap().id);
    let rows = tree(&mut session);
    let said: Vec<(&str, bool)> =
        rows.iter().filter(|row| row.who == "you").map(|row| (row.text.as_str(), row.open)).collect();
    assert_eq!(said, [("1", true), ("2", false), ("3", true), ("4", false), ("5", true)]);
    // opened again it is the same tree
    let (id, path) = (session.id(), transcript(&session.path()));
    drop(session);
    let mut session = place.open(&script(&[]), Mode::Auto, Which::Id(id));
    assert_eq!(tree(&mut session), rows);
    assert_eq!(transcript(&session.path()), path);
}

#[test]
fn links_and_what_is_no_file_are_left_alone() {
    let place = Place::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("f"), "two").unwrap();
    place.write("link", "one");
    place.write("dir", "one");
    std::fs::create_dir(place.cwd().join("d")).unwrap();
    place.write("d/f", "one");
    let turns = [calls(&[write("link", "two"), write("dir", "two"), write("d/f", "two")])];
    let mut session = place.open(&script(&turns), Mode::Auto, Which::New);
    turn(&mut session, "change");
    let at = |name: &str| place.cwd().join(name);
    std::fs::remove_file(at("link")).unwrap();
    symlink(outside.path().join("f"), at("link")).unwrap();
    std::fs::remove_file(at("dir")).unwrap();
    std::fs::create_dir(at("dir")).unwrap();
    std::fs::remove_dir_all(at("d")).unwrap();
    symlink(outside.path(), at("d")).unwrap();
    let rewound = rewind(&mut session, None, true);
    assert_eq!(rewound.restored, Vec::<PathBuf>::new());
    let why = "is no file any more that you may write".to_owned();
    assert_eq!(rewound.conflicts, ["d/f", "dir", "link"].map(|name| (at(name), why.clone())));
    assert_eq!(std::fs::read_to_string(outside.path().join("f")).unwrap(), "two");
}

#[test]
fn bytes_that_are_not_kept_any_more_are_a_conflict_that_says_so() {
    let place = Place::new();
    place.write("f", "one");
    let mut session = place.open(&script(&[calls(&[write("f", "two")])]), Mode::Auto, Which::New);
    turn(&mut session, "change");
    std::fs::remove_dir_all(place.dirs().session(&session.id()).join("blobs")).unwrap();
    let rewound = rewind(&mut session, None, true);
    let why = "was changed, but its earlier bytes are not kept any more".to_owned();
    assert_eq!(rewound.conflicts, [(place.cwd().join("f"), why)]);
    assert_eq!(place.read("f"), "two");
}

#[test]
fn a_running_turn_ends_first_and_its_message_comes_back() {
    let place = Place::new();
    place.write("f", "one");
    let turns = [
        calls(&[]),
        vec![
            json!({"calls": [{"tool": "write", "input": {"path": "f", "content": "two"}}]}),
            json!({"calls": [{"tool": "bash", "input": {"command": "sleep 987"}}]}),
        ],
        calls(&[]),
    ];
    let mut session = place.open(&script(&turns), Mode::Auto, Which::New);
    let first = turn(&mut session, "begin");
    session.send("the second");
    session.until("the command", |record| record.calls.iter().any(|(_, p)| p.tool == "bash").then_some(()));
    session.command(Command::Send { text: "later".into(), images: Vec::new(), after_turn: true });
    let message =
        session.path().iter().rev().find(|e| matches!(e.body, EntryBody::User(_))).unwrap().id.clone();
    let to = Some(first.clone());
    session.command(Command::Rewind { to, restore: true, take_back: Some(message) });
    // what is said meanwhile waits and begins a turn on the branch that is open then
    session.send("after it");
    let rewound = event(&mut session, |event| match event {
        Event::Rewound(rewound) => Some(rewound.clone()),
        _ => None,
    });
    assert_eq!(rewound.restored, [place.cwd().join("f")]);
    let back: Vec<&str> = session
        .events
        .iter()
        .filter_map(|event| match event {
            Event::TakenBack { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(back, ["later", "the second"]);
    assert_eq!(session.turn_end(2), TurnStatus::Done);
    assert_eq!(place.read("f"), "one");
    let told = transcript(&session.path());
    assert!(told.contains("user(Sent) after it") && !told.contains("the second"), "{told}");
}

#[test]
fn commands_and_jobs_since_are_named_before_anything_is_done() {
    let place = Place::new();
    let job = json!({"command": "echo x >by_a_command; sleep 986", "background": true});
    let turns = [calls(&[write("f", "1")]), calls(&[("bash", job)]), calls(&[])];
    let mut session = place.open(&script(&turns), Mode::Auto, Which::New);
    let first = turn(&mut session, "1");
    turn(&mut session, "2");
    session.until("the file", |_| place.cwd().join("by_a_command").exists().then_some(()));
    let planned = plan(&mut session, Some(&first));
    assert_eq!((planned.stops, planned.commands, planned.restores.len()), (vec![JobId(1)], 1, 0));
    let rewound = rewind(&mut session, Some(&first), true);
    assert_eq!((rewound.stopped, rewound.stopping), (vec![JobId(1)], vec![]));
    assert!(place.cwd().join("by_a_command").exists(), "what a command did is not known, and stays");
    assert_eq!(plan(&mut session, None).restores, [place.cwd().join("f")]);
}

#[test]
fn nothing_is_undone_that_was_not_done_and_what_changed_since_stays() {
    let place = Place::new();
    place.write("f", "one");
    place.write("g", "one");
    let turns = [calls(&[write("f", "two"), write("g", "two")]), calls(&[write("g", "three")])];
    let mut session = place.open(&script(&turns), Mode::Auto, Which::New);
    assert!(undo(&mut session).starts_with("No files were put back"));
    turn(&mut session, "change");
    rewind(&mut session, None, true);
    place.write("f", "mine");
    turn(&mut session, "change g");
    let said = undo(&mut session);
    assert!(said.contains("2 files stayed") && said.contains("f was changed since"), "{said}");
    assert_eq!((place.read("f"), place.read("g")), ("mine".into(), "three".into()));
}
