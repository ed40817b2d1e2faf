//! What a command's directory tells of it when its keeper is gone: the recorded end, or none, and its output as far
//! as it was spooled.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::base::Millis;
use crate::law::job::End;
use crate::law::output::{Bounded, Kept, Truncation};
use crate::process::record::{
    END_FILE, KEEPER_FILE, KeeperRecord, OUTPUT_FILE, ProcessId, RECORD_VERSION, Record, read,
};

/// Bytes of the spool that are read at once.
const PIECE: usize = 256 * 1024;

/// The spool's content, bounded.
pub(super) fn spooled(dir: &Path, truncation: Truncation) -> Kept {
    read_bounded(&dir.join(OUTPUT_FILE), truncation)
}

/// What a file holds now, bounded: read in pieces, for it may be far larger than its bound. Nothing where there
/// is none. Blocking.
pub fn read_bounded(file: &Path, truncation: Truncation) -> Kept {
    let mut bounded = Bounded::new(truncation);
    if let Ok(mut file) = File::open(file) {
        let mut buffer = vec![0; PIECE];
        while let Ok(count) = file.read(&mut buffer) {
            if count == 0 {
                break;
            }
            bounded.push(&buffer[..count]);
        }
    }
    bounded.finish()
}

/// What a command's directory tells of its end when its keeper is gone: the recorded end, or *lost*, with
/// the output as far as it was spooled. For a keeper that was killed, and for recovery.
pub(super) fn found(dir: &Path, process: &ProcessId, truncation: Truncation) -> (Record, Kept) {
    if let Ok(Some(record)) = read::<Record>(dir, END_FILE) {
        let kept = spooled(dir, truncation);
        return (record, kept);
    }
    let keeper = read::<KeeperRecord>(dir, KEEPER_FILE).ok().flatten();
    let size = std::fs::metadata(dir.join(OUTPUT_FILE)).map_or(0, |data| data.len());
    let kept = spooled(dir, truncation);
    let began = keeper.map_or(Millis(0), |keeper| keeper.began);
    let record = Record {
        version: RECORD_VERSION,
        end: End::Lost,
        exit_code: None,
        exit_signal: None,
        process: process.clone(),
        began,
        ended: began,
        bytes: size,
        lines: kept.lines,
        spooled: size,
        kept: kept.kept,
        dropped: kept.dropped,
        gone: 0,
        survivors: Vec::new(),
        left: Vec::new(),
        trouble: None,
    };
    (record, kept)
}
