//! Steps that can be taken back, apart from the text that they were made in: so they outlive a change of the parent's
//! file, and the program.
//!
//! Each is what was decided before it, for the lines that it changed. Not here: what is decided now (`decision`), and
//! who goes on with it (`again`).

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::decision::{Decision, Filled};
use super::resolution::{Choice, Resolution, Step, before};

/// Decisions in all steps that are kept: beyond, the oldest steps are taken back hunk by hunk.
const KEPT_MAX: usize = 2000;
/// Bytes that are looked at for them: they are kept while somebody types.
const BYTES_MAX: usize = 4 << 20;

/// A step, told by what was there before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Back {
    /// The hunks that it changed, with what was chosen there before.
    pub hunks: Vec<Decision>,
    /// The lines of the base that nobody changed and it did.
    pub among: Vec<Range<usize>>,
    /// What was written for such lines before, all of it; empty where it changed none.
    pub written: Vec<Decision>,
}

impl Resolution {
    /// The steps that can be taken back, the newest first.
    pub fn backs(&self) -> Vec<Back> {
        self.walked(usize::MAX, usize::MAX)
    }

    /// The newest of them, as many as are kept for later.
    pub fn kept_backs(&self) -> Vec<Back> {
        self.walked(KEPT_MAX, BYTES_MAX)
    }

    fn walked(&self, most: usize, bytes_most: usize) -> Vec<Back> {
        let mut walk = self.clone();
        let (mut backs, mut count, mut bytes) = (Vec::new(), 0, 0);
        while let Some(places) = walk.last_step() {
            walk.undo();
            let mut back = Back::default();
            for place in places {
                let region = &walk.regions()[place];
                if region.is_hunk() {
                    back.hunks.extend(walk.decisions_of(place));
                } else {
                    back.among.push(region.base.clone());
                }
            }
            if !back.among.is_empty() {
                let made = |at: &usize| !walk.regions()[*at].is_hunk() && walk.is_made(*at);
                let made: Vec<usize> = (0..walk.regions().len()).filter(made).collect();
                bytes += made.iter().map(|at| walk.text(*at).len()).sum::<usize>();
                back.written = made.into_iter().flat_map(|at| walk.decisions_of(at)).collect();
            }
            count += 1 + back.hunks.len() + back.among.len() + back.written.len();
            if count > most || bytes > bytes_most {
                break;
            }
            backs.push(back);
        }
        backs
    }
}

/// Steps as they are in a text of the same base and child, which has these choices now; `now` is then as it was before
/// all of them. A step that changed nothing that is still there is none.
pub(super) fn steps(backs: &[Back], fresh: &Resolution, now: &mut [Choice]) -> Vec<Step> {
    let mut steps = Vec::new();
    for back in backs {
        let mut step = Step::new();
        let mut change = |at: usize, choice: Choice| {
            if choice != now[at] {
                now[at] = choice.clone();
                step.push((at, choice));
            }
        };
        for hunk in &back.hunks {
            if let Some(at) = fresh.hunk_of(hunk) {
                change(at, hunk.choice.clone());
            }
        }
        let among: BTreeSet<usize> = back.among.iter().flat_map(|base| unchanged(fresh, base)).collect();
        if !among.is_empty() {
            let mut filled = Filled::new(fresh);
            for decision in &back.written {
                filled.take(decision);
            }
            among.into_iter().for_each(|at| change(at, filled.choice(at)));
        }
        if !step.is_empty() {
            steps.push(step);
        }
    }
    steps.reverse();
    steps
}

/// What is decided and no step made, as steps of one place each, so that each can be taken back.
pub(super) fn rest(fresh: &Resolution, left: &[Choice]) -> Vec<Step> {
    let regions = fresh.regions().iter().enumerate();
    let made = regions.map(|(at, region)| (at, before(region))).filter(|(at, before)| left[*at] != *before);
    made.map(|one| vec![one]).collect()
}

/// The regions that nobody changed and that have some of these lines of the base, or are beside them.
fn unchanged(of: &Resolution, base: &Range<usize>) -> impl Iterator<Item = usize> {
    let regions = of.regions();
    let first = regions.partition_point(|region| region.base.end < base.start);
    let end = regions.partition_point(|region| region.base.start <= base.end);
    (first..end.max(first)).filter(|at| !regions[*at].is_hunk())
}
