//! A directory that is never left: every path is opened beneath it by the kernel, and no link is followed.
//!
//! Keeps `handback_stays_inside`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::law::hand_back::tree::{Hash, Obstacle, TreePath, Version};

const INSIDE: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// A directory that is open.
#[derive(Debug)]
pub struct Beneath {
    top: OwnedFd,
}

/// The name of a path within its directory.
pub fn name(path: &TreePath) -> &OsStr {
    OsStr::from_bytes(path.name())
}

/// Whether an answer of the kernel says that something else is where a directory should be.
pub fn is_blocked(error: Errno) -> bool {
    matches!(error, Errno::NOTDIR | Errno::LOOP | Errno::XDEV)
}

/// Whether we may not look at it. (A kernel that forbids the call itself says something else.)
fn is_closed(error: Errno) -> bool {
    error == Errno::ACCESS
}

impl Beneath {
    /// Opens a directory; it may be reached through links.
    pub fn open(path: &Path) -> io::Result<Beneath> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Beneath { top: rustix::fs::open(path, flags, Mode::empty())? })
    }

    /// Opens a directory beneath; none: the top.
    pub fn dir(&self, path: Option<&TreePath>) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let path = path.map_or(OsStr::new("."), |path| OsStr::from_bytes(path.as_bytes()));
        again(|| rustix::fs::openat2(&self.top, path, flags, Mode::empty(), INSIDE))
    }

    /// The directory that a path is in.
    pub fn dir_of(&self, path: &TreePath) -> Result<OwnedFd, Errno> {
        self.dir(path.above().as_ref())
    }

    /// The same, and makes what is missing of it.
    pub fn made_dir_of(&self, path: &TreePath) -> Result<OwnedFd, Errno> {
        let Some(above) = path.above() else { return self.dir(None) };
        match self.dir(Some(&above)) {
            Err(Errno::NOENT) => {
                let outer = self.made_dir_of(&above)?;
                match rustix::fs::mkdirat(&outer, name(&above), Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => self.dir(Some(&above)),
                    Err(error) => Err(error),
                }
            }
            other => other,
        }
    }

    /// What is at a path.
    pub fn version(&self, path: &TreePath) -> Result<Version, Errno> {
        match self.dir_of(path) {
            Ok(dir) => version_in(&dir, name(path)),
            Err(Errno::NOENT) => Ok(Version::Absent),
            Err(error) if is_blocked(error) => Ok(Version::InTheWay(Obstacle::Above)),
            Err(error) if is_closed(error) => Ok(Version::InTheWay(Obstacle::Special)),
            Err(error) => Err(error),
        }
    }

    /// The file at a path, for reading; no link is followed and nothing waits.
    pub fn file(&self, path: &TreePath) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let path = OsStr::from_bytes(path.as_bytes());
        Ok(File::from(again(|| rustix::fs::openat2(&self.top, path, flags, Mode::empty(), INSIDE))?))
    }

    /// What the system says of a path itself.
    pub fn stat(&self, path: &TreePath) -> Result<Stat, Errno> {
        rustix::fs::statat(self.dir_of(path)?, name(path), AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// Looks at many paths, the directory of the last one kept open: quick for paths in order. Only for a directory in
/// which nobody moves directories meanwhile.
#[derive(Debug)]
pub struct Nearby<'a> {
    beneath: &'a Beneath,
    open: Option<(TreePath, OwnedFd)>,
}

impl<'a> Nearby<'a> {
    /// Beneath a directory.
    pub fn of(beneath: &'a Beneath) -> Nearby<'a> {
        Nearby { beneath, open: None }
    }

    /// What the system says of a path itself.
    pub fn stat(&mut self, path: &TreePath) -> Result<Stat, Errno> {
        let Some(above) = path.dir() else {
            return rustix::fs::statat(&self.beneath.top, name(path), AtFlags::SYMLINK_NOFOLLOW);
        };
        let dir = match self.open.take() {
            Some(open) if open.0.as_bytes() == above => open,
            _ => {
                let Some(above) = path.above() else { return Err(Errno::NOENT) };
                let dir = self.beneath.dir(Some(&above))?;
                (above, dir)
            }
        };
        rustix::fs::statat(&self.open.insert(dir).1, name(path), AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// What is in a directory under a name.
pub fn version_in(dir: &OwnedFd, name: &OsStr) -> Result<Version, Errno> {
    let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(Version::Absent),
        Err(error) => return Err(error),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let mut file = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
                Ok(file) => File::from(file),
                Err(error) if is_closed(error) => return Ok(Version::InTheWay(Obstacle::Special)),
                Err(error) => return Err(error),
            };
            let hash = hash(&mut file).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            Ok(Version::File { hash, executable: stat.st_mode & 0o100 != 0 })
        }
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(dir, name, Vec::new())?;
            Ok(Version::Link { target: target.into_bytes() })
        }
        FileType::Directory => Ok(Version::InTheWay(Obstacle::Directory)),
        _ => Ok(Version::InTheWay(Obstacle::Special)),
    }
}

/// The hash of what is left to read of a file.
pub fn hash(from: &mut impl Read) -> io::Result<Hash> {
    let (mut hash, mut buffer) = (Sha256::new(), [0_u8; 64 * 1024]);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(Hash(hash.finalize().into())),
            Ok(count) => hash.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Makes the names in a directory durable.
pub fn sync(dir: impl AsFd) -> Result<(), Errno> {
    rustix::fs::fsync(dir)
}

/// The kernel asks to try again where something is renamed at the same time.
fn again(mut open: impl FnMut() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    const TRIES: usize = 64;
    for _ in 1..TRIES {
        match open() {
            Err(Errno::AGAIN) => {}
            other => return other,
        }
    }
    open()
}
