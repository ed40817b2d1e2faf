//! Where one was in a conversation: kept while another session is shown, found again when one comes back to it.
//!
//! Deliberately not here: who keeps it (`start`), and what was typed (the session keeps that itself).

use super::State;
use super::item::Body;
use crate::api::entry::Entry;
use crate::base::EntryId;
use crate::ui::widget::diff::Shape;
use crate::ui::widget::scroll::Scroll;

/// A place in a conversation that is not shown now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// How many entries there were, and which was the last.
    entries: usize,
    last: EntryId,
    /// How many items they were.
    items: usize,
    scroll: Scroll,
    selected: Option<usize>,
    /// What all items were last told to be, and what each of some was.
    all: Option<bool>,
    open: Vec<(usize, bool)>,
}

impl State {
    /// Where one is in it; none: nothing was said yet. `path`: its entries.
    pub fn kept(&self, path: &[std::sync::Arc<Entry>]) -> Option<Kept> {
        let last = path.get(self.seen.checked_sub(1)?)?;
        let committed = &self.items[..self.live_from];
        let open = committed.iter().enumerate().filter_map(|(at, item)| Some((at, item.open?)));
        let selected = self.selected.and_then(|id| committed.iter().position(|item| item.id == id));
        Some(Kept {
            entries: self.seen,
            last: last.id.clone(),
            items: self.live_from,
            scroll: self.scroll,
            selected,
            all: self.all,
            open: open.collect(),
        })
    }
    /// One comes back: as soon as its entries are here, it stands where it was.
    /// Diffs are shown so at first.
    pub fn come_back(&mut self, kept: Option<Kept>, diffs: Shape) {
        self.show_diffs(diffs);
        self.kept = kept.map(Box::new);
    }
    /// So many entries were taken, this the last of them; whether one is back where one was.
    pub(super) fn took(&mut self, entries: usize, entry: &Entry) -> bool {
        let Some(kept) = self.kept.take_if(|kept| kept.entries == entries) else { return false };
        // it may have been written on, or cut, by another program
        if kept.last != entry.id || kept.items != self.live_from {
            return false;
        }
        self.all = kept.all;
        for (at, open) in &kept.open {
            if let Some(item) = self.items.get_mut(*at) {
                item.open = Some(*open);
            }
        }
        self.selected = kept.selected.and_then(|at| self.items.get(at)).map(|item| item.id);
        self.scroll = kept.scroll;
        // a place in a long message is one in all of it
        if let Scroll::At(place) = kept.scroll
            && let Some(Body::Prose { source, doc, .. }) =
                self.items.get_mut(place.item).map(|item| &mut item.body)
        {
            doc.finish(source.text());
        }
        self.cache.clear();
        true
    }
}
