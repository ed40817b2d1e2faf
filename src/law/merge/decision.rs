//! What a person decided, apart from the text that it was decided in: for which lines of base and child, and what the
//! parent had there.
//!
//! Base and child of a conflict never change; the parent's file may, may go, and may come back. So a decision is told
//! by its lines in those two, and fits wherever the parent has the same beside them. Lines that nobody changed and a
//! person edited are a decision for just those lines, so that a change elsewhere leaves it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::regions::{Side, lines};
use super::resolution::{Choice, Resolution, before};

/// A choice of a person, with the lines that it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The lines of the base, counted from 0.
    pub base: Range<usize>,
    /// The lines of the child's.
    pub child: Range<usize>,
    /// What the parent had there; none: the base's lines.
    pub parent: Option<Arc<[u8]>>,
    /// What was chosen.
    pub choice: Choice,
}

impl Decision {
    /// Whether it is for the same lines with the same of the parent's.
    pub(super) fn is_for_same(&self, other: &Decision) -> bool {
        self.base == other.base && self.child == other.child && self.parent == other.parent
    }

    /// What was written by hand, if it was.
    pub fn by_hand(&self) -> Option<&[u8]> {
        self.choice.by_hand()
    }
}

/// Where a decision fits.
enum Place {
    /// It is for this hunk.
    Hunk(usize),
    /// It is for lines of this region, which nobody changed.
    Among(usize),
}

impl Resolution {
    /// Whether the person chose for a region, or edited it: it is not as it was at the beginning.
    pub fn is_made(&self, at: usize) -> bool {
        let choice = self.choices().get(at);
        choice.is_some_and(|choice| *choice != before(&self.regions()[at]))
    }

    /// What the person decided, in the order of the lines.
    pub fn decisions(&self) -> Vec<Decision> {
        let made = (0..self.regions().len()).filter(|at| self.is_made(*at));
        made.flat_map(|at| self.decisions_of(at)).collect()
    }

    /// What the person decided for one region.
    pub(super) fn decisions_of(&self, at: usize) -> Vec<Decision> {
        let region = &self.regions()[at];
        let (base, child) = (region.base.clone(), region.child.clone());
        if region.is_hunk() {
            let [in_base, parent] = [Side::Base, Side::Parent].map(|side| self.three().of(side, region));
            let parent = (parent != in_base).then(|| Arc::from(parent));
            return vec![Decision { base, child, parent, choice: self.choices()[at].clone() }];
        }
        let (old, edited) = (lines(self.three().of(Side::Base, region)), lines(self.text(at)));
        // the line before and after what changed is beside it
        let same = |pairs: usize| pairs.saturating_sub(1);
        let front = same(old.iter().zip(&edited).take_while(|(old, new)| old == new).count());
        let most = old.len().min(edited.len()) - front;
        let ends = old.iter().rev().zip(edited.iter().rev()).take(most);
        let back = same(ends.take_while(|(old, new)| old == new).count());
        let runs = runs(&old[front..old.len() - back], &edited[front..edited.len() - back]);
        let edited = &edited[front..];
        let at = |first: usize, lines: &Range<usize>| first + front + lines.start..first + front + lines.end;
        let one = |(old, new): (Range<usize>, Range<usize>)| Decision {
            base: at(base.start, &old),
            child: at(child.start, &old),
            parent: None,
            choice: Choice::Edited(edited[new].concat().into()),
        };
        runs.into_iter().map(one).collect()
    }

    /// Where a decision of the same base and child fits.
    fn place(&self, decision: &Decision) -> Option<Place> {
        let Decision { base, child, parent, .. } = decision;
        let (three, regions) = (self.three(), self.regions());
        let inside = |lines: &Range<usize>, side| lines.start <= lines.end && lines.end <= three.len(side);
        if !inside(base, Side::Base) || !inside(child, Side::Child) {
            return None;
        }
        let (in_base, in_child) =
            (three.part(Side::Base, base.clone()), three.part(Side::Child, child.clone()));
        let start = (base.start, child.start);
        if parent.is_none() && in_base == in_child {
            let after = regions.partition_point(|region| (region.base.start, region.child.start) <= start);
            let at = after.checked_sub(1)?;
            let region = &regions[at];
            let beside = base.start - region.base.start == child.start.checked_sub(region.child.start)?;
            return (!region.is_hunk() && base.end <= region.base.end && beside).then_some(Place::Among(at));
        }
        let first = regions.partition_point(|region| (region.base.start, region.child.start) < start);
        let mut here = (first..regions.len())
            .take_while(|at| (regions[*at].base.start, regions[*at].child.start) == start);
        let fits = |at: &usize| {
            let region = &regions[*at];
            let wanted = parent.as_deref().unwrap_or(in_base);
            region.is_hunk()
                && region.base == *base
                && region.child == *child
                && three.of(Side::Parent, region) == wanted
        };
        here.find(fits).map(Place::Hunk)
    }

    /// The hunk whose lines are those of a hunk of another resolution with the same base and child, the parent's too.
    pub fn same_hunk(&self, other: &Resolution, at: usize) -> Option<usize> {
        other.regions().get(at).filter(|region| region.is_hunk())?;
        self.hunk_of(other.decisions_of(at).first()?)
    }

    /// The hunk that a decision of the same base and child is for.
    pub(super) fn hunk_of(&self, decision: &Decision) -> Option<usize> {
        match self.place(decision)? {
            Place::Hunk(hunk) => Some(hunk),
            Place::Among(_) => None,
        }
    }
}

/// What was decided, put into a text in which nothing is decided yet.
pub(super) struct Filled<'a> {
    fresh: &'a Resolution,
    hunks: BTreeMap<usize, Choice>,
    among: BTreeMap<usize, Vec<Decision>>,
}

impl<'a> Filled<'a> {
    /// Nothing is put in yet.
    pub fn new(fresh: &'a Resolution) -> Filled<'a> {
        Filled { fresh, hunks: BTreeMap::new(), among: BTreeMap::new() }
    }

    /// Puts a decision in where it fits and nothing else is; whether it did.
    pub fn take(&mut self, decision: &Decision) -> bool {
        match self.fresh.place(decision) {
            Some(Place::Hunk(at)) if !self.hunks.contains_key(&at) => {
                self.hunks.insert(at, decision.choice.clone());
                true
            }
            Some(Place::Among(at)) => {
                let others = self.among.entry(at).or_default();
                let after = others.partition_point(|other| other.base.start < decision.base.start);
                let (left, right) = (after.checked_sub(1).map(|at| &others[at]), others.get(after));
                let free = left.is_none_or(|left| left.base.end <= decision.base.start)
                    && right.is_none_or(|right| decision.base.end <= right.base.start)
                    && right.is_none_or(|right| right.base != decision.base);
                if free {
                    others.insert(after, decision.clone());
                }
                free
            }
            Some(Place::Hunk(_)) | None => false,
        }
    }

    /// What is chosen for a region with what was put in.
    pub fn choice(&self, at: usize) -> Choice {
        let region = &self.fresh.regions()[at];
        if let Some(choice) = self.hunks.get(&at) {
            return choice.clone();
        }
        let Some(edits) = self.among.get(&at).filter(|edits| !edits.is_empty()) else {
            return before(region);
        };
        let mut text = Vec::new();
        let mut from = region.base.start;
        for edit in edits {
            text.extend_from_slice(self.fresh.three().part(Side::Base, from..edit.base.start));
            text.extend_from_slice(edit.by_hand().unwrap_or_default());
            from = edit.base.end;
        }
        text.extend_from_slice(self.fresh.three().part(Side::Base, from..region.base.end));
        self.fresh.edited(at, &text)
    }

    /// What is chosen for every region.
    pub fn choices(&self) -> Vec<Choice> {
        (0..self.fresh.regions().len()).map(|at| self.choice(at)).collect()
    }
}

/// Which lines were replaced by which. What was only put between lines takes one of them along, so that it is known
/// beside which it stands.
fn runs(old: &[&[u8]], new: &[&[u8]]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut runs: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (mut gone, mut come) = (op.old_range(), op.new_range());
        if gone.is_empty() && gone.start > 0 && come.start > 0 {
            (gone.start, come.start) = (gone.start - 1, come.start - 1);
        } else if gone.is_empty() && gone.end < old.len() && come.end < new.len() {
            (gone.end, come.end) = (gone.end + 1, come.end + 1);
        }
        match runs.last_mut() {
            // they share that line, or follow each other at once
            Some(last) if last.0.end >= gone.start => {
                (last.0.end, last.1.end) = (last.0.end.max(gone.end), last.1.end.max(come.end));
            }
            Some(_) | None => runs.push((gone, come)),
        }
    }
    runs
}
