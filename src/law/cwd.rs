//! Law A: a session runs only in the directory it names. None named, gone, and not a directory are different
//! refusals; there is no fallback.
//!
//! Not here: looking at the disk; the caller tells what it saw. Keeps `cwd_is_explicit`, `cwd_none_refused`,
//! `cwd_gone_refused`, `cwd_file_refused`.

use std::path::{Path, PathBuf};

/// What stands where the directory should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A directory.
    Directory,
    /// Something that is not a directory.
    Other,
    /// Nothing.
    Nothing,
    /// It cannot be looked at.
    Closed,
}

/// Why a session does not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It names no directory.
    #[error(
        "the session names no directory, so it cannot run; view or export it, and begin a new one with --cwd DIR"
    )]
    None,
    /// What it names is not absolute: it would mean another place each time.
    #[error("{} is not an absolute path, so the session cannot run there; name the directory in full with --cwd", .0.display())]
    Relative(PathBuf),
    /// The directory is gone.
    #[error("the session's directory {} is gone; put it back, or begin a new session elsewhere with --cwd DIR", .0.display())]
    Gone(PathBuf),
    /// It is not a directory.
    #[error("{} is not a directory, so no session can run there; name a directory with --cwd DIR", .0.display())]
    File(PathBuf),
    /// It cannot be reached.
    #[error("the session's directory {} cannot be reached; see to the permissions of the directories above it", .0.display())]
    Closed(PathBuf),
}

/// Where a session runs: exactly the directory it names, or nowhere. `seen` is what stands there now.
pub fn cwd(named: Option<&Path>, seen: Seen) -> Result<&Path, Refusal> {
    let Some(path) = named.filter(|path| !path.as_os_str().is_empty()) else {
        return Err(Refusal::None);
    };
    if !path.is_absolute() {
        return Err(Refusal::Relative(path.to_owned()));
    }
    match seen {
        Seen::Directory => Ok(path),
        Seen::Other => Err(Refusal::File(path.to_owned())),
        Seen::Nothing => Err(Refusal::Gone(path.to_owned())),
        Seen::Closed => Err(Refusal::Closed(path.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cwd_is_explicit() {
        let here = Path::new("/p/ü");
        for seen in [Seen::Directory, Seen::Other, Seen::Nothing, Seen::Closed] {
            // What is seen never makes up for a name, and no answer is another place than the named one.
            assert_eq!(cwd(None, seen), Err(Refusal::None));
            assert_eq!(cwd(Some(Path::new("")), seen), Err(Refusal::None));
            assert_eq!(cwd(Some(Path::new("p")), seen), Err(Refusal::Relative("p".into())));
            assert_eq!(cwd(Some(here), seen).ok(), (seen == Seen::Directory).then_some(here));
        }
    }

    #[test]
    fn each_refusal_says_what_and_what_to_do() {
        let said: Vec<String> = [
            (None, Seen::Nothing),
            (Some("p"), Seen::Directory),
            (Some("/p"), Seen::Nothing),
            (Some("/p"), Seen::Other),
            (Some("/p"), Seen::Closed),
        ]
        .into_iter()
        .map(|(named, seen)| cwd(named.map(Path::new), seen).unwrap_err().to_string())
        .collect();
        assert_eq!(
            said,
            [
                "the session names no directory, so it cannot run; view or export it, and begin a new one with --cwd DIR",
                "p is not an absolute path, so the session cannot run there; name the directory in full with --cwd",
                "the session's directory /p is gone; put it back, or begin a new session elsewhere with --cwd DIR",
                "/p is not a directory, so no session can run there; name a directory with --cwd DIR",
                "the session's directory /p cannot be reached; see to the permissions of the directories above it",
            ]
        );
    }
}
