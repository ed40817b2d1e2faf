//! The terminal that a job is attached to: raw, in a screen of its own, and as it was before on every way out. One
//! guard; a panic clears the modes before it is printed.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, Once, PoisonError};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use crate::api::screen::Size;

/// What leads into the other screen.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[m\x1b[2J\x1b[H";
/// What leads out of it, and out of every mode that may be set.
const LEAVE: &[u8] =
    b"\x1b[m\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?9l\x1b[?1006l\x1b[?1005l\x1b[?2004l\x1b>\x1b[?1l\
    \x1b[?1049l\x1b[?25h";

/// The modes before; none while they are as they were.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// Whether input and output are a terminal.
pub fn there() -> bool {
    isatty(io::stdin()) && isatty(io::stdout())
}

/// The guard. Dropping it leaves the terminal as it was.
pub struct Raw(());

impl Raw {
    /// Sets the modes.
    pub fn enter() -> io::Result<Self> {
        HOOK.call_once(|| {
            let default = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                leave();
                default(info);
            }));
        });
        let mut guard = Self(());
        guard.again()?;
        Ok(guard)
    }

    /// Sets them again, whatever has become of them.
    pub fn again(&mut self) -> io::Result<()> {
        let mut raw = {
            let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
            match &*before {
                Some(modes) => modes.clone(),
                None => before.insert(tcgetattr(io::stdin())?).clone(),
            }
        };
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        write(ENTER)
    }

    /// Leaves the terminal to others for a while.
    pub fn pause(&mut self) {
        leave();
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        leave();
    }
}

fn leave() {
    let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
    // a terminal that is gone needs nothing
    let _ = write(LEAVE);
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
}

/// Writes to it, all of it, also where somebody made it one that does not wait.
pub fn write(bytes: &[u8]) -> io::Result<()> {
    let out = io::stdout();
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(&out, rest) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                poll(&mut [PollFd::new(out.as_fd(), PollFlags::POLLOUT)], PollTimeout::NONE)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Its size; 80×24 when it does not tell.
pub fn size() -> Size {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Size { rows: size.ws_row, cols: size.ws_col },
        _ => Size::default(),
    }
}

/// The signals of this process, as bytes in a socket.
pub struct Signals(SignalDelivery<UnixStream, SignalOnly>);

impl Signals {
    /// Listens to those that concern a terminal.
    pub fn listen() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        let all = [SIGWINCH, SIGCONT, SIGTSTP, SIGINT, SIGTERM, SIGQUIT, SIGHUP];
        SignalDelivery::with_pipe(read, write, SignalOnly, all).map(Self)
    }
    /// What to wait for.
    pub fn fd(&self) -> impl AsFd + '_ {
        self.0.get_read()
    }
    /// Those that came.
    pub fn take(&mut self) -> Vec<i32> {
        self.0.pending().collect()
    }
}
