//! Pictures on their way to who watches: only the rows that changed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::api::screen::{Modes, Run, Screen, Size};

/// What became of a picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    size: Size,
    /// Rows that changed, by number.
    rows: Vec<(u16, Vec<Run>)>,
    cursor: Option<(u16, u16)>,
    title: String,
    alternate: bool,
    modes: Modes,
}

impl Frame {
    /// What leads from one picture to the next.
    pub fn between(before: &Screen, now: &Screen) -> Self {
        let changed = |(row, line): (usize, &Arc<Vec<Run>>)| {
            let same = before.size == now.size
                && before.lines.get(row).is_some_and(|old| Arc::ptr_eq(old, line) || old == line);
            (!same).then(|| (u16::try_from(row).unwrap_or(u16::MAX), line.to_vec()))
        };
        Self {
            size: now.size,
            rows: now.lines.iter().enumerate().filter_map(changed).collect(),
            cursor: now.cursor,
            title: now.title.clone(),
            alternate: now.alternate,
            modes: now.modes,
        }
    }

    /// The next picture. Rows that did not change are shared with the one before.
    pub fn apply(self, before: &Screen) -> Screen {
        let rows = usize::from(self.size.rows);
        let mut lines = if before.size == self.size { before.lines.clone() } else { Vec::new() };
        lines.resize_with(rows, Arc::default);
        for (row, runs) in self.rows {
            if let Some(line) = lines.get_mut(usize::from(row)) {
                *line = Arc::new(runs);
            }
        }
        Screen {
            size: self.size,
            lines,
            cursor: self.cursor,
            title: self.title,
            alternate: self.alternate,
            modes: self.modes,
        }
    }
}
