//! Law C, the board: the progress of running calls, revisioned. A watcher that joins late ends with
//! the same picture as one that was there from the start; nothing comes after a call's end.

use std::collections::BTreeMap;

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

/// The running calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    slots: BTreeMap<CallId, (u64, Progress)>,
    revision: u64,
}

impl Board {
    /// A call begins.
    pub fn begin(&mut self, call: CallId, progress: Progress) {
        self.revision += 1;
        self.slots.insert(call, (self.revision, progress));
    }
    /// A call reports. After its end this does nothing.
    pub fn report(&mut self, call: &CallId, change: impl FnOnce(&mut Progress)) {
        if let Some((revision, progress)) = self.slots.get_mut(call) {
            self.revision += 1;
            *revision = self.revision;
            change(progress);
        }
    }
    /// A call's settle has committed: it leaves the board, with its last progress.
    pub fn end(&mut self, call: &CallId) -> Option<Progress> {
        self.revision += 1;
        self.slots.remove(call).map(|(_, progress)| progress)
    }
    /// The last progress of a running call.
    pub fn get(&self, call: &CallId) -> Option<&Progress> {
        self.slots.get(call).map(|(_, progress)| progress)
    }
    /// All running calls.
    pub fn iter(&self) -> impl Iterator<Item = (&CallId, &Progress)> {
        self.slots.iter().map(|(call, (_, progress))| (call, progress))
    }
    /// Counts every change.
    pub fn revision(&self) -> u64 {
        self.revision
    }
}
