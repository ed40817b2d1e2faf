//! The merge programs that are at work, so that they can be ended: by the person, and as the session is closed.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::law::hand_back::tree::TreePath;
use crate::process::answer::Stop;

/// Those that are, by the number of the question.
#[derive(Debug, Default)]
pub struct AtWork(Mutex<BTreeMap<u64, Work>>);

#[derive(Debug)]
struct Work {
    child: String,
    path: TreePath,
    stop: Stop,
}

impl AtWork {
    fn with<T>(&self, what: impl FnOnce(&mut BTreeMap<u64, Work>) -> T) -> T {
        what(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// One is asked for.
    pub fn begin(&self, number: u64, child: &str, path: &TreePath) {
        let work = Work { child: child.to_owned(), path: path.clone(), stop: Stop::default() };
        self.with(|all| all.insert(number, work));
    }

    /// What ends the one that was asked for.
    pub fn stop_of(&self, number: u64) -> Stop {
        self.with(|all| all.get(&number).map(|work| work.stop.clone())).unwrap_or_default()
    }

    /// One has ended.
    pub fn end(&self, number: u64) {
        self.with(|all| all.remove(&number));
    }

    /// Ends those for a child's path.
    pub fn stop(&self, child: &str, path: &TreePath) {
        self.with(|all| {
            all.values()
                .filter(|work| work.child == child && work.path == *path)
                .for_each(|work| work.stop.stop());
        });
    }

    /// Ends all.
    pub fn stop_all(&self) {
        self.with(|all| all.values().for_each(|work| work.stop.stop()));
    }
}
