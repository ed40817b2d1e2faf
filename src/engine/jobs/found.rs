//! Jobs of an earlier program, when the session is opened again: those that live are watched again, the others
//! are retired with the end that their directory tells, or as lost.
//!
//! What is looked at: the nodes that stand in the journal, and the names in the `jobs` directory of which the
//! journal says nothing, for a crash may come before a node is written. Keeps `job_record_survives_crash`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::api::entry::{EntryBody, Level};
use crate::api::job::{JobEnd, JobNode, JobOutcome, JobRow, JobState, Starter};
use crate::base::JobId;
use crate::law::batch::{Found, Node, Told, reopen};
use crate::law::output::{DEFAULT_LIMITS, Truncation};
use crate::process::record::{KEEPER_FILE, KeeperRecord, LEFT_OUTPUT_FILE, OUTPUT_FILE, Record, read};
use crate::process::wire::{Standing, TAIL_MAX};
use crate::process::{Adopted, Running, adopt};

use crate::tool::desk::NewJob;

use super::desk::{JOB_FILE, LEFT_JOB_FILE};
use super::watch::{left_outcome, lost, outcome};
use crate::engine::owner::Owner;

/// What the journal tells of jobs.
#[derive(Debug, Default)]
pub struct Known {
    /// Nodes that stand.
    pub nodes: Vec<JobNode>,
    /// Jobs whose end stands in the conversation.
    pub over: BTreeSet<JobId>,
}

impl Owner {
    /// Takes up the jobs of an earlier program.
    pub(in crate::engine) async fn take_up_jobs(&mut self, known: Known) {
        let jobs = self.store.jobs_dir();
        let mut nodes: Vec<JobNode> = known.nodes;
        for node in &nodes {
            self.nodes.found(node.id);
        }
        let named = |job: &JobId| nodes.iter().any(|node| node.id == *job);
        let unknown: Vec<JobId> =
            names(&jobs).into_iter().filter(|job| !known.over.contains(job) && !named(job)).collect();
        nodes.extend(unknown.into_iter().filter_map(|job| written(&jobs, job)));
        nodes.sort_by_key(|node| node.id);
        for node in nodes {
            let over = known.over.contains(&node.id);
            self.take_up(node, over).await;
        }
        self.on_jobs();
    }

    async fn take_up(&mut self, node: JobNode, known: bool) {
        let dir = self.store.call_dir(&node.call);
        let adopted =
            if known { Ok(Adopted::Lost) } else { adopt(&dir, Truncation::On(DEFAULT_LIMITS)).await };
        let (told, running) = match adopted {
            Err(why) => {
                // neither watched nor called ended: its node stays, and the next open looks again
                return self.say(Level::Warning, format!("{} could not be taken up: {why}", node.id));
            }
            Ok(Adopted::Lost) => (Told::Nothing, None),
            Ok(Adopted::Running(running, standing)) => match (standing.ended, node.by) {
                (true, Starter::Left) | (false, Starter::Model | Starter::Person) => {
                    (Told::Running, Some((running, standing)))
                }
                // the command itself has ended; what it left behind goes on and is a job of its own
                (true, Starter::Model | Starter::Person) => {
                    self.left_running(&node, *running, &standing);
                    (ended(&dir, &node), None)
                }
                (false, Starter::Left) => (Told::Nothing, None),
            },
            Ok(Adopted::Ended(record, left)) => (
                Told::Ended(match (node.by, left) {
                    (Starter::Left, Some(left)) => {
                        left_outcome(&left, 0, 0, &tail(&dir.join(LEFT_OUTPUT_FILE)), node.began)
                    }
                    (Starter::Left, None) => lost(0, 0, "", node.began),
                    (Starter::Model | Starter::Person, _) => {
                        outcome(&record, &tail(&dir.join(OUTPUT_FILE)), node.began)
                    }
                }),
                None,
            ),
        };
        match reopen(known, told) {
            Found::Known => self.node(Node::Over(node.id)),
            Found::Adopt => {
                if let Some((running, standing)) = running {
                    // a crash may have come before its node was written; one that stands is not written again
                    self.node(Node::Began(node.id, node.clone()));
                    let row = running_row(&dir, &node, &standing);
                    self.desk.adopt(*running, node, row);
                }
            }
            Found::Ended(end) => self.retire(&dir, node, end),
            Found::Lost => {
                let output = dir.join(output_of(&node));
                let bytes = std::fs::metadata(&output).map_or(0, |meta| meta.len());
                let end = lost(bytes, 0, &tail(&output), node.began);
                self.retire(&dir, node, end);
            }
        }
    }

    fn left_running(&mut self, node: &JobNode, running: Running, standing: &Standing) {
        let told = (standing.bytes, standing.lines, standing.tail.clone());
        self.desk.take_new(running, NewJob::left_by(node, node.began, told));
    }

    /// A job that ended while nobody looked: told once, and listed.
    fn retire(&mut self, dir: &Path, node: JobNode, end: JobOutcome) {
        let row = JobRow {
            node: node.clone(),
            pid: 0,
            state: JobState::Ended(std::sync::Arc::new(end.clone())),
            kept: false,
            bytes: end.bytes,
            lines: end.lines,
            tail: end.last.clone(),
            waiting: false,
            screen: None,
            spool: dir.join(output_of(&node)),
        };
        self.desk.found_ended(row);
        self.node(Node::Over(node.id));
        let JobNode { id, call, command, hidden, .. } = node;
        self.commit(EntryBody::JobEnd(JobEnd { job: id, call, command, hidden, outcome: end }));
    }
}

fn output_of(node: &JobNode) -> &'static str {
    if node.by == Starter::Left { LEFT_OUTPUT_FILE } else { OUTPUT_FILE }
}

fn ended(dir: &Path, node: &JobNode) -> Told<JobOutcome> {
    match read::<Record>(dir, crate::process::record::END_FILE) {
        Ok(Some(record)) => Told::Ended(outcome(&record, &tail(&dir.join(OUTPUT_FILE)), node.began)),
        Ok(None) | Err(_) => Told::Nothing,
    }
}

fn running_row(dir: &Path, node: &JobNode, standing: &Standing) -> JobRow {
    JobRow {
        node: node.clone(),
        pid: standing.process.pid,
        state: JobState::Running,
        kept: standing.kept,
        bytes: standing.bytes,
        lines: standing.lines,
        tail: standing.tail.clone(),
        waiting: standing.waiting,
        screen: None,
        spool: dir.join(output_of(node)),
    }
}

/// The names of jobs.
fn names(jobs: &Path) -> Vec<JobId> {
    let Ok(entries) = std::fs::read_dir(jobs) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The node that stands beside the record of a job's command.
fn written(jobs: &Path, job: JobId) -> Option<JobNode> {
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
