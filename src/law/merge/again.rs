//! Going on with a resolution: after one of the versions changed, or with a whole result that comes from elsewhere.
//!
//! A choice belongs to a region by what the three versions have there. Where all three are as they were, it is kept.

use super::regions::{Side, Three};
use super::resolution::{Choice, Resolution, before};

/// A resolution that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// With what could be kept.
    pub resolution: Resolution,
    /// Choices of the person that are kept.
    pub kept: usize,
    /// Choices of the person whose lines are others now.
    pub lost: usize,
}

impl Resolution {
    /// Whether the person chose for a region, or edited it: it is not as it was at the beginning.
    pub fn is_made(&self, at: usize) -> bool {
        let choice = self.choices().get(at);
        choice.is_some_and(|choice| *choice != before(&self.regions()[at]))
    }

    /// Goes on with other versions.
    pub fn again(&self, three: Three) -> Again {
        const SIDES: [Side; 3] = [Side::Base, Side::Parent, Side::Child];
        let mut new = Resolution::new(three);
        let mut choices = new.choices().to_vec();
        let (mut from, mut kept, mut lost) = (0, 0, 0);
        for at in (0..self.regions().len()).filter(|at| self.is_made(*at)) {
            let region = &self.regions()[at];
            let same = |other: &usize| {
                let other = &new.regions()[*other];
                SIDES.iter().all(|side| self.three().of(*side, region) == new.three().of(*side, other))
            };
            match (from..new.regions().len()).find(same) {
                Some(found) => {
                    choices[found] = self.choices()[at].clone();
                    from = found + 1;
                    kept += 1;
                }
                None => lost += 1,
            }
        }
        new.put(choices);
        Again { resolution: new, kept, lost }
    }

    /// Takes a whole result from elsewhere: it decides every hunk, also where it has what the parent has.
    pub fn adopt(&mut self, result: &[u8]) {
        let mut all = self.clone();
        all.edit(result);
        let decided = all.choices().iter().map(|choice| match choice {
            Choice::Open => Choice::Parent,
            choice => choice.clone(),
        });
        self.step(decided.collect());
    }
}
