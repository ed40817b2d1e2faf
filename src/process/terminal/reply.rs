//! What programs ask of a terminal, and our answers. A program that asks and hears nothing hangs, or waits a second.
//!
//! We say what is true of the emulator; what we have not, we say we have not.

use vt100::{Callbacks, MouseProtocolEncoding, MouseProtocolMode, Screen};

use super::picture::cursor;

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
/// Height and width of a cell in pixels: there are none, but who asks divides by them.
const CELL: (u32, u32) = (16, 8);
/// Most bytes of answers to one read: a flood of questions is no reason to grow.
const ANSWERS_MAX: usize = 64 * 1024;

impl Asked {
    /// Adds an answer.
    pub fn say(&mut self, answer: impl AsRef<[u8]>) {
        if self.answers.len() < ANSWERS_MAX {
            self.answers.extend_from_slice(answer.as_ref());
        }
    }
}

/// How a private mode stands, as DECRPM says it: 1 set, 2 not set, 0 not known.
fn mode(screen: &Screen, number: u16) -> u8 {
    let mouse = screen.mouse_protocol_mode();
    let form = screen.mouse_protocol_encoding();
    let set = match number {
        1 => screen.application_cursor(),
        9 => mouse == MouseProtocolMode::Press,
        25 => !screen.hide_cursor(),
        47 | 1049 => screen.alternate_screen(),
        1000 => mouse == MouseProtocolMode::PressRelease,
        1002 => mouse == MouseProtocolMode::ButtonMotion,
        1003 => mouse == MouseProtocolMode::AnyMotion,
        1005 => form == MouseProtocolEncoding::Utf8,
        1006 => form == MouseProtocolEncoding::Sgr,
        2004 => screen.bracketed_paste(),
        _ => return 0,
    };
    if set { 1 } else { 2 }
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
                let (row, col) = cursor(screen);
                self.say(format!("\x1b[{};{}R", row + 1, col + 1));
            }
            (Some(b'?'), None, 'n') if param(0) == 6 => {
                let (row, col) = cursor(screen);
                self.say(format!("\x1b[?{};{}R", row + 1, col + 1));
            }
            (None, None, 'n') if param(0) == 5 => self.say("\x1b[0n"),
            // which terminal: a VT220 with colours; its version
            (None, None, 'c') if param(0) == 0 => self.say("\x1b[?62;22c"),
            (Some(b'>'), None, 'c') if param(0) == 0 => self.say("\x1b[>1;10;0c"),
            (Some(b'='), None, 'c') if param(0) == 0 => self.say("\x1bP!|00000000\x1b\\"),
            (Some(b'>'), None, 'q') if param(0) == 0 => self.say("\x1bP>|windlass\x1b\\"),
            // modes
            (Some(b'?'), Some(b'$'), 'p') => {
                self.say(format!("\x1b[?{};{}$y", param(0), mode(screen, param(0))));
            }
            (Some(b'$'), None, 'p') => self.say(format!("\x1b[{};0$y", param(0))),
            // of the kitty keyboard (`CSI ? u`) nothing is said: an answer, also one of no flags, says that it is
            // here. Who asks for it asks for DA1 right after, and takes an answer to that alone as a no.
            // sizes: in pixels, of a cell in pixels, in cells, of the whole screen
            (None, None, 't') if param(0) == 14 => {
                let (high, wide) = CELL;
                let (high, wide) = (u32::from(rows.get()) * high, u32::from(cols.get()) * wide);
                self.say(format!("\x1b[4;{high};{wide}t"));
            }
            (None, None, 't') if param(0) == 16 => self.say(format!("\x1b[6;{};{}t", CELL.0, CELL.1)),
            (None, None, 't') if param(0) == 18 => self.say(format!("\x1b[8;{rows};{cols}t")),
            (None, None, 't') if param(0) == 19 => self.say(format!("\x1b[9;{rows};{cols}t")),
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut Screen, params: &[&[u8]]) {
        // colours that are asked for: a dark ground, a light front
        if let [which @ (b"10" | b"11" | b"12"), b"?", ..] = params {
            let which = String::from_utf8_lossy(which);
            let colour = if which == "11" { "0000/0000/0000" } else { "ffff/ffff/ffff" };
            self.say(format!("\x1b]{which};rgb:{colour}\x1b\\"));
        }
    }
}
