//! What a commit leaves, also when it fails.

use super::*;

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
    let inner = again::command("journal::commits::commit_all_or_nothing", "limited");
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
