//! Search: hits are counted in the source of every item, folded ones too, and found again in the rows
//! of one item when one goes there.

use super::State;
use super::item::{Body, Item};
use super::lay::Lay;
use super::source::searched;
use crate::ui::widget::scroll::{Layout, Place, Spot, place, spot};

/// Most hits that are counted.
const HITS_MAX: usize = 100_000;

/// A search that is on.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// What is looked for; empty: none is on.
    pub query: String,
    /// The hits: an item's id, and which one in it.
    hits: Vec<(u64, u32)>,
    current: Option<usize>,
    /// Where the current hit is drawn: its item's id and its place.
    pub place: Option<(u64, Place)>,
    revision: u64,
}

/// Where a query stands in a text, in bytes. Case matters when the query has capitals.
pub(super) fn matches(text: &str, query: &str) -> Vec<(usize, usize)> {
    if query.is_empty() {
        return Vec::new();
    }
    if query.chars().any(char::is_uppercase) {
        return text.match_indices(query).map(|(at, hit)| (at, at + hit.len())).collect();
    }
    if text.is_ascii() && query.is_ascii() {
        let (text, query) = (text.as_bytes(), query.as_bytes());
        let (mut out, mut at) = (Vec::new(), 0);
        while at + query.len() <= text.len() {
            if text[at..at + query.len()].eq_ignore_ascii_case(query) {
                out.push((at, at + query.len()));
                at += query.len();
            } else {
                at += 1;
            }
        }
        return out;
    }
    // lower case may have another length: go by characters
    let folded = query.to_lowercase();
    let starts: Vec<(usize, char)> = text.char_indices().collect();
    let (mut out, mut index) = (Vec::new(), 0);
    while index < starts.len() {
        let mut left = folded.as_str();
        let mut at = index;
        while !left.is_empty() && at < starts.len() {
            let lower: String = starts[at].1.to_lowercase().collect();
            match left.strip_prefix(lower.as_str()) {
                Some(rest) => left = rest,
                None => break,
            }
            at += 1;
        }
        if left.is_empty() {
            let end = starts.get(at).map_or(text.len(), |(end, _)| *end);
            out.push((starts[index].0, end));
            index = at;
        } else {
            index += 1;
        }
    }
    out
}

impl State {
    /// How many hits the search has and which one is current (from 1), while one is on.
    pub fn hits(&self) -> Option<(usize, usize)> {
        if self.search.query.is_empty() {
            return None;
        }
        Some((self.search.hits.len(), self.search.current.map_or(0, |current| current + 1)))
    }
    /// The search's text changed.
    pub(super) fn search(&mut self, query: String) {
        self.search = Search { query, ..Search::default() };
        if self.search.query.is_empty() {
            return;
        }
        self.count_hits();
        let height = self.height;
        let scroll = self.scroll;
        let top = scroll.top(&mut self.lay(), height);
        let from = top.item;
        let order: Vec<u64> = self.items.iter().skip(from).map(|item| item.id).collect();
        let first = self.search.hits.iter().position(|(id, _)| order.contains(id));
        self.go(first.or(self.search.hits.len().checked_sub(1)));
    }
    /// To the next hit (or the one before).
    pub(super) fn search_step(&mut self, forward: bool) {
        if self.search.query.is_empty() {
            return;
        }
        self.count_hits();
        let count = self.search.hits.len();
        if count == 0 {
            return self.go(None);
        }
        let next = match (self.search.current, forward) {
            (Some(current), true) => (current + 1) % count,
            (Some(current), false) => (current + count - 1) % count,
            (None, true) => 0,
            (None, false) => count - 1,
        };
        self.go(Some(next));
    }
    fn count_hits(&mut self) {
        if self.search.revision == self.revision && !self.search.hits.is_empty() {
            return;
        }
        self.search.revision = self.revision;
        let query = &self.search.query;
        let mut hits = Vec::new();
        for item in &self.items {
            let found: usize = searched(item).iter().map(|text| matches(text, query).len()).sum();
            hits.extend((0..found.min(HITS_MAX - hits.len())).map(|nth| (item.id, nth as u32)));
        }
        self.search.hits = hits;
        let count = self.search.hits.len();
        self.search.current = self.search.current.filter(|current| *current < count);
    }
    fn go(&mut self, hit: Option<usize>) {
        self.search.current = hit;
        self.search.place = None;
        let Some((id, nth)) = hit.and_then(|hit| self.search.hits.get(hit).copied()) else { return };
        let Some(index) = self.items.iter().position(|item| item.id == id) else { return };
        if self.items[index].folds() && !self.lay().open(index) {
            self.items[index].open = Some(true);
            self.cache.forget(id);
        }
        let query = self.search.query.clone();
        let height = self.height;
        let mut scroll = self.scroll;
        let mut lay = self.lay();
        let found = find(&mut lay, index, &query, nth as usize);
        scroll.show(&mut lay, height, found);
        let at = place(&mut lay, found);
        self.scroll = scroll;
        self.search.place = Some((id, at));
    }
    /// The row that the current hit is drawn in.
    pub(super) fn current_hit(&mut self) -> Option<Spot> {
        let (id, at) = self.search.place?;
        let index = self.items.iter().rposition(|item: &Item| item.id == id)?;
        Some(spot(&mut self.lay(), Place { item: index, ..at }))
    }
}

/// The row of the nth hit in an item; where the rows hold fewer than the source, the last.
fn find(lay: &mut Lay<'_>, item: usize, query: &str, nth: usize) -> Spot {
    let mut last = Spot { item, block: 0, row: 0 };
    let mut seen = 0;
    for block in 0..lay.blocks(item) {
        let rows = lay.rows(item, block);
        let mut row = 0;
        while row < rows.len() {
            // a line of the source and the rows that it was wrapped into
            let mut line = rows[row].content().to_owned();
            let mut starts = vec![0];
            let mut end = row + 1;
            while end < rows.len() && rows[end].soft {
                let content = rows[end - 1].content().len() as u32;
                if rows[end].at > rows[end - 1].at + content {
                    line.push(' ');
                }
                starts.push(line.len());
                line.push_str(rows[end].content());
                end += 1;
            }
            for (from, _) in matches(&line, query) {
                let offset = starts.partition_point(|start| *start <= from) - 1;
                last = Spot { item, block, row: row + offset };
                if seen == nth {
                    return last;
                }
                seen += 1;
            }
            row = end;
        }
    }
    if seen == 0 && matches!(lay.items[item].body, Body::Call(_)) {
        return Spot { item, block: 0, row: lay.height(item, 0).saturating_sub(1) };
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_fold_case_unless_the_query_has_capitals() {
        assert_eq!(matches("Foo foo FOO", "foo"), [(0, 3), (4, 7), (8, 11)]);
        assert_eq!(matches("Foo foo", "Foo"), [(0, 3)]);
        assert_eq!(matches("Straße ÄÖ äö", "äö"), [(8, 12), (13, 17)]);
        assert!(matches("abc", "").is_empty());
        assert_eq!(matches("aaa", "aa"), [(0, 2)]);
    }
}
