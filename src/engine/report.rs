//! Where a running call reports to: the board of the shared record.

use std::sync::Mutex;
use std::sync::PoisonError;

use crate::api::message::Usage;
use crate::base::CallId;
use crate::link::Shared;
use crate::tool::Report;

/// Most bytes of a call's newest output on the board.
const TAIL_MAX: usize = 4096;

/// The board, for one call.
pub struct Reporter {
    call: CallId,
    shared: Shared,
    usage: Mutex<Option<Usage>>,
}

impl Reporter {
    /// For this call.
    pub fn new(call: CallId, shared: Shared) -> Self {
        Self { call, shared, usage: Mutex::new(None) }
    }
    /// The tokens that the call used.
    pub fn used(&self) -> Option<Usage> {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Report for Reporter {
    fn output(&self, tail: &str, bytes: u64, lines: u64) {
        let mut from = tail.len().saturating_sub(TAIL_MAX);
        while !tail.is_char_boundary(from) {
            from += 1;
        }
        self.shared.change(|record| {
            record.calls.report(&self.call, |progress| {
                progress.tail.clear();
                progress.tail.push_str(&tail[from..]);
                progress.bytes = bytes;
                progress.lines = lines;
            });
        });
    }

    fn warn(&self, text: String) {
        self.shared.change(|record| {
            record.calls.report(&self.call, |progress| progress.warnings.push(text));
        });
    }

    fn usage(&self, usage: Usage) {
        let mut held = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        held.get_or_insert_with(Usage::default).add(&usage);
    }
}
