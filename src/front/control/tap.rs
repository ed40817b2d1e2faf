//! What wakes the control socket's thread: a tap on the wake of the session.
//!
//! It sleeps unless it was asked to watch, so that a flood of output costs nothing here. The steps of a job that is
//! being ended are noted by whoever changes the record, at that moment: two that follow each other at once are both
//! told.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

use crate::api::job::JobState;
use crate::base::JobId;
use crate::link::{Shared, Wake};

/// Most steps that are noted of one job: a SIGKILL is repeated while something is left.
const STEPS_MAX: usize = 64;

/// The tap.
pub struct Tap {
    fd: OwnedFd,
    /// Changes of the record ring.
    armed: AtomicBool,
    rung: AtomicBool,
    door_closed: AtomicBool,
    stopped: AtomicBool,
    shared: OnceLock<Shared>,
    watched: Mutex<BTreeMap<JobId, Vec<JobState>>>,
}

impl Tap {
    /// A tap for the session that is about to be opened.
    pub fn new() -> std::io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            fd: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            armed: AtomicBool::new(true),
            rung: AtomicBool::new(false),
            door_closed: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            shared: OnceLock::new(),
            watched: Mutex::default(),
        }))
    }

    /// The wake to open the session with: what it woke before, and this.
    pub fn over(self: &Arc<Self>, before: Wake) -> Wake {
        let tap = Arc::clone(self);
        Arc::new(move || {
            before();
            if tap.armed.load(Ordering::Acquire) {
                tap.note();
                tap.ring();
            }
        })
    }

    pub(super) fn attach(&self, shared: Shared) {
        // a second session has a tap of its own
        let _ = self.shared.set(shared);
    }

    fn watched(&self) -> MutexGuard<'_, BTreeMap<JobId, Vec<JobState>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how the watched jobs stand. The lock of the record is taken inside of that of the list, and never the
    /// other way round.
    fn note(&self) {
        let mut watched = self.watched();
        let Some(shared) = self.shared.get().filter(|_| !watched.is_empty()) else { return };
        let record = shared.read();
        for (job, steps) in watched.iter_mut() {
            if let Some(row) = record.jobs.get(job)
                && matches!(row.state, JobState::Ending { .. })
                && steps.last() != Some(&row.state)
                && steps.len() < STEPS_MAX
            {
                steps.push(row.state.clone());
            }
        }
    }

    fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            let _ = rustix::io::write(&self.fd, &1u64.to_ne_bytes());
        }
    }

    /// The next ring wakes anew.
    pub(super) fn take(&self) {
        let mut count = [0u8; 8];
        let _ = rustix::io::read(&self.fd, &mut count);
        self.rung.store(false, Ordering::Release);
    }

    /// Whether changes of the record ring.
    pub(super) fn arm(&self, on: bool) {
        self.armed.store(on, Ordering::Release);
    }

    /// Notes the steps of this job from now on.
    pub(super) fn watch(&self, job: JobId) {
        self.watched().entry(job).or_default();
        self.arm(true);
    }
    /// Forgets all jobs but these.
    pub(super) fn watch_only(&self, jobs: &[JobId]) {
        self.watched().retain(|job, _| jobs.contains(job));
    }
    /// The steps of a watched job from this one on.
    pub(super) fn steps(&self, job: JobId, from: usize) -> Vec<JobState> {
        self.watched().get(&job).and_then(|steps| steps.get(from..)).unwrap_or_default().to_vec()
    }

    pub(super) fn close_door(&self) {
        self.door_closed.store(true, Ordering::Release);
        self.ring();
    }
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.ring();
    }
    pub(super) fn door_closed(&self) -> bool {
        self.door_closed.load(Ordering::Acquire)
    }
    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
