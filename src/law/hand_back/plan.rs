//! All paths of a hand-back: each decided by `merge1`, and the order in which they are carried out.
//!
//! Besides the three versions of a path, what counts is whether the parent's directory can hold it once the removals
//! are done: a file may take the place of a directory that the child emptied, and the other way round.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::merge1::{Verdict, merge1};
use super::tree::{Obstacle, Tree, TreePath, Version};

/// A path that the child changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// Which.
    pub path: TreePath,
    /// As the child found it.
    pub base: Version,
    /// The parent's, when the plan was made.
    pub parent: Version,
    /// The child's.
    pub child: Version,
    /// What is done. Never `Kept`.
    pub verdict: Verdict,
    /// The permission bits of the parent's file; where it has none, of the child's. None: neither has a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

/// How a path that is taken is put in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// What is there is taken away.
    Remove,
    /// What is there is exchanged with the child's.
    Exchange,
    /// The child's is put where nothing is.
    New,
}

impl Planned {
    /// How it is put in place; none if it is not taken.
    pub fn way(&self) -> Option<Way> {
        match self.verdict {
            Verdict::Taken => Some(match (self.parent.tracked(), self.child.tracked()) {
                (_, Version::Absent) => Way::Remove,
                (Version::Absent, _) => Way::New,
                (_, _) => Way::Exchange,
            }),
            Verdict::Kept | Verdict::Same | Verdict::Conflict(_) | Verdict::Special => None,
        }
    }
}

/// What a hand-back does, decided before anything is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Every path that the child changed and that is not left out, in order.
    pub paths: Vec<Planned>,
    /// What the child made and the ignore rules leave out, in order.
    pub left_out: Vec<TreePath>,
    /// The permission bits of the directories above the paths, in order: the parent's; where it has none, the child's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirs: Vec<(TreePath, u32)>,
}

impl Plan {
    /// The steps, as places in `paths`, in the order in which they are taken: removals first, what is deepest first
    /// of them; then exchanges; then what is new.
    pub fn steps(&self) -> Vec<(usize, Way)> {
        let mut steps: Vec<(usize, Way)> =
            self.paths.iter().enumerate().filter_map(|(at, path)| Some((at, path.way()?))).collect();
        // paths are in order, so that what is beneath a path comes after it
        steps.sort_by_key(|(at, way)| {
            let last_first = usize::MAX - at;
            (*way, if *way == Way::Remove { last_first } else { *at })
        });
        steps
    }
}

/// The paths where the child's tree is not as it found it, in order. A directory is no path of its own.
pub fn changed(base: &Tree, child: &Tree) -> BTreeSet<TreePath> {
    let mut changed = BTreeSet::new();
    for (path, _) in base.iter().chain(child.iter()) {
        if base.at(path).tracked() != child.at(path).tracked() {
            changed.insert(path.clone());
        }
    }
    changed
}

/// Plans a hand-back.
///
/// `parent` must tell what is at and beneath every path that the child changed and what is above it; elsewhere it may
/// be silent. `ignored`: paths of the child's that the ignore rules of the spawn leave out (those that were in the
/// base are handed back all the same).
pub fn plan(base: &Tree, parent: &Tree, child: &Tree, ignored: &BTreeSet<TreePath>) -> Plan {
    let mut plan = Plan::default();
    let mut paths = Vec::new();
    for path in changed(base, child) {
        if ignored.contains(&path) && base.at(&path).tracked() == &Version::Absent {
            plan.left_out.push(path);
        } else {
            paths.push(path);
        }
    }
    let gone: BTreeSet<&TreePath> = paths
        .iter()
        .filter(|path| {
            let child = child.at(path);
            *child.tracked() == Version::Absent
                && merge1(&base.at(path), &parent.at(path), &child) == Verdict::Taken
        })
        .collect();
    plan.paths = paths
        .iter()
        .map(|path| {
            let (base, child) = (base.at(path), child.at(path));
            let parent = once_gone(parent, path, &gone);
            let verdict = merge1(&base, &parent, &child);
            Planned { path: path.clone(), base, parent, child, verdict, mode: None }
        })
        .collect();
    plan
}

/// What the parent has at a path once the removals are done, if that makes room for it; else what it has.
fn once_gone(parent: &Tree, path: &TreePath, gone: &BTreeSet<&TreePath>) -> Version {
    let now = parent.at(path);
    let makes_room = match now {
        Version::InTheWay(Obstacle::Directory) => {
            let mut beneath = parent.beneath(path).map(|(beneath, _)| beneath).peekable();
            beneath.peek().is_some() && beneath.all(|beneath| gone.contains(beneath))
        }
        Version::InTheWay(Obstacle::Above) => {
            parent.blocked_by(path).is_some_and(|above| gone.contains(&above))
        }
        Version::InTheWay(Obstacle::Special)
        | Version::Absent
        | Version::File { .. }
        | Version::Link { .. } => false,
    };
    if makes_room { Version::Absent } else { now }
}
