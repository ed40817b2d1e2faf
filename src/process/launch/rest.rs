//! What is left of a command whose keeper is gone: found by its cgroup, and by a mark that its processes carry.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::adopt::boot;
use crate::process::cgroup;
use crate::process::record::{KEEPER_FILE, KeeperRecord, Named, read};
use crate::process::tree;

/// The variable that a command's processes carry: its own directory. By it they are found when their keeper
/// is gone.
pub const MARK: &str = "WINDLASS_COMMAND";

/// Ends what lives of a command whose program and keeper are both gone; nothing while its keeper lives, which
/// does that itself. Blocking.
pub fn end_left_over(dir: &Path) {
    let Ok(Some(record)) = read::<KeeperRecord>(dir, KEEPER_FILE) else { return };
    let keeper = record.keeper;
    // after another boot the number may be anyone's: then nothing carries the mark, and none is hit
    if tree::seen(keeper.pid).is_none_or(|seen| seen.id != keeper || seen.ended()) {
        end_rest(dir);
    }
}

/// Ends what lives of a command whose keeper is gone; those that live on all the same. Blocking, for at most about
/// two seconds.
pub(super) fn end_rest(dir: &Path) -> Vec<Named> {
    let record = read::<KeeperRecord>(dir, KEEPER_FILE).ok().flatten();
    let mut living = Vec::new();
    if let Some(KeeperRecord { keeper, boot: then, group: Some(group), .. }) = record
        && then == boot()
    {
        living = cgroup::end_left_over(&group, &keeper);
    }
    for left in tree::end_marked(&marked_by(dir)) {
        if !living.contains(&left) {
            living.push(left);
        }
    }
    living
}

/// The entry of the environment that the processes of a command carry.
fn marked_by(dir: &Path) -> Vec<u8> {
    [MARK.as_bytes(), b"=", dir.as_os_str().as_bytes()].concat()
}
