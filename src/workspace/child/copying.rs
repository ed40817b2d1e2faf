//! Making copies: the base from the directory, and the child's copy from the base, so that a save in between is
//! nobody's change.
//!
//! Extents are cloned where the filesystem can; else bytes are copied, and the counts tell. The executable bit, links
//! (as links), holes and times are kept. Sockets, devices and FIFOs are skipped and named.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;

use super::Progress;
use super::at_once::work_on_all;
use super::beneath::{Beneath, name};
use super::error::Error;
use super::marks::Mark;
use super::run::umask;
use super::sparse;
use crate::law::hand_back::tree::TreePath;

/// How many paths a thread takes at once.
const PORTION: usize = 64;

/// Largest files that are read and written at once, in bytes.
pub(super) const SMALL_MAX: usize = 128 * 1024;

/// What one copy came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files whose extents were cloned.
    pub cloned: u64,
    /// Files whose bytes were copied.
    pub copied: u64,
    /// Links.
    pub links: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// What is no file and no link, or could not be read: not copied.
    pub skipped: Vec<TreePath>,
    /// What was copied, in order, and how the copies are.
    pub made: Vec<(TreePath, Mark)>,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.cloned += other.cloned;
        self.copied += other.copied;
        self.links += other.links;
        self.bytes += other.bytes;
        self.skipped.extend(other.skipped);
        self.made.extend(other.made);
    }
}

/// Copies paths, in order, from one directory to another, which must be there and empty. What is gone meanwhile is
/// left away.
pub fn copy(
    from: &Path,
    to: &Path,
    paths: &[&TreePath],
    clones: &AtomicBool,
    progress: &Progress,
) -> Result<Counts, Error> {
    let source = Beneath::open(from).map_err(Error::io("open", from))?;
    let target = Beneath::open(to).map_err(Error::io("open", to))?;
    let umask = umask();
    let begin = || Worker {
        source: &source,
        target: &target,
        clones,
        umask,
        counts: Counts::default(),
        open: None,
        buffer: vec![0; SMALL_MAX + 1],
    };
    let portions: Vec<&[&TreePath]> = paths.chunks(PORTION).collect();
    let parts = work_on_all(&portions, begin, |worker, portion| {
        if progress.cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        portion.iter().try_for_each(|path| worker.copy1(path, progress))?;
        Ok(std::mem::take(&mut worker.counts))
    })?;
    if progress.cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    let mut counts = Counts::default();
    parts.into_iter().for_each(|part| counts.add(part));
    counts.skipped.sort();
    counts.made.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(counts)
}

struct Worker<'a> {
    source: &'a Beneath,
    target: &'a Beneath,
    clones: &'a AtomicBool,
    umask: u32,
    counts: Counts,
    buffer: Vec<u8>,
    /// The directories of the last path: paths come in order.
    open: Option<(Option<TreePath>, OwnedFd, OwnedFd)>,
}

impl Worker<'_> {
    fn copy1(&mut self, path: &TreePath, progress: &Progress) -> Result<(), Error> {
        if self.open.as_ref().is_none_or(|(open, _, _)| open.as_ref().map(TreePath::as_bytes) != path.dir()) {
            let above = path.above();
            let source = match self.source.dir_of(path) {
                Ok(dir) => dir,
                // gone meanwhile, swapped for a link, or closed to us
                Err(_) => return self.skip(path),
            };
            let target = self.target.made_dir_of(path, &|_| None).map_err(Error::copy(path))?;
            self.open = Some((above, source, target));
        }
        let Some((_, source, target)) = &self.open else { return Ok(()) };
        let stat = match rustix::fs::statat(source, name(path), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(()),
            Err(_) => return self.skip(path),
        };
        let made = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let copying = Copying { clones: self.clones, umask: self.umask, buffer: &mut self.buffer };
                copying.file(source, target, name(path), &stat).map(|(done, mark)| {
                    match done {
                        Done::Cloned => self.counts.cloned += 1,
                        Done::Copied => self.counts.copied += 1,
                    }
                    mark
                })
            }
            FileType::Symlink => {
                self.counts.links += 1;
                link(source, target, name(path), &stat)
            }
            _ => return self.skip(path),
        };
        match made {
            Ok(mark) => {
                let bytes = u64::try_from(stat.st_size).unwrap_or(0);
                self.counts.bytes += bytes;
                self.counts.made.push((path.clone(), mark));
                progress.files.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(Failed::Source(Errno::NOENT)) => Ok(()),
            Err(Failed::Source(_)) => self.skip(path),
            Err(Failed::Target(error)) => Err(Error::copy(path)(error)),
        }
    }
}

impl Worker<'_> {
    fn skip(&mut self, path: &TreePath) -> Result<(), Error> {
        self.counts.skipped.push(path.clone());
        Ok(())
    }
}

enum Done {
    Cloned,
    Copied,
}

enum Failed {
    /// The original cannot be read.
    Source(Errno),
    /// The copy cannot be written.
    Target(Errno),
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// What copying one file needs.
struct Copying<'a> {
    clones: &'a AtomicBool,
    umask: u32,
    buffer: &'a mut [u8],
}

impl Copying<'_> {
    fn file(
        self,
        source: &OwnedFd,
        target: &OwnedFd,
        name: &OsStr,
        stat: &Stat,
    ) -> Result<(Done, Mark), Failed> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let from = rustix::fs::openat(source, name, flags, Mode::empty()).map_err(Failed::Source)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // readable and writable by its owner, whatever it was: the child works with it
        let mode = (stat.st_mode & 0o777) | 0o600;
        let to =
            rustix::fs::openat(target, name, flags, Mode::from_raw_mode(mode)).map_err(Failed::Target)?;
        let (mut from, mut to) = (File::from(from), File::from(to));
        let done = if self.clones.load(Ordering::Relaxed) && rustix::fs::ioctl_ficlone(&to, &from).is_ok() {
            Done::Cloned
        } else {
            // one that cannot be cloned tells of the others: they are on the same filesystems
            self.clones.store(false, Ordering::Relaxed);
            let copied = match sparse::is_sparse(stat) {
                true => sparse::copy(&mut from, &mut to),
                false => bytes(&mut from, &mut to, self.buffer),
            };
            copied.map_err(|error| Failed::Target(errno(&error)))?;
            Done::Copied
        };
        if mode & self.umask != 0 {
            rustix::fs::fchmod(&to, Mode::from_raw_mode(mode)).map_err(Failed::Target)?;
        }
        rustix::fs::futimens(&to, &times(stat)).map_err(Failed::Target)?;
        Ok((done, Mark::of(&rustix::fs::fstat(&to).map_err(Failed::Target)?)))
    }
}

/// Copies what is left of a file: a small one by one read and one write, which is quicker than to have the kernel
/// move its pages.
pub(super) fn bytes(from: &mut File, to: &mut File, buffer: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => return to.write_all(&buffer[..filled]),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    to.write_all(&buffer[..filled])?;
    io::copy(from, to).map(drop)
}

fn link(source: &OwnedFd, target: &OwnedFd, name: &OsStr, stat: &Stat) -> Result<Mark, Failed> {
    let to = rustix::fs::readlinkat(source, name, Vec::new()).map_err(Failed::Source)?;
    rustix::fs::symlinkat(OsStr::from_bytes(to.as_bytes()), target, name).map_err(Failed::Target)?;
    // some filesystems keep no times of links
    let _ = rustix::fs::utimensat(target, name, &times(stat), AtFlags::SYMLINK_NOFOLLOW);
    let made = rustix::fs::statat(target, name, AtFlags::SYMLINK_NOFOLLOW).map_err(Failed::Target)?;
    Ok(Mark::of(&made))
}

#[allow(clippy::unnecessary_cast)] // the widths differ between platforms
fn times(stat: &Stat) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: stat.st_atime as _, tv_nsec: stat.st_atime_nsec as _ },
        last_modification: Timespec { tv_sec: stat.st_mtime as _, tv_nsec: stat.st_mtime_nsec as _ },
    }
}
