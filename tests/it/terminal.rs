//! The *Process* harness: a program in a pseudo-terminal of its own, its bytes interpreted.
//!
//! `setsid` gives the program the pseudo-terminal as its controlling one. Every wait has a bound.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Most that any wait may take.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A program in a pseudo-terminal. Dropping it kills it.
pub struct Program {
    pub child: Child,
    pub master: File,
    pub terminal: vt100::Parser,
    /// All bytes that came.
    pub bytes: Vec<u8>,
    /// How many of them the terminal took: the beginning of a sign waits for its end.
    taken: usize,
}

/// A sign for what is no character. This terminal leaves it out; one that shows a sign takes a column for it.
const SIGN: &[u8] = "\u{fffd}".as_bytes();

/// The terminal takes these bytes, which end with no part of a sign.
pub fn show(terminal: &mut vt100::Parser, mut bytes: &[u8]) {
    while let Some(at) = bytes.windows(SIGN.len()).position(|part| part == SIGN) {
        terminal.process(&bytes[..at]);
        terminal.process("¿".as_bytes());
        bytes = &bytes[at + SIGN.len()..];
    }
    terminal.process(bytes);
}

impl Program {
    /// Starts a command, given as program, arguments, environment and directory, at 120×40.
    pub fn start(command: &Command) -> Self {
        Self::sized(command, 120, 40)
    }
    /// Starts it at this size.
    pub fn sized(command: &Command, columns: u16, rows: u16) -> Self {
        let size = nix::pty::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = nix::pty::openpty(Some(&size), None).unwrap();
        for fd in [&pty.master, &pty.slave] {
            // another test's child must not hold this terminal open
            nix::fcntl::fcntl(fd, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC)).unwrap();
        }
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
        let mut starts = Command::new("setsid");
        starts.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
        if command.get_envs().any(|(name, _)| name == "HOME") {
            // a home of its own: nothing of the person's environment
            starts.env_clear();
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => starts.env(name, value),
                None => starts.env_remove(name),
            };
        }
        if let Some(dir) = command.get_current_dir() {
            starts.current_dir(dir);
        }
        let child =
            starts.stdin(end(&pty.slave)).stdout(end(&pty.slave)).stderr(end(&pty.slave)).spawn().unwrap();
        let terminal = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        Self { child, master: File::from(pty.master), terminal, bytes: Vec::new(), taken: 0 }
    }
    /// Reads for at most `wait`, and on to the end of a frame that has begun; how many bytes came.
    pub fn read(&mut self, wait: Duration) -> usize {
        let mut came = self.read_once(wait);
        let end = Instant::now() + PATIENCE;
        while came > 0 && self.torn() && Instant::now() < end {
            came += self.read_once(Duration::from_millis(20));
        }
        came
    }
    /// Whether a frame has begun and has not ended.
    fn torn(&self) -> bool {
        let last = |mark: &[u8]| self.bytes.windows(mark.len()).rposition(|bytes| bytes == mark);
        last(b"\x1b[?2026h") > last(b"\x1b[?2026l")
    }
    fn read_once(&mut self, wait: Duration) -> usize {
        let mut fds = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        let ms = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
        if poll(&mut fds, ms).unwrap_or(0) == 0 {
            return 0;
        }
        let mut buffer = [0u8; 65536];
        let n = self.master.read(&mut buffer).unwrap_or(0);
        self.bytes.extend_from_slice(&buffer[..n]);
        let part = [2, 1].into_iter().find(|part| self.bytes.ends_with(&SIGN[..*part])).unwrap_or(0);
        let end = (self.bytes.len() - part).max(self.taken);
        show(&mut self.terminal, &self.bytes[self.taken..end]);
        self.taken = end;
        n
    }
    /// What the screen shows.
    pub fn screen(&self) -> String {
        self.terminal.screen().contents()
    }
    /// Reads until the condition holds.
    pub fn until(&mut self, what: &str, mut look: impl FnMut(&mut Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !look(self) {
            assert!(Instant::now() < end, "{what} did not come:\n{}", self.screen());
            self.read(Duration::from_millis(20));
        }
    }
    /// Reads until the screen shows this.
    pub fn wait_for(&mut self, text: &str) {
        self.until(&format!("{text:?}"), |p| p.screen().contains(text));
    }
    /// Reads until the screen does not show this any more.
    pub fn wait_gone(&mut self, text: &str) {
        self.until(&format!("the end of {text:?}"), |p| !p.screen().contains(text));
    }
    /// Types.
    pub fn send(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }
    /// The process that was started (setsid's child, or setsid itself).
    pub fn pid(&self) -> Pid {
        let own = self.child.id();
        let comm = std::fs::read_to_string(format!("/proc/{own}/comm")).unwrap_or_default();
        let own_pid = Pid::from_raw(i32::try_from(own).unwrap());
        if comm.trim() != "setsid" {
            return own_pid;
        }
        let children =
            std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        children.split_whitespace().next().and_then(|p| p.parse().ok()).map_or(own_pid, Pid::from_raw)
    }
    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }
    /// Waits for the end; its code, or minus the signal.
    pub fn end(&mut self) -> i32 {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                while self.read(Duration::from_millis(20)) > 0 {}
                return status.code().unwrap_or_else(|| -status.signal().unwrap_or(0));
            }
            assert!(Instant::now() < until, "it did not end:\n{}", self.screen());
            self.read(Duration::from_millis(20));
        }
    }
    /// Whether the terminal is as a shell wants it.
    pub fn assert_clean(&self) {
        let screen = self.terminal.screen();
        assert!(!screen.alternate_screen(), "still in the other screen");
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert!(!screen.bracketed_paste(), "pastes are bracketed");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        let text = String::from_utf8_lossy(&self.bytes);
        assert_eq!(text.matches("\x1b[>1u").count(), text.matches("\x1b[<u").count(), "the keyboard's mode");
        let last = |set: &str, reset: &str| text.rfind(set) <= text.rfind(reset);
        assert!(last("\x1b[?2026h", "\x1b[?2026l"), "in a synchronized update");
        assert!(last("\x1b[?1004h", "\x1b[?1004l"), "focus is reported");
        let mode = nix::sys::termios::tcgetattr(&self.master).unwrap();
        assert!(
            mode.local_flags
                .contains(nix::sys::termios::LocalFlags::ICANON | nix::sys::termios::LocalFlags::ECHO)
        );
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.child.try_wait().ok().flatten().is_none() {
            let _ = kill(self.pid(), Signal::SIGKILL);
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
