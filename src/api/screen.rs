//! The picture of a job's terminal: plain data, as the emulator in the keeper tells it.
//!
//! Not here: the emulator (`process`), and how it is drawn (`ui`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The size of a terminal in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Rows, from 1.
    pub rows: u16,
    /// Columns, from 1.
    pub cols: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { rows: 24, cols: 80 }
    }
}

/// The picture of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// Its size.
    pub size: Size,
    /// The rows from the top, each as runs of one style. Unchanged rows are shared with the picture before.
    pub lines: Vec<Arc<Vec<Run>>>,
    /// Row and column of the cursor, from 0; none when it is hidden.
    pub cursor: Option<(u16, u16)>,
    /// The title that the program gave, empty when it gave none.
    pub title: String,
    /// Whether a full-screen program has the alternate screen.
    pub alternate: bool,
    /// What the program wants of keys, pastes and the mouse.
    pub modes: Modes,
}

/// A stretch of a row in one style.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Run {
    /// The text; no control characters.
    pub text: String,
    /// Its look.
    pub style: Style,
}

/// A colour of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Colour {
    /// The terminal's own.
    #[default]
    Own,
    /// One of the 256.
    Index(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

/// The look of a stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Style {
    pub front: Colour,
    pub back: Colour,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub inverse: bool,
}

/// Which mouse reports a program wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mouse {
    /// None.
    #[default]
    Off,
    /// Presses only.
    Press,
    /// Presses and releases.
    Click,
    /// These, and moves with a button down.
    Drag,
    /// These, and every move.
    Motion,
}

/// How mouse reports are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MouseForm {
    /// `CSI M` and three bytes.
    #[default]
    Plain,
    /// The same in UTF-8.
    Utf8,
    /// `CSI <`.
    Sgr,
}

/// What a program wants of its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Modes {
    /// Arrow keys as `ESC O`.
    pub application_cursor: bool,
    /// Keypad keys as `ESC O`.
    pub application_keypad: bool,
    /// Pastes in brackets.
    pub bracketed_paste: bool,
    /// Mouse reports.
    pub mouse: Mouse,
    /// Their form.
    pub mouse_form: MouseForm,
    /// Whether it echoes what is typed (the line discipline's `ECHO`).
    pub echo: bool,
}
