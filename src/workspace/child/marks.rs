//! How the copy's files were when the child began: in one piece of bytes, by directory, of which a part is read without
//! the rest. Fifty thousand files are told from it in a few milliseconds.
//!
//! Not here: making a copy, comparing. The form: for each directory, those with files beneath them only too, in order: its path and
//! its files, each preceded by its length (4 bytes, the low one first); a file: the length of its name (2 bytes), the
//! name, the mark.

use std::collections::BTreeMap;
use std::ops::Range;

use rustix::fs::Stat;

use crate::law::hand_back::tree::TreePath;

/// Bytes of a mark.
const MARK_BYTES: usize = 36;

/// How a file was: what changes with it, and the time of its last change, which no program can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    size: i64,
    inode: u64,
    mode: u32,
    /// The last change, in seconds and nanoseconds.
    changed: (i64, i64),
}

impl Mark {
    /// Of what the system says.
    pub fn of(stat: &Stat) -> Mark {
        #[allow(clippy::unnecessary_cast)] // the widths differ between platforms
        Mark {
            size: stat.st_size as i64,
            inode: stat.st_ino as u64,
            mode: stat.st_mode as u32,
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// When it was changed last, in seconds and nanoseconds.
    pub fn changed(&self) -> (i64, i64) {
        self.changed
    }

    /// Whether a change at `time` or later could have left it as it is.
    pub fn is_racy(&self, time: (i64, i64)) -> bool {
        self.changed >= time
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.extend(self.size.to_le_bytes());
        to.extend(self.inode.to_le_bytes());
        to.extend(self.mode.to_le_bytes());
        to.extend(self.changed.0.to_le_bytes());
        to.extend(self.changed.1.to_le_bytes());
    }

    fn read(from: &[u8], at: &mut usize) -> Option<Mark> {
        Some(Mark {
            size: i64::from_le_bytes(array(from, at)?),
            inode: u64::from_le_bytes(array(from, at)?),
            mode: u32::from_le_bytes(array(from, at)?),
            changed: (i64::from_le_bytes(array(from, at)?), i64::from_le_bytes(array(from, at)?)),
        })
    }
}

/// A directory of the copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dir {
    /// Its path; none: the top.
    pub path: Option<TreePath>,
    files: Range<usize>,
}

/// The marks of all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    bytes: Vec<u8>,
    dirs: Vec<Dir>,
}

impl Marks {
    /// Adds files, in order, to bytes that `read` understands.
    pub fn write(files: &[(TreePath, Mark)], to: &mut Vec<u8>) {
        let mut dirs: BTreeMap<&[u8], Vec<(&[u8], &Mark)>> = BTreeMap::from([(&b""[..], Vec::new())]);
        for (path, mark) in files {
            let mut above = path.dir().unwrap_or_default();
            dirs.entry(above).or_default().push((path.name(), mark));
            while let Some(cut) = above.iter().rposition(|byte| *byte == b'/') {
                above = &above[..cut];
                if dirs.contains_key(above) {
                    break;
                }
                dirs.insert(above, Vec::new());
            }
        }
        for (path, files) in dirs {
            sized(path, to);
            let mut block = Vec::with_capacity(files.len() * (MARK_BYTES + 16));
            for (name, mark) in files {
                // no filesystem has names of more bytes than this counts
                let len = u16::try_from(name.len()).unwrap_or(u16::MAX);
                block.extend(len.to_le_bytes());
                block.extend(&name[..usize::from(len)]);
                mark.write(&mut block);
            }
            sized(&block, to);
        }
    }

    /// Reads what was written, from a place on; none if it is not whole.
    pub fn read(bytes: Vec<u8>, from: usize) -> Option<Marks> {
        let (mut at, mut dirs) = (from, Vec::new());
        while at < bytes.len() {
            let path = sized_at(&bytes, &mut at)?;
            let path = match path.is_empty() {
                true => None,
                false => Some(TreePath::new(&bytes[path])?),
            };
            let files = sized_at(&bytes, &mut at)?;
            let mut within = files.start;
            while within < files.end {
                file(&bytes[..files.end], &mut within)?;
            }
            dirs.push(Dir { path, files });
        }
        let in_order = dirs.is_sorted_by(|one, next| one.path < next.path);
        (in_order && dirs.first().is_some_and(|dir| dir.path.is_none())).then_some(Marks { bytes, dirs })
    }

    /// Every directory, in order, the top first.
    pub fn dirs(&self) -> &[Dir] {
        &self.dirs
    }

    /// The files of a directory, by name, in order.
    pub fn files<'a>(&'a self, dir: &Dir) -> impl Iterator<Item = (&'a [u8], Mark)> + use<'a> {
        let (bytes, mut at) = (&self.bytes[..dir.files.end], dir.files.start);
        std::iter::from_fn(move || file(bytes, &mut at))
    }

    /// Every file, in the order of the directories.
    pub fn paths(&self) -> impl Iterator<Item = TreePath> {
        self.dirs.iter().flat_map(|dir| {
            self.files(dir).filter_map(|(name, _)| TreePath::new(joined(dir.path.as_ref(), name)))
        })
    }

    /// Whether there was a file or link at a path.
    pub fn has(&self, path: &TreePath) -> bool {
        let dir = self.find(path.dir());
        dir.is_some_and(|dir| self.files(dir).any(|(name, _)| name == path.name()))
    }

    /// Whether there were files or links beneath a path.
    pub fn is_dir(&self, path: &[u8]) -> bool {
        self.find(Some(path)).is_some()
    }

    fn find(&self, path: Option<&[u8]>) -> Option<&Dir> {
        let found = self.dirs.binary_search_by(|dir| dir.path.as_ref().map(TreePath::as_bytes).cmp(&path));
        found.ok().map(|at| &self.dirs[at])
    }
}

/// The bytes of a path, of its directory and its name.
pub fn joined(dir: Option<&TreePath>, name: &[u8]) -> Vec<u8> {
    match dir {
        Some(dir) => [dir.as_bytes(), b"/", name].concat(),
        None => name.to_vec(),
    }
}

fn sized(bytes: &[u8], to: &mut Vec<u8>) {
    // a copy has so few files that all their marks are counted by this
    to.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    to.extend(bytes);
}

fn sized_at(from: &[u8], at: &mut usize) -> Option<Range<usize>> {
    let len = usize::try_from(u32::from_le_bytes(array(from, at)?)).ok()?;
    let end = at.checked_add(len).filter(|end| *end <= from.len())?;
    Some(std::mem::replace(at, end)..end)
}

fn array<const N: usize>(from: &[u8], at: &mut usize) -> Option<[u8; N]> {
    let end = at.checked_add(N)?;
    let bytes = from.get(*at..end)?.try_into().ok()?;
    *at = end;
    Some(bytes)
}

fn file<'a>(from: &'a [u8], at: &mut usize) -> Option<(&'a [u8], Mark)> {
    let len = usize::from(u16::from_le_bytes(array(from, at)?));
    let name = from.get(*at..at.checked_add(len)?)?;
    *at += len;
    Some((name, Mark::read(from, at)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(n: i64) -> Mark {
        Mark { size: n, inode: n.unsigned_abs(), mode: 0o100_644, changed: (n, -n) }
    }

    fn written(names: &[&str]) -> (Vec<(TreePath, Mark)>, Vec<u8>) {
        let mut files: Vec<(TreePath, Mark)> =
            names.iter().zip(1..).map(|(name, n)| (TreePath::new(*name).unwrap(), mark(n))).collect();
        files.sort_by(|one, other| one.0.cmp(&other.0));
        let mut bytes = b"head\n".to_vec();
        Marks::write(&files, &mut bytes);
        (files, bytes)
    }

    #[test]
    fn marks_are_read_as_they_were_written() {
        let (files, bytes) = written(&["b", "a/x", "a/c/d/y", "a-/z", "a"]);
        let marks = Marks::read(bytes, 5).unwrap();
        let dirs: Vec<&[u8]> =
            marks.dirs().iter().map(|dir| dir.path.as_ref().map_or(&b""[..], TreePath::as_bytes)).collect();
        assert_eq!(dirs, [&b""[..], b"a", b"a-", b"a/c", b"a/c/d"]);
        let mut read: Vec<(TreePath, Mark)> = Vec::new();
        for dir in marks.dirs() {
            read.extend(
                marks
                    .files(dir)
                    .map(|(name, mark)| (TreePath::new(joined(dir.path.as_ref(), name)).unwrap(), mark)),
            );
        }
        read.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(read, files);
        assert_eq!(marks.paths().count(), 5);
        let path = |name: &str| TreePath::new(name).unwrap();
        assert!(marks.has(&path("a")) && marks.has(&path("a/c/d/y")) && !marks.has(&path("a/c")));
        assert!(marks.is_dir(b"a/c") && !marks.is_dir(b"b") && !marks.is_dir(b"a/c/d/y"));
    }

    #[test]
    fn no_files_are_a_top_without_any_and_half_of_them_are_none() {
        let (_, bytes) = written(&[]);
        assert_eq!(Marks::read(bytes, 5).unwrap().dirs().len(), 1);
        let (_, bytes) = written(&["a/x", "b"]);
        assert!(Marks::read(bytes.clone(), 5).is_some());
        // cut between two directories it would pass for fewer files: who writes it puts it in place whole
        let whole: Vec<usize> =
            (5..bytes.len()).filter(|end| Marks::read(bytes[..*end].to_vec(), 5).is_some()).collect();
        assert_eq!(whole.len(), 1, "{whole:?}");
        assert!(Marks::read(b"head\n".to_vec(), 5).is_none());
    }
}
