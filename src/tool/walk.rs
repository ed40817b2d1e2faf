//! The walk that `grep` and `glob` share: files below a directory as git would see them, hidden ones
//! too, `.git` never, links not followed; and the filter by a glob.

use std::path::{Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, Walk, WalkBuilder};

use crate::tool::path;
use crate::tool::site::Site;
use crate::workspace::ignored::Ignored;

/// Where a search begins: the directory (or file) asked for, else the session's. Blocking.
pub fn root(site: &Site, asked: Option<&str>) -> Result<PathBuf, String> {
    let root = site.resolve_to_read(asked.unwrap_or("."))?;
    if site.disk(&root).exists() { Ok(root) } else { Err(path::missing(site, &root)) }
}

/// Walks the files below `root`, a path as the session sees it. `sorted`: by path.
pub fn files(site: &Site, root: &Path, sorted: bool) -> Walk {
    let mut walk = WalkBuilder::new(site.disk(root));
    walk.standard_filters(false).follow_links(false);
    let (ignored, site) = (Ignored::new(site.cwd(), site.view().cloned()), site.clone());
    walk.filter_entry(move |entry| {
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0
            || entry.file_name() != ".git" && !ignored.leaves_out(&site.seen(entry.path()), is_dir)
    });
    if sorted {
        walk.sort_by_file_path(Ord::cmp);
    }
    walk.build()
}

/// Whether an entry is a regular file.
pub fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

/// Which files of a walk are wanted.
pub struct Filter(Override);

impl Filter {
    /// The filter of a glob below `root`, as in `.gitignore`: one without a slash matches at any depth,
    /// one with a leading `!` leaves out.
    pub fn new(root: &Path, glob: &str) -> Result<Self, String> {
        let base = if root.is_file() { root.parent().unwrap_or(root) } else { root };
        let inside = match Path::new(glob).strip_prefix(base) {
            Ok(rest) => rest.display().to_string(),
            Err(_) if glob.starts_with('/') => {
                return Err(format!(
                    "the glob {glob} is not below {}; give its directory as `path`",
                    base.display()
                ));
            }
            Err(_) => glob.to_owned(),
        };
        let mut inside = inside.trim_start_matches("./").to_owned();
        if inside.starts_with("../") {
            return Err(format!("the glob {glob} leads out of the directory; give that directory as `path`"));
        }
        if inside.ends_with('/') {
            inside.push_str("**");
        }
        let built = OverrideBuilder::new(base).add(&inside).and_then(|builder| builder.build());
        built.map(Self).map_err(|error| format!("the glob {glob} is not valid: {error}"))
    }

    /// Whether a file is wanted.
    pub fn wants(&self, file: &Path) -> bool {
        !self.0.matched(file, false).is_ignore()
    }
}

/// Words on the files that a search left out because a rule closes them.
pub fn hidden_note(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some("(1 file left out: a permission rule closes it)".to_owned()),
        count => Some(format!("({count} files left out: permission rules close them)")),
    }
}

/// What a walk could not look at, in words for the end of a result.
#[derive(Default)]
pub struct Unread {
    count: u64,
    first: String,
}

impl Unread {
    /// One more.
    pub fn add(&mut self, what: impl std::fmt::Display) {
        if self.count == 0 {
            self.first = what.to_string();
        }
        self.count += 1;
    }

    /// The note.
    pub fn note(&self) -> Option<String> {
        match self.count {
            0 => None,
            1 => Some(format!("(could not be read: {})", self.first)),
            count => Some(format!("({count} places could not be read; the first: {})", self.first)),
        }
    }
}
