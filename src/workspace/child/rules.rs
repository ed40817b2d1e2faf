//! The ignore rules of a spawn, kept so that the hand-back leaves out what they leave out.
//!
//! Those of the tree stand in the base; `info/exclude` and the global excludes are copied beside it. A `.gitignore`
//! that the child made or changed counts besides: what either ignores is left out, and named.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::error::Error;
use crate::law::hand_back::tree::TreePath;
use crate::store::private;
use crate::workspace::git;

const GIT_TIME_MAX: Duration = Duration::from_secs(10);

/// Most bytes of one file of rules.
const RULES_BYTES_MAX: u64 = 1024 * 1024;

/// Keeps the rules that are not in the tree.
pub fn keep(dir: &Path, into: &Path) -> Result<(), Error> {
    private::dir(into)?;
    for (name, path) in outside(dir) {
        let small = fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= RULES_BYTES_MAX);
        if let Some(bytes) = small.then(|| fs::read(&path).ok()).flatten() {
            private::replace(&into.join(name), &bytes)?;
        }
    }
    Ok(())
}

/// Where git has rules outside of the tree.
fn outside(dir: &Path) -> Vec<(&'static str, PathBuf)> {
    let ask = |arguments: &[&str]| -> Option<PathBuf> {
        let bytes = git::output(dir, arguments, Instant::now() + GIT_TIME_MAX).ok()?;
        let path = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        (!path.is_empty()).then(|| dir.join(OsStr::from_bytes(path)))
    };
    if !git::is_work_tree(dir) {
        return Vec::new();
    }
    let configured = ask(&["config", "--type=path", "--get", "core.excludesFile"]);
    let home = || {
        let config = std::env::var_os("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let config = config.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
        Some(config.join("git/ignore"))
    };
    let exclude = ask(&["rev-parse", "--git-path", "info/exclude"]);
    let global = configured.or_else(home);
    [("exclude", exclude), ("global", global)]
        .into_iter()
        .filter_map(|(name, path)| Some((name, path?)))
        .collect()
}

/// One set of rules: those of a tree's `.gitignore` files, the deepest first, then those outside of it.
#[derive(Debug)]
pub struct Rules {
    tree: PathBuf,
    inside: BTreeMap<Vec<u8>, Option<Gitignore>>,
    outside: Vec<Gitignore>,
}

impl Rules {
    /// The rules whose `.gitignore` files are in `tree`.
    pub fn new(tree: &Path, kept: &Path) -> Rules {
        let outside = ["exclude", "global"].iter().filter_map(|name| read(tree, &kept.join(name)));
        Rules { outside: outside.collect(), tree: tree.to_owned(), inside: BTreeMap::new() }
    }

    /// Whether a path is ignored by itself; that no directory above it is, was asked before.
    pub fn ignores(&mut self, path: &TreePath, is_dir: bool) -> bool {
        let relative = Path::new(OsStr::from_bytes(path.as_bytes()));
        let mut above = path.above();
        loop {
            let dir = above.as_ref().map_or(Vec::new(), |above| above.as_bytes().to_vec());
            let tree = &self.tree;
            let rules = self.inside.entry(dir).or_insert_with_key(|dir| {
                let dir = tree.join(OsStr::from_bytes(dir));
                read(&dir, &dir.join(".gitignore"))
            });
            let verdict = rules.as_ref().map(|rules| rules.matched(self.tree.join(relative), is_dir));
            match verdict {
                Some(verdict) if verdict.is_ignore() => return true,
                Some(verdict) if verdict.is_whitelist() => return false,
                _ => {}
            }
            let Some(here) = above else { break };
            above = here.above();
        }
        let verdicts = self.outside.iter().map(|rules| rules.matched(self.tree.join(relative), is_dir));
        verdicts.into_iter().find(|verdict| !verdict.is_none()).is_some_and(|verdict| verdict.is_ignore())
    }
}

/// Reads one file of rules for what is beneath `dir`. What is no plain file has none.
fn read(dir: &Path, file: &Path) -> Option<Gitignore> {
    let meta = file.symlink_metadata().ok()?;
    if !meta.is_file() || meta.len() > RULES_BYTES_MAX {
        return None;
    }
    let mut builder = GitignoreBuilder::new(dir);
    builder.add(file);
    builder.build().ok()
}
