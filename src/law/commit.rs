//! Law L: a commit is all or nothing. What a journal does for one commit, step by step, whatever fails.
//!
//! Not here: the bytes, the file, the clock. `store::journal` carries the effects out and tells what came of
//! them. Keeps `commit_all_or_nothing`.

/// What is known of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Bytes of all whole commits.
    pub whole: u64,
    /// Whether bytes of a failed commit may still stand behind them.
    pub ragged: bool,
    /// How far the commit at hand is.
    pub stage: Stage,
}

/// How far the commit at hand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// There is none.
    Idle,
    /// What an earlier commit left is being cut off first.
    Clearing {
        /// Bytes of the record that waits.
        bytes: u64,
        /// Whether it is to be synced.
        sync: bool,
    },
    /// The record is being written.
    Writing {
        /// Its bytes.
        bytes: u64,
        /// Whether it is to be synced.
        sync: bool,
    },
    /// The record is being synced.
    Syncing {
        /// Its bytes.
        bytes: u64,
    },
    /// What a failed write left is being cut off.
    Undoing,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A record is to be committed.
    Begin {
        /// Its bytes.
        bytes: u64,
        /// Whether it must be on the disk before it counts.
        sync: bool,
    },
    /// The write took this many bytes.
    Wrote {
        /// How many.
        bytes: u64,
    },
    /// Writing or syncing failed.
    Failed,
    /// The sync is done.
    Synced,
    /// The file was cut.
    Cut,
    /// The file could not be cut.
    CutFailed,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Cut the file to this length.
    Cut {
        /// The length: all whole commits.
        to: u64,
    },
    /// Write the record, in one write.
    Write,
    /// Sync the file's data.
    Sync,
    /// The record is committed: tell.
    Done,
    /// Nothing of the record is committed: tell.
    Refuse,
    /// The event has no place here.
    Ignore,
}

impl Commit {
    /// A journal whose whole commits have this many bytes, with nothing behind them.
    pub fn at(whole: u64) -> Self {
        Self { whole, ragged: false, stage: Stage::Idle }
    }
}

/// One step.
pub fn step(state: Commit, event: Event) -> (Commit, Effect) {
    use Stage as S;
    let Commit { whole, ragged, stage } = state;
    let to = |whole, ragged, stage, effect| (Commit { whole, ragged, stage }, effect);
    match (stage, event) {
        (S::Idle, Event::Begin { bytes, sync }) if ragged => {
            to(whole, true, S::Clearing { bytes, sync }, Effect::Cut { to: whole })
        }
        (S::Idle, Event::Begin { bytes, sync }) => {
            to(whole, false, S::Writing { bytes, sync }, Effect::Write)
        }
        (S::Clearing { bytes, sync }, Event::Cut) => {
            to(whole, false, S::Writing { bytes, sync }, Effect::Write)
        }
        (S::Clearing { .. }, Event::CutFailed) => to(whole, true, S::Idle, Effect::Refuse),
        (S::Writing { bytes, sync }, Event::Wrote { bytes: wrote }) if wrote == bytes => {
            if sync {
                to(whole, true, S::Syncing { bytes }, Effect::Sync)
            } else {
                to(whole + bytes, false, S::Idle, Effect::Done)
            }
        }
        (S::Writing { .. }, Event::Wrote { .. } | Event::Failed) | (S::Syncing { .. }, Event::Failed) => {
            to(whole, true, S::Undoing, Effect::Cut { to: whole })
        }
        (S::Syncing { bytes }, Event::Synced) => to(whole + bytes, false, S::Idle, Effect::Done),
        (S::Undoing, Event::Cut) => to(whole, false, S::Idle, Effect::Refuse),
        (S::Undoing, Event::CutFailed) => to(whole, true, S::Idle, Effect::Refuse),
        (
            S::Idle | S::Clearing { .. } | S::Writing { .. } | S::Syncing { .. } | S::Undoing,
            Event::Begin { .. }
            | Event::Wrote { .. }
            | Event::Failed
            | Event::Synced
            | Event::Cut
            | Event::CutFailed,
        ) => (state, Effect::Ignore),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [Event; 9] = [
        Event::Begin { bytes: 3, sync: false },
        Event::Begin { bytes: 3, sync: true },
        Event::Wrote { bytes: 0 },
        Event::Wrote { bytes: 2 },
        Event::Wrote { bytes: 3 },
        Event::Failed,
        Event::Synced,
        Event::Cut,
        Event::CutFailed,
    ];

    /// The file as the events say it is: its length, and how much of it was told to be committed.
    #[derive(Clone, Copy)]
    struct File {
        length: u64,
        told: u64,
    }

    /// Every sequence of events up to a depth, also those that no disk would give.
    fn explore(state: Commit, file: File, last: Effect, depth: u32) {
        for event in EVENTS {
            // What the disk does shows in the file only where it was asked for it.
            let mut file = file;
            match (last, event) {
                (Effect::Write, Event::Wrote { bytes }) => file.length += bytes,
                (Effect::Cut { to }, Event::Cut) => file.length = to,
                _ => {}
            }
            let (next, effect) = step(state, event);
            let place = format!("{state:?} {event:?} -> {next:?} {effect:?}");
            match effect {
                Effect::Done => {
                    file.told += 3;
                    assert_eq!((next.whole, file.length), (file.told, file.told), "{place}");
                }
                Effect::Refuse => assert!(next.ragged || file.length == file.told, "{place}"),
                Effect::Write => {
                    assert_eq!(file.length, file.told, "nothing is written behind a rest: {place}")
                }
                Effect::Cut { to } => assert_eq!(to, file.told, "{place}"),
                Effect::Ignore => assert_eq!(state, next, "{place}"),
                Effect::Sync => assert_eq!(file.length, file.told + 3, "{place}"),
            }
            assert_eq!(next.whole, file.told, "{place}");
            if depth > 0 {
                let asked = if effect == Effect::Ignore { last } else { effect };
                // An answer that was not asked for leaves the asked one due.
                explore(next, file, asked, depth - 1);
            }
        }
    }

    #[test]
    fn commit_all_or_nothing() {
        explore(Commit::at(0), File { length: 0, told: 0 }, Effect::Done, 5);
    }

    #[test]
    fn after_a_failed_cut_the_next_commit_cuts_first() {
        let mut state = Commit::at(10);
        let mut effects = Vec::new();
        for event in [
            Event::Begin { bytes: 5, sync: false },
            Event::Wrote { bytes: 2 },
            Event::CutFailed,
            Event::Begin { bytes: 4, sync: false },
            Event::Cut,
            Event::Wrote { bytes: 4 },
        ] {
            let (next, effect) = step(state, event);
            state = next;
            effects.push(effect);
        }
        let cut = Effect::Cut { to: 10 };
        assert_eq!(effects, [Effect::Write, cut, Effect::Refuse, cut, Effect::Write, Effect::Done]);
        assert_eq!(state, Commit::at(14));
    }
}
