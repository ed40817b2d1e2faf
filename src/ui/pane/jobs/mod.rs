//! The jobs pane: every job with its state, pushed by the board. Selection is by id, so that a key
//! never hits a neighbour when rows move or end.
//!
//! `words` says how a job stands, `update` what keys do, `view` draws. Deliberately not here: the view of
//! one job (`ui::job_view`), and the end itself, which comes from the job's own process.

mod signals;
mod update;
mod view;
mod words;

use std::collections::BTreeSet;

use crate::api::board::Record;
use crate::api::command::JobAsk;
use crate::api::job::{JobRow, JobState};
use crate::base::{JobId, Millis};
use crate::law::board::Picture;
use crate::ui::action::Action;

pub use signals::{SIGNALS, signals};
pub use update::{one, update};
pub use view::{Shown, counts, view};
pub use words::{bytes, cause, command, ended, ending, matters, stands};

/// What the pane remembers.
#[derive(Debug, Default)]
pub struct State {
    picture: Picture<JobId, JobRow>,
    /// The jobs as they are listed: those that match the search.
    order: Vec<JobId>,
    selected: Option<JobId>,
    /// Where the selection is or was: moving goes on from there.
    place: usize,
    search: String,
    /// The first listed job that is drawn.
    top: usize,
    /// The selection is to be brought into sight.
    show: bool,
    /// Rows of the pane as last drawn.
    height: usize,
    /// Which job each row shows, as last drawn.
    rows: Vec<JobId>,
    clicked: Option<(JobId, Millis)>,
    /// Jobs that the person takes off the list: when the selected one goes, its neighbour is selected.
    dismissed: BTreeSet<JobId>,
    /// Whether the last frame showed the pane.
    pub drawn: bool,
}

/// What can happen to the pane.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// The selection goes so many rows down.
    Move(i32),
    /// By so many pages.
    Page(i32),
    /// To the first.
    First,
    /// To the last.
    Last,
    /// The list goes so many rows down, the selection stays on its job.
    Scroll(i32),
    /// A click on this row of the pane.
    Click(u16),
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
            self.list();
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
        self.selected.filter(|job| self.order.contains(job))
    }
    /// The jobs as they are listed.
    pub fn listed(&self) -> &[JobId] {
        &self.order
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
        let asks = self.waits().and_then(|job| self.order.iter().position(|listed| *listed == job));
        if let Some(at) = asks {
            self.choose(at);
        } else if self.selected().is_none() {
            self.choose(self.place);
        }
        self.show = true;
    }
    /// The person takes a job off the list.
    pub fn dismissing(&mut self, job: JobId) {
        self.dismissed.insert(job);
    }
    /// Running ones by id, then those that ended, the newest first.
    fn list(&mut self) {
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
        self.order = all.into_iter().map(|(_, _, job)| job).collect();
        if let Some(gone) = self.selected.filter(|job| self.picture.get(job).is_none()) {
            self.selected = None;
            // one that went by itself leaves nothing selected: the next key was not meant for its neighbour
            if self.dismissed.contains(&gone) {
                self.choose(self.place);
            }
        }
        self.dismissed.retain(|job| self.picture.get(job).is_some());
        if let Some(at) = self.at() {
            self.show |= at != self.place;
            self.place = at;
        }
    }
    /// Where the selection is listed.
    fn at(&self) -> Option<usize> {
        let selected = self.selected?;
        self.order.iter().position(|job| *job == selected)
    }
    /// Selects what is listed there, or the nearest.
    fn choose(&mut self, at: usize) {
        self.place = at.min(self.order.len().saturating_sub(1));
        self.selected = self.order.get(self.place).copied();
        self.show = true;
    }
}

#[cfg(test)]
mod tests;
