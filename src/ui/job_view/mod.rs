//! One job over the whole screen: its log, or its terminal's picture, and typing into it.
//!
//! `held` and `log` are the output in pieces, `find` the search in it, `select` what is taken of it by mouse and keys, `act` what keys do, `attach` what is typed
//! while a person is attached, `view` draws. Deliberately not here: what is drawn of a picture (`widget::terminal`)
//! and the bytes of keys (`input::encode`).

mod act;
mod attach;
mod find;
mod held;
mod log;
mod select;
mod view;

use std::sync::Arc;

use crate::api::board::Record;
use crate::api::command::{Command, JobAsk, Query};
use crate::api::job::{JobRow, JobState};
use crate::api::screen::{Screen, Size};
use crate::base::{JobId, Millis};
use crate::ui::model::{Asker, Model};
use crate::ui::msg::Effect;
use find::Find;
use log::Log;

/// So many views that were left keep their place.
const LEFT_MAX: usize = 8;

pub use act::{act, fits, on_key, on_mouse, pieces, search};
pub use attach::{attach, on_input};
pub use select::{carry_out, pull};
pub use view::{body, view};

/// What the view remembers.
#[derive(Debug)]
pub struct State {
    /// Which job.
    pub job: JobId,
    log: Log,
    find: Option<Find>,
    /// What is selected of the log.
    pick: crate::ui::widget::select::Picker<u64>,
    /// The log is shown although there is a picture.
    raw: bool,
    attached: Attached,
    /// The size that the job's terminal was given.
    given: Option<Size>,
    /// Counts the searches: an answer to an older one is not for this one.
    searches: u64,
}

/// Whether what is typed goes to the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attached {
    No,
    /// It does.
    Yes {
        /// Leaving it leaves the view too: one came from the list.
        back: bool,
        /// Keys of which the first may begin to leave it.
        chord: Option<crate::ui::input::Key>,
    },
    /// It did; the job has ended, and what is typed goes nowhere.
    Over {
        /// Since when that is seen.
        since: Option<Millis>,
    },
}

impl State {
    fn new(job: JobId) -> Self {
        Self {
            job,
            log: Log::default(),
            find: None,
            pick: crate::ui::widget::select::Picker::default(),
            raw: false,
            attached: Attached::No,
            given: None,
            searches: 0,
        }
    }
    /// Whether what is typed is the job's, and must be recorded nowhere.
    pub fn attached(&self) -> bool {
        self.attached != Attached::No
    }
    /// The picture, where it is what is shown. Of a running job none at first: it is on its way.
    fn picture<'a>(&self, row: &'a JobRow) -> Option<Option<&'a Arc<Screen>>> {
        let shown = row.node.terminal && !self.raw && (row.screen.is_some() || row.runs());
        shown.then_some(row.screen.as_ref())
    }
}

/// Bytes of output that a job has told.
fn bytes(row: &JobRow) -> u64 {
    match &row.state {
        JobState::Sought | JobState::Running | JobState::Ending { .. } => row.bytes,
        JobState::Ended(outcome) => outcome.bytes.max(row.bytes),
    }
}

/// Opens the view of a job.
pub fn open(model: &mut Model, job: JobId, out: &mut Vec<Effect>) {
    close(model, out);
    let Some(row) = model.jobs.get(job) else { return };
    if row.node.terminal && row.runs() {
        out.push(Effect::Send(Command::Job { job, ask: JobAsk::Watch(true) }));
    }
    // one that was left stands where it was
    let before = model.left.jobs.iter().position(|view| view.job == job);
    let view = before.map(|at| model.left.jobs.remove(at)).unwrap_or_else(|| State::new(job));
    model.job_view = Some(view);
    size(model, out);
}

/// Leaves the view.
pub fn close(model: &mut Model, out: &mut Vec<Effect>) {
    let Some(mut state) = model.job_view.take() else { return };
    if model.jobs.get(state.job).is_some_and(|row| row.node.terminal && row.runs()) {
        out.push(Effect::Send(Command::Job { job: state.job, ask: JobAsk::Watch(false) }));
    }
    // what it asked for finds it no more
    state.log.lost(None);
    state.find = state.find.map(|find| Find { asked: None, ..find });
    (state.attached, state.given) = (Attached::No, None);
    state.pick.clear();
    if model.left.jobs.len() >= LEFT_MAX {
        model.left.jobs.remove(0);
    }
    model.left.jobs.push(state);
}

/// Gives the job's terminal the size of the place that its picture has.
pub fn size(model: &mut Model, out: &mut Vec<Effect>) {
    let (columns, rows) = model.size;
    let place = body(ratatui::layout::Rect::new(0, 0, columns, rows));
    let Some(state) = &mut model.job_view else { return };
    let Some(row) = model.jobs.get(state.job) else { return };
    let size = Size { rows: place.height, cols: place.width };
    if row.node.terminal && row.runs() && !place.is_empty() && state.given != Some(size) {
        state.given = Some(size);
        out.push(Effect::Send(Command::Job { job: state.job, ask: JobAsk::Resize(size) }));
    }
}

/// The piece of the log that what was drawn last needs beside what is held.
pub fn wants(model: &mut Model) -> Option<Command> {
    let state = model.job_view.as_mut()?;
    let row = model.jobs.get(state.job)?;
    if state.picture(row).is_some() {
        return None;
    }
    let (offset, limit) = state.log.want(bytes(row))?;
    let job = state.job;
    match model.ask(Asker::JobLog(job), Query::JobLog { job, offset, limit }) {
        Effect::Send(command) => Some(command),
        _ => None,
    }
}

/// Whether a job that is typed into has another picture than the one that was drawn: that is drawn at once.
pub fn answers(model: &Model, record: &Record) -> bool {
    let Some(state) = model.job_view.as_ref().filter(|state| state.attached()) else { return false };
    let drawn = model.jobs.get(state.job).and_then(|row| row.screen.as_ref());
    let now = record.jobs.get(&state.job).and_then(|row| row.screen.as_ref());
    match (drawn, now) {
        (Some(drawn), Some(now)) => !Arc::ptr_eq(drawn, now),
        (drawn, now) => drawn.is_some() != now.is_some(),
    }
}

#[cfg(test)]
mod tests;
