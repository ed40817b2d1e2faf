//! The journal: an append-only file, one commit a line, each all or nothing.
//!
//! What to do next is decided by `law::commit`; here its effects are carried out on the file. What a line
//! says is `codec`'s, reading is `reading`'s. Keeps `commit_all_or_nothing` and
//! `journal_survives_kill_at_any_byte`.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::blobs::Blobs;
use super::codec::{Header, RECORD_MAX};
use super::error::Error;
use super::private;
use super::reading::{self, Reading, Stretch};
use crate::base::SessionId;
use crate::law::commit::{Commit, Effect, Event, step};

/// The journal's name in the session's directory.
pub const JOURNAL: &str = "journal.jsonl";
/// Where what could not be read is copied to.
pub const SET_ASIDE: &str = "journal.set-aside";
/// How much is read at once.
const READ_BYTES: usize = 256 * 1024;

/// When a commit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// When it is on the disk.
    Synced,
    /// When the system has it: it survives the program's end, not the machine's.
    Buffered,
}

/// A journal open for commits.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    commit: Commit,
}

impl Journal {
    /// Makes a journal that holds these lines, durable with its name. On an error nothing is left.
    pub fn create(dir: &Path, lines: &str) -> Result<Journal, Error> {
        let path = dir.join(JOURNAL);
        let file = private::create(&path)?;
        let mut journal = Journal { file, path, commit: Commit::at(0) };
        let made = journal.write(lines.as_bytes(), Durability::Synced).and_then(|()| private::sync_dir(dir));
        match made {
            Ok(()) => Ok(journal),
            Err(e) => {
                let _ = std::fs::remove_file(&journal.path);
                Err(e)
            }
        }
    }

    /// Reads a journal and changes nothing.
    pub fn view(dir: &Path, id: &SessionId, blobs: &Blobs) -> Result<Reading, Error> {
        let path = dir.join(JOURNAL);
        let file = private::open(&path)?;
        let mut input = BufReader::with_capacity(READ_BYTES, file);
        reading::read(&mut input, id, blobs).map_err(Error::io("read", &path))
    }

    /// Reads a journal and opens it for commits. A torn tail is cut off; it and lines that cannot be read are
    /// copied beside the journal, and all that is told. A journal without damage is not touched, nor is one that
    /// `admit` refuses by its header.
    pub fn open(
        dir: &Path,
        id: &SessionId,
        blobs: &Blobs,
        admit: impl FnOnce(&Header) -> Result<(), Error>,
    ) -> Result<(Journal, Reading), Error> {
        let path = dir.join(JOURNAL);
        let file = private::open_append(&path)?;
        let mut input = BufReader::with_capacity(READ_BYTES, &file);
        let mut reading = reading::read(&mut input, id, blobs).map_err(Error::io("read", &path))?;
        admit(&reading.header)?;
        let mut journal = Journal { file, path, commit: Commit::at(reading.whole) };
        journal.recover(dir, &mut reading)?;
        Ok((journal, reading))
    }

    fn recover(&mut self, dir: &Path, reading: &mut Reading) -> Result<(), Error> {
        let aside = dir.join(SET_ASIDE);
        let stretches: Vec<Stretch> = reading.bad.iter().chain(&reading.torn).cloned().collect();
        if !stretches.is_empty() {
            let kept = set_aside(&self.file, &stretches, &aside);
            reading.reports.push(match &kept {
                Ok(()) => format!("what could not be read is kept in {}", aside.display()),
                Err(e) => {
                    format!("what could not be read could not be copied beside: {}", crate::base::chain(e))
                }
            });
        }
        if let Some(torn) = &reading.torn {
            self.file.set_len(reading.whole).map_err(Error::io("cut the torn tail off", &self.path))?;
            self.file.sync_data().map_err(Error::io("sync", &self.path))?;
            reading.reports.push(format!(
                "the last commit was cut off while it was written; its {} bytes were taken out of the journal",
                torn.bytes
            ));
        }
        Ok(())
    }

    /// Commits one line (newline included): one write, and a sync if asked for. On an error nothing of it is
    /// committed and later commits work again.
    pub fn commit(&mut self, line: &str, durability: Durability) -> Result<(), Error> {
        if line.len() > RECORD_MAX {
            return Err(Error::TooLarge { bytes: line.len() as u64, max: RECORD_MAX as u64 });
        }
        self.undisturbed()?;
        self.write(line.as_bytes(), durability)
    }

    fn write(&mut self, bytes: &[u8], durability: Durability) -> Result<(), Error> {
        let mut failure = None;
        let mut event = Event::Begin { bytes: bytes.len() as u64, sync: durability == Durability::Synced };
        loop {
            let (next, effect) = step(self.commit, event);
            self.commit = next;
            event = match effect {
                Effect::Cut { to } => match self.file.set_len(to) {
                    Ok(()) => Event::Cut,
                    Err(e) => {
                        failure.get_or_insert(("cut a failed commit off", e));
                        Event::CutFailed
                    }
                },
                Effect::Write => match write_once(&self.file, bytes) {
                    Ok(bytes) => Event::Wrote { bytes },
                    Err((wrote, e)) => {
                        failure = Some(("write to", e));
                        if wrote == 0 { Event::Failed } else { Event::Wrote { bytes: wrote } }
                    }
                },
                Effect::Sync => match self.file.sync_data() {
                    Ok(()) => Event::Synced,
                    Err(e) => {
                        failure = Some(("sync", e));
                        Event::Failed
                    }
                },
                Effect::Done => return Ok(()),
                Effect::Refuse | Effect::Ignore => {
                    let (what, source) = failure.unwrap_or(("commit to", io::ErrorKind::Other.into()));
                    return Err(Error::Io { what, path: self.path.clone(), source });
                }
            };
        }
    }

    /// Whether the file is as this program left it: bytes of another hand must not be mixed with ours.
    fn undisturbed(&self) -> Result<(), Error> {
        let meta = self.file.metadata().map_err(Error::io("look at", &self.path))?;
        let wrong = if meta.nlink() == 0 {
            "was removed".to_owned()
        } else if meta.len() != self.commit.whole && !self.commit.ragged {
            format!("went from {} to {} bytes by another hand", self.commit.whole, meta.len())
        } else {
            return Ok(());
        };
        Err(Error::Disturbed { path: self.path.clone(), wrong })
    }

    /// Bytes of all commits.
    pub fn bytes(&self) -> u64 {
        self.commit.whole
    }
}

/// One write. A short one is asked for its reason by a second; that both together are cut off again is the
/// law's matter.
fn write_once(mut file: &File, bytes: &[u8]) -> Result<u64, (u64, io::Error)> {
    let wrote = loop {
        match file.write(bytes) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => break other.map_err(|e| (0, e))?,
        }
    };
    match bytes.get(wrote..) {
        Some(rest) if !rest.is_empty() => match file.write(rest) {
            Err(e) => Err((wrote as u64, e)),
            Ok(_) => Err((wrote as u64, io::ErrorKind::WriteZero.into())),
        },
        Some(_) | None => Ok(wrote as u64),
    }
}

/// Copies stretches of the journal to the file beside it, each on a line of its own, those that are not there
/// yet. Nothing is written when all are.
fn set_aside(journal: &File, stretches: &[Stretch], aside: &Path) -> Result<(), Error> {
    let mut there = HashSet::new();
    let mut cut_short = false;
    if aside.exists() {
        let mut input = BufReader::new(private::open(aside)?);
        let mut piece = Sha256::new();
        while let Some(end) = hash_line(&mut input, &mut piece).map_err(Error::io("read", aside))? {
            there.insert(std::mem::take(&mut piece).finalize());
            cut_short = !end;
        }
    }
    let mut out: Option<File> = None;
    for stretch in stretches {
        let digest = {
            let mut hash = Hashing(Sha256::new());
            copy(journal, stretch, &mut hash).map_err(Error::io("read for", aside))?;
            hash.0.finalize()
        };
        if !there.insert(digest) {
            continue;
        }
        let file = match &mut out {
            Some(file) => file,
            None => out.insert(private::append(aside)?),
        };
        if std::mem::take(&mut cut_short) {
            file.write_all(b"\n").map_err(Error::io("copy to", aside))?;
        }
        copy(journal, stretch, file)
            .and_then(|()| file.write_all(b"\n"))
            .map_err(Error::io("copy to", aside))?;
    }
    match out {
        Some(file) => file.sync_all().map_err(Error::io("sync", aside)),
        None => Ok(()),
    }
}

/// Hashes up to the next newline; none at the end of the file, else whether the newline came.
fn hash_line(input: &mut impl BufRead, hash: &mut Sha256) -> io::Result<Option<bool>> {
    let mut any = false;
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(any.then_some(false));
        }
        any = true;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let take = end.unwrap_or(piece.len());
        hash.update(piece.get(..take).unwrap_or_default());
        input.consume(take + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(Some(true));
        }
    }
}

struct Hashing(Sha256);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn copy(mut from: &File, stretch: &Stretch, to: &mut impl Write) -> io::Result<()> {
    from.seek(SeekFrom::Start(stretch.from))?;
    io::copy(&mut from.take(stretch.bytes), to).map(|_| ())
}
