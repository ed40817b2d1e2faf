//! Time as a plain number, so that pure code can be tested without a clock.

use serde::{Deserialize, Serialize};

/// Milliseconds: since the Unix epoch for an instant that is recorded, or a length of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// The time from `earlier` to `self`; zero when the clock went backwards.
    pub fn since(self, earlier: Millis) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
    /// This instant moved later by `by`.
    pub fn plus(self, by: Millis) -> Millis {
        Millis(self.0.saturating_add(by.0))
    }
}
