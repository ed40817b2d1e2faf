//! The shortest bytes that change one screen into another, by search: the yardstick of the writer, which it shares no
//! code with.
//!
//! Rows are changed from the first to the last, and each row from left to right. Within that it is the least of all
//! ways: absolute and relative moves, line feeds, writing unchanged cells again, erasing, any order of styles. Cells
//! near a glyph of doubtful width count as changed, the place behind it as unknown, it is written over blanks, and near
//! the end of a row between two marks that forbid the terminal to go on in the next, as the writer has it.
//! Deliberately not here: links, colours that a terminal has not, scrolling parts of the screen.

use std::collections::HashMap;

use ratatui::buffer::{Buffer, CellWidth as _};
use ratatui::style::{Color, Modifier};

/// Cells that count as changed after a glyph of doubtful width.
const DOUBT: usize = 4;
/// Dearest that a move is: a way that is dearer by that than another with the same style is not followed.
const DEAREST: usize = 10;

/// What is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pen {
    pub front: Color,
    pub ground: Color,
    pub marks: Modifier,
}

impl Pen {
    /// What a terminal begins with.
    pub const PLAIN: Pen = Pen { front: Color::Reset, ground: Color::Reset, marks: Modifier::empty() };

    fn bare(self) -> bool {
        !self.marks.intersects(Modifier::UNDERLINED | Modifier::REVERSED | Modifier::CROSSED_OUT)
    }
}

/// Where the terminal's cursor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    /// There.
    Cell(u16, u16),
    /// Behind the last cell of a row: terminals differ in all but what a carriage return does.
    Edge(u16),
    /// Nobody knows.
    Lost,
}

#[derive(Clone)]
struct Glyph<'a> {
    text: &'a str,
    wide: usize,
    pen: Pen,
    doubtful: bool,
}

impl Glyph<'_> {
    fn blank(&self) -> bool {
        self.text == " " && self.pen.bare()
    }
    fn same(&self, other: &Glyph<'_>) -> bool {
        if self.blank() && other.blank() {
            return self.pen.ground == other.pen.ground;
        }
        (self.text, self.wide, self.pen) == (other.text, other.wide, other.pen)
    }
}

fn glyphs(buffer: &Buffer, y: u16) -> Vec<Glyph<'_>> {
    let (mut out, mut x) = (Vec::new(), 0);
    while x < buffer.area.width {
        let cell = &buffer[(x, y)];
        let pen = Pen { front: cell.fg, ground: cell.bg, marks: cell.modifier };
        let (text, wide) = (cell.symbol(), cell.symbol().cell_width());
        let proper = wide > 0 && x + wide <= buffer.area.width && !text.chars().any(char::is_control);
        let (text, wide) = if proper { (text, wide) } else { (" ", 1) };
        out.push(Glyph { text, wide: wide.into(), pen, doubtful: proper && text.chars().count() > 1 });
        out.extend((1..wide).map(|_| Glyph { text: "", wide: 0, pen, doubtful: false }));
        x += wide;
    }
    out
}

type Ways = HashMap<(At, Pen), usize>;

fn keep(ways: &mut Ways, way: (At, Pen), cost: usize) {
    let least = ways.entry(way).or_insert(cost);
    *least = cost.min(*least);
}

/// Drops what cannot be the least any more.
fn prune(ways: &mut Ways) {
    let mut least: HashMap<Pen, usize> = HashMap::new();
    for ((_, pen), cost) in ways.iter() {
        let known = least.entry(*pen).or_insert(*cost);
        *known = (*cost).min(*known);
    }
    let best = ways.values().copied().min().unwrap_or(0);
    ways.retain(|(_, pen), cost| *cost <= least[pen] + DEAREST && *cost <= best + DEAREST + 60);
}

/// The fewest bytes from one screen to another of its size, with the cursor and the style that the terminal has, to the
/// cursor that is wanted (none: wherever). What makes the cursor seen or not is not counted.
pub fn shortest(before: &Buffer, next: &Buffer, (at, pen): (At, Pen), wanted: Option<(u16, u16)>) -> usize {
    let mut ways = Ways::from([((at, pen), 0)]);
    for y in 0..next.area.height {
        let (old, new) = (glyphs(before, y), glyphs(next, y));
        let mut changed: Vec<bool> = old.iter().zip(&new).map(|(a, b)| !a.same(b)).collect();
        doubt(&old, &new, &mut changed);
        if changed.iter().any(|changed| *changed) {
            ways = row(ways, &new, &changed, y);
        }
    }
    let last = |((at, _), cost): (&(At, Pen), &usize)| cost + wanted.map_or(0, |(x, y)| moved(*at, x, y));
    ways.iter().map(last).min().unwrap_or(0)
}

fn doubt(old: &[Glyph<'_>], new: &[Glyph<'_>], changed: &mut [bool]) {
    let mut left = 0;
    for x in 0..new.len() {
        if changed[x] && (new[x].doubtful || old[x].doubtful) {
            left = DOUBT;
        } else if left > 0 {
            changed[x] = true;
            left = if new[x].doubtful { DOUBT } else { left - 1 };
        }
    }
}

fn row(ways: Ways, new: &[Glyph<'_>], changed: &[bool], y: u16) -> Ways {
    let width = new.len();
    let mut at: Vec<Ways> = vec![Ways::new(); width + 1];
    at[0] = ways;
    for x in 0..width {
        let mut here = std::mem::take(&mut at[x]);
        prune(&mut here);
        for ((cursor, pen), cost) in here {
            let glyph = &new[x];
            if !changed[x] || glyph.wide == 0 {
                keep(&mut at[x + 1], (cursor, pen), cost);
            }
            if glyph.wide == 0 {
                continue;
            }
            let cost = cost + moved(cursor, x as u16, y);
            let next =
                new[x..].iter().zip(&changed[x..]).find(|(g, changed)| **changed && g.wide > 0 && !g.blank());
            for (pen, more) in pens(pen, glyph, next.map(|(next, _)| next.pen)) {
                let past = x + glyph.wide;
                let then = match (glyph.doubtful, past == width) {
                    (true, _) => At::Lost,
                    (false, true) => At::Edge(y),
                    (false, false) => At::Cell(past as u16, y),
                };
                let blanks = if glyph.doubtful && glyph.wide == 2 { 4 } else { 0 };
                let marks = if glyph.doubtful && past + DOUBT >= width { 10 } else { 0 };
                keep(&mut at[past], (then, pen), cost + more + blanks + marks + glyph.text.len());
                if glyph.blank() {
                    let run =
                        new[x..].iter().take_while(|g| g.blank() && g.pen.ground == glyph.pen.ground).count();
                    let then = At::Cell(x as u16, y);
                    if x + run == width {
                        keep(&mut at[width], (then, pen), cost + more + 3);
                    }
                    for end in 1..=run {
                        keep(&mut at[x + end], (then, pen), cost + more + 3 + digits(end));
                    }
                }
            }
        }
    }
    at.pop().unwrap_or_default()
}

/// The styles that a glyph can be drawn with, and what they cost; a blank also with that of what is written next.
fn pens(from: Pen, glyph: &Glyph<'_>, next: Option<Pen>) -> Vec<(Pen, usize)> {
    let mut out = vec![(glyph.pen, styled(from, glyph.pen))];
    if glyph.blank() {
        let ground = glyph.pen.ground;
        let marks = from.marks - (Modifier::UNDERLINED | Modifier::REVERSED | Modifier::CROSSED_OUT);
        let kept = [Pen { ground, marks, ..from }, Pen { ground, ..Pen::PLAIN }];
        let next = next.filter(|next| next.bare() && next.ground == ground);
        out.extend(kept.into_iter().chain(next).map(|pen| (pen, styled(from, pen))));
    }
    out
}

const ON: &[(Modifier, usize)] = &[
    (Modifier::BOLD, 22),
    (Modifier::DIM, 22),
    (Modifier::ITALIC, 23),
    (Modifier::UNDERLINED, 24),
    (Modifier::SLOW_BLINK, 25),
    (Modifier::RAPID_BLINK, 25),
    (Modifier::REVERSED, 27),
    (Modifier::HIDDEN, 28),
    (Modifier::CROSSED_OUT, 29),
];

fn digits(n: usize) -> usize {
    n.max(1).ilog10() as usize + 1
}

/// Bytes of a colour's parameters, without what is before them.
fn colour(colour: Color, bright: usize) -> usize {
    match colour {
        Color::Rgb(r, g, b) => 7 + [r, g, b].iter().map(|n| digits((*n).into())).sum::<usize>(),
        Color::Indexed(n) => 5 + digits(n.into()),
        Color::Reset => 2,
        Color::DarkGray
        | Color::LightRed
        | Color::LightGreen
        | Color::LightYellow
        | Color::LightBlue
        | Color::LightMagenta
        | Color::LightCyan
        | Color::White => bright,
        _ => 2,
    }
}

/// Bytes from one style to another.
fn styled(from: Pen, to: Pen) -> usize {
    if from == to {
        return 0;
    }
    if to == Pen::PLAIN {
        return 3;
    }
    let fresh = 2 + changes(Pen::PLAIN, to);
    3 + fresh.min(changes(from, to)) - 1
}

/// Bytes of the parameters, each with its separator.
fn changes(from: Pen, to: Pen) -> usize {
    let mut out = 0;
    let mut kept = from.marks;
    let mut ended = Vec::new();
    for (mark, off) in ON {
        if kept.contains(*mark) && !to.marks.contains(*mark) && !ended.contains(off) {
            ended.push(*off);
            ON.iter().filter(|(_, code)| code == off).for_each(|(mark, _)| kept.remove(*mark));
            out += 3;
        }
    }
    out += ON.iter().filter(|(mark, _)| to.marks.contains(*mark) && !kept.contains(*mark)).count() * 2;
    if from.front != to.front {
        out += colour(to.front, 2) + 1;
    }
    if from.ground != to.ground {
        out += colour(to.ground, 3) + 1;
    }
    out
}

/// Bytes of a move.
fn moved(at: At, x: u16, y: u16) -> usize {
    let (across, down) = (usize::from(x), usize::from(y));
    let absolute = match (across, down) {
        (0, 0) => 3,
        (0, down) => 3 + digits(down + 1),
        (across, 0) => 4 + digits(across + 1),
        (across, down) => 4 + digits(down + 1) + digits(across + 1),
    };
    let over = |from: usize| match across.abs_diff(from) {
        0 => 0,
        1 => 3,
        n => 3 + digits(n),
    };
    let back = |from: usize| if across < from { (from - across).min(over(from)) } else { over(from) };
    let column = 3 + digits(across + 1);
    match at {
        At::Lost => absolute,
        At::Edge(row) => {
            let down = down.checked_sub(usize::from(row)).map(|lines| 1 + lines + over(0));
            absolute.min(down.unwrap_or(absolute))
        }
        At::Cell(from, row) => {
            let (from, row) = (usize::from(from), usize::from(row));
            let sideways = back(from).min(column).min(1 + over(0));
            let updown = match (down > row, down.abs_diff(row)) {
                (_, 0) => 0,
                (true, 1) => 1,
                (true, n) => n.min(3 + digits(n)),
                (false, 1) => 2,
                (false, n) => 3 + digits(n),
            };
            absolute.min(updown + sideways)
        }
    }
}
