//! Commands held in a copy: what they see, what they cannot reach, and that each is a command like any other.
//! Bubblewrap is needed; where it holds nothing these tests fail.

mod commands;
mod git;
mod hostile;
mod ignored;
mod paths;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use windlass::base::SessionId;
use windlass::sandbox::hold::{Commands, Held, available};
use windlass::store::Dirs;
use windlass::workspace::child::{Progress, Room};

use super::commands::Bench;

/// A parent's directory, and a child's room with its copy.
pub struct Place {
    _tmp: TempDir,
    pub top: PathBuf,
    pub parent: PathBuf,
    pub dirs: Dirs,
    pub room: Room,
}

impl Place {
    /// With these files in the parent's directory.
    pub fn new(files: &[(&str, &str)]) -> Place {
        let place = Place::empty();
        for (name, text) in files {
            write(&place.parent.join(name), text);
        }
        place.room.make(&place.parent, &Progress::default()).unwrap();
        place
    }
    /// The room is not made yet.
    pub fn empty() -> Place {
        let tmp = tempfile::tempdir().unwrap();
        let top = tmp.path().canonicalize().unwrap();
        let parent = top.join("work/project");
        fs::create_dir_all(&parent).unwrap();
        let dirs = Dirs::at(top.join("home/state/windlass"), top.join("home/config/windlass"));
        dirs.make().unwrap();
        fs::create_dir_all(dirs.config()).unwrap();
        fs::write(dirs.keys(), "{\"hush\": \"hush\"}").unwrap();
        let room = Room::at(dirs.workspace(&SessionId::new("parents"), "child"));
        Place { _tmp: tmp, top, parent, dirs, room }
    }
    /// The child's hold.
    pub async fn held(&self) -> Arc<Held> {
        super::commands::Bench::new();
        let commands = Commands::choose(&available().await, false);
        assert_eq!(commands, Commands::Held, "bubblewrap is needed");
        Arc::new(Held::new(&self.dirs, &self.parent, self.room.dir(), &self.room.copy(), commands).unwrap())
    }
    /// Where its commands run.
    pub async fn bench(&self) -> Bench {
        let mut bench = Bench::new();
        bench.held = Some(self.held().await);
        bench
    }
    /// What is in the copy.
    pub fn copied(&self, name: &str) -> String {
        fs::read_to_string(self.room.copy().join(name)).unwrap()
    }
}

pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Everything of a tree that can change: content or target, mode, owner, number of links, and the time of the last change
/// (which no program can set).
pub fn fingerprint(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![dir.to_owned()];
    while let Some(path) = ahead.pop() {
        let meta = path.symlink_metadata().unwrap();
        let what = if meta.is_dir() {
            ahead.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else if meta.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else {
            fs::read(&path).unwrap()
        };
        let facts =
            (meta.ino(), meta.mode(), meta.uid(), meta.gid(), meta.nlink(), meta.mtime(), meta.mtime_nsec());
        found.insert(path, format!("{facts:?} {} {} {what:?}", meta.ctime(), meta.ctime_nsec()));
    }
    found
}
