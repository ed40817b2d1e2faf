//! Draws the jobs pane, and the line of counts where it has no room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{State, words};
use crate::api::job::{JobRow, JobState};
use crate::base::{JobId, Millis};
use crate::ui::pane::live::elapsed;
use crate::ui::theme::Theme;
use crate::ui::widget::row::Put as _;
use crate::ui::widget::row::{Look, Role};
use crate::ui::widget::text::{ellipsis, tame, width};
use crate::ui::widget::wrap::{Break, Prefix, Wrapper};

/// Most rows below the selected job.
const DETAIL_ROWS: usize = 4;
/// Most rows of the words on an end.
const CAUSE_ROWS: usize = 3;
/// Columns that a command keeps where there are others to give way.
const COMMAND_COLUMNS: usize = 14;

/// What the view needs beside the state.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The time.
    pub now: Millis,
    /// Whether the pane has the focus.
    pub focus: bool,
    /// The key that sends a running call to the background.
    pub detach: &'a str,
}

/// Draws the pane's content.
pub fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme, shown: Shown<'_>) {
    let details = details(state, &area);
    let picture = &state.picture;
    let keys = state.list.keys().to_vec();
    state.list.draw(area, buf, (theme, shown.focus), &details, |at, place, marked, buf| {
        if let Some(row) = picture.get(&keys[at]) {
            draw_row(keys[at], row, place, buf, theme, shown.now, marked);
        }
    });
    if keys.is_empty() && !area.is_empty() {
        empty(state, area, buf, theme, shown.detach);
    }
}

/// What stands below the selected job: why it ended, and its last lines.
fn details(state: &State, area: &Rect) -> Vec<(String, Role)> {
    let Some(row) = state.selected().and_then(|job| state.get(job)) else { return Vec::new() };
    let room = (usize::from(area.height) / 3).clamp(1, DETAIL_ROWS);
    let mut out = Vec::new();
    if area.height < 2 {
        return out;
    }
    match &row.state {
        JobState::Sought | JobState::Running | JobState::Ending { .. } => {}
        JobState::Ended(outcome) => {
            let mut cause = Wrapper::new(usize::from(area.width).saturating_sub(2).max(1));
            let text = tame(&words::cause(outcome)).into_owned();
            cause.line(&Prefix::default(), &[(text, Role::Text.into())], Break::Words);
            out.extend(cause.rows().into_iter().take(CAUSE_ROWS).map(|row| (row.text, Role::Text)));
        }
    }
    let room = room + out.len().saturating_sub(1);
    let lines = words::last_lines(row, room.saturating_sub(out.len()));
    out.extend(lines.into_iter().map(|line| (line, Role::Dim)));
    out
}

/// One job on one row: id, mark, kept, command; at the end what it says, its time, its bytes.
fn draw_row(
    job: JobId,
    row: &JobRow,
    place: Rect,
    buf: &mut Buffer,
    theme: &Theme,
    now: Millis,
    marked: bool,
) {
    let (y, wide) = (place.y, usize::from(place.width));
    let ink = |role: Role| {
        let style = Look::from(role).style(theme);
        if marked { theme.selection } else { style }
    };
    let left = |x: u16| usize::from(place.right().saturating_sub(x));
    let x = buf.put(place.x, y, job.to_string(), wide, ink(Role::Tool)).0 + 1;
    let (mark, role) = words::stands(row);
    let mut x = buf.put(x, y, mark, left(x), ink(role)).0 + 1;
    if row.kept && row.runs() {
        x = buf.put(x, y, "K", left(x), ink(Role::Key)).0 + 1;
    }
    let command = words::command(row);
    let end = ending(row, left(x), width(&command), now);
    let long = width(&end);
    let room = left(x).saturating_sub(if long > 0 { long + 1 } else { 0 });
    let plain = if row.runs() { Role::Text } else { Role::Dim };
    buf.put(x, y, ellipsis(&command, room), room, ink(plain));
    if left(x) >= long {
        let (_, _, matters) = words::note(row);
        let style = ink(if matters { Role::Warning } else { Role::Dim });
        buf.put(place.right() - long as u16, y, &end, long, style);
    }
}

/// What stands at the end of a row: as much as leaves the command its room.
fn ending(row: &JobRow, room: usize, command: usize, now: Millis) -> String {
    let time = match &row.state {
        JobState::Sought | JobState::Running | JobState::Ending { .. } => elapsed(now.since(row.node.began)),
        JobState::Ended(outcome) => outcome.lasted().map(elapsed).unwrap_or_default(),
    };
    let size = match &row.state {
        JobState::Sought | JobState::Running | JobState::Ending { .. } => row.bytes,
        JobState::Ended(outcome) => outcome.bytes,
    };
    let size = format!("{:>4}", words::bytes(size));
    let (full, short, matters) = words::note(row);
    let join =
        |parts: &[&str]| parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ");
    let last = if matters { short.clone() } else { time.clone() };
    let tries = [join(&[&full, &time, &size]), join(&[&short, &time, &size]), join(&[&short, &time]), last];
    let keeps = command.min(COMMAND_COLUMNS);
    let fits = |end: &&String| width(end) + 1 + keeps <= room;
    let chosen = tries.iter().find(fits).cloned();
    // what matters stands also where no command has room beside it
    chosen.unwrap_or_else(|| if matters { short } else { String::new() })
}

/// An empty pane says what to do next.
fn empty(state: &State, area: Rect, buf: &mut Buffer, theme: &Theme, detach: &str) {
    let words = if state.search.is_empty() {
        vec![
            ("no job runs".to_owned(), Role::Dim),
            (format!("! runs a command; {detach} sends one to the background"), Role::Dim),
        ]
    } else {
        vec![(format!("no job holds “{}”", tame(&state.search)), Role::Dim)]
    };
    let mut rows = Wrapper::new(usize::from(area.width));
    for (text, role) in words {
        rows.line(&Prefix::default(), &[(text, role.into())], Break::Words);
    }
    for (line, row) in rows.rows().iter().take(usize::from(area.height)).enumerate() {
        row.draw(buf, area.x, area.y + line as u16, area.width, theme);
    }
}

/// The line of counts for screens without the pane: what runs, what waits, what ended. Empty without jobs.
pub fn counts(state: &State, key: &str) -> String {
    let (mut runs, mut ended, mut failed) = (0, 0, 0);
    let mut waits = None;
    for (job, row) in state.iter() {
        match &row.state {
            JobState::Sought | JobState::Running | JobState::Ending { .. } => runs += 1,
            JobState::Ended(outcome) if words::ended(&outcome.end).0 == "✓" => ended += 1,
            JobState::Ended(_) => failed += 1,
        }
        if row.waiting && row.runs() {
            waits.get_or_insert(job);
        }
    }
    let mut out = Vec::new();
    for (mark, count) in [("●", runs), ("✓", ended), ("✗", failed)] {
        if count > 0 {
            out.push(format!("{mark} {count}"));
        }
    }
    if out.is_empty() {
        return String::new();
    }
    let waits = waits.map(|job| format!(" · ⌨ {job} waits")).unwrap_or_default();
    format!("jobs {}{waits} · {key}", out.join(" "))
}
