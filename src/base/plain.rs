//! Plain text out of what a command printed for a terminal: escape sequences are taken out, carriage
//! returns and backspaces overwrite as they would on a screen, other controls are shown escaped.
//!
//! Not here: cursor moves between lines (a job with a terminal is interpreted by an emulator), and
//! bytes that are not UTF-8 (they pass through; whoever shows them escapes them).

use std::fmt::Write as _;

/// Cells that a line may be padded to by cursor moves.
const COLUMNS_MAX: usize = 4096;

/// The plain text of a command's output. Text without controls comes back as it is.
pub fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    for line in &mut lines {
        let (body, end) = match line {
            [body @ .., b'\r', b'\n'] => (body, true),
            [body @ .., b'\n'] => (body, true),
            body => (body, false),
        };
        if body.iter().any(|byte| is_special(*byte)) {
            plain_line(body, &mut out);
        } else {
            out.extend_from_slice(body);
        }
        if end {
            out.push(b'\n');
        }
    }
    out
}

/// Whether a byte needs a second look. 0xC2 begins the two-byte form of the C1 controls.
fn is_special(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t') || byte == 0x7F || byte == 0xC2
}

/// A line as a terminal of endless width would show it.
#[derive(Default)]
struct Line<'a> {
    cells: Vec<Cell<'a>>,
    cursor: usize,
}

#[derive(Clone)]
enum Cell<'a> {
    Blank,
    Bytes(&'a [u8]),
    Escaped(u32),
}

impl<'a> Line<'a> {
    fn put(&mut self, cell: Cell<'a>) {
        match self.cells.get_mut(self.cursor) {
            Some(old) => *old = cell,
            None => {
                self.cells.resize(self.cursor, Cell::Blank);
                self.cells.push(cell);
            }
        }
        self.cursor += 1;
    }
    fn carry_out(&mut self, sequence: &Sequence) {
        let count = usize::from(sequence.number.max(1));
        match sequence.last {
            b'C' => self.cursor = (self.cursor + count).min(COLUMNS_MAX.max(self.cells.len())),
            b'D' => self.cursor = self.cursor.saturating_sub(count),
            b'G' => self.cursor = (count - 1).min(COLUMNS_MAX.max(self.cells.len())),
            b'K' => match sequence.number {
                0 => self.cells.truncate(self.cursor),
                1 => {
                    let end = self.cells.len().min(self.cursor + 1);
                    self.cells[..end].fill(Cell::Blank);
                }
                _ => self.cells.clear(),
            },
            _ => {}
        }
    }
}

/// What an escape sequence asks for: its last byte and first number (0 when none).
struct Sequence {
    last: u8,
    number: u16,
    length: usize,
}

fn plain_line(body: &[u8], out: &mut Vec<u8>) {
    let mut line = Line::default();
    let mut at = 0;
    while let Some(byte) = body.get(at) {
        let rest = &body[at..];
        at += match byte {
            0x1B => {
                let sequence = escape(rest);
                line.carry_out(&sequence);
                sequence.length
            }
            b'\r' => {
                line.cursor = 0;
                1
            }
            0x08 => {
                line.cursor = line.cursor.saturating_sub(1);
                1
            }
            // bell, shift out and in: a terminal shows nothing
            0x07 | 0x0E | 0x0F => 1,
            0xC2 if rest.get(1).is_some_and(|next| (0x80..0xA0).contains(next)) => {
                line.put(Cell::Escaped(u32::from(rest[1])));
                2
            }
            control if (*control < 0x20 && *control != b'\t') || *control == 0x7F => {
                line.put(Cell::Escaped(u32::from(*control)));
                1
            }
            _ => {
                let length = char_length(rest);
                // a stray byte is escaped here: with its neighbour gone it could join a new one
                let stray = length == 1 && *byte >= 0x80;
                line.put(if stray { Cell::Escaped(u32::from(*byte)) } else { Cell::Bytes(&rest[..length]) });
                length
            }
        };
    }
    for cell in &line.cells {
        match cell {
            Cell::Blank => out.push(b' '),
            Cell::Bytes(bytes) => out.extend_from_slice(bytes),
            Cell::Escaped(code) => {
                let mut text = String::new();
                let _ = write!(text, "\\x{code:02X}");
                out.extend_from_slice(text.as_bytes());
            }
        }
    }
}

/// Bytes of the character at the start; 1 for what is not UTF-8.
fn char_length(bytes: &[u8]) -> usize {
    let length = match bytes.first() {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => 1,
    };
    if bytes.get(..length).is_some_and(|c| std::str::from_utf8(c).is_ok()) { length } else { 1 }
}

/// The escape sequence at the start of `bytes` (which begins with ESC). One that is cut off ends
/// where the line ends.
fn escape(bytes: &[u8]) -> Sequence {
    let none = |length| Sequence { last: 0, number: 0, length };
    match bytes.get(1) {
        None => none(1),
        Some(b'[') => control_sequence(bytes),
        // OSC, DCS, SOS, PM, APC: a string up to BEL or ST
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = (2..bytes.len()).find_map(|at| match bytes[at] {
                0x07 => Some(at + 1),
                0x1B if bytes.get(at + 1) == Some(&b'\\') => Some(at + 2),
                _ => None,
            });
            none(end.unwrap_or(bytes.len()))
        }
        Some(0x20..=0x2F) => {
            let more = bytes[1..].iter().take_while(|byte| (0x20..=0x2F).contains(*byte)).count();
            none((1 + more + 1).min(bytes.len()))
        }
        Some(0x30..=0x7E) => none(2),
        Some(_) => none(1),
    }
}

fn control_sequence(bytes: &[u8]) -> Sequence {
    let mut number: u16 = 0;
    let mut first = true;
    for (at, byte) in bytes.iter().enumerate().skip(2) {
        match byte {
            b'0'..=b'9' if first => {
                number = number.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
            }
            0x20..=0x3F => first = false,
            0x40..=0x7E => return Sequence { last: *byte, number, length: at + 1 },
            _ => return Sequence { last: 0, number: 0, length: at },
        }
    }
    Sequence { last: 0, number: 0, length: bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(input: &str) -> String {
        String::from_utf8(plain(input.as_bytes())).unwrap()
    }

    #[test]
    fn text_without_controls_comes_back_as_it_is() {
        for input in ["", "\n", "a\tb\n\nc", "héllo 日本\n", "no newline at the end"] {
            assert_eq!(text(input), input);
        }
        assert_eq!(plain(b"a\xffb\n"), b"a\xffb\n");
    }

    #[test]
    fn colours_titles_and_links_are_taken_out() {
        assert_eq!(text("\x1b[1;31merror\x1b[0m: x\n"), "error: x\n");
        assert_eq!(text("\x1b]0;title\x07done\n"), "done\n");
        assert_eq!(text("\x1b]8;;http://a/\x1b\\link\x1b]8;;\x1b\\\n"), "link\n");
        assert_eq!(text("\x1b(Bx\x1b7y\x1b=z\n"), "xyz\n");
        assert_eq!(text("\x1bPq#0\x1b\\after\n"), "after\n");
        assert_eq!(text("\x1b[38:2:1:2:3mx\x1b[?25ly\n"), "xy\n");
    }

    #[test]
    fn a_sequence_cut_off_ends_with_its_line() {
        assert_eq!(text("a\x1b[31\nb\n"), "a\nb\n");
        assert_eq!(text("a\x1b]0;title\nb\n"), "a\nb\n");
        assert_eq!(text("a\x1b"), "a");
    }

    #[test]
    fn progress_bars_show_their_last_state() {
        assert_eq!(text("10%\r50%\r100%\n"), "100%\n");
        assert_eq!(text("longer line\rshort\n"), "shortr line\n");
        assert_eq!(text("longer line\r\x1b[Kshort\n"), "short\n");
        assert_eq!(text("longer line\x1b[2K\rshort\n"), "short\n");
        assert_eq!(text("one\r\ntwo\r\n"), "one\ntwo\n");
        assert_eq!(text("bar\r"), "bar");
        assert_eq!(text("日本\r語\n"), "語本\n");
    }

    #[test]
    fn backspaces_overwrite() {
        assert_eq!(text("ab\x08c\n"), "ac\n");
        assert_eq!(text("N\x08NA\x08A\n"), "NA\n");
        assert_eq!(text("\x08x\n"), "x\n");
    }

    #[test]
    fn other_controls_are_shown_escaped() {
        assert_eq!(text("a\0b\x01\n"), "a\\x00b\\x01\n");
        assert_eq!(text("bell\x07\n"), "bell\n");
        assert_eq!(text("c1 \u{9b}31m\n"), "c1 \\x9B31m\n");
    }

    #[test]
    fn a_far_cursor_move_is_bounded() {
        assert!(text("\x1b[65000Cx\n").len() <= COLUMNS_MAX + 2);
        assert_eq!(text("ab\x1b[5Gx\x1b[2Dy\n"), "ab yx\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn nothing_that_a_terminal_obeys_is_left(input in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(0x1b), Just(b'['), Just(b'\r'), Just(b'\n'), Just(8), Just(b'm')], 0..60)
        ) {
            let out = plain(&input);
            prop_assert!(out.iter().all(|b| *b >= 0x20 && *b != 0x7F || *b == b'\n' || *b == b'\t'));
            prop_assert_eq!(&plain(&out), &out);
            let newlines = |bytes: &[u8]| bytes.iter().filter(|b| **b == b'\n').count();
            prop_assert_eq!(newlines(&input), newlines(&out));
        }
    }
}
