//! Selecting text: places in lines as they are without soft wraps, the cells that show them, and what is taken.
//!
//! A line is one of the source or, where Markdown is drawn, one of what is shown, without its gutter and its wraps; so
//! what is taken is the same at every width. A tab is taken as a tab, and a control character as it is seen: what is
//! pasted elsewhere does nothing that was not seen here. Deliberately not here: which lines there are (`Lined`), and
//! drawing.

use std::cmp::Ordering;
use std::ops::Range;

use super::text::{cluster_width, clusters};
use crate::base::Millis;

/// Clicks that are no further apart count as one.
const CLICKS_MS: u64 = 400;
/// How often a view scrolls while a selection is pulled over its edge.
const PULL_MS: u64 = 40;

/// A place: a line, and a byte of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point<A> {
    /// The line.
    pub line: A,
    /// The byte.
    pub byte: u32,
}

/// What lies between two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<A> {
    /// Its first place.
    pub from: Point<A>,
    /// The place behind its last.
    pub to: Point<A>,
}

impl<A: Copy> Span<A> {
    /// A part of one line.
    pub fn within(line: A, bytes: Range<u32>) -> Self {
        Self { from: Point { line, byte: bytes.start }, to: Point { line, byte: bytes.end } }
    }
}

/// How much a press takes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A cluster.
    Cell,
    /// A word, a path, an address.
    Word,
    /// A line without its wraps: a paragraph.
    Line,
}

impl Unit {
    /// What so many clicks take.
    pub fn of(clicks: u8) -> Self {
        match clicks {
            0 | 1 => Unit::Cell,
            2 => Unit::Word,
            _ => Unit::Line,
        }
    }
}

/// A line without its soft wraps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its text, without a gutter.
    pub text: String,
    /// Where each of its rows begins in the text; at least one.
    pub rows: Vec<u32>,
    /// Where blanks stand for a tab of the source, in bytes of the text.
    pub tabs: Vec<(u32, u32)>,
}

impl Line {
    /// Bytes of the text.
    pub fn len(&self) -> u32 {
        self.text.len() as u32
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
    /// The row in which a byte stands.
    pub fn row_of(&self, byte: u32) -> usize {
        self.rows.partition_point(|begin| *begin <= byte).saturating_sub(1)
    }
    /// The bytes of a row, with the blanks at which it was wrapped.
    pub fn row(&self, row: usize) -> Range<u32> {
        let at = |row: usize| self.rows.get(row).copied().unwrap_or(self.len()).min(self.len());
        at(row)..at(row + 1)
    }
    fn slice(&self, bytes: Range<u32>) -> &str {
        self.text.get(bytes.start as usize..bytes.end as usize).unwrap_or_default()
    }
    /// The cluster that a column of a row shows; beyond the row's end none, there.
    pub fn cell(&self, row: usize, column: usize) -> Range<u32> {
        let row = self.row(row);
        let (mut at, mut used) = (row.start, 0);
        for cluster in clusters(self.slice(row.clone())) {
            let wide = cluster_width(cluster);
            let next = at + cluster.len() as u32;
            if wide > 0 && column < used + wide {
                return at..next;
            }
            (at, used) = (next, used + wide);
        }
        at..at
    }
    /// The row and the column in which a byte is shown.
    pub fn place(&self, byte: u32) -> (usize, usize) {
        let row = self.row_of(byte);
        let before = self.row(row).start..byte.min(self.len());
        (row, clusters(self.slice(before)).map(cluster_width).sum())
    }
    /// The cluster that begins at a byte; none at the end.
    pub fn cluster(&self, byte: u32) -> Range<u32> {
        let long = clusters(self.slice(byte.min(self.len())..self.len())).next().map_or(0, str::len);
        byte.min(self.len())..byte.min(self.len()) + long as u32
    }
    /// The cluster before a byte; none at the beginning.
    fn cluster_before(&self, byte: u32) -> Option<u32> {
        let mut at = 0;
        let mut last = None;
        for cluster in clusters(self.slice(0..byte.min(self.len()))) {
            last = Some(at);
            at += cluster.len() as u32;
        }
        last
    }
    /// What a press on a byte takes.
    pub fn unit(&self, cell: Range<u32>, unit: Unit) -> Range<u32> {
        match unit {
            Unit::Cell => cell,
            Unit::Word => self.word(cell),
            Unit::Line => 0..self.len(),
        }
    }
    /// The word about a cluster: letters, digits and what stands inside paths and addresses, without a stop at its end.
    fn word(&self, cell: Range<u32>) -> Range<u32> {
        let wanted = class(self.slice(cell.clone()));
        if cell.is_empty() || wanted == Class::Mark {
            return cell;
        }
        let (mut from, mut at) = (0, 0);
        let mut to = self.len();
        for cluster in clusters(&self.text) {
            if class(cluster) != wanted {
                if at >= cell.end {
                    to = at;
                    break;
                }
                from = at + cluster.len() as u32;
            }
            at += cluster.len() as u32;
        }
        if wanted == Class::Word {
            let stops = |c: char| matches!(c, '.' | ':' | '?' | '-' | '=' | '&');
            let bare = self.slice(from..to).trim_end_matches(stops).len() as u32;
            let begin = self.slice(from..to).trim_start_matches(':').len() as u32;
            // one that is all stops, or was pressed on them, stays whole
            if from + bare >= cell.end && to - begin <= cell.start {
                return to - begin..from + bare;
            }
        }
        from..to
    }
    /// A part of the line as it is taken: tabs are tabs again.
    pub fn cut(&self, bytes: Range<u32>) -> String {
        let mut out = String::new();
        let mut at = bytes.start;
        for (from, to) in self.tabs.iter().filter(|(from, to)| *to > bytes.start && *from < bytes.end) {
            out.push_str(self.slice(at..(*from).max(at)));
            out.push('\t');
            at = (*to).min(bytes.end);
        }
        out.push_str(self.slice(at..bytes.end.min(self.len()).max(at)));
        out
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Mark,
}

fn class(cluster: &str) -> Class {
    match cluster.chars().next() {
        None | Some(' ' | '\t') => Class::Blank,
        Some(c) if c.is_alphanumeric() || "_@-./~?&=%+#:".contains(c) => Class::Word,
        Some(_) => Class::Mark,
    }
}

/// Lines that can be selected.
pub trait Lined {
    /// What names a line, also when others come before it.
    type At: Copy + PartialEq;
    /// Which of two lines comes first.
    fn order(&self, one: Self::At, other: Self::At) -> Ordering;
    /// A line; none: it is gone.
    fn line(&mut self, at: Self::At) -> Option<Line>;
    /// The line after one.
    fn after(&mut self, at: Self::At) -> Option<Self::At>;
    /// The line before one.
    fn before(&mut self, at: Self::At) -> Option<Self::At>;
}

/// Which of two places comes first.
pub fn order<L: Lined>(lines: &L, one: Point<L::At>, other: Point<L::At>) -> Ordering {
    lines.order(one.line, other.line).then(one.byte.cmp(&other.byte))
}

/// A selection: where it began, and where it goes to. Both are units, and all between them is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection<A> {
    /// What it takes at once.
    pub unit: Unit,
    /// Where it began.
    pub anchor: Span<A>,
    /// Where it goes to.
    pub head: Span<A>,
}

impl<A: Copy + PartialEq> Selection<A> {
    /// What is selected, from its first place.
    pub fn span<L: Lined<At = A>>(&self, lines: &L) -> Span<A> {
        let earlier = |one: Point<A>, other| if order(lines, one, other).is_gt() { other } else { one };
        let later = |one: Point<A>, other| if order(lines, one, other).is_lt() { other } else { one };
        Span { from: earlier(self.anchor.from, self.head.from), to: later(self.anchor.to, self.head.to) }
    }
}

/// How a caret moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the cluster before.
    Left,
    /// To the next cluster.
    Right,
    /// So many rows; negative is up.
    Rows(i32),
    /// To the next word.
    Word,
    /// To the beginning of the word, or of the one before.
    WordBack,
    /// To the row's begin.
    Begin,
    /// To the row's end.
    End,
}

/// Moves a caret by a step; `goal` is the column that rows are met in.
pub fn step<L: Lined>(
    lines: &mut L,
    from: Point<L::At>,
    goal: &mut Option<usize>,
    how: Step,
) -> Point<L::At> {
    let Some(line) = lines.line(from.line) else { return from };
    if let Step::Rows(rows) = how {
        let column = *goal.get_or_insert_with(|| line.place(from.byte).1);
        return by_rows(lines, (from, line), rows, column);
    }
    *goal = None;
    let at = |byte: u32| Point { byte, ..from };
    match how {
        Step::Rows(_) => from,
        Step::Begin => at(line.row(line.row_of(from.byte)).start),
        Step::End => at(last_of(&line, line.row_of(from.byte))),
        Step::Right => {
            let next = line.cluster(from.byte).end;
            if next < line.len() { at(next) } else { begin_of_next(lines, from) }
        }
        Step::Left => match line.cluster_before(from.byte) {
            Some(byte) => at(byte),
            None => end_of_last(lines, from),
        },
        Step::Word => {
            let mut byte = from.byte;
            let word = line.word(line.cluster(byte)).end.max(line.cluster(byte).end);
            byte = word;
            while byte < line.len() && class(line.slice(line.cluster(byte))) == Class::Blank {
                byte = line.cluster(byte).end;
            }
            if byte < line.len() { at(byte) } else { begin_of_next(lines, from) }
        }
        Step::WordBack => {
            let mut byte = line.cluster_before(from.byte);
            while let Some(blank) = byte.filter(|at| class(line.slice(line.cluster(*at))) == Class::Blank) {
                byte = line.cluster_before(blank);
            }
            match byte {
                Some(byte) => at(line.word(line.cluster(byte)).start),
                None if from.byte > 0 => at(0),
                None => end_of_last(lines, from),
            }
        }
    }
}

/// The last cluster of a row.
fn last_of(line: &Line, row: usize) -> u32 {
    let bytes = line.row(row);
    let shown = line.slice(bytes.clone()).trim_end_matches(' ').len() as u32;
    line.cluster_before(bytes.start + shown).filter(|at| *at >= bytes.start).unwrap_or(bytes.start)
}

fn begin_of_next<L: Lined>(lines: &mut L, from: Point<L::At>) -> Point<L::At> {
    lines.after(from.line).map_or(from, |line| Point { line, byte: 0 })
}

fn end_of_last<L: Lined>(lines: &mut L, from: Point<L::At>) -> Point<L::At> {
    let Some(before) = lines.before(from.line) else { return from };
    let byte = lines.line(before).map_or(0, |line| line.cluster_before(line.len()).unwrap_or(0));
    Point { line: before, byte }
}

fn by_rows<L: Lined>(
    lines: &mut L,
    (from, line): (Point<L::At>, Line),
    rows: i32,
    column: usize,
) -> Point<L::At> {
    let (mut at, mut row, mut line) = (from.line, line.row_of(from.byte), line);
    for _ in 0..rows.unsigned_abs() {
        if rows > 0 && row + 1 < line.rows.len() {
            row += 1;
        } else if rows < 0 && row > 0 {
            row -= 1;
        } else {
            let next = if rows > 0 { lines.after(at) } else { lines.before(at) };
            let Some((next, found)) = next.and_then(|next| Some((next, lines.line(next)?))) else { break };
            row = if rows > 0 { 0 } else { found.rows.len().saturating_sub(1) };
            (at, line) = (next, found);
        }
    }
    let cell = line.cell(row, column);
    let byte =
        if cell.is_empty() || cell.start > last_of(&line, row) { last_of(&line, row) } else { cell.start };
    Point { line: at, byte }
}

/// A caret that is moved by keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caret<A> {
    /// Where it stands.
    pub at: Point<A>,
    /// The column that it goes up and down in.
    pub goal: Option<usize>,
}

/// What is selected in a view, and how it is being done.
#[derive(Clone, Debug)]
pub struct Picker<A> {
    /// What is selected.
    pub selection: Option<Selection<A>>,
    /// The caret, while it is done by keys.
    pub caret: Option<Caret<A>>,
    /// Where the mouse went down, and how much that takes at once.
    pressed: Option<(Span<A>, Unit)>,
    /// When and where it did so last, and how often in a row.
    clicks: Option<(Millis, (u16, u16), u8)>,
    /// Which edge the mouse is pulled over, and when the view scrolls next.
    edge: Option<(i32, Millis)>,
    /// The column of the mouse while it is over an edge.
    pub column: u16,
}

impl<A> Default for Picker<A> {
    fn default() -> Self {
        Self { selection: None, caret: None, pressed: None, clicks: None, edge: None, column: 0 }
    }
}

impl<A: Copy + PartialEq> Picker<A> {
    /// The mouse went down: how many times in a row it did so here.
    pub fn clicks(&mut self, at: (u16, u16), now: Millis) -> u8 {
        let again = self.clicks.filter(|(last, (column, row), _)| {
            now.since(*last).0 <= CLICKS_MS && *row == at.1 && column.abs_diff(at.0) <= 1
        });
        let count = again.map_or(1, |(.., count)| count % 3 + 1);
        self.clicks = Some((now, at, count));
        count
    }
    /// The mouse went down on a unit. One that is more than a cell is selected at once.
    pub fn press(&mut self, unit: Unit, on: Span<A>) {
        (self.selection, self.caret, self.edge) = (None, None, None);
        self.pressed = Some((on, unit));
        if unit != Unit::Cell {
            self.selection = Some(Selection { unit, anchor: on, head: on });
        }
    }
    /// How much the mouse takes at once while it is down.
    pub fn pressed(&self) -> Option<Unit> {
        self.pressed.map(|(_, unit)| unit)
    }
    /// The mouse went to a unit with its button down; a cell is selected once it is left.
    pub fn drag(&mut self, to: Span<A>) {
        let Some((anchor, unit)) = self.pressed else { return };
        if self.selection.is_some() || to != anchor {
            self.selection = Some(Selection { unit, anchor, head: to });
        }
    }
    /// The button went up; whether something is selected now.
    pub fn release(&mut self) -> bool {
        self.edge = None;
        self.pressed.take().is_some() && self.selection.is_some()
    }
    /// The mouse is over an edge: above (negative) or below, or not any more.
    pub fn pull(&mut self, way: i32, column: u16, now: Millis) {
        self.column = column;
        self.edge = match (way, self.edge) {
            (0, _) => None,
            (way, Some((before, at))) if before.signum() == way.signum() => Some((way, at)),
            (way, _) => Some((way, now)),
        };
    }
    /// When the view scrolls next, because the mouse is over its edge.
    pub fn pulls_at(&self) -> Option<Millis> {
        self.edge.map(|(_, at)| at)
    }
    /// By how many rows it scrolls now.
    pub fn pulled(&mut self, now: Millis) -> Option<i32> {
        let (way, at) = self.edge.filter(|(_, at)| *at <= now)?;
        self.edge = Some((way, at.max(now).plus(Millis(PULL_MS))));
        Some(way)
    }
    /// It can be scrolled no further.
    pub fn stop_pulling(&mut self) {
        self.edge = None;
    }
    /// The lines have other places now; this tells which.
    pub fn moved_lines(&mut self, to: impl Fn(A) -> A) {
        let point = |at: &mut Point<A>| at.line = to(at.line);
        let span = |of: &mut Span<A>| [&mut of.from, &mut of.to].into_iter().for_each(point);
        if let Some(selection) = &mut self.selection {
            [&mut selection.anchor, &mut selection.head].into_iter().for_each(span);
        }
        if let Some(caret) = &mut self.caret {
            caret.at.line = to(caret.at.line);
        }
        if let Some((pressed, _)) = &mut self.pressed {
            span(pressed);
        }
    }
    /// Nothing is selected any more.
    pub fn clear(&mut self) {
        (self.selection, self.caret, self.pressed, self.edge) = (None, None, None, None);
    }
    /// The caret went to a cell: what is marked goes with it.
    pub fn moved(&mut self, caret: Caret<A>, cell: Span<A>) {
        self.caret = Some(caret);
        if let Some(selection) = &mut self.selection {
            selection.head = cell;
        }
    }
    /// Begins to mark from a unit; again the same: marks nothing.
    pub fn mark(&mut self, unit: Unit, on: Span<A>) {
        self.selection = match self.selection {
            Some(selection) if selection.unit == unit => None,
            _ => Some(Selection { unit, anchor: on, head: on }),
        };
    }
    /// Turns the selection round; where its moving end is now, if there is one.
    pub fn swap(&mut self) -> Option<Point<A>> {
        let selection = self.selection.as_mut()?;
        std::mem::swap(&mut selection.anchor, &mut selection.head);
        Some(selection.head.from)
    }
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
