//! Killed before each of its system calls in turn, from outside by a tracer, and run again: the same tree, the same
//! record.
//!
//! The hand-back runs in a process of its own: the test binary again, asked for the one test below.

use std::path::Path;
use std::process::{Command, Stdio};

use windlass::workspace::child::Room;

use super::trees::{Entry, Triple, disk};
use super::{begin, place, told};

/// Where the process that is traced is told its place.
pub const PLACE: &str = "WINDLASS_HAND_BACK_TEST_PLACE";

/// The calls that change anything on a disk or make it durable; and, in a long run, those that open.
const CALLS: [&str; 11] = [
    "renameat2",
    "unlinkat",
    "mkdirat",
    "symlinkat",
    "fdatasync",
    "fchmod",
    "unlink",
    "rename",
    "fsync",
    "mkdir",
    "rmdir",
];
const OPENING: [&str; 3] = ["openat2", "openat", "write"];

#[test]
fn the_process_that_is_traced() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let root = Path::new(&place);
    std::fs::write(root.join("pid"), std::process::id().to_string()).unwrap();
    Room::at(root.join("room")).hand_back(&root.join("parent")).unwrap();
}

pub fn triple() -> Triple {
    let file = |text: &str| Some(Entry::File(text.as_bytes().to_vec(), false));
    Triple {
        base: vec![
            (b"edit", file("1")),
            (b"gone", file("1")),
            (b"d/x", file("1")),
            (b"clash", file("1")),
            (b"f", file("1")),
        ],
        parent: vec![(b"clash", file("2"))],
        child: vec![
            (b"edit", file("3")),
            (b"gone", None),
            (b"d", file("4")),
            (b"clash", file("5")),
            (b"f", None),
            (b"f/new", file("6")),
            (b"new/link", Some(Entry::Link(b"../edit".to_vec()))),
        ],
    }
}

/// Runs the hand-back under the tracer, killed before the `nth` call of a kind; whether it came to its end.
fn run(root: &Path, call: &str, nth: usize) -> bool {
    traced(root, call, &format!("signal=KILL:when={nth}"))
}

/// Runs the hand-back in a process of its own, with something done to calls of a kind; whether it came to its end.
pub fn traced(root: &Path, call: &str, inject: &str) -> bool {
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:{inject}")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "hand_back::cut::the_process_that_is_traced", "--test-threads=1"])
        .env(PLACE, root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("strace is needed: tests/run installs it");
    status.success()
}

#[test]
fn handback_crash_safe() {
    let tmp = place();
    let fresh = |name: &str| {
        let root = tmp.path().join(name);
        std::fs::create_dir(&root).unwrap();
        let (parent, room) = begin(&root, &triple());
        (root, parent, room)
    };
    let (_, parent, room) = fresh("whole");
    let record = room.hand_back(&parent).unwrap();
    let (lines, after) = (told(&record), disk(&parent));
    assert!(lines.iter().any(|line| line.ends_with("conflict")) && lines.len() == 8, "{lines:?}");
    let long = std::env::var_os("WINDLASS_LONG").is_some();
    let (calls, step) = if long { ([&CALLS[..], &OPENING[..]].concat(), 1) } else { (CALLS.to_vec(), 4) };
    let mut kills = 0;
    for call in calls {
        for nth in (1..).step_by(step) {
            let (root, parent, room) = fresh(&format!("{call}{nth}"));
            let ended = run(&root, call, nth);
            let again = room.hand_back(&parent).unwrap();
            assert_eq!(told(&again), lines, "killed before {call} {nth}");
            assert_eq!(disk(&parent), after, "killed before {call} {nth}");
            std::fs::remove_dir_all(&root).unwrap();
            if ended {
                break;
            }
            kills += 1;
        }
    }
    eprintln!("killed {kills} times");
    assert!(kills >= 10, "the tracer killed nothing: {kills}");
}

/// Whether some thread of the traced process stands at the call that moves files.
fn is_moving(root: &Path) -> bool {
    let Ok(pid) = std::fs::read_to_string(root.join("pid")) else { return false };
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let call = format!("{} ", nix::libc::SYS_renameat2);
    tasks.into_iter().any(|task| {
        std::fs::read_to_string(task.path().join("syscall")).is_ok_and(|text| text.starts_with(&call))
    })
}

/// The tracer holds the first move of the path for a while after it was looked at, and somebody saves meanwhile. `nth`:
/// which move that is; those before are of files of the hand-back's own, with which it tries them.
fn saved_in_between(child: Option<&str>, nth: usize) {
    let tmp = place();
    let file = |text: &str| Some(Entry::File(text.as_bytes().to_vec(), false));
    let childs = vec![(&b"edit"[..], child.and_then(file))];
    let (parent, room) =
        begin(tmp.path(), &Triple { base: vec![(b"edit", file("1"))], parent: vec![], child: childs });
    let mut strace = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2"])
        .args(["-e", &format!("inject=renameat2:delay_enter=1500000:when={nth}")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "hand_back::cut::the_process_that_is_traced", "--test-threads=1"])
        .env(PLACE, tmp.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let new = parent.join("new");
    std::fs::write(&new, "saved").unwrap();
    let prepared = room.dir().join("run/prepared.json");
    while !(prepared.exists() && is_moving(tmp.path())) && strace.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    std::fs::rename(&new, parent.join("edit")).unwrap();
    // on a machine so slow that the call was over by then, it was saved after the move and stays so too
    let in_time = is_moving(tmp.path());
    assert!(strace.wait().unwrap().success());
    let text = std::fs::read_to_string(parent.join("edit")).unwrap();
    assert_eq!(text, "saved", "{:?}", room.read_record().unwrap());
    let record = room.read_record().unwrap().unwrap();
    assert!(!in_time || told(&record)[0].ends_with("conflict"), "{record:?}");
}

#[test]
fn what_is_saved_between_looking_and_moving_is_put_back_and_told() {
    saved_in_between(Some("2"), 3);
    saved_in_between(None, 2);
}
