//! Paths that are longer than the system takes at once: made from directory to directory, as a program can.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, statat};
use windlass::law::hand_back::merge1::Verdict;

use super::closed::{room, write};
use super::place;

/// Levels of directories of which the last that a path reaches is the 16th: each takes 255 bytes.
const LEVELS: usize = 20;
const REACHED: usize = 16;

fn part() -> String {
    "d".repeat(254)
}

fn into(dir: &OwnedFd, name: &str) -> OwnedFd {
    openat(dir, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).unwrap()
}

fn top(path: &Path) -> OwnedFd {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap()
}

fn put(dir: &OwnedFd, text: &str) {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let file = openat(dir, "f", flags, Mode::from_raw_mode(0o644)).unwrap();
    rustix::io::write(file, text.as_bytes()).unwrap();
}

fn has(dir: &OwnedFd) -> bool {
    statat(dir, "f", AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

#[test]
fn a_path_that_is_too_long_for_the_system_is_named_and_ends_nothing_else() {
    let tmp = place();
    let parent = tmp.path().join("parent");
    write(&parent.join("kept"), "1");
    let room = room(tmp.path());
    write(&room.copy().join("kept"), "2");
    let mut dir = top(&room.copy());
    for _ in 0..LEVELS {
        mkdirat(&dir, part(), Mode::from_raw_mode(0o755)).unwrap();
        dir = into(&dir, &part());
        put(&dir, "child");
    }
    // the deepest that has a path is a conflict, which is shown to people too
    let mut dir = top(&parent);
    for _ in 0..REACHED {
        mkdirat(&dir, part(), Mode::from_raw_mode(0o755)).unwrap();
        dir = into(&dir, &part());
    }
    put(&dir, "parent");
    let record = room.hand_back(&parent).unwrap();
    let of = |verdict: fn(Verdict) -> bool| -> Vec<usize> {
        record.with(verdict).map(|path| path.as_bytes().len()).collect()
    };
    assert_eq!(
        of(|verdict| verdict == Verdict::Taken).len(),
        REACHED,
        "kept, and all but one of the reached"
    );
    assert_eq!(of(|verdict| matches!(verdict, Verdict::Conflict(_))), [REACHED * 255 + 1]);
    assert_eq!(of(|verdict| verdict == Verdict::Special), [REACHED * 255 + 254], "{record:?}");
    assert_eq!(record.paths.len(), REACHED + 2);
    // what came over, and what stays in the copy
    for (tree, levels) in
        [(&parent, 0..REACHED), (&room.copy(), REACHED..LEVELS), (&room.conflicts(), REACHED - 1..REACHED)]
    {
        let mut dir = top(tree);
        for level in 0..levels.end {
            dir = into(&dir, &part());
            assert_eq!(has(&dir), levels.contains(&level), "{} at {level}", tree.display());
        }
    }
    assert_eq!(room.hand_back(&parent).unwrap(), record);
    room.drop_all().unwrap();
    assert!(!room.dir().exists());
}
