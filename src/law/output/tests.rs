//! Law O as property tests over random bytes, cuts and limits, and exhaustively over small ones.

use proptest::prelude::*;

use super::*;
use crate::base::Millis;
use crate::law::job::{By, Job, JobEvent, JobLimits};

const KEEPS: [Keep; 3] = [Keep::Head, Keep::Tail, Keep::Ends];

fn on(bytes: u64, lines: u64, keep: Keep) -> Truncation {
    Truncation::On(OutputLimits { bytes, lines, keep })
}

/// Bytes that are likely to meet the edges: characters of each length, broken ones, newlines.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"a".to_vec()),
        Just(b"\n".to_vec()),
        Just("é".as_bytes().to_vec()),
        Just("漢".as_bytes().to_vec()),
        Just("🦀".as_bytes().to_vec()),
        Just(vec![0xFF]),
        Just(vec![0xE6, 0xBC]),
        Just(vec![0xA9]),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn keep() -> impl Strategy<Value = Keep> {
    proptest::sample::select(KEEPS.to_vec())
}

fn cut(bytes: &[u8], cuts: &[usize], truncation: Truncation) -> Kept {
    let mut bounded = Bounded::new(truncation);
    let mut rest = bytes;
    for cut in cuts {
        let (piece, more) = rest.split_at((*cut).min(rest.len()));
        bounded.push(piece);
        rest = more;
    }
    bounded.push(rest);
    bounded.finish()
}

/// The rule written the slow way: over the whole output at once, by characters.
fn slow(bytes: &[u8], limits: OutputLimits) -> (Vec<u8>, Vec<u8>) {
    let fits = |part: &[u8], bytes: u64, lines: u64| part.len() as u64 <= bytes && line_count(part) <= lines;
    if fits(bytes, limits.bytes, limits.lines) {
        return (bytes.to_vec(), Vec::new());
    }
    let mut units: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            units.push(&bytes[at..at + c.len_utf8()]);
            at += c.len_utf8();
        }
        for _ in chunk.invalid() {
            units.push(&bytes[at..at + 1]);
            at += 1;
        }
    }
    let (head_bytes, head_lines) = match limits.keep {
        Keep::Head => (limits.bytes, limits.lines),
        Keep::Tail => (0, 0),
        Keep::Ends => (limits.bytes / 2, limits.lines / 2),
    };
    let heads = (0..=units.len()).rev().find(|n| fits(&units[..*n].concat(), head_bytes, head_lines));
    let heads = heads.unwrap_or(0);
    let head = units[..heads].concat();
    let (bytes_left, lines_left) = match limits.keep {
        Keep::Head => (0, 0),
        Keep::Tail | Keep::Ends => (limits.bytes - head.len() as u64, limits.lines - line_count(&head)),
    };
    let tail = (heads..=units.len()).map(|n| units[n..].concat()).find(|t| fits(t, bytes_left, lines_left));
    (head, tail.unwrap_or_default())
}

fn check(bytes: &[u8], limits: OutputLimits, kept: &Kept) {
    assert_eq!((kept.head.len() + kept.tail.len()) as u64, kept.kept);
    assert!(kept.kept <= limits.bytes, "{kept:?}");
    assert!(kept.lines_kept <= limits.lines, "{kept:?}");
    assert_eq!(kept.kept + kept.dropped, bytes.len() as u64);
    assert_eq!(kept.lines, line_count(bytes));
    assert!(bytes.starts_with(&kept.head) && bytes.ends_with(&kept.tail));
    assert_eq!((kept.head.clone(), kept.tail.clone()), slow(bytes, limits), "{bytes:?} {limits:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn output_bounded(bytes in output(), cap in 0u64..40, lines in 0u64..8, keep in keep()) {
        let kept = Kept::of(&bytes, on(cap, lines, keep));
        prop_assert!(kept.kept <= cap);
        prop_assert_eq!(kept.kept, (kept.head.len() + kept.tail.len()) as u64);
        let gap = u64::from(kept.dropped > 0 && !kept.head.is_empty() && !kept.head.ends_with(b"\n"));
        let joined = [kept.head.clone(), kept.tail.clone()].concat();
        prop_assert!(kept.lines_kept <= lines && line_count(&joined) <= kept.lines_kept.max(gap));
    }

    #[test]
    fn output_no_silent_loss(bytes in output(), cuts in proptest::collection::vec(0usize..9, 0..30),
                             cap in 0u64..40, lines in 0u64..8, keep in keep()) {
        let kept = cut(&bytes, &cuts, on(cap, lines, keep));
        prop_assert_eq!(kept.kept + kept.dropped, bytes.len() as u64);
        prop_assert!(bytes.starts_with(&kept.head) && bytes.ends_with(&kept.tail));
        prop_assert_eq!(&kept, &Kept::of(&bytes, on(cap, lines, keep)), "the pieces do not matter");
        let text = render(&kept, Some(Path::new("/artifact")));
        let named = format!("[{} bytes kept, {} dropped here; ", kept.kept, kept.dropped);
        prop_assert_eq!(kept.dropped > 0, text.contains(&named) && text.contains("is in /artifact]"));
    }

    #[test]
    fn output_optout_keeps_all(bytes in output(), cuts in proptest::collection::vec(0usize..9, 0..30)) {
        let bytes = bytes.repeat(3000);
        let kept = cut(&bytes, &cuts, Truncation::Off);
        prop_assert_eq!(kept.dropped, 0);
        prop_assert_eq!(kept.kept, bytes.len() as u64);
        prop_assert_eq!(kept.head, bytes);
    }

    #[test]
    fn output_cap_drops_only_excess(bytes in output(), cuts in proptest::collection::vec(0usize..9, 0..30),
                                    cap in 0u64..40, lines in 0u64..8, keep in keep()) {
        let limits = OutputLimits { bytes: cap, lines, keep };
        let kept = cut(&bytes, &cuts, Truncation::On(limits));
        if bytes.len() as u64 <= cap && line_count(&bytes) <= lines {
            prop_assert_eq!(kept.dropped, 0);
            prop_assert_eq!(&kept.head, &bytes);
        }
        check(&bytes, limits, &kept);
    }
}

/// Every string of up to five units over an alphabet with each kind of unit, at every limit.
#[test]
fn output_laws_hold_for_every_small_output() {
    let units: [&[u8]; 4] = [b"a", b"\n", "漢".as_bytes(), &[0xE6]];
    let mut outputs: Vec<Vec<u8>> = vec![Vec::new()];
    let mut longest = outputs.clone();
    for _ in 0..5 {
        longest = longest.iter().flat_map(|o| units.map(|u| [o.as_slice(), u].concat())).collect();
        outputs.extend(longest.iter().cloned());
    }
    for bytes in &outputs {
        for keep in KEEPS {
            for cap in 0..8 {
                for lines in 0..4 {
                    let limits = OutputLimits { bytes: cap, lines, keep };
                    check(bytes, limits, &cut(bytes, &[1, 1, 2], Truncation::On(limits)));
                }
            }
        }
    }
}

#[test]
fn memory_is_bounded_by_the_limits() {
    let mut bounded = Bounded::new(on(1000, 10, Keep::Ends));
    for _ in 0..1000 {
        bounded.push(&[b'x'; 4096]);
    }
    assert!(bounded.head.capacity() <= 2048 && bounded.ring.capacity() <= 4096);
    assert_eq!(bounded.bytes(), 4_096_000);
    let kept = bounded.finish();
    assert_eq!((kept.head.len(), kept.tail.len()), (500, 500));
}

#[test]
fn bytes_that_are_not_utf8_are_shown_escaped() {
    assert_eq!(shown(b"a\xFF\xE6\xBCb\xC3\xA9\\x"), "a\\xFF\\xE6\\xBCbé\\x");
}

#[test]
fn a_gap_stands_on_a_line_of_its_own() {
    let kept = Kept::of(b"first\nsecond\nthird\nfourth\n", on(15, 10, Keep::Ends));
    let text = render(&kept, Some(Path::new("/s/out")));
    assert_eq!(
        text,
        "first\ns\n[15 bytes kept, 11 dropped here; 4 of 4 lines are shown; \
         the whole output is in /s/out]\n\nfourth\n"
    );
    let all = Kept::of(b"first\nsecond", on(15, 10, Keep::Ends));
    assert_eq!(render(&all, None), "first\nsecond");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is kept beside it, and wherever a crash comes: the file holds all that came so far, as far as its own
    /// bound goes, and whoever goes past that is ended.
    #[test]
    fn output_artifact_is_whole(
        pieces in proptest::collection::vec(output(), 0..8),
        spool_max in prop_oneof![0u64..60, Just(u64::MAX)],
        bytes in 0u64..20,
        keep in keep(),
    ) {
        let (mut spool, mut bounded) = (Spool::new(spool_max), Bounded::new(on(bytes, 3, keep)));
        let mut job = Job::new(JobLimits::new(spool_max, None), Millis(0));
        let (mut file, mut all) = (Vec::new(), Vec::new());
        for piece in pieces {
            let room = spool.room(piece.len());
            file.extend_from_slice(&piece[..room]);
            spool.wrote(room);
            bounded.push(&piece);
            job.step(JobEvent::Output(piece.len() as u64), Millis(0));
            all.extend(piece);
            let holds = usize::try_from(spool_max).unwrap_or(usize::MAX).min(all.len());
            prop_assert_eq!(&file, &all[..holds]);
            prop_assert_eq!(spool.written(), holds as u64);
            let past = (holds < all.len()).then_some(By::OutputLimit);
            prop_assert_eq!(job.ended_by(), past, "no byte is left out in silence");
        }
        let kept = bounded.finish();
        prop_assert!(kept.dropped == 0 || file.len() as u64 == spool_max || kept.kept + kept.dropped == file.len() as u64);
    }
}
