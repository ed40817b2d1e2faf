//! Finding the processes below one, and signalling exactly those.
//!
//! Parentage is read from `/proc`; below a child subreaper it is complete, whatever left its group or
//! session. A process is its number with its start time: a signal goes through a pidfd that is compared
//! with both, so a number that was used again is never hit. Never a pattern over command lines.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;

use nix::errno::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::process::record::{Named, ProcessId};

/// Most characters of a command line that is named.
const COMMAND_CHARS_MAX: usize = 120;

/// A process as `/proc` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Which.
    pub id: ProcessId,
    /// Its parent's number.
    pub parent: i32,
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
    let start = fields.get(19)?.parse().ok()?;
    Some(Seen { id: ProcessId { pid, start }, parent, state })
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
        assert!(named(&id).words().ends_with("sleep 300"));
        assert_eq!(signal(&id, Signal::KILL), Sent::Yes);
        child.wait().unwrap();
        assert_eq!(signal(&id, Signal::KILL), Sent::Gone);
    }
}
