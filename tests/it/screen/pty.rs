//! The real loop on a real terminal: what it writes, how it leaves, that it rests.
//!
//! The child is this test binary again, told by an environment variable to be a screen.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use windlass::api::board::Phase;
use windlass::api::event::Event;
use windlass::api::message::Image;
use windlass::link::{COMMANDS_MAX, EVENTS_MAX, Front, Host, Leave, Shared};
use windlass::ui::{Exit, UiOptions, run, wake_pair};

use super::record;
use crate::terminal::{PATIENCE, Program};

const ROLE: &str = "WINDLASS_TEST_SCREEN";

struct NoHost;

impl Host for NoHost {
    fn edit_text(&mut self, text: &str, _leave: Leave<'_>) -> Result<String, String> {
        Ok(format!("{text} edited"))
    }
    fn edit_bytes(&mut self, _name: &str, bytes: &[u8], _leave: Leave<'_>) -> Result<Vec<u8>, String> {
        Ok(bytes.to_vec())
    }
    fn page_text(&mut self, _text: &str, _leave: Leave<'_>) -> Result<(), String> {
        Ok(())
    }
    fn suspend(&mut self) {
        let _ = nix::sys::signal::raise(Signal::SIGSTOP);
    }
    fn keep_dump(&mut self, _text: &str) -> Result<String, String> {
        Ok("a file".into())
    }
    fn notify(&mut self, _: &str) -> Result<(), String> {
        Err("no".into())
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
    let mut front = Front { commands, events, shared: shared.clone(), agents: Default::default() };
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
                fn edit_text(&mut self, _: &str, _leave: Leave<'_>) -> Result<String, String> {
                    panic!("the bomb went off")
                }
                fn page_text(&mut self, text: &str, leave: Leave<'_>) -> Result<(), String> {
                    self.0.page_text(text, leave)
                }
                fn edit_bytes(&mut self, _: &str, _: &[u8], _: Leave<'_>) -> Result<Vec<u8>, String> {
                    panic!("the bomb went off")
                }
                fn suspend(&mut self) {}
                fn keep_dump(&mut self, _: &str) -> Result<String, String> {
                    panic!("the bomb went off")
                }
                fn notify(&mut self, _: &str) -> Result<(), String> {
                    Err("no".into())
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
        match exit.map(|left| left.exit) {
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
fn start(role: &str) -> Program {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "screen::pty::child", "--ignored", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env("RUST_BACKTRACE", "0");
    Program::start(&command)
}

#[test]
fn quitting_leaves_the_terminal_clean() {
    let mut program = start("idle");
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
    for (signal, code) in
        [(Signal::SIGTERM, 65), (Signal::SIGHUP, 51), (Signal::SIGINT, 52), (Signal::SIGQUIT, 53)]
    {
        let mut program = start("busy");
        program.wait_for("Esc interrupt");
        kill(program.pid(), signal).unwrap();
        assert_eq!(program.end(), code, "{signal}");
        program.assert_clean();
    }
}

#[test]
fn a_panic_leaves_the_terminal_clean_and_says_why() {
    let mut program = start("panic");
    program.wait_for("❯");
    program.send("\x07");
    assert_eq!(program.end(), 101);
    program.assert_clean();
    assert!(program.terminal.screen().contents().contains("the bomb went off"));
}

#[test]
fn stopping_and_going_on_keeps_terminal_and_draft() {
    let mut program = start("idle");
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
    let mut program = start("idle");
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
    let mut program = start("idle");
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
fn a_stream_costs_few_bytes_frames_and_wakes() {
    let mut program = start("stream");
    let began = Instant::now();
    program.wait_for("❯");
    let pid = program.pid();
    program.wait_for("Shift-Tab");
    let token = program.bytes.len() / 400;
    assert!(token <= 250, "{token} bytes for a token");
    let frames = String::from_utf8_lossy(&program.bytes).matches("\x1b[?2026h").count() as u64;
    // thirty a second, and some for the start
    let most = began.elapsed().as_millis() as u64 / 33 + 10;
    assert!(frames <= most, "{frames} frames where {most} may be");
    let status = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/status")).unwrap();
    let waits = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    let waits: u64 = waits.trim().parse().unwrap();
    // a frame, and the first change after one: not each of the 400 tokens
    assert!(waits <= 2 * most + 60, "it waited {waits} times for {frames} frames");
}
