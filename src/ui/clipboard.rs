//! Copying through the terminal: OSC 52, wrapped for tmux and GNU screen. Pure.

use base64::Engine as _;

/// What stands between us and the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Nothing that we know of.
    Nothing,
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
}

/// Judges by the environment.
pub fn between(env: &dyn Fn(&str) -> Option<String>) -> Between {
    if env("TMUX").is_some() {
        Between::Tmux
    } else if env("STY").is_some() {
        Between::Screen
    } else {
        Between::Nothing
    }
}

/// The bytes that ask the terminal to copy `text`.
pub fn osc52(text: &str, between: Between) -> Vec<u8> {
    let data = base64::engine::general_purpose::STANDARD.encode(text);
    let plain = format!("\x1b]52;c;{data}\x07");
    match between {
        Between::Nothing | Between::Screen => through(&plain, between),
        // both: tmux takes the plain form with `set-clipboard`, the other with `allow-passthrough`
        Between::Tmux => [plain.clone().into_bytes(), through(&plain, between)].concat(),
    }
}

/// The bytes that carry a sequence to the terminal.
pub fn through(plain: &str, between: Between) -> Vec<u8> {
    match between {
        Between::Nothing => plain.as_bytes().to_vec(),
        Between::Tmux => format!("\x1bPtmux;\x1b{plain}\x1b\\").into_bytes(),
        // screen takes at most 768 bytes in one string
        Between::Screen => {
            let mut out = Vec::new();
            for chunk in plain.as_bytes().chunks(700) {
                out.extend_from_slice(b"\x1bP");
                out.extend_from_slice(chunk);
                out.extend_from_slice(b"\x1b\\");
            }
            out
        }
    }
}

/// What a person is told: only what is known.
pub fn word(text: &str, between: Between) -> String {
    let lines = text.lines().count();
    let size =
        if lines > 1 { format!("{lines} lines") } else { format!("{} characters", text.chars().count()) };
    match between {
        Between::Nothing => format!("sent {size} to the terminal's clipboard"),
        Between::Tmux => {
            format!("sent {size} to tmux and the terminal (tmux needs set-clipboard or allow-passthrough)")
        }
        Between::Screen => format!("sent {size} through screen to the terminal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_pass_tmux_and_screen() {
        assert_eq!(osc52("hi", Between::Nothing), b"\x1b]52;c;aGk=\x07");
        assert!(osc52("hi", Between::Tmux).ends_with(b"\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"));
        let long = osc52(&"x".repeat(3000), Between::Screen);
        assert!(long.split(|b| *b == 0x1b).all(|part| part.len() < 768));
        assert!(word("a\nb", Between::Nothing).starts_with("sent 2 lines to the terminal"));
    }
}
