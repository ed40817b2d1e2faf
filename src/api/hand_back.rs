//! The hand-backs of a session, as the viewer and the engine speak of them.
//!
//! Plain data. What becomes of a path was decided by `law::hand_back`; what a person chooses, by `law::merge`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::Millis;
use crate::law::hand_back::merge1::Verdict;
use crate::law::hand_back::renames::Rename;
use crate::law::hand_back::tree::{TreePath, Version};
use crate::law::merge::back::Back;
use crate::law::merge::decision::Decision;
use crate::law::merge::resolution::Choice;

/// What came back from one child.
#[derive(Clone, Debug, PartialEq)]
pub struct HandBack {
    /// The child's name.
    pub child: String,
    /// When it ended.
    pub at: Millis,
    /// Every path that the child changed, in order.
    pub paths: Vec<HandBackPath>,
    /// Files that the child gave another path.
    pub renames: Vec<Rename>,
    /// What the child made and the ignore rules leave out; it is still in the copy.
    pub left_out: Vec<TreePath>,
    /// What somebody saved at a path at the very moment, where it could not stay: it is kept with the versions.
    pub kept: Vec<TreePath>,
}

/// One path of a hand-back.
#[derive(Clone, Debug, PartialEq)]
pub struct HandBackPath {
    /// Beneath the parent's directory.
    pub path: TreePath,
    /// What the hand-back did with it.
    pub verdict: Verdict,
    /// What a person did with it since.
    pub by_hand: ByHand,
    /// Whether choices are kept that were not written yet.
    pub draft: bool,
}

impl HandBackPath {
    /// Whether it is a conflict that nobody resolved yet. A file that was changed outside may hold the child's change
    /// or not: it is open until a person says so here, by writing it as it is.
    pub fn is_open(&self) -> bool {
        matches!(self.verdict, Verdict::Conflict(_)) && self.by_hand != ByHand::Resolved
    }
}

/// What a person did with a path of a hand-back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByHand {
    /// Nothing, or what was done was taken back.
    #[default]
    Nothing,
    /// A conflict was resolved.
    Resolved,
    /// What was taken was put back as it was.
    Reverted,
    /// A conflict's path was changed in the parent's directory since the hand-back, and not from here: somebody may
    /// have resolved it there. It stays open until that is said.
    Outside,
}

/// One side of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sided {
    /// What is there.
    pub version: Version,
    /// The bytes, where it is a file; none also for one that is too large to be looked at (`bytes_len` tells).
    pub bytes: Option<Arc<[u8]>>,
    /// The file's size in bytes; 0 for what is no file.
    pub bytes_len: u64,
}

/// What tells without reading it whether a file was changed: equal ones are of the same state. None: nothing is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(pub Option<[u64; 6]>);

/// All that the viewer needs of one path.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// Whose.
    pub child: String,
    /// Which.
    pub path: TreePath,
    /// What the hand-back did with it.
    pub verdict: Verdict,
    /// As the child found it.
    pub base: Sided,
    /// As the parent's directory has it now: what a resolution names as seen.
    pub parent: Sided,
    /// The stamp of that, taken before it was read.
    pub stamp: Stamp,
    /// As the child left it.
    pub theirs: Sided,
    /// As the parent's directory had it when the child ended.
    pub parent_then: Version,
    /// What was decided of this base and child and not written, whatever the parent's directory had then.
    pub draft: Option<Draft>,
    /// How the same three versions were resolved before, here or in another session: proposed, never made.
    pub earlier: Option<Arc<[u8]>>,
    /// Whether a merge program (`mergiraf`) can be asked for a proposal.
    pub can_propose: bool,
}

/// What a person decided of a path and did not write. It is of a base and a child, which do not change; what of it fits
/// the parent's file is seen when it is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// What was chosen for a path that is no text, and what the parent's directory had there then.
    pub whole: Option<(Version, Choice)>,
    /// What was decided of a text; what did not fit when it was looked at last comes last.
    pub decisions: Vec<Decision>,
    /// Whether the file may be run by its owner, where the person said so.
    pub executable: Option<bool>,
    /// The steps that can be taken back, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backs: Vec<Back>,
}

impl Draft {
    /// Whether nothing is decided in it.
    pub fn is_empty(&self) -> bool {
        self.whole.is_none() && self.decisions.is_empty() && self.executable.is_none()
    }
}

/// What a path gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Take {
    /// One of the versions of the record.
    Version(Version),
    /// A file with these bytes.
    Bytes {
        /// What it holds.
        bytes: Arc<[u8]>,
        /// Whether its owner may run it.
        executable: bool,
    },
}

/// What is asked of the hand-backs of a session; each has its answer in `HandBackReply`.
#[derive(Clone, Debug, PartialEq)]
pub enum HandBackAsk {
    /// All of them, newest first.
    List,
    /// One path of one.
    Sides {
        /// Whose.
        child: String,
        /// Which.
        path: TreePath,
    },
    /// The stamp of what the parent's directory has at a path now.
    Stamp {
        /// Whose.
        child: String,
        /// Which.
        path: TreePath,
    },
    /// Write a resolution of a path, or put a taken path back (`Take::Version` of the parent's).
    Write {
        /// Whose.
        child: String,
        /// Which.
        path: TreePath,
        /// What the person saw in the parent's directory. If something else is there now, nothing is written.
        seen: Version,
        /// What it gets.
        take: Take,
        /// What was chosen for each region, where the text was merged by lines.
        choices: Option<Vec<Choice>>,
    },
    /// Take the newest resolution of a path back.
    Undo {
        /// Whose.
        child: String,
        /// Which.
        path: TreePath,
    },
    /// Keep what is decided and not written yet, for later and for the next open.
    KeepDraft {
        /// Whose.
        child: String,
        /// Which.
        path: TreePath,
        /// Of which base and child.
        of: Box<[Version; 2]>,
        /// What was decided; none: the draft is dropped.
        draft: Option<Box<Draft>>,
    },
    /// Ask a merge program for its merge of a path.
    Propose {
        /// Whose.
        child: String,
        /// Which.
        path: TreePath,
    },
    /// End the merge program that is at work on a path.
    StopProposal {
        /// Whose.
        child: String,
        /// Which.
        path: TreePath,
    },
}

/// The answer to a `HandBackAsk`.
#[derive(Clone, Debug, PartialEq)]
pub enum HandBackReply {
    /// All of them, newest first.
    List(Vec<HandBack>),
    /// One path.
    Sides(Box<Sides>),
    /// The stamp of the parent's.
    Stamp(Stamp),
    /// It was written; how the path's hand-back stands now.
    Written(Box<HandBack>),
    /// Nothing was written: the parent's directory has something else at the path now. It can be looked at anew.
    Changed(Box<Sides>),
    /// The draft is kept, or dropped.
    Kept,
    /// What the merge program made of it; none: it found no merge.
    Proposal(Option<Arc<[u8]>>),
    /// No merge program is at work on it any more.
    Stopped,
}
