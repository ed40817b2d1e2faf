//! How a command's process is born, and what it does until exec: the only unsafe code of the program.
//!
//! It leads a session of its own (no terminal of ours can be reached, signals to a group of its own do
//! not reach the keeper), has no signal blocked, dies with its keeper, is in its cgroup before it can fork, and in its hold,
//! where it has one, before it runs anything.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::fcntl::OFlag;
use nix::libc;
use nix::sys::prctl::{set_no_new_privs, set_pdeathsig};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, getppid, pipe2, setsid};

use crate::process::inside::Entry;

/// A process is born in a cgroup of its own (a flag of `clone3` that does not fit the type of the others).
const CLONE_INTO_CGROUP: u64 = 1 << 33;

/// No kernel knows a capability beyond: they are the bits of this many.
const CAPABILITY_MAX: libc::c_ulong = 63;

/// What a command's process does before it becomes the command.
pub(super) struct Before {
    /// It dies with this one, which must be the calling process and have this one thread (the death signal is tied to the
    /// thread that forks).
    pub keeper: Pid,
    /// Whether its standard input is a terminal, which becomes the one of its session.
    pub terminal: bool,
    /// The cgroup that it enters first; one that does not let it in is passed by.
    pub entrance: Option<File>,
    /// The hold that it enters; one that does not let it in ends it.
    pub inside: Option<Entry>,
}

impl Before {
    /// Has it done: the command leads its own session, with no signal blocked, and dies with its keeper.
    pub fn done_by(self, command: &mut Command) {
        let Before { keeper, terminal, entrance, inside } = self;
        let prepare = move || {
            if let Some(entrance) = &entrance {
                let _ = nix::unistd::write(entrance, b"0");
            }
            if let Some(inside) = &inside {
                enter(inside)?;
            }
            setsid()?;
            if terminal {
                // SAFETY: one system call on a descriptor by its number, with a plain number as argument.
                let taken = unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) };
                if taken != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            // the keeper reads its signals from a descriptor and blocks them; a mask outlives an exec
            SigSet::empty().thread_set_mask()?;
            // after the hold: who changes what it may do loses this
            set_pdeathsig(Signal::SIGKILL)?;
            // it died before the line above took hold
            if getppid() != keeper {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            Ok(())
        };
        // SAFETY: between fork and exec only async-signal-safe things may be done: these are system calls without
        // allocation, locks or library state, and errors made of plain numbers.
        unsafe {
            command.pre_exec(prepare);
        }
    }
}

/// Enters a hold for good, with no rights in it that the person has not outside, and begins in its directory. When
/// that is not the copy, the process must not become a command.
fn enter(inside: &Entry) -> io::Result<()> {
    for (namespace, kind) in [(&inside.user, libc::CLONE_NEWUSER), (&inside.mounts, libc::CLONE_NEWNS)] {
        // SAFETY: one system call on an open descriptor, with a plain number as argument.
        if unsafe { libc::setns(namespace.as_raw_fd(), kind) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // who enters a user namespace has every right in it: none outlives the exec, not even root's
    for capability in 0..=CAPABILITY_MAX {
        // SAFETY: one system call with plain numbers. One that this kernel does not know is none to be dropped.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    set_no_new_privs()?;
    nix::unistd::chdir(inside.top.as_c_str())?;
    let found = nix::sys::stat::stat(c".")?;
    if (found.st_dev, found.st_ino) == inside.place {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::ESTALE))
    }
}

/// What came of a birth in a cgroup.
pub(super) enum Born {
    /// The process.
    Yes(i32),
    /// It was born and could not become the command.
    Failed(io::Error),
    /// Nobody can be born in this group.
    NotThere(io::Error),
}

/// Starts the command as a child that is born in this cgroup (v2): there is no moment in which it could fork outside
/// of it, and no move, for which the system would wait several milliseconds. The calling process must have one
/// thread.
pub(super) fn spawn_into(command: &mut Command, group: BorrowedFd<'_>) -> Born {
    let (reader, writer) = match pipe2(OFlag::O_CLOEXEC) {
        Ok(ends) => ends,
        Err(error) => return Born::NotThere(error.into()),
    };
    let arguments = libc::clone_args {
        flags: CLONE_INTO_CGROUP,
        pidfd: 0,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: libc::SIGCHLD as u64,
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: group.as_raw_fd() as u64,
    };
    // SAFETY: without flags that share anything this is fork: the child has its own copy of all memory. The caller
    // has one thread, so no lock and no allocation is halfway in that copy. The argument outlives the call.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone3, &raw const arguments, std::mem::size_of::<libc::clone_args>())
    };
    match pid {
        -1 => Born::NotThere(io::Error::last_os_error()),
        0 => {
            // returns only when it fails
            let error = command.exec();
            let number = error.raw_os_error().unwrap_or(libc::EINVAL);
            let _ = File::from(writer).write_all(&number.to_ne_bytes());
            // SAFETY: ends this process at once; what its copy of the keeper holds is not cleaned up twice.
            unsafe { libc::_exit(127) }
        }
        _ => {
            drop(writer);
            let pid = pid as i32;
            let mut number = [0; 4];
            // the end that exec closes: nothing comes when the command runs
            match File::from(reader).read_exact(&mut number) {
                Ok(()) => {
                    let _ = waitpid(Pid::from_raw(pid), None);
                    Born::Failed(io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
                }
                Err(_) => Born::Yes(pid),
            }
        }
    }
}
