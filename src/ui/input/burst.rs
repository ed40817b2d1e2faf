//! Pastes of terminals that do not bracket them: text with a line end in its middle that arrives in
//! one read was not typed. No key waits for this: a read is judged by itself and the one before it.

use super::decode::normalise;
use super::{Decoder, Input};

/// A read this long that ends in a line end is no person's typing.
const LONG: usize = 64;
/// Reads this close to a burst go on with it.
const NEAR_MS: u64 = 30;
/// A terminal sends Alt and a letter at once: a letter this long after an Escape was typed by itself.
const APART_MS: u64 = 8;

/// The decoder with an eye for bursts.
#[derive(Debug, Default)]
pub struct Reader {
    decoder: Decoder,
    /// When the last burst was read.
    burst_at: Option<u64>,
    /// When anything was read last.
    read_at: u64,
}

impl Reader {
    /// Takes one read's bytes at `now` (milliseconds).
    pub fn read(&mut self, bytes: &[u8], now: u64, out: &mut Vec<Input>) {
        if self.decoder.at_rest() && !self.decoder.saw_bracket && self.is_burst(bytes, now) {
            self.burst_at = Some(now);
            let text = normalise(bytes);
            match out.last_mut() {
                Some(Input::Paste(before)) => before.push_str(&text),
                _ => out.push(Input::Paste(text)),
            }
            return;
        }
        let apart = now.saturating_sub(std::mem::replace(&mut self.read_at, now)) >= APART_MS;
        let letter = bytes.first().is_some_and(|byte| byte.is_ascii_alphanumeric() && !b"OP".contains(byte));
        if apart && letter && self.decoder.holds_escape() {
            self.decoder.time_out(out);
        }
        self.decoder.feed(bytes, out);
    }

    fn is_burst(&self, bytes: &[u8], now: u64) -> bool {
        let is_end = |b: &u8| matches!(b, b'\r' | b'\n');
        let plain = bytes.iter().all(|b| is_end(b) || *b == b'\t' || (*b >= 0x20 && *b != 0x7f));
        if !plain || std::str::from_utf8(bytes).is_err() {
            return false;
        }
        let body = bytes
            .strip_suffix(b"\r\n")
            .or_else(|| bytes.strip_suffix(b"\r"))
            .or_else(|| bytes.strip_suffix(b"\n"))
            .unwrap_or(bytes);
        let middle = body.iter().any(is_end) && body.iter().any(|b| !is_end(b));
        let near = self.burst_at.is_some_and(|at| now.saturating_sub(at) <= NEAR_MS);
        middle || (body.len() < bytes.len() && (body.len() >= LONG || near)) || (near && bytes.len() > 1)
    }

    /// How many milliseconds without a byte end what is held; none: nothing is held.
    pub fn wait_ms(&self) -> Option<u64> {
        self.decoder.wait_ms()
    }

    /// The wait is over.
    pub fn time_out(&mut self, out: &mut Vec<Input>) {
        self.decoder.time_out(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::input::{Code, Key};

    fn read(reads: &[(&str, u64)]) -> Vec<Input> {
        let mut reader = Reader::default();
        let mut out = Vec::new();
        for (text, now) in reads {
            reader.read(text.as_bytes(), *now, &mut out);
        }
        out
    }

    #[test]
    fn a_block_without_brackets_is_one_paste() {
        assert_eq!(read(&[("one\rtwo\rthree", 0)]), [Input::Paste("one\ntwo\nthree".into())]);
        assert_eq!(read(&[("one\r\ntwo\r\n", 0)]), [Input::Paste("one\ntwo\n".into())]);
    }

    #[test]
    fn a_block_cut_over_reads_is_one_paste() {
        assert_eq!(read(&[("one\rtwo\r", 0), ("three\r", 2)]), [Input::Paste("one\ntwo\nthree\n".into())]);
    }

    #[test]
    fn a_line_with_its_enter_is_typed() {
        let out = read(&[("ls\r", 0)]);
        assert_eq!(out.last(), Some(&Input::Key(Key::plain(Code::Enter))));
        assert_eq!(out.len(), 3);
    }

    #[test]
    fn enter_long_after_a_burst_is_a_key() {
        let out = read(&[("one\rtwo", 0), ("\r", 400)]);
        assert_eq!(out.last(), Some(&Input::Key(Key::plain(Code::Enter))));
    }

    #[test]
    fn a_letter_soon_after_escape_is_a_letter_and_alt_is_what_comes_at_once() {
        let (escape, letter) = (Key::plain(Code::Escape), Key::plain(Code::Char('h')));
        assert_eq!(read(&[("\x1b", 100), ("h", 130)]), [Input::Key(escape), Input::Key(letter)]);
        for at_once in [&[("\x1bh", 100)][..], &[("\x1b", 100), ("h", 101)]] {
            assert_eq!(read(at_once), [Input::Key(Key::with(Code::Char('h'), crate::ui::input::Mods::ALT))]);
        }
        // the beginning of a sequence may be late
        assert_eq!(read(&[("\x1b", 100), ("[A", 130)]), [Input::Key(Key::plain(Code::Up))]);
        assert_eq!(read(&[("\x1b", 100), ("OA", 130)]), [Input::Key(Key::plain(Code::Up))]);
    }

    #[test]
    fn a_terminal_that_brackets_is_not_second_guessed() {
        let out = read(&[("\x1b[200~x\x1b[201~", 0), ("a\rb", 500)]);
        assert_eq!(out.len(), 4);
    }
}
