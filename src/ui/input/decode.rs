//! Bytes become events. Pure: however the bytes are cut into reads, the events are the same.
//!
//! A sequence that is not whole yet is kept. Only time can end it: a lone Escape after 50 ms (or
//! sooner, where the reads tell that it is the key: `burst`), any
//! other beginning after a second, in which case it is swallowed and never shown as text.

use super::keys;
use super::{Code, Input, Key, Mods};

/// How long a lone Escape may be the beginning of a sequence.
const ESCAPE_WAIT_MS: u64 = 50;
/// How long any other beginning is waited for.
const SEQUENCE_WAIT_MS: u64 = 1000;
/// How long a paste may pause before it is taken as it is.
const PASTE_WAIT_MS: u64 = 5000;
/// Longest sequence that is read; a longer one is swallowed to its end, however it was cut.
const SEQUENCE_MAX: usize = 4096;
const PASTE_END: &[u8] = b"\x1b[201~";

/// The decoder's memory between two reads.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Bytes of a sequence (or a character) that is not whole.
    held: Vec<u8>,
    /// The paste at hand.
    paste: Option<Vec<u8>>,
    /// The sequence at hand has passed its limit: what ends it.
    skipping: Option<Skip>,
    /// Whether a bracketed paste was ever seen.
    pub saw_bracket: bool,
}

/// What kind of sequence is swallowed to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skip {
    /// One with numbers and a last byte (CSI).
    Csi,
    /// One with a text and a terminator (OSC, DCS, APC).
    String,
}

/// What the beginning of the held bytes is.
enum Step {
    /// Not whole yet.
    More,
    /// This many bytes mean this.
    Take(usize, Option<Input>),
    /// A bracketed paste begins after this many bytes.
    PasteBegin(usize),
}

impl Decoder {
    /// Takes one read's bytes; events are appended in order.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Input>) {
        self.held.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            if self.paste.is_some() {
                match self.take_paste(at, out) {
                    Some(next) => at = next,
                    None => return,
                }
            }
            if at >= self.held.len() {
                break;
            }
            if let Some(kind) = self.skipping {
                match kind.end(&self.held[at..]) {
                    Some(len) => {
                        self.skipping = None;
                        at += len;
                        continue;
                    }
                    None => {
                        at = self.skipped();
                        break;
                    }
                }
            }
            match step(&self.held[at..]) {
                Step::More => {
                    if self.held.len() - at > SEQUENCE_MAX {
                        let csi = self.held.get(at + 1) == Some(&b'[');
                        self.skipping = Some(if csi { Skip::Csi } else { Skip::String });
                        at = self.skipped();
                    }
                    break;
                }
                Step::Take(len, input) => {
                    // one that came in a single read is swallowed as one that came in many
                    out.extend(input.filter(|_| len <= SEQUENCE_MAX));
                    at += len;
                }
                Step::PasteBegin(len) => {
                    self.saw_bracket = true;
                    self.paste = Some(Vec::new());
                    at += len;
                }
            }
        }
        self.held.drain(..at);
    }

    /// Where what is held ends, but for an ESC at its end: that may be half of a terminator.
    fn skipped(&self) -> usize {
        self.held.len() - usize::from(self.held.ends_with(b"\x1b"))
    }

    /// Moves held bytes from `at` into the paste. None: it goes on (all is taken); else where it ended.
    fn take_paste(&mut self, at: usize, out: &mut Vec<Input>) -> Option<usize> {
        let rest = &self.held[at..];
        let paste = self.paste.as_mut()?;
        if let Some(end) = find(rest, PASTE_END) {
            paste.extend_from_slice(&rest[..end]);
            let whole = std::mem::take(paste);
            self.paste = None;
            out.push(Input::Paste(normalise(&whole)));
            return Some(at + end + PASTE_END.len());
        }
        let keep = (1..PASTE_END.len()).rev().find(|n| rest.ends_with(&PASTE_END[..*n])).unwrap_or(0);
        paste.extend_from_slice(&rest[..rest.len() - keep]);
        let gone = self.held.len() - keep;
        self.held.drain(..gone);
        None
    }

    /// Whether a lone Escape is held.
    pub fn holds_escape(&self) -> bool {
        self.held == [0x1b] && self.paste.is_none() && self.skipping.is_none()
    }

    /// Whether nothing is held.
    pub fn at_rest(&self) -> bool {
        self.held.is_empty() && self.paste.is_none() && self.skipping.is_none()
    }

    /// How many milliseconds without a byte end what is held; none: nothing is held.
    pub fn wait_ms(&self) -> Option<u64> {
        if self.paste.is_some() {
            Some(PASTE_WAIT_MS)
        } else if self.holds_escape() {
            Some(ESCAPE_WAIT_MS)
        } else if self.at_rest() {
            None
        } else {
            Some(SEQUENCE_WAIT_MS)
        }
    }

    /// The wait is over: what is held is taken for what it is, or swallowed.
    pub fn time_out(&mut self, out: &mut Vec<Input>) {
        if let Some(mut paste) = self.paste.take() {
            paste.append(&mut self.held);
            out.push(Input::Paste(normalise(&paste)));
            return;
        }
        let held = std::mem::take(&mut self.held);
        if self.skipping.take().is_some() {
            return;
        }
        match held.as_slice() {
            [0x1b] => out.push(Input::Key(Key::plain(Code::Escape))),
            [0x1b, byte] if byte.is_ascii_graphic() => {
                out.push(Input::Key(Key::with(Code::Char(char::from(*byte)), Mods::ALT)));
            }
            _ => {}
        }
    }
}

impl Skip {
    /// Where the rest of the sequence ends; none: not yet.
    fn end(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Skip::String => string_end(bytes, 0),
            Skip::Csi => {
                let at = bytes.iter().position(|byte| !matches!(byte, 0x20..=0x3f))?;
                // a byte that is none of a sequence's stands for itself
                Some(at + usize::from(matches!(bytes[at], 0x40..=0x7e)))
            }
        }
    }
}

fn step(bytes: &[u8]) -> Step {
    match bytes[0] {
        0x1b => escape(bytes),
        byte => match character(bytes) {
            Some((len, c)) if byte >= 0x20 && byte != 0x7f => {
                Step::Take(len, c.filter(|c| !c.is_control()).map(|c| Input::Key(Key::plain(Code::Char(c)))))
            }
            Some((len, _)) => Step::Take(len, keys::control(byte).map(Input::Key)),
            None => Step::More,
        },
    }
}

/// The first character: its length and itself (none for a byte that is no UTF-8). None: not whole.
fn character(bytes: &[u8]) -> Option<(usize, Option<char>)> {
    let len = match bytes[0] {
        0x00..=0x7f => return Some((1, Some(char::from(bytes[0])))),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Some((1, None)),
    };
    for (at, byte) in bytes.iter().enumerate().take(len).skip(1) {
        if byte & 0xc0 != 0x80 {
            return Some((at, None));
        }
    }
    let whole = bytes.get(..len)?;
    Some((len, std::str::from_utf8(whole).ok().and_then(|s| s.chars().next())))
}

fn escape(bytes: &[u8]) -> Step {
    let Some(&second) = bytes.get(1) else { return Step::More };
    match second {
        0x1b => Step::Take(1, Some(Input::Key(Key::plain(Code::Escape)))),
        b'[' => csi(bytes),
        b'O' => ss3(bytes),
        b']' => string(bytes, |third| third.is_ascii_digit()),
        b'P' => string(bytes, |third| third.is_ascii_digit() || b">$+!=|".contains(&third)),
        b'_' => string(bytes, |third| third == b'G'),
        _ => match character(&bytes[1..]) {
            None => Step::More,
            // a control in two bytes is no key
            Some((len, Some(c))) if c.is_control() && !c.is_ascii() => Step::Take(1 + len, None),
            Some((len, Some(c))) => {
                let key = match keys::control(second) {
                    Some(key) => Some(key),
                    None => Some(Key::plain(Code::Char(c))),
                };
                Step::Take(1 + len, key.map(|k| Input::Key(Key { mods: Mods { alt: true, ..k.mods }, ..k })))
            }
            Some((len, None)) => Step::Take(1 + len, None),
        },
    }
}

fn csi(bytes: &[u8]) -> Step {
    if bytes.get(2) == Some(&b'[') {
        // the Linux console's function keys
        return match bytes.get(3) {
            None => Step::More,
            Some(b @ b'A'..=b'E') => Step::Take(4, Some(Input::Key(Key::plain(Code::F(b - b'A' + 1))))),
            Some(_) => Step::Take(3, None),
        };
    }
    for (at, byte) in bytes.iter().enumerate().skip(2) {
        match byte {
            0x20..=0x3f => {}
            b'M' if at == 2 => {
                // the old mouse report: three bytes follow
                return if bytes.len() < 6 { Step::More } else { Step::Take(6, None) };
            }
            0x40..=0x7e => {
                let body = &bytes[2..at];
                return if body == b"200" && *byte == b'~' {
                    Step::PasteBegin(at + 1)
                } else {
                    Step::Take(at + 1, keys::csi(body, *byte))
                };
            }
            // not part of a sequence: what came is swallowed, the byte stands for itself
            _ => return Step::Take(at, None),
        }
    }
    Step::More
}

fn ss3(bytes: &[u8]) -> Step {
    let mut at = 2;
    let mut modifier = None;
    if let Some(digit @ b'1'..=b'9') = bytes.get(at) {
        modifier = Some(u32::from(digit - b'0'));
        at += 1;
    }
    match bytes.get(at) {
        None => Step::More,
        Some(last) => match keys::ss3(*last, modifier) {
            Some(key) => Step::Take(at + 1, Some(Input::Key(key))),
            None => Step::Take(2, Some(Input::Key(Key::with(Code::Char('O'), Mods::ALT)))),
        },
    }
}

/// A string sequence (OSC, DCS, APC), if its third byte can begin one; else Alt with the second byte.
fn string(bytes: &[u8], begins: fn(u8) -> bool) -> Step {
    let Some(&third) = bytes.get(2) else { return Step::More };
    if !begins(third) {
        let key = Key::with(Code::Char(char::from(bytes[1])), Mods::ALT);
        return Step::Take(2, Some(Input::Key(key)));
    }
    match string_end(bytes, 2) {
        Some(len) => Step::Take(len, Some(Input::Reply(keys::string(&bytes[1..len])))),
        None => Step::More,
    }
}

/// Where a string sequence ends, past its terminator.
fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            0x07 => return Some(at + 1),
            0x1b => match bytes.get(at + 1) {
                Some(b'\\') => return Some(at + 2),
                // another sequence cuts it off
                Some(_) => return Some(at),
                None => return None,
            },
            _ => at += 1,
        }
    }
    None
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|w| w == wanted)
}

/// Text of a paste: line ends are `\n`, once.
pub(super) fn normalise(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.into_owned() }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "recorded_tests.rs"]
mod recorded;
