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

/// Letters and accents of ambiguous width, from and to. `unicode-width` counts them one column also where it counts
/// ambiguous signs two; terminals that are set so do not (xterm's `cjk_width`, measured).
#[rustfmt::skip]
const LETTERS: &[(char, char)] = &[
    ('\u{a8}', '\u{a8}'), ('\u{aa}', '\u{aa}'), ('\u{b4}', '\u{b4}'), ('\u{b8}', '\u{b8}'),
    ('\u{ba}', '\u{ba}'), ('\u{c6}', '\u{c6}'), ('\u{d0}', '\u{d0}'), ('\u{d8}', '\u{d8}'),
    ('\u{de}', '\u{e1}'), ('\u{e6}', '\u{e6}'), ('\u{e8}', '\u{ea}'), ('\u{ec}', '\u{ed}'),
    ('\u{f0}', '\u{f0}'), ('\u{f2}', '\u{f3}'), ('\u{f8}', '\u{fa}'), ('\u{fc}', '\u{fc}'),
    ('\u{fe}', '\u{fe}'), ('\u{101}', '\u{101}'), ('\u{111}', '\u{111}'), ('\u{113}', '\u{113}'),
    ('\u{11b}', '\u{11b}'), ('\u{126}', '\u{127}'), ('\u{12b}', '\u{12b}'), ('\u{131}', '\u{133}'),
    ('\u{138}', '\u{138}'), ('\u{13f}', '\u{142}'), ('\u{144}', '\u{144}'), ('\u{148}', '\u{14b}'),
    ('\u{14d}', '\u{14d}'), ('\u{152}', '\u{153}'), ('\u{166}', '\u{167}'), ('\u{16b}', '\u{16b}'),
    ('\u{1ce}', '\u{1ce}'), ('\u{1d0}', '\u{1d0}'), ('\u{1d2}', '\u{1d2}'), ('\u{1d4}', '\u{1d4}'),
    ('\u{1d6}', '\u{1d6}'), ('\u{1d8}', '\u{1d8}'), ('\u{1da}', '\u{1da}'), ('\u{1dc}', '\u{1dc}'),
    ('\u{251}', '\u{251}'), ('\u{261}', '\u{261}'), ('\u{2c4}', '\u{2c4}'), ('\u{2c7}', '\u{2c7}'),
    ('\u{2c9}', '\u{2cb}'), ('\u{2cd}', '\u{2cd}'), ('\u{2d0}', '\u{2d0}'), ('\u{2d8}', '\u{2db}'),
    ('\u{2dd}', '\u{2dd}'), ('\u{2df}', '\u{2df}'), ('\u{391}', '\u{3a1}'), ('\u{3a3}', '\u{3a9}'),
    ('\u{3b1}', '\u{3c1}'), ('\u{3c3}', '\u{3c9}'), ('\u{401}', '\u{401}'), ('\u{410}', '\u{44f}'),
    ('\u{451}', '\u{451}'), ('\u{207f}', '\u{207f}'), ('\u{2113}', '\u{2113}'), ('\u{2126}', '\u{2126}'),
    ('\u{212b}', '\u{212b}'),
];

/// Whether a cluster begins with such a letter.
fn letter(first: char) -> bool {
    let at = LETTERS.partition_point(|(_, last)| *last < first);
    LETTERS.get(at).is_some_and(|(begin, _)| *begin <= first)
}

/// Columns of a cluster of more than a byte.
pub fn columns_in(cluster: &str, set: Set) -> usize {
    match set {
        Set { glyphs: Glyphs::Unicode, wide: true } => match cluster.chars().next() {
            Some(first) if drawn(first) => 1,
            Some(first) if letter(first) => 2,
            _ => cluster.width_cjk(),
        },
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
                let wide = match set.wide && set.glyphs == Glyphs::Unicode {
                    true if told.chars().next().is_some_and(letter) => 2,
                    true => told.width_cjk(),
                    false => told.width(),
                };
                let measured = if cluster.len() == 1 { 1 } else { columns_in(&cluster, set) };
                assert_eq!(measured, wide, "{cluster:?} as {told:?} in {set:?}");
                if set.glyphs == Glyphs::Ascii {
                    assert!(told.is_ascii(), "{cluster:?} as {told:?}");
                }
            }
        }
    }

    #[test]
    fn where_ambiguous_is_wide_letters_are_too() {
        let wide = Set { glyphs: Glyphs::Unicode, wide: true };
        // as xterm with cjk_width has them
        for two in ["α", "Ω", "ж", "Я", "ё", "á", "ü", "ß", "æ", "œ", "“", "…", "→", "°", "①", "Ⅷ", "´"]
        {
            assert_eq!((columns_in(two, wide), columns_in(two, Set::default())), (2, 1), "{two}");
        }
        for one in ["Ā", "î", "ς", "ђ", "e\u{301}", "│"] {
            assert_eq!(columns_in(one, wide), 1, "{one}");
        }
        assert!(LETTERS.windows(2).all(|two| two[0].1 < two[1].0), "in order");
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
