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
