//! The inside of a hold: the namespaces that a command enters before it begins.
//!
//! Not here: what is in them and who makes them (`sandbox::hold`), and the entering itself (`pre_exec`).

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::unistd::{dup2_stderr, dup2_stdout};

use crate::process::wire::{InsideLine, Text};

/// Namespaces that were made. They last for as long as this does, or a command in them.
#[derive(Debug)]
pub struct Inside {
    user: OwnedFd,
    mounts: OwnedFd,
    /// The directory that a command sees there.
    top: PathBuf,
    /// What that directory is: its device and inode.
    place: (u64, u64),
}

impl Inside {
    /// The namespaces of a process that lives; in them `top` is the directory `copy`.
    pub fn of(process: u32, top: &Path, copy: &Path) -> io::Result<Inside> {
        let open = |name: &str| File::open(format!("/proc/{process}/ns/{name}")).map(OwnedFd::from);
        let meta = std::fs::metadata(copy)?;
        let place = (meta.dev(), meta.ino());
        Ok(Inside { user: open("user")?, mounts: open("mnt")?, top: top.to_owned(), place })
    }

    /// Hands them to a keeper that is started: it has no other use for these two.
    pub(super) fn hand_over(&self, keeper: &mut Command) -> io::Result<()> {
        keeper.stdout(Stdio::from(self.user.try_clone()?)).stderr(Stdio::from(self.mounts.try_clone()?));
        Ok(())
    }

    /// What a keeper is told of them.
    pub(super) fn line(&self) -> InsideLine {
        InsideLine { top: Text::from(self.top.clone().into_os_string()), place: self.place }
    }
}

/// What a command needs to enter.
#[derive(Debug)]
pub(super) struct Entry {
    pub user: OwnedFd,
    pub mounts: OwnedFd,
    pub top: CString,
    pub place: (u64, u64),
}

impl Entry {
    /// Takes what was handed to this keeper, and puts nothing in its place.
    pub fn take(line: &InsideLine) -> io::Result<Entry> {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let entry = Entry {
            user: stdout.as_fd().try_clone_to_owned()?,
            mounts: stderr.as_fd().try_clone_to_owned()?,
            top: CString::new(PathBuf::from(line.top.clone()).as_os_str().as_bytes())?,
            place: line.place,
        };
        let nothing = File::options().write(true).open("/dev/null")?;
        dup2_stdout(&nothing)?;
        dup2_stderr(&nothing)?;
        Ok(entry)
    }
}
