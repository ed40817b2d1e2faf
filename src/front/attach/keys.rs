//! What is typed, on its way to a job: the keys that leave are told apart from the bytes that are the job's.
//!
//! Pure. `^]` is one byte. F12 is a sequence, for keyboards and terminals that have no `^]`; a connection may cut it
//! anywhere, so its beginning is held back until the rest has come or `HELD_MAX` has passed. A lone Esc is not, for
//! people wait for that.

use std::time::Duration;

/// `^]`.
const LEAVE: u8 = 0x1d;
/// F12, as every terminal in use writes it.
const LEAVE_SEQUENCE: &[u8] = b"\x1b[24~";
/// Fewest bytes of its beginning that are held back.
const HELD_MIN: usize = 2;
/// How long they are.
pub const HELD_MAX: Duration = Duration::from_millis(50);

/// What came of what was typed.
#[derive(Debug, PartialEq, Eq)]
pub struct Typed {
    /// What goes to the job.
    pub bytes: Vec<u8>,
    /// Whether the person leaves after that.
    pub leaves: bool,
}

/// The keys of an attached terminal.
#[derive(Debug, Default)]
pub struct Keys {
    held: Vec<u8>,
}

impl Keys {
    /// Takes what was typed.
    pub fn take(&mut self, typed: &[u8]) -> Typed {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(typed);
        let byte = bytes.iter().position(|byte| *byte == LEAVE);
        let sequence = bytes.windows(LEAVE_SEQUENCE.len()).position(|part| part == LEAVE_SEQUENCE);
        if let Some(end) = byte.into_iter().chain(sequence).min() {
            bytes.truncate(end);
            return Typed { bytes, leaves: true };
        }
        let begun = (HELD_MIN..LEAVE_SEQUENCE.len()).find(|len| bytes.ends_with(&LEAVE_SEQUENCE[..*len]));
        if let Some(len) = begun {
            self.held = bytes.split_off(bytes.len() - len);
        }
        Typed { bytes, leaves: false }
    }

    /// Whether something is held back.
    pub fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// What was held back, when the rest did not come.
    pub fn release(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What goes to the job, typed piece by piece, and whether it was left.
    fn typed(pieces: &[&[u8]]) -> (Vec<u8>, bool) {
        let (mut keys, mut all) = (Keys::default(), Vec::new());
        for piece in pieces {
            let typed = keys.take(piece);
            all.extend(typed.bytes);
            if typed.leaves {
                return (all, true);
            }
        }
        all.extend(keys.release());
        (all, false)
    }

    #[test]
    fn both_keys_leave_wherever_they_were_cut_and_what_follows_is_nobodys() {
        assert_eq!(typed(&[b"ab\x1dcd"]), (b"ab".to_vec(), true));
        for cut in 2..6 {
            let (first, rest) = b"ab\x1b[24~cd".split_at(2 + cut - 1);
            // cut right after the Esc it is the job's: an Esc does not wait
            assert_eq!(typed(&[first, rest]).1, cut != 2, "{cut}");
        }
        assert_eq!(typed(&[b"ab\x1b[2", b"4", b"~cd"]), (b"ab".to_vec(), true));
    }

    #[test]
    fn an_escape_and_other_sequences_go_to_the_job() {
        let mut keys = Keys::default();
        assert_eq!(keys.take(b"\x1b"), Typed { bytes: b"\x1b".to_vec(), leaves: false });
        assert!(!keys.holds());
        assert_eq!(keys.take(b"x\x1b["), Typed { bytes: b"x".to_vec(), leaves: false });
        assert!(keys.holds());
        assert_eq!(keys.take(b"A").bytes, b"\x1b[A");
        assert_eq!(keys.take(b"\x1b[24;2~").bytes, b"\x1b[24;2~");
        assert_eq!(keys.take(b"\x1b[2").bytes, b"");
        assert_eq!((keys.release(), keys.holds()), (b"\x1b[2".to_vec(), false));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn not_a_byte_is_lost_or_put_elsewhere(
            pieces in proptest::collection::vec("[a\x1b\\[24~\x1d]{0,6}".prop_map(String::into_bytes), 0..8)
        ) {
            let all = pieces.concat();
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let (job, left) = typed(&pieces);
            prop_assert!(all.starts_with(&job));
            let rest = &all[job.len()..];
            prop_assert_eq!(left, !rest.is_empty());
            prop_assert!(!left || rest[0] == LEAVE || rest.starts_with(LEAVE_SEQUENCE));
        }
    }
}
