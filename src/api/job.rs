//! Jobs, as the journal and the front ends see them: work that outlives its call.
//!
//! A `JobNode` is what the journal holds of a running job; a `JobRow` is what everything on the screen
//! reads; a `JobEnd` is the entry that tells the person and the model of the end, once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::api::screen::Screen;
use crate::base::{CallId, EntryId, JobId, Millis};
use crate::law::job::{By, End, Stage};

/// Who started a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Starter {
    /// A call of the model.
    Model,
    /// The person, with `!` (or `!!`).
    Person,
    /// Nobody: processes that lived on when their command had ended.
    Left,
}

/// What tells a person of an end, and of what waits for them, while the window is not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// Nothing.
    Off,
    /// The terminal's bell.
    #[default]
    Bell,
    /// A message of the terminal (`OSC 9`: iTerm2, ghostty, WezTerm).
    Osc9,
    /// A message of the terminal (`OSC 777`: foot, rxvt, ghostty, VTE).
    Osc777,
    /// A message of the terminal (`OSC 99`: kitty, foot).
    Osc99,
    /// A message of the desktop.
    Desktop,
}

impl Notify {
    /// Its word in the settings.
    pub fn word(self) -> &'static str {
        match self {
            Notify::Off => "off",
            Notify::Bell => "bell",
            Notify::Osc9 => "osc9",
            Notify::Osc777 => "osc777",
            Notify::Osc99 => "osc99",
            Notify::Desktop => "desktop",
        }
    }
    /// Of its word.
    pub fn parse(word: &str) -> Option<Self> {
        use Notify as N;
        [N::Off, N::Bell, N::Osc9, N::Osc777, N::Osc99, N::Desktop].into_iter().find(|n| n.word() == word)
    }
}

/// A running job, as the session's journal holds it. Its directory is that of its call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobNode {
    /// Which.
    pub id: JobId,
    /// The call that it comes from.
    pub call: CallId,
    /// The command line, as it was given.
    pub command: String,
    /// Where it runs.
    #[serde(with = "crate::api::path")]
    pub cwd: PathBuf,
    /// Who started it.
    pub by: Starter,
    /// Whether it is kept from the model (`!!`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Whether it has a terminal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
    /// The newest entry when the command was started: a rewind to it or to an earlier one ends the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EntryId>,
    /// When the command was started.
    pub began: Millis,
}

/// A job, as the record shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    /// What it is.
    pub node: JobNode,
    /// Its own process; 0 where it is not known (a job that was lost).
    pub pid: i32,
    /// How it stands.
    pub state: JobState,
    /// Whether it goes on when the program ends.
    pub kept: bool,
    /// Bytes of output so far.
    pub bytes: u64,
    /// Lines of output so far.
    pub lines: u64,
    /// The newest part of its output as plain text, bounded.
    pub tail: String,
    /// It seems to wait for input from its terminal.
    pub waiting: bool,
    /// Its own process is stopped (SIGSTOP, a key of its terminal): it does nothing until it is continued.
    pub stopped: bool,
    /// Its terminal's picture, while somebody looks at it.
    pub screen: Option<Arc<Screen>>,
    /// The file with every byte of its output.
    pub spool: PathBuf,
}

/// How a job stands.
#[derive(Clone, Debug, PartialEq)]
pub enum JobState {
    /// It is of an earlier program, and is being looked up: whether it runs is not known yet.
    Sought,
    /// It runs.
    Running,
    /// It is being ended.
    Ending {
        /// By whom.
        by: By,
        /// How far that is.
        stage: Stage,
    },
    /// It has ended.
    Ended(Arc<JobOutcome>),
}

/// How a job ended: all that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOutcome {
    /// Who and why.
    #[serde(flatten)]
    pub end: End,
    /// The code that its own process ended with, if it ended so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that its own process died of, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<i32>,
    /// When.
    pub ended: Millis,
    /// How long it ran, as far as is known; of one that was lost 0: it is not known at all.
    pub duration: Millis,
    /// Bytes of output.
    pub bytes: u64,
    /// Lines of output.
    pub lines: u64,
    /// Its last lines, as plain text, bounded.
    pub last: String,
    /// Processes that were ended with it.
    #[serde(default)]
    pub gone: u32,
    /// Processes that could not be ended, each as `pid command`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<String>,
    /// What went wrong beside the command, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// A job ended: the entry of the conversation. The model is told by it, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    /// Which.
    pub job: JobId,
    /// The call that it came from.
    pub call: CallId,
    /// Its command line.
    pub command: String,
    /// Whether it is kept from the model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Whether it is what its command left behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: JobOutcome,
}

/// What a command left behind writes here, beside the file of its own output.
pub const LEFT_OUTPUT_FILE: &str = "left";

impl JobEnd {
    /// The file with all of its output, beside or in the one of its call.
    pub fn output(&self, spool: &Path) -> PathBuf {
        // the ends of an earlier version do not say whether it was left behind, but only such a job ends so
        if self.left || self.outcome.end == End::Ended {
            spool.with_file_name(LEFT_OUTPUT_FILE)
        } else {
            spool.to_owned()
        }
    }
}

impl JobState {
    /// In words: `running`, `TERM sent to 3`, `stopped by you, 3 processes gone`.
    pub fn words(&self) -> String {
        match self {
            JobState::Sought => "being looked up".to_owned(),
            JobState::Running => "running".to_owned(),
            JobState::Ending { stage: Stage::Asked { processes }, .. } => format!("TERM sent to {processes}"),
            JobState::Ending { stage: Stage::Destroyed { processes }, .. } => {
                format!("KILL sent to {processes}")
            }
            JobState::Ended(outcome) => outcome.words(),
        }
    }
}

impl JobOutcome {
    /// How long it ran, as far as is known; none: nobody knows.
    pub fn lasted(&self) -> Option<Millis> {
        (self.end != End::Lost || self.duration > Millis(0)).then_some(self.duration)
    }

    /// In words: who and why, and what became of its tree.
    pub fn words(&self) -> String {
        Self::words_of(&self.end, self.gone, &self.survivors)
    }

    /// The same of an end of which only that much is known.
    pub fn words_of(end: &End, gone: u32, survivors: &[String]) -> String {
        let words = match end {
            End::Lost => "lost".to_owned(),
            end => end.words(),
        };
        match tree(end, gone, survivors) {
            Some(tree) => format!("{words}, {tree}"),
            None => words,
        }
    }

    /// What became of its tree, where somebody ended it: `3 processes gone`, `1 not ended`.
    pub fn tree(&self) -> Option<String> {
        tree(&self.end, self.gone, &self.survivors)
    }
}

fn tree(end: &End, gone: u32, survivors: &[String]) -> Option<String> {
    if !survivors.is_empty() {
        return Some(format!("{} not ended", survivors.len()));
    }
    match (end, gone) {
        (End::Killed { .. }, 1) => Some("1 process gone".to_owned()),
        (End::Killed { .. }, n) if n > 1 => Some(format!("{n} processes gone")),
        _ => None,
    }
}

impl JobRow {
    /// Whether it has not ended, as far as is known.
    pub fn runs(&self) -> bool {
        match self.state {
            JobState::Sought | JobState::Running | JobState::Ending { .. } => true,
            JobState::Ended(_) => false,
        }
    }
}
