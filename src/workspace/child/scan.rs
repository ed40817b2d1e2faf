//! What a child changed: only what does not look as it was is read, and its content decides.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Room;
use super::beneath::{Beneath, Nearby};
use super::born::{Born, Mark};
use super::error::Error;
use super::rules::Rules;
use crate::law::hand_back::tree::{Obstacle, Tree, TreePath, Version};

/// From how many files on they are looked at by more than one thread.
const PORTION_MIN: usize = 1000;

/// How many threads look: it is the kernel's work, and there may be a disk behind it.
const THREADS_MAX: usize = 4;

/// The changed paths of a copy: as the child found them and as they are.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The base's versions of them.
    pub base: Tree,
    /// The child's.
    pub child: Tree,
    /// New paths that the ignore rules leave out; a directory stands for all that is in it.
    pub ignored: BTreeSet<TreePath>,
    /// How many files were read.
    pub read: u64,
}

/// Scans the copy of a child that was stopped.
pub fn scan(room: &Room) -> Result<Changes, Error> {
    let born = room.read_born()?;
    let copy = Beneath::open_ours(&room.copy()).map_err(|_| Error::CopyGone { path: room.copy() })?;
    let base = Beneath::open_ours(&room.base()).map_err(Error::io("open", &room.base()))?;
    let rules = [room.base(), room.copy()].map(|tree| Rules::new(&tree, &born.repositories, &room.rules()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let portion = born.marks.len().div_ceil(threads).max(PORTION_MIN);
    let (others, news) = std::thread::scope(|scope| {
        let portions = born.marks.chunks(portion);
        let looks: Vec<_> = portions.map(|marks| scope.spawn(|| others(&copy, &born, marks))).collect();
        let mut new = New::of(&copy, room.copy(), &born, rules);
        let news = new.look(&mut Vec::new()).map(|()| new.changes);
        let join = |look: std::thread::ScopedJoinHandle<'_, _>| {
            look.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        (looks.into_iter().flat_map(join).collect::<Vec<&TreePath>>(), news)
    });
    let mut changes = news?;
    for path in others {
        let before = base.version(path).map_err(Error::at("read", path))?;
        let after = copy.version(path).map_err(Error::at("read", path))?;
        changes.read += 2;
        if before != after {
            changes.base.put(path.clone(), before);
            changes.child.put(path.clone(), after.tracked().clone());
        }
    }
    Ok(changes)
}

/// Those of the base's paths that do not look in the copy as they were, or may have been changed all the same.
fn others<'a>(copy: &Beneath, born: &Born, marks: &'a [(TreePath, Mark)]) -> Vec<&'a TreePath> {
    let mut nearby = Nearby::of(copy);
    let is_other = |(path, mark): &(TreePath, Mark)| {
        let now = nearby.stat(path).ok().map(|stat| Mark::of(&stat));
        now != Some(*mark) || mark.is_racy(born.time)
    };
    // a filter that takes its state along
    let mut is_other = is_other;
    marks.iter().filter(|mark| is_other(mark)).map(|(path, _)| path).collect()
}

/// The search for what is new.
struct New<'a> {
    copy: &'a Beneath,
    top: PathBuf,
    /// The base's paths, in order, and to be found quickly.
    marks: &'a [(TreePath, Mark)],
    known: HashSet<&'a [u8]>,
    /// What is Windlass's own in the parent's directory.
    own: &'a [TreePath],
    rules: [Rules; 2],
    changes: Changes,
}

impl<'a> New<'a> {
    fn of(copy: &'a Beneath, top: PathBuf, born: &'a Born, rules: [Rules; 2]) -> New<'a> {
        let known = born.marks.iter().map(|(path, _)| path.as_bytes()).collect();
        New { copy, top, marks: &born.marks, known, own: &born.own, rules, changes: Changes::default() }
    }

    /// Looks into a directory; `at`: its path, which is as it was afterwards.
    fn look(&mut self, at: &mut Vec<u8>) -> Result<(), Error> {
        let dir = self.top.join(OsStr::from_bytes(at));
        let Some(items) = self.list(&dir, TreePath::new(&at[..]))? else { return Ok(()) };
        let above = at.len();
        for item in items {
            let item = item.map_err(Error::io("list", &dir))?;
            let is_dir = item.file_type().map_err(Error::io("look at", &item.path()))?.is_dir();
            into(at, item.file_name().as_bytes());
            // a path of the base is looked at as such, whatever rules say
            if is_dir || !self.known.contains(&at[..]) {
                self.look1(at, is_dir)?;
            }
            at.truncate(above);
        }
        Ok(())
    }

    /// What is in a directory; none if the system does not let us look into it, not even as its owner.
    fn list(&mut self, dir: &Path, at: Option<TreePath>) -> Result<Option<fs::ReadDir>, Error> {
        let mut listed = fs::read_dir(dir);
        let is_closed = |error: &std::io::Error| error.kind() == std::io::ErrorKind::PermissionDenied;
        if listed.as_ref().is_err_and(is_closed) && self.copy.dir(at.as_ref()).is_ok() {
            listed = fs::read_dir(dir);
        }
        match (listed, at) {
            (Err(error), Some(at)) if is_closed(&error) => {
                self.changes.child.put(at, Version::InTheWay(Obstacle::Special));
                Ok(None)
            }
            (listed, _) => listed.map(Some).map_err(Error::io("list", dir)),
        }
    }

    fn look1(&mut self, at: &mut Vec<u8>, is_dir: bool) -> Result<(), Error> {
        // `.git` is none of the child's work
        let Some(path) = TreePath::new(&at[..]) else { return Ok(()) };
        let [before, now] = &mut self.rules;
        let ignored = self.own.contains(&path) || before.ignores(&path, is_dir) || now.ignores(&path, is_dir);
        if is_dir && !(ignored && self.is_new(&path)) {
            return if ignored { self.look_ignored(&path) } else { self.look(at) };
        }
        if self.known.contains(&at[..]) {
            return Ok(());
        }
        let version = if is_dir {
            Version::InTheWay(Obstacle::Special)
        } else {
            self.changes.read += 1;
            self.copy.version(&path).map_err(Error::at("read", &path))?
        };
        if ignored {
            self.changes.ignored.insert(path.clone());
        }
        self.changes.child.put(path, version);
        Ok(())
    }

    /// An ignored directory that has files of the base: those count, and what is new in it is left out.
    fn look_ignored(&mut self, at: &TreePath) -> Result<(), Error> {
        let dir = self.top.join(OsStr::from_bytes(at.as_bytes()));
        let Some(items) = self.list(&dir, Some(at.clone()))? else { return Ok(()) };
        for item in items {
            let item = item.map_err(Error::io("list", &dir))?;
            let Some(path) = TreePath::new([at.as_bytes(), b"/", item.file_name().as_bytes()].concat())
            else {
                continue;
            };
            let is_dir = item.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir && !self.is_new(&path) {
                self.look_ignored(&path)?;
            } else if !self.known.contains(path.as_bytes()) {
                self.changes.ignored.insert(path.clone());
                self.changes.child.put(path, Version::InTheWay(Obstacle::Special));
            }
        }
        Ok(())
    }

    /// Whether the base had nothing beneath a path.
    fn is_new(&self, path: &TreePath) -> bool {
        let from = self.marks.partition_point(|(known, _)| known < path);
        !self.marks[from..]
            .iter()
            .map(|(known, _)| known)
            .take_while(|known| *known == path || known.as_bytes().starts_with(path.as_bytes()))
            .any(|known| known.is_beneath(path))
    }
}

/// Goes from a directory to what is in it under a name.
fn into(at: &mut Vec<u8>, name: &[u8]) {
    if !at.is_empty() {
        at.push(b'/');
    }
    at.extend_from_slice(name);
}
