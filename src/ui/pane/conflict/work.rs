//! Long texts are compared beside the screen's thread: a path is opened, or taken up again after a change outside, while
//! the screen answers keys.
//!
//! What is not waited for any more is broken off between two regions, and dropped where it comes all the same. Not here: what is done with it (`answer`).

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Done;
use super::carried::{Carried, Counted};
use super::open::Open;
use crate::api::hand_back::{ByHand, Sides};
use crate::law::hand_back::tree::TreePath;
use crate::link::Wake;

/// Bytes of the three versions together that are compared at once.
const AT_ONCE: usize = 256 * 1024;
/// Threads that compare at one time: one whose work is not waited for any more stops between two regions only.
const THREADS: usize = 2;
/// What is done and not taken yet: more than can come between two questions, each of which throws away what waits.
const MADE_MAX: usize = 2 * THREADS;

/// No path has this id.
const NOBODY: u64 = 0;

/// A path to be opened.
#[derive(Debug)]
pub(super) struct Wanted {
    pub id: u64,
    pub sides: Sides,
    pub by_hand: ByHand,
    pub carried: Carried,
    pub then: Then,
}

/// What it is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It was not open.
    Opened,
    /// Something is another than it was; the parent's version, or what was done with the path only.
    Again { moved: bool },
    /// Something else was there when it was to be changed.
    Changed(Done),
}

/// A path that is opened.
#[derive(Debug)]
pub(super) struct Made {
    pub open: Open,
    pub counted: Counted,
    pub then: Then,
}

/// What both ends share.
#[derive(Default)]
struct Todo {
    /// What is to be done next; only what was asked last counts.
    next: Option<Wanted>,
    threads: usize,
}

/// Who compares.
pub(super) struct Worker {
    todo: Arc<Mutex<Todo>>,
    /// The id of what is waited for: who compares another one stops.
    current: Arc<AtomicU64>,
    made: (SyncSender<Made>, Receiver<Made>),
    wake: Wake,
    /// What is waited for: its id, whose, and which.
    waits: Option<(u64, String, TreePath)>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("waits", &self.waits).finish_non_exhaustive()
    }
}

fn lock(todo: &Mutex<Todo>) -> MutexGuard<'_, Todo> {
    todo.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a path; none: `stop` said so meanwhile.
fn make(wanted: Wanted, stop: &dyn Fn() -> bool) -> Option<Made> {
    let Wanted { id, sides, by_hand, carried, then } = wanted;
    let (open, counted) = Open::new(id, sides, by_hand, carried, stop)?;
    Some(Made { open, counted, then })
}

impl Worker {
    /// Nothing is to be done. `wake` makes the screen look when something is done.
    pub fn new(wake: Wake) -> Worker {
        Worker {
            todo: Arc::default(),
            current: Arc::default(),
            made: sync_channel(MADE_MAX),
            wake,
            waits: None,
        }
    }

    /// Opens a path: what is short, or nobody can be asked to do, at once.
    pub fn begin(&mut self, wanted: Wanted) -> Option<Made> {
        let sides = &wanted.sides;
        let bytes = [&sides.base, &sides.parent, &sides.theirs].map(|side| side.bytes.as_ref());
        if bytes.into_iter().flatten().map(|bytes| bytes.len()).sum::<usize>() <= AT_ONCE {
            return make(wanted, &|| false);
        }
        self.waits = Some((wanted.id, sides.child.clone(), sides.path.clone()));
        self.throw_away();
        self.current.store(wanted.id, Relaxed);
        let mut todo = lock(&self.todo);
        todo.next = Some(wanted);
        if todo.threads < THREADS {
            let (shared, made, wake) = (self.todo.clone(), self.made.0.clone(), self.wake.clone());
            let current = self.current.clone();
            let thread = std::thread::Builder::new().name("compare".into());
            match thread.spawn(move || work(&shared, &current, &made, &wake)) {
                Ok(_) => todo.threads += 1,
                Err(_) if todo.threads == 0 => {
                    self.waits = None;
                    return todo.next.take().and_then(|wanted| make(wanted, &|| false));
                }
                Err(_) => {}
            }
        }
        None
    }

    /// What is under way is not waited for any more.
    pub fn cancel(&mut self) {
        self.waits = None;
        self.current.store(NOBODY, Relaxed);
        lock(&self.todo).next = None;
        self.throw_away();
    }

    /// What has come is of before: nobody waits for it.
    fn throw_away(&self) {
        while self.made.1.try_recv().is_ok() {}
    }

    /// Whether this path is being compared.
    pub fn is_at(&self, child: &str, path: &TreePath) -> bool {
        self.waits.as_ref().is_some_and(|(_, of, at)| of == child && at == path)
    }

    /// Whether something is.
    pub fn is_busy(&self) -> bool {
        self.waits.is_some()
    }

    /// What was waited for and is done.
    pub fn take(&mut self) -> Option<Made> {
        while let Ok(made) = self.made.1.try_recv() {
            if self.waits.as_ref().is_some_and(|(id, ..)| *id == made.open.id) {
                self.waits = None;
                return Some(made);
            }
        }
        None
    }
}

/// A thread: does what is next until nothing is.
fn work(todo: &Mutex<Todo>, current: &AtomicU64, made: &SyncSender<Made>, wake: &Wake) {
    loop {
        let wanted = {
            let mut todo = lock(todo);
            match todo.next.take() {
                Some(wanted) => wanted,
                None => {
                    todo.threads -= 1;
                    return;
                }
            }
        };
        let id = wanted.id;
        let Some(done) = make(wanted, &|| current.load(Relaxed) != id) else { continue };
        // a screen that is gone waits for nothing
        if made.send(done).is_err() {
            return;
        }
        wake();
    }
}
