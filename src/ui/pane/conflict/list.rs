//! The lists: the children of whom something came back, and the paths of one, with what was left out at the end.

use super::State;
use super::open::Open;
use crate::api::hand_back::{ByHand, HandBack, HandBackPath};
use crate::law::hand_back::merge1::Verdict;
use crate::law::hand_back::tree::TreePath;

/// A line of the list of paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Item<'a> {
    /// A path of the hand-back.
    Path(&'a HandBackPath),
    /// A path that the ignore rules leave out.
    LeftOut(&'a TreePath),
}

impl Item<'_> {
    pub fn path(&self) -> &TreePath {
        match self {
            Item::Path(path) => &path.path,
            Item::LeftOut(path) => path,
        }
    }
}

/// How many lines the list of paths has.
pub(super) fn len(hand_back: &HandBack) -> usize {
    hand_back.paths.len() + hand_back.left_out.len()
}

/// A line of the list of paths.
pub(super) fn item(hand_back: &HandBack, at: usize) -> Option<Item<'_>> {
    let left_out = || hand_back.left_out.get(at - hand_back.paths.len()).map(Item::LeftOut);
    hand_back.paths.get(at).map(Item::Path).or_else(left_out)
}

impl State {
    /// The line that keys are for.
    pub(super) fn item(&self) -> Option<Item<'_>> {
        item(self.hand_back()?, self.selected)
    }

    /// The path that keys are for, with its child.
    pub(super) fn wanted(&self) -> Option<(String, TreePath)> {
        match self.item()? {
            Item::Path(path) => Some((self.child.clone()?, path.path.clone())),
            Item::LeftOut(_) => None,
        }
    }

    /// Whether the path that is selected is the one that is open.
    pub(super) fn is_open_selected(&self) -> bool {
        match (&self.open, self.wanted()) {
            (Some(open), Some((child, path))) => open.is(&child, &path),
            _ => false,
        }
    }

    /// The next path that waits, after the selected one and then from the beginning.
    pub(super) fn next_open_path(&self) -> Option<usize> {
        let hand_back = self.hand_back()?;
        let open: Vec<usize> =
            (0..hand_back.paths.len()).filter(|at| hand_back.paths[*at].is_open()).collect();
        open.iter().copied().find(|at| *at > self.selected).or(open.first().copied())
    }

    /// Where the other half of the rename is that a path of a child is one of, if that stands as the child has it.
    pub(super) fn other_half(&self, child: &str, path: &TreePath) -> Option<usize> {
        let hand_back = self.hand_back().filter(|one| one.child == child)?;
        let rename = hand_back.renames.iter().find(|one| one.from == *path || one.to == *path)?;
        let other = if rename.from == *path { &rename.to } else { &rename.from };
        let stands = |one: &HandBackPath| one.verdict == Verdict::Taken && one.by_hand == ByHand::Nothing;
        hand_back.paths.iter().position(|one| one.path == *other && stands(one))
    }

    /// Keeps what is open, to go on with it when it is opened again.
    pub(super) fn put_away(&mut self) {
        if let Some(open) = self.open.take().filter(Open::is_merge) {
            if self.kept.len() == super::KEPT_MAX {
                let old = self.kept.remove(0);
                self.colours.forget(old.id);
            }
            self.kept.push(open);
        }
    }
}
