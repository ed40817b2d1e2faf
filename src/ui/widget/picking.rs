//! Selecting by keys: one machine for every text that has a caret.
//!
//! Deliberately not here: the mouse, and what lines there are (each text's own).

use super::select::{Caret, Line, Picker, Point, Span, Step, Unit};

/// What is done with the selection by keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// A caret appears.
    Enter,
    /// It moves.
    Step(Step),
    /// It moves by so many half views.
    Halves(i32),
    /// To the first line of all.
    First,
    /// To the last line of all.
    Last,
    /// Marks from here on; again: marks nothing.
    Mark(Unit),
    /// To the other end of what is marked.
    Swap,
    /// Copies what is marked; without a mark: the line.
    Take,
    /// Nothing is selected any more, and the caret goes.
    Leave,
}

/// A text that is selected in by keys.
pub trait Picked {
    /// Where a line is.
    type At: Copy + PartialEq;
    /// What is taken of it.
    type Taken;
    /// What is selected.
    fn picker(&mut self) -> &mut Picker<Self::At>;
    /// A line.
    fn line(&mut self, at: Self::At) -> Option<Line>;
    /// Where a step leads.
    fn stepped(&mut self, from: Caret<Self::At>, how: Step) -> Caret<Self::At>;
    /// Where the caret appears.
    fn begin(&mut self) -> Option<Point<Self::At>>;
    /// The first or the last place, from one.
    fn outermost(&mut self, from: Caret<Self::At>, first: bool) -> Option<Caret<Self::At>>;
    /// Rows of the view.
    fn height(&self) -> usize;
    /// Shows a place.
    fn bring(&mut self, at: Point<Self::At>);
    /// What is selected.
    fn take(&mut self) -> Option<Self::Taken>;
}

/// Does what a key wants of a text; what was taken.
pub fn picking<P: Picked>(text: &mut P, pick: Pick) -> Option<P::Taken> {
    if pick == Pick::Enter {
        text.picker().clear();
        let at = text.begin();
        text.picker().caret = at.map(|at| Caret { at, goal: None });
        return None;
    }
    let caret = text.picker().caret?;
    match pick {
        Pick::Enter => {}
        Pick::Step(how) => step(text, caret, how),
        Pick::Halves(halves) => {
            let half = (text.height() / 2).max(1) as i32;
            step(text, caret, Step::Rows(halves.saturating_mul(half)));
        }
        Pick::First | Pick::Last => {
            if let Some(caret) = text.outermost(caret, pick == Pick::First) {
                put(text, caret);
            }
        }
        Pick::Mark(unit) => mark(text, caret.at, unit),
        Pick::Swap => {
            if let Some(at) = text.picker().swap() {
                put(text, Caret { at, goal: None });
            }
        }
        Pick::Take => {
            if text.picker().selection.is_none() {
                mark(text, caret.at, Unit::Line);
            }
            let taken = text.take();
            text.picker().clear();
            return taken;
        }
        Pick::Leave => text.picker().clear(),
    }
    None
}

fn unit_at<P: Picked>(text: &mut P, at: Point<P::At>, unit: Unit) -> Option<Span<P::At>> {
    let line = text.line(at.line)?;
    Some(Span::within(at.line, line.unit(line.cluster(at.byte), unit)))
}

fn mark<P: Picked>(text: &mut P, at: Point<P::At>, unit: Unit) {
    if let Some(span) = unit_at(text, at, unit) {
        text.picker().mark(unit, span);
    }
}

fn step<P: Picked>(text: &mut P, caret: Caret<P::At>, how: Step) {
    let caret = text.stepped(caret, how);
    put(text, caret);
}

/// Puts the caret somewhere; what is marked goes with it, and the view shows it.
fn put<P: Picked>(text: &mut P, caret: Caret<P::At>) {
    let unit = text.picker().selection.map_or(Unit::Cell, |selection| selection.unit);
    if let Some(span) = unit_at(text, caret.at, unit) {
        text.picker().moved(caret, span);
    }
    text.bring(caret.at);
}
