//! The terminal's drawing style, and the shortest way from one to another.

use std::io::Write as _;

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

use super::depth::{Depth, reduce, sgr};
use super::widget::link::Link;

/// What the terminal draws with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pen {
    fg: Color,
    bg: Color,
    modifier: Modifier,
    /// Where what is drawn leads. SGR 0 leaves it.
    link: Option<Link>,
}

impl Pen {
    /// What SGR 0 leaves.
    pub const PLAIN: Pen =
        Pen { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty(), link: None };

    /// The pen of a cell, in the colours that the terminal has, and with its link where that is told.
    pub fn of(cell: &Cell, depth: Depth, links: bool) -> Self {
        Self {
            fg: reduce(cell.fg, depth),
            bg: reduce(cell.bg, depth),
            modifier: cell.modifier,
            link: if links { Link::of(cell.underline_color) } else { None },
        }
    }
    /// The same, leading nowhere.
    pub fn unlinked(self) -> Self {
        Self { link: None, ..self }
    }
    /// Whether a space drawn with it shows nothing but its background.
    pub fn is_ground(&self) -> bool {
        !self.modifier.intersects(marks()) && self.link.is_none()
    }
    /// Whether two spaces, one drawn with each, look the same.
    pub fn same_ground(&self, other: &Pen) -> bool {
        self.is_ground() && other.is_ground() && self.bg == other.bg
    }
    /// The same, so changed that a space drawn with it looks like one of another's.
    pub fn grounded_as(self, other: &Pen) -> Self {
        Self { bg: other.bg, modifier: self.modifier - marks(), link: None, ..self }
    }
    /// Whether it has the terminal's own background.
    pub fn default_ground(&self) -> bool {
        self.bg == Color::Reset
    }
}

/// What is seen of a space too.
fn marks() -> Modifier {
    Modifier::UNDERLINED | Modifier::REVERSED | Modifier::CROSSED_OUT
}

const ON: &[(Modifier, u16, u16)] = &[
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

fn params(from: &Pen, to: &Pen, out: &mut Vec<u16>) {
    let mut kept = from.modifier;
    for (modifier, _, off) in ON {
        if kept.contains(*modifier) && !to.modifier.contains(*modifier) {
            if out.last() != Some(off) {
                out.push(*off);
            }
            // one code ends bold and dim both
            for (other, _, code) in ON {
                if code == off {
                    kept.remove(*other);
                }
            }
        }
    }
    for (modifier, on, _) in ON {
        if to.modifier.contains(*modifier) && !kept.contains(*modifier) {
            out.push(*on);
        }
    }
    if from.fg != to.fg {
        sgr(to.fg, 30, out);
    }
    if from.bg != to.bg {
        sgr(to.bg, 40, out);
    }
}

fn put(params: &[u16], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1b[");
    for (at, n) in params.iter().enumerate() {
        if at > 0 {
            out.push(b';');
        }
        if *n != 0 || params.len() > 1 {
            let _ = write!(out, "{n}");
        }
    }
    out.push(b'm');
}

/// Says where what follows leads (OSC 8). The number holds the parts of one link together.
fn lead(link: Option<Link>, out: &mut Vec<u8>) {
    match link.and_then(|link| Some((link.number(), link.address()?))) {
        Some((number, address)) => {
            let _ = write!(out, "\x1b]8;id=w{number};{address}\x1b\\");
        }
        None => out.extend_from_slice(b"\x1b]8;;\x1b\\"),
    }
}

/// Writes the change from one pen to another: the difference, or all anew when that is shorter.
pub fn change(from: &Pen, to: &Pen, out: &mut Vec<u8>) {
    if from.link != to.link {
        lead(to.link, out);
    }
    if from.unlinked() == to.unlinked() {
        return;
    }
    let mut delta = Vec::with_capacity(8);
    params(from, to, &mut delta);
    let mut fresh = vec![0];
    params(&Pen::PLAIN, to, &mut fresh);
    let (mut a, mut b) = (Vec::with_capacity(24), Vec::with_capacity(24));
    put(&delta, &mut a);
    put(&fresh, &mut b);
    out.extend_from_slice(if b.len() < a.len() { &b } else { &a });
}
