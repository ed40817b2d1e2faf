//! Rows of a table, given out as soon as those that follow cannot move them.
//!
//! The columns are as wide as the cells of the first rows; from then on a row that fits is given out at once, and of one
//! that does not some are waited for, so that the columns grow seldom. All of it depends on whole lines alone.

use std::sync::Arc;

use super::super::blocks::{Block, Kind};
use super::super::line::{Cursor, cells};
use super::super::table;
use super::{Leaf, Lines, Machine};

/// Rows of a table by which the widths of its columns are judged first, and when one does not fit again.
const TABLE_FIRST: u32 = 32;
const TABLE_NEXT: u32 = 16;

/// A table that is open: its first block, and rows given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenTable {
    pub first: u32,
    pub rows: u32,
}

impl Machine {
    /// Whether the line makes the paragraph's last line the head of a table.
    pub(super) fn heads_table(&self, cur: &Cursor<'_>, lines: &Lines, src: &str) -> bool {
        let (Some(columns), Some((from, to))) = (cur.delimiters(), lines.last()) else { return false };
        let header = &src[*from as usize..*to as usize];
        let some = lines.len() as u32 > self.from && header.contains('|') && header.trim() != "|";
        some && cells(header).len() == columns
    }
    /// Makes a table of the paragraph's last line, where the line says so.
    pub(super) fn table(
        &mut self,
        cur: &Cursor<'_>,
        lines: &mut Lines,
        out: &mut Vec<Block>,
        src: &str,
    ) -> bool {
        if !self.heads_table(cur, lines, src) {
            return false;
        }
        let count = lines.len() as u32;
        if count - 1 > self.from {
            self.give(Kind::Paragraph, self.from, count - 1, out);
            self.gap = false;
        }
        self.leaf = Leaf::Table(OpenTable { first: out.len() as u32, rows: 0 });
        self.from = count - 1;
        self.wide = vec![0; cur.delimiters().unwrap_or(1)];
        self.measure(lines, src);
        lines.push((cur.pos as u32, cur.end as u32));
        true
    }
    /// A row of a table is given out when its cells fit under those before it; else some are waited for, so that the
    /// columns stay where they are.
    pub(super) fn table_row(
        &mut self,
        cur: Cursor<'_>,
        open: OpenTable,
        lines: &mut Lines,
        out: &mut Vec<Block>,
        src: &str,
    ) {
        lines.push((cur.pos as u32, cur.end as u32));
        if self.partial {
            return;
        }
        self.measure(lines, src);
        let count = lines.len() as u32 - self.from;
        let rows = if open.rows == 0 { count - 2 } else { count };
        let fits = open.rows > 0 && *self.safe == *self.wide;
        if fits || rows >= if open.rows == 0 { TABLE_FIRST } else { TABLE_NEXT } {
            let kind = self.rows_of(open);
            self.give(kind, self.from, lines.len() as u32, out);
            self.leaf = Leaf::Table(OpenTable { rows: open.rows + rows, ..open });
            self.from = lines.len() as u32;
        }
    }
    /// Takes the widths of the last line of a table.
    pub(super) fn measure(&mut self, lines: &Lines, src: &str) {
        if let Some((from, to)) = lines.last() {
            table::widen(&mut self.wide, &src[*from as usize..*to as usize]);
        }
    }
    pub(super) fn rows_of(&mut self, open: OpenTable) -> Kind {
        if *self.safe != *self.wide {
            self.safe = Arc::from(self.wide.as_slice());
        }
        Kind::Table { first: open.first, widths: Arc::clone(&self.safe) }
    }
}
