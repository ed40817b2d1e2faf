//! What a session tells a front end besides the record: answers to queries, and things given back.

use std::path::PathBuf;

use crate::api::account::{ContextPart, TurnTimes, UsageReport};
use crate::api::entry::Level;
use crate::api::hand_back::HandBackReply;
use crate::api::message::Image;
use crate::base::{EntryId, JobId, Millis, SessionId};

/// An event. Nothing that must not be lost travels here alone, but for what is given back.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A message that was not delivered: it belongs back into the composer.
    TakenBack {
        /// The text.
        text: String,
        /// Its images.
        images: Vec<Image>,
    },
    /// A word to the person that is not part of the conversation.
    Said {
        /// How much it matters.
        level: Level,
        /// What happened, to what, what to do next.
        text: String,
    },
    /// The answer to a query.
    Answered {
        /// The asker's number.
        number: u64,
        /// The answer.
        reply: Reply,
    },
    /// A rewind was done.
    Rewound(Rewound),
    /// The branch is a session of its own now.
    Forked(SessionId),
    /// The owner loop has ended; nothing comes after.
    Closed,
}

/// Answers to queries, by the query's name.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Paths relative to the session's directory.
    Files(Vec<String>),
    /// Sessions, newest first.
    Sessions(Vec<SessionInfo>),
    /// Models.
    Models(Vec<ModelInfo>),
    /// A piece of an artifact.
    Artifact {
        /// The text, what is not UTF-8 replaced.
        text: String,
        /// The artifact's whole size in bytes.
        size: u64,
    },
    /// Parts of the window: name, tokens, and a word on each.
    Context(Vec<ContextPart>),
    /// What was spent.
    Usage(UsageReport),
    /// What ran when, by turn.
    Timeline(Vec<TurnTimes>),
    /// A piece of a job's spool.
    JobLog {
        /// The bytes, as the command wrote them.
        bytes: Vec<u8>,
        /// Where they begin.
        offset: u64,
        /// The spool's size now.
        size: u64,
    },
    /// Where the text was found: its first byte; none: nowhere.
    JobFound(Option<u64>),
    /// The branches, in the order of their commits.
    Tree(Vec<TreeEntry>),
    /// What a rewind would do.
    RewindPlan(RewindPlan),
    /// Of the hand-backs.
    HandBack(HandBackReply),
    /// Model servers on loopback.
    Servers(Vec<ServerInfo>),
    /// Custom commands.
    Commands(Vec<CustomCommand>),
    /// Earlier prompts.
    Prompts(Vec<String>),
    /// Earlier prompts of all directories.
    PromptsOfAll(Vec<EarlierPrompt>),
    /// It was done; where.
    Done(String),
    /// It could not be answered; why and what to do.
    Failed(String),
}

/// One row of the tree of a session: an entry, or several that belong together (a call and its result).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The last entry of it: a rewind to the row goes there.
    pub id: EntryId,
    /// The row before it, by its id; a row stands after the one before it.
    pub parent: Option<EntryId>,
    /// When it was committed.
    pub at: Millis,
    /// Whose it is: `you`, `model`, `call`, `job`, `agent`, `files`, `note`, `end`, `setting`, `summary`.
    pub who: &'static str,
    /// A line that says what it is; empty for an answer that only calls.
    pub text: String,
    /// Whether it stands on the branch that is open.
    pub open: bool,
    /// For a message of the person's: the entry itself, and the one that a rewind to before it goes to.
    pub message: Option<(EntryId, Option<EntryId>)>,
}

/// What a rewind would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RewindPlan {
    /// Jobs that it would end.
    pub stops: Vec<JobId>,
    /// Agents that it would stop; their copies are kept.
    pub agents: Vec<String>,
    /// Files that can be put back as they were.
    pub restores: Vec<PathBuf>,
    /// Files that somebody else changed since, and why they would stay as they are.
    pub conflicts: Vec<(PathBuf, String)>,
    /// Commands that ran since: what they changed is not known, and is not put back.
    pub commands: usize,
}

/// What a rewind did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewound {
    /// Jobs that have ended.
    pub stopped: Vec<JobId>,
    /// Jobs that were told to end and have not yet.
    pub stopping: Vec<JobId>,
    /// Agents that were told to stop.
    pub agents: Vec<String>,
    /// Files that were put back.
    pub restored: Vec<PathBuf>,
    /// Files that stay as they are, and why.
    pub conflicts: Vec<(PathBuf, String)>,
}

/// A session, for the picker and `windlass sessions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// Its display name, else the first line of its first message.
    pub title: String,
    /// Its directory.
    pub cwd: PathBuf,
    /// When its journal was last written.
    pub changed: Millis,
    /// Size of its journal in bytes.
    pub bytes: u64,
    /// Who has it open, in words.
    pub holder: Option<String>,
}

/// A model, for the picker.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInfo {
    /// `provider/name`.
    pub id: String,
    /// Its window in tokens, where known.
    pub window: Option<u64>,
    /// Dollars for a million tokens, input and output, where known.
    pub price: Option<(f64, f64)>,
    /// Whether it can be used now (a key is there, or none is needed).
    pub usable: bool,
    /// What is missing, when it cannot.
    pub missing: Option<String>,
}

/// A model server that answers on loopback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// What kind: `Ollama`, `llama.cpp`, `LM Studio`, `vLLM`.
    pub kind: String,
    /// Its base URL.
    pub base_url: String,
    /// Its models.
    pub models: Vec<String>,
}

/// A prompt that was sent once, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierPrompt {
    /// Its text.
    pub text: String,
    /// The directory of its session.
    pub cwd: PathBuf,
}

/// A command of `commands/*.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomCommand {
    /// Its name, without the slash.
    pub name: String,
    /// Its text; `$ARGUMENTS` stands for what is typed after the name.
    pub text: String,
}
