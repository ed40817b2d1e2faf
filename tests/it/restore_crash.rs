//! A restoring that is killed with SIGKILL, swept over its whole length: whatever moment it was, no file is half
//! written, and the next open finishes it and tells it once, or it has not begun.
//!
//! The program that is killed is this test binary, started again for the one test that restores.
//!
//! Keeps `restore_survives_crash`. Not here: what is put back (`rewind_files`, `restore_bridge`).

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use windlass::api::access::Mode;
use windlass::api::command::Command;
use windlass::api::entry::EntryBody;
use windlass::api::event::Event;
use windlass::base::EntryId;
use windlass::engine::Which;
use windlass::store::Dirs;

use crate::commands::LONG;
use crate::rewind_files::{calls, remove, rewind, script, turn, undo, write};
use crate::session::{Place, Running};

const CHILD: &str = "WINDLASS_TEST_RESTORES_IN";
const TARGET: &str = "WINDLASS_TEST_RESTORES_TO";
const FILES: usize = 24;

fn name(n: usize) -> String {
    if n % 3 == 1 { format!("made/{}/{n}", n % 2) } else { format!("{n}") }
}

/// What a file holds before the tools' change, and after it.
fn before(n: usize) -> Option<String> {
    (n % 3 != 1).then(|| format!("before {n} ").repeat(500))
}

fn after(n: usize) -> Option<String> {
    (n % 3 != 2).then(|| format!("after {n} ").repeat(700))
}

fn disk(place: &Place) -> Vec<Option<String>> {
    (0..FILES).map(|n| std::fs::read_to_string(place.cwd().join(name(n))).ok()).collect()
}

fn all(of: fn(usize) -> Option<String>) -> Vec<Option<String>> {
    (0..FILES).map(of).collect()
}

/// Names of files that a restoring left beside others.
fn left(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for path in std::fs::read_dir(dir).unwrap().map(|item| item.unwrap().path()) {
        if path.is_dir() {
            out.extend(left(&path));
        } else if path.file_name().unwrap().to_string_lossy().starts_with('.') {
            out.push(path);
        }
    }
    out
}

/// Is killed in the middle; alone it does nothing.
#[test]
fn the_program_that_is_killed() {
    let (Some(root), Some(to)) = (std::env::var_os(CHILD), std::env::var(TARGET).ok()) else { return };
    let root = PathBuf::from(root);
    let place = Place::new();
    let mut session = place.open_with(&script(&[]), Mode::Auto, Which::Newest, |options| {
        options.dirs = Dirs::at(root.join("state"), root.join("config"));
        options.cwd = Some(root.join("project"));
    });
    rewind(&mut session, Some(&EntryId::new(to)), true);
}

struct Killed {
    place: Place,
    first: EntryId,
    last: EntryId,
}

impl Killed {
    fn new() -> Self {
        let place = Place::new();
        for n in 0..FILES {
            if let Some(text) = before(n) {
                place.write(&name(n), &text);
            }
        }
        let changes: Vec<(&str, Value)> = (0..FILES)
            .map(|n| after(n).map_or_else(|| remove(&name(n)), |text| write(&name(n), &text)))
            .collect();
        let mut session = place.open(&script(&[calls(&[]), calls(&changes)]), Mode::Auto, Which::New);
        let first = turn(&mut session, "begin");
        let last = turn(&mut session, "change");
        drop(session);
        assert_eq!(disk(&place), all(after));
        Self { place, first, last }
    }

    /// How many restorings the journal tells of.
    fn recorded(&self) -> usize {
        let journal = std::fs::read_to_string(self.note().with_file_name("journal.jsonl")).unwrap();
        journal.lines().filter(|line| line.contains("\"type\":\"restore\"")).count()
    }

    fn note(&self) -> PathBuf {
        let sessions = std::fs::read_dir(self.place.dirs().sessions()).unwrap();
        sessions.map(|item| item.unwrap().path()).next().unwrap().join("restoring.json")
    }

    /// Starts the restoring and kills it this long after its note stands. Whether it was cut in the middle.
    fn kill(&self, after: Duration) -> bool {
        let root = self.place.cwd().parent().unwrap().to_owned();
        let mut child = Process::new(std::env::current_exe().unwrap())
            .args(["--exact", "restore_crash::the_program_that_is_killed", "--test-threads=1"])
            .env(CHILD, &root)
            // what it makes for itself goes with the place
            .env("TMPDIR", &root)
            .env(TARGET, self.first.as_str())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (begin, note, recorded) = (Instant::now(), self.note(), self.recorded());
        while !note.exists() && child.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < LONG, "it never began");
            std::thread::yield_now();
        }
        let noted = Instant::now();
        while noted.elapsed() < after && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        // one that is recorded already is done, whether its note is gone or not
        note.exists() && self.recorded() == recorded
    }

    fn reopen(&self) -> Running {
        self.place.open(&script(&[]), Mode::Auto, Which::Newest)
    }
}

#[test]
fn restore_survives_crash() {
    let killed = Killed::new();
    let rounds = crate::cases(24);
    let mut cut = 0;
    for round in 0..rounds {
        let in_the_middle = killed.kill(Duration::from_micros(u64::from(round) * 3000));
        cut += u32::from(in_the_middle);
        for (n, content) in disk(&killed.place).into_iter().enumerate() {
            assert!(content == before(n) || content == after(n), "{} is half written", name(n));
        }
        let mut session = killed.reopen();
        let path = session.path();
        let restores = path.iter().filter(|e| matches!(e.body, EntryBody::Restore(_))).count();
        assert_eq!(restores, 1, "round {round}: it is recorded once, on the branch of its target");
        let touched: usize = path
            .iter()
            .map(|e| if let EntryBody::Restore(restore) = &e.body { restore.touched.len() } else { 0 })
            .sum();
        assert_eq!(touched, FILES, "round {round}: every file is told");
        assert_eq!(disk(&killed.place), all(before), "round {round}");
        assert_eq!(left(&killed.place.cwd()), Vec::<PathBuf>::new(), "round {round}");
        assert!(!killed.place.cwd().join("made").exists() && !killed.note().exists());
        if in_the_middle {
            session.until_said("that is finished now: 24 files put back");
        }
        undo(&mut session);
        assert_eq!(disk(&killed.place), all(after), "round {round}");
        rewind(&mut session, Some(&killed.last), false);
        let told = session.close();
        assert!(told.iter().any(|event| matches!(event, Event::Rewound(_))));
    }
    assert!(cut > 0, "no round was cut in the middle");
}

#[test]
fn a_note_that_cannot_be_read_is_told_and_changes_nothing() {
    let killed = Killed::new();
    std::fs::write(killed.note(), "{").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(killed.note(), mode).unwrap();
    let mut session = killed.reopen();
    session.until_said("restoring.json could not be understood");
    assert_eq!(disk(&killed.place), all(after));
    session.command(Command::Interrupt);
}
