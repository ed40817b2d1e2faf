//! Kept bytes, by their hash: what a hand-back touched or left open can be had back until the workspace is dropped.
//!
//! What is kept is written at once and made durable together by `sync`: only then has it its name, so that a name
//! that is there is of bytes that are durable and whole. Keeps `resolution_loses_nothing`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::durable::sync_all;
use super::error::Error;
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

    /// Keeps what a file holds; its hash. Nothing can be read of it, and nothing is durable, before `sync`.
    pub fn keep(&self, from: &mut impl Read) -> Result<Hash, Error> {
        let new = self.dir.join(format!(".new-{}", Uuid::now_v7().simple()));
        let mut to = private::create(&new)?;
        let hash = copy(from, &mut to).map_err(|source| {
            let _ = std::fs::remove_file(&new);
            Error::Io { what: "keep a version in", path: self.dir.clone(), source }
        })?;
        if self.has(hash) {
            std::fs::remove_file(&new).map_err(Error::io("keep a version in", &self.dir))?;
        } else {
            self.written().insert(hash, new);
        }
        Ok(hash)
    }

    /// Makes all that was kept durable, and only then gives it its names.
    pub fn sync(&self) -> Result<(), Error> {
        let written = std::mem::take(&mut *self.written());
        if written.is_empty() {
            return Ok(());
        }
        let written: Vec<(Hash, PathBuf)> = written.into_iter().collect();
        sync_all(&written, |(_, new)| {
            File::open(new)
                .and_then(|file| file.sync_data())
                .map_err(Error::io("sync a version in", &self.dir))
        })?;
        for (hash, new) in &written {
            std::fs::rename(new, self.path(*hash)).map_err(Error::io("keep a version in", &self.dir))?;
        }
        Ok(private::sync_dir(&self.dir)?)
    }

    /// Opens kept bytes.
    pub fn file(&self, hash: Hash) -> Result<File, Error> {
        Ok(private::open(&self.path(hash))?)
    }

    /// How long kept bytes are.
    pub fn len(&self, hash: Hash) -> Result<u64, Error> {
        Ok(self.file(hash)?.metadata().map_err(Error::io("look at a version in", &self.dir))?.len())
    }

    /// The kept bytes of a version; none if it is no file.
    pub fn bytes(&self, version: &Version) -> Result<Option<Vec<u8>>, Error> {
        match version {
            Version::File { hash, .. } => Ok(Some(private::read(&self.path(*hash))?)),
            Version::Absent | Version::Link { .. } | Version::InTheWay(_) => Ok(None),
        }
    }
}

fn copy(from: &mut impl Read, to: &mut File) -> io::Result<Hash> {
    let (mut hash, mut buffer) = (Sha256::new(), [0_u8; 64 * 1024]);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(Hash(hash.finalize().into())),
            Ok(count) => {
                hash.update(&buffer[..count]);
                to.write_all(&buffer[..count])?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
