//! Support for tests that run real commands under real keepers: start, wait, and look into `/proc`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use windlass::api::screen::Size;
use windlass::base::Millis;
use windlass::law::job::JobLimits;
use windlass::law::output::{DEFAULT_LIMITS, Kept, Truncation};
use windlass::process::{LaunchError, News, Record, Running, child_environment, use_keeper_program};
use windlass::sandbox::hold::Held;
use windlass::sandbox::{Profile, Wanted, spawn};

/// Nothing here takes longer, on the slowest machine.
pub const LONG: Duration = Duration::from_secs(60);

/// The built binary; where it was copied to, when the environment says so.
pub fn binary() -> PathBuf {
    let built = env!("CARGO_BIN_EXE_windlass");
    std::env::var_os("CARGO_BIN_EXE_windlass").map_or_else(|| built.into(), Into::into)
}

/// A directory for a command's record, and how to run it.
pub struct Bench {
    pub dir: TempDir,
    pub limits: JobLimits,
    pub truncation: Truncation,
    pub terminal: Option<Size>,
    pub held: Option<Arc<Held>>,
    pub kept: bool,
}

/// How a command ended, and what was heard on the way.
pub struct Heard {
    pub record: Record,
    pub kept: Kept,
    pub progress: Vec<(u64, u64, String)>,
}

impl Bench {
    pub fn new() -> Self {
        use_keeper_program(binary());
        Self {
            dir: tempfile::tempdir().unwrap(),
            limits: JobLimits::new(1 << 30, None),
            truncation: Truncation::On(DEFAULT_LIMITS),
            terminal: None,
            held: None,
            kept: false,
        }
    }
    pub fn grace(mut self, ms: u64) -> Self {
        self.limits.grace = Millis(ms);
        self
    }
    /// The command gets a terminal of its own.
    pub fn terminal(mut self, rows: u16, cols: u16) -> Self {
        self.terminal = Some(Size { rows, cols });
        self
    }
    pub fn record_dir(&self) -> PathBuf {
        self.dir.path().join("call")
    }
    pub async fn try_start(&self, argv: &[&str]) -> Result<Running, LaunchError> {
        let wanted = Wanted {
            argv: argv.iter().map(Into::into).collect(),
            environment: child_environment(std::env::vars_os(), &[]),
            cwd: self.dir.path().to_owned(),
            dir: self.record_dir(),
            limits: self.limits,
            truncation: self.truncation,
            kept: self.kept,
            terminal: self.terminal,
            held: self.held.clone(),
        };
        spawn(Profile::Off, wanted).await
    }
    pub async fn start(&self, script: &str) -> Running {
        self.try_start(&["bash", "-c", script]).await.unwrap()
    }
    pub async fn run(&self, script: &str) -> Heard {
        end_of(&mut self.start(script).await).await
    }
    pub fn spool(&self) -> Vec<u8> {
        std::fs::read(self.record_dir().join("output")).unwrap()
    }
}

/// The next news, within a bound.
pub async fn next(running: &mut Running) -> Option<News> {
    tokio::time::timeout(LONG, running.next()).await.expect("a keeper is silent")
}

/// What a keeper tells next besides output.
pub async fn next_word(running: &mut Running) -> Option<News> {
    loop {
        match next(running).await {
            Some(News::Output { .. }) => {}
            word => return word,
        }
    }
}

/// Waits for the end.
pub async fn end_of(running: &mut Running) -> Heard {
    let mut progress = Vec::new();
    loop {
        match next(running).await.expect("an end is always told") {
            News::Output { bytes, lines, tail } => progress.push((bytes, lines, tail)),
            News::Ended { record, kept } => return Heard { record: *record, kept, progress },
            News::Stage(_)
            | News::Waiting(_)
            | News::Stopped(_)
            | News::Screen(_)
            | News::Kept(_)
            | News::Left(_) => {}
        }
    }
}

/// Waits until the output holds this.
pub async fn output_holds(running: &mut Running, what: &str) {
    loop {
        match next(running).await.expect("it runs") {
            News::Output { tail, .. } if tail.contains(what) => return,
            News::Output { .. }
            | News::Stage(_)
            | News::Waiting(_)
            | News::Stopped(_)
            | News::Screen(_)
            | News::Kept(_)
            | News::Left(_) => {}
            News::Ended { record, .. } => panic!("ended before {what:?}: {record:?}"),
        }
    }
}

/// A length of sleep that no other test uses: a mark that processes carry in their command line.
pub fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{:06}", 1000 + NEXT.fetch_add(1, Ordering::Relaxed), std::process::id())
}

/// Living processes whose command line holds the mark as a whole argument.
pub fn carrying(mark: &str) -> Vec<i32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
        })
        .collect()
}

/// Waits until a condition holds; the time it took.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LONG, "never: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    start.elapsed()
}

/// The permission bits of a file.
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
