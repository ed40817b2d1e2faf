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

#[cfg(test)]
mod tests {
    use super::*;

    fn program(pid: u32) -> Holder {
        Holder { pid, start: 7, boot: "b".into() }
    }

    /// Every sequence of events of two programs up to a depth, with what happened told beside.
    fn explore(lease: &Lease, open_in: Option<u32>, died_with: Option<u32>, depth: u32) {
        let events = [1, 2].into_iter().flat_map(|pid| {
            [Event::Open(program(pid)), Event::Close(program(pid)), Event::Gone(program(pid))]
        });
        for event in events.chain([Event::Waited]) {
            let (next, answer) = step(lease.clone(), event.clone());
            let (mut open_in, mut died_with) = (open_in, died_with);
            let place = format!("{lease:?} {event:?} -> {answer:?}");
            match &event {
                Event::Open(who) => match open_in {
                    Some(pid) => assert_eq!(answer, Answer::Held(Some(program(pid))), "{place}"),
                    None => {
                        let wanted = died_with.map(program);
                        let wanted = wanted.map_or(Answer::Yours, |before| Answer::Reclaimed(Some(before)));
                        assert_eq!(answer, wanted, "{place}");
                        (open_in, died_with) = (Some(who.pid), None);
                    }
                },
                Event::Close(who) if open_in == Some(who.pid) => open_in = None,
                Event::Gone(who) if open_in == Some(who.pid) => {
                    (open_in, died_with) = (None, Some(who.pid));
                }
                Event::Close(_) | Event::Gone(_) => assert_eq!(&next, lease, "{place}"),
                Event::Waited => assert_eq!(&next, lease, "time changes nothing: {place}"),
            }
            if depth > 0 {
                explore(&next, open_in, died_with, depth - 1);
            }
        }
    }

    #[test]
    fn lease_reclaims_only_the_dead() {
        explore(&Lease::Free, None, None, 5);
    }
}
