//! What the system refuses, and what others do at the same time: a matter of the one path, not of the hand-back.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass::law::hand_back::merge1::{Clash, Verdict};
use windlass::law::hand_back::tree::TreePath;
use windlass::workspace::child::error::Error;
use windlass::workspace::child::hand_back::Record;
use windlass::workspace::child::resolve::Written;
use windlass::workspace::child::{Progress, Room};

use super::closed::{as_anybody, mode, room, write};
use super::cut::{traced, triple};
use super::trees::{Entry, disk};
use super::{begin, place, told};

fn verdict(record: &Record, path: &str) -> Verdict {
    record.path(&TreePath::new(path).unwrap()).unwrap().verdict
}

fn no_prepared(disk: &std::collections::BTreeMap<Vec<u8>, Entry>) {
    let left: Vec<&Vec<u8>> =
        disk.keys().filter(|path| path.escape_ascii().to_string().contains(".windlass")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_path_that_may_not_be_changed_is_a_conflict_and_the_others_are_taken() {
    as_anybody(
        "hand_back::refused::a_path_that_may_not_be_changed_is_a_conflict_and_the_others_are_taken",
        || {
            let tmp = place();
            let parent = tmp.path().join("parent");
            for name in ["a", "vendor/x", "vendor/gone", "z"] {
                write(&parent.join(name), "1");
            }
            let room = room(tmp.path());
            for name in ["a", "vendor/x", "vendor/new", "vendor/deep/new"] {
                write(&room.copy().join(name), "2");
            }
            for name in ["vendor/gone", "z"] {
                fs::remove_file(room.copy().join(name)).unwrap();
            }
            mode(&parent.join("vendor"), 0o555);
            let before = disk(&parent.join("vendor"));
            let record = room.hand_back(&parent).unwrap();
            assert_eq!([verdict(&record, "a"), verdict(&record, "z")], [Verdict::Taken; 2]);
            for name in ["vendor/x", "vendor/gone", "vendor/new", "vendor/deep/new"] {
                assert_eq!(verdict(&record, name), Verdict::Conflict(Clash::Refused), "{name}");
            }
            assert_eq!(disk(&parent.join("vendor")), before);
            no_prepared(&disk(&parent));

            // by hand it is refused just so, with words that are true, until the directory is opened
            let path = TreePath::new("vendor/x").unwrap();
            let planned = record.path(&path).unwrap().clone();
            let take = || {
                room.resolve(&parent, &path, &planned.parent, Written::Version(planned.child.clone()), None)
            };
            assert!(matches!(take(), Err(Error::Refused { .. })), "{:?}", take());
            no_prepared(&disk(&parent));
            mode(&parent.join("vendor"), 0o755);
            take().unwrap();
            assert_eq!(fs::read_to_string(parent.join("vendor/x")).unwrap(), "2");
        },
    );
}

/// The system refuses each move in turn: the hand-back comes to its end, and what it says is so.
#[test]
fn a_move_that_is_refused_is_a_conflict_of_its_path() {
    let (mut refused, mut nth) = (0, 1);
    loop {
        let tmp = place();
        let (parent, room) = begin(tmp.path(), &triple());
        let (before, child) = (disk(&parent), disk(&room.copy()));
        assert!(traced(tmp.path(), "renameat2", &format!("error=EPERM:when={nth}")), "refused move {nth}");
        let (record, after) = (room.read_record().unwrap().unwrap(), disk(&parent));
        no_prepared(&after);
        for planned in &record.paths {
            let at = |disk: &std::collections::BTreeMap<Vec<u8>, Entry>| {
                disk.get(planned.path.as_bytes()).filter(|entry| entry.is_tracked()).cloned()
            };
            let wanted = if planned.verdict == Verdict::Taken { at(&child) } else { at(&before) };
            assert_eq!(at(&after), wanted, "{planned:?}, refused move {nth}");
        }
        let this = record.with(|verdict| verdict == Verdict::Conflict(Clash::Refused)).count();
        refused += this;
        if this == 0 && nth > 4 {
            break;
        }
        nth += 1;
    }
    assert!(refused >= 5, "{refused} in {nth} runs");
}

#[test]
fn a_filesystem_that_cannot_exchange_is_told_before_anything_is_moved() {
    let tmp = place();
    let (parent, room) = begin(tmp.path(), &triple());
    let before = disk(&parent);
    // the first move is done, as on a filesystem that knows the one kind and not the other
    assert!(!traced(tmp.path(), "renameat2", "error=EINVAL:when=2+"));
    assert_eq!(disk(&parent), before, "nothing was taken, and nothing is left");
    assert_eq!(room.read_record().unwrap(), None);
    let record = room.hand_back(&parent).unwrap();
    assert!(told(&record).contains(&"edit taken".to_owned()), "it can be run again: {record:?}");
}

#[test]
fn a_file_that_is_written_all_the_time_is_a_conflict_of_its_own() {
    let line = "a line of a log that somebody writes\n".repeat(8000);
    for _ in 0..crate::cases(10) {
        let tmp = place();
        let parent = tmp.path().join("parent");
        write(&parent.join("log"), &line);
        write(&parent.join("a"), "1");
        let room = Room::at(tmp.path().join("room"));
        room.make(&parent, &Progress::default()).unwrap();
        write(&room.copy().join("log"), "the child's\n");
        write(&room.copy().join("a"), "2");
        let stop = AtomicBool::new(false);
        let record = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut log = fs::File::options().append(true).open(parent.join("log")).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    log.write_all(b"more\n").unwrap();
                    std::thread::yield_now();
                }
            });
            let record = room.hand_back(&parent);
            stop.store(true, Ordering::Relaxed);
            record
        });
        let record = record.unwrap();
        assert_eq!(verdict(&record, "a"), Verdict::Taken);
        // it was the child's if nobody had written yet when it was looked at
        if let Verdict::Conflict(_) = verdict(&record, "log") {
            assert!(fs::read_to_string(parent.join("log")).unwrap().starts_with(&line));
        }
        for planned in &record.paths {
            room.bytes(&planned.parent).unwrap();
        }
    }
}
