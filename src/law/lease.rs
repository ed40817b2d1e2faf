//! Law L: a session is open in one program at a time. A lease is a lock that the system frees when its
//! holder is gone; the name in it is for people.
//!
//! Not here: the file and its lock (`store::lease`). Time is no event that changes anything. Keeps
//! `lease_reclaims_only_the_dead`, `lease_refuses_second_holder`.

use serde::{Deserialize, Serialize};

/// Who holds a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// When the process started, in clock ticks since the boot.
    pub start: u64,
    /// The boot that both count in.
    pub boot: String,
}

/// A session's lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lease {
    /// Nobody has the session open; the last who had it closed it.
    #[default]
    Free,
    /// The lock is free, though a name stands in the lease: that program is gone and did not close it.
    Abandoned(Option<Holder>),
    /// The lock is held; by whom, where the name could be read.
    Held(Option<Holder>),
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A program wants the session.
    Open(Holder),
    /// A program closes it.
    Close(Holder),
    /// A program is gone, by whatever way.
    Gone(Holder),
    /// Time passes.
    Waited,
}

/// What the program is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The session is its own now.
    Yours,
    /// The same, and the program before did not close it: look for what it left.
    Reclaimed(Option<Holder>),
    /// Another program has it: it may only be read.
    Held(Option<Holder>),
    /// Nothing is to be told.
    Nothing,
}

/// One step.
pub fn step(lease: Lease, event: Event) -> (Lease, Answer) {
    match (lease, event) {
        (Lease::Free, Event::Open(who)) => (Lease::Held(Some(who)), Answer::Yours),
        (Lease::Abandoned(before), Event::Open(who)) => (Lease::Held(Some(who)), Answer::Reclaimed(before)),
        (Lease::Held(holder), Event::Open(_)) => (Lease::Held(holder.clone()), Answer::Held(holder)),
        (Lease::Held(Some(holder)), Event::Close(who)) if holder == who => (Lease::Free, Answer::Nothing),
        (Lease::Held(Some(holder)), Event::Gone(who)) if holder == who => {
            (Lease::Abandoned(Some(holder)), Answer::Nothing)
        }
        (
            lease @ (Lease::Free | Lease::Abandoned(_) | Lease::Held(_)),
            Event::Close(_) | Event::Gone(_) | Event::Waited,
        ) => (lease, Answer::Nothing),
    }
}
