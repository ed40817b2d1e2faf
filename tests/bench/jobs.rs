//! Jobs under the whole program, measured from outside in a pseudo-terminal (`cargo bench --bench jobs`).
//!
//! Twenty floods at once against the same commands into `cat >FILE`, some of commands that have a terminal, the echo of keys meanwhile against that at rest,
//! what the program and its keepers hold, how soon an end shows, and how soon a kill is over. Each number stands beside
//! its yardstick of the same run.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a benchmark that cannot be set up may stop; it prints what it saw

#[allow(dead_code)]
#[path = "../it/terminal.rs"]
mod terminal;

use std::fs;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};
use terminal::Program;

/// Jobs that write at once.
const JOBS: usize = 20;
/// Those that have a terminal.
const TERMINALS: usize = 4;
/// Keys whose echo is timed.
const KEYS: usize = 100;
/// Longest that anything here may take.
const LONGEST: Duration = Duration::from_secs(240);

fn main() {
    let bytes: u64 =
        std::env::var("FLOOD_BYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000_000);
    // the names of parts; none: all
    let wanted: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let on = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    if on("floods") {
        floods(bytes);
    }
    if on("terminal") {
        terminals(bytes);
    }
    if on("echo") {
        echo();
    }
    if on("ends") {
        ends();
    }
    if on("kills") {
        kills();
    }
}

/// A home of its own with a script for the model.
fn home(calls: &[Value]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("work")).unwrap();
    let script = json!({"turns": [{"say": "go", "calls": calls}, {"say": "all are started"}]});
    fs::write(home.path().join("script.json"), script.to_string()).unwrap();
    home
}

fn background(command: &str) -> Value {
    json!({"tool": "bash", "input": {"command": command, "background": true}})
}

fn open(home: &Path) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command
        .args(["--approve", "auto", "--model"])
        .arg(format!("scripted:{}", home.join("script.json").display()))
        .arg("go")
        .current_dir(home.join("work"))
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("TERM", "xterm-256color");
    Program::sized(&command, 130, 40)
}

/// The directories of the calls of the only session.
fn calls(home: &Path) -> Vec<PathBuf> {
    let sessions = home.join(".local/state/windlass/sessions");
    let inside = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    inside(&sessions).flat_map(|session| inside(&session.join("calls")).collect::<Vec<_>>()).collect()
}

fn ended(home: &Path) -> usize {
    calls(home).iter().filter(|dir| dir.join("end.json").exists()).count()
}

/// Times the echo of a key, `KEYS` times, 20 a second.
fn echoes(program: &mut Program) -> Vec<f64> {
    let mut times = Vec::new();
    for n in 0..KEYS {
        let next = Instant::now() + Duration::from_millis(50);
        let key = char::from(b'a' + u8::try_from(n % 26).unwrap());
        let before = drafted(program);
        let sent = Instant::now();
        program.send(&key.to_string());
        while drafted(program) == before {
            assert!(sent.elapsed() < LONGEST, "a key was lost");
            program.read(Duration::from_millis(5));
        }
        times.push(sent.elapsed().as_secs_f64() * 1e3);
        while let Some(left) = next.checked_duration_since(Instant::now()) {
            program.read(left);
        }
        if n % 26 == 25 {
            program.send("\x15");
            program.wait_for("what shall be done");
        }
    }
    times.sort_by(f64::total_cmp);
    times
}

/// What stands in the composer.
fn drafted(program: &Program) -> String {
    let screen = program.screen();
    let row = screen.lines().rev().find_map(|line| line.split_once('❯').map(|(_, rest)| rest.to_owned()));
    row.unwrap_or_default().chars().filter(char::is_ascii_lowercase).collect()
}

fn at(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

/// Resident memory of a process, in MiB.
fn resident(pid: i32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

fn bare(dir: &Path, commands: &[String]) -> Vec<Child> {
    let start = |(n, command): (usize, &String)| {
        let line =
            format!("ulimit -f 1048576; ({command}) 2>&1 | cat >{}", dir.join(format!("f{n}")).display());
        Command::new("bash").args(["-c", &line]).stdin(Stdio::null()).process_group(0).spawn().unwrap()
    };
    commands.iter().enumerate().map(start).collect()
}

fn floods(bytes: u64) {
    let commands = lines(JOBS, bytes);
    let yardstick = into_files(&commands);
    // as fast as they can, the screen alone beside them
    let calls: Vec<Value> = commands.iter().map(|command| background(command)).collect();
    let (under, mut program, _home) = into_jobs(&calls);
    println!(
        "{JOBS} floods of {bytes} bytes: {under:.2} s; into cat >FILE {yardstick:.2} s; ratio {:.2} (bound 1.5)",
        under / yardstick
    );
    let rest = echoes(&mut program);
    println!(
        "key to echo at rest: p50 {:.2} ms, p99 {:.2} ms, most {:.2} ms",
        at(&rest, 0.5),
        at(&rest, 0.99),
        at(&rest, 1.0)
    );
    leave(&mut program);
}

/// Commands that print so many bytes of lines.
fn lines(count: usize, bytes: u64) -> Vec<String> {
    (0..count)
        .map(|n| format!("yes 'line of job {n} that is as long as most are' | head -c {bytes}"))
        .collect()
}

/// How long they take into `cat >FILE`, in seconds.
fn into_files(commands: &[String]) -> f64 {
    let place = tempfile::tempdir().unwrap();
    let began = Instant::now();
    for mut child in bare(place.path(), commands) {
        child.wait().unwrap();
    }
    began.elapsed().as_secs_f64()
}

/// How long they take as jobs, from the start of the program to the last record, and the program.
fn into_jobs(calls: &[Value]) -> (f64, Program, tempfile::TempDir) {
    let place = home(calls);
    let began = Instant::now();
    let mut program = open(place.path());
    program.wait_for("all are started");
    while ended(place.path()) < calls.len() {
        assert!(began.elapsed() < LONGEST, "the floods did not end");
        program.read(Duration::from_millis(20));
    }
    (began.elapsed().as_secs_f64(), program, place)
}

/// Commands that have a terminal. Beside `cat >FILE` stands what such a terminal costs by itself: read into a file, and
/// nothing else done.
fn terminals(bytes: u64) {
    let commands = lines(TERMINALS, bytes);
    let files = into_files(&commands);
    let place = tempfile::tempdir().unwrap();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for (n, command) in commands.iter().enumerate() {
            let file = fs::File::create(place.path().join(format!("f{n}"))).unwrap();
            scope.spawn(move || through_a_terminal(command, file));
        }
    });
    let plain = began.elapsed().as_secs_f64();
    drop(place);
    let call = |command: &String| json!({"tool": "bash", "input": {"command": command, "background": true, "terminal": true}});
    let calls: Vec<Value> = commands.iter().map(call).collect();
    let (under, mut program, _home) = into_jobs(&calls);
    println!(
        "{TERMINALS} floods of {bytes} bytes with a terminal: {under:.2} s; into cat >FILE {files:.2} s, ratio {:.2} (bound 1.5); \
         a bare terminal into a file {plain:.2} s, ratio {:.2}",
        under / files,
        under / plain
    );
    leave(&mut program);
}

/// Runs a command in a terminal whose other end is read into a file.
fn through_a_terminal(command: &str, mut file: fs::File) {
    let pty = nix::pty::openpty(None, None).unwrap();
    let end = || Stdio::from(pty.slave.try_clone().unwrap());
    let mut child = Command::new("bash")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(end())
        .stderr(end())
        .spawn()
        .unwrap();
    drop(pty.slave);
    let mut master = fs::File::from(pty.master);
    let mut buffer = vec![0; 1 << 20];
    // it tells an error when nobody has the other end open any more
    while let Ok(count @ 1..) = std::io::Read::read(&mut master, &mut buffer) {
        std::io::Write::write_all(&mut file, &buffer[..count]).unwrap();
    }
    child.wait().unwrap();
}

/// Floods without an end, and keys meanwhile; beside it what the pseudo-terminal alone does (`cat`) while the same
/// commands write into files.
fn echo() {
    let endless: Vec<String> =
        (0..JOBS).map(|n| format!("yes 'line of job {n} that is as long as most are'")).collect();
    let files = tempfile::tempdir().unwrap();
    let mut floods = bare(files.path(), &endless);
    let mut cat = Command::new("sh");
    cat.args(["-c", "stty raw -echo; echo ready; exec cat"]);
    let mut cat = Program::start(&cat);
    cat.wait_for("ready");
    let floor = plain_echoes(&mut cat);
    drop(cat);
    for flood in &mut floods {
        // each leads a group of its own
        let group = nix::unistd::Pid::from_raw(i32::try_from(flood.id()).unwrap());
        nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL).unwrap();
        flood.wait().unwrap();
    }
    drop(files);
    println!(
        "key to echo of `cat` beside {JOBS} endless floods into cat >FILE: p50 {:.2} ms, p99 {:.2} ms, most {:.2} ms",
        at(&floor, 0.5),
        at(&floor, 0.99),
        at(&floor, 1.0)
    );

    let calls: Vec<Value> = endless.iter().map(|command| background(command)).collect();
    let place = home(&calls);
    let mut program = open(place.path());
    program.wait_for("all are started");
    let early = resident(program.pid().as_raw());
    let busy = echoes(&mut program);
    let late = resident(program.pid().as_raw());
    println!(
        "key to echo beside {JOBS} endless floods: p50 {:.2} ms, p99 {:.2} ms, most {:.2} ms (bound of p99 16 ms)",
        at(&busy, 0.5),
        at(&busy, 0.99),
        at(&busy, 1.0)
    );
    println!(
        "resident, the program: {early:.1} MiB when they were started, {late:.1} MiB {} s later",
        KEYS / 20
    );
    leave(&mut program);
}

/// The same keys for a program that gives back what it reads.
fn plain_echoes(program: &mut Program) -> Vec<f64> {
    let mut times = Vec::new();
    for _ in 0..KEYS {
        let next = Instant::now() + Duration::from_millis(50);
        let sent = Instant::now();
        program.send("k");
        while program.read(Duration::from_millis(5)) == 0 {
            assert!(sent.elapsed() < LONGEST, "a key was lost");
        }
        times.push(sent.elapsed().as_secs_f64() * 1e3);
        while let Some(left) = next.checked_duration_since(Instant::now()) {
            program.read(left);
        }
    }
    times.sort_by(f64::total_cmp);
    times
}

/// Leaves, whatever runs.
fn leave(program: &mut Program) {
    let pid = program.pid();
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    program.end();
}

/// The process of the only command and a descriptor of it.
fn process(home: &Path) -> OwnedFd {
    let until = Instant::now() + LONGEST;
    loop {
        for dir in calls(home) {
            let text = fs::read_to_string(dir.join("keeper.json")).unwrap_or_default();
            let record: Value = serde_json::from_str(&text).unwrap_or_default();
            let keeper = &record["keeper"]["pid"];
            let children =
                fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children")).unwrap_or_default();
            if let Some(pid) = children.split_whitespace().next().and_then(|pid| pid.parse().ok()) {
                let pid = rustix::process::Pid::from_raw(pid).unwrap();
                return rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).unwrap();
            }
        }
        assert!(Instant::now() < until, "no command stands in the records");
        std::thread::yield_now();
    }
}

/// From the moment that a process is gone to the row that says so.
fn ends() {
    let mut times = Vec::new();
    for _ in 0..10 {
        let place = home(&[background("read -t 1 <> <(:) || true; exit 7")]);
        let mut program = open(place.path());
        let fd = process(place.path());
        program.wait_for("all are started");
        while !over(&fd, Duration::ZERO) {
            program.read(Duration::from_millis(1));
        }
        let gone = Instant::now();
        while !program.screen().contains("exit 7") {
            assert!(gone.elapsed() < LONGEST);
            program.read(Duration::from_millis(1));
        }
        times.push(gone.elapsed().as_secs_f64() * 1e3);
        leave(&mut program);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "from a job's exit to its row: median {:.1} ms, most {:.1} ms (bound 100 ms)",
        at(&times, 0.5),
        at(&times, 1.0)
    );
}

fn over(fd: &OwnedFd, wait: Duration) -> bool {
    let mut fds = [PollFd::new(fd.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::try_from(wait).unwrap()).unwrap() > 0
}

/// From the key that kills to the row that says that all is gone.
fn kills() {
    for (what, command, bound) in [
        ("a plain command", "sleep 300", 100.0),
        (
            "one that is deaf to TERM and has left its session",
            "sh -c 'setsid sleep 300 & trap \"\" TERM; sleep 300'",
            3000.0,
        ),
    ] {
        let mut times = Vec::new();
        for _ in 0..5 {
            let place = home(&[background(command)]);
            let mut program = open(place.path());
            let _alive = process(place.path());
            program.wait_for("all are started");
            program.send("\x18j");
            program.wait_for("x kill");
            let asked = Instant::now();
            program.send("x");
            while ended(place.path()) == 0 {
                assert!(asked.elapsed() < LONGEST);
                program.read(Duration::from_millis(1));
            }
            times.push(asked.elapsed().as_secs_f64() * 1e3);
            leave(&mut program);
        }
        times.sort_by(f64::total_cmp);
        println!(
            "a kill of {what}: median {:.0} ms, most {:.0} ms (bound {bound:.0} ms)",
            at(&times, 0.5),
            at(&times, 1.0)
        );
    }
}
