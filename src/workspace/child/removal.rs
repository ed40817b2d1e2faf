//! Removing what is ours of a workspace, whatever an agent made of it: no link is followed, and a directory that may
//! not be written (as package caches make them) is opened first.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::beneath::{Beneath, let_in, name};
use super::error::Error;
use crate::law::hand_back::tree::TreePath;

/// Names a directory without opening it.
const NAMING: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How deep directories are opened. What is deeper cannot be named by a path either.
const DEPTH_MAX: usize = 2048;

/// Removes a directory and all that is in it; that there is none is fine. A link is removed as such.
pub(super) fn remove_all(dir: &Path) -> Result<(), Error> {
    let removed = match fs::remove_dir_all(dir) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_all(dir);
            fs::remove_dir_all(dir)
        }
        other => other,
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", dir)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Moves what is to be removed; that there is none is fine. A directory that is closed to its owner is opened for it.
pub(super) fn move_aside(dir: &Path, to: &Path) -> Result<(), Error> {
    let moved = match fs::rename(dir, to) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let named = rustix::fs::open(dir, NAMING, Mode::empty());
            let _ = named.is_ok_and(|named| let_in(&named).is_ok());
            fs::rename(dir, to)
        }
        other => other,
    };
    match moved {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("move aside", dir)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes a file or link of a copy, and the directories that it emptied. What cannot be removed stays.
pub(super) fn remove(copy: &Beneath, path: &TreePath) {
    let unlink = || rustix::fs::unlinkat(copy.dir_of(path)?, name(path), AtFlags::empty());
    if unlink() == Err(Errno::ACCESS) && copy.dir_of(path).is_ok_and(|dir| let_in(&dir).is_ok()) {
        let _ = unlink();
    }
    for above in path.all_above() {
        let Ok(outer) = copy.dir_of(&above) else { continue };
        match rustix::fs::unlinkat(&outer, name(&above), AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::ACCESS) if let_in(&outer).is_ok() => {
                let _ = rustix::fs::unlinkat(&outer, name(&above), AtFlags::REMOVEDIR);
            }
            Err(_) => break,
        }
    }
}

/// Opens every directory, as far as the system allows it.
fn open_all(dir: &Path) {
    if let Ok(named) = rustix::fs::open(dir, NAMING, Mode::empty()) {
        open_beneath(&named, DEPTH_MAX);
    }
}

fn open_beneath(named: &OwnedFd, depth: usize) {
    let _ = let_in(named);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(open) = rustix::fs::openat(named, ".", flags, Mode::empty()) else { return };
    let Ok(mut list) = rustix::fs::Dir::read_from(&open) else { return };
    while let Some(Ok(item)) = list.read() {
        let is_dir = matches!(item.file_type(), FileType::Directory | FileType::Unknown);
        if depth == 0 || !is_dir || matches!(item.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        if let Ok(inner) = rustix::fs::openat(&open, item.file_name(), NAMING, Mode::empty()) {
            open_beneath(&inner, depth - 1);
        }
    }
}
