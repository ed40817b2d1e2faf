//! The carrying out, cut anywhere: every state of one path that a run, a kill at any moment, and somebody who saves
//! twice at any moment can reach. A kill forgets all but the disk.

use std::collections::BTreeSet;

use super::super::carry::{Act, Found, Outcome, Recorded, Stage, act, found, stage};
use super::super::plan::Way;
use super::super::tree::Version;
use super::file;

/// What a place can hold. `Half` is a prepared file that is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Nothing,
    Parents,
    Childs,
    Half,
    One,
    Two,
}

const SAVED: [Held; 5] = [Held::Nothing, Held::Parents, Held::Childs, Held::One, Held::Two];

/// Where the run is; lost by a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Start,
    Wiped,
    HalfPrepared,
    Prepared,
    Looking(Option<Act>),
    Doing(Act),
    Ended(Outcome),
    Kept,
    Removed,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct World {
    recorded: Recorded,
    outcome: Option<Outcome>,
    target: Held,
    beside: Held,
    kept: BTreeSet<Held>,
    at: At,
    saves: u8,
    /// What was saved and not saved over by the same person.
    owed: BTreeSet<Held>,
}

/// The parent's and the child's versions of a step, and what the places start with.
fn ends(way: Way) -> (Held, Held) {
    match way {
        Way::Remove => (Held::Parents, Held::Nothing),
        Way::Exchange => (Held::Parents, Held::Childs),
        Way::New => (Held::Nothing, Held::Childs),
    }
}

fn version(held: Held) -> Version {
    match held {
        Held::Nothing => Version::Absent,
        other => file(other as u8),
    }
}

fn seen(way: Way, held: Held) -> Found {
    let (parent, child) = ends(way);
    found(&version(held), &version(parent), &version(child))
}

/// The run's own next effect.
fn run(way: Way, world: &World) -> World {
    let mut next = world.clone();
    next.at = match world.at {
        At::Start => match stage(world.recorded) {
            Stage::Plan => {
                next.recorded = Recorded::Plan;
                At::Start
            }
            Stage::Prepare => {
                next.beside = Held::Nothing;
                At::Wiped
            }
            Stage::CarryOut => At::Looking(None),
            Stage::CleanUp if world.outcome == Some(Outcome::ConflictAndKept) => {
                next.kept.insert(world.beside);
                At::Kept
            }
            Stage::CleanUp => At::Kept,
            Stage::Rest => At::Start,
        },
        At::Wiped if way == Way::Remove => At::Prepared,
        At::Wiped => {
            next.beside = Held::Half;
            At::HalfPrepared
        }
        At::HalfPrepared => {
            next.beside = Held::Childs;
            At::Prepared
        }
        At::Prepared => {
            next.recorded = Recorded::Prepared;
            At::Start
        }
        At::Looking(last) => At::Doing(act(way, seen(way, world.target), seen(way, world.beside), last)),
        At::Doing(act) => doing(act, &mut next),
        At::Ended(outcome) => {
            (next.recorded, next.outcome) = (Recorded::End, Some(outcome));
            At::Start
        }
        At::Kept => {
            next.beside = Held::Nothing;
            At::Removed
        }
        At::Removed => {
            next.recorded = Recorded::Clean;
            At::Start
        }
    };
    next
}

fn doing(act: Act, next: &mut World) -> At {
    let moved = |from: &mut Held, to: &mut Held| {
        if *to == Held::Nothing {
            std::mem::swap(from, to);
        }
    };
    match act {
        // the call fails where one of them is not there
        Act::Exchange | Act::PutBack | Act::PutBackNewest => {
            if next.target != Held::Nothing && next.beside != Held::Nothing {
                std::mem::swap(&mut next.target, &mut next.beside);
            }
        }
        Act::Place | Act::Return => moved(&mut next.beside, &mut next.target),
        Act::TakeAway => moved(&mut next.target, &mut next.beside),
        Act::Done(outcome) => return At::Ended(outcome),
    }
    At::Looking(Some(act))
}

fn save(world: &World, held: Held) -> Option<World> {
    if world.saves == 2 || held == world.target {
        return None;
    }
    let mut next = world.clone();
    next.saves += 1;
    next.owed.remove(&world.target);
    next.target = held;
    next.owed.insert(held);
    Some(next)
}

/// Every world that can be reached, from before the plan was recorded on.
fn reached(way: Way) -> BTreeSet<World> {
    let first = World {
        recorded: Recorded::Plan,
        outcome: None,
        target: ends(way).0,
        beside: Held::Nothing,
        kept: BTreeSet::new(),
        at: At::Start,
        saves: 0,
        owed: BTreeSet::new(),
    };
    let (mut all, mut open) = (BTreeSet::from([first.clone()]), vec![first]);
    while let Some(world) = open.pop() {
        let killed = World { at: At::Start, ..world.clone() };
        let saves = SAVED.iter().filter_map(|held| save(&world, *held));
        for next in [run(way, &world), killed].into_iter().chain(saves) {
            if all.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    all
}

const WAYS: [Way; 3] = [Way::Remove, Way::Exchange, Way::New];

#[test]
fn handback_crash_safe() {
    for way in WAYS {
        let (parent, child) = ends(way);
        let worlds = reached(way);
        let ended: Vec<&World> = worlds.iter().filter(|world| world.recorded == Recorded::Clean).collect();
        // nobody saves: one end, however often it was killed
        let alone: Vec<_> = ended.iter().filter(|world| world.saves == 0).collect();
        assert_eq!(alone.len(), 1, "{way:?}: {alone:#?}");
        assert_eq!((alone[0].target, alone[0].outcome), (child, Some(Outcome::Taken)), "{way:?}");
        for world in &ended {
            assert_eq!(world.beside, Held::Nothing, "{way:?}: {world:?}");
            // what the plan saw is kept with the versions; anything else is where it was saved, or kept
            for held in &world.owed {
                let there = world.target == *held || world.kept.contains(held);
                let known = [parent, child].contains(held) || *held == Held::Nothing;
                assert!(there || known, "{way:?}: {held:?} is lost in {world:?}");
            }
            assert_ne!(world.target, Held::Half, "{way:?}: {world:?}");
            assert!(!world.kept.contains(&Held::Half), "{way:?}: {world:?}");
            // the child's version is there, or was saved over, or it is told as a conflict
            let told = !matches!(world.outcome, Some(Outcome::Taken | Outcome::Same));
            assert!(world.target == child || told || world.saves > 0, "{way:?}: {world:?}");
        }
    }
}

#[test]
fn a_run_that_is_not_killed_comes_to_its_end() {
    for way in WAYS {
        for world in reached(way) {
            let mut now = world.clone();
            let done = (0..40).any(|_| {
                now = run(way, &now);
                now.recorded == Recorded::Clean
            });
            assert!(done, "{way:?}: {world:?} goes round in circles");
        }
    }
}

#[test]
fn only_what_somebody_saved_makes_a_conflict_of_what_was_taken() {
    for way in WAYS {
        for world in reached(way) {
            if world.saves == 0 {
                let fine = matches!(world.outcome, None | Some(Outcome::Taken));
                assert!(fine, "{way:?}: {world:?}");
            }
        }
    }
}

/// One save and no kill: the conflict is told, and what was saved stands where it was saved.
#[test]
fn one_save_in_between_is_put_back() {
    for way in WAYS {
        let (parent, child) = ends(way);
        for world in reached(way).iter().filter(|world| world.recorded == Recorded::Clean && world.saves == 1)
        {
            for held in &world.owed {
                let fine = world.target == *held || (*held == parent && world.target == child);
                assert!(fine || *held == Held::Nothing, "{way:?}: {world:?}");
            }
        }
    }
}
