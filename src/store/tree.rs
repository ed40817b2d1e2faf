//! The tree of entries, folded from records in their order. Pure.
//!
//! What it promises to readers: an id stands once, a parent stands before its child. A journal that does not
//! keep this (a line was lost, a person edited) is mended in memory and the mending reported; the journal
//! itself is not touched.

use std::collections::HashMap;
use std::sync::Arc;

use crate::api::entry::{CallStart, Entry, EntryBody};
use crate::base::{CallId, EntryId};

/// The entries and what was said about them.
#[derive(Debug, Default)]
pub struct Tree {
    /// All entries, in the order of their commits.
    pub entries: Vec<Arc<Entry>>,
    /// The newest entry of the branch at hand; none: before the first.
    pub head: Option<EntryId>,
    index: HashMap<EntryId, usize>,
}

/// A call that began and did not settle.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsettled {
    /// The entry of its start.
    pub entry: EntryId,
    /// The start.
    pub start: CallStart,
}

impl Tree {
    /// Adds an entry and moves the head to it. What had to be mended is told; `Err` when its id is taken.
    pub fn add(&mut self, mut entry: Entry) -> Result<Option<String>, String> {
        if self.index.contains_key(&entry.id) {
            return Err(format!("another entry before it has the id {}", entry.id));
        }
        let mut mended = None;
        if let Some(parent) = &entry.parent
            && !self.index.contains_key(parent)
        {
            mended = Some(format!(
                "the entry {} follows {parent}, which is not there; it is shown after the one before it",
                entry.id
            ));
            entry.parent = self.entries.last().map(|before| before.id.clone());
        }
        self.index.insert(entry.id.clone(), self.entries.len());
        self.head = Some(entry.id.clone());
        self.entries.push(Arc::new(entry));
        Ok(mended)
    }
    /// Adds an entry that was just committed after the head, and moves the head to it.
    pub fn push(&mut self, entry: Arc<Entry>) {
        self.index.insert(entry.id.clone(), self.entries.len());
        self.head = Some(entry.id.clone());
        self.entries.push(entry);
    }
    /// What was committed after an entry (none: all), on whatever branch, in the order of the commits.
    pub fn since(&self, id: Option<&EntryId>) -> &[Arc<Entry>] {
        let from = id.map_or(Some(0), |id| self.index.get(id).map(|at| at + 1));
        from.and_then(|from| self.entries.get(from..)).unwrap_or_default()
    }
    /// Moves the head. `Err` when there is no such entry: it stays where it was.
    pub fn move_head(&mut self, to: Option<EntryId>) -> Result<(), String> {
        if let Some(to) = &to
            && !self.index.contains_key(to)
        {
            return Err(format!("the head was moved to {to}, which is not there; it stays where it was"));
        }
        self.head = to;
        Ok(())
    }
    /// An entry by its id.
    pub fn get(&self, id: &EntryId) -> Option<&Arc<Entry>> {
        self.index.get(id).and_then(|at| self.entries.get(*at))
    }
    /// The branch that ends in `head`, from the root.
    pub fn path(&self, head: Option<&EntryId>) -> Vec<Arc<Entry>> {
        let mut path = Vec::new();
        let mut next = head;
        while let Some(entry) = next.and_then(|id| self.get(id)) {
            path.push(entry.clone());
            next = entry.parent.as_ref();
        }
        path.reverse();
        path
    }
    /// Calls that began and did not settle, in the order of their starts.
    pub fn unsettled(&self) -> Vec<Unsettled> {
        let mut running: HashMap<&CallId, usize> = HashMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            match &entry.body {
                EntryBody::CallStart(start) => {
                    running.insert(&start.call, at);
                }
                EntryBody::CallSettle(settle) => {
                    running.remove(&settle.call);
                }
                EntryBody::User(_)
                | EntryBody::Answer(_)
                | EntryBody::Notice(_)
                | EntryBody::Compaction(_)
                | EntryBody::TurnEnd(_)
                | EntryBody::Setting(_)
                | EntryBody::JobEnd(_)
                | EntryBody::AgentEnd(_)
                | EntryBody::Restore(_)
                | EntryBody::Unknown(_) => {}
            }
        }
        let mut places: Vec<usize> = running.into_values().collect();
        places.sort_unstable();
        let start = |at: usize| match self.entries.get(at).map(|entry| (&entry.id, &entry.body)) {
            Some((id, EntryBody::CallStart(start))) => {
                Some(Unsettled { entry: id.clone(), start: start.clone() })
            }
            Some(_) | None => None,
        };
        places.into_iter().filter_map(start).collect()
    }
}

/// Mints ids that were never used in the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mint {
    entry: u64,
    call: u64,
}

impl Mint {
    /// Takes note of the ids of an entry.
    pub fn saw(&mut self, entry: &Entry) {
        self.entry = self.entry.max(number(entry.id.as_str(), 'e'));
        if let EntryBody::CallStart(start) = &entry.body {
            self.call = self.call.max(number(start.call.as_str(), 'c'));
        }
    }
    /// The next entry's id. Padded: ids sort as they were made, also for `sort` and `jq`.
    pub fn entry(&mut self) -> EntryId {
        self.entry += 1;
        EntryId::new(format!("e{:09}", self.entry))
    }
    /// The next call's id.
    pub fn call(&mut self) -> CallId {
        self.call += 1;
        CallId::new(format!("c{}", self.call))
    }
}

/// The place of an entry in the order of commits, by its id; 0 where a person wrote the id.
pub fn order(id: &EntryId) -> u64 {
    number(id.as_str(), 'e')
}

/// The number of an id that may have been minted here, else 0. Half of the range is left to mint from.
fn number(id: &str, letter: char) -> u64 {
    id.strip_prefix(letter).and_then(|digits| digits.parse().ok()).filter(|n| *n < u64::MAX / 2).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::entry::{CallSettle, CallStatus, Notice};
    use crate::base::Millis;

    fn entry(id: &str, parent: Option<&str>, body: EntryBody) -> Entry {
        Entry { id: EntryId::new(id), parent: parent.map(EntryId::new), at: Millis(0), body }
    }

    fn start(id: &str, call: &str) -> Entry {
        let start = CallStart {
            call: CallId::new(call),
            wire_id: String::new(),
            tool: "bash".into(),
            input: serde_json::Value::Null,
            spool: None,
        };
        entry(id, None, EntryBody::CallStart(start))
    }

    fn settle(id: &str, call: &str) -> Entry {
        let settle = CallSettle::new(CallId::new(call), CallStatus::Ok, "");
        entry(id, None, EntryBody::CallSettle(settle))
    }

    #[test]
    fn minted_ids_were_never_used() {
        let mut mint = Mint::default();
        for id in ["e7", "e07x", "x99", "e18446744073709551615", "é", "e3"] {
            mint.saw(&start(id, if id == "e7" { "c41" } else { "other" }));
        }
        assert_eq!((mint.entry().as_str(), mint.entry().as_str()), ("e000000008", "e000000009"));
        assert_eq!(mint.call().as_str(), "c42");
    }

    #[test]
    fn calls_without_a_settle_are_told_in_order() {
        let mut tree = Tree::default();
        for entry in [start("1", "a"), start("2", "b"), settle("3", "a"), start("4", "c"), start("5", "a")] {
            assert_eq!(tree.add(entry), Ok(None));
        }
        let calls: Vec<String> = tree.unsettled().iter().map(|open| open.start.call.to_string()).collect();
        assert_eq!(calls, ["b", "c", "a"]);
    }

    #[test]
    fn a_lost_parent_does_not_hide_what_came_before() {
        let note = || {
            let text = String::new();
            EntryBody::Notice(Notice { level: crate::api::entry::Level::Info, text })
        };
        let mut tree = Tree::default();
        tree.add(entry("a", None, note())).unwrap();
        tree.add(entry("b", Some("a"), note())).unwrap();
        assert!(tree.add(entry("d", Some("c"), note())).unwrap().unwrap().contains("follows c"));
        let ids: Vec<String> =
            tree.path(tree.head.as_ref()).iter().map(|entry| entry.id.to_string()).collect();
        assert_eq!(ids, ["a", "b", "d"]);
        assert!(tree.move_head(Some(EntryId::new("c"))).is_err());
        assert!(tree.add(entry("a", None, note())).is_err());
    }
}
