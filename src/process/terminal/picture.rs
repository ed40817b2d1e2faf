//! The emulator's screen as plain data.

use std::sync::Arc;

use super::stand_in;
use crate::api::screen::{Colour, Modes, Mouse, MouseForm, Run, Screen, Size, Style};

/// The picture of the emulator's screen; rows equal to those of the picture before are shared with it.
pub fn picture(screen: &vt100::Screen, title: String, echo: bool, before: &Screen) -> Screen {
    let (rows, cols) = screen.size();
    let size = Size { rows: rows.get(), cols: cols.get() };
    let line = |row: u16| {
        let runs = runs(screen, row, size.cols);
        match before.lines.get(usize::from(row)) {
            Some(old) if **old == runs => Arc::clone(old),
            Some(_) | None => Arc::new(runs),
        }
    };
    Screen {
        size,
        lines: (0..size.rows).map(line).collect(),
        cursor: (!screen.hide_cursor()).then(|| cursor(screen)),
        title,
        alternate: screen.alternate_screen(),
        modes: modes(screen, echo),
    }
}

/// Row and column of the cursor. After a character in the last column it stands behind it, which is no place.
pub fn cursor(screen: &vt100::Screen) -> (u16, u16) {
    let (row, col) = screen.cursor_position();
    (row, col.min(screen.size().1.get() - 1))
}

/// A row as runs of one style, without what is blank at its end.
fn runs(screen: &vt100::Screen, row: u16, cols: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for col in 0..cols {
        let Some(cell) = screen.cell(row, col) else { break };
        if cell.is_wide_continuation() {
            continue;
        }
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let style = style(cell);
        match runs.last_mut() {
            Some(run) if run.style == style => push(&mut run.text, text),
            Some(_) | None => {
                let mut run = Run { text: String::new(), style };
                push(&mut run.text, text);
                runs.push(run);
            }
        }
    }
    while let Some(last) = runs.last_mut()
        && last.style == Style::default()
    {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if !last.text.is_empty() {
            break;
        }
        runs.pop();
    }
    runs
}

fn push(line: &mut String, text: &str) {
    line.extend(text.chars().map(|c| if c.is_control() { ' ' } else { stand_in::meant(c) }));
}

fn style(cell: &vt100::Cell) -> Style {
    Style {
        front: colour(cell.fgcolor()),
        back: colour(cell.bgcolor()),
        bold: cell.bold(),
        dim: cell.dim(),
        italic: cell.italic(),
        underline: cell.underline(),
        inverse: cell.inverse(),
    }
}

fn colour(colour: vt100::Color) -> Colour {
    match colour {
        vt100::Color::Default => Colour::Own,
        vt100::Color::Idx(index) => Colour::Index(index),
        vt100::Color::Rgb(red, green, blue) => Colour::Rgb(red, green, blue),
    }
}

fn modes(screen: &vt100::Screen, echo: bool) -> Modes {
    Modes {
        application_cursor: screen.application_cursor(),
        application_keypad: screen.application_keypad(),
        bracketed_paste: screen.bracketed_paste(),
        mouse: match screen.mouse_protocol_mode() {
            vt100::MouseProtocolMode::None => Mouse::Off,
            vt100::MouseProtocolMode::Press => Mouse::Press,
            vt100::MouseProtocolMode::PressRelease => Mouse::Click,
            vt100::MouseProtocolMode::ButtonMotion => Mouse::Drag,
            vt100::MouseProtocolMode::AnyMotion => Mouse::Motion,
        },
        mouse_form: match screen.mouse_protocol_encoding() {
            vt100::MouseProtocolEncoding::Default => MouseForm::Plain,
            vt100::MouseProtocolEncoding::Utf8 => MouseForm::Utf8,
            vt100::MouseProtocolEncoding::Sgr => MouseForm::Sgr,
        },
        echo,
    }
}
