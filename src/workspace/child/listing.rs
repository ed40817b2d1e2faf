//! Which files a copy has: what git would list, or what the `.gitignore` files leave; never `.git`.
//!
//! With git: tracked files, also in ignored directories, and what is untracked and not ignored. A repository inside (a
//! submodule) is listed as the files that it has, and named.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::FileType;
use rustix::io::Errno;

use super::beneath::{Beneath, Nearby};
use super::error::Error;
use super::run::is_prepared;
use crate::law::hand_back::tree::TreePath;
use crate::workspace::git;

/// Most files of a copy.
pub const FILES_MAX: usize = 100_000;

/// How long git may take to list one repository.
const GIT_TIME_MAX: Duration = Duration::from_secs(60);

/// How deep repositories are looked for in each other.
const DEPTH_MAX: usize = 16;

/// What is copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Files and links, in order. Some may be gone, or be no file at all.
    pub paths: BTreeSet<TreePath>,
    /// Repositories inside, copied as files.
    pub repositories: Vec<TreePath>,
    /// Whether git listed them.
    pub by_git: bool,
    /// What is not listed, with all that is in it.
    pub own: Vec<TreePath>,
}

/// Lists a directory. Blocking.
pub fn list(dir: &Path, max: usize) -> Result<Listing, Error> {
    list_without(dir, &[], max)
}

/// The same without what is at or in some of its directories.
pub fn list_without(dir: &Path, own: &[TreePath], max: usize) -> Result<Listing, Error> {
    let mut listing = Listing { own: own.to_vec(), ..Listing::default() };
    if git::is_work_tree(dir) {
        listing.by_git = true;
        by_git(dir, None, max, 0, &mut listing)?;
    } else {
        by_walk(dir, max, &mut listing)?;
    }
    Ok(listing)
}

fn by_git(
    top: &Path,
    at: Option<&TreePath>,
    max: usize,
    depth: usize,
    into: &mut Listing,
) -> Result<(), Error> {
    let dir = at.map_or(top.to_owned(), |at| top.join(OsStr::from_bytes(at.as_bytes())));
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let beneath = Beneath::open(top).map_err(Error::io("open", top))?;
    let mut nearby = Nearby::of(&beneath);
    let bytes = git::output(&dir, &arguments, Instant::now() + GIT_TIME_MAX)
        .map_err(|why| Error::Git { path: dir.clone(), why })?;
    for name in bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = name.strip_suffix(b"/").unwrap_or(name);
        let whole = at.map_or(name.to_vec(), |at| [at.as_bytes(), b"/", name].concat());
        let Some(path) = TreePath::new(whole) else { continue };
        // git lists what a sparse checkout leaves out, or what somebody removed
        let kind = match nearby.stat(&path) {
            Ok(stat) => Some(FileType::from_raw_mode(stat.st_mode)),
            Err(Errno::NOENT) => continue,
            Err(_) => None,
        };
        let is_dir = kind == Some(FileType::Directory);
        let repository =
            || top.join(OsStr::from_bytes(path.as_bytes())).join(".git").symlink_metadata().is_ok();
        if !is_dir {
            put(top, path, max, into)?;
        } else if depth < DEPTH_MAX && repository() {
            by_git(top, Some(&path), max, depth + 1, into)?;
            into.repositories.push(path);
        }
    }
    Ok(())
}

fn by_walk(top: &Path, max: usize, into: &mut Listing) -> Result<(), Error> {
    let walk = ignore::WalkBuilder::new(top)
        .standard_filters(false)
        .git_ignore(true)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    for entry in walk {
        // what cannot be read is not copied
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_none_or(|kind| kind.is_dir()) {
            continue;
        }
        let relative = entry.path().strip_prefix(top).unwrap_or(entry.path());
        if let Some(path) = TreePath::new(relative.as_os_str().as_bytes()) {
            put(top, path, max, into)?;
        }
    }
    Ok(())
}

fn put(top: &Path, path: TreePath, max: usize, into: &mut Listing) -> Result<(), Error> {
    let is_own = into.own.iter().any(|own| path == *own || path.is_beneath(own));
    if is_own || is_prepared(path.name()) {
        return Ok(());
    }
    into.paths.insert(path);
    if into.paths.len() > max {
        return Err(Error::TooMany { path: top.to_owned(), max });
    }
    Ok(())
}
