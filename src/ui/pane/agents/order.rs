//! The order of the list: a tree, each agent under the one that asked for it. Among those of one parent come first
//! those of which something has not ended, as they were asked for, then those that ended, the newest first.

use std::collections::{BTreeMap, BTreeSet};

use super::over;
use crate::api::agent::{AgentRow, AgentState};
use crate::law::board::Picture;

/// An agent in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its path.
    pub path: String,
    /// How many of those above it are listed.
    pub depth: u16,
    /// Its name beneath the nearest one above that is listed.
    pub name: String,
}

/// The paths above a path, the nearest first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/').map(|(up, _)| up), |path| {
        path.rsplit_once('/').map(|(up, _)| up)
    })
}

/// All of them, as they are listed.
pub(super) fn tree(all: &Picture<String, AgentRow>) -> Vec<Listed> {
    let known: BTreeMap<&str, &AgentRow> = all.iter().map(|(path, row)| (path.as_str(), row)).collect();
    let mut lives: BTreeSet<&str> = BTreeSet::new();
    for (path, _) in known.iter().filter(|(_, row)| !over(row)) {
        lives.insert(path);
        lives.extend(above(path));
    }
    let key = |path: &str| match known.get(path).map(|row| (&row.state, row.node.asked)) {
        Some((AgentState::Ended(end), _)) if !lives.contains(path) => (true, u64::MAX - end.ended.0),
        Some((_, asked)) => (false, asked.0),
        None => (false, 0),
    };
    let mut under: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for path in known.keys() {
        let parent = above(path).find(|up| known.contains_key(up));
        under.entry(parent).or_default().push(path);
    }
    // the last first: they are taken from the end
    for paths in under.values_mut() {
        paths.sort_by_key(|path| std::cmp::Reverse((key(path), *path)));
    }
    let mut out = Vec::with_capacity(known.len());
    let mut line = vec![(None, under.remove(&None).unwrap_or_default())];
    while let Some((parent, mut paths)) = line.pop() {
        let Some(path) = paths.pop() else { continue };
        let name = parent.and_then(|up: &str| path.get(up.len() + 1..)).unwrap_or(path);
        let depth = u16::try_from(line.len()).unwrap_or(u16::MAX);
        out.push(Listed { path: path.to_owned(), depth, name: name.to_owned() });
        line.push((parent, paths));
        if let Some(those) = under.remove(&Some(path)) {
            line.push((Some(path), those));
        }
    }
    out
}
