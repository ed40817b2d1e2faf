//! Draws the agents pane, and the line of counts where it has no room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::words::Conflicted;
use super::{Listed, State, words};
use crate::api::agent::{AgentRow, AgentState};
use crate::base::Millis;
use crate::ui::pane::live::{elapsed, spinner};
use crate::ui::theme::Theme;
use crate::ui::widget::markdown;
use crate::ui::widget::row::{Look, Role, put};
use crate::ui::widget::text::{ellipsis, tame, width};
use crate::ui::widget::wrap::{Break, Prefix, Wrapper};

/// Most rows below the selected agent.
pub(super) const DETAIL_ROWS: usize = 4;
/// Most bytes of an answer that are laid out for its last rows.
const SAID_BYTES: usize = 2048;
/// Columns that the state keeps where there are others to give way.
const STATE_COLUMNS: usize = 12;

/// What the view needs beside the state.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The time.
    pub now: Millis,
    /// Whether the pane has the focus.
    pub focus: bool,
    /// Whether spinners stand still.
    pub still: bool,
    /// How many conflicts are open of whom; none: they were not counted yet.
    pub conflicted: Option<&'a Conflicted>,
}

/// Draws the pane's content.
pub fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme, shown: Shown<'_>) {
    let details = details(state, &area, shown.conflicted);
    let names = names(state, usize::from(area.width));
    let State { picture, order, list } = state;
    list.draw(area, buf, (theme, shown.focus), &details, |at, place, marked, buf| {
        if let Some(row) = picture.get(&order[at].path) {
            draw_row(&order[at], row, place, buf, theme, shown, (names, marked));
        }
    });
    if order.is_empty() && !area.is_empty() {
        empty(area, buf, theme);
    }
}

/// Columns of the names with what they are indented by: all states stand under each other.
fn names(state: &State, wide: usize) -> usize {
    let long = |listed: &Listed| indent(listed, wide) + width(&tame(&listed.name));
    state.order.iter().map(long).max().unwrap_or(0).min((wide / 3).max(6))
}

/// One far below keeps room for its name.
fn indent(listed: &Listed, wide: usize) -> usize {
    (2 * usize::from(listed.depth)).min(wide / 6)
}

/// What stands below the selected agent: where it works and with what, what it does or how it ended, its answer's end.
fn details(state: &State, area: &Rect, conflicted: Option<&Conflicted>) -> Vec<(String, Role)> {
    let Some(path) = state.selected() else { return Vec::new() };
    let Some(row) = state.get(path) else { return Vec::new() };
    let wide = usize::from(area.width).saturating_sub(2).max(1);
    let room = (usize::from(area.height) / 2).min(DETAIL_ROWS);
    let mut out = Vec::new();
    if area.height < 2 {
        return out;
    }
    let mut wrapped = |text: &str, most: usize, role: Role| {
        let mut rows = Wrapper::new(wide);
        rows.line(&Prefix::default(), &[(tame(text).into_owned(), role.into())], Break::Words);
        out.extend(rows.rows().into_iter().take(most).map(|row| (row.text, role)));
    };
    match &row.state {
        AgentState::Ended(end) => {
            let here = words::hand_back_of(path, row).is_some();
            let report = words::lists(end, conflicted.filter(|_| here));
            if end.end != crate::law::children::End::Answered || report.is_empty() {
                wrapped(&end.end.words(), 2, Role::Text);
            }
            if end.hand_back_failed() {
                wrapped("r tries to hand back again, now that it failed:", 1, Role::Text);
            }
            if let Some(words) = &end.trouble {
                wrapped(words, 2, Role::Warning);
            }
            let report = report.into_iter().map(|(mark, words, role)| (format!("{mark} {words}"), role));
            out.extend(report);
            let said = said_last(&end.answer, room.saturating_sub(out.len()), wide);
            out.extend(said.into_iter().map(|line| (line, Role::Dim)));
        }
        AgentState::Working if !row.now.trim().is_empty() => {
            wrapped(row.now.trim().lines().next().unwrap_or_default(), 2, Role::Text);
            if let Some(lacks) = &row.lacks {
                wrapped(lacks, 2, Role::Warning);
            }
            out.push((facts(row), Role::Dim));
        }
        AgentState::Cut => {
            wrapped("it goes on when you write to it (m); x ends it and hands back", 2, Role::Text);
            out.push((facts(row), Role::Dim));
        }
        AgentState::Waiting { .. }
        | AgentState::Preparing { .. }
        | AgentState::Working
        | AgentState::Resting
        | AgentState::Stopping
        | AgentState::HandingBack => out.push((facts(row), Role::Dim)),
    }
    out.truncate(room);
    out
}

/// The last rows of an answer, as it reads: its Markdown is laid out.
fn said_last(answer: &str, most: usize, wide: usize) -> Vec<String> {
    let answer = answer.trim_end();
    let tail = &answer[answer.ceil_char_boundary(answer.len().saturating_sub(SAID_BYTES))..];
    let mut doc = markdown::Doc::default();
    doc.finish(tail);
    let rows = doc.blocks().iter().flat_map(|of| markdown::lay(&doc, tail, of, wide, Role::Dim, &|_| None));
    let mut said: Vec<String> = rows.map(|row| row.text).filter(|text| !text.trim().is_empty()).collect();
    said.split_off(said.len().saturating_sub(most))
}

/// Where it works, whether it is held, with which model, how dear it was.
fn facts(row: &AgentRow) -> String {
    let tokens = words::tokens(row);
    let tokens = if tokens.is_empty() { tokens } else { format!("{tokens} tokens") };
    let cost = row.cost.filter(|cost| *cost > 0.0).map(|cost| format!("${cost:.2}")).unwrap_or_default();
    let model = tame(row.node.model.as_deref().unwrap_or_default()).into_owned();
    let all = [
        row.node.workspace.word().to_owned(),
        words::held(row).to_owned(),
        words::calls(row.calls),
        tokens,
        cost,
        model,
    ];
    all.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// One agent on one row: its name in the tree, mark, how it stands; at the end calls, tokens, time.
fn draw_row(
    listed: &Listed,
    row: &AgentRow,
    place: Rect,
    buf: &mut Buffer,
    theme: &Theme,
    shown: Shown<'_>,
    (names, marked): (usize, bool),
) {
    let (y, wide) = (place.y, usize::from(place.width));
    let ink = |role: Role| if marked { theme.selection } else { Look::from(role).style(theme) };
    let left = |x: u16| usize::from(place.right().saturating_sub(x));
    let shift = indent(listed, wide);
    let from = place.x + shift as u16;
    if shift >= 2 {
        put(buf, from - 2, y, "└", 1, ink(Role::Border));
    }
    let room = names.saturating_sub(shift).min(left(from));
    put(buf, from, y, &ellipsis(&tame(&listed.name), room), room, ink(Role::Tool));
    let x = (place.x + names as u16 + 1).min(place.right());
    let open = words::open(&listed.path, row, shown.conflicted);
    let (mark, role) = words::mark(row, spinner(shown.now, shown.still), open);
    let mut x = (x + put(buf, x, y, mark, left(x), ink(role)) as u16 + 1).min(place.right());
    if words::is_less_held(row) {
        let word = format!("{} ", words::held(row));
        x += put(buf, x, y, &word, left(x), ink(Role::Warning)) as u16;
    }
    let says = words::says(row, words::own_open(&listed.path, row, shown.conflicted));
    let end = ending(row, left(x), width(&says), shown.now);
    let long = width(&end);
    let room = left(x).saturating_sub(if long > 0 { long + 1 } else { 0 });
    let plain = match (&row.state, role) {
        (AgentState::Ended(_), Role::Ok) | (_, Role::Dim) => Role::Dim,
        (_, Role::Warning | Role::Error) => Role::Warning,
        _ => Role::Text,
    };
    put(buf, x, y, &ellipsis(&says, room), room, ink(plain));
    if long > 0 && left(x) >= long {
        put(buf, place.right() - long as u16, y, &end, long, ink(Role::Dim));
    }
}

/// What stands at the end of a row: as much as leaves the words their room.
fn ending(row: &AgentRow, room: usize, says: usize, now: Millis) -> String {
    let join =
        |parts: [String; 3]| parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ");
    let (calls, time) = (words::calls(row.calls), words::time(row, now));
    let none = String::new;
    let tries = match &row.state {
        // what came of it is worth more than what it took
        AgentState::Ended(end) => vec![join([calls, words::tokens(row), time]), elapsed(end.duration)],
        AgentState::Waiting { .. } | AgentState::Preparing { .. } | AgentState::Cut => vec![time],
        AgentState::Working | AgentState::Resting | AgentState::Stopping | AgentState::HandingBack => vec![
            join([calls.clone(), words::tokens(row), time.clone()]),
            join([calls.clone(), time.clone(), none()]),
            calls.clone(),
            if calls.is_empty() { time } else { none() },
        ],
    };
    let keeps = match row.state {
        AgentState::Ended(_) | AgentState::Waiting { .. } | AgentState::Preparing { .. } => says,
        // what the person is asked for is worth more than what it took
        _ if row.asks > 0 => says,
        _ => says.min(STATE_COLUMNS),
    };
    tries.into_iter().find(|end| width(end) + 1 + keeps <= room).unwrap_or_default()
}

/// An empty pane says what would stand in it.
fn empty(area: Rect, buf: &mut Buffer, theme: &Theme) {
    let mut rows = Wrapper::new(usize::from(area.width));
    for text in ["no agent was asked for", "the model starts them with its tool spawn"] {
        rows.line(&Prefix::default(), &[(text.to_owned(), Role::Dim.into())], Break::Words);
    }
    for (line, row) in rows.rows().iter().take(usize::from(area.height)).enumerate() {
        row.draw(buf, area.x, area.y + line as u16, area.width, theme);
    }
}

/// The line of counts for screens without the pane: what works, waits, asks, ended and how. Empty without agents. Of
/// conflicts it says nothing: those are counted for themselves.
pub fn counts(state: &State, key: &str) -> String {
    let marks = ["●", "◌", "◐", "?", "✓", "✗"];
    let mut counts = [0usize; 6];
    for (_, row) in state.iter() {
        let (mark, _) = words::mark(row, "●", false);
        if let Some(at) = marks.iter().position(|known| *known == mark) {
            counts[at] += 1;
        }
    }
    let words: Vec<String> = marks
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(mark, count)| format!("{mark} {count}"))
        .collect();
    if words.is_empty() { String::new() } else { format!("agents {} · {key}", words.join(" ")) }
}
