//! The one wait of calls: `law::wait` decides, this sleeps, listens and asks.
//!
//! Not here: what is waited for, and what becomes of it after a detach.
//!
//! Keeps `call_blocks_at_most_budget`, `call_settles_with_job`.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::base::Millis;
use crate::law::wait::{Event, Wait, Waited};

/// Until when a call waits.
#[derive(Clone, Debug)]
pub struct Until {
    /// When the wait began.
    pub began: Instant,
    /// How long it may take; none: as long as it takes.
    pub budget: Option<Millis>,
    /// Ends the wait: what is waited for goes on.
    pub detach: CancellationToken,
    /// Ends the wait: the call is cancelled.
    pub cancel: CancellationToken,
}

/// Waits for `end`, as long as `until` lets it. A budget that has passed detaches at once, also when the end is
/// ready; `end` is then dropped without having given its value, so nothing that it took is lost when it is
/// cancel safe.
pub async fn wait<E>(until: &Until, end: impl Future<Output = E>) -> Waited<E> {
    let mut wait = Wait::new(Millis(0), until.budget);
    let (mut end, mut cancelled, mut detached) =
        (pin!(end), pin!(until.cancel.cancelled()), pin!(until.detach.cancelled()));
    let mut tick = pin!(sleep(Duration::ZERO));
    poll_fn(|context| {
        // one reading of the clock for all that is seen here: an end that is taken is never thrown away
        let now = Millis(u64::try_from(until.began.elapsed().as_millis()).unwrap_or(u64::MAX));
        let outcome = match cancelled.as_mut().poll(context) {
            Poll::Ready(()) => wait.step(Event::Cancelled, now),
            Poll::Pending => wait.step(Event::Tick, now),
        };
        if let Some(outcome) = outcome {
            return Poll::Ready(outcome);
        }
        if let Poll::Ready(end) = end.as_mut().poll(context)
            && let Some(outcome) = wait.step(Event::Ended(end), now)
        {
            return Poll::Ready(outcome);
        }
        if detached.as_mut().poll(context).is_ready()
            && let Some(outcome) = wait.step(Event::DetachAsked, now)
        {
            return Poll::Ready(outcome);
        }
        if let Some(at) =
            until.budget.and_then(|budget| until.began.checked_add(Duration::from_millis(budget.0)))
        {
            tick.as_mut().reset(at);
            if tick.as_mut().poll(context).is_ready() {
                context.waker().wake_by_ref();
            }
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(budget: Option<u64>) -> Until {
        Until {
            began: Instant::now(),
            budget: budget.map(Millis),
            detach: CancellationToken::new(),
            cancel: CancellationToken::new(),
        }
    }

    async fn after(ms: u64) -> u64 {
        sleep(Duration::from_millis(ms)).await;
        ms
    }

    #[tokio::test(start_paused = true)]
    async fn call_settles_with_job() {
        assert_eq!(wait(&until(Some(50)), after(20)).await, Waited::Settled(20));
        assert_eq!(wait(&until(None), after(1_000_000)).await, Waited::Settled(1_000_000));
        assert_eq!(wait(&until(Some(50)), async { 7 }).await, Waited::Settled(7));
    }

    #[tokio::test(start_paused = true)]
    async fn call_blocks_at_most_budget() {
        let began = Instant::now();
        assert_eq!(wait(&until(Some(50)), after(51)).await, Waited::Detached { budget_ms: 50 });
        assert_eq!(began.elapsed().as_millis(), 50);
        // a budget that has passed detaches at once, also when the end is ready
        assert_eq!(wait(&until(Some(0)), async { 7 }).await, Waited::Detached { budget_ms: 0 });
        let passed = until(Some(10));
        sleep(Duration::from_millis(20)).await;
        assert_eq!(wait(&passed, async { 7 }).await, Waited::Detached { budget_ms: 10 });
        // an end so long that no clock counts it
        assert_eq!(wait(&until(Some(u64::MAX)), after(5)).await, Waited::Settled(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_hand_ends_a_wait() {
        let by_hand = until(Some(1000));
        let hand = async {
            sleep(Duration::from_millis(30)).await;
            by_hand.detach.cancel();
        };
        let (waited, ()) = tokio::join!(wait(&by_hand, after(500)), hand);
        assert_eq!(waited, Waited::Detached { budget_ms: 30 });
        let cancelled = until(None);
        cancelled.cancel.cancel();
        assert_eq!(wait(&cancelled, async { 7 }).await, Waited::Cancelled);
    }
}
