//! What a child changed: only what does not look as it was is read, and its content decides.
//!
//! Each directory of the base is looked at once: its files' marks, and what else is in it. What is new is gone through
//! afterwards, with the ignore rules, which are asked for nothing else. A new path of more bytes than the system takes is
//! named and stays in the copy: no program could say what it is about.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;

use rustix::fs::{AtFlags, FileType, RawDir};
use rustix::io::Errno;

use super::Room;
use super::at_once::work_on_all;
use super::beneath::{Beneath, is_blocked};
use super::born::Born;
use super::error::Error;
use super::marks::{Dir, Mark, Marks, joined};
use super::rules::Rules;
use crate::law::hand_back::tree::{Obstacle, Tree, TreePath, Version};

/// How many directories a thread takes at once.
const PORTION: usize = 16;

/// Bytes of names that are read of a directory at once.
pub(super) const LIST_BYTES: usize = 32 * 1024;

/// Most bytes of a path that the system takes.
const PATH_BYTES_MAX: usize = 4095;

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
    let seen = look(room, &copy, &born)?;
    let rules = [room.base(), room.copy()].map(|tree| Rules::new(&tree, &born.repositories, &room.rules()));
    let mut new = New {
        copy: &copy,
        marks: &born.marks,
        own: &born.own,
        rules,
        ignored: BTreeMap::new(),
        changes: Changes::default(),
    };
    for (path, is_dir) in seen.unknown {
        new.take(path, is_dir)?;
    }
    let mut changes = new.changes;
    for path in seen.closed {
        changes.child.put(path, Version::InTheWay(Obstacle::Special));
    }
    for path in seen.others {
        let before = base.version(&path).map_err(Error::at("read", &path))?;
        let after = copy.version(&path).map_err(Error::at("read", &path))?;
        changes.read += 2;
        if before != after {
            changes.base.put(path.clone(), before);
            changes.child.put(path, after.tracked().clone());
        }
    }
    Ok(changes)
}

/// What was seen in the directories of the base.
#[derive(Debug, Default)]
struct Seen {
    /// Paths of the base that do not look as they were, or may have been changed all the same.
    others: Vec<TreePath>,
    /// What is not of the base, and whether it is a directory.
    unknown: Vec<(TreePath, bool)>,
    /// Directories that the system does not let us look into, not even as their owner.
    closed: Vec<TreePath>,
}

/// Looks at every directory of the base in the copy, in order.
fn look(room: &Room, copy: &Beneath, born: &Born) -> Result<Seen, Error> {
    let dirs = born.marks.dirs();
    let begin =
        || Looker { copy, born, list: vec![MaybeUninit::uninit(); LIST_BYTES], seen: Seen::default() };
    let portions: Vec<_> = dirs.chunks(PORTION).collect();
    let parts = work_on_all(&portions, begin, |looker, portion| {
        portion.iter().try_for_each(|dir| looker.look1(room, dir))?;
        Ok(std::mem::take(&mut looker.seen))
    })?;
    let mut all = Seen::default();
    for part in parts {
        all.others.extend(part.others);
        all.unknown.extend(part.unknown);
        all.closed.extend(part.closed);
    }
    all.others.sort();
    all.unknown.sort();
    all.closed.sort();
    // what is in a closed one is closed with it
    let closed: BTreeSet<TreePath> = all.closed.iter().cloned().collect();
    all.closed.retain(|dir| !dir.all_above().any(|above| closed.contains(&above)));
    Ok(all)
}

/// One who looks at directories.
struct Looker<'a> {
    copy: &'a Beneath,
    born: &'a Born,
    list: Vec<MaybeUninit<u8>>,
    seen: Seen,
}

impl Looker<'_> {
    fn look1(&mut self, room: &Room, dir: &Dir) -> Result<(), Error> {
        let at = dir.path.as_ref();
        let known: Vec<(&[u8], Mark)> = self.born.marks.files(dir).collect();
        let open = match (self.copy.dir(at), at) {
            (Ok(open), _) => open,
            (Err(error), None) => return Err(Error::io("list", &room.copy())(error.into())),
            (Err(error), Some(path)) => {
                let all = known.iter().filter_map(|(name, _)| TreePath::new(joined(at, name)));
                self.seen.others.extend(all);
                return match error {
                    Errno::NOENT => Ok(()),
                    error if is_blocked(error) => Ok(()),
                    Errno::ACCESS => {
                        self.seen.closed.push(path.clone());
                        Ok(())
                    }
                    error => Err(Error::at("list", path)(error)),
                };
            }
        };
        for (name, mark) in &known {
            let now = rustix::fs::statat(&open, *name, AtFlags::SYMLINK_NOFOLLOW);
            if now.ok().map(|stat| Mark::of(&stat)) != Some(*mark) || mark.is_racy(self.born.time) {
                self.seen.others.extend(TreePath::new(joined(at, name)));
            }
        }
        let (marks, unknown) = (&self.born.marks, &mut self.seen.unknown);
        let listed = list(&open, &mut self.list, |name, kind| {
            let is_dir = kind == FileType::Directory;
            let is_known = || known.binary_search_by(|(known, _)| (*known).cmp(name)).is_ok();
            if !is_dir && is_known() {
                return;
            }
            let path = joined(at, name);
            if !(is_dir && marks.is_dir(&path)) {
                // `.git` is none of the child's work
                unknown.extend(TreePath::new(path).map(|path| (path, is_dir)));
            }
        });
        listed.map_err(|error| match at {
            Some(path) => Error::at("list", path)(error),
            None => Error::io("list", &room.copy())(error.into()),
        })
    }
}

/// Tells all that is in a directory: names, and what they are of.
pub(super) fn list(
    dir: &impl std::os::fd::AsFd,
    buffer: &mut [MaybeUninit<u8>],
    mut tell: impl FnMut(&[u8], FileType),
) -> Result<(), Errno> {
    let mut items = RawDir::new(dir, buffer);
    while let Some(item) = items.next() {
        let item = item?;
        let name = item.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let kind = match item.file_type() {
            // a filesystem that does not say
            FileType::Unknown => match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error),
            },
            kind => kind,
        };
        tell(name, kind);
    }
    Ok(())
}

/// The search in what is new.
struct New<'a> {
    copy: &'a Beneath,
    marks: &'a Marks,
    /// What is Windlass's own in the parent's directory.
    own: &'a [TreePath],
    rules: [Rules; 2],
    /// Directories of the base, and whether they or one above them are ignored.
    ignored: BTreeMap<TreePath, bool>,
    changes: Changes,
}

impl New<'_> {
    /// Goes through something that is not of the base, in a directory that is.
    fn take(&mut self, path: TreePath, is_dir: bool) -> Result<(), Error> {
        if self.is_in_ignored(&path) {
            // files of the base count there too, and what is new is left out
            if !self.was_file(&path, is_dir) {
                self.changes.ignored.insert(path.clone());
                self.changes.child.put(path, Version::InTheWay(Obstacle::Special));
            }
            return Ok(());
        }
        let mut ahead = Vec::new();
        self.take1(path, is_dir, &mut ahead)?;
        while let Some(dir) = ahead.pop() {
            for (path, is_dir) in self.list(&dir)? {
                self.take1(path, is_dir, &mut ahead)?;
            }
        }
        Ok(())
    }

    fn take1(&mut self, path: TreePath, is_dir: bool, ahead: &mut Vec<TreePath>) -> Result<(), Error> {
        let ignored = self.ignores(&path, is_dir);
        let is_long = path.as_bytes().len() > PATH_BYTES_MAX;
        if is_dir && !ignored && !is_long {
            ahead.push(path);
            return Ok(());
        }
        if self.was_file(&path, is_dir) {
            return Ok(());
        }
        let version = if is_dir || is_long {
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

    /// What is in a new directory. One that is closed to us, its owner, is a change by itself.
    fn list(&mut self, dir: &TreePath) -> Result<Vec<(TreePath, bool)>, Error> {
        let open = match self.copy.dir(Some(dir)) {
            Err(Errno::ACCESS) => {
                self.changes.child.put(dir.clone(), Version::InTheWay(Obstacle::Special));
                return Ok(Vec::new());
            }
            open => open.map_err(Error::at("list", dir))?,
        };
        let (mut all, mut buffer) = (Vec::new(), vec![MaybeUninit::uninit(); LIST_BYTES]);
        list(&open, &mut buffer, |name, kind| {
            let is_dir = kind == FileType::Directory;
            all.extend(TreePath::new(joined(Some(dir), name)).map(|path| (path, is_dir)));
        })
        .map_err(Error::at("list", dir))?;
        Ok(all)
    }

    /// Whether a directory is where the base had a file: that this is gone is told already.
    fn was_file(&self, path: &TreePath, is_dir: bool) -> bool {
        is_dir && self.marks.has(path)
    }

    fn ignores(&mut self, path: &TreePath, is_dir: bool) -> bool {
        let [before, now] = &mut self.rules;
        self.own.contains(path) || before.ignores(path, is_dir) || now.ignores(path, is_dir)
    }

    /// Whether one of the directories above a path is ignored: the outermost is asked first.
    fn is_in_ignored(&mut self, path: &TreePath) -> bool {
        let above: Vec<TreePath> = path.all_above().collect();
        let mut is_in = false;
        for dir in above.into_iter().rev() {
            is_in = match self.ignored.get(&dir) {
                Some(known) => *known,
                None => is_in || self.ignores(&dir, true),
            };
            self.ignored.insert(dir, is_in);
        }
        is_in
    }
}
