//! The birth of a workspace: base, copy, and how the copy's files were when the child began.
//!
//! What a file was is its size, inode, mode and the time of its last change, which no program can set. A file changed
//! in the same instant as it was looked at could keep that time (git's racy rule); so the child begins only after the
//! filesystem's clock has moved on.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use super::copying::{Counts, copy};
use super::error::Error;
use super::listing::{FILES_MAX, Listing, list_without};
use super::marks::{Mark, Marks};
use super::removal::remove_all;
use super::specials::specials;
use super::{Progress, Room, rules, space};
use crate::law::hand_back::tree::TreePath;
use crate::store::private;

/// How long the filesystem's clock is waited for. One that is coarser makes files be read that did not change.
const CLOCK_WAIT_MAX: Duration = Duration::from_millis(50);

/// The copy's files when the child began.
#[derive(Clone, Debug)]
pub struct Born {
    /// The filesystem's time then.
    pub time: (i64, i64),
    /// Every path of the base, and what its file or link was in the copy.
    pub marks: Marks,
    /// What is Windlass's own in the parent's directory: it is not copied, and nothing of the kind comes back.
    pub own: Vec<TreePath>,
    /// The repositories inside.
    pub repositories: Vec<TreePath>,
}

/// The first line of the record; the marks follow it.
#[derive(Serialize, Deserialize)]
struct Head {
    time: (i64, i64),
    own: Vec<TreePath>,
    repositories: Vec<TreePath>,
}

/// What a birth has to mind.
pub struct Around<'a> {
    /// Windlass's own directories, which may be in the parent's.
    pub own: &'a [PathBuf],
    /// Does something when nobody else of this program writes into the parent's directory.
    pub in_turn: &'a dyn Fn(&mut dyn FnMut()),
}

/// What a birth came to, to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// The copy from the parent's directory to the base.
    pub counts: Counts,
    /// Repositories inside that were copied as files.
    pub repositories: Vec<TreePath>,
    /// Whether git listed the files.
    pub by_git: bool,
    /// Why the copy has no repository, though git listed its files.
    pub no_git: Option<String>,
    /// Whether extents were cloned, in both copies.
    pub cloned: bool,
}

impl Room {
    /// Makes base and copy of `parent`, in a directory that has neither. Nothing is left of them when it fails or is
    /// cancelled.
    pub fn make(&self, parent: &Path, progress: &Progress) -> Result<Made, Error> {
        self.make_minding(parent, &Around { own: &[], in_turn: &|work| work() }, progress)
    }

    /// The same where others write into `parent` too, or where it holds what is Windlass's own.
    pub fn make_minding(
        &self,
        parent: &Path,
        around: &Around<'_>,
        progress: &Progress,
    ) -> Result<Made, Error> {
        if self.record().exists() || self.run().exists() {
            // a later hand-back would be taken for the one that is recorded, and its changes be lost
            let there = std::io::ErrorKind::AlreadyExists.into();
            return Err(Error::io("make a copy where one was handed back:", &self.dir)(there));
        }
        let own = own_in(parent, around.own);
        let (mut based, mut begun) = (None, false);
        (around.in_turn)(&mut || based = Some(self.make_base(parent, &own, &mut begun, progress)));
        let made = match based {
            Some(Ok(based)) => self.fill(parent, own, based, progress),
            Some(Err(error)) => Err(error),
            None => Err(Error::Cancelled),
        };
        if begun && made.is_err() {
            for dir in [self.base(), self.copy(), self.rules(), self.git()] {
                let _ = remove_all(&dir);
            }
            for file in [self.parent_name(), self.born()] {
                let _ = std::fs::remove_file(file);
            }
            // one that holds more stays
            let _ = std::fs::remove_dir(&self.dir);
        }
        made
    }

    /// Lists the parent's directory and copies it to the base. `begun`: something was made.
    fn make_base(
        &self,
        parent: &Path,
        own: &[TreePath],
        begun: &mut bool,
        progress: &Progress,
    ) -> Result<(Listing, Counts, AtomicBool), Error> {
        let listing = list_without(parent, own, FILES_MAX)?;
        private::dir_all(&self.dir)?;
        if let Err(error) = space::check(parent, &self.dir, &listing.paths) {
            // one that holds more stays
            let _ = std::fs::remove_dir(&self.dir);
            return Err(error);
        }
        for dir in [self.base(), self.copy()] {
            std::fs::create_dir(&dir).map_err(Error::io("make the directory", &dir))?;
        }
        *begun = true;
        self.name_parent(parent)?;
        rules::keep(parent, &listing.repositories, &self.rules())?;
        progress.of.store(2 * listing.paths.len() as u64, Ordering::Relaxed);
        let clones = AtomicBool::new(true);
        let listed: Vec<&TreePath> = listing.paths.iter().collect();
        let mut counts = copy(parent, &self.base(), &listed, &clones, progress)?;
        if listing.by_git {
            let rules = (&*self.base(), &*self.rules());
            counts.skipped.extend(specials(parent, &listing, rules, progress)?);
            counts.skipped.sort();
            counts.skipped.dedup();
        }
        Ok((listing, counts, clones))
    }

    fn fill(
        &self,
        parent: &Path,
        own: Vec<TreePath>,
        (listing, counts, clones): (Listing, Counts, AtomicBool),
        progress: &Progress,
    ) -> Result<Made, Error> {
        let based: Vec<&TreePath> = counts.made.iter().map(|(path, _)| path).collect();
        let second = copy(&self.base(), &self.copy(), &based, &clones, progress)?;
        let cloned = counts.copied == 0 && second.copied == 0;
        let no_git = match listing.by_git {
            true => self.make_repositories(parent, &listing.repositories).err(),
            false => None,
        };
        let no_git = no_git.map(|error| crate::base::chain(&error));
        if no_git.is_some() {
            // half a repository would tell lies
            let _ = std::fs::remove_dir_all(self.copy().join(".git"));
            let _ = std::fs::remove_dir_all(self.git());
        }
        // from here on it is whole
        self.mark(&second.made, own, listing.repositories.clone())?;
        if progress.cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(Made { cloned, counts, repositories: listing.repositories, by_git: listing.by_git, no_git })
    }

    /// Writes down how the copy's files are, once no later change can look the same.
    fn mark(
        &self,
        files: &[(TreePath, Mark)],
        own: Vec<TreePath>,
        repositories: Vec<TreePath>,
    ) -> Result<(), Error> {
        let last = files.iter().map(|(_, mark)| mark.changed()).max().unwrap_or_default();
        let deadline = Instant::now() + CLOCK_WAIT_MAX;
        let time = loop {
            let now = self.clock()?;
            if now > last || Instant::now() > deadline {
                break now;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let written = serde_json::to_vec(&Head { time, own, repositories });
        let mut written = written.map_err(|source| Error::Record { path: self.born(), source })?;
        written.push(b'\n');
        Marks::write(files, &mut written);
        Ok(private::replace(&self.born(), &written)?)
    }

    /// The filesystem's time: that of a file made now.
    fn clock(&self) -> Result<(i64, i64), Error> {
        let path = self.dir.join(".clock");
        let file = private::create(&path)?;
        let stat = rustix::fs::fstat(&file).map_err(|error| Error::io("look at", &path)(error.into()))?;
        std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        Ok(Mark::of(&stat).changed())
    }

    /// Reads how the copy's files were.
    pub(crate) fn read_born(&self) -> Result<Born, Error> {
        let bytes = private::read(&self.born())?;
        let damaged = |source| Error::Record { path: self.born(), source };
        let head = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default().len();
        let Head { time, own, repositories } = serde_json::from_slice(&bytes[..head]).map_err(damaged)?;
        let marks = Marks::read(bytes, head + 1);
        let marks = marks.ok_or_else(|| damaged(serde_json::Error::custom("the marks are not whole")))?;
        Ok(Born { time, marks, own, repositories })
    }
}

/// Where in a directory some others are, by their real places.
fn own_in(parent: &Path, own: &[PathBuf]) -> Vec<TreePath> {
    let Ok(parent) = parent.canonicalize() else { return Vec::new() };
    let beneath = own.iter().filter_map(|own| {
        let whole = own.canonicalize().ok()?;
        TreePath::new(whole.strip_prefix(&parent).ok()?.as_os_str().as_bytes())
    });
    beneath.collect()
}
