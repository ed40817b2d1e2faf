//! One writer at a time in a directory, also where several sessions of this program work in it.
//!
//! A write is safe without: it is checked against what was seen, and put back if somebody came in between. But two of
//! ours at once would then tell each other of changes that no person made.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Place;

/// The directories in which somebody writes or waits to.
static TURNS: Mutex<Option<HashMap<PathBuf, Weak<Mutex<()>>>>> = Mutex::new(None);

/// Does something when nobody else of this program writes into the directory. Blocking.
pub fn in_turn<T>(directory: &Path, write: impl FnOnce() -> T) -> T {
    let whole = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let turn = {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        let turns = turns.get_or_insert_default();
        turns.retain(|_, turn| turn.strong_count() > 0);
        match turns.get(&whole).and_then(Weak::upgrade) {
            Some(turn) => turn,
            None => {
                let turn = Arc::new(Mutex::new(()));
                turns.insert(whole, Arc::downgrade(&turn));
                turn
            }
        }
    };
    let _mine = turn.lock().unwrap_or_else(PoisonError::into_inner);
    write()
}

impl Place {
    pub(super) fn in_turn<T>(&self, write: impl FnOnce() -> T) -> T {
        in_turn(&self.cwd, write)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn two_names_of_a_directory_have_one_turn() {
        let tmp = tempfile::tempdir().unwrap();
        let link = tmp.path().join("link");
        std::os::unix::fs::symlink(tmp.path(), &link).unwrap();
        let inside = AtomicUsize::new(0);
        let write = |directory: &Path| {
            for _ in 0..200 {
                in_turn(directory, || {
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| write(tmp.path()));
            scope.spawn(|| write(&link));
        });
    }
}
