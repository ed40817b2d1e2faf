//! Renames, for the report: a file removed and one added with the same or nearly the same content.
//!
//! A hand-back carries out a removal and an addition; that they belong together is only told. Not here: reading the
//! files: how alike two are is asked.

use std::collections::{BTreeMap, BTreeSet};

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

/// How much of two files is the same, in hundredths: lines that both have, of the lines of the longer one.
pub fn likeness(one: &[u8], other: &[u8]) -> u8 {
    let mut lines: BTreeMap<&[u8], usize> = BTreeMap::new();
    let (mut first, mut second, mut both) = (0_usize, 0_usize, 0_usize);
    for line in one.split_inclusive(|byte| *byte == b'\n') {
        *lines.entry(line).or_default() += 1;
        first += line.len();
    }
    for line in other.split_inclusive(|byte| *byte == b'\n') {
        second += line.len();
        if let Some(left @ 1..) = lines.get_mut(line) {
            *left -= 1;
            both += line.len();
        }
    }
    match first.max(second) {
        // two empty files have nothing in common
        0 => 0,
        most => u8::try_from(both * 100 / most).unwrap_or(100),
    }
}
