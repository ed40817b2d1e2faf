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

/// One commit: its size, how many bytes the disk still takes (none: enough), whether it is synced.
type Try = (usize, Option<usize>, bool);

fn tries() -> impl Strategy<Value = Vec<Try>> {
    let size = prop_oneof![1usize..40, 40usize..9000];
    let room = prop_oneof![Just(None), (0usize..9000).prop_map(Some)];
    proptest::collection::vec((size, room, any::<bool>()), 1..12)
}

fn record(number: usize, size: usize) -> String {
    format!("{{\"type\":\"x\",\"n\":{number},\"fill\":\"{}\"}}\n", "x".repeat(size))
}

/// The rule: the law's steps over a file of which only the length is known.
fn commits_by_rule(header: usize, tries: &[Try]) -> String {
    let mut out = String::new();
    let mut state = commit::Commit::at(header as u64);
    let mut length = header as u64;
    for (number, (size, room, sync)) in tries.iter().enumerate() {
        let bytes = record(number, *size).len() as u64;
        let limit = room.map_or(u64::MAX, |room| state.whole + room as u64);
        let mut event = commit::Event::Begin { bytes, sync: *sync };
        let done = loop {
            let (next, effect) = commit::step(state, event);
            state = next;
            event = match effect {
                commit::Effect::Cut { to } => {
                    length = to;
                    commit::Event::Cut
                }
                commit::Effect::Write => {
                    let wrote = bytes.min(limit - length);
                    length += wrote;
                    if wrote == 0 { commit::Event::Failed } else { commit::Event::Wrote { bytes: wrote } }
                }
                commit::Effect::Sync => commit::Event::Synced,
                commit::Effect::Done => break true,
                commit::Effect::Refuse => break false,
                commit::Effect::Ignore => panic!("{event:?} has no place in {state:?}"),
            };
        };
        out += &format!("{number}: {} {length}\n", if done { "done" } else { "nothing" });
    }
    out
}

/// The real side: files under a real limit on their size. Every whole line must be a record that was done.
fn commits_for_real(tries: &[Try]) -> String {
    let place = Place::new();
    let dir = place.dirs.session(&place.id);
    private::dir(&dir).unwrap();
    let header = String::from_utf8(place.header()).unwrap();
    let mut expected = header.clone();
    let mut journal = Journal::create(&dir, &header).unwrap();
    let (_, hard) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    let mut out = String::new();
    for (number, (size, room, sync)) in tries.iter().enumerate() {
        let limit = room.map_or(hard, |room| (expected.len() + room) as u64);
        let line = record(number, *size);
        setrlimit(Resource::RLIMIT_FSIZE, limit, hard).unwrap();
        let done = journal.commit(&line, if *sync { Durability::Synced } else { Durability::Buffered });
        setrlimit(Resource::RLIMIT_FSIZE, hard, hard).unwrap();
        if done.is_ok() {
            expected += &line;
        }
        let there = fs::read_to_string(dir.join(JOURNAL)).unwrap();
        assert_eq!(there, expected, "after {done:?}");
        out += &format!("{number}: {} {}\n", if done.is_ok() { "done" } else { "nothing" }, there.len());
    }
    out
}

#[test]
fn commit_all_or_nothing() {
    if again::role().is_some() {
        let ran = runner().run(&tries(), |tries| {
            let header = Place::new().header().len();
            prop_assert_eq!(commits_by_rule(header, &tries), commits_for_real(&tries));
            Ok(())
        });
        assert!(ran.is_ok(), "{}", ran.unwrap_err());
        assert!(again::say("all held"));
        return;
    }
    // A write past the limit raises SIGXFSZ, which the shell has the process ignore.
    let inner = again::command("journal::commit_all_or_nothing", "limited");
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).arg(inner.get_program()).args(inner.get_args());
    shell.envs(inner.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
    let mut player = Player::start(shell);
    assert_eq!(player.hear().as_deref(), Some("all held"));
    assert!(player.finish());
}

#[test]
fn a_record_over_the_bound_is_refused_and_an_entry_over_it_stands_beside() {
    let place = Place::new();
    place.write(&place.header());
    let (mut session, _) = place.open();
    let entry = user(session.mint_entry(), None, &"x".repeat(codec::RECORD_MAX));
    session.commit(&entry, Durability::Synced).unwrap();
    drop(session);
    assert!(place.journal().len() < 2000);
    assert_eq!(*place.open().1.tree.entries[0], entry);

    let dir = place.dirs.session(&place.id);
    let blobs = windlass::store::Blobs::at(dir.join("blobs"));
    let (mut journal, _) = Journal::open(&dir, &place.id, &blobs, |_| Ok(())).unwrap();
    let refused = journal.commit(&record(0, codec::RECORD_MAX), Durability::Buffered);
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
}

#[test]
fn a_journal_that_another_hand_changed_or_removed_takes_no_commit() {
    let place = Place::new();
    place.write(&place.header());
    let path = place.dirs.session(&place.id).join(JOURNAL);
    let (mut session, _) = place.open();
    let entry = user(session.mint_entry(), None, "hello");
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"\n").unwrap();
    let refused = session.commit(&entry, Durability::Buffered).unwrap_err().to_string();
    assert!(refused.contains("by another hand"), "{refused}");
    fs::remove_file(&path).unwrap();
    let refused = session.commit(&entry, Durability::Buffered).unwrap_err().to_string();
    assert!(refused.contains("was removed while it was open"), "{refused}");
}

// --- journals of every kind, cut anywhere

/// One line of a journal, by its meaning.
#[derive(Clone, Debug)]
enum Item {
    /// An entry of a known kind.
    User { parent: Parent, text: String, more: bool },
    /// An entry of an unknown kind: it keeps its place.
    Strange { parent: Parent },
    /// An entry of a known kind whose body is not what it should be: it keeps its place.
    Broken { parent: Parent },
    /// A record of an unknown kind outside the tree, whatever its fields.
    Other(u8),
    /// A display name.
    Title(String),
    /// A move of the head.
    Head(Parent),
    /// A second use of an id.
    Twice(Index),
    /// What is no record.
    Bad(u8),
    /// Nothing.
    Blank,
}

/// What an item refers to.
#[derive(Clone, Debug)]
enum Parent {
    /// Nothing: the root.
    Root,
    /// An earlier entry (the root when there is none).
    Earlier(Index),
    /// The newest.
    Newest,
    /// An entry that is not there.
    Lost,
}

fn parents() -> impl Strategy<Value = Parent> {
    prop_oneof![
        1 => Just(Parent::Root),
        3 => any::<Index>().prop_map(Parent::Earlier),
        6 => Just(Parent::Newest),
        1 => Just(Parent::Lost),
    ]
}

fn items() -> impl Strategy<Value = Vec<(Item, u8)>> {
    let item = prop_oneof![
        6 => (parents(), "\\PC{0,12}", any::<bool>()).prop_map(|(parent, text, more)| Item::User { parent, text, more }),
        2 => parents().prop_map(|parent| Item::Strange { parent }),
        1 => parents().prop_map(|parent| Item::Broken { parent }),
        2 => any::<u8>().prop_map(Item::Other),
        1 => "\\PC{1,8}".prop_map(Item::Title),
        1 => parents().prop_map(Item::Head),
        1 => any::<Index>().prop_map(Item::Twice),
        2 => any::<u8>().prop_map(Item::Bad),
        1 => Just(Item::Blank),
    ];
    proptest::collection::vec((item, 0u8..3), 4..14)
}

/// What the rule makes of items, and the lines that say them.
#[derive(Default)]
struct Told {
    lines: Vec<Vec<u8>>,
    /// id, parent, kind and text of each entry that is in the tree.
    entries: Vec<(String, Option<String>, String)>,
    head: Option<String>,
    title: String,
    aside: BTreeSet<Vec<u8>>,
}

impl Told {
    fn transcript(&self) -> String {
        let mut out = String::new();
        for (id, parent, what) in &self.entries {
            out += &format!("{id} after {parent:?}: {what}\n");
        }
        out + &format!("head {:?} title {:?} aside {:?}\n", self.head, self.title, self.aside)
    }

    /// The id that is written, and the parent that is meant.
    fn parent(&self, parent: &Parent) -> (Option<String>, Option<String>) {
        let newest = self.entries.last().map(|(id, ..)| id.clone());
        match parent {
            Parent::Root => (None, None),
            Parent::Earlier(_) if self.entries.is_empty() => (None, None),
            Parent::Earlier(at) => {
                let id = at.get(&self.entries).0.clone();
                (Some(id.clone()), Some(id))
            }
            Parent::Newest => (newest.clone(), newest),
            Parent::Lost => (Some("lost".into()), newest),
        }
    }

    fn entry(
        &mut self,
        number: usize,
        parent: &Parent,
        kind: &str,
        body: serde_json::Value,
        what: String,
    ) -> serde_json::Value {
        let (written, meant) = self.parent(parent);
        // Ids are any strings.
        let id = if number.is_multiple_of(3) { format!("x-{number} é\"") } else { format!("e{number}") };
        self.entries.push((id.clone(), meant, what));
        self.head = Some(id.clone());
        serde_json::json!({"id": id, "parent": written, "at": "2026-01-31T12:00:00.5Z", "type": kind, "body": body})
    }

    fn take(&mut self, number: usize, item: &Item, style: u8) {
        let value = match item {
            Item::User { parent, text, more } => {
                let mut body = serde_json::json!({"role": "user", "text": text});
                if *more {
                    body["later_field"] = serde_json::json!([1, {"deep": null}]);
                }
                let mut value = self.entry(number, parent, "user", body, format!("user {text:?}"));
                if *more {
                    value["mark"] = serde_json::json!("unknown");
                }
                value
            }
            Item::Strange { parent } => {
                let body = serde_json::json!({"n": number, "big": 12345678901234567890u64});
                self.entry(number, parent, "from_the_future", body.clone(), format!("from_the_future {body}"))
            }
            Item::Broken { parent } => {
                let body = serde_json::json!({"text": number});
                self.entry(number, parent, "user", body.clone(), format!("user {body}"))
            }
            Item::Other(kind) => match kind % 4 {
                0 => serde_json::json!({"type": "later", "id": number, "head": []}),
                1 => serde_json::json!({"type": "later", "id": "e999", "body": {}}),
                2 => serde_json::json!({"type": "title", "title": ["not", "text"]}),
                _ => serde_json::json!({"at": 5, "type": "later", "parent": {"a": 1}}),
            },
            Item::Title(title) => {
                self.title = title.clone();
                serde_json::json!({"type": "title", "title": title, "more": 1})
            }
            Item::Head(parent) => {
                let (written, _) = self.parent(parent);
                if written.as_deref() != Some("lost") {
                    self.head = written.clone();
                }
                serde_json::json!({"type": "head", "to": written})
            }
            Item::Twice(at) if !self.entries.is_empty() => {
                let id = at.get(&self.entries).0.clone();
                let value = serde_json::json!({"id": id, "parent": null, "at": "", "type": "user", "body": {"text": number}});
                let line = styled(&value, style);
                self.aside.insert(line.clone());
                return self.lines.push(line);
            }
            Item::Bad(kind) => {
                let line: &[u8] = match kind % 6 {
                    0 => b"{\"id\":\"e1\",\"parent\":null,\"ty",
                    1 => b"\0\0\0\0",
                    2 => b"{\"type\":\"user\",\"id\":\"q\",\"parent\":null,\"body\":{\"text\":\"\xff\xfe\"}}",
                    3 => b"[1,2]",
                    4 => b"{\"id\":\"q\"}",
                    _ => b"{\"type\":\"notice\",\"parent\":null,\"body\":{}}",
                };
                self.aside.insert(line.to_vec());
                return self.lines.push(line.to_vec());
            }
            Item::Twice(_) | Item::Blank => return self.lines.push(b" \t".to_vec()),
        };
        self.lines.push(styled(&value, style));
    }
}

/// JSON as different programs write it: ours, Python's, a careless person's.
fn styled(value: &serde_json::Value, style: u8) -> Vec<u8> {
    let text = value.to_string();
    if style == 0 {
        return text.into_bytes();
    }
    let mut out = String::new();
    let (mut inside, mut escaped) = (false, false);
    for c in text.chars() {
        if inside && !c.is_ascii() && style == 1 {
            let mut units = [0u16; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            continue;
        }
        out.push(c);
        match (inside, c) {
            (true, '"') if !escaped => inside = false,
            (false, '"') => inside = true,
            (false, ':' | ',') => out.push_str(if style == 1 { " " } else { "\t  " }),
            _ => {}
        }
        escaped = inside && c == '\\' && !escaped;
    }
    out.into_bytes()
}

/// The rule: the meaning of the first lines that end within `bytes`, and what is torn behind them.
fn told(place: &Place, items: &[(Item, u8)], cut: impl Fn(&[Vec<u8>]) -> usize) -> (Told, Vec<u8>, Vec<u8>) {
    let mut all = Told::default();
    for (number, (item, style)) in items.iter().enumerate() {
        all.take(number, item, *style);
    }
    let keep = cut(&all.lines);
    let (mut told, mut journal, mut left) = (Told::default(), place.header(), keep);
    for (number, ((item, style), line)) in items.iter().zip(&all.lines).enumerate() {
        if left <= line.len() {
            let torn = line[..left].to_vec();
            if !torn.is_empty() {
                told.aside.insert(torn.clone());
            }
            return (told, journal, torn);
        }
        told.take(number, item, *style);
        journal.extend_from_slice(line);
        journal.push(b'\n');
        left -= line.len() + 1;
    }
    (told, journal, Vec::new())
}

/// The real side, printed.
fn transcript(place: &Place, opened: &Opened) -> String {
    let mut seen = Told { title: opened.title.clone(), aside: place.aside(), ..Told::default() };
    seen.head = opened.tree.head.as_ref().map(ToString::to_string);
    for entry in &opened.tree.entries {
        let what = match &entry.body {
            EntryBody::User(message) => format!("user {:?}", message.text),
            EntryBody::Unknown(unknown) => {
                let raw: serde_json::Value = serde_json::from_str(unknown.raw.get()).unwrap();
                format!("{} {raw}", unknown.kind)
            }
            other => panic!("{other:?} was not written"),
        };
        seen.entries.push((entry.id.to_string(), entry.parent.as_ref().map(ToString::to_string), what));
    }
    seen.transcript()
}

/// Opens what was written and compares; then goes on with the session and compares again.
fn survives(place: &Place, told: &Told, whole: &[u8], torn: &[u8]) -> Result<(), TestCaseError> {
    place.write(&[whole, torn].concat());
    let seen = view(&place.dirs, &place.id).unwrap();
    prop_assert_eq!(place.journal(), [whole, torn].concat(), "viewing changed the journal");
    prop_assert_eq!(seen.tree.entries.len(), told.entries.len());

    let (mut session, opened) = place.open();
    prop_assert_eq!(transcript(place, &opened), told.transcript());
    prop_assert_eq!(place.journal(), whole);
    prop_assert_eq!(
        opened.reports.is_empty(),
        told.aside.is_empty() && !mended(&opened),
        "{:?}",
        opened.reports
    );
    let path = opened.branch();
    prop_assert_eq!(path.last().map(|entry| entry.id.clone()), opened.tree.head.clone());
    prop_assert!(path.first().is_none_or(|entry| entry.parent.is_none()));

    let entry = user(session.mint_entry(), opened.tree.head.clone(), "on it goes");
    session.commit(&entry, Durability::Buffered).unwrap();
    drop(session);
    let mut longer = whole.to_vec();
    longer.extend_from_slice(codec::encode(&entry).unwrap().as_bytes());
    prop_assert_eq!(place.journal(), longer, "what stood in the journal stays");
    let aside = place.aside();
    let (_, opened) = place.open();
    prop_assert_eq!(place.aside(), aside, "what is set aside is set aside once");
    prop_assert_eq!(opened.tree.entries.len(), told.entries.len() + 1);
    prop_assert_eq!(opened.tree.head.as_ref(), Some(&entry.id));
    Ok(())
}

/// Whether something was reported that needed no setting aside.
fn mended(opened: &Opened) -> bool {
    opened.reports.iter().any(|report| report.contains("not there") || report.contains("kept as it is"))
}

#[test]
fn unknown_records_survive() {
    let place = Place::new();
    let ran = runner().run(&items(), |items| {
        let (told, whole, torn) = told(&place, &items, |lines| lines.iter().map(|line| line.len() + 1).sum());
        survives(&place, &told, &whole, &torn)
    });
    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

#[test]
fn journal_survives_kill_at_any_byte() {
    let place = Place::new();
    let ran = runner().run(&(items(), any::<Index>()), |(items, at)| {
        // Cut anywhere in the last three lines.
        let (told, whole, torn) = told(&place, &items, |lines| {
            let lengths: Vec<usize> = lines.iter().map(|line| line.len() + 1).collect();
            let (before, last) = lengths.split_at(lengths.len() - 3);
            before.iter().sum::<usize>() + at.index(last.iter().sum::<usize>() + 1)
        });
        survives(&place, &told, &whole, &torn)
    });
    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

#[test]
fn a_journal_cut_at_every_byte_of_its_last_three_lines_opens() {
    let place = Place::new();
    let items: Vec<(Item, u8)> = (0..5)
        .map(|number| {
            (Item::User { parent: Parent::Newest, text: format!("é{number}"), more: number == 3 }, 0)
        })
        .collect();
    let total = told(&place, &items, |lines| lines.iter().map(|line| line.len() + 1).sum());
    let (lines, all) = (total.0.lines.clone(), total.1.len() - place.header().len());
    for cut in lines[0].len() + lines[1].len() + 2..=all {
        let (told, whole, torn) = told(&place, &items, |_| cut);
        let ran = survives(&place, &told, &whole, &torn);
        assert!(ran.is_ok(), "cut at {cut}: {}", ran.unwrap_err());
    }
}

#[test]
fn a_damaged_header_loses_no_entry_but_the_session_does_not_run() {
    let place = Place::new();
    let mut journal = place.header();
    journal.truncate(journal.len() - 5);
    journal.extend_from_slice(
        b"\n{\"id\":\"a\",\"parent\":null,\"type\":\"user\",\"body\":{\"text\":\"hi\"}}\n",
    );
    place.write(&journal);
    let seen = view(&place.dirs, &place.id).unwrap();
    assert_eq!((seen.tree.entries.len(), seen.header.cwd, seen.header.id), (1, None, place.id.clone()));
    assert_eq!(seen.reports.len(), 2, "{:?}", seen.reports);
    assert!(matches!(Session::open(&place.dirs, &place.id), Err(Error::Cwd(_))));
    assert_eq!(place.journal(), journal);
}

#[test]
fn a_session_of_a_newer_format_is_only_read() {
    let place = Place::new();
    let header = String::from_utf8(place.header()).unwrap().replace("\"v\":1", "\"v\":2");
    place.write(format!("{header}torn").as_bytes());
    assert!(matches!(Session::open(&place.dirs, &place.id), Err(Error::Newer { v: 2 })));
    assert_eq!(place.journal(), format!("{header}torn").as_bytes());
    assert_eq!(view(&place.dirs, &place.id).unwrap().header.v, 2);
}

// --- real kills

/// Commits without end, and says each entry's id once it is committed.
fn commits_until_killed(state: &Path) {
    let dirs = Dirs::at(state, state.join("config"));
    let mut session = Session::create(&dirs, state.parent().unwrap()).unwrap();
    let mut parent = None;
    for number in 0usize.. {
        let entry = user(session.mint_entry(), parent, &"text ".repeat(number * 37 % 4000));
        let durability = if number.is_multiple_of(5) { Durability::Synced } else { Durability::Buffered };
        session.commit(&entry, durability).unwrap();
        if !again::say(entry.id.as_str()) {
            return;
        }
        parent = Some(entry.id);
    }
}

#[test]
fn what_was_committed_survives_a_real_kill() {
    if let Some(state) = again::role() {
        return commits_until_killed(Path::new(&state));
    }
    let kills = if std::env::var_os("WINDLASS_LONG").is_some() { 300 } else { 30 };
    for round in 0..kills {
        let temp = TempDir::new().unwrap();
        let state = temp.path().join("state");
        let role = state.to_str().unwrap();
        let mut player =
            Player::start(again::command("journal::what_was_committed_survives_a_real_kill", role));
        // Heard after a number of commits that differs from round to round, killed in the midst of the next.
        let mut heard = (0..1 + round % 17).map(|_| player.hear().unwrap()).last().unwrap();
        player.kill();
        while let Some(more) = player.hear() {
            heard = more;
        }
        let dirs = Dirs::at(&state, temp.path());
        let found = windlass::store::list(&dirs, None);
        assert_eq!(found.len(), 1);
        let Opening::Ours(session, opened) = Session::open(&dirs, &found[0].id).unwrap() else {
            panic!("a dead program holds the session");
        };
        let ids: Vec<String> = opened.tree.entries.iter().map(|entry| entry.id.to_string()).collect();
        let expected: Vec<String> = (1..=ids.len()).map(|number| format!("e{number:09}")).collect();
        assert_eq!(ids, expected, "a prefix of what was committed");
        assert!(ids.contains(&heard), "{heard} was committed");
        assert_eq!(opened.branch().len(), ids.len());
        drop(session);
    }
}

// --- a full disk

/// On a small disk of its own: commits until it is full, makes room, goes on.
fn commits_on_a_full_disk(disk: &Path) {
    let dirs = Dirs::at(disk.join("state"), disk.join("config"));
    let mut session = Session::create(&dirs, disk).unwrap();
    let filler = disk.join("filler");
    fs::write(&filler, vec![0; 40 * 1024]).unwrap();
    let mut done = 0;
    let refused = loop {
        let entry = user(session.mint_entry(), None, &"x".repeat(3000));
        match session.commit(&entry, Durability::Synced) {
            Ok(()) => done += 1,
            Err(e) => break e,
        }
    };
    assert!(windlass::base::chain(&refused).contains("No space left on device"), "{refused:?}");
    let path = session.dir().join(JOURNAL);
    let lines = |path: &Path| {
        fs::read_to_string(path).unwrap().split_inclusive('\n').map(str::len).collect::<Vec<_>>()
    };
    assert_eq!(lines(&path).len(), done + 1, "nothing of the refused commit is left");
    assert!(fs::read(&path).unwrap().ends_with(b"\n"));
    fs::remove_file(filler).unwrap();
    let entry = user(session.mint_entry(), None, "on it goes");
    session.commit(&entry, Durability::Synced).unwrap();
    assert_eq!(lines(&path).len(), done + 2);

    // A session that finds no room for its beginning leaves nothing and can be tried again.
    let filler = disk.join("filler");
    let mut late = Session::create(&dirs, disk).unwrap();
    let _ = fs::write(&filler, vec![0; 1 << 20]);
    assert!(late.begin().is_err());
    assert!(!late.dir().exists());
    fs::remove_file(filler).unwrap();
    late.begin().unwrap();
    assert!(again::say("held"));
}

#[test]
fn a_full_disk_takes_back_what_did_not_fit() {
    if let Some(disk) = again::role() {
        return commits_on_a_full_disk(Path::new(&disk));
    }
    let temp = TempDir::new().unwrap();
    let small = |program: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
        command
            .arg(format!("mount -t tmpfs -o size=96k,mode=0700 none \"$0\" && exec {program}"))
            .arg(temp.path());
        command
    };
    if !small("true").stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success()) {
        let _ = writeln!(std::io::stderr(), "no small disk can be mounted here: see commit_all_or_nothing");
        return;
    }
    let inner =
        again::command("journal::a_full_disk_takes_back_what_did_not_fit", temp.path().to_str().unwrap());
    let mut command = small("\"$@\"");
    command.arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
    let mut player = Player::start(command);
    assert_eq!(player.hear().as_deref(), Some("held"));
    assert!(player.finish());
}
