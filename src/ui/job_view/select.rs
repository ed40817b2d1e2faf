//! Selecting text in the log of a job, by mouse and by keys. Places are bytes of the file and of a line's text, so a
//! growing end and a resize change nothing. Only what is held can be taken: a file of gigabytes is not read for it.

use std::cmp::Ordering;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::State;
use super::log::{Laid, Log};
use crate::base::Millis;
use crate::ui::clipboard::COPY_MAX;
use crate::ui::model::Model;
use crate::ui::msg::Effect;
use crate::ui::theme::Theme;
use crate::ui::widget::picking::{Pick, Picked, picking};
use crate::ui::widget::select::{self, Caret, Line, Lined, Picker, Point, Span, Step, Unit};
use crate::ui::widget::text::{clusters, width};

impl Lined for Log {
    type At = u64;
    fn order(&self, one: u64, other: u64) -> Ordering {
        one.cmp(&other)
    }
    fn line(&mut self, at: u64) -> Option<Line> {
        self.holds(at).then(|| self.laid(at).line())
    }
    fn after(&mut self, at: u64) -> Option<u64> {
        self.next_line(at)
    }
    fn before(&mut self, at: u64) -> Option<u64> {
        self.line_before(at)
    }
}

impl State {
    /// When the view scrolls by itself, because the mouse selects over its edge.
    pub fn pulls_at(&self) -> Option<Millis> {
        self.pick.pulls_at()
    }
    /// Whether a caret selects.
    pub fn picks(&self) -> bool {
        self.pick.caret.is_some()
    }
    /// Whether something is selected.
    pub(super) fn selected(&self) -> bool {
        self.pick.selection.is_some()
    }
    /// Nothing is selected any more.
    pub(super) fn unselect(&mut self) {
        self.pick.clear();
    }
    fn unit(&mut self, column: u16, row: usize, unit: Unit) -> Option<Span<u64>> {
        let ((start, row), below) = self.log.row_at(row)?;
        let line = self.log.line(start)?;
        let cell = if below { line.len()..line.len() } else { line.cell(row, usize::from(column)) };
        Some(Span::within(start, line.unit(cell, unit)))
    }
    /// The button went down, relative to the log.
    pub(super) fn press(&mut self, column: u16, row: u16, now: Millis) {
        let unit = Unit::of(self.pick.clicks((column, row), now));
        match self.unit(column, usize::from(row), unit) {
            Some(span) => self.pick.press(unit, span),
            None => self.pick.clear(),
        }
    }
    /// The mouse moved with its button down; over an edge the log scrolls by itself.
    pub(super) fn drag(&mut self, column: u16, row: i32, height: u16, now: Millis) {
        let Some(unit) = self.pick.pressed() else { return };
        let last = i32::from(height.saturating_sub(1));
        let way = if row < 0 { row.max(-8) } else { (row - last).clamp(0, 8) };
        self.pick.pull(way, column, now);
        if let Some(span) = self.unit(column, row.clamp(0, last) as usize, unit) {
            self.pick.drag(span);
        }
    }
    fn pull(&mut self, height: u16, now: Millis) {
        let Some(rows) = self.pick.pulled(now) else { return };
        let before = self.log.row_at(0);
        self.log.scroll(i64::from(rows));
        if self.log.row_at(0) == before {
            self.pick.stop_pulling();
        }
        let row = if rows < 0 { 0 } else { usize::from(height.saturating_sub(1)) };
        if let Some(span) = self.pick.pressed().and_then(|unit| self.unit(self.pick.column, row, unit)) {
            self.pick.drag(span);
        }
    }
    /// The button went up: what is selected is taken.
    pub(super) fn release(&mut self) -> Option<Result<String, &'static str>> {
        self.pick.release().then(|| self.text()).flatten()
    }
    /// What is selected; none: nothing. An error where its beginning is not held any more.
    fn text(&mut self) -> Option<Result<String, &'static str>> {
        let span = self.pick.selection?.span(&self.log);
        let mut out = String::new();
        let mut at = span.from.line;
        if !self.log.holds(at) {
            return Some(Err("not copied: the beginning of it is not held any more: select less"));
        }
        while let Some(line) = self.log.line(at) {
            let from = if at == span.from.line { span.from.byte.min(line.len()) } else { 0 };
            let to = if at == span.to.line { span.to.byte.min(line.len()) } else { line.len() };
            out.push_str(&line.cut(from..to.max(from)));
            if at >= span.to.line || out.len() > COPY_MAX {
                break;
            }
            // a line that is cut at a border goes on in the next one
            if self.log.ends(at) {
                out.push('\n');
            }
            match self.log.after(at) {
                Some(next) => at = next,
                None => break,
            }
        }
        (!out.is_empty()).then_some(Ok(out))
    }
    /// What is held of the log as plain text, and which of its lines is at the top of the view.
    pub fn plain(&mut self) -> (String, usize) {
        let (mut out, mut top) = (String::new(), 0);
        let first = self.log.row_at(0).map(|((start, _), _)| start);
        let mut at = self.log.head();
        while let Some(start) = at {
            if Some(start) == first {
                top = out.lines().count();
            }
            out.push_str(&self.log.laid(start).text);
            if self.log.ends(start) {
                out.push('\n');
            }
            at = self.log.next_line(start);
        }
        (out, top)
    }
    /// Selecting by keys.
    pub fn picking(&mut self, pick: Pick, height: u16) -> Option<Result<String, &'static str>> {
        picking(&mut Keyed { state: self, height }, pick)
    }
}

/// The log as it is selected in by keys, in a view of some rows.
struct Keyed<'a> {
    state: &'a mut State,
    height: u16,
}

impl Picked for Keyed<'_> {
    type At = u64;
    type Taken = Result<String, &'static str>;
    fn picker(&mut self) -> &mut Picker<u64> {
        &mut self.state.pick
    }
    fn line(&mut self, at: u64) -> Option<Line> {
        self.state.log.line(at)
    }
    fn stepped(&mut self, from: Caret<u64>, how: Step) -> Caret<u64> {
        let mut goal = from.goal;
        let at = select::step(&mut self.state.log, from.at, &mut goal, how);
        Caret { at, goal }
    }
    fn begin(&mut self) -> Option<Point<u64>> {
        let ((line, row), _) = self.state.log.row_at(0)?;
        let byte = self.state.log.line(line).map_or(0, |line| line.row(row).start);
        Some(Point { line, byte })
    }
    fn outermost(&mut self, from: Caret<u64>, first: bool) -> Option<Caret<u64>> {
        // of what is held: the rest is not here to be selected
        Some(self.stepped(from, Step::Rows(if first { i32::MIN + 1 } else { i32::MAX })))
    }
    fn height(&self) -> usize {
        usize::from(self.height)
    }
    fn bring(&mut self, at: Point<u64>) {
        let row = self.state.log.line(at.line).map_or(0, |line| line.row_of(at.byte));
        self.state.log.bring((at.line, row));
    }
    fn take(&mut self) -> Option<Self::Taken> {
        self.state.text()
    }
}

/// The mouse selects over an edge of the log: it scrolls by itself.
pub fn pull(model: &mut Model, now: Millis) {
    let (columns, rows) = model.size;
    let place = super::body(Rect::new(0, 0, columns, rows));
    if let Some(state) = &mut model.job_view {
        state.pull(place.height, now);
    }
}

/// Copies what was taken, or says why not.
pub fn carry_out(
    model: &mut Model,
    taken: Option<Result<String, &'static str>>,
    now: Millis,
    out: &mut Vec<Effect>,
) {
    match taken {
        Some(Ok(text)) => out.push(Effect::Copy(text)),
        Some(Err(why)) => model.say(why, now),
        None => {}
    }
}

/// What is selected, and the caret: for drawing.
#[derive(Clone, Copy)]
pub(super) struct Marks {
    span: Option<Span<u64>>,
    caret: Option<Point<u64>>,
}

/// What is selected now.
pub(super) fn marks(pick: &Picker<u64>, log: &Log) -> Marks {
    Marks {
        span: pick.selection.map(|selection| selection.span(log)),
        caret: pick.caret.map(|caret| caret.at),
    }
}

/// Draws what a row shows of them.
pub(super) fn draw(
    marks: Marks,
    (start, line, at): (u64, &Laid, usize),
    place: Rect,
    (buf, theme): (&mut Buffer, &Theme),
) {
    let (begin, text) = line.row(at);
    let (begin, last) = (begin as u32, at + 1 == line.count());
    let column = |byte: u32| {
        let byte = text.floor_char_boundary((byte.saturating_sub(begin) as usize).min(text.len()));
        width(&text[..byte])
    };
    let mut mark = |from: usize, to: usize, style| {
        let wide = usize::from(place.width);
        let (from, to) = (from.min(wide), to.min(wide));
        buf.set_style(Rect { x: place.x + from as u16, width: (to - from) as u16, ..place }, style);
    };
    let end = begin + text.len() as u32;
    if let Some(span) = marks.span.filter(|span| (span.from.line..=span.to.line).contains(&start)) {
        let low = if start == span.from.line { span.from.byte } else { 0 };
        let goes_on = start < span.to.line;
        let high = if goes_on { u32::MAX } else { span.to.byte };
        if low <= end && high >= begin {
            let (from, to) = (column(low), column(high.min(end)) + usize::from(goes_on && last));
            mark(from, to.max(from), theme.selection);
        }
    }
    let here = |at: &Point<u64>| at.line == start && at.byte >= begin && (at.byte < end || last);
    if let Some(at) = marks.caret.filter(here) {
        let from = column(at.byte);
        let cell = text.get((at.byte - begin) as usize..).unwrap_or_default();
        let wide = clusters(cell).next().map_or(1, width).max(1);
        mark(from, from + wide, theme.text.add_modifier(Modifier::REVERSED));
    }
}
