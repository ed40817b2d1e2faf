//! What a search may show: it names a directory, and its result the files below.
//!
//! A search is decided on by the directory that it names ([`super::decide`]); which files in it a rule
//! closes is asked here, for each. Not here: commands, which read what the profile lets them.

use std::path::{Path, PathBuf};

use super::Place;
use super::rule::Rules;

/// What closes files to the searches of a call, owned.
#[derive(Clone, Debug, Default)]
pub struct Sight {
    /// The rules, read by where their links lead.
    pub rules: Rules,
    /// The session's directory.
    pub cwd: PathBuf,
    /// The person's home.
    pub home: Option<PathBuf>,
    /// What no call reads.
    pub closed: Vec<PathBuf>,
}

impl Sight {
    /// Whether a search that was allowed to look at `root` leaves this file out: a rule denies reading
    /// it, or asks first and was not asked for by the root, or it is closed to every call.
    pub fn hides(&self, root: &Path, file: &Path) -> bool {
        let place = Place {
            cwd: &self.cwd,
            scratch: &[],
            guarded: &[],
            closed: &self.closed,
            home: self.home.as_deref(),
        };
        place.closed.iter().any(|closed| closed == file)
            || self.rules.deny.iter().any(|rule| rule.reads(file, &place))
            || self.rules.ask.iter().any(|rule| rule.reads(file, &place) && !rule.reads(root, &place))
    }
}
