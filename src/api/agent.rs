//! Subagents, as the journal and the front ends see them: children of a session that work for it.
//!
//! An `AgentNode` is what the journal holds of one that has not ended, an `AgentRow` what everything on the screen
//! reads, an `AgentEnd` the entry that tells the person and the model of an end, once. An agent is called by its path:
//! `lexer`, and `lexer/tests` for one that `lexer` asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::api::message::Usage;
use crate::base::{EntryId, Millis, SessionId};
use crate::law::children::{By, End};
use crate::law::hand_back::rise::name_of;
use crate::law::hand_back::tree::TreePath;

/// Where an agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workspace {
    /// In its parent's directory.
    #[default]
    Shared,
    /// In a copy of it, which is handed back at its end.
    Isolated,
}

impl Workspace {
    /// Its word in the tool and the events.
    pub fn word(self) -> &'static str {
        match self {
            Workspace::Shared => "shared",
            Workspace::Isolated => "isolated",
        }
    }
}

/// An agent that was asked for, as its parent's journal holds it until it has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentNode {
    /// Its name under its parent.
    pub name: String,
    /// Its session.
    pub session: SessionId,
    /// Where it works.
    pub workspace: Workspace,
    /// Its own directory (base, copy, versions, records), when it is isolated.
    #[serde(default, with = "crate::api::path::maybe", skip_serializing_if = "Option::is_none")]
    pub room: Option<PathBuf>,
    /// The model that it was given, if not its parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that it may use; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Most tokens that it may use; none: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// Which run of it this is, from 1: one that is woken after its end begins another.
    pub run: u32,
    /// The newest entry when it was asked for: a rewind to it or to an earlier one stops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EntryId>,
    /// When this run was asked for.
    pub asked: Millis,
    /// When it was last given words that begin it: what it was told before is not them.
    #[serde(default)]
    pub told: Millis,
}

/// An agent, as the record shows it. The board's key is its path.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRow {
    /// What it is.
    pub node: AgentNode,
    /// How it is held inside its copy; none: it has none, or that is not known yet.
    pub held: Option<Hold>,
    /// Which paths of the directory are not in its copy, in words; none: all are, or that is not known any more.
    pub lacks: Option<String>,
    /// How it stands.
    pub state: AgentState,
    /// Calls that it made so far.
    pub calls: u64,
    /// Tokens that it used so far.
    pub usage: Usage,
    /// Dollars, where prices are known.
    pub cost: Option<f64>,
    /// What it does now, in words: `bash cargo test`, `answers`, empty when nothing.
    pub now: String,
    /// Questions of it that wait for the person.
    pub asks: usize,
    /// When it began to work.
    pub began: Option<Millis>,
}

/// How an agent is held inside its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// With its commands.
    Held,
    /// It has no commands, for they could not be.
    NoCommands,
    /// Its commands are not, and can reach everything.
    NotHeld,
}

impl Hold {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Hold::Held => "held",
            Hold::NoCommands => "no commands",
            Hold::NotHeld => "not held",
        }
    }
}

/// How an agent stands.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentState {
    /// It waits for a place.
    Waiting {
        /// Its number in the line, from 1.
        number: usize,
    },
    /// Its copy is being made.
    Preparing {
        /// Files and links made so far, in base and copy.
        files: u64,
        /// Of how many, in both; 0 while that is not known.
        of: u64,
    },
    /// It works.
    Working,
    /// It waits for its own agents.
    Resting,
    /// It is being stopped.
    Stopping,
    /// What it changed is being handed back.
    HandingBack,
    /// The program went before it had ended: a message lets it go on, a stop ends it.
    Cut,
    /// It has ended.
    Ended(Arc<AgentEnd>),
}

/// How far a copy is, in words: `84% of 20000 files`; each is made twice, in the base and in the copy. Empty while it
/// is not known how many there are.
pub fn copied(files: u64, of: u64) -> String {
    match of {
        0 => String::new(),
        of => format!("{}% of {} files", files.min(of).saturating_mul(100) / of, of / 2),
    }
}

impl AgentRow {
    /// Whether it has an end still to come in this program.
    pub fn runs(&self) -> bool {
        match self.state {
            AgentState::Waiting { .. }
            | AgentState::Preparing { .. }
            | AgentState::Working
            | AgentState::Resting
            | AgentState::Stopping
            | AgentState::HandingBack => true,
            AgentState::Cut | AgentState::Ended(_) => false,
        }
    }
    /// Its end, once it has one.
    pub fn end(&self) -> Option<&Arc<AgentEnd>> {
        match &self.state {
            AgentState::Ended(end) => Some(end),
            AgentState::Waiting { .. }
            | AgentState::Preparing { .. }
            | AgentState::Working
            | AgentState::Resting
            | AgentState::Stopping
            | AgentState::HandingBack
            | AgentState::Cut => None,
        }
    }
}

/// What came back from an agent's copy: every path that it changed, by what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandBackReport {
    /// The parent's directory has them as the agent left them.
    pub taken: Vec<TreePath>,
    /// Both sides changed them to the same.
    pub same: Vec<TreePath>,
    /// The parent's directory has them as it had them; the agent's versions are kept.
    pub conflicts: Vec<TreePath>,
    /// The ignore rules leave them out; they are still in the copy. What is no file or link is here too.
    pub left_out: Vec<TreePath>,
    /// Somebody saved them at the very moment, and what was saved could not stay there: it is kept with the versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<TreePath>,
    /// What its own agents left: it is open where this one handed back to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<LeftOpen>,
}

/// What an agent's own agent left when that agent ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOpen {
    /// Its name from then on, among the hand-backs: `lexer/x`.
    pub name: String,
    /// Its conflicts that were open then.
    pub conflicts: Vec<TreePath>,
    /// Whether it had handed back; else its work is in its copy only.
    pub handed: bool,
}

impl LeftOpen {
    /// In words: `2 conflicts of lexer/x`, `lexer/x has not handed back`.
    pub fn words(&self) -> String {
        Self::told(&self.name, self.handed, self.conflicts.len())
    }

    /// The same of numbers.
    pub fn told(name: &str, handed: bool, conflicts: usize) -> String {
        match (handed, conflicts) {
            (false, _) => format!("{name} has not handed back"),
            (true, 1) => format!("1 conflict of {name}"),
            (true, many) => format!("{many} conflicts of {name}"),
        }
    }
}

impl HandBackReport {
    /// In words, the conflicts first: `1 conflict, 3 taken`; `nothing changed`.
    pub fn words(&self) -> String {
        self.words_now(None)
    }

    /// The same, with how many of its own conflicts are open now, where that is known: `2 conflicts (both resolved)`.
    pub fn words_now(&self, open: Option<usize>) -> String {
        let counts = [&self.taken, &self.same, &self.conflicts, &self.left_out].map(Vec::len);
        let mut words: Vec<String> = self.below.iter().map(LeftOpen::words).collect();
        if counts != [0; 4] || words.is_empty() {
            let mut own = Self::in_numbers(counts);
            let all = self.conflicts.len();
            let stand = open.map(|open| stand(all, open)).filter(|words| all > 0 && !words.is_empty());
            if let Some(words) = stand {
                let end = own.find(',').unwrap_or(own.len());
                own.insert_str(end, &format!(" ({words})"));
            }
            words.insert(0, own);
        }
        if let kept @ 1.. = self.kept.len() {
            words.push(format!("{kept} saved meanwhile and kept"));
        }
        words.join(", ")
    }

    /// Whether it left conflicts: its own, or those of its agents.
    pub fn has_conflicts(&self) -> bool {
        !self.conflicts.is_empty() || self.below.iter().any(|below| !below.conflicts.is_empty())
    }

    /// The same of numbers: taken, same, conflicts, left out.
    pub fn in_numbers([taken, same, conflicts, left_out]: [usize; 4]) -> String {
        let conflict = if conflicts == 1 { "conflict" } else { "conflicts" };
        let counts = [(conflicts, conflict), (taken, "taken"), (same, "same"), (left_out, "left out")];
        let words: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        if words.is_empty() { "nothing changed".to_owned() } else { words.join(", ") }
    }
}

/// How so many conflicts stand, of which some are open: `both resolved`, `1 open`; empty where all are open.
pub fn stand(all: usize, open: usize) -> String {
    match (all, open.min(all)) {
        (all, open) if all == open => String::new(),
        (1, 0) => "resolved".to_owned(),
        (2, 0) => "both resolved".to_owned(),
        (_, 0) => "all resolved".to_owned(),
        (_, open) => format!("{open} open"),
    }
}

/// An agent ended: the entry of the conversation. The model is told by it, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentEnd {
    /// Which.
    pub node: AgentNode,
    /// How.
    pub end: End,
    /// The last that it said; empty when nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
    /// Calls that it made.
    pub calls: u64,
    /// Tokens that it used.
    pub usage: Usage,
    /// Dollars, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// What came back from its copy; none: it had none, or it was kept as it is (`trouble` says why).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hand_back: Option<HandBackReport>,
    /// What went wrong beside it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Its end was told before: what it changed was not handed back then, and is now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// When.
    pub ended: Millis,
    /// How long it took from the asking.
    pub duration: Millis,
}

impl AgentNode {
    /// Its name among the hand-backs: that of its own directory, which tells the run, and whose agent it was where it
    /// rose; none: it has no copy.
    pub fn hand_back_name(&self) -> Option<String> {
        let name = self.room.as_deref().and_then(Path::file_name)?;
        Some(name_of(name.to_str()?))
    }
}

impl AgentEnd {
    /// Whether something that it left is open: its own, or what its agents left. `open`: whose hand-backs have open
    /// conflicts.
    pub fn is_open(&self, open: &BTreeMap<String, usize>) -> bool {
        let own = self.node.hand_back_name().is_some_and(|name| open.contains_key(&name));
        let below = self.hand_back.iter().flat_map(|report| &report.below);
        own || below.into_iter().any(|below| open.contains_key(&below.name))
    }

    /// Whether what it changed was to be handed back, and could not be: it is in its copy only.
    pub fn hand_back_failed(&self) -> bool {
        let rewound = self.end == End::Stopped { by: By::Rewind };
        !rewound && self.node.room.is_some() && self.hand_back.is_none() && self.trouble.is_some()
    }

    /// The same with what came of the hand-back that was tried again.
    #[must_use]
    pub fn with_hand_back(&self, again: &AgentEnd) -> AgentEnd {
        let (hand_back, trouble) = (again.hand_back.clone(), again.trouble.clone());
        AgentEnd { hand_back, trouble, ..self.clone() }
    }
}

/// A run of an agent whose end was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRun {
    /// The agent's name under its parent.
    pub name: String,
    /// Which run.
    pub run: u32,
}
