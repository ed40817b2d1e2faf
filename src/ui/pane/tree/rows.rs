//! A tree of entries as lines: the open branch stands at the left margin, each other branch is indented below the
//! entry that it leaves. Pure.

use std::collections::{BTreeSet, HashMap};

use crate::api::event::TreeEntry;
use crate::base::EntryId;

/// The entries with what follows each.
#[derive(Debug, Default)]
pub struct Forest {
    entries: Vec<TreeEntry>,
    /// All entries in the order of the lines.
    order: Vec<Spot>,
    head: Option<usize>,
}

/// An entry's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    entry: usize,
    depth: u16,
    /// It is the first of a branch that is not the open one.
    begins: bool,
    /// Entries of its branch, itself and all that leave it counted; known where one begins.
    size: usize,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where its first entry stands in the order.
    first: usize,
    /// Where its last one does.
    last: usize,
    /// How far it is indented.
    pub depth: u16,
    /// It is the first of a branch.
    pub begins: bool,
    /// What it stands for.
    pub what: What,
}

/// What a line stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An entry.
    Entry,
    /// A run of so many calls, folded.
    Calls(usize),
    /// The first of so many calls of a run that is opened.
    Opened(usize),
    /// A branch of so many entries, folded.
    Branch(usize),
}

impl Forest {
    /// The tree of these entries; one stands after the one before it.
    pub fn new(entries: Vec<TreeEntry>) -> Self {
        let index: HashMap<&EntryId, usize> =
            entries.iter().enumerate().map(|(at, entry)| (&entry.id, at)).collect();
        let mut follows: Vec<Vec<usize>> = vec![Vec::new(); entries.len() + 1];
        for (at, entry) in entries.iter().enumerate() {
            let parent = entry.parent.as_ref().and_then(|id| index.get(id)).copied();
            // the last list is of those that nothing stands before
            follows[parent.unwrap_or(entries.len())].push(at);
        }
        let head = deepest_open(&entries, &follows);
        let order = order(&entries, &follows);
        Self { entries, order, head }
    }
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// The newest entry of the open branch.
    pub fn head(&self) -> Option<EntryId> {
        self.head.map(|at| self.entries[at].id.clone())
    }
    /// The entry that a line is known by.
    pub fn id(&self, row: &Row) -> &EntryId {
        &self.entry(row.first).id
    }
    /// The first entry of a line.
    pub fn first(&self, row: &Row) -> &TreeEntry {
        self.entry(row.first)
    }
    /// The entry that a line goes back to. Of an answer that calls, and of its calls, it is the last call: one never
    /// comes back to between a call and its result.
    pub fn target(&self, row: &Row) -> &TreeEntry {
        let mut at = self.own(row);
        while matches!(self.entry(at).who, "model" | "call")
            && self.goes_on(at)
            && self.entry(at + 1).who == "call"
        {
            at += 1;
        }
        self.entry(at)
    }
    /// The entry that a line shows; of a folded run the last one.
    pub fn shown(&self, row: &Row) -> &TreeEntry {
        self.entry(self.own(row))
    }
    fn own(&self, row: &Row) -> usize {
        match row.what {
            What::Entry | What::Branch(_) => row.first,
            What::Calls(_) | What::Opened(_) => row.last,
        }
    }
    /// Whether a line holds an entry.
    pub fn holds(&self, row: &Row, id: &EntryId) -> bool {
        (row.first..=row.last).any(|at| self.entry(at).id == *id)
    }
    /// Whether a line holds the newest entry of the open branch.
    pub fn is_head(&self, row: &Row) -> bool {
        self.head.is_some_and(|head| (row.first..=row.last).any(|at| self.order[at].entry == head))
    }
    /// The calls of a line, each tool once with how often.
    pub fn tools(&self, row: &Row) -> Vec<(&str, usize)> {
        let mut out: Vec<(&str, usize)> = Vec::new();
        for at in row.first..=row.last {
            let entry = self.entry(at);
            let Some(tool) = entry.text.split(' ').next().filter(|_| entry.who == "call") else { continue };
            match out.iter_mut().find(|(name, _)| *name == tool) {
                Some((_, count)) => *count += 1,
                None => out.push((tool, 1)),
            }
        }
        out
    }
    fn entry(&self, at: usize) -> &TreeEntry {
        &self.entries[self.order[at].entry]
    }
    /// Whether an entry is folded away among calls: a call, or an answer that only calls.
    fn folds(&self, at: usize) -> bool {
        let entry = self.entry(at);
        entry.who == "call" || entry.who == "model" && entry.text.is_empty()
    }

    /// The lines: `turned` are the runs that are opened (with `all`: closed) and the branches that are closed.
    pub fn rows(&self, turned: &BTreeSet<EntryId>, all: bool, search: &str) -> Vec<Row> {
        if !search.is_empty() {
            return self.found(search);
        }
        let mut out = Vec::new();
        let mut at = 0;
        while at < self.order.len() {
            let Spot { depth, begins, size, .. } = self.order[at];
            if begins && turned.contains(&self.entry(at).id) {
                let last = at + size - 1;
                out.push(Row { first: at, last, depth, begins, what: What::Branch(size) });
                at += size;
                continue;
            }
            let mut end = at;
            while self.folds(at) && self.goes_on(end) && self.folds(end + 1) {
                end += 1;
            }
            self.run(at, end, turned, all, &mut out);
            at = end + 1;
        }
        out
    }

    /// Whether the next line's entry follows this one's on the same branch.
    fn goes_on(&self, at: usize) -> bool {
        let next = self.order.get(at + 1).filter(|next| !next.begins && next.depth == self.order[at].depth);
        next.is_some_and(|next| self.entries[next.entry].parent.as_ref() == Some(&self.entry(at).id))
    }

    /// One entry, or a run of calls with the answers between them that say nothing.
    fn run(&self, first: usize, last: usize, turned: &BTreeSet<EntryId>, all: bool, out: &mut Vec<Row>) {
        let Spot { depth, begins, .. } = self.order[first];
        let calls: Vec<usize> = (first..=last).filter(|at| self.entry(*at).who == "call").collect();
        let whole = |what| Row { first, last, depth, begins, what };
        match calls[..] {
            // an answer that says nothing and calls nothing is a line all the same
            [] => out.push(whole(What::Entry)),
            [one] => out.push(Row { first: one, last: one, depth, begins, what: What::Entry }),
            _ if turned.contains(&self.entry(first).id) == all => out.push(whole(What::Calls(calls.len()))),
            _ => {
                for (n, call) in calls.iter().enumerate() {
                    let what = if n == 0 { What::Opened(calls.len()) } else { What::Entry };
                    let first = if n == 0 { first } else { *call };
                    out.push(Row { first, last: *call, depth, begins: begins && n == 0, what });
                }
            }
        }
    }

    fn found(&self, search: &str) -> Vec<Row> {
        let wanted = search.to_lowercase();
        let hit = |at: &usize| {
            let entry = self.entry(*at);
            entry.text.to_lowercase().contains(&wanted) || entry.who == wanted
        };
        let line = |at: usize| {
            let Spot { depth, begins, .. } = self.order[at];
            Row { first: at, last: at, depth, begins, what: What::Entry }
        };
        (0..self.order.len()).filter(hit).map(line).collect()
    }
}

/// The newest entry of the open branch: the open one that no open one follows.
fn deepest_open(entries: &[TreeEntry], follows: &[Vec<usize>]) -> Option<usize> {
    let mut at = None;
    let mut next = follows.last();
    while let Some(open) = next.and_then(|list| list.iter().copied().find(|n| entries[*n].open)) {
        at = Some(open);
        next = follows.get(open);
    }
    at
}

/// All entries in the order of their lines: after an entry the branches that leave it, oldest first, then what goes
/// on: the open branch; in one that is not open, the newest.
fn order(entries: &[TreeEntry], follows: &[Vec<usize>]) -> Vec<Spot> {
    let mut out: Vec<Spot> = Vec::with_capacity(entries.len());
    let mut stack: Vec<Spot> = Vec::new();
    // `open`: what they follow is on the open branch, so only that goes on at its depth
    let put = |list: &[usize], depth: u16, open: bool, stack: &mut Vec<Spot>| {
        let newest = list.last().copied().filter(|_| !open);
        let main = list.iter().copied().find(|n| entries[*n].open).or(newest);
        if let Some(entry) = main {
            stack.push(Spot { entry, depth, begins: false, size: 0 });
        }
        for side in list.iter().rev().filter(|n| Some(**n) != main) {
            stack.push(Spot { entry: *side, depth: depth.saturating_add(1), begins: true, size: 0 });
        }
    };
    if let Some(roots) = follows.last() {
        put(roots, 0, true, &mut stack);
    }
    // branches that are not over yet: where each begins
    let mut open: Vec<usize> = Vec::new();
    while let Some(spot) = stack.pop() {
        let over = |begin: &usize, out: &[Spot]| {
            out[*begin].depth > spot.depth || spot.begins && out[*begin].depth == spot.depth
        };
        while let Some(begin) = open.pop_if(|begin| over(begin, &out)) {
            out[begin].size = out.len() - begin;
        }
        if spot.begins {
            open.push(out.len());
        }
        out.push(spot);
        put(&follows[spot.entry], spot.depth, entries[spot.entry].open, &mut stack);
    }
    for begin in open {
        out[begin].size = out.len() - begin;
    }
    out
}
