//! The desk: where calls hand commands over that go on as jobs, and where everybody asks for them.
//!
//! It names a job (a link in the session's `jobs` directory, made with the job's first breath: it is the
//! record that a crash leaves), puts it on the board and has it watched. What the journal holds of jobs is
//! the owner's (`session`), told by news that wait here.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc, watch};

use crate::api::command::JobAsk;
use crate::api::job::{JobEnd, JobNode, JobOutcome, JobRow, JobState, Starter};
use crate::base::{EntryId, JobId};
use crate::law::job::By;
use crate::law::jobs::{Ended, Jobs};
use crate::link::Shared;
use crate::process::Running;
use crate::process::record::{LEFT_OUTPUT_FILE, OUTPUT_FILE, make_dir, write_whole};
use crate::store::tree::order;
use crate::tool::Later;
use crate::tool::desk::{self, NewJob};

use super::watch::{self as watching, Asked};
use crate::engine::spawn;

/// Wishes that may wait for one job's watcher.
const ASKS_MAX: usize = 256;
/// Most bytes of a command that a job's node holds.
const COMMAND_MAX: usize = 16 * 1024;
/// The node beside the record of its command.
pub const JOB_FILE: &str = "job.json";

/// What the owner must know of jobs.
#[derive(Debug)]
pub enum JobNews {
    /// This one runs.
    Began(JobNode),
    /// This one ended.
    Ended(Box<JobEnd>),
    /// One could not be named in its directory: what happened.
    Trouble(String),
}

struct Entry {
    node: JobNode,
    asks: mpsc::Sender<Asked>,
    end: watch::Receiver<Option<Arc<JobOutcome>>>,
}

struct Inner {
    jobs: Jobs,
    running: BTreeMap<JobId, Entry>,
    news: Vec<JobNews>,
}

/// The jobs of a session.
#[derive(Clone)]
pub struct Desk {
    shared: Shared,
    jobs_dir: PathBuf,
    kept: bool,
    inner: Arc<Mutex<Inner>>,
    /// News wait.
    pub wake: Arc<Notify>,
}

impl Desk {
    /// The desk of a session whose jobs are named in `jobs_dir`; at most `limit` run at once;
    /// `kept`: they go on without the program unless somebody says otherwise.
    pub fn new(shared: Shared, jobs_dir: PathBuf, limit: u32, kept: bool) -> Self {
        let jobs = Jobs::new(highest(&jobs_dir), limit);
        let inner = Inner { jobs, running: BTreeMap::new(), news: Vec::new() };
        Self { shared, jobs_dir, kept, inner: Arc::new(Mutex::new(inner)), wake: Arc::new(Notify::new()) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the owner must know, in order.
    pub fn news(&self) -> Vec<JobNews> {
        std::mem::take(&mut self.inner().news)
    }

    /// Running jobs: id, node.
    pub fn running(&self) -> Vec<JobNode> {
        self.inner().running.values().map(|entry| entry.node.clone()).collect()
    }

    /// Whether none runs that does not go on without the program.
    pub fn none_to_end(&self) -> bool {
        let record = self.shared.read();
        self.inner().running.keys().all(|job| record.jobs.get(job).is_none_or(|row| row.kept))
    }

    /// What a job told so far: bytes and lines.
    pub(super) fn counts(&self, job: JobId) -> (u64, u64) {
        self.shared.read().jobs.get(&job).map_or((0, 0), |row| (row.bytes, row.lines))
    }

    /// Puts a job on the board and has it watched.
    fn enter(&self, running: Running, node: JobNode, row: JobRow) {
        let job = node.id;
        let (asks, asked) = mpsc::channel(ASKS_MAX);
        let (told, end) = watch::channel(None);
        {
            let mut inner = self.inner();
            inner.jobs.began(job, node.after.as_ref().map(order));
            inner.running.insert(job, Entry { node: node.clone(), asks, end });
        }
        self.shared.change(|record| record.jobs.begin(job, row));
        spawn::task(watching::watch(self.clone(), running, node, asked, told));
    }

    /// A job that was found when the session was opened.
    pub fn adopt(&self, running: Running, node: JobNode, row: JobRow) {
        self.enter(running, node, row);
    }

    /// A job that was found ended, or lost: its row.
    pub fn found_ended(&self, row: JobRow) {
        let job = row.node.id;
        self.shared.change(|record| record.jobs.begin(job, row));
        let over = self.inner().jobs.found_ended(job);
        self.forget(over);
    }

    /// Running jobs that a rewind to this entry ends.
    pub fn orphans(&self, to: Option<&EntryId>) -> Vec<JobId> {
        self.inner().jobs.orphans(to.map(order))
    }

    /// Tells the row of a job; nothing when it is gone.
    pub(super) fn report(&self, job: JobId, change: impl FnOnce(&mut JobRow)) {
        self.shared.change(|record| record.jobs.report(&job, change));
    }

    /// A job ended: it leaves those that run.
    pub(super) fn ended(&self, node: JobNode, outcome: JobOutcome) {
        let job = node.id;
        let ended = {
            let mut inner = self.inner();
            inner.running.remove(&job);
            inner.jobs.ended(job)
        };
        let end = JobEnd { job, call: node.call, command: node.command, hidden: node.hidden, outcome };
        self.tell(JobNews::Ended(Box::new(end)));
        if let Ended::Listed { dismissed } = ended {
            self.forget(dismissed);
        }
    }

    fn forget(&self, job: Option<JobId>) {
        if let Some(job) = job {
            self.shared.change(|record| record.jobs.end(&job));
        }
    }

    fn tell(&self, news: JobNews) {
        self.inner().news.push(news);
        self.wake.notify_one();
    }

    /// A name that no job of the session has or had: the link to its call's directory is made with it.
    fn name(&self, call_dir: &Path) -> (JobId, Option<String>) {
        let mut inner = self.inner();
        loop {
            let job = inner.jobs.mint();
            match link(&self.jobs_dir, job, call_dir) {
                Ok(()) => return (job, None),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let dir = self.jobs_dir.display();
                    let why =
                        format!("{job} has no name in {dir} ({error}): after a crash it is not found there");
                    return (job, Some(why));
                }
            }
        }
    }

    pub(super) fn take_new(&self, running: Running, new: NewJob) -> JobId {
        let dir = running.dir().to_owned();
        let (id, mut trouble) = self.name(&dir);
        let NewJob { call, mut command, cwd, by, hidden, terminal, began, told, waiting, after } = new;
        if command.len() > COMMAND_MAX {
            let mut end = COMMAND_MAX;
            while !command.is_char_boundary(end) {
                end -= 1;
            }
            command.truncate(end);
            command.push('…');
        }
        let node = JobNode { id, call, command, cwd, by, hidden, terminal, after, began };
        let file = if by == Starter::Left { LEFT_JOB_FILE } else { JOB_FILE };
        if let Err(error) = write_whole(&dir, file, &node) {
            trouble.get_or_insert_with(|| format!("{id} is not recorded in {}: {error}", dir.display()));
        }
        let spool = dir.join(if by == Starter::Left { LEFT_OUTPUT_FILE } else { OUTPUT_FILE });
        let (bytes, lines, tail) = told;
        let row = JobRow {
            node: node.clone(),
            pid: running.process().pid,
            state: JobState::Running,
            kept: self.kept,
            bytes,
            lines,
            tail,
            waiting,
            screen: None,
            spool,
        };
        self.tell(JobNews::Began(node.clone()));
        if let Some(why) = trouble {
            self.tell(JobNews::Trouble(why));
        }
        self.enter(running, node, row);
        id
    }
}

/// The node of processes that a command left behind.
pub const LEFT_JOB_FILE: &str = "left_job.json";

/// The highest number that a job of the session had.
fn highest(jobs_dir: &Path) -> u32 {
    let Ok(entries) = std::fs::read_dir(jobs_dir) else { return 0 };
    let number = |name: &std::ffi::OsStr| name.to_str().and_then(|name| name.parse::<JobId>().ok());
    entries.flatten().filter_map(|entry| number(&entry.file_name())).map(|job| job.0).max().unwrap_or(0)
}

fn link(jobs_dir: &Path, job: JobId, call_dir: &Path) -> io::Result<()> {
    make_dir(jobs_dir)?;
    let calls = call_dir.parent().and_then(Path::file_name).ok_or(io::ErrorKind::InvalidInput)?;
    let call = call_dir.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    std::os::unix::fs::symlink(Path::new("..").join(calls).join(call), jobs_dir.join(job.to_string()))
}

impl desk::Desk for Desk {
    fn admit(&self) -> Result<(), String> {
        self.inner().jobs.admit().map_err(|full| {
            format!(
                "{} jobs run, which is the limit (jobs.limit): wait for one of them or end it first",
                full.limit
            )
        })
    }

    fn take(&self, running: Running, job: NewJob) -> JobId {
        self.take_new(running, job)
    }

    fn rows(&self) -> Vec<JobRow> {
        self.shared.read().jobs.iter().map(|(_, row)| row.clone()).collect()
    }

    fn row(&self, job: JobId) -> Option<JobRow> {
        self.shared.read().jobs.get(&job).cloned()
    }

    fn ask(&self, job: JobId, ask: JobAsk, by: By) {
        if ask == JobAsk::Dismiss {
            let listed = self.inner().jobs.dismiss(job);
            return self.forget(listed.then_some(job));
        }
        let asks = self.inner().running.get(&job).map(|entry| entry.asks.clone());
        if let Some(asks) = asks {
            // a watcher that is that far behind waits for its keeper: a kill must still reach it
            if let Err(mpsc::error::TrySendError::Full(asked)) = asks.try_send(Asked { ask, by }) {
                spawn::task(async move { drop(asks.send(asked).await) });
            }
        }
    }

    fn ended(&self, job: JobId) -> Later<'_, Option<Arc<JobOutcome>>> {
        let end = self.inner().running.get(&job).map(|entry| entry.end.clone());
        Box::pin(async move {
            match end {
                Some(mut end) => end.wait_for(Option::is_some).await.ok().and_then(|end| end.clone()),
                None => match desk::Desk::row(self, job)?.state {
                    JobState::Ended(outcome) => Some(outcome),
                    JobState::Running | JobState::Ending { .. } => None,
                },
            }
        })
    }
}
