//! A job's whole output, of which a bounded piece about the viewport is held: it is asked for in pieces, laid out
//! in rows as far as they are seen, and scrolled by rows.
//!
//! Long lines wrap at the edge; escape sequences are dropped, of what carriage returns overwrote the last state
//! stays, and everything else that cannot be seen is made visible (`widget::text`). A place is a byte of the file and
//! one of its line's text, so it survives a resize and a growing end. Deliberately not here: the asking itself.

use std::collections::BTreeMap;

use super::held::Held;
use crate::ui::widget::select::Line;
use crate::ui::widget::text::{Tabs, cluster_width, clusters, output_tabs};

/// Bytes of a cell: a line that is longer than two is cut.
const CELL: u64 = 16 * 1024;
/// Bytes that are asked for at once.
const PIECE: u64 = 128 * 1024;
/// Bytes that are asked for of the end. At least three cells: then a line's begin is among them.
const TAIL: u64 = 64 * 1024;
/// With fewer bytes than this held beyond the viewport more are asked for.
const MARGIN: u64 = 48 * 1024;
/// More than this is not held.
const HELD_MAX: u64 = 2 << 20;
/// What is kept on each side of the viewport when there is too much.
const KEEP: u64 = 256 * 1024;
/// Most lines whose rows are remembered.
const LAID_MAX: usize = 4096;
/// Most pages of scrolling that are owed while a piece is on its way.
const OWED_PAGES: i64 = 8;

/// A row: where its line begins, and which of its rows it is.
pub type Spot = (u64, usize);

/// Where the view stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the end, going with it.
    Follow,
    /// With this place of this line's text in its first row.
    At(u64, u32),
}

/// Where the view is to go, outside of what is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Jump {
    Begin,
    End,
    To(u64),
}

/// A line as it is shown.
#[derive(Debug)]
pub struct Laid {
    /// Its text.
    pub text: String,
    tabs: Tabs,
    /// Where it ends in the file.
    end: u64,
    /// Where each row begins in the text; at least one.
    rows: Vec<u32>,
}

impl Laid {
    /// The text of a row, and where it begins in the line's.
    pub fn row(&self, row: usize) -> (usize, &str) {
        let from = self.rows.get(row).map_or(self.text.len(), |at| *at as usize);
        let to = self.rows.get(row + 1).map_or(self.text.len(), |at| *at as usize);
        (from, &self.text[from..to])
    }
    /// How many rows it has.
    pub fn count(&self) -> usize {
        self.rows.len()
    }
    /// The line, as it is selected.
    pub fn line(&self) -> Line {
        Line { text: self.text.clone(), rows: self.rows.clone(), tabs: self.tabs.clone() }
    }
    /// The row in which a byte of the text stands.
    fn row_of(&self, at: u32) -> usize {
        self.rows.partition_point(|begin| *begin <= at).saturating_sub(1)
    }
}

/// The log.
#[derive(Debug)]
pub struct Log {
    held: Held,
    /// The spool's size as it was told last, with a piece or on the board.
    size: u64,
    place: Place,
    width: usize,
    height: usize,
    laid: BTreeMap<u64, Laid>,
    jump: Option<Jump>,
    /// Rows of scrolling that wait for the piece that is on its way.
    owed: i64,
    /// A piece is on its way; for which jump.
    asked: Option<Option<Jump>>,
    /// End of what is held and size when a piece brought nothing: asking again would bring nothing either.
    dry: Option<(u64, u64)>,
    /// First and last byte of what was drawn.
    shown: (u64, u64),
    /// Why there is nothing more.
    trouble: Option<String>,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            held: Held::new(CELL),
            size: 0,
            place: Place::Follow,
            width: 80,
            height: 24,
            laid: BTreeMap::new(),
            jump: Some(Jump::End),
            owed: 0,
            asked: None,
            dry: None,
            shown: (0, 0),
            trouble: None,
        }
    }
}

impl Log {
    /// Whether it goes with the end.
    pub fn follows(&self) -> bool {
        self.place == Place::Follow && self.jump.is_none_or(|jump| jump == Jump::End)
    }
    /// Whether nothing is known of it yet.
    pub fn unknown(&self) -> bool {
        self.held.len() == 0 && (self.jump.is_some() || self.asked.is_some())
    }
    /// Why it cannot be read.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
    /// How far the last row is, in per cent.
    pub fn percent(&self) -> u64 {
        (self.shown.1 * 100).checked_div(self.size).unwrap_or(100).min(100)
    }
    /// Where an offset is, in per cent.
    pub fn percent_of(&self, at: u64) -> u64 {
        (at * 100).checked_div(self.size).unwrap_or(100).min(100)
    }
    /// Whether a byte of the file is in sight.
    pub fn sees(&self, at: u64) -> bool {
        (self.shown.0..self.shown.1).contains(&at) && self.jump.is_none()
    }
    /// Where the first row begins that was drawn.
    pub fn first(&self) -> u64 {
        self.shown.0
    }
    /// Where the last one ends.
    pub fn last(&self) -> u64 {
        self.shown.1
    }

    /// The piece that is needed now, the job having told so many bytes: offset and limit.
    pub fn want(&mut self, bytes: u64) -> Option<(u64, u64)> {
        self.size = self.size.max(bytes);
        if self.asked.is_some() || self.trouble.is_some() {
            return None;
        }
        let piece = match self.jump {
            Some(Jump::End) => (u64::MAX, TAIL),
            Some(Jump::Begin) => (0, PIECE),
            Some(Jump::To(at)) => (at.saturating_sub(3 * CELL), PIECE),
            None => self.want_more()?,
        };
        self.asked = Some(self.jump);
        Some(piece)
    }

    fn want_more(&self) -> Option<(u64, u64)> {
        let (from, end) = (self.held.from(), self.held.end());
        let grown = self.dry != Some((end, self.size));
        if self.place == Place::Follow {
            if end < self.size && grown {
                return Some(if self.size - end <= PIECE { (end, PIECE) } else { (u64::MAX, TAIL) });
            }
        } else if end < self.size && grown && end.saturating_sub(self.shown.1) < MARGIN && self.has_room() {
            return Some((end, PIECE));
        }
        let head = self.held.head().unwrap_or(end);
        let near = self.shown.0.saturating_sub(head) < MARGIN;
        (from > 0 && near && self.has_room()).then(|| {
            let to = from.saturating_sub(PIECE);
            (to, from - to)
        })
    }

    fn has_room(&self) -> bool {
        self.held.len() < HELD_MAX
    }

    /// The piece that was asked for came.
    pub fn take(&mut self, offset: u64, bytes: Vec<u8>, size: u64) {
        let Some(wanted) = self.asked.take() else { return };
        self.size = self.size.max(size);
        let (end, long) = (self.held.end(), self.held.len());
        if wanted.is_some() && wanted == self.jump {
            self.replace(offset, bytes);
            self.arrive();
        } else if self.held.join(offset, &bytes) {
            if self.held.end() > end {
                self.laid.retain(|_, laid| laid.end < end);
            }
        } else if self.place == Place::Follow && offset > end {
            self.replace(offset, bytes);
        }
        if self.held.len() == long && self.held.end() == end {
            self.dry = Some((end, self.size));
        }
        let owed = std::mem::take(&mut self.owed);
        if owed != 0 {
            self.scroll(owed);
        }
        self.trim();
    }

    /// The piece will not come.
    pub fn lost(&mut self, why: Option<String>) {
        self.asked = None;
        self.trouble = why;
    }

    fn replace(&mut self, offset: u64, bytes: Vec<u8>) {
        self.held.replace(offset, bytes);
        self.laid.clear();
    }

    /// What was jumped to is held now.
    fn arrive(&mut self) {
        match self.jump.take() {
            Some(Jump::End) | None => self.place = Place::Follow,
            Some(Jump::Begin) => self.set((0, 0)),
            Some(Jump::To(at)) => {
                let spot = self.spot_of(at);
                let top = self.up(spot, self.height / 3).0;
                self.set(top);
            }
        }
    }

    /// What is far from the viewport goes, when there is too much.
    fn trim(&mut self) {
        if self.has_room() {
            return;
        }
        let top = self.top().0;
        let end = self.held.end();
        let to = if self.place == Place::Follow { end } else { self.shown.1.max(top) + KEEP };
        self.held.keep(top.saturating_sub(KEEP), to.min(end));
        let (from, to) = (self.held.from(), self.held.end());
        self.laid.retain(|start, laid| *start > from && laid.end < to);
    }

    /// To the beginning.
    pub fn begin(&mut self) {
        self.trouble = None;
        if self.held.from() == 0 && self.held.len() > 0 {
            self.jump = None;
            self.set((0, 0));
        } else {
            self.jump = Some(Jump::Begin);
        }
    }
    /// To the end, going with it.
    pub fn follow(&mut self) {
        self.trouble = None;
        if self.whole_end() {
            (self.jump, self.place) = (None, Place::Follow);
        } else {
            self.jump = Some(Jump::End);
        }
    }
    /// Brings a byte of the file into sight, in the upper third if it was not.
    pub fn show(&mut self, at: u64) {
        self.trouble = None;
        if self.held.head().is_none_or(|head| at < head) || at >= self.held.end() {
            self.jump = Some(Jump::To(at));
            return;
        }
        self.jump = None;
        let (spot, top) = (self.spot_of(at), self.top());
        let last = self.down(top, self.height.saturating_sub(1)).0;
        if spot < top || spot > last {
            let to = self.up(spot, self.height / 3).0;
            self.set(to);
        } else if self.place == Place::Follow {
            self.set_at(top);
        }
    }
    /// By rows, down when positive; on from where a jump arrives, if one is under way. At the end it follows.
    pub fn scroll(&mut self, rows: i64) {
        self.trouble = None;
        if self.held.len() == 0 || self.jump.is_some() {
            return self.owe(self.owed + rows);
        }
        let (top, steps) = (self.top(), rows.unsigned_abs() as usize);
        if rows < 0 {
            let (to, short) = self.up(top, steps);
            self.set(to);
            if self.held.from() > 0 {
                self.owe(-(short as i64));
            }
        } else {
            let (to, end) = (self.down(top, steps).0, self.end_top());
            if to < end {
                self.set(to);
            } else if self.whole_end() {
                self.place = Place::Follow;
            } else {
                self.set_at(end);
                self.owe(rows);
            }
        }
    }
    /// By half pages, at least a row.
    pub fn halves(&mut self, halves: i64) {
        let rows = self.height.saturating_sub(1) as i64 * halves / 2;
        self.scroll(if rows == 0 { halves.signum() } else { rows });
    }

    fn owe(&mut self, rows: i64) {
        let most = OWED_PAGES * self.height as i64;
        self.owed = rows.clamp(-most, most);
    }

    /// Whether the end of what is held is the file's.
    fn whole_end(&self) -> bool {
        self.held.len() > 0 && self.held.end() >= self.size
    }

    /// Puts a row at the top; where that shows the end, it follows.
    fn set(&mut self, spot: Spot) {
        if spot >= self.end_top() && self.whole_end() {
            self.place = Place::Follow;
        } else {
            self.set_at(spot);
        }
    }
    fn set_at(&mut self, (start, row): Spot) {
        let at = self.lay(start).row(row).0 as u32;
        self.place = Place::At(start, at);
    }

    /// The row in which a byte of the file stands, as near as can be told.
    fn spot_of(&mut self, at: u64) -> Spot {
        let Some(start) = self.held.before(at + 1).or(self.held.head()) else { return (self.held.end(), 0) };
        let inside = self.inside(start, at);
        let laid = self.lay(start);
        (start, laid.row_of(inside))
    }
    /// Where the line begins in which a byte of the file stands, if that is held.
    pub fn line_of(&self, at: u64) -> Option<u64> {
        (at < self.held.end()).then(|| self.held.before(at + 1).or(self.held.head())).flatten()
    }
    /// Where a byte of the file stands in the text of its line.
    pub fn inside(&self, start: u64, at: u64) -> u32 {
        seen(self.held.slice(start, at)).0.len() as u32
    }
    /// Whether a line that begins there is held.
    pub fn holds(&self, start: u64) -> bool {
        self.held.head().is_some_and(|head| start >= head) && start < self.held.end()
    }
    /// Where the first line begins that is held.
    pub fn head(&self) -> Option<u64> {
        self.held.head().filter(|head| *head < self.held.end())
    }
    /// Where the line after one begins.
    pub fn next_line(&mut self, start: u64) -> Option<u64> {
        let end = self.holds(start).then(|| self.lay(start).end)?;
        (end < self.held.end()).then_some(end)
    }
    /// Where the line before one begins.
    pub fn line_before(&self, start: u64) -> Option<u64> {
        self.held.before(start)
    }
    /// Whether a line ends with a newline: one that is cut at a border does not.
    pub fn ends(&mut self, start: u64) -> bool {
        let end = self.lay(start).end;
        self.held.slice(end.saturating_sub(1), end) == b"\n"
    }
    /// A line that is held, laid out.
    pub fn laid(&mut self, start: u64) -> &Laid {
        self.lay(start)
    }
    /// What a row of the viewport shows, and whether there is less: then it is the last row.
    pub fn row_at(&mut self, y: usize) -> Option<(Spot, bool)> {
        if self.held.len() == 0 || self.held.head().is_none_or(|head| head >= self.held.end()) {
            return None;
        }
        let top = self.top();
        let (spot, short) = self.down(top, y);
        Some((spot, short > 0))
    }
    /// Scrolls as little as needed to bring a row into sight.
    pub fn bring(&mut self, spot: Spot) {
        let top = self.top();
        let last = self.down(top, self.height.saturating_sub(1)).0;
        if spot < top {
            self.jump = None;
            self.set_at(spot);
        } else if spot > last {
            let to = self.up(spot, self.height.saturating_sub(1)).0;
            self.jump = None;
            self.set(to);
        }
    }

    /// The row that is drawn first.
    fn top(&mut self) -> Spot {
        let end = self.end_top();
        match self.place {
            Place::Follow => end,
            Place::At(start, at) => {
                let head = self.held.head().unwrap_or(self.held.end());
                let spot = if start < head { (head, 0) } else { (start, self.lay(start).row_of(at)) };
                spot.min(end)
            }
        }
    }

    /// The row of the last full view.
    fn end_top(&mut self) -> Spot {
        let end = self.held.end();
        self.up((end, 0), self.height).0
    }

    /// Goes up by rows; where it ends, and how many were not there.
    fn up(&mut self, from: Spot, rows: usize) -> (Spot, usize) {
        let ((mut start, mut row), mut left) = (from, rows);
        while left > row {
            let Some(before) = self.held.before(start) else { return ((start, 0), left - row) };
            left -= row + 1;
            start = before;
            row = self.lay(start).rows.len() - 1;
        }
        ((start, row - left), 0)
    }

    /// Goes down by rows, at most to the last; where it ends, and how many were not there.
    fn down(&mut self, from: Spot, rows: usize) -> (Spot, usize) {
        let ((mut start, mut row), mut left) = (from, rows);
        loop {
            let laid = self.lay(start);
            let (end, below) = (laid.end, laid.rows.len() - 1 - row.min(laid.rows.len() - 1));
            if below >= left {
                return ((start, row + left), 0);
            }
            if end >= self.held.end() {
                return ((start, row + below), left - below);
            }
            left -= below + 1;
            (start, row) = (end, 0);
        }
    }

    /// The rows of the line that begins there.
    fn lay(&mut self, start: u64) -> &Laid {
        if self.laid.len() > LAID_MAX {
            self.laid.clear();
        }
        let (held, width) = (&self.held, self.width);
        self.laid.entry(start).or_insert_with(|| {
            let end = held.next(start);
            let (text, tabs) = seen(held.slice(start, end));
            let rows = wrap(&text, width);
            Laid { text, tabs, end, rows }
        })
    }

    /// The rows in sight, each with its place in the viewport, its line's begin, its line, and which row of it.
    pub fn draw(&mut self, width: usize, height: usize, mut row: impl FnMut(usize, u64, &Laid, usize)) {
        if self.width != width.max(1) {
            self.width = width.max(1);
            self.laid.clear();
        }
        self.height = height;
        let (mut start, mut at) = self.top();
        self.shown = (start, start);
        let mut y = 0;
        while y < height && start < self.held.end() {
            let laid = self.lay(start);
            let end = laid.end;
            while at < laid.rows.len() && y < height {
                row(y, start, laid, at);
                (y, at) = (y + 1, at + 1);
            }
            (self.shown.1, start, at) = (end, end, 0);
        }
    }
}

/// A line's bytes as they are shown.
fn seen(bytes: &[u8]) -> (String, Tabs) {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    // a terminal makes two carriage returns of one: none of them overwrites what stands before the newline
    let end = bytes.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
    let line = String::from_utf8_lossy(&bytes[..end]);
    let (text, tabs) = output_tabs(&line);
    (text.into_owned(), tabs)
}

/// Where each row of a text begins.
fn wrap(text: &str, width: usize) -> Vec<u32> {
    let (mut rows, mut used, mut at) = (vec![0], 0, 0);
    for cluster in clusters(text) {
        let wide = cluster_width(cluster);
        if used + wide > width && used > 0 {
            rows.push(at as u32);
            used = 0;
        }
        used += wide;
        at += cluster.len();
    }
    rows
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
