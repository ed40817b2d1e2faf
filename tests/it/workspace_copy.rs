//! A child's copy: which files it has, as git sees them or as the ignore files say, and that they are the same files.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use windlass::law::hand_back::merge1::Verdict;
use windlass::law::hand_back::tree::TreePath;
use windlass::workspace::child::born::Around;
use windlass::workspace::child::error::Error;
use windlass::workspace::child::listing::list;
use windlass::workspace::child::{Progress, Room};

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(dir: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "git {arguments:?}");
}

fn names(paths: impl IntoIterator<Item = TreePath>) -> Vec<String> {
    paths.into_iter().map(|path| path.to_string()).collect()
}

fn listed(dir: &Path) -> Vec<String> {
    names(list(dir, 1000).unwrap().paths)
}

#[test]
fn with_git_the_files_are_those_that_git_lists() {
    let tmp = tempfile::tempdir().unwrap();
    let (top, inner) = (tmp.path().join("top"), tmp.path().join("inner"));
    for dir in [&top, &inner] {
        fs::create_dir(dir).unwrap();
        git(dir, &["init", "-q"]);
    }
    write(&inner.join("lib.c"), "x");
    git(&inner, &["add", "."]);
    git(&inner, &["commit", "-qm", "x"]);
    git(&top, &["submodule", "add", "-q", inner.to_str().unwrap(), "vendor/inner"]);
    write(&top.join(".gitignore"), "target/\n*.log\n");
    write(&top.join("target/kept.txt"), "tracked in an ignored directory");
    write(&top.join("target/debug/big"), "ignored");
    write(&top.join("src/a b\nc.rs"), "tracked");
    write(&top.join("x.log"), "ignored");
    write(&top.join("secret"), "only info/exclude ignores it");
    write(&top.join("gone"), "tracked, and removed by hand");
    git(&top, &["add", "-f", "src", "gone", "target/kept.txt"]);
    fs::write(top.join(".git/info/exclude"), "secret\n").unwrap();
    fs::remove_file(top.join("gone")).unwrap();
    write(&top.join("new"), "untracked");
    let there = list(&top, 1000).unwrap();
    assert!(there.by_git);
    assert_eq!(names(there.repositories), ["vendor/inner"]);
    // git lists what was removed too
    let files =
        [".gitignore", ".gitmodules", "new", r"src/a b\nc.rs", "target/kept.txt", "vendor/inner/lib.c"];
    assert_eq!(listed(&top), files);
    assert_eq!(listed(&top.join("src")), [r"a b\nc.rs"]);

    // the copy has repositories of its own, the base none; it is without what is gone; what only the exclude file ignores does not come back
    let room = Room::at(tmp.path().join("room"));
    let made = room.make(&top, &Progress::default()).unwrap();
    assert_eq!(made.counts.made.len(), files.len());
    assert_eq!(made.no_git, None);
    for repository in [".git/HEAD", "vendor/inner/.git/HEAD"] {
        assert!(room.copy().join(repository).exists() && !room.base().join(repository).exists());
    }
    write(&room.copy().join("secret"), "child");
    write(&room.copy().join("target/debug/out"), "child");
    write(&room.copy().join("target/kept.txt"), "child");
    write(&room.copy().join("made/.gitignore"), "/cache\n");
    write(&room.copy().join("made/cache/x"), "child");
    write(&room.copy().join("made/y"), "child");
    let record = room.hand_back(&top).unwrap();
    let left_out = names(record.left_out.clone());
    assert_eq!(left_out, ["made/cache", "secret", "target/debug"]);
    let taken = names(record.with(|verdict| verdict == Verdict::Taken).cloned());
    assert_eq!(taken, ["made/.gitignore", "made/y", "target/kept.txt"]);
    assert_eq!(fs::read_to_string(top.join("secret")).unwrap(), "only info/exclude ignores it");
    assert_eq!(fs::read_to_string(top.join("target/kept.txt")).unwrap(), "child");
    assert_eq!(
        fs::read_to_string(room.copy().join("secret")).unwrap(),
        "child",
        "what is left out stays in the copy"
    );
    assert!(!room.copy().join("src").exists(), "what nobody changed is gone");
}

/// A directory that is a part of a work tree, with a repository inside: rules count from where they are.
#[test]
fn the_rules_around_a_directory_and_those_of_a_repository_inside_are_kept() {
    let tmp = tempfile::tempdir().unwrap();
    let (repo, inner) = (tmp.path().join("repo"), tmp.path().join("inner"));
    for dir in [&repo, &inner] {
        fs::create_dir(dir).unwrap();
        git(dir, &["init", "-q"]);
    }
    write(&inner.join("lib.c"), "x");
    git(&inner, &["add", "."]);
    git(&inner, &["commit", "-qm", "x"]);
    write(&repo.join(".gitignore"), "target/\n/sub/a/only\n/anchored\n");
    write(&repo.join("sub/.gitignore"), "*.log\n!keep.log\n");
    write(&repo.join("sub/a/x"), "1");
    fs::write(repo.join(".git/info/exclude"), "/sub/a/secret\n/secret\n").unwrap();
    let sub = repo.join("sub/a");
    git(&repo, &["submodule", "add", "-q", inner.to_str().unwrap(), "sub/a/inner"]);
    let modules = String::from_utf8(
        Command::new("git")
            .args(["rev-parse", "--git-dir"])
            .current_dir(sub.join("inner"))
            .output()
            .unwrap()
            .stdout,
    );
    let modules = sub.join("inner").join(modules.unwrap().trim());
    fs::create_dir_all(modules.join("info")).unwrap();
    fs::write(modules.join("info/exclude"), "/own\n").unwrap();

    let room = Room::at(tmp.path().join("room"));
    room.make(&sub, &Progress::default()).unwrap();
    let copy = room.copy();
    let made = [
        // those around the directory count in it, from where they are
        ("target/out", false),
        ("only", false),
        ("anchored", true),
        ("secret", false),
        ("x.log", false),
        ("keep.log", true),
        // in the repository inside its own count, and no other
        ("inner/own", false),
        ("inner/secret", true),
        ("inner/x.log", true),
        ("inner/only", true),
    ];
    made.iter().for_each(|(name, _)| write(&copy.join(name), "child"));
    let record = room.hand_back(&sub).unwrap();
    for (name, comes) in made {
        assert_eq!(sub.join(name).exists(), comes, "{name}: {record:?}");
    }
    let left_out = names(record.left_out.clone());
    assert_eq!(left_out, ["inner/own", "only", "secret", "target", "x.log"]);
}

/// Windlass's own directories, where they are in the directory that is copied.
#[test]
fn what_is_windlass_own_is_not_copied_and_does_not_come_back() {
    let tmp = tempfile::tempdir().unwrap();
    let home = tmp.path().join("home");
    let (state, config) = (home.join(".local/state/windlass"), home.join(".config/windlass"));
    write(&state.join("sessions/x/journal"), "hush");
    write(&config.join("keys.json"), "hush");
    write(&home.join(".config/other/x"), "1");
    write(&home.join("x"), "1");
    let room = Room::at(state.join("workspaces/s/child"));
    let own = [state.clone(), config.clone()];
    let around = Around { own: &own, in_turn: &|work| work() };
    room.make_minding(&home, &around, &Progress::default()).unwrap();
    for tree in [room.base(), room.copy()] {
        assert!(tree.join("x").exists() && tree.join(".config/other/x").exists());
        assert!(!tree.join(".config/windlass").exists() && !tree.join(".local").exists());
    }
    // the child makes settings: they are named, and stay in its copy
    write(&room.copy().join(".config/windlass/settings.json"), "{}");
    write(&room.copy().join("x"), "2");
    let record = room.hand_back(&home).unwrap();
    assert_eq!(names(record.left_out.clone()), [".config/windlass"]);
    assert!(!config.join("settings.json").exists());
    assert_eq!(fs::read_to_string(config.join("keys.json")).unwrap(), "hush");
    assert_eq!(fs::read_to_string(home.join("x")).unwrap(), "2");
}

#[test]
fn without_git_the_ignore_files_say_it() {
    let tmp = tempfile::tempdir().unwrap();
    write(&tmp.path().join(".gitignore"), "/out\n");
    write(&tmp.path().join("out/x"), "");
    write(&tmp.path().join("a/.gitignore"), "*.o\n!keep.o\n");
    write(&tmp.path().join("a/x.o"), "");
    write(&tmp.path().join("a/keep.o"), "");
    write(&tmp.path().join(".hidden/x"), "");
    write(&tmp.path().join("node/.git/HEAD"), "");
    let there = list(tmp.path(), 1000).unwrap();
    assert!(!there.by_git);
    assert_eq!(names(there.paths), [".gitignore", ".hidden/x", "a/.gitignore", "a/keep.o"]);
}

#[test]
fn too_many_files_are_refused_with_the_word_that_helps() {
    let tmp = tempfile::tempdir().unwrap();
    (0..4).for_each(|n| write(&tmp.path().join(n.to_string()), ""));
    assert_eq!(list(tmp.path(), 4).unwrap().paths.len(), 4);
    let error = list(tmp.path(), 3).unwrap_err();
    assert!(
        matches!(error, Error::TooMany { max: 3, .. }) && error.to_string().contains("`shared`"),
        "{error}"
    );
}

#[test]
fn what_another_hand_back_has_prepared_is_not_copied() {
    let tmp = tempfile::tempdir().unwrap();
    let prepared = format!(".windlass-{}-3", uuid::Uuid::now_v7().simple());
    for name in [prepared.as_str(), &format!("d/{prepared}"), ".windlass-0-0", "d/x"] {
        write(&tmp.path().join(name), "");
    }
    assert_eq!(listed(tmp.path()), [".windlass-0-0", "d/x"]);
    git(tmp.path(), &["init", "-q"]);
    assert_eq!(listed(tmp.path()), [".windlass-0-0", "d/x"]);
}

#[test]
fn a_copy_is_the_same_files_and_names_what_it_skipped() {
    let tmp = tempfile::tempdir().unwrap();
    let top = tmp.path().join("top");
    write(&top.join("run.sh"), "#!/bin/sh\n");
    fs::set_permissions(top.join("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("/etc/passwd", top.join("link")).unwrap();
    let odd = top.join(std::ffi::OsStr::from_bytes(b"\xff\n"));
    write(&odd, "odd");
    fs::File::open(top.join("run.sh")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let fifo = top.join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let room = Room::at(tmp.path().join("room"));
    let progress = Progress::default();
    let made = room.make(&top, &progress).unwrap();
    assert_eq!(names(made.counts.skipped), ["pipe"]);
    assert_eq!(
        (made.counts.links, made.counts.made.len(), progress.files.load(Ordering::Relaxed)),
        (1, 3, 6)
    );
    for dir in [room.base(), room.copy()] {
        let meta = dir.join("run.sh").metadata().unwrap();
        assert_eq!((meta.mode() & 0o777, meta.mtime()), (0o750, 0));
        assert_eq!(fs::read_link(dir.join("link")).unwrap(), Path::new("/etc/passwd"));
        assert_eq!(fs::read(dir.join(odd.file_name().unwrap())).unwrap(), b"odd");
    }
    let again = room.make(&top, &progress);
    assert!(again.is_err() && room.copy().join("run.sh").exists(), "a copy that is there is left alone");
    fs::write(room.copy().join("run.sh"), "changed").unwrap();
    let record = room.hand_back(&top).unwrap();
    let again = room.make(&top, &progress);
    assert!(again.is_err() && !room.copy().exists(), "what was handed back is not begun anew");
    assert_eq!(room.read_record().unwrap(), Some(record));
}

/// Git says nothing of them, so they are looked for.
#[test]
fn special_files_in_a_git_tree_are_named_but_for_those_that_are_ignored() {
    let tmp = tempfile::tempdir().unwrap();
    let top = tmp.path().join("top");
    write(&top.join("src/a"), "");
    write(&top.join(".gitignore"), "*.sock\ntarget/\n");
    write(&top.join("inner/b"), "");
    for dir in [&top, &top.join("inner")] {
        git(dir, &["init", "-q"]);
    }
    write(&top.join(".git/info/exclude"), "excluded\n");
    for name in [
        "pipe",
        "src/pipe",
        "only/in/it",
        "inner/pipe",
        "inner/x.sock",
        "x.sock",
        "target/pipe",
        "excluded",
        ".git/pipe",
    ] {
        let fifo = top.join(name);
        fs::create_dir_all(fifo.parent().unwrap()).unwrap();
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    let socket = std::os::unix::net::UnixListener::bind(top.join("src/socket")).unwrap();
    let made = Room::at(tmp.path().join("room")).make(&top, &Progress::default()).unwrap();
    drop(socket);
    assert!(made.by_git);
    // the rules around a repository do not count in it
    let wanted = ["inner/pipe", "inner/x.sock", "only/in/it", "pipe", "src/pipe", "src/socket"];
    assert_eq!(names(made.counts.skipped), wanted);
}

#[test]
fn a_cancelled_copy_leaves_nothing_behind() {
    let tmp = tempfile::tempdir().unwrap();
    write(&tmp.path().join("top/a"), "");
    let room = Room::at(tmp.path().join("room"));
    let progress = Progress::default();
    progress.cancel.store(true, Ordering::Relaxed);
    assert!(matches!(room.make(&tmp.path().join("top"), &progress), Err(Error::Cancelled)));
    assert!(!room.dir().exists());
}

#[test]
fn a_hand_back_reads_only_what_does_not_look_as_it_was() {
    let tmp = tempfile::tempdir().unwrap();
    let top = tmp.path().join("top");
    (0..50).for_each(|n| write(&top.join(n.to_string()), "same size"));
    let room = Room::at(tmp.path().join("room"));
    room.make(&top, &Progress::default()).unwrap();
    // the same size, at once after the birth, with its old time put back
    let file = room.copy().join("7");
    let before = file.metadata().unwrap().modified().unwrap();
    fs::write(&file, "SAME SIZE").unwrap();
    fs::File::open(&file).unwrap().set_modified(before).unwrap();
    // touched, and the same
    fs::File::open(room.copy().join("8")).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    let changes = windlass::workspace::child::scan::scan(&room).unwrap();
    assert_eq!(names(changes.child.iter().map(|(path, _)| path.clone())), ["7"]);
    assert_eq!(changes.read, 4);
}
