//! What a keeper costs, against bare processes: `tests/run --long` runs it alone and prints the numbers. Under other load, or in a
//! build that is not optimised, they mean little, so nothing else runs it. The benchmarks (`parts`) measure a start more finely.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use windlass::law::job::By;

use crate::commands::{Bench, carrying, end_of, mark, output_holds, until};

const STARTS: usize = 100;
const KILLS: usize = 20;

/// The middle one.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

async fn starts() -> (Duration, Duration) {
    let (mut bare, mut kept) = (Vec::new(), Vec::new());
    // by turns, so that both have the same machine
    for _ in 0..STARTS {
        let begun = Instant::now();
        let mut child = Command::new("/bin/true").stdin(Stdio::null()).spawn().unwrap();
        bare.push(begun.elapsed());
        child.wait().unwrap();
        let bench = Bench::new();
        let begun = Instant::now();
        let mut running = bench.try_start(&["/bin/true"]).await.unwrap();
        kept.push(begun.elapsed());
        end_of(&mut running).await;
    }
    (median(bare), median(kept))
}

/// From the wish to the verified end of the whole tree.
async fn kill(script: &str, sleeps: usize, mark: &str) -> Duration {
    let bench = Bench::new();
    let mut running = bench.start(script).await;
    output_holds(&mut running, "ready").await;
    until("all of it sleeps", || carrying(mark).len() >= sleeps).await;
    let begun = Instant::now();
    running.kill(By::User).await;
    let heard = end_of(&mut running).await;
    let took = begun.elapsed();
    assert_eq!((heard.record.survivors.len(), carrying(mark).len()), (0, 0));
    took
}

#[tokio::test]
#[ignore = "it measures: tests/run --long runs it alone"]
async fn what_a_keeper_costs() {
    let (bare, kept) = starts().await;
    let more = kept.saturating_sub(bare);
    let ratio = kept.as_secs_f64() / bare.as_secs_f64();
    eprintln!("start: bare {bare:?}, under a keeper {kept:?}: {more:?} more, {ratio:.1} times");
    let mark = mark();
    let mut plain = Vec::new();
    for _ in 0..KILLS {
        plain.push(kill(&format!("echo ready; exec sleep {mark}"), 1, &mark).await);
    }
    let (slowest, plain) = (plain.iter().copied().max().unwrap_or_default(), median(plain));
    eprintln!("kill of a plain command: {plain:?}, at most {slowest:?}");
    let script = format!("echo ready; sh -c 'setsid sleep {mark} & trap \"\" TERM; sleep {mark}'");
    let stubborn = kill(&script, 2, &mark).await;
    eprintln!("kill of one that left its group and ignores TERM: {stubborn:?}");
    assert!(plain < Duration::from_millis(100) && stubborn < Duration::from_secs(3));
    if cfg!(not(debug_assertions)) {
        assert!(more < Duration::from_millis(5));
    }
}
