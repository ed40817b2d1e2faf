//! What ended while nobody looked: jobs and turns, read from the committed entries by position, for a
//! notification. Deliberately not here: how it is told (`run` writes it, the host asks the desktop).

use std::sync::Arc;

use crate::api::board::{Phase, Record};
use crate::api::entry::{Entry, EntryBody, TurnStatus};
use crate::api::job::Notify;
use crate::ui::clipboard::{Between, through};
use crate::ui::widget::text::{ellipsis, tame};

/// Columns of a notification.
const COLUMNS_MAX: usize = 120;

/// What was looked at, and what is to be told.
#[derive(Debug, Default)]
pub struct Ends {
    epoch: u64,
    seen: usize,
    opened: bool,
    /// Whether the window does not have the focus: the terminal said so.
    pub away: bool,
    told: Option<String>,
}

impl Ends {
    /// Looks at what was committed since; what was there at the opening is no news.
    pub fn sync(&mut self, record: &Record) {
        let opening = record.status.phase == Phase::Opening;
        let fresh = self.opened && record.epoch == self.epoch && self.seen <= record.path.len();
        if fresh && self.away {
            let newest = record.path[self.seen..].iter().rev().find_map(says);
            self.told = newest.or(self.told.take());
        }
        (self.epoch, self.seen, self.opened) = (record.epoch, record.path.len(), !opening);
    }
    /// What is to be told, once; of several ends the newest.
    pub fn take(&mut self) -> Option<String> {
        self.told.take()
    }
}

/// What an entry tells somebody who is elsewhere.
fn says(entry: &Arc<Entry>) -> Option<String> {
    let words = match &entry.body {
        EntryBody::JobEnd(end) => {
            format!("{} {} · {}", end.job, end.outcome.end.words(), end.command)
        }
        EntryBody::AgentEnd(end) => format!("{} {}", end.node.name, end.end.words()),
        EntryBody::TurnEnd(end) => match end.status {
            TurnStatus::Done => "the model has finished".to_owned(),
            TurnStatus::Failed => format!("the turn failed: {}", end.why.as_deref().unwrap_or("no reason")),
            // that was the person
            TurnStatus::Interrupted => return None,
        },
        _ => return None,
    };
    let line = words.lines().next().unwrap_or_default();
    Some(ellipsis(&tame(line), COLUMNS_MAX).into_owned())
}

/// The bytes that tell a terminal of it; none: it is not the terminal that tells.
pub fn bytes(how: Notify, text: &str, between: Between) -> Vec<u8> {
    match how {
        Notify::Off | Notify::Desktop => Vec::new(),
        Notify::Bell => b"\x07".to_vec(),
        Notify::Osc9 => through(&format!("\x1b]9;Windlass: {text}\x07"), between),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_one_sequence_of_the_terminal() {
        assert_eq!(bytes(Notify::Bell, "x", Between::Nothing), b"\x07");
        assert_eq!(bytes(Notify::Osc9, "j1", Between::Nothing), b"\x1b]9;Windlass: j1\x07");
        assert_eq!(bytes(Notify::Osc9, "j1", Between::Tmux), b"\x1bPtmux;\x1b\x1b]9;Windlass: j1\x07\x1b\\");
        assert!(bytes(Notify::Off, "x", Between::Nothing).is_empty());
        assert!(bytes(Notify::Desktop, "x", Between::Nothing).is_empty());
    }
}
