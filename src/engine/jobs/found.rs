//! Jobs of an earlier program that had not ended there, when the session is opened again: those that live are watched
//! again, the others are retired with the end that their directory tells, or as lost.
//!
//! What is looked at: the nodes that stand in the journal, and the names in the `jobs` directory of which the
//! journal says nothing, for a crash may come before a node is written. Each call's directory is looked at by a
//! task of its own, so that a keeper that does not answer holds up nothing; what is asked of a job meanwhile waits
//! for the answer. Keeps `job_record_survives_crash`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use crate::api::job::{JobNode, JobOutcome, JobRow, JobState, Starter};
use crate::base::{CallId, JobId};
use crate::law::batch::{Found, Node, Told, reopen};
use crate::law::output::{DEFAULT_LIMITS, Truncation};
use crate::process::record::{KEEPER_FILE, KeeperRecord, read};
use crate::process::wire::{Standing, TAIL_MAX};
use crate::process::{Adopted, Running, adopt};
use crate::tool::desk::NewJob;

use super::desk::{Desk, JOB_FILE, LEFT_JOB_FILE};
use super::outcome::{lost_in, output_of, recorded};
use super::watch::{self as watching, Asked, Ending};
use crate::engine::owner::Owner;
use crate::engine::spawn;

/// What the journal tells of jobs.
#[derive(Debug, Default)]
pub struct Known {
    /// Nodes that stand.
    pub nodes: Vec<JobNode>,
    /// Jobs whose end stands in the conversation.
    pub over: BTreeSet<JobId>,
}

/// A job that is being looked up: it is listed, and what is asked of it waits.
pub(super) struct Sought {
    pub node: JobNode,
    pub asked: mpsc::Receiver<Asked>,
    pub told: watch::Sender<Option<Arc<JobOutcome>>>,
}

impl Owner {
    /// Begins to take up the jobs of an earlier program: they are listed at once, how they stand is told later.
    pub(in crate::engine) fn take_up_jobs(&mut self, known: Known) {
        let jobs = self.store.jobs_dir();
        let Known { mut nodes, over } = known;
        for node in &nodes {
            self.nodes.found(node.id);
        }
        let named: BTreeSet<JobId> = nodes.iter().map(|node| node.id).collect();
        let unknown = names(&jobs).into_iter().filter(|job| !over.contains(job) && !named.contains(job));
        nodes.extend(unknown.filter_map(|job| written(&jobs, job)));
        nodes.sort_by_key(|node| node.id);
        // a command and what it left behind are two jobs of one directory, with one keeper
        let mut places: BTreeMap<CallId, Vec<Sought>> = BTreeMap::new();
        for node in nodes {
            if over.contains(&node.id) {
                self.node(Node::Over(node.id));
            } else {
                let spool = self.store.call_dir(&node.call).join(output_of(&node));
                places.entry(node.call.clone()).or_default().push(self.desk.seek(node, spool));
            }
        }
        for (call, sought) in places {
            spawn::task(look_up(self.desk.clone(), self.store.call_dir(&call), sought));
        }
    }
}

/// What a directory tells.
#[derive(Clone, Copy)]
enum Tells {
    /// Its keeper answers; whether the command itself has ended.
    Lives { ended: bool },
    /// It has ended, and so has what it left behind.
    Over,
    /// Nothing.
    Gone,
}

/// Finds out how the jobs of one directory stand, and does with each what follows from it.
async fn look_up(desk: Desk, dir: PathBuf, sought: Vec<Sought>) {
    let (tells, mut running) = match adopt(&dir, Truncation::On(DEFAULT_LIMITS)).await {
        // neither watched nor called ended: the nodes stay, and the next open looks again
        Err(why) => return sought.into_iter().for_each(|one| desk.give_up(one.node.id, &why)),
        Ok(Adopted::Running(running, standing)) => {
            (Tells::Lives { ended: standing.ended }, Some((running, standing)))
        }
        Ok(Adopted::Ended(..)) => (Tells::Over, None),
        Ok(Adopted::Lost) => (Tells::Gone, None),
    };
    let mut command = None;
    for one in sought {
        let (at, node) = (dir.clone(), one.node.clone());
        let end = move || match reopen(false, told(&at, tells, &node)) {
            Found::Adopt => None,
            Found::Ended(end) => Some(end),
            Found::Lost | Found::Known => Some(lost_in(&at, &node, &tail(&at.join(output_of(&node))))),
        };
        let end = spawn::off_the_loop(end).await;
        if one.node.by != Starter::Left {
            command = Some(one.node.clone());
        }
        match end {
            Some(end) => watching::finish(&desk, &one.node, end, &one.told, Ending::Found),
            None => match running.take() {
                Some((running, standing)) => watch_again(&desk, *running, &standing, one),
                // another job of this directory has it
                None => desk.give_up(one.node.id, "its command is watched as another job"),
            },
        }
    }
    // the command itself has ended; what it left behind goes on and is a job of its own
    if let (Some((running, standing)), Some(node)) = (running, command)
        && standing.ended
    {
        let told = (standing.bytes, standing.lines, standing.tail.clone());
        desk.take_new(*running, NewJob::left_by(&node, node.began, told), None).await;
    }
}

/// A job that lives is watched from here on.
fn watch_again(desk: &Desk, running: Running, standing: &Standing, one: Sought) {
    desk.found(&one.node, |row| {
        row.pid = standing.process.pid;
        row.state = JobState::Running;
        row.kept = standing.kept;
        (row.bytes, row.lines, row.tail) = (standing.bytes, standing.lines, standing.tail.clone());
        (row.waiting, row.stopped) = (standing.waiting, standing.stopped);
    });
    spawn::task(watching::watch(desk.clone(), running, one.node, one.asked, one.told));
}

/// What the directory tells of one of its jobs. Blocking.
fn told(dir: &Path, tells: Tells, node: &JobNode) -> Told<JobOutcome> {
    match (tells, node.by) {
        (Tells::Lives { ended: true }, Starter::Left)
        | (Tells::Lives { ended: false }, Starter::Model | Starter::Person) => Told::Running,
        (Tells::Lives { ended: false }, Starter::Left) | (Tells::Gone, _) => Told::Nothing,
        (Tells::Lives { ended: true }, Starter::Model | Starter::Person) | (Tells::Over, _) => {
            let tail = tail(&dir.join(output_of(node)));
            recorded(dir, node, &tail).map_or(Told::Nothing, Told::Ended)
        }
    }
}

/// The row of a job that is being looked up. What runs without its program is kept.
pub(super) fn sought_row(node: &JobNode, spool: PathBuf) -> JobRow {
    JobRow {
        node: node.clone(),
        pid: 0,
        state: JobState::Sought,
        kept: true,
        bytes: 0,
        lines: 0,
        tail: String::new(),
        waiting: false,
        stopped: false,
        screen: None,
        spool,
    }
}

/// The names of jobs.
pub(super) fn names(jobs: &Path) -> Vec<JobId> {
    let Ok(entries) = std::fs::read_dir(jobs) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The node that stands beside the record of a job's command.
pub(super) fn written(jobs: &Path, job: JobId) -> Option<JobNode> {
    let dir: PathBuf = jobs.join(job.to_string());
    // a directory without a keeper never ran a command
    read::<KeeperRecord>(&dir, KEEPER_FILE).ok()??;
    let of = |name| read::<JobNode>(&dir, name).ok().flatten().filter(|node| node.id == job);
    of(JOB_FILE).or_else(|| of(LEFT_JOB_FILE))
}

/// The newest part of a file as plain text.
fn tail(path: &Path) -> String {
    use std::io::{Read, Seek, SeekFrom};
    let mut bytes = Vec::new();
    let Ok(mut file) = std::fs::File::open(path) else { return String::new() };
    let from = file.metadata().map_or(0, |meta| meta.len()).saturating_sub(TAIL_MAX as u64);
    if file.seek(SeekFrom::Start(from)).is_err() || file.read_to_end(&mut bytes).is_err() {
        return String::new();
    }
    crate::law::output::shown(&crate::base::plain(&bytes))
}
