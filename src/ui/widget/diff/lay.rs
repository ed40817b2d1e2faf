//! Rows of a piece of a diff: in one column, or old and new side by side.
//!
//! Both shapes show the same lines in the same piece, so that a place survives a change of shape: a changed
//! line and its partner stand where the removed one does.

use super::inside::{Dress, pieces};
use super::{Colours, Diff, Line, PIECE, Sort};
use crate::ui::widget::row::{Look, Role, Row, STRONG};
use crate::ui::widget::text::{tame, width};
use crate::ui::widget::wrap::{Break, Piece, Prefix, Wrapper};

/// Columns from which old and new stand side by side, where the person has not decided.
pub const SIDES_FROM: usize = 120;
/// Columns from which side by side is readable at all.
const SIDES_MIN: usize = 40;
/// Columns from which one column has both numbers.
const NUMBERS_FROM: usize = 48;
/// Places that a line has of its piece: more than a line has bytes, as a rule.
const PLACES: u32 = 1 << 20;
/// What stands between the two sides.
const BETWEEN: &str = " │ ";

/// How a diff is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Side by side where there is room.
    #[default]
    ByWidth,
    /// In one column.
    Unified,
    /// Side by side.
    Sides,
}

impl Shape {
    /// By the word of a setting: `one_column`, `side_by_side`; any other: by the width.
    pub fn named(word: &str) -> Self {
        match word {
            "one_column" => Shape::Unified,
            "side_by_side" => Shape::Sides,
            _ => Shape::ByWidth,
        }
    }
    /// Whether old and new stand side by side in so many columns.
    pub fn sides(self, columns: usize) -> bool {
        match self {
            Shape::ByWidth => columns >= SIDES_FROM,
            Shape::Unified => false,
            Shape::Sides => columns >= SIDES_MIN,
        }
    }
    /// The other one than is shown in so many columns.
    pub fn switched(self, columns: usize) -> Self {
        if self.sides(columns) { Shape::Unified } else { Shape::Sides }
    }
}

impl Diff {
    /// The rows of a piece.
    pub fn lay(
        &self,
        text: &str,
        piece: usize,
        columns: usize,
        shape: Shape,
        colours: Colours<'_>,
    ) -> Vec<Row> {
        let mut out = Vec::new();
        let sides = shape.sides(columns);
        for at in piece * PIECE..((piece + 1) * PIECE).min(self.lines.len()) {
            let line = &self.lines[at];
            let rows = match line.sort {
                Sort::Head | Sort::Hunk | Sort::Note => self.told(text, at, columns),
                Sort::Added if sides && line.partner.is_some() => continue,
                Sort::Same | Sort::Added | Sort::Removed if sides => self.both(text, line, columns, colours),
                Sort::Same | Sort::Added | Sort::Removed => self.one(text, line, columns, colours),
            };
            let base = (at - piece * PIECE) as u32 * PLACES;
            out.extend(rows.into_iter().map(|row| Row { at: base + row.at.min(PLACES - 1), ..row }));
        }
        in_order(&mut out);
        out
    }
    /// What is no line of a file, as rows.
    fn told(&self, text: &str, at: usize, columns: usize) -> Vec<Row> {
        let mut out = Wrapper::new(columns);
        if let Some((shown, look)) = self.head(text, at) {
            out.line(&Prefix::default(), &[(shown, look)], Break::Anywhere);
        }
        out.rows()
    }
    /// A line in one column.
    fn one(&self, text: &str, line: &Line, columns: usize, colours: Colours<'_>) -> Vec<Row> {
        let mut out = Wrapper::new(columns);
        let (mark, dress) = looks(line.sort);
        out.ground(dress.role);
        let digits = self.digits;
        let number = |shown: bool, number: u32| {
            if shown { format!("{number:>digits$} ") } else { " ".repeat(digits + 1) }
        };
        let (old, new) = (line.sort != Sort::Added, line.sort != Sort::Removed);
        let numbers = match columns >= NUMBERS_FROM {
            true => number(old, line.old) + &number(new, line.new),
            false => number(true, if new { line.new } else { line.old }),
        };
        let rest = " ".repeat(numbers.len());
        let prefix = Prefix {
            first: vec![(numbers, dress.number.into()), (format!("{mark} "), dress.role.into())],
            rest: vec![(rest, dress.number.into()), ("  ".into(), dress.role.into())],
        };
        out.line(&prefix, &self.inside(text, line, new, colours), Break::Blanks);
        out.rows()
    }
    /// A line and its partner, side by side.
    fn both(&self, text: &str, line: &Line, columns: usize, colours: Colours<'_>) -> Vec<Row> {
        let room = columns - width(BETWEEN);
        let (left_room, right_room) = (room / 2, room - room / 2);
        let partner = line.partner.and_then(|at| self.lines.get(at as usize));
        let (left, right) = match line.sort {
            Sort::Added => (None, Some(line)),
            Sort::Removed => (Some(line), partner),
            _ => (Some(line), Some(line)),
        };
        let left = left.map(|line| self.side(text, line, false, left_room, colours)).unwrap_or_default();
        let right = right.map(|line| self.side(text, line, true, right_room, colours)).unwrap_or_default();
        (0..left.len().max(right.len()))
            .map(|at| beside(left.get(at), right.get(at), left_room, at))
            .collect()
    }
    /// A line in its side.
    fn side(&self, text: &str, line: &Line, new: bool, columns: usize, colours: Colours<'_>) -> Vec<Row> {
        let mut out = Wrapper::new(columns);
        let (mark, dress) = looks(line.sort);
        out.ground(dress.role);
        let digits = self.digits;
        let number = format!("{:>digits$} ", if new { line.new } else { line.old });
        let rest = " ".repeat(number.len());
        let prefix = Prefix {
            first: vec![(number, dress.number.into()), (format!("{mark} "), dress.role.into())],
            rest: vec![(rest, dress.number.into()), ("  ".into(), dress.role.into())],
        };
        out.line(&prefix, &self.inside(text, line, new, colours), Break::Blanks);
        out.rows()
    }
    /// A line in looks, as it stands in the old or the new side.
    fn inside(&self, text: &str, line: &Line, new: bool, colours: Colours<'_>) -> Vec<Piece> {
        let (_, dress) = looks(line.sort);
        let partner =
            line.partner.and_then(|at| self.lines.get(at as usize)).map(|line| self.text(text, line));
        let runs = self.sides(line)[usize::from(new)].and_then(|(stream, index)| colours(stream, index));
        pieces(self.text(text, line), partner, dress, runs)
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
}

/// The mark and the looks of a sort of line.
fn looks(sort: Sort) -> (&'static str, Dress) {
    match sort {
        Sort::Added => ("+", Dress { role: Role::Added, strong: Role::AddedStrong, number: Role::Added }),
        Sort::Removed => {
            ("-", Dress { role: Role::Removed, strong: Role::RemovedStrong, number: Role::Removed })
        }
        Sort::Head | Sort::Hunk | Sort::Same | Sort::Note => {
            (" ", Dress { role: Role::Text, strong: Role::Text, number: Role::Dim })
        }
    }
}

/// A row of each side as one row. Where a side has ended, or has nothing, it is blank.
fn beside(left: Option<&Row>, right: Option<&Row>, left_room: usize, at: usize) -> Row {
    let ground = |row: Option<&Row>| row.map_or(Role::Text, |row| row.ground);
    let mut out = Row { soft: at > 0, ground: ground(right), ..Row::default() };
    out.indent = left.map_or(0, |row| row.indent);
    out.at = left.into_iter().chain(right).map(|row| row.at).max().unwrap_or(0);
    for (text, look) in left.into_iter().flat_map(Row::pieces) {
        out.push(text, look);
    }
    let space = left_room.saturating_sub(left.map_or(0, |row| width(&row.text)));
    out.push(&" ".repeat(space), ground(left).into());
    out.push(BETWEEN, Role::Border.into());
    for (text, look) in right.into_iter().flat_map(Row::pieces) {
        out.push(text, look);
    }
    out
}

/// Places grow from row to row, also in a line that is longer than its places.
fn in_order(rows: &mut [Row]) {
    let mut next = 0;
    for row in rows {
        row.at = row.at.max(next);
        next = row.at + 1;
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
