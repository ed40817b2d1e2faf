//! Paths, versions and trees as a hand-back sees them: bytes, not text; files and links, not directories.
//!
//! Directories are only where files are; an empty one is not tracked. Not here: reading any of it from a disk.

use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path beneath a directory: parts joined by `/`. No part is empty, `.`, `..` or `.git`, and no byte is NUL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Vec<u8>);

impl TreePath {
    /// The path; none if it is not of the form.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Option<TreePath> {
        let bytes = bytes.into();
        let fine = |part: &[u8]| {
            !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git") && !part.contains(&0)
        };
        bytes.split(|byte| *byte == b'/').all(fine).then_some(TreePath(bytes))
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The last part.
    pub fn name(&self) -> &[u8] {
        self.0.rsplit(|byte| *byte == b'/').next().unwrap_or(&self.0)
    }

    /// The bytes of the directory that it is in; none at the top.
    pub fn dir(&self) -> Option<&[u8]> {
        let cut = self.0.iter().rposition(|byte| *byte == b'/')?;
        Some(&self.0[..cut])
    }

    /// The directory that it is in; none at the top.
    pub fn above(&self) -> Option<TreePath> {
        self.dir().map(|dir| TreePath(dir.to_vec()))
    }

    /// Every directory above it, the nearest first.
    pub fn all_above(&self) -> impl Iterator<Item = TreePath> {
        std::iter::successors(self.above(), TreePath::above)
    }

    /// Whether it is beneath `other`.
    pub fn is_beneath(&self, other: &TreePath) -> bool {
        self.0.strip_prefix(other.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'/'))
    }

    /// The bounds of what is beneath it, as paths are ordered: from this one on, before the next.
    fn beneath(&self) -> (TreePath, TreePath) {
        let with = |byte: u8| TreePath([&self.0[..], &[byte]].concat());
        (with(b'/'), with(b'/' + 1))
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            write!(f, "{}", chunk.valid().escape_debug())?;
            write!(f, "{}", chunk.invalid().escape_ascii())?;
        }
        Ok(())
    }
}

/// Paths in words, so many at most: `a, b, and 3 more`.
pub fn named(paths: &[TreePath], most: usize) -> String {
    let mut names: Vec<String> = paths.iter().take(most).map(ToString::to_string).collect();
    if let more @ 1.. = paths.len().saturating_sub(most) {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl Serialize for TreePath {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        raw::serialize(&self.0, to)
    }
}

impl<'de> Deserialize<'de> for TreePath {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TreePath, D::Error> {
        TreePath::new(raw::deserialize(from)?).ok_or_else(|| D::Error::custom("not a path of a tree"))
    }
}

/// The SHA-256 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Hash, D::Error> {
        let text = String::deserialize(from)?;
        let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
        let digits = digits.filter(|digits| digits.len() == 64);
        let digits = digits.ok_or_else(|| D::Error::custom("not 64 hexadecimal digits"))?;
        Ok(Hash(std::array::from_fn(|n| digits[2 * n] << 4 | digits[2 * n + 1])))
    }
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Of its bytes.
        hash: Hash,
        /// Whether its owner may run it.
        executable: bool,
    },
    /// A symbolic link.
    Link {
        /// Where to, byte for byte.
        #[serde(with = "raw")]
        target: Vec<u8>,
    },
    /// Neither, and where it is no file of that path can be.
    InTheWay(Obstacle),
}

/// What can be where a file or link should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// A directory is at the path.
    Directory,
    /// A file or a link is where one of its directories should be.
    Above,
    /// A socket, a device, a FIFO; or what cannot be read.
    Special,
}

impl Version {
    /// The same as far as files and links are tracked: a directory at the path, or a file above it, is no version of
    /// the path.
    pub fn tracked(&self) -> &Version {
        match self {
            Version::InTheWay(Obstacle::Directory | Obstacle::Above) => &Version::Absent,
            Version::Absent
            | Version::File { .. }
            | Version::Link { .. }
            | Version::InTheWay(Obstacle::Special) => self,
        }
    }
}

/// A tree: what is at which path. A directory is not named unless nothing tracked is beneath it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    at: BTreeMap<TreePath, Version>,
}

impl Tree {
    /// Puts a version at a path, in place of what was there.
    pub fn put(&mut self, path: TreePath, version: Version) {
        match version {
            Version::Absent => self.at.remove(&path),
            version @ (Version::File { .. } | Version::Link { .. } | Version::InTheWay(_)) => {
                self.at.insert(path, version)
            }
        };
    }

    /// What is at a path, told by all that is in the tree.
    pub fn at(&self, path: &TreePath) -> Version {
        if let Some(version) = self.at.get(path) {
            return version.clone();
        }
        if self.beneath(path).next().is_some() {
            return Version::InTheWay(Obstacle::Directory);
        }
        match self.blocked_by(path) {
            Some(_) => Version::InTheWay(Obstacle::Above),
            None => Version::Absent,
        }
    }

    /// The path above this one that holds something other than a directory.
    pub fn blocked_by(&self, path: &TreePath) -> Option<TreePath> {
        let no_directory = |version: &Version| *version != Version::InTheWay(Obstacle::Directory);
        path.all_above().find(|above| self.at.get(above).is_some_and(no_directory))
    }

    /// All that is named beneath a path, in order.
    pub fn beneath(&self, path: &TreePath) -> Range<'_, TreePath, Version> {
        let (from, before) = path.beneath();
        self.at.range(from..before)
    }

    /// All that is named, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&TreePath, &Version)> {
        self.at.iter()
    }

    /// How much is named.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }
}

impl FromIterator<(TreePath, Version)> for Tree {
    fn from_iter<I: IntoIterator<Item = (TreePath, Version)>>(all: I) -> Tree {
        let mut tree = Tree::default();
        all.into_iter().for_each(|(path, version)| tree.put(path, version));
        tree
    }
}

/// Bytes in JSON: a string, or `{"bytes": "base64…"}` where they are not UTF-8.
mod raw {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Bytes { bytes: String },
    }

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => to.serialize_str(text),
            Err(_) => Written::Bytes { bytes: STANDARD.encode(bytes) }.serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        match Written::deserialize(from)? {
            Written::Text(text) => Ok(text.into_bytes()),
            Written::Bytes { bytes } => STANDARD.decode(bytes).map_err(D::Error::custom),
        }
    }
}
