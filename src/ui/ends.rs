//! What a person who looks elsewhere is told of: turns, jobs and agents that ended, read from the committed entries
//! by position, and what waits for an answer of theirs. Whether somebody looks is what the terminal says of its focus;
//! where it says nothing, that no key came for a while. Deliberately not here: how it is told (`run` writes it, the
//! host asks the desktop), and the window's title (`window`).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::access::Approval;
use crate::api::board::{Phase, Record};
use crate::api::entry::{Entry, EntryBody, TurnStatus};
use crate::api::job::Notify;
use crate::base::{CallId, JobId, Millis};
use crate::ui::clipboard::{Between, through};
use crate::ui::widget::text::{ellipsis, tame};

/// Columns of a notification.
const COLUMNS_MAX: usize = 120;

/// Whether the window has the focus, as far as its terminal tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Focus {
    /// It has not told.
    #[default]
    Unknown,
    /// Somebody looks.
    Has,
    /// Nobody does.
    Lost,
}

/// What a word is about: a question that was answered meanwhile is told no more.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Of {
    End,
    Question(CallId),
    Input(JobId),
}

/// What was looked at, and what is to be told.
#[derive(Debug, Default)]
pub struct Ends {
    epoch: u64,
    seen: usize,
    opened: bool,
    focus: Focus,
    /// When the last key came.
    key_at: Millis,
    /// Where the terminal does not tell, nobody looks when no key came for so long. 0: somebody always does.
    after: Millis,
    /// The questions that were open when it was looked last.
    questions: BTreeSet<CallId>,
    /// The jobs that waited for input then.
    inputs: BTreeSet<JobId>,
    /// Those of which it was told since the last key: one that waits now and then rings once.
    rung: BTreeSet<JobId>,
    told: Option<(Of, String)>,
}

impl Ends {
    /// Nothing yet. `after`: where the terminal does not tell, nobody looks when no key came for so long; 0:
    /// somebody always does.
    pub fn new(after: Millis) -> Self {
        Self { after, ..Self::default() }
    }
    /// Looks at what came since; what was there at the opening is no news. `typed_at`: the job that has the keys.
    pub fn sync(&mut self, record: &Record, typed_at: Option<JobId>) {
        let opening = record.status.phase == Phase::Opening;
        let fresh = self.opened && record.epoch == self.epoch && self.seen <= record.path.len();
        let end = fresh.then(|| record.path[self.seen..].iter().rev().find_map(says)).flatten();
        (self.epoch, self.seen, self.opened) = (record.epoch, record.path.len(), !opening);
        let asks = self.questions(&record.approvals);
        let inputs = self.inputs(record, typed_at);
        self.told = match self.told.take() {
            Some((Of::Question(call), _)) if !self.questions.contains(&call) => None,
            Some((Of::Input(job), _)) if !self.inputs.contains(&job) => None,
            told => told,
        };
        // an end says less than what still waits
        let waits = asks.or(inputs);
        let end = end.map(|text| (Of::End, text)).filter(|_| !self.waits());
        self.told = waits.or(end).or(self.told.take()).filter(|_| self.may_be_away());
    }

    fn waits(&self) -> bool {
        matches!(self.told, Some((Of::Question(_) | Of::Input(_), _)))
    }

    /// The newest question that is new.
    fn questions(&mut self, approvals: &[Approval]) -> Option<(Of, String)> {
        let new = approvals.iter().rev().find(|asked| !self.questions.contains(&asked.call));
        let new = new
            .map(|asked| (Of::Question(asked.call.clone()), line(&format!("waits for you: {}", who(asked)))));
        let same = approvals.len() == self.questions.len();
        if !same || new.is_some() {
            self.questions = approvals.iter().map(|asked| asked.call.clone()).collect();
        }
        new
    }

    /// A job that began to wait for input.
    fn inputs(&mut self, record: &Record, typed_at: Option<JobId>) -> Option<(Of, String)> {
        let rows =
            record.jobs.iter().filter(|(job, row)| row.waiting && row.runs() && Some(**job) != typed_at);
        let now: Vec<_> = rows.collect();
        let new = now.iter().find(|(job, _)| !self.inputs.contains(*job) && !self.rung.contains(*job));
        let new = new.map(|(job, row)| {
            (Of::Input(**job), line(&format!("{job} waits for input · {}", row.node.command)))
        });
        if let Some((Of::Input(job), _)) = &new
            && self.may_be_away()
        {
            self.rung.insert(*job);
        }
        self.inputs = now.iter().map(|(job, _)| **job).collect();
        new
    }

    /// The terminal's window got or lost the focus.
    pub fn focus(&mut self, has: bool) {
        self.focus = if has { Focus::Has } else { Focus::Lost };
        if has {
            self.back();
        }
    }

    /// The terminal says that it will tell of the focus; who started the program looks at it.
    pub fn tells(&mut self) {
        if self.focus == Focus::Unknown {
            self.focus(true);
        }
    }

    /// A key came: somebody is there.
    pub fn key(&mut self, now: Millis) {
        self.key_at = now;
        if self.focus != Focus::Lost {
            self.back();
        }
    }

    fn back(&mut self) {
        self.told = None;
        self.rung.clear();
    }

    fn may_be_away(&self) -> bool {
        match self.focus {
            Focus::Has => false,
            Focus::Lost => true,
            Focus::Unknown => self.after > Millis(0),
        }
    }

    /// When something is to be told; none: there is nothing.
    pub fn due(&self) -> Option<Millis> {
        self.told.as_ref().map(|_| match self.focus {
            Focus::Unknown => self.key_at.plus(self.after),
            Focus::Has | Focus::Lost => Millis(0),
        })
    }

    /// What is to be told now, once; of several the newest.
    pub fn take(&mut self, now: Millis) -> Option<String> {
        self.due().filter(|at| *at <= now)?;
        self.told.take().map(|(_, text)| text)
    }
}

/// Who asks, and for what: `bash`, `lexer: bash`.
pub fn who(asked: &Approval) -> String {
    match &asked.agent {
        Some(agent) => format!("{agent}: {}", asked.tool),
        None => asked.tool.clone(),
    }
}

/// What an entry tells somebody who is elsewhere.
fn says(entry: &Arc<Entry>) -> Option<String> {
    let words = match &entry.body {
        EntryBody::JobEnd(end) => {
            format!("{} {} · {}", end.job, end.outcome.end.words(), end.command)
        }
        EntryBody::AgentEnd(end) if end.again => format!("{} handed back", end.node.name),
        EntryBody::AgentEnd(end) => format!("{} {}", end.node.name, end.end.words()),
        EntryBody::TurnEnd(end) => match end.status {
            TurnStatus::Done => "the model has finished".to_owned(),
            TurnStatus::Failed => format!("the turn failed: {}", end.why.as_deref().unwrap_or("no reason")),
            // that was the person
            TurnStatus::Interrupted => return None,
        },
        _ => return None,
    };
    Some(line(&words))
}

fn line(words: &str) -> String {
    ellipsis(&tame(words.lines().next().unwrap_or_default()), COLUMNS_MAX).into_owned()
}

/// The bytes that tell a terminal of it; none: it is not the terminal that tells.
pub fn bytes(how: Notify, text: &str, between: Between) -> Vec<u8> {
    match how {
        Notify::Off | Notify::Desktop => Vec::new(),
        Notify::Bell => b"\x07".to_vec(),
        Notify::Osc9 => through(&format!("\x1b]9;Windlass: {text}\x07"), between),
        Notify::Osc777 => through(&format!("\x1b]777;notify;Windlass;{text}\x07"), between),
        Notify::Osc99 => through(&format!("\x1b]99;;Windlass: {text}\x07"), between),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_one_sequence_of_the_terminal() {
        assert_eq!(bytes(Notify::Bell, "x", Between::Nothing), b"\x07");
        assert_eq!(bytes(Notify::Osc9, "j1", Between::Nothing), b"\x1b]9;Windlass: j1\x07");
        assert_eq!(bytes(Notify::Osc777, "j1", Between::Nothing), b"\x1b]777;notify;Windlass;j1\x07");
        assert_eq!(bytes(Notify::Osc99, "j1", Between::Nothing), b"\x1b]99;;Windlass: j1\x07");
        assert_eq!(bytes(Notify::Osc9, "j1", Between::Tmux), b"\x1bPtmux;\x1b\x1b]9;Windlass: j1\x07\x1b\\");
        assert!(bytes(Notify::Off, "x", Between::Nothing).is_empty());
        assert!(bytes(Notify::Desktop, "x", Between::Nothing).is_empty());
    }

    /// Something to tell, of which the record knows nothing.
    fn news(focus: Focus, after: u64) -> Ends {
        Ends { focus, after: Millis(after), told: Some((Of::End, "done".to_owned())), ..Ends::default() }
    }

    #[test]
    fn who_looks_is_told_nothing_and_who_is_away_at_once() {
        let mut ends = news(Focus::Lost, 0);
        assert_eq!(ends.take(Millis(5)).as_deref(), Some("done"));
        assert_eq!(ends.take(Millis(6)), None, "once");
        let mut ends = news(Focus::Lost, 0);
        ends.focus(true);
        assert_eq!((ends.take(Millis(5)), ends.may_be_away()), (None, false));
    }

    #[test]
    fn where_the_focus_is_not_told_a_while_without_a_key_is_away() {
        let mut ends = news(Focus::Unknown, 1000);
        ends.key_at = Millis(500);
        assert_eq!(ends.due(), Some(Millis(1500)));
        assert_eq!(ends.take(Millis(1499)), None);
        assert_eq!(ends.take(Millis(1500)).as_deref(), Some("done"));
        let mut ends = news(Focus::Unknown, 1000);
        ends.key(Millis(900));
        assert_eq!(ends.due(), None, "who types has seen it");
        // the terminal says that it tells: no guess is made any more
        ends.tells();
        assert!(!ends.may_be_away());
        ends.focus(false);
        ends.tells();
        assert!(ends.may_be_away(), "it knew better already");
    }
}
