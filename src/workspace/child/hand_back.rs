//! A child's end: what it changed is planned, carried out and recorded, and what nobody changed is removed.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::Room;
use super::at_once::work_on_all;
use super::beneath::{Beneath, name};
use super::error::Error;
use super::keeping::keep_all_of;
use super::removal::{move_aside, remove, remove_all};
use super::rise::Below;
use super::run::{Run, ended};
use super::scan::{Changes, scan};
use super::sparse;
use super::versions::Versions;
use crate::base::chain;
use crate::law::hand_back::merge1::Verdict;
use crate::law::hand_back::plan::{Plan, Planned, changed, plan};
use crate::law::hand_back::renames::{ALIKE_MIN, Lines, renames};
use crate::law::hand_back::tree::{Obstacle, Tree, TreePath, Version};
use crate::store::private;

/// Largest files that are compared by content to find renames, in bytes.
const COMPARED_BYTES_MAX: u64 = 1024 * 1024;

/// Most bytes that are read for it in all; beyond, only equal bytes count.
const COMPARED_ALL_MAX: u64 = 64 * 1024 * 1024;

/// Most lines that are compared for it in all.
const COMPARED_LINES_MAX: usize = 20_000_000;

/// The record of a hand-back: `handback.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Every path that the child changed, with its three versions and what became of it, in order.
    pub paths: Vec<Planned>,
    /// What the child made and the ignore rules leave out. It is still in the copy.
    pub left_out: Vec<TreePath>,
    /// Files that the child gave another path: from, to, how much is the same in hundredths.
    pub renames: Vec<(TreePath, TreePath, u8)>,
    /// What somebody saved at a path while it was exchanged, and where it could not be put back: kept by its hash.
    pub displaced: Vec<(TreePath, Version)>,
    /// The permission bits of the directories above the paths, as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirs: Vec<(TreePath, u32)>,
    /// The workspaces of the child's own children, which rise to where its own is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<Below>,
    /// What the directory that it rose to had at the paths that were open then, in place of the parent's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risen: Vec<(TreePath, Version)>,
}

impl Record {
    /// What the directory had at a path, as far as is known from before anybody did something about it.
    pub fn parents<'a>(&'a self, planned: &'a Planned) -> &'a Version {
        let risen = self.risen.iter().find(|(path, _)| *path == planned.path);
        risen.map_or(&planned.parent, |(_, version)| version).tracked()
    }

    /// The paths with a verdict.
    pub fn with(&self, verdict: impl Fn(Verdict) -> bool) -> impl Iterator<Item = &TreePath> {
        self.paths.iter().filter(move |path| verdict(path.verdict)).map(|path| &path.path)
    }

    /// What became of a path; none if the child did not change it.
    pub fn path(&self, path: &TreePath) -> Option<&Planned> {
        self.paths.iter().find(|planned| planned.path == *path)
    }

    /// The other half of the rename that a path is one of, where that was taken.
    pub fn other_half(&self, path: &TreePath) -> Option<&Planned> {
        let other = self.renames.iter().find_map(|(from, to, _)| match path {
            path if path == from => Some(to),
            path if path == to => Some(from),
            _ => None,
        })?;
        self.path(other).filter(|planned| planned.verdict == Verdict::Taken)
    }
}

impl Room {
    /// Hands the child's changes back to `parent` and cleans up. The child must be stopped. Cut anywhere, it can be run
    /// again; after its end was recorded it changes nothing in the parent's directory.
    pub fn hand_back(&self, parent: &Path) -> Result<Record, Error> {
        let record = self.take_back(parent)?;
        self.clean_up()?;
        Ok(record)
    }

    /// The same without the cleaning up, which takes longer than the rest and which nobody needs to wait for.
    pub fn take_back(&self, parent: &Path) -> Result<Record, Error> {
        let _held = self.lock()?;
        let taken = self.take_back_held(parent);
        self.note_failure(taken.as_ref().err());
        taken
    }

    fn take_back_held(&self, parent: &Path) -> Result<Record, Error> {
        let rise = self.rise(parent);
        if let Some(record) = self.read_record()? {
            rise.go_on(&record.below)?;
            return Ok(record);
        }
        let own = rise.hold()?;
        let versions = Versions::open(&self.versions())?;
        versions.sweep();
        let beneath = Beneath::open(parent).map_err(Error::io("open", parent))?;
        let copy = Beneath::open_ours(&self.copy()).ok();
        let has_dir = |dir: &TreePath| copy.as_ref()?.bits(dir, FileType::Directory);
        let run = Run {
            dir: self.run(),
            parent: &beneath,
            versions: &versions,
            keeps_dir: &|dir| has_dir(dir).is_some(),
        };
        let (plan, ended) = run.finish(|| self.plan(&beneath, &versions))?;
        let mut record = self.record_of(plan, ended.verdicts, ended.displaced, &versions)?;
        record.below = rise.below(&own)?;
        self.show_conflicts(&record, &versions)?;
        let written = serde_json::to_vec_pretty(&record);
        let written = written.map_err(|source| Error::Record { path: self.record(), source })?;
        private::replace(&self.record(), &written)?;
        rise.carry_out(&own, &record.below)?;
        Ok(record)
    }

    /// Removes what nobody changed, once the hand-back is recorded; before that, nothing. Cut anywhere, it can be run
    /// again. Who resolves meanwhile waits for a moment only: what is to go is moved aside first.
    pub fn clean_up(&self) -> Result<(), Error> {
        let _one = self.lock_cleaning()?;
        let record = {
            let _held = self.lock()?;
            let Some(record) = self.read_record()? else { return Ok(()) };
            self.put_aside(&record)?;
            record
        };
        self.clean(&record)
    }

    /// Whether the hand-back is recorded and the cleaning up has not ended.
    pub fn is_to_clean(&self) -> bool {
        self.record().exists() && (self.born().exists() || self.aside().exists())
    }

    /// The record of the hand-back; none if it did not end yet.
    pub fn read_record(&self) -> Result<Option<Record>, Error> {
        if !self.record().exists() {
            return Ok(None);
        }
        let bytes = private::read(&self.record())?;
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|source| Error::Record { path: self.record(), source })
    }

    /// Plans, and keeps every version that the plan speaks of.
    fn plan(&self, beneath: &Beneath, versions: &Versions) -> Result<Plan, Error> {
        let Changes { base, child, ignored, .. } = scan(self)?;
        let touched: BTreeSet<TreePath> = changed(&base, &child);
        let mut parent = Tree::default();
        for path in touched.iter().filter(|path| !ignored.contains(path)) {
            around(beneath, path, &touched, &mut parent)?;
        }
        let mut plan = plan(&base, &parent, &child, &ignored);
        let open = |dir: &Path| Beneath::open_ours(dir).map_err(Error::io("open", dir));
        let (base, copy) = (open(&self.base())?, open(&self.copy())?);
        plan.paths = work_on_all(
            &plan.paths,
            || (),
            |(), planned| keep_all_of(planned, (&base, beneath, &copy), versions),
        )?;
        plan.paths.retain(|planned| planned.verdict != Verdict::Kept);
        plan.dirs = directories(&plan.paths, beneath, &copy);
        Ok(plan)
    }

    fn record_of(
        &self,
        plan: Plan,
        verdicts: Vec<Verdict>,
        displaced: Vec<(usize, Version)>,
        versions: &Versions,
    ) -> Result<Record, Error> {
        let mut paths = plan.paths;
        let renames = found_renames(&paths, versions);
        let displaced =
            displaced.into_iter().map(|(at, version)| (paths[at].path.clone(), version)).collect();
        for (planned, verdict) in paths.iter_mut().zip(verdicts) {
            planned.verdict = verdict;
        }
        let (left_out, dirs) = (plan.left_out, plan.dirs);
        Ok(Record { paths, left_out, renames, displaced, dirs, below: Vec::new(), risen: Vec::new() })
    }

    /// Puts the child's versions of the conflicts where a person finds them by their paths.
    pub(super) fn show_conflicts(&self, record: &Record, versions: &Versions) -> Result<(), Error> {
        let _ = fs::remove_dir_all(self.conflicts());
        private::dir(&self.conflicts())?;
        let top = Beneath::open_ours(&self.conflicts()).map_err(Error::io("open", &self.conflicts()))?;
        for planned in record.paths.iter().filter(|planned| matches!(planned.verdict, Verdict::Conflict(_))) {
            let (path, failed) =
                (&planned.path, |error| Error::at("show the conflict of", &planned.path)(error));
            let made = || top.made_dir_of(path, &|_| Some(0o700)).map_err(failed);
            match &planned.child {
                Version::File { hash, .. } => {
                    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                    let new = rustix::fs::openat(made()?, name(path), flags, Mode::from_raw_mode(0o600));
                    let copied =
                        sparse::copy_any(&mut versions.file(*hash)?, &mut new.map_err(failed)?.into());
                    copied.map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
                }
                Version::Link { target } => {
                    let target = OsStr::from_bytes(target);
                    rustix::fs::symlinkat(target, made()?, name(path)).map_err(failed)?;
                }
                // a removal has nothing to show; the record names it
                Version::Absent | Version::InTheWay(_) => {}
            }
        }
        Ok(())
    }

    /// Moves what is to go out of the way: a copy that stands under its name is whole, or holds what stays.
    fn put_aside(&self, record: &Record) -> Result<(), Error> {
        let aside = self.aside();
        private::dir(&aside)?;
        let stays = !record.left_out.is_empty() || self.has_unread(record);
        let copy = (!stays).then(|| self.copy());
        for dir in [self.base(), self.git(), self.run()].into_iter().chain(copy) {
            move_aside(&dir, &aside.join(dir.file_name().unwrap_or_default()))?;
        }
        Ok(())
    }

    /// Removes what nobody changed: the base, and of the copy all but what was left out and what could not be read.
    fn clean(&self, record: &Record) -> Result<(), Error> {
        std::thread::scope(|scope| {
            let base = scope.spawn(|| remove_all(&self.aside().join("base")));
            let copy = self.clean_copy(record);
            base.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).and(copy)
        })?;
        remove_all(&self.aside())?;
        // the last: while it is there, the cleaning up has not ended
        let _ = fs::remove_file(self.born());
        Ok(())
    }

    fn clean_copy(&self, record: &Record) -> Result<(), Error> {
        remove_all(&self.aside().join("copy"))?;
        // one that is gone, or no directory any more, has nothing of ours in it
        let Ok(copy) = Beneath::open_ours(&self.copy()) else { return Ok(()) };
        let unread = unread(&copy, record);
        if let Ok(born) = self.read_born() {
            let touched = record.paths.iter().map(|planned| planned.path.clone());
            let paths = born.marks.paths().chain(touched);
            paths.filter(|path| !unread.contains(path)).for_each(|path| remove(&copy, &path));
        }
        remove_all(&self.copy().join(".git"))?;
        Ok(())
    }

    fn has_unread(&self, record: &Record) -> bool {
        Beneath::open_ours(&self.copy()).is_ok_and(|copy| !unread(&copy, record).is_empty())
    }

    /// Whether a hand-back was begun and not ended.
    pub fn is_cut(&self) -> bool {
        !self.record().exists() && (self.run().join("plan.json").exists() || ended(&self.run()).is_some())
    }

    /// Whether it was begun and not ended, or failed: the child is stopped, and it can be run again.
    pub fn can_go_on(&self) -> bool {
        let tried = || self.ending().exists() || self.failed().is_some();
        self.is_cut() || (!self.record().exists() && self.is_born() && tried())
    }

    /// Why the hand-back failed when it was tried last; none: it did not.
    pub fn failed(&self) -> Option<String> {
        let why = private::read(&self.failure()).ok()?;
        Some(String::from_utf8_lossy(&why).into_owned())
    }

    /// Whether a hand-back that was begun and did not end may have moved files of the parent's directory: all that it
    /// puts in place was prepared.
    pub fn is_half(&self) -> bool {
        !self.record().exists() && self.run().join("prepared.json").exists()
    }

    /// Gives up the plan of a hand-back of which nothing was put in place: what was prepared goes.
    pub(super) fn forget_plan(&self, parent: &Beneath) -> Result<(), Error> {
        let versions = Versions::open(&self.versions())?;
        Run { dir: self.run(), parent, versions: &versions, keeps_dir: &|_| false }.forget()
    }

    /// Drops a workspace that has not handed back to `parent`, for good, with what was prepared there; refused where
    /// files of the parent's directory may stand beside their places.
    pub fn drop_unhanded(&self, parent: &Path) -> Result<(), Error> {
        let _held = self.lock()?;
        // one that is gone has nothing in it
        if let Ok(beneath) = Beneath::open(parent) {
            if self.is_half() {
                return Err(Error::Half { path: parent.to_owned() });
            }
            if self.is_cut() {
                self.forget_plan(&beneath)?;
            }
        }
        remove_all(self.dir())
    }

    /// What the child changed and has not handed back, in order.
    pub fn unhanded(&self) -> Result<Vec<TreePath>, Error> {
        let Changes { base, child, ignored, .. } = scan(self)?;
        Ok(changed(&base, &child).into_iter().filter(|path| !ignored.contains(path)).collect())
    }

    /// Keeps why it failed, for who looks later. Where even that cannot be written, the report tells it alone.
    fn note_failure(&self, error: Option<&Error>) {
        let noted = match error {
            Some(error) => private::replace(&self.failure(), chain(error).as_bytes()),
            None => return drop(fs::remove_file(self.failure())),
        };
        if let Err(error) = noted {
            tracing::warn!("why a hand-back failed is not kept: {}", chain(&error));
        }
    }
}

/// What could not be read for the hand-back, and so did not come over.
fn unread<'a>(copy: &Beneath, record: &'a Record) -> BTreeSet<&'a TreePath> {
    record
        .with(|verdict| verdict == Verdict::Special)
        .filter(|path| {
            let kind = copy.stat(path).map(|stat| FileType::from_raw_mode(stat.st_mode));
            matches!(kind, Ok(FileType::RegularFile | FileType::Directory))
        })
        .collect()
}

/// The permission bits of the directories above paths: the parent's; where it has none, the child's.
fn directories(paths: &[Planned], parent: &Beneath, copy: &Beneath) -> Vec<(TreePath, u32)> {
    let all: BTreeSet<TreePath> = paths.iter().flat_map(|planned| planned.path.all_above()).collect();
    let bits = |dir: &TreePath| {
        let of = |tree: &Beneath| tree.bits(dir, FileType::Directory);
        of(parent).or_else(|| of(copy))
    };
    all.into_iter().filter_map(|dir| bits(&dir).map(|bits| (dir, bits))).collect()
}

/// The files that the child gave another path. Each is read once, and only so many are compared.
fn found_renames(paths: &[Planned], versions: &Versions) -> Vec<(TreePath, TreePath, u8)> {
    let mut read: HashMap<(TreePath, bool), Option<(u64, Lines)>> = HashMap::new();
    let mut left = COMPARED_ALL_MAX;
    let mut lines = |path: &TreePath, child: bool| -> Option<(u64, Lines)> {
        let planned = paths.iter().find(|planned| planned.path == *path)?;
        let version = if child { &planned.child } else { &planned.base };
        let Version::File { hash, .. } = version else { return None };
        let len = versions.len(*hash).ok().filter(|len| *len <= COMPARED_BYTES_MAX.min(left))?;
        left -= len;
        Some((len, Lines::of(&versions.bytes(version).ok()??)))
    };
    let mut compared = 0;
    let alike = |from: &TreePath, to: &TreePath| {
        for (path, child) in [(from, false), (to, true)] {
            read.entry((path.clone(), child)).or_insert_with(|| lines(path, child));
        }
        let of = |path: &TreePath, child| read.get(&(path.clone(), child)).and_then(Option::as_ref);
        let (Some((one, ours)), Some((other, theirs))) = (of(from, false), of(to, true)) else { return 0 };
        // one that is so much shorter cannot be alike
        let near = one.min(other) * 100 >= one.max(other) * u64::from(ALIKE_MIN);
        if !near || compared > COMPARED_LINES_MAX {
            return 0;
        }
        compared += ours.len() + theirs.len();
        ours.likeness(theirs)
    };
    renames(paths, alike).into_iter().map(|one| (one.from, one.to, one.alike)).collect()
}

/// What the parent's directory has at a path, beneath it and above it, as far as the plan asks.
fn around(
    beneath: &Beneath,
    path: &TreePath,
    touched: &BTreeSet<TreePath>,
    into: &mut Tree,
) -> Result<(), Error> {
    let version = beneath.version(path).map_err(Error::at("read", path))?;
    match version {
        Version::InTheWay(Obstacle::Directory) => within(beneath, path, touched, into),
        Version::InTheWay(Obstacle::Above) => {
            for above in path.all_above() {
                match beneath.version(&above).map_err(Error::at("read", &above))? {
                    Version::Absent | Version::InTheWay(Obstacle::Above | Obstacle::Directory) => {}
                    version @ (Version::File { .. } | Version::Link { .. } | Version::InTheWay(_)) => {
                        into.put(above, version);
                    }
                }
            }
            Ok(())
        }
        version @ (Version::Absent | Version::File { .. } | Version::Link { .. } | Version::InTheWay(_)) => {
            into.put(path.clone(), version);
            Ok(())
        }
    }
}

/// What is in a directory that is at a path of the child's: all that the child knows, and that there is more.
fn within(
    beneath: &Beneath,
    path: &TreePath,
    touched: &BTreeSet<TreePath>,
    into: &mut Tree,
) -> Result<(), Error> {
    let dir = beneath.dir(Some(path)).map_err(Error::at("list", path))?;
    let list = rustix::fs::Dir::read_from(&dir).map_err(Error::at("list", path))?;
    let mut empty = true;
    for item in list {
        let item = item.map_err(Error::at("list", path))?;
        let name = item.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        empty = false;
        let inner = TreePath::new([path.as_bytes(), b"/", name].concat());
        let Some(inner) = inner else {
            // a repository's `.git`: not to be removed, and not to be named
            into.put(path.clone(), Version::InTheWay(Obstacle::Directory));
            continue;
        };
        let kind = beneath.stat(&inner).map(|stat| FileType::from_raw_mode(stat.st_mode));
        if kind == Ok(FileType::Directory) {
            within(beneath, &inner, touched, into)?;
        } else if touched.contains(&inner) {
            let version = beneath.version(&inner).map_err(Error::at("read", &inner))?;
            into.put(inner, version);
        } else if kind != Err(Errno::NOENT) {
            into.put(inner, Version::InTheWay(Obstacle::Special));
        }
    }
    if empty {
        into.put(path.clone(), Version::InTheWay(Obstacle::Directory));
    }
    Ok(())
}
