//! Plain text in pieces that are laid out one by one: output, messages of the person, thinking.

use super::row::{Look, Role};
use super::text::{output_tabs, tame_line};
use super::wrap::{Break, Piece, Prefix, Wrapper};

/// Most lines of a piece.
const LINES: u32 = 64;
/// Most bytes of a piece, but for a cluster that reaches over it.
const BYTES: usize = 16 * 1024;

/// Where the pieces of a text end, in bytes.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    ends: Vec<u32>,
}

impl Pieces {
    /// Splits a text. One trailing newline counts as the end of the last line.
    pub fn of(text: &str) -> Self {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let (mut ends, mut from, mut lines) = (Vec::new(), 0, 0);
        let mut at = 0;
        while at < text.len() {
            let rest = &text.as_bytes()[at..];
            let window = &rest[..rest.len().min(BYTES)];
            let (mut next, line) = match memchr::memchr(b'\n', window) {
                Some(len) => (at + len + 1, true),
                None => (at + window.len(), false),
            };
            while !text.is_char_boundary(next) {
                next -= 1;
            }
            lines += u32::from(line);
            if next - from > BYTES && at > from {
                ends.push(at as u32);
                from = at;
                lines = u32::from(line);
            }
            if lines >= LINES {
                ends.push(next as u32);
                from = next;
                lines = 0;
            }
            at = next;
        }
        if from < text.len() || ends.is_empty() {
            ends.push(text.len() as u32);
        }
        Self { ends }
    }
    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// One piece's text.
    pub fn text<'a>(&self, text: &'a str, index: usize) -> &'a str {
        let from = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let to = (self.ends[index] as usize).min(text.len());
        text.get(from..to).unwrap_or_default()
    }
}

/// How plain text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Written by a person or a model: wrapped at words.
    Prose,
    /// Printed by a command: escape sequences dropped, every space kept.
    Output,
}

/// Lays a piece out.
pub fn lay(out: &mut Wrapper, prefix: &Prefix, text: &str, role: Role, reading: Reading) {
    let mut prefix = prefix.clone();
    let text = text.strip_suffix('\n').unwrap_or(text);
    for line in text.split('\n') {
        let ((shown, tabs), how) = match reading {
            Reading::Prose => (tame_line(line.strip_suffix('\r').unwrap_or(line)), Break::Words),
            Reading::Output => (output_tabs(line), Break::Anywhere),
        };
        out.tabs(tabs);
        let pieces: [Piece; 1] = [(shown.into_owned(), Look::from(role))];
        out.line(&prefix, &pieces, how);
        prefix = prefix.hanging();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn pieces_are_the_text(text in prop_oneof!["(\\PC|\n){0,40}", "(a{1,3}\n){0,300}"], n in 1usize..2000) {
            let text = if text.len() < 60 { text.repeat(n) } else { text };
            let pieces = Pieces::of(&text);
            let all: String = (0..pieces.len()).map(|index| pieces.text(&text, index)).collect();
            prop_assert_eq!(&all, text.strip_suffix('\n').unwrap_or(&text));
            for index in 0..pieces.len() {
                let piece = pieces.text(&text, index);
                prop_assert!(piece.matches('\n').count() <= 64 && piece.len() <= 2 * 16 * 1024);
            }
        }
    }
}
