//! Signals, as bytes in a socket that the screen's `poll` watches.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};

/// A signal that the screen listens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The window changed.
    Resize,
    /// The program was continued.
    Continue,
    /// It is asked to stop for a while.
    Stop,
    /// Interrupted from outside.
    Interrupt,
    /// Asked to end.
    Terminate,
    /// Asked to end by a terminal's quit key, or from outside.
    Quit,
    /// The terminal went away.
    HangUp,
}

const ALL: [(i32, Signal); 7] = [
    (SIGWINCH, Signal::Resize),
    (SIGCONT, Signal::Continue),
    (SIGTSTP, Signal::Stop),
    (SIGINT, Signal::Interrupt),
    (SIGTERM, Signal::Terminate),
    (SIGQUIT, Signal::Quit),
    (SIGHUP, Signal::HangUp),
];

/// The signals of the process, for as long as it lives.
pub struct Signals {
    read: UnixStream,
    write: UnixStream,
    came: Vec<(Signal, Arc<AtomicBool>)>,
    ids: Vec<SigId>,
}

impl Signals {
    /// Listens to all of them.
    pub fn listen() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        read.set_nonblocking(true)?;
        let mut signals = Self { read, write, came: Vec::new(), ids: Vec::new() };
        for (number, signal) in ALL {
            let flag = Arc::new(AtomicBool::new(false));
            signals.ids.push(signal_hook::flag::register(number, flag.clone())?);
            signals.ids.push(signal_hook::low_level::pipe::register(number, signals.write.try_clone()?)?);
            signals.came.push((signal, flag));
        }
        Ok(signals)
    }
    /// While `during` runs, the end of a child wakes a wait for signals, too.
    pub fn with_children<T>(&self, during: impl FnOnce() -> T) -> T {
        let write = self.write.try_clone().ok();
        let id = write.and_then(|write| signal_hook::low_level::pipe::register(SIGCHLD, write).ok());
        let out = during();
        if let Some(id) = id {
            signal_hook::low_level::unregister(id);
        }
        out
    }
    /// Waits for a signal, or for the end of a child, or until `ms` are over; what came.
    pub fn wait(&self, ms: u32) -> Vec<Signal> {
        let mut fds = [PollFd::new(&self.read, PollFlags::IN)];
        let ms = Timespec { tv_sec: i64::from(ms / 1000), tv_nsec: i64::from(ms % 1000) * 1_000_000 };
        let _ = poll(&mut fds, Some(&ms));
        self.take()
    }
    /// Those that came since the last look.
    pub fn take(&self) -> Vec<Signal> {
        let mut bytes = [0u8; 64];
        while matches!(rustix::io::read(&self.read, &mut bytes), Ok(n) if n > 0) {}
        self.came.iter().filter(|(_, flag)| flag.swap(false, Ordering::AcqRel)).map(|(s, _)| *s).collect()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}
