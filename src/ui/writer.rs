//! A drawn buffer becomes bytes: changed cells only, the shortest moves and style changes, one
//! synchronized update, nothing at all when nothing changed.
//!
//! It knows what the terminal shows only from what it wrote. After `forget` the next frame is whole.
//! A glyph whose width terminals disagree on (joined emoji, variation selectors, flags) is followed by
//! an absolute move and its neighbours are written again, so an error never travels along the row.
//! A link that was begun has ended when the frame has.

use std::io::Write as _;

use ratatui::buffer::Buffer;
use ratatui::buffer::CellWidth as _;

use super::depth::Depth;
use super::pen::{self, Pen};

/// Cells drawn again after a glyph of doubtful width.
const DOUBT_CELLS: u16 = 4;
/// Fewest changed blanks in a row that are worth an erase.
const ERASE_MIN: u16 = 5;

/// One place of a row as the terminal is told it.
#[derive(Clone, Copy, PartialEq)]
struct Glyph<'a> {
    /// Empty: the second half of a wide glyph.
    text: &'a str,
    width: u16,
    pen: Pen,
    doubtful: bool,
}

impl Glyph<'_> {
    fn blank(&self) -> bool {
        self.text == " " && self.pen.is_ground()
    }
    fn looks_like(&self, other: &Glyph<'_>) -> bool {
        if self.blank() && other.blank() { self.pen.same_ground(&other.pen) } else { self == other }
    }
}

/// The writer and what it knows of the terminal.
pub struct Writer {
    depth: Depth,
    /// Whether erasing fills with the background colour.
    erases_with_ground: bool,
    /// Whether it is told where links lead.
    links: bool,
    before: Option<Buffer>,
    pen: Pen,
    at: Option<(u16, u16)>,
    cursor: Option<(u16, u16)>,
    out: Vec<u8>,
}

impl Writer {
    /// A writer for a terminal that shows so many colours.
    pub fn new(depth: Depth, erases_with_ground: bool) -> Self {
        Self {
            depth,
            erases_with_ground,
            links: false,
            before: None,
            pen: Pen::PLAIN,
            at: None,
            cursor: None,
            out: Vec::new(),
        }
    }
    /// The same, for a terminal that is told where links lead, or not.
    pub fn telling_links(self, links: bool) -> Self {
        Self { links, ..self }
    }
    /// What the terminal shows is not known any more.
    pub fn forget(&mut self) {
        self.before = None;
    }
    /// The bytes that make the terminal show `next` with its cursor there (none: hidden). Empty when it does.
    pub fn draw(&mut self, next: &Buffer, cursor: Option<(u16, u16)>) -> &[u8] {
        self.out.clear();
        let whole = self.before.as_ref().is_none_or(|b| b.area != next.area);
        if whole {
            self.out.extend_from_slice(b"\x1b[?25l\x1b[m\x1b[H\x1b[2J");
            (self.pen, self.at, self.cursor) = (Pen::PLAIN, Some((0, 0)), None);
            self.before = Some(Buffer::empty(next.area));
        }
        let Some(mut before) = self.before.take() else { return &[] };
        for y in 0..next.area.height {
            self.row(&mut before, next, y);
        }
        self.put_cursor(cursor);
        self.set_pen(&self.pen.unlinked());
        if !self.out.is_empty() {
            let mut framed = Vec::with_capacity(self.out.len() + 16);
            framed.extend_from_slice(b"\x1b[?2026h");
            framed.append(&mut self.out);
            framed.extend_from_slice(b"\x1b[?2026l");
            self.out = framed;
        }
        self.before = Some(before);
        &self.out
    }

    /// Writes what is other in a row, and keeps it: most frames change few rows.
    fn row(&mut self, before: &mut Buffer, next: &Buffer, y: u16) {
        let width = usize::from(next.area.width);
        let range = usize::from(y) * width..(usize::from(y) + 1) * width;
        if before.content[range.clone()] != next.content[range.clone()] {
            self.write_row(before, next, y);
            before.content[range.clone()].clone_from_slice(&next.content[range]);
        }
    }

    fn write_row(&mut self, before: &Buffer, next: &Buffer, y: u16) {
        let width = usize::from(next.area.width);
        let old = glyphs(before, y, self.depth, self.links);
        let new = glyphs(next, y, self.depth, self.links);
        let mut changed: Vec<bool> = old.iter().zip(&new).map(|(a, b)| !a.looks_like(b)).collect();
        spread_doubt(&new, &old, &mut changed);
        let mut x = 0;
        while x < width {
            if !changed[x] || new[x].width == 0 {
                x += 1;
                continue;
            }
            if let Some(past) = self.erase(&new, &changed, x, y) {
                x = past;
                continue;
            }
            self.go(x as u16, y, Some(&new));
            self.glyph(&new[x], x as u16, y, width as u16);
            x += usize::from(new[x].width.max(1));
        }
    }

    /// Erases a run of blanks from `x` where that is shorter than writing them; where it ends.
    fn erase(&mut self, new: &[Glyph<'_>], changed: &[bool], x: usize, y: u16) -> Option<usize> {
        let first = new[x];
        if !first.blank() || (!self.erases_with_ground && !first.pen.default_ground()) {
            return None;
        }
        let run = new[x..].iter().take_while(|g| g.blank() && g.pen.same_ground(&first.pen)).count();
        let to_end = x + run == new.len();
        // the last changed blank of the run: what follows it needs nothing
        let used = (0..run).rev().find(|i| changed[x + i]).map_or(0, |i| i + 1);
        let count = changed[x..x + used].iter().filter(|c| **c).count();
        let least = usize::from(if to_end { ERASE_MIN - 2 } else { 2 * ERASE_MIN });
        if count < least {
            return None;
        }
        self.go(x as u16, y, Some(new));
        if !self.pen.same_ground(&first.pen) {
            self.set_pen(&first.pen);
        }
        if to_end {
            self.out.extend_from_slice(b"\x1b[K");
        } else {
            let _ = write!(self.out, "\x1b[{used}X");
        }
        Some(x + used)
    }

    fn set_pen(&mut self, pen: &Pen) {
        pen::change(&self.pen, pen, &mut self.out);
        self.pen = *pen;
    }

    fn glyph(&mut self, glyph: &Glyph<'_>, x: u16, y: u16, width: u16) {
        if !(glyph.blank() && self.pen.same_ground(&glyph.pen)) {
            self.set_pen(&glyph.pen);
        }
        self.out.extend_from_slice(glyph.text.as_bytes());
        let past = x + glyph.width.max(1);
        // at the right edge terminals differ in where the cursor is
        self.at = (past < width && !glyph.doubtful).then_some((past, y));
    }

    /// Moves the terminal's cursor the shortest way. `row`: what stands in the row it moves in.
    fn go(&mut self, x: u16, y: u16, row: Option<&[Glyph<'_>]>) {
        if self.at == Some((x, y)) {
            return;
        }
        let mut best = Vec::with_capacity(12);
        absolute(x, y, &mut best);
        if let Some((cx, cy)) = self.at {
            let mut consider = |way: Vec<u8>| {
                if way.len() < best.len() {
                    best = way;
                }
            };
            if cy == y {
                if let Some(row) = row.filter(|_| x > cx && x - cx <= 6)
                    && let Some(text) = self.rewrite(&row[usize::from(cx)..usize::from(x)])
                {
                    consider(text);
                }
                consider(sideways(cx, x));
                let mut column = Vec::new();
                let _ = write!(column, "\x1b[{}G", x + 1);
                consider(column);
            }
            if y >= cy && y - cy <= 4 {
                let mut way = vec![b'\n'; usize::from(y - cy)];
                way.extend(sideways(cx, x));
                consider(way);
                let mut way = vec![b'\r'];
                way.extend(std::iter::repeat_n(b'\n', usize::from(y - cy)));
                way.extend(sideways(0, x));
                consider(way);
            }
        }
        self.out.extend_from_slice(&best);
        self.at = Some((x, y));
    }

    /// The text of unchanged cells, if writing them again needs no other style.
    fn rewrite(&self, row: &[Glyph<'_>]) -> Option<Vec<u8>> {
        let fits = |g: &Glyph<'_>| {
            !g.doubtful && g.width == 1 && (g.pen == self.pen || (g.blank() && g.pen.same_ground(&self.pen)))
        };
        row.iter().all(fits).then(|| row.iter().flat_map(|g| g.text.bytes()).collect())
    }

    fn put_cursor(&mut self, cursor: Option<(u16, u16)>) {
        match cursor {
            Some((x, y)) => {
                if !self.out.is_empty() || self.cursor != cursor {
                    self.go(x, y, None);
                }
                if self.cursor.is_none() {
                    self.out.extend_from_slice(b"\x1b[?25h");
                }
            }
            None if self.cursor.is_some() => self.out.extend_from_slice(b"\x1b[?25l"),
            None => {}
        }
        self.cursor = cursor;
    }
}

fn absolute(x: u16, y: u16, out: &mut Vec<u8>) {
    let _ = match (x, y) {
        (0, 0) => write!(out, "\x1b[H"),
        (0, y) => write!(out, "\x1b[{}H", y + 1),
        (x, y) => write!(out, "\x1b[{};{}H", y + 1, x + 1),
    };
}

fn sideways(from: u16, to: u16) -> Vec<u8> {
    let mut out = Vec::with_capacity(6);
    let _ = match (to > from, from.abs_diff(to)) {
        (_, 0) => Ok(()),
        (true, 1) => write!(out, "\x1b[C"),
        (true, n) => write!(out, "\x1b[{n}C"),
        (false, n @ 1..=3) => {
            out.extend(std::iter::repeat_n(8, usize::from(n)));
            Ok(())
        }
        (false, n) => write!(out, "\x1b[{n}D"),
    };
    out
}

/// What a row shows, place by place.
fn glyphs(buffer: &Buffer, y: u16, depth: Depth, links: bool) -> Vec<Glyph<'_>> {
    let width = buffer.area.width;
    let mut out = Vec::with_capacity(usize::from(width));
    let base = usize::from(y) * usize::from(width);
    let mut x = 0;
    while x < width {
        let cell = &buffer.content[base + usize::from(x)];
        let pen = Pen::of(cell, depth, links);
        let text = cell.symbol();
        let wide = if text.len() == 1 { 1 } else { text.cell_width() };
        let proper = wide > 0 && x + wide <= width && !text.chars().any(char::is_control);
        if proper {
            out.push(Glyph { text, width: wide, pen, doubtful: text.chars().nth(1).is_some() });
            for _ in 1..wide {
                out.push(Glyph { text: "", width: 0, pen, doubtful: false });
            }
            x += wide;
        } else {
            out.push(Glyph { text: " ", width: 1, pen, doubtful: false });
            x += 1;
        }
    }
    out
}

/// Whatever stands shortly after a changed glyph of doubtful width is drawn again.
fn spread_doubt(new: &[Glyph<'_>], old: &[Glyph<'_>], changed: &mut [bool]) {
    let mut left = 0;
    for x in 0..new.len() {
        if changed[x] && (new[x].doubtful || old[x].doubtful) {
            left = DOUBT_CELLS;
        } else if left > 0 {
            left -= 1;
            changed[x] = true;
            if new[x].doubtful {
                left = DOUBT_CELLS;
            }
        }
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
