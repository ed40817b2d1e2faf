//! Text as a terminal shows it: grapheme clusters, their widths, cutting, and making the invisible visible.
//!
//! Deliberately not here: wrapping (`wrap`) and styles (`row`). A cluster is never split, and nothing
//! that could move the cursor or reorder a line leaves this file unescaped.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::ui::glyphs;

/// Columns between tab stops.
const TAB: usize = 4;

/// Columns of one grapheme cluster.
pub fn cluster_width(cluster: &str) -> usize {
    if cluster.len() == 1 {
        let byte = cluster.as_bytes()[0];
        return usize::from((0x20..0x7f).contains(&byte));
    }
    if cluster.chars().next().is_some_and(char::is_control) {
        return 0;
    }
    glyphs::columns(cluster)
}

/// Columns of a text without line breaks.
pub fn width(text: &str) -> usize {
    clusters(text).map(cluster_width).sum()
}

/// The grapheme clusters of a text; quick where it is ASCII.
pub fn clusters(text: &str) -> Clusters<'_> {
    Clusters { rest: text }
}

/// Iterates over grapheme clusters.
pub struct Clusters<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Clusters<'a> {
    type Item = &'a str;
    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.rest.as_bytes();
        let first = *bytes.first()?;
        let alone = first < 0x80 && first != b'\r' && bytes.get(1).is_none_or(|next| *next < 0x80);
        let len = if alone { 1 } else { self.rest.graphemes(true).next().map_or(1, str::len) };
        let (cluster, rest) = self.rest.split_at(len);
        self.rest = rest;
        Some(cluster)
    }
}

/// The longest beginning of whole clusters that fits into `columns`, and its width.
pub fn fit(text: &str, columns: usize) -> (&str, usize) {
    let (mut end, mut used) = (0, 0);
    for cluster in clusters(text) {
        let wide = cluster_width(cluster);
        if used + wide > columns {
            break;
        }
        used += wide;
        end += cluster.len();
    }
    (&text[..end], used)
}

/// The text cut to `columns`, with `…` where something was cut.
pub fn ellipsis(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    if columns == 0 {
        return Cow::Borrowed("");
    }
    let mark = cluster_width("…");
    if mark > columns {
        return Cow::Owned(fit(text, columns).0.to_owned());
    }
    Cow::Owned(format!("{}…", fit(text, columns - mark).0))
}

fn bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

fn zero_width(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{feff}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{180e}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{3164}'
            | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
            | '\u{fe00}'..='\u{fe0f}'
    )
}

/// A text in lines of so many columns, broken at blanks; a word that is longer is cut.
pub fn broken(text: &str, columns: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut used = 0;
    for word in text.split(' ') {
        let word = ellipsis(word, columns);
        let long = width(&word);
        match out.last_mut().filter(|_| used + 1 + long <= columns) {
            Some(line) => {
                line.push(' ');
                line.push_str(&word);
                used += 1 + long;
            }
            None => {
                out.push(word.into_owned());
                used = long;
            }
        }
    }
    out
}

/// Whether a character could reorder a line, join what stands apart, or be there without being seen.
pub fn hides(c: char) -> bool {
    c.is_control() || bidi(c) || zero_width(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

fn harmless(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) || byte == b'\n'
}

/// Every control, bidirectional and zero-width character as something visible, tabs as spaces;
/// newlines stay. For approvals, where nothing may hide.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, true, &mut Vec::new())
}

/// As `visible`, but characters that merely take no room stay: for prose of people and models.
pub fn tame(text: &str) -> Cow<'_, str> {
    escape(text, false, &mut Vec::new())
}

/// Where blanks stand for a tab of the source, in bytes of what is shown.
pub type Tabs = Vec<(u32, u32)>;

/// As `tame`, and where the tabs were.
pub fn tame_line(line: &str) -> (Cow<'_, str>, Tabs) {
    let mut tabs = Tabs::new();
    (escape(line, false, &mut tabs), tabs)
}

/// As `tame`, for a piece of a line that begins in `column`: tab stops count from the line's beginning.
pub fn tame_from(text: &str, column: &mut usize) -> String {
    let pad = if text.contains('\t') { *column % TAB } else { 0 };
    let shown = if pad == 0 {
        tame(text).into_owned()
    } else {
        tame(&format!("{}{text}", " ".repeat(pad))).into_owned().split_off(pad)
    };
    *column += width(&shown);
    shown
}

fn escape<'a>(text: &'a str, strict: bool, tabs: &mut Tabs) -> Cow<'a, str> {
    if text.bytes().all(harmless) {
        return Cow::Borrowed(text);
    }
    let suspect = |c: char| c.is_control() && c != '\n' || bidi(c) || c == '\u{2028}' || c == '\u{2029}';
    if !text.chars().any(|c| suspect(c) || strict && zero_width(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = 0;
    for cluster in text.graphemes(true) {
        let emoji = cluster.chars().count() > 1 && cluster.width() == 2;
        let begin = out.len();
        for c in cluster.chars() {
            let from = out.len();
            match c {
                '\n' => out.push('\n'),
                '\t' => {
                    out.extend(std::iter::repeat_n(' ', TAB - column % TAB));
                    tabs.push((from as u32, out.len() as u32));
                }
                '\0'..='\x1f' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('␦')),
                '\x7f' => out.push('␡'),
                c if suspect(c) || strict && zero_width(c) && !emoji => {
                    out.push_str(&format!("⟨U+{:04X}⟩", c as u32));
                }
                c => out.push(c),
            }
        }
        // a tab stop counts columns, and a cluster of several characters may take two
        column = if cluster.ends_with('\n') { 0 } else { column + width(&out[begin..]) };
    }
    Cow::Owned(out)
}

/// A line of a command's output as it would stand on a dumb terminal: escape sequences dropped, what
/// a carriage return overwrote dropped, the rest made visible.
pub fn output_line(line: &str) -> Cow<'_, str> {
    output_tabs(line).0
}

/// As `output_line`, and where the tabs were.
pub fn output_tabs(line: &str) -> (Cow<'_, str>, Tabs) {
    let mut tabs = Tabs::new();
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.bytes().all(|byte| harmless(byte) || byte >= 0x80) {
        return (escape(line, true, &mut tabs), tabs);
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => skip_sequence(&mut chars),
            '\u{9b}' => skip_csi(&mut chars),
            '\r' => out.clear(),
            '\x08' => {
                out.pop();
            }
            '\x07' => {}
            c => out.push(c),
        }
    }
    let shown = escape(&out, true, &mut tabs).into_owned();
    (Cow::Owned(shown), tabs)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_sequence(chars: &mut Chars<'_>) {
    match chars.next() {
        Some('[') => skip_csi(chars),
        Some(']' | 'P' | '^' | '_' | 'X') => {
            while let Some(c) = chars.next() {
                if c == '\x07' || c == '\u{9c}' {
                    return;
                }
                if c == '\x1b' {
                    chars.next_if_eq(&'\\');
                    return;
                }
            }
        }
        Some(' '..='/') => {
            chars.next();
        }
        Some(_) | None => {}
    }
}

fn skip_csi(chars: &mut Chars<'_>) {
    while let Some(c) = chars.next_if(|c| (' '..='~').contains(c)) {
        if ('@'..='~').contains(&c) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn widths_are_of_whole_clusters() {
        for (text, columns) in [
            ("abc", 3),
            ("日本", 4),
            ("e\u{301}", 1),
            ("❤\u{fe0f}", 2),
            ("👩\u{200d}👩\u{200d}👧", 2),
            ("🇩🇪", 2),
            ("a\u{200b}b", 2),
            ("", 0),
        ] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    #[test]
    fn nothing_hides_in_what_is_visible() {
        assert_eq!(visible("a\x1b[31mb"), "a␛[31mb");
        assert_eq!(visible("rm \u{202e}x"), "rm ⟨U+202E⟩x");
        assert_eq!(visible("a\u{200b}b\u{feff}"), "a⟨U+200B⟩b⟨U+FEFF⟩");
        assert_eq!(visible("a\tb\n\tc"), "a   b\n    c");
        assert_eq!(visible("👩\u{200d}👧 ok"), "👩\u{200d}👧 ok");
        assert_eq!(tame("a\u{200b}b\x07"), "a\u{200b}b␇");
    }

    #[test]
    fn output_is_what_a_dumb_terminal_would_show() {
        assert_eq!(output_line("\x1b[31mred\x1b[0m"), "red");
        assert_eq!(output_line("10%\r50%\r100%"), "100%");
        assert_eq!(output_line("a\x1b]8;;http://x\x1b\\b\x1b]8;;\x07c"), "abc");
        assert_eq!(output_line("plain\r"), "plain");
        assert_eq!(output_line("cut\x1b[3"), "cut");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn cutting_never_splits_a_cluster(text in "(\\PC|👩\u{200d}👧|🇩🇪|e\u{301}|日){0,24}", columns in 0usize..30) {
            let (head, used) = fit(&text, columns);
            prop_assert!(used <= columns);
            let whole: Vec<&str> = text.graphemes(true).collect();
            prop_assert!((0..=whole.len()).any(|n| whole[..n].concat() == head));
            prop_assert!(width(&ellipsis(&text, columns)) <= columns);
        }
        #[test]
        fn no_control_survives(text in any::<String>()) {
            for shown in [visible(&text).into_owned(), tame(&text).into_owned()] {
                prop_assert!(shown.chars().all(|c| c == '\n' || !c.is_control() && !bidi(c)));
            }
            prop_assert!(output_line(&text.replace('\n', " ")).chars().all(|c| !c.is_control()));
        }
        #[test]
        fn clusters_are_the_standard_ones(text in "(\\PC|[a-z ]|\r|e\u{301}|🇩🇪){0,20}") {
            let ours: Vec<&str> = clusters(&text).collect();
            let theirs: Vec<&str> = text.graphemes(true).collect();
            prop_assert_eq!(ours, theirs);
        }
    }
}
