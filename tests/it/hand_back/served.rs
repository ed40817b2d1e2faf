//! What came back from children, as a real session serves it: looked at, written with a re-check, taken back, kept.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use windlass::api::access::Mode;
use windlass::api::command::{Command, Query};
use windlass::api::event::{Event, Reply};
use windlass::api::hand_back::{ByHand, Draft, HandBack, HandBackAsk, HandBackReply, Sides, Take};
use windlass::base::SessionId;
use windlass::engine::Which;
use windlass::law::hand_back::merge1::{Clash, Verdict};
use windlass::law::hand_back::tree::{TreePath, Version};
use windlass::law::merge::back::Back;
use windlass::law::merge::decision::Decision;
use windlass::law::merge::resolution::Choice;
use windlass::workspace::child::resolve::Written;
use windlass::workspace::child::{Progress, Room};

use crate::session::{Place, Running};

const SCRIPT: &str = r#"{"turns": [{"say": "hello"}]}"#;

/// A session that began, so that it can be opened again.
fn begun(place: &Place) -> Running {
    let mut running = place.open(SCRIPT, Mode::Auto, Which::New);
    running.send("hello");
    running.turn_end(1);
    running
}

fn again(place: &Place, id: &SessionId) -> Running {
    place.open(SCRIPT, Mode::Auto, Which::Id(id.clone()))
}

/// A child that found the files of the project, did this to its copy while the parent did that, and handed back.
fn child(place: &Place, id: &SessionId, name: &str, does: impl Fn(&Path), parent: impl Fn(&Path)) -> Room {
    let room = Room::at(place.dirs().workspace(id, name));
    room.make(&place.cwd(), &Progress::default()).unwrap();
    does(&room.copy());
    parent(&place.cwd());
    room.hand_back(&place.cwd()).unwrap();
    room
}

fn path(name: impl Into<Vec<u8>>) -> TreePath {
    TreePath::new(name.into()).unwrap()
}

fn asked(running: &mut Running, ask: HandBackAsk) -> Reply {
    let before = running.events.len();
    running.command(Command::Ask { number: 7, query: Query::HandBack(ask) });
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let mut looked = false;
        running.until("an answer", |_| std::mem::replace(&mut looked, true).then_some(()));
        let answer = running.events[before..].iter().find_map(|event| match event {
            Event::Answered { number: 7, reply } => Some(reply.clone()),
            _ => None,
        });
        if let Some(answer) = answer {
            running.events.truncate(before);
            return answer;
        }
        assert!(Instant::now() < end, "no answer came");
    }
}

fn served(running: &mut Running, ask: HandBackAsk) -> HandBackReply {
    match asked(running, ask) {
        Reply::HandBack(reply) => reply,
        other => panic!("{other:?}"),
    }
}

fn failed(running: &mut Running, ask: HandBackAsk) -> String {
    match asked(running, ask) {
        Reply::Failed(why) => why,
        other => panic!("{other:?}"),
    }
}

fn list(running: &mut Running) -> Vec<HandBack> {
    match served(running, HandBackAsk::List) {
        HandBackReply::List(all) => all,
        other => panic!("{other:?}"),
    }
}

fn sides(running: &mut Running, child: &str, path: &TreePath) -> Sides {
    match served(running, HandBackAsk::Sides { child: child.into(), path: path.clone() }) {
        HandBackReply::Sides(sides) => *sides,
        other => panic!("{other:?}"),
    }
}

fn write(child: &str, path: &TreePath, seen: &Version, take: Take) -> HandBackAsk {
    HandBackAsk::Write { child: child.into(), path: path.clone(), seen: seen.clone(), take, choices: None }
}

fn bytes(text: &str) -> Take {
    Take::Bytes { bytes: text.as_bytes().into(), executable: false }
}

fn written(reply: HandBackReply) -> HandBack {
    match reply {
        HandBackReply::Written(back) => *back,
        other => panic!("{other:?}"),
    }
}

fn by_hand(back: &HandBack, path: &TreePath) -> ByHand {
    back.paths.iter().find(|one| one.path == *path).unwrap().by_hand
}

fn until_open(running: &mut Running, count: usize) {
    running.until("the count of open conflicts", |record| {
        let status = &record.status;
        (status.open_conflicts == count && status.conflicted.is_empty() == (count == 0)).then_some(())
    });
}

/// Two conflicts and a taken path.
fn clash(place: &Place, id: &SessionId) -> Room {
    ["lexer", "gone", "taken"].iter().for_each(|name| place.write(name, "base\n"));
    let does = |copy: &Path| {
        fs::write(copy.join("lexer"), "child\n").unwrap();
        fs::write(copy.join("gone"), "child\n").unwrap();
        fs::write(copy.join("taken"), "child\n").unwrap();
    };
    child(place, id, "manual", does, |cwd| {
        fs::write(cwd.join("lexer"), "parent\n").unwrap();
        fs::remove_file(cwd.join("gone")).unwrap();
    })
}

#[test]
fn what_came_back_is_listed_and_each_path_has_its_three_sides() {
    let place = Place::new();
    let mut running = begun(&place);
    assert_eq!(list(&mut running), []);
    let why = failed(&mut running, HandBackAsk::Sides { child: "../manual".into(), path: path("a") });
    assert!(why.contains("no workspace"), "{why}");
    clash(&place, &running.id());
    let all = list(&mut running);
    until_open(&mut running, 2);
    let told: Vec<_> = all[0].paths.iter().map(|one| (one.path.to_string(), one.verdict)).collect();
    let conflict = |name: &str, clash| (name.to_owned(), Verdict::Conflict(clash));
    assert_eq!(
        told,
        [
            conflict("gone", Clash::ParentRemoved),
            conflict("lexer", Clash::Content),
            ("taken".into(), Verdict::Taken)
        ]
    );
    assert!(all[0].at.0 > 0 && all[0].child == "manual");
    let lexer = sides(&mut running, "manual", &path("lexer"));
    let texts =
        [&lexer.base, &lexer.parent, &lexer.theirs].map(|side| side.bytes.as_deref().unwrap().to_vec());
    assert_eq!(texts, [b"base\n".to_vec(), b"parent\n".to_vec(), b"child\n".to_vec()]);
    assert_eq!((lexer.parent.bytes_len, &lexer.parent_then), (7, &lexer.parent.version));
    let gone = sides(&mut running, "manual", &path("gone"));
    assert_eq!((&gone.parent.version, gone.parent.bytes, gone.parent.bytes_len), (&Version::Absent, None, 0));
    let why = failed(&mut running, HandBackAsk::Sides { child: "manual".into(), path: path("other") });
    assert!(why.contains("did not change other"), "{why}");
}

#[test]
fn a_path_that_is_no_text_and_a_file_that_is_too_large_are_served_too() {
    let place = Place::new();
    let mut running = begun(&place);
    let odd = || PathBuf::from(std::ffi::OsStr::from_bytes(b"d/\xff\n"));
    fs::create_dir(place.cwd().join("d")).unwrap();
    fs::write(place.cwd().join(odd()), "base").unwrap();
    place.write("large", "base");
    let put = |top: &Path, byte: u8| {
        fs::write(top.join(odd()), [byte]).unwrap();
        fs::write(top.join("large"), vec![byte; 10 * 1024 * 1024 + 1]).unwrap();
    };
    child(&place, &running.id(), "a", |copy| put(copy, b'c'), |cwd| put(cwd, b'p'));
    let strange = path(odd().as_os_str().as_bytes());
    let seen = sides(&mut running, "a", &strange);
    assert_eq!(seen.theirs.bytes.as_deref(), Some(&b"c"[..]));
    written(served(&mut running, write("a", &strange, &seen.parent.version, bytes("x"))));
    assert_eq!(fs::read(place.cwd().join(odd())).unwrap(), b"x");
    let large = sides(&mut running, "a", &path("large"));
    assert_eq!((large.parent.bytes, large.parent.bytes_len), (None, 10 * 1024 * 1024 + 1));
    assert_eq!((large.theirs.bytes, large.theirs.bytes_len), (None, 10 * 1024 * 1024 + 1));
    assert_eq!(large.base.bytes.as_deref(), Some(&b"base"[..]));
    let take = Take::Version(large.theirs.version);
    written(served(&mut running, write("a", &path("large"), &large.parent.version, take)));
    assert_eq!(fs::metadata(place.cwd().join("large")).unwrap().len(), 10 * 1024 * 1024 + 1);
    assert_eq!(fs::read(place.cwd().join("large")).unwrap()[0], b'c');
    until_open(&mut running, 0);
}

#[test]
fn a_resolution_is_written_unless_somebody_saved_meanwhile_and_can_be_taken_back() {
    let place = Place::new();
    let mut running = begun(&place);
    let id = running.id();
    clash(&place, &id);
    let lexer = path("lexer");
    let seen = sides(&mut running, "manual", &lexer).parent.version;
    place.write("lexer", "saved\n");
    let changed = match served(&mut running, write("manual", &lexer, &seen, bytes("merged\n"))) {
        HandBackReply::Changed(sides) => *sides,
        other => panic!("{other:?}"),
    };
    assert_eq!(changed.parent.bytes.as_deref(), Some(&b"saved\n"[..]));
    assert_ne!(changed.parent.version, changed.parent_then);
    assert_eq!(place.read("lexer"), "saved\n");
    assert_eq!(by_hand(&list(&mut running)[0], &lexer), ByHand::Outside);
    until_open(&mut running, 2);

    let back =
        written(served(&mut running, write("manual", &lexer, &changed.parent.version, bytes("merged\n"))));
    assert_eq!(place.read("lexer"), "merged\n");
    assert_eq!(by_hand(&back, &lexer), ByHand::Resolved);
    until_open(&mut running, 1);
    // a removal against a change: the child's file comes back
    let gone = sides(&mut running, "manual", &path("gone"));
    let take = Take::Version(gone.theirs.version);
    written(served(&mut running, write("manual", &path("gone"), &gone.parent.version, take)));
    assert_eq!(place.read("gone"), "child\n");
    until_open(&mut running, 0);

    // in a session that is opened again it is as it was, and can still be taken back
    running.close();
    let mut running = again(&place, &id);
    assert_eq!(by_hand(&list(&mut running)[0], &lexer), ByHand::Resolved);
    let undo = |path: &TreePath| HandBackAsk::Undo { child: "manual".into(), path: path.clone() };
    let back = written(served(&mut running, undo(&lexer)));
    assert_eq!(place.read("lexer"), "saved\n");
    assert!(back.paths.iter().any(|one| one.path == lexer && one.is_open()));
    until_open(&mut running, 1);
    let why = failed(&mut running, undo(&lexer));
    assert!(why.contains("Nothing was written for lexer"), "{why}");
    // what somebody made of it since is not taken back
    place.write("gone", "mine\n");
    assert!(matches!(served(&mut running, undo(&path("gone"))), HandBackReply::Changed(_)));
    assert_eq!(place.read("gone"), "mine\n");
    running.close();
    let mut running = again(&place, &id);
    until_open(&mut running, 1);
}

#[test]
fn a_taken_path_is_put_back_and_that_is_taken_back() {
    let place = Place::new();
    let mut running = begun(&place);
    clash(&place, &running.id());
    let taken = path("taken");
    let seen = sides(&mut running, "manual", &taken);
    assert_eq!(seen.parent.version, seen.theirs.version);
    let revert = write("manual", &taken, &seen.parent.version, Take::Version(seen.parent_then.clone()));
    let back = written(served(&mut running, revert));
    assert_eq!((place.read("taken").as_str(), by_hand(&back, &taken)), ("base\n", ByHand::Reverted));
    let back =
        written(served(&mut running, HandBackAsk::Undo { child: "manual".into(), path: taken.clone() }));
    assert_eq!((place.read("taken").as_str(), by_hand(&back, &taken)), ("child\n", ByHand::Nothing));
    until_open(&mut running, 2);
}

#[test]
fn choices_wait_for_the_next_open_whatever_happens_to_the_parents_file() {
    let place = Place::new();
    let mut running = begun(&place);
    let id = running.id();
    clash(&place, &id);
    let lexer = path("lexer");
    let seen = sides(&mut running, "manual", &lexer);
    let of = [seen.base.version, seen.theirs.version];
    let decision = Decision {
        base: 0..1,
        child: 0..1,
        parent: Some(b"parent\n"[..].into()),
        choice: Choice::Edited(b"\xff\n"[..].into()),
    };
    let draft = Draft {
        whole: Some((seen.parent.version, Choice::Child)),
        decisions: vec![decision.clone()],
        executable: Some(true),
        backs: vec![Back { hunks: vec![decision], among: vec![0..1, 2..3], written: Vec::new() }],
    };
    let keep = |draft: Option<Draft>| HandBackAsk::KeepDraft {
        child: "manual".into(),
        path: path("lexer"),
        of: Box::new(of.clone()),
        draft: draft.map(Box::new),
    };
    assert_eq!(served(&mut running, keep(Some(draft.clone()))), HandBackReply::Kept);
    running.close();
    let mut running = again(&place, &id);
    let drafted = |back: &HandBack| back.paths.iter().filter(|one| one.draft).count();
    for there in ["other\n", "parent\n"] {
        place.write("lexer", there);
        assert_eq!(drafted(&list(&mut running)[0]), 1);
        assert_eq!(sides(&mut running, "manual", &lexer).draft, Some(draft.clone()));
    }
    fs::remove_file(place.cwd().join("lexer")).unwrap();
    assert_eq!(sides(&mut running, "manual", &lexer).draft, Some(draft.clone()));
    // a choice for the whole path is not what it is of: taken back, it is there again
    let gone = sides(&mut running, "manual", &lexer).parent.version;
    served(&mut running, write("manual", &lexer, &gone, Take::Version(of[1].clone())));
    served(&mut running, HandBackAsk::Undo { child: "manual".into(), path: lexer.clone() });
    assert_eq!(sides(&mut running, "manual", &lexer).draft, Some(draft));
    assert_eq!(served(&mut running, keep(None)), HandBackReply::Kept);
    assert_eq!(sides(&mut running, "manual", &lexer).draft, None);
}

/// A stand-in for a merge program, which is not on every machine: it answers as this script says.
fn stand_in(place: &Place, script: &str) -> PathBuf {
    let bin = place.cwd().with_file_name("bin");
    fs::create_dir_all(&bin).unwrap();
    crate::executable(&bin.join("mergiraf"), format!("#!/bin/sh\n{script}\n").as_bytes());
    bin
}

#[test]
fn a_merge_program_on_the_path_is_asked_and_its_merge_is_a_proposal() {
    let place = Place::new();
    let bin = place.cwd().with_file_name("bin");
    let path_with = |options: &mut windlass::engine::Options| {
        options.environment.retain(|(name, _)| name != "PATH");
        options.environment.push(("PATH".into(), format!("{}:/usr/bin:/bin", bin.display()).into()));
    };
    let mut running = place.open_with(SCRIPT, Mode::Auto, Which::New, path_with);
    let id = running.id();
    // what is made before it has begun is taken for a copy that was cut
    failed(&mut running, HandBackAsk::Propose { child: "manual".into(), path: path("lexer") });
    clash(&place, &id);
    let lexer = path("lexer");
    let propose = || HandBackAsk::Propose { child: "manual".into(), path: path("lexer") };
    assert!(!sides(&mut running, "manual", &lexer).can_propose);
    assert!(failed(&mut running, propose()).contains("no mergiraf"));
    // base, parent and child in order, the language by the path's name, nothing of ours in its environment
    let right = "[ \"$1\" = merge ] && [ \"$6\" = --path-name=lexer ] && [ $# = 6 ] || exit 9
        [ \"$5\" = --conflict-marker-size=7 ] || exit 7
        [ -z \"$WINDLASS_SECRET$USER\" ] && [ \"$HOME\" = \"$PWD\" ] || exit 8
        cat \"$2\" \"$3\" \"$4\"";
    stand_in(&place, right);
    assert!(sides(&mut running, "manual", &lexer).can_propose);
    assert!(!sides(&mut running, "manual", &path("gone")).can_propose, "there is no text of the parent's");
    let proposal = |text: &[u8]| HandBackReply::Proposal(Some(text.into()));
    assert_eq!(served(&mut running, propose()), proposal(b"base\nparent\nchild\n"));
    assert_eq!(place.read("lexer"), "parent\n", "it is proposed and not made");
    // what it leaves open, too
    stand_in(&place, "echo '<<<<<<< a'; exit 1");
    assert_eq!(served(&mut running, propose()), proposal(b"<<<<<<< a\n"));
    stand_in(&place, "exit 255");
    assert!(failed(&mut running, propose()).contains("failed with exit code 255"));
}

#[test]
fn a_view_and_a_session_whose_directory_was_swapped_write_nothing() {
    let place = Place::new();
    let mut running = begun(&place);
    let id = running.id();
    clash(&place, &id);
    let lexer = path("lexer");
    let mut view = again(&place, &id);
    until_open(&mut view, 2);
    let seen = sides(&mut view, "manual", &lexer).parent.version;
    let why = failed(&mut view, write("manual", &lexer, &seen, bytes("merged\n")));
    assert!(why.contains("read-only"), "{why}");
    assert_eq!(place.read("lexer"), "parent\n");

    let elsewhere = place.cwd().with_file_name("elsewhere");
    fs::rename(place.cwd(), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, elsewhere.with_file_name("project")).unwrap();
    let why = failed(&mut running, write("manual", &lexer, &seen, bytes("merged\n")));
    assert!(why.contains("nothing was written"), "{why}");
    assert_eq!(fs::read(elsewhere.join("lexer")).unwrap(), b"parent\n");
}

#[test]
fn what_cannot_be_put_there_is_said_and_a_version_that_is_not_kept_is_not_written() {
    let place = Place::new();
    let mut running = begun(&place);
    place.write("a", "base\n");
    let does = |copy: &Path| fs::write(copy.join("a"), "child\n").unwrap();
    let room = child(&place, &running.id(), "one", does, |cwd| {
        fs::remove_file(cwd.join("a")).unwrap();
        fs::create_dir_all(cwd.join("a/b")).unwrap();
    });
    let seen = sides(&mut running, "one", &path("a"));
    assert_eq!(seen.verdict, Verdict::Conflict(Clash::DirectoryInTheWay));
    let take = Take::Version(seen.theirs.version.clone());
    let why = failed(&mut running, write("one", &path("a"), &seen.parent.version, take));
    assert!(why.contains("a directory is in its place"), "{why}");
    let unknown = Version::File { hash: windlass::law::hand_back::tree::Hash([7; 32]), executable: false };
    fs::remove_dir_all(place.cwd().join("a")).unwrap();
    let why = failed(&mut running, write("one", &path("a"), &Version::Absent, Take::Version(unknown)));
    assert!(why.contains("not kept"), "{why}");
    until_open(&mut running, 1);
    // the parent's stays: that too is a resolution
    let now = sides(&mut running, "one", &path("a")).parent.version;
    let back = written(served(&mut running, write("one", &path("a"), &now, Take::Version(now.clone()))));
    assert_eq!(by_hand(&back, &path("a")), ByHand::Resolved);
    until_open(&mut running, 0);
    assert!(room.conflicts().exists() && !place.cwd().join("a").exists());
}

#[test]
fn a_resolution_that_a_crash_cut_is_ended_at_the_next_open_and_a_damaged_record_is_told() {
    let place = Place::new();
    let running = begun(&place);
    let id = running.id();
    let room = clash(&place, &id);
    running.close();
    // as a kill leaves it after the resolution was recorded and before anything was prepared
    let record = room.read_record().unwrap().unwrap();
    let planned = record.path(&path("lexer")).unwrap();
    let resolved = serde_json::json!({
        "path": "lexer", "before": planned.parent, "after": planned.child, "choices": null, "undoes": false
    });
    let cut = room.dir().join("resolutions/000000");
    windlass::store::private::dir_all(&cut).unwrap();
    windlass::store::private::replace(&cut.join("resolution.json"), resolved.to_string().as_bytes()).unwrap();
    let broken = Room::at(place.dirs().workspace(&id, "broken"));
    windlass::store::private::dir_all(broken.dir()).unwrap();
    windlass::store::private::replace(&broken.record(), b"{").unwrap();
    place.write("half", "base\n");
    let write = |text: &'static str| move |dir: &Path| fs::write(dir.join("half"), text).unwrap();
    let half = child(&place, &id, "half", write("child\n"), write("parent\n"));
    let planned = half.read_record().unwrap().unwrap().path(&path("half")).unwrap().clone();
    half.resolve(&place.cwd(), &path("half"), &planned.parent, Written::Version(planned.child), None)
        .unwrap();
    fs::write(half.dir().join("resolutions/000000/resolution.json"), "{").unwrap();
    let mut running = again(&place, &id);
    until_open(&mut running, 1);
    assert_eq!(place.read("lexer"), "child\n");
    running.until_said("The hand-back of broken cannot be read");
    running.until_said("The hand-back of half cannot be read");
    assert_eq!(list(&mut running).len(), 1);
}

#[test]
fn what_somebody_saved_since_is_settled_as_it_is() {
    let place = Place::new();
    let mut running = begun(&place);
    let room = clash(&place, &running.id());
    let lexer = path("lexer");
    place.write("lexer", "saved since\n");
    let now = sides(&mut running, "manual", &lexer).parent.version;
    // of what the hand-back kept it is none
    assert!(room.look_kept(&now, 0).is_err());
    let back = written(served(&mut running, write("manual", &lexer, &now, Take::Version(now.clone()))));
    assert_eq!(by_hand(&back, &lexer), ByHand::Resolved);
    assert_eq!(fs::read_to_string(place.cwd().join("lexer")).unwrap(), "saved since\n");
    running.close();
}
