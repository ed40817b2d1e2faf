//! The git state of a directory, for the title line and the model: branch, and whether the tree is dirty.
//!
//! By the `git` binary: without taking locks, bounded in time, and so that nothing of the project is run: its
//! directory need not be trusted, and its config can name programs. Hooks, file-system monitors, content filters and
//! fetches are off. (A file that only a filter would show as unchanged counts as changed: a star too many.)
//! Never called on the way to the first frame.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::answer::{Answer, Bounds, answer_of, more};

/// How long git may take.
pub const TIME_MAX: Duration = Duration::from_secs(1);

/// How long it may take to answer a question about a directory.
const QUESTION_TIME_MAX: Duration = Duration::from_secs(10);

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

/// Most bytes of the list of config keys.
const KEYS_BYTES_MAX: usize = 1024 * 1024;

/// Most bytes that are taken of any other answer.
const BYTES_MAX: usize = 256 * 1024 * 1024;

/// Asks git. None outside of a work tree, without git, or when git failed. Blocking, at most `time_max`.
pub fn state(dir: &Path, time_max: Duration) -> Option<GitState> {
    let deadline = Instant::now() + time_max;
    // none when git did not name all config keys in time
    let keys = whole(dir, &["config", "--list", "--name-only", "-z"], deadline, KEYS_BYTES_MAX).ok()?;
    let filters_off = filters_off(&keys)?;
    let status = ["status", "--porcelain=v2", "--branch", "--no-renames", "--ignore-submodules=dirty", "-z"];
    let mut git = git(dir, &filters_off, &status);
    let piped = git.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = piped.spawn().ok()?;
    let read = child.stdout.take().map(|out| told(out, deadline));
    // its answer is known, or it took too long: either way it has nothing more to do
    let _ = child.kill();
    let _ = child.wait();
    read.flatten()
}

/// Whether git lists the files of a directory: it is in a work tree, and not ignored there. Blocking.
pub fn is_work_tree(dir: &Path) -> bool {
    let ask = |arguments: &[&str]| output(dir, arguments, Instant::now() + QUESTION_TIME_MAX);
    ask(&["rev-parse", "--is-inside-work-tree"]).is_ok_and(|answer| answer == b"true\n")
        && ask(&["check-ignore", "-q", "."]).is_err()
}

/// What git prints to standard output, whole; else what went wrong. Nothing of the project is run. Blocking.
pub fn output(dir: &Path, arguments: &[&str], deadline: Instant) -> Result<Vec<u8>, String> {
    whole(dir, arguments, deadline, BYTES_MAX)
}

fn whole(dir: &Path, arguments: &[&str], deadline: Instant, bytes: usize) -> Result<Vec<u8>, String> {
    let bounds = Bounds { time: deadline.saturating_duration_since(Instant::now()), bytes };
    match answer_of(git(dir, &[], arguments), bounds)? {
        Answer { code: Some(0), output } => Ok(output),
        Answer { code: Some(code), .. } => Err(format!("git ended with exit code {code}")),
        Answer { code: None, .. } => Err("git was ended by a signal".to_owned()),
    }
}

/// Git, so that it runs nothing that the directory names.
fn git(dir: &Path, options: &[String], arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat"])
        .args(options)
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .envs(INHERITED.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value))))
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        // an object that is missing is not fetched: a fetch runs what the config names
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("LC_ALL", "C");
    command
}

/// The options that turn every content filter off; none when one has a name that no option can say.
fn filters_off(keys: &[u8]) -> Option<Vec<String>> {
    let mut names: Vec<&str> = Vec::new();
    for key in keys.split(|byte| *byte == 0) {
        let Some(rest) = key.strip_prefix(b"filter.") else { continue };
        let Some((name, _)) = std::str::from_utf8(rest).ok()?.rsplit_once('.') else { continue };
        if name.contains('=') {
            return None;
        }
        names.push(name);
    }
    names.sort_unstable();
    names.dedup();
    let settings = ["clean=", "smudge=", "process=", "required=false"];
    let options = names
        .iter()
        .flat_map(|name| settings.map(|setting| ["-c".to_owned(), format!("filter.{name}.{setting}")]));
    Some(options.flatten().collect())
}

/// Reads records until the state is known, the output ends, or time is up.
fn told(mut out: std::process::ChildStdout, deadline: Instant) -> Option<GitState> {
    let mut bytes = Vec::new();
    let mut buffer = [0_u8; 16 * 1024];
    let ended = loop {
        match more(&mut out, &mut buffer, deadline) {
            Ok(0) => break true,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(_) => break false,
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
    use super::{Command, Duration, GitState, Instant, Path, output, parse, state};

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
    fn a_signal_in_the_middle_is_no_answer() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path();
        git(dir, &["init", "-q"]);
        let heard = std::sync::Arc::default();
        let hearing = signal_hook::flag::register(signal_hook::consts::SIGURG, heard).unwrap();
        let asking = nix::sys::pthread::pthread_self();
        // slower than a fork: one that has a signal pending begins again, and a storm would let none begin
        let pace = Duration::from_millis(1);
        let (over, ended) = std::sync::mpsc::sync_channel::<()>(1);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while ended.recv_timeout(pace) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                    nix::sys::pthread::pthread_kill(asking, nix::sys::signal::Signal::SIGURG).unwrap();
                }
            });
            let told: Vec<_> = (0..20)
                .map(|_| output(dir, &["rev-parse", "--is-inside-work-tree"], Instant::now() + PATIENT))
                .collect();
            drop(over);
            assert_eq!(told, vec![Ok(b"true\n".to_vec()); 20]);
        });
        signal_hook::low_level::unregister(hearing);
    }

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

    /// Makes a file look changed to git, so that its content is compared.
    fn touch_again(dir: &Path, name: &str, content: &str) {
        std::fs::write(dir.join(name), content).unwrap();
        let past = std::time::SystemTime::now() - Duration::from_secs(1000);
        std::fs::File::options().write(true).open(dir.join(name)).unwrap().set_modified(past).unwrap();
    }

    #[test]
    fn asking_for_the_state_runs_nothing_that_the_project_names() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("project");
        let mark = tmp.path().join("ran");
        std::fs::create_dir(&dir).unwrap();
        git(&dir, &["init", "-q"]);
        std::fs::write(dir.join("a"), "a").unwrap();
        git(&dir, &["add", "a"]);
        git(&dir, &["commit", "-qm", "a"]);
        let run = format!("touch '{}'; cat", mark.display());
        for (attributes, key) in [
            ("* filter=x", "filter.x.clean"),
            ("* filter=x", "filter.x.process"),
            ("* filter=Big.Name", "filter.Big.Name.clean"),
            ("* filter=a=b", "filter.a=b.clean"),
            ("", "core.fsmonitor"),
        ] {
            std::fs::write(dir.join(".git/info/attributes"), attributes).unwrap();
            git(&dir, &["config", key, &run]);
            touch_again(&dir, "a", "b");
            let told = state(&dir, PATIENT);
            assert!(!mark.exists(), "{key} was run");
            if !key.contains('=') {
                assert_eq!(told.unwrap().word(), "main*", "{key}");
            }
            // the trap works: git by itself runs it
            let _ = Command::new("git").arg("status").current_dir(&dir).output().unwrap();
            assert!(mark.exists(), "{key} is no trap");
            std::fs::remove_file(&mark).unwrap();
            git(&dir, &["config", "--unset", key]);
        }
    }

    #[test]
    fn a_missing_object_is_not_fetched_by_what_the_project_names() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("project");
        let mark = tmp.path().join("ran");
        std::fs::create_dir(&dir).unwrap();
        git(&dir, &["init", "-q"]);
        std::fs::create_dir(dir.join("sub")).unwrap();
        std::fs::write(dir.join("sub/a"), "a").unwrap();
        git(&dir, &["add", "sub/a"]);
        git(&dir, &["commit", "-qm", "a"]);
        let tree = Command::new("git").args(["rev-parse", "HEAD^{tree}"]).current_dir(&dir).output().unwrap();
        let tree = String::from_utf8(tree.stdout).unwrap();
        let (head, rest) = tree.trim().split_at(2);
        std::fs::remove_file(dir.join(".git/objects").join(head).join(rest)).unwrap();
        std::fs::remove_file(dir.join(".git/index")).unwrap();
        let upload = format!("touch '{}'; false", mark.display());
        for (key, value) in [
            ("core.repositoryformatversion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", "file:///nowhere"),
            ("remote.origin.uploadpack", &upload),
        ] {
            git(&dir, &["config", key, value]);
        }
        state(&dir, PATIENT);
        assert!(!mark.exists(), "the upload-pack of the config was run");
        let _ = Command::new("git").arg("status").current_dir(&dir).output().unwrap();
        assert!(mark.exists(), "it is no trap");
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
