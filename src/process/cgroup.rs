//! A cgroup of a command's own, where one can be made: whoever is born in it stays in it, whatever its parent.
//!
//! It is found out by doing: below the keeper's own group a directory is made, first in the unified hierarchy (v2),
//! then in that of `pids` or `freezer` (v1). Its name bears the keeper's number and start, and its keeper holds a lock
//! on it: so one that a dead keeper left is known, and a living one's is never touched.
//!
//! Not here: putting a process into it at its birth (`pre_exec`), processes by parentage (`tree`).

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::process::mounts::mounts;
use crate::process::record::{Named, ProcessId};
use crate::process::tree::{self, Seen};

/// What the name of every group of ours begins with.
const NAME: &str = "windlass-";
/// How long the group of a dead keeper may take to end, and how long to wait between two looks at it.
const END_MAX: Duration = Duration::from_secs(1);
const END_PAUSE: Duration = Duration::from_millis(5);
/// Looks until a group whose processes have ended can be removed.
const REMOVE_TRIES: u32 = 10;

/// Threads count for the system's own bound: so many for each process that is allowed.
const THREADS: u32 = 4;

/// Which kind of group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Of the unified hierarchy: a process can be born in it.
    Unified,
    /// Of the `pids` hierarchy (v1): nobody forks when it says so.
    Pids,
    /// Of the `freezer` hierarchy (v1): it can be stopped as one.
    Freezer,
}

impl Kind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Unified => "cgroup v2",
            Kind::Pids => "cgroup v1, pids",
            Kind::Freezer => "cgroup v1, freezer",
        }
    }
}

/// Where a command's group is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRecord {
    /// Its kind.
    pub kind: Kind,
    /// Its directory.
    pub path: String,
}

/// A group that this keeper made and holds.
#[derive(Debug)]
pub struct Group {
    record: GroupRecord,
    path: PathBuf,
    /// Locked for as long as the keeper lives.
    dir: File,
}

impl Group {
    /// Makes one for this keeper, of the best kind that may be made; what was in the way of each, if none may.
    pub fn make(keeper: &ProcessId) -> Result<Self, String> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
        let mut why = String::new();
        for kind in [Kind::Unified, Kind::Pids, Kind::Freezer] {
            let made = match place(kind, &own, &table) {
                None => Err(io::Error::from(io::ErrorKind::NotFound)),
                Some(parent) => {
                    sweep(&parent);
                    Self::make_below(&parent, kind, keeper)
                }
            };
            match made {
                Ok(group) => return Ok(group),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let _ = write!(why, "{}none of {}", comma(&why), kind.words());
                }
                Err(error) => {
                    let _ = write!(why, "{}{}: {error}", comma(&why), kind.words());
                }
            }
        }
        Err(why)
    }

    fn make_below(parent: &Path, kind: Kind, keeper: &ProcessId) -> io::Result<Self> {
        let path = parent.join(format!("{NAME}{}-{}", keeper.pid, keeper.start));
        let text = path.to_str().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
        fs::create_dir(&path)?;
        let opened = File::open(&path).and_then(|dir| {
            flock(&dir, FlockOperation::NonBlockingLockExclusive)?;
            Ok(dir)
        });
        match opened {
            Ok(dir) => Ok(Self { record: GroupRecord { kind, path: text }, path, dir }),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                Err(error)
            }
        }
    }

    /// Where it is.
    pub fn record(&self) -> &GroupRecord {
        &self.record
    }
    /// The directory, for a process to be born in, where its kind allows that.
    pub fn birthplace(&self) -> Option<BorrowedFd<'_>> {
        Some(self.dir.as_fd()).filter(|_| self.record.kind == Kind::Unified)
    }
    /// The file that a process writes `0` to, to enter by itself.
    pub fn entrance(&self) -> io::Result<File> {
        File::options().write(true).open(self.path.join("cgroup.procs"))
    }
    /// Lets it not grow past a bound (`pids.max`; threads count there, so it is wider), where its hierarchy can; the file
    /// that tells when it was reached, to wait for.
    pub fn fence(&self, most: u32) -> Option<Fence> {
        fs::write(self.path.join("pids.max"), most.saturating_mul(THREADS).to_string()).ok()?;
        let mut fence = Fence { file: File::open(self.path.join("pids.events")).ok()?, reached: false };
        fence.reached();
        Some(fence)
    }
    /// How many processes are in it, also in groups below it.
    pub fn count(&self) -> usize {
        count(&self.path)
    }
    /// Who is in it, also in groups below it; those that have ended left out.
    pub fn members(&self) -> Vec<Seen> {
        members(&self.path)
    }

    /// Whether this child of ours, not reaped yet, is in it, alive or ended.
    pub fn holds(&self, pid: i32) -> bool {
        let own = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        self.path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| own.lines().any(|line| line.rsplit('/').next() == Some(name)))
    }

    /// Keeps its processes from forking, as far as its kind can. Until `let_go`.
    pub fn hold(&self) {
        // what cannot be held is reached by repetition
        let _ = match self.record.kind {
            Kind::Unified => fs::write(self.path.join("cgroup.freeze"), "1"),
            Kind::Pids => fs::write(self.path.join("pids.max"), "0"),
            Kind::Freezer => fs::write(self.path.join("freezer.state"), "FROZEN"),
        };
    }
    /// Lets those go on that were held: a frozen process of v1 cannot even die.
    pub fn let_go(&self) {
        let _ = match self.record.kind {
            Kind::Unified => fs::write(self.path.join("cgroup.freeze"), "0"),
            Kind::Pids => Ok(()),
            Kind::Freezer => fs::write(self.path.join("freezer.state"), "THAWED"),
        };
    }
    /// Ends all of it in one stroke that no fork outruns; false: this kernel cannot.
    pub fn kill(&self) -> bool {
        kill(&self.path)
    }
    /// Removes it; one whose processes live on stays, for a later keeper to sweep.
    pub fn remove(&self) {
        remove(&self.path);
    }
}

/// Tells when a group was kept from growing.
#[derive(Debug)]
pub struct Fence {
    file: File,
    reached: bool,
}

impl Fence {
    /// Has an event of priority when that may have changed.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
    /// Whether it was reached; looked up anew, which is also what makes the next event.
    pub fn reached(&mut self) -> bool {
        let mut text = String::new();
        let read = self.file.rewind().and_then(|()| self.file.read_to_string(&mut text));
        let times = text.lines().find_map(|line| line.strip_prefix("max ")?.parse::<u64>().ok());
        self.reached |= read.is_ok() && times.is_some_and(|times| times > 0);
        self.reached
    }
}

fn comma(before: &str) -> &'static str {
    if before.is_empty() { "" } else { "; " }
}

/// Ends what is in the group of a keeper that is gone, and removes it; those that live on all the same.
/// Blocking, for at most about a second.
pub fn end_left_over(group: &GroupRecord, keeper: &ProcessId) -> Vec<Named> {
    let path = Path::new(&group.path);
    let named = path.file_name().and_then(|name| name.to_str()).and_then(keeper_of);
    if named.as_ref() != Some(keeper) {
        return Vec::new();
    }
    let until = Instant::now() + END_MAX;
    loop {
        end_once(path);
        let left = members(path);
        if left.is_empty() || Instant::now() >= until {
            remove(path);
            return left.iter().map(|seen| tree::named(&seen.id)).collect();
        }
        std::thread::sleep(END_PAUSE);
    }
}

/// Ends and removes what dead keepers left below this group.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let Some(keeper) = entry.file_name().to_str().and_then(keeper_of) else { continue };
        let lives = tree::seen(keeper.pid).is_some_and(|seen| seen.id == keeper && !seen.ended());
        // in another namespace of processes it may live under another number: its lock tells
        let free = |dir: &File| flock(dir, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !lives && File::open(entry.path()).is_ok_and(|dir| free(&dir)) {
            end_once(&entry.path());
            remove(&entry.path());
        }
    }
}

/// The keeper whose group bears this name.
fn keeper_of(name: &str) -> Option<ProcessId> {
    let (pid, start) = name.strip_prefix(NAME)?.split_once('-')?;
    Some(ProcessId { pid: pid.parse().ok()?, start: start.parse().ok()? })
}

fn end_once(path: &Path) {
    if !kill(path) {
        for seen in members(path) {
            tree::signal(&seen.id, Signal::KILL);
        }
    }
    // v1: who was frozen when its keeper went dies now
    if path.join("freezer.state").exists() {
        let _ = fs::write(path.join("freezer.state"), "THAWED");
    }
}

fn kill(path: &Path) -> bool {
    fs::write(path.join("cgroup.kill"), "1").is_ok()
}

fn count(path: &Path) -> usize {
    let procs = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    procs.lines().count() + groups_below(path).iter().map(|below| count(below)).sum::<usize>()
}

fn members(path: &Path) -> Vec<Seen> {
    let procs = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    let mut all: Vec<Seen> = procs
        .lines()
        .filter_map(|line| line.parse().ok().and_then(tree::seen))
        .filter(|seen| !seen.ended())
        .collect();
    for below in groups_below(path) {
        all.extend(members(&below));
    }
    all
}

fn remove(path: &Path) {
    for below in groups_below(path) {
        remove(&below);
    }
    for _ in 0..REMOVE_TRIES {
        match fs::remove_dir(path) {
            // the last one has ended, and the system has not yet put it away
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && members(path).is_empty() => {
                std::thread::sleep(END_PAUSE);
            }
            _ => return,
        }
    }
}

fn groups_below(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// The directory of our own group of this kind, from what the system tells of groups and mounts.
fn place(kind: Kind, own: &str, table: &[u8]) -> Option<PathBuf> {
    let controller = match kind {
        Kind::Unified => "",
        Kind::Pids => "pids",
        Kind::Freezer => "freezer",
    };
    let group = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers) = (parts.next()?, parts.next()?);
        let ours = match kind {
            Kind::Unified => number == "0" && controllers.is_empty(),
            Kind::Pids | Kind::Freezer => controllers.split(',').any(|name| name == controller),
        };
        parts.next().filter(|_| ours)
    })?;
    mounts(table).find_map(|mount| {
        let ours = match kind {
            Kind::Unified => mount.kind == "cgroup2",
            Kind::Pids | Kind::Freezer => {
                mount.kind == "cgroup" && mount.options.split(',').any(|option| option == controller)
            }
        };
        // what is mounted may begin below the root of the hierarchy; a group outside of it cannot be reached
        let below =
            Path::new(group).strip_prefix(&mount.root).ok().filter(|below| !below.starts_with(".."))?;
        ours.then(|| mount.at.join(below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: &str = "25 20 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    const V1: &str = "30 25 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                      31 25 0:28 /box /mnt/a\\040b rw - cgroup cgroup rw,freezer\n";

    fn at(kind: Kind, own: &str, mounts: &str) -> Option<String> {
        place(kind, own, mounts.as_bytes()).map(|path| path.display().to_string())
    }

    #[test]
    fn our_own_group_is_found_in_each_hierarchy() {
        let own = "0::/user.slice/a.scope\n";
        assert_eq!(at(Kind::Unified, own, V2).as_deref(), Some("/sys/fs/cgroup/user.slice/a.scope"));
        assert_eq!(at(Kind::Pids, own, V2), None);
        let own = "9:name=systemd:/\n8:pids:/x\n6:cpu,freezer:/box/y\n0::/\n";
        assert_eq!(at(Kind::Pids, own, V1).as_deref(), Some("/sys/fs/cgroup/pids/x"));
        assert_eq!(at(Kind::Freezer, own, V1).as_deref(), Some("/mnt/a b/y"));
        assert_eq!(at(Kind::Unified, own, V1), None);
        assert_eq!(at(Kind::Freezer, "6:freezer:/other\n", V1), None, "it is not in what is mounted");
        assert_eq!(at(Kind::Unified, "0::/../x\n", V2), None, "it is outside of our namespace");
        assert_eq!(at(Kind::Unified, "", ""), None);
    }

    #[test]
    fn a_group_bears_its_keepers_number_and_start() {
        assert_eq!(keeper_of("windlass-12-345"), Some(ProcessId { pid: 12, start: 345 }));
        for other in ["windlass-12", "windlass--1-2", "windlass-x-1", "other-1-2", "windlass-1-2-3"] {
            assert_eq!(keeper_of(other), None, "{other}");
        }
    }

    /// As far as this machine and this person allow: each kind, with a real process.
    #[test]
    fn each_kind_holds_ends_and_goes() {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let table = fs::read("/proc/self/mountinfo").unwrap();
        let me = tree::seen(std::process::id() as i32).unwrap().id;
        for (n, kind) in [Kind::Unified, Kind::Pids, Kind::Freezer].into_iter().enumerate() {
            let name = ProcessId { pid: me.pid, start: me.start + n as u64 + 1 };
            let made = place(kind, &own, &table).map(|at| Group::make_below(&at, kind, &name));
            let Some(Ok(group)) = made else { continue };
            let mut child = std::process::Command::new("sleep").arg("300").spawn().unwrap();
            let pid = child.id() as i32;
            fs::write(group.path.join("cgroup.procs"), pid.to_string()).unwrap();
            assert!(group.holds(pid) && !group.holds(me.pid), "{kind:?}");
            assert_eq!(group.members().iter().map(|seen| seen.id.pid).collect::<Vec<_>>(), [pid]);
            sweep(group.path.parent().unwrap());
            assert!(child.try_wait().unwrap().is_none(), "what is locked is not swept: {kind:?}");
            if let Some(mut fence) = group.fence(0) {
                assert!(!fence.reached());
                let script = "for n in 1 2 3; do sleep 0 & done 2>/dev/null";
                let at = group.path.join("cgroup.procs");
                let entered = format!("echo 0 >'{}' && {{ {script}; }}; exit 0", at.display());
                // bash tries again for seconds
                std::process::Command::new("timeout").args(["2", "bash", "-c", &entered]).status().unwrap();
                // an event tells of it sooner where the kernel sends one for this kind
                assert!(fence.reached(), "{kind:?}");
            }
            group.hold();
            if !group.kill() {
                tree::signal(&group.members()[0].id, Signal::KILL);
            }
            group.let_go();
            child.wait().unwrap();
            assert_eq!(group.members(), []);
            group.remove();
            assert!(!group.path.exists(), "{kind:?}");
        }
    }
}
