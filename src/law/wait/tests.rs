//! Law J: every wait, exhaustively over small clocks and by random ones.

use proptest::prelude::*;

use super::*;

/// What happens to a wait, each at so many milliseconds after it began.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Ends,
    Detach,
    Cancel,
}

/// The end that the job has; nothing else may be reported as one.
const OWN_END: u32 = 77;

/// Waits as a shell does: sleeps as long as `due` lets it, wakes for whatever happens. The outcome and its time.
fn wait_as_told(budget: Option<Millis>, began: Millis, acts: &[(u64, Act)]) -> Option<(Waited<u32>, u64)> {
    let mut wait = Wait::new(began, budget);
    let mut now = began;
    let mut acts: Vec<(u64, Act)> = acts.to_vec();
    acts.sort_by_key(|(at, _)| *at);
    let mut acts = acts.into_iter().peekable();
    loop {
        let wakes = wait.due(now).map(|due| now.plus(due));
        let next = acts.peek().map(|(at, _)| began.plus(Millis(*at)));
        let (event, at) = match (wakes, next) {
            // both at once: the shell may take either, so the worse one for the budget
            (Some(wakes), Some(next)) if next <= wakes => (acts.next().unwrap().1, next),
            (None, Some(next)) => (acts.next().unwrap().1, next),
            (Some(wakes), _) => {
                now = wakes;
                if let Some(outcome) = wait.step::<u32>(Event::Tick, now) {
                    return Some((outcome, now.since(began).0));
                }
                continue;
            }
            (None, None) => return None,
        };
        now = at;
        let event = match event {
            Act::Ends => Event::Ended(OWN_END),
            Act::Detach => Event::DetachAsked,
            Act::Cancel => Event::Cancelled,
        };
        if let Some(outcome) = wait.step(event, now) {
            assert!(wait.over() && wait.due(now).is_none());
            for late in [Event::Ended(1), Event::Tick, Event::DetachAsked, Event::Cancelled] {
                assert_eq!(wait.step(late, now.plus(Millis(9))), None, "one outcome");
            }
            return Some((outcome, now.since(began).0));
        }
    }
}

/// The laws, in words, for one wait.
fn check(budget: Option<u64>, acts: &[(u64, Act)]) {
    let outcome = wait_as_told(budget.map(Millis), Millis(1000), acts);
    let place = format!("budget {budget:?} acts {acts:?} -> {outcome:?}");
    let first = acts.iter().map(|(at, _)| *at).min();
    let Some((outcome, at)) = outcome else {
        assert!(budget.is_none() && acts.is_empty(), "{place}");
        return;
    };
    // whatever comes first, and never later than the budget
    let bound = [first, budget].into_iter().flatten().min().unwrap();
    assert_eq!(at, bound, "{place}");
    let passed = budget.is_some_and(|budget| budget <= at);
    let at_once: Vec<Act> = acts.iter().filter(|(when, _)| *when == at).map(|(_, act)| *act).collect();
    match outcome {
        Waited::Settled(end) => {
            assert!(!passed, "a budget that has passed detaches: {place}");
            assert!(end == OWN_END && at_once.contains(&Act::Ends), "{place}");
        }
        Waited::Detached { budget_ms } => {
            assert!(passed || at_once.contains(&Act::Detach), "{place}");
            assert_eq!(budget_ms, if passed { budget.unwrap() } else { at }, "{place}");
        }
        Waited::Cancelled => assert!(at_once.contains(&Act::Cancel), "{place}"),
    }
}

fn each_wait(depth: usize, acts: &mut Vec<(u64, Act)>) {
    for budget in [None, Some(0), Some(1), Some(2), Some(3)] {
        check(budget, acts);
    }
    if depth == 0 {
        return;
    }
    for at in 0..5 {
        for act in [Act::Ends, Act::Detach, Act::Cancel] {
            acts.push((at, act));
            each_wait(depth - 1, acts);
            acts.pop();
        }
    }
}

fn acts() -> impl Strategy<Value = Vec<(u64, Act)>> {
    let act = prop_oneof![3 => Just(Act::Ends), 1 => Just(Act::Detach), 1 => Just(Act::Cancel)];
    proptest::collection::vec((0u64..100_000, act), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_wait_ends_by_its_rule(budget in proptest::option::of(0u64..100_000), acts in acts()) {
        check(budget, &acts);
    }

    /// A shell that oversleeps, and a clock that stands at its end.
    #[test]
    fn call_blocks_at_most_budget(
        began in prop_oneof![Just(0), Just(u64::MAX), 0..u64::MAX],
        budget in prop_oneof![Just(0), 0u64..100, Just(u64::MAX)],
        late in 0u64..100,
    ) {
        let mut wait = Wait::new(Millis(began), Some(Millis(budget)));
        let now = Millis(began).plus(Millis(budget)).plus(Millis(late));
        if now.since(Millis(began)).0 >= budget {
            // the end is ready, but the budget has passed
            prop_assert_eq!(
                wait.clone().step(Event::Ended(OWN_END), now),
                Some(Waited::Detached { budget_ms: budget })
            );
            prop_assert_eq!(wait.due(now), Some(Millis(0)));
            prop_assert_eq!(wait.step::<u32>(Event::Tick, now), Some(Waited::Detached { budget_ms: budget }));
        }
        // a clock that goes back ends nothing early and waits no longer than the budget
        let wait = Wait::new(Millis(began), Some(Millis(budget)));
        prop_assert!(wait.due(Millis(began).since(Millis(late)).min(Millis(began))) <= Some(Millis(budget)));
    }

    #[test]
    fn call_settles_with_job(budget in 1u64..100_000, ticks in proptest::collection::vec(0u64..100_000, 0..9)) {
        let mut wait = Wait::new(Millis(5), Some(Millis(budget)));
        let mut now = 0;
        for tick in ticks {
            let next = now + tick;
            if next >= budget {
                break;
            }
            now = next;
            prop_assert_eq!(wait.step::<u32>(Event::Tick, Millis(5 + now)), None, "nothing has happened");
        }
        prop_assert_eq!(wait.step(Event::Ended(OWN_END), Millis(5 + now)), Some(Waited::Settled(OWN_END)));
    }
}

#[test]
fn each_small_wait_ends_by_its_rule() {
    each_wait(3, &mut Vec::new());
}
