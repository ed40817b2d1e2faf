//! How a job ended, as its directory tells it: for the program that watched it, for one that finds it later and for
//! the command line, so that all say the same.
//!
//! A keeper that is gone without a record leaves a job *lost*. A program that saw it go wrote down when; else what is
//! known is the newest sign of life, and where there is none, nothing.

use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::api::job::{JobNode, JobOutcome, Starter};
use crate::base::Millis;
use crate::law::job::End;
use crate::process::record::{
    END_FILE, KEEPER_FILE, LEFT_FILE, LEFT_OUTPUT_FILE, LOST_FILE, LeftRecord, LostRecord, Named,
    OUTPUT_FILE, Record, read,
};

/// Most bytes of a job's last lines.
const LAST_MAX: usize = 2048;
/// Most last lines.
const LAST_LINES: usize = 10;
/// A sign of life that comes no later than this after the start is the start itself.
const START: Millis = Millis(1000);

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
        gone: left.gone,
        survivors: left.survivors.iter().map(Named::words).collect(),
        ..lost(bytes.max(left.bytes), lines, tail, (began, left.ended))
    }
}

/// What is known of a job whose keeper told nothing; `between`: its start, and when it was last known to live.
pub fn lost(bytes: u64, lines: u64, tail: &str, between: (Millis, Millis)) -> JobOutcome {
    let (began, ended) = between;
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

/// The file of a job's output, in its directory.
pub fn output_of(node: &JobNode) -> &'static str {
    if node.by == Starter::Left { LEFT_OUTPUT_FILE } else { OUTPUT_FILE }
}

/// How a job ended by the records in its directory; none where they tell no end. `tail`: the newest part of its
/// output. Blocking.
pub fn recorded(dir: &Path, node: &JobNode, tail: &str) -> Option<JobOutcome> {
    if node.by == Starter::Left {
        let left = read::<LeftRecord>(dir, LEFT_FILE).ok().flatten()?;
        return Some(left_outcome(&left, size(dir, node), 0, tail, node.began));
    }
    let record = read::<Record>(dir, END_FILE).ok().flatten()?;
    Some(outcome(&record, tail, node.began))
}

/// The end of a job of which its directory tells none, and whose keeper is gone. Blocking.
pub fn lost_in(dir: &Path, node: &JobNode, tail: &str) -> JobOutcome {
    let seen = read::<LostRecord>(dir, LOST_FILE).ok().flatten();
    if let Some(LostRecord { ended, lines, survivors, .. }) = seen {
        let survivors = survivors.iter().map(Named::words).collect();
        return JobOutcome { survivors, ..lost(size(dir, node), lines, tail, (node.began, ended)) };
    }
    let sign = last_sign(dir, node).filter(|sign| sign.since(node.began) > START).unwrap_or(node.began);
    lost(size(dir, node), 0, tail, (node.began, sign))
}

/// The command's own process, once it has ended; 0: not known. Blocking.
pub fn pid(dir: &Path) -> i32 {
    let ended = read::<Record>(dir, END_FILE).ok().flatten().map(|record| record.process);
    let lost = || read::<LostRecord>(dir, LOST_FILE).ok().flatten().map(|record| record.process);
    ended.or_else(lost).map_or(0, |process| process.pid)
}

fn size(dir: &Path, node: &JobNode) -> u64 {
    std::fs::metadata(dir.join(output_of(node))).map_or(0, |meta| meta.len())
}

/// When a job last wrote something, or its keeper did.
fn last_sign(dir: &Path, node: &JobNode) -> Option<Millis> {
    let changed = |name: &str| {
        let at = std::fs::metadata(dir.join(name)).and_then(|meta| meta.modified()).ok()?;
        Some(Millis(at.duration_since(UNIX_EPOCH).ok()?.as_millis() as u64))
    };
    [changed(output_of(node)), changed(KEEPER_FILE)].into_iter().flatten().max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{CallId, JobId};
    use crate::process::record::ProcessId;

    fn node(began: Millis) -> JobNode {
        JobNode {
            id: JobId(1),
            call: CallId::new("c1"),
            command: "make".into(),
            cwd: "/p".into(),
            by: Starter::Model,
            hidden: false,
            terminal: false,
            after: None,
            began,
        }
    }

    #[test]
    fn a_lost_job_lived_until_its_last_sign_of_life_and_no_longer() {
        let dir = tempfile::tempdir().unwrap();
        let wrote = Millis(1_700_000_000_000);
        let file = std::fs::File::create(dir.path().join(OUTPUT_FILE)).unwrap();
        file.set_modified(UNIX_EPOCH + std::time::Duration::from_millis(wrote.0)).unwrap();
        let at = |began| lost_in(dir.path(), &node(began), "");
        let found = at(Millis(wrote.0 - 41_000));
        assert_eq!((found.ended, found.lasted()), (wrote, Some(Millis(41_000))));
        // the start itself says nothing of how long it ran
        let silent = at(Millis(wrote.0 - 20));
        assert_eq!((silent.ended, silent.lasted()), (Millis(wrote.0 - 20), None));
        assert_eq!(at(Millis(wrote.0 + 5)).lasted(), None, "files from before it");
        // a program that saw it go knows
        let seen = LostRecord {
            version: 1,
            ended: Millis(wrote.0 + 500),
            process: ProcessId { pid: 7, start: 7 },
            lines: 3,
            survivors: Vec::new(),
        };
        crate::process::record::write_whole(dir.path(), LOST_FILE, &seen).unwrap();
        assert_eq!((at(wrote).lasted(), at(wrote).lines, pid(dir.path())), (Some(Millis(500)), 3, 7));
    }
}
