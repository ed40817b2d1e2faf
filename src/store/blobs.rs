//! Bytes kept beside the journal, once each, named by their SHA-256 in hex.
//!
//! A blob is in place whole or not at all. What refers to it is the journal's. Nothing is removed here.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::Error;
use super::private;

/// The blobs of a session. Cheap to clone; made on first use.
#[derive(Clone, Debug)]
pub struct Blobs {
    dir: PathBuf,
}

/// SHA-256 in hex.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Blobs {
    /// The blobs in this directory, whose parent must be there by the first `keep`.
    pub fn at(dir: impl Into<PathBuf>) -> Blobs {
        Blobs { dir: dir.into() }
    }
    /// Keeps bytes and returns their hash. Durable when it returns. Blocking.
    pub fn keep(&self, bytes: &[u8]) -> Result<String, Error> {
        let hash = hash(bytes);
        private::dir(&self.dir)?;
        let path = self.dir.join(&hash);
        let whole = |meta: Metadata| meta.is_file() && meta.size() == bytes.len() as u64;
        if !path.symlink_metadata().is_ok_and(whole) {
            private::replace(&path, bytes)?;
        }
        Ok(hash)
    }
    /// The bytes of a hash, checked against it. Blocking.
    pub fn load(&self, name: &str) -> Result<Vec<u8>, Error> {
        let wrong = |wrong: &str| Error::Blob { hash: name.to_owned(), wrong: wrong.to_owned() };
        if name.len() != 64 || !name.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong("have no hash for a name"));
        }
        let path = self.dir.join(name);
        if !path.exists() {
            return Err(wrong("are gone"));
        }
        let bytes = private::read(&path)?;
        if hash(&bytes) != name.to_ascii_lowercase() {
            return Err(wrong("are damaged"));
        }
        Ok(bytes)
    }
    /// Where the bytes of a hash stand.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}
