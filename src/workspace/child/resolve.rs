//! One path resolved by hand: written as a hand-back writes, re-checked, recorded, and undone the same way.
//!
//! Each resolution is a run of its own under `resolutions/`, in the order in which they were made. What stood in the
//! parent's directory before it is kept, so that it can be had back until the workspace is dropped. Keeps
//! `resolution_loses_nothing`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use super::Room;
use super::beneath::Beneath;
use super::error::Error;
use super::hand_back::Record;
use super::run::{Run, ended};
use super::versions::Versions;
use crate::law::hand_back::carry::Recorded;
use crate::law::hand_back::merge1::{Clash, Verdict};
use crate::law::hand_back::plan::{Plan, Planned};
use crate::law::hand_back::tree::{TreePath, Version};
use crate::law::merge::resolution::Choice;
use crate::store::private;

/// What a path gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// One of the versions of the record: the base's, the parent's, the child's, or one that is kept.
    Version(Version),
    /// A file with these bytes.
    Bytes {
        /// What it holds.
        bytes: Vec<u8>,
        /// Whether its owner may run it.
        executable: bool,
    },
}

/// A resolution, as recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    /// Which path.
    pub path: TreePath,
    /// What the parent's directory had.
    pub before: Version,
    /// What it got.
    pub after: Version,
    /// What was chosen for each region, where the text was merged by lines; for doing it again.
    pub choices: Option<Vec<Choice>>,
    /// Whether it takes the one before it back.
    pub undoes: bool,
    /// The permission bits that what it puts there gets, where nothing is.
    #[serde(default)]
    pub bits: Bits,
    /// Those of what was there.
    #[serde(default)]
    pub bits_before: Bits,
}

/// Permission bits of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bits {
    /// The file's.
    pub file: Option<u32>,
    /// Those of the directories above it.
    pub dirs: Vec<(TreePath, u32)>,
}

impl Room {
    /// Writes one path's resolution. `seen`: what the person saw of the parent's; if something else is there now,
    /// nothing is written. Run again after a cut by `finish_resolutions`.
    pub fn resolve(
        &self,
        parent: &Path,
        path: &TreePath,
        seen: &Version,
        result: Written,
        choices: Option<Vec<Choice>>,
    ) -> Result<Resolved, Error> {
        let _held = self.lock()?;
        let versions = Versions::open(&self.versions())?;
        let after = match result {
            Written::Version(version) => version.tracked().clone(),
            Written::Bytes { bytes, executable } => {
                Version::File { hash: versions.keep(&mut &bytes[..])?, executable }
            }
        };
        let before = seen.tracked().clone();
        self.write_one(
            parent,
            &versions,
            Resolved {
                path: path.clone(),
                before,
                after,
                choices,
                undoes: false,
                bits: self.recorded_bits(path)?,
                bits_before: Bits::default(),
            },
        )
    }

    /// Takes the last resolution of a path back; none if there is none.
    pub fn undo(&self, parent: &Path, path: &TreePath) -> Result<Option<Resolved>, Error> {
        let _held = self.lock()?;
        let versions = Versions::open(&self.versions())?;
        let Some(last) = self.last_of(path)? else { return Ok(None) };
        let Resolved { path, before, after, bits_before, .. } = last;
        let back = Resolved {
            path,
            before: after,
            after: before,
            choices: None,
            undoes: true,
            bits: bits_before,
            bits_before: Bits::default(),
        };
        self.write_one(parent, &versions, back).map(Some)
    }

    /// The resolutions that were written, in order.
    pub fn resolved(&self) -> Result<Vec<Resolved>, Error> {
        let mut all = Vec::new();
        for dir in self.runs() {
            let taken = ended(&dir)
                .is_some_and(|ended| ended.verdicts == [Verdict::Taken] || ended.verdicts == [Verdict::Same]);
            if taken {
                all.push(read(&dir)?);
            }
        }
        Ok(all)
    }

    /// The conflicts without a resolution, in order.
    pub fn open_conflicts(&self, record: &Record) -> Result<Vec<TreePath>, Error> {
        let mut open = Vec::new();
        let standing = self.standing_resolutions()?;
        for planned in record.paths.iter().filter(|planned| matches!(planned.verdict, Verdict::Conflict(_))) {
            if standing.get(&planned.path).is_none_or(Vec::is_empty) {
                open.push(planned.path.clone());
            }
        }
        Ok(open)
    }

    /// The newest resolution that stands of each path that has one.
    pub fn last_resolutions(&self) -> Result<BTreeMap<TreePath, Resolved>, Error> {
        let stacks = self.standing_resolutions()?.into_iter();
        Ok(stacks.filter_map(|(path, mut stack)| Some((path, stack.pop()?))).collect())
    }

    /// Finishes the resolutions that were cut, and shows the conflicts that are open. Why some could not be: the rest
    /// is finished all the same.
    pub fn finish_resolutions(&self, parent: &Path) -> Result<Vec<Error>, Error> {
        let _held = self.lock()?;
        let versions = Versions::open(&self.versions())?;
        let carried = self.runs().into_iter().map(|dir| self.carry(parent, &versions, dir));
        let left = carried.filter_map(Result::err).collect();
        self.show_open(&versions)?;
        Ok(left)
    }

    /// Gives up the resolutions that were cut and could not be finished, where their directory goes.
    pub(super) fn give_up_unfinished(&self) {
        for dir in self.runs().iter().filter(|dir| ended(dir).is_none()) {
            // without its record it is none
            let _ = fs::remove_file(dir.join("resolution.json"));
        }
    }

    /// What a version holds, if it is a file: base's, parent's, child's and what was there before a resolution.
    pub fn bytes(&self, version: &Version) -> Result<Option<Vec<u8>>, Error> {
        Versions::open(&self.versions())?.bytes(version)
    }

    /// What the parent's directory has at a path now, to be looked at and named in `resolve`.
    pub fn parents(&self, parent: &Path, path: &TreePath) -> Result<Version, Error> {
        let beneath = Beneath::open(parent).map_err(Error::io("open", parent))?;
        beneath.version(path).map_err(Error::at("read", path))
    }

    /// The last resolution of a path that stands.
    fn last_of(&self, path: &TreePath) -> Result<Option<Resolved>, Error> {
        Ok(self.standing_resolutions()?.remove(path).and_then(|mut stack| stack.pop()))
    }

    /// The resolutions that stand, by their paths, in order.
    fn standing_resolutions(&self) -> Result<BTreeMap<TreePath, Vec<Resolved>>, Error> {
        let mut stacks: BTreeMap<TreePath, Vec<Resolved>> = BTreeMap::new();
        for resolved in self.resolved()? {
            let stack = stacks.entry(resolved.path.clone()).or_default();
            if resolved.undoes { drop(stack.pop()) } else { stack.push(resolved) }
        }
        Ok(stacks)
    }

    /// The permission bits that the record has of a path.
    fn recorded_bits(&self, path: &TreePath) -> Result<Bits, Error> {
        let Some(record) = self.read_record()? else { return Ok(Bits::default()) };
        let above: Vec<TreePath> = path.all_above().collect();
        let file = record.path(path).and_then(|planned| planned.mode);
        Ok(Bits { file, dirs: record.dirs.into_iter().filter(|(dir, _)| above.contains(dir)).collect() })
    }

    fn write_one(
        &self,
        parent: &Path,
        versions: &Versions,
        mut resolved: Resolved,
    ) -> Result<Resolved, Error> {
        private::dir(&self.resolutions())?;
        let beneath = Beneath::open(parent).map_err(Error::io("open", parent))?;
        let now = beneath.version(&resolved.path).map_err(Error::at("read", &resolved.path))?;
        if *now.tracked() != resolved.before {
            return Err(Error::ChangedMeanwhile { path: resolved.path });
        }
        if let Version::File { .. } = now {
            let mut file = beneath.file(&resolved.path).map_err(Error::at("keep", &resolved.path))?;
            versions.keep(&mut file)?;
        }
        versions.sync()?;
        let dirs = resolved.path.all_above();
        resolved.bits_before = Bits {
            file: beneath.bits(&resolved.path, FileType::RegularFile).map(|bits| bits & 0o777),
            dirs: dirs
                .filter_map(|dir| Some((beneath.bits(&dir, FileType::Directory)?, dir)))
                .map(|(bits, dir)| (dir, bits))
                .collect(),
        };
        let number = self.runs().len();
        let dir = self.resolutions().join(format!("{number:06}"));
        private::dir(&dir)?;
        let written = serde_json::to_vec(&resolved);
        let written = written.map_err(|source| Error::Record { path: dir.clone(), source })?;
        private::replace(&dir.join("resolution.json"), &written)?;
        let carried = self.carry(parent, versions, dir.clone());
        let verdict = carried.map_err(|error| self.withdraw(&beneath, versions, &dir, &resolved, error))?;
        self.show_open(versions)?;
        match verdict {
            Some(Verdict::Taken | Verdict::Same) | None => {
                // what was decided of a text is not written where the whole path was chosen: it fits if that is taken back
                if resolved.choices.is_some() {
                    self.drop_draft(&resolved.path)?;
                }
                Ok(resolved)
            }
            Some(Verdict::Conflict(Clash::Refused)) => Err(Error::Refused { path: resolved.path }),
            Some(Verdict::Conflict(_) | Verdict::Kept | Verdict::Special) => {
                Err(Error::ChangedMeanwhile { path: resolved.path })
            }
        }
    }

    /// Takes a resolution out of the records that failed with nothing in its place, so that it is not finished later: the
    /// person is told that it failed. What is told where that cannot be.
    fn withdraw(
        &self,
        beneath: &Beneath,
        versions: &Versions,
        dir: &Path,
        resolved: &Resolved,
        error: Error,
    ) -> Error {
        let run = run_of_one(dir, beneath, versions);
        let gone = run
            .give_up(&resolved.path, &resolved.before)
            .is_ok_and(|gave_up| gave_up && fs::remove_file(dir.join("resolution.json")).is_ok());
        if !gone {
            return Error::Unfinished { path: resolved.path.clone(), source: Box::new(error) };
        }
        // without its record it is none, whether its directory goes or not
        let _ = fs::remove_dir_all(dir);
        error
    }

    /// Carries a recorded resolution out, or goes on with it.
    fn carry(&self, parent: &Path, versions: &Versions, dir: PathBuf) -> Result<Option<Verdict>, Error> {
        let beneath = Beneath::open(parent).map_err(Error::io("open", parent))?;
        let run = run_of_one(&dir, &beneath, versions);
        if run.recorded() == Recorded::Clean || !dir.join("resolution.json").exists() {
            return Ok(None);
        }
        let (_, ended) = run.finish(|| {
            let resolved = read(&dir)?;
            let verdict = if resolved.before == resolved.after { Verdict::Same } else { Verdict::Taken };
            let Resolved { path, before, after, bits: Bits { file: mode, dirs }, .. } = resolved;
            let planned = Planned { path, base: before.clone(), parent: before, child: after, verdict, mode };
            Ok(Plan { paths: vec![planned], left_out: Vec::new(), dirs })
        })?;
        Ok(ended.verdicts.first().copied())
    }

    /// The directories of the resolutions, in order.
    fn runs(&self) -> Vec<PathBuf> {
        let list = fs::read_dir(self.resolutions());
        let mut all: Vec<PathBuf> = list.into_iter().flatten().flatten().map(|item| item.path()).collect();
        all.sort();
        all
    }

    fn show_open(&self, versions: &Versions) -> Result<(), Error> {
        let Some(mut record) = self.read_record()? else { return Ok(()) };
        let open = self.open_conflicts(&record)?;
        record.paths.retain(|planned| open.contains(&planned.path));
        self.show_conflicts(&record, versions)
    }
}

fn run_of_one<'a>(dir: &Path, parent: &'a Beneath, versions: &'a Versions) -> Run<'a> {
    Run { dir: dir.to_owned(), parent, versions, keeps_dir: &|_| false }
}

fn read(dir: &Path) -> Result<Resolved, Error> {
    let path = dir.join("resolution.json");
    serde_json::from_slice(&private::read(&path)?).map_err(|source| Error::Record { path, source })
}

#[cfg(test)]
mod tests {
    use super::super::beneath::hash;
    use super::*;

    #[test]
    fn a_resolution_that_failed_is_not_finished_later() {
        let tmp = tempfile::tempdir().unwrap();
        let (room, parent) = (Room::at(tmp.path().join("room")), tmp.path().join("parent"));
        private::dir(room.dir()).unwrap();
        fs::create_dir(&parent).unwrap();
        fs::write(parent.join("a"), "base").unwrap();
        let path = TreePath::new(b"a".to_vec()).unwrap();
        let seen = room.parents(&parent, &path).unwrap();
        let version = |bytes: &[u8]| Version::File { hash: hash(&mut &*bytes).unwrap(), executable: false };
        // a version that is not kept cannot be prepared
        let told =
            room.resolve(&parent, &path, &seen, Written::Version(version(b"later")), None).unwrap_err();
        assert!(!matches!(told, Error::Unfinished { .. }), "{told}");
        let versions = Versions::open(&room.versions()).unwrap();
        versions.keep(&mut &b"later"[..]).unwrap();
        versions.sync().unwrap();
        room.finish_resolutions(&parent).unwrap();
        assert_eq!(fs::read_to_string(parent.join("a")).unwrap(), "base");
        assert_eq!((room.resolved().unwrap(), fs::read_dir(&parent).unwrap().count()), (Vec::new(), 1));
        // and the next one is written
        room.resolve(&parent, &path, &seen, Written::Version(version(b"later")), None).unwrap();
        assert_eq!(fs::read_to_string(parent.join("a")).unwrap(), "later");
        assert_eq!(room.resolved().unwrap().len(), 1);
    }
}
