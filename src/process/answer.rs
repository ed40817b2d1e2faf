//! A program that is run for its answer on standard output: bounded in time and bytes, with no terminal, no input and
//! only the environment that it is given. Its group is ended with it.
//!
//! For programs of the person's that only compute. Not for commands of the model: those run under a keeper
//! (`sandbox::spawn`).

use std::ffi::OsString;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Between two looks whether a program that closed its output has ended.
const PAUSE_MIN: Duration = Duration::from_micros(50);
const PAUSE_MAX: Duration = Duration::from_millis(2);

/// Between two looks whether a program that is waited for is to be stopped.
const LOOK: Duration = Duration::from_millis(25);

/// Ends, from elsewhere, a program whose answer is waited for.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// The program is ended with its group, at once.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a program said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Its standard output, whole.
    pub output: Vec<u8>,
}

/// The bounds of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How long it may take.
    pub time: Duration,
    /// How much it may print.
    pub bytes: usize,
}

/// Runs a program, until `stop` at most; what it said, or in words why there is no answer. Blocking.
pub fn answer(
    program: &Path,
    arguments: &[OsString],
    environment: &[(OsString, OsString)],
    dir: &Path,
    bounds: Bounds,
    stop: &Stop,
) -> Result<Answer, String> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(dir);
    run(command, bounds, Some(stop))
}

/// As `answer`, of a command whose arguments, environment and directory are set, and that nobody stops.
pub fn answer_of(command: Command, bounds: Bounds) -> Result<Answer, String> {
    run(command, bounds, None)
}

fn run(mut command: Command, bounds: Bounds, stop: Option<&Stop>) -> Result<Answer, String> {
    let deadline = Instant::now() + bounds.time;
    let name = command.get_program().display().to_string();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("{name} could not be started: {error}"))?;
    let read = match child.stdout.take() {
        Some(out) => read(out, deadline, bounds.bytes, stop),
        None => Err("has no output"),
    };
    let output = match read {
        Ok(output) => output,
        Err(why) => {
            end(&mut child);
            return Err(format!("{name} {why}; it was ended"));
        }
    };
    // it closed its output: it has until the deadline to end too
    let mut pause = PAUSE_MIN;
    let code = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code(),
            Ok(None) if stop.is_some_and(Stop::is_stopped) => {
                end(&mut child);
                return Err(format!("{name} {STOPPED}; it was ended"));
            }
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(pause);
                pause = PAUSE_MAX.min(2 * pause);
            }
            Ok(None) => {
                end(&mut child);
                return Err(format!("{name} took too long; it was ended"));
            }
            Err(error) => return Err(format!("{name} could not be waited for: {error}")),
        }
    };
    Ok(Answer { code, output })
}

/// Ends a program and what it started in its group. It is not reaped yet, so the group is its own.
fn end(child: &mut Child) {
    if let Ok(pid) = i32::try_from(child.id()) {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
    }
    let _ = child.wait();
}

fn read(
    mut out: ChildStdout,
    deadline: Instant,
    bytes_max: usize,
    stop: Option<&Stop>,
) -> Result<Vec<u8>, &'static str> {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0_u8; 64 * 1024]);
    loop {
        match next(&mut out, &mut buffer, deadline, stop)? {
            0 => return Ok(bytes),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
        if bytes.len() > bytes_max {
            return Err("printed too much");
        }
    }
}

/// Reads what a program prints next, at the latest at the deadline; 0: it closed its output. Else in words why not.
/// Blocking.
pub fn more(out: &mut ChildStdout, buffer: &mut [u8], deadline: Instant) -> Result<usize, &'static str> {
    next(out, buffer, deadline, None)
}

/// Why there is no answer of a program that was stopped.
const STOPPED: &str = "was stopped";

fn next(
    out: &mut ChildStdout,
    buffer: &mut [u8],
    deadline: Instant,
    stop: Option<&Stop>,
) -> Result<usize, &'static str> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("took too long");
        }
        if stop.is_some_and(Stop::is_stopped) {
            return Err(STOPPED);
        }
        let look = if stop.is_some() { left.min(LOOK) } else { left };
        // rounded up, so that the last moment is no busy loop
        let wait = PollTimeout::from(u16::try_from(look.as_millis() + 1).unwrap_or(u16::MAX));
        // the end of any child of ours interrupts both calls: that is no answer of this one's
        match poll(&mut [PollFd::new(out.as_fd(), PollFlags::POLLIN)], wait) {
            Ok(0) | Err(nix::errno::Errno::EINTR) => continue,
            Ok(_) => {}
            Err(_) => return Err("cannot be read"),
        }
        match out.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => return read.map_err(|_| "cannot be read"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, time_ms: u64, bytes: usize) -> Result<Answer, String> {
        let environment = [("A".into(), "b".into())];
        let bounds = Bounds { time: Duration::from_millis(time_ms), bytes };
        let arguments = ["-c".into(), script.into()];
        answer(Path::new("/bin/sh"), &arguments, &environment, Path::new("/"), bounds, &Stop::default())
    }

    #[test]
    fn output_and_code_are_told_and_only_the_given_environment_is_there() {
        let told = sh("printf '%s%s' \"$A\" \"$HOME\"; exit 3", 30_000, 100).unwrap();
        assert_eq!(told, Answer { code: Some(3), output: b"b".to_vec() });
        let gone = answer(
            Path::new("/nowhere/x"),
            &[],
            &[],
            Path::new("/"),
            Bounds { time: Duration::from_secs(30), bytes: 1 },
            &Stop::default(),
        );
        assert!(gone.unwrap_err().contains("could not be started"));
    }

    #[test]
    fn who_takes_too_long_or_prints_too_much_is_ended_with_what_it_started() {
        let began = Instant::now();
        let late = sh("sleep 600 & sleep 600", 50, 100).unwrap_err();
        assert!(late.contains("took too long"), "{late}");
        let closed = sh("exec >&-; sleep 600", 50, 100).unwrap_err();
        assert!(closed.contains("took too long"), "{closed}");
        let much = sh("while :; do echo much; done", 30_000, 100).unwrap_err();
        assert!(much.contains("printed too much"), "{much}");
        assert!(began.elapsed() < Duration::from_secs(300));
    }

    #[test]
    fn who_is_stopped_is_ended_with_what_it_started() {
        for script in ["sleep 600 & sleep 600", "exec >&-; sleep 600"] {
            let stop = Stop::default();
            let asked = stop.clone();
            let waits = std::thread::spawn(move || {
                let bounds = Bounds { time: Duration::from_secs(600), bytes: 100 };
                let arguments = ["-c".into(), script.into()];
                answer(Path::new("/bin/sh"), &arguments, &[], Path::new("/"), bounds, &asked)
            });
            stop.stop();
            let told = waits.join().unwrap().unwrap_err();
            assert!(told.contains("was stopped"), "{told}");
        }
    }
}
