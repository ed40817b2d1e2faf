//! The real loop on a real terminal: what it writes, how it leaves, that it rests.
//!
//! The child is this test binary again, told by an environment variable to be a screen; `setsid`
//! gives it the pseudo-terminal as its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use windlass::api::board::Phase;
use windlass::api::event::Event;
use windlass::api::message::Image;
use windlass::link::{COMMANDS_MAX, EVENTS_MAX, Front, Host, Shared};
use windlass::ui::{Exit, UiOptions, run, wake_pair};

use super::record;

const ROLE: &str = "WINDLASS_TEST_SCREEN";
/// Most that any wait may take.
const PATIENCE: Duration = Duration::from_secs(20);

struct NoHost;

impl Host for NoHost {
    fn edit_text(&mut self, text: &str) -> Result<String, String> {
        Ok(format!("{text} edited"))
    }
    fn page_text(&mut self, _text: &str) -> Result<(), String> {
        Ok(())
    }
    fn suspend(&mut self) {
        let _ = nix::sys::signal::raise(Signal::SIGSTOP);
    }
    fn keep_dump(&mut self, _text: &str) -> Result<String, String> {
        Ok("a file".into())
    }
    fn read_image(&mut self, _path: Option<&str>) -> Result<Image, String> {
        Err("no image".into())
    }
}

/// The child: a screen over a record of its own.
fn be_a_screen(role: &str) -> i32 {
    let (end, wake) = wake_pair().unwrap();
    let mut first = record::empty();
    if role == "busy" || role == "stream" {
        record::status(&mut first, |s| s.phase = Phase::Streaming);
    }
    let shared = Shared::new(first, wake.clone());
    let (commands, taken) = tokio::sync::mpsc::channel(COMMANDS_MAX);
    let (_events, events) = tokio::sync::mpsc::channel::<Event>(EVENTS_MAX);
    let mut front = Front { commands, events, shared: shared.clone() };
    let mut options = UiOptions { reduced_motion: true, ..UiOptions::default() };
    options.environment = BTreeMap::from([
        ("TERM".to_owned(), "xterm-256color".to_owned()),
        ("COLORTERM".to_owned(), "truecolor".to_owned()),
    ]);
    if role == "stream" {
        std::thread::spawn(move || {
            for n in 0..400 {
                shared.change(|r| record::stream(r, if n % 14 == 13 { "word\n\n" } else { "token " }));
                std::thread::park_timeout(Duration::from_millis(10));
            }
            shared.change(|r| record::status(r, |s| s.phase = Phase::Idle));
        });
    }
    if role == "panic" {
        options.keymap = None;
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let broken: Arc<dyn Fn() + Send + Sync> = wake.clone();
            let mut host = NoHost;
            struct Bomb<'a>(&'a mut NoHost);
            impl Host for Bomb<'_> {
                fn edit_text(&mut self, _: &str) -> Result<String, String> {
                    panic!("the bomb went off")
                }
                fn page_text(&mut self, text: &str) -> Result<(), String> {
                    self.0.page_text(text)
                }
                fn suspend(&mut self) {}
                fn keep_dump(&mut self, _: &str) -> Result<String, String> {
                    panic!("the bomb went off")
                }
                fn read_image(&mut self, path: Option<&str>) -> Result<Image, String> {
                    self.0.read_image(path)
                }
            }
            let _ = run(&mut front, (&end, broken), options, &mut Bomb(&mut host));
        }))
        .map_or(101, |()| 0)
    } else {
        let exit = run(&mut front, (&end, wake), options, &mut NoHost);
        drop(taken);
        match exit {
            Ok(Exit::Quit) => 40,
            Ok(Exit::Ended(signal)) => 50 + signal,
            Ok(_) => 41,
            Err(_) => 42,
        }
    }
}

#[test]
#[ignore = "the child of the tests below"]
fn child() {
    if let Ok(role) = std::env::var(ROLE) {
        std::process::exit(be_a_screen(&role));
    }
}

/// A screen in a pseudo-terminal.
struct Program {
    child: Child,
    master: File,
    terminal: vt100::Parser,
    /// All bytes that came.
    bytes: Vec<u8>,
}

impl Program {
    fn start(role: &str) -> Self {
        let size = nix::pty::Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = nix::pty::openpty(Some(&size), None).unwrap();
        for fd in [&pty.master, &pty.slave] {
            // another test's child must not hold this terminal open
            nix::fcntl::fcntl(fd, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC)).unwrap();
        }
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
        let child = Command::new("setsid")
            .args(["--ctty", "--wait"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "screen::pty::child", "--ignored", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env("RUST_BACKTRACE", "0")
            .stdin(end(&pty.slave))
            .stdout(end(&pty.slave))
            .stderr(end(&pty.slave))
            .spawn()
            .unwrap();
        let terminal = vt100::Parser::new(40.try_into().unwrap(), 120.try_into().unwrap(), 0);
        Self { child, master: File::from(pty.master), terminal, bytes: Vec::new() }
    }
    /// Reads for at most `wait`; how many bytes came.
    fn read(&mut self, wait: Duration) -> usize {
        let mut fds = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        let ms = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
        if poll(&mut fds, ms).unwrap_or(0) == 0 {
            return 0;
        }
        let mut buffer = [0u8; 65536];
        let n = self.master.read(&mut buffer).unwrap_or(0);
        self.terminal.process(&buffer[..n]);
        self.bytes.extend_from_slice(&buffer[..n]);
        n
    }
    fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.terminal.screen().contents().contains(text) {
            assert!(Instant::now() < until, "{text:?} did not come:\n{}", self.terminal.screen().contents());
            self.read(Duration::from_millis(50));
        }
    }
    fn send(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }
    /// The process that is the screen (setsid's child, or setsid itself).
    fn pid(&self) -> Pid {
        let own = self.child.id();
        let children =
            std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        let pid = children.split_whitespace().next().and_then(|p| p.parse().ok()).unwrap_or(own as i32);
        Pid::from_raw(pid)
    }
    /// Waits for the end; its code, or minus the signal.
    fn end(&mut self) -> i32 {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                while self.read(Duration::from_millis(20)) > 0 {}
                return status.code().unwrap_or_else(|| -status.signal().unwrap_or(0));
            }
            assert!(Instant::now() < until, "it did not end");
            self.read(Duration::from_millis(20));
        }
    }
    /// Whether the terminal is as a shell wants it.
    fn assert_clean(&self) {
        let screen = self.terminal.screen();
        assert!(!screen.alternate_screen(), "still in the other screen");
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert!(!screen.bracketed_paste(), "pastes are bracketed");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        let text = String::from_utf8_lossy(&self.bytes);
        assert_eq!(text.matches("\x1b[>1u").count(), text.matches("\x1b[<u").count(), "the keyboard's mode");
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

#[test]
fn quitting_leaves_the_terminal_clean() {
    let mut program = Program::start("idle");
    program.wait_for("❯");
    program.send("x");
    program.wait_for("❯ x");
    program.send("\x03");
    program.wait_for("what shall be done");
    program.send("\x03");
    program.wait_for("again leaves");
    program.send("\x03");
    assert_eq!(program.end(), 40);
    program.assert_clean();
}

#[test]
fn signals_leave_the_terminal_clean() {
    for (signal, code) in [(Signal::SIGTERM, 65), (Signal::SIGHUP, 51), (Signal::SIGINT, 52)] {
        let mut program = Program::start("busy");
        program.wait_for("Esc interrupt");
        kill(program.pid(), signal).unwrap();
        assert_eq!(program.end(), code, "{signal}");
        program.assert_clean();
    }
}

#[test]
fn a_panic_leaves_the_terminal_clean_and_says_why() {
    let mut program = Program::start("panic");
    program.wait_for("❯");
    program.send("\x07");
    assert_eq!(program.end(), 101);
    program.assert_clean();
    assert!(program.terminal.screen().contents().contains("the bomb went off"));
}

#[test]
fn stopping_and_going_on_keeps_terminal_and_draft() {
    let mut program = Program::start("idle");
    program.wait_for("❯");
    program.send("draft");
    program.wait_for("❯ draft");
    let pid = program.pid();
    program.send("\x1a");
    let until = Instant::now() + PATIENCE;
    while program.terminal.screen().alternate_screen() {
        assert!(Instant::now() < until, "it did not stop");
        program.read(Duration::from_millis(20));
    }
    let stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
    };
    while !stopped() {
        assert!(Instant::now() < until, "it is not stopped");
        program.read(Duration::from_millis(10));
    }
    while program.read(Duration::from_millis(20)) > 0 {}
    program.assert_clean();
    kill(pid, Signal::SIGCONT).unwrap();
    program.wait_for("❯ draft");
    assert!(program.terminal.screen().alternate_screen());
}

#[test]
fn a_lost_terminal_ends_it_within_two_seconds() {
    let mut program = Program::start("idle");
    program.wait_for("❯");
    let pid = program.pid();
    let gone = Instant::now();
    program.master = File::open("/dev/null").unwrap();
    while std::fs::metadata(format!("/proc/{pid}")).is_ok() && program.child.try_wait().unwrap().is_none() {
        assert!(gone.elapsed() < Duration::from_secs(2), "it lives on");
        std::thread::yield_now();
    }
}

#[test]
fn at_rest_it_neither_wakes_nor_writes() {
    let mut program = Program::start("idle");
    program.wait_for("keys");
    while program.read(Duration::from_millis(300)) > 0 {}
    let pid = program.pid();
    let switches = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/status")).unwrap();
        status.lines().filter(|l| l.contains("ctxt_switches")).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = switches();
    assert_eq!(program.read(Duration::from_millis(1500)), 0, "bytes came at rest");
    assert_eq!(switches(), before, "it woke at rest");
}

#[test]
fn a_stream_costs_few_bytes() {
    let mut program = Program::start("stream");
    program.wait_for("Shift-Tab");
    let token = program.bytes.len() / 400;
    assert!(token <= 250, "{token} bytes for a token");
}
