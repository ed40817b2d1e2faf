//! A scrollbar of one column: where the view stands in the whole, and where something is that one may want to go to.
//!
//! It stands on a border where there is one, or in a column that is left to it, else on what is blank; where text stands,
//! that is reversed. Deliberately not here: when it is drawn, and how long things are.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::row::{Look, Role};
use crate::ui::theme::Theme;

/// Something that one may want to go to. The last of these that are in one place is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Hits of a search.
    Hit,
    /// Something failed.
    Failed,
    /// There was a conflict.
    Conflict,
    /// The hit that one is at.
    Current,
}

impl Mark {
    fn look(self) -> (&'static str, Role) {
        match self {
            Mark::Hit => ("•", Role::Accent),
            Mark::Failed => ("✗", Role::Error),
            Mark::Conflict => ("⚑", Role::Warning),
            Mark::Current => ("◆", Role::Accent),
        }
    }
}

/// What it shows. All numbers are of one kind: rows, or bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bar<'a> {
    /// How much there is.
    pub total: u64,
    /// Where the view begins and ends.
    pub view: (u64, u64),
    /// What is where.
    pub marks: &'a [(u64, Mark)],
}

/// Draws it into the first column of `place`.
pub fn draw(bar: &Bar<'_>, place: Rect, buf: &mut Buffer, theme: &Theme) {
    let place = place.intersection(buf.area);
    let whole = bar.view.0 == 0 && bar.view.1 >= bar.total;
    if place.is_empty() || bar.total == 0 || whole && bar.marks.is_empty() {
        return;
    }
    let rows = u128::from(place.height);
    let row = |at: u64| (u128::from(at.min(bar.total)) * rows / u128::from(bar.total)).min(rows - 1) as u16;
    let mut shown: Vec<Option<(&str, Role)>> = vec![None; usize::from(place.height)];
    let first = row(bar.view.0);
    let last = row(bar.view.1.saturating_sub(1)).max(first);
    for cell in &mut shown[usize::from(first)..=usize::from(last)] {
        *cell = Some(("┃", Role::Accent));
    }
    let mut marks: Vec<(u16, Mark)> = bar.marks.iter().map(|(at, mark)| (row(*at), *mark)).collect();
    marks.sort_unstable();
    for (row, mark) in marks {
        shown[usize::from(row)] = Some(mark.look());
    }
    for (y, cell) in (place.y..place.bottom()).zip(shown) {
        let Some((glyph, role)) = cell else { continue };
        let style = Look::from(role).style(theme);
        let under = &mut buf[(place.x, y)];
        if matches!(under.symbol(), " " | "│") {
            under.set_symbol(glyph).set_style(style);
        } else {
            under.set_style(style.add_modifier(Modifier::REVERSED));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column(bar: &Bar<'_>, height: u16) -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, 1, height));
        draw(bar, buf.area, &mut buf, &Theme::default());
        (0..height).map(|y| buf[(0, y)].symbol().to_owned()).collect()
    }

    #[test]
    fn it_tells_where_the_view_stands_and_what_is_where() {
        let marks =
            [(5, Mark::Failed), (95, Mark::Hit), (96, Mark::Conflict), (52, Mark::Hit), (53, Mark::Current)];
        let bar = Bar { total: 100, view: (20, 41), marks: &marks };
        assert_eq!(column(&bar, 10), "✗ ┃┃┃◆   ⚑");
        assert_eq!(column(&Bar { total: 0, ..bar }, 4), "    ");
        assert_eq!(column(&Bar { view: (1, 100), marks: &[], ..bar }, 3), "┃┃┃");
        assert_eq!(column(&Bar { view: (0, 100), marks: &[], ..bar }, 3), "   ", "all of it is seen");
        assert_eq!(column(&Bar { view: (99, 100), marks: &[], ..bar }, 3), "  ┃");
    }

    #[test]
    fn no_text_is_lost_under_it() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 2, 3));
        buf.set_string(0, 0, "ab", ratatui::style::Style::new());
        buf.set_string(0, 1, "x│", ratatui::style::Style::new());
        let bar = Bar { total: 30, view: (1, 30), marks: &[] };
        draw(&bar, Rect::new(1, 0, 1, 3), &mut buf, &Theme::default());
        let symbols: String = (0..3).map(|y| buf[(1, y)].symbol().to_owned()).collect();
        assert_eq!(symbols, "b┃┃");
        assert!(buf[(1, 0)].modifier.contains(Modifier::REVERSED) && buf[(0, 0)].symbol() == "a");
    }

    proptest! {
        #[test]
        fn it_stands_inside_at_every_size(
            total in 0u64..500, from in 0u64..600, to in 0u64..600, height in 0u16..50, marks in prop::collection::vec(0u64..600, 0..9)
        ) {
            let marks: Vec<(u64, Mark)> = marks.into_iter().map(|at| (at, Mark::Hit)).collect();
            let shown = column(&Bar { total, view: (from, to), marks: &marks }, height);
            let whole = from == 0 && to >= total && marks.is_empty();
            prop_assert!(total == 0 || height == 0 || whole || shown.contains(['┃', '•']));
        }
    }
}
