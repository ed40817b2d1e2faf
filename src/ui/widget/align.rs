//! Three versions of a text line beside line: which line of each stands in which row.
//!
//! The base is the spine: each of its lines has a row, and beside it stands what became of it in the parent's and the
//! child's version. What they put between stands between, equal lines in one row. Not here: drawing.

use std::borrow::Cow;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::law::merge::regions::{Changed, Region, Side, Three, Whitespace, lines};

/// Most pairs of lines that are compared one by one to find which became which; beyond, they are paired in order.
const PAIRS_MAX: usize = 4096;
/// Most pairs of lines of one hunk whose differences are looked for; beyond, they are paired in order.
const HUNK_MAX: usize = 4_000_000;

/// One row: a line of each version, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The region that it is in.
    pub region: u32,
    lines: [u32; 3],
}

const NONE: u32 = u32::MAX;

fn place(side: Side) -> usize {
    match side {
        Side::Base => 0,
        Side::Parent => 1,
        Side::Child => 2,
    }
}

impl Row {
    fn new(region: usize, lines: [Option<usize>; 3]) -> Row {
        Row { region: region as u32, lines: lines.map(|line| line.map_or(NONE, |line| line as u32)) }
    }

    /// The version's line in it, counted from 0.
    pub fn line(&self, side: Side) -> Option<usize> {
        Some(self.lines[place(side)]).filter(|line| *line != NONE).map(|line| line as usize)
    }
}

/// All rows of a text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The rows, in order.
    pub rows: Vec<Row>,
    /// The first row of each region, and the end.
    starts: Vec<usize>,
}

impl Table {
    /// The rows of a region.
    pub fn of(&self, region: usize) -> std::ops::Range<usize> {
        let at = |region: usize| self.starts.get(region).copied().unwrap_or(self.rows.len());
        at(region)..at(region + 1)
    }
}

/// Aligns the versions; rows that none of the `sides` has a line in are left away.
pub fn table(three: &Three, regions: &[Region], whitespace: Whitespace, sides: &[Side]) -> Table {
    until(three, regions, whitespace, sides, &|| false).unwrap_or_default()
}

/// The same, broken off between two regions where `stop` says so: none then.
pub fn until(
    three: &Three,
    regions: &[Region],
    whitespace: Whitespace,
    sides: &[Side],
    stop: &dyn Fn() -> bool,
) -> Option<Table> {
    let mut rows = Vec::with_capacity(three.len(Side::Base) + 64);
    let mut starts = Vec::with_capacity(regions.len() + 1);
    for (at, region) in regions.iter().enumerate() {
        if stop() {
            return None;
        }
        starts.push(rows.len());
        if region.changed == Changed::Nobody {
            let first = [region.base.start, region.parent.start, region.child.start];
            rows.extend((0..region.base.len()).map(|n| Row::new(at, first.map(|first| Some(first + n)))));
        } else {
            hunk(three, region, whitespace, |lines| {
                let row = Row::new(at, lines);
                if sides.iter().any(|side| row.line(*side).is_some()) {
                    rows.push(row);
                }
            });
        }
    }
    starts.push(rows.len());
    Some(Table { rows, starts })
}

/// A line as it is compared.
pub fn key(line: &[u8], whitespace: Whitespace) -> Cow<'_, [u8]> {
    match whitespace {
        Whitespace::Counts => Cow::Borrowed(line),
        Whitespace::SetAside => {
            Cow::Owned(line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect())
        }
    }
}

type Keys<'a> = Vec<Cow<'a, [u8]>>;

fn hunk(three: &Three, region: &Region, whitespace: Whitespace, mut push: impl FnMut([Option<usize>; 3])) {
    let keys = |side: Side| -> Keys<'_> {
        lines(three.of(side, region)).into_iter().map(|line| key(line, whitespace)).collect()
    };
    let (base, parent, child) = (keys(Side::Base), keys(Side::Parent), keys(Side::Child));
    let (to_parent, to_child) = (pairs(&base, &parent), pairs(&base, &child));
    let (mut p, mut c) = (0, 0);
    let mut put = |b: Option<usize>, p: Option<usize>, c: Option<usize>| {
        push([
            b.map(|n| region.base.start + n),
            p.map(|n| region.parent.start + n),
            c.map(|n| region.child.start + n),
        ]);
    };
    for b in 0..=base.len() {
        let end = b == base.len();
        let (at_p, at_c) = (to_parent.get(b).copied().flatten(), to_child.get(b).copied().flatten());
        // what stands between goes before the line that it is before
        let until_p = if end { parent.len() } else { at_p.unwrap_or(p) };
        let until_c = if end { child.len() } else { at_c.unwrap_or(c) };
        between(&parent[p..until_p], &child[c..until_c], |one, other| {
            put(None, one.map(|n| p + n), other.map(|n| c + n));
        });
        if end {
            break;
        }
        put(Some(b), at_p, at_c);
        p = at_p.map_or(until_p, |at| at + 1);
        c = at_c.map_or(until_c, |at| at + 1);
    }
}

/// Lines that only the parent's and the child's version have, beside each other.
fn between(
    parent: &[Cow<'_, [u8]>],
    child: &[Cow<'_, [u8]>],
    mut put: impl FnMut(Option<usize>, Option<usize>),
) {
    let partners = pairs(parent, child);
    let mut c = 0;
    for (p, partner) in partners.into_iter().enumerate() {
        for only in c..partner.unwrap_or(c) {
            put(None, Some(only));
        }
        put(Some(p), partner);
        c = partner.map_or(c, |at| at + 1);
    }
    for only in c..child.len() {
        put(None, Some(only));
    }
}

/// For each line of `one` the line of `other` that it is, or that it became.
fn pairs(one: &[Cow<'_, [u8]>], other: &[Cow<'_, [u8]>]) -> Vec<Option<usize>> {
    let mut found = vec![None; one.len()];
    if one.is_empty() || other.is_empty() {
        return found;
    }
    if one.len().saturating_mul(other.len()) > HUNK_MAX {
        for (at, found) in found.iter_mut().enumerate().take(other.len()) {
            *found = Some(at);
        }
        return found;
    }
    for op in capture_diff_slices(Algorithm::Myers, one, other) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                (0..len).for_each(|n| found[old_index + n] = Some(new_index + n));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                let (old, new) =
                    (&one[old_index..old_index + old_len], &other[new_index..new_index + new_len]);
                for (at, partner) in became(old, new).into_iter().enumerate() {
                    found[old_index + at] = partner.map(|partner| new_index + partner);
                }
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } => {}
        }
    }
    found
}

/// Which line became which, where all differ: as many as can be, the likest ones together.
fn became(old: &[Cow<'_, [u8]>], new: &[Cow<'_, [u8]>]) -> Vec<Option<usize>> {
    let (rows, columns) = (old.len(), new.len());
    if rows == columns || rows * columns > PAIRS_MAX {
        return (0..rows).map(|at| Some(at).filter(|at| *at < columns)).collect();
    }
    // the best that the lines from (row, column) on can give
    let mut best = vec![0_u32; (rows + 1) * (columns + 1)];
    let at = |row: usize, column: usize| row * (columns + 1) + column;
    let pair = |row: usize, column: usize| 100 + alike(&old[row], &new[column]);
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let paired = best[at(row + 1, column + 1)] + pair(row, column);
            best[at(row, column)] = paired.max(best[at(row + 1, column)]).max(best[at(row, column + 1)]);
        }
    }
    let mut found = vec![None; rows];
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        let here = best[at(row, column)];
        if here == best[at(row + 1, column + 1)] + pair(row, column) {
            found[row] = Some(column);
            (row, column) = (row + 1, column + 1);
        } else if here == best[at(row + 1, column)] {
            row += 1;
        } else {
            column += 1;
        }
    }
    found
}

/// How much two lines have in common at their beginning and end, in hundredths.
fn alike(one: &[u8], other: &[u8]) -> u32 {
    let (one, other) = (one.trim_ascii(), other.trim_ascii());
    let most = one.len().max(other.len());
    if most == 0 {
        return 100;
    }
    let least = one.len().min(other.len());
    let front = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let back =
        one.iter().rev().zip(other.iter().rev()).take(least - front).take_while(|(a, b)| a == b).count();
    ((front + back) * 100 / most) as u32
}

#[cfg(test)]
#[path = "align_tests.rs"]
mod tests;
