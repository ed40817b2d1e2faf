//! What one line of Markdown is: pure recognisers over a cursor.
//!
//! Deliberately not here: what stands open before the line (`machine`).

use super::html::Html;

/// A place in a line; columns count tabs to stops of four.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    src: &'a str,
    pub pos: usize,
    pub end: usize,
    column: usize,
}

/// The mark of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    /// `-`, `*`, `+`, `.` or `)`: items of one list share it.
    pub kind: u8,
    /// The number of an ordered one.
    pub number: Option<u64>,
    /// Columns from the container to the item's content.
    pub indent: usize,
    /// Whether nothing follows it.
    pub empty: bool,
    /// Where its content begins.
    pub content: usize,
}

/// An opening fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    /// Backtick or tilde.
    pub mark: u8,
    /// How many.
    pub len: usize,
    /// Columns before it, which are taken off each line inside.
    pub indent: usize,
    /// The info string's first word, as a range of the source.
    pub lang: (u32, u32),
}

impl<'a> Cursor<'a> {
    pub fn new(src: &'a str, pos: usize, end: usize) -> Self {
        Self { src, pos, end, column: 0 }
    }
    pub fn rest(&self) -> &'a str {
        &self.src[self.pos..self.end]
    }
    fn byte(&self, at: usize) -> Option<u8> {
        self.src.as_bytes()[..self.end].get(at).copied()
    }
    pub fn blank(&self) -> bool {
        self.rest().bytes().all(|byte| byte == b' ' || byte == b'\t')
    }
    /// Columns and bytes of white space from here.
    pub fn indent(&self) -> (usize, usize) {
        let (mut column, mut bytes) = (self.column, 0);
        for byte in self.rest().bytes() {
            match byte {
                b' ' => column += 1,
                b'\t' => column += 4 - column % 4,
                _ => break,
            }
            bytes += 1;
        }
        (column - self.column, bytes)
    }
    /// Takes white space off, up to `columns`. A tab that reaches further stays; it is narrower then.
    pub fn take_columns(&mut self, columns: usize) {
        let goal = self.column + columns;
        while self.column < goal {
            match self.byte(self.pos) {
                Some(b' ') => self.column += 1,
                Some(b'\t') if self.column + 4 - self.column % 4 > goal => {
                    self.column = goal;
                    break;
                }
                Some(b'\t') => self.column += 4 - self.column % 4,
                Some(_) | None => break,
            }
            self.pos += 1;
        }
    }
    /// Takes all white space off.
    pub fn take_indent(&mut self) {
        let (columns, bytes) = self.indent();
        self.pos += bytes;
        self.column += columns;
    }
    fn after_indent(&self) -> &'a str {
        &self.rest()[self.indent().1..]
    }
    /// Takes a quote's mark off, if one stands here.
    pub fn take_quote(&mut self) -> bool {
        if self.indent().0 > 3 || !self.after_indent().starts_with('>') {
            return false;
        }
        self.take_indent();
        self.pos += 1;
        self.column += 1;
        self.take_columns(1);
        true
    }
    /// Moves behind a list item's mark.
    pub fn take_marker(&mut self, marker: &Marker) {
        self.column += marker.indent;
        self.pos = marker.content;
    }
    /// The label of a note that begins here, as a range of the source, and where its content begins.
    pub fn note(&self) -> Option<((u32, u32), usize)> {
        let rest = self.after_indent().strip_prefix("[^")?;
        let (label, content) = rest.split_once("]:")?;
        let fine =
            !label.is_empty() && !label.contains(|c: char| c.is_whitespace() || matches!(c, '[' | ']'));
        let (from, past) = (self.end - rest.len(), self.end - content.len());
        (fine && self.indent().0 < 4).then_some(((from as u32, (from + label.len()) as u32), past))
    }
    /// Moves behind the label of a note.
    pub fn take_note(&mut self, content: usize) {
        self.column += content - self.pos;
        self.pos = content;
        self.take_indent();
    }
    /// A thematic break.
    pub fn rule(&self) -> bool {
        let rest = self.after_indent();
        let Some(mark @ (b'-' | b'*' | b'_')) = rest.bytes().next() else { return false };
        let marks = rest.bytes().filter(|byte| *byte == mark).count();
        marks >= 3 && rest.bytes().all(|byte| byte == mark || byte == b' ' || byte == b'\t')
    }
    /// The level of a setext underline.
    pub fn underline(&self) -> Option<u8> {
        let rest = self.after_indent().trim_end();
        let mark = rest.bytes().next()?;
        let level = match mark {
            b'=' => 1,
            b'-' => 2,
            _ => return None,
        };
        rest.bytes().all(|byte| byte == mark).then_some(level)
    }
    /// The level and the text's range of an ATX heading.
    pub fn heading(&self) -> Option<(u8, usize, usize)> {
        let rest = self.after_indent();
        let level = rest.bytes().take_while(|byte| *byte == b'#').count();
        if !(1..=6).contains(&level) {
            return None;
        }
        let text = &rest[level..];
        if !text.is_empty() && !text.starts_with([' ', '\t']) {
            return None;
        }
        let mut shown = text.trim();
        let without = shown.trim_end_matches('#');
        if without.is_empty() || without.ends_with([' ', '\t']) {
            shown = without.trim_end();
        }
        let lead = text.len() - text.trim_start().len();
        let from = self.end - text.len() + lead.min(text.len());
        Some((level as u8, from, from + shown.len()))
    }
    /// An opening fence.
    pub fn fence(&self) -> Option<Fence> {
        let rest = self.after_indent();
        let mark @ (b'`' | b'~') = rest.bytes().next()? else { return None };
        let len = rest.bytes().take_while(|byte| *byte == mark).count();
        let info = &rest[len..];
        if len < 3 || mark == b'`' && info.contains('`') {
            return None;
        }
        let from = self.end - info.len() + (info.len() - info.trim_start().len());
        let word = info.trim_start().split([' ', '\t', ',', '{']).next().map_or(0, str::len);
        Some(Fence { mark, len, indent: self.indent().0, lang: (from as u32, (from + word) as u32) })
    }
    /// Whether this closes the fence.
    pub fn closes(&self, fence: &Fence) -> bool {
        let rest = self.after_indent();
        let len = rest.bytes().take_while(|byte| *byte == fence.mark).count();
        self.indent().0 <= 3 && len >= fence.len && rest[len..].trim().is_empty()
    }
    /// A list item's mark.
    pub fn marker(&self) -> Option<Marker> {
        let (lead, bytes) = self.indent();
        let rest = self.after_indent();
        let (kind, number, len) = match rest.bytes().next()? {
            mark @ (b'-' | b'*' | b'+') => (mark, None, 1),
            b'0'..=b'9' => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let kind @ (b'.' | b')') = *rest.as_bytes().get(digits)? else { return None };
                if digits > 9 {
                    return None;
                }
                (kind, Some(rest[..digits].parse().ok()?), digits + 1)
            }
            _ => return None,
        };
        let mut after = *self;
        after.column += lead + len;
        after.pos += bytes + len;
        let empty = after.blank();
        let (spaces, _) = after.indent();
        if !empty && spaces == 0 {
            return None;
        }
        let spaces = if empty || spaces > 4 { 1 } else { spaces };
        let before = after.column;
        after.take_columns(spaces);
        let indent = lead + len + if empty { 1 } else { after.column - before };
        Some(Marker { kind, number, indent, empty, content: if empty { self.end } else { after.pos } })
    }
    /// Raw HTML that begins here, `within` a paragraph or not.
    pub fn html(&self, within: bool) -> Option<Html> {
        Html::begun(self.after_indent(), within)
    }
    /// The columns of a table's delimiter row.
    pub fn delimiters(&self) -> Option<usize> {
        let rest = self.after_indent().trim();
        if !rest.contains('-') || !rest.bytes().all(|b| matches!(b, b'|' | b'-' | b':' | b' ' | b'\t')) {
            return None;
        }
        let cells = cells(rest);
        let fine = |cell: &str| {
            let dashes = cell.strip_prefix(':').unwrap_or(cell);
            let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
            !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
        };
        (cells.len() > 1 || rest.contains('|')).then_some(())?;
        cells.iter().all(|cell| fine(cell)).then_some(cells.len())
    }
    /// Whether too little of an unfinished line is here to say what it will be.
    pub fn undecided(&self) -> bool {
        let rest = self.rest().trim();
        let marks = rest.bytes().all(|byte| {
            matches!(byte, b'-' | b'*' | b'_' | b'=' | b'#' | b'>' | b'`' | b'~' | b'+' | b'|' | b':' | b' ')
        });
        let number = rest.trim_end_matches(['.', ')']);
        marks || rest.len() <= 10 && number.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// The cells of a table's row: split at pipes that no backslash stands before.
pub(super) fn cells(row: &str) -> Vec<&str> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut out = Vec::new();
    let (mut from, mut before) = (0, 0);
    for (at, byte) in row.bytes().enumerate() {
        if byte == b'|' && before != b'\\' {
            out.push(row[from..at].trim());
            from = at + 1;
        }
        before = byte;
    }
    if !row[from..].trim().is_empty() || out.is_empty() {
        out.push(row[from..].trim());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Cursor<'_> {
        Cursor::new(text, 0, text.len())
    }

    #[test]
    fn lines_are_what_they_look_like() {
        assert!(at("---").rule() && at(" * * *").rule() && !at("--").rule() && !at("--x").rule());
        assert_eq!(at("## a b ##").heading(), Some((2, 3, 6)));
        assert_eq!(at("#").heading(), Some((1, 1, 1)));
        assert_eq!(at("#a").heading(), None);
        assert_eq!(at("```rust x").fence().map(|f| (f.len, f.lang)), Some((3, (3, 7))));
        assert_eq!(at("``` a`").fence(), None);
        assert_eq!(at(" 12. x").marker().map(|m| (m.number, m.indent, m.content)), Some((Some(12), 5, 5)));
        assert_eq!(at("-x").marker(), None);
        assert!(at("-").marker().is_some_and(|m| m.empty));
        assert_eq!(at("| :-- | --: |").delimiters(), Some(2));
        assert_eq!(at("---").delimiters(), None);
        assert_eq!(cells(r"| a \| b | c |"), [r"a \| b", "c"]);
        assert!(at("  <div>").html(true).is_some() && at("<https://x>").html(false).is_none());
    }
}
