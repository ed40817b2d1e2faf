//! Which files a rewind puts back as they were: those that the session's own tools changed and nobody else did since.
//!
//! `plan` is told what was touched since the entry that the rewind goes to was committed, on whatever branch, oldest
//! first (restorings are touches too), and how each file stands: a directory has one history, however many branches
//! the conversation has. The taking back of a restoring is the same function over the restoring's own touches.
//!
//! Not here: reading and writing files, the conversation. Bytes are named by their hash.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file that was changed by a tool, or by a restoring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The file, absolute.
    pub path: PathBuf,
    /// The hash of its bytes before; none: it was not there.
    pub before: Option<String>,
    /// The hash of its bytes after; none: it was removed.
    pub after: Option<String>,
    /// Its permission bits before, where known.
    pub mode: Option<u32>,
}

/// How a file stands now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Present {
    /// Nothing is there.
    Gone,
    /// A regular file with bytes of this hash.
    File(String),
    /// Something is there that is not ours to write: no regular file, or another person's.
    NotOurs,
    /// It could not be read; why.
    Unreadable(String),
}

/// What is done with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is put back.
    Restore {
        /// The hash of the bytes that it gets; none: it is removed.
        to: Option<String>,
        /// The permission bits that it gets, where known.
        mode: Option<u32>,
    },
    /// It is as it was already.
    AlreadySo,
    /// It stays as it is, and the person is told why.
    Conflict(Why),
}

/// Why a file stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Somebody else changed it since.
    Changed,
    /// Somebody else changed it between two changes of the session's.
    ChangedBetween,
    /// Somebody else made it again after it was removed.
    MadeAgain,
    /// Somebody else removed it.
    Gone,
    /// It is not ours to write.
    NotOurs,
    /// It could not be read; why.
    Unreadable(String),
    /// What it was is not kept any more.
    NotKept,
}

impl Why {
    /// In words, after the file's name.
    pub fn words(&self) -> String {
        match self {
            Why::Changed => "was changed by someone else since".to_owned(),
            Why::ChangedBetween => {
                "was changed by someone else between two changes of this session".to_owned()
            }
            Why::MadeAgain => "was made again by someone else".to_owned(),
            Why::Gone => "was removed by someone else".to_owned(),
            Why::NotOurs => "is no file any more that you may write".to_owned(),
            Why::Unreadable(why) => format!("cannot be read: {why}"),
            Why::NotKept => "was changed, but its earlier bytes are not kept any more".to_owned(),
        }
    }
}

/// What is done with each file that was touched, by path. No other is named. `kept` says whether the bytes of a
/// hash can be had.
pub fn plan(
    touches: &[Touch],
    mut present: impl FnMut(&Path) -> Present,
    kept: impl Fn(&str) -> bool,
) -> Vec<(PathBuf, Decision)> {
    let mut files: BTreeMap<&Path, Vec<&Touch>> = BTreeMap::new();
    for touch in touches {
        files.entry(&touch.path).or_default().push(touch);
    }
    let mut decision = |path: &Path, touches: &[&Touch]| match decide(touches, present(path)) {
        Decision::Restore { to: Some(hash), .. } if !kept(&hash) => Decision::Conflict(Why::NotKept),
        decision => decision,
    };
    files.into_iter().map(|(path, touches)| (path.to_owned(), decision(path, &touches))).collect()
}

/// One file: its touches, oldest first, and how it stands.
fn decide(touches: &[&Touch], present: Present) -> Decision {
    let ([first, ..], [.., last]) = (touches, touches) else { return Decision::AlreadySo };
    let now = match present {
        Present::Gone => None,
        Present::File(hash) => Some(hash),
        Present::NotOurs => return Decision::Conflict(Why::NotOurs),
        Present::Unreadable(why) => return Decision::Conflict(Why::Unreadable(why)),
    };
    if now == first.before {
        return Decision::AlreadySo;
    }
    if now != last.after {
        return Decision::Conflict(match (now, &last.after) {
            (None, _) => Why::Gone,
            (Some(_), None) => Why::MadeAgain,
            (Some(_), Some(_)) => Why::Changed,
        });
    }
    if touches.windows(2).any(|pair| pair[0].after != pair[1].before) {
        return Decision::Conflict(Why::ChangedBetween);
    }
    Decision::Restore { to: first.before.clone(), mode: first.mode.filter(|_| first.before.is_some()) }
}

#[cfg(test)]
mod tests;
