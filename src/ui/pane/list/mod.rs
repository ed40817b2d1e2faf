//! A list that moves: what is chosen is known by its key, never by its row, so that no action hits a neighbour when
//! rows come, go or change places. The order, what is chosen, what is in sight, and clicks.
//!
//! Jobs, agents and the lines of the tree are such lists. Deliberately not here: what an item is, what is done with
//! it, and what its row says.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::base::Millis;
use crate::ui::theme::Theme;
use crate::ui::widget::row::{Look, Role, put};
use crate::ui::widget::text::ellipsis;

/// Within this time a second click on an item opens it.
const DOUBLE_MS: u64 = 400;

/// What can happen to a list by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Msg {
    /// The choice goes so many items down.
    Move(i32),
    /// By so many pages.
    Page(i32),
    /// To the first.
    First,
    /// To the last.
    Last,
    /// The rows go so many down, the choice stays on its item.
    Scroll(i32),
    /// A click on this row, as last drawn.
    Click(u16),
}

/// Where an item stands once a list is made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// There.
    At(usize),
    /// Nowhere, but it may come back.
    Hidden,
    /// It is no more.
    Gone,
}

/// A list of items that are known by keys.
#[derive(Debug)]
pub struct List<K> {
    keys: Vec<K>,
    chosen: Option<K>,
    /// Where the chosen one stands; none: nothing that is listed is chosen.
    at: Option<usize>,
    /// Where the choice is or was: moving goes on from there.
    place: usize,
    /// Items that the person takes off: when the chosen one goes so, its neighbour is chosen.
    leaving: Vec<K>,
    /// The first item that is drawn.
    top: usize,
    /// The choice is to be brought into sight.
    show: bool,
    /// Rows that there were, as last drawn, and whose each is.
    height: usize,
    rows: Vec<K>,
    clicked: Option<(K, Millis)>,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            chosen: None,
            at: None,
            place: 0,
            leaving: Vec::new(),
            top: 0,
            show: false,
            height: 0,
            rows: Vec::new(),
            clicked: None,
        }
    }
}

impl<K: Clone + PartialEq> List<K> {
    /// The items anew, in their order. The choice stays on its item; of one that is gone by itself nothing is left
    /// chosen, for the next key was not meant for its neighbour.
    pub fn set(&mut self, keys: Vec<K>, stands: impl Fn(&K) -> Stands) {
        self.keys = keys;
        let was = self.at.take();
        match self.chosen.as_ref().map(&stands) {
            Some(Stands::At(at)) => {
                self.at = Some(at);
                self.show |= was != self.at;
                self.place = at;
            }
            Some(Stands::Hidden) | None => {}
            Some(Stands::Gone) => {
                let gone = self.chosen.take();
                if gone.is_some_and(|gone| self.leaving.contains(&gone)) {
                    self.choose(self.place);
                }
            }
        }
        self.leaving.retain(|key| stands(key) != Stands::Gone);
    }
    /// As `set`, of a list that names all there are.
    pub fn set_all(&mut self, keys: Vec<K>) {
        let all = keys.clone();
        self.set(keys, |key| all.iter().position(|of| of == key).map_or(Stands::Gone, Stands::At));
    }
    /// The items, in their order.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }
    /// The item that keys are for.
    pub fn chosen(&self) -> Option<&K> {
        self.chosen.as_ref().filter(|_| self.at.is_some())
    }
    /// Where it stands.
    pub fn at(&self) -> Option<usize> {
        self.at
    }
    /// Whether the last frame showed an item.
    pub fn drawn(&self) -> bool {
        !self.rows.is_empty()
    }
    /// Chooses what stands there, or the nearest.
    pub fn choose(&mut self, at: usize) {
        self.place = at.min(self.keys.len().saturating_sub(1));
        self.chosen = self.keys.get(self.place).cloned();
        self.at = self.chosen.is_some().then_some(self.place);
        self.show = true;
    }
    /// The list is turned to: something is chosen where anything can be, and it is in sight.
    pub fn enter(&mut self) {
        if self.at.is_none() {
            self.choose(self.place);
        }
        self.reveal();
    }
    /// Other items are looked for: something of them is chosen.
    pub fn searched(&mut self) {
        if self.at.is_none() {
            self.choose(0);
        }
        self.reveal();
    }
    /// The choice comes into sight.
    pub fn reveal(&mut self) {
        self.show = true;
    }
    /// The person takes an item off the list.
    pub fn leaving(&mut self, key: K) {
        self.leaving.push(key);
    }
    /// Moves; the item that was opened by a second click.
    pub fn update(&mut self, msg: Msg, now: Millis) -> Option<K> {
        match msg {
            Msg::Move(by) => self.step(by),
            Msg::Page(by) => self.step(by.saturating_mul(self.height.saturating_sub(1).max(1) as i32)),
            Msg::First => self.choose(0),
            Msg::Last => self.choose(usize::MAX),
            Msg::Scroll(by) => {
                let last = self.keys.len().saturating_sub(1);
                self.top = self.top.saturating_add_signed(by as isize).min(last);
                self.show = false;
            }
            Msg::Click(row) => return self.click(row, now),
        }
        None
    }

    fn step(&mut self, by: i32) {
        let (from, by) = match self.at {
            Some(at) => (at, by),
            // what was chosen is gone, and what followed it stands in its place
            None => (self.place, by.saturating_sub(i32::from(by > 0))),
        };
        self.choose(from.saturating_add_signed(by as isize));
    }

    fn click(&mut self, row: u16, now: Millis) -> Option<K> {
        let key = self.rows.get(usize::from(row))?.clone();
        // since it was drawn it may have gone
        self.choose(self.keys.iter().position(|of| *of == key)?);
        let again =
            self.clicked.as_ref().is_some_and(|(last, then)| *last == key && now.since(*then).0 <= DOUBLE_MS);
        self.clicked = (!again).then(|| (key.clone(), now));
        again.then_some(key)
    }

    /// The choice is brought into sight, and no room stays empty below what could fill it.
    fn scroll(&mut self, details: usize) {
        let last = |rows: usize| rows.saturating_sub(self.height).min(self.keys.len() - 1);
        let Some(at) = self.at else {
            self.top = self.top.min(last(self.keys.len()));
            return;
        };
        if std::mem::take(&mut self.show) {
            let needs = at + 1 + details.min(self.height - 1);
            self.top = self.top.min(at).max(needs.saturating_sub(self.height));
        }
        self.top = self.top.min(last(self.keys.len() + details));
        if at < self.top {
            // out of sight it has no details
            self.top = self.top.min(last(self.keys.len()).max(at + 1));
        }
    }

    /// Draws the items that have room, each by `row`: which, where, and whether it is marked. `details` stand below the
    /// chosen one. Without the focus the choice is shown and not marked.
    pub fn draw(
        &mut self,
        area: Rect,
        buf: &mut Buffer,
        (theme, focus): (&Theme, bool),
        details: &[(String, Role)],
        mut row: impl FnMut(usize, Rect, bool, &mut Buffer),
    ) {
        // where there is another number of rows, what was in sight stays there
        let seen = self.chosen().is_some_and(|key| self.rows.contains(key));
        self.show |= seen && self.height != usize::from(area.height);
        self.rows.clear();
        self.height = usize::from(area.height);
        if area.is_empty() || self.keys.is_empty() {
            return;
        }
        self.scroll(details.len());
        let mut y = area.y;
        for (at, key) in self.keys.iter().enumerate().skip(self.top) {
            if y >= area.bottom() {
                break;
            }
            let (place, chosen) = (Rect { y, height: 1, ..area }, self.at == Some(at));
            if chosen {
                buf.set_style(place, if focus { theme.selection } else { theme.strong });
            }
            row(at, place, chosen && focus, buf);
            self.rows.push(key.clone());
            y += 1;
            for (text, role) in details.iter().filter(|_| chosen && area.width > 2) {
                if y < area.bottom() {
                    let wide = usize::from(area.width) - 2;
                    put(buf, area.x + 2, y, &ellipsis(text, wide), wide, Look::from(*role).style(theme));
                    self.rows.push(key.clone());
                    y += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
