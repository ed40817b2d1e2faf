//! When the processes of a command are counted. The system tells nobody of a fork: who wants to know how many there are
//! has to look, and a look costs. So a quiet tree is looked at ever more seldom, one that grows or is large often.
//!
//! Not here: what is done about too many (`law::job`), the counting.

use crate::base::Millis;

/// The time to the first look, and between two while the tree grows or is large.
pub const OFTEN: Millis = Millis(50);
/// The time to the next look when processes come and go.
pub const STIRRED: Millis = Millis(500);
/// Most time between two looks where nothing else bounds the tree.
pub const SELDOM: Millis = Millis(8_000);
/// The same where the system itself lets it not grow past a bound.
pub const FENCED: Millis = Millis(60_000);
/// So many more than at the last look are growth.
const GROWTH: u32 = 16;

/// When the next look is due.
#[derive(Clone, Debug)]
pub struct Census {
    most: u32,
    seldom: Millis,
    every: Millis,
    next: Millis,
    last: u32,
}

impl Census {
    /// A tree of at most so many, which began at `now`; `fenced`: the system bounds it too.
    pub fn new(most: u32, fenced: bool, now: Millis) -> Self {
        let seldom = if fenced { FENCED } else { SELDOM };
        Self { most, seldom, every: OFTEN, next: now.plus(OFTEN), last: 0 }
    }

    /// When to look.
    pub fn due(&self) -> Millis {
        self.next
    }

    /// A process ended that had lost its parent: somebody forks.
    pub fn stirred(&mut self, now: Millis) {
        self.every = self.every.min(STIRRED);
        self.next = self.next.min(now.plus(STIRRED));
    }

    /// So many live.
    pub fn counted(&mut self, count: u32, now: Millis) {
        let grows = count >= self.last.saturating_add(GROWTH) || count > self.most / 2;
        self.every = if grows { OFTEN } else { Millis(self.every.0 * 2).min(self.seldom) };
        self.next = now.plus(self.every);
        self.last = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The looks of a minute at a tree of this size at each moment.
    fn looks(most: u32, fenced: bool, size: impl Fn(u64) -> u32) -> Vec<Millis> {
        let mut census = Census::new(most, fenced, Millis(0));
        let mut looks = Vec::new();
        while census.due() <= Millis(60_000) {
            let now = census.due();
            looks.push(now);
            census.counted(size(now.0), now);
        }
        looks
    }

    #[test]
    fn a_quiet_tree_is_looked_at_ever_more_seldom() {
        let all = looks(4096, false, |_| 3);
        assert!(all.len() < 16, "{all:?}");
        assert_eq!(all[all.len() - 1].since(all[all.len() - 2]), SELDOM);
        assert!(looks(4096, true, |_| 3).len() < 12);
    }

    #[test]
    fn one_that_grows_or_is_large_is_looked_at_often() {
        // two a millisecond, from the tenth second on
        let all = looks(4096, false, |now| (now.saturating_sub(10_000) * 2) as u32);
        let late = all.iter().filter(|at| at.0 > 20_000).count();
        assert!(late > 700, "{late}");
        assert!(looks(100, false, |_| 60).len() > 1000);
    }

    #[test]
    fn what_stirs_is_looked_at_soon() {
        let mut census = Census::new(4096, true, Millis(0));
        for now in [100, 10_000, 100_000, 1_000_000] {
            census.counted(3, Millis(now));
        }
        census.stirred(Millis(2_000_000));
        assert_eq!(census.due(), Millis(1_000_800), "it was due before");
        census.counted(3, Millis(2_000_000));
        census.counted(3, Millis(2_002_000));
        census.stirred(Millis(2_002_100));
        assert_eq!(census.due(), Millis(2_002_600));
    }
}
