//! The ignore rules of a spawn, kept so that the hand-back leaves out what they leave out.
//!
//! Those of the tree stand in the base. Beside it are copied: `info/exclude` and the global excludes, and where the
//! directory is a part of a work tree the `.gitignore` files above it; of a repository inside its own. Each is kept with
//! the directory that its patterns begin from. A `.gitignore` that the child made or changed counts besides: what either
//! ignores is left out, and named.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::{Deserialize, Serialize};

use super::error::Error;
use crate::law::hand_back::tree::TreePath;
use crate::store::private;
use crate::workspace::git;

const GIT_TIME_MAX: Duration = Duration::from_secs(10);

/// The record of the files.
const LIST: &str = "list.json";

/// Where the patterns of a file of rules begin: no place of a disk.
const ROOT: &str = "/repository";

/// Most bytes of one file of rules.
const RULES_BYTES_MAX: u64 = 1024 * 1024;

/// One file of rules that is not in the tree.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// The repository inside that it is of; none: the one that the directory is in.
    repository: Option<TreePath>,
    /// Where the repository's files are, beneath the directory from which the patterns begin; none: it is that one.
    below: Option<TreePath>,
}

/// Keeps the rules that are not in the tree, those that count first in front.
pub fn keep(dir: &Path, repositories: &[TreePath], into: &Path) -> Result<(), Error> {
    private::dir(into)?;
    let mut all = Vec::new();
    for repository in [None].into_iter().chain(repositories.iter().map(Some)) {
        let top = repository.map_or(dir.to_owned(), |path| dir.join(OsStr::from_bytes(path.as_bytes())));
        for (path, below) in outside(&top) {
            let small = fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= RULES_BYTES_MAX);
            let Some(bytes) = small.then(|| fs::read(&path).ok()).flatten() else { continue };
            private::replace(&into.join(all.len().to_string()), &bytes)?;
            all.push(Kept { repository: repository.cloned(), below });
        }
    }
    let list = into.join(LIST);
    let written = serde_json::to_vec(&all);
    let written = written.map_err(|source| Error::Record { path: list.clone(), source })?;
    Ok(private::replace(&list, &written)?)
}

/// Where git has rules outside of a directory: the file, and where the directory is beneath what its patterns are of.
fn outside(dir: &Path) -> Vec<(PathBuf, Option<TreePath>)> {
    let ask = |arguments: &[&str]| -> Option<Vec<u8>> {
        let bytes = git::output(dir, arguments, Instant::now() + GIT_TIME_MAX).ok()?;
        Some(bytes.strip_suffix(b"\n").unwrap_or(&bytes).to_vec())
    };
    let path = |bytes: Vec<u8>| (!bytes.is_empty()).then(|| dir.join(OsStr::from_bytes(&bytes)));
    if !git::is_work_tree(dir) {
        return Vec::new();
    }
    // `a/b/` where the directory is that of the work tree
    let prefix = ask(&["rev-parse", "--show-prefix"]).unwrap_or_default();
    let parts: Vec<&[u8]> = prefix.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
    let below = |count: usize| TreePath::new(parts[parts.len() - count..].join(&b'/'));
    let mut all: Vec<(PathBuf, Option<TreePath>)> = dir
        .ancestors()
        .skip(1)
        .zip(1..=parts.len())
        .map(|(above, count)| (above.join(".gitignore"), below(count)))
        .filter(|(path, _)| path.symlink_metadata().is_ok_and(|meta| meta.is_file()))
        .collect();
    let configured = ask(&["config", "--type=path", "--get", "core.excludesFile"]).and_then(path);
    let home = || {
        let config = std::env::var_os("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let config = config.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
        Some(config.join("git/ignore"))
    };
    let exclude = ask(&["rev-parse", "--git-path", "info/exclude"]).and_then(path);
    let global = configured.or_else(home);
    all.extend([exclude, global].into_iter().flatten().map(|path| (path, below(parts.len()))));
    all
}

/// One set of rules: those of a tree's `.gitignore` files, the deepest first, then those outside of it.
#[derive(Debug)]
pub struct Rules {
    tree: PathBuf,
    inside: BTreeMap<Vec<u8>, Option<Gitignore>>,
    outside: Vec<(Kept, Gitignore)>,
    /// The repositories inside: the rules around one do not count in it.
    repositories: BTreeSet<TreePath>,
}

impl Rules {
    /// The rules whose `.gitignore` files are in `tree`.
    pub fn new(tree: &Path, repositories: &[TreePath], kept: &Path) -> Rules {
        let list = fs::read(kept.join(LIST)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let list: Vec<Kept> = list.unwrap_or_default();
        let read = |(at, one): (usize, Kept)| {
            let rules = read(Path::new(ROOT), &kept.join(at.to_string()))?;
            Some((one, rules))
        };
        Rules {
            outside: list.into_iter().enumerate().filter_map(read).collect(),
            tree: tree.to_owned(),
            inside: BTreeMap::new(),
            repositories: repositories.iter().cloned().collect(),
        }
    }

    /// Whether a path is ignored by itself; that no directory above it is, was asked before.
    pub fn ignores(&mut self, path: &TreePath, is_dir: bool) -> bool {
        let relative = Path::new(OsStr::from_bytes(path.as_bytes()));
        let repository = path.all_above().find(|above| self.repositories.contains(above));
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
            if above == repository {
                break;
            }
            let Some(here) = above else { break };
            above = here.above();
        }
        let inner = repository
            .as_ref()
            .map_or(path.as_bytes(), |repository| &path.as_bytes()[repository.as_bytes().len() + 1..]);
        let of = |kept: &Kept| {
            let below = kept.below.as_ref().map_or(&b""[..], TreePath::as_bytes);
            Path::new(ROOT).join(OsStr::from_bytes(below)).join(OsStr::from_bytes(inner))
        };
        let outside = self.outside.iter().filter(|(kept, _)| kept.repository == repository);
        let verdicts = outside.map(|(kept, rules)| rules.matched(of(kept), is_dir));
        verdicts.into_iter().find(|verdict| !verdict.is_none()).is_some_and(|verdict| verdict.is_ignore())
    }
}

/// Reads one file of rules for what is beneath `dir`. What is no plain file has none.
pub fn read(dir: &Path, file: &Path) -> Option<Gitignore> {
    let meta = file.symlink_metadata().ok()?;
    if !meta.is_file() || meta.len() > RULES_BYTES_MAX {
        return None;
    }
    let mut builder = GitignoreBuilder::new(dir);
    builder.add(file);
    builder.build().ok()
}
