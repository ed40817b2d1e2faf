//! Law J: the jobs of a session. Their names, the limit on those that run, the list of those that ended, and which
//! of them a rewind ends.
//!
//! Places in a session are plain numbers: entry n is the n-th that was committed. A job's place is the newest entry
//! when its command was *started*, however late it became a job and however late its node was written.
//!
//! Not here: processes, how one ends (`law::job`), nodes in the journal (`law::batch`). A kill is no event: the end
//! comes from the processes.
//!
//! Keeps `rewind_stops_orphans`, `rewind_keeps_target_jobs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::base::{JobId, Millis};
use crate::law::wait::{Event, Wait, Waited};

/// Ended jobs that stay listed until somebody dismisses them; past that the oldest go.
pub const ENDED_MAX: usize = 256;

/// The jobs of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jobs {
    /// Those that run, each with its place.
    running: BTreeMap<JobId, Option<u64>>,
    /// Those that ended and are listed, in the order of their ends.
    ended: VecDeque<JobId>,
    /// The highest number that was ever given.
    last: u32,
    /// Places that are held for jobs which are being started.
    held: u32,
    limit: u32,
}

/// Why no more job may be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// The limit, which is reached.
    pub limit: u32,
}

/// What an end means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It ran and is listed among the ended ones now.
    Listed {
        /// The oldest ended one, which had to leave the list for it.
        dismissed: Option<JobId>,
    },
    /// It did not run: nothing changed.
    Ignored,
}

impl Jobs {
    /// The jobs of a session in which `last` is the highest number that a job ever had (0: none had one);
    /// at most `limit` are let run at once.
    pub fn new(last: u32, limit: u32) -> Self {
        Self { running: BTreeMap::new(), ended: VecDeque::new(), last, held: 0, limit }
    }

    /// Holds a place for a job that is to be started: in one step with the question whether one is free, so that
    /// starts at the same moment do not pass the limit together. Those that run are never touched for it. What was
    /// held is given back by `began_in_place` or `give_back`.
    pub fn hold(&mut self) -> Result<(), Full> {
        let taken = self.running.len().saturating_add(usize::try_from(self.held).unwrap_or(usize::MAX));
        if taken >= usize::try_from(self.limit).unwrap_or(usize::MAX) {
            return Err(Full { limit: self.limit });
        }
        self.held = self.held.saturating_add(1);
        Ok(())
    }

    /// The job that a place was held for is not started after all.
    pub fn give_back(&mut self) {
        self.held = self.held.saturating_sub(1);
    }

    /// The job that a place was held for runs, and has the place itself.
    pub fn began_in_place(&mut self, job: JobId, after: Option<u64>) {
        self.give_back();
        self.began(job, after);
    }

    /// A name that no job of the session has or had.
    pub fn mint(&mut self) -> JobId {
        self.last = self.last.saturating_add(1);
        JobId(self.last)
    }

    /// A job runs, started when `after` was the newest entry (none: before the first). What runs already is taken in
    /// whatever the limit says: a command that outlives its call's budget, processes that a command left behind. It
    /// counts, so the next start is refused. A second start of one is none.
    pub fn began(&mut self, job: JobId, after: Option<u64>) {
        self.last = self.last.max(job.0);
        if !self.ended.contains(&job) {
            self.running.entry(job).or_insert(after);
        }
    }

    /// A job ended.
    pub fn ended(&mut self, job: JobId) -> Ended {
        match self.running.remove(&job) {
            Some(_) => Ended::Listed { dismissed: self.list(job) },
            None => Ended::Ignored,
        }
    }

    /// A job ended in an earlier program and is listed again. Told in the order of the ends, before any job of this
    /// program has ended; past the bound of the list none is taken.
    pub fn ended_before(&mut self, job: JobId) {
        self.last = self.last.max(job.0);
        let free = self.ended.len() < ENDED_MAX && !self.ended.contains(&job);
        if free && !self.running.contains_key(&job) {
            self.ended.push_back(job);
        }
    }

    /// How a job of an earlier program stands could not be found out: it neither runs nor ended here.
    pub fn let_go(&mut self, job: JobId) {
        self.running.remove(&job);
    }

    fn list(&mut self, job: JobId) -> Option<JobId> {
        self.ended.push_back(job);
        if self.ended.len() > ENDED_MAX { self.ended.pop_front() } else { None }
    }

    /// Takes an ended one off the list; whether it was there. One that runs stays.
    pub fn dismiss(&mut self, job: JobId) -> bool {
        let before = self.ended.len();
        self.ended.retain(|other| *other != job);
        self.ended.len() < before
    }

    /// Those that run, by name.
    pub fn running(&self) -> impl Iterator<Item = JobId> {
        self.running.keys().copied()
    }

    /// Whether this one runs.
    pub fn runs(&self, job: JobId) -> bool {
        self.running.contains_key(&job)
    }

    /// Those that ended and are listed, the oldest end first.
    pub fn listed(&self) -> impl Iterator<Item = JobId> {
        self.ended.iter().copied()
    }

    /// The running jobs that a rewind to this entry ends (none: to before the first): those whose command was started
    /// after the entry was committed. Every other goes on.
    pub fn orphans(&self, target: Option<u64>) -> Vec<JobId> {
        self.running.iter().filter(|(_, after)| is_orphan(**after, target)).map(|(job, _)| *job).collect()
    }
}

/// Whether a command that was started when `after` was the newest entry was started after `target` was committed.
fn is_orphan(after: Option<u64>, target: Option<u64>) -> bool {
    // no entry at all counts as less than every entry
    after >= target
}

/// A rewind waits for the jobs that it ends, at most one budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopping {
    wait: Wait,
    stopped: BTreeSet<JobId>,
    stopping: BTreeSet<JobId>,
}

/// What a rewind says of the jobs that it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// Their end came.
    pub stopped: Vec<JobId>,
    /// It has not come yet.
    pub stopping: Vec<JobId>,
}

impl Stopping {
    /// These jobs were told to end at `now`.
    pub fn new(orphans: impl IntoIterator<Item = JobId>, now: Millis, budget: Millis) -> Self {
        let wait = Wait::new(now, Some(budget));
        Self { wait, stopped: BTreeSet::new(), stopping: orphans.into_iter().collect() }
    }

    /// When time must be told again; none: the answer was given.
    pub fn due(&self, now: Millis) -> Option<Millis> {
        self.wait.due(now)
    }

    /// A job ended, or (none) time passed: the answer, once, when all have ended or the budget has passed.
    /// Ask once at the beginning too: there may be nothing to wait for.
    pub fn step(&mut self, ended: Option<JobId>, now: Millis) -> Option<Stopped> {
        if let Some(job) = ended
            && !self.wait.over()
            && self.stopping.remove(&job)
        {
            self.stopped.insert(job);
        }
        let event = if self.stopping.is_empty() { Event::Ended(()) } else { Event::Tick };
        match self.wait.step(event, now)? {
            Waited::Settled(()) | Waited::Detached { .. } | Waited::Cancelled => Some(Stopped {
                stopped: self.stopped.iter().copied().collect(),
                stopping: self.stopping.iter().copied().collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
