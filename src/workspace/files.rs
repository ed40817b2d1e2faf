//! The files of a directory, for `@`: ignore rules respected, bounded, and given up when told to.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ignored::Ignored;

/// Most files that are listed.
pub const FILES_MAX: usize = 50_000;

/// A list of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// Paths relative to the directory, sorted.
    pub paths: Vec<String>,
    /// Whether there are more than the bound.
    pub more: bool,
    /// Files left out because their names are not UTF-8.
    pub unnamed: u64,
}

/// Lists at most `most` files beneath `root`: hidden ones too, `.git` and what the ignore files name not.
/// Ends early, with what it has, once `cancel` is set. Blocking.
pub fn list(root: &Path, most: usize, cancel: &AtomicBool) -> FileList {
    let mut out = FileList::default();
    let ignored = Ignored::new(root, None);
    let walk = ignore::WalkBuilder::new(root)
        .standard_filters(false)
        .filter_entry(move |entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0 || entry.file_name() != ".git" && !ignored.leaves_out(entry.path(), is_dir)
        })
        .build();
    for entry in walk {
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        // what cannot be read is not offered
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_none_or(|kind| kind.is_dir()) {
            continue;
        }
        let Ok(path) = entry.path().strip_prefix(root) else { continue };
        if out.paths.len() == most {
            out.more = true;
            break;
        }
        match path.to_str() {
            Some(path) => out.paths.push(path.to_string()),
            None => out.unnamed += 1,
        }
    }
    out.paths.sort_unstable();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn ignored_files_and_git_are_left_out_and_the_bound_holds() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path();
        for dir in [".git", "target", "src", ".windlass"] {
            std::fs::create_dir(root.join(dir)).unwrap();
        }
        for file in [".git/HEAD", "target/x", "src/a.rs", ".windlass/settings.json", "b.txt"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        std::fs::write(root.join(".gitignore"), "target/\n").unwrap();
        std::fs::write(root.join(OsStr::from_bytes(b"bad\xff")), "").unwrap();
        let go = AtomicBool::new(false);
        let all = list(root, FILES_MAX, &go);
        assert_eq!(all.paths, [".gitignore", ".windlass/settings.json", "b.txt", "src/a.rs"]);
        assert!(!all.more);
        assert_eq!(all.unnamed, 1);
        let two = list(root, 2, &go);
        assert_eq!((two.paths.len(), two.more), (2, true));
        let stopped = list(root, FILES_MAX, &AtomicBool::new(true));
        assert!(stopped.paths.is_empty());
    }
}
