//! Jobs as their own directories tell of them, with their keepers asked while those live: for sessions that no running
//! program has open, or whose program does not answer. They say what the program would say when it opened the session.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::api::job::{JobNode, JobRow, JobState, Starter};
use crate::base::{JobId, Millis};
use crate::engine::jobs::outcome::{lost_in, output_of, pid, recorded};
use crate::law::jobs::ENDED_MAX;
use crate::process::record::{KEEPER_FILE, KeeperRecord, read};
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
    let all: Vec<Seen> = ids.into_iter().filter_map(|job| look(session_dir, job)).collect();
    listed(all)
}

/// Those that the program lists: all that run, and of those that ended the newest.
fn listed(all: Vec<Seen>) -> Vec<Seen> {
    let ended = |seen: &Seen| match &seen.row.state {
        JobState::Ended(outcome) => Some((outcome.ended, seen.row.node.id)),
        JobState::Sought | JobState::Running | JobState::Ending { .. } => None,
    };
    let mut ends: Vec<(Millis, JobId)> = all.iter().filter_map(ended).collect();
    ends.sort_unstable();
    let Some(oldest) = ends.len().checked_sub(ENDED_MAX).map(|past| ends[past]) else { return all };
    all.into_iter().filter(|seen| ended(seen).is_none_or(|end| end >= oldest)).collect()
}

/// One of them.
pub fn look(session_dir: &Path, job: JobId) -> Option<Seen> {
    let dir = session_dir.join(store::session::JOBS).join(job.to_string());
    let of = |name: &&str| read::<JobNode>(&dir, name).ok().flatten().filter(|node| node.id == job);
    let node = NODE_FILES.iter().find_map(of)?;
    // looked at before the records: one that ends meanwhile has its record then
    let alive = kept_alive(&dir);
    let spool = dir.join(output_of(&node));
    let bytes = std::fs::metadata(&spool).map_or(0, |meta| meta.len());
    let mut row = JobRow {
        pid: pid(&dir),
        state: JobState::Running,
        kept: false,
        bytes,
        lines: 0,
        tail: String::new(),
        waiting: false,
        stopped: false,
        screen: None,
        spool,
        node,
    };
    let lost = || (!alive).then(|| lost_in(&dir, &row.node, ""));
    match recorded(&dir, &row.node, "").or_else(lost) {
        Some(outcome) => {
            (row.bytes, row.lines) = (outcome.bytes, outcome.lines);
            row.state = JobState::Ended(Arc::new(outcome));
        }
        None => ask(&dir, &mut row),
    }
    Some(Seen { row, dir })
}

/// Asks the keeper of one that runs.
fn ask(dir: &Path, row: &mut JobRow) {
    let keeper = read::<KeeperRecord>(dir, KEEPER_FILE).ok().flatten();
    row.kept = keeper.is_some_and(|keeper| keeper.kept);
    if let Ok((_, standing)) = Visit::open(dir) {
        (row.pid, row.kept) = (standing.process.pid, standing.kept);
        (row.waiting, row.stopped) = (standing.waiting, standing.stopped);
        if row.node.by != Starter::Left {
            row.lines = standing.lines;
        }
    }
}
