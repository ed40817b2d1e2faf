//! Law C, the board: the progress of running calls, revisioned. A watcher that joins late ends with
//! the same picture as one that was there from the start; nothing comes after a call's end.
//!
//! The board forgets nothing that a watcher must know but what is old: it remembers the newest
//! removals only, and gives a watcher that is behind them the whole picture instead. Who is woken,
//! and when, is the shell's.
//!
//! Keeps `board_snapshot_then_changes`, `board_silent_after_end`.

use std::collections::{BTreeMap, VecDeque};

use crate::base::{CallId, Millis};

/// What a running call has told so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The tool.
    pub tool: String,
    /// A line that says what it does: the command, the path.
    pub title: String,
    /// When it began.
    pub began: Millis,
    /// Bytes of output so far.
    pub bytes: u64,
    /// Lines of output so far.
    pub lines: u64,
    /// The newest part of the output, bounded.
    pub tail: String,
    /// Warnings so far.
    pub warnings: Vec<String>,
    /// Whether it waits for an approval.
    pub asking: bool,
}

/// Removals that are remembered. A watcher that missed more gets the whole picture.
pub const REMOVALS_MAX: usize = 64;

/// What runs, by its id: the calls, or the jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board<K: Ord = CallId, V = Progress> {
    slots: BTreeMap<K, (u64, V)>,
    /// The newest removals, oldest first, each with its revision.
    removals: VecDeque<(u64, K)>,
    /// The revision of the newest removal that is no longer remembered.
    forgotten: u64,
    revision: u64,
}

/// What changed on a board since a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes<'a, K = CallId, V = Progress> {
    /// The watcher must forget all it had: `running` is the whole picture.
    pub whole: bool,
    /// Calls that ended. Apply these first.
    pub ended: Vec<&'a K>,
    /// Calls that began or reported, each with its latest progress.
    pub running: Vec<(&'a K, &'a V)>,
    /// Ask for what comes after this revision next.
    pub revision: u64,
}

impl<K: Ord, V> Default for Board<K, V> {
    fn default() -> Self {
        Self { slots: BTreeMap::new(), removals: VecDeque::new(), forgotten: 0, revision: 0 }
    }
}

impl<K: Ord + Clone, V> Board<K, V> {
    /// A call begins.
    pub fn begin(&mut self, call: K, progress: V) {
        self.revision += 1;
        self.slots.insert(call, (self.revision, progress));
    }
    /// A call reports. After its end this does nothing.
    pub fn report(&mut self, call: &K, change: impl FnOnce(&mut V)) {
        if let Some((revision, progress)) = self.slots.get_mut(call) {
            self.revision += 1;
            *revision = self.revision;
            change(progress);
        }
    }
    /// A call's settle has committed: it leaves the board, with its last progress.
    pub fn end(&mut self, call: &K) -> Option<V> {
        let (call, (_, progress)) = self.slots.remove_entry(call)?;
        self.revision += 1;
        self.removals.push_back((self.revision, call));
        while self.removals.len() > REMOVALS_MAX {
            self.forgotten = self.removals.pop_front().map_or(self.forgotten, |(revision, _)| revision);
        }
        Some(progress)
    }
    /// The last progress of a running call.
    pub fn get(&self, call: &K) -> Option<&V> {
        self.slots.get(call).map(|(_, progress)| progress)
    }
    /// All running calls.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.slots.iter().map(|(call, (_, progress))| (call, progress))
    }
    /// Counts every change.
    pub fn revision(&self) -> u64 {
        self.revision
    }
    /// What changed after `revision`; from 0 or from before what is remembered: the whole picture.
    pub fn changes_since(&self, revision: u64) -> Changes<'_, K, V> {
        let whole = revision == 0 || revision < self.forgotten;
        let since = if whole { 0 } else { revision };
        let ended = if whole { 0 } else { self.removals.len() };
        Changes {
            whole,
            ended: self
                .removals
                .iter()
                .take(ended)
                .filter(|(at, _)| *at > since)
                .map(|(_, call)| call)
                .collect(),
            running: self
                .slots
                .iter()
                .filter(|(_, (at, _))| *at > since)
                .map(|(call, (_, progress))| (call, progress))
                .collect(),
            revision: self.revision,
        }
    }
}

/// What a watcher holds: a copy of the board that it brings up to date when it likes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture<K: Ord = CallId, V = Progress> {
    calls: BTreeMap<K, V>,
    revision: u64,
}

impl<K: Ord, V> Default for Picture<K, V> {
    fn default() -> Self {
        Self { calls: BTreeMap::new(), revision: 0 }
    }
}

impl<K: Ord + Clone, V: Clone> Picture<K, V> {
    /// Takes over what changed on the board since the last time; whether anything did.
    pub fn update(&mut self, board: &Board<K, V>) -> bool {
        if board.revision() == self.revision {
            return false;
        }
        let changes = board.changes_since(self.revision);
        if changes.whole {
            self.calls.clear();
        }
        for call in changes.ended {
            self.calls.remove(call);
        }
        for (call, progress) in changes.running {
            self.calls.insert(call.clone(), progress.clone());
        }
        self.revision = changes.revision;
        true
    }
    /// One of them.
    pub fn get(&self, call: &K) -> Option<&V> {
        self.calls.get(call)
    }
    /// The running calls.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.calls.iter()
    }
}

#[cfg(test)]
mod tests;
