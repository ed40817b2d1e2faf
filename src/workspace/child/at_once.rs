//! Many things worked on at the same time, by a few threads that take the next one each.
//!
//! Not here: what is done with one of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::error::Error;

/// How many threads read and write at the same time: more do not help a disk, and the screen wants a core too.
const WORKERS_MAX: usize = 4;

/// Works on all, by as many threads as there are cores, at most four; what each came to, in order. `begin` makes what
/// one thread needs for itself. After an error no new one is begun, and it is told.
pub(super) fn work_on_all<T: Sync, R: Send, S>(
    all: &[T],
    begin: impl Fn() -> S + Sync,
    work1: impl Fn(&mut S, &T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    some_at_once(all, cores.min(WORKERS_MAX), begin, work1)
}

/// The same, by so many threads at most.
pub(super) fn some_at_once<T: Sync, R: Send, S>(
    all: &[T],
    most: usize,
    begin: impl Fn() -> S + Sync,
    work1: impl Fn(&mut S, &T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let (next, done, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(None));
    let work = || {
        let mut state = begin();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(at) else { break };
            match work1(&mut state, one) {
                Ok(result) => done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result)),
                Err(error) => {
                    next.store(all.len(), Ordering::Relaxed);
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        (1..all.len().min(most)).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
