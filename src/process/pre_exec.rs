//! What a command's process does between fork and exec: the only unsafe code of the program.
//!
//! It leads a session of its own (no terminal of ours can be reached, signals to a group of its own do
//! not reach the keeper), has no signal blocked, and dies with its keeper.

#![allow(unsafe_code)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, getppid, setsid};

/// Makes the command lead its own session, with no signal blocked, and die with `keeper`, which must be the calling process and
/// have this one thread (the death signal is tied to the thread that forks).
///
/// With `terminal` its standard input is a terminal, which becomes the one of its session.
pub(super) fn lead_session_and_die_with(command: &mut Command, keeper: Pid, terminal: bool) {
    let prepare = move || {
        setsid()?;
        if terminal {
            // SAFETY: one system call on a descriptor by its number, with a plain number as argument.
            let taken = unsafe { nix::libc::ioctl(0, nix::libc::TIOCSCTTY, 0) };
            if taken != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        // the keeper reads its signals from a descriptor and blocks them; a mask outlives an exec
        SigSet::empty().thread_set_mask()?;
        set_pdeathsig(Signal::SIGKILL)?;
        // it died before the line above took hold
        if getppid() != keeper {
            return Err(io::Error::from_raw_os_error(nix::libc::ESRCH));
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe things may be done: these are five system
    // calls without allocation, locks or library state, and an error made of a plain number.
    unsafe {
        command.pre_exec(prepare);
    }
}
