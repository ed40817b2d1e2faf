//! Whether a program seems to wait for input: a process of the group in front sleeps in a read of its terminal, or in
//! a poll that asks for the terminal's input. Sampled, so a word like "seems" is right.
//!
//! Holding the terminal open is not enough: a server that polls its sockets, or a build that polls its compilers, has
//! the terminal as its input and does not wait for it. So the list that is polled is read from the process.
//!
//! A program that polls its terminal again and again with a time-out (`top`, an editor, a watcher that takes keys)
//! counts: it takes keys. One that sleeps, computes, or reads a pipe does not. Relays (`ssh`, `docker exec -it`) wait
//! for both sides and count too: from here nobody can tell.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use nix::libc;

use crate::base::Millis;

/// Samples at a stretch in which nothing came, from which on they are taken seldom.
const QUIET_MANY: u32 = 60;
/// The time between two samples while something came lately, and when nothing did for long.
const OFTEN: Millis = Millis(1000);
const SELDOM: Millis = Millis(5000);
/// Most samples from one search for the group's processes to the next, while nothing comes.
const SEARCH_EVERY_MAX: u32 = 32;
/// Most processes of the group that are looked at.
const MEMBERS_MAX: usize = 256;
/// Most descriptors of a poll that are looked at.
const POLLED_MAX: u64 = 4096;
/// Asked for input, in a poll and in an epoll.
const INPUT: u32 = 1;
/// The device of `/dev/tty`: the terminal of who opens it.
const OWN_TERMINAL: u64 = 5 << 8;

/// A terminal as its users hold it.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The process group in front.
    pub group: i32,
    /// The device number of the terminal's own end.
    pub device: u64,
    /// Whether it takes whole lines and shows nothing of them: somebody asks for a password.
    pub secret: bool,
}

/// What was found before, so that a terminal where nothing happens costs little: its group's processes are searched
/// for among all of the machine when something came, and seldom while nothing does.
#[derive(Debug, Default)]
pub struct Sampler {
    group: i32,
    members: Vec<i32>,
    /// A search is due, and was not needed yet.
    owed: bool,
    pace: Pace,
}

impl Sampler {
    /// Whether a process of the group in front waits for this terminal; `fresh`: something came since the last time.
    pub fn waits(&mut self, asked: Asked, fresh: bool) -> bool {
        let another = std::mem::replace(&mut self.group, asked.group) != asked.group;
        self.owed |= self.pace.search(fresh || another);
        // mostly it is the group's leader: one process to look at
        if in_group(asked.group, asked.group) && process_waits(asked.group, asked) {
            return true;
        }
        if std::mem::take(&mut self.owed) {
            self.members = members(asked.group);
        }
        self.members.iter().any(|pid| in_group(*pid, asked.group) && process_waits(*pid, asked))
    }

    /// How long until it is asked again, when nothing comes.
    pub fn rest(&self) -> Millis {
        if self.pace.quiet < QUIET_MANY { OFTEN } else { SELDOM }
    }
}

/// When the processes of a group are searched for: each time when something came, else twice as seldom each time.
#[derive(Debug, Default)]
struct Pace {
    /// Samples since something came.
    quiet: u32,
    /// The one with the next search.
    next: u32,
}

impl Pace {
    fn search(&mut self, fresh: bool) -> bool {
        if fresh {
            *self = Self { quiet: 0, next: 1 };
            return true;
        }
        self.quiet = self.quiet.saturating_add(1);
        let due = self.quiet >= self.next;
        if due {
            self.next = self.quiet.saturating_add(self.quiet.clamp(1, SEARCH_EVERY_MAX));
        }
        due
    }
}

/// The processes of a group besides its leader.
fn members(group: i32) -> Vec<i32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| *pid != group && in_group(*pid, group))
        .take(MEMBERS_MAX)
        .collect()
}

fn in_group(pid: i32, group: i32) -> bool {
    stat(&format!("/proc/{pid}/stat")).is_some_and(|(_, found)| found == group)
}

/// The state and the process group, from the fields after the name.
fn stat(path: &str) -> Option<(u8, i32)> {
    let stat = fs::read(path).ok()?;
    let after = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after..]).ok()?.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    Some((state, fields.nth(1)?.parse().ok()?))
}

fn process_waits(pid: i32, asked: Asked) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    tasks.flatten().any(|task| match fs::read_to_string(task.path().join("syscall")) {
        Ok(call) => call_waits(&call, pid, asked.device),
        // another user's (sudo, su, passwd): what it sleeps in is not told to us, but the terminal tells that it asks
        Err(_) => asked.secret && stat(&format!("/proc/{pid}/stat")).is_some_and(|(state, _)| state == b'S'),
    })
}

/// A line of `/proc/PID/syscall`: the number of the call and its arguments in hex; `running` when it is in none.
fn call_waits(line: &str, pid: i32, device: u64) -> bool {
    let mut words = line.split_ascii_whitespace();
    let Some(number) = words.next().and_then(|word| word.parse::<i64>().ok()) else { return false };
    let mut argument = || {
        words.next().and_then(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()).unwrap_or(0)
    };
    let (first, second) = (argument(), argument());
    let asked_for = if READS.contains(&number) {
        vec![first]
    } else if POLLS.contains(&number) {
        polled(&memory(pid, first, second.min(POLLED_MAX) * 8))
    } else if SELECTS.contains(&number) {
        selected(&memory(pid, second, first.min(POLLED_MAX).div_ceil(64) * 8), first)
    } else if EPOLLS.contains(&number) {
        registered(&fs::read_to_string(format!("/proc/{pid}/fdinfo/{first}")).unwrap_or_default())
    } else {
        Vec::new()
    };
    asked_for.into_iter().any(|fd| is_terminal(pid, fd, device))
}

/// Memory of a process; empty when it may not be read.
fn memory(pid: i32, at: u64, count: u64) -> Vec<u8> {
    // proof of the size: a caller asks for at most POLLED_MAX entries of 8 bytes
    let mut bytes = vec![0; usize::try_from(count).unwrap_or(0)];
    let read = File::open(format!("/proc/{pid}/mem")).and_then(|file| file.read_exact_at(&mut bytes, at));
    if read.is_ok() { bytes } else { Vec::new() }
}

/// The descriptors whose input a poll asks for: entries of a descriptor (4 bytes), what is asked, what came (2 each).
fn polled(list: &[u8]) -> Vec<u64> {
    let (entries, _) = list.as_chunks::<8>();
    let asked = |entry: &[u8; 8]| {
        let [a, b, c, d, e, f, ..] = *entry;
        let wanted = u32::from(u16::from_ne_bytes([e, f])) & INPUT != 0;
        u64::try_from(i32::from_ne_bytes([a, b, c, d])).ok().filter(|_| wanted)
    };
    entries.iter().filter_map(asked).collect()
}

/// The descriptors below `count` whose input a select asks for: a bit for each.
fn selected(set: &[u8], count: u64) -> Vec<u64> {
    let (words, _) = set.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_ne_bytes(*word));
    let bits = (0_u64..).step_by(64).zip(words).flat_map(|(from, word)| {
        (0..64_u64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| from + bit)
    });
    bits.take_while(|fd| *fd < count).collect()
}

/// The descriptors whose input an epoll asks for, from lines like `tfd:        0 events:       19 data: …`.
fn registered(info: &str) -> Vec<u64> {
    let asked = |line: &str| {
        let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
        let fd = words.next()?.parse().ok()?;
        let events = u32::from_str_radix(words.nth(1)?, 16).ok()?;
        (events & INPUT != 0).then_some(fd)
    };
    info.lines().filter_map(asked).collect()
}

/// Whether a descriptor of a process is this terminal. By its device, for in another mount namespace it has another
/// path; but only what is named like a terminal is looked at, for a file of a dead server would hold us too.
fn is_terminal(pid: i32, fd: u64, device: u64) -> bool {
    let link = format!("/proc/{pid}/fd/{fd}");
    let named = fs::read_link(&link).is_ok_and(|path| named_like_a_terminal(&path));
    named && fs::metadata(&link).is_ok_and(|found| found.rdev() == device || found.rdev() == OWN_TERMINAL)
}

fn named_like_a_terminal(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == "tty" || name == "console" || name.parse::<u32>().is_ok()
}

const READS: &[i64] = &[libc::SYS_read, libc::SYS_readv];

#[cfg(target_arch = "x86_64")]
const POLLS: &[i64] = &[libc::SYS_poll, libc::SYS_ppoll];
#[cfg(not(target_arch = "x86_64"))]
const POLLS: &[i64] = &[libc::SYS_ppoll];

#[cfg(target_arch = "x86_64")]
const SELECTS: &[i64] = &[libc::SYS_select, libc::SYS_pselect6];
#[cfg(not(target_arch = "x86_64"))]
const SELECTS: &[i64] = &[libc::SYS_pselect6];

#[cfg(target_arch = "x86_64")]
const EPOLLS: &[i64] = &[libc::SYS_epoll_wait, libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2];
#[cfg(not(target_arch = "x86_64"))]
const EPOLLS: &[i64] = &[libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2];

#[cfg(test)]
#[path = "waits_tests.rs"]
mod tests;
