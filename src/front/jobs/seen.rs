//! Jobs as their own directories tell of them, with their keepers asked while those live: for sessions that no running
//! program has open, or whose program does not answer. What a person dismissed is still there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::api::job::{JobNode, JobOutcome, JobRow, JobState, Starter};
use crate::base::{JobId, Millis};
use crate::law::job::End;
use crate::process::record::{
    END_FILE, KEEPER_FILE, KeeperRecord, LEFT_FILE, LEFT_OUTPUT_FILE, LeftRecord, Named, OUTPUT_FILE, Record,
    read,
};
use crate::process::visit::{Visit, kept_alive};
use crate::store;

/// The files in which a job's node stands: of a command, and of what one left behind.
pub const NODE_FILES: [&str; 2] = ["job.json", "left_job.json"];

/// A job, and the directory of its command.
pub struct Seen {
    /// As the pane would show it.
    pub row: JobRow,
    /// Its directory.
    pub dir: PathBuf,
}

/// All jobs of a session, by number.
pub fn all(session_dir: &Path) -> Vec<Seen> {
    let Ok(names) = std::fs::read_dir(session_dir.join(store::session::JOBS)) else { return Vec::new() };
    let mut ids: Vec<JobId> =
        names.flatten().filter_map(|name| name.file_name().to_str()?.parse().ok()).collect();
    ids.sort_unstable();
    ids.into_iter().filter_map(|job| look(session_dir, job)).collect()
}

/// One of them.
pub fn look(session_dir: &Path, job: JobId) -> Option<Seen> {
    let dir = session_dir.join(store::session::JOBS).join(job.to_string());
    let of = |name: &&str| read::<JobNode>(&dir, name).ok().flatten().filter(|node| node.id == job);
    let node = NODE_FILES.iter().find_map(of)?;
    // looked at before the records: one that ends meanwhile has its record then
    let alive = kept_alive(&dir);
    let record = read::<Record>(&dir, END_FILE).ok().flatten();
    let spool = dir.join(if node.by == Starter::Left { LEFT_OUTPUT_FILE } else { OUTPUT_FILE });
    let bytes = std::fs::metadata(&spool).map_or(0, |meta| meta.len());
    let mut row = JobRow {
        pid: record.as_ref().map_or(0, |record| record.process.pid),
        state: JobState::Running,
        kept: false,
        bytes,
        lines: 0,
        tail: String::new(),
        waiting: false,
        screen: None,
        spool,
        node,
    };
    match outcome(&dir, &row, record, alive) {
        Some(outcome) => {
            row.lines = outcome.lines;
            row.state = JobState::Ended(Arc::new(outcome));
        }
        None => ask(&dir, &mut row),
    }
    Some(Seen { row, dir })
}

/// How it ended; none while it runs.
fn outcome(dir: &Path, row: &JobRow, record: Option<Record>, alive: bool) -> Option<JobOutcome> {
    // when a job was lost is not known
    let lost = JobOutcome {
        end: End::Lost,
        exit_code: None,
        exit_signal: None,
        ended: row.node.began,
        duration: Millis(0),
        bytes: row.bytes,
        lines: 0,
        last: String::new(),
        gone: 0,
        survivors: Vec::new(),
        trouble: None,
    };
    let named = |survivors: &[Named]| survivors.iter().map(Named::words).collect();
    if row.node.by == Starter::Left {
        return match read::<LeftRecord>(dir, LEFT_FILE).ok().flatten() {
            Some(left) => Some(JobOutcome {
                end: left.by.map_or(End::Ended, |by| End::Killed { by }),
                ended: left.ended,
                duration: left.ended.since(row.node.began),
                survivors: named(&left.survivors),
                ..lost
            }),
            None => (!alive).then_some(lost),
        };
    }
    match record {
        Some(record) => Some(JobOutcome {
            exit_code: record.exit_code,
            exit_signal: record.exit_signal,
            ended: record.ended,
            duration: record.ended.since(row.node.began),
            lines: record.lines,
            gone: record.gone,
            survivors: named(&record.survivors),
            trouble: record.trouble,
            end: record.end,
            ..lost
        }),
        None => (!alive).then_some(lost),
    }
}

/// Asks the keeper of one that runs.
fn ask(dir: &Path, row: &mut JobRow) {
    let keeper = read::<KeeperRecord>(dir, KEEPER_FILE).ok().flatten();
    row.kept = keeper.is_some_and(|keeper| keeper.kept);
    if let Ok((_, standing)) = Visit::open(dir) {
        (row.pid, row.kept, row.waiting) = (standing.process.pid, standing.kept, standing.waiting);
        if row.node.by != Starter::Left {
            row.lines = standing.lines;
        }
    }
}
