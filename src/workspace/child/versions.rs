//! Kept bytes, by their hash: what a hand-back touched or left open can be had back until the workspace is dropped.
//!
//! What is kept is written at once and made durable together by `sync`: only then has it its name, so that a name
//! that is there is of bytes that are durable and whole. The base's is not written once more, but gets a second name: its
//! file is ours alone. It has the mode that it had; the directory is closed to others. Keeps `resolution_loses_nothing`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, Mode, OFlags};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::durable::sync_all;
use super::error::Error;
use super::sparse::Appending;
use crate::law::hand_back::tree::{Hash, Version};
use crate::store::private;

/// The directory of kept bytes.
#[derive(Debug)]
pub struct Versions {
    dir: PathBuf,
    /// What was written and has no name yet.
    written: Mutex<BTreeMap<Hash, PathBuf>>,
}

impl Versions {
    /// Opens the directory, making it if it is not there.
    pub fn open(dir: &Path) -> Result<Versions, Error> {
        private::dir(dir)?;
        Ok(Versions { dir: dir.to_owned(), written: Mutex::default() })
    }

    /// Removes what somebody who was cut has written and not named. Only for who holds the workspace's lock.
    pub(super) fn sweep(&self) {
        private::sweep(&self.dir);
    }

    fn path(&self, hash: Hash) -> PathBuf {
        self.dir.join(hash.to_string())
    }

    fn written(&self) -> MutexGuard<'_, BTreeMap<Hash, PathBuf>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether these bytes are kept, or will be with the next `sync`.
    pub fn has(&self, hash: Hash) -> bool {
        self.written().contains_key(&hash) || self.path(hash).exists()
    }

    /// Keeps a file of ours into which nobody writes, whose bytes have this hash, by a second name of it; whether that
    /// could be.
    pub(super) fn keep_ours(&self, dir: &OwnedFd, name: &OsStr, hash: Hash) -> bool {
        let new = self.new_path();
        let linked = rustix::fs::linkat(dir, name, rustix::fs::CWD, &new, AtFlags::empty());
        if linked.is_ok() {
            self.name_later(hash, new);
        }
        linked.is_ok()
    }

    /// What was written gets its name with the next `sync`, unless these bytes are kept already: another thread may
    /// have kept the same ones.
    fn name_later(&self, hash: Hash, new: PathBuf) {
        let mut written = self.written();
        if written.contains_key(&hash) || self.path(hash).exists() {
            let _ = std::fs::remove_file(&new);
        } else {
            written.insert(hash, new);
        }
    }

    fn new_path(&self) -> PathBuf {
        self.dir.join(format!(".new-{}", Uuid::now_v7().simple()))
    }

    /// Keeps what a file holds; its hash. Nothing of it is durable before `sync`.
    pub fn keep(&self, from: &mut impl Read) -> Result<Hash, Error> {
        let new = self.new_path();
        let mut to = private::create(&new)?;
        let hash = copy(from, &mut to).map_err(|source| {
            let _ = std::fs::remove_file(&new);
            Error::Io { what: "keep a version in", path: self.dir.clone(), source }
        })?;
        self.name_later(hash, new);
        Ok(hash)
    }

    /// Makes all that was kept durable, and only then gives it its names.
    pub fn sync(&self) -> Result<(), Error> {
        self.sync_with::<()>(&[], |()| Ok(()))
    }

    /// The same, and makes others durable at the same time: a journal commits once for all of them.
    pub(super) fn sync_with<T: Sync>(
        &self,
        others: &[T],
        sync1: impl Fn(&T) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let written: Vec<(Hash, PathBuf)> = self.written().clone().into_iter().collect();
        let all: Vec<Either<'_, T>> = others
            .iter()
            .map(Either::Other)
            .chain(written.iter().map(|(_, new)| Either::Kept(new)))
            .collect();
        sync_all(&all, |one| match one {
            Either::Other(other) => sync1(other),
            Either::Kept(new) => File::open(new)
                .and_then(|file| file.sync_data())
                .map_err(Error::io("sync a version in", &self.dir)),
        })?;
        for (hash, new) in &written {
            std::fs::rename(new, self.path(*hash)).map_err(Error::io("keep a version in", &self.dir))?;
            self.written().remove(hash);
        }
        if written.is_empty() { Ok(()) } else { Ok(private::sync_dir(&self.dir)?) }
    }

    /// Opens kept bytes.
    pub fn file(&self, hash: Hash) -> Result<File, Error> {
        let unsynced = self.written().get(&hash).cloned();
        let path = unsynced.unwrap_or_else(|| self.path(hash));
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = rustix::fs::open(&path, flags, Mode::empty());
        open.map(File::from).map_err(|error| Error::io("open the version", &path)(error.into()))
    }

    /// How long kept bytes are.
    pub fn len(&self, hash: Hash) -> Result<u64, Error> {
        Ok(self.file(hash)?.metadata().map_err(Error::io("look at a version in", &self.dir))?.len())
    }

    /// The kept bytes of a version; none if it is no file.
    pub fn bytes(&self, version: &Version) -> Result<Option<Vec<u8>>, Error> {
        match version {
            Version::File { hash, .. } => {
                let mut bytes = Vec::new();
                let read = self.file(*hash)?.read_to_end(&mut bytes);
                read.map_err(Error::io("read a version in", &self.dir))?;
                Ok(Some(bytes))
            }
            Version::Absent | Version::Link { .. } | Version::InTheWay(_) => Ok(None),
        }
    }
}

impl Drop for Versions {
    /// What got no name is nobody's: it gives its room back.
    fn drop(&mut self) {
        for new in self.written().values() {
            let _ = std::fs::remove_file(new);
        }
    }
}

/// What is made durable together.
enum Either<'a, T> {
    Kept(&'a PathBuf),
    Other(&'a T),
}

fn copy(from: &mut impl Read, to: &mut File) -> io::Result<Hash> {
    let (mut hash, mut buffer) = (Sha256::new(), [0_u8; 64 * 1024]);
    let mut to = Appending::to(to);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => {
                to.end()?;
                return Ok(Hash(hash.finalize().into()));
            }
            Ok(count) => {
                hash.update(&buffer[..count]);
                to.put(&buffer[..count])?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
