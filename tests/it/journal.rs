//! Laws L of the journal, against real files, real limits and real kills.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;
use windlass::api::entry::{Entry, EntryBody, UserMessage};
use windlass::base::{EntryId, Millis, SessionId};
use windlass::law::commit;
use windlass::store::journal::{JOURNAL, Journal, SET_ASIDE};
use windlass::store::{Dirs, Durability, Error, Opened, Opening, Session, codec, private, view};

use crate::again::{self, Player};

mod commits;
mod cut;
mod killed;

const CASES: u32 = 300;

fn runner() -> TestRunner {
    TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(crate::cases(CASES))
    })
}

/// A directory with one session in it, whose journal is written by the test.
struct Place {
    temp: TempDir,
    dirs: Dirs,
    id: SessionId,
}

impl Place {
    fn new() -> Place {
        let temp = TempDir::new().unwrap();
        let dirs = Dirs::at(temp.path().join("state"), temp.path().join("config"));
        dirs.make().unwrap();
        Place { temp, dirs, id: SessionId::new("0190aaaa-0000-7000-8000-000000000000") }
    }
    fn cwd(&self) -> PathBuf {
        self.temp.path().to_owned()
    }
    fn header(&self) -> Vec<u8> {
        let header = codec::new_header(self.id.clone(), &self.cwd(), Millis(1));
        codec::encode_header(&header).unwrap().into_bytes()
    }
    fn write(&self, journal: &[u8]) {
        let dir = self.dirs.session(&self.id);
        private::dir(&dir).unwrap();
        let _ = fs::remove_file(dir.join(SET_ASIDE));
        let _ = fs::remove_file(dir.join(JOURNAL));
        private::create(&dir.join(JOURNAL)).unwrap().write_all(journal).unwrap();
    }
    fn journal(&self) -> Vec<u8> {
        fs::read(self.dirs.session(&self.id).join(JOURNAL)).unwrap()
    }
    fn aside(&self) -> BTreeSet<Vec<u8>> {
        let bytes = fs::read(self.dirs.session(&self.id).join(SET_ASIDE)).unwrap_or_default();
        let lines = bytes.strip_suffix(b"\n").map(|lines| lines.split(|b| *b == b'\n').map(<[u8]>::to_vec));
        lines.map(Iterator::collect).unwrap_or_default()
    }
    fn open(&self) -> (Box<Session>, Opened) {
        match Session::open(&self.dirs, &self.id).unwrap() {
            Opening::Ours(session, opened) => (session, *opened),
            Opening::Held(holder) => panic!("held by {holder:?}"),
        }
    }
}

fn user(id: EntryId, parent: Option<EntryId>, text: &str) -> Entry {
    let body = EntryBody::User(UserMessage { text: text.into(), ..Default::default() });
    Entry { id, parent, at: Millis(1_769_860_801_123), body }
}

// --- commit_all_or_nothing
