//! The scroll state of a long list of items, each of blocks of rows. It holds a place, not a number of
//! rows: what is far away is never laid out, and the place survives a resize and a growing end.

/// What is scrolled. Heights may be asked for any block; they are expected to be cached.
pub trait Layout {
    /// How many items there are.
    fn items(&self) -> usize;
    /// How many blocks an item has.
    fn blocks(&mut self, item: usize) -> usize;
    /// How many rows a block has.
    fn height(&mut self, item: usize, block: usize) -> usize;
    /// The place in the block's content where a row begins.
    fn at(&mut self, item: usize, block: usize, row: usize) -> u32;
    /// The last row that begins at or before a place.
    fn row(&mut self, item: usize, block: usize, at: u32) -> usize;
}

/// A row of the present layout. Ordered from the beginning to the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The item.
    pub item: usize,
    /// The block in it.
    pub block: usize,
    /// The row in that.
    pub row: usize,
}

/// A place in the content, the same at every width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The item.
    pub item: usize,
    /// The block in it.
    pub block: usize,
    /// Where in the block's content.
    pub at: u32,
}

/// Where the view stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scroll {
    /// At the end, going with it.
    #[default]
    Follow,
    /// With this place in its first row.
    At(Place),
}

impl Scroll {
    /// The first row that is drawn in a view of `height` rows.
    pub fn top(&self, layout: &mut impl Layout, height: usize) -> Spot {
        let end = end_top(layout, height);
        match self {
            Scroll::Follow => end,
            Scroll::At(place) => spot(layout, *place).min(end),
        }
    }
    /// Scrolls by rows, down when positive. Reaching the end follows it.
    pub fn by(&mut self, layout: &mut impl Layout, height: usize, rows: i64) {
        let top = self.top(layout, height);
        let steps = rows.unsigned_abs() as usize;
        let next = if rows < 0 { up(layout, top, steps).0 } else { down(layout, top, steps).0 };
        self.to(layout, height, next);
    }
    /// Puts a row at the top, or the next that there is. At or past the end: follows.
    pub fn to(&mut self, layout: &mut impl Layout, height: usize, next: Spot) {
        // what has no rows may stand before the last full view, and is as good as its first row
        let next = if next.item < layout.items() { settle(layout, next) } else { next };
        *self =
            if next >= end_top(layout, height) { Scroll::Follow } else { Scroll::At(place(layout, next)) };
    }
    /// Scrolls as little as needed to show a row.
    pub fn show(&mut self, layout: &mut impl Layout, height: usize, wanted: Spot) {
        let top = self.top(layout, height);
        let last = down(layout, top, height.saturating_sub(1)).0;
        if wanted < top || wanted > last {
            let next = up(layout, wanted, height / 3).0;
            self.to(layout, height, next);
        }
    }
}

/// The place of a row.
pub fn place(layout: &mut impl Layout, spot: Spot) -> Place {
    let at = layout.at(spot.item, spot.block, spot.row);
    Place { item: spot.item, block: spot.block, at }
}

/// The row of a place; the nearest that there is.
pub fn spot(layout: &mut impl Layout, place: Place) -> Spot {
    if layout.items() == 0 {
        return Spot::default();
    }
    let item = place.item.min(layout.items() - 1);
    let blocks = layout.blocks(item);
    if item < place.item || blocks == 0 {
        let from = Spot { item, block: 0, row: 0 };
        return settle(layout, from);
    }
    let block = place.block.min(blocks - 1);
    let row = layout.row(item, block, place.at);
    settle(layout, Spot { item, block, row })
}

/// The spot itself if it is a row, else the next one that is, else the last before it.
fn settle(layout: &mut impl Layout, spot: Spot) -> Spot {
    if spot.block < layout.blocks(spot.item) && spot.row < layout.height(spot.item, spot.block) {
        return spot;
    }
    next_block(layout, spot).or_else(|| previous_block(layout, spot)).unwrap_or_default()
}

/// The row of the last full view.
pub fn end_top(layout: &mut impl Layout, height: usize) -> Spot {
    let end = Spot { item: layout.items(), block: 0, row: 0 };
    up(layout, end, height).0
}

/// Goes up by rows; where it ends and how far it went.
pub fn up(layout: &mut impl Layout, from: Spot, rows: usize) -> (Spot, usize) {
    let (mut spot, mut left) = (from, rows);
    while left > 0 {
        if spot.row >= left {
            spot.row -= left;
            return (spot, rows);
        }
        left -= spot.row;
        match previous_block(layout, spot) {
            Some(before) => {
                spot = before;
                left -= 1;
            }
            None => {
                spot.row = 0;
                break;
            }
        }
    }
    let first = if spot.item >= layout.items() { Spot::default() } else { spot };
    (first, rows - left)
}

/// Goes down by rows; where it ends (at most the last row) and how far it went.
pub fn down(layout: &mut impl Layout, from: Spot, rows: usize) -> (Spot, usize) {
    let (mut spot, mut left) = (from, rows);
    while left > 0 && spot.item < layout.items() {
        let height =
            if spot.block < layout.blocks(spot.item) { layout.height(spot.item, spot.block) } else { 0 };
        let below = height.saturating_sub(spot.row + 1);
        if below >= left {
            spot.row += left;
            return (spot, rows);
        }
        match next_block(layout, spot) {
            Some(next) => {
                left -= below + 1;
                spot = next;
            }
            None => {
                spot.row += below;
                left -= below;
                break;
            }
        }
    }
    (spot, rows - left)
}

/// The last row of the block before, passing by what has no rows.
pub fn previous_block(layout: &mut impl Layout, spot: Spot) -> Option<Spot> {
    let (mut item, mut block) = (spot.item, spot.block);
    loop {
        if block == 0 {
            item = item.checked_sub(1)?;
            block = layout.blocks(item);
            continue;
        }
        block -= 1;
        let height = layout.height(item, block);
        if height > 0 {
            return Some(Spot { item, block, row: height - 1 });
        }
    }
}

/// The first row of the block after, passing by what has no rows.
pub fn next_block(layout: &mut impl Layout, spot: Spot) -> Option<Spot> {
    let (mut item, mut block) = (spot.item, spot.block + 1);
    while item < layout.items() {
        if block >= layout.blocks(item) {
            item += 1;
            block = 0;
            continue;
        }
        if layout.height(item, block) > 0 {
            return Some(Spot { item, block, row: 0 });
        }
        block += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Items of blocks of some content length; a row holds `width` of it.
    struct Fake {
        items: Vec<Vec<u32>>,
        width: u32,
    }
    impl Layout for Fake {
        fn items(&self) -> usize {
            self.items.len()
        }
        fn blocks(&mut self, item: usize) -> usize {
            self.items[item].len()
        }
        fn height(&mut self, item: usize, block: usize) -> usize {
            self.items[item][block].div_ceil(self.width) as usize
        }
        fn at(&mut self, _: usize, _: usize, row: usize) -> u32 {
            row as u32 * self.width
        }
        fn row(&mut self, item: usize, block: usize, at: u32) -> usize {
            ((at / self.width) as usize).min(self.height(item, block).saturating_sub(1))
        }
    }

    fn all(fake: &mut Fake) -> Vec<Spot> {
        let mut out = Vec::new();
        for item in 0..fake.items() {
            for block in 0..fake.blocks(item) {
                out.extend((0..fake.height(item, block)).map(|row| Spot { item, block, row }));
            }
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn scrolling_is_arithmetic_on_the_rows(
            items in prop::collection::vec(prop::collection::vec(0u32..9, 0..4), 0..8),
            width in 1u32..4, height in 1usize..9, moves in prop::collection::vec(-7i64..8, 0..20)
        ) {
            let mut fake = Fake { items, width };
            let rows = all(&mut fake);
            let last = rows.len().saturating_sub(height);
            let (mut scroll, mut top) = (Scroll::Follow, last);
            for by in moves {
                scroll.by(&mut fake, height, by);
                top = (top as i64 + by).clamp(0, last as i64) as usize;
                prop_assert_eq!(scroll.top(&mut fake, height), rows.get(top).copied().unwrap_or_default());
                prop_assert_eq!(scroll == Scroll::Follow, top == last);
            }
        }
        #[test]
        fn going_to_the_top_follows_when_all_is_in_view(
            items in prop::collection::vec(prop::collection::vec(0u32..3, 0..3), 1..6), height in 1usize..9
        ) {
            let mut fake = Fake { items, width: 1 };
            let rows = all(&mut fake);
            let mut scroll = Scroll::Follow;
            scroll.to(&mut fake, height, Spot::default());
            prop_assert_eq!(scroll == Scroll::Follow, rows.len() <= height);
            prop_assert_eq!(scroll.top(&mut fake, height), rows.first().copied().unwrap_or_default());
        }
        #[test]
        fn scrolled_up_stays_while_the_end_grows_and_the_width_changes(
            items in prop::collection::vec(prop::collection::vec(1u32..30, 1..4), 2..8), up_by in 1i64..40, more in 1u32..50
        ) {
            let mut fake = Fake { items, width: 2 };
            let mut scroll = Scroll::Follow;
            scroll.by(&mut fake, 4, -up_by);
            if let Scroll::At(place) = scroll {
                let top = scroll.top(&mut fake, 4);
                fake.items.push(vec![more; 3]);
                prop_assert_eq!(scroll.top(&mut fake, 4), top);
                fake.width = 5;
                let narrow = spot(&mut fake, place);
                prop_assert_eq!((narrow.item, narrow.block), (place.item, place.block));
                fake.width = 2;
                prop_assert_eq!(scroll.top(&mut fake, 4), top);
            }
        }
        #[test]
        fn what_is_to_be_shown_is_shown(
            items in prop::collection::vec(prop::collection::vec(0u32..9, 0..4), 1..8), height in 1usize..9, pick in any::<usize>()
        ) {
            let mut fake = Fake { items, width: 1 };
            let rows = all(&mut fake);
            if rows.is_empty() { return Ok(()); }
            let wanted = rows[pick % rows.len()];
            let mut scroll = Scroll::Follow;
            scroll.show(&mut fake, height, wanted);
            let top = scroll.top(&mut fake, height);
            let from = rows.iter().position(|spot| *spot == top).unwrap();
            prop_assert!(rows[from..].iter().take(height).any(|spot| *spot == wanted));
        }
    }
}
