//! The record that every front end reads: the committed branch, and what runs now.
//!
//! Plain data. `link` holds it behind one lock, so that a reader sees one moment of all of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::api::access::{Approval, Mode};
use crate::api::agent::AgentRow;
use crate::api::entry::Entry;
use crate::api::job::JobRow;
use crate::api::message::Usage;
use crate::base::{JobId, Millis, SessionId};
use crate::law::board::Board;

/// What the session does at this moment.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    /// Nothing: it waits for the person.
    #[default]
    Idle,
    /// The session is being opened; its entries are not here yet.
    Opening,
    /// A request was sent; nothing came yet.
    Waiting,
    /// The answer streams in.
    Streaming,
    /// Calls run, or wait for an approval.
    Calling,
    /// A request failed; the next try comes by itself.
    Retrying {
        /// Which try it will be, from 2.
        attempt: u32,
        /// When.
        at: Millis,
        /// Why the last one failed, in the provider's words.
        why: String,
    },
    /// Older entries are being summarised.
    Compacting,
    /// An interrupt was heard; what ran is being ended.
    Stopping,
}

impl Phase {
    /// Whether a turn is under way.
    pub fn busy(&self) -> bool {
        !matches!(self, Phase::Idle | Phase::Opening)
    }
}

/// How full the model's window is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Tokens in the window: the provider's count of the last answer plus an estimate of what came since.
    pub used: Option<u64>,
    /// The window's size; none: unknown.
    pub window: Option<u64>,
}

/// A message of the person that is not delivered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Names it in commands.
    pub id: u64,
    /// The text.
    pub text: String,
    /// Whether it waits for the end of the turn (else: for the next tool boundary).
    pub after_turn: bool,
}

/// What the title line and the status line tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The session.
    pub session: SessionId,
    /// Its display name; empty until named.
    pub title: String,
    /// Its directory.
    pub cwd: PathBuf,
    /// The git branch, with `*` when the tree is dirty; none outside git or not known yet.
    pub branch: Option<String>,
    /// The model, as `provider/name`; empty: none chosen.
    pub model: String,
    /// Whether the model is a script.
    pub scripted: bool,
    /// Whether this is the rehearsal.
    pub rehearsal: bool,
    /// The mode.
    pub mode: Mode,
    /// The confinement of commands, in words: `unconfined`.
    pub profile: String,
    /// Whether the directory's own settings are read; none where it has none.
    pub trusted: Option<bool>,
    /// Another program holds the session: nothing can be sent. Says who.
    pub read_only: Option<String>,
    /// What it does now.
    pub phase: Phase,
    /// When the running turn began.
    pub turn_began: Option<Millis>,
    /// The window.
    pub context: Context,
    /// Tokens of the session so far.
    pub usage: Usage,
    /// Cost of the session so far in US dollars; none where prices are not known.
    pub cost: Option<f64>,
    /// Messages not delivered yet, in order.
    pub pending: Vec<Pending>,
    /// Conflicts of this session's hand-backs that nobody resolved yet.
    pub open_conflicts: usize,
    /// How many of them each child left that left some, by the names of their copies: `lexer`, `lexer.2`.
    pub conflicted: BTreeMap<String, usize>,
    /// How often they were counted.
    pub counted: u64,
    /// Ends of its agents that the session did not take in yet: they may begin a turn.
    pub untold_ends: usize,
}

impl Status {
    /// The open conflicts of each child; none: they were not counted yet.
    pub fn conflicted(&self) -> Option<&BTreeMap<String, usize>> {
        (self.counted > 0).then_some(&self.conflicted)
    }
}

/// What kind of part of an answer streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Markdown for the person.
    Text,
    /// The model's thinking.
    Thinking,
    /// The arguments of a call of this tool, as JSON text.
    Call(String),
}

/// One part of the answer that streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// All of it so far; only ever appended to.
    pub text: String,
}

/// The answer that streams in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Which answer of this process it is, from 1. A new number: forget the parts of the one before.
    pub number: u64,
    /// Its parts; empty when none streams.
    pub parts: Vec<Part>,
}

/// The one record.
#[derive(Debug)]
pub struct Record {
    /// The entries from the root to the head.
    pub path: Vec<Arc<Entry>>,
    /// Counts how often `path` was replaced by another branch. Within an epoch it only grows.
    pub epoch: u64,
    /// The answer that streams in.
    pub live: Live,
    /// The running calls and their progress.
    pub calls: Board,
    /// The jobs: those that run, and those that ended and were not dismissed.
    pub jobs: Board<JobId, JobRow>,
    /// The subagents by their paths, those of subagents too: those that have not ended, and those that ended and were
    /// not dismissed.
    pub agents: Board<String, AgentRow>,
    /// Questions to the person, oldest first.
    pub approvals: Arc<Vec<Approval>>,
    /// All that the title tells.
    pub status: Arc<Status>,
    /// Counts every change of anything here.
    pub revision: u64,
}
