//! The versions that a plan speaks of, kept before anything is done: base's, parent's and child's of each path.
//!
//! Somebody may save at the same time: what was kept is what the plan goes by. Keeps `resolution_loses_nothing`.

use rustix::fs::FileType;
use rustix::io::Errno;

use super::beneath::{Beneath, name};
use super::error::Error;
use super::versions::Versions;
use crate::law::hand_back::merge1::{Clash, Verdict, merge1};
use crate::law::hand_back::plan::Planned;
use crate::law::hand_back::tree::{TreePath, Version};

/// How often a file is looked at again that somebody saves meanwhile.
const LOOKS_MAX: usize = 16;

/// Keeps the versions of a path, from base, parent's directory and copy; how it is planned with what was kept.
pub(super) fn keep_all_of(
    planned: &Planned,
    (base, parents, copy): (&Beneath, &Beneath, &Beneath),
    versions: &Versions,
) -> Result<Planned, Error> {
    let mut planned = planned.clone();
    keep(base, &planned.path, &planned.base, versions)?;
    // what is saved between looking and keeping is what the plan goes by
    let child = keep_latest(copy, &planned.path, &planned.child, versions)?;
    let parent = keep_latest(parents, &planned.path, &planned.parent, versions)?;
    if (&parent, &child) != (&planned.parent, &planned.child) {
        planned.verdict = merge1(&planned.base, &parent, &child);
        (planned.parent, planned.child) = (parent, child);
    }
    if planned.way().is_some() && parents.is_refused(&planned.path) {
        planned.verdict = Verdict::Conflict(Clash::Refused);
    }
    let bits = |of: &Beneath| of.bits(&planned.path, FileType::RegularFile);
    planned.mode = bits(parents).or_else(|| bits(copy)).map(|bits| bits & 0o777);
    Ok(planned)
}

/// Keeps the bytes of a file of the base.
fn keep(from: &Beneath, path: &TreePath, version: &Version, versions: &Versions) -> Result<(), Error> {
    let Version::File { hash, .. } = version else { return Ok(()) };
    if versions.has(*hash) {
        return Ok(());
    }
    let dir = from.dir_of(path).map_err(Error::at("keep the version of", path))?;
    if versions.keep_ours(&dir, name(path), *hash) {
        return Ok(());
    }
    let mut file = from.file(path).map_err(Error::at("keep the version of", path))?;
    if versions.keep(&mut file)? == *hash {
        return Ok(());
    }
    Err(Error::ChangedMeanwhile { path: path.clone() })
}

/// The same of a version that somebody may save at the same time: what was kept.
pub(super) fn keep_latest(
    from: &Beneath,
    path: &TreePath,
    seen: &Version,
    versions: &Versions,
) -> Result<Version, Error> {
    let mut version = seen.clone();
    for _ in 0..LOOKS_MAX {
        match version {
            Version::File { hash, .. } if !versions.has(hash) => {}
            other => return Ok(other),
        }
        let failed = |error| Error::at("keep the version of", path)(error);
        match from.file(path) {
            Ok(mut file) => {
                let mode = rustix::fs::fstat(&file).map_err(failed)?.st_mode;
                if FileType::from_raw_mode(mode) == FileType::RegularFile {
                    let hash = versions.keep(&mut file)?;
                    return Ok(Version::File { hash, executable: mode & 0o100 != 0 });
                }
            }
            // gone, or something else by now
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS | Errno::NXIO) => {}
            Err(error) => return Err(failed(error)),
        }
        version = from.version(path).map_err(failed)?;
    }
    Err(Error::ChangedMeanwhile { path: path.clone() })
}
