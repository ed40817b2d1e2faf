//! Entries: what a session's journal holds, and what a conversation is drawn from.
//!
//! Entries form a tree by `parent`. The conversation is the path from the root to the head.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::access::Mode;
use crate::api::agent::{AgentEnd, AgentRun};
use crate::api::job::JobEnd;
use crate::api::message::{Answer, Image, Usage};
use crate::base::{CallId, EntryId, JobId, Millis};

/// One entry: committed, never changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its id.
    pub id: EntryId,
    /// The entry before it on its branch; none for the first.
    pub parent: Option<EntryId>,
    /// When it was committed.
    pub at: Millis,
    /// What it says.
    pub body: EntryBody,
}

/// What an entry says.
#[derive(Clone, Debug)]
pub enum EntryBody {
    /// A message of the person.
    User(UserMessage),
    /// An answer of the model.
    Answer(Answer),
    /// A call began.
    CallStart(CallStart),
    /// A call settled: its result.
    CallSettle(CallSettle),
    /// The program says something.
    Notice(Notice),
    /// Older entries stand summarised for the model from here on.
    Compaction(Compaction),
    /// A turn ended.
    TurnEnd(TurnEnd),
    /// The model or the mode was changed.
    Setting(Setting),
    /// A job ended.
    JobEnd(JobEnd),
    /// A subagent ended.
    AgentEnd(AgentEnd),
    /// Files were put back as they were.
    Restore(Restore),
    /// A record of a kind that this program does not know; kept as it came.
    Unknown(UnknownEntry),
}

impl PartialEq for EntryBody {
    fn eq(&self, other: &Self) -> bool {
        use EntryBody as E;
        match (self, other) {
            (E::User(a), E::User(b)) => a == b,
            (E::Answer(a), E::Answer(b)) => a == b,
            (E::CallStart(a), E::CallStart(b)) => a == b,
            (E::CallSettle(a), E::CallSettle(b)) => a == b,
            (E::Notice(a), E::Notice(b)) => a == b,
            (E::Compaction(a), E::Compaction(b)) => a == b,
            (E::TurnEnd(a), E::TurnEnd(b)) => a == b,
            (E::Setting(a), E::Setting(b)) => a == b,
            (E::JobEnd(a), E::JobEnd(b)) => a == b,
            (E::AgentEnd(a), E::AgentEnd(b)) => a == b,
            (E::Restore(a), E::Restore(b)) => a == b,
            (E::Unknown(a), E::Unknown(b)) => a.kind == b.kind && a.raw.get() == b.raw.get(),
            (
                E::User(_)
                | E::Answer(_)
                | E::CallStart(_)
                | E::CallSettle(_)
                | E::Notice(_)
                | E::Compaction(_)
                | E::TurnEnd(_)
                | E::Setting(_)
                | E::JobEnd(_)
                | E::AgentEnd(_)
                | E::Restore(_)
                | E::Unknown(_),
                _,
            ) => false,
        }
    }
}

/// How a message of the person reached the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// It began a turn.
    #[default]
    Sent,
    /// It was delivered between two requests of a running turn.
    Steered,
    /// It waited for the end of a turn.
    Queued,
}

/// A message of the person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The text, exactly as typed or pasted.
    pub text: String,
    /// Images; their data stand in the session's blobs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// How it was delivered.
    #[serde(default)]
    pub delivery: Delivery,
}

/// A call began: its slot is *running* until its settle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallStart {
    /// The call.
    pub call: CallId,
    /// The provider's id of it.
    pub wire_id: String,
    /// The tool's name.
    pub tool: String,
    /// Its input as the model wrote it.
    pub input: Value,
    /// The file that the whole output is spooled to, if it comes to that.
    #[serde(default, with = "crate::api::path::maybe", skip_serializing_if = "Option::is_none")]
    pub spool: Option<PathBuf>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It did what it was asked.
    Ok,
    /// It failed; the output says how.
    Error,
    /// A person, a rule or a mode said no, or nobody could be asked.
    Refused,
    /// It was cancelled while it ran (or before it began).
    Cancelled,
    /// It goes on as a job.
    Detached,
    /// The program ended while it ran.
    Interrupted,
}

impl CallStatus {
    /// The word of the events and the journal.
    pub fn word(self) -> &'static str {
        match self {
            CallStatus::Ok => "ok",
            CallStatus::Error => "error",
            CallStatus::Refused => "refused",
            CallStatus::Cancelled => "cancelled",
            CallStatus::Detached => "detached",
            CallStatus::Interrupted => "interrupted",
        }
    }
}

/// A call settled: exactly one for each start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallSettle {
    /// The call.
    pub call: CallId,
    /// How it ended.
    pub status: CallStatus,
    /// What the model reads: the bounded output with words on what was dropped.
    pub output: String,
    /// Bytes kept of what the tool produced.
    #[serde(default)]
    pub kept: u64,
    /// Bytes dropped of what the tool produced.
    #[serde(default)]
    pub dropped: u64,
    /// The file that holds every byte, when some were dropped.
    #[serde(default, with = "crate::api::path::maybe", skip_serializing_if = "Option::is_none")]
    pub artifact: Option<PathBuf>,
    /// Images for the model; their data stand in the session's blobs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// What the screen draws besides the output.
    #[serde(default)]
    pub details: Details,
    /// Warnings that the tool gave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Files that the call changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<Touched>,
    /// Token counts that the call itself used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How long it took from its start, what it waited for the person included.
    #[serde(default)]
    pub duration: Millis,
    /// How long it waited for the person.
    #[serde(default, skip_serializing_if = "none_asked")]
    pub asked: Millis,
}

impl CallSettle {
    /// A call that settled with nothing but these words.
    pub fn new(call: CallId, status: CallStatus, output: impl Into<String>) -> Self {
        Self {
            call,
            status,
            output: output.into(),
            kept: 0,
            dropped: 0,
            artifact: None,
            images: Vec::new(),
            details: Details::None,
            warnings: Vec::new(),
            touched: Vec::new(),
            usage: None,
            duration: Millis(0),
            asked: Millis(0),
        }
    }
}

/// A file that a call changed, so that a rewind can restore it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The file, absolute.
    #[serde(with = "crate::api::path")]
    pub path: PathBuf,
    /// The blob of its bytes before; none when it was not there.
    pub before: Option<String>,
    /// SHA-256 (hex) of its bytes after; none when it was removed.
    pub after: Option<String>,
    /// Its permission bits before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// How many of the directories right above it were made for it.
    #[serde(default, skip_serializing_if = "none_made")]
    pub made: u32,
}

fn none_asked(asked: &Millis) -> bool {
    asked.0 == 0
}

fn none_left(left: &u32) -> bool {
    *left == 0
}

fn none_made(made: &u32) -> bool {
    *made == 0
}

/// What the screen draws of a call besides its output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Details {
    /// Nothing more.
    #[default]
    None,
    /// Files changed: one unified diff.
    Diff {
        /// The diff's text, bounded.
        diff: String,
        /// Lines added.
        added: u64,
        /// Lines removed.
        removed: u64,
    },
    /// A command ended.
    Command {
        /// How it ended, in words: `exit 0`, `signal SIGTERM`, `time limit`.
        end: String,
        /// Its exit code, if it had one.
        exit_code: Option<i32>,
        /// Processes of its tree that could not be ended, each as `pid command`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        survivors: Vec<String>,
        /// The job that goes on: the command itself, or what it left behind.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<JobId>,
        /// Processes that it left behind, which go on as that job.
        #[serde(default, skip_serializing_if = "none_left")]
        left: u32,
        /// The job whose end the call told the model: the entry of that end is for the person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<JobId>,
    },
    /// Subagents whose ends the call told the model: the entries of those ends are for the person.
    Agents {
        /// Which runs of which.
        told: Vec<AgentRun>,
    },
    /// The list of things to do.
    Todo {
        /// Its items.
        items: Vec<TodoItem>,
    },
}

/// One item of the list of things to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// Not begun.
    Open,
    /// Being worked on.
    Active,
    /// Done.
    Done,
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// For information.
    Info,
    /// Something is not as it should be.
    Warning,
    /// Something failed.
    Error,
}

/// The program says something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// How much it matters.
    pub level: Level,
    /// What happened, to what, what to do next.
    pub text: String,
}

/// Older entries stand summarised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compaction {
    /// The summary that stands in their place.
    pub summary: String,
    /// The first entry that the model still reads verbatim; none: only what comes after this.
    pub keep_from: Option<EntryId>,
    /// The window's fill before.
    pub tokens_before: u64,
    /// The window's fill after, as estimated.
    pub tokens_after: u64,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// The model had said all.
    Done,
    /// It failed.
    Failed,
    /// The person interrupted it.
    Interrupted,
}

impl TurnStatus {
    /// The word of the events and the journal.
    pub fn word(self) -> &'static str {
        match self {
            TurnStatus::Done => "done",
            TurnStatus::Failed => "failed",
            TurnStatus::Interrupted => "interrupted",
        }
    }
}

/// A turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnd {
    /// How.
    pub status: TurnStatus,
    /// Why, when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The model or the mode was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The model from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
}

/// Files were put back as they were, by a rewind or by taking one back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restore {
    /// The files, each with what stood there before the restoring: so that it can be taken back.
    pub touched: Vec<Touched>,
    /// The restoring that this one took back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<EntryId>,
    /// Files that stayed as they were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stayed: Vec<Stayed>,
}

/// A file that was not put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stayed {
    /// The file, absolute.
    #[serde(with = "crate::api::path")]
    pub path: PathBuf,
    /// Why, in words that follow its name.
    pub why: String,
}

/// A record of a kind that this program does not know.
#[derive(Clone, Debug)]
pub struct UnknownEntry {
    /// Its kind.
    pub kind: String,
    /// Its body as it came.
    pub raw: Box<RawValue>,
}
