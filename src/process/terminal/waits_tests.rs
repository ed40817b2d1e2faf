//! Real programs in front of a real terminal, each held until it is in the call that is asked about.

use std::io::Read;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use nix::unistd::getpid;

use super::*;
use crate::api::screen::Size;
use crate::process::pre_exec::Before;
use crate::process::terminal::Terminal;

struct Running {
    terminal: Terminal,
    child: Child,
    said: String,
}

impl Running {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let (terminal, slave) = Terminal::open(Size { rows: 24, cols: 80 }).unwrap();
        let mut command = Command::new(program);
        command.args(arguments).env("TERM", "xterm-256color").env("PYTHONSTARTUP", "");
        command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
        let before = Before { keeper: getpid(), terminal: true, entrance: None, inside: None };
        before.done_by(&mut command);
        let child = command.spawn().unwrap();
        Self { terminal, child, said: String::new() }
    }

    /// Reads what it says, until something holds.
    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            let mut bytes = [0; 4096];
            if let Ok(count) = self.terminal.reader().unwrap().read(&mut bytes) {
                self.terminal.feed(&bytes[..count]);
                self.said.push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "not {what}: {}", self.said);
            std::thread::yield_now();
        }
    }

    fn until_it_waits(&mut self) {
        self.until("waiting", |running| running.terminal.waits());
    }

    /// Once it has said this and sleeps in one of these calls, it does not seem to wait.
    fn never_waits(&mut self, word: &str, calls: &[i64]) {
        self.until("ready", |running| running.said.contains(word));
        let path = format!("/proc/{}/syscall", self.child.id());
        self.until("in its call", |_| {
            let line = fs::read_to_string(&path).unwrap_or_default();
            line.split(' ').next().and_then(|n| n.parse().ok()).is_some_and(|n: i64| calls.contains(&n))
        });
        assert!(!self.terminal.waits(), "{word} seems to wait");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn python(code: &str) -> Running {
    Running::start("python3", &["-c", code])
}

#[test]
fn readers_and_full_screen_programs_seem_to_wait() {
    for (program, arguments) in [
        ("cat", &[][..]),
        ("bash", &["-c", "read -r -s word"]),
        ("python3", &["-q", "-i"]),
        ("sh", &["-c", "seq 1 1000 | less"]),
    ] {
        Running::start(program, arguments).until_it_waits();
    }
}

#[test]
fn an_editor_and_a_monitor_seem_to_wait() {
    for (program, arguments) in [("vim", &["-u", "NONE"][..]), ("top", &["-d", "100"])] {
        if Command::new(program).arg("--version").output().is_ok() {
            Running::start(program, arguments).until_it_waits();
        }
    }
}

#[test]
fn who_polls_the_terminal_seems_to_wait_whichever_call_it_uses() {
    for poll in [
        "p = select.poll(); p.register(0, select.POLLIN); p.poll(100000)",
        "select.select([0], [], [], 100)",
        "p = select.epoll(); p.register(0, select.EPOLLIN); p.poll(100)",
    ] {
        python(&format!("import select; {poll}")).until_it_waits();
    }
}

#[test]
fn who_polls_something_else_with_the_terminal_open_does_not_seem_to_wait() {
    for (poll, calls) in [
        ("p = select.poll(); p.register(r, select.POLLIN); p.register(1, select.POLLERR); p.poll()", POLLS),
        ("select.select([r], [], [0])", SELECTS),
        ("p = select.epoll(); p.register(r, select.EPOLLIN); p.poll()", EPOLLS),
        ("os.read(r, 1)", READS),
    ] {
        python(&format!("import os, select; r, w = os.pipe(); print('ready', flush=True); {poll}"))
            .never_waits("ready", calls);
    }
}

#[test]
fn who_sleeps_does_not_seem_to_wait() {
    Running::start("sh", &["-c", "echo ready; exec sleep 300"])
        .never_waits("ready", &[libc::SYS_clock_nanosleep, libc::SYS_nanosleep]);
}

#[test]
fn a_quiet_terminal_is_looked_at_seldom_and_its_group_is_searched_for_more_seldom_still() {
    let mut sampler = Sampler::default();
    assert!(sampler.pace.search(true));
    assert_eq!(sampler.rest(), OFTEN);
    // an hour without a byte
    let (mut now, mut samples, mut searches) = (0, 0_u32, 0_u32);
    while now < 3_600_000 {
        now += sampler.rest().0;
        samples += 1;
        searches += u32::from(sampler.pace.search(false));
        assert!(now < 70_000 || sampler.rest() == SELDOM, "after a minute it rests longer");
    }
    assert!(samples < 800, "{samples} samples");
    assert!(searches < 40, "{searches} searches");
    // something comes: at once, and often again
    assert!(sampler.pace.search(true));
    assert_eq!(sampler.rest(), OFTEN);
    assert!(sampler.pace.search(false), "it may have started another one right after");
}

#[test]
fn a_prompt_that_nobody_answers_is_looked_at_seldom_until_something_is_typed() {
    let mut cat = Running::start("cat", &[]);
    cat.until_it_waits();
    for _ in 0..=QUIET_MANY {
        assert!(cat.terminal.waits());
    }
    assert_eq!(cat.terminal.rest(), SELDOM);
    cat.terminal.input(b"a");
    cat.terminal.waits();
    assert_eq!(cat.terminal.rest(), OFTEN);
}

#[test]
fn lists_of_polls_are_read_as_the_kernel_lays_them_out() {
    let entry =
        |fd: i32, events: u16| [&fd.to_ne_bytes()[..], &events.to_ne_bytes(), &0_u16.to_ne_bytes()].concat();
    assert_eq!(polled(&[entry(0, 1), entry(7, 4), entry(-1, 1), entry(9, 5)].concat()), [0, 9]);
    assert_eq!(polled(&entry(3, 1)[..7]), [] as [u64; 0]);
    let set = [5_u64.to_ne_bytes(), 2_u64.to_ne_bytes()].concat();
    assert_eq!(selected(&set, 66), [0, 2, 65]);
    assert_eq!(selected(&set, 65), [0, 2]);
    let info = "pos:\t0\nflags:\t02\ntfd:        0 events:       19 data:  0  pos:0\ntfd:        5 events: 4 data: 5\n";
    assert_eq!(registered(info), [0]);
    assert_eq!(registered("tfd: x events: 1\ntfd:\ntfd: 3"), [] as [u64; 0]);
}
