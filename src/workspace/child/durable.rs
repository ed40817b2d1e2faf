//! Many files made durable together.
//!
//! Each is synced by itself, as every filesystem promises it, and some at the same time: a journal commits for all
//! that wait, and a disk is told to empty its cache once for them. A sync of the whole filesystem would be one call,
//! and would wait for whatever a build beside us writes.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::error::Error;

/// How many syncs wait at the same time. They wait for the disk, not for a core; beyond this they win nothing.
const AT_ONCE_MAX: usize = 32;

/// Syncs all, some at the same time. After an error no new one is begun, and it is told.
pub(super) fn sync_all<T: Sync>(
    all: &[T],
    sync1: impl Fn(&T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = sync1(one) {
                next.store(all.len(), Ordering::Relaxed);
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
    };
    std::thread::scope(|scope| {
        (1..all.len().min(AT_ONCE_MAX)).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
