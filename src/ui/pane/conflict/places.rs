//! Where everything of the viewer stands. Pure; correct from 1×1 up.
//!
//! From 100 columns on the versions stand beside each other and the paths beside them; from 60 on they stand below
//! each other, the base as a strip; below that one at a time is seen. The paths have the screen for themselves then.

use ratatui::layout::Rect;

use super::One;
use crate::law::merge::regions::Side;
use crate::ui::layout::{bars, shrink};

/// Columns from which the versions stand beside each other.
pub(super) const WIDE: u16 = 100;
/// Columns from which they stand below each other.
pub(super) const MEDIUM: u16 = 60;

/// What is to be placed.
#[derive(Clone, Debug)]
pub(super) struct Wanted<'a> {
    /// The versions that are seen.
    pub sides: &'a [Side],
    /// Whether the result is.
    pub result: bool,
    /// It is written by hand: it needs room.
    pub edits: bool,
    /// The list of paths has the keys.
    pub lists: bool,
    /// The list that stands beside the versions where there is room.
    pub list: List,
    /// What is seen where there is room for one.
    pub one: One,
    /// Rows of a form above the versions.
    pub form: u16,
}

/// A list beside the versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// None: it gives its room away, or there is nothing to list.
    Nowhere,
    Paths,
    Children,
}

/// A version or the result: a line that names it, and its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub head: Rect,
    pub body: Rect,
}

/// Where everything stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub title: Rect,
    pub keys: Rect,
    /// Rows for a word to the person: the last ones above the keys, over what stands there.
    pub word: Rect,
    /// The list with its frame.
    pub list: Option<Rect>,
    pub list_frame: Option<Rect>,
    /// The frame around the versions; its first row names the path.
    pub frame: Option<Rect>,
    /// The line that names the path, where there is no frame.
    pub head: Option<Rect>,
    pub form: Option<Rect>,
    pub versions: Vec<(Side, Part)>,
    pub result: Option<Part>,
    /// All that the versions and the form have.
    pub inner: Rect,
}

/// Takes rows off the top.
fn cut(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let top = Rect { height: rows, ..*rest };
    *rest = Rect { y: rest.y + rows, height: rest.height - rows, ..*rest };
    top
}

fn part(mut rect: Rect) -> Part {
    let named = u16::from(rect.height > 1);
    let head = cut(&mut rect, named);
    Part { head, body: rect }
}

/// Places everything.
pub(super) fn places(area: Rect, wanted: &Wanted<'_>) -> Places {
    let (title, mut rest, keys) = bars(area);
    let mut out = Places { title, keys, ..Places::default() };
    out.word = match rest.height {
        0..4 => keys,
        rows => Rect { y: rest.bottom() - 2.min(rows), height: 2, ..rest },
    };
    if area.width >= WIDE && rest.height >= 8 {
        out.word = Rect { x: rest.x + 1, width: rest.width - 2, ..out.word };
        framed(&mut out, rest, wanted);
    } else if wanted.lists {
        out.list = Some(rest);
    } else {
        if rest.height >= 3 {
            out.head = Some(cut(&mut rest, 1));
        }
        out.inner = rest;
        form(&mut out, &mut rest, wanted);
        if wanted.edits {
            out.result = Some(part(rest));
        } else if area.width >= MEDIUM && rest.height >= 6 {
            stacked(&mut out, rest, wanted);
        } else {
            alone(&mut out, rest, wanted);
        }
    }
    out
}

fn form(out: &mut Places, rest: &mut Rect, wanted: &Wanted<'_>) {
    if wanted.form > 0 {
        // what was changed is seen below it where that leaves some rows
        let rows = if rest.height >= wanted.form + 4 && !wanted.sides.is_empty() {
            wanted.form
        } else {
            rest.height
        };
        out.form = Some(cut(rest, rows));
    }
}

/// Frames: the paths left, the versions beside each other, the result below.
fn framed(out: &mut Places, rest: Rect, wanted: &Wanted<'_>) {
    let list = match wanted.list {
        List::Nowhere => 0,
        List::Paths => (rest.width / 5).clamp(20, 34),
        List::Children => (rest.width * 2 / 5).clamp(20, 70),
    };
    if list > 0 {
        let frame = Rect { width: list, ..rest };
        (out.list_frame, out.list) = (Some(frame), Some(shrink(frame)));
    }
    let frame = Rect { x: rest.x + list, width: rest.width - list, ..rest };
    out.frame = Some(frame);
    let mut inner = shrink(frame);
    out.inner = inner;
    form(out, &mut inner, wanted);
    if wanted.result && inner.height >= 8 {
        let rows = if wanted.edits { inner.height * 3 / 5 } else { inner.height / 3 };
        let rows = rows.clamp(3, if wanted.edits { 40 } else { 16 }) + 1;
        let below = Rect { y: inner.bottom() - rows, height: rows, ..inner };
        inner.height -= rows;
        out.result = Some(part(below));
    } else if wanted.edits {
        out.result = Some(part(inner));
        return;
    }
    let count = wanted.sides.len() as u16;
    if count == 0 || inner.height == 0 {
        return;
    }
    let mut x = inner.x;
    for (n, side) in wanted.sides.iter().enumerate() {
        let left = count - n as u16;
        // a line stands between two
        let width = (inner.right() - x).saturating_sub(left - 1) / left;
        out.versions.push((*side, part(Rect { x, width, ..inner })));
        x += width + 1;
    }
}

/// Below each other: the base as a strip, then the others, then the result.
fn stacked(out: &mut Places, mut rest: Rect, wanted: &Wanted<'_>) {
    let all = rest.height;
    let base = wanted.sides.len() > 2 && all >= 14;
    let result = wanted.result && all >= 12;
    let others: Vec<Side> =
        if wanted.sides.len() > 2 { wanted.sides[1..].to_vec() } else { wanted.sides.to_vec() };
    if others.is_empty() {
        return;
    }
    if base {
        out.versions.push((wanted.sides[0], part(cut(&mut rest, (all / 6).clamp(3, 6)))));
    }
    if result {
        let rows = (all / 4).clamp(4, 12);
        let below = Rect { y: rest.bottom() - rows, height: rows, ..rest };
        rest.height -= rows;
        out.result = Some(part(below));
    }
    // as many rows for each, so that the same rows stand in them; one that is over goes to what stands above or below
    let count = others.len() as u16;
    if !rest.height.is_multiple_of(count) && rest.height > count {
        match (&mut out.result, out.versions.first_mut()) {
            (Some(result), _) => {
                rest.height -= 1;
                result.head.y -= 1;
                (result.body.y, result.body.height) = (result.body.y - 1, result.body.height + 1);
            }
            (None, Some((_, base))) => {
                base.body.height += 1;
                cut(&mut rest, 1);
            }
            (None, None) => {}
        }
    }
    for (n, side) in others.into_iter().enumerate() {
        let rows = rest.height / (count - n as u16);
        out.versions.push((side, part(cut(&mut rest, rows))));
    }
}

/// One at a time.
fn alone(out: &mut Places, mut rest: Rect, wanted: &Wanted<'_>) {
    let side = match wanted.one {
        One::Result if wanted.result => {
            out.result = Some(part(rest));
            return;
        }
        One::Version(side) if wanted.sides.contains(&side) => side,
        One::Result | One::Version(_) => match wanted.sides.last() {
            Some(last) => *last,
            None => return,
        },
    };
    if wanted.result && rest.height >= 10 {
        let rows = rest.height / 3;
        let below = Rect { y: rest.bottom() - rows, height: rows, ..rest };
        rest.height -= rows;
        out.result = Some(part(below));
    }
    out.versions.push((side, part(rest)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stands_inside_and_apart_at_every_size() {
        let sides = [Side::Base, Side::Parent, Side::Child];
        for width in (0..150).step_by(3) {
            for height in 0..50 {
                for (n, form) in [(3, 0), (2, 7), (0, 9)] {
                    for flags in 0..32_u8 {
                        let on = |bit: u8| flags & 1 << bit != 0;
                        let one = if on(3) { One::Result } else { One::Version(Side::Base) };
                        let wanted = Wanted {
                            sides: &sides[..n],
                            result: on(0),
                            edits: on(0) && on(1),
                            lists: on(2),
                            list: match (on(3), on(4)) {
                                (false, _) => List::Paths,
                                (true, false) => List::Nowhere,
                                (true, true) => List::Children,
                            },
                            one,
                            form,
                        };
                        let area = Rect::new(0, 0, width, height);
                        let places = places(area, &wanted);
                        let mut all: Vec<Rect> = vec![places.title, places.keys];
                        all.extend(
                            [places.list_frame.or(places.list), places.head, places.form]
                                .into_iter()
                                .flatten(),
                        );
                        let parts = places.versions.iter().map(|(_, part)| part).chain(&places.result);
                        all.extend(parts.flat_map(|part| [part.head, part.body]));
                        let word = places.word;
                        assert_eq!(word.intersection(area).area(), word.area(), "{width}x{height}");
                        for (n, rect) in all.iter().enumerate() {
                            assert_eq!(
                                rect.intersection(area).area(),
                                rect.area(),
                                "{width}x{height}: {places:?}"
                            );
                            for other in &all[n + 1..] {
                                assert!(rect.intersection(*other).is_empty(), "{width}x{height}: {places:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}
