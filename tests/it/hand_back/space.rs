//! Holes stay holes, and copies for which there is no room are refused before they begin.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use windlass::law::hand_back::merge1::Verdict;
use windlass::workspace::child::error::Error;
use windlass::workspace::child::{Progress, Room};

use super::closed::{room, write};
use super::place;
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

#[test]
fn copies_without_room_are_refused_with_numbers_and_nothing_is_left() {
    let test = "hand_back::space::copies_without_room_are_refused_with_numbers_and_nothing_is_left";
    if again::role().is_none() {
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
        return;
    }
    let small = PathBuf::from(std::env::var_os(SMALL).unwrap());
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
