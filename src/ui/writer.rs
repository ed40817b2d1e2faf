//! A drawn buffer becomes bytes: changed cells only, the shortest moves and style changes, one
//! synchronized update, nothing at all when nothing changed.
//!
//! It knows what the terminal shows only from what it wrote. After `forget` the next frame is whole.
//! A glyph whose width terminals disagree on (joined emoji, variation selectors, flags) is written over blanks, so that
//! one drawn narrower leaves nothing beside it; it is followed by an absolute move and its neighbours are written again,
//! so an error never travels along the row; and near the end of a row the terminal must not go on in the next for it.
//! A link that was begun has ended when the frame has.

use std::io::Write as _;

use ratatui::buffer::Buffer;

use super::depth::Depth;
use super::glyphs::{self, shown};
use super::pen::{self, Pen};
use super::widget::text::cluster_width;

/// Cells drawn again after a glyph of doubtful width.
const DOUBT_CELLS: u16 = 4;
/// Most unchanged cells that are written again to pass them by: a move costs no more.
const REWRITE_MAX: u16 = 6;

/// Where the terminal's cursor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// There.
    Cell(u16, u16),
    /// Behind the last cell of a row: there terminals differ in all but what a carriage return does.
    Edge(u16),
    /// Nobody knows.
    Lost,
}

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
    at: At,
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
            at: At::Lost,
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
            (self.pen, self.at, self.cursor) = (Pen::PLAIN, At::Cell(0, 0), None);
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
            self.glyph(&new, &changed, x, y);
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
        let cost = if to_end {
            // the cursor stays where it is known, which is worth the rest
            1
        } else {
            // an erase leaves the cursor where it is
            let next = (x + used..new.len()).find(|x| changed[*x] && new[*x].width > 0);
            let over = |from: usize| next.map_or(0, |to| sideways(from as u16, to as u16).len());
            3 + digits(used) + over(x) - over(x + used).min(over(x))
        };
        if used <= cost {
            return None;
        }
        // blanks before it may be erased again, where that saves a move
        let begin =
            (0..x).rev().take_while(|at| new[*at].blank() && new[*at].pen.same_ground(&first.pen)).last();
        let from = begin.filter(|_| to_end).map_or(x, |begin| self.nearest(begin, x, y));
        self.go(from as u16, y, Some(new));
        self.blank_pen(new, changed, x);
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

    /// The place between two of a row that is reached by the shortest move.
    fn nearest(&self, first: usize, last: usize, y: u16) -> usize {
        let here = match self.at {
            At::Cell(x, _) => usize::from(x).clamp(first, last),
            At::Edge(_) | At::Lost => first,
        };
        let ways = [last, here, first].map(|x| (self.way(x as u16, y, None).len(), x));
        ways.into_iter().min_by_key(|(long, _)| *long).map_or(last, |(_, x)| x)
    }

    /// Sets a style in which a blank is the one at `x`. What follows next is written in it too, where it can be.
    fn blank_pen(&mut self, new: &[Glyph<'_>], changed: &[bool], x: usize) {
        let own = new[x].pen;
        if self.pen.same_ground(&own) {
            return;
        }
        let next = (x..new.len()).find(|x| changed[*x] && new[*x].width > 0 && !new[*x].blank());
        if let Some(next) = next.map(|x| new[x].pen).filter(|next| next.same_ground(&own)) {
            return self.set_pen(&next);
        }
        let cost = |to: &Pen| {
            let mut out = Vec::with_capacity(48);
            pen::change(&self.pen, to, &mut out);
            out.len()
        };
        let ways = [own, self.pen.grounded_as(&own), Pen::PLAIN.grounded_as(&own)];
        if let Some(least) = ways.into_iter().min_by_key(cost) {
            self.set_pen(&least);
        }
    }

    fn glyph(&mut self, new: &[Glyph<'_>], changed: &[bool], x: usize, y: u16) {
        let glyph = &new[x];
        if glyph.blank() {
            self.blank_pen(new, changed, x);
        } else {
            self.set_pen(&glyph.pen);
        }
        let past = x + usize::from(glyph.width.max(1));
        if glyph.doubtful {
            self.doubtful(glyph, x as u16, y, past + usize::from(DOUBT_CELLS) >= new.len());
        } else {
            self.out.extend_from_slice(glyph.text.as_bytes());
        }
        self.at = match (glyph.doubtful, past < new.len()) {
            (true, _) => At::Lost,
            (false, true) => At::Cell(past as u16, y),
            (false, false) => At::Edge(y),
        };
    }

    /// Writes a glyph that terminals draw with another width than ours, where the cursor stands.
    fn doubtful(&mut self, glyph: &Glyph<'_>, x: u16, y: u16, near_the_end: bool) {
        if glyph.width == 2 && (self.erases_with_ground || glyph.pen.default_ground()) {
            self.out.extend_from_slice(b"\x1b[2X");
        } else if glyph.width == 2 {
            self.out.extend_from_slice(b"  ");
            self.at = At::Lost;
            self.go(x, y, None);
        }
        let (before, after) = if near_the_end { ("\x1b[?7l", "\x1b[?7h") } else { ("", "") };
        for part in [before, glyph.text, after] {
            self.out.extend_from_slice(part.as_bytes());
        }
    }

    /// Moves the terminal's cursor the shortest way. `row`: what stands in the row it moves in.
    fn go(&mut self, x: u16, y: u16, row: Option<&[Glyph<'_>]>) {
        let way = self.way(x, y, row);
        self.out.extend_from_slice(&way);
        self.at = At::Cell(x, y);
    }

    fn way(&self, x: u16, y: u16, row: Option<&[Glyph<'_>]>) -> Vec<u8> {
        if self.at == At::Cell(x, y) {
            return Vec::new();
        }
        let mut best = Vec::with_capacity(12);
        absolute(x, y, &mut best);
        let mut consider = |way: Vec<u8>| {
            if way.len() < best.len() {
                best = way;
            }
        };
        match self.at {
            At::Lost => {}
            At::Edge(from) if y < from => {}
            At::Edge(from) => consider([b"\r".to_vec(), upright(from, y), sideways(0, x)].concat()),
            At::Cell(cx, cy) => {
                if cy == y
                    && let Some(row) = row.filter(|_| x > cx && x - cx <= REWRITE_MAX)
                    && let Some(text) = self.rewrite(&row[usize::from(cx)..usize::from(x)])
                {
                    consider(text);
                }
                let upright = upright(cy, y);
                consider([upright.clone(), sideways(cx, x)].concat());
                consider([upright.clone(), b"\r".to_vec(), sideways(0, x)].concat());
                consider([upright, format!("\x1b[{}G", x + 1).into_bytes()].concat());
            }
        }
        best
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

fn digits(n: usize) -> usize {
    n.max(1).ilog10() as usize + 1
}

/// From a row to another, in the same column.
fn upright(from: u16, to: u16) -> Vec<u8> {
    match (to > from, from.abs_diff(to)) {
        (_, 0) => Vec::new(),
        (true, n @ 1..=4) => vec![b'\n'; usize::from(n)],
        (true, n) => format!("\x1b[{n}B").into_bytes(),
        (false, 1) => b"\x1bM".to_vec(),
        (false, n) => format!("\x1b[{n}A").into_bytes(),
    }
}

fn sideways(from: u16, to: u16) -> Vec<u8> {
    let mut out = Vec::with_capacity(6);
    let _ = match (to > from, from.abs_diff(to)) {
        (_, 0) => Ok(()),
        (true, 1) => write!(out, "\x1b[C"),
        (true, n) => write!(out, "\x1b[{n}C"),
        (false, n @ 1..=4) => {
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
        let wide = if text.len() == 1 { 1 } else { cluster_width(text) as u16 };
        let proper = wide > 0 && x + wide <= width && !text.chars().any(char::is_control);
        // what was laid out as narrow, and is not, would push the rest of the row
        let crowded = proper && wide == 2 && glyphs::chosen().wide && {
            buffer.content[base + usize::from(x) + 1].symbol() != " "
        };
        if crowded {
            out.push(Glyph { text: "?", width: 1, pen, doubtful: false });
            x += 1;
        } else if proper {
            let doubtful = text.chars().nth(1).is_some();
            out.push(Glyph { text: shown(text), width: wide, pen, doubtful });
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
