//! The place of a file, held: its directory is open, reached from the root without following a link, and all
//! that is done there goes through that. Whoever swaps a directory for a link meanwhile changes nothing of it.
//!
//! Not here: whether the path may be used, and resolving what a model wrote (`path`); the paths here are real.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use rustix::io::Errno;

/// A name in a directory that is held open.
#[derive(Debug)]
pub struct Spot {
    /// The path that was asked for, for people.
    pub path: PathBuf,
    name: OsString,
    dir: OwnedFd,
}

impl Spot {
    /// Reaches a real path's place. Directories that are missing are made when there is a list for them, and
    /// stand in it then, also after an error; `cwd`, the session's own directory, is never made. Blocking.
    pub fn reach(path: &Path, cwd: &Path, mut made: Option<&mut Vec<Spot>>) -> io::Result<Spot> {
        let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let step =
            |dir: &OwnedFd, name: &OsStr| openat(dir, name, directory | OFlags::NOFOLLOW, Mode::empty());
        let mut dir = open("/", directory, Mode::empty())?;
        let mut at = PathBuf::from("/");
        for component in path.parent().unwrap_or(Path::new("/")).components() {
            let Component::Normal(name) = component else { continue };
            at.push(name);
            let next = match (step(&dir, name), &mut made) {
                (Err(Errno::NOENT), Some(made)) => {
                    if cwd.starts_with(&at) {
                        return Err(io::Error::other("the session's directory is gone"));
                    }
                    match mkdirat(&dir, name, Mode::from_raw_mode(0o777)) {
                        Ok(()) => {
                            made.push(Spot {
                                path: at.clone(),
                                name: name.to_owned(),
                                dir: dir.try_clone()?,
                            });
                        }
                        Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    step(&dir, name)
                }
                (next, _) => next,
            };
            dir = match next {
                Err(Errno::NOTDIR) if at.is_symlink() => {
                    return Err(io::Error::other("a directory on the way became a link meanwhile"));
                }
                next => next?,
            };
        }
        let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?.to_owned();
        Ok(Spot { path: path.to_owned(), name, dir })
    }

    /// The directory, as a path that only leads to what is held. It holds while the spot does.
    pub fn directory(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.dir.as_raw_fd()))
    }

    /// The file, as a path through the held directory. It holds while the spot does.
    pub fn file(&self) -> PathBuf {
        self.directory().join(&self.name)
    }

    /// Makes a rename durable. Some file systems cannot sync a directory; the rename stands all the same.
    pub fn sync(&self) {
        if let Ok(dir) = File::open(self.directory()) {
            let _ = dir.sync_all();
        }
    }
}

/// Opens the file at a real path for reading; a link, on the way or at its end, is not followed. Blocking.
pub fn open_real(path: &Path) -> io::Result<File> {
    let spot = Spot::reach(path, Path::new("/"), None)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(openat(&spot.dir, spot.name.as_os_str(), flags, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_spot_stays_where_it_was_when_its_directory_becomes_a_link() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        let (cwd, out) = (root.join("project"), root.join("out"));
        std::fs::create_dir_all(cwd.join("d")).unwrap();
        std::fs::create_dir(&out).unwrap();
        let spot = Spot::reach(&cwd.join("d/f"), &cwd, None).unwrap();
        std::fs::rename(cwd.join("d"), cwd.join("moved")).unwrap();
        symlink(&out, cwd.join("d")).unwrap();
        std::fs::write(spot.file(), "x").unwrap();
        assert!(!out.join("f").exists());
        assert_eq!(std::fs::read(cwd.join("moved/f")).unwrap(), b"x");
        // and a link is no way to a spot, nor a file to be opened
        let mut made = Vec::new();
        let error = Spot::reach(&cwd.join("d/g/f"), &cwd, Some(&mut made)).unwrap_err();
        assert!(error.to_string().contains("became a link"), "{error}");
        assert!(made.is_empty() && !out.join("g").exists());
        std::fs::write(out.join("secret"), "s").unwrap();
        symlink(out.join("secret"), cwd.join("moved/s")).unwrap();
        assert!(open_real(&cwd.join("d/secret")).is_err());
        assert!(open_real(&cwd.join("moved/s")).is_err());
        assert!(open_real(&out.join("secret")).is_ok());
    }

    #[test]
    fn the_directory_of_the_session_is_never_made() {
        let tmp = tempfile::tempdir().unwrap();
        let cwd = tmp.path().canonicalize().unwrap().join("gone/project");
        let mut made = Vec::new();
        let error = Spot::reach(&cwd.join("a/b"), &cwd, Some(&mut made)).unwrap_err();
        assert!(error.to_string().contains("directory is gone"), "{error}");
        assert!(made.is_empty() && !tmp.path().join("gone").exists());
        std::fs::create_dir_all(&cwd).unwrap();
        Spot::reach(&cwd.join("a/b/c"), &cwd, Some(&mut made)).unwrap();
        let paths: Vec<_> = made.iter().map(|spot| spot.path.clone()).collect();
        assert_eq!(paths, [cwd.join("a"), cwd.join("a/b")]);
    }
}
