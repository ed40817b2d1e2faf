//! Trees that want something else: links out, pipes, names like ours, directories swapped for links.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass::law::hand_back::merge1::{Clash, Verdict};
use windlass::law::hand_back::tree::TreePath;
use windlass::workspace::child::{Progress, Room};

use super::place;
use super::trees::disk;

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn room(root: &Path) -> Room {
    let room = Room::at(root.join("room"));
    room.make(&root.join("parent"), &Progress::default()).unwrap();
    room
}

fn verdict(record: &windlass::workspace::child::hand_back::Record, path: &str) -> Option<Verdict> {
    record.path(&TreePath::new(path).unwrap()).map(|planned| planned.verdict)
}

#[test]
fn handback_stays_inside() {
    let tmp = place();
    let (parent, outside) = (tmp.path().join("parent"), tmp.path().join("outside"));
    write(&outside.join("d/x"), "outside");
    write(&outside.join("secret"), "outside");
    write(&parent.join("d/x"), "1");
    write(&parent.join("link/y"), "1");
    write(&parent.join("plain"), "1");
    let room = room(tmp.path());
    // the child: links out, a pipe, a name like ours, and changes beneath what the parent swaps for a link
    write(&room.copy().join("d/x"), "2");
    write(&room.copy().join("d/new"), "2");
    fs::remove_dir_all(room.copy().join("link")).unwrap();
    symlink(&outside, room.copy().join("link")).unwrap();
    write(&room.copy().join(".windlass-0-0"), "mine");
    fs::remove_file(room.copy().join("plain")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        room.copy().join("plain"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    fs::remove_dir_all(parent.join("d")).unwrap();
    symlink(outside.join("d"), parent.join("d")).unwrap();
    write(&parent.join(".windlass-0-1"), "a person's");
    let before = disk(&outside);
    let record = room.hand_back(&parent).unwrap();
    assert_eq!(disk(&outside), before, "nothing outside changed");
    assert_eq!(verdict(&record, "d/x"), Some(Verdict::Conflict(Clash::FileInTheWay)));
    assert_eq!(verdict(&record, "d/new"), Some(Verdict::Conflict(Clash::FileInTheWay)));
    assert_eq!(verdict(&record, "link"), Some(Verdict::Taken));
    assert_eq!(verdict(&record, "plain"), Some(Verdict::Special));
    assert_eq!(fs::read_link(parent.join("link")).unwrap(), outside);
    assert_eq!(fs::read_to_string(parent.join(".windlass-0-0")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(parent.join(".windlass-0-1")).unwrap(), "a person's");
    assert_eq!(fs::read_to_string(parent.join("plain")).unwrap(), "1");
}

/// A directory is swapped for a link to the outside and back, over and over, while the hand-back writes into it.
#[test]
fn a_directory_that_is_swapped_meanwhile_leads_nowhere() {
    for _ in 0..crate::cases(10) {
        let tmp = place();
        let (parent, outside) = (tmp.path().join("parent"), tmp.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        for n in 0..20 {
            write(&parent.join(format!("d/{n}")), "1");
            write(&outside.join(n.to_string()), "outside");
        }
        let room = room(tmp.path());
        for n in 0..20 {
            write(&room.copy().join(format!("d/{n}")), "2");
            write(&room.copy().join(format!("d/new{n}")), "2");
        }
        symlink(&outside, parent.join("swap")).unwrap();
        let (before, stop) = (disk(&outside), AtomicBool::new(false));
        let record = std::thread::scope(|scope| {
            scope.spawn(|| {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                while !stop.load(Ordering::Relaxed) {
                    let (d, swap) = (parent.join("d"), parent.join("swap"));
                    let _ = rustix::fs::renameat_with(rustix::fs::CWD, &d, rustix::fs::CWD, &swap, flags);
                }
            });
            let record = room.hand_back(&parent);
            stop.store(true, Ordering::Relaxed);
            record
        });
        assert_eq!(disk(&outside), before, "{record:?}");
    }
}

/// What somebody saves while the hand-back is under way is where it was saved, or it is kept.
#[test]
fn what_is_saved_meanwhile_is_not_lost() {
    let (mut conflicts, mut runs) = (0, 0);
    for _ in 0..crate::cases(15) {
        let tmp = place();
        let parent = tmp.path().join("parent");
        for n in 0..30 {
            write(&parent.join(n.to_string()), "1");
        }
        let room = room(tmp.path());
        for n in 0..30 {
            write(&room.copy().join(n.to_string()), "2");
        }
        let planned = room.dir().join("run/plan.json");
        let record = std::thread::scope(|scope| {
            let saver = scope.spawn(|| {
                // the plan is made: what is saved now comes in between
                while !planned.exists() && !room.record().exists() {
                    std::thread::yield_now();
                }
                for n in (0..30).rev() {
                    let new = parent.join(format!("new{n}"));
                    fs::write(&new, "saved").unwrap();
                    fs::rename(&new, parent.join(n.to_string())).unwrap();
                }
            });
            let record = room.hand_back(&parent);
            saver.join().unwrap();
            record
        });
        let record = record.unwrap();
        for n in 0..30 {
            let path = TreePath::new(n.to_string()).unwrap();
            let text = fs::read_to_string(parent.join(n.to_string())).unwrap();
            let kept = record.displaced.iter().any(|(at, version)| {
                *at == path && room.bytes(version).unwrap().as_deref() == Some(&b"saved"[..])
            });
            assert!(text == "saved" || kept, "{path}: {text}, {record:?}");
        }
        conflicts += record.with(|verdict| matches!(verdict, Verdict::Conflict(_))).count();
        runs += 1;
        let left = disk(&parent).into_keys().filter(|path| path.starts_with(b".windlass")).count();
        assert_eq!(left, 0);
    }
    eprintln!("{conflicts} conflicts in {runs} runs");
}
