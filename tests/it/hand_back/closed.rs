//! What an agent closed to others and to itself, and what leads out of its copy: handed back and removed all the same.
//!
//! Root may read and write whatever the permissions say, so these run in a process that has lost that right.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use windlass::law::hand_back::merge1::Verdict;
use windlass::law::hand_back::tree::TreePath;
use windlass::workspace::child::{Progress, Room};

use super::place;
use super::trees::disk;
use crate::again;

pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs a test where permissions count: as it is for who is not root, else in a process of its own.
pub fn as_anybody(test: &str, body: impl FnOnce()) {
    if again::role().is_some() || !nix::unistd::geteuid().is_root() {
        return body();
    }
    let plain = again::command(test, "without root's rights");
    let status = Command::new("setpriv")
        .args(["--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"])
        .arg(plain.get_program())
        .args(plain.get_args())
        .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .status()
        .expect("setpriv (util-linux) is needed as root");
    assert!(status.success(), "{test} without root's rights");
}

pub fn room(root: &Path) -> Room {
    let room = Room::at(root.join("room"));
    room.make(&root.join("parent"), &Progress::default()).unwrap();
    room
}

#[test]
fn what_is_removed_of_a_copy_is_in_the_copy() {
    let tmp = place();
    let (parent, outside) = (tmp.path().join("parent"), tmp.path().join("outside"));
    write(&parent.join(".gitignore"), "target/\n");
    write(&parent.join("src/a"), "1");
    write(&parent.join("other/b"), "1");
    write(&outside.join("b"), "outside");
    let room = room(tmp.path());
    // the agent moved a directory and left a link, by the name of the parent's directory, where it was
    let copy = room.copy();
    fs::rename(copy.join("src"), copy.join("lib")).unwrap();
    symlink(parent.join("lib"), copy.join("src")).unwrap();
    fs::remove_dir_all(copy.join("other")).unwrap();
    symlink(&outside, copy.join("other")).unwrap();
    write(&copy.join("target/build"), "left out");
    let record = room.hand_back(&parent).unwrap();
    assert_eq!(record.left_out.len(), 1, "{record:?}");
    assert_eq!(fs::read_to_string(parent.join("lib/a")).unwrap(), "1", "what was taken stays");
    assert_eq!(fs::read_to_string(outside.join("b")).unwrap(), "outside");
    let left: Vec<Vec<u8>> = disk(&copy).into_keys().collect();
    assert_eq!(left, [&b"target"[..], b"target/build"], "what was left out stays in the copy, and no more");
}

#[test]
fn a_directory_that_the_agent_closed_is_handed_back_and_removed() {
    as_anybody("hand_back::closed::a_directory_that_the_agent_closed_is_handed_back_and_removed", || {
        for built in [false, true] {
            let tmp = place();
            let parent = tmp.path().join("parent");
            write(&parent.join(".gitignore"), "target/\n");
            for name in ["open/x", "shut/x", "shut/in/y", "changed/x"] {
                write(&parent.join(name), "1");
            }
            let room = room(tmp.path());
            let copy = room.copy();
            write(&copy.join("changed/x"), "2");
            write(&copy.join("cache/mod/new"), "2");
            if built {
                write(&copy.join("target/build"), "left out");
            }
            for (dir, bits) in
                [("shut/in", 0), ("shut", 0), ("changed", 0o555), ("cache/mod", 0o555), ("cache", 0)]
            {
                mode(&copy.join(dir), bits);
            }
            mode(&copy, 0o500);
            let record = room.hand_back(&parent).unwrap();
            let taken: Vec<String> =
                record.with(|verdict| verdict == Verdict::Taken).map(ToString::to_string).collect();
            assert_eq!(
                (taken, record.paths.len()),
                (vec!["cache/mod/new".to_owned(), "changed/x".to_owned()], 2)
            );
            assert_eq!(room.copy().exists(), built, "the copy goes");
            if built {
                let left: Vec<Vec<u8>> = disk(&copy).into_keys().collect();
                assert_eq!(left, [&b"target"[..], b"target/build"]);
                mode(&copy.join("target"), 0o555);
            }
            room.drop_all().unwrap();
            assert!(!room.dir().exists());
        }
    });
}

#[test]
fn a_file_that_the_agent_may_not_read_is_handed_back_all_the_same() {
    as_anybody("hand_back::closed::a_file_that_the_agent_may_not_read_is_handed_back_all_the_same", || {
        let tmp = place();
        let parent = tmp.path().join("parent");
        write(&parent.join("old"), "1");
        let room = room(tmp.path());
        for (name, bits) in [("old", 0), ("new", 0o200), ("d/deep", 0)] {
            write(&room.copy().join(name), "only here");
            mode(&room.copy().join(name), bits);
        }
        mode(&room.copy().join("d"), 0);
        let record = room.hand_back(&parent).unwrap();
        assert!(record.paths.iter().all(|planned| planned.verdict == Verdict::Taken), "{record:?}");
        assert_eq!(record.paths.len(), 3);
        for name in ["old", "new", "d/deep"] {
            let kept = &record.path(&TreePath::new(name).unwrap()).unwrap().child;
            assert_eq!(room.bytes(kept).unwrap().unwrap(), b"only here");
        }
        assert_eq!(fs::metadata(parent.join("new")).unwrap().mode() & 0o777, 0o600, "for its owner alone");
        assert_eq!(fs::read_to_string(parent.join("old")).unwrap(), "only here");
    });
}
