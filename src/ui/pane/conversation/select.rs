//! Selecting text in the conversation, by mouse and by keys: which lines there are, what was hit, what is taken.
//!
//! A block of Markdown that is selected whole is taken as it was written; of one that is selected in part the words
//! are, as they are shown. Everything else is taken as its source has it. Deliberately not here: cells and places in a
//! line (`widget::select`), and what one key takes of an item (`take`).

use std::cmp::Ordering;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::item::Body;
use super::lay::Lay;
use super::{Out, State};
use crate::base::Millis;
use crate::ui::clipboard::COPY_MAX;
use crate::ui::theme::Theme;
use crate::ui::widget::picking::{Pick, Picked, picking};
use crate::ui::widget::row::Row;
use crate::ui::widget::scroll::{Layout, Spot, next_block, previous_block};
use crate::ui::widget::select::{self, Caret, Line, Lined, Picker, Point, Span, Step, Unit};
use crate::ui::widget::text::width;

/// A line: its item's id, its block, and its place in that.
pub(super) type Key = (u64, u32, u32);

/// The line that begins in a row, and how many rows it has.
pub(super) fn line_of(rows: &[Row], first: usize) -> (Line, usize) {
    let Some(begin) = rows.get(first) else { return (Line::default(), 0) };
    let mut line = Line { tabs: begin.tabs.clone(), ..Line::default() };
    let mut count = 0;
    for row in rows[first..].iter().take_while(|row| row.at == begin.at || row.soft) {
        let at = (row.at - begin.at) as usize;
        // the blanks at which it was wrapped
        while line.text.len() < at {
            line.text.push(' ');
        }
        if line.text.len() > at {
            let at = line.text.floor_char_boundary(at);
            line.text.truncate(at);
        }
        line.rows.push(line.text.len() as u32);
        line.text.push_str(row.content());
        line.text.extend(std::iter::repeat_n(' ', row.blanks as usize));
        count += 1;
    }
    (line, count)
}

/// The row that begins the line which a row is of.
pub(super) fn first_of(rows: &[Row], row: usize) -> usize {
    rows[..=row].iter().rposition(|row| !row.soft).unwrap_or(0)
}

impl Lay<'_> {
    fn index(&self, id: u64) -> Option<usize> {
        self.items.iter().rposition(|item| item.id == id)
    }
    fn key(&mut self, spot: Spot) -> Key {
        let rows = self.rows(spot.item, spot.block);
        let at = rows.get(spot.row).map_or(0, |_| rows[first_of(&rows, spot.row)].at);
        (self.items[spot.item].id, spot.block as u32, at)
    }
    /// The row that begins a line; where there is none any more, the nearest before it.
    pub(super) fn spot_of(&mut self, (id, block, at): Key) -> Option<Spot> {
        let item = self.index(id)?;
        let block = block as usize;
        if block >= self.blocks(item) {
            return None;
        }
        let rows = self.rows(item, block);
        let near = rows.partition_point(|row| row.at <= at).checked_sub(1)?;
        Some(Spot { item, block, row: first_of(&rows, near) })
    }
}

impl Lined for Lay<'_> {
    type At = Key;
    fn order(&self, one: Key, other: Key) -> Ordering {
        let index = |key: Key| (if one.0 == other.0 { Some(0) } else { self.index(key.0) }, key.1, key.2);
        index(one).cmp(&index(other))
    }
    fn line(&mut self, at: Key) -> Option<Line> {
        let spot = self.spot_of(at)?;
        Some(line_of(&self.rows(spot.item, spot.block), spot.row).0)
    }
    fn after(&mut self, at: Key) -> Option<Key> {
        let spot = self.spot_of(at)?;
        let rows = self.rows(spot.item, spot.block);
        let next = spot.row + line_of(&rows, spot.row).1;
        let spot = if next < rows.len() { Spot { row: next, ..spot } } else { next_block(self, spot)? };
        Some(self.key(spot))
    }
    fn before(&mut self, at: Key) -> Option<Key> {
        let spot = self.spot_of(at)?;
        let spot = match spot.row.checked_sub(1) {
            Some(row) => Spot { row, ..spot },
            None => previous_block(self, spot)?,
        };
        Some(self.key(spot))
    }
}

impl Picked for State {
    type At = Key;
    type Taken = String;
    fn picker(&mut self) -> &mut Picker<Key> {
        &mut self.pick
    }
    fn line(&mut self, at: Key) -> Option<Line> {
        self.lay().line(at)
    }
    fn stepped(&mut self, from: Caret<Key>, how: Step) -> Caret<Key> {
        let mut goal = from.goal;
        let at = select::step(&mut self.lay(), from.at, &mut goal, how);
        Caret { at, goal }
    }
    fn begin(&mut self) -> Option<Point<Key>> {
        self.caret_begin().map(|line| Point { line, byte: 0 })
    }
    fn outermost(&mut self, _: Caret<Key>, first: bool) -> Option<Caret<Key>> {
        let line = self.end_line(first)?;
        Some(Caret { at: Point { line, byte: 0 }, goal: None })
    }
    fn height(&self) -> usize {
        self.height
    }
    fn bring(&mut self, at: Point<Key>) {
        let (height, mut scroll) = (self.height, self.scroll);
        let mut lay = self.lay();
        let Some(begin) = lay.spot_of(at.line) else { return };
        let row = lay.line(at.line).map_or(0, |line| line.row_of(at.byte));
        scroll.show(&mut lay, height, Spot { row: begin.row + row, ..begin });
        self.scroll = scroll;
    }
    fn take(&mut self) -> Option<String> {
        self.picked_text()
    }
}

/// Where a selection begins and ends in the present layout: item, block, line, byte.
pub(super) type Bounds = [(usize, u32, u32, u32); 2];

impl State {
    /// The cell of the view as it was last drawn that is nearest to a place, and the line that it is of.
    pub(super) fn hit(&mut self, column: u16, row: usize) -> Option<(Key, Line, std::ops::Range<u32>)> {
        let visible = super::view::visible(self);
        let spot = *visible.get(row).or(visible.last())?;
        let below = row >= visible.len();
        let gutter = self.gutter;
        let mut lay = self.lay();
        let rows = lay.rows(spot.item, spot.block);
        let first = first_of(&rows, spot.row);
        let (line, _) = line_of(&rows, first);
        let of = rows.get(spot.row)?;
        let prefix = width(&of.text[..of.indent as usize]);
        let column = usize::from(column.saturating_sub(gutter)).saturating_sub(prefix);
        let cell = if below { line.len()..line.len() } else { line.cell(spot.row - first, column) };
        Some((lay.key(spot), line, cell))
    }
    fn hit_unit(&mut self, column: u16, row: usize, unit: Unit) -> Option<Span<Key>> {
        let (key, line, cell) = self.hit(column, row)?;
        Some(Span::within(key, line.unit(cell, unit)))
    }
    /// The button went down.
    pub(super) fn press(&mut self, column: u16, row: u16, now: Millis) -> Vec<Out> {
        let clicks = self.pick.clicks((column, row), now);
        let mut out = Vec::new();
        // the first of two clicks opened or folded what a word is taken of now
        if let (2, Some(id)) = (clicks, self.flipped.take())
            && let Some(index) = self.items.iter().rposition(|item| item.id == id)
        {
            out = self.flip(index);
        }
        self.flipped = None;
        self.pressed_row = row;
        let unit = Unit::of(clicks);
        match self.hit_unit(column, usize::from(row), unit) {
            Some(span) => self.pick.press(unit, span),
            None => self.pick.clear(),
        }
        out
    }
    /// The mouse moved with its button down; over an edge the view scrolls by itself.
    pub(super) fn drag(&mut self, column: i32, row: i32, now: Millis) {
        let Some(unit) = self.pick.pressed() else { return };
        let (last, column) =
            (self.height.saturating_sub(1) as i32, column.clamp(0, i32::from(u16::MAX)) as u16);
        let way = if row < 0 { row.max(-8) } else { (row - last).clamp(0, 8) };
        self.pick.pull(way, column, now);
        if let Some(span) = self.hit_unit(column, row.clamp(0, last) as usize, unit) {
            self.pick.drag(span);
        }
    }
    /// The mouse stays over an edge.
    pub(super) fn pull(&mut self, now: Millis) {
        let Some(rows) = self.pick.pulled(now) else { return };
        let before = self.scroll;
        self.scroll_by(i64::from(rows));
        if self.scroll == before {
            self.pick.stop_pulling();
        }
        let row = if rows < 0 { 0 } else { self.height.saturating_sub(1) };
        if let Some(span) = self.pick.pressed().and_then(|unit| self.hit_unit(self.pick.column, row, unit)) {
            self.pick.drag(span);
        }
    }
    /// When the view scrolls by itself.
    pub fn pulls_at(&self) -> Option<Millis> {
        self.pick.pulls_at()
    }
    /// The button went up: what is selected is copied; where nothing is, it was a click.
    pub(super) fn release(&mut self) -> Vec<Out> {
        let pressed = self.pick.pressed().is_some();
        if self.pick.release() {
            return self.picked_text().map(Out::Copy).into_iter().collect();
        }
        if pressed { self.click(usize::from(self.pressed_row)) } else { Vec::new() }
    }
    /// Whether a caret selects.
    pub fn picks(&self) -> bool {
        self.pick.caret.is_some()
    }
    /// Whether something is marked by it.
    pub fn marks(&self) -> bool {
        self.pick.caret.is_some() && self.pick.selection.is_some()
    }
    /// Selecting by keys.
    pub(super) fn picking(&mut self, pick: Pick) -> Vec<Out> {
        picking(self, pick).map(Out::Copy).into_iter().collect()
    }
    /// The first line of the selected item, if it is in view; else the first in view.
    fn caret_begin(&mut self) -> Option<Key> {
        let visible = super::view::visible(self);
        let selected = self.selected;
        let of = |spot: &&Spot| selected.is_some_and(|id| self.items[spot.item].id == id);
        let spot = *visible.iter().find(of).or(visible.first())?;
        let mut lay = self.lay();
        let key = lay.key(spot);
        // a blank row stands before it
        let blank = lay.line(key).is_some_and(|line| line.is_empty());
        Some(if blank { lay.after(key).unwrap_or(key) } else { key })
    }
    fn end_line(&mut self, first: bool) -> Option<Key> {
        let items = self.items.len();
        let mut lay = self.lay();
        let outside = Spot { item: items, block: 0, row: 0 };
        let spot = if first {
            let begin = Spot::default();
            let rows = if items > 0 && lay.blocks(0) > 0 { lay.height(0, 0) } else { 0 };
            if rows > 0 { begin } else { next_block(&mut lay, begin)? }
        } else {
            previous_block(&mut lay, outside)?
        };
        Some(lay.key(spot))
    }
    /// What is selected, in the present layout.
    pub(super) fn picked(&mut self) -> Option<Bounds> {
        let selection = self.pick.selection?;
        let lay = self.lay();
        let span = selection.span(&lay);
        let at = |point: Point<Key>| Some((lay.index(point.line.0)?, point.line.1, point.line.2, point.byte));
        Some([at(span.from)?, at(span.to)?])
    }
    /// The caret, in the present layout.
    pub(super) fn caret(&mut self) -> Option<(Spot, u32)> {
        let caret = self.pick.caret?;
        Some((self.lay().spot_of(caret.at.line)?, caret.at.byte))
    }
    /// The text of what is selected; none where that is nothing.
    pub(super) fn picked_text(&mut self) -> Option<String> {
        let [(first, ..), (last, ..)] = self.picked()?;
        (first..=last).for_each(|index| self.read_whole(index));
        let picked = self.picked()?;
        let mut out: Vec<String> = Vec::new();
        let mut bytes = 0;
        for index in first..=last {
            let from = out.len();
            self.take_item(index, picked, &mut out);
            bytes += out[from..].iter().map(String::len).sum::<usize>();
            // more than any clipboard takes
            if bytes > COPY_MAX {
                break;
            }
        }
        let text = out.join("\n");
        (!text.is_empty()).then_some(text)
    }
    /// Adds what is selected of an item, in lines.
    fn take_item(&mut self, index: usize, [from, to]: Bounds, out: &mut Vec<String>) {
        let mut lay = self.lay();
        let alone = from.0 == to.0 && from.1 == to.1;
        for block in 0..lay.blocks(index) {
            let at = (index, block as u32);
            if at < (from.0, from.1) || at > (to.0, to.1) {
                continue;
            }
            let rows = lay.rows(index, block);
            let mut lines = Vec::new();
            let mut row = 0;
            while row < rows.len() {
                let (line, count) = line_of(&rows, row);
                lines.push((rows[row].at, line));
                row += count.max(1);
            }
            let bounds = |at: u32, line: &Line| {
                let key = (index, block as u32, at);
                let begins = (from.0, from.1, from.2);
                let ends = (to.0, to.1, to.2);
                let begin = if key == begins { from.3.min(line.len()) } else { 0 };
                let end = if key == ends { to.3.min(line.len()) } else { line.len() };
                (key >= begins && key <= ends).then_some(begin..end.max(begin))
            };
            let blanks = lines.iter().take_while(|(_, line)| line.is_empty()).count();
            let whole = lines[blanks..].iter().all(|(at, line)| bounds(*at, line) == Some(0..line.len()));
            let written =
                if whole && blanks < lines.len() { written(&lay, index, block, !alone) } else { None };
            let cut = |(at, line): &(u32, Line)| bounds(*at, line).map(|bytes| line.cut(bytes));
            match written {
                Some(text) => {
                    out.extend(lines[..blanks].iter().filter_map(cut));
                    out.push(text);
                }
                None => out.extend(lines.iter().filter_map(cut)),
            }
        }
    }
}

/// A block of Markdown as it was written; none: it is none, or cannot be told from others.
fn written(lay: &Lay<'_>, index: usize, block: usize, around: bool) -> Option<String> {
    let Body::Prose { source, doc, head } = &lay.items.get(index)?.body else { return None };
    let block = block.checked_sub(usize::from(head.is_some()))?;
    let text = doc.written(source.text(), doc.blocks().get(block)?, around)?;
    // nothing is pasted that was not seen: tabs stay, other controls are as they are shown
    let shown =
        |line: &str| line.split('\t').map(crate::ui::widget::text::tame).collect::<Vec<_>>().join("\t");
    Some(text.split('\n').map(|line| shown(line.trim_end_matches('\r'))).collect::<Vec<_>>().join("\n"))
}

/// Draws what is selected in a row, and the caret.
pub(super) fn draw(
    (rows, spot): (&[Row], Spot),
    picked: Option<Bounds>,
    caret: Option<(Spot, u32)>,
    place: Rect,
    (buf, theme): (&mut Buffer, &Theme),
) {
    let Some(row) = rows.get(spot.row) else { return };
    let first = first_of(rows, spot.row);
    let (at, begin) = (rows[first].at, row.at - rows[first].at);
    let prefix = width(&row.text[..row.indent as usize]);
    let content = row.content();
    let column = |byte: u32| {
        let byte = content.floor_char_boundary((byte.saturating_sub(begin) as usize).min(content.len()));
        prefix + width(&content[..byte])
    };
    let mut mark = |from: usize, to: usize, style| {
        let wide = usize::from(place.width);
        let (from, to) = (from.min(wide), to.min(wide));
        let rect = Rect { x: place.x + from as u16, width: (to - from) as u16, ..place };
        buf.set_style(rect, style);
    };
    let key = (spot.item, spot.block as u32, at);
    if let Some([from, to]) =
        picked.filter(|[from, to]| key >= (from.0, from.1, from.2) && key <= (to.0, to.1, to.2))
    {
        let low = if key == (from.0, from.1, from.2) { from.3 } else { 0 };
        let goes_on = key < (to.0, to.1, to.2);
        let high = if goes_on { u32::MAX } else { to.3 };
        let end = begin + content.len() as u32;
        if low <= end && high >= begin {
            let last = rows.get(spot.row + 1).is_none_or(|next| !next.soft);
            // the end of a line that goes on is selected too
            let more = usize::from(goes_on && last);
            let (from, to) = (column(low), column(high.min(end)) + more);
            mark(from, to.max(from), theme.selection);
        }
    }
    if let Some((_, byte)) =
        caret.filter(|(at, _)| (at.item, at.block, at.row) == (spot.item, spot.block, first))
    {
        let next = rows.get(spot.row + 1).filter(|next| next.soft).map_or(u32::MAX, |next| next.at - at);
        if (begin..next).contains(&byte) {
            let from = column(byte);
            let cell = content.get((byte - begin) as usize..).unwrap_or_default();
            let wide = crate::ui::widget::text::clusters(cell).next().map_or(1, width).max(1);
            mark(from, from + wide, theme.text.add_modifier(Modifier::REVERSED));
        }
    }
}
