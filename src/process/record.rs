//! What a command's directory tells: who watched it, how it ended, and all of its output.
//!
//! The directory is made (0700) before the launch, by the program. Its keeper writes the rest (0600):
//! `keeper.json` before the command starts, `output` while it runs, `end.json` once at its end,
//! `left` and `left.json` about processes that outlived it; `lost.json` is the program's. A directory with `keeper.json` and without
//! `end.json` is of a command that runs, or whose keeper was lost.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use crate::api::job::LEFT_OUTPUT_FILE;
use crate::base::Millis;
use crate::law::job::{By, End};
use crate::process::cgroup::GroupRecord;

/// Format of the files here.
pub const RECORD_VERSION: u32 = 1;
/// Who keeps the command.
pub const KEEPER_FILE: &str = "keeper.json";
/// Every byte of output before the end.
pub const OUTPUT_FILE: &str = "output";
/// Where the keeper is spoken to.
pub const SOCKET_FILE: &str = "socket";
/// The end.
pub const END_FILE: &str = "end.json";
/// What became of them.
pub const LEFT_FILE: &str = "left.json";
/// When a program saw that the keeper had gone without a record.
pub const LOST_FILE: &str = "lost.json";
/// A command too long for an argument.
pub const SCRIPT_FILE: &str = "command.sh";

/// A process, so that no later one with its number is taken for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number.
    pub pid: i32,
    /// Its start, in clock ticks since the boot.
    pub start: u64,
}

/// A process with its name, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Which.
    #[serde(flatten)]
    pub id: ProcessId,
    /// Its command line, bounded; its short name in brackets where it has none.
    pub command: String,
}

impl Named {
    /// `pid command`.
    pub fn words(&self) -> String {
        format!("{} {}", self.id.pid, self.command)
    }
}

/// Who keeps a command, written before it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeeperRecord {
    /// `RECORD_VERSION`.
    pub version: u32,
    /// The keeper.
    pub keeper: ProcessId,
    /// The boot that the ticks count from.
    pub boot: String,
    /// When it was asked to start the command.
    pub began: Millis,
    /// Whether the command goes on when the program goes.
    #[serde(default)]
    pub kept: bool,
    /// The cgroup that the command's processes are in, where one could be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupRecord>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_group: Option<String>,
}

/// The end of a command: written once, never changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// `RECORD_VERSION`.
    pub version: u32,
    /// Who and why.
    #[serde(flatten)]
    pub end: End,
    /// The code that its own process ended with, if it ended so; also after a kill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that its own process died of, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<i32>,
    /// Its own process.
    pub process: ProcessId,
    /// When it began.
    pub began: Millis,
    /// When it ended.
    pub ended: Millis,
    /// Bytes of output before the end.
    pub bytes: u64,
    /// Lines of output before the end.
    pub lines: u64,
    /// Bytes of these that stand in `output`; fewer than `bytes` only past the spool's limit.
    pub spooled: u64,
    /// Bytes that the bounded view kept.
    pub kept: u64,
    /// Bytes that it dropped.
    pub dropped: u64,
    /// Processes that a kill asked to end.
    #[serde(default)]
    pub gone: u32,
    /// Processes of its tree that could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<Named>,
    /// Processes of its tree that lived on when it ended by itself; the keeper watches them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Named>,
    /// What went wrong beside the command, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// What became of processes that outlived their command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftRecord {
    /// `RECORD_VERSION`.
    pub version: u32,
    /// Who ended them; none: they ended by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// When the last one ended, or the keeper gave up.
    pub ended: Millis,
    /// Bytes of output after the command's end.
    pub bytes: u64,
    /// Processes that a kill asked to end.
    #[serde(default)]
    pub gone: u32,
    /// Those that could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<Named>,
}

/// The keeper of a command went without a record, while a program looked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostRecord {
    /// `RECORD_VERSION`.
    pub version: u32,
    /// When that was seen.
    pub ended: Millis,
    /// The command's own process.
    pub process: ProcessId,
    /// Lines of output that were told before.
    pub lines: u64,
    /// Processes of its tree that could not be ended then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<Named>,
}

/// Makes a command's directory, 0700 from its first moment, and its parents so too.
pub fn make_dir(dir: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Writes a file of a command's directory: 0600, whole or not at all.
pub fn write_whole<T: Serialize>(dir: &Path, name: &str, value: &T) -> io::Result<()> {
    let temporary = dir.join(format!("{name}.new"));
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(&bytes)?;
    std::fs::rename(&temporary, dir.join(name))
}

/// Reads a file of a command's directory; none when there is none.
pub fn read<T: for<'a> Deserialize<'a>>(dir: &Path, name: &str) -> io::Result<Option<T>> {
    match std::fs::read(dir.join(name)) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes what a command's directory holds, and the directory when it is empty then: for a command
/// whose settle is committed and names no artifact. A command that is not over keeps its directory.
pub fn forget(dir: &Path) -> io::Result<()> {
    let Some(record) = read::<Record>(dir, END_FILE)? else { return Ok(()) };
    if !record.left.is_empty() && read::<LeftRecord>(dir, LEFT_FILE)?.is_none() {
        return Ok(());
    }
    for name in [SOCKET_FILE, OUTPUT_FILE, SCRIPT_FILE, LEFT_OUTPUT_FILE, LEFT_FILE, KEEPER_FILE, END_FILE] {
        match std::fs::remove_file(dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    match std::fs::remove_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        done => done,
    }
}
