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
    /// A length of time in words: `m:ss`, from an hour on `h:mm:ss`; below a second in milliseconds.
    pub fn length(self) -> String {
        let s = self.0 / 1000;
        match s {
            0 => format!("{} ms", self.0),
            1..3600 => format!("{}:{:02}", s / 60, s % 60),
            _ => format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
        }
    }
}
