//! A merge program of the person's: it gets the three versions as files, and what it writes is the result.
//!
//! `$BASE`, `$LOCAL` (the parent's) and `$REMOTE` (the child's) are there to be read; `$MERGED` begins with the merge as
//! far as it goes by itself, with markers at what is open, as git gives it.
//!
//! It has this terminal while it runs. Where we are told to end, it ends with all that it started, and nothing is written.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::front::jobs::{Refused, failed};
use crate::law::hand_back::tree::TreePath;
use crate::law::merge::markers;
use crate::law::merge::regions::Side;
use crate::law::merge::resolution::Resolution;
use crate::process::foreground::{Ran, until_its_end};
use crate::store::private;

/// Runs it in this terminal; what it wrote.
pub fn run(command: &str, path: &TreePath, merge: &Resolution) -> Result<Vec<u8>, Refused> {
    let unready =
        |error: &dyn std::fmt::Display| failed(format!("the files for {command} cannot be written: {error}"));
    let dir =
        tempfile::Builder::new().prefix("windlass-merge-").tempdir().map_err(|error| unready(&error))?;
    let name = OsStr::from_bytes(path.name());
    let file = |part: &str, bytes: &[u8]| -> Result<PathBuf, Refused> {
        // the name stays whole: programs choose colours by it
        let at = dir.path().join(part);
        private::dir(&at)
            .and_then(|()| private::replace(&at.join(name), bytes))
            .map_err(|error| unready(&error))?;
        Ok(at.join(name))
    };
    let marked = markers::out(merge).text;
    let three = merge.three();
    let base = file("base", three.bytes(Side::Base))?;
    let local = file("local", three.bytes(Side::Parent))?;
    let remote = file("remote", three.bytes(Side::Child))?;
    let merged = file("merged", &marked)?;
    let files = [("BASE", &base), ("LOCAL", &local), ("REMOTE", &remote), ("MERGED", &merged)];
    let mut tool = Command::new("sh");
    tool.args(["-c", command]).envs(files);
    let ended = until_its_end(tool, &[b"MERGED=", merged.as_os_str().as_bytes()].concat());
    match ended.map_err(|error| failed(format!("{command} cannot be started: {error}")))? {
        Ran::Ended(status) if status.success() => {}
        Ran::Ended(status) => {
            return Err(failed(format!("{command} ended with {status}; {path} is as it was")));
        }
        Ran::Told(signal) => {
            let why = format!("{command} was ended, for {signal} came; {path} is as it was");
            return Err(Refused { why, code: u8::try_from(128 + signal as i32).unwrap_or(1) });
        }
    }
    let result = what_it_wrote(&merged).map_err(|error| {
        failed(format!("what {command} wrote cannot be read: {error}; {path} is as it was"))
    })?;
    let mut read = merge.clone();
    match markers::back(&mut read, &result) {
        Err(left) => {
            Err(failed(format!("{command} left markers in line {}; {path} is as it was", left.line)))
        }
        Ok(()) if !read.is_decided() => {
            Err(failed(format!("{command} left a conflict as it was, so {path} is as it was")))
        }
        Ok(()) => Ok(result),
    }
}

/// The bytes of a file, whatever the program made of it.
fn what_it_wrote(merged: &Path) -> io::Result<Vec<u8>> {
    // without NONBLOCK, a FIFO in its place would hold us up
    let flags = nix::fcntl::OFlag::O_NONBLOCK.bits();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(merged)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
