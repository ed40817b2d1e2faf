//! A merge program of the person's that knows the language of a text: `mergiraf`, if it is on the `PATH`. What it makes
//! of three versions is a proposal.
//!
//! Not here: when it is asked, and what becomes of the proposal (a person decides).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::law::hand_back::tree::TreePath;
use crate::law::merge::markers;
use crate::law::merge::regions::Three;
use crate::process::answer::{Bounds, Stop, answer};
use crate::store::private;

/// The program's name.
const NAME: &str = "mergiraf";

/// How long it may take. By itself it gives up after ten seconds.
const TIME_MAX: Duration = Duration::from_secs(20);

/// Most bytes of a merge: more than three versions that are looked at can have together.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// The program, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeProgram {
    program: PathBuf,
    path: OsString,
}

impl MergeProgram {
    /// Looks for it in the directories of a `PATH`; relative ones do not count, for they may be the project's.
    pub fn find(path: &OsStr) -> Option<MergeProgram> {
        let dirs = std::env::split_paths(path).filter(|dir| dir.is_absolute());
        let found = |program: &PathBuf| {
            program.is_file()
                && nix::unistd::access(program.as_path(), nix::unistd::AccessFlags::X_OK).is_ok()
        };
        let program = dirs.map(|dir| dir.join(NAME)).find(found)?;
        Some(MergeProgram { program, path: path.to_owned() })
    }

    /// What it makes of base, parent and child of a path; for what it leaves open there are blocks with markers of
    /// `markers::size_of`. In words what went wrong. Blocking, until `stop` at most.
    pub fn merge(&self, path: &TreePath, texts: [&[u8]; 3], stop: &Stop) -> Result<Option<Vec<u8>>, String> {
        let [base, parent, child] = texts;
        let size = markers::size_of(&Three::new(base, parent, child));
        // a directory of its own: the texts are private, and what it keeps of its runs goes with it
        let place = tempfile::Builder::new().prefix("windlass-merge-").tempdir();
        let place = place.map_err(|error| format!("no place for {NAME} to work in: {error}"))?;
        let mut arguments: Vec<OsString> = vec!["merge".into()];
        for (name, text) in ["base", "parent", "child"].into_iter().zip(texts) {
            let file = place.path().join(name);
            private::replace(&file, text).map_err(|error| crate::base::chain(&error))?;
            arguments.push(file.into());
        }
        arguments.push(format!("--conflict-marker-size={size}").into());
        // by the name it tells the language
        arguments.push(OsString::from_vec([b"--path-name=", path.as_bytes()].concat()));
        let bounds = Bounds { time: TIME_MAX, bytes: BYTES_MAX };
        let environment = self.environment(place.path());
        let told = answer(&self.program, &arguments, &environment, place.path(), bounds, stop)?;
        match told.code {
            // the second says that a conflict is left
            Some(0 | 1) => Ok(Some(told.output)),
            Some(code) => Err(format!("{NAME} failed with exit code {code}; resolve it by hand")),
            None => Err(format!("{NAME} was ended by a signal; resolve it by hand")),
        }
    }

    fn environment(&self, place: &Path) -> Vec<(OsString, OsString)> {
        let mut all = vec![("PATH".into(), self.path.clone()), ("LC_ALL".into(), "C.UTF-8".into())];
        let homes = ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];
        all.extend(homes.map(|name| (name.into(), place.as_os_str().to_owned())));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_for_in_absolute_directories_and_must_be_a_program() {
        let tmp = tempfile::tempdir().unwrap();
        std::fs::write(tmp.path().join(NAME), "").unwrap();
        assert_eq!(MergeProgram::find(tmp.path().as_os_str()), None);
        assert_eq!(MergeProgram::find(OsStr::new("")), None);
        assert_eq!(MergeProgram::find(OsStr::new(".:bin")), None);
    }
}
