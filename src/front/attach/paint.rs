//! A job's picture as bytes for a terminal: only the rows that changed, each run with its look.
//!
//! Pure. The terminal is in another screen that is ours alone. What is typed goes to the job's program, so the terminal
//! is put into the modes that this program asked for (arrow keys, brackets about pastes, the mouse).

use std::fmt::Write as _;
use std::sync::Arc;

use unicode_width::UnicodeWidthChar;

use crate::api::screen::{Colour, Modes, Mouse, MouseForm, Run, Screen, Size, Style};

type Line = Arc<Vec<Run>>;

/// What a terminal shows of a job.
pub struct Painter {
    size: Size,
    /// The rows as they stand; none: not known.
    rows: Vec<Option<Line>>,
    modes: Modes,
}

impl Painter {
    /// A terminal of this size, of which nothing is known but that it is in no mode.
    pub fn new(size: Size) -> Self {
        Self { size, rows: vec![None; usize::from(size.rows)], modes: Modes::default() }
    }

    /// Its size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// It has another size, or was used by others: nothing is known of its rows.
    pub fn anew(&mut self, size: Size) {
        self.size = size;
        self.rows = vec![None; usize::from(size.rows)];
    }

    /// What makes it show this picture, cut to its size; the cursor's row stays in sight. With a note that stands
    /// over the last row.
    pub fn paint(&mut self, screen: &Screen, note: Option<&str>) -> Vec<u8> {
        let mut out = String::from("\x1b[?25l");
        let below = screen.cursor.map_or(0, |(row, _)| (row + 1).saturating_sub(self.size.rows));
        let blank = Line::default();
        for at in 0..self.size.rows {
            let line = screen.lines.get(usize::from(below + at)).unwrap_or(&blank);
            let known = self.rows.get_mut(usize::from(at));
            let noted = note.filter(|_| at + 1 == self.size.rows);
            match (known, noted) {
                (Some(known), None) if known.as_ref() == Some(line) => {}
                (Some(known), None) => {
                    row(&mut out, at, line, self.size.cols);
                    *known = Some(Arc::clone(line));
                }
                (Some(known), Some(note)) => {
                    let style = Style { inverse: true, ..Style::default() };
                    row(&mut out, at, &[Run { text: note.to_owned(), style }], self.size.cols);
                    *known = None;
                }
                (None, _) => {}
            }
        }
        modes(&mut out, self.modes, screen.modes);
        self.modes = screen.modes;
        if let Some((row, col)) = screen.cursor
            && note.is_none()
        {
            let (row, col) = (row.saturating_sub(below), col.min(self.size.cols.saturating_sub(1)));
            // writing into a string cannot fail
            let _ = write!(out, "\x1b[{};{}H\x1b[?25h", row + 1, col + 1);
        }
        out.into_bytes()
    }

    /// What takes the terminal out of every mode that it was put into.
    pub fn leave(&mut self) -> Vec<u8> {
        let mut out = String::from("\x1b[m");
        modes(&mut out, self.modes, Modes::default());
        self.modes = Modes::default();
        out.push_str("\x1b[?25h");
        out.into_bytes()
    }
}

/// A row, whole: what was there before does not shine through.
fn row(out: &mut String, at: u16, runs: &[Run], cols: u16) {
    let _ = write!(out, "\x1b[{};1H\x1b[m", at + 1);
    let mut room = usize::from(cols);
    'runs: for run in runs {
        look(out, run.style);
        for c in run.text.chars().filter(|c| !c.is_control()) {
            // a wide character that does not fit leaves its place blank
            let Some(left) = room.checked_sub(c.width().unwrap_or(0)) else { break 'runs };
            out.push(c);
            room = left;
        }
    }
    out.push_str("\x1b[m");
    if room > 0 {
        out.push_str("\x1b[K");
    }
}

fn look(out: &mut String, style: Style) {
    out.push_str("\x1b[0");
    let Style { front, back, bold, dim, italic, underline, inverse } = style;
    for (on, code) in [(bold, 1), (dim, 2), (italic, 3), (underline, 4), (inverse, 7)] {
        if on {
            let _ = write!(out, ";{code}");
        }
    }
    colour(out, front, 30);
    colour(out, back, 40);
    out.push('m');
}

/// A colour: the first eight from `base`, the bright ones 60 further, others by their number or parts.
fn colour(out: &mut String, colour: Colour, base: u16) {
    let _ = match colour {
        Colour::Own => Ok(()),
        Colour::Index(index @ 0..8) => write!(out, ";{}", base + u16::from(index)),
        Colour::Index(index @ 8..16) => write!(out, ";{}", base + 52 + u16::from(index)),
        Colour::Index(index) => write!(out, ";{};5;{index}", base + 8),
        Colour::Rgb(red, green, blue) => write!(out, ";{};2;{red};{green};{blue}", base + 8),
    };
}

/// What leads from one set of modes to the other.
fn modes(out: &mut String, before: Modes, now: Modes) {
    let mut switch = |was: bool, is: bool, on: &str, off: &str| {
        if was != is {
            out.push_str(if is { on } else { off });
        }
    };
    switch(before.application_cursor, now.application_cursor, "\x1b[?1h", "\x1b[?1l");
    switch(before.application_keypad, now.application_keypad, "\x1b=", "\x1b>");
    switch(before.bracketed_paste, now.bracketed_paste, "\x1b[?2004h", "\x1b[?2004l");
    if before.mouse != now.mouse {
        for (mode, number) in
            [(Mouse::Press, 9), (Mouse::Click, 1000), (Mouse::Drag, 1002), (Mouse::Motion, 1003)]
        {
            if before.mouse == mode {
                let _ = write!(out, "\x1b[?{number}l");
            }
            if now.mouse == mode {
                let _ = write!(out, "\x1b[?{number}h");
            }
        }
    }
    if before.mouse_form != now.mouse_form {
        for (form, number) in [(MouseForm::Utf8, 1005), (MouseForm::Sgr, 1006)] {
            if before.mouse_form == form {
                let _ = write!(out, "\x1b[?{number}l");
            }
            if now.mouse_form == form {
                let _ = write!(out, "\x1b[?{number}h");
            }
        }
    }
}

#[cfg(test)]
mod tests;
