//! Text of others (a model's, a provider's, a file's) on its way to a terminal that is not ours to draw on:
//! controls are shown, not obeyed, but for line end and tab.
//!
//! Deliberately not here: whether it goes to a terminal. What goes into a pipe or a file stays as it is.

use std::io::{self, Write};

/// How a control is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// In text: `\x1B`.
    Text,
    /// In JSON, where a control can stand in a string only: `\u001b`, so that it stays the same JSON.
    Json,
}

/// Writes on to `to`, controls made visible. However the bytes are cut into writes, the result is the same.
pub struct Visible<W> {
    to: W,
    form: Form,
    /// 0xC2, the first half of a C1 control or of an ordinary character, waits for its other half.
    half: bool,
}

impl<W: Write> Visible<W> {
    /// A writer over another one.
    pub fn new(to: W, form: Form) -> Self {
        Self { to, form, half: false }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            if std::mem::take(&mut self.half) {
                if (0x80..0xA0).contains(&byte) {
                    self.form.show(byte, &mut out);
                    continue;
                }
                out.push(0xC2);
            }
            match byte {
                b'\n' | b'\t' => out.push(byte),
                0..0x20 | 0x7F => self.form.show(byte, &mut out),
                0xC2 => self.half = true,
                _ => out.push(byte),
            }
        }
        self.to.write_all(&out)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Form {
    fn show(self, control: u8, out: &mut Vec<u8>) {
        let text = match self {
            Self::Text => format!("\\x{control:02X}"),
            Self::Json => format!("\\u{control:04x}"),
        };
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(parts: &[&[u8]], form: Form) -> Vec<u8> {
        let mut out = Vec::new();
        let mut visible = Visible::new(&mut out, form);
        for part in parts {
            visible.write_all(part).unwrap();
        }
        out
    }

    #[test]
    fn controls_are_shown_and_everything_else_stays() {
        let text = "a\tb\n\x1b]52;c;eA==\x07 \u{9b}2J é \u{a0}\x7f\r";
        let wanted = "a\tb\n\\x1B]52;c;eA==\\x07 \\x9B2J é \u{a0}\\x7F\\x0D";
        assert_eq!(String::from_utf8(shown(&[text.as_bytes()], Form::Text)).unwrap(), wanted);
        let json = serde_json::json!({"text": text}).to_string();
        let out = String::from_utf8(shown(&[json.as_bytes()], Form::Json)).unwrap();
        assert!(!out.chars().any(char::is_control), "{out:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap()["text"], text);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn however_it_is_cut_nothing_that_a_terminal_obeys_is_left(
            text in proptest::collection::vec(
                prop_oneof![any::<char>(), Just('\x1b'), Just('\u{9b}'), Just('\u{a9}'), Just('\n')], 0..40
            ),
            cut in any::<prop::sample::Index>(),
        ) {
            let text: String = text.into_iter().collect();
            let (a, b) = text.as_bytes().split_at(cut.index(text.len() + 1));
            let out = shown(&[a, b], Form::Text);
            prop_assert_eq!(&shown(&[text.as_bytes()], Form::Text), &out);
            let out = String::from_utf8(out).unwrap();
            prop_assert!(out.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
        }
    }
}
