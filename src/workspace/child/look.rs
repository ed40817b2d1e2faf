//! A version with its bytes, for somebody who looks at it: read once, so that the bytes are those of the hash.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::Room;
use super::beneath::Beneath;
use super::error::Error;
use super::versions::Versions;
use crate::law::hand_back::tree::{Hash, TreePath, Version};
use crate::law::merge::regions::is_binary;

/// Largest file that is looked at with its bytes; a larger one is taken whole or not.
pub const BYTES_MAX: u64 = 10 * 1024 * 1024;

/// How often a file is looked at again that is swapped meanwhile.
const LOOKS_MAX: usize = 16;

/// What is at a path, and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// What is there.
    pub version: Version,
    /// The bytes of a file that is not too large.
    pub bytes: Option<Vec<u8>>,
    /// The file's size in bytes; 0 for what is no file.
    pub len: u64,
}

impl Looked {
    /// Whether it is a text whose bytes are here.
    pub fn is_text(&self) -> bool {
        self.bytes.as_ref().is_some_and(|bytes| !is_binary(bytes))
    }
}

impl Looked {
    fn at(version: Version) -> Looked {
        Looked { version, bytes: None, len: 0 }
    }
}

impl Room {
    /// What the parent's directory has at a path now. A file of more than `bytes_max` comes without its bytes.
    pub fn look(&self, parent: &Path, path: &TreePath, bytes_max: u64) -> Result<Looked, Error> {
        let beneath = Beneath::open(parent).map_err(Error::io("open", parent))?;
        for _ in 0..LOOKS_MAX {
            let version = beneath.version(path).map_err(Error::at("read", path))?;
            if !matches!(version, Version::File { .. }) {
                return Ok(Looked::at(version));
            }
            if let Some(looked) = read(&beneath, path, bytes_max).map_err(Error::at("read", path))? {
                return Ok(looked);
            }
        }
        Err(Error::ChangedMeanwhile { path: path.clone() })
    }

    /// A version that is kept, in the same form.
    pub fn look_kept(&self, version: &Version, bytes_max: u64) -> Result<Looked, Error> {
        let Version::File { hash, .. } = version else { return Ok(Looked::at(version.clone())) };
        let file = Versions::open(&self.versions())?.file(*hash)?;
        let len = file.metadata().map_err(Error::io("look at", &self.versions()))?.len();
        let mut looked = Looked { version: version.clone(), bytes: None, len };
        if len <= bytes_max {
            let mut bytes = Vec::new();
            (&file).read_to_end(&mut bytes).map_err(Error::io("read a version in", &self.versions()))?;
            looked.bytes = Some(bytes);
        }
        Ok(looked)
    }
}

/// The file at a path; none: it is not there any more, or something else is.
fn read(beneath: &Beneath, path: &TreePath, bytes_max: u64) -> Result<Option<Looked>, Errno> {
    let file = match beneath.file(path) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => return Ok(None),
        Err(error) => return Err(error),
    };
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let looked = held(file, bytes_max);
    looked.map(Some).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// What an open file holds from its place on.
pub fn held(file: File, bytes_max: u64) -> io::Result<Looked> {
    let executable = fstat(&file)?.st_mode & 0o100 != 0;
    let (hash, len, bytes) = hashed(file, bytes_max)?;
    Ok(Looked { version: Version::File { hash, executable }, bytes, len })
}

fn hashed(mut from: File, bytes_max: u64) -> io::Result<(Hash, u64, Option<Vec<u8>>)> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0_u8; 64 * 1024]);
    let (mut kept, mut len) = (Some(Vec::new()), 0_u64);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok((Hash(hash.finalize().into()), len, kept)),
            Ok(count) => {
                hash.update(&buffer[..count]);
                len += count as u64;
                kept = kept.filter(|_| len <= bytes_max);
                if let Some(kept) = &mut kept {
                    kept.extend_from_slice(&buffer[..count]);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
