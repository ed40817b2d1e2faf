//! One file is put back as it was: looked at, prepared beside its place, exchanged, and what was displaced is
//! compared with what was expected. A reader sees the whole old file or the whole new one, and what somebody else
//! wrote meanwhile is put where it was.
//!
//! A prepared file has a name that its caller chose and wrote down first, so that what a crash left is known from a
//! person's files (`tidy`). Links are never followed. Not here: which files, and what they were (`law::rewind`).

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat_with};
use rustix::io::Errno;

use crate::law::rewind::{Present, Why};
use crate::store::blobs::hash;
use crate::tool::change::{copy_attributes, plain};
use crate::tool::spot::Spot;

/// Largest file that is put back, or written over by one that is.
pub const PUT_BACK_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// How a file stands, with its permission bits where it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// How it stands.
    pub present: Present,
    /// Its permission bits.
    pub mode: Option<u32>,
    /// How many of the directories above it are missing.
    pub missing: u32,
}

/// What a file is to become.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The file: a real path, no link in it.
    pub path: &'a Path,
    /// The session's directory, which is never made.
    pub cwd: &'a Path,
    /// The hash of the bytes that it has; none: it is not there. With others it stays.
    pub from: Option<&'a str>,
    /// The bytes that it gets; none: it is removed.
    pub to: Option<&'a [u8]>,
    /// The permission bits that it gets; none: it keeps its own, a new one the umask's.
    pub mode: Option<u32>,
    /// The name under which it is prepared beside its place.
    pub aside: &'a str,
}

/// Looks at a file. Blocking.
pub fn look(path: &Path) -> Look {
    let (present, mode) = match open(path) {
        Ok(None) => (Present::Gone, None),
        Ok(Some((file, mode))) => match hash_of(file) {
            Ok(hash) => (Present::File(hash), Some(mode)),
            Err(error) => (Present::Unreadable(plain(&error)), None),
        },
        Err(present) => (present, None),
    };
    let missing = match present {
        Present::Gone => path.ancestors().skip(1).take_while(|dir| dir.symlink_metadata().is_err()).count(),
        _ => 0,
    };
    Look { present, mode, missing: missing as u32 }
}

/// Opens a regular file that this person may write; none: nothing is there.
fn open(path: &Path) -> Result<Option<(File, u32)>, Present> {
    let unreadable = |error: io::Error| Present::Unreadable(plain(&error));
    let spot = match Spot::reach(path, Path::new("/"), None) {
        Ok(spot) => spot,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // what leads there is a file or a link by now
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(None),
        Err(error) if error.raw_os_error().is_none() => return Err(Present::NotOurs),
        Err(error) => return Err(unreadable(error)),
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(CWD, spot.file(), flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP | Errno::NXIO | Errno::NODEV) => return Err(Present::NotOurs),
        Err(error) => return Err(unreadable(error.into())),
    };
    let meta = file.metadata().map_err(unreadable)?;
    let writable = nix::unistd::access(&spot.file(), nix::unistd::AccessFlags::W_OK).is_ok();
    if !meta.is_file() || !writable {
        return Err(Present::NotOurs);
    }
    if meta.len() > PUT_BACK_BYTES_MAX {
        let words = format!("it is {} bytes large; files over {PUT_BACK_BYTES_MAX} stay", meta.len());
        return Err(Present::Unreadable(words));
    }
    Ok(Some((file, meta.permissions().mode() & 0o7777)))
}

fn hash_of(file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(PUT_BACK_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(hash(&bytes))
}

/// Puts a file back. `keep` keeps the bytes that it has now, before they are replaced. How many directories were
/// made for it; an `Err` says why it stays as it is, in words that follow its name. Blocking.
pub fn put_back(wanted: Wanted<'_>, keep: impl FnOnce(&[u8]) -> Result<(), String>) -> Result<u32, String> {
    let changed = |now: bool| match (now, wanted.from) {
        (false, _) => Why::Gone.words(),
        (true, None) => Why::MadeAgain.words(),
        (true, Some(_)) => Why::Changed.words(),
    };
    match (open(wanted.path), wanted.from) {
        (Ok(None), None) => {}
        (Ok(Some((mut file, _))), Some(from)) => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(|error| Why::Unreadable(plain(&error)).words())?;
            if hash(&bytes) != from {
                return Err(changed(true));
            }
            keep(&bytes)?;
        }
        (Ok(found), _) => return Err(changed(found.is_some())),
        (Err(Present::Unreadable(why)), _) => return Err(Why::Unreadable(why).words()),
        (Err(_), _) => return Err(Why::NotOurs.words()),
    }
    let mut made = Vec::new();
    let spot = Spot::reach(wanted.path, wanted.cwd, wanted.to.is_some().then_some(&mut made))
        .map_err(|error| could_not(&error))
        .and_then(|spot| {
            swap(&wanted, &spot)?;
            spot.sync();
            Ok(spot)
        });
    match spot {
        Ok(_) => Ok(made.len() as u32),
        Err(why) => {
            for dir in made.iter().rev() {
                let _ = std::fs::remove_dir(dir.file());
            }
            Err(why)
        }
    }
}

fn could_not(error: &io::Error) -> String {
    format!("could not be put back: {}", plain(error))
}

/// The replacement itself, in the held directory.
fn swap(wanted: &Wanted<'_>, spot: &Spot) -> Result<(), String> {
    let (path, aside) = (spot.file(), spot.directory().join(wanted.aside));
    let wrong = |error: io::Error| could_not(&error);
    let Some(bytes) = wanted.to else {
        rename(&path, &aside, RenameFlags::NOREPLACE).map_err(wrong)?;
        return displaced(wanted, &aside, || rename(&aside, &path, RenameFlags::NOREPLACE));
    };
    prepare(wanted, spot, bytes).map_err(wrong)?;
    if wanted.from.is_none() {
        let placed = rename(&aside, &path, RenameFlags::NOREPLACE);
        return placed.map_err(|error| {
            let _ = std::fs::remove_file(&aside);
            if error.kind() == ErrorKind::AlreadyExists { Why::MadeAgain.words() } else { wrong(error) }
        });
    }
    if let Err(error) = rename(&aside, &path, RenameFlags::EXCHANGE) {
        let _ = std::fs::remove_file(&aside);
        return Err(if error.kind() == ErrorKind::NotFound { Why::Gone.words() } else { wrong(error) });
    }
    displaced(wanted, &aside, || rename(&aside, &path, RenameFlags::EXCHANGE))
}

/// What was displaced is what was expected, and goes; else it is put where it was.
fn displaced(wanted: &Wanted<'_>, aside: &Path, back: impl Fn() -> io::Result<()>) -> Result<(), String> {
    let found = File::open(aside).and_then(hash_of).ok();
    if found.as_deref() == wanted.from {
        let _ = std::fs::remove_file(aside);
        return Ok(());
    }
    match back() {
        Ok(()) => {
            if wanted.to.is_some() {
                let _ = std::fs::remove_file(aside);
            }
            Err(Why::Changed.words())
        }
        Err(_) => Err(beside(wanted)),
    }
}

/// Somebody else's bytes could not be put where they were.
fn beside(wanted: &Wanted<'_>) -> String {
    let aside = wanted.path.with_file_name(wanted.aside);
    format!("was changed by someone else meanwhile; their bytes are in {}", aside.display())
}

/// A rename that looks first. Where the file system knows no such rename, a plain one, whose moment between the look
/// and the rename is not guarded.
fn rename(from: &Path, to: &Path, how: RenameFlags) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, how) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        done => return done.map_err(io::Error::from),
    }
    if how == RenameFlags::NOREPLACE {
        if to.symlink_metadata().is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        return std::fs::rename(from, to);
    }
    let mut between = from.as_os_str().to_owned();
    between.push(".old");
    std::fs::hard_link(to, &between)?;
    std::fs::rename(from, to)?;
    std::fs::rename(&between, from)
}

/// The name of a prepared file that is not whole yet.
fn unfinished(aside: &str) -> String {
    format!("{aside}.new")
}

/// Writes the bytes beside their place, whole and synced, for nobody else to read until they are there.
fn prepare(wanted: &Wanted<'_>, spot: &Spot, bytes: &[u8]) -> io::Result<()> {
    let new = spot.directory().join(unfinished(wanted.aside));
    let written = write_new(wanted, spot, &new, bytes)
        .and_then(|()| std::fs::rename(&new, spot.directory().join(wanted.aside)));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

fn write_new(wanted: &Wanted<'_>, spot: &Spot, new: &Path, bytes: &[u8]) -> io::Result<()> {
    let old = spot.file().symlink_metadata().ok().filter(|_| wanted.from.is_some());
    let mode = wanted.mode.or(old.as_ref().map(|meta| meta.permissions().mode() & 0o7777));
    let first = if mode.is_some() { 0o600 } else { 0o666 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(first).open(new)?;
    file.write_all(bytes)?;
    if let Some(old) = &old {
        if (old.uid(), old.gid()) != (file.metadata()?.uid(), file.metadata()?.gid()) {
            // only root may give a file away; without it the file becomes this user's
            let _ = fchown(&file, Some(old.uid()), Some(old.gid()));
        }
        copy_attributes(&spot.file(), &file);
    }
    if let Some(mode) = mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    file.sync_all()
}

/// Clears away what a crash left beside a file that was being put back. `to`: the hash of the bytes that it was to
/// get. Words, where somebody else's bytes had to stay beside. Blocking.
pub fn tidy(wanted: Wanted<'_>, to: Option<&str>) -> Option<String> {
    let spot = Spot::reach(wanted.path, wanted.cwd, None).ok()?;
    let (path, aside) = (spot.file(), spot.directory().join(wanted.aside));
    let _ = std::fs::remove_file(spot.directory().join(unfinished(wanted.aside)));
    let _ = std::fs::remove_file(spot.directory().join(format!("{}.old", wanted.aside)));
    let found = File::open(&aside).and_then(hash_of).ok()?;
    if Some(found.as_str()) == to || Some(found.as_str()) == wanted.from {
        let _ = std::fs::remove_file(&aside);
        spot.sync();
        return None;
    }
    // what somebody else wrote at the last moment was displaced, and the crash came before it was put back
    let now = look(wanted.path).present;
    let back = match (&now, to) {
        (Present::Gone, _) => rename(&aside, &path, RenameFlags::NOREPLACE),
        (Present::File(now), Some(to)) if now == to => {
            rename(&aside, &path, RenameFlags::EXCHANGE).and_then(|()| std::fs::remove_file(&aside))
        }
        _ => Err(ErrorKind::AlreadyExists.into()),
    };
    spot.sync();
    back.err().map(|_| beside(&wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted<'a>(path: &'a Path, from: Option<&'a str>, to: Option<&'a [u8]>) -> Wanted<'a> {
        let cwd = path.parent().unwrap();
        Wanted { path, cwd, from, to, mode: None, aside: ".windlass-test-0" }
    }

    fn names(dir: &Path) -> Vec<String> {
        let list = std::fs::read_dir(dir).unwrap();
        let mut names: Vec<String> =
            list.map(|item| item.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_gets_its_bytes_back_only_from_those_that_were_expected() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().canonicalize().unwrap();
        let file = dir.join("f");
        std::fs::write(&file, "two").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o751)).unwrap();
        let (two, other) = (hash(b"two"), hash(b"other"));
        let mut kept = Vec::new();
        let mut put = |from: Option<&str>, to: Option<&[u8]>| {
            put_back(wanted(&file, from, to), |bytes| {
                kept.push(bytes.to_vec());
                Ok(())
            })
        };
        assert_eq!(put(Some(&other), Some(b"one")), Err("was changed by someone else since".into()));
        assert_eq!(put(None, Some(b"one")), Err("was made again by someone else".into()));
        assert_eq!(put(Some(&two), Some(b"one")), Ok(0));
        assert_eq!(std::fs::read(&file).unwrap(), b"one");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o7777, 0o751, "it keeps its mode");
        assert_eq!(put(Some(&hash(b"one")), None), Ok(0));
        assert_eq!(put(Some(&two), None), Err("was removed by someone else".into()));
        assert_eq!(kept, [b"two".to_vec(), b"one".to_vec()], "what goes is kept first");
        assert_eq!(names(&dir), Vec::<String>::new());
    }

    #[test]
    fn directories_are_made_for_a_file_that_comes_back_and_links_lead_nowhere() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().canonicalize().unwrap();
        let file = dir.join("p/a/b/f");
        std::fs::create_dir(dir.join("p")).unwrap();
        assert_eq!((look(&file).present, look(&file).missing), (Present::Gone, 2));
        let back = Wanted { cwd: &dir.join("p"), mode: Some(0o600), ..wanted(&file, None, Some(b"x")) };
        assert_eq!(put_back(back, |_| Ok(())), Ok(2));
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
        std::fs::rename(dir.join("p/a"), dir.join("out")).unwrap();
        std::os::unix::fs::symlink(dir.join("out"), dir.join("p/a")).unwrap();
        assert_eq!(look(&file).present, Present::NotOurs);
        let over = Wanted { cwd: &dir, ..wanted(&file, Some("x"), None) };
        assert_eq!(put_back(over, |_| Ok(())), Err("is no file any more that you may write".into()));
        assert_eq!(std::fs::read(dir.join("out/b/f")).unwrap(), b"x");
    }

    #[test]
    fn what_was_saved_at_the_last_moment_is_put_where_it_was() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().canonicalize().unwrap();
        let file = dir.join("f");
        std::fs::write(&file, "theirs").unwrap();
        let two = hash(b"two");
        let spot = Spot::reach(&file, &dir, None).unwrap();
        // as if somebody had saved between the look and the exchange
        for (from, to, why) in [
            (Some(two.as_str()), Some(&b"one"[..]), Why::Changed),
            (Some(two.as_str()), None, Why::Changed),
            (None, Some(&b"one"[..]), Why::MadeAgain),
        ] {
            assert_eq!(swap(&wanted(&file, from, to), &spot), Err(why.words()));
            assert_eq!(std::fs::read(&file).unwrap(), b"theirs");
            assert_eq!(names(&dir), ["f"]);
        }
    }

    #[test]
    fn what_a_crash_left_is_cleared_away_and_nothing_of_others() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().canonicalize().unwrap();
        let (file, aside) = (dir.join("f"), dir.join(".windlass-test-0"));
        let (one, two) = (hash(b"one"), hash(b"two"));
        let tidied = |now: Option<&str>, beside: &str, to: Option<&str>| {
            let _ = std::fs::remove_file(&file);
            now.inspect(|now| std::fs::write(&file, now).unwrap());
            std::fs::write(&aside, beside).unwrap();
            std::fs::write(dir.join(".windlass-test-0.new"), "half").unwrap();
            let words = tidy(wanted(&file, Some(&two), None), to);
            (std::fs::read_to_string(&file).ok(), words, names(&dir).len())
        };
        let file_is = |text: &str| Some(text.to_owned());
        assert_eq!(tidied(Some("two"), "one", Some(&one)), (file_is("two"), None, 1), "prepared");
        assert_eq!(tidied(Some("one"), "two", Some(&one)), (file_is("one"), None, 1), "exchanged");
        assert_eq!(tidied(Some("one"), "theirs", Some(&one)), (file_is("theirs"), None, 1), "put back");
        assert_eq!(tidied(None, "two", None), (None, None, 0), "removed");
        assert_eq!(tidied(None, "theirs", None), (file_is("theirs"), None, 1), "not removed");
        let (now, words, left) = tidied(Some("newer"), "theirs", Some(&one));
        assert_eq!((now, left), (file_is("newer"), 2), "both stay");
        assert!(words.unwrap().contains(".windlass-test-0"));
    }
}
