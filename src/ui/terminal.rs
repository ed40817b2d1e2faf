//! The terminal: one guard sets its modes and clears them again, on every way out.
//!
//! It opens the controlling terminal anew, so that making it non-blocking touches no one else. A
//! panic on the screen's thread clears the modes first and is printed then; one on another thread
//! is kept and printed after the screen has left.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::ThreadId;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};

/// Why the screen could not start.
#[derive(Debug, thiserror::Error)]
pub enum UiError {
    /// There is no terminal.
    #[error("no terminal to draw on: run it in a terminal, or use `windlass exec`")]
    NoTerminal(#[source] std::io::Error),
    /// The terminal's modes could not be set.
    #[error("could not set the terminal's modes")]
    Modes(#[source] std::io::Error),
    /// The program's signals or wake could not be set up.
    #[error("could not set up the screen's signals")]
    Signals(#[source] std::io::Error),
}

/// What is wanted of the terminal.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Mouse reports.
    pub mouse: bool,
    /// Speak modifyOtherKeys (tmux and xterm).
    pub other_keys: bool,
    /// Tell Alt by an ESC (xterm, which else makes another letter of it).
    pub alt_escapes: bool,
    /// Ask what ground it draws on, and to be told when that changes; the answers come as replies, or never.
    pub ask_ground: bool,
    /// Ask whether it tells of its focus.
    pub ask_focus: bool,
    /// Its title is set.
    pub title: bool,
}

/// What must be undone.
struct Modes {
    fd: Arc<OwnedFd>,
    saved: Termios,
    leave: Vec<u8>,
    thread: ThreadId,
}

static ACTIVE: Mutex<Option<Modes>> = Mutex::new(None);
static KEPT: Mutex<Vec<String>> = Mutex::new(Vec::new());
static HOOK: Once = Once::new();

/// The guard. Dropping it leaves the terminal clean.
pub struct Terminal {
    fd: Arc<OwnedFd>,
    wanted: Wanted,
    /// Bytes that the terminal has not taken yet.
    backlog: Vec<u8>,
}

/// What a read brought.
#[derive(Debug, PartialEq, Eq)]
pub enum Got {
    /// So many bytes.
    Bytes(usize),
    /// Nothing now.
    Nothing,
    /// The terminal is gone.
    Gone,
}

impl Terminal {
    /// Opens the terminal and sets its modes.
    pub fn enter(wanted: Wanted) -> Result<Self, UiError> {
        let fd = Arc::new(open().map_err(UiError::NoTerminal)?);
        install_hook();
        let mut terminal = Self { fd, wanted, backlog: Vec::new() };
        terminal.resume()?;
        Ok(terminal)
    }

    /// Opens the terminal and leaves it as it is: in its own line mode.
    pub fn plain() -> Result<Self, UiError> {
        let fd = Arc::new(open().map_err(UiError::NoTerminal)?);
        Ok(Self { fd, wanted: Wanted::default(), backlog: Vec::new() })
    }

    /// Lets the terminal show what is typed, or not. Of one that was opened plain.
    pub fn echo(&self, shows: bool) {
        if let Ok(mut modes) = tcgetattr(&*self.fd)
            && modes.local_modes.contains(LocalModes::ECHO) != shows
        {
            modes.local_modes.set(LocalModes::ECHO, shows);
            let _ = tcsetattr(&*self.fd, OptionalActions::Now, &modes);
        }
    }

    /// Sets the modes (again).
    pub fn resume(&mut self) -> Result<(), UiError> {
        let mut active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
        // stopped and continued behind our back: what is to be restored is what we saved then
        let before = active.take();
        let still_set = before.is_some();
        let saved = match before {
            Some(modes) => modes.saved,
            None => tcgetattr(&*self.fd).map_err(|e| UiError::Modes(e.into()))?,
        };
        let mut raw = saved.clone();
        raw.make_raw();
        *active = Some(Modes {
            fd: self.fd.clone(),
            saved,
            leave: leave_bytes(&self.wanted),
            thread: std::thread::current().id(),
        });
        drop(active);
        if let Err(error) = tcsetattr(&*self.fd, OptionalActions::Now, &raw) {
            leave_now();
            return Err(UiError::Modes(error.into()));
        }
        self.backlog.clear();
        let mut enter = if still_set { leave_bytes(&self.wanted) } else { Vec::new() };
        enter.extend(enter_bytes(&self.wanted));
        self.write(&enter);
        Ok(())
    }

    /// Stops or resumes mouse reports, where they are wanted: without them the terminal selects by itself.
    pub fn mouse(&mut self, reports: bool) {
        if self.wanted.mouse {
            let last = if reports { 'h' } else { 'l' };
            self.write(format!("\x1b[?1002{last}\x1b[?1006{last}").as_bytes());
        }
    }

    /// Asks again what ground it draws on, where that was asked at first.
    pub fn ask_ground(&mut self) {
        if self.wanted.ask_ground {
            self.write(ASK_GROUND);
        }
    }

    /// Clears the modes for a while, so that another program can have the terminal.
    pub fn pause(&mut self) {
        self.backlog.clear();
        leave_now();
    }

    /// Columns and rows; 80×24 when the terminal does not tell.
    pub fn size(&self) -> (u16, u16) {
        match tcgetwinsize(&*self.fd) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
            _ => (80, 24),
        }
    }

    /// Reads what is there; never waits.
    pub fn read(&self, bytes: &mut [u8]) -> Got {
        match rustix::io::read(&*self.fd, bytes) {
            Ok(0) => Got::Gone,
            Ok(n) => Got::Bytes(n),
            Err(Errno::AGAIN | Errno::INTR) => Got::Nothing,
            Err(_) => Got::Gone,
        }
    }

    /// Writes; never waits. What the terminal does not take is kept for `flush`.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.backlog.is_empty() {
            let taken = rustix::io::write(&*self.fd, bytes).unwrap_or(0);
            self.backlog.extend_from_slice(&bytes[taken..]);
        } else {
            self.backlog.extend_from_slice(bytes);
        }
    }

    /// Goes on with what was kept; whether all is written.
    pub fn flush(&mut self) -> bool {
        while !self.backlog.is_empty() {
            match rustix::io::write(&*self.fd, &self.backlog) {
                Ok(n) if n > 0 => {
                    self.backlog.drain(..n);
                }
                Err(Errno::INTR) => {}
                _ => return false,
            }
        }
        true
    }

    /// Whether all is written.
    pub fn flushed(&self) -> bool {
        self.backlog.is_empty()
    }
}

impl AsFd for Terminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        leave_now();
        for text in KEPT.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = rustix::io::write(std::io::stderr(), text.as_bytes());
        }
    }
}

fn open() -> std::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match rustix::fs::open("/dev/tty", flags, Mode::empty()) {
        Ok(fd) => Ok(fd),
        Err(error) => {
            let stdin = std::io::stdin();
            if !isatty(&stdin) {
                return Err(error.into());
            }
            let name = rustix::termios::ttyname(&stdin, Vec::new())?;
            Ok(rustix::fs::open(&*name, flags, Mode::empty())?)
        }
    }
}

/// Asks what ground the terminal draws on.
const ASK_GROUND: &[u8] = b"\x1b]11;?\x1b\\";

/// What sets the modes.
fn enter_bytes(wanted: &Wanted) -> Vec<u8> {
    let mut out = b"\x1b[?1049h\x1b[?25l\x1b[22;0t\x1b[?2004h\x1b[?1004h\x1b[>1u".to_vec();
    if wanted.other_keys {
        out.extend_from_slice(b"\x1b[>4;1m");
    }
    if wanted.alt_escapes {
        // what it was is kept by the terminal
        out.extend_from_slice(b"\x1b[?1036;1039s\x1b[?1036;1039h");
    }
    if wanted.mouse {
        out.extend_from_slice(b"\x1b[?1002h\x1b[?1006h");
    }
    if wanted.ask_ground {
        out.extend_from_slice(b"\x1b[?2031h");
        out.extend_from_slice(ASK_GROUND);
    }
    if wanted.ask_focus {
        out.extend_from_slice(b"\x1b[?1004$p");
    }
    out
}

/// What clears them, in the opposite order. All of it is harmless where a mode was not set.
fn leave_bytes(wanted: &Wanted) -> Vec<u8> {
    let mut out = b"\x1b[?2026l\x1b[m".to_vec();
    if wanted.mouse {
        out.extend_from_slice(b"\x1b[?1006l\x1b[?1002l");
    }
    if wanted.alt_escapes {
        out.extend_from_slice(b"\x1b[?1036;1039r");
    }
    if wanted.other_keys {
        out.extend_from_slice(b"\x1b[>4;0m");
    }
    if wanted.ask_ground {
        out.extend_from_slice(b"\x1b[?2031l");
    }
    if wanted.title {
        // where titles are not kept, none is better than ours
        out.extend_from_slice(b"\x1b]2;\x07");
    }
    out.extend_from_slice(b"\x1b[<u\x1b[?1004l\x1b[?2004l\x1b[23;0t\x1b[?1049l\x1b[?25h");
    out
}

/// Clears the modes if they are set. What the terminal still sends is dropped with them.
fn leave_now() {
    let Some(modes) = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
    let mut rest: &[u8] = &modes.leave;
    // a terminal that takes nothing for a second is not waited for
    while !rest.is_empty() {
        match rustix::io::write(&*modes.fd, rest) {
            Ok(n) => rest = &rest[n..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut fds = [PollFd::new(&*modes.fd, PollFlags::OUT)];
                let second = Timespec { tv_sec: 1, tv_nsec: 0 };
                if !matches!(poll(&mut fds, Some(&second)), Ok(1..)) {
                    break;
                }
            }
            Err(_) => break,
        }
    }
    let _ = tcsetattr(&*modes.fd, OptionalActions::Flush, &modes.saved);
}

fn install_hook() {
    HOOK.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let owner =
                ACTIVE.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|modes| modes.thread);
            match owner {
                Some(thread) if thread != std::thread::current().id() => {
                    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{info}\n"));
                }
                Some(_) => {
                    leave_now();
                    default(info);
                }
                None => default(info),
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_that_is_set_is_cleared() {
        for (mouse, other_keys) in [(false, false), (true, true)] {
            let wanted = Wanted {
                mouse,
                other_keys,
                alt_escapes: other_keys,
                ask_ground: mouse,
                ask_focus: false,
                title: mouse,
            };
            let enter = String::from_utf8(enter_bytes(&wanted)).expect("ascii");
            let leave = String::from_utf8(leave_bytes(&wanted)).expect("ascii");
            // what was saved is given back
            let saved = "\x1b[?1036;1039s\x1b[?1036;1039h";
            assert_eq!(enter.contains(saved), leave.contains("\x1b[?1036;1039r"));
            for part in enter.replace(saved, "").split('\x1b').filter(|p| p.starts_with("[?")) {
                let undone = if let Some(set) = part.strip_suffix('h') {
                    format!("\x1b{set}l")
                } else {
                    format!("\x1b{}h", part.trim_end_matches('l'))
                };
                assert!(leave.contains(&undone), "{part} is not undone");
            }
            assert_eq!(enter.contains("\x1b[>4;1m"), leave.contains("\x1b[>4;0m"));
            assert!(leave.contains("\x1b[<u"));
            assert_eq!(leave.contains("\x1b]2;\x07\x1b[<u"), mouse, "a title of ours is taken away");
        }
    }
}
