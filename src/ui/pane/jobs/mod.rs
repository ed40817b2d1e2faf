//! The jobs pane: every job with its state, pushed by the board. Selection is by id, so that a key
//! never hits a neighbour when rows move or end.
//!
//! `words` says how a job stands, `update` what keys do, `view` draws. Deliberately not here: the view of
//! one job (`ui::job_view`), and the end itself, which comes from the job's own process.

mod signals;
mod update;
mod view;
mod words;

use crate::api::board::Record;
use crate::api::command::JobAsk;
use crate::api::job::{JobRow, JobState};
use crate::base::JobId;
use crate::law::board::Picture;
use crate::ui::action::Action;
use crate::ui::pane::list::{self, List, Stands};

pub use signals::{SIGNALS, signals};
pub use update::{one, update};
pub use view::{Shown, counts, view};
pub use words::{bytes, cause, command, ended, ending, matters, stands};

/// What the pane remembers.
#[derive(Debug, Default)]
pub struct State {
    picture: Picture<JobId, JobRow>,
    /// Those that match the search.
    list: List<JobId>,
    search: String,
}

/// What can happen to the pane.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// Moves in the list.
    List(list::Msg),
    /// Only jobs with this text are listed.
    Search(String),
    /// A key that is bound.
    Do(Action),
}

/// What the pane wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Do something with a job.
    Ask(JobId, JobAsk),
    /// Show the job's view, or attach to it.
    Open(JobId, bool),
    /// Offer the signals that can be sent to it.
    Signals(JobId),
    /// Type what is looked for.
    Find,
    /// Copy to the clipboard.
    Copy(String),
    /// Back to the composer.
    Leave,
    /// Tell the person.
    Say(String),
}

impl State {
    /// Takes what is new; whether anything changed.
    pub fn sync(&mut self, record: &Record) -> bool {
        let changed = self.picture.update(&record.jobs);
        if changed {
            self.arrange();
        }
        changed
    }
    /// A job.
    pub fn get(&self, job: JobId) -> Option<&JobRow> {
        self.picture.get(&job)
    }
    /// The jobs that run, by id.
    pub fn running(&self) -> impl Iterator<Item = (JobId, &JobRow)> {
        self.picture.iter().filter(|(_, row)| row.runs()).map(|(job, row)| (*job, row))
    }
    /// All jobs, those that ended too.
    pub fn iter(&self) -> impl Iterator<Item = (JobId, &JobRow)> {
        self.picture.iter().map(|(job, row)| (*job, row))
    }
    /// The job that keys are for.
    pub fn selected(&self) -> Option<JobId> {
        self.list.chosen().copied()
    }
    /// The jobs as they are listed.
    pub fn listed(&self) -> &[JobId] {
        self.list.keys()
    }
    /// What is looked for.
    pub fn search(&self) -> &str {
        &self.search
    }
    /// A job that waits for input; the one that is selected first.
    pub fn waits(&self) -> Option<JobId> {
        let waits = |job: &JobId| self.get(*job).is_some_and(|row| row.waiting && row.runs());
        let any = || self.picture.iter().map(|(job, _)| *job).find(waits);
        self.selected().filter(waits).or_else(any)
    }
    /// The pane gets the focus: a job that waits is selected, else what was before, else what can be.
    pub fn entered(&mut self) {
        let asks = self.waits().and_then(|job| self.listed().iter().position(|listed| *listed == job));
        if let Some(at) = asks {
            self.list.choose(at);
        }
        self.list.enter();
    }
    /// Whether the last frame showed a job.
    pub fn drawn(&self) -> bool {
        self.list.drawn()
    }
    /// The person takes a job off the list.
    pub fn dismissing(&mut self, job: JobId) {
        self.list.leaving(job);
    }
    /// Running ones by id, then those that ended, the newest first.
    fn arrange(&mut self) {
        let wanted = self.search.to_lowercase();
        let matches = |job: JobId, row: &JobRow| {
            wanted.is_empty()
                || row.node.command.to_lowercase().contains(&wanted)
                || job.to_string().contains(&wanted)
        };
        let mut all: Vec<(bool, u64, JobId)> = self
            .picture
            .iter()
            .filter(|(job, row)| matches(**job, row))
            .map(|(job, row)| match &row.state {
                JobState::Sought | JobState::Running | JobState::Ending { .. } => {
                    (false, u64::from(job.0), *job)
                }
                JobState::Ended(outcome) => (true, u64::MAX - outcome.ended.0, *job),
            })
            .collect();
        all.sort_by_key(|(ended, by, job)| (*ended, *by, std::cmp::Reverse(*job)));
        let stands = |job: &JobId| match all.iter().position(|(_, _, of)| of == job) {
            Some(at) => Stands::At(at),
            None if self.picture.get(job).is_some() => Stands::Hidden,
            None => Stands::Gone,
        };
        self.list.set(all.iter().map(|(_, _, job)| *job).collect(), stands);
    }
}

#[cfg(test)]
mod tests;
