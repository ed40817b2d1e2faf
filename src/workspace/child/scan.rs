//! What a child changed: only what does not look as it was is read, and its content decides.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Room;
use super::beneath::Beneath;
use super::born::Mark;
use super::error::Error;
use super::rules::Rules;
use crate::law::hand_back::tree::{Obstacle, Tree, TreePath, Version};

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
    let open = |path: &Path| Beneath::open(path);
    let copy = open(&room.copy()).map_err(|_| Error::CopyGone { path: room.copy() })?;
    let base = open(&room.base()).map_err(Error::io("open", &room.base()))?;
    let mut changes = Changes::default();
    for (path, mark) in &born.marks {
        let now = copy.stat(path).ok().map(|stat| Mark::of(&stat));
        if now == Some(*mark) && !mark.is_racy(born.time) {
            continue;
        }
        let before = base.version(path).map_err(Error::at("read", path))?;
        let after = copy.version(path).map_err(Error::at("read", path))?;
        changes.read += 2;
        if before != after {
            changes.base.put(path.clone(), before);
            changes.child.put(path.clone(), after.tracked().clone());
        }
    }
    let known: BTreeSet<&TreePath> = born.marks.iter().map(|(path, _)| path).collect();
    let rules = [room.base(), room.copy()].map(|tree| Rules::new(&tree, &room.rules()));
    New { copy: &copy, top: room.copy(), known, rules, changes: &mut changes }.look(None)?;
    Ok(changes)
}

/// The search for what is new.
struct New<'a> {
    copy: &'a Beneath,
    top: std::path::PathBuf,
    known: BTreeSet<&'a TreePath>,
    rules: [Rules; 2],
    changes: &'a mut Changes,
}

impl New<'_> {
    fn look(&mut self, at: Option<&TreePath>) -> Result<(), Error> {
        let dir = at.map_or(self.top.clone(), |at| self.top.join(OsStr::from_bytes(at.as_bytes())));
        let items = fs::read_dir(&dir).map_err(Error::io("list", &dir))?;
        for item in items {
            let item = item.map_err(Error::io("list", &dir))?;
            let name = item.file_name();
            let whole =
                at.map_or(name.as_bytes().to_vec(), |at| [at.as_bytes(), b"/", name.as_bytes()].concat());
            // `.git` is none of the child's work
            let Some(path) = TreePath::new(whole) else { continue };
            let kind = item.file_type().map_err(Error::io("look at", &item.path()))?;
            self.look1(path, kind.is_dir())?;
        }
        Ok(())
    }

    fn look1(&mut self, path: TreePath, is_dir: bool) -> Result<(), Error> {
        let [before, now] = &mut self.rules;
        let ignored = before.ignores(&path, is_dir) || now.ignores(&path, is_dir);
        if is_dir && !(ignored && self.is_new(&path)) {
            return if ignored { self.look_ignored(&path) } else { self.look(Some(&path)) };
        }
        if self.known.contains(&path) {
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
        for item in fs::read_dir(&dir).map_err(Error::io("list", &dir))? {
            let item = item.map_err(Error::io("list", &dir))?;
            let Some(path) = TreePath::new([at.as_bytes(), b"/", item.file_name().as_bytes()].concat())
            else {
                continue;
            };
            let is_dir = item.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir && !self.is_new(&path) {
                self.look_ignored(&path)?;
            } else if !self.known.contains(&path) {
                self.changes.ignored.insert(path.clone());
                self.changes.child.put(path, Version::InTheWay(Obstacle::Special));
            }
        }
        Ok(())
    }

    /// Whether the base had nothing beneath a path.
    fn is_new(&self, path: &TreePath) -> bool {
        !self
            .known
            .range::<TreePath, _>(path..)
            .take_while(|known| **known == path || known.as_bytes().starts_with(path.as_bytes()))
            .any(|known| known.is_beneath(path))
    }
}
