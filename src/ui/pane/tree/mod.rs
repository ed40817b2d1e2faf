//! The tree: every branch of the conversation, a row for each message, answer, job's end; calls in a row are one
//! until they are opened. From here one goes back to a row, or forks.
//!
//! `rows` is the tree as lines, `update` what keys do, `view` draws, `spoken` says it. The session tells the tree when it is asked
//! (`ui::tree_update`). Deliberately not here: what a rewind does, and asking whether it is meant.

mod rows;
mod spoken;
mod update;
mod view;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::api::board::Record;
use crate::api::event::TreeEntry;
use crate::base::EntryId;
use crate::ui::action::Action;
use crate::ui::pane::list::{self, List, Stands};

pub use update::update;
pub use view::{title, view};

use rows::{Forest, Row};

/// What the pane remembers.
#[derive(Debug, Default)]
pub struct State {
    forest: Forest,
    /// The lines, as they are listed.
    rows: Vec<Row>,
    /// Whether the session has told them.
    told: bool,
    /// Runs of calls that are opened, and branches that are closed, by their first entry.
    turned: BTreeSet<EntryId>,
    /// All runs of calls are opened.
    all: bool,
    /// By the first entry of each.
    list: List<EntryId>,
    search: String,
    /// The conversation as it is, and as it was when the tree was asked for.
    now: (u64, usize),
    asked: Option<(u64, usize)>,
    newest: Option<EntryId>,
}

/// What can happen to the pane.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// Moves in the list.
    List(list::Msg),
    /// Only lines with this text are listed.
    Search(String),
    /// A key that is bound.
    Do(Action),
}

/// Where one goes back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The entry that becomes the newest; none: before the first.
    pub to: Option<EntryId>,
    /// The message that comes back into the composer.
    pub take_back: Option<EntryId>,
    /// In words: `before “…”`, `to after “…”`.
    pub words: String,
}

/// What the pane wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Ask whether this rewind is meant.
    Rewind(Target),
    /// Fork there.
    Fork(Target),
    /// Type what is looked for.
    Find,
    /// Copy to the clipboard.
    Copy(String),
    /// Back to the composer.
    Leave,
    /// Tell the person.
    Say(String),
}

impl State {
    /// Looks at how far the conversation is.
    pub fn sync(&mut self, record: &Record) {
        self.now = (record.epoch, record.path.len());
        self.newest = record.path.last().map(|entry| entry.id.clone());
    }
    /// The newest entry of the conversation.
    pub fn newest(&self) -> Option<&EntryId> {
        self.newest.as_ref()
    }
    /// Whether the tree must be asked for anew; it counts as asked for then.
    pub fn asks(&mut self) -> bool {
        let stale = self.asked != Some(self.now);
        self.asked = Some(self.now);
        stale
    }
    /// The answer did not come: the next look asks again.
    pub fn unanswered(&mut self) {
        self.asked = None;
    }
    /// The session told the tree. The selection stays on its line; at first, and when it stood there, it is on the
    /// newest entry of the open branch.
    pub fn set(&mut self, entries: Vec<TreeEntry>) {
        let at_head = self.list.chosen().is_none() || self.list.chosen() == self.forest.head().as_ref();
        self.forest = Forest::new(entries);
        self.told = true;
        self.arrange();
        if at_head || self.list.at().is_none() {
            self.select_head();
        }
    }
    /// The pane gets the focus.
    pub fn entered(&mut self) {
        if !self.search.is_empty() {
            self.search.clear();
            self.arrange();
        }
        self.select_head();
    }
    /// What is looked for.
    pub fn search(&self) -> &str {
        &self.search
    }
    /// How many lines match, of how many entries.
    pub fn hits(&self) -> (usize, usize) {
        (self.rows.len(), self.forest.len())
    }
    fn select_head(&mut self) {
        let at = self.forest.head().and_then(|id| place_of(&self.rows, &self.forest, &id));
        self.list.choose(at.unwrap_or(usize::MAX));
    }
    fn arrange(&mut self) {
        self.rows = self.forest.rows(&self.turned, self.all, &self.search);
        let (rows, forest) = (&self.rows, &self.forest);
        let keys = rows.iter().map(|row| forest.id(row).clone()).collect();
        self.list.set(keys, |id| place_of(rows, forest, id).map_or(Stands::Hidden, Stands::At));
    }
}

/// The line that holds an entry: its own, or the run or branch that it is folded into.
fn place_of(rows: &[Row], forest: &Forest, id: &EntryId) -> Option<usize> {
    rows.iter().position(|row| forest.holds(row, id))
}
