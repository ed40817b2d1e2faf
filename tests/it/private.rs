//! Laws A of private files and of the directory that a session runs in, on the real disk.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, umask};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;
use windlass::api::entry::{Entry, EntryBody, UserMessage};
use windlass::base::{CallId, Millis};
use windlass::law::cwd::{Refusal, Seen, cwd};
use windlass::store::{Dirs, Durability, Error, Opening, Session, blobs, private, session, view};

use crate::again::{self, Player};

const CASES: u32 = 300;

fn runner() -> TestRunner {
    TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })
}

// --- private_on_create

/// What is done with a session, in every way that makes a file or a directory.
#[derive(Clone, Debug)]
enum Deed {
    Say(usize),
    Rename,
    Keep(u8),
    CallDir(u8),
    Damage,
    Reopen,
}

fn deeds() -> impl Strategy<Value = (u32, Vec<Deed>)> {
    let deed = prop_oneof![
        16 => (0usize..200).prop_map(Deed::Say),
        // Over the bound of a record: its body goes beside.
        1 => Just(Deed::Say(1 << 20)),
        2 => Just(Deed::Rename),
        4 => any::<u8>().prop_map(Deed::Keep),
        4 => any::<u8>().prop_map(Deed::CallDir),
        3 => Just(Deed::Damage),
        2 => Just(Deed::Reopen),
    ];
    // The owner's own bits stay: a mask that takes them away makes every file unusable.
    let mask = prop_oneof![Just(0), Just(0o022), 0u32..0o100];
    (mask, proptest::collection::vec(deed, 1..7))
}

fn carry_out(root: &Path, mask: u32, deeds: &[Deed]) {
    umask(Mode::from_bits_truncate(mask));
    let dirs = Dirs::at(root.join("a/b/state"), root.join("config"));
    let mut session = Box::new(Session::create(&dirs, root).unwrap());
    session.begin().unwrap();
    let id = session.id().clone();
    for deed in deeds {
        match deed {
            Deed::Say(size) => {
                let body = EntryBody::User(UserMessage { text: "x".repeat(*size), ..Default::default() });
                let entry = Entry { id: session.mint_entry(), parent: None, at: Millis(1), body };
                session.commit(&entry, Durability::Buffered).unwrap();
            }
            Deed::Rename => session.rename("name").unwrap(),
            Deed::Keep(byte) => drop(session.blobs().keep(&[*byte]).unwrap()),
            Deed::CallDir(number) => {
                let dir = session.call_dir(&CallId::new(format!("c{number}/../..")));
                assert!(dir.starts_with(session.dir()) && dir.parent().unwrap().ends_with("calls"));
                private::dir_all(&dir).unwrap();
            }
            Deed::Damage => {
                let path = session.dir().join("journal.jsonl");
                drop(session);
                let mut journal = fs::OpenOptions::new().append(true).open(path).unwrap();
                std::io::Write::write_all(&mut journal, b"{broken\ntorn").unwrap();
                session = reopened(&dirs, &id);
            }
            Deed::Reopen => {
                drop(session);
                session = reopened(&dirs, &id);
            }
        }
    }
}

fn reopened(dirs: &Dirs, id: &windlass::base::SessionId) -> Box<Session> {
    match Session::open(dirs, id).unwrap() {
        Opening::Ours(session, _) => session,
        Opening::Held(holder) => panic!("held by {holder:?}"),
    }
}

/// Every file and directory under a root that others could use.
fn open_to_others(root: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for item in fs::read_dir(root).unwrap() {
        let item = item.unwrap();
        let meta = item.metadata().unwrap();
        let wanted = if meta.is_dir() { 0o700 } else { 0o600 };
        if meta.mode() & 0o777 & !wanted != 0 {
            out.push(item.path());
        }
        if meta.is_dir() {
            out.extend(open_to_others(&item.path()));
        }
    }
    out
}

#[test]
fn private_on_create() {
    if again::role().is_some() {
        let ran = runner().run(&deeds(), |(mask, deeds)| {
            let temp = TempDir::new().unwrap();
            carry_out(temp.path(), mask, &deeds);
            prop_assert_eq!(open_to_others(temp.path()), Vec::<PathBuf>::new());
            Ok(())
        });
        assert!(ran.is_ok(), "{}", ran.unwrap_err());
        assert!(again::say("all private"));
        return;
    }
    // The mask belongs to the whole process.
    let mut player = Player::start(again::command("private::private_on_create", "masked"));
    assert_eq!(player.hear().as_deref(), Some("all private"));
    assert!(player.finish());
}

#[test]
fn what_is_not_private_is_refused_with_what_to_do() {
    let temp = TempDir::new().unwrap();
    let root = temp.path();
    let said = |error: Error| error.to_string().replace(root.to_str().unwrap(), "ROOT");

    fs::DirBuilder::new().mode(0o755).create(root.join("open dir")).unwrap();
    assert_eq!(
        said(private::dir(&root.join("open dir")).unwrap_err()),
        "ROOT/open dir is open to others (mode 0755), but what it holds is private; run `chmod 700 'ROOT/open dir'`"
    );
    fs::OpenOptions::new().write(true).create_new(true).mode(0o640).open(root.join("file")).unwrap();
    assert_eq!(
        said(private::open(&root.join("file")).unwrap_err()),
        "ROOT/file is open to others (mode 0640), but what it holds is private; run `chmod 600 ROOT/file`"
    );
    private::dir(&root.join("dir")).unwrap();
    assert_eq!(
        said(private::open(&root.join("dir")).unwrap_err()),
        "ROOT/dir is not a plain file, but what it holds is private; move it away"
    );
    symlink(root.join("dir"), root.join("link")).unwrap();
    assert_eq!(
        said(private::dir(&root.join("link")).unwrap_err()),
        "ROOT/link is not a directory, but what it holds is private; move it away"
    );
    private::create(&root.join("secret")).unwrap();
    symlink(root.join("secret"), root.join("alias")).unwrap();
    assert!(matches!(private::open(&root.join("alias")), Err(Error::Io { what: "open", .. })));
    assert!(matches!(private::create(&root.join("secret")), Err(Error::Io { what: "make the file", .. })));
    if nix::unistd::geteuid().is_root() {
        nix::unistd::chown(&root.join("secret"), Some(nix::unistd::Uid::from_raw(12345)), None).unwrap();
        assert_eq!(
            said(private::open(&root.join("secret")).unwrap_err()),
            "ROOT/secret belongs to the user with id 12345, not to you (0), but what it holds is private; \
             run `chown 0 ROOT/secret`, or run windlass as its owner"
        );
    }
}

#[test]
fn blobs_are_whole_or_told() {
    let temp = TempDir::new().unwrap();
    let blobs = blobs::Blobs::at(temp.path().join("blobs"));
    let name = blobs.keep(b"bytes").unwrap();
    assert_eq!(name, blobs::hash(b"bytes"));
    assert_eq!(blobs.keep(b"bytes").unwrap(), name);
    assert_eq!(blobs.load(&name).unwrap(), b"bytes");
    fs::write(blobs.path(&name), "bites").unwrap();
    assert!(blobs.load(&name).unwrap_err().to_string().contains("are damaged"));
    fs::write(blobs.path(&name), "b").unwrap();
    blobs.keep(b"bytes").unwrap();
    assert_eq!(blobs.load(&name).unwrap(), b"bytes", "a cut one is replaced");
    fs::remove_file(blobs.path(&name)).unwrap();
    assert!(blobs.load(&name).unwrap_err().to_string().contains("are gone"));
    assert!(blobs.load("../../etc/passwd").unwrap_err().to_string().contains("no hash"));
    assert_eq!(fs::read_dir(blobs.dir()).unwrap().count(), 0, "nothing is left of the making");
}

// --- cwd_*

/// What stands at the place that a session names, and how it names it.
#[derive(Clone, Copy, Debug)]
enum There {
    Directory,
    File,
    Nothing,
    LinkToDirectory,
    LinkToNothing,
    UnderAFile,
}

#[derive(Clone, Copy, Debug)]
enum Named {
    InFull,
    Relative,
    Not,
    Empty,
}

fn places() -> impl Strategy<Value = (There, Named, Vec<u8>)> {
    use There as T;
    let there = vec![T::Directory, T::File, T::Nothing, T::LinkToDirectory, T::LinkToNothing, T::UnderAFile];
    let named = vec![Named::InFull, Named::InFull, Named::Relative, Named::Not, Named::Empty];
    let name = proptest::collection::vec(prop_oneof![1u8..b'/', b'0'..=255], 1..20);
    (prop::sample::select(there), prop::sample::select(named), name)
}

fn printed(answer: Result<&Path, Refusal>) -> String {
    match answer {
        Ok(path) => format!("runs in {}", path.display()),
        Err(refusal) => refusal.to_string(),
    }
}

/// Builds the place, asks the real code, and the rule with what was built.
fn both(there: There, named: Named, name: &[u8]) -> (String, String) {
    let temp = TempDir::new().unwrap();
    let mut path = temp.path().join("x").join(std::ffi::OsStr::from_bytes(name));
    fs::create_dir(temp.path().join("x")).unwrap();
    let seen = match there {
        _ if name == b"." || name == b".." => Seen::Directory,
        There::Directory => fs::create_dir(&path).map(|()| Seen::Directory).unwrap(),
        There::File => fs::write(&path, "").map(|()| Seen::Other).unwrap(),
        There::Nothing => Seen::Nothing,
        There::LinkToDirectory => symlink(temp.path(), &path).map(|()| Seen::Directory).unwrap(),
        There::LinkToNothing => symlink("nothing", &path).map(|()| Seen::Nothing).unwrap(),
        There::UnderAFile => {
            fs::write(&path, "").unwrap();
            path.push("below");
            Seen::Nothing
        }
    };
    let named = match named {
        Named::InFull => Some(path.as_path()),
        Named::Relative => path.strip_prefix("/").ok(),
        Named::Not => None,
        Named::Empty => Some(Path::new("")),
    };
    let real = session::runs_in(named);
    (printed(cwd(named, seen)), printed(real.as_ref().map(PathBuf::as_path).map_err(Clone::clone)))
}

#[test]
fn cwd_is_explicit() {
    let ran = runner().run(&places(), |(there, named, name)| {
        let (rule, real) = both(there, named, &name);
        prop_assert_eq!(rule, real);
        Ok(())
    });
    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

/// A session whose header names this directory, or none.
fn session_in(temp: &Path, cwd: Option<&Path>) -> (Dirs, windlass::base::SessionId) {
    let dirs = Dirs::at(temp.join("state"), temp.join("config"));
    let mut session = Session::create(&dirs, temp).unwrap();
    let body = EntryBody::User(UserMessage { text: "hello".into(), ..Default::default() });
    let entry = Entry { id: session.mint_entry(), parent: None, at: Millis(1), body };
    session.commit(&entry, Durability::Synced).unwrap();
    let (id, path) = (session.id().clone(), session.dir().join("journal.jsonl"));
    drop(session);
    let text = fs::read_to_string(&path).unwrap();
    let real = fs::canonicalize(temp).unwrap();
    let json = serde_json::to_string(&cwd).unwrap();
    fs::write(path, text.replace(&serde_json::to_string(&real).unwrap(), &json)).unwrap();
    (dirs, id)
}

fn refused(cwd: Option<&str>) -> Refusal {
    let temp = TempDir::new().unwrap();
    fs::write(temp.path().join("file"), "").unwrap();
    let cwd = cwd.map(|name| temp.path().join(name));
    let (dirs, id) = session_in(temp.path(), cwd.as_deref());
    assert_eq!(view(&dirs, &id).unwrap().tree.entries.len(), 1, "it can be read");
    let Err(Error::Cwd(refusal)) = Session::open(&dirs, &id) else { panic!("it ran") };
    if let Some(cwd) = cwd {
        assert!(refusal.to_string().contains(cwd.to_str().unwrap()), "{refusal}");
        assert!(matches!(Session::create(&dirs, &cwd), Err(Error::Cwd(again)) if again == refusal));
    }
    refusal
}

#[test]
fn cwd_none_refused() {
    assert_eq!(refused(None), Refusal::None);
}

#[test]
fn cwd_gone_refused() {
    assert!(matches!(refused(Some("gone")), Refusal::Gone(_)));
}

#[test]
fn cwd_file_refused() {
    assert!(matches!(refused(Some("file")), Refusal::File(_)));
}
