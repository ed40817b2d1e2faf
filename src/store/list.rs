//! Which sessions there are, newest first. Quick for thousands: of each journal only the beginning is read.
//!
//! A session of an agent is its parent's matter and left out. A session that cannot be read is left out; a session without a message is nothing to go back to.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::codec::{self, Header, RECORD_MAX, Record};
use super::dirs::Dirs;
use super::error::{Error, who};
use super::journal::JOURNAL;
use super::lease::{self, LEASE};
use super::private;
use super::session::TITLE;
use crate::api::entry::EntryBody;
use crate::api::event::SessionInfo;
use crate::base::{Millis, SessionId};

/// Most characters of a title that was taken from a message.
const TITLE_CHARS: usize = 80;
/// Most lines that are read in search of the first message.
const LINES_MAX: usize = 64;

struct Found {
    id: SessionId,
    dir: PathBuf,
    changed: Millis,
    bytes: u64,
}

/// All sessions of a directory, or of all directories; newest first.
pub fn list(dirs: &Dirs, cwd: Option<&Path>) -> Vec<SessionInfo> {
    let cwd = cwd.map(Here::new);
    let wanted = |header: &Header| cwd.as_ref().is_none_or(|here| here.is(header));
    found(dirs).into_iter().filter_map(|found| info(found, &wanted)).collect()
}

/// The newest session of a directory.
pub fn newest_for(dirs: &Dirs, cwd: &Path) -> Option<SessionId> {
    let here = Here::new(cwd);
    let wanted = |header: &Header| here.is(header);
    found(dirs).into_iter().find_map(|found| info(found, &wanted)).map(|info| info.id)
}

/// The session that an id, or the beginning of one, means.
pub fn find(dirs: &Dirs, text: &str) -> Result<SessionId, Error> {
    let mut ids: Vec<SessionId> =
        found(dirs).into_iter().map(|f| f.id).filter(|id| id.as_str().starts_with(text)).collect();
    if let Some(exact) = ids.iter().find(|id| id.as_str() == text) {
        return Ok(exact.clone());
    }
    match (ids.len(), ids.pop()) {
        (1, Some(id)) if !text.is_empty() => Ok(id),
        (0, _) => Err(Error::NoSession { id: text.to_owned() }),
        (count, _) => Err(Error::Ambiguous { id: text.to_owned(), count }),
    }
}

/// A directory that sessions are looked for by, as it was written and as it is.
struct Here {
    written: PathBuf,
    real: Option<PathBuf>,
}

impl Here {
    fn new(cwd: &Path) -> Here {
        Here { written: cwd.to_owned(), real: fs::canonicalize(cwd).ok() }
    }
    fn is(&self, header: &Header) -> bool {
        header.cwd.as_ref().is_some_and(|cwd| *cwd == self.written || Some(cwd) == self.real.as_ref())
    }
}

fn found(dirs: &Dirs) -> Vec<Found> {
    let Ok(list) = fs::read_dir(dirs.sessions()) else { return Vec::new() };
    let look = |item: fs::DirEntry| {
        let dir = item.path();
        let meta = fs::symlink_metadata(dir.join(JOURNAL)).ok().filter(fs::Metadata::is_file)?;
        let ms = meta.mtime().checked_mul(1000)?.checked_add(meta.mtime_nsec() / 1_000_000)?;
        let changed = Millis(u64::try_from(ms).unwrap_or_default());
        Some(Found {
            id: SessionId::new(item.file_name().into_string().ok()?),
            dir,
            changed,
            bytes: meta.size(),
        })
    };
    let mut found: Vec<Found> = list.flatten().filter_map(look).collect();
    found.sort_by(|a, b| (b.changed, &b.id).cmp(&(a.changed, &a.id)));
    found
}

/// Why sessions are left out of [`list`]: their journals may not be opened as they stand (not private, or
/// not ours).
pub fn closed(dirs: &Dirs) -> Vec<Error> {
    found(dirs).into_iter().filter_map(|found| private::open(&found.dir.join(JOURNAL)).err()).collect()
}

fn info(found: Found, wanted: &dyn Fn(&Header) -> bool) -> Option<SessionInfo> {
    let file = private::open(&found.dir.join(JOURNAL)).ok()?;
    let mut input = BufReader::with_capacity(8 * 1024, file.take(2 * RECORD_MAX as u64));
    let header = match codec::decode(&next(&mut input)?) {
        Ok(Record::Header(header)) => header,
        Ok(_) | Err(_) => codec::lost_header(found.id.clone()),
    };
    if header.of.is_some() || !wanted(&header) {
        return None;
    }
    let first = first_message(&mut input)?;
    let named = private::read(&found.dir.join(TITLE)).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    Some(SessionInfo {
        title: named.filter(|title| !title.trim().is_empty()).unwrap_or(first),
        id: found.id,
        cwd: header.cwd.unwrap_or_default(),
        changed: found.changed,
        bytes: found.bytes,
        holder: lease::holder(&found.dir.join(LEASE)).map(|holder| who(Some(&holder))),
    })
}

/// The first line of the first message; without one, the first command that the person ran; empty when neither is near
/// the beginning, none when the journal ends without both.
fn first_message(input: &mut impl BufRead) -> Option<String> {
    let mut command = None;
    for _ in 0..LINES_MAX {
        let Some(line) = next(input) else { return command };
        match codec::decode(&line) {
            Ok(Record::Entry(entry, _)) => match entry.body {
                EntryBody::User(message) => return Some(title_of(&message.text)),
                EntryBody::CallStart(start) if command.is_none() => {
                    command = start.input["command"].as_str().map(|text| title_of(&format!("! {text}")));
                }
                _ => {}
            },
            Ok(Record::Beside(beside)) if beside.kind == "user" => return Some(String::new()),
            Ok(_) | Err(_) => {}
        }
    }
    Some(command.unwrap_or_default())
}

fn title_of(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut title: String = line.chars().filter(|c| !c.is_control()).take(TITLE_CHARS).collect();
    if line.chars().nth(TITLE_CHARS).is_some() {
        title.push('…');
    }
    title
}

/// The next whole line.
fn next(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line).ok()?;
    (line.pop() == Some(b'\n')).then_some(line)
}
