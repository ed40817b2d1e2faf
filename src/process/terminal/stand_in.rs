//! What the emulator is given of what a command wrote, where it cannot take that as it is (vt100 0.18).
//!
//! For what is no text a terminal shows a replacement character. The emulator shows nothing for that character, so that
//! all behind it would stand too far left. It is given another one in its place, which no program writes (U+FDD0 is no
//! character, and as wide), and the picture has the right one.
//!
//! A character that a selector behind it makes wide (a heart that becomes an emoji) has no room for that in the last
//! column. The emulator makes a mistake of it and then fails, which costs the picture: there it stays narrow.

use std::borrow::Cow;

const STAND_IN: char = '\u{fdd0}';
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Makes the character before it wide.
const WIDENS: &[u8] = "\u{fe0f}".as_bytes();

/// Has the emulator show these bytes. A character at their end must be whole.
pub fn show<C: vt100::Callbacks>(emulator: &mut vt100::Parser<C>, bytes: &[u8]) {
    let bytes = shown(bytes);
    let mut rest: &[u8] = &bytes;
    let mut from = 0;
    while let Some(at) = rest[from..].iter().position(|byte| *byte == WIDENS[0]).map(|at| from + at) {
        from = at + 1;
        if !rest[at..].starts_with(WIDENS) {
            continue;
        }
        emulator.process(&rest[..at]);
        rest = &rest[at + WIDENS.len()..];
        from = 0;
        let ((_, column), (_, columns)) = (emulator.screen().cursor_position(), emulator.screen().size());
        // behind the last column: that is where the character stands
        if column < columns.get() {
            emulator.process(WIDENS);
        }
    }
    emulator.process(rest);
}

/// The bytes as the emulator is given them. A character at their end must be whole.
fn shown(bytes: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(REPLACEMENT)) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let mut place = [0; 4];
    let place = STAND_IN.encode_utf8(&mut place).as_bytes();
    for chunk in bytes.utf8_chunks() {
        let mut parts = chunk.valid().split(REPLACEMENT);
        out.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
        for part in parts {
            out.extend_from_slice(place);
            out.extend_from_slice(part.as_bytes());
        }
        if !chunk.invalid().is_empty() {
            out.extend_from_slice(place);
        }
    }
    Cow::Owned(out)
}

/// What a character of the emulator stands for.
pub fn meant(c: char) -> char {
    if c == STAND_IN { REPLACEMENT } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_has_a_place_and_text_is_as_it_was() {
        let read = |bytes: &[u8]| -> String {
            String::from_utf8(shown(bytes).into_owned()).unwrap().chars().map(meant).collect()
        };
        for text in ["", "plain", "\x1b[31m日本\x1b[0m", "\u{fffd}", "a\u{fffd}\u{fffd}b"] {
            assert_eq!(read(text.as_bytes()), text);
        }
        for bytes in [&b"Gr\xfc\xdfe"[..], b"\xff", b"a\xe6\x97b", b"\xc3\x28\x80"] {
            assert_eq!(read(bytes), String::from_utf8_lossy(bytes));
        }
        assert!(matches!(shown("日本".as_bytes()), Cow::Borrowed(_)));
    }
}
