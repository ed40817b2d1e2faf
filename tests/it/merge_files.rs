//! One merge over plain files, asked as the screen asks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use windlass::api::command::{Command, Query};
use windlass::api::event::{Event, Reply};
use windlass::api::hand_back::{Draft, HandBackAsk, HandBackReply, Sides, Take};
use windlass::front::merge::{Files, Opened, open};
use windlass::law::hand_back::tree::{TreePath, Version};

/// base, local, remote and a result full of markers.
fn files(dir: &Path) -> Files {
    let [base, local, remote, merged] = ["base", "local", "remote", "merged"].map(|name| {
        fs::write(dir.join(name), format!("{name}\n")).unwrap();
        dir.join(name)
    });
    Files { base, local, remote, merged, path: None }
}

fn opened(files: &Files) -> Opened {
    open(files, std::ffi::OsString::new(), Arc::new(|| ())).unwrap()
}

fn asked(merge: &mut Opened, query: Query) -> Reply {
    merge.front.commands.blocking_send(Command::Ask { number: 1, query }).unwrap();
    match merge.front.events.blocking_recv() {
        Some(Event::Answered { number: 1, reply }) => reply,
        other => panic!("{other:?}"),
    }
}

fn served(merge: &mut Opened, ask: HandBackAsk) -> HandBackReply {
    match asked(merge, Query::HandBack(ask)) {
        Reply::HandBack(reply) => reply,
        other => panic!("{other:?}"),
    }
}

fn path() -> TreePath {
    TreePath::new("merged").unwrap()
}

fn sides(merge: &mut Opened) -> Sides {
    match served(merge, HandBackAsk::Sides { child: "remote".into(), path: path() }) {
        HandBackReply::Sides(sides) => *sides,
        other => panic!("{other:?}"),
    }
}

fn write(seen: &Version, take: Take) -> HandBackAsk {
    HandBackAsk::Write { child: "remote".into(), path: path(), seen: seen.clone(), take, choices: None }
}

fn text(text: &str) -> Take {
    Take::Bytes { bytes: text.as_bytes().into(), executable: false }
}

fn undo() -> HandBackAsk {
    HandBackAsk::Undo { child: "remote".into(), path: path() }
}

fn open_conflicts(merge: &Opened) -> usize {
    merge.front.shared.read().status.open_conflicts
}

#[test]
fn the_result_is_written_in_place_and_can_be_taken_back() {
    let tmp = tempfile::tempdir().unwrap();
    let files = files(tmp.path());
    fs::set_permissions(&files.merged, fs::Permissions::from_mode(0o751)).unwrap();
    let mut merge = opened(&files);
    let seen = sides(&mut merge);
    let bytes = [&seen.base, &seen.parent, &seen.theirs].map(|side| side.bytes.as_deref().unwrap().to_vec());
    assert_eq!(bytes, [b"base\n".to_vec(), b"local\n".to_vec(), b"remote\n".to_vec()]);
    assert_eq!((seen.path.clone(), open_conflicts(&merge)), (path(), 1));
    let done = served(&mut merge, write(&seen.parent.version, text("both\n")));
    assert!(matches!(done, HandBackReply::Written(back) if !back.paths[0].is_open()));
    assert_eq!((fs::read(&files.merged).unwrap(), open_conflicts(&merge)), (b"both\n".to_vec(), 0));
    assert_eq!(fs::metadata(&files.merged).unwrap().permissions().mode() & 0o777, 0o751);
    assert!(matches!(served(&mut merge, undo()), HandBackReply::Written(back) if back.paths[0].is_open()));
    assert_eq!((fs::read(&files.merged).unwrap(), open_conflicts(&merge)), (b"merged\n".to_vec(), 1));
    assert!(matches!(asked(&mut merge, Query::HandBack(undo())), Reply::Failed(_)));
    served(&mut merge, write(&seen.parent.version, Take::Version(seen.theirs.version)));
    assert_eq!(fs::read(&files.merged).unwrap(), b"remote\n");
    assert!(merge.close());
    let names = fs::read_dir(tmp.path()).unwrap().count();
    assert_eq!(names, 4, "nothing is left beside");
}

#[test]
fn what_is_left_unwritten_is_told_and_nothing_was_changed() {
    let tmp = tempfile::tempdir().unwrap();
    let files = files(tmp.path());
    let mut merge = opened(&files);
    let seen = sides(&mut merge);
    let of = Box::new([seen.base.version, seen.theirs.version]);
    let draft = Draft { executable: Some(true), ..Draft::default() };
    let kept = Some(Box::new(draft.clone()));
    let keep = HandBackAsk::KeepDraft { child: "remote".into(), path: path(), of, draft: kept };
    assert_eq!(served(&mut merge, keep), HandBackReply::Kept);
    assert_eq!(sides(&mut merge).draft, Some(draft));
    assert!(matches!(asked(&mut merge, Query::Sessions { all: true }), Reply::Failed(_)));
    assert!(!merge.close());
    assert_eq!(fs::read(&files.merged).unwrap(), b"merged\n");
}

#[test]
fn what_changed_meanwhile_is_not_written_over_unasked() {
    let tmp = tempfile::tempdir().unwrap();
    let files = files(tmp.path());
    let mut merge = opened(&files);
    let seen = sides(&mut merge).parent.version;
    fs::write(&files.local, "newer\n").unwrap();
    let now = match served(&mut merge, write(&seen, text("x"))) {
        HandBackReply::Changed(sides) => sides.parent.version,
        other => panic!("{other:?}"),
    };
    fs::write(&files.merged, "by hand\n").unwrap();
    let told = asked(&mut merge, Query::HandBack(write(&now, text("x"))));
    assert!(matches!(&told, Reply::Failed(why) if why.contains("changed by another program")), "{told:?}");
    assert_eq!(fs::read(&files.merged).unwrap(), b"by hand\n");
    served(&mut merge, write(&now, text("x")));
    served(&mut merge, undo());
    assert_eq!(fs::read(&files.merged).unwrap(), b"by hand\n");
}

#[test]
fn a_pipe_is_refused_and_a_link_that_leads_nowhere_yet_stays() {
    let tmp = tempfile::tempdir().unwrap();
    let mut files = files(tmp.path());
    let pipe = tmp.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    // it is said at once: nobody writes into it
    let piped = Files { remote: pipe, ..files.clone() };
    let why = open(&piped, std::ffi::OsString::new(), Arc::new(|| ())).err();
    assert!(why.as_ref().is_some_and(|why| why.contains("no regular file")), "{why:?}");
    let nothing = Files { base: "/dev/null".into(), ..files.clone() };
    assert_eq!(sides(&mut opened(&nothing)).base.bytes_len, 0);
    files.merged = tmp.path().join("link");
    std::os::unix::fs::symlink("made", &files.merged).unwrap();
    let mut merge = opened(&files);
    let seen = sides(&mut merge).parent.version;
    let write = HandBackAsk::Write {
        child: "remote".into(),
        path: TreePath::new("link").unwrap(),
        seen,
        take: text("new\n"),
        choices: None,
    };
    served(&mut merge, write);
    assert!(files.merged.is_symlink());
    assert_eq!(fs::read(tmp.path().join("made")).unwrap(), b"new\n");
}

#[test]
fn a_new_result_a_link_and_files_that_are_missing_or_large() {
    let tmp = tempfile::tempdir().unwrap();
    let mut files = files(tmp.path());
    let real = tmp.path().join("real");
    fs::write(&real, "real\n").unwrap();
    fs::remove_file(&files.merged).unwrap();
    let mut merge = opened(&files);
    let seen = sides(&mut merge).parent.version;
    served(&mut merge, write(&seen, text("new\n")));
    assert_eq!(fs::read(&files.merged).unwrap(), b"new\n");
    served(&mut merge, undo());
    assert!(!files.merged.exists());
    assert!(!merge.close());

    std::os::unix::fs::symlink("real", &files.merged).unwrap();
    fs::write(&files.remote, vec![b'x'; 10 * 1024 * 1024 + 1]).unwrap();
    let mut merge = opened(&files);
    let seen = sides(&mut merge);
    assert_eq!((seen.theirs.bytes, seen.theirs.bytes_len), (None, 10 * 1024 * 1024 + 1));
    served(&mut merge, write(&seen.parent.version, Take::Version(seen.theirs.version)));
    assert!(files.merged.is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().len(), 10 * 1024 * 1024 + 1);
    assert!(merge.close());

    files.base = tmp.path().join("missing");
    let why = open(&files, std::ffi::OsString::new(), Arc::new(|| ())).err().unwrap();
    assert!(why.contains("missing cannot be read"), "{why}");
    files.base = "/dev/null".into();
    files.merged = tmp.path().to_owned();
    let why = open(&files, std::ffi::OsString::new(), Arc::new(|| ())).err().unwrap();
    assert!(why.contains("is a directory"), "{why}");
}
