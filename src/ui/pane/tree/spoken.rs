//! The tree as numbered lines, for a screen reader. Deliberately not here: what is typed (`ui::linear`).

use super::State;
use super::rows::What;
use super::view::says;
use crate::ui::widget::text::tame;

impl State {
    /// A line for each row; empty while the session has not told the tree.
    pub fn spoken(&self) -> Vec<String> {
        let line = |(at, row): (usize, &super::rows::Row)| {
            let entry = self.forest.first(row);
            let branch = match (row.begins, row.depth) {
                (true, _) => "another branch, ",
                (false, 0) => "",
                (false, _) => "of it, ",
            };
            let who = match row.what {
                What::Calls(_) => "calls",
                What::Opened(_) => "call",
                What::Branch(_) | What::Entry => entry.who,
            };
            let here = if self.forest.is_head(row) { " (the conversation stands here)" } else { "" };
            format!("{}. {branch}{}: {}{here}", at + 1, tame(who), says(&self.forest, row))
        };
        self.rows.iter().enumerate().map(line).collect()
    }
    /// Whether the session has told the tree.
    pub fn told(&self) -> bool {
        self.told
    }
    /// Keys are for this line from now on, counted from 0; whether there is one.
    pub fn pick(&mut self, at: usize) -> bool {
        let there = at < self.rows.len();
        if there {
            self.list.choose(at);
        }
        there
    }
}
