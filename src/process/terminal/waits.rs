//! Whether a program seems to wait for input: a process of the group in front sleeps in a read of its terminal, or in
//! a poll while it holds the terminal open. Sampled, so a word like "seems" is right.
//!
//! A full-screen program that polls (an editor, `top`) counts: it takes keys. One that sleeps, computes or reads a
//! pipe does not.

use std::fs;

/// Whether a process of this group waits on this terminal (`/dev/pts/N`).
pub fn waits(group: i32, terminal: &str) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| group_of(*pid) == Some(group))
        .any(|pid| process_waits(pid, terminal))
}

/// The process group, from the fields after the name.
fn group_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(2)?.parse().ok()
}

fn process_waits(pid: i32, terminal: &str) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    tasks.flatten().any(|task| {
        let dir = task.path();
        match fs::read_to_string(dir.join("syscall")) {
            Ok(call) => call_waits(&call, pid, terminal),
            // not ours to look into: what it sleeps in has a name at least
            Err(_) => fs::read_to_string(dir.join("wchan")).is_ok_and(|name| name.contains("n_tty_read")),
        }
    })
}

/// A line of `/proc/PID/syscall`: the number of the call and its arguments in hex; `running` when it is in none.
fn call_waits(line: &str, pid: i32, terminal: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let Some(number) = words.next().and_then(|word| word.parse::<i64>().ok()) else { return false };
    let argument = words.next().and_then(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok());
    if READS.contains(&number) {
        let fd = argument.unwrap_or(u64::MAX);
        return fs::read_link(format!("/proc/{pid}/fd/{fd}")).is_ok_and(|file| is_terminal(&file, terminal));
    }
    if POLLS.contains(&number) {
        let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        return files
            .flatten()
            .filter_map(|fd| fs::read_link(fd.path()).ok())
            .any(|f| is_terminal(&f, terminal));
    }
    false
}

fn is_terminal(file: &std::path::Path, terminal: &str) -> bool {
    file == std::path::Path::new(terminal) || file == std::path::Path::new("/dev/tty")
}

const READS: &[i64] = &[nix::libc::SYS_read, nix::libc::SYS_readv];

#[cfg(target_arch = "x86_64")]
const POLLS: &[i64] = &[
    nix::libc::SYS_poll,
    nix::libc::SYS_ppoll,
    nix::libc::SYS_select,
    nix::libc::SYS_pselect6,
    nix::libc::SYS_epoll_wait,
    nix::libc::SYS_epoll_pwait,
];
#[cfg(not(target_arch = "x86_64"))]
const POLLS: &[i64] = &[nix::libc::SYS_ppoll, nix::libc::SYS_pselect6, nix::libc::SYS_epoll_pwait];
