//! Search: hits are counted in the words of every item as they are shown, folded ones too, a slice of them at a time, the
//! nearest first; one is found again in the lines of its item when one goes there.

use super::State;
use super::item::{Body, Item};
use super::lay::Lay;
use super::select::{Key, line_of};
use super::source::{searched, weighs};
use crate::ui::widget::scroll::{Layout, Spot};

/// Bytes that are searched at once: what is left is searched after a look at the keys.
const SLICE: usize = 4 << 20;
/// So many times as much as a search of it costs what it takes to know the words of Markdown.
const MARKDOWN: usize = 8;

/// What is known of one item.
#[derive(Clone, Copy, Debug)]
struct Found {
    id: u64,
    /// Bytes of its texts when it was searched.
    weight: usize,
    /// Its hits; none: not searched yet.
    hits: Option<u32>,
}

/// A search that is on.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// What is looked for; empty: none is on.
    pub query: String,
    /// One for each item.
    found: Vec<Found>,
    /// The item from which on it is searched, and so many that are not yet.
    from: usize,
    left: usize,
    /// The nearest hit is gone to as soon as it is found.
    aims: bool,
    /// The current hit: an item's id, and which one in it.
    current: Option<(u64, u32)>,
    /// Where that is drawn: its line, and a byte of that.
    pub place: Option<(Key, u32)>,
    revision: u64,
}

/// Where a query stands in a text, in bytes. Case matters when the query has capitals.
pub(super) fn matches(text: &str, query: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    each(text, query, |from, to| out.push((from, to)));
    out
}

/// How often it does.
fn count(text: &str, query: &str) -> u32 {
    let mut count = 0;
    each(text, query, |_, _| count += 1);
    count
}

fn each(text: &str, query: &str, mut hit: impl FnMut(usize, usize)) {
    let Some(first) = query.chars().next() else { return };
    if query.chars().any(char::is_uppercase) {
        return text.match_indices(query).for_each(|(at, found)| hit(at, at + found.len()));
    }
    if query.is_ascii() {
        // bytes of ASCII stand for themselves in any text
        let (bytes, query) = (text.as_bytes(), query.as_bytes());
        let (low, high) = (query[0], query[0].to_ascii_uppercase());
        let mut at = 0;
        while let Some(next) = bytes.get(at..).and_then(|rest| memchr::memchr2(low, high, rest)) {
            let from = at + next;
            let Some(found) = bytes.get(from..from + query.len()) else { return };
            at = if found.eq_ignore_ascii_case(query) {
                hit(from, from + query.len());
                from + query.len()
            } else {
                from + 1
            };
        }
        return;
    }
    // lower case may have another length: go by characters
    let folded: Vec<char> = query.chars().flat_map(char::to_lowercase).collect();
    let first = first.to_lowercase().next().unwrap_or(first);
    let mut at = 0;
    while let Some(begin) = text[at..].chars().next() {
        let next = at + begin.len_utf8();
        let found =
            (begin.to_lowercase().next() == Some(first)).then(|| folds(&text[at..], &folded)).flatten();
        at = match found {
            Some(long) => {
                hit(at, at + long);
                at + long
            }
            None => next,
        };
    }
}

/// How many bytes at the beginning of a text are the query in lower case.
fn folds(text: &str, query: &[char]) -> Option<usize> {
    let mut wanted = query;
    for (at, c) in text.char_indices() {
        if wanted.is_empty() {
            return Some(at);
        }
        for lower in c.to_lowercase() {
            wanted = wanted.strip_prefix(&[lower])?;
        }
    }
    wanted.is_empty().then_some(text.len())
}

impl Search {
    /// The hits of an item, as far as they are known.
    pub fn hits_of(&self, index: usize, id: u64) -> u32 {
        let known = self.found.get(index).filter(|found| found.id == id);
        known.and_then(|found| found.hits).unwrap_or(0)
    }
    /// Meets the items as they are now.
    fn meet(&mut self, items: &[Item], revision: u64) {
        if self.revision == revision && self.found.len() == items.len() {
            return;
        }
        self.revision = revision;
        let same = self.found.iter().zip(items).take_while(|(found, item)| found.id == item.id).count();
        self.found.truncate(same);
        for (found, item) in self.found.iter_mut().zip(items) {
            let weight = weighs(item);
            if found.weight != weight {
                (found.weight, found.hits) = (weight, None);
            }
        }
        let new = items[same..].iter().map(|item| Found { id: item.id, weight: weighs(item), hits: None });
        self.found.extend(new);
        self.left = self.found.iter().filter(|found| found.hits.is_none()).count();
        self.from = self.from.min(self.found.len());
    }
    /// Searches an item, if it was not.
    fn look(&mut self, items: &[Item], index: usize) -> u32 {
        if let Some(hits) = self.found[index].hits {
            return hits;
        }
        let hits = searched(&items[index]).iter().map(|text| count(text, &self.query)).sum();
        self.found[index].hits = Some(hits);
        self.left -= 1;
        hits
    }
    /// Searches on for so many bytes; an item with hits that is aimed for.
    fn slice(&mut self, items: &[Item], bytes: usize) -> Option<usize> {
        let (mut read, count) = (0, self.found.len());
        for step in 0..count {
            if self.left == 0 || read > bytes {
                break;
            }
            let index = (self.from + step) % count;
            if self.found[index].hits.is_some() {
                continue;
            }
            let costs = if matches!(items[index].body, Body::Prose { .. }) { MARKDOWN } else { 1 };
            read += self.found[index].weight * costs + 64;
            if self.look(items, index) > 0 && self.aims {
                self.aims = false;
                return Some(index);
            }
        }
        None
    }
}

impl State {
    /// How many hits the search has and which one is current (from 1), while one is on.
    pub fn hits(&self) -> Option<(usize, usize)> {
        if self.search.query.is_empty() {
            return None;
        }
        let (mut all, mut at) = (0, 0);
        for found in &self.search.found {
            if let Some((_, nth)) = self.search.current.filter(|(id, _)| *id == found.id) {
                at = all + nth as usize + 1;
            }
            all += found.hits.unwrap_or(0) as usize;
        }
        Some((all, at))
    }
    /// Whether there is more to be searched.
    pub(super) fn seeks(&self) -> bool {
        !self.search.query.is_empty() && self.search.left > 0
    }
    /// The search's text changed.
    pub(super) fn search(&mut self, query: String) {
        let before = std::mem::replace(&mut self.search, Search { query, aims: true, ..Search::default() });
        if self.search.query.is_empty() {
            return;
        }
        // typed on: what had no hit has none
        if !before.query.is_empty() && self.search.query.starts_with(&before.query) {
            self.search.found = before.found;
            let known = self.search.found.iter_mut().filter(|found| found.hits.is_some_and(|hits| hits > 0));
            known.for_each(|found| found.hits = None);
            self.search.left = self.search.found.iter().filter(|found| found.hits.is_none()).count();
            self.search.revision = before.revision;
        }
        let (height, scroll) = (self.height, self.scroll);
        self.search.from = scroll.top(&mut self.lay(), height).item;
        self.seek();
    }
    /// Searches on for a slice.
    pub(super) fn seek(&mut self) {
        if self.search.query.is_empty() {
            return;
        }
        self.search.meet(&self.items, self.revision);
        if let Some(index) = self.search.slice(&self.items, SLICE) {
            self.go(Some((index, 0)));
        }
    }
    /// To the next hit (or the one before), round at the ends.
    pub(super) fn search_step(&mut self, forward: bool) {
        if self.search.query.is_empty() {
            return;
        }
        let (search, items) = (&mut self.search, &self.items);
        search.meet(items, self.revision);
        search.aims = false;
        let count = items.len();
        if count == 0 {
            return;
        }
        let current = search
            .current
            .and_then(|(id, nth)| items.iter().rposition(|item| item.id == id).map(|index| (index, nth)));
        if let Some((index, nth)) = current {
            let hits = search.look(items, index);
            if forward && nth + 1 < hits {
                return self.go(Some((index, nth + 1)));
            }
            if !forward && nth > 0 {
                return self.go(Some((index, (nth - 1).min(hits.saturating_sub(1)))));
            }
        }
        let from = current.map_or(if forward { count - 1 } else { 0 }, |(index, _)| index);
        for step in 1..=count {
            let index = if forward { (from + step) % count } else { (from + count - step) % count };
            let hits = search.look(items, index);
            if hits > 0 {
                return self.go(Some((index, if forward { 0 } else { hits - 1 })));
            }
        }
        self.go(None);
    }
    fn go(&mut self, hit: Option<(usize, u32)>) {
        self.search.place = None;
        self.search.current = hit.map(|(index, nth)| (self.items[index].id, nth));
        let Some((index, nth)) = hit else { return };
        let id = self.items[index].id;
        if self.items[index].folds() && !self.lay().open(index) {
            self.items[index].open = Some(true);
            self.cache.forget(id);
        }
        self.read_whole(index);
        let query = self.search.query.clone();
        let height = self.height;
        let mut scroll = self.scroll;
        let mut lay = self.lay();
        let (spot, place) = find(&mut lay, index, &query, nth as usize);
        scroll.show(&mut lay, height, spot);
        self.scroll = scroll;
        self.search.place = place;
    }
}

/// The row of the nth hit in an item, its line, and where in that it begins; where the lines hold fewer than the
/// source, the last.
fn find(lay: &mut Lay<'_>, item: usize, query: &str, nth: usize) -> (Spot, Option<(Key, u32)>) {
    let mut last = (Spot { item, block: 0, row: 0 }, None);
    let id = lay.items[item].id;
    let mut seen = 0;
    for block in 0..lay.blocks(item) {
        let rows = lay.rows(item, block);
        let mut row = 0;
        while row < rows.len() {
            let (line, count) = line_of(&rows, row);
            for (from, _) in matches(&line.text, query) {
                let spot = Spot { item, block, row: row + line.row_of(from as u32) };
                last = (spot, Some(((id, block as u32, rows[row].at), from as u32)));
                if seen == nth {
                    return last;
                }
                seen += 1;
            }
            row += count.max(1);
        }
    }
    if seen == 0 && matches!(lay.items[item].body, Body::Call(_)) {
        return (Spot { item, block: 0, row: lay.height(item, 0).saturating_sub(1) }, None);
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
        assert_eq!(matches("日本 FOO é", "foo"), [(7, 10)]);
        assert!(matches("abc", "").is_empty());
        assert_eq!(matches("aaa", "aa"), [(0, 2)]);
        assert!(matches("ab", "abc").is_empty());
    }
}
