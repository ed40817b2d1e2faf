//! Draws the tree.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::State;
use super::rows::{Forest, Row, What};
use crate::api::event::TreeEntry;
use crate::base::Millis;
use crate::ui::overlay::catalog::ago;
use crate::ui::theme::Theme;
use crate::ui::widget::row::put;
use crate::ui::widget::text::{ellipsis, tame, width};

/// Columns of the word that says whose an entry is, with the blank after it.
const WHO: usize = 8;
/// Columns from which the word has room, and those from which the time has.
const WHO_FROM: usize = 24;
const TIME_FROM: usize = 44;

/// The title of the pane: what is looked for.
pub fn title(state: &State) -> String {
    match state.search() {
        "" => " Tree ".to_owned(),
        search => format!(" Tree /{} ", tame(search)),
    }
}

/// Draws the pane's content.
pub fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let State { list, rows, forest, .. } = &mut *state;
    list.draw(area, buf, (theme, true), &[], |at, place, marked, buf| {
        draw(forest, &rows[at], place, buf, theme, now, marked);
    });
    if state.rows.is_empty() && !area.is_empty() {
        let wide = usize::from(area.width);
        let text = match (state.told, state.search.is_empty()) {
            (false, _) => "looking…",
            (true, true) => "Nothing was said yet.",
            (true, false) => "nothing matches",
        };
        put(buf, area.x, area.y, &ellipsis(text, wide), wide, theme.dim);
    }
}

/// One line: where the conversation stands, guides, whose it is, what it says, how long ago.
fn draw(forest: &Forest, row: &Row, place: Rect, buf: &mut Buffer, theme: &Theme, now: Millis, marked: bool) {
    let wide = usize::from(place.width);
    let entry = forest.first(row);
    let ink = |style: Style| if marked { theme.selection } else { style };
    let mut x = 0;
    let mut at = |text: &str, room: usize, style: Style, buf: &mut Buffer| {
        let room = room.min(wide.saturating_sub(x));
        x += put(buf, place.x + x as u16, place.y, text, room, style);
    };
    let here = forest.is_head(row);
    at(if here { "● " } else { "  " }, 2, ink(theme.accent), buf);
    // a branch far in keeps room for its words
    let depth = usize::from(row.depth).min(wide / 6);
    for level in 1..=depth {
        let guide = if level == depth && row.begins { "├ " } else { "│ " };
        at(guide, 2, ink(theme.border), buf);
    }
    let plain = if entry.open { theme.text } else { theme.dim };
    if wide >= WHO_FROM {
        at(&format!("{:WHO$}", who(row, entry)), WHO, ink(colour(row, entry, theme)), buf);
    }
    let time = if wide >= TIME_FROM { ago(now.since(entry.at)) } else { String::new() };
    let room = wide
        .saturating_sub(width(&time) + usize::from(!time.is_empty()) + 2 + 2 * depth)
        .saturating_sub(if wide >= WHO_FROM { WHO } else { 0 });
    at(&ellipsis(&says(forest, row), room), room, ink(plain), buf);
    if !time.is_empty() {
        let from = wide - width(&time);
        put(buf, place.x + from as u16, place.y, &time, width(&time), ink(theme.dim));
    }
}

fn who(row: &Row, entry: &TreeEntry) -> &'static str {
    match row.what {
        What::Calls(_) => "▸ calls",
        What::Opened(_) => "▾ call",
        What::Branch(_) | What::Entry if entry.who == "call" => "  call",
        What::Branch(_) | What::Entry => entry.who,
    }
}

fn colour(row: &Row, entry: &TreeEntry, theme: &Theme) -> Style {
    match (row.what, entry.who) {
        (What::Calls(_) | What::Opened(_), _) | (_, "call") => theme.tool,
        (_, "you") => theme.user,
        (_, "end" | "note") => theme.warning,
        (_, "job" | "files" | "summary") => theme.accent,
        _ => theme.dim,
    }
}

/// What a line says.
pub(super) fn says(forest: &Forest, row: &Row) -> String {
    let text = |entry: &TreeEntry| tame(&entry.text).into_owned();
    match row.what {
        What::Calls(count) => {
            let tools = forest.tools(row).into_iter().map(|(name, count)| match count {
                1 => tame(name).into_owned(),
                _ => format!("{} ×{count}", tame(name)),
            });
            format!("{count}: {}", tools.collect::<Vec<_>>().join(", "))
        }
        What::Branch(count) => format!("▸ {} · {count} entries", text(forest.first(row))),
        What::Opened(_) => text(forest.shown(row)),
        What::Entry => text(forest.first(row)),
    }
}
