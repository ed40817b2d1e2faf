//! A job's watcher: what its keeper tells goes to the board, what is asked for goes to the keeper.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use crate::api::command::JobAsk;
use crate::api::job::{JobNode, JobOutcome, JobState, Starter};
use crate::base::{JobId, Millis};
use crate::law::job::{By, End, Stage};
use crate::process::record::{LOST_FILE, LostRecord, Named, RECORD_VERSION, write_whole};
use crate::process::{News, Running};
use crate::tool::desk::NewJob;

use super::desk::Desk;
use super::outcome::{left_outcome, lost, outcome};
use crate::engine::{clock, spawn};

/// Something that is asked of a job, and in whose name.
#[derive(Debug)]
pub struct Asked {
    /// What.
    pub ask: JobAsk,
    /// In whose name.
    pub by: By,
}

/// When an end came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// While the job was watched.
    Seen,
    /// While no program was there: it was found when the session was opened.
    Found,
}

/// Watches a job until nothing of it is left.
pub async fn watch(
    desk: Desk,
    mut running: Running,
    node: JobNode,
    mut asked: mpsc::Receiver<Asked>,
    told: watch::Sender<Option<Arc<JobOutcome>>>,
) {
    let job = node.id;
    // what it told before counts until it tells more
    let mut tail = desk.tail(job);
    let mut gone = 0;
    let mut killer = None;
    let mut watched = false;
    loop {
        let news = tokio::select! {
            news = running.next() => news,
            Some(wish) = asked.recv() => {
                heard(&desk, job, &wish, &mut killer, &mut watched);
                carry_out(&mut running, wish).await;
                continue;
            }
        };
        match news {
            Some(News::Output { bytes, lines, tail: newest }) => {
                tail.clone_from(&newest);
                desk.report(job, |row| {
                    row.bytes = bytes;
                    row.lines = lines;
                    row.tail = newest;
                });
            }
            Some(News::Stage(stage)) => {
                gone = gone.max(match stage {
                    Stage::Asked { processes } | Stage::Destroyed { processes } => processes,
                });
                let by = killer.unwrap_or(By::User);
                desk.report(job, |row| row.state = JobState::Ending { by, stage });
            }
            Some(News::Waiting(waiting)) => desk.report(job, |row| row.waiting = waiting),
            Some(News::Stopped(stopped)) => desk.report(job, |row| row.stopped = stopped),
            Some(News::Screen(screen)) if watched => desk.report(job, |row| row.screen = Some(screen)),
            Some(News::Screen(_)) => {}
            Some(News::Kept(kept)) => desk.kept(job, kept),
            Some(News::Ended { mut record, .. }) => {
                if record.end == End::Lost {
                    record.ended = saw_lost(&running, record.lines, record.survivors.clone()).await;
                }
                let outcome = outcome(&record, &tail, node.began);
                let left = !record.left.is_empty() && node.by != Starter::Left;
                finish(&desk, &node, outcome, &told, Ending::Seen);
                if left {
                    hand_on(&desk, running, &node).await;
                }
                return;
            }
            Some(News::Left(left)) => {
                let (bytes, lines) = desk.counts(job);
                let outcome = left_outcome(&left, bytes, lines, &tail, node.began);
                return finish(&desk, &node, outcome, &told, Ending::Seen);
            }
            // the keeper is gone and told no end: only of processes that were left behind
            None => {
                let (bytes, lines) = desk.counts(job);
                let ended = saw_lost(&running, lines, Vec::new()).await;
                let lost = lost(bytes, lines, &tail, (node.began, ended));
                return finish(&desk, &node, lost, &told, Ending::Seen);
            }
        }
    }
}

/// A job is lost, and it was seen: its directory tells when, to who asks later.
async fn saw_lost(running: &Running, lines: u64, survivors: Vec<Named>) -> Millis {
    let (dir, process, ended) = (running.dir().to_owned(), running.process().clone(), clock::now());
    let record = LostRecord { version: RECORD_VERSION, ended, process, lines, survivors };
    // without it the newest sign of life tells
    let _ = spawn::off_the_loop(move || write_whole(&dir, LOST_FILE, &record)).await;
    ended
}

/// What a command left behind when it ended as a job goes on as another one.
async fn hand_on(desk: &Desk, running: Running, node: &JobNode) {
    desk.take_new(running, NewJob::left_by(node, clock::now(), (0, 0, String::new())), None).await;
}

/// What a wish changes before its keeper hears of it.
fn heard(desk: &Desk, job: JobId, wish: &Asked, killer: &mut Option<By>, watched: &mut bool) {
    match wish.ask {
        JobAsk::Kill => {
            let by = wish.by;
            killer.get_or_insert(by);
            desk.report(job, |row| {
                if row.state == JobState::Running {
                    row.state = JobState::Ending { by, stage: Stage::Asked { processes: 0 } };
                }
            });
        }
        JobAsk::Watch(on) => {
            *watched = on;
            // a picture that nobody looks at grows old
            desk.report(job, |row| row.screen = None);
        }
        JobAsk::Signal(_) | JobAsk::Keep(_) | JobAsk::Dismiss | JobAsk::Input(_) | JobAsk::Resize(_) => {}
    }
}

async fn carry_out(running: &mut Running, wish: Asked) {
    match wish.ask {
        JobAsk::Kill => running.kill(wish.by).await,
        JobAsk::Signal(signal) => running.signal(signal).await,
        JobAsk::Keep(keep) => running.keep(keep).await,
        JobAsk::Input(bytes) => running.input(bytes.0).await,
        JobAsk::Resize(size) => running.resize(size).await,
        JobAsk::Watch(on) => running.watch(on).await,
        // the desk's: of jobs that have ended
        JobAsk::Dismiss => {}
    }
}

/// A job's end: its row, the conversation, and who waits for it are told.
pub(super) fn finish(
    desk: &Desk,
    node: &JobNode,
    outcome: JobOutcome,
    told: &watch::Sender<Option<Arc<JobOutcome>>>,
    ending: Ending,
) {
    let shared = Arc::new(outcome.clone());
    desk.report(node.id, |row| {
        row.bytes = outcome.bytes;
        row.lines = outcome.lines;
        (row.waiting, row.stopped) = (false, false);
        row.kept &= ending == Ending::Seen;
        row.state = JobState::Ended(Arc::clone(&shared));
    });
    desk.ended(node.clone(), outcome, ending);
    // nobody may be waiting
    let _ = told.send(Some(shared));
}
