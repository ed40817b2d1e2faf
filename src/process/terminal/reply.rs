//! What programs ask of a terminal, and our answers. A program that asks and hears nothing hangs, or waits a second.
//!
//! We say what is true of the emulator; what we have not, we say we have not.

use vt100::{Callbacks, Screen};

/// The title, and answers that wait to be typed in.
#[derive(Debug, Default)]
pub struct Asked {
    /// What is to be typed in, in order.
    pub answers: Vec<u8>,
    /// The title that the program gave.
    pub title: String,
}

/// Most characters of a title.
const TITLE_MAX: usize = 200;
/// Most bytes of answers to one read: a flood of questions is no reason to grow.
const ANSWERS_MAX: usize = 64 * 1024;

impl Asked {
    fn say(&mut self, answer: &str) {
        if self.answers.len() < ANSWERS_MAX {
            self.answers.extend_from_slice(answer.as_bytes());
        }
    }
}

impl Callbacks for Asked {
    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        let text = String::from_utf8_lossy(title);
        self.title = text.chars().filter(|c| !c.is_control()).take(TITLE_MAX).collect();
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        first: Option<u8>,
        second: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        let param = |at: usize| params.get(at).and_then(|part| part.first()).copied().unwrap_or(0);
        let (rows, cols) = screen.size();
        match (first, second, last) {
            // where the cursor is; whether all is well
            (None, None, 'n') if param(0) == 6 => {
                let (row, col) = screen.cursor_position();
                self.say(&format!("\x1b[{};{}R", row + 1, col + 1));
            }
            (Some(b'?'), None, 'n') if param(0) == 6 => {
                let (row, col) = screen.cursor_position();
                self.say(&format!("\x1b[?{};{}R", row + 1, col + 1));
            }
            (None, None, 'n') if param(0) == 5 => self.say("\x1b[0n"),
            // which terminal: a VT220 with colours; its version
            (None, None, 'c') if param(0) == 0 => self.say("\x1b[?62;22c"),
            (Some(b'>'), None, 'c') if param(0) == 0 => self.say("\x1b[>1;10;0c"),
            (Some(b'='), None, 'c') if param(0) == 0 => self.say("\x1bP!|00000000\x1b\\"),
            (Some(b'>'), None, 'q') if param(0) == 0 => self.say("\x1bP>|windlass\x1b\\"),
            // modes: we do not say
            (Some(b'?'), Some(b'$'), 'p') => self.say(&format!("\x1b[?{};0$y", param(0))),
            (Some(b'$'), None, 'p') => self.say(&format!("\x1b[{};0$y", param(0))),
            // the kitty keyboard: not here
            (Some(b'?'), None, 'u') => self.say("\x1b[?0u"),
            // sizes
            (None, None, 't') if param(0) == 18 => self.say(&format!("\x1b[8;{rows};{cols}t")),
            (None, None, 't') if param(0) == 19 => self.say(&format!("\x1b[9;{rows};{cols}t")),
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut Screen, params: &[&[u8]]) {
        // colours that are asked for: a dark ground, a light front
        if let [which @ (b"10" | b"11" | b"12"), b"?", ..] = params {
            let which = String::from_utf8_lossy(which);
            let colour = if which == "11" { "0000/0000/0000" } else { "ffff/ffff/ffff" };
            self.say(&format!("\x1b]{which};rgb:{colour}\x1b\\"));
        }
    }
}
