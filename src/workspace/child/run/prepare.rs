//! Preparing: every file and link that is to be put in place is made beside it, whole and synced.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::super::at_once::work_on_all;
use super::super::beneath::{name, sync};
use super::super::copying::{SMALL_MAX, bytes};
use super::super::durable::sync_all;
use super::super::error::Error;
use super::super::sparse;
use super::{Beside, Planned, Prepared, Run, Step, name_beside};
use crate::law::hand_back::carry::Recorded;
use crate::law::hand_back::merge1::{Clash, Verdict};
use crate::law::hand_back::plan::Way;
use crate::law::hand_back::tree::{TreePath, Version};

impl Run<'_> {
    /// Prepares everything, and makes it durable together with the kept versions. What the system refuses is told, and
    /// nothing of it is decided then; a filesystem that cannot do what is to be done is an error, and then who asked
    /// removes what was prepared.
    pub(super) fn prepare(&self, planned: &Planned) -> Result<Prepared, Error> {
        let mut besides = Vec::new();
        for (at, way) in planned.plan.steps() {
            let path = &planned.plan.paths[at].path;
            besides.push(self.nearest(path, way)?);
        }
        let steps = self.steps(planned, besides.clone());
        self.try_moves(planned, &steps)?;
        let prepared: Vec<&Step<'_>> = steps.iter().filter(|step| step.way != Way::Remove).collect();
        let outcomes = work_on_all(
            &prepared,
            || vec![0; SMALL_MAX + 1],
            |buffer, step| match self.prepare1(step, buffer) {
                Err(error) if error.is_refusal() => Ok(Some(step.at)),
                other => other.map(|()| None),
            },
        )?;
        let refused: Vec<usize> = outcomes.into_iter().flatten().collect();
        if !refused.is_empty() {
            self.wipe(planned)?;
            return Ok(Prepared::Refused(refused));
        }
        let parent = self.parent;
        self.versions.sync_with(&prepared, |step| {
            let Version::File { .. } = step.child else { return Ok(()) };
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let dir = parent.dir(step.beside.as_ref());
            let file = dir.and_then(|dir| rustix::fs::openat(&dir, &*step.name, flags, Mode::empty()));
            file.and_then(rustix::fs::fdatasync).map_err(Error::at("sync what is prepared for", step.path))
        })?;
        self.sync_dirs(steps.iter().map(|step| step.beside.clone()))?;
        Ok(Prepared::Whole(besides))
    }

    /// Tries the moves of the run on files of its own, once on each filesystem, before anything is moved in earnest.
    fn try_moves(&self, planned: &Planned, steps: &[Step<'_>]) -> Result<(), Error> {
        let mut tried = BTreeSet::new();
        for step in steps {
            let Ok(device) = self.device(step.beside.as_ref()) else { continue };
            let exchanges = step.way == Way::Exchange;
            if tried.contains(&(device, true)) || tried.contains(&(device, exchanges)) {
                continue;
            }
            match self.try_moves_at(planned, step, exchanges) {
                Ok(()) => drop(tried.insert((device, exchanges))),
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    return Err(Error::NoExchange { path: step.path.clone() });
                }
                // a directory that may not be written tells nothing of its filesystem
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn try_moves_at(&self, planned: &Planned, step: &Step<'_>, exchanges: bool) -> Result<(), Errno> {
        let dir = self.parent.dir(step.beside.as_ref())?;
        let [one, other] = tried_names(planned);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let make = || rustix::fs::openat(&dir, &*one, flags, Mode::from_raw_mode(0o600)).map(drop);
        let tried = make()
            .and_then(|()| rustix::fs::renameat_with(&dir, &*one, &dir, &*other, RenameFlags::NOREPLACE))
            .and_then(|()| match exchanges {
                true => make().and_then(|()| {
                    rustix::fs::renameat_with(&dir, &*one, &dir, &*other, RenameFlags::EXCHANGE)
                }),
                false => Ok(()),
            });
        for name in [&one, &other] {
            let _ = rustix::fs::unlinkat(&dir, &**name, AtFlags::empty());
        }
        tried
    }

    /// Gives up a run of one path while the parent's directory has there what it had before; whether it does. What was
    /// prepared is removed.
    pub fn give_up(&self, path: &TreePath, before: &Version) -> Result<bool, Error> {
        let now = self.parent.version(path).map_err(Error::at("read", path))?;
        if now.tracked() != before
            || !matches!(self.recorded(), Recorded::Nothing | Recorded::Plan | Recorded::Prepared)
        {
            return Ok(false);
        }
        // first what says that it is prepared: cut here, it is prepared anew
        let prepared = self.dir.join("prepared.json");
        match std::fs::remove_file(&prepared) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &prepared)(error));
            }
            Ok(()) | Err(_) => {}
        }
        if self.recorded() == Recorded::Plan {
            self.wipe(&self.read("plan.json")?)?;
        }
        Ok(true)
    }

    /// Gives up a plan of which nothing was put in place: what was prepared is removed, then the plan.
    pub fn forget(&self) -> Result<(), Error> {
        if self.recorded() == Recorded::Plan {
            self.wipe(&self.read("plan.json")?)?;
        }
        std::fs::remove_dir_all(&self.dir).map_err(Error::io("remove", &self.dir))
    }

    /// Removes what has a name of this run wherever an earlier one can have put it.
    pub(super) fn wipe(&self, planned: &Planned) -> Result<(), Error> {
        let of_run = |verdict| matches!(verdict, Verdict::Taken | Verdict::Conflict(Clash::Refused));
        let paths = planned.plan.paths.iter().enumerate().filter(|(_, path)| of_run(path.verdict));
        for (at, path) in paths {
            let path = &path.path;
            for above in path.all_above().map(Some).chain([None]) {
                let Ok(dir) = self.parent.dir(above.as_ref()) else { continue };
                for name in [name_beside(&planned.id, at)].into_iter().chain(tried_names(planned)) {
                    match rustix::fs::unlinkat(&dir, &*name, AtFlags::empty()) {
                        Ok(()) | Err(Errno::NOENT) => {}
                        // where nothing may be written, nothing was
                        Err(_) if rustix::fs::statat(&dir, &*name, AtFlags::SYMLINK_NOFOLLOW).is_err() => {}
                        Err(error) => return Err(Error::at("remove what was prepared for", path)(error)),
                    }
                }
            }
        }
        Ok(())
    }

    /// The nearest directory above a path that is there and stays: for a removal, one that the child has too.
    fn nearest(&self, path: &TreePath, way: Way) -> Result<Beside, Error> {
        let top = self.device(None).map_err(Error::at("look above", path))?;
        for above in path.all_above() {
            let stays = way != Way::Remove || (self.keeps_dir)(&above);
            match self.device(Some(&above)) {
                Ok(device) if stays || device != top => return Ok(Some(above)),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(None)
    }

    fn device(&self, dir: Option<&TreePath>) -> Result<u64, Errno> {
        let stat = rustix::fs::fstat(self.parent.dir(dir)?)?;
        #[allow(clippy::unnecessary_cast)] // the width differs between platforms
        Ok(stat.st_dev as u64)
    }

    fn prepare1(&self, step: &Step<'_>, buffer: &mut [u8]) -> Result<(), Error> {
        let dir = self.beside(step)?;
        let failed = |error| Error::at("prepare", step.path)(error);
        match step.child {
            Version::File { hash, executable } => {
                let flags =
                    OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mode = self.mode(step, *executable);
                // closed to others until it is whole
                let to = rustix::fs::openat(&dir, &*step.name, flags, Mode::from_raw_mode(0o600))
                    .map_err(failed)?;
                let mut to = File::from(to);
                let mut from = self.versions.file(*hash)?;
                let copied = rustix::fs::fstat(&from).map_err(io::Error::from).and_then(|stat| {
                    if sparse::is_sparse(&stat) {
                        return sparse::copy(&mut from, &mut to);
                    }
                    bytes(&mut from, &mut to, buffer)
                });
                copied.map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
                rustix::fs::fchmod(&to, mode).map_err(failed)
            }
            Version::Link { target } => {
                rustix::fs::symlinkat(OsStr::from_bytes(target), &dir, &*step.name).map_err(failed)
            }
            Version::Absent | Version::InTheWay(_) => Ok(()),
        }
    }

    /// The permissions of a file that is put in place: those of the parent's file, with the child's executable bit;
    /// where it has none, those of the plan, so that its owner may read and write it, or what the person's umask leaves.
    fn mode(&self, step: &Step<'_>, executable: bool) -> Mode {
        let there = self
            .parent
            .dir_of(step.path)
            .and_then(|dir| rustix::fs::statat(&dir, name(step.path), AtFlags::SYMLINK_NOFOLLOW));
        let bits = match there {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                stat.st_mode & 0o777
            }
            Ok(_) | Err(_) => step.mode.map_or(0o666 & !umask(), |mode| mode & 0o777 | 0o600),
        };
        let readers = (bits & 0o444) >> 2;
        Mode::from_raw_mode(if executable { bits | 0o100 | readers & !umask() } else { bits & !0o111 })
    }

    /// Makes the names in directories durable. One that is gone has none.
    pub(super) fn sync_dirs(&self, dirs: impl Iterator<Item = Beside>) -> Result<(), Error> {
        let dirs: Vec<Beside> = dirs.collect::<BTreeSet<Beside>>().into_iter().collect();
        let parent = self.parent;
        sync_all(&dirs, |dir| {
            let Ok(open): Result<OwnedFd, Errno> = parent.dir(dir.as_ref()) else { return Ok(()) };
            match (sync(open), dir) {
                (Err(error), Some(dir)) => Err(Error::at("sync the directory", dir)(error)),
                (Err(error), None) => Err(Error::Top { source: error.into() }),
                (Ok(()), _) => Ok(()),
            }
        })
    }
}

/// The names of the files with which the moves are tried.
fn tried_names(planned: &Planned) -> [String; 2] {
    [0, 1].map(|n| name_beside(&planned.id, planned.plan.paths.len() + n))
}

/// The umask, read without changing it.
pub(in super::super) fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o077)
}
