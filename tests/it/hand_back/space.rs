//! Holes stay holes, copies for which there is no room are refused before they begin, and a hand-back without room leaves
//! nothing.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use windlass::law::hand_back::merge1::Verdict;
use windlass::workspace::child::error::Error;
use windlass::workspace::child::{Progress, Room};

use super::closed::{room, write};
use super::cut::{traced, triple};
use super::trees::disk;
use super::{begin, place};
use crate::again;

const LEN: u64 = 32 << 20;

/// A file that says it is long and has little.
fn sparse(path: &Path) {
    let file = File::create_new(path).unwrap();
    file.set_len(LEN).unwrap();
    file.write_all_at(b"in the middle", LEN / 2).unwrap();
}

/// Bytes that it has on the disk.
fn on_disk(path: &Path) -> u64 {
    fs::metadata(path).unwrap().blocks() * 512
}

#[test]
fn a_file_with_holes_keeps_them_in_the_copies_and_when_it_comes_back() {
    let tmp = place();
    let parent = tmp.path().join("parent");
    fs::create_dir(&parent).unwrap();
    let file = parent.join("disk.image");
    sparse(&file);
    assert!(on_disk(&file) < LEN / 8, "the filesystem of this test has no holes");
    let room = room(tmp.path());
    let copy = room.copy().join("disk.image");
    for path in [&room.base().join("disk.image"), &copy] {
        assert!(on_disk(path) < LEN / 8, "{}: {}", path.display(), on_disk(path));
        assert!(fs::read(path).unwrap() == fs::read(&file).unwrap(), "{}", path.display());
    }
    let changed = File::options().write(true).open(&copy).unwrap();
    changed.write_all_at(b"at its end", LEN - 100).unwrap();
    let expected = fs::read(&copy).unwrap();
    let record = room.hand_back(&parent).unwrap();
    assert_eq!(record.with(|verdict| verdict == Verdict::Taken).count(), 1);
    assert!(on_disk(&file) < LEN / 8, "{}", on_disk(&file));
    assert!(fs::read(&file).unwrap() == expected);
    for version in [&record.paths[0].base, &record.paths[0].child] {
        assert_eq!(room.bytes(version).unwrap().unwrap().len() as u64, LEN);
    }
    let kept = fs::read_dir(room.dir().join("versions")).unwrap().map(|item| on_disk(&item.unwrap().path()));
    assert!(kept.sum::<u64>() < LEN / 8);
}

/// Where the process of the test below finds its small filesystem.
const SMALL: &str = "WINDLASS_SMALL_FILESYSTEM";
const SMALL_BYTES: u64 = 4 << 20;

/// In a process of its own that has a small filesystem: where that is. None: it was run, and is over.
fn small(test: &str) -> Option<PathBuf> {
    if again::role().is_some() {
        return Some(PathBuf::from(std::env::var_os(SMALL).unwrap()));
    }
    let small = tempfile::tempdir().unwrap();
    let plain = again::command(test, "on a small filesystem");
    let status = Command::new("bwrap")
        .args(["--dev-bind", "/", "/", "--size", &SMALL_BYTES.to_string(), "--tmpfs"])
        .arg(small.path())
        .arg(plain.get_program())
        .args(plain.get_args())
        .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env(SMALL, small.path())
        .status()
        .expect("bwrap is needed: tests/run installs it");
    assert!(status.success());
    None
}

#[test]
fn a_hand_back_without_room_leaves_nothing_beside_and_is_tried_again_or_dropped() {
    let test =
        "hand_back::space::a_hand_back_without_room_leaves_nothing_beside_and_is_tried_again_or_dropped";
    let Some(small) = small(test) else { return };
    let tmp = tempfile::tempdir().unwrap();
    let parent = small.join("parent");
    for name in ["a", "b", "c"] {
        write(&parent.join(name), &"1".repeat(300_000));
    }
    let make = |name: &str| {
        let room = Room::at(tmp.path().join(name));
        room.make(&parent, &Progress::default()).unwrap();
        for name in ["a", "b", "c"] {
            write(&room.copy().join(name), &"2".repeat(300_000));
        }
        room
    };
    let (room, dropped) = (make("room"), make("dropped"));
    // room for one of the three
    let left = nix::sys::statvfs::statvfs(&small).unwrap();
    let left = left.blocks_available() * left.fragment_size();
    write(&small.join("fill"), &"x".repeat(usize::try_from(left).unwrap() - 400_000));
    let before = disk(&parent);
    for room in [&room, &dropped] {
        for _ in 0..2 {
            let told = windlass::base::chain(&room.take_back(&parent).unwrap_err());
            assert!(told.contains("the hand-back can be run again: No space left"), "{told}");
            assert!(disk(&parent) == before, "nothing is left beside");
            assert!(room.can_go_on() && !room.is_cut() && !room.is_half());
        }
        let kept = fs::read_dir(room.dir().join("versions")).unwrap();
        assert_eq!(kept.count(), 0, "what was kept for a plan that is gone");
    }
    dropped.drop_unhanded(&parent).unwrap();
    assert!(disk(&parent) == before && !dropped.dir().exists());
    fs::remove_file(small.join("fill")).unwrap();
    let record = room.hand_back(&parent).unwrap();
    assert_eq!(record.with(|verdict| verdict == Verdict::Taken).count(), 3);
    assert_eq!(fs::read(parent.join("c")).unwrap(), "2".repeat(300_000).into_bytes());
}

/// Each call that writes or makes durable fails in turn, alone or with all after it.
#[test]
fn a_hand_back_that_fails_anywhere_leaves_nothing_beside_or_says_that_it_stands_half() {
    let step = if std::env::var_os("WINDLASS_LONG").is_some() { 1 } else { 4 };
    let (mut nothing, mut half) = (0, 0);
    for (calls, error) in [
        ("fdatasync", "ENOSPC"),
        ("fsync", "ENOSPC"),
        ("rename", "ENOSPC"),
        ("mkdirat", "ENOSPC"),
        ("fdatasync,unlinkat", "EIO"),
    ] {
        for when in (1..).step_by(step) {
            let tmp = place();
            let (parent, room) = begin(tmp.path(), &triple());
            let before = disk(&parent);
            let from = format!("error={error}:when={when}{}", if calls.contains(',') { "+" } else { "" });
            if traced(tmp.path(), calls, &from) {
                break;
            }
            let at = format!("{calls} {from}");
            if room.is_half() {
                half += 1;
                assert!(matches!(room.drop_unhanded(&parent), Err(Error::Half { .. })), "{at}");
                room.hand_back(&parent).unwrap();
                continue;
            }
            if room.record().exists() {
                continue;
            }
            nothing += 1;
            // what could not be removed either goes with what is done next
            assert!(room.is_cut() || disk(&parent) == before, "{at}");
            if nothing % 2 == 1 {
                room.drop_unhanded(&parent).unwrap();
                assert!(disk(&parent) == before && !room.dir().exists(), "{at}");
            } else {
                room.hand_back(&parent).unwrap();
                let left = disk(&parent);
                let left = left.keys().filter(|path| path.escape_ascii().to_string().contains(".windlass"));
                assert_eq!(left.count(), 0, "{at}");
            }
        }
    }
    assert!(nothing >= 5 && half >= 2, "{nothing} {half}");
}

#[test]
fn copies_without_room_are_refused_with_numbers_and_nothing_is_left() {
    let test = "hand_back::space::copies_without_room_are_refused_with_numbers_and_nothing_is_left";
    let Some(small) = small(test) else { return };
    let (tmp, room) = (tempfile::tempdir().unwrap(), Room::at(small.join("room")));
    let parent = tmp.path().join("parent");
    write(&parent.join("a"), &"a".repeat(1 << 20));
    sparse(&parent.join("disk.image"));
    write(&parent.join("b"), &"b".repeat(3 << 19));
    let told = room.make(&parent, &Progress::default()).unwrap_err();
    let Error::NoRoom { needed, left, .. } = &told else { panic!("{told}") };
    assert!(*needed >= 5 << 20 && *needed < 6 << 20 && *left <= SMALL_BYTES, "{told}");
    let words = told.to_string();
    assert!(
        words.contains("need 5.") && words.contains(" MiB left, so none were made; free some space"),
        "{words}"
    );
    assert_eq!(fs::read_dir(&small).unwrap().count(), 0, "nothing is left");
    // with one of them less both copies have room, the one with holes too
    fs::remove_file(parent.join("a")).unwrap();
    room.make(&parent, &Progress::default()).unwrap();
    assert!(room.is_born());
}
