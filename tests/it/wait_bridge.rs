//! The bridge of law J's wait: generated waits are carried out by the real waiting function on tokio's paused clock and
//! by the pure rule (`law::wait`), a millisecond at a time; what both say, as text, must be the same.
//!
//! Keeps `call_blocks_at_most_budget`, `call_settles_with_job`. Not here: real processes (`bash`), whose clock is the
//! real one.

use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use windlass::base::Millis;
use windlass::law::wait::{Event, Wait, Waited};
use windlass::tool::wait::{Until, wait};

const SCENARIOS: usize = 1000;

/// A wait, in milliseconds after its command began.
#[derive(Clone, Copy, Debug)]
struct Scenario {
    budget: Option<u64>,
    /// When the waiting itself begins.
    from: u64,
    ends: Option<u64>,
    detach: Option<u64>,
    cancel: Option<u64>,
}

/// Moments close together. The hand and the cancel have moments of their own: of two tasks that wake in the same one
/// either may be first. An end and the budget do meet, and with a late wait everything does.
fn scenario() -> impl Strategy<Value = Scenario> {
    let at = |own: u64| prop_oneof![0u64..5, 0u64..40].prop_map(move |at| 4 * at + own);
    let maybe = move |own| proptest::option::weighted(0.4, at(own));
    let from = prop_oneof![3 => Just(0), 1 => at(3)];
    let some = |own| proptest::option::weighted(0.8, at(own));
    (some(0), from, some(0), maybe(1), maybe(2)).prop_map(|(budget, from, ends, detach, cancel)| {
        // something ends every wait
        let none = budget.is_none() && ends.is_none() && detach.is_none() && cancel.is_none();
        Scenario { budget, from, ends: if none { Some(8) } else { ends }, detach, cancel }
    })
}

fn scenarios() -> Vec<Scenario> {
    let mut runner = TestRunner::default();
    (0..SCENARIOS).map(|_| scenario().new_tree(&mut runner).unwrap().current()).collect()
}

fn print(waited: Waited<u64>, at: u64) -> String {
    let how = match waited {
        Waited::Settled(end) => format!("settled with the end of {end} ms"),
        Waited::Detached { budget_ms } => format!("detached after {budget_ms} ms"),
        Waited::Cancelled => "cancelled".to_owned(),
    };
    format!("{how}, at {at} ms\n")
}

/// The rule, told of each millisecond. What happens in the same one is told in this order: a cancel, an end, a hand.
fn rule(scenario: &Scenario) -> String {
    let mut wait = Wait::new(Millis(0), scenario.budget.map(Millis));
    for now in scenario.from.. {
        let happened = |at: Option<u64>| at.is_some_and(|at| at <= now);
        let events = [
            happened(scenario.cancel).then_some(Event::Cancelled),
            scenario.ends.filter(|at| *at <= now).map(Event::Ended),
            happened(scenario.detach).then_some(Event::DetachAsked),
            Some(Event::Tick),
        ];
        for event in events.into_iter().flatten() {
            if let Some(waited) = wait.step(event, Millis(now)) {
                return print(waited, now);
            }
        }
    }
    unreachable!("a wait ends")
}

/// Cancels a token at a moment.
async fn fire(token: CancellationToken, began: Instant, at: Option<u64>) {
    if let Some(at) = at {
        tokio::time::sleep_until(began + Duration::from_millis(at)).await;
        token.cancel();
    }
}

async fn real(scenario: &Scenario) -> String {
    let began = Instant::now();
    let until = Until {
        began,
        budget: scenario.budget.map(Millis),
        detach: CancellationToken::new(),
        cancel: CancellationToken::new(),
    };
    let hands = tokio::spawn(fire(until.detach.clone(), began, scenario.detach));
    let cancels = tokio::spawn(fire(until.cancel.clone(), began, scenario.cancel));
    let ends = scenario.ends;
    let end = async move {
        match ends {
            Some(at) => {
                tokio::time::sleep_until(began + Duration::from_millis(at)).await;
                at
            }
            None => std::future::pending().await,
        }
    };
    sleep(Duration::from_millis(scenario.from)).await;
    // all that the moment brings has happened before the wait looks
    tokio::task::yield_now().await;
    let waited = wait(&until, end).await;
    let at = u64::try_from(began.elapsed().as_millis()).unwrap();
    hands.abort();
    cancels.abort();
    print(waited, at)
}

async fn same(check: fn(&Scenario, &str)) {
    for scenario in scenarios() {
        let real = real(&scenario).await;
        assert_eq!(rule(&scenario), real, "{scenario:?}");
        check(&scenario, &real);
    }
}

#[tokio::test(start_paused = true)]
async fn call_blocks_at_most_budget() {
    same(|scenario, real| {
        let at: u64 = real.split("at ").nth(1).unwrap().trim_end_matches(" ms\n").parse().unwrap();
        assert!(scenario.budget.is_none_or(|budget| at <= budget.max(scenario.from)), "{scenario:?}: {real}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn call_settles_with_job() {
    same(|scenario, real| {
        let first = |at: Option<u64>, end: u64| at.is_none_or(|at| end < at);
        let Some(end) = scenario.ends else { return };
        let end = end.max(scenario.from);
        if first(scenario.budget, end) && first(scenario.detach, end) && first(scenario.cancel, end) {
            let own = scenario.ends.unwrap();
            assert_eq!(real, format!("settled with the end of {own} ms, at {end} ms\n"), "{scenario:?}");
        }
    })
    .await;
}
