//! Law J: how a command ends. One end, which says who and why.

use serde::{Deserialize, Serialize};

/// Who asked for an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The person.
    User,
    /// The model.
    Model,
    /// A rewind.
    Rewind,
    /// A limit of time.
    TimeLimit,
    /// A limit of output.
    OutputLimit,
    /// The program went.
    ProgramGone,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum End {
    /// By itself, with this code.
    Exited {
        /// The exit code.
        code: i32,
    },
    /// By a signal that we did not send.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It was ended on purpose.
    Killed {
        /// By whom.
        by: By,
    },
    /// Its keeper is gone without a record.
    Lost,
}
