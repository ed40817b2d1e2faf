//! Generated trees on a disk: files, links, executable bits, empty directories, nested clashes, odd names.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    File(Vec<u8>, bool),
    Link(Vec<u8>),
    Directory,
    Special,
}

impl Entry {
    pub fn is_tracked(&self) -> bool {
        matches!(self, Entry::File(..) | Entry::Link(_))
    }
}

/// Somebody's acts, in order: what is put at a path (none: what is there is removed).
pub type Acts = Vec<(&'static [u8], Option<Entry>)>;

/// Three people's acts: before the spawn, the parent's side, the child.
#[derive(Clone, Debug)]
pub struct Triple {
    pub base: Acts,
    pub parent: Acts,
    pub child: Acts,
}

const PATHS: [&[u8]; 10] =
    [b"a", b"b", b"a/a", b"a/b", b"b/a", b"a/a/a", b"a b/\n", b"a-b", b"\xff\xfe", b"a/\xc3\x28 x"];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn acts(&mut self, most: usize) -> Acts {
        (0..self.roll(most + 1))
            .map(|_| {
                let entry = match self.roll(10) {
                    0 | 1 => None,
                    2 => Some(Entry::Link([&b"a"[..], b"nowhere", b"/etc/passwd"][self.roll(3)].to_vec())),
                    3 => Some(Entry::Directory),
                    n => Some(Entry::File(vec![b'0' + self.roll(3) as u8, b'\n'], n == 4)),
                };
                (PATHS[self.roll(PATHS.len())], entry)
            })
            .collect()
    }
}

/// The same triples in every run.
pub fn triples(count: u32) -> Vec<Triple> {
    let mut dice = Dice(0x6861_6e64_2d62_6163);
    (0..count).map(|_| Triple { base: dice.acts(7), parent: dice.acts(4), child: dice.acts(5) }).collect()
}

fn clear(path: &Path) {
    let Ok(meta) = path.symlink_metadata() else { return };
    if meta.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
}

/// Does the acts: what is in the way is removed first.
pub fn make(root: &Path, acts: &Acts) {
    for (path, entry) in acts {
        let path = root.join(OsStr::from_bytes(path));
        let Some(entry) = entry else {
            if path.symlink_metadata().is_ok() {
                clear(&path);
            }
            continue;
        };
        let above = path.parent().unwrap();
        for dir in above.ancestors().take_while(|dir| *dir != root) {
            if dir.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
                clear(dir);
            }
        }
        fs::create_dir_all(above).unwrap();
        put(&path, entry);
    }
}

fn put(path: &Path, entry: &Entry) {
    match entry {
        Entry::Directory if path.is_dir() && !path.is_symlink() => return,
        // a save in place, as many editors do it
        Entry::File(bytes, executable) if path.is_file() && !path.is_symlink() => {
            fs::write(path, bytes).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(if *executable { 0o755 } else { 0o644 }))
                .unwrap();
            return;
        }
        _ => clear(path),
    }
    match entry {
        Entry::File(bytes, executable) => {
            fs::write(path, bytes).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(if *executable { 0o755 } else { 0o644 }))
                .unwrap();
        }
        Entry::Link(target) => symlink(OsStr::from_bytes(target), path).unwrap(),
        Entry::Directory => fs::create_dir(path).unwrap(),
        Entry::Special => unreachable!("not made by acts"),
    }
}

/// All that is in a directory, by path.
pub fn disk(root: &Path) -> BTreeMap<Vec<u8>, Entry> {
    let mut all = BTreeMap::new();
    look(root, root, &mut all);
    all
}

fn look(root: &Path, dir: &Path, into: &mut BTreeMap<Vec<u8>, Entry>) {
    for item in fs::read_dir(dir).unwrap() {
        let path = item.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        let entry = if meta.is_dir() {
            look(root, &path, into);
            Entry::Directory
        } else if meta.is_symlink() {
            Entry::Link(fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
        } else if meta.file_type().is_fifo() || meta.file_type().is_socket() {
            Entry::Special
        } else {
            Entry::File(fs::read(&path).unwrap(), meta.permissions().mode() & 0o100 != 0)
        };
        into.insert(path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec(), entry);
    }
}
