//! Many files made durable together.
//!
//! Each is synced by itself, as every filesystem promises it, and some at the same time: a journal commits for all
//! that wait, and a disk is told to empty its cache once for them. A sync of the whole filesystem would be one call,
//! and would wait for whatever a build beside us writes.

use super::at_once::some_at_once;
use super::error::Error;

/// How many syncs wait at the same time. They wait for the disk, not for a core; beyond this they win nothing.
const AT_ONCE_MAX: usize = 32;

/// Syncs all, some at the same time. After an error no new one is begun, and it is told.
pub(super) fn sync_all<T: Sync>(
    all: &[T],
    sync1: impl Fn(&T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    some_at_once(all, AT_ONCE_MAX, || (), |(), one| sync1(one)).map(drop)
}
