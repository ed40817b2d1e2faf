//! What happens to a child, and what the shell is to do.

use super::state::{By, End};

/// Who asks for a child, and for which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its parent among the children; none: the session itself.
    pub parent: Option<String>,
    /// Its name under its parent.
    pub name: String,
    /// Whether it has a copy of its own.
    pub isolated: bool,
    /// Most tokens; none: any number.
    pub budget: Option<u64>,
}

/// How a child of an earlier program stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The program went before it had ended.
    Cut,
    /// It had ended so, and its hand-back was begun.
    HandsBack(End),
    /// It had ended so.
    Ended(End),
}

/// The budget of a child of an earlier program, in tokens; none: any number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// What each run may use.
    pub granted: Option<u64>,
    /// What is left of it in the run that was cut.
    pub left: Option<u64>,
}

/// Why a child is not to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The name is none that a file could have.
    Name,
    /// A child of that name is or was there.
    Taken,
    /// It would be too deep.
    Deep {
        /// The bound.
        depth: u32,
    },
    /// Its parent is being ended.
    ParentEnds,
    /// There are too many, those that ended too.
    Many,
}

/// What happens to a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its copy and its session stand.
    Prepared,
    /// They could not be made: why; none: who asked for it went away. Nothing of it is left.
    Unprepared(Option<String>),
    /// Its record changed.
    Heard,
    /// It waits for the person's word, or no longer.
    Asks(bool),
    /// Its turn begins to wait for its children.
    Waits,
    /// Its turn runs, or goes on.
    Goes,
    /// It used so many tokens.
    Used(u64),
    /// Its turn is over.
    Over(End),
    /// It is to be stopped.
    Stop(By),
    /// It is to be deleted.
    Delete,
    /// Its session is closed.
    Closed,
    /// What it changed was handed back, or could not be.
    HandedBack,
    /// It is to work again.
    Woken,
    /// Its hand-back failed, and is to be tried again.
    Again,
}

/// What the shell is to do with a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Make its copy and its session.
    Prepare(String),
    /// Give it its words.
    Begin(String),
    /// Cut its turn; its session stays open.
    Halt(String),
    /// Close its session with all that it runs; `Closed` follows. What is being prepared is given up.
    Close(String),
    /// Hand back what it changed; `HandedBack` follows.
    HandBack(String),
    /// Tell its parent of its end.
    Ended(String, End),
    /// Tell its parent what came of the hand-back that was tried again: its end was told.
    CameBack(String),
    /// Nothing of it is left.
    Forget(String),
}
