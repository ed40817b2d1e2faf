//! Resolving by hand: written with a re-check, recorded, undone; nothing of the three versions is lost.

use std::fs;

use windlass::api::hand_back::Draft as Decided;
use windlass::law::hand_back::merge1::Verdict;
use windlass::law::hand_back::tree::{TreePath, Version};
use windlass::law::merge::decision::Decision;
use windlass::law::merge::resolution::Choice;
use windlass::workspace::child::Room;
use windlass::workspace::child::draft::Draft;
use windlass::workspace::child::error::Error;
use windlass::workspace::child::resolve::Written;
use windlass::workspace::child::rooms::rooms;

use super::trees::{Entry, Triple};
use super::{begin, place};

fn file(text: &str) -> Option<Entry> {
    Some(Entry::File(text.as_bytes().to_vec(), false))
}

fn triple() -> Triple {
    Triple {
        base: vec![(b"d/f", file("base")), (b"g", file("base"))],
        parent: vec![(b"d/f", file("parent")), (b"g", None)],
        child: vec![(b"d/f", file("child")), (b"g", file("child"))],
    }
}

#[test]
fn resolution_loses_nothing() {
    let tmp = place();
    let (parent, room) = begin(tmp.path(), &triple());
    let record = room.hand_back(&parent).unwrap();
    let path = TreePath::new("d/f").unwrap();
    let planned = record.path(&path).unwrap().clone();
    assert!(matches!(planned.verdict, Verdict::Conflict(_)));
    let all = |what: &str| {
        for (version, text) in
            [(&planned.base, "base"), (&planned.parent, "parent"), (&planned.child, "child")]
        {
            assert_eq!(room.bytes(version).unwrap().unwrap(), text.as_bytes(), "{what}");
        }
    };
    all("after the hand-back");
    assert_eq!(fs::read_to_string(room.conflicts().join("d/f")).unwrap(), "child");
    let open = |room: &windlass::workspace::child::Room| room.open_conflicts(&record).unwrap().len();
    assert_eq!(open(&room), 2);

    let seen = room.parents(&parent, &path).unwrap();
    let merged = Written::Bytes { bytes: b"merged".to_vec(), executable: false };
    room.resolve(&parent, &path, &seen, merged.clone(), None).unwrap();
    assert_eq!(fs::read_to_string(parent.join("d/f")).unwrap(), "merged");
    assert!(!room.conflicts().join("d/f").exists());
    assert_eq!(open(&room), 1);
    all("after a resolution");

    // somebody saved since it was looked at: nothing is written
    let stale = room.resolve(&parent, &path, &seen, merged, None);
    assert!(matches!(stale, Err(Error::ChangedMeanwhile { .. })), "{stale:?}");
    assert_eq!(fs::read_to_string(parent.join("d/f")).unwrap(), "merged");

    room.undo(&parent, &path).unwrap().unwrap();
    assert_eq!(fs::read_to_string(parent.join("d/f")).unwrap(), "parent");
    assert_eq!(open(&room), 2);
    assert!(room.undo(&parent, &path).unwrap().is_none());
    all("after an undo");

    // a removal against a change: the child's version is put there, and taken away again
    let gone = TreePath::new("g").unwrap();
    let child = record.path(&gone).unwrap().child.clone();
    room.resolve(&parent, &gone, &Version::Absent, Written::Version(child), None).unwrap();
    assert_eq!(fs::read_to_string(parent.join("g")).unwrap(), "child");
    room.undo(&parent, &gone).unwrap();
    assert!(!parent.join("g").exists());

    // after a restart the same is open
    let again = windlass::workspace::child::Room::at(room.dir());
    assert!(again.finish_resolutions(&parent).unwrap().is_empty());
    assert_eq!(again.open_conflicts(&again.read_record().unwrap().unwrap()).unwrap().len(), 2);
    assert_eq!(fs::read_to_string(again.conflicts().join("g")).unwrap(), "child");
}

#[test]
fn choices_that_were_not_written_survive_a_restart_until_they_are() {
    let tmp = place();
    let (parent, room) = begin(tmp.path(), &triple());
    let record = room.hand_back(&parent).unwrap();
    let path = TreePath::new("d/f").unwrap();
    let planned = record.path(&path).unwrap();
    let of = [planned.base.clone(), planned.child.clone()];
    let choice = Choice::Edited(b"\xff\n"[..].into());
    let decision = Decision { base: 0..1, child: 0..1, parent: None, choice: choice.clone() };
    let decided = Decided { decisions: vec![decision], ..Decided::default() };
    let draft = Draft { path: path.clone(), of: of.clone(), decided };
    room.keep_draft(&draft).unwrap();
    let again = Room::at(room.dir());
    // what a kill left before it was in place is no draft, and goes with the next
    let drafts = room.dir().join("drafts");
    let name = fs::read_dir(&drafts).unwrap().next().unwrap().unwrap().path();
    fs::rename(&name, drafts.join(".new-cut")).unwrap();
    assert_eq!((again.all_drafts().unwrap(), again.draft(&path, &of).unwrap()), (Vec::new(), None));
    room.keep_draft(&draft).unwrap();
    assert_eq!((again.all_drafts().unwrap().len(), fs::read_dir(&drafts).unwrap().count()), (1, 1));
    assert_eq!(again.draft(&path, &of).unwrap(), Some(draft));
    let other = [of[0].clone(), Version::Absent];
    assert_eq!(again.draft(&path, &other).unwrap(), None);
    let seen = room.parents(&parent, &path).unwrap();
    let taken = Written::Version(planned.child.clone());
    room.resolve(&parent, &path, &seen, taken, Some(vec![choice])).unwrap();
    assert_eq!(room.draft(&path, &of).unwrap(), None, "it was written");
    room.drop_all().unwrap();
    assert!(!room.dir().exists());
    assert_eq!(fs::read_to_string(parent.join("d/f")).unwrap(), "child");
}

#[test]
fn two_who_resolve_at_once_do_so_one_after_the_other() {
    for _ in 0..crate::cases(10) {
        let tmp = place();
        let (parent, room) = begin(tmp.path(), &triple());
        let record = room.hand_back(&parent).unwrap();
        let path = TreePath::new("d/f").unwrap();
        let seen = room.parents(&parent, &path).unwrap();
        let write = |text: &str| {
            let bytes = Written::Bytes { bytes: text.as_bytes().to_vec(), executable: false };
            Room::at(room.dir()).resolve(&parent, &path, &seen, bytes, None)
        };
        let (one, other) = std::thread::scope(|scope| {
            let one = scope.spawn(|| write("one"));
            let other = scope.spawn(|| write("other"));
            (one.join().unwrap(), other.join().unwrap())
        });
        let text = if one.is_ok() { "one" } else { "other" };
        assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
        assert!(matches!(one.or(other), Ok(resolved) if resolved.path == path));
        assert_eq!(fs::read_to_string(parent.join("d/f")).unwrap(), text);
        assert_eq!(room.resolved().unwrap().len(), 1);
        assert_eq!(room.open_conflicts(&record).unwrap().len(), 1);
    }
}

#[test]
fn the_workspaces_of_a_session_are_listed_with_how_they_stand() {
    let tmp = place();
    assert_eq!(rooms(&tmp.path().join("nobody")).unwrap(), []);
    let (parent, room) = begin(tmp.path(), &triple());
    fs::create_dir(tmp.path().join("all")).unwrap();
    fs::rename(room.dir(), tmp.path().join("all/tests")).unwrap();
    fs::write(tmp.path().join("all/no-room"), "").unwrap();
    let found = rooms(&tmp.path().join("all")).unwrap();
    let [(name, room)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(name, "tests");
    assert_eq!(room.parent().unwrap(), Some(fs::canonicalize(&parent).unwrap()));
    let standing = room.standing().unwrap();
    assert_eq!((standing.record, standing.open.len(), standing.cut), (None, 0, false));
    let record = room.hand_back(&parent).unwrap();
    let standing = room.standing().unwrap();
    assert_eq!((standing.record, standing.open.len(), standing.cut), (Some(record), 2, false));
}
