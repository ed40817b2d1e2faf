//! Laws L of the lease, between real processes.

use std::collections::HashMap;
use std::fs::{File, FileTimes};
use std::io::BufRead;
use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;
use windlass::law::lease::{Answer, Event, Holder, Lease as State, step};
use windlass::store::lease::{Lease, Taking};

use crate::again::{self, Player};

const CASES: u32 = 300;
const ACTORS: usize = 3;

/// What one of the programs does, or what happens to it.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Open(usize),
    Close(usize),
    Kill(usize),
    /// Ten days pass, as far as the file can tell.
    Wait,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        6 => (0..ACTORS).prop_map(Deed::Open),
        3 => (0..ACTORS).prop_map(Deed::Close),
        1 => (0..ACTORS).prop_map(Deed::Kill),
        1 => Just(Deed::Wait),
    ];
    proptest::collection::vec(deed, 1..12)
}

/// A holder by its number, as the rule knows it: a program that was killed is another one afterwards.
fn holder(actor: usize, life: usize) -> Holder {
    Holder { pid: actor as u32, start: life as u64, boot: String::new() }
}

fn named(holder: Option<&Holder>) -> String {
    holder.map_or("nobody".into(), |holder| format!("{}.{}", holder.pid, holder.start))
}

fn by_rule(deeds: &[Deed]) -> String {
    let (mut out, mut state, mut lives) = (String::new(), State::default(), [0; ACTORS]);
    for deed in deeds {
        let event = match *deed {
            Deed::Open(actor) => Event::Open(holder(actor, lives[actor])),
            Deed::Close(actor) => Event::Close(holder(actor, lives[actor])),
            Deed::Kill(actor) => {
                lives[actor] += 1;
                Event::Gone(holder(actor, lives[actor] - 1))
            }
            Deed::Wait => Event::Waited,
        };
        let (next, answer) = step(state, event);
        state = next;
        out += &match answer {
            Answer::Yours => format!("{deed:?}: yours\n"),
            Answer::Reclaimed(before) => format!("{deed:?}: reclaimed from {}\n", named(before.as_ref())),
            Answer::Held(by) => format!("{deed:?}: held by {}\n", named(by.as_ref())),
            Answer::Nothing => format!("{deed:?}: -\n"),
        };
    }
    out
}

/// The programs that play, and whose pid means whom.
struct Stage {
    players: Vec<(Player, usize)>,
    pids: HashMap<String, String>,
}

impl Stage {
    fn new() -> Stage {
        let mut stage = Stage { players: Vec::new(), pids: HashMap::new() };
        for actor in 0..ACTORS {
            let player = stage.start(actor, 0);
            stage.players.push((player, 0));
        }
        stage
    }
    fn start(&mut self, actor: usize, life: usize) -> Player {
        let player = Player::start(again::command("lease::lease_reclaims_only_the_dead", "actor"));
        self.pids.insert(player.pid().to_string(), format!("{actor}.{life}"));
        player
    }
    /// Everybody closes, and counts its lives from here on.
    fn reset(&mut self, path: &Path) {
        for (actor, (player, life)) in self.players.iter_mut().enumerate() {
            player.tell(&format!("close {}", path.display()));
            player.hear().unwrap();
            *life = 0;
            self.pids.insert(player.pid().to_string(), format!("{actor}.0"));
        }
    }
    fn does(&mut self, deed: Deed, path: &Path) -> String {
        let (actor, word) = match deed {
            Deed::Open(actor) => (actor, "open"),
            Deed::Close(actor) => (actor, "close"),
            Deed::Kill(actor) => {
                let life = self.players[actor].1 + 1;
                self.players[actor].0.kill();
                self.players[actor] = (self.start(actor, life), life);
                return "-".into();
            }
            Deed::Wait => {
                let old = SystemTime::now() - Duration::from_secs(10 * 24 * 3600);
                let times = FileTimes::new().set_modified(old).set_accessed(old);
                if let Ok(file) = File::open(path) {
                    file.set_times(times).unwrap();
                }
                return "-".into();
            }
        };
        self.players[actor].0.tell(&format!("{word} {}", path.display()));
        let said = self.players[actor].0.hear().unwrap();
        match said.rsplit_once(' ') {
            Some((what, pid)) => format!("{what} {}", self.pids.get(pid).map_or(pid, String::as_str)),
            None => said,
        }
    }
}

/// A program that opens and closes as it is told.
fn plays() {
    let mut held: HashMap<String, Lease> = HashMap::new();
    let pid = |holder: Option<Holder>| holder.map_or("nobody".into(), |holder| holder.pid.to_string());
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (word, path) = line.split_once(' ').unwrap();
        let said = if word == "close" {
            held.remove(path);
            "-".to_owned()
        } else {
            match Lease::take(Path::new(path)).unwrap() {
                Taking::Ours(lease, before) => {
                    held.insert(path.to_owned(), lease);
                    before.map_or("yours".into(), |before| format!("reclaimed from {}", pid(before)))
                }
                Taking::Held(by) => format!("held by {}", pid(by)),
            }
        };
        if !again::say(&said) {
            return;
        }
    }
}

#[test]
fn lease_reclaims_only_the_dead() {
    if again::role().is_some() {
        return plays();
    }
    let temp = TempDir::new().unwrap();
    let stage = std::cell::RefCell::new(Stage::new());
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    let ran = TestRunner::new(config).run(&deeds(), |deeds| {
        let path = temp.path().join("lease");
        let mut stage = stage.borrow_mut();
        stage.reset(&path);
        let _ = std::fs::remove_file(&path);
        let real: String =
            deeds.iter().map(|deed| format!("{deed:?}: {}\n", stage.does(*deed, &path))).collect();
        prop_assert_eq!(by_rule(&deeds), real);
        Ok(())
    });
    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

#[test]
fn lease_refuses_second_holder() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("lease");
    let mut other = Player::start(again::command("lease::lease_reclaims_only_the_dead", "actor"));
    other.tell(&format!("open {}", path.display()));
    assert_eq!(other.hear().as_deref(), Some("yours"));
    assert_eq!(windlass::store::lease::holder(&path).map(|holder| holder.pid), Some(other.pid()));
    for _ in 0..3 {
        match Lease::take(&path).unwrap() {
            Taking::Held(Some(holder)) => assert_eq!(holder.pid, other.pid()),
            taking => panic!("{taking:?}"),
        }
    }
    other.kill();
    assert_eq!(windlass::store::lease::holder(&path), None);
    match Lease::take(&path).unwrap() {
        Taking::Ours(lease, Some(Some(before))) => {
            assert_eq!(before.pid, other.pid());
            drop(lease);
        }
        taking => panic!("{taking:?}"),
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"", "a lease that was given back names nobody");
    assert!(matches!(Lease::take(&path).unwrap(), Taking::Ours(_, None)));
}

#[test]
fn a_lease_with_an_unreadable_name_is_still_a_lease() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("lease");
    let lease = Lease::take(&path).unwrap();
    std::fs::write(&path, "{\"pid\":").unwrap();
    assert!(matches!(Lease::take(&path).unwrap(), Taking::Held(None)));
    drop(lease);
    std::fs::write(&path, "{\"pid\":").unwrap();
    assert!(matches!(Lease::take(&path).unwrap(), Taking::Ours(_, Some(None))));
}
