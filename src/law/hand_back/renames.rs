//! Renames, for the report: a file removed and one added with the same or nearly the same content.
//!
//! A hand-back carries out a removal and an addition; that they belong together is only told. Not here: reading the
//! files: how alike two are is asked.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};

use super::plan::Planned;
use super::tree::{Hash, TreePath, Version};

/// From how much on two files are nearly the same, in hundredths.
pub const ALIKE_MIN: u8 = 60;

/// Most removals and most additions that are compared with each other by content; beyond, only equal bytes count.
pub const COMPARED_MAX: usize = 100;

/// A file that the child gave another path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// Its path before.
    pub from: TreePath,
    /// Its path now.
    pub to: TreePath,
    /// How much is the same, in hundredths.
    pub alike: u8,
}

/// The renames among what a child changed, in order of the new path. Each path is in one at most; the same bytes
/// come first, then what is most alike.
pub fn renames(paths: &[Planned], mut alike: impl FnMut(&TreePath, &TreePath) -> u8) -> Vec<Rename> {
    let mut removed: BTreeMap<Hash, Vec<&TreePath>> = BTreeMap::new();
    let mut added: Vec<(&TreePath, Hash)> = Vec::new();
    for planned in paths {
        match (planned.base.tracked(), planned.child.tracked()) {
            (Version::File { hash, .. }, Version::Absent) => {
                removed.entry(*hash).or_default().push(&planned.path);
            }
            (Version::Absent, Version::File { hash, .. }) => added.push((&planned.path, *hash)),
            (Version::Absent | Version::File { .. } | Version::Link { .. } | Version::InTheWay(_), _) => {}
        }
    }
    let mut found = Vec::new();
    added.retain(|(to, hash)| {
        let Some(same) = removed.get_mut(hash) else { return true };
        // the same name elsewhere is likelier than another name
        let at = same.iter().position(|from| from.name() == to.name()).unwrap_or(0);
        if same.is_empty() {
            return true;
        }
        found.push(Rename { from: same.remove(at).clone(), to: (*to).clone(), alike: 100 });
        false
    });
    let left: Vec<&TreePath> = removed.into_values().flatten().collect();
    if left.len() <= COMPARED_MAX && added.len() <= COMPARED_MAX {
        found.extend(nearest(&left, &added, &mut alike));
    }
    found.sort_by(|one, other| one.to.cmp(&other.to));
    found
}

fn nearest(
    removed: &[&TreePath],
    added: &[(&TreePath, Hash)],
    alike: &mut impl FnMut(&TreePath, &TreePath) -> u8,
) -> Vec<Rename> {
    let mut pairs: Vec<(u8, &TreePath, &TreePath)> = Vec::new();
    for from in removed {
        for (to, _) in added {
            let alike = alike(from, to).min(99);
            if alike >= ALIKE_MIN {
                pairs.push((alike, from, to));
            }
        }
    }
    pairs.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| (one.1, one.2).cmp(&(other.1, other.2))));
    let (mut used, mut found) = (BTreeSet::new(), Vec::new());
    for (alike, from, to) in pairs {
        if !used.contains(from) && !used.contains(to) {
            used.extend([from, to]);
            found.push(Rename { from: from.clone(), to: to.clone(), alike });
        }
    }
    found
}

/// The lines of a file, to be compared with those of many others: each by a hash, with how long it is and how often
/// it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    lines: Vec<(u64, u32, u32)>,
    bytes: usize,
}

impl Lines {
    /// Of what a file holds.
    pub fn of(bytes: &[u8]) -> Lines {
        let short = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        let mut all: Vec<(u64, u32)> = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(|line| {
                let mut hash = std::hash::DefaultHasher::new();
                line.hash(&mut hash);
                (hash.finish(), short(line.len()))
            })
            .collect();
        all.sort_unstable();
        let lines =
            all.chunk_by(|one, other| one == other).map(|same| (same[0].0, same[0].1, short(same.len())));
        Lines { lines: lines.collect(), bytes: bytes.len() }
    }

    /// How many different lines there are: what comparing costs.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// How much of two files is the same, in hundredths: lines that both have, of the lines of the longer one.
    pub fn likeness(&self, other: &Lines) -> u8 {
        let (mut ours, mut theirs, mut both) = (self.lines.iter(), other.lines.iter(), 0_u64);
        let (mut one, mut two) = (ours.next(), theirs.next());
        while let (Some(a), Some(b)) = (one, two) {
            match (a.0, a.1).cmp(&(b.0, b.1)) {
                Ordering::Less => one = ours.next(),
                Ordering::Greater => two = theirs.next(),
                Ordering::Equal => {
                    both += u64::from(a.1) * u64::from(a.2.min(b.2));
                    (one, two) = (ours.next(), theirs.next());
                }
            }
        }
        match self.bytes.max(other.bytes) {
            // two empty files have nothing in common
            0 => 0,
            most => u8::try_from(both * 100 / most as u64).unwrap_or(100),
        }
    }
}
