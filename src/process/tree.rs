//! Finding the processes below one, and signalling exactly those.
//!
//! Parentage is read from `/proc`; below a child subreaper it is complete, whatever left its group or
//! session. A process is its number with its start time: a signal goes through a pidfd that is compared
//! with both, so a number that was used again is never hit. Never a pattern over command lines.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::process::record::{Named, ProcessId};

/// Most characters of a command line that is named.
const COMMAND_CHARS_MAX: usize = 120;

/// How long a tree without a keeper may take to end, and how long to wait between two looks at it.
const SWEEP_MAX: Duration = Duration::from_secs(1);
const SWEEP_PAUSE: Duration = Duration::from_millis(5);

/// A process as `/proc` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Which.
    pub id: ProcessId,
    /// Its parent's number.
    pub parent: i32,
    /// The number of its process group.
    pub group: i32,
    /// Its state's letter.
    pub state: u8,
}

impl Seen {
    /// Whether it has ended and only waits to be reaped.
    pub fn ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
    /// Whether it is stopped, so that only SIGKILL or SIGCONT reach it.
    pub fn stopped(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }
}

/// What became of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It was sent.
    Yes,
    /// The process is gone.
    Gone,
    /// The process may not be signalled by us (it is another user's).
    Refused,
}

/// A process by its number; none when there is none.
pub fn seen(pid: i32) -> Option<Seen> {
    // one read: a walk looks at every process of the machine, and the line is never this long
    let mut line = [0; 1024];
    let count = fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
    parse_stat(pid, &line[..count])
}

/// The processes below `root`, parents before children, those that have ended left out.
pub fn below(root: i32) -> Vec<Seen> {
    let mut children: HashMap<i32, Vec<Seen>> = HashMap::new();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(seen) = seen(pid) {
            children.entry(seen.parent).or_default().push(seen);
        }
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut at = 0;
    while at < found.len() {
        if let Some(more) = children.remove(&found[at].id.pid) {
            found.extend(more);
        }
        at += 1;
    }
    found.retain(|seen| !seen.ended());
    found
}

/// Every process whose environment holds this entry (`NAME=value`), and all below them; those that have ended
/// left out.
fn marked(entry: &[u8]) -> Vec<Seen> {
    let mut all = Vec::new();
    for found in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = found.file_name().to_str().and_then(|name| name.parse().ok());
        all.extend(pid.and_then(seen).filter(|seen| !seen.ended()));
    }
    let (mut found, mut rest): (Vec<Seen>, Vec<Seen>) = all.into_iter().partition(|seen| {
        // its start was read before: a later process with the number is not signalled
        let environment = fs::read(format!("/proc/{}/environ", seen.id.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|held| held == entry)
    });
    let mut at = 0;
    while at < found.len() {
        let parent = found[at].id.pid;
        let (children, others) = rest.into_iter().partition(|seen| seen.parent == parent);
        let children: Vec<Seen> = children;
        found.extend(children);
        rest = others;
        at += 1;
    }
    found
}

/// Ends what is left of a tree whose keeper is gone: it is known by an entry of its environment then. Those that
/// live on all the same. Blocking, for at most about a second.
pub fn end_marked(entry: &[u8]) -> Vec<Named> {
    let own = std::process::id() as i32;
    let until = Instant::now() + SWEEP_MAX;
    loop {
        let left: Vec<Seen> = marked(entry).into_iter().filter(|seen| seen.id.pid != own).collect();
        let sent = left.iter().filter(|seen| signal(&seen.id, Signal::KILL) == Sent::Yes).count();
        // none may be signalled, or there was time enough to die
        if left.is_empty() || sent == 0 || Instant::now() >= until {
            return left.iter().filter(|left| is_there(&left.id)).map(|left| named(&left.id)).collect();
        }
        std::thread::sleep(SWEEP_PAUSE);
    }
}

fn is_there(id: &ProcessId) -> bool {
    seen(id.pid).is_some_and(|now| now.id == *id && !now.ended())
}

/// Sends a signal to exactly this process.
pub fn signal(id: &ProcessId, signal: Signal) -> Sent {
    let Some(pid) = Pid::from_raw(id.pid) else { return Sent::Gone };
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { return Sent::Gone };
    // the pidfd is of the process that has the number now; it is ours when the start is the same
    match seen(id.pid) {
        Some(now) if now.id == *id && !now.ended() => {}
        _ => return Sent::Gone,
    }
    match pidfd_send_signal(&pidfd, signal) {
        Ok(()) => Sent::Yes,
        Err(error) if error.raw_os_error() == Errno::EPERM as i32 => Sent::Refused,
        Err(_) => Sent::Gone,
    }
}

/// A process with its command line, for people.
pub fn named(id: &ProcessId) -> Named {
    let line = fs::read(format!("/proc/{}/cmdline", id.pid)).unwrap_or_default();
    let words: Vec<String> = line
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let mut command = words.join(" ");
    if command.is_empty() {
        let name = fs::read_to_string(format!("/proc/{}/comm", id.pid)).unwrap_or_default();
        command = format!("[{}]", name.trim_end());
    }
    let command =
        command.chars().take(COMMAND_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    Named { id: id.clone(), command }
}

fn parse_stat(pid: i32, stat: &[u8]) -> Option<Seen> {
    // the name in parentheses may hold anything, parentheses too: fields count from the last one
    let after = memchr::memrchr(b')', stat)? + 1;
    let rest = std::str::from_utf8(&stat[after..]).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let state = *fields.first()?.as_bytes().first()?;
    let parent = fields.get(1)?.parse().ok()?;
    let group = fields.get(2)?.parse().ok()?;
    let start = fields.get(19)?.parse().ok()?;
    Some(Seen { id: ProcessId { pid, start }, parent, group, state })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_name_with_parentheses_is_no_field() {
        let stat = b"42 (a) S 9 (b) R 7 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 1 1 1";
        let seen = parse_stat(42, stat).unwrap();
        assert_eq!((seen.parent, seen.state, seen.id.start), (7, b'R', 12345));
        assert_eq!(parse_stat(1, b"garbage"), None);
        assert_eq!(parse_stat(1, b"1 (x) S 1"), None);
    }

    #[test]
    fn a_signal_never_goes_to_a_later_process_with_the_number() {
        let mut child = Command::new("sleep").arg("300").stdin(Stdio::null()).spawn().unwrap();
        let id = seen(child.id() as i32).unwrap().id;
        let other = ProcessId { pid: id.pid, start: id.start + 1 };
        assert_eq!(signal(&other, Signal::KILL), Sent::Gone);
        assert!(child.try_wait().unwrap().is_none(), "a wrong start time was signalled");
        assert!(below(std::process::id() as i32).iter().any(|seen| seen.id == id));
        // The kernel may show the new program's words a moment after its start.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while !named(&id).words().ends_with("sleep 300") {
            assert!(std::time::Instant::now() < until, "{}", named(&id).words());
            std::thread::yield_now();
        }
        assert_eq!(signal(&id, Signal::KILL), Sent::Yes);
        child.wait().unwrap();
        assert_eq!(signal(&id, Signal::KILL), Sent::Gone);
    }
}
