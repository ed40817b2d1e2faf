//! Commands: what the keeper adds to a bare spawn, and what it does with a flood.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use divan::Bencher;
use divan::counter::BytesCount;
use tempfile::TempDir;
use windlass::law::job::{By, JobLimits};
use windlass::law::output::{Bounded, DEFAULT_LIMITS, Keep, OutputLimits, Truncation};
use windlass::process::{Launch, News, launch, use_keeper_program};

const ENDS: Truncation = Truncation::On(OutputLimits { keep: Keep::Ends, ..DEFAULT_LIMITS });

fn command(place: &Path, number: u32, argv: &[&str]) -> Launch {
    Launch {
        argv: argv.iter().map(OsString::from).collect(),
        environment: std::env::vars_os().collect(),
        cwd: place.to_owned(),
        dir: place.join(format!("c{number}")),
        limits: JobLimits::new(1 << 30, None),
        truncation: ENDS,
        kept: false,
        terminal: None,
        inside: None,
    }
}

fn runtime() -> tokio::runtime::Runtime {
    use_keeper_program(env!("CARGO_BIN_EXE_windlass"));
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Runs a command under a keeper until it has ended.
async fn run(launched: Launch) -> u64 {
    let mut running = launch(launched).await.unwrap();
    loop {
        if let News::Ended { record, .. } = running.next().await.unwrap() {
            return record.bytes;
        }
    }
}

/// From the wish to the command's first moment: not above 5 ms over `start_bare`.
#[divan::bench(sample_count = 50, sample_size = 1)]
fn start_under_a_keeper(bencher: Bencher<'_, '_>) {
    let (place, runtime, mut number) = (TempDir::new().unwrap(), runtime(), 0);
    bencher.bench_local(|| {
        number += 1;
        runtime.block_on(launch(command(place.path(), number, &["/bin/true"]))).unwrap()
    });
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn start_bare(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| {
        let mut child = Command::new("/bin/true");
        child.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap().wait().unwrap()
    });
}

/// From the wish to the verified end of the tree: not above 100 ms.
#[divan::bench(sample_count = 30, sample_size = 1)]
fn kill_under_a_keeper(bencher: Bencher<'_, '_>) {
    let (place, runtime, mut number) = (TempDir::new().unwrap(), runtime(), 0);
    bencher
        .with_inputs(|| {
            number += 1;
            runtime.block_on(launch(command(place.path(), number, &["/bin/sleep", "300"]))).unwrap()
        })
        .bench_local_values(|mut running| {
            runtime.block_on(async {
                running.kill(By::User).await;
                while !matches!(running.next().await, Some(News::Ended { .. }) | None) {}
            });
        });
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn run_to_the_end_under_a_keeper(bencher: Bencher<'_, '_>) {
    let (place, runtime, mut number) = (TempDir::new().unwrap(), runtime(), 0);
    bencher.bench_local(|| {
        number += 1;
        runtime.block_on(run(command(place.path(), number, &["/bin/true"])))
    });
}

/// 100 MB: spooled, counted and bounded.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn flood_100_mb(bencher: Bencher<'_, '_>) {
    let (place, runtime, mut number) = (TempDir::new().unwrap(), runtime(), 0);
    let argv = ["/bin/sh", "-c", "yes | head -c 100000000"];
    bencher.counter(BytesCount::new(100_000_000usize)).bench_local(|| {
        number += 1;
        let bytes = runtime.block_on(run(command(place.path(), number, &argv)));
        assert_eq!(bytes, 100_000_000);
        std::fs::remove_dir_all(place.path().join(format!("c{number}"))).unwrap();
    });
}

/// The bounded view alone, in pieces as a pipe gives them.
#[divan::bench(sample_count = 5, args = [4_096, 65_536, 1 << 20])]
fn bound_100_mb(bencher: Bencher<'_, '_>, piece: usize) {
    let bytes = b"yes\n".repeat(piece / 4);
    bencher.counter(BytesCount::new(100_000_000usize)).bench_local(|| {
        let mut bounded = Bounded::new(ENDS);
        for _ in 0..100_000_000 / piece {
            bounded.push(&bytes);
        }
        bounded.finish()
    });
}
