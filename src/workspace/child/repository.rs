//! A repository of the copy's own: the parent's history can be read in it, and nothing of the parent's is written.
//!
//! Its references, HEAD, index and what is under way (a merge, a rebase) are copies; its objects are its own, and
//! the parent's are read where they are, by `objects/info/alternates`. An agent's git sees them at places in the room
//! (`Room::git`), which the hold lends it read-only; outside of a hold these are links to them. The parent's settings
//! come along but for those that name programs git starts by itself, or files beside them. It never comes back with
//! the hand-back, which knows no `.git`. Of a part of a work tree the submodules beside it get theirs as well.
//!
//! The parent may be an agent's copy itself, so nothing of it is trusted: no link is followed, nothing it names runs.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use super::Room;
use super::beneath::Beneath;
use super::error::Error;
use crate::law::hand_back::tree::TreePath;
use crate::workspace::git;

mod settings;

/// How long git may take for one answer.
const GIT_TIME_MAX: Duration = Duration::from_secs(30);
/// Most repositories whose objects are lent.
const LENT_MAX: usize = 64;
/// How deep submodules in submodules are looked for.
const SUBMODULES_DEPTH_MAX: usize = 8;
/// How git's list of an index begins the line of a submodule.
const GITLINK: &[u8] = b"160000 ";
/// Most bytes of one file of a repository that is copied; an index of a million files is below.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// What a work tree has by itself, in git's directory: files, and directories with all that is in them.
const OWN: &[&str] = &[
    "index",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_AUTOSTASH",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_LOG",
    "BISECT_START",
    "BISECT_TERMS",
    "BISECT_NAMES",
    "BISECT_EXPECTED_REV",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "info/sparse-checkout",
    "logs/HEAD",
];
/// What all work trees of a repository have together.
const COMMON: &[&str] = &["info/exclude", "info/attributes", "shallow", "logs/refs/stash"];

/// Where a repository is.
struct Places {
    /// The top of the work tree.
    top: PathBuf,
    /// What the work tree has by itself.
    own: PathBuf,
    /// What all its work trees have.
    common: PathBuf,
    /// The hash of its objects.
    format: String,
}

impl Room {
    /// Makes repositories of the copy's own for the one that `parent` is the work tree of, and for those inside of it.
    /// Where `parent` is a part of a work tree, its repository is for the whole of it.
    pub(super) fn make_repositories(&self, parent: &Path, inside: &[TreePath]) -> Result<(), Error> {
        fs::create_dir(self.git()).map_err(Error::io("make the directory", &self.git()))?;
        let mut lent = Lent { dir: self.git(), count: 0 };
        let tops = [PathBuf::new()]
            .into_iter()
            .chain(inside.iter().map(|path| OsStr::from_bytes(path.as_bytes()).into()));
        for at in tops {
            let (from, to) = (parent.join(&at), self.copy().join(&at));
            if to.is_dir()
                && let Some(places) = places(&from)
            {
                make(&from, &to, &places, &mut lent)?;
            }
        }
        Ok(())
    }
}

/// Asks git where a directory's repository is; none where it is in none.
fn places(dir: &Path) -> Option<Places> {
    let asked = ["--show-toplevel", "--git-dir", "--git-common-dir", "--show-object-format"];
    let told = ask(dir, &[&["rev-parse", "--path-format=absolute"], &asked[..]].concat()).ok()?;
    let lines: Vec<&[u8]> = told.strip_suffix(b"\n")?.split(|byte| *byte == b'\n').collect();
    // a path with a newline in it cannot be told so
    let [top, own, common, format] = lines[..] else { return None };
    let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    let format = String::from_utf8_lossy(format).into_owned();
    Some(Places { top: path(top), own: path(own), common: path(common), format })
}

fn ask(dir: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    git::output(dir, arguments, Instant::now() + GIT_TIME_MAX)
}

/// Parts of other repositories that are named for the hold.
struct Lent {
    dir: PathBuf,
    count: usize,
}

impl Lent {
    /// Names one; where it is read.
    fn lend(&mut self, kind: &str, what: &Path) -> Result<PathBuf, Error> {
        let at = self.dir.join(format!("{kind}-{}", self.count));
        self.count += 1;
        symlink(what, &at).map_err(Error::io("make the link", &at))?;
        Ok(at)
    }
}

fn make(from: &Path, to: &Path, places: &Places, lent: &mut Lent) -> Result<(), Error> {
    let is_top = from.canonicalize().ok().as_deref() == Some(&places.top);
    let above = places.top.join(".git");
    if !places.common.starts_with(from) {
        lent.lend("fixed", &places.common)?;
    }
    if is_top {
        return fill(from, &to.join(".git"), places, None, lent);
    }
    // the directory is only a part of the work tree: the hold puts this in the repository's place
    if above.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        let own = lent.dir.join("own");
        lent.lend("over", &above)?;
        fill(from, &own, places, None, lent)?;
        let (Ok(part), Ok(above)) = (from.canonicalize(), above.canonicalize()) else { return Ok(()) };
        beside(&places.top, &Whole { part, above, own }, SUBMODULES_DEPTH_MAX, lent)?;
    }
    Ok(())
}

/// A work tree of which a part is copied.
struct Whole {
    part: PathBuf,
    /// Its repository.
    above: PathBuf,
    /// What the hold puts in its place.
    own: PathBuf,
}

/// Makes those of the submodules beside the part: their files are the real ones, and git, which asks each of them for its
/// state, looks for their repositories in that of the whole.
fn beside(top: &Path, whole: &Whole, depth: usize, lent: &mut Lent) -> Result<(), Error> {
    let listed = ask(top, &["ls-files", "-z", "--stage"]).unwrap_or_default();
    let links = listed.split(|byte| *byte == 0).filter(|line| line.starts_with(GITLINK));
    let paths = links.filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1));
    for path in paths.filter_map(TreePath::new) {
        let from = top.join(OsStr::from_bytes(path.as_bytes()));
        if from.starts_with(&whole.part) || lent.count >= LENT_MAX {
            continue;
        }
        let Some(places) = places(&from).filter(|places| places.top == from) else { continue };
        let plain = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
        let Ok(below) = places.own.strip_prefix(&whole.above) else { continue };
        if !plain(below) {
            continue;
        }
        fill(&from, &whole.own.join(below), &places, Some(&from), lent)?;
        if depth > 0 {
            beside(&from, whole, depth - 1, lent)?;
        }
    }
    Ok(())
}

/// Makes a repository at `git`. `tree`: its work tree, where that is not the directory that the repository is in.
fn fill(from: &Path, git: &Path, places: &Places, tree: Option<&Path>, lent: &mut Lent) -> Result<(), Error> {
    for dir in ["", "info", "logs/refs", "objects/info", "objects/pack", "refs/heads", "refs/tags"] {
        let dir = git.join(dir);
        fs::create_dir_all(&dir).map_err(Error::io("make the directory", &dir))?;
    }
    for (source, names) in [(&places.own, OWN), (&places.common, COMMON)] {
        let Ok(source) = Beneath::open(source) else { continue };
        names.iter().for_each(|name| copy(&source, name, git));
    }
    shared_indexes(&places.own, git);
    write(&git.join("objects/info/alternates"), &alternates(&places.common.join("objects"), lent)?)?;
    write_references(from, git)?;
    let told = ask(from, &["config", "-z", "--list", "--show-scope", "--includes"]).unwrap_or_default();
    write(&git.join("config"), &settings::of(&told, &places.format, tree))
}

/// Copies a file, or a directory of files, of a repository. What is not there, or is something else, is passed by.
fn copy(from: &Beneath, name: &str, git: &Path) {
    let Some(path) = TreePath::new(name) else { return };
    let Ok(file) = from.file(&path) else { return };
    let Ok(meta) = file.metadata() else { return };
    if meta.is_dir() {
        let Ok(dir) = rustix::fs::Dir::read_from(&file) else { return };
        for entry in dir.flatten() {
            if let Ok(below) = entry.file_name().to_str()
                && !matches!(below, "." | "..")
            {
                copy(from, &format!("{name}/{below}"), git);
            }
        }
    } else if meta.is_file() && meta.len() <= FILE_BYTES_MAX {
        let to = git.join(name);
        let made = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| File::create(&to));
        let mut file = file;
        let copied = made.and_then(|mut to| {
            std::io::copy(&mut file, &mut to)?;
            // git compares an index with the time of its files
            to.set_modified(meta.modified()?)
        });
        if copied.is_err() {
            let _ = fs::remove_file(&to);
        }
    }
}

/// The parts of a split index.
fn shared_indexes(own: &Path, git: &Path) {
    let Ok(from) = Beneath::open(own) else { return };
    for entry in fs::read_dir(own).into_iter().flatten().flatten() {
        if let Some(name) = entry.file_name().to_str().filter(|name| name.starts_with("sharedindex.")) {
            copy(&from, name, git);
        }
    }
}

/// The file that names where other objects are: the parent's, and those that it borrows itself.
fn alternates(objects: &Path, lent: &mut Lent) -> Result<Vec<u8>, Error> {
    let (mut text, mut ahead, mut seen) = (Vec::new(), vec![objects.to_owned()], Vec::new());
    while let Some(objects) = ahead.pop() {
        let Ok(real) = objects.canonicalize() else { continue };
        if !real.is_dir() || seen.contains(&real) || seen.len() == LENT_MAX {
            continue;
        }
        let at = lent.lend("objects", &real)?;
        text.extend([at.as_os_str().as_bytes(), b"\n"].concat());
        if let Ok(named) = fs::read(real.join("info/alternates")) {
            let named =
                named.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
            ahead.extend(named.map(|line| real.join(OsStr::from_bytes(line))));
        }
        seen.push(real);
    }
    Ok(text)
}

/// HEAD and all references, as they are now.
fn write_references(from: &Path, git: &Path) -> Result<(), Error> {
    let failed = |why: String| Error::Git { path: from.to_owned(), why };
    let head = match ask(from, &["symbolic-ref", "-q", "HEAD"]) {
        Ok(name) => [b"ref: ", &name[..]].concat(),
        Err(_) => ask(from, &["rev-parse", "--verify", "HEAD"]).map_err(failed)?,
    };
    write(&git.join("HEAD"), &head)?;
    let told = ask(from, &["for-each-ref", "--format=%(objectname) %(refname) %(symref)"]).map_err(failed)?;
    let mut packed = b"# pack-refs with: sorted\n".to_vec();
    for line in told.split(|byte| *byte == b'\n') {
        let mut fields = line.split(|byte| *byte == b' ');
        let (Some(object), Some(name), Some(leads)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        // git refuses a name with `..` in it, or that ends in a slash
        if !name.starts_with(b"refs/") {
            continue;
        }
        if leads.is_empty() {
            packed.extend([object, b" ", name, b"\n"].concat());
            continue;
        }
        let at = git.join(OsStr::from_bytes(name));
        at.parent().map_or(Ok(()), fs::create_dir_all).map_err(Error::io("make the directory of", &at))?;
        write(&at, &[b"ref: ", leads, b"\n"].concat())?;
    }
    write(&git.join("packed-refs"), &packed)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    File::create(path).and_then(|mut file| file.write_all(bytes)).map_err(Error::io("write", path))
}
