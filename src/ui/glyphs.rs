//! Which characters the terminal can show, and what stands in the place of those that it cannot: one table for all
//! that the screen draws. A stand-in is as wide as what it stands for.
//!
//! What the terminal can show is a trait of the terminal, so of the process: it is said once, before the first
//! frame. Layout asks `columns`, the writer asks `shown`: they cannot disagree.

use std::sync::atomic::{AtomicU8, Ordering};

use unicode_width::UnicodeWidthStr as _;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Glyphs {
    /// All of Unicode.
    #[default]
    Unicode,
    /// What the fonts of the Linux console have.
    Console,
    /// ASCII.
    Ascii,
}

/// What the terminal can show, and whether characters of ambiguous width take two columns in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// What it can show.
    pub glyphs: Glyphs,
    /// Whether characters of ambiguous width take two columns.
    pub wide: bool,
}

/// The set of this process: the glyphs in two bits, then the width.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// Says what the terminal can show. To be said before the first layout.
pub fn choose(set: Set) {
    CHOSEN.store(set.glyphs as u8 | u8::from(set.wide) << 2, Ordering::Relaxed);
}

/// What the terminal can show, as it was said.
pub fn chosen() -> Set {
    let bits = CHOSEN.load(Ordering::Relaxed);
    let glyphs = match bits & 3 {
        0 => Glyphs::Unicode,
        1 => Glyphs::Console,
        _ => Glyphs::Ascii,
    };
    Set { glyphs, wide: bits & 4 != 0 }
}

/// By the word of the setting (`unicode`, `ascii`), else by the environment: the locale's characters and `TERM`.
pub fn by_environment(word: &str, env: &dyn Fn(&str) -> Option<String>) -> Glyphs {
    match word {
        "unicode" => return Glyphs::Unicode,
        "ascii" => return Glyphs::Ascii,
        _ => {}
    }
    let set = |name: &&str| env(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set);
    // a container has no locale, and its terminal is somebody's: what is not said is not held against it
    let other = locale.is_some_and(|locale| {
        let (name, charset) = locale.split_once('.').unwrap_or((&locale, ""));
        let charset = charset.split('@').next().unwrap_or_default().to_ascii_lowercase();
        matches!(name, "C" | "POSIX") && charset.is_empty()
            || !matches!(charset.as_str(), "" | "utf-8" | "utf8")
    });
    match env("TERM").unwrap_or_default().as_str() {
        _ if other => Glyphs::Ascii,
        "linux" => Glyphs::Console,
        "vt100" | "vt102" | "vt220" | "ansi" | "cons25" | "dumb" => Glyphs::Ascii,
        _ => Glyphs::Unicode,
    }
}

/// What is drawn, what the console shows for it, and what stands for it in ASCII.
const TABLE: &[(&str, &str, &str)] = &[
    ("…", "~", "~"),
    ("⋯", "~", "~"),
    ("·", "·", "|"),
    ("•", "•", "*"),
    ("●", "•", "*"),
    ("○", "○", "o"),
    ("◌", "o", "o"),
    ("◦", "o", "o"),
    ("◐", "*", "*"),
    ("◆", "♦", "*"),
    ("▪", "■", "*"),
    ("■", "■", "#"),
    ("▯", "_", "_"),
    ("✓", "√", "+"),
    ("✗", "x", "x"),
    ("⚑", "!", "!"),
    ("▸", "►", ">"),
    ("▾", "▼", "v"),
    ("❯", ">", ">"),
    ("›", ">", ">"),
    ("‹", "<", "<"),
    ("⟩", ">", ">"),
    ("⟨", "<", "<"),
    ("→", "→", ">"),
    ("←", "←", "<"),
    ("↑", "↑", "^"),
    ("↓", "↓", "v"),
    ("↶", "<", "<"),
    ("⏎", "/", "/"),
    ("⧗", "%", "%"),
    ("⌨", "=", "="),
    ("⊣", "|", "|"),
    ("☑", "X", "X"),
    ("☐", "_", "_"),
    ("🖼", "#", "#"),
    ("≠", "!", "!"),
    ("−", "-", "-"),
    ("×", "x", "x"),
    ("–", "-", "-"),
    ("—", "-", "-"),
    ("‘", "'", "'"),
    ("’", "'", "'"),
    ("“", "\"", "\""),
    ("”", "\"", "\""),
    ("█", "█", "#"),
    ("▉", "█", "#"),
    ("▊", "█", "#"),
    ("▋", "▌", "#"),
    ("▌", "▌", "|"),
    ("▍", "▌", "|"),
    ("▎", "│", "|"),
    ("▏", "│", "|"),
    // the spinner
    ("⠋", "|", "|"),
    ("⠙", "/", "/"),
    ("⠹", "-", "-"),
    ("⠸", "\\", "\\"),
    ("⠼", "|", "|"),
    ("⠴", "/", "/"),
    ("⠦", "-", "-"),
    ("⠧", "\\", "\\"),
    ("⠇", "|", "|"),
    ("⠏", "/", "/"),
];

/// Lines of boxes that every console font has.
const CONSOLE_BOXES: &str = "─│┌┐└┘├┤┬┴┼═║╔╗╚╝╠╣╦╩╬";

/// What stands for a line of a box in ASCII.
fn line(c: char) -> Option<&'static str> {
    Some(match c {
        '─' | '━' | '┄' | '┅' | '┈' | '┉' | '╌' | '╍' | '═' | '╴' | '╶' | '╸' | '╺' => {
            "-"
        }
        '│' | '┃' | '┆' | '┇' | '┊' | '┋' | '╎' | '╏' | '║' | '╵' | '╷' | '╹' | '╻' => {
            "|"
        }
        '╱' => "/",
        '╲' => "\\",
        '\u{2500}'..='\u{257f}' => "+",
        _ => return None,
    })
}

/// What of the table is drawn cell by cell, or in a column of its own: it takes one column in every terminal, so
/// where it would take two, its stand-in is shown.
fn drawn(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{259f}' | '●' | '○' | '◐' | '◆' | '■')
}

/// What the terminal is told for a cluster.
pub fn shown_in(cluster: &str, set: Set) -> &str {
    if cluster.len() == 1 {
        return cluster;
    }
    let Some(first) = cluster.chars().next() else { return cluster };
    let row = || TABLE.iter().find(|(of, ..)| *of == cluster);
    match set.glyphs {
        Glyphs::Unicode if set.wide && drawn(first) => {
            row().map(|(.., ascii)| *ascii).or_else(|| line(first)).unwrap_or("#")
        }
        Glyphs::Unicode => cluster,
        Glyphs::Console => match (row(), line(first)) {
            (Some((_, console, _)), _) => console,
            (None, Some(_)) if CONSOLE_BOXES.contains(first) => cluster,
            (None, Some(ascii)) => ascii,
            (None, None) => match cluster.width() {
                2.. => "??",
                _ if first >= '\u{2000}' => "?",
                _ => &cluster[..first.len_utf8()],
            },
        },
        Glyphs::Ascii => match row().map(|(.., ascii)| *ascii).or_else(|| line(first)) {
            Some(ascii) => ascii,
            None if first.is_ascii() => &cluster[..1],
            None if cluster.width() == 2 => "??",
            None => "?",
        },
    }
}

/// Columns of a cluster of more than a byte.
pub fn columns_in(cluster: &str, set: Set) -> usize {
    match set {
        Set { glyphs: Glyphs::Unicode, wide: true } => {
            if cluster.chars().next().is_some_and(drawn) {
                1
            } else {
                cluster.width_cjk()
            }
        }
        // a stand-in is as wide as what it stands for
        Set { .. } => cluster.width(),
    }
}

/// What the terminal of this process is told for a cluster.
pub fn shown(cluster: &str) -> &str {
    if cluster.len() == 1 { cluster } else { shown_in(cluster, chosen()) }
}

/// A text as the terminal of this process is told it.
pub fn plain(text: &str) -> String {
    crate::ui::widget::text::clusters(text).map(shown).collect()
}

/// Columns of a cluster of more than a byte in the terminal of this process.
pub fn columns(cluster: &str) -> usize {
    columns_in(cluster, chosen())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETS: [Set; 6] = [
        Set { glyphs: Glyphs::Unicode, wide: false },
        Set { glyphs: Glyphs::Unicode, wide: true },
        Set { glyphs: Glyphs::Console, wide: false },
        Set { glyphs: Glyphs::Console, wide: true },
        Set { glyphs: Glyphs::Ascii, wide: false },
        Set { glyphs: Glyphs::Ascii, wide: true },
    ];

    #[test]
    fn a_stand_in_is_as_wide_as_what_it_stands_for() {
        let boxes = ('\u{2500}'..='\u{259f}').map(String::from);
        let others =
            ["日", "é", "e\u{301}", "👩\u{200d}👧", "🇩🇪", "❤\u{fe0f}", "ж", "␛", "“", "a"].map(String::from);
        let table = TABLE.iter().map(|(of, ..)| (*of).to_owned());
        for cluster in boxes.chain(others).chain(table) {
            for set in SETS {
                let told = shown_in(&cluster, set);
                let wide =
                    if set.wide && set.glyphs == Glyphs::Unicode { told.width_cjk() } else { told.width() };
                let measured = if cluster.len() == 1 { 1 } else { columns_in(&cluster, set) };
                assert_eq!(measured, wide, "{cluster:?} as {told:?} in {set:?}");
                if set.glyphs == Glyphs::Ascii {
                    assert!(told.is_ascii(), "{cluster:?} as {told:?}");
                }
            }
        }
    }

    #[test]
    fn locale_and_terminal_tell_what_can_be_shown() {
        let told = |word: &str, pairs: &[(&str, &str)]| {
            let get =
                |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            by_environment(word, &get)
        };
        let xterm = ("TERM", "xterm-256color");
        assert_eq!(told("", &[xterm]), Glyphs::Unicode);
        assert_eq!(told("", &[xterm, ("LANG", "de_DE.UTF-8")]), Glyphs::Unicode);
        assert_eq!(told("", &[xterm, ("LANG", "C.utf8")]), Glyphs::Unicode);
        assert_eq!(told("", &[xterm, ("LANG", "en_US")]), Glyphs::Unicode);
        assert_eq!(told("", &[xterm, ("LANG", "de_DE.ISO-8859-1")]), Glyphs::Ascii);
        assert_eq!(told("", &[xterm, ("LANG", "ja_JP.eucJP")]), Glyphs::Ascii);
        assert_eq!(told("", &[xterm, ("LANG", "de_DE.UTF-8@euro")]), Glyphs::Unicode);
        assert_eq!(told("", &[xterm, ("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]), Glyphs::Ascii);
        assert_eq!(told("", &[xterm, ("LC_ALL", ""), ("LANG", "POSIX")]), Glyphs::Ascii);
        assert_eq!(told("", &[("TERM", "linux"), ("LANG", "C.UTF-8")]), Glyphs::Console);
        assert_eq!(told("", &[("TERM", "vt220")]), Glyphs::Ascii);
        assert_eq!(told("unicode", &[("TERM", "linux"), ("LC_ALL", "C")]), Glyphs::Unicode);
        assert_eq!(told("ascii", &[xterm]), Glyphs::Ascii);
    }
}
