//! Whether there is room for base and copy, asked before the first file is made.
//!
//! Where extents can be cloned nothing is asked: a clone takes next to nothing. What others write meanwhile is not known,
//! so a copy that had room can still fail; then nothing is left of it either.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use rustix::fs::{FileType, Stat};

use super::beneath::{Beneath, Nearby};
use super::error::Error;
use super::sparse::on_disk;
use crate::law::hand_back::tree::TreePath;
use crate::store::private;

/// How many copies are made.
const COPIES: u64 = 2;

/// Bytes that filesystems give a file at once.
const UNIT_BYTES: u64 = 4096;

/// How many files are tried to be cloned before it is said that none can be.
const TRIED_MAX: usize = 8;

/// Refuses copies of the files of `from` for which `room`, a directory that is there, has not enough left.
pub(super) fn check(from: &Path, room: &Path, paths: &BTreeSet<TreePath>) -> Result<(), Error> {
    let source = Beneath::open(from).map_err(Error::io("open", from))?;
    let told = rustix::fs::statvfs(room).map_err(|error| Error::io("look at", room)(error.into()))?;
    let left = told.f_bavail.saturating_mul(told.f_frsize);
    let mut nearby = Nearby::of(&source);
    let files = paths.iter().filter_map(|path| nearby.stat(path).ok());
    let needed = files.map(|stat| taken(&stat)).sum::<u64>().saturating_mul(COPIES);
    // a filesystem that does not say how large it is
    if needed <= left || told.f_blocks == 0 || clones(&source, room, paths)? {
        return Ok(());
    }
    Err(Error::NoRoom { path: from.to_owned(), needed, room: room.to_owned(), left })
}

/// What a copy of a file takes.
fn taken(stat: &Stat) -> u64 {
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return 0;
    }
    let whole = u64::try_from(stat.st_size).unwrap_or(0).next_multiple_of(UNIT_BYTES);
    // holes stay holes, and what is set aside for a file is not
    on_disk(stat).min(whole)
}

/// Whether extents can be cloned, tried with some files.
fn clones(from: &Beneath, room: &Path, paths: &BTreeSet<TreePath>) -> Result<bool, Error> {
    let at = room.join(".clone");
    let to = private::create(&at)?;
    let can = paths.iter().filter_map(|path| from.file(path).ok()).take(TRIED_MAX).any(|file: File| {
        let is_file = file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0);
        is_file && rustix::fs::ioctl_ficlone(&to, &file).is_ok()
    });
    std::fs::remove_file(&at).map_err(Error::io("remove", &at))?;
    Ok(can)
}
