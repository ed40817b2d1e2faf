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
use crate::tool::desk::{self, NewJob, Place};
use crate::tool::input::one_line;

use super::found::{Sought, sought_row};
use super::watch::{self as watching, Asked, Ending};
use crate::engine::spawn;

/// Wishes that may wait for one job's watcher.
const ASKS_MAX: usize = 256;
/// Most bytes of a command that a job's node holds.
const COMMAND_MAX: usize = 16 * 1024;
/// Jobs that are named when there is no place for another.
const FULL_NAMED_MAX: usize = 8;
/// Most characters of each of their commands.
const FULL_COMMAND_MAX: usize = 40;
/// The node beside the record of its command.
pub const JOB_FILE: &str = "job.json";

/// What the owner must know of jobs.
#[derive(Debug)]
pub enum JobNews {
    /// This one runs.
    Began(JobNode),
    /// This one ended.
    Ended(Box<JobEnd>, Ending),
    /// Something is wrong with one: what.
    Trouble(String),
}

struct Entry {
    node: JobNode,
    asks: mpsc::Sender<Asked>,
    end: watch::Receiver<Option<Arc<JobOutcome>>>,
    /// Its end was asked for: kept or not, it is waited for.
    to_end: bool,
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
    /// The desk of a session whose jobs are named in `jobs_dir`, the highest number that its entries name being
    /// `named`; at most `limit` run at once; `kept`: they go on without the program unless somebody says otherwise.
    pub fn new(shared: Shared, jobs_dir: PathBuf, named: u32, limit: u32, kept: bool) -> Self {
        let jobs = Jobs::new(highest(&jobs_dir).max(named), limit);
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

    /// Whether none runs that does not go on without the program or that is being ended, and none has an end that is not told yet.
    pub fn none_to_end(&self) -> bool {
        let record = self.shared.read();
        let kept = |job| record.jobs.get(job).is_none_or(|row| row.kept && row.runs());
        self.inner().running.iter().all(|(job, entry)| !entry.to_end && kept(job))
    }

    /// What a job told so far: bytes and lines.
    pub(super) fn counts(&self, job: JobId) -> (u64, u64) {
        self.shared.read().jobs.get(&job).map_or((0, 0), |row| (row.bytes, row.lines))
    }

    /// The newest part of what a job told.
    pub(super) fn tail(&self, job: JobId) -> String {
        self.shared.read().jobs.get(&job).map_or_else(String::new, |row| row.tail.clone())
    }

    /// Puts a job on the board. What is asked of it comes to who has the ends.
    fn enter(&self, node: JobNode, row: JobRow, place: Option<Place>) -> Sought {
        let job = node.id;
        let (asks, asked) = mpsc::channel(ASKS_MAX);
        let (told, end) = watch::channel(None);
        {
            let mut inner = self.inner();
            let after = node.after.as_ref().map(order);
            match place {
                Some(place) => {
                    inner.jobs.began_in_place(job, after);
                    place.taken();
                }
                None => inner.jobs.began(job, after),
            }
            inner.running.insert(job, Entry { node: node.clone(), asks, end, to_end: false });
        }
        self.shared.change(|record| record.jobs.begin(job, row));
        Sought { node, asked, told }
    }

    /// Jobs that ended in an earlier program are listed again, the oldest end first; not more than stay listed.
    pub(super) fn list_again(&self, rows: Vec<JobRow>) {
        let mut inner = self.inner();
        rows.iter().for_each(|row| inner.jobs.ended_before(row.node.id));
        drop(inner);
        self.shared.change(|record| rows.into_iter().for_each(|row| record.jobs.begin(row.node.id, row)));
    }

    /// A job of an earlier program is listed as one that is being looked up.
    pub(super) fn seek(&self, node: JobNode, spool: PathBuf) -> Sought {
        let row = sought_row(&node, spool);
        self.enter(node, row, None)
    }

    /// One that was looked up runs, and stands so.
    pub(super) fn found(&self, node: &JobNode, stands: impl FnOnce(&mut JobRow)) {
        // a crash may have come before its node was written; one that stands is not written again
        self.tell(JobNews::Began(node.clone()));
        self.report(node.id, stands);
    }

    /// How one stands could not be found out: it is listed no more.
    pub(super) fn give_up(&self, job: JobId, why: &str) {
        {
            let mut inner = self.inner();
            inner.running.remove(&job);
            inner.jobs.let_go(job);
        }
        self.forget(Some(job));
        self.tell(JobNews::Trouble(format!("{job} could not be taken up: {why}")));
    }

    /// Running jobs that a rewind to this entry ends.
    pub fn orphans(&self, to: Option<&EntryId>) -> Vec<JobId> {
        self.inner().jobs.orphans(to.map(order))
    }

    /// Tells the row of a job; nothing when it is gone.
    pub(super) fn report(&self, job: JobId, change: impl FnOnce(&mut JobRow)) {
        self.shared.change(|record| record.jobs.report(&job, change));
    }

    /// A job goes on without the program, or no longer. Who closes the session waits for that.
    pub(super) fn kept(&self, job: JobId, kept: bool) {
        self.report(job, |row| row.kept = kept);
        self.wake.notify_one();
    }

    /// A job ended: it leaves those that run.
    pub(super) fn ended(&self, node: JobNode, outcome: JobOutcome, ending: Ending) {
        let job = node.id;
        let JobNode { call, command, hidden, by, .. } = node;
        let end = JobEnd { job, call, command, hidden, left: by == Starter::Left, outcome };
        let ended = {
            // in one step: whoever sees that it runs no longer finds the news of it
            let mut inner = self.inner();
            inner.running.remove(&job);
            inner.news.push(JobNews::Ended(Box::new(end), ending));
            inner.jobs.ended(job)
        };
        self.wake.notify_one();
        if let Ended::Listed { dismissed: Some(oldest) } = ended {
            self.forget(Some(oldest));
            let desk = self.clone();
            spawn::task(spawn::off_the_loop(move || desk.unname(oldest)));
        }
    }

    /// A job that is taken off the list has no name any more: it is not listed again. Blocking, but nothing waits there.
    fn unname(&self, job: JobId) {
        let name = self.jobs_dir.join(job.to_string());
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let name = name.display();
                let why =
                    format!("{job} comes back to the list when the session is opened again: {name}: {error}");
                self.tell(JobNews::Trouble(why));
            }
            Ok(()) | Err(_) => {}
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
        loop {
            let job = self.inner().jobs.mint();
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

    /// A command becomes a job, on a blocking thread: its name and its node are files. Whoever waits may go away
    /// meanwhile, the job is there all the same.
    pub(super) async fn take_new(&self, running: Running, new: NewJob, place: Option<Place>) -> JobId {
        let desk = self.clone();
        spawn::off_the_loop(move || desk.begin(running, new, place)).await
    }

    /// Names a job, writes its node and enters it. Blocking.
    fn begin(&self, running: Running, new: NewJob, place: Option<Place>) -> JobId {
        let dir = running.dir().to_owned();
        let (id, mut trouble) = self.name(&dir);
        let NewJob { call, mut command, cwd, by, hidden, terminal, began, told, waiting, stopped, after } =
            new;
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
            stopped,
            screen: None,
            spool,
        };
        self.tell(JobNews::Began(node.clone()));
        if let Some(why) = trouble {
            self.tell(JobNews::Trouble(why));
        }
        let Sought { node, asked, told } = self.enter(node, row, place);
        spawn::task(watching::watch(self.clone(), running, node, asked, told));
        id
    }

    /// Why no more jobs may be started: who has the places, but for those that are kept from the model.
    fn full(&self, limit: u32) -> String {
        let record = self.shared.read();
        let shown = record.jobs.iter().map(|(_, row)| row).filter(|row| row.runs() && !row.node.hidden);
        let shown: Vec<&JobNode> = shown.map(|row| &row.node).collect();
        let name = |node: &&JobNode| format!("{} {}", node.id, one_line(&node.command, FULL_COMMAND_MAX));
        let mut named: Vec<String> = shown.iter().take(FULL_NAMED_MAX).map(name).collect();
        match shown.len().saturating_sub(FULL_NAMED_MAX) {
            0 => {}
            more => named.push(format!("and {more} more")),
        }
        let colon = if named.is_empty() { "" } else { ": " };
        format!(
            "no more than {limit} jobs may run at once (jobs.limit), and so many do{colon}{}. Nothing was started: \
             end one of them, or wait for an end",
            named.join("; ")
        )
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
    fn hold(&self) -> Result<Place, String> {
        let held = self.inner().jobs.hold();
        match held {
            Ok(()) => {
                let inner = Arc::clone(&self.inner);
                Ok(Place::new(move || {
                    inner.lock().unwrap_or_else(PoisonError::into_inner).jobs.give_back();
                }))
            }
            Err(full) => Err(self.full(full.limit)),
        }
    }

    fn take(&self, running: Running, job: NewJob, place: Option<Place>) -> Later<'_, JobId> {
        Box::pin(self.take_new(running, job, place))
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
            if listed {
                self.unname(job);
            }
            return self.forget(listed.then_some(job));
        }
        let asks = self.inner().running.get_mut(&job).map(|entry| {
            entry.to_end |= ask == JobAsk::Kill;
            entry.asks.clone()
        });
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
                    JobState::Sought | JobState::Running | JobState::Ending { .. } => None,
                },
            }
        })
    }
}
