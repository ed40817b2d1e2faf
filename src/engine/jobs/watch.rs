//! A job's watcher: what its keeper tells goes to the board, what is asked for goes to the keeper.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use crate::api::command::JobAsk;
use crate::api::job::{JobNode, JobOutcome, JobState, Starter};
use crate::base::{JobId, Millis};
use crate::law::job::{By, End, Stage};
use crate::process::record::{LeftRecord, Named, Record};
use crate::process::{News, Running};
use crate::tool::desk::NewJob;

use super::desk::Desk;
use crate::engine::clock;

/// Most bytes of a job's last lines.
const LAST_MAX: usize = 2048;
/// Most last lines.
const LAST_LINES: usize = 10;

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
            Some(News::Screen(screen)) if watched => desk.report(job, |row| row.screen = Some(screen)),
            Some(News::Screen(_)) => {}
            Some(News::Kept(kept)) => desk.kept(job, kept),
            Some(News::Ended { record, .. }) => {
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
                let lost = lost(bytes, lines, &tail, node.began);
                return finish(&desk, &node, lost, &told, Ending::Seen);
            }
        }
    }
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
        row.waiting = false;
        row.kept &= ending == Ending::Seen;
        row.state = JobState::Ended(Arc::clone(&shared));
    });
    desk.ended(node.clone(), outcome, ending);
    // nobody may be waiting
    let _ = told.send(Some(shared));
}

/// The last lines of a text, bounded.
pub fn last_lines(tail: &str) -> String {
    let tail = tail.trim_end();
    let mut from = tail.len().saturating_sub(LAST_MAX);
    while !tail.is_char_boundary(from) {
        from += 1;
    }
    let tail = &tail[from..];
    let start = tail.rmatch_indices('\n').nth(LAST_LINES - 1).map_or(0, |(at, _)| at + 1);
    tail[start..].to_owned()
}

/// What a command's record says of the end of its job.
pub fn outcome(record: &Record, tail: &str, began: Millis) -> JobOutcome {
    JobOutcome {
        end: record.end.clone(),
        exit_code: record.exit_code,
        exit_signal: record.exit_signal,
        ended: record.ended,
        duration: record.ended.since(began),
        bytes: record.bytes,
        lines: record.lines,
        last: last_lines(tail),
        gone: record.gone,
        survivors: record.survivors.iter().map(Named::words).collect(),
        trouble: record.trouble.clone(),
    }
}

/// What is known when processes that a command left behind are over.
pub fn left_outcome(left: &LeftRecord, bytes: u64, lines: u64, tail: &str, began: Millis) -> JobOutcome {
    JobOutcome {
        end: left.by.map_or(End::Ended, |by| End::Killed { by }),
        ended: left.ended,
        duration: left.ended.since(began),
        gone: left.gone,
        survivors: left.survivors.iter().map(Named::words).collect(),
        ..lost(bytes.max(left.bytes), lines, tail, began)
    }
}

/// What is known of a job whose keeper told nothing.
pub fn lost(bytes: u64, lines: u64, tail: &str, began: Millis) -> JobOutcome {
    let ended = clock::now();
    JobOutcome {
        end: End::Lost,
        exit_code: None,
        exit_signal: None,
        ended,
        duration: ended.since(began),
        bytes,
        lines,
        last: last_lines(tail),
        gone: 0,
        survivors: Vec::new(),
        trouble: None,
    }
}
