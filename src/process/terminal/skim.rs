//! Floods of plain text: lines that scroll off before anybody sees them are not shown to the emulator.
//!
//! An emulator takes tens of nanoseconds for a letter, and a terminal that is full of newer lines has nothing left of
//! older ones. So plain text waits until somebody looks, until something comes that is more than text, or until it is
//! much; then only its end is emulated. That changes nothing that can be seen, as long as the emulator is between two
//! sequences and the whole screen scrolls: `Skim` knows both, and where it is in doubt it says no.

/// Most bytes that wait.
const WAITING_MAX: usize = 128 * 1024;
/// Most bytes of a sequence's parameters that are looked at.
const PARAMETERS_MAX: usize = 32;

/// Where in its input a terminal is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// Between sequences.
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// In a control sequence.
    Sequence,
    /// In a command of the system, which a bell ends too.
    Command,
    /// In another string.
    String,
}

/// Text that waits, and what is known of the emulator.
#[derive(Debug, Default)]
pub struct Skim {
    at: At,
    /// Parameters of the sequence so far.
    parameters: Vec<u8>,
    /// Only a part of the screen scrolls, as far as is known.
    part: bool,
    waiting: Vec<u8>,
}

impl Skim {
    /// Whether these bytes can wait. If so they do.
    pub fn holds(&mut self, bytes: &[u8], rows: usize) -> bool {
        if self.at != At::Ground || self.part || !bytes.iter().all(plain) {
            return false;
        }
        if self.waiting.len() + bytes.len() > WAITING_MAX {
            self.waiting.drain(..last_lines(&self.waiting, rows));
        }
        let fits = self.waiting.len() + bytes.len() <= WAITING_MAX;
        if fits {
            self.waiting.extend_from_slice(bytes);
        }
        fits
    }

    /// What of the waiting text is to be emulated now. Nothing waits after that.
    pub fn take(&mut self, rows: usize) -> Vec<u8> {
        let from = last_lines(&self.waiting, rows);
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.drain(..from);
        waiting
    }

    /// These bytes are emulated.
    pub fn follow(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.at = self.after(byte);
        }
    }

    fn after(&mut self, byte: u8) -> At {
        match (self.at, byte) {
            (_, 0x1b) => At::Escape,
            (_, 0x18 | 0x1a) => At::Ground,
            (At::Ground, _) | (At::Command, 0x07) => At::Ground,
            (At::Escape, b'[') => {
                self.parameters.clear();
                At::Sequence
            }
            (At::Escape, b']') => At::Command,
            (At::Escape, b'P' | b'X' | b'^' | b'_') => At::String,
            (At::Escape, 0x30..=0x7e) => {
                // a reset makes the whole screen scroll again
                self.part &= byte != b'c';
                At::Ground
            }
            (At::Sequence, 0x40..=0x7e) => {
                if byte == b'r' {
                    self.part = !self.parameters.is_empty();
                }
                At::Ground
            }
            (At::Sequence, _) => {
                if self.parameters.len() < PARAMETERS_MAX {
                    self.parameters.push(byte);
                }
                At::Sequence
            }
            (at @ (At::Escape | At::Command | At::String), _) => at,
        }
    }
}

/// Whether a byte is text of one column, or moves the cursor along a line or to the next.
fn plain(byte: &u8) -> bool {
    matches!(byte, 0x20..=0x7e | b'\t' | b'\n' | b'\r')
}

/// Where the lines begin that can still be seen on a screen of so many rows, whatever stood there before. 0: everything
/// may be seen. They begin with a whole line end, so that the column is known, and are twice as many as the rows:
/// wherever the cursor was, it is in the last row after the first half, and the second half fills the screen.
fn last_lines(text: &[u8], rows: usize) -> usize {
    let ends = memchr::memrchr_iter(b'\n', text).skip(rows.max(1) * 2);
    ends.filter_map(|at| at.checked_sub(1)).find(|&before| text[before] == b'\r').unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces of what programs write: floods, lines without a whole end, sequences, strings, letters of more bytes.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let lines =
            (1usize..120, "[a-z ]{0,30}").prop_map(|(n, line)| format!("{line}\r\n").repeat(n).into_bytes());
        let bare =
            (1usize..60, "[a-z]{0,5}").prop_map(|(n, line)| format!("{line}\n").repeat(n).into_bytes());
        let fixed = prop::sample::select(vec![
            "\x1b[31m",
            "\x1b[m",
            "\x1b[2;5r",
            "\x1b[r",
            "\x1b[?7l",
            "\x1b[?7h",
            "\x1b[?6h",
            "\x1b[?6l",
            "\x1b[3;4H",
            "\x1b[K",
            "\x1b[2J",
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b7",
            "\x1b8",
            "\x1b]0;a title\x07",
            "\x1b]0;lines\n\n\n\x1b\\",
            "\x1bPq text \n\n\n\x1b\\",
            "\x1bc",
            "\x1b(0",
            "\x1b(B",
            "\x1b[4h",
            "\x1b[4l",
            "é",
            "漢字",
            "\x08",
            "\t",
            "\r",
            "\x1b[1",
            "\x1b",
            "\x18",
            "\x1b[5;10",
            "\x07",
            "\x0e",
            "\x0f",
            "\x1b[L",
            "\x1b[3M",
            "\x1b[2S",
            "\x1b[T",
            "\x1bM",
            "\x1bD",
        ])
        .prop_map(|text| text.as_bytes().to_vec());
        prop_oneof![3 => lines, 1 => bare, 4 => fixed]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn what_is_left_out_can_not_be_seen(
            pieces in prop::collection::vec(piece(), 1..14),
            cuts in prop::collection::vec(1usize..200, 1..40),
            rows in 1u16..8,
            cols in 1u16..40,
        ) {
            let all = pieces.concat();
            let size = |n: u16| std::num::NonZeroU16::new(n).unwrap();
            let mut whole = vt100::Parser::new(size(rows), size(cols), 0);
            let mut skimmed = vt100::Parser::new(size(rows), size(cols), 0);
            let (mut skim, mut rest) = (Skim::default(), all.as_slice());
            for (n, cut) in cuts.iter().cycle().enumerate() {
                let (bytes, more) = rest.split_at((*cut).min(rest.len()));
                rest = more;
                whole.process(bytes);
                if !skim.holds(bytes, usize::from(rows)) {
                    let waited = skim.take(usize::from(rows));
                    skimmed.process(&waited);
                    skim.follow(bytes);
                    skimmed.process(bytes);
                } else if n % 5 == 4 {
                    let waited = skim.take(usize::from(rows));
                    skimmed.process(&waited);
                }
                if rest.is_empty() {
                    break;
                }
            }
            let waited = skim.take(usize::from(rows));
            skimmed.process(&waited);
            prop_assert_eq!(whole.screen().state_formatted(), skimmed.screen().state_formatted());
        }
    }

    #[test]
    fn a_flood_is_left_out_but_for_its_end() {
        let mut skim = Skim::default();
        let mut emulated = 0;
        for _ in 0..1000 {
            if !skim.holds(&b"yes\r\n".repeat(800), 24) {
                emulated += skim.take(24).len() + 4000;
            }
        }
        assert_eq!(emulated + skim.take(24).len(), 5 * 48 + 2);
    }
}
