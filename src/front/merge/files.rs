//! The four files of a merge: three are read, the result is written beside its place, synced and renamed over it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::law::hand_back::tree::Version;
use crate::tool::change::copy_attributes;
use crate::workspace::child::look::{BYTES_MAX, Looked, held};

/// Most links that are followed from one to the next, as the system does it.
const LINKS_MAX: usize = 40;

/// What a file holds. All versions of a merge are told as executable or not alike: the mode of a result is that of the
/// file which it replaces, and those of the three files say nothing, since whoever asks for a merge made them.
pub fn look(path: &Path) -> Result<Looked, String> {
    let failed = |error: io::Error| format!("{} cannot be read: {error}", path.display());
    let meta = path.metadata().map_err(failed)?;
    if meta.is_dir() {
        return Err(format!("{} is a directory, and a file is needed", path.display()));
    }
    // it is read more than once, and a pipe would be empty the second time
    if !meta.is_file() && path != Path::new("/dev/null") {
        return Err(format!(
            "{} is no regular file; put what it gives into one, and name that",
            path.display()
        ));
    }
    let file = File::open(path).map_err(failed)?;
    let mut looked = held(file, BYTES_MAX).map_err(failed)?;
    if let Version::File { executable, .. } = &mut looked.version {
        *executable = false;
    }
    Ok(looked)
}

/// The version of a file that may be missing.
pub fn version(path: &Path) -> Result<Version, String> {
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Version::Absent),
        Ok(_) | Err(_) => look(path).map(|looked| looked.version),
    }
}

/// A file's bytes; none: it is not there.
pub fn whole(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}

/// Puts bytes in the place of a file, or a new one. It keeps its mode, its owner and its attributes.
pub fn put(path: &Path, bytes: &mut dyn Read) -> Result<(), String> {
    replace(path, bytes).map_err(|error| {
        format!(
            "{} was not written: {error}. It is as it was; make room or mend its directory, and write again.",
            path.display()
        )
    })
}

fn replace(path: &Path, bytes: &mut dyn Read) -> io::Result<()> {
    // a link stays, and what it leads to is written, or made
    let place = led_to(path);
    let dir = match place.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir.to_owned(),
        Some(_) | None => PathBuf::from("."),
    };
    // narrowed by the umask, as for any program
    let public = std::fs::Permissions::from_mode(0o666);
    let mut new = tempfile::Builder::new().prefix(".windlass-").permissions(public).tempfile_in(&dir)?;
    if let Ok(meta) = place.metadata() {
        if !meta.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let made = new.as_file().metadata()?;
        if (made.uid(), made.gid()) != (meta.uid(), meta.gid()) {
            // only root may give a file away
            let _ = std::os::unix::fs::fchown(new.as_file(), Some(meta.uid()), Some(meta.gid()));
        }
        new.as_file().set_permissions(std::fs::Permissions::from_mode(meta.mode() & 0o7777))?;
        copy_attributes(&place, new.as_file());
    }
    io::copy(bytes, new.as_file_mut())?;
    new.flush()?;
    new.as_file().sync_all()?;
    new.persist(&place).map_err(|error| error.error)?;
    File::open(&dir)?.sync_all()
}

/// Where a path leads, also where nothing is there yet.
fn led_to(path: &Path) -> PathBuf {
    let mut place = path.to_owned();
    for _ in 0..LINKS_MAX {
        match place.read_link() {
            Ok(target) => place = place.parent().map_or(target.clone(), |dir| dir.join(&target)),
            Err(_) => break,
        }
    }
    place.canonicalize().unwrap_or(place)
}

/// Removes a file that was made here.
pub fn remove(path: &Path) -> Result<(), String> {
    let place = led_to(path);
    std::fs::remove_file(&place).map_err(|error| format!("{} was not removed: {error}", place.display()))
}
