//! Permissions: what is put back, or put where nothing is, is as closed to others as it was.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use windlass::law::hand_back::merge1::{Clash, Verdict};
use windlass::law::hand_back::tree::{TreePath, Version};
use windlass::workspace::child::resolve::Written;

use super::closed::{mode, room, write};
use super::place;

fn bits(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

#[test]
fn what_is_put_back_is_as_closed_as_it_was() {
    let tmp = place();
    let parent = tmp.path().join("parent");
    write(&parent.join("deep/private/.env"), "1");
    write(&parent.join("shared"), "1");
    mode(&parent.join("deep/private/.env"), 0o600);
    mode(&parent.join("deep/private"), 0o700);
    mode(&parent.join("deep"), 0o750);
    let room = room(tmp.path());
    fs::remove_dir_all(room.copy().join("deep")).unwrap();
    fs::remove_file(room.copy().join("shared")).unwrap();
    // changed since, and closed: a conflict
    write(&parent.join("shared"), "2");
    mode(&parent.join("shared"), 0o640);
    let record = room.hand_back(&parent).unwrap();
    assert!(!parent.join("deep").exists(), "{record:?}");

    let env = TreePath::new("deep/private/.env").unwrap();
    let was = record.path(&env).unwrap().parent.clone();
    let kept = || {
        assert_eq!(bits(&parent.join("deep/private/.env")), 0o600);
        assert_eq!(bits(&parent.join("deep/private")), 0o700);
        assert_eq!(bits(&parent.join("deep")), 0o750);
    };
    room.resolve(&parent, &env, &Version::Absent, Written::Version(was), None).unwrap();
    kept();
    // taken back, and that too
    room.undo(&parent, &env).unwrap().unwrap();
    assert!(!parent.join("deep/private/.env").exists());
    room.resolve(
        &parent,
        &env,
        &Version::Absent,
        Written::Bytes { bytes: b"3".to_vec(), executable: false },
        None,
    )
    .unwrap();
    kept();

    // a removal that is taken by hand and taken back
    let shared = TreePath::new("shared").unwrap();
    let planned = record.path(&shared).unwrap().clone();
    assert_eq!(planned.verdict, Verdict::Conflict(Clash::ChildRemoved));
    room.resolve(&parent, &shared, &planned.parent, Written::Version(Version::Absent), None).unwrap();
    assert!(!parent.join("shared").exists());
    room.undo(&parent, &shared).unwrap().unwrap();
    assert_eq!(bits(&parent.join("shared")), 0o640);
}

#[test]
fn a_private_directory_of_the_childs_is_private_in_the_parents_too() {
    let tmp = place();
    let parent = tmp.path().join("parent");
    write(&parent.join("a"), "1");
    let room = room(tmp.path());
    write(&room.copy().join("new/keys/key"), "secret");
    for (name, closed) in [("new/keys/key", 0o600), ("new/keys", 0o700)] {
        mode(&room.copy().join(name), closed);
    }
    room.hand_back(&parent).unwrap();
    assert_eq!((bits(&parent.join("new/keys")), bits(&parent.join("new/keys/key"))), (0o700, 0o600));
}
