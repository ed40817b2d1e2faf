//! What the scrollbar shows of the conversation: the place, failures, conflicts, hits of a search.
//!
//! Heights are judged by the length of the source, for what is far away is not laid out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::State;
use super::item::{Body, Item};
use crate::ui::theme::Theme;
use crate::ui::widget::bar::{self, Bar, Mark};
use crate::ui::widget::scroll::{Layout, Spot};

/// Columns from which there is one.
const BAR_FROM: u16 = 24;

/// About how many rows an item has.
fn rows(item: &Item, open: bool, columns: usize) -> u64 {
    let lines = |text: &str| 1 + (text.len() / columns.max(1)) as u64;
    1 + match &item.body {
        Body::Prose { head: Some(_), .. } if !open => 0,
        Body::Prose { source, .. } => lines(source.text()),
        Body::User { .. } => lines(&super::source::copied(item)),
        Body::Call(call) if open => lines(call.shown()),
        Body::Ended(ended) if open => lines(ended.last()),
        Body::Report(report) if open => lines(report.answer()),
        Body::Call(_) | Body::Ended(_) | Body::Report(_) | Body::Words { .. } => 0,
    }
}

impl State {
    /// Draws the scrollbar over a column, while the view is not at its end or a search is on.
    pub fn bar(&mut self, place: Rect, buf: &mut Buffer, theme: &Theme) {
        let searched = !self.search.query.is_empty();
        let Some((first, last)) = self.drawn.filter(|_| searched || !self.follows()) else { return };
        if self.cache.width() < usize::from(BAR_FROM) {
            return;
        }
        let columns = self.cache.width();
        let current = self.search.place.map(|((id, block, _), _)| (id, block as usize));
        let (mut at, mut view, mut marks) = (0, (0, 0), Vec::new());
        for index in 0..self.items.len() {
            let open = self.lay().open(index);
            let item = &self.items[index];
            let (id, long) = (item.id, rows(item, open, columns));
            marks.extend(mark(item).map(|mark| (at, mark)));
            if searched && self.search.hits_of(index, id) > 0 {
                marks.push((at, Mark::Hit));
            }
            if index == first.item {
                view.0 = at + self.part(first, long);
            }
            if index == last.item {
                view.1 = at + self.part(Spot { block: last.block + 1, ..last }, long);
            }
            if let Some((_, block)) = current.filter(|(of, _)| *of == id) {
                marks.push((at + self.part(Spot { item: index, block, row: 0 }, long), Mark::Current));
            }
            at += long;
        }
        let end = if self.follows() { at } else { view.1 };
        bar::draw(&Bar { total: at, view: (view.0, end), marks: &marks }, place, buf, theme);
    }
    /// About how many rows of an item stand before a block of it.
    fn part(&mut self, spot: Spot, long: u64) -> u64 {
        let blocks = self.lay().blocks(spot.item).max(1) as u64;
        long * (spot.block as u64).min(blocks) / blocks
    }
}

fn mark(item: &Item) -> Option<Mark> {
    match &item.body {
        Body::Report(report) if report.conflicts() => Some(Mark::Conflict),
        _ => item.failed().then_some(Mark::Failed),
    }
}
