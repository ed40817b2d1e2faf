//! Waiting for a program of the person's (editor, pager) that has the terminal, while our own end may be asked
//! for: then it is ended first.

use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::link::Leave;

/// How long one look for our own end may take; the child's end cuts it short.
const LOOK_MS: u32 = 250;
/// How long a program that was asked to end has for it.
const GRACE: Duration = Duration::from_secs(1);

/// Waits for its end. When `leave` says so, it and what it started are asked to end, and then made to.
pub fn wait(mut child: Child, leave: Leave<'_>) -> std::io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if leave(LOOK_MS) {
            return end(child);
        }
    }
}

fn end(mut child: Child) -> std::io::Result<ExitStatus> {
    for pid in tree(child.id()) {
        // an editor keeps what it has when it is hung up on; one that is gone already is no matter
        let _ = kill(pid, Signal::SIGHUP);
        let _ = kill(pid, Signal::SIGTERM);
    }
    let until = Instant::now() + GRACE;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    for pid in tree(child.id()) {
        let _ = kill(pid, Signal::SIGKILL);
    }
    child.wait()
}

/// The process and all that descend from it. Only while it is not reaped: its number is its own.
fn tree(root: u32) -> Vec<Pid> {
    let mut all = vec![root];
    let mut at = 0;
    while let Some(pid) = all.get(at) {
        let children =
            std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        all.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        at += 1;
    }
    all.into_iter().filter_map(|pid| i32::try_from(pid).ok()).map(Pid::from_raw).collect()
}
