//! Law J: the one wait of a call. It ends with what is waited for, at its budget, by hand, or by a cancel;
//! never later than its budget.
//!
//! Not here: the clock and the waiting itself (`tool::wait`). Whoever waits asks `due` how long it may sleep and
//! tells `step` what woke it. What the wait was for goes on after a detach; nothing here ends it.
//!
//! Keeps `call_blocks_at_most_budget`, `call_settles_with_job`.

use crate::base::Millis;

/// A wait under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    began: Millis,
    budget: Option<Millis>,
    over: bool,
}

/// What wakes a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<E> {
    /// What is waited for has ended.
    Ended(E),
    /// Time has passed.
    Tick,
    /// The person sends it to the background.
    DetachAsked,
    /// The call is cancelled.
    Cancelled,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited<E> {
    /// It ended in time: this is its own end.
    Settled(E),
    /// It goes on without the call.
    Detached {
        /// The budget that had passed; when it was detached by hand, the time waited until then.
        budget_ms: u64,
    },
    /// The call was cancelled.
    Cancelled,
}

impl Wait {
    /// A wait that began at `began` (a clock that never goes back). Without a budget only an end, a person or a
    /// cancel ends it; with a budget of nothing the first step does.
    pub fn new(began: Millis, budget: Option<Millis>) -> Self {
        Self { began, budget, over: false }
    }

    /// How long nothing need be told: a `Tick` is due after that. None: for as long as nothing happens.
    pub fn due(&self, now: Millis) -> Option<Millis> {
        if self.over {
            return None;
        }
        self.budget.map(|budget| budget.since(now.since(self.began)))
    }

    /// Whether the wait has ended.
    pub fn over(&self) -> bool {
        self.over
    }

    /// What an event at `now` means for the wait: its outcome, exactly once. A budget that has passed detaches at
    /// once, also when the end is ready; a cancel stays a cancel.
    pub fn step<E>(&mut self, event: Event<E>, now: Millis) -> Option<Waited<E>> {
        if self.over {
            return None;
        }
        let waited = now.since(self.began);
        let passed = self.budget.filter(|budget| *budget <= waited);
        let outcome = match (event, passed) {
            (Event::Cancelled, _) => Waited::Cancelled,
            (Event::Ended(_) | Event::Tick | Event::DetachAsked, Some(budget)) => {
                Waited::Detached { budget_ms: budget.0 }
            }
            (Event::Ended(end), None) => Waited::Settled(end),
            (Event::DetachAsked, None) => Waited::Detached { budget_ms: waited.0 },
            (Event::Tick, None) => return None,
        };
        self.over = true;
        Some(outcome)
    }
}

#[cfg(test)]
mod tests;
