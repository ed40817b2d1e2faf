//! When a request that failed is tried again, and when not.
//!
//! Pure: the number of the try, what failed, what the server asked for and the jitter come from outside.
//! Not here: waiting, and whether something had already come (then nothing is tried again).

use jiff::Timestamp;
use jiff::fmt::rfc2822;

use crate::base::Millis;

/// How often and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Most tries, the first one counted.
    pub tries_max: u32,
    /// The wait after the first try.
    pub base: Millis,
    /// The longest wait that we choose ourselves.
    pub wait_max: Millis,
    /// The longest wait that a server may ask for; past it we give up at once and say so.
    pub asked_max: Millis,
}

impl Default for Policy {
    fn default() -> Self {
        Self { tries_max: 6, base: Millis(500), wait_max: Millis(30_000), asked_max: Millis(3_600_000) }
    }
}

/// Why a try failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The server answered with this HTTP status.
    Status(u16),
    /// The server could not be reached, or the connection broke before anything came.
    Connection,
    /// Something that another try would meet again.
    Final,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Try again after this wait.
    Wait(Millis),
    /// Do not.
    GiveUp,
}

/// Whether a status is worth another try.
pub fn retryable(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500..=599)
}

/// Decides after try number `tried` (from 1) failed. `asked` is the server's own `retry-after`; `jitter`
/// is a random number from 0 to 1000 that takes up to half of our own wait away.
pub fn decide(policy: &Policy, tried: u32, cause: Cause, asked: Option<Millis>, jitter: u16) -> Verdict {
    let worth = match cause {
        Cause::Status(status) => retryable(status),
        Cause::Connection => true,
        Cause::Final => false,
    };
    if !worth || tried >= policy.tries_max {
        return Verdict::GiveUp;
    }
    match asked {
        Some(asked) if asked > policy.asked_max => Verdict::GiveUp,
        Some(asked) => Verdict::Wait(asked),
        None => {
            let doubled = policy.base.0.saturating_mul(1u64 << tried.saturating_sub(1).min(20));
            let whole = doubled.min(policy.wait_max.0);
            let off = whole / 2 * u64::from(jitter.min(1000)) / 1000;
            Verdict::Wait(Millis(whole - off))
        }
    }
}

/// The wait that a `retry-after` header asks for: seconds (fractions too), or an HTTP date. None: it says
/// neither, and our own wait holds. A date that no calendar here reaches is a wait without end.
pub fn retry_after(header: &str, now: Millis) -> Option<Millis> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        if !seconds.is_finite() || seconds < 0.0 {
            return None;
        }
        return Some(Millis((seconds * 1000.0).ceil().min(u64::MAX as f64) as u64));
    }
    let parsed: Result<Timestamp, _> = rfc2822::DateTimeParser::new().parse_timestamp(header);
    let Ok(at) = parsed else {
        return is_past_the_calendar(header).then_some(Millis(u64::MAX));
    };
    let at = u64::try_from(at.as_millisecond()).ok()?;
    Some(Millis(at).since(now))
}

/// Whether a date that was not understood names a year at the calendar's end or past it.
fn is_past_the_calendar(header: &str) -> bool {
    let year = |word: &str| word.len() >= 4 && word.parse::<u64>().is_ok_and(|year| year >= 9999);
    header.ends_with("GMT") && header.split_whitespace().any(year)
}

/// A wait that a server asked for, in words that a person can use.
pub fn wait_in_words(wait: Millis) -> String {
    let minutes = wait.0.div_ceil(60_000);
    match minutes {
        0..=1 => "a minute".to_owned(),
        2..=119 => format!("{minutes} minutes"),
        120..=2_879 => format!("{} hours", minutes.div_ceil(60)),
        2_880..=43_200 => format!("{} days", minutes.div_ceil(1_440)),
        _ => "more than 30 days".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn statuses_worth_another_try() {
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert!(retryable(status), "{status}");
        }
        for status in [200, 301, 400, 401, 402, 403, 404, 413, 422, 600] {
            assert!(!retryable(status), "{status}");
        }
    }

    #[test]
    fn retry_after_in_seconds_and_as_a_date() {
        let now = Millis(784_111_770_000); // Sun, 06 Nov 1994 08:49:30 GMT
        assert_eq!(retry_after("7", now), Some(Millis(7000)));
        assert_eq!(retry_after(" 0.25 ", now), Some(Millis(250)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(Millis(7000)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:00 GMT", now), Some(Millis(0)), "past: at once");
        for bad in ["", "soon", "-3", "NaN", "inf"] {
            assert_eq!(retry_after(bad, now), None, "{bad}");
        }
    }

    #[test]
    fn a_wait_without_end_is_given_up_and_told_in_words_that_a_person_can_use() {
        let now = Millis(784_111_770_000);
        let policy = Policy::default();
        for far in ["Fri, 31 Dec 9999 23:59:59 GMT", "99999999999999999999", "1e300", "31536000"] {
            let asked = retry_after(far, now);
            assert!(asked.is_some(), "{far}");
            assert_eq!(decide(&policy, 1, Cause::Status(429), asked, 0), Verdict::GiveUp, "{far}");
            assert_eq!(wait_in_words(asked.unwrap()), "more than 30 days", "{far}");
        }
        let words = |minutes: u64| wait_in_words(Millis(minutes * 60_000));
        assert_eq!(
            [1, 90, 121, 2_880, 43_200].map(words),
            ["a minute", "90 minutes", "3 hours", "2 days", "30 days"]
        );
    }

    #[test]
    fn a_server_may_not_hold_us_for_ever() {
        let policy = Policy::default();
        let day = Some(Millis(86_400_000));
        assert_eq!(decide(&policy, 1, Cause::Status(429), day, 0), Verdict::GiveUp);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn waits_grow_are_bounded_and_honour_the_server(
            tried in 1u32..12, jitter in 0u16..=1000, status in 400u16..600, asked in proptest::option::of(0u64..4_000_000)
        ) {
            let policy = Policy::default();
            let verdict = decide(&policy, tried, Cause::Status(status), asked.map(Millis), jitter);
            if !retryable(status) || tried >= policy.tries_max {
                prop_assert_eq!(verdict, Verdict::GiveUp);
            } else if let Some(asked) = asked {
                let want = if asked > policy.asked_max.0 { Verdict::GiveUp } else { Verdict::Wait(Millis(asked)) };
                prop_assert_eq!(verdict, want);
            } else {
                let whole = (500u64 << (tried - 1)).min(30_000);
                match verdict {
                    Verdict::Wait(wait) => prop_assert!(wait.0 <= whole && wait.0 >= whole / 2),
                    Verdict::GiveUp => prop_assert!(false),
                }
            }
            prop_assert_eq!(decide(&policy, tried, Cause::Final, None, jitter), Verdict::GiveUp);
        }
    }
}
