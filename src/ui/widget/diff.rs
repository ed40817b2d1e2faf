//! A unified diff as rows: line numbers, colours, and what changed inside a line.
//!
//! Reading is linear; what changed inside a line is worked out only for the lines laid out.

use similar::{ChangeTag, TextDiff};

use super::row::{Look, Role, Row, STRONG};
use super::text::tame;
use super::wrap::{Break, Piece, Prefix, Wrapper};

/// Lines that are laid out as one piece.
const PIECE: usize = 64;
/// Longest line whose changes are marked inside.
const INSIDE_MAX: usize = 400;

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Head,
    Hunk,
    Same,
    Added,
    Removed,
    Note,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    sort: Sort,
    number: u32,
    from: u32,
    to: u32,
    /// The line of the other side that this one replaced or became.
    partner: Option<u32>,
}

/// A diff that was read. The text stays with its owner.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    lines: Vec<Line>,
    digits: usize,
}

impl Diff {
    /// Reads a unified diff.
    pub fn read(text: &str) -> Self {
        let mut lines: Vec<Line> = Vec::new();
        let (mut old, mut new, mut last) = (0u32, 0u32, 0u32);
        // lines that the hunk still owes, so that `--- ` inside one is a removal
        let (mut owed_old, mut owed_new) = (0u32, 0u32);
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let from = at;
            at += line.len();
            let body = line.strip_suffix('\n').unwrap_or(line);
            let to = (from + body.len()) as u32;
            let inside = owed_old > 0 || owed_new > 0;
            let (sort, number, skip) = match body.as_bytes().first() {
                Some(b'@') => {
                    let (o, n) = hunk(body);
                    (old, owed_old) = o;
                    (new, owed_new) = n;
                    (Sort::Hunk, 0, 0)
                }
                Some(b'+') if inside => {
                    new += 1;
                    owed_new = owed_new.saturating_sub(1);
                    (Sort::Added, new - 1, 1)
                }
                Some(b'-') if inside => {
                    old += 1;
                    owed_old = owed_old.saturating_sub(1);
                    (Sort::Removed, old - 1, 1)
                }
                Some(b'\\') => (Sort::Note, 0, 0),
                Some(b' ') | None if inside => {
                    (old, new) = (old + 1, new + 1);
                    owed_old = owed_old.saturating_sub(1);
                    owed_new = owed_new.saturating_sub(1);
                    (Sort::Same, new - 1, usize::from(!body.is_empty()))
                }
                Some(_) | None => (Sort::Head, 0, 0),
            };
            last = last.max(number);
            lines.push(Line { sort, number, from: (from + skip) as u32, to, partner: None });
        }
        pair(&mut lines);
        Self { lines, digits: last.to_string().len() }
    }
    /// How many pieces it is laid out in.
    pub fn pieces(&self) -> usize {
        self.lines.len().div_ceil(PIECE)
    }
    /// The rows of a piece.
    pub fn lay(&self, text: &str, piece: usize, columns: usize) -> Vec<Row> {
        let mut out = Wrapper::new(columns);
        let from = piece * PIECE;
        for at in from..(from + PIECE).min(self.lines.len()) {
            let line = &self.lines[at];
            let (mark, role, strong) = match line.sort {
                Sort::Added => ("+", Role::Added, Role::AddedStrong),
                Sort::Removed => ("-", Role::Removed, Role::RemovedStrong),
                Sort::Same => (" ", Role::Text, Role::Text),
                Sort::Head | Sort::Hunk | Sort::Note => {
                    out.ground(Role::Text);
                    if let Some((shown, look)) = self.head(text, at) {
                        out.line(&Prefix::default(), &[(shown, look)], Break::Anywhere);
                    }
                    continue;
                }
            };
            out.ground(role);
            let digits = self.digits;
            let first = format!("{:>digits$} ", line.number);
            let rest = " ".repeat(digits + 1);
            let prefix = Prefix {
                first: vec![(first, Role::Dim.into()), (format!("{mark} "), role.into())],
                rest: vec![(rest, Role::Dim.into()), ("  ".into(), role.into())],
            };
            out.line(&prefix, &self.inside(text, line, role, strong), Break::Anywhere);
        }
        out.rows()
    }
    /// What is shown of a line that is no content: a file by one line with its path, a hunk by its
    /// distance from the one before. The lines' numbers say the rest.
    fn head(&self, text: &str, at: usize) -> Option<(String, Look)> {
        let line = self.lines.get(at)?;
        let near = |at: usize, sort| self.lines.get(at).filter(|line| line.sort == sort);
        let own = self.text(text, line);
        let before = at.checked_sub(1);
        let shown = match line.sort {
            Sort::Hunk if before.is_none_or(|at| near(at, Sort::Head).is_some()) => {
                return own
                    .splitn(3, "@@")
                    .nth(2)
                    .map(str::trim)
                    .filter(|of| !of.is_empty())
                    .map(|of| (format!("⋯ {}", tame(of)), Role::Dim.into()));
            }
            Sort::Hunk => {
                let of = own.splitn(3, "@@").nth(2).map(str::trim).unwrap_or_default();
                return Some((format!("⋯ {}", tame(of)).trim_end().to_owned(), Role::Dim.into()));
            }
            Sort::Head => {
                let next = near(at + 1, Sort::Head).map(|line| self.text(text, line));
                if own.starts_with("--- ") && next.is_some_and(|next| next.starts_with("+++ ")) {
                    return None;
                }
                let old = before.and_then(|at| near(at, Sort::Head)).map(|line| self.text(text, line));
                match (old.and_then(|old| old.strip_prefix("--- ")), own.strip_prefix("+++ ")) {
                    (Some(old), Some(new)) => {
                        return Some((file(old, new), Look::from(Role::Text).with(STRONG)));
                    }
                    (_, Some(_) | None) => own,
                }
            }
            Sort::Note | Sort::Same | Sort::Added | Sort::Removed => own,
        };
        Some((tame(shown).into_owned(), Role::Dim.into()))
    }
    fn text<'a>(&self, text: &'a str, line: &Line) -> &'a str {
        text.get(line.from as usize..line.to as usize).unwrap_or_default()
    }
    /// The line in pieces: what its partner does not have is strong.
    fn inside(&self, text: &str, line: &Line, role: Role, strong: Role) -> Vec<Piece> {
        let own = tame(self.text(text, line));
        let whole = |text: &str| vec![(text.to_owned(), Look::from(role))];
        let Some(partner) = line.partner.and_then(|index| self.lines.get(index as usize)) else {
            return whole(&own);
        };
        let other = tame(self.text(text, partner));
        if own.len() > INSIDE_MAX || other.len() > INSIDE_MAX {
            return whole(&own);
        }
        let diff = TextDiff::from_unicode_words(other.as_ref(), own.as_ref());
        if diff.ratio() < 0.4 {
            return whole(&own);
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for change in diff.iter_all_changes() {
            let look = match change.tag() {
                ChangeTag::Delete => continue,
                ChangeTag::Insert => Look::from(strong),
                ChangeTag::Equal => Look::from(role),
            };
            match pieces.last_mut() {
                Some((last, same)) if *same == look => last.push_str(change.value()),
                Some(_) | None => pieces.push((change.value().to_owned(), look)),
            }
        }
        pieces
    }
}

/// What a file's two paths say.
fn file(old: &str, new: &str) -> String {
    let old_path = old.strip_prefix("a/").unwrap_or(old);
    let new_path = new.strip_prefix("b/").unwrap_or(new);
    let text = match (old, new) {
        ("/dev/null", _) => format!("{new_path} · new"),
        (_, "/dev/null") => format!("{old_path} · removed"),
        _ if old_path == new_path => new_path.to_owned(),
        _ => format!("{old_path} → {new_path}"),
    };
    tame(&text).into_owned()
}

/// `@@ -a,b +c,d @@`: first line and count of each side.
fn hunk(line: &str) -> ((u32, u32), (u32, u32)) {
    let side = |mark: char| {
        let range = line.split(' ').find_map(|word| word.strip_prefix(mark)).unwrap_or("0,0");
        let (first, count) = range.split_once(',').unwrap_or((range, "1"));
        (first.parse().unwrap_or(0), count.parse().unwrap_or(0))
    };
    (side('-'), side('+'))
}

/// Removed lines that added ones follow at once are their partners, one by one.
fn pair(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let run = |from: usize, sort: Sort| lines[from..].iter().take_while(|line| line.sort == sort).count();
        let removed = run(at, Sort::Removed);
        let added = run(at + removed, Sort::Added);
        for offset in 0..removed.min(added) {
            let (a, b) = (at + offset, at + removed + offset);
            lines[a].partner = Some(b as u32);
            lines[b].partner = Some(a as u32);
        }
        at += (removed + added).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x.rs\n+++ b/x.rs\n@@ -9,4 +9,3 @@\n fn a() {\n-    let old = 1;\n+    let new = 1;\n--- not a head\n }\n@@ -30 +30,2 @@\n same\n+more\n\\ No newline at end of file\n";

    #[test]
    fn a_diff_has_numbers_and_marks_inside_lines() {
        let diff = Diff::read(DIFF);
        let rows = diff.lay(DIFF, 0, 40);
        let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "x.rs",
                " 9   fn a() {",
                "10 -     let old = 1;",
                "10 +     let new = 1;",
                "11 - -- not a head",
                "11   }",
                "⋯",
                "30   same",
                "31 + more",
                "\\ No newline at end of file"
            ]
        );
        let strong: Vec<&str> = rows[3]
            .pieces()
            .filter(|(_, look)| look.role == Role::AddedStrong)
            .map(|(text, _)| text)
            .collect();
        assert_eq!(strong, ["new"]);
    }

    #[test]
    fn ten_thousand_lines_are_read_once_and_laid_out_by_piece() {
        let body: String = (0..10_000).map(|n| format!("-old {n}\n")).collect::<String>()
            + &(0..10_000).map(|n| format!("+new {n}\n")).collect::<String>();
        let text = format!("@@ -1,10000 +1,10000 @@\n{body}");
        let diff = Diff::read(&text);
        assert_eq!(diff.lines.len(), 20_001);
        let rows: usize = (0..diff.pieces()).map(|piece| diff.lay(&text, piece, 80).len()).sum();
        assert_eq!(rows, 20_000);
    }

    #[test]
    fn anything_can_be_read() {
        for text in ["", "\n", "@@", "+", "garbage\n@@ -x +y @@\n+a", "@@ -1,9 +1,9 @@\n"] {
            let diff = Diff::read(text);
            for piece in 0..diff.pieces() {
                diff.lay(text, piece, 1);
            }
        }
    }
}
