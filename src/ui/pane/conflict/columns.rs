//! Draws the versions: each line beside what it became, with a bar beside the hunks that says what was chosen.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::colours::Colours;
use super::line::{Cell, Ground, Shown, draw, gap, inside, shown};
use super::text::Text;
use crate::law::merge::regions::{Side, Whitespace};
use crate::law::merge::resolution::Choice;
use crate::ui::theme::Theme;
use crate::ui::widget::align::{Row, key};
use crate::ui::widget::row::put;

/// Columns from which a version has line numbers.
const NUMBERS_FROM: u16 = 18;

/// What a version is drawn from.
pub(super) struct Columns<'a> {
    pub text: &'a Text,
    /// Names the text for its colours.
    pub id: u64,
    pub colours: &'a Colours,
    pub whitespace: Whitespace,
    pub theme: &'a Theme,
}

/// Draws the rows of one version from `top` on.
pub(super) fn column(of: &Columns<'_>, side: Side, top: usize, place: Rect, buf: &mut Buffer) {
    let digits = if place.width >= NUMBERS_FROM { digits(of.text) } else { 0 };
    for (n, row) in of.text.table.rows.iter().skip(top).take(usize::from(place.height)).enumerate() {
        let line = Rect { y: place.y + n as u16, height: 1, ..place };
        one(of, side, row, digits, line, buf);
    }
}

/// Columns that the highest line number has, in the versions and in the result: they stand below each other.
pub(super) fn digits(text: &Text) -> u16 {
    let three = text.resolution.three();
    let most = [Side::Base, Side::Parent, Side::Child].into_iter().map(|side| three.len(side)).max();
    let most = most.unwrap_or(0).max(text.lines.last().copied().unwrap_or(0));
    most.to_string().len().max(2) as u16
}

fn one(of: &Columns<'_>, side: Side, row: &Row, digits: u16, place: Rect, buf: &mut Buffer) {
    let theme = of.theme;
    let region = row.region as usize;
    let hunk = of.text.resolution.regions()[region].is_hunk();
    if hunk {
        let (mark, style) = bar(of, side, region);
        put(buf, place.x, place.y, mark, usize::from(place.width), style);
    }
    let number =
        Rect { x: place.x + 1.min(place.width), width: digits.min(place.width.saturating_sub(1)), ..place };
    let from = number.right() + u16::from(digits > 0);
    let rest = Rect { x: from.min(place.right()), width: place.right().saturating_sub(from), ..place };
    let Some(line) = row.line(side) else {
        if hunk {
            gap(rest, buf, theme);
        }
        return;
    };
    if digits > 0 {
        let wide = usize::from(digits);
        let text = format!("{:>wide$}", line + 1);
        let current = hunk && of.text.current == Some(region);
        let style = if current { theme.text } else { theme.dim };
        put(buf, number.x, number.y, &text, usize::from(number.width), theme.text.patch(style));
    }
    let own = text_of(of, side, line);
    let (ground, marks) = if hunk { changes(of, side, row, &own) } else { (Ground::Plain, Vec::new()) };
    let cell = Cell {
        line: &own,
        ground,
        colours: of.colours.line(of.id, side, line),
        marks: &marks,
        left: of.text.left,
    };
    draw(&cell, rest, buf, theme);
}

/// The bar beside a hunk: whether the version is what is taken, whether it waits, whether keys are for it.
fn bar(of: &Columns<'_>, side: Side, region: usize) -> (&'static str, Style) {
    let theme = of.theme;
    let current = of.text.current == Some(region);
    let gives = of.text.fixed.is_none() && of.text.gives(region, side);
    let waits = of.text.fixed.is_none() && of.text.resolution.choices()[region] == Choice::Open;
    let style = match (waits, of.text.resolution.is_made(region)) {
        (true, _) => theme.warning,
        (false, true) => theme.ok,
        (false, false) => theme.dim,
    };
    match (gives, current) {
        (true, true) => ("█", theme.text.patch(style).add_modifier(Modifier::BOLD)),
        (true, false) => ("▌", theme.text.patch(style)),
        (false, true) => ("▏", theme.text.patch(theme.accent)),
        (false, false) => (" ", theme.text),
    }
}

fn text_of(of: &Columns<'_>, side: Side, line: usize) -> Shown {
    let three = of.text.resolution.three();
    let mut shown = shown(three.part(side, line..line + 1), of.text.mixed);
    // that no version ends with a line's end is no news
    let all = [Side::Base, Side::Parent, Side::Child];
    if shown.end == "⊣" && all.into_iter().all(|side| !ended(three.bytes(side))) {
        shown.end = "";
    }
    shown
}

fn ended(bytes: &[u8]) -> bool {
    matches!(bytes.last(), None | Some(b'\n' | b'\r'))
}

/// What a line of a change stands on, and what changed inside it.
fn changes(of: &Columns<'_>, side: Side, row: &Row, own: &Shown) -> (Ground, Vec<Range<usize>>) {
    let three = of.text.resolution.three();
    let raw = |side: Side| row.line(side).map(|line| three.part(side, line..line + 1));
    let same = |one: Side, other: Side| {
        let squeeze = |side: Side| raw(side).map(|line| key(line, of.whitespace));
        squeeze(one) == squeeze(other)
    };
    let marked = |other: Side| -> Vec<Range<usize>> {
        let Some(line) = row.line(other) else { return Vec::new() };
        let mut found = inside(&own.text, &text_of(of, other, line).text).unwrap_or_default();
        if of.whitespace == Whitespace::SetAside {
            found.retain(|range| !own.text[range.clone()].trim().is_empty());
        }
        found
    };
    let others: Vec<Side> =
        of.text.sides.iter().copied().filter(|other| *other != Side::Base && *other != side).collect();
    match side {
        Side::Base => {
            let changed: Vec<Side> = others.into_iter().filter(|other| !same(Side::Base, *other)).collect();
            let Some(first) = changed.first() else { return (Ground::Plain, Vec::new()) };
            let mut marks = marked(*first);
            for other in &changed[1..] {
                marks.extend(marked(*other));
            }
            marks.sort_by_key(|range| range.start);
            (Ground::Removed, joined(marks))
        }
        Side::Parent | Side::Child if same(Side::Base, side) => (Ground::Plain, Vec::new()),
        Side::Parent | Side::Child => {
            let against = match (raw(Side::Base), others.first()) {
                (None, Some(other)) if !same(side, *other) => *other,
                _ => Side::Base,
            };
            (Ground::Added, marked(against))
        }
    }
}

/// Ranges that touch or overlap as one.
fn joined(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match out.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => out.push(range),
        }
    }
    out
}
