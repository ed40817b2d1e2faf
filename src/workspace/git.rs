//! The git state of a directory, for the title line and the model: branch, and whether the tree is dirty.
//!
//! By the `git` binary: without taking locks, without hooks and file-system monitors, bounded in time. Never
//! called on the way to the first frame.

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// How long git may take.
pub const TIME_MAX: Duration = Duration::from_secs(1);

/// What is known of a git work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitState {
    /// The branch, or the commit's short hash when none is checked out.
    pub branch: String,
    /// Whether something is changed or untracked; none when git did not answer in time.
    pub dirty: Option<bool>,
}

impl GitState {
    /// As in the title: the branch, with `*` when the tree is dirty.
    pub fn word(&self) -> String {
        let star = if self.dirty == Some(true) { "*" } else { "" };
        format!("{}{star}", self.branch)
    }
}

/// What git needs of our environment. No more: it holds keys.
const INHERITED: [&str; 5] = ["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER"];

/// Asks git. None outside of a work tree, without git, or when git failed. Blocking, at most `time_max`.
pub fn state(dir: &Path, time_max: Duration) -> Option<GitState> {
    let deadline = Instant::now() + time_max;
    let mut child = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat"])
        .args(["status", "--porcelain=v2", "--branch", "--no-renames", "--ignore-submodules=dirty", "-z"])
        .current_dir(dir)
        .env_clear()
        .envs(INHERITED.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value))))
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    let read = child.stdout.take().map(|out| answer(out, deadline));
    // its answer is known, or it took too long: either way it has nothing more to do
    let _ = child.kill();
    let _ = child.wait();
    read.flatten()
}

/// Reads records until the state is known, the output ends, or time is up.
fn answer(mut out: std::process::ChildStdout, deadline: Instant) -> Option<GitState> {
    let mut bytes = Vec::new();
    let mut buffer = [0_u8; 16 * 1024];
    let ended = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = PollTimeout::from(u16::try_from(left.as_millis()).unwrap_or(u16::MAX));
        if left.is_zero() || poll(&mut [PollFd::new(out.as_fd(), PollFlags::POLLIN)], wait).ok()? == 0 {
            break false;
        }
        match out.read(&mut buffer) {
            Ok(0) => break true,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(_) => return None,
        }
        // one change is all that has to be known
        if parse(&bytes).is_some_and(|state| state.dirty == Some(true)) {
            break true;
        }
    };
    let mut state = parse(&bytes)?;
    if ended && state.dirty.is_none() {
        state.dirty = Some(false);
    }
    Some(state)
}

/// The state as far as the whole records tell: `dirty` is none until a change was seen.
fn parse(bytes: &[u8]) -> Option<GitState> {
    let whole = bytes.iter().rposition(|byte| *byte == 0)?;
    let (mut head, mut oid, mut dirty) = (None, None, None);
    for record in bytes[..whole].split(|byte| *byte == 0) {
        let record = String::from_utf8_lossy(record);
        if let Some(name) = record.strip_prefix("# branch.head ") {
            head = Some(name.to_string());
        } else if let Some(hash) = record.strip_prefix("# branch.oid ") {
            oid = Some(hash.to_string());
        } else if !record.starts_with("# ") && !record.is_empty() {
            dirty = Some(true);
        }
    }
    let branch = match head?.as_str() {
        "(detached)" => oid?.chars().take(8).collect(),
        name => name.to_string(),
    };
    Some(GitState { branch, dirty })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(dir: &Path, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgSign=false"])
            .args(["-c", "init.defaultBranch=main", "-c", "core.hooksPath=/dev/null"])
            .args(arguments)
            .current_dir(dir)
            .output()
            .unwrap();
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Long enough for a machine under load; the bound itself has its own test.
    const PATIENT: Duration = Duration::from_secs(30);

    #[test]
    fn branch_and_dirt_are_told() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path();
        assert_eq!(state(dir, PATIENT), None);
        git(dir, &["init", "-q"]);
        assert_eq!(state(dir, PATIENT).unwrap().word(), "main");
        std::fs::write(dir.join("a"), "a").unwrap();
        assert_eq!(state(dir, PATIENT).unwrap().word(), "main*");
        git(dir, &["add", "a"]);
        git(dir, &["commit", "-qm", "a"]);
        assert_eq!(state(dir, PATIENT).unwrap(), GitState { branch: "main".into(), dirty: Some(false) });
        git(dir, &["checkout", "-q", "--detach"]);
        assert_eq!(state(dir, PATIENT).unwrap().branch.len(), 8);
    }

    #[test]
    fn a_cut_answer_never_says_clean() {
        let whole = b"# branch.oid 0123456789\0# branch.head main\0? new\0";
        for at in 0..=whole.len() {
            if let Some(state) = parse(&whole[..at]) {
                assert_eq!(state.branch, "main");
                assert_ne!(state.dirty, Some(false));
            }
        }
        assert_eq!(parse(whole).unwrap().dirty, Some(true));
    }

    #[test]
    fn no_time_gives_no_answer() {
        let tmp = tempfile::tempdir().unwrap();
        git(tmp.path(), &["init", "-q"]);
        assert_eq!(state(tmp.path(), Duration::ZERO), None);
    }
}
