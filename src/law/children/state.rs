//! How a child stands, and how it ended.

use serde::{Deserialize, Serialize};

use crate::base::Millis;

/// Who had a child stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The person.
    User,
    /// The model of its parent.
    Model,
    /// Its budget is used up.
    Budget,
    /// Its parent was ended.
    Parent,
    /// A rewind to before it was asked for.
    Rewind,
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum End {
    /// It gave its answer.
    Answered,
    /// Its turn failed, or it could not begin.
    Failed {
        /// Why, in words.
        why: String,
    },
    /// It was silent for too long.
    Stalled {
        /// For how long.
        after: Millis,
    },
    /// It was stopped.
    Stopped {
        /// By whom.
        by: By,
    },
    /// The person deleted it.
    Deleted,
}

impl End {
    /// The word of the events: `answered`, `failed`, `stalled`, `stopped`, `deleted`.
    pub fn status(&self) -> &'static str {
        match self {
            End::Answered => "answered",
            End::Failed { .. } => "failed",
            End::Stalled { .. } => "stalled",
            End::Stopped { .. } => "stopped",
            End::Deleted => "deleted",
        }
    }
    /// In words: `answered`, `failed: …`, `stalled: silent for 10:00`, `stopped by you`.
    pub fn words(&self) -> String {
        match self {
            End::Answered => "answered".to_owned(),
            End::Failed { why } => format!("failed: {why}"),
            End::Stalled { after } => format!("stalled: silent for {}", after.length()),
            End::Stopped { by: By::User } => "stopped by you".to_owned(),
            End::Stopped { by: By::Model } => "stopped by the model".to_owned(),
            End::Stopped { by: By::Budget } => "stopped: its budget is used up".to_owned(),
            End::Stopped { by: By::Parent } => "stopped with its parent".to_owned(),
            End::Stopped { by: By::Rewind } => "stopped by a rewind".to_owned(),
            End::Deleted => "deleted".to_owned(),
        }
    }
    /// Whether what it changed is handed back: after a rewind its copy is kept as it is.
    pub(super) fn hands_back(&self) -> bool {
        *self != End::Stopped { by: By::Rewind }
    }
}

/// What a child that works does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// Its turn runs.
    Turn,
    /// Its turn waits for its own children.
    Waits,
    /// Its turn is over, with this as its end; its own children still work.
    Over(End),
}

/// How far the stopping of a child is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Its turn was cut; its own children end first.
    Children,
    /// Its session is being closed, its jobs with it.
    Closing,
    /// Its session is closed; its own children have not ended.
    Closed,
}

/// How a child stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It waits for a place.
    Waiting,
    /// Its copy and its session are being made.
    Preparing,
    /// It works.
    Working(Work),
    /// It is being stopped; none: the program goes.
    Stopping(Option<End>, Stage),
    /// Its changes are handed back.
    HandingBack(End),
    /// The program went before it had ended. It can be woken, or ended.
    Cut,
    /// It has ended.
    Ended(End),
    /// It has ended, and what it changed, which was not handed back then, is handed back.
    Again(End),
}
