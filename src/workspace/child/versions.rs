//! Kept bytes, by their hash: what a hand-back touched or left open can be had back until the workspace is dropped.
//!
//! Keeps `resolution_loses_nothing`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::error::Error;
use crate::law::hand_back::tree::{Hash, Version};
use crate::store::private;

/// The directory of kept bytes.
#[derive(Clone, Debug)]
pub struct Versions {
    dir: PathBuf,
}

impl Versions {
    /// Opens the directory, making it if it is not there.
    pub fn open(dir: &Path) -> Result<Versions, Error> {
        private::dir(dir)?;
        Ok(Versions { dir: dir.to_owned() })
    }

    fn path(&self, hash: Hash) -> PathBuf {
        self.dir.join(hash.to_string())
    }

    /// Keeps what a file holds, durably; its hash.
    pub fn keep(&self, from: &mut impl Read) -> Result<Hash, Error> {
        let new = self.dir.join(format!(".new-{}", Uuid::now_v7().simple()));
        let mut to = private::create(&new)?;
        let kept = copy(from, &mut to).and_then(|hash| {
            // what is kept already is synced already
            if self.path(hash).exists() { Ok(hash) } else { to.sync_data().map(|()| hash) }
        });
        let hash = kept.map_err(|source| {
            let _ = std::fs::remove_file(&new);
            Error::Io { what: "keep a version in", path: self.dir.clone(), source }
        })?;
        let kept = self.path(hash);
        let placed = if kept.exists() { std::fs::remove_file(&new) } else { std::fs::rename(&new, &kept) };
        placed.map_err(Error::io("keep a version in", &self.dir))?;
        Ok(hash)
    }

    /// Opens kept bytes.
    pub fn file(&self, hash: Hash) -> Result<File, Error> {
        Ok(private::open(&self.path(hash))?)
    }

    /// The kept bytes of a version; none if it is no file.
    pub fn bytes(&self, version: &Version) -> Result<Option<Vec<u8>>, Error> {
        match version {
            Version::File { hash, .. } => Ok(Some(private::read(&self.path(*hash))?)),
            Version::Absent | Version::Link { .. } | Version::InTheWay(_) => Ok(None),
        }
    }

    /// Makes the names durable.
    pub fn sync(&self) -> Result<(), Error> {
        Ok(private::sync_dir(&self.dir)?)
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
