//! Fork bombs under real keepers: they end at their limit, and with them the test, whoever fails to end them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use windlass::law::job::{By, End};

use crate::commands::{Bench, carrying, end_of, mark};

/// A fork bomb whose every process carries the mark: its function's name is a number. It ends when a file is there,
/// whoever else fails to end it.
fn bomb(mark: &str, dir: &std::path::Path) -> String {
    let stop = dir.join("stop").display().to_string();
    format!("bomb() {{ [ -e '{stop}' ] && exit; bomb | bomb & }}; echo ready; bomb; sleep {mark}")
}

#[tokio::test]
async fn a_fork_bomb_is_ended_at_its_limit() {
    let mark = mark();
    let mut bench = Bench::new();
    bench.limits = bench.limits.with_processes_max(200);
    let stop = StopFile::new(&bench);
    let script = format!("exec bash -c {} {mark} {mark}", quoted(&bomb(&mark, bench.dir.path())));
    let mut running = bench.start(&script).await;
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.end, End::Killed { by: By::ProcessLimit });
    assert_eq!((heard.record.survivors.len(), heard.record.exit_signal), (0, Some(9)));
    assert_eq!(carrying(&mark).len(), 0);
    drop(stop);
}

/// At full speed, with the limit that people have. The system bounds it too: nobody has so many processes.
#[tokio::test]
#[ignore = "it takes the whole machine for seconds: tests/run --long runs it alone"]
async fn a_fork_bomb_at_full_speed_is_ended() {
    let mark = mark();
    let mut bench = Bench::new();
    bench.limits = bench.limits.with_processes_max(4096);
    let stop = StopFile::new(&bench);
    let inner = bomb(&mark, bench.dir.path());
    let script = format!("exec timeout -s KILL 30 bash -c {} {mark} {mark}", quoted(&inner));
    let begun = Instant::now();
    let mut running = bench.start(&script).await;
    let heard = end_of(&mut running).await;
    eprintln!("a fork bomb at full speed: ended after {:?}", begun.elapsed());
    assert_eq!(heard.record.end, End::Killed { by: By::ProcessLimit });
    assert_eq!((heard.record.survivors.len(), carrying(&mark).len()), (0, 0));
    drop(stop);
}

/// The file that ends a bomb: made when the test is over, and when the machine has more threads than any of this needs.
struct StopFile {
    path: std::path::PathBuf,
    over: Arc<AtomicBool>,
    watch: Option<std::thread::JoinHandle<()>>,
}

impl StopFile {
    fn new(bench: &Bench) -> Self {
        let (path, over) = (bench.dir.path().join("stop"), Arc::new(AtomicBool::new(false)));
        let (file, ended) = (path.clone(), over.clone());
        let watch = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
                let threads = load.split([' ', '/']).nth(4).and_then(|count| count.parse::<u32>().ok());
                if threads.is_none_or(|count| count > 25_000) {
                    let _ = std::fs::write(&file, "");
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        Self { path, over, watch: Some(watch) }
    }
}

impl Drop for StopFile {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = std::fs::write(&self.path, "");
        if let Some(watch) = self.watch.take() {
            let _ = watch.join();
        }
    }
}

fn quoted(script: &str) -> String {
    format!("'{}'", script.replace('\'', "'\\''"))
}
