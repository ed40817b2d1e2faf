//! Copying through the terminal: OSC 52, wrapped for tmux and GNU screen. Pure.

use base64::Engine as _;

/// Most bytes that are sent: more would stop the terminal for long, and no clipboard of one takes it.
pub const COPY_MAX: usize = 4 << 20;
/// tmux drops a sequence of more than a megabyte, and base64 makes four bytes of three.
const TMUX_MAX: usize = 750_000;
/// What every terminal that knows OSC 52 takes: some read no more than 100 000 bytes of base64.
const SURE: usize = 74_994;

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

/// The bytes that copy `text`, and what a person is told: only what is known. Else why nothing was sent.
pub fn copy(text: &str, between: Between) -> Result<(Vec<u8>, String), String> {
    if text.is_empty() {
        return Err("there is nothing to copy".to_owned());
    }
    let most = match between {
        Between::Nothing | Between::Screen => COPY_MAX,
        Between::Tmux => TMUX_MAX,
    };
    if text.len() > most {
        let (size, most) = (bytes(text.len()), bytes(most));
        return Err(format!(
            "not copied: {size} is too large (at most {most}): select less, or write it with /export"
        ));
    }
    Ok((osc52(text, between), word(text, between)))
}

fn bytes(count: usize) -> String {
    if count < 1_000_000 {
        format!("{} KB", count.div_ceil(1000))
    } else {
        format!("{:.1} MB", count as f64 / 1e6)
    }
}

/// What a person is told of what was sent.
fn word(text: &str, between: Between) -> String {
    let (lines, characters) = (text.lines().count(), text.chars().count());
    let size = match (lines, characters) {
        (2.., _) => format!("{lines} lines"),
        (_, 1) => "1 character".to_owned(),
        (_, characters) => format!("{characters} characters"),
    };
    let large = text.len() > SURE;
    let size = if large { format!("{size} ({})", bytes(text.len())) } else { size };
    let mut said = match between {
        Between::Nothing => format!("sent {size} to the terminal's clipboard"),
        Between::Tmux => {
            format!("sent {size} to tmux and the terminal (tmux needs set-clipboard or allow-passthrough)")
        }
        Between::Screen => format!("sent {size} through screen to the terminal"),
    };
    if large {
        said.push_str("; some terminals take only 75 KB");
    }
    said
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
        let said = |text: &str, between| copy(text, between).map(|(_, said)| said);
        assert_eq!(said("a\nb", Between::Nothing), Ok("sent 2 lines to the terminal's clipboard".to_owned()));
        assert_eq!(
            said("é", Between::Screen),
            Ok("sent 1 character through screen to the terminal".to_owned())
        );
    }

    #[test]
    fn what_is_too_large_is_not_sent_and_what_may_be_is_told() {
        assert_eq!(copy("", Between::Nothing), Err("there is nothing to copy".to_owned()));
        let large = "line\n".repeat(20_000);
        let said = copy(&large, Between::Nothing).map(|(_, said)| said).unwrap_or_default();
        assert!(said.contains("20000 lines (100 KB)") && said.contains("some terminals take only"), "{said}");
        let huge = "x".repeat(800_000);
        assert!(copy(&huge, Between::Nothing).is_ok());
        let why = copy(&huge, Between::Tmux).expect_err("tmux would drop it");
        assert!(why.starts_with("not copied: 800 KB is too large (at most 750 KB)"), "{why}");
        assert!(copy(&"x".repeat(COPY_MAX + 1), Between::Nothing).is_err());
    }
}
