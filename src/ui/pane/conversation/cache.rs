//! The rows that are laid out: by item and block, for one width. What was not drawn lately goes.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ui::widget::row::Row;

/// Rows kept before those far away go.
const ROWS_MAX: usize = 4_000;

#[derive(Debug)]
struct Laid {
    rows: Rc<[Row]>,
    used: u64,
}

/// Rows by (item, block).
#[derive(Debug, Default)]
pub(super) struct Cache {
    columns: usize,
    laid: HashMap<(u64, u32), Laid>,
    rows: usize,
    frame: u64,
}

impl Cache {
    /// Rows of another width are forgotten.
    pub fn columns(&mut self, columns: usize) {
        if columns != self.columns {
            self.clear();
            self.columns = columns;
        }
    }
    /// The width.
    pub fn width(&self) -> usize {
        self.columns
    }
    /// How many rows are held.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.rows
    }
    pub fn get(&mut self, item: u64, block: usize) -> Option<Rc<[Row]>> {
        let laid = self.laid.get_mut(&(item, block as u32))?;
        laid.used = self.frame;
        Some(Rc::clone(&laid.rows))
    }
    pub fn put(&mut self, item: u64, block: usize, rows: Rc<[Row]>) {
        self.rows += rows.len();
        let laid = Laid { rows, used: self.frame };
        if let Some(old) = self.laid.insert((item, block as u32), laid) {
            self.rows -= old.rows.len();
        }
    }
    pub fn clear(&mut self) {
        self.laid.clear();
        self.rows = 0;
    }
    /// Forgets one block.
    pub fn forget_block(&mut self, item: u64, block: usize) {
        if let Some(old) = self.laid.remove(&(item, block as u32)) {
            self.rows -= old.rows.len();
        }
    }
    /// Forgets all of an item.
    pub fn forget(&mut self, item: u64) {
        let mut gone = 0;
        self.laid.retain(|(of, _), laid| {
            let keep = *of != item;
            gone += if keep { 0 } else { laid.rows.len() };
            keep
        });
        self.rows -= gone;
    }
    /// Forgets some blocks of an item, and its head (block 0) if told so.
    pub fn forget_range(&mut self, item: u64, blocks: std::ops::Range<usize>, head: bool) {
        if head {
            self.forget_block(item, 0);
        }
        for block in blocks {
            self.forget_block(item, block);
        }
    }
    /// A frame was drawn: what is far away goes when too much is held.
    pub fn drawn(&mut self) {
        if self.rows > ROWS_MAX {
            let oldest = self.frame;
            let mut rows = 0;
            self.laid.retain(|_, laid| {
                let keep = laid.used >= oldest;
                rows += if keep { laid.rows.len() } else { 0 };
                keep
            });
            self.rows = rows;
        }
        self.frame += 1;
    }
}
