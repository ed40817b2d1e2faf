//! One writer at a time: whoever hands back, resolves, undoes or drops holds the lock of the child's directory.
//!
//! The screen and the command line may be at the same workspace. It is a file lock, so a holder that is gone holds
//! nothing. Who only reads takes none: what is read is put in place whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::Room;
use super::error::Error;
use crate::store;
use crate::store::private;

/// How long another writer is waited for. Most need a moment; one that hands much back is told of.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// How long another one that removes copies is waited for.
const CLEANING_MAX: Duration = Duration::from_secs(60);

/// How often the lock is tried meanwhile: a file lock cannot be waited for with a bound.
const TRIES_EVERY: Duration = Duration::from_millis(5);

/// The lock, held until it is dropped.
#[derive(Debug)]
#[must_use]
pub(super) struct Lock {
    _held: File,
}

impl Room {
    /// Waits until nobody else writes, for a bounded time.
    pub(super) fn lock(&self) -> Result<Lock, Error> {
        self.lock_within("lock", WAIT_MAX)
    }

    /// The same among those that clean up after a hand-back: nobody else waits for them.
    pub(super) fn lock_cleaning(&self) -> Result<Lock, Error> {
        self.lock_within("lock.cleaning", CLEANING_MAX)
    }

    fn lock_within(&self, name: &str, wait: Duration) -> Result<Lock, Error> {
        let path = self.dir.join(name);
        let gone = || Error::Dropped { path: self.dir.clone() };
        let file = match private::open_or_create(&path) {
            Ok(file) => file,
            Err(store::Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(gone());
            }
            Err(error) => return Err(error.into()),
        };
        let until = Instant::now() + wait;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < until => {
                    std::thread::sleep(TRIES_EVERY);
                }
                Err(Errno::WOULDBLOCK) => return Err(Error::Busy { path: self.dir.clone() }),
                Err(error) => return Err(Error::io("lock", &path)(error.into())),
            }
        }
        // whoever held it may have dropped the workspace, and this file with it, or moved it
        let held = file.metadata().map_err(Error::io("look at", &path))?;
        let same = |there: std::fs::Metadata| (there.dev(), there.ino()) == (held.dev(), held.ino());
        if !std::fs::symlink_metadata(&path).is_ok_and(same) {
            return Err(gone());
        }
        Ok(Lock { _held: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_waits_for_the_first_and_is_told_when_that_takes_too_long() {
        let tmp = tempfile::tempdir().unwrap();
        let room = Room::at(tmp.path().join("room"));
        assert!(matches!(room.lock(), Err(Error::Dropped { .. })));
        private::dir(room.dir()).unwrap();
        let held = room.lock().unwrap();
        let told = room.lock_within("lock", Duration::ZERO).unwrap_err();
        assert!(matches!(told, Error::Busy { .. }), "{told}");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| room.lock_within("lock", Duration::from_secs(60)).map(drop));
            drop(held);
            second.join().unwrap().unwrap();
        });
    }

    #[test]
    fn who_waited_for_a_workspace_that_was_dropped_or_moved_meanwhile_is_told() {
        let away: [fn(&Room); 2] = [
            |room| std::fs::remove_dir_all(room.dir()).unwrap(),
            |room| std::fs::rename(room.dir(), room.dir().with_file_name("moved")).unwrap(),
        ];
        for away in away {
            let tmp = tempfile::tempdir().unwrap();
            let room = Room::at(tmp.path().join("room"));
            private::dir(room.dir()).unwrap();
            let held = room.lock().unwrap();
            std::thread::scope(|scope| {
                let second = scope.spawn(|| room.lock_within("lock", Duration::from_secs(60)).map(drop));
                away(&room);
                drop(held);
                let told = second.join().unwrap();
                assert!(matches!(told, Err(Error::Dropped { .. })), "{told:?}");
            });
        }
    }
}
