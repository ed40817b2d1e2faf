//! Private files and directories: 0600 and 0700 from their first moment, checked at every open.
//!
//! Never a chmod after the fact, so there is no moment in which another person could open them. The user's
//! own files (settings, the project) do not go through here. Keeps `private_on_create`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use uuid::Uuid;

use super::error::Error;

const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;

/// Makes sure that `path` is a private directory, and makes it (0700) if it is not there. The directory above
/// must be there.
pub fn dir(path: &Path) -> Result<(), Error> {
    match DirBuilder::new().mode(DIR_MODE).create(path) {
        Ok(()) => check_dir(path),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => check_dir(path),
        Err(e) => Err(Error::io("make the directory", path)(e)),
    }
}

/// The same, and makes what is missing above it (0700 as well; what is there already is left alone).
pub fn dir_all(path: &Path) -> Result<(), Error> {
    if let Some(above) = path.parent()
        && !above.as_os_str().is_empty()
        && !above.is_dir()
    {
        dir_all_missing(above)?;
    }
    dir(path)
}

fn dir_all_missing(path: &Path) -> Result<(), Error> {
    DirBuilder::new()
        .recursive(true)
        .mode(DIR_MODE)
        .create(path)
        .map_err(Error::io("make the directory", path))
}

/// Checks that a directory is one (no link), ours, and closed to others.
pub fn check_dir(path: &Path) -> Result<(), Error> {
    let meta = fs::symlink_metadata(path).map_err(Error::io("look at", path))?;
    if !meta.is_dir() {
        return Err(not_private(path, "is not a directory", "move it away".into()));
    }
    check(path, &meta, DIR_MODE)
}

/// Makes a new private file, open for reading and appending; an error if anything of that name is there.
pub fn create(path: &Path) -> Result<File, Error> {
    options(false)
        .append(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)
        .map_err(Error::io("make the file", path))
        .and_then(|file| checked(file, path))
}

/// Opens a private file for reading and appending, making it if it is not there.
pub fn append(path: &Path) -> Result<File, Error> {
    let open = || options(false).append(true).create(true).mode(FILE_MODE).open(path);
    open().map_err(Error::io("open", path)).and_then(|file| checked(file, path))
}

/// Opens a private file for reading and writing, making it if it is not there. What it holds stays.
pub fn open_or_create(path: &Path) -> Result<File, Error> {
    let open = || options(true).create(true).truncate(false).mode(FILE_MODE).open(path);
    open().map_err(Error::io("open", path)).and_then(|file| checked(file, path))
}

/// Opens a private file that is there, for reading.
pub fn open(path: &Path) -> Result<File, Error> {
    options(false).open(path).map_err(Error::io("open", path)).and_then(|file| checked(file, path))
}

/// Opens a private file that is there, for reading and appending.
pub fn open_append(path: &Path) -> Result<File, Error> {
    let open = || options(false).append(true).open(path);
    open().map_err(Error::io("open", path)).and_then(|file| checked(file, path))
}

/// Reads a private file whole.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let mut file = open(path)?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes).map_err(Error::io("read", path))?;
    Ok(bytes)
}

/// Puts a private file in place whole, whatever stood there: new file, sync, rename, sync of the directory.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let above = path.parent().unwrap_or(Path::new("/"));
    let new = above.join(format!("{NEW}{}", Uuid::now_v7().simple()));
    let written = create(&new).and_then(|mut file| {
        file.write_all(bytes).and_then(|()| file.sync_data()).map_err(Error::io("write", &new))
    });
    let placed = written.and_then(|()| fs::rename(&new, path).map_err(Error::io("put in place", path)));
    if placed.is_err() {
        let _ = fs::remove_file(&new);
    }
    placed.and_then(|()| sync_dir(above))
}

/// How the name of a file begins that is not in place yet.
const NEW: &str = ".new-";

/// Removes files that a crash left before they were in place. Only for a directory that nobody else writes to.
pub fn sweep(dir: &Path) {
    let Ok(list) = fs::read_dir(dir) else { return };
    for item in list.flatten() {
        if item.file_name().to_string_lossy().starts_with(NEW) {
            let _ = fs::remove_file(item.path());
        }
    }
}

/// Makes the names in a directory durable.
pub fn sync_dir(path: &Path) -> Result<(), Error> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(Error::io("sync the directory", path))
}

fn options(write: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.read(true).write(write).custom_flags(flags.bits() as i32);
    options
}

fn checked(file: File, path: &Path) -> Result<File, Error> {
    let meta = file.metadata().map_err(Error::io("look at", path))?;
    if !meta.is_file() {
        return Err(not_private(path, "is not a plain file", "move it away".into()));
    }
    check(path, &meta, FILE_MODE)?;
    Ok(file)
}

fn check(path: &Path, meta: &fs::Metadata, mode: u32) -> Result<(), Error> {
    let us = rustix::process::geteuid().as_raw();
    if meta.uid() != us {
        let wrong = format!("belongs to the user with id {}, not to you ({us})", meta.uid());
        let todo = format!("run `chown {us} {}`, or run windlass as its owner", shown(path));
        return Err(not_private(path, wrong, todo));
    }
    if meta.mode() & 0o077 != 0 {
        let wrong = format!("is open to others (mode {:04o})", meta.mode() & 0o7777);
        return Err(not_private(path, wrong, format!("run `chmod {mode:o} {}`", shown(path))));
    }
    Ok(())
}

/// A path as a shell reads it.
pub(super) fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    if text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-+".contains(&b)) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn not_private(path: &Path, wrong: impl Into<String>, todo: String) -> Error {
    Error::NotPrivate { path: PathBuf::from(path), wrong: wrong.into(), todo }
}
