//! Generated scenarios of the bridges: some at once, for most of a real one is waiting.

use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// How many each bridge runs.
pub const SCENARIOS: usize = 300;
/// How many run at once.
const AT_ONCE: usize = 6;

fn generated<S: Strategy>(strategy: &S) -> Vec<S::Value> {
    let mut runner = TestRunner::default();
    (0..SCENARIOS).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// Runs all on threads; each with what came of it.
pub fn on_threads<S: Strategy, T: Send>(
    strategy: &S,
    run: impl Fn(&S::Value) -> T + Sync,
) -> Vec<(S::Value, T)>
where
    S::Value: Send + Sync + Clone,
{
    let scenarios = generated(strategy);
    let next = AtomicUsize::new(0);
    let ran = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let came = run(scenario);
                    ran.lock().unwrap().push((scenario.clone(), came));
                }
            });
        }
    });
    ran.into_inner().unwrap()
}

/// Runs all as tasks; what is real must be what the rule says.
pub async fn agree<S, F>(strategy: S, rule: fn(&S::Value) -> String, real: fn(S::Value) -> F)
where
    S: Strategy,
    S::Value: Clone + Debug + Send + 'static,
    F: Future<Output = String> + Send + 'static,
{
    let mut scenarios = generated(&strategy);
    let mut running = tokio::task::JoinSet::new();
    loop {
        while running.len() < AT_ONCE
            && let Some(scenario) = scenarios.pop()
        {
            running.spawn(async move {
                let real = real(scenario.clone()).await;
                assert_eq!(rule(&scenario), real, "{scenario:#?}");
            });
        }
        match running.join_next().await {
            Some(ended) => ended.unwrap(),
            None => return,
        }
    }
}
