//! The path that every request takes, over a wire or from a script: tries, waits between them, cancelling,
//! and exactly one `End`.
//!
//! Not here: what a try does (`http`, `scripted`), and the decision whether to try again (`law::retry`).

use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc;

use super::{Control, Failure, FailureKind, StreamEvent};
use crate::api::message::Answer;
use crate::base::Millis;
use crate::law::retry::{Cause, Policy, Verdict, decide, wait_in_words};

/// How a request ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ending {
    /// The wire's end event came; the source knows why the model stopped.
    Finished,
    /// The stream broke before it.
    Truncated(Failure),
    /// It was cancelled.
    Cancelled,
    /// The provider said no, or the script did not fit.
    Failed(Failure),
}

/// What one try came to.
pub(super) enum Attempt {
    /// The request is over.
    Over(Ending),
    /// Nothing had come when it failed: it may be tried again.
    Refused {
        /// What happened.
        failure: Failure,
        /// Whether another try is worth it.
        cause: Cause,
        /// What the server asked for.
        asked: Option<Millis>,
    },
}

/// Where a request's answer comes from.
pub(super) trait Source: Send {
    /// Makes one try.
    fn attempt(&mut self, outlet: &mut Outlet) -> impl Future<Output = Attempt> + Send;
    /// The answer, with all that came in the last try.
    fn answer(&mut self, ending: &Ending) -> Answer;
}

/// The way out for events; it says `Begun` once.
pub(super) struct Outlet {
    events: mpsc::Sender<StreamEvent>,
    begun: bool,
}

impl Outlet {
    /// The provider accepted the request.
    pub(super) async fn begun(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.send(StreamEvent::Begun).await;
        }
    }
    /// Sends an event; a receiver that is gone is noticed by [`run`].
    pub(super) async fn send(&self, event: StreamEvent) {
        // A closed channel ends the request in `run`; nothing else is to be done here.
        let _closed = self.events.send(event).await;
    }
}

/// Runs a request to its end.
pub(super) async fn run<S: Source>(
    mut source: S,
    policy: Policy,
    control: Control,
    events: mpsc::Sender<StreamEvent>,
) {
    let closed = events.clone();
    let mut outlet = Outlet { events, begun: false };
    let ending = tokio::select! {
        biased;
        () = control.cancel.cancelled() => Ending::Cancelled,
        () = closed.closed() => return,
        ending = tries(&mut source, &mut outlet, &policy, &control) => ending,
    };
    let answer = source.answer(&ending);
    drop(source);
    let failure = match ending {
        Ending::Finished | Ending::Cancelled => None,
        Ending::Truncated(failure) | Ending::Failed(failure) => Some(failure),
    };
    outlet.send(StreamEvent::End { answer, failure }).await;
}

async fn tries<S: Source>(source: &mut S, outlet: &mut Outlet, policy: &Policy, control: &Control) -> Ending {
    let mut tried = 0u32;
    loop {
        tried += 1;
        let (failure, cause, asked) = match source.attempt(outlet).await {
            Attempt::Over(ending) => return ending,
            Attempt::Refused { failure, cause, asked } => (failure, cause, asked),
        };
        match decide(policy, tried, cause, asked, jitter()) {
            Verdict::GiveUp => return Ending::Failed(given_up(failure, cause, tried, asked, policy)),
            Verdict::Wait(wait) => {
                let at = now().plus(wait);
                outlet.send(StreamEvent::Retrying { attempt: tried + 1, at, why: failure.text }).await;
                tokio::select! {
                    () = tokio::time::sleep(std::time::Duration::from_millis(wait.0)) => {}
                    () = control.retry_now.notified() => {}
                }
            }
        }
    }
}

fn given_up(
    mut failure: Failure,
    cause: Cause,
    tried: u32,
    asked: Option<Millis>,
    policy: &Policy,
) -> Failure {
    if asked.is_some_and(|asked| asked > policy.asked_max) && tried < policy.tries_max {
        let wait = wait_in_words(asked.unwrap_or_default());
        failure.text.push_str(&format!(" It asks to wait {wait}: try again then."));
    } else if tried > 1 {
        failure.text.push_str(&format!(" Tried {tried} times."));
    }
    if failure.kind == FailureKind::Other && cause == Cause::Connection {
        failure.kind = FailureKind::Connection;
    }
    failure
}

/// Milliseconds since the epoch.
pub(super) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A random number: std seeds each hasher from the system.
pub(super) fn random() -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// A random number from 0 to 1000, to spread tries.
pub fn jitter() -> u16 {
    u16::try_from(random() % 1001).unwrap_or(0)
}
