//! The window of a model: one counter for the meter and the threshold, and where a compaction cuts.

/// Tokens of a text of this many bytes, where no provider counted: four bytes each, rounded up.
pub fn estimate(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

/// What fills the window: the provider's count of the newest answer, when it gave one, plus an
/// estimate of the `bytes` that came since (or of all, when it never counted).
pub fn used(counted: Option<u64>, bytes: u64) -> u64 {
    counted.unwrap_or(0).saturating_add(estimate(bytes))
}

/// Whether the next request needs a compaction first. An unknown window is never full: the
/// provider says so when it is.
pub fn full(used: u64, window: Option<u64>, reserve: u64) -> bool {
    match window {
        Some(window) => used > window.saturating_sub(reserve.min(window / 2)),
        None => false,
    }
}

/// Where to cut: the first of the entries (oldest first, each with its tokens and whether a
/// conversation may begin there) that stays verbatim, so that at most `keep` tokens stay. `None`:
/// nothing stays verbatim.
pub fn cut(entries: &[(u64, bool)], keep: u64) -> Option<usize> {
    let mut sum = 0u64;
    let mut at = None;
    for (index, (tokens, may_begin)) in entries.iter().enumerate().rev() {
        sum = sum.saturating_add(*tokens);
        if sum > keep {
            break;
        }
        if *may_begin {
            at = Some(index);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn what_stays_verbatim_fits_and_is_as_much_as_fits(
            entries in proptest::collection::vec((0u64..2000, any::<bool>()), 0..60), keep in 0u64..20000) {
            let kept = cut(&entries, keep);
            let sum = |from: usize| entries[from..].iter().map(|e| e.0).sum::<u64>();
            if let Some(at) = kept {
                prop_assert!(entries[at].1);
                prop_assert!(sum(at) <= keep);
            }
            for (earlier, entry) in entries.iter().enumerate().take(kept.unwrap_or(entries.len())) {
                prop_assert!(!entry.1 || sum(earlier) > keep);
            }
        }
    }

    #[test]
    fn an_unknown_window_is_never_full_and_a_small_one_keeps_half() {
        assert!(!full(1 << 40, None, 20_000));
        assert!(!full(500, Some(1000), 20_000));
        assert!(full(501, Some(1000), 20_000));
        assert!(full(180_001, Some(200_000), 20_000));
    }

    #[test]
    fn the_meter_is_the_providers_count_and_what_came_since() {
        assert_eq!(used(Some(100), 41), 111);
        assert_eq!(used(None, 8), 2);
    }
}
