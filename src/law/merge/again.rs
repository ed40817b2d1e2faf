//! Going on with a resolution: after one of the versions changed, or with a whole result that comes from elsewhere.
//!
//! A choice belongs to a region by what the three versions have there. Where all three are as they were, it is kept; of
//! regions that are alike, if there are as many as before. What was written by hand is never lost: where it cannot be
//! kept, the whole result as it was is one step back.

use std::collections::BTreeMap;

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
        let mut new = Resolution::new(three);
        let mut choices = new.choices().to_vec();
        let (before, now) = (places(self), places(&new));
        let (mut kept, mut lost, mut by_hand) = (0, 0, false);
        for (content, places) in before {
            let there = now.get(&content).filter(|there| there.len() == places.len());
            for (nth, at) in places.into_iter().enumerate().filter(|(_, at)| self.is_made(*at)) {
                match there {
                    Some(there) => {
                        choices[there[nth]] = self.choices()[at].clone();
                        kept += 1;
                    }
                    None => {
                        lost += 1;
                        by_hand |= matches!(self.choices()[at], Choice::Edited(_));
                    }
                }
            }
        }
        new.put(choices.clone());
        if by_hand {
            new.edit(&self.result());
            new.begin_at_this();
            new.step(choices);
        }
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

/// Where the regions with some lines in base, parent and child are. They are told apart by their order, which says
/// nothing when there are more or fewer of them.
fn places(of: &Resolution) -> BTreeMap<[&[u8]; 3], Vec<usize>> {
    const SIDES: [Side; 3] = [Side::Base, Side::Parent, Side::Child];
    let mut places: BTreeMap<[&[u8]; 3], Vec<usize>> = BTreeMap::new();
    for (at, region) in of.regions().iter().enumerate() {
        places.entry(SIDES.map(|side| of.three().of(side, region))).or_default().push(at);
    }
    places
}
