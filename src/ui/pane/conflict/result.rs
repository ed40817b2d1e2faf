//! Draws the text that would be written, and where each line of it is from.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::columns::{self, Columns};
use super::edit::{Editor, View};
use super::line::{Cell, Ground, draw, shown};
use super::words;
use crate::law::merge::regions::Side;
use crate::law::merge::resolution::{Choice, Line, Origin};
use crate::ui::widget::row::put;
use crate::ui::widget::text::width;

/// Columns from which the origin of a line stands in words.
const WORDS_FROM: u16 = 48;

/// Draws the lines of the result from `top` on.
pub(super) fn result(of: &Columns<'_>, top: usize, place: Rect, buf: &mut Buffer) {
    let text = of.text;
    let digits = usize::from(columns::digits(text));
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
                Some(found) => one(of, &found, n, (text.lines[region] + n + 1, digits), line, buf),
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
    let (long, short) = if line.origin == Origin::Hand && of.text.is_made_by_program(line.region) {
        (words::PROGRAMS, "M")
    } else {
        words::origin(line.origin, open)
    };
    let word = if place.width >= WORDS_FROM { long } else { short };
    let kept = if word.is_empty() { 0 } else { width(word) as u16 + 1 };
    let rest = Rect { x: place.x + x.min(place.width), width: place.width.saturating_sub(x + kept), ..place };
    let own = shown(line.bytes, of.text.mixed);
    let cell = Cell {
        line: &own,
        ground: ground(line.origin),
        colours: colours(of, line, n),
        marks: &[],
        left: of.text.left,
    };
    draw(&cell, rest, buf, theme);
    let style =
        theme.text.patch(if line.origin == Origin::Hand { theme.accent } else { ink(of, line.region) });
    if kept > 0 && kept < place.width {
        put(buf, place.right() - kept + 1, place.y, word, usize::from(kept), style);
    }
}

/// What a line of the result stands on.
fn ground(origin: Origin) -> Ground {
    match origin {
        Origin::Unchanged | Origin::Base => Ground::Plain,
        Origin::Parent | Origin::Child | Origin::Both | Origin::Hand => Ground::Added,
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
    of: &Columns<'_>,
    editor: &mut Editor,
    place: Rect,
    buf: &mut Buffer,
) -> Option<(u16, u16)> {
    if place.is_empty() {
        return None;
    }
    let digits = editor.lines().len().to_string().len().max(usize::from(columns::digits(of.text)));
    let wide = if place.width >= 18 { digits as u16 + 2 } else { 1 };
    let wide = wide.min(place.width - 1);
    let text = Rect { x: place.x + wide, width: place.width - wide, ..place };
    let (line, character) = editor.cursor();
    let column = column(editor.lines().get(line).map_or("", String::as_str), character);
    editor.view = seen(editor.view, editor.lines().len(), (line, column), text);
    let View { top, left, rows } = editor.view;
    let mut region = None;
    for at in (top..editor.lines().len()).take(rows) {
        let row = Rect { y: place.y + (at - top) as u16, height: 1, ..place };
        if wide > 1 {
            let number = format!("{:>1$} ", at + 1, usize::from(wide) - 2);
            let ink = if at == line { of.theme.text } else { of.theme.text.patch(of.theme.dim) };
            put(buf, row.x + 1, row.y, &number, usize::from(wide) - 1, ink);
        }
        let look = written(of, editor, at, row, &mut region, buf);
        let own = shown(editor.lines()[at].as_bytes(), false);
        let own = super::line::Shown { end: "", ..own };
        let cell = Cell { line: &own, ground: look.0, colours: look.1, marks: &[], left };
        draw(&cell, Rect { x: text.x, width: text.width, ..row }, buf, of.theme);
    }
    let (x, y) = (text.x + (column - left) as u16, text.y + (line - top) as u16);
    Some((x.min(place.right() - 1), y.min(place.bottom() - 1)))
}

/// The column of a character as it is drawn.
fn column(line: &str, character: usize) -> usize {
    let end = line.char_indices().nth(character).map_or(line.len(), |(at, _)| at);
    width(&shown(&line.as_bytes()[..end], false).text)
}

/// What is seen of so many lines, so that the cursor is in it: at first some lines above it, then as little as can be is
/// moved.
fn seen(before: View, lines: usize, (line, column): (usize, usize), place: Rect) -> View {
    let (rows, wide) = (usize::from(place.height), usize::from(place.width));
    let first = line.saturating_sub(rows / 3).min(lines.saturating_sub(rows));
    let top = if before.rows == 0 { first } else { before.top };
    let top = top.min(line).max((line + 1).saturating_sub(rows));
    // at an edge beyond which there is more stands a mark
    let edge = if wide > 4 { 2 } else { 0 };
    let most = if column < wide.saturating_sub(edge) { 0 } else { column.saturating_sub(edge) };
    let left = before.left.min(most).max((column + 1 + edge).saturating_sub(wide));
    View { top, left, rows }
}

type Colours<'a> = Option<&'a [(u32, crate::ui::widget::row::Role)]>;

/// Draws the bar beside a line that is edited; the line's ground and colours. What was changed by hand is seen as that,
/// and so is whose hunk a line is of. `known`: the region that was looked at last, with its lines.
fn written<'a>(
    of: &Columns<'a>,
    editor: &Editor,
    at: usize,
    row: Rect,
    known: &mut Option<(usize, Vec<Line<'a>>)>,
    buf: &mut Buffer,
) -> (Ground, Colours<'a>) {
    let (Some(was), true) = editor.was(at) else {
        put(buf, row.x, row.y, "▌", usize::from(row.width), of.theme.text.patch(of.theme.accent));
        return (Ground::Added, None);
    };
    let region = of.text.region_of(was);
    bar(of, region, row, buf);
    if known.as_ref().is_none_or(|(other, _)| *other != region) {
        *known = Some((region, of.text.resolution.lines_of(region).collect()));
    }
    let n = was - of.text.lines[region];
    match known.as_ref().and_then(|(_, lines)| lines.get(n)) {
        Some(line) => (ground(line.origin), colours(of, line, n)),
        None => (Ground::Plain, None),
    }
}
