//! A child's own copy of a directory, and how its changes come back: law W carried out on disks.
//!
//! `listing` says which files, `copying` makes base and copy, `scan` what the child changed, `run` carries a plan out
//! so that it can be cut anywhere, `hand_back` does all of it at a child's end, `resolve` one path by hand, `rise`
//! what an agent's own agents left, `rooms` says which workspaces there are. What is decided is decided by `law::hand_back`, and one writes at a time (`lock`). Everything here blocks; a cancel flag and counts are in `Progress`.
//!
//! Not here: stopping the child, telling anyone, choosing a resolution.
//!
//! A child's directory (private): `base/` as it found the files, `copy/` where it works, `git/` what its git reads of the parent's repository, `rules/` the ignore rules of
//! the spawn that are not in the tree, `parent` the directory's name, `agent` the session of who works in it, `born` the copy's files as they were, `versions/` bytes by their hash,
//! `ending.json` how its run ended, `failed` why its hand-back failed, `run/` the records of the hand-back, `handback.json` its end, `aside/` what goes after it,
//! `conflicts/` the child's versions of what is open, `resolutions/` one run each, `drafts/` what was chosen and not written yet.

pub mod at_once;
mod beneath;
pub mod born;
pub mod copying;
pub mod draft;
mod durable;
pub mod earlier;
pub mod error;
pub mod hand_back;
mod keeping;
pub mod listing;
mod lock;
pub mod look;
pub mod marks;
mod removal;
mod repository;
pub mod resolve;
pub mod rise;
pub mod rooms;
pub mod rules;
mod run;
pub mod scan;
mod space;
mod sparse;
mod specials;
pub mod versions;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Where the parts of a child's directory are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    dir: PathBuf,
}

impl Room {
    /// The directory of one child; nothing is made.
    pub fn at(dir: impl Into<PathBuf>) -> Room {
        Room { dir: dir.into() }
    }

    /// The directory itself.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The files as the child found them.
    pub fn base(&self) -> PathBuf {
        self.dir.join("base")
    }

    /// Whether base and copy are whole: a birth that was cut left parts of them.
    pub fn is_born(&self) -> bool {
        self.born().exists()
    }

    /// Where the child works.
    pub fn copy(&self) -> PathBuf {
        self.dir.join("copy")
    }

    /// The record of a hand-back's end.
    pub fn record(&self) -> PathBuf {
        self.dir.join("handback.json")
    }

    /// The child's versions of the conflicts that are open, for people.
    pub fn conflicts(&self) -> PathBuf {
        self.dir.join("conflicts")
    }

    /// The parts of the parent's repository that the child's git reads.
    pub(crate) fn git(&self) -> PathBuf {
        self.dir.join(crate::sandbox::hold::GIT)
    }

    pub(crate) fn rules(&self) -> PathBuf {
        self.dir.join("rules")
    }

    pub(crate) fn parent_name(&self) -> PathBuf {
        self.dir.join("parent")
    }

    pub(crate) fn born(&self) -> PathBuf {
        self.dir.join("born")
    }

    pub(crate) fn versions(&self) -> PathBuf {
        self.dir.join("versions")
    }

    pub(crate) fn run(&self) -> PathBuf {
        self.dir.join("run")
    }

    /// What the cleaning up removes.
    pub(crate) fn aside(&self) -> PathBuf {
        self.dir.join("aside")
    }

    /// How the child's run ended: written by who hands back, before it begins.
    pub fn ending(&self) -> PathBuf {
        self.dir.join("ending.json")
    }

    /// Why the hand-back failed when it was tried last.
    pub(crate) fn failure(&self) -> PathBuf {
        self.dir.join("failed")
    }

    /// The session of the agent that works in it.
    pub(crate) fn agent(&self) -> PathBuf {
        self.dir.join("agent")
    }

    pub(crate) fn drafts(&self) -> PathBuf {
        self.dir.join("drafts")
    }

    pub(crate) fn resolutions(&self) -> PathBuf {
        self.dir.join("resolutions")
    }
}

/// How far a copy is, for who looks; and the wish to end it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Files and links made so far, in both copies.
    pub files: AtomicU64,
    /// How many there are to make, in both; 0 while that is not known.
    pub of: AtomicU64,
    /// Set to end it: what was made is removed.
    pub cancel: AtomicBool,
}
