//! What can go wrong with a child's copy and its hand-back.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::law::hand_back::tree::TreePath;
use crate::store;

/// An error of a workspace.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There are too many files for copies.
    #[error(
        "{} has more than {max} files, too many for a copy of its own; use the workspace `shared`, or begin in a directory further down",
        path.display()
    )]
    TooMany {
        /// The directory.
        path: PathBuf,
        /// The bound.
        max: usize,
    },
    /// There is too little room for copies.
    #[error(
        "copies of {} need {} and {} has {} left, so none were made; free some space there, use the workspace `shared`, or begin in a directory further down",
        path.display(), size(*needed), room.display(), size(*left)
    )]
    NoRoom {
        /// The directory.
        path: PathBuf,
        /// What both copies need, in bytes.
        needed: u64,
        /// Where they would be.
        room: PathBuf,
        /// What is left there, in bytes.
        left: u64,
    },
    /// Git did not list the files.
    #[error("git did not list the files of {}: {why}; run `git status` there, or use the workspace `shared`", path.display())]
    Git {
        /// The directory.
        path: PathBuf,
        /// What it said.
        why: String,
    },
    /// The person ended it.
    #[error("the copy was cancelled; nothing is left of it")]
    Cancelled,
    /// The child's copy is gone.
    #[error("{} is gone, so nothing can be handed back from it; what the parent's directory has is as it was", path.display())]
    CopyGone {
        /// The copy.
        path: PathBuf,
    },
    /// A filesystem cannot exchange two files in one step.
    #[error(
        "the filesystem of {path} cannot exchange two files in one step (renameat2), so nothing was taken; copy the child's files by hand"
    )]
    NoExchange {
        /// The path.
        path: TreePath,
    },
    /// A path of the parent's directory, refused by the system.
    #[error("could not {what} {path}; the hand-back can be run again")]
    Path {
        /// The operation, as a verb.
        what: &'static str,
        /// On which path.
        path: TreePath,
        /// What the system said.
        source: io::Error,
    },
    /// What was done in the parent's directory could not be made durable.
    #[error("could not sync the directory that is handed back to; the hand-back can be run again")]
    Top {
        /// What the system said.
        source: io::Error,
    },
    /// A copy could not be made.
    #[error("could not copy {path}; nothing is left of the copy")]
    Copy {
        /// The path.
        path: TreePath,
        /// What the system said.
        source: io::Error,
    },
    /// The system does not let a path of the parent's directory be changed.
    #[error(
        "{path} may not be changed here, so nothing was written; look at the permissions of its directory"
    )]
    Refused {
        /// The path.
        path: TreePath,
    },
    /// The parent's file is not as it was when it was looked at.
    #[error("{path} was changed meanwhile, so nothing was written; look at it again")]
    ChangedMeanwhile {
        /// Which.
        path: TreePath,
    },
    /// A resolution stands half.
    #[error(
        "what was chosen for {path} is recorded and in its place, and could not be finished; the next open of the session finishes it"
    )]
    Unfinished {
        /// Which.
        path: TreePath,
        /// What went wrong.
        source: Box<Error>,
    },
    /// Somebody else writes.
    #[error("{} is being worked on by another windlass; try again when that is done", path.display())]
    Busy {
        /// The child's directory.
        path: PathBuf,
    },
    /// The hand-back of an agent's own agent stands half in its copy.
    #[error("what its agent {name} changed is half in its copy, and could not be finished")]
    Own {
        /// Whose.
        name: String,
        /// What went wrong.
        source: Box<Error>,
    },
    /// Files of the parent's directory may stand beside their places.
    #[error(
        "a hand-back to {} stands half, and files of it may stand beside their places; end it first (`windlass handback retry`)",
        path.display()
    )]
    Half {
        /// The parent's directory.
        path: PathBuf,
    },
    /// The workspace is gone.
    #[error("{} is gone: the workspace was dropped, or is that of an ended agent's agent and has another name now", path.display())]
    Dropped {
        /// The child's directory.
        path: PathBuf,
    },
    /// A record cannot be read.
    #[error("{} is damaged; the versions beside it are whole", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The system refused an operation on a file of ours.
    #[error("could not {what} {}", path.display())]
    Io {
        /// The operation, as a verb.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Private files.
    #[error(transparent)]
    Store(#[from] store::error::Error),
}

impl Error {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { what, path: path.to_owned(), source }
    }

    pub(crate) fn copy(path: &TreePath) -> impl FnOnce(Errno) -> Error {
        move |source| Error::Copy { path: path.clone(), source: source.into() }
    }

    /// Whether the system refused a path for what it is and where: trying again changes nothing.
    pub(crate) fn is_refusal(&self) -> bool {
        let source = match self {
            Error::Path { source, .. } => source,
            _ => return false,
        };
        Errno::from_io_error(source).is_some_and(is_refusal)
    }

    pub(crate) fn at(what: &'static str, path: &TreePath) -> impl FnOnce(Errno) -> Error {
        move |source| Error::Path { what, path: path.clone(), source: source.into() }
    }
}

/// Bytes in words, of which the first two or three digits count.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
    let mut unit = 0;
    while bytes >> (10 * (unit + 1)) > 0 && unit + 1 < UNITS.len() {
        unit += 1;
    }
    let whole = bytes >> (10 * unit);
    if unit == 0 || whole >= 10 {
        return format!("{whole} {}", UNITS[unit]);
    }
    let tenths = ((bytes >> (10 * (unit - 1))) & 1023) * 10 / 1024;
    format!("{whole}.{tenths} {}", UNITS[unit])
}

/// Whether an answer of the system is about the path: it may not be written, is mounted, or cannot have this name.
pub(crate) fn is_refusal(error: Errno) -> bool {
    matches!(
        error,
        Errno::ACCESS
            | Errno::PERM
            | Errno::ROFS
            | Errno::BUSY
            | Errno::XDEV
            | Errno::NAMETOOLONG
            | Errno::ILSEQ
            | Errno::INVAL
            | Errno::OPNOTSUPP
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_words() {
        let told: Vec<String> =
            [0, 1023, 1024, 1536, 10_239, 5 << 20, (1 << 30) - 1, 1 << 30, 20 << 30, 3 << 40]
                .map(size)
                .into();
        assert_eq!(
            told,
            [
                "0 bytes",
                "1023 bytes",
                "1.0 KiB",
                "1.5 KiB",
                "9.9 KiB",
                "5.0 MiB",
                "1023 MiB",
                "1.0 GiB",
                "20 GiB",
                "3072 GiB"
            ]
        );
    }
}
