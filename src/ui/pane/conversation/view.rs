//! Draws the conversation: the rows of the viewport, and nothing else is laid out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::State;
use super::item::{Body, Call};
use super::lay::{Lay, count};
use crate::api::entry::{CallSettle, CallStatus, Details};
use crate::base::Millis;
use crate::ui::pane::live::spinner;
use crate::ui::theme::Theme;
use crate::ui::widget::row::{Look, Role, Row, put};
use crate::ui::widget::scroll::{Layout, Spot, down, next_block};
use crate::ui::widget::text::width;
use crate::ui::widget::wrap::{Break, Prefix, Wrapper};

/// Columns from which the selection has a gutter.
const GUTTER_FROM: u16 = 24;

/// Draws the pane's content into `area` (the frame around it is the caller's).
pub fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    blank(area, buf, theme);
    let gutter = u16::from(area.width >= GUTTER_FROM);
    let columns = area.width - gutter;
    state.height = usize::from(area.height);
    state.gutter = gutter;
    state.cache.columns(usize::from(columns));
    state.drawn = None;
    if state.items.is_empty() {
        empty(state.waits, area, buf, theme);
        return;
    }
    let visible = visible(state);
    state.look_at(&visible);
    let (picked, caret) = (state.picked(), state.caret());
    let still = state.still;
    let mut found = Found::default();
    for (line, spot) in visible.iter().enumerate() {
        let y = area.y + line as u16;
        let (mut lay, search) = state.lay_and_search();
        let rows = lay.rows(spot.item, spot.block);
        let Some(row) = rows.get(spot.row) else { continue };
        let x = area.x + gutter;
        row.draw(buf, x, y, columns, theme);
        let open = lay.open(spot.item);
        let item = &lay.items[spot.item];
        let head = spot.block == 0 && spot.row + 1 == rows.len();
        let place = Rect { x, y, width: columns, height: 1 };
        // what is folded away is told of at its head
        let folded = if head && !open && item.folds() { search.hits_of(spot.item, item.id) } else { 0 };
        if let (Body::Call(call), true) = (&item.body, head) {
            let pieces = states(call, open, (now, still), folded);
            call_state(pieces, place, width(&row.text), buf, theme);
        } else if folded > 0 {
            let words = format!(" {} ", hits_in(folded));
            let wide = width(&words);
            if wide + 8 < usize::from(columns) {
                let x = place.right() - wide as u16;
                put(buf, x, y, &words, wide, Look::from(Role::Hit).style(theme));
            }
        }
        if !search.query.is_empty() {
            found.draw((&rows, *spot, item.id), search, place, (buf, theme));
        }
        super::select::draw((&rows, *spot), picked, caret, place, (buf, theme));
        let gap = spot.block == 0 && spot.row == 0 && item.gap;
        let selected = state.selected.is_some_and(|id| id == state.items[spot.item].id);
        if gutter > 0 && selected && !gap {
            put(buf, area.x, y, "▌", 1, Look::from(Role::Accent).style(theme));
        }
    }
    state.cache.drawn();
    state.colours.drawn();
    if state.follows() {
        state.unseen = false;
    } else if state.unseen {
        unseen(area, buf, theme);
    }
}

fn blank(area: Rect, buf: &mut Buffer, theme: &Theme) {
    for y in area.top()..area.bottom() {
        let from = buf.index_of(area.left(), y);
        for cell in &mut buf.content[from..from + usize::from(area.width)] {
            cell.reset();
            cell.set_style(theme.text);
        }
    }
}

/// The rows that are drawn, from the top.
pub(super) fn visible(state: &mut State) -> Vec<Spot> {
    let (height, scroll) = (state.height, state.scroll);
    let mut lay = state.lay();
    let top = scroll.top(&mut lay, height);
    let mut out = Vec::with_capacity(height);
    let mut spot = top;
    if lay.height(spot.item, spot.block) == 0 {
        match next_block(&mut lay, spot) {
            Some(next) => spot = next,
            None => return out,
        }
    }
    while out.len() < height {
        out.push(spot);
        let (next, went) = down(&mut lay, spot, 1);
        if went == 0 {
            break;
        }
        spot = next;
    }
    out
}

impl State {
    /// All that laying out needs.
    pub(super) fn lay(&mut self) -> Lay<'_> {
        Lay {
            items: &mut self.items,
            cache: &mut self.cache,
            colours: &self.colours,
            all: self.all,
            shape: self.shape,
        }
    }
    fn lay_and_search(&mut self) -> (Lay<'_>, &super::search::Search) {
        let lay = Lay {
            items: &mut self.items,
            cache: &mut self.cache,
            colours: &self.colours,
            all: self.all,
            shape: self.shape,
        };
        (lay, &self.search)
    }
    /// Which row of the viewport shows what, as last drawn.
    pub(super) fn spot_at(&mut self, row: usize) -> Option<Spot> {
        visible(self).get(row).copied()
    }
}

fn empty(waits: bool, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let lines: &[(&str, Role)] = &[
        ("Nothing was said yet.", Role::Text),
        ("Type a message and press Enter.", Role::Dim),
        ("@ names a file, / a command, ! runs a command.", Role::Dim),
        ("? on an empty line shows every key.", Role::Dim),
    ];
    let lines = if waits { &[("Opening the session…", Role::Dim)] } else { lines };
    let mut rows = Wrapper::new(usize::from(area.width));
    for (text, role) in lines {
        rows.line(&Prefix::default(), &[((*text).to_owned(), (*role).into())], Break::Words);
    }
    let rows = rows.rows();
    let top = area.y + area.height.saturating_sub(rows.len() as u16) / 2;
    for (row, y) in rows.iter().zip(top..area.bottom()) {
        let space = usize::from(area.width).saturating_sub(width(row.text.trim_end())) / 2;
        let x = area.x + space as u16;
        row.draw(buf, x, y, area.right() - x, theme);
    }
}

fn unseen(area: Rect, buf: &mut Buffer, theme: &Theme) {
    let text = if area.width >= 29 { " ↓ new output · Ctrl-End " } else { " ↓ " };
    let wide = width(text) as u16;
    if area.width > wide && area.height > 1 {
        let style = Look::from(Role::Accent).style(theme).add_modifier(ratatui::style::Modifier::REVERSED);
        put(buf, area.right() - wide, area.bottom() - 1, text, usize::from(wide), style);
    }
}

/// Draws a call's state over the end of its row.
fn call_state(state: [Vec<(String, Role)>; 2], place: Rect, taken: usize, buf: &mut Buffer, theme: &Theme) {
    let columns = usize::from(place.width);
    let wide = |pieces: &[(String, Role)]| pieces.iter().map(|(text, _)| width(text)).sum::<usize>();
    let [full, short] = state;
    let pieces = if wide(&full) + 16 > columns { short } else { full };
    let long = wide(&pieces);
    // a narrow row shows the mark alone, the narrowest only the name
    let (pieces, long) = match pieces.last() {
        Some(first) if long + 16 > columns => {
            let mark = pieces.first().unwrap_or(first).clone();
            let wide = width(&mark.0);
            (vec![mark], wide)
        }
        Some(_) | None => (pieces, long),
    };
    if long + 6 > columns {
        return;
    }
    let from = columns - long;
    let plain = Look::from(Role::Text).style(theme);
    if taken + 1 > from {
        put(buf, place.x + from as u16 - 2, place.y, "… ", 2, plain);
    }
    let mut x = place.x + from as u16;
    for (text, role) in pieces {
        x +=
            put(buf, x, place.y, &text, usize::from(place.right() - x), Look::from(role).style(theme)) as u16;
    }
}

/// How a call stands, in full and short; before it how many hits are folded away.
fn states(call: &Call, open: bool, moment: (Millis, bool), hits: u32) -> [Vec<(String, Role)>; 2] {
    [false, true].map(|short| {
        let mut pieces = state_pieces(call, open, moment, short);
        if hits > 0 {
            pieces.insert(0, (format!(" {} ", hits_in(hits)), Role::Hit));
            pieces.insert(1, (" ".to_owned(), Role::Text));
        }
        pieces
    })
}

fn hits_in(hits: u32) -> String {
    if hits == 1 { "1 hit".to_owned() } else { format!("{} hits", count(hits.into())) }
}

fn state_pieces(call: &Call, open: bool, (now, still): (Millis, bool), short: bool) -> Vec<(String, Role)> {
    let fold = if open { " ▾" } else { " ▸" };
    if let Some(settle) = call.settled() {
        let (mark, role) = match settle.status {
            CallStatus::Ok => ("✓", Role::Ok),
            CallStatus::Error => ("✗", Role::Error),
            CallStatus::Refused => ("refused", Role::Warning),
            // how its command ended says it in full
            CallStatus::Cancelled if matches!(&settle.details, Details::Command { end, .. } if !end.is_empty()) => {
                ("■", Role::Warning)
            }
            CallStatus::Cancelled => ("cancelled", Role::Warning),
            CallStatus::Detached => ("detached", Role::Accent),
            CallStatus::Interrupted => ("interrupted", Role::Warning),
        };
        return vec![
            (mark.into(), role),
            (facts(settle, call.lines, short), Role::Dim),
            (fold.into(), Role::Dim),
        ];
    }
    if let Some(progress) = &call.progress {
        let elapsed = now.since(progress.began);
        let frame = if progress.asking { "?" } else { spinner(now, still) };
        let mut text = format!(" {}", clock(elapsed));
        if progress.lines > 0 {
            text.push_str(&format!(" · {} l", count(progress.lines)));
        }
        return vec![(frame.into(), Role::Accent), (text, Role::Dim), (fold.into(), Role::Dim)];
    }
    if call.input.is_none() {
        return vec![("…".into(), Role::Accent), (format!(" {} B", count(call.arguments as u64)), Role::Dim)];
    }
    vec![("·".into(), Role::Dim)]
}

/// How it ended, how long it took and how much it said.
fn facts(settle: &CallSettle, lines: u64, short: bool) -> String {
    let mut text = String::new();
    match &settle.details {
        // the mark says how it ended, the job how it goes on
        Details::Command { job, .. } if settle.status == CallStatus::Detached => {
            text.extend(job.map(|job| format!(" → {job}")));
        }
        Details::Command { end, exit_code, .. } if *exit_code != Some(0) && !end.is_empty() => {
            text.push_str(&format!(" {end}"));
        }
        Details::Diff { added, removed, .. } => text.push_str(&format!(" +{added} −{removed}")),
        Details::None | Details::Command { .. } | Details::Todo { .. } | Details::Agents { .. } => {}
    }
    if let Details::Command { job: Some(job), left, .. } = &settle.details
        && settle.status != CallStatus::Detached
    {
        text.push_str(&match left {
            // an earlier version did not count them
            0 if short => format!(" · left {job}"),
            n if short => format!(" · left {n} ({job})"),
            0 => format!(" · left processes behind ({job})"),
            1 => format!(" · left 1 process behind ({job})"),
            n => format!(" · left {n} processes behind ({job})"),
        });
    }
    if settle.duration.0 >= 1_000 {
        text.push_str(&format!(" {}", clock(settle.duration)));
    }
    // of a command that printed nothing the result holds remarks alone
    let printed = match &settle.details {
        Details::None => true,
        Details::Command { .. } => settle.kept + settle.dropped > 0,
        Details::Diff { .. } | Details::Todo { .. } | Details::Agents { .. } => false,
    };
    if lines > 0 && printed {
        text.push_str(&format!(" · {} l", count(lines)));
    }
    text
}

/// `0:12`, `1:02:03`.
fn clock(time: Millis) -> String {
    let seconds = time.0 / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// The hits in the line that was drawn last: its rows follow each other, and a line may be long.
#[derive(Default)]
struct Found {
    line: Option<super::select::Key>,
    hits: Vec<(usize, usize)>,
}

impl Found {
    /// Marks the hits of a search in a row, also those that go over its wrap.
    fn draw(
        &mut self,
        (rows, spot, id): (&[Row], Spot, u64),
        search: &super::search::Search,
        place: Rect,
        (buf, theme): (&mut Buffer, &Theme),
    ) {
        let first = super::select::first_of(rows, spot.row);
        let (Some(row), Some(begin)) = (rows.get(spot.row), rows.get(first)) else { return };
        let key = (id, spot.block as u32, begin.at);
        if self.line != Some(key) {
            let (line, _) = super::select::line_of(rows, first);
            (self.line, self.hits) = (Some(key), super::search::matches(&line.text, &search.query));
        }
        let content = row.content();
        let begin = (row.at - begin.at) as usize;
        let end = begin + content.len();
        let before = width(&row.text[..row.indent as usize]);
        let after = self.hits.partition_point(|(_, to)| *to <= begin);
        for (from, to) in self.hits[after..].iter().take_while(|(from, _)| *from < end) {
            let current = search.place == Some((key, *from as u32));
            let role = if current { Role::HitCurrent } else { Role::Hit };
            let at = |byte: usize| content.floor_char_boundary(byte.clamp(begin, end) - begin);
            let x = before + width(&content[..at(*from)]);
            let wide = width(&content[at(*from)..at(*to)]);
            if x < usize::from(place.width) {
                let wide = wide.min(usize::from(place.width) - x) as u16;
                let rect = Rect { x: place.x + x as u16, width: wide, ..place };
                buf.set_style(rect, Look::from(role).style(theme));
            }
        }
    }
}
