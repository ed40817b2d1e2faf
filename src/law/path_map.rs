//! Where a path that a child names is in its copy: the child sees its parent's directory and works in a copy of it.
//!
//! Absolute paths beneath the parent's directory, relative ones, `..` and links all lead into the copy, or are refused:
//! nothing that comes out of here leaves it. What is at a path of the copy is told from outside, one part at a time, so
//! that a link is followed as the child would see it: an absolute target beneath the parent's directory is in the
//! copy too.
//!
//! Not here: what is done with the path, and that nothing is swapped for a link afterwards.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Most links that one path may lead through, as in the kernel.
pub const LINKS_MAX: usize = 40;

/// What is at a path of the copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A link, and where it leads.
    Link(PathBuf),
    /// Anything else, or nothing.
    NoLink,
}

/// Where the child works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The directory that the child sees: absolute, without links, `.` and `..`.
    pub parent: PathBuf,
    /// Its copy: the same.
    pub copy: PathBuf,
    /// What relative paths begin from: relative to the copy, without links, `.` and `..`; empty for the top.
    pub from: PathBuf,
}

impl View {
    /// Where a path is that the child sees, without links in it: beneath its directory in the copy, else as it is.
    pub fn disk(&self, seen: &Path) -> PathBuf {
        moved(seen, &self.parent, &self.copy)
    }

    /// The path by which the child sees a place of the disk.
    pub fn seen(&self, disk: &Path) -> PathBuf {
        moved(disk, &self.copy, &self.parent)
    }
}

fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    path.strip_prefix(from).map_or_else(|_| path.to_owned(), |below| joined(to, below))
}

/// Joined, without the slash that an empty path would leave at the end.
fn joined(above: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { above.to_owned() } else { above.join(below) }
}

/// A path in the copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Relative to the copy: names only, none of which but the last can be a link, and that one neither.
    pub relative: PathBuf,
    /// The same, absolute.
    pub absolute: PathBuf,
}

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It leads out of the directory.
    Outside,
    /// It leads through too many links, or in circles.
    Links,
    /// It is empty or has a NUL in it.
    NoPath,
}

impl Refusal {
    /// In words, after the path.
    pub fn words(self) -> &'static str {
        match self {
            Refusal::Outside => "is outside of the directory that this agent works in",
            Refusal::Links => "leads through too many links",
            Refusal::NoPath => "is no path",
        }
    }
}

/// Maps a path that the child names. `look` tells what is at a path relative to the copy.
pub fn map(view: &View, named: &Path, mut look: impl FnMut(&Path) -> Fact) -> Result<Mapped, Refusal> {
    let bytes = named.as_os_str().as_bytes();
    if bytes.is_empty() || bytes.contains(&0) {
        return Err(Refusal::NoPath);
    }
    let top = parts(view.parent.as_os_str().as_bytes());
    // a child that was told where its copy is may name it so
    let copy = parts(view.copy.as_os_str().as_bytes());
    let begin = [top.clone(), parts(view.from.as_os_str().as_bytes())].concat();
    let mut at = Place { top: top.clone(), parts: begin };
    let mut ahead: Vec<Vec<u8>> = Vec::new();
    at.enter(bytes, &copy, &mut ahead);
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        if !at.step(&part)? {
            continue;
        }
        let Fact::Link(target) = look(&at.relative()) else { continue };
        links += 1;
        if links > LINKS_MAX {
            return Err(Refusal::Links);
        }
        at.parts.pop();
        at.enter(target.as_os_str().as_bytes(), &copy, &mut ahead);
    }
    if !at.is_inside() {
        return Err(Refusal::Outside);
    }
    let relative = at.relative();
    let absolute = joined(&view.copy, &relative);
    Ok(Mapped { relative, absolute })
}

/// How far a path is followed: the parts of an absolute path as the child sees it.
struct Place {
    top: Vec<Vec<u8>>,
    parts: Vec<Vec<u8>>,
}

impl Place {
    /// Begins with a path: where it begins, and what lies ahead (the nearest last).
    fn enter(&mut self, path: &[u8], copy: &[Vec<u8>], ahead: &mut Vec<Vec<u8>>) {
        let mut parts = parts(path);
        if path.first() == Some(&b'/') {
            self.parts.clear();
            if parts.starts_with(copy) {
                self.parts.clone_from(&self.top);
                parts.drain(..copy.len());
            }
        }
        ahead.extend(parts.into_iter().rev());
    }

    /// Takes one part. Whether there is a new place inside to look at. Outside, only the way back in is known: what
    /// else is there could be a link to anywhere.
    fn step(&mut self, part: &[u8]) -> Result<bool, Refusal> {
        match part {
            b"." => Ok(false),
            b".." => {
                self.parts.pop();
                Ok(false)
            }
            part if self.is_inside() => {
                self.parts.push(part.to_vec());
                Ok(true)
            }
            part if self.top.get(self.parts.len()).is_some_and(|next| next == part) => {
                self.parts.push(part.to_vec());
                Ok(false)
            }
            _ => Err(Refusal::Outside),
        }
    }

    fn is_inside(&self) -> bool {
        self.parts.starts_with(&self.top)
    }

    fn relative(&self) -> PathBuf {
        let inside = self.parts.get(self.top.len()..).unwrap_or_default();
        PathBuf::from(OsString::from_vec(inside.join(&b'/')))
    }
}

fn parts(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests;
