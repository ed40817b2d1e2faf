//! What is left of a long text is read while nothing else is to be done, a slice at a time, as long as it is looked at.
//!
//! Deliberately not here: when that is (`ui::model`), and how a text is read (`widget::markdown`).

use super::State;
use super::item::{Body, Item};
use super::select::Key;
use crate::ui::widget::scroll::{Place, Scroll, Spot};

/// Whether something before the end of an item's text is not read yet.
fn unread(item: &Item) -> bool {
    matches!(&item.body, Body::Prose { doc, .. } if doc.unread())
}

impl State {
    /// Whether there is something to do while nothing else is.
    pub fn has_more(&self) -> bool {
        self.seeks() || self.reading.is_some()
    }
    /// Does a part of it.
    pub(super) fn more(&mut self) {
        self.read_on();
        self.seek();
    }
    /// These rows are drawn: their code gets its colours, and what is not read of theirs is read next.
    pub(super) fn look_at(&mut self, visible: &[Spot]) {
        self.drawn = visible.first().copied().zip(visible.last().copied());
        for (at, spot) in visible.iter().enumerate() {
            if at == 0 || spot.row == 0 {
                self.colours.want(&self.items[spot.item], spot.block);
            }
        }
        let next = visible.iter().map(|spot| &self.items[spot.item]).find(|item| unread(item));
        self.reading = next.map(|item| item.id);
    }
    fn read_on(&mut self) {
        let id = self.reading.take();
        let Some(index) = self.items.iter().rposition(|item| Some(item.id) == id && unread(item)) else {
            return;
        };
        let Body::Prose { source, doc, .. } = &mut self.items[index].body else { return };
        match doc.read_on(source.text()) {
            Some(moved) => self.moved(index, &moved),
            None => self.reading = id,
        }
    }
    /// Reads all of an item's text now: it is not only looked at.
    pub(super) fn read_whole(&mut self, index: usize) {
        if let Some(Body::Prose { source, doc, .. }) = self.items.get_mut(index).map(|item| &mut item.body)
            && doc.unread()
        {
            let moved = doc.read_whole(source.text());
            self.moved(index, &moved);
        }
    }
    /// The blocks of an item are others now; this tells where each is. Every place stays with its text.
    fn moved(&mut self, index: usize, moved: &[usize]) {
        let (id, head) = match &self.items[index] {
            Item { id, body: Body::Prose { head, .. }, .. } => (*id, usize::from(head.is_some())),
            item => (item.id, 0),
        };
        let to = |block: usize| match block.checked_sub(head) {
            Some(of) => head + moved.get(of).or(moved.last()).copied().unwrap_or(of),
            None => block,
        };
        let key = |(of, block, at): Key| (of, if of == id { to(block as usize) as u32 } else { block }, at);
        if let Scroll::At(place) = self.scroll
            && place.item == index
        {
            self.scroll = Scroll::At(Place { block: to(place.block), ..place });
        }
        self.pick.moved_lines(key);
        self.search.place = self.search.place.map(|(of, at)| (key(of), at));
        self.cache.forget(id);
    }
}
