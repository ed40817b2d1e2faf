//! Draws the text that would be written, and where each line of it is from.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget as _;

use super::columns::Columns;
use super::edit::Editor;
use super::line::{Cell, Ground, draw, shown};
use super::words;
use crate::law::merge::regions::Side;
use crate::law::merge::resolution::{Choice, Line, Origin};
use crate::ui::theme::Theme;
use crate::ui::widget::row::put;
use crate::ui::widget::text::width;

/// Columns from which the origin of a line stands in words.
const WORDS_FROM: u16 = 48;

/// Draws the lines of the result from `top` on.
pub(super) fn result(of: &Columns<'_>, top: usize, place: Rect, buf: &mut Buffer) {
    let text = of.text;
    let total = text.starts.last().copied().unwrap_or(0);
    let digits = total.to_string().len().max(2);
    let mut y = place.y;
    let mut region = text.starts.partition_point(|start| *start <= top).saturating_sub(1);
    let mut skip = top - text.starts.get(region).copied().unwrap_or(top);
    // an empty region shares its start with the next
    while y < place.bottom() && region + 1 < text.starts.len() {
        let first = text.starts[region];
        let rows = text.starts[region + 1] - first;
        let mut lines = text.resolution.lines_of(region).skip(skip);
        for n in skip..rows {
            if y >= place.bottom() {
                return;
            }
            let line = Rect { y, height: 1, ..place };
            match lines.next() {
                Some(found) => one(of, &found, n, (first + n + 1, digits), line, buf),
                None => nothing(of, region, digits, line, buf),
            }
            y += 1;
        }
        (region, skip) = (region + 1, 0);
    }
}

fn bar(of: &Columns<'_>, region: usize, place: Rect, buf: &mut Buffer) {
    if !of.text.resolution.regions()[region].is_hunk() {
        return;
    }
    let mark = if of.text.current == Some(region) { "█" } else { "▌" };
    put(buf, place.x, place.y, mark, usize::from(place.width), of.theme.text.patch(ink(of, region)));
}

/// The colour of a hunk: it waits, it was chosen, it was chosen by itself.
fn ink(of: &Columns<'_>, region: usize) -> Style {
    let waits = of.text.resolution.choices()[region] == Choice::Open;
    match (waits, of.text.resolution.is_made(region)) {
        (true, _) => of.theme.warning,
        (false, true) => of.theme.ok,
        (false, false) => of.theme.dim,
    }
}

fn one(
    of: &Columns<'_>,
    line: &Line<'_>,
    n: usize,
    (number, digits): (usize, usize),
    place: Rect,
    buf: &mut Buffer,
) {
    let theme = of.theme;
    bar(of, line.region, place, buf);
    let text = format!("{number:>digits$} ");
    let mut x = 1;
    if place.width >= 18 {
        x += put(buf, place.x + 1, place.y, &text, usize::from(place.width) - 1, theme.text.patch(theme.dim))
            as u16;
    }
    let open = of.text.resolution.choices()[line.region] == Choice::Open;
    let (long, short) = words::origin(line.origin, open);
    let word = if place.width >= WORDS_FROM { long } else { short };
    let kept = if word.is_empty() { 0 } else { width(word) as u16 + 1 };
    let rest = Rect { x: place.x + x.min(place.width), width: place.width.saturating_sub(x + kept), ..place };
    let own = shown(line.bytes, of.text.mixed);
    let ground = match line.origin {
        Origin::Unchanged | Origin::Base => Ground::Plain,
        Origin::Parent | Origin::Child | Origin::Both | Origin::Hand => Ground::Added,
    };
    let cell = Cell { line: &own, ground, colours: colours(of, line, n), marks: &[], left: of.text.left };
    draw(&cell, rest, buf, theme);
    let style =
        theme.text.patch(if line.origin == Origin::Hand { theme.accent } else { ink(of, line.region) });
    if kept > 0 && kept < place.width {
        put(buf, place.right() - kept + 1, place.y, word, usize::from(kept), style);
    }
}

/// The colours of a line of the result: those that it has in the version that it is from.
fn colours<'a>(
    of: &Columns<'a>,
    line: &Line<'_>,
    n: usize,
) -> Option<&'a [(u32, crate::ui::widget::row::Role)]> {
    let region = &of.text.resolution.regions()[line.region];
    let (parent, child) = (region.parent.len(), region.child.len());
    let (side, at) = match (&of.text.resolution.choices()[line.region], line.origin) {
        (Choice::Edited(_), _) => return None,
        (_, Origin::Base) => (Side::Base, n),
        (Choice::Both, Origin::Child) => (Side::Child, n - parent),
        (Choice::BothChildFirst, Origin::Parent) => (Side::Parent, n - child),
        (_, Origin::Child) => (Side::Child, n),
        (_, _) => (Side::Parent, n),
    };
    of.colours.line(of.id, side, region.lines(side).start + at)
}

/// A hunk that leaves nothing.
fn nothing(of: &Columns<'_>, region: usize, digits: usize, place: Rect, buf: &mut Buffer) {
    let theme = of.theme;
    bar(of, region, place, buf);
    let open = of.text.resolution.choices()[region] == Choice::Open;
    let from = match &of.text.resolution.choices()[region] {
        Choice::Open => "open: the parent has nothing here",
        Choice::Parent => "nothing, from parent",
        Choice::Child => "nothing, from child",
        Choice::Base => "nothing, from base",
        Choice::Both | Choice::BothChildFirst => "nothing",
        Choice::Edited(_) => "nothing, by hand",
    };
    let x = (digits as u16 + 2).min(place.width);
    let style = if open { theme.warning } else { theme.dim };
    put(buf, place.x + x, place.y, from, usize::from(place.width - x), theme.text.patch(style));
}

/// Draws the editor; where the cursor is.
pub(super) fn editor(
    editor: &mut Editor,
    place: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) -> Option<(u16, u16)> {
    if place.is_empty() {
        return None;
    }
    editor.area.set_style(theme.text);
    if place.width >= 18 {
        editor.area.set_line_number_style(theme.text.patch(theme.dim));
    } else {
        editor.area.remove_line_number();
    }
    (&editor.area).render(place, buf);
    let at = editor.area.rendered_cursor_position()?;
    Some((at.x.min(place.right() - 1), at.y.min(place.bottom() - 1)))
}
