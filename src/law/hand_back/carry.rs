//! Carrying a plan out: what is done next, told by what is recorded and by what is at a path and beside it.
//!
//! Nothing is remembered between two effects but what is on the disk. So a run that was cut begins again with the same
//! answers, and every cut ends in the same tree.
//!
//! A run has stages, each recorded before the next begins: the plan (with the id that is in the names of prepared
//! files), *prepared* (all of them are whole and synced), the *end* (outcomes, synced), *clean*. Before *prepared*
//! nothing of the parent's was moved: whatever has such a name is the hand-back's own, and is made anew. After it, what
//! is beside a path tells how far that path is:
//!
//! - the child's version beside: it was not exchanged yet, or was put back;
//! - the parent's version, as planned: it was exchanged;
//! - anything else: somebody saved in between, and it is put back. If that is no longer possible it is kept aside.

use super::plan::Way;
use super::tree::Version;

/// What was recorded of a hand-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recorded {
    /// Nothing.
    Nothing,
    /// The plan.
    Plan,
    /// That everything is prepared.
    Prepared,
    /// How it ended.
    End,
    /// That nothing is left to clean up.
    Clean,
}

/// What a run does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Make the plan, keep the versions, record it.
    Plan,
    /// Prepare everything, sync it, record that. A plan that an earlier run made is made anew first, once what that run
    /// prepared is removed.
    Prepare,
    /// Carry out every step, sync, record the end.
    CarryOut,
    /// Remove what is left beside the paths and what nobody changed, record that.
    CleanUp,
    /// Nothing.
    Rest,
}

/// What a run does, told by what was recorded.
pub fn stage(recorded: Recorded) -> Stage {
    match recorded {
        Recorded::Nothing => Stage::Plan,
        Recorded::Plan => Stage::Prepare,
        Recorded::Prepared => Stage::CarryOut,
        Recorded::End => Stage::CleanUp,
        Recorded::Clean => Stage::Rest,
    }
}

/// What is somewhere, seen from a step of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// What the parent had when the plan was made.
    Parents,
    /// What the child has.
    Childs,
    /// Anything else.
    Other,
}

/// Compares what is somewhere with what the plan knows.
pub fn found(version: &Version, parent: &Version, child: &Version) -> Found {
    if *version == Version::Absent {
        Found::Nothing
    } else if version == child {
        Found::Childs
    } else if version == parent {
        Found::Parents
    } else {
        Found::Other
    }
}

/// What is done next about one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
    /// Exchange the path with what is prepared beside it.
    Exchange,
    /// Move what is prepared to the path, where nothing may be.
    Place,
    /// Move what is at the path beside it, where nothing may be.
    TakeAway,
    /// Exchange them again: what came out is not what the plan saw.
    PutBack,
    /// Exchange them once more: what came out of the putting back was saved even later.
    PutBackNewest,
    /// Move what was taken away to the path again, where nothing may be: it is not what the plan saw.
    Return,
    /// Nothing more.
    Done(Outcome),
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The parent's directory got the child's.
    Taken,
    /// It had the same already.
    Same,
    /// Somebody changed it in between: a conflict. What is beside the path is nothing of anybody's.
    Conflict,
    /// The same, and what is beside the path was saved by somebody and goes to the kept versions.
    ConflictAndKept,
    /// What was prepared is gone: a conflict.
    Disturbed,
    /// The system refused the last act: a conflict. What is beside the path is nothing of anybody's.
    Refused,
}

/// How a step ends whose act the system refuses: what somebody saved is kept all the same.
pub fn refused(beside: Found) -> Outcome {
    match beside {
        Found::Other => Outcome::ConflictAndKept,
        Found::Nothing | Found::Parents | Found::Childs => Outcome::Refused,
    }
}

/// What is done next about one path: how it is to be put in place, what is at the path and beside it, and what this
/// run did last about it.
pub fn act(way: Way, target: Found, beside: Found, last: Option<Act>) -> Act {
    match way {
        Way::Exchange => exchange(target, beside, last),
        Way::New => new(target, beside),
        Way::Remove => remove(target, beside),
    }
}

fn exchange(target: Found, beside: Found, last: Option<Act>) -> Act {
    match (beside, target) {
        (Found::Childs, Found::Parents) => Act::Exchange,
        (Found::Childs, Found::Childs) => Act::Done(Outcome::Same),
        (Found::Childs, Found::Nothing | Found::Other) => Act::Done(Outcome::Conflict),
        // whatever was made of the path after the exchange is somebody's who saw the child's
        (Found::Parents, _) => Act::Done(Outcome::Taken),
        (Found::Other, Found::Childs) => Act::PutBack,
        (Found::Other, Found::Nothing | Found::Parents | Found::Other) if last == Some(Act::PutBack) => {
            Act::PutBackNewest
        }
        (Found::Other, Found::Nothing | Found::Parents | Found::Other) => Act::Done(Outcome::ConflictAndKept),
        (Found::Nothing, Found::Childs) => Act::Done(Outcome::Taken),
        (Found::Nothing, Found::Nothing | Found::Parents | Found::Other) => Act::Done(Outcome::Disturbed),
    }
}

fn new(target: Found, beside: Found) -> Act {
    match (beside, target) {
        (Found::Childs, Found::Nothing) => Act::Place,
        (Found::Childs, Found::Childs) => Act::Done(Outcome::Same),
        (Found::Childs, Found::Parents | Found::Other) => Act::Done(Outcome::Conflict),
        (Found::Nothing, Found::Childs) => Act::Done(Outcome::Taken),
        // put in place by an earlier run and changed or removed since, or taken away before that: not ours to say
        (Found::Nothing, Found::Nothing | Found::Parents | Found::Other) => Act::Done(Outcome::Disturbed),
        // nothing is ever displaced by a new path: somebody wrote into the prepared file
        (Found::Parents | Found::Other, _) => Act::Done(Outcome::ConflictAndKept),
    }
}

fn remove(target: Found, beside: Found) -> Act {
    match (beside, target) {
        (Found::Nothing, Found::Parents) => Act::TakeAway,
        (Found::Nothing, Found::Nothing) => Act::Done(Outcome::Taken),
        (Found::Nothing, Found::Childs | Found::Other) => Act::Done(Outcome::Conflict),
        (Found::Parents, _) => Act::Done(Outcome::Taken),
        (Found::Childs | Found::Other, Found::Nothing) => Act::Return,
        (Found::Childs | Found::Other, Found::Parents | Found::Childs | Found::Other) => {
            Act::Done(Outcome::ConflictAndKept)
        }
    }
}
