//! The wall clock, read in one place.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::base::Millis;

/// Now, since the epoch.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
