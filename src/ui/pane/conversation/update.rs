//! What happens to the conversation by a message.

use super::item::{Body, Item};
use super::{Msg, Out, State};
use crate::api::command::Query;
use crate::api::event::Reply;
use crate::base::Millis;
use crate::ui::widget::scroll::{Layout, Scroll, Spot};

/// Bytes of a whole output that are read when a call is opened.
const WHOLE_MAX: u64 = 1024 * 1024;

/// Changes the state by a message.
pub fn update(state: &mut State, msg: Msg, now: Millis) -> Vec<Out> {
    let moves = matches!(msg, Msg::Lines(_) | Msg::Pages(_) | Msg::Top | Msg::Bottom);
    let out = changed(state, msg, now);
    if moves {
        state.keep_mark_in_view();
    }
    out
}

fn changed(state: &mut State, msg: Msg, now: Millis) -> Vec<Out> {
    match msg {
        Msg::Lines(rows) => state.scroll_by(i64::from(rows)),
        Msg::Pages(pages) => state.scroll_by(i64::from(pages) * state.height.saturating_sub(1).max(1) as i64),
        Msg::Top => state.scroll_to_top(),
        Msg::Bottom => state.follow(),
        Msg::First => {
            state.selected = None;
            state.scroll_to_top();
            state.select(true, |_| true);
        }
        Msg::Last => {
            state.selected = None;
            state.follow();
            state.select(false, |_| true);
        }
        Msg::Next => state.select(true, |_| true),
        Msg::Previous => state.select(false, |_| true),
        Msg::NextUser => state.select(true, |item| matches!(item.body, Body::User { .. })),
        Msg::PreviousUser => state.select(false, |item| matches!(item.body, Body::User { .. })),
        Msg::NextError => state.select(true, Item::failed),
        Msg::PreviousError => state.select(false, Item::failed),
        Msg::NextCall => state.select(true, |item| matches!(item.body, Body::Call(_))),
        Msg::PreviousCall => state.select(false, |item| matches!(item.body, Body::Call(_))),
        Msg::Deselect => state.selected = None,
        Msg::Toggle => return state.toggle(),
        Msg::ToggleAll => state.toggle_all(),
        Msg::Shape => {
            let (shape, columns) = state.shape();
            state.show_diffs(shape.switched(columns));
        }
        Msg::Search(query) => state.search(query),
        Msg::SearchNext => state.search_step(true),
        Msg::SearchPrevious => state.search_step(false),
        Msg::Copy => return state.copy().map(Out::Copy).into_iter().collect(),
        Msg::Press { column, row } => return state.press(column, row, now),
        Msg::Drag { column, row } => state.drag(column, row, now),
        Msg::Release => return state.release(),
        Msg::Pull => state.pull(now),
        Msg::More => state.more(),
        Msg::Pick(pick) => return state.picking(pick),
        Msg::Answered { token, reply } => state.answered(token, reply),
    }
    Vec::new()
}

impl State {
    /// Whether the view goes with the end.
    pub(super) fn follows(&self) -> bool {
        self.scroll == Scroll::Follow
    }
    fn follow(&mut self) {
        self.scroll = Scroll::Follow;
        self.unseen = false;
    }
    fn scroll_to_top(&mut self) {
        let height = self.height;
        let mut scroll = self.scroll;
        scroll.to(&mut self.lay(), height, Spot::default());
        self.scroll = scroll;
    }
    pub(super) fn scroll_by(&mut self, rows: i64) {
        let height = self.height;
        let mut scroll = self.scroll;
        scroll.by(&mut self.lay(), height, rows);
        self.scroll = scroll;
        if self.follows() {
            self.unseen = false;
        }
    }
    fn selected_index(&self) -> Option<usize> {
        let id = self.selected?;
        self.items.iter().rposition(|item| item.id == id)
    }
    /// Selects the nearest item that is drawn and wanted; forward goes on at the beginning.
    fn select(&mut self, forward: bool, wanted: impl Fn(&Item) -> bool) {
        let count = self.items.len();
        if count == 0 {
            return;
        }
        let from = match self.selected_index() {
            Some(index) => index,
            // nothing is selected: at the end the first or the last of all, else what is first or last in view
            None if self.follows() => {
                if forward {
                    count - 1
                } else {
                    0
                }
            }
            None => {
                let seen = super::view::visible(self);
                let end = if forward { seen.first() } else { seen.last() };
                let end = end.map_or(0, |spot| spot.item);
                if forward { (end + count - 1) % count } else { (end + 1) % count }
            }
        };
        for step in 1..=count {
            let index = if forward { (from + step) % count } else { (from + count - step) % count };
            if wanted(&self.items[index]) && self.rows_of_head(index) > 0 {
                self.selected = Some(self.items[index].id);
                return self.show(index);
            }
        }
    }
    /// Moves the mark to what is nearest in view, so that no key does something to what is not seen.
    fn keep_mark_in_view(&mut self) {
        let Some(marked) = self.selected_index() else { return };
        let seen: Vec<usize> = super::view::visible(self).iter().map(|spot| spot.item).collect();
        let (Some(first), Some(last)) = (seen.first().copied(), seen.last().copied()) else { return };
        if seen.contains(&marked) {
            return;
        }
        let mut near: Vec<usize> = seen;
        near.dedup();
        if marked > last {
            near.reverse();
        }
        let nearest = near.into_iter().find(|index| self.rows_of_head(*index) > 0);
        let nearest = nearest.unwrap_or(if marked < first { first } else { last });
        self.selected = Some(self.items[nearest].id);
    }
    fn rows_of_head(&mut self, index: usize) -> usize {
        let mut lay = self.lay();
        if lay.blocks(index) == 0 { 0 } else { lay.height(index, 0) }
    }
    fn show(&mut self, index: usize) {
        let rows = self.rows_of_head(index);
        let height = self.height;
        let mut scroll = self.scroll;
        let spot = Spot { item: index, block: 0, row: rows.saturating_sub(1) };
        scroll.show(&mut self.lay(), height, spot);
        self.scroll = scroll;
    }
    fn toggle(&mut self) -> Vec<Out> {
        let index = self.selected_index().or_else(|| self.items.iter().rposition(Item::folds));
        index.map_or_else(Vec::new, |index| self.flip(index))
    }
    /// Opens or folds an item. One whose output was cut asks for the whole of it, and drops it again.
    pub(super) fn flip(&mut self, index: usize) -> Vec<Out> {
        if !self.items[index].folds() {
            return Vec::new();
        }
        let open = !self.lay().open(index);
        let item = &mut self.items[index];
        item.open = Some(open);
        let token = item.id;
        let mut out = Vec::new();
        if let Body::Call(call) = &mut item.body {
            if let (true, Some(path)) = (open, call.settled().and_then(|settle| settle.artifact.clone())) {
                let query = Query::Artifact { path, offset: 0, limit: WHOLE_MAX };
                out.push(Out::Ask { token, query });
            }
            if call.whole.take().is_some() {
                call.pieces = None;
            }
        }
        self.cache.forget(token);
        // of a long answer a part is folded, which may be far from its head
        if self.items[index].is_head(0) {
            self.show(index);
        }
        out
    }
    /// The whole output of a call has come.
    fn answered(&mut self, token: u64, reply: Reply) {
        let Reply::Artifact { text, size } = reply else { return };
        let Some(item) = self.items.iter_mut().rev().find(|item| item.id == token) else { return };
        if let (Body::Call(call), Some(true)) = (&mut item.body, item.open) {
            call.whole = Some((text, size));
            call.pieces = None;
            self.cache.forget(token);
        }
    }
    fn toggle_all(&mut self) {
        self.all = Some(!self.all.unwrap_or(false));
        self.items.iter_mut().for_each(|item| item.open = None);
        self.cache.clear();
        if let Some(index) = self.selected_index() {
            self.show(index);
        }
    }
    /// A click selects; on a row that folds it opens or folds.
    pub(super) fn click(&mut self, row: usize) -> Vec<Out> {
        let Some(spot) = self.spot_at(row) else { return Vec::new() };
        let item = &self.items[spot.item];
        self.selected = Some(item.id);
        let gap = item.gap && spot.block == 0 && spot.row == 0;
        if item.folds() && item.is_head(spot.block) && !gap {
            self.flipped = Some(item.id);
            return self.flip(spot.item);
        }
        Vec::new()
    }
}
