//! What wakes the screen's `poll`: an event descriptor. Many wakes before one look are one wake.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, eventfd};

use crate::link::Wake;

/// The end that the screen polls.
pub struct WakeEnd {
    fd: Arc<OwnedFd>,
    pending: Arc<AtomicBool>,
}

impl WakeEnd {
    /// A wake that came is taken: the next one wakes anew.
    pub fn take(&self) -> bool {
        let mut count = [0u8; 8];
        let _ = rustix::io::read(&*self.fd, &mut count);
        self.pending.swap(false, Ordering::AcqRel)
    }
    /// Like `take`, without a system call when none came.
    pub fn take_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire) && self.take()
    }
}

impl AsFd for WakeEnd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Both ends: the screen's, and the function that the engine calls.
pub fn wake_pair() -> std::io::Result<(WakeEnd, Wake)> {
    let fd = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let pending = Arc::new(AtomicBool::new(false));
    let end = WakeEnd { fd: fd.clone(), pending: pending.clone() };
    let wake: Wake = Arc::new(move || {
        if !pending.swap(true, Ordering::AcqRel) {
            let _ = rustix::io::write(&*fd, &1u64.to_ne_bytes());
        }
    });
    Ok((end, wake))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_wakes_are_one_and_none_is_lost() {
        let (end, wake) = wake_pair().expect("an event descriptor");
        wake();
        wake();
        assert!(end.take());
        assert!(!end.take());
        wake();
        assert!(end.take());
    }
}
