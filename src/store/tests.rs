//! Sessions on a real disk, end to end.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::api::entry::{CallStart, Entry, EntryBody, Setting, UserMessage};
use crate::base::{EntryId, Millis};
use crate::law::cwd::Refusal;

struct Place {
    _temp: TempDir,
    dirs: Dirs,
    cwd: PathBuf,
}

fn place() -> Place {
    let temp = TempDir::new().unwrap();
    let cwd = temp.path().canonicalize().unwrap().join("project");
    fs::create_dir(&cwd).unwrap();
    let dirs = Dirs::at(temp.path().join("state/windlass"), temp.path().join("config/windlass"));
    Place { dirs, cwd, _temp: temp }
}

fn user(session: &mut Session, parent: Option<&EntryId>, text: &str) -> Entry {
    let body = EntryBody::User(UserMessage { text: text.into(), ..Default::default() });
    Entry { id: session.mint_entry(), parent: parent.cloned(), at: Millis(1_769_860_801_123), body }
}

fn ours(dirs: &Dirs, id: &crate::base::SessionId) -> (Box<Session>, Opened) {
    match Session::open(dirs, id).unwrap() {
        Opening::Ours(session, opened) => (session, *opened),
        Opening::Held(holder) => panic!("held by {holder:?}"),
    }
}

#[test]
fn a_session_that_was_not_used_leaves_nothing_behind() {
    let place = place();
    let mut session = Session::create(&place.dirs, &place.cwd).unwrap();
    let body = EntryBody::Setting(Setting { model: Some("p/m".into()), mode: None });
    let entry = Entry { id: session.mint_entry(), parent: None, at: Millis(1), body };
    session.commit(&entry, Durability::Synced).unwrap();
    session.rename("a name").unwrap();
    assert!(!session.began());
    drop(session);
    assert!(!place.dirs.state().exists());
    assert!(list(&place.dirs, None).is_empty());
}

#[test]
fn what_was_committed_is_there_again_and_leaving_changes_nothing() {
    let place = place();
    let mut session = Session::create(&place.dirs, &place.cwd).unwrap();
    let id = session.id().clone();
    session.rename("the\nlexer").unwrap();
    let first = user(&mut session, None, "one\ntwo");
    session.commit(&first, Durability::Synced).unwrap();
    let second = user(&mut session, Some(&first.id), "three");
    session.commit(&second, Durability::Buffered).unwrap();
    let big = user(&mut session, Some(&second.id), &"ü".repeat(900_000));
    session.commit(&big, Durability::Buffered).unwrap();
    session.move_head(Some(&first.id)).unwrap();
    assert!(matches!(Session::open(&place.dirs, &id).unwrap(), Opening::Held(Some(_))));
    assert!(list(&place.dirs, None)[0].holder.is_some());
    drop(session);

    let journal = session_file(&place.dirs, &id);
    let before = (fs::read(&journal).unwrap(), fs::metadata(&journal).unwrap().modified().unwrap());
    assert!(before.0.len() < 10_000, "the big body stands beside");
    let (mut session, opened) = ours(&place.dirs, &id);
    assert_eq!(opened.reports, Vec::<String>::new());
    let entries: Vec<Entry> = opened.tree.entries.iter().map(|entry| (**entry).clone()).collect();
    assert_eq!(entries, [first.clone(), second, big]);
    assert_eq!(opened.tree.head, Some(first.id.clone()));
    assert_eq!(opened.branch().len(), 1);
    assert_eq!((opened.title.as_str(), session.title()), ("the lexer", "the lexer"));
    assert_eq!(session.mint_entry().as_str(), "e000000004");
    drop(session);
    assert_eq!(before, (fs::read(&journal).unwrap(), fs::metadata(&journal).unwrap().modified().unwrap()));

    let all = list(&place.dirs, Some(&place.cwd));
    assert_eq!((all.len(), all[0].title.as_str(), all[0].holder.clone()), (1, "the lexer", None));
    assert_eq!(newest_for(&place.dirs, &place.cwd), Some(id.clone()));
    assert_eq!(newest_for(&place.dirs, &place.cwd.join("other")), None);
    assert_eq!(find(&place.dirs, &id.as_str()[..8]).unwrap(), id);
    assert!(matches!(find(&place.dirs, "x"), Err(Error::NoSession { .. })));
    rename(&place.dirs, &id, "other").unwrap();
    assert_eq!(list(&place.dirs, None)[0].title, "other");
    assert_eq!(view(&place.dirs, &id).unwrap().title, "other");
}

#[test]
fn a_session_of_commands_alone_is_found_and_named_by_the_first() {
    use crate::api::entry::{CallSettle, CallStatus};
    let place = place();
    let mut session = Session::create(&place.dirs, &place.cwd).unwrap();
    let id = session.id().clone();
    session.begin().unwrap();
    let found = || (newest_for(&place.dirs, &place.cwd), list(&place.dirs, Some(&place.cwd)));
    assert_eq!(found(), (None, Vec::new()), "nothing was said or run yet");
    // more than is read in search of a message
    for number in 0..80 {
        let (call, command) = (session.mint_call(), format!("make part-{number}\nmore"));
        let start = CallStart {
            call: call.clone(),
            wire_id: "!".into(),
            tool: "bash".into(),
            input: serde_json::json!({ "command": command }),
            spool: None,
        };
        let settle = EntryBody::CallSettle(CallSettle::new(call, CallStatus::Ok, "done"));
        for body in [EntryBody::CallStart(start), settle] {
            let entry = Entry { id: session.mint_entry(), parent: None, at: Millis(1), body };
            session.commit(&entry, Durability::Buffered).unwrap();
        }
        if number == 0 || number == 79 {
            let (newest, all) = found();
            assert_eq!(newest, Some(id.clone()));
            assert_eq!((all.len(), all[0].title.as_str()), (1, "! make part-0"));
        }
    }
}

#[test]
fn a_message_names_a_session_also_when_a_command_came_before_it() {
    let place = place();
    let mut session = Session::create(&place.dirs, &place.cwd).unwrap();
    session.begin().unwrap();
    let start = CallStart {
        call: session.mint_call(),
        wire_id: "!".into(),
        tool: "bash".into(),
        input: serde_json::json!({"command": "ls"}),
        spool: None,
    };
    let body = EntryBody::CallStart(start);
    let entry = Entry { id: session.mint_entry(), parent: None, at: Millis(1), body };
    session.commit(&entry, Durability::Buffered).unwrap();
    let message = user(&mut session, Some(&entry.id), "what is this?");
    session.commit(&message, Durability::Synced).unwrap();
    assert_eq!(list(&place.dirs, None)[0].title, "what is this?");
}

fn session_file(dirs: &Dirs, id: &crate::base::SessionId) -> PathBuf {
    dirs.session(id).join(journal::JOURNAL)
}

#[test]
fn a_call_that_did_not_settle_is_told() {
    let place = place();
    let mut session = Session::create(&place.dirs, &place.cwd).unwrap();
    let first = user(&mut session, None, "go");
    session.commit(&first, Durability::Synced).unwrap();
    let start = CallStart {
        call: session.mint_call(),
        wire_id: "t1".into(),
        tool: "bash".into(),
        input: serde_json::json!({"command": "ls"}),
        spool: Some(session.dir().join("calls/c1/spool")),
    };
    let body = EntryBody::CallStart(start.clone());
    let entry = Entry { id: session.mint_entry(), parent: Some(first.id), at: Millis(5), body };
    session.commit(&entry, Durability::Buffered).unwrap();
    let id = session.id().clone();
    drop(session);
    let (mut session, opened) = ours(&place.dirs, &id);
    assert_eq!(opened.unsettled, [Unsettled { entry: entry.id, start }]);
    assert_eq!(session.mint_call().as_str(), "c2");
}

#[test]
fn cwd_gone_refused() {
    let place = place();
    let mut session = Session::create(&place.dirs, &place.cwd).unwrap();
    let first = user(&mut session, None, "go");
    session.commit(&first, Durability::Synced).unwrap();
    let id = session.id().clone();
    drop(session);
    fs::remove_dir(&place.cwd).unwrap();
    assert!(
        matches!(Session::open(&place.dirs, &id), Err(Error::Cwd(Refusal::Gone(path))) if path == place.cwd)
    );
    fs::write(&place.cwd, "").unwrap();
    assert!(matches!(Session::open(&place.dirs, &id), Err(Error::Cwd(Refusal::File(_)))));
    assert_eq!(view(&place.dirs, &id).unwrap().tree.entries.len(), 1);
}

#[test]
fn an_export_reads_well_and_holds_every_line() {
    use crate::api::entry::{CallSettle, CallStatus, TurnEnd, TurnStatus};
    use crate::api::message::{Answer, Block, Body, Finish, Stop};
    use crate::base::CallId;

    let place = place();
    let mut session = Session::create(&place.dirs, &place.cwd).unwrap();
    session.rename("the lexer").unwrap();
    let call = CallId::new("c1");
    let settle = CallSettle {
        kept: 13,
        dropped: 7,
        artifact: Some("/s/calls/c1/output".into()),
        warnings: vec!["slow".into()],
        duration: Millis(3),
        ..CallSettle::new(call.clone(), CallStatus::Error, "```\nnot found\n")
    };
    let start = CallStart {
        call,
        wire_id: "t".into(),
        tool: "bash".into(),
        input: serde_json::json!({"command": "ls"}),
        spool: None,
    };
    let call = Body::Call { id: "t".into(), name: "bash".into(), input: start.input.clone() };
    let blocks =
        [Body::Thinking("hm".into()), Body::Text("I'll *look*.".into()), call].map(Block::plain).into();
    let finish = Finish::Finished(Stop::Calls);
    let mut parent = None;
    for body in [
        EntryBody::User(UserMessage { text: "mend it\n".into(), ..Default::default() }),
        EntryBody::Answer(Answer {
            wire: "scripted".into(),
            model: "p/m".into(),
            blocks,
            finish,
            usage: None,
        }),
        EntryBody::CallStart(start),
        EntryBody::CallSettle(settle),
        EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Failed, why: Some("no key".into()) }),
    ] {
        let entry =
            Entry { id: session.mint_entry(), parent: parent.take(), at: Millis(1_769_860_801_123), body };
        session.commit(&entry, Durability::Buffered).unwrap();
        parent = Some(entry.id);
    }
    let opened = view(&place.dirs, session.id()).unwrap();
    let text = markdown(&opened);
    let text = text.replace(session.id().as_str(), "ID").replace(place.cwd.to_str().unwrap(), "CWD");
    let text = text.replace(&codec::stamp(opened.header.created), "WHEN");
    insta::assert_snapshot!(text);

    let mut out = Vec::new();
    jsonl(&place.dirs, session.id(), &mut out).unwrap();
    assert_eq!(out, fs::read(session_file(&place.dirs, session.id())).unwrap());
}

#[test]
fn lists_are_newest_first_and_leave_out_what_is_no_session() {
    let place = place();
    let mut ids = Vec::new();
    for number in 0..5 {
        let mut session = Session::create(&place.dirs, &place.cwd).unwrap();
        let entry = user(&mut session, None, &format!("\n  number {number} {}\nmore", "é".repeat(100)));
        session.commit(&entry, Durability::Buffered).unwrap();
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + number % 3);
        let journal = fs::File::open(session_file(&place.dirs, session.id())).unwrap();
        journal.set_times(fs::FileTimes::new().set_modified(at)).unwrap();
        ids.push((number % 3, session.id().clone()));
    }
    let mut empty = Session::create(&place.dirs, &place.cwd).unwrap();
    empty.begin().unwrap();
    private::dir(&place.dirs.sessions().join("not one")).unwrap();
    fs::write(place.dirs.sessions().join("a file"), "").unwrap();
    ids.sort_by(|a, b| b.cmp(a));
    let listed = list(&place.dirs, Some(&place.cwd));
    let order: Vec<_> = listed.iter().map(|info| info.id.clone()).collect();
    assert_eq!(order, ids.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
    assert_eq!(listed[0].title, format!("number 2 {}…", "é".repeat(71)));
    assert_eq!(listed[0].changed, Millis(1_000_002_000));
    assert!(matches!(find(&place.dirs, "0"), Err(Error::Ambiguous { count: 6, .. })));
    assert!(matches!(view(&place.dirs, &crate::base::SessionId::new("../x")), Err(Error::NoSession { .. })));
}
