//! Pictures on their way to who watches: only the rows that changed, each run as four short fields.
//!
//! A line of the keeper's wire has a limit, so a frame has one: rows beyond it (tens of thousands of cells of which
//! each has a colour of its own) stay empty. The record is the spool, not the picture.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::api::screen::{Colour, Modes, Run, Screen, Size, Style};

/// Most bytes of the rows of a frame.
const ROWS_BYTES_MAX: usize = 3 << 20;
/// Most bytes of a run without its text: two colours, the look, and what stands between them.
const RUN_BYTES: usize = 32;
/// What a colour of its own three parts begins with.
const RGB: u32 = 1 << 24;

/// A run: front, back, look, text.
type Packed = (u32, u32, u8, String);

/// What became of a picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    size: Size,
    /// Rows that changed, by number.
    rows: Vec<(u16, Vec<Packed>)>,
    cursor: Option<(u16, u16)>,
    title: String,
    alternate: bool,
    modes: Modes,
}

impl Frame {
    /// What leads from one picture to the next.
    pub fn between(before: &Screen, now: &Screen) -> Self {
        let mut room = ROWS_BYTES_MAX;
        let changed = |(row, line): (usize, &Arc<Vec<Run>>)| {
            let same = before.size == now.size
                && before.lines.get(row).is_some_and(|old| Arc::ptr_eq(old, line) || old == line);
            if same {
                return None;
            }
            // a quotation mark is written as two bytes
            let bytes: usize = line.iter().map(|run| RUN_BYTES + 2 * run.text.len()).sum();
            let left = room.checked_sub(bytes);
            room = left.unwrap_or(room);
            let runs = if left.is_some() { line.iter().map(pack).collect() } else { Vec::new() };
            Some((u16::try_from(row).unwrap_or(u16::MAX), runs))
        };
        Self {
            size: now.size,
            rows: now.lines.iter().enumerate().filter_map(changed).collect(),
            cursor: now.cursor,
            title: now.title.clone(),
            alternate: now.alternate,
            modes: now.modes,
        }
    }

    /// The next picture. Rows that did not change are shared with the one before.
    pub fn apply(self, before: &Screen) -> Screen {
        let rows = usize::from(self.size.rows);
        let mut lines = if before.size == self.size { before.lines.clone() } else { Vec::new() };
        lines.resize_with(rows, Arc::default);
        for (row, runs) in self.rows {
            if let Some(line) = lines.get_mut(usize::from(row)) {
                *line = Arc::new(runs.into_iter().map(unpack).collect());
            }
        }
        Screen {
            size: self.size,
            lines,
            cursor: self.cursor,
            title: self.title,
            alternate: self.alternate,
            modes: self.modes,
        }
    }
}

fn pack(run: &Run) -> Packed {
    let Style { front, back, bold, dim, italic, underline, inverse } = run.style;
    let look = [bold, dim, italic, underline, inverse].into_iter().rev();
    let look = look.fold(0, |bits, on| bits << 1 | u8::from(on));
    (number(front), number(back), look, run.text.clone())
}

fn unpack((front, back, look, text): Packed) -> Run {
    let on = |bit: u8| look >> bit & 1 != 0;
    let style = Style {
        front: colour(front),
        back: colour(back),
        bold: on(0),
        dim: on(1),
        italic: on(2),
        underline: on(3),
        inverse: on(4),
    };
    Run { text, style }
}

fn number(colour: Colour) -> u32 {
    match colour {
        Colour::Own => 0,
        Colour::Index(index) => 1 + u32::from(index),
        Colour::Rgb(red, green, blue) => RGB | u32::from_be_bytes([0, red, green, blue]),
    }
}

fn colour(number: u32) -> Colour {
    let [_, red, green, blue] = number.to_be_bytes();
    match number {
        1..=256 => u8::try_from(number - 1).map_or(Colour::Own, Colour::Index),
        RGB.. => Colour::Rgb(red, green, blue),
        _ => Colour::Own,
    }
}
