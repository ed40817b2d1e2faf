//! Going on with a resolution: after the parent's version changed, after a restart, or with a whole result that comes
//! from elsewhere.
//!
//! A decision is kept where the three versions have what they had. One that does not fit is set aside: it is put in
//! again when its lines are back. What was written by hand and does not fit is one step back besides, in the place of
//! what is there now. The steps stay: when all are taken back, nothing is decided.

use super::back::{self, Back};
use super::decision::{Decision, Filled};
use super::regions::{Side, Three};
use super::resolution::{ByOpen, Choice, Resolution};
use super::written::written;

/// Most decisions that are set aside; beyond, the oldest go, those written by hand last.
const ASIDE_MAX: usize = 2000;

/// A resolution that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// With what could be kept.
    pub resolution: Resolution,
    /// Decisions that are in it: those that stayed, and those that were set aside and fit again.
    pub kept: usize,
    /// Decisions whose lines are others now.
    pub lost: usize,
    /// What was written by hand and is lost is one step back.
    pub by_hand: bool,
}

impl Resolution {
    /// Goes on with another version of the parent's. Of another base or child nothing is known: the whole result as it
    /// was is one step back.
    pub fn again(&self, three: Three) -> Again {
        let fresh = Resolution::new(three);
        let same = |side: Side| self.three().bytes(side) == fresh.three().bytes(side);
        let decisions = self.decisions();
        if !same(Side::Base) || !same(Side::Child) {
            let lost = decisions.len();
            let mut resolution = fresh;
            let by_hand = by_hand(&decisions) && resolution.back_is(&self.result());
            return Again { resolution, kept: 0, lost, by_hand };
        }
        let mut filled = Filled::new(&fresh);
        let (kept, lost): (Vec<_>, Vec<_>) =
            decisions.into_iter().partition(|decision| filled.take(decision));
        let now = filled.choices();
        let steps = back::steps(&self.backs(), &fresh, &mut now.clone());
        let (back, aside): (Vec<_>, Vec<_>) =
            self.aside().iter().cloned().partition(|decision| filled.take(decision));
        let with = filled.choices();
        let mut resolution = fresh.clone();
        resolution.put(now);
        resolution.set_steps(steps);
        resolution.step(with);
        let (kept, newly, lost_count) = (kept.len() + back.len(), by_hand(&lost), lost.len());
        resolution.set_aside(lost, aside);
        let by_hand = resolution.leave_written(newly);
        Again { resolution, kept, lost: lost_count, by_hand }
    }

    /// Goes on with what was decided of the same base and child before, and with its steps, the newest first; what no
    /// step made is taken back after them, one place at a time.
    pub fn resumed(three: Three, decisions: Vec<Decision>, backs: &[Back]) -> Again {
        let fresh = Resolution::new(three);
        let mut filled = Filled::new(&fresh);
        let (kept, lost): (Vec<_>, Vec<_>) =
            decisions.into_iter().partition(|decision| filled.take(decision));
        let now = filled.choices();
        let mut left = now.clone();
        let newer = back::steps(backs, &fresh, &mut left);
        let mut steps = back::rest(&fresh, &left);
        steps.extend(newer);
        let mut resolution = fresh.clone();
        resolution.put(now);
        resolution.set_steps(steps);
        let (newly, lost_count) = (by_hand(&lost), lost.len());
        resolution.set_aside(lost, Vec::new());
        let by_hand = resolution.leave_written(newly);
        Again { resolution, kept: kept.len(), lost: lost_count, by_hand }
    }

    /// All that is to be kept of it: what was decided, and what is set aside.
    pub fn kept(&self) -> Vec<Decision> {
        let mut all = self.decisions();
        all.extend_from_slice(self.aside());
        all
    }

    /// Takes a whole result from elsewhere: it decides every hunk, also where it has what the parent has.
    pub fn adopt(&mut self, result: &[u8]) {
        let mut all = self.clone();
        all.edit_as(result, ByOpen::All);
        let decided = all.choices().iter().map(|choice| match choice {
            Choice::Open => Choice::Parent,
            choice => choice.clone(),
        });
        self.step(decided.collect());
    }

    /// Sets aside what does not fit, before what was set aside earlier; of two for the same the newer one.
    fn set_aside(&mut self, newer: Vec<Decision>, older: Vec<Decision>) {
        let mut all = newer;
        for decision in older {
            if !all.iter().any(|other| other.is_for_same(&decision)) {
                all.push(decision);
            }
        }
        while all.len() > ASIDE_MAX {
            let at = all.iter().rposition(|decision| decision.by_hand().is_none());
            all.remove(at.unwrap_or(all.len() - 1));
        }
        self.put_aside(all);
    }

    /// Makes what was written by hand and is set aside the step back; what was so `newly` is that at once, older
    /// only where no step has it. Whether something newer is.
    fn leave_written(&mut self, newly: bool) -> bool {
        let Some(text) = written(self, self.aside()) else { return false };
        if !newly && self.had(&text) {
            return false;
        }
        let other = self.back_is(&text);
        other && newly
    }

    /// Whether a step back has this text.
    fn had(&self, text: &[u8]) -> bool {
        let mut wanted = self.clone();
        wanted.edit(text);
        let mut walk = self.clone();
        while walk.choices() != wanted.choices() {
            if !walk.undo() {
                return false;
            }
        }
        true
    }

    /// Makes a text the step back, where it is another one; whether it is.
    fn back_is(&mut self, text: &[u8]) -> bool {
        let now = self.choices().to_vec();
        self.edit(text);
        let other = self.choices() != now;
        self.step(now);
        other
    }
}

fn by_hand(decisions: &[Decision]) -> bool {
    decisions.iter().any(|decision| decision.by_hand().is_some())
}
