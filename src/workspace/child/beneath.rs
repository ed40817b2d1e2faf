//! A directory that is never left: every path is opened beneath it by the kernel, and no link is followed.
//!
//! One that is ours (an agent's copy) is also opened where the agent closed it: its directories stay open, its files
//! get their permissions again. Keeps `handback_stays_inside`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::law::hand_back::tree::{Hash, Obstacle, TreePath, Version};

const INSIDE: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

const READING: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);
const FILE: OFlags = READING.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);
const DIRECTORY: OFlags = READING.union(OFlags::DIRECTORY);
/// Names something without opening it, so that it need not be readable.
const NAMING: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory that is open.
#[derive(Debug)]
pub struct Beneath {
    top: OwnedFd,
    /// Whether what is closed to us in it is opened.
    ours: bool,
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
        Ok(Beneath { top: rustix::fs::open(path, DIRECTORY, Mode::empty())?, ours: false })
    }

    /// Opens a directory of ours, which is no link.
    pub fn open_ours(path: &Path) -> io::Result<Beneath> {
        let named = rustix::fs::open(path, NAMING | OFlags::DIRECTORY, Mode::empty())?;
        let open = || rustix::fs::openat(&named, ".", DIRECTORY, Mode::empty());
        let top = match open() {
            Err(Errno::ACCESS) => let_in(&named).and_then(|()| open()),
            other => other,
        };
        Ok(Beneath { top: top?, ours: true })
    }

    /// Opens a directory beneath; none: the top.
    pub fn dir(&self, path: Option<&TreePath>) -> Result<OwnedFd, Errno> {
        let name = path.map_or(OsStr::new("."), |path| OsStr::from_bytes(path.as_bytes()));
        let open = || again(|| rustix::fs::openat2(&self.top, name, DIRECTORY, Mode::empty(), INSIDE));
        match (open(), path) {
            (Err(Errno::ACCESS), Some(path)) if self.ours => {
                self.open_up(path);
                open()
            }
            (other, _) => other,
        }
    }

    /// Lets us into a directory of ours and those above it, as far as the system allows it.
    fn open_up(&self, path: &TreePath) {
        let mut dirs: Vec<TreePath> = path.all_above().collect();
        dirs.reverse();
        for dir in dirs.iter().chain([path]) {
            let name = OsStr::from_bytes(dir.as_bytes());
            let named = again(|| {
                rustix::fs::openat2(&self.top, name, NAMING | OFlags::DIRECTORY, Mode::empty(), INSIDE)
            });
            if !named.is_ok_and(|named| let_in(&named).is_ok()) {
                break;
            }
        }
    }

    /// The directory that a path is in.
    pub fn dir_of(&self, path: &TreePath) -> Result<OwnedFd, Errno> {
        self.dir(path.above().as_ref())
    }

    /// The same, and makes what is missing of it, with the permission bits that are known of it.
    pub fn made_dir_of(
        &self,
        path: &TreePath,
        bits: &dyn Fn(&TreePath) -> Option<u32>,
    ) -> Result<OwnedFd, Errno> {
        let Some(above) = path.above() else { return self.dir(None) };
        match self.dir(Some(&above)) {
            Err(Errno::NOENT) => {
                let outer = self.made_dir_of(&above, bits)?;
                // its owner has to put something into it
                let known = bits(&above).map(|bits| Mode::from_raw_mode(bits & 0o7777 | 0o700));
                let mode = known.unwrap_or(Mode::from_raw_mode(0o777));
                match rustix::fs::mkdirat(&outer, name(&above), mode) {
                    Ok(()) => {
                        let made = self.dir(Some(&above))?;
                        if let Some(known) = known {
                            // what the umask took away
                            rustix::fs::fchmod(&made, known)?;
                        }
                        Ok(made)
                    }
                    Err(Errno::EXIST) => self.dir(Some(&above)),
                    Err(error) => Err(error),
                }
            }
            other => other,
        }
    }

    /// The permission bits of what is at a path, if it is of that kind.
    pub fn bits(&self, path: &TreePath, kind: FileType) -> Option<u32> {
        let mode = self.stat(path).ok()?.st_mode;
        (FileType::from_raw_mode(mode) == kind).then_some(mode & 0o7777)
    }

    /// Whether the system refuses changes in the nearest directory of a path that is there.
    pub fn is_refused(&self, path: &TreePath) -> bool {
        let near = path.all_above().find_map(|above| self.dir(Some(&above)).ok());
        let Some(near) = near.or_else(|| self.dir(None).ok()) else { return false };
        let asked = rustix::fs::accessat(&near, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
        // a kernel that cannot be asked so is asked by trying
        matches!(asked, Err(Errno::ACCESS | Errno::PERM | Errno::ROFS))
    }

    /// What is at a path.
    pub fn version(&self, path: &TreePath) -> Result<Version, Errno> {
        match self.dir_of(path) {
            Ok(dir) => version1(&dir, name(path), self.ours),
            Err(Errno::NOENT) => Ok(Version::Absent),
            Err(error) if is_blocked(error) => Ok(Version::InTheWay(Obstacle::Above)),
            Err(error) if is_closed(error) => Ok(Version::InTheWay(Obstacle::Special)),
            Err(error) => Err(error),
        }
    }

    /// The file at a path, for reading; no link is followed and nothing waits.
    pub fn file(&self, path: &TreePath) -> Result<File, Errno> {
        let whole = OsStr::from_bytes(path.as_bytes());
        match again(|| rustix::fs::openat2(&self.top, whole, FILE, Mode::empty(), INSIDE)) {
            Err(Errno::ACCESS) if self.ours => open1(&self.dir_of(path)?, name(path), true),
            other => other.map(File::from),
        }
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
    version1(dir, name, false)
}

fn version1(dir: &OwnedFd, name: &OsStr, ours: bool) -> Result<Version, Errno> {
    let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(Version::Absent),
        Err(error) if is_closed(error) => return Ok(Version::InTheWay(Obstacle::Special)),
        Err(error) => return Err(error),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let mut file = match open1(dir, name, ours) {
                Ok(file) => file,
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

/// Opens a file for reading. One of ours that is closed to us is opened all the same, and closed again for others.
fn open1(dir: &OwnedFd, name: &OsStr, ours: bool) -> Result<File, Errno> {
    match rustix::fs::openat(dir, name, FILE, Mode::empty()) {
        Err(Errno::ACCESS) if ours => {
            let named = rustix::fs::openat(dir, name, NAMING, Mode::empty())?;
            let mode = rustix::fs::fstat(&named)?.st_mode & 0o7777;
            let itself = itself(&named);
            let refused = |_| Errno::ACCESS;
            rustix::fs::chmod(&itself, Mode::from_raw_mode(mode | 0o400)).map_err(refused)?;
            let file = rustix::fs::open(&itself, READING | OFlags::NONBLOCK, Mode::empty());
            rustix::fs::chmod(&itself, Mode::from_raw_mode(mode)).map_err(refused)?;
            file.map(File::from)
        }
        other => other.map(File::from),
    }
}

/// Lets its owner list, enter and change a directory.
pub fn let_in(named: &OwnedFd) -> Result<(), Errno> {
    let mode = rustix::fs::fstat(named)?.st_mode & 0o7777;
    if mode & 0o700 == 0o700 {
        return Ok(());
    }
    rustix::fs::chmod(itself(named), Mode::from_raw_mode(mode | 0o700))
}

/// A name of what is named by a descriptor, and of nothing else, whatever is renamed meanwhile.
fn itself(named: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", named.as_raw_fd())
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
