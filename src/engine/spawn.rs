//! The one place that spawns tasks of a session.

use std::future::Future;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::owner::Word;

/// Runs a future beside the owner loop.
pub fn task(future: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(future).abort_handle()
}

/// Runs a future beside the owner loop and tells the owner what came of it.
pub fn telling(
    words: mpsc::Sender<Word>,
    future: impl Future<Output = Word> + Send + 'static,
) -> AbortHandle {
    task(async move {
        let word = future.await;
        // The owner is gone only when the session closes: then nobody waits for the word.
        let _ = words.send(word).await;
    })
}

/// Runs blocking work on a blocking thread and tells the owner what came of it. Work that panics
/// tells `lost`.
pub fn blocking(
    words: mpsc::Sender<Word>,
    work: impl FnOnce() -> Word + Send + 'static,
    lost: impl FnOnce() -> Word + Send + 'static,
) {
    task(async move {
        let word = match tokio::task::spawn_blocking(work).await {
            Ok(word) => word,
            Err(_) => lost(),
        };
        let _ = words.send(word).await;
    });
}

/// Runs blocking work of a task on a blocking thread. It is done also when nobody waits for it any more.
pub async fn off_the_loop<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        // it is cancelled only before it begins, when the runtime goes: then so does this task
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => std::future::pending().await,
        },
    }
}

/// Runs a future on a task of its own; none when it panicked.
pub async fn guarded<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let task = tokio::spawn(future);
    let abort = task.abort_handle();
    let _ends_with_us = AbortOnDrop(abort);
    task.await.ok()
}

/// Ends a task when who waits for it is gone.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
