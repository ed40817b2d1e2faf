//! Earlier resolutions: the same base, parent's and child's version of a file seen again, how it was resolved is
//! proposed.
//!
//! For one person, in the state directory, whatever session and path they were of: the bytes are what counts. Only
//! files whose contents clashed, and only what was written. The oldest go first when there are many.
//!
//! Not here: making a resolution. It is proposed, and a person takes it.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Room;
use super::beneath::hash;
use super::error::Error;
use super::resolve::Resolved;
use crate::law::hand_back::tree::Version;
use crate::store;
use crate::store::private;

/// Most resolutions that are remembered.
const KEPT_MAX: usize = 500;

/// Largest result that is remembered, in bytes.
const BYTES_MAX: usize = 1024 * 1024;

/// The resolutions that are remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    dir: PathBuf,
}

/// How three versions were resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What the file got.
    pub bytes: Vec<u8>,
    /// Whether its owner may run it.
    pub executable: bool,
}

/// The first line of a remembered resolution; the bytes follow it.
#[derive(Serialize, Deserialize)]
struct Head {
    of: [Version; 3],
    executable: bool,
}

impl Earlier {
    /// In a directory (`store::Dirs::resolutions`); nothing is made.
    pub fn at(dir: impl Into<PathBuf>) -> Earlier {
        Earlier { dir: dir.into() }
    }

    fn path(&self, of: &[Version; 3]) -> Result<PathBuf, Error> {
        let named =
            serde_json::to_vec(of).map_err(|source| Error::Record { path: self.dir.clone(), source })?;
        let key = hash(&mut &named[..]).map_err(Error::io("name a resolution in", &self.dir))?;
        Ok(self.dir.join(key.to_string()))
    }

    /// How these versions (base, parent's, child's) were resolved before; none if they were not. A damaged memory is
    /// none: it is only a proposal.
    pub fn find(&self, of: &[Version; 3]) -> Result<Option<Found>, Error> {
        let bytes = match private::read(&self.path(of)?) {
            Ok(bytes) => bytes,
            Err(store::Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let Some(line) = bytes.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let head = serde_json::from_slice::<Head>(&bytes[..line]).ok().filter(|head| head.of == *of);
        Ok(head.map(|head| Found { bytes: bytes[line + 1..].to_vec(), executable: head.executable }))
    }

    /// Remembers what these versions came to, in place of what they came to before. What is too large is not.
    pub fn keep(&self, of: &[Version; 3], bytes: &[u8], executable: bool) -> Result<(), Error> {
        if bytes.len() > BYTES_MAX {
            return Ok(());
        }
        private::dir_all(&self.dir)?;
        let path = self.path(of)?;
        let head = serde_json::to_vec(&Head { of: of.clone(), executable });
        let mut written = head.map_err(|source| Error::Record { path: path.clone(), source })?;
        written.push(b'\n');
        written.write_all(bytes).map_err(Error::io("write", &path))?;
        private::replace(&path, &written)?;
        self.forget_oldest();
        Ok(())
    }

    /// Forgets what these versions came to; that it is not known is fine.
    pub fn forget(&self, of: &[Version; 3]) -> Result<(), Error> {
        let path = self.path(of)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn forget_oldest(&self) {
        let list = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut all: Vec<_> =
            list.filter_map(|item| Some((item.metadata().ok()?.modified().ok()?, item.path()))).collect();
        all.sort();
        let over = all.len().saturating_sub(KEPT_MAX);
        // what another program removes at the same time is gone, as it should be
        all.into_iter().take(over).for_each(|(_, path)| drop(fs::remove_file(path)));
    }
}

impl Room {
    /// Remembers a resolution that was written, or forgets the one that was taken back; only where contents of files
    /// clashed. `base` and `child`: the path's versions in the record.
    pub fn remember(
        &self,
        earlier: &Earlier,
        base: &Version,
        child: &Version,
        resolved: &Resolved,
    ) -> Result<(), Error> {
        let (before, after) = match resolved.undoes {
            false => (&resolved.before, &resolved.after),
            true => (&resolved.after, &resolved.before),
        };
        let (Version::File { hash: one, .. }, Version::File { hash: other, .. }) = (before, child) else {
            return Ok(());
        };
        let Version::File { executable, .. } = after else { return Ok(()) };
        if one == other || before == after {
            return Ok(());
        }
        let of = [base, before, child].map(|version| version.tracked().clone());
        if resolved.undoes {
            return earlier.forget(&of);
        }
        match self.bytes(after)? {
            Some(bytes) => earlier.keep(&of, &bytes, *executable),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Version {
        Version::File { hash: hash(&mut text.as_bytes()).unwrap(), executable: false }
    }

    #[test]
    fn the_same_three_versions_are_known_again_and_others_are_not() {
        let tmp = tempfile::tempdir().unwrap();
        let earlier = Earlier::at(tmp.path().join("state/resolutions"));
        let of = [file("base"), file("parent"), file("child")];
        assert_eq!(earlier.find(&of).unwrap(), None);
        earlier.keep(&of, b"merged\n\xff", true).unwrap();
        let found = Some(Found { bytes: b"merged\n\xff".to_vec(), executable: true });
        assert_eq!(earlier.find(&of).unwrap(), found);
        for place in 0..3 {
            let mut other = of.clone();
            other[place] = file("other");
            assert_eq!(earlier.find(&other).unwrap(), None);
        }
        let turned = [of[0].clone(), of[2].clone(), of[1].clone()];
        assert_eq!(earlier.find(&turned).unwrap(), None);
        earlier.keep(&of, b"", false).unwrap();
        assert_eq!(earlier.find(&of).unwrap(), Some(Found { bytes: Vec::new(), executable: false }));
        earlier.forget(&of).unwrap();
        assert_eq!(earlier.find(&of).unwrap(), None);
        earlier.forget(&of).unwrap();
    }

    #[test]
    fn what_is_damaged_is_not_known_and_what_is_too_large_or_too_old_is_not_kept() {
        let tmp = tempfile::tempdir().unwrap();
        let earlier = Earlier::at(tmp.path().join("resolutions"));
        private::dir(&earlier.dir).unwrap();
        let of = |n: usize| [file("base"), file(&n.to_string()), file("child")];
        earlier.keep(&of(0), &vec![0; BYTES_MAX + 1], false).unwrap();
        assert_eq!(earlier.find(&of(0)).unwrap(), None);
        private::replace(&earlier.path(&of(0)).unwrap(), b"{}\nmerged").unwrap();
        assert_eq!(earlier.find(&of(0)).unwrap(), None);
        for n in 0..KEPT_MAX + 5 {
            private::replace(&earlier.dir.join(n.to_string()), b"").unwrap();
        }
        earlier.keep(&of(1), b"new", false).unwrap();
        assert_eq!(fs::read_dir(&earlier.dir).unwrap().count(), KEPT_MAX);
        assert!(earlier.find(&of(1)).unwrap().is_some());
    }
}
