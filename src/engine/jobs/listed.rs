//! Jobs that ended in an earlier program and that nobody took off the list: they are listed again.
//!
//! Their ends stand in the conversation. Whether one is still listed its name tells, the link in the `jobs` directory:
//! who takes a job off the list takes its name away, and its output stays where it is.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::api::entry::{Entry, EntryBody};
use crate::api::job::{JobEnd, JobRow, JobState};
use crate::base::JobId;
use crate::law::jobs::ENDED_MAX;

use super::found::{names, written};
use super::outcome::{output_of, pid};
use crate::engine::owner::Owner;

impl Owner {
    /// Lists them: as many as stay listed at once, the newest ends.
    pub(in crate::engine) fn list_ended_jobs(&mut self) {
        let jobs = self.store.jobs_dir();
        let named: BTreeSet<JobId> = names(&jobs).into_iter().collect();
        let ends = self.tree.entries.iter().rev().filter_map(end).filter(|end| named.contains(&end.job));
        let mut rows: Vec<JobRow> = ends.take(ENDED_MAX).filter_map(|end| row(&jobs, end)).collect();
        rows.reverse();
        self.desk.list_again(rows);
    }
}

fn end(entry: &Arc<Entry>) -> Option<&JobEnd> {
    match &entry.body {
        EntryBody::JobEnd(end) => Some(end),
        _ => None,
    }
}

fn row(jobs: &Path, end: &JobEnd) -> Option<JobRow> {
    let node = written(jobs, end.job)?;
    let dir = jobs.join(end.job.to_string());
    Some(JobRow {
        pid: pid(&dir),
        state: JobState::Ended(Arc::new(end.outcome.clone())),
        kept: false,
        bytes: end.outcome.bytes,
        lines: end.outcome.lines,
        tail: end.outcome.last.clone(),
        waiting: false,
        stopped: false,
        screen: None,
        spool: dir.join(output_of(&node)),
        node,
    })
}
