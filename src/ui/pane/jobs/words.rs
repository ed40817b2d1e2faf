//! How a job stands, in a mark and in words. For the pane, for the view of one job, and for whatever
//! else tells of jobs.

use crate::api::job::{JobOutcome, JobRow, JobState, Starter};
use crate::law::job::{End, signal_name};
use crate::ui::widget::row::Role;
use crate::ui::widget::text::tame;

/// The mark of a job and its look: `…` is being looked up, `●` runs, `○` is stopped, `◐` is being ended, `✓` went well, `✗` did not, `?` is lost.
pub fn stands(row: &JobRow) -> (&'static str, Role) {
    match &row.state {
        JobState::Sought => ("…", Role::Dim),
        JobState::Running if row.stopped => ("○", Role::Warning),
        JobState::Running => ("●", Role::Accent),
        JobState::Ending { .. } => ("◐", Role::Warning),
        JobState::Ended(outcome) => ended(&outcome.end),
    }
}

/// The first line of its command, tame; of what a command left behind, that it is so.
pub fn command(row: &JobRow) -> String {
    let line = tame(row.node.command.trim().lines().next().unwrap_or_default());
    match row.node.by {
        Starter::Left => format!("left by {line}"),
        Starter::Model | Starter::Person => line.into_owned(),
    }
}

/// The mark of an end and its look.
pub fn ended(end: &End) -> (&'static str, Role) {
    match end {
        End::Exited { code: 0 } | End::Ended => ("✓", Role::Ok),
        End::Exited { .. } | End::Signalled { .. } => ("✗", Role::Error),
        End::Killed { .. } => ("✗", Role::Warning),
        End::Lost => ("?", Role::Warning),
    }
}

/// Who ended it and why, with all that is known: how its own process ended, what went with it, what survives.
pub fn cause(outcome: &JobOutcome) -> String {
    let mut words = vec![outcome.end.words()];
    match (&outcome.end, outcome.exit_code, outcome.exit_signal) {
        (End::Exited { .. } | End::Signalled { .. }, ..) => {}
        (_, Some(code), _) => words.push(format!("exit {code}")),
        (_, None, Some(signal)) => words.push(signal_name(signal)),
        (_, None, None) => {}
    }
    words.extend(gone(outcome));
    if !outcome.survivors.is_empty() {
        words.push(format!("still there: {}", outcome.survivors.join(", ")));
    }
    words.extend(outcome.trouble.clone());
    words.join(" · ")
}

/// How many processes went, where somebody ended them.
fn gone(outcome: &JobOutcome) -> Option<String> {
    match (&outcome.end, outcome.gone) {
        (End::Killed { .. }, 1) => Some("1 process gone".to_owned()),
        (End::Killed { .. }, n) if n > 1 => Some(format!("{n} processes gone")),
        _ => None,
    }
}

/// What a row says beside the command, in full and short; whether it matters more than the command.
pub(super) fn note(row: &JobRow) -> (String, String, bool) {
    let both = |text: String| (text.clone(), text, true);
    match &row.state {
        JobState::Sought => (row.state.words(), "looked up".to_owned(), false),
        JobState::Running if row.stopped => both("stopped".to_owned()),
        JobState::Running if row.waiting => both("⌨ waits".to_owned()),
        JobState::Running => (String::new(), String::new(), false),
        JobState::Ending { .. } => both(row.state.words()),
        JobState::Ended(outcome) => {
            let survive = !outcome.survivors.is_empty();
            (outcome.words(), outcome.tree().unwrap_or_else(|| outcome.words()), survive)
        }
    }
}

/// How far the end of a job is that is being ended; empty: it is not.
pub fn ending(row: &JobRow) -> String {
    match &row.state {
        JobState::Ending { .. } => note(row).0,
        JobState::Sought | JobState::Running | JobState::Ended(_) => String::new(),
    }
}

/// Whether a person should look at how it stands.
pub fn matters(row: &JobRow) -> bool {
    note(row).2
}

/// A number of bytes in four columns at most: `512`, `2.1K`, `18K`, `1.2G`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["K", "M", "G", "T", "P", "E"];
    if count < 1000 {
        return count.to_string();
    }
    let (mut tenths, mut unit) = (count.saturating_mul(10) / 1024, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        (tenths, unit) = (tenths / 1024, unit + 1);
    }
    if tenths < 100 {
        format!("{}.{}{}", tenths / 10, tenths % 10, UNITS[unit])
    } else {
        format!("{}{}", tenths / 10, UNITS[unit])
    }
}

/// The newest lines of a job's output, oldest first.
pub(super) fn last_lines(row: &JobRow, most: usize) -> Vec<String> {
    let text = match &row.state {
        JobState::Sought | JobState::Running | JobState::Ending { .. } => &row.tail,
        JobState::Ended(outcome) => &outcome.last,
    };
    crate::ui::pane::live::last_lines(text, most)
}
