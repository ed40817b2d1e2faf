//! What only reads and their times tell: pastes of terminals that do not bracket them, and whether an
//! ESC is the Escape key.
//!
//! Text with a line end in its middle that arrives in one read was not typed. No key waits for this: a
//! read is judged by itself and the one before it. An ESC that is a read of its own is the key after
//! 15 ms on a line that keeps sequences whole, for a terminal writes a sequence at once; at the end of
//! a longer read, or once a line was seen to cut after an ESC, it is after 50.

use super::decode::normalise;
use super::{Decoder, Input};

/// A read this long that ends in a line end is no person's typing.
const LONG: usize = 64;
/// Reads this close to a burst go on with it.
const NEAR_MS: u64 = 30;
/// A terminal sends Alt and a letter at once: a letter this long after an Escape was typed by itself.
const APART_MS: u64 = 8;
/// How long an ESC that is a read of its own may be the beginning of a sequence. tmux waits 10 ms.
const LONE_WAIT_MS: u64 = 15;
/// How late the rest of a sequence may come and is known as such, though its ESC was taken for the key.
const LATE_MS: u64 = 50;

/// The decoder with an eye for bursts.
#[derive(Debug, Default)]
pub struct Reader {
    decoder: Decoder,
    /// When the last burst was read.
    burst_at: Option<u64>,
    /// When anything was read last.
    read_at: u64,
    /// The last read was an ESC alone.
    lone: bool,
    /// That ESC was taken for the key.
    taken: bool,
    /// This line was seen to cut a sequence after its ESC.
    cuts: bool,
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
        let since = now.saturating_sub(std::mem::replace(&mut self.read_at, now));
        let letter = bytes.first().is_some_and(|byte| byte.is_ascii_alphanumeric() && !b"OP".contains(byte));
        let held = self.decoder.holds_escape();
        if since >= APART_MS && letter && held {
            self.decoder.time_out(out);
        }
        let late = std::mem::take(&mut self.taken) && since <= LATE_MS && is_rest(bytes);
        if late {
            self.decoder.feed(b"\x1b", out);
        }
        self.cuts |= late || (held && bytes.first().is_some_and(|byte| b"[O]P_".contains(byte)));
        self.lone = bytes == b"\x1b" && self.decoder.at_rest();
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
        if self.lone && !self.cuts && self.decoder.holds_escape() {
            return Some(LONE_WAIT_MS);
        }
        self.decoder.wait_ms()
    }

    /// The wait is over.
    pub fn time_out(&mut self, out: &mut Vec<Input>) {
        self.taken = self.decoder.holds_escape();
        self.decoder.time_out(out);
    }
}

/// Whether a read can only be what follows the ESC of a sequence: no hand types its two bytes at once.
fn is_rest(bytes: &[u8]) -> bool {
    match bytes {
        [b'[', last, ..] => matches!(last, 0x20..=0x7e),
        [b'O', last] => last.is_ascii_alphabetic(),
        _ => false,
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
    fn a_lone_escape_waits_less_where_no_sequence_was_cut() {
        let waits = |reads: &[&str]| {
            let mut reader = Reader::default();
            let mut out = Vec::new();
            reads.iter().for_each(|text| reader.read(text.as_bytes(), 0, &mut out));
            reader.wait_ms()
        };
        assert_eq!(waits(&["\x1b"]), Some(15));
        assert_eq!(waits(&["\x1b[A", "\x1b"]), Some(15));
        assert_eq!(waits(&["\x1b[A\x1b"]), Some(50), "it ends a longer read");
        assert_eq!(waits(&["\x1b", "[A", "\x1b"]), Some(50), "the line cut one before");
        assert_eq!(waits(&["\x1b", "\x1b"]), Some(50), "a second one may be of another kind");
        assert_eq!(waits(&["\x1b["]), Some(1000));
    }

    #[test]
    fn the_rest_of_a_sequence_whose_escape_was_taken_is_no_text() {
        let late = |rest: &str, at: u64| {
            let mut reader = Reader::default();
            let mut out = Vec::new();
            reader.read(b"\x1b", 100, &mut out);
            reader.time_out(&mut out);
            reader.read(rest.as_bytes(), at, &mut out);
            assert_eq!(out.remove(0), Input::Key(Key::plain(Code::Escape)));
            reader.read(b"\x1b", 300, &mut out);
            (out, reader.wait_ms())
        };
        let key = |code| Input::Key(Key::plain(code));
        assert_eq!(late("[A", 140), (vec![key(Code::Up)], Some(50)), "and from then on it waits");
        assert_eq!(late("OA", 140), (vec![key(Code::Up)], Some(50)));
        let typed = |text: &str| text.chars().map(|c| key(Code::Char(c))).collect::<Vec<_>>();
        assert_eq!(late("[A", 180), (typed("[A"), Some(15)), "too late to be of it");
        assert_eq!(late("[", 140), (typed("["), Some(15)), "a key");
        assert_eq!(late("Oh no", 140), (typed("Oh no"), Some(15)), "a paste");
    }

    #[test]
    fn a_terminal_that_brackets_is_not_second_guessed() {
        let out = read(&[("\x1b[200~x\x1b[201~", 0), ("a\rb", 500)]);
        assert_eq!(out.len(), 4);
    }
}
