//! Questions in device control strings (`ESC P … ESC \`), which the emulator passes by in silence: what a capability
//! is (XTGETTCAP) and how something is set (DECRQSS). Pure; a question may come in any cuts.
//!
//! We know no capability by that way and report no setting: the program then takes what `TERM` says.

/// Most bytes of a string that are remembered; of a longer one the rest is passed by.
const STRING_MAX: usize = 1024;

/// Finds the strings in what a program writes.
#[derive(Debug, Default)]
pub struct Strings {
    state: State,
    body: Vec<u8>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Outside,
    /// After an escape.
    Escape,
    /// In a string.
    Inside,
    /// In a string, after an escape.
    End,
}

impl Strings {
    /// The end of the first question in these bytes, and its answer. What follows the end was not looked at.
    pub fn next(&mut self, bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
        let mut at = 0;
        while at < bytes.len() {
            if matches!(self.state, State::Outside) {
                // nothing but an escape matters: a flood of text passes at once
                at += bytes[at..].iter().position(|byte| *byte == 0x1b)?;
            }
            let answer = self.step(bytes[at]);
            at += 1;
            if let Some(answer) = answer {
                return Some((at, answer));
            }
        }
        None
    }

    fn step(&mut self, byte: u8) -> Option<Vec<u8>> {
        let inside = matches!(self.state, State::Inside);
        self.state = match (&self.state, byte) {
            (State::Outside | State::Escape, 0x1b) => State::Escape,
            (State::Escape | State::End, b'P') => {
                self.body.clear();
                State::Inside
            }
            (State::Inside | State::End, 0x1b) => State::End,
            (State::End, b'\\') => {
                self.state = State::Outside;
                return answer(&self.body);
            }
            (State::Inside, 0x18 | 0x1a) | (State::Outside | State::Escape | State::End, _) => State::Outside,
            (State::Inside, _) => State::Inside,
        };
        if inside && matches!(self.state, State::Inside) && self.body.len() < STRING_MAX {
            self.body.push(byte);
        }
        None
    }
}

fn answer(body: &[u8]) -> Option<Vec<u8>> {
    if body.starts_with(b"$q") {
        return Some(b"\x1bP0$r\x1b\\".to_vec());
    }
    let names = body.strip_prefix(b"+q")?;
    // the name goes back as it came, so it must be nothing but a name: what we type in may be no command
    let named = |name: &[u8]| !name.is_empty() && name.iter().all(u8::is_ascii_hexdigit);
    let mut out = Vec::new();
    for name in names.split(|byte| *byte == b';').filter(|name| named(name)) {
        out.extend_from_slice(b"\x1bP0+r");
        out.extend_from_slice(name);
        out.extend_from_slice(b"\x1b\\");
    }
    Some(out).filter(|out| !out.is_empty())
}
