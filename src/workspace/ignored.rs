//! Which files a search or a list leaves out: those that git ignores, and what `.ignore` files name.
//!
//! Rules count from where they stand, and those above the place of a search count in it, up to the top of its work tree;
//! without git as far as directories go. Above an agent's copy are the directories above the one that it sees, so that a
//! search answers there what it answers in that directory.
//!
//! Not here: the walk itself (`walk`), which files come back from a copy (`workspace::child::rules`).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::law::path_map::View;
use crate::workspace::child::rules;

/// The rules around and in a place of a search.
pub struct Ignored {
    /// The copy that is searched in the place of a directory.
    view: Option<View>,
    /// What the person ignores everywhere.
    global: Gitignore,
    /// The levels that were read, by their directories as the session sees them.
    levels: Mutex<HashMap<PathBuf, Option<Arc<Level>>>>,
}

/// The rules of one directory; one without any has none.
struct Level {
    above: Option<Arc<Level>>,
    /// `.ignore`, `.gitignore`, and the repository's `info/exclude`.
    kinds: [Option<Gitignore>; 3],
    /// The top of a work tree: git looks no further up.
    top: bool,
}

impl Ignored {
    /// For searches in a session's directory; `view`: in a copy of it.
    pub fn new(cwd: &Path, view: Option<View>) -> Self {
        // an error is that of a file that is not the search's to tell of
        let (global, _) = GitignoreBuilder::new(cwd).build_global();
        Self { view, global, levels: Mutex::default() }
    }

    /// Whether what is at a path, as the session sees it, is left out; that no directory above it is, was asked before.
    pub fn leaves_out(&self, seen: &Path, is_dir: bool) -> bool {
        let mut found = [None; 3];
        let mut level = seen.parent().and_then(|dir| self.level(dir));
        let mut in_tree = true;
        while let Some(here) = level {
            for (at, rules) in here.kinds.iter().enumerate() {
                // `.ignore` is not git's, and ends at no repository
                if found[at].is_none() && (at == 0 || in_tree) {
                    found[at] = rules.as_ref().and_then(|rules| verdict(rules, seen, is_dir));
                }
            }
            in_tree &= !here.top;
            level = here.above.clone();
        }
        let found = found.into_iter().flatten().next();
        found.or_else(|| verdict(&self.global, seen, is_dir)).unwrap_or(false)
    }

    /// The nearest rules at or above a directory.
    fn level(&self, dir: &Path) -> Option<Arc<Level>> {
        if let Some(known) = self.levels.lock().unwrap_or_else(PoisonError::into_inner).get(dir) {
            return known.clone();
        }
        let above = dir.parent().and_then(|above| self.level(above));
        let disk = self.view.as_ref().map_or_else(|| dir.to_owned(), |view| view.disk(dir));
        let exclude = repository(&disk);
        let top = exclude.is_some();
        let files = [Some(disk.join(".ignore")), Some(disk.join(".gitignore")), exclude];
        let kinds = files.map(|file| rules::read(dir, &file?));
        let level = if top || kinds.iter().any(Option::is_some) {
            Some(Arc::new(Level { above, kinds, top }))
        } else {
            above
        };
        self.levels.lock().unwrap_or_else(PoisonError::into_inner).insert(dir.to_owned(), level.clone());
        level
    }
}

fn verdict(rules: &Gitignore, seen: &Path, is_dir: bool) -> Option<bool> {
    match rules.matched(seen, is_dir) {
        ignore::Match::None => None,
        ignore::Match::Ignore(_) => Some(true),
        ignore::Match::Whitelist(_) => Some(false),
    }
}

/// The file of a repository's own rules, where the directory is the top of a work tree.
fn repository(dir: &Path) -> Option<PathBuf> {
    let git = dir.join(".git");
    let meta = fs::symlink_metadata(&git).ok()?;
    let exclude = |of: &Path| of.join("info/exclude");
    if !meta.is_file() {
        return Some(exclude(&git));
    }
    // a linked work tree, or a submodule: its repository is elsewhere
    let line = |file: &Path| Some(fs::read_to_string(file).ok()?.trim_end().to_owned());
    let led = |from: &Path, line: Option<String>| line.map(|line| from.join(line));
    let there = line(&git).and_then(|line| Some(line.strip_prefix("gitdir: ")?.to_owned()));
    let of = led(dir, there).unwrap_or(git);
    let common = led(&of, line(&of.join("commondir"))).unwrap_or(of);
    Some(exclude(&common))
}
