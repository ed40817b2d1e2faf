//! One path of a hand-back: what its parent's directory gets, told by its three versions.
//!
//! The table of the law, and nothing else. What stands elsewhere in the trees is `plan`'s matter.

use serde::{Deserialize, Serialize};

use super::tree::{Obstacle, Version};

/// What a hand-back does with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The child did not change it: the parent's stays, and nobody is told.
    Kept,
    /// Only the child changed it: the parent's directory gets the child's.
    Taken,
    /// Both changed it to the same: it stays as it is.
    Same,
    /// Both changed it, differently, or the parent's directory cannot hold it: the parent's stays.
    Conflict(Clash),
    /// The child put a socket, a device or a FIFO there, which is not brought over.
    Special,
}

/// In which way two versions clash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clash {
    /// Both are files, of different bytes.
    Content,
    /// Both are files of the same bytes, and one is executable.
    Executable,
    /// Both are links, to different places.
    Link,
    /// One is a file, the other a link.
    Kind,
    /// The parent's is gone, the child's was changed.
    ParentRemoved,
    /// The child removed it, the parent's was changed.
    ChildRemoved,
    /// A directory is at the path in the parent's directory.
    DirectoryInTheWay,
    /// A file or link is where one of its directories should be in the parent's directory.
    FileInTheWay,
    /// A socket, a device or a FIFO is at the path in the parent's directory.
    SpecialInTheWay,
    /// What was prepared to be put in place was taken away meanwhile by someone else.
    Disturbed,
    /// The system does not let the path be changed in the parent's directory.
    Refused,
}

impl Clash {
    /// In words, after the path.
    pub fn words(self) -> &'static str {
        match self {
            Clash::Content => "both changed it, differently",
            Clash::Executable => "one made it executable, the other did not",
            Clash::Link => "both changed where the link leads, differently",
            Clash::Kind => "a file for one, a link for the other",
            Clash::ParentRemoved => "removed here, changed by the child",
            Clash::ChildRemoved => "changed here, removed by the child",
            Clash::DirectoryInTheWay => "a directory is in its place here",
            Clash::FileInTheWay => "a file or link is in the place of one of its directories here",
            Clash::SpecialInTheWay => "something that is no file is in its place here",
            Clash::Disturbed => "someone took away what was to be put in place",
            Clash::Refused => "may not be changed here, as its directory stands",
        }
    }
}

/// Decides one path: the version that the child found, the parent's now, the child's now.
pub fn merge1(base: &Version, parent: &Version, child: &Version) -> Verdict {
    let (base, child) = (base.tracked(), child.tracked());
    if child == base {
        return Verdict::Kept;
    }
    if *child == Version::InTheWay(Obstacle::Special) {
        return Verdict::Special;
    }
    // a removal needs no room
    let parent = if *child == Version::Absent { parent.tracked() } else { parent };
    if parent == child {
        Verdict::Same
    } else if parent == base && (*child == Version::Absent || !matches!(parent, Version::InTheWay(_))) {
        Verdict::Taken
    } else {
        Verdict::Conflict(clash(parent, child))
    }
}

/// How two versions that differ clash.
fn clash(parent: &Version, child: &Version) -> Clash {
    match (parent, child) {
        (Version::InTheWay(Obstacle::Directory), _) => Clash::DirectoryInTheWay,
        (Version::InTheWay(Obstacle::Above), _) => Clash::FileInTheWay,
        (Version::InTheWay(Obstacle::Special), _) => Clash::SpecialInTheWay,
        (Version::Absent, _) => Clash::ParentRemoved,
        (_, Version::Absent | Version::InTheWay(_)) => Clash::ChildRemoved,
        (Version::File { hash: one, .. }, Version::File { hash: other, .. }) if one == other => {
            Clash::Executable
        }
        (Version::File { .. }, Version::File { .. }) => Clash::Content,
        (Version::Link { .. }, Version::Link { .. }) => Clash::Link,
        (Version::File { .. }, Version::Link { .. }) | (Version::Link { .. }, Version::File { .. }) => {
            Clash::Kind
        }
    }
}
