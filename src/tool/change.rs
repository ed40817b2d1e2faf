//! A plan of changes to files, and its carrying out: all or nothing.
//!
//! Nothing is done by path: each file's directory is held open (`spot`), so that a link put in its way leads
//! nowhere. Each file is written beside itself, synced and renamed over, its directory synced. A link is
//! followed to its target, mode and owner stay, a new file gets the umask. When one step fails, what
//! was done before it is put back. The earlier bytes are kept by the session first, so that a rewind
//! can restore them. Not here: who may change what.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tempfile::NamedTempFile;

use crate::api::entry::Touched;
use crate::store::blobs::hash;
use crate::tool::blocking::BlockingCall;
use crate::tool::site::Site;
use crate::tool::spot::Spot;

/// Largest file that is read whole to be changed.
pub const CHANGED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A file as it stands before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its permission bits.
    pub mode: u32,
    owner: (u32, u32),
    stamp: Stamp,
}

/// What tells that a file was written since: device, inode, size, time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp(u64, u64, u64, i64, i64);

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self(meta.dev(), meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec())
    }
}

/// One file's change. The path is absolute with links resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// How it stands; none: it is not there.
    pub before: Option<Before>,
    /// Its bytes after; none: it is removed.
    pub after: Option<Vec<u8>>,
    /// Permission bits that it gets (moved from elsewhere); none: it keeps its own, a new one the umask's.
    pub mode: Option<u32>,
}

impl Before {
    /// Reads a file whole; none when it is not there. What is no regular file, too large or not
    /// writable by this user is an error. Blocking.
    pub fn read(site: &Site, path: &Path) -> Result<Option<Before>, String> {
        let shown = site.show(path);
        let disk = site.disk(path);
        let path = disk.as_path();
        let wrong = |what: &str| Err(format!("{shown} {what}"));
        let meta = match std::fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return wrong(&format!("cannot be read: {}", plain(&error))),
        };
        if meta.is_dir() {
            return wrong("is a directory, not a file; name a file in it");
        }
        if !meta.is_file() {
            return wrong("is not a regular file (a device, pipe or socket); it is left alone");
        }
        if meta.len() > CHANGED_BYTES_MAX {
            return wrong(&format!(
                "is {} bytes large; files over {CHANGED_BYTES_MAX} bytes are not changed here: use bash",
                meta.len()
            ));
        }
        if let Err(error) = nix::unistd::access(path, nix::unistd::AccessFlags::W_OK) {
            return wrong(&format!("may not be written by this user ({}); it is unchanged", error.desc()));
        }
        let read = site.open(path).and_then(|mut file| {
            let meta = file.metadata()?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok((meta, bytes))
        });
        match read {
            Ok((meta, bytes)) => Ok(Some(Before {
                bytes,
                mode: meta.permissions().mode() & 0o7777,
                owner: (meta.uid(), meta.gid()),
                stamp: Stamp::of(&meta),
            })),
            Err(error) => wrong(&format!("cannot be read: {}", plain(&error))),
        }
    }
}

/// An I/O error in the system's words, without its number and without the name of a temporary file.
pub fn plain(error: &std::io::Error) -> String {
    match (error.raw_os_error(), error.kind()) {
        (Some(code), _) => nix::errno::Errno::from_raw(code).desc().to_owned(),
        (None, ErrorKind::Other) => error.to_string(),
        // made by `tempfile` from a system's error, with a path that means nothing to a person
        (None, kind) => kind.to_string(),
    }
}

/// What was done of a plan, in order, so that it can be undone.
enum Done {
    /// A directory was made.
    Made(Spot),
    /// A file was written where none was.
    Created(Rc<Spot>),
    /// A file was written over another.
    Replaced(Rc<Spot>, Before),
    /// A file was set aside under another name.
    SetAside { spot: Rc<Spot>, aside: PathBuf },
}

/// Carries a plan out: every change, or none and the reason. Blocking.
pub fn carry_out(call: &BlockingCall, changes: &[Change]) -> Result<Vec<Touched>, String> {
    let mut touched = keep_earlier(call, changes)?;
    let mut done = Vec::new();
    match steps(call, changes, &mut done) {
        Ok(made) => {
            finish(&done);
            for (touched, made) in touched.iter_mut().zip(made) {
                touched.made = made;
            }
            Ok(touched)
        }
        Err(why) => match undo(&call.site, done) {
            Ok(()) => Err(format!("{why}; nothing was changed")),
            Err(left) => Err(format!("{why}; putting back what was done before it failed too: {left}")),
        },
    }
}

fn keep_earlier(call: &BlockingCall, changes: &[Change]) -> Result<Vec<Touched>, String> {
    changes
        .iter()
        .map(|change| {
            let before = match &change.before {
                None => None,
                Some(before) => Some(call.blobs.keep(&before.bytes).map_err(|why| {
                    let shown = call.site.show(&change.path);
                    format!("the earlier bytes of {shown} could not be kept ({why}); nothing was changed")
                })?),
            };
            Ok(Touched {
                path: change.path.clone(),
                before,
                after: change.after.as_deref().map(hash),
                mode: change.before.as_ref().map(|before| before.mode),
                made: 0,
            })
        })
        .collect()
}

/// Prepares all files, then puts each in its place. How many directories were made for each.
fn steps(call: &BlockingCall, changes: &[Change], done: &mut Vec<Done>) -> Result<Vec<u32>, String> {
    // the spots outlive the prepared files: these are removed through them
    let mut spots = Vec::new();
    let mut made_for = Vec::new();
    let mut prepared = Vec::new();
    for change in changes {
        if call.cancelled() {
            return Err("cancelled".to_owned());
        }
        let shown = call.site.show(&change.path);
        let wrong = |error| format!("{shown} could not be written: {}", plain(&error));
        let mut made = Vec::new();
        let spot = Spot::reach(
            &call.site.disk(&change.path),
            &call.site.disk(call.site.cwd()),
            change.after.is_some().then_some(&mut made),
        );
        made_for.push(made.len() as u32);
        done.extend(made.into_iter().map(Done::Made));
        let spot = Rc::new(spot.map_err(wrong)?);
        spots.push(Rc::clone(&spot));
        let file = change.after.as_ref().map(|after| prepare(change, &spot, after));
        prepared.push(file.transpose().map_err(wrong)?);
    }
    for ((change, spot), file) in changes.iter().zip(&spots).zip(prepared) {
        let shown = call.site.show(&change.path);
        check_unchanged(change, spot).map_err(|why| format!("{shown} {why}"))?;
        put(change, spot, file, done)
            .map_err(|error| format!("{shown} could not be changed: {}", plain(&error)))?;
    }
    Ok(made_for)
}

/// Writes the bytes beside their place and syncs them.
fn prepare(change: &Change, spot: &Spot, bytes: &[u8]) -> std::io::Result<NamedTempFile> {
    // a new file's 0666 is narrowed by the umask, as for any program
    let public = std::fs::Permissions::from_mode(0o666);
    let mut file =
        tempfile::Builder::new().prefix(".windlass-").permissions(public).tempfile_in(spot.directory())?;
    if let Some(before) = &change.before {
        let meta = file.as_file().metadata()?;
        if (meta.uid(), meta.gid()) != before.owner {
            // only root may give a file away; without it the file becomes this user's
            let _ = std::os::unix::fs::fchown(file.as_file(), Some(before.owner.0), Some(before.owner.1));
        }
    }
    if let Some(mode) = change.mode.or(change.before.as_ref().map(|before| before.mode)) {
        file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    if change.before.is_some() {
        copy_attributes(&spot.file(), file.as_file());
    }
    file.as_file_mut().write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Longest list of names, and longest value, of extended attributes: Linux' own bound.
const ATTRIBUTE_BYTES_MAX: usize = 64 * 1024;

/// Gives the new file the attributes that belong to the old one whatever its bytes: access lists, the
/// label, the person's own. Where the file system or the rights do not allow it, the file goes without.
pub fn copy_attributes(from: &Path, to: &File) {
    let kept = |name: &[u8]| {
        name.starts_with(b"user.") || name == b"system.posix_acl_access" || name == b"security.selinux"
    };
    let mut names = vec![0; ATTRIBUTE_BYTES_MAX];
    let Ok(length) = rustix::fs::listxattr(from, &mut names[..]) else { return };
    for name in names[..length].split(|byte| *byte == 0).filter(|name| kept(name)) {
        let mut value = vec![0; ATTRIBUTE_BYTES_MAX];
        if let Ok(length) = rustix::fs::getxattr(from, name, &mut value[..]) {
            let _ = rustix::fs::fsetxattr(to, name, &value[..length], rustix::fs::XattrFlags::empty());
        }
    }
}

/// Whether the file is still the one that the plan was made from.
fn check_unchanged(change: &Change, spot: &Spot) -> Result<(), String> {
    match (std::fs::symlink_metadata(spot.file()), &change.before) {
        (Ok(meta), Some(before)) if Stamp::of(&meta) == before.stamp => Ok(()),
        (Err(error), None) if error.kind() == ErrorKind::NotFound => Ok(()),
        (Ok(_), Some(_)) => Err("was changed by someone else meanwhile; read it again".to_owned()),
        (Ok(meta), None) if meta.is_dir() => Err("is a directory by now: another file of this change lies \
                                                  in it, or someone made it; give one of them another name"
            .to_owned()),
        (Ok(_), None) => Err("was made by someone else meanwhile; read it first".to_owned()),
        (Err(error), _) => Err(format!("is no longer as it was: {}", plain(&error))),
    }
}

fn put(
    change: &Change,
    spot: &Rc<Spot>,
    file: Option<NamedTempFile>,
    done: &mut Vec<Done>,
) -> std::io::Result<()> {
    let path = spot.file();
    let held = Rc::clone(spot);
    match (file, &change.before) {
        (Some(file), Some(before)) => {
            file.persist(&path).map_err(|failed| failed.error)?;
            done.push(Done::Replaced(held, before.clone()));
        }
        (Some(file), None) => {
            file.persist_noclobber(&path).map_err(|failed| failed.error)?;
            done.push(Done::Created(held));
        }
        (None, _) => {
            let aside = tempfile::Builder::new().prefix(".windlass-").tempfile_in(spot.directory())?;
            let aside = aside.into_temp_path().keep().map_err(|failed| failed.error)?;
            if let Err(error) = std::fs::rename(&path, &aside) {
                let _ = std::fs::remove_file(&aside);
                return Err(error);
            }
            done.push(Done::SetAside { spot: held, aside });
        }
    }
    spot.sync();
    Ok(())
}

/// Removes what was set aside.
fn finish(done: &[Done]) {
    for step in done {
        if let Done::SetAside { spot, aside } = step
            && std::fs::remove_file(aside).is_ok()
        {
            spot.sync();
        }
    }
}

/// Takes every step back, the last one first; what could not be taken back is named.
fn undo(site: &Site, done: Vec<Done>) -> Result<(), String> {
    let mut left = Vec::new();
    for step in done.into_iter().rev() {
        let (spot, undone) = match step {
            // a directory that someone else put something into stays
            Done::Made(dir) => {
                let _ = std::fs::remove_dir(dir.file());
                continue;
            }
            Done::Created(spot) => {
                let undone = std::fs::remove_file(spot.file());
                (spot, undone)
            }
            Done::SetAside { spot, aside } => {
                let undone = std::fs::rename(&aside, spot.file());
                (spot, undone)
            }
            Done::Replaced(spot, before) => {
                let bytes = before.bytes.clone();
                let change =
                    Change { path: spot.path.clone(), before: Some(before), after: None, mode: None };
                let undone = prepare(&change, &spot, &bytes)
                    .and_then(|file| file.persist(spot.file()).map(drop).map_err(|failed| failed.error));
                (spot, undone)
            }
        };
        if let Err(error) = undone {
            left.push(format!("{} ({})", site.seen(&spot.path).display(), plain(&error)));
        }
        spot.sync();
    }
    if left.is_empty() { Ok(()) } else { Err(left.join(", ")) }
}
