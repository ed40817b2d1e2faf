//! A session's directory: its journal, its lease, what lies beside them.
//!
//! ```text
//! sessions/ID/journal.jsonl       the record: header, entries, titles, moves of the head
//!             journal.set-aside   what of it could not be read, copied
//!             lease               who has it open
//!             title               the display name again, for lists
//!             blobs/SHA256        bytes by content
//!             calls/CALL/         spools and artifacts of a call
//!             jobs/JOB            a link to the directory of the call that the job comes from
//! ```
//!
//! A new session makes nothing on the disk before its first message (`begin`, or the first committed user
//! entry), so one that was opened and left leaves nothing behind; what is committed before waits in memory.
//! Keeps the laws L and `cwd_*`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use uuid::Uuid;

use super::blobs::{self, Blobs};
use super::codec::{self, Header, Parent, RECORD_MAX, VERSION};
use super::dirs::Dirs;
use super::error::Error;
use super::journal::{Durability, JOURNAL, Journal};
use super::lease::{LEASE, Lease, Taking};
use super::private;
use super::reading::Reading;
use super::tree::{Mint, Tree, Unsettled};
use crate::api::agent::{AgentEnd, AgentNode};
use crate::api::entry::{Entry, EntryBody};
use crate::api::job::JobNode;
use crate::base::{CallId, EntryId, JobId, Millis, SessionId};
use crate::law::cwd::{Refusal, Seen, cwd};
use crate::law::lease::Holder;

/// The display name's file.
pub const TITLE: &str = "title";
const BLOBS: &str = "blobs";
/// The directory of calls.
pub const CALLS: &str = "calls";
/// The directory of the names of jobs.
pub const JOBS: &str = "jobs";

/// A session open for commits. Dropping it closes it.
#[derive(Debug)]
pub struct Session {
    dirs: Dirs,
    header: Header,
    cwd: PathBuf,
    title: String,
    mint: Mint,
    place: Place,
}

/// Where its commits go.
#[derive(Debug)]
enum Place {
    /// Nothing is on the disk yet; these lines wait.
    Unborn(String),
    /// The journal, and the lease, given back after it.
    Born { journal: Journal, _lease: Lease },
}

/// What an opened journal held.
#[derive(Debug)]
pub struct Opened {
    /// Its header.
    pub header: Header,
    /// Its entries: all branches, the order of commits, the head.
    pub tree: Tree,
    /// Its display name; empty: none was given.
    pub title: String,
    /// Calls that began and did not settle, in the order of their starts.
    pub unsettled: Vec<Unsettled>,
    /// Jobs that ran when the journal was last written, by their nodes.
    pub jobs: Vec<JobNode>,
    /// Agents that had not ended when the journal was last written, and what each is to be told.
    pub agents: Vec<(AgentNode, String)>,
    /// Agents that were taken off the list, by their paths, each with the run.
    pub agents_dismissed: BTreeMap<String, u32>,
    /// Jobs whose end was told.
    pub jobs_over: BTreeSet<JobId>,
    /// What was found and mended, in words for a person.
    pub reports: Vec<String>,
}

/// What came of opening a session.
#[derive(Debug)]
pub enum Opening {
    /// It is ours, open for commits.
    Ours(Box<Session>, Box<Opened>),
    /// Another program has it open; `view` reads it.
    Held(Option<Holder>),
}

impl Opened {
    /// The branch that ends in the head, from the root.
    pub fn branch(&self) -> Vec<std::sync::Arc<Entry>> {
        self.tree.path(self.tree.head.as_ref())
    }
    fn of(reading: Reading) -> (Opened, Mint) {
        let Reading { header, tree, title, mint, jobs, agents, agents_dismissed, reports, .. } = reading;
        let unsettled = tree.unsettled();
        let ended = |entry: &std::sync::Arc<Entry>| match &entry.body {
            EntryBody::JobEnd(end) => Some(end.job),
            _ => None,
        };
        let jobs_over = tree.entries.iter().filter_map(ended).collect();
        let jobs = jobs.into_values().collect();
        let agents = agents.into_values().collect();
        let opened =
            Opened { header, tree, title, unsettled, jobs, agents, agents_dismissed, jobs_over, reports };
        (opened, mint)
    }
}

impl Session {
    /// A new session in this directory. Nothing is made on the disk yet.
    pub fn create(dirs: &Dirs, cwd: &Path) -> Result<Session, Error> {
        Self::made(dirs, cwd, mint(), None)
    }

    /// A new session of an agent, with an id that was minted before.
    pub fn create_for(dirs: &Dirs, cwd: &Path, id: SessionId, of: Parent) -> Result<Session, Error> {
        Self::made(dirs, cwd, id, Some(of))
    }

    fn made(dirs: &Dirs, cwd: &Path, id: SessionId, of: Option<Parent>) -> Result<Session, Error> {
        let cwd = runs_in(Some(cwd))?;
        let cwd = fs::canonicalize(&cwd).map_err(Error::io("look at", &cwd))?;
        let header = Header { of, ..codec::new_header(id, &cwd, now()) };
        let place = Place::Unborn(codec::encode_header(&header)?);
        Ok(Session { dirs: dirs.clone(), header, cwd, title: String::new(), mint: Mint::default(), place })
    }

    /// Opens a session for commits, if no other program has it open and its directory is there. What a crash
    /// left is mended and told.
    pub fn open(dirs: &Dirs, id: &SessionId) -> Result<Opening, Error> {
        Self::open_in(dirs, id, None)
    }

    /// The same in another directory than the one that it names: that of an agent's new copy.
    pub fn open_in(dirs: &Dirs, id: &SessionId, there_now: Option<&Path>) -> Result<Opening, Error> {
        let dir = there(dirs, id)?;
        let (lease, before) = match Lease::take(&dir.join(LEASE))? {
            Taking::Ours(lease, before) => (lease, before),
            Taking::Held(holder) => return Ok(Opening::Held(holder)),
        };
        if before.is_some() {
            private::sweep(&dir);
            private::sweep(&dir.join(BLOBS));
        }
        // Read first, mend after: a session that is refused here is left as it is.
        let blobs = Blobs::at(dir.join(BLOBS));
        let mut cwd = PathBuf::new();
        let (journal, reading) = Journal::open(&dir, id, &blobs, |header| {
            known(header)?;
            cwd = runs_in(there_now.or(header.cwd.as_deref()))?;
            Ok(())
        })?;
        let (opened, mint) = Opened::of(reading);
        let session = Session {
            dirs: dirs.clone(),
            header: opened.header.clone(),
            cwd,
            title: opened.title.clone(),
            mint,
            place: Place::Born { journal, _lease: lease },
        };
        Ok(Opening::Ours(Box::new(session), Box::new(opened)))
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.header.id
    }
    /// The directory it runs in.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }
    /// Its display name; empty: none was given.
    pub fn title(&self) -> &str {
        &self.title
    }
    /// Its own directory. Only there once the session began.
    pub fn dir(&self) -> PathBuf {
        self.dirs.session(&self.header.id)
    }
    /// The private directory of a call's spools and artifacts. Who needs it makes it: `private::dir_all`.
    pub fn call_dir(&self, call: &CallId) -> PathBuf {
        self.dir().join(CALLS).join(file_name(call.as_str()))
    }
    /// The directory of the names of its jobs: a link for each, to the directory of its call.
    pub fn jobs_dir(&self) -> PathBuf {
        self.dir().join(JOBS)
    }
    /// Its blobs. Only to be used once the session began.
    pub fn blobs(&self) -> Blobs {
        Blobs::at(self.dir().join(BLOBS))
    }
    /// A new entry's id.
    pub fn mint_entry(&mut self) -> EntryId {
        self.mint.entry()
    }
    /// A new call's id.
    pub fn mint_call(&mut self) -> CallId {
        self.mint.call()
    }
    /// Whether it is on the disk.
    pub fn began(&self) -> bool {
        matches!(self.place, Place::Born { .. })
    }

    /// Makes the session on the disk, with all that was committed before; durable when it returns. A session
    /// that began already is left as it is. On an error nothing is left on the disk and it can be tried again.
    pub fn begin(&mut self) -> Result<(), Error> {
        let Place::Unborn(lines) = &self.place else { return Ok(()) };
        self.dirs.make()?;
        let dir = self.dir();
        private::dir(&dir)?;
        match self.born(&dir, lines) {
            Ok(place) => {
                self.place = place;
                Ok(())
            }
            Err(e) => {
                for name in [JOURNAL, TITLE, LEASE] {
                    let _ = fs::remove_file(dir.join(name));
                }
                let _ = fs::remove_dir(&dir);
                Err(e)
            }
        }
    }

    fn born(&self, dir: &Path, lines: &str) -> Result<Place, Error> {
        let lease = match Lease::take(&dir.join(LEASE))? {
            Taking::Ours(lease, _) => lease,
            Taking::Held(holder) => return Err(Error::Held { holder }),
        };
        if !self.title.is_empty() {
            keep_title(dir, &self.title);
        }
        let journal = Journal::create(dir, lines)?;
        private::sync_dir(&self.dirs.sessions())?;
        Ok(Place::Born { journal, _lease: lease })
    }

    /// Commits an entry: all of it or, on an error, nothing. A body over the bound of a record goes into a blob.
    /// A user entry begins the session. Blocking.
    pub fn commit(&mut self, entry: &Entry, durability: Durability) -> Result<(), Error> {
        if matches!(entry.body, EntryBody::User(_)) {
            self.begin()?;
        }
        let mut line = codec::encode(entry)?;
        if line.len() > RECORD_MAX {
            self.begin()?;
            line = self.beside(entry)?;
        }
        self.put(&line, durability)?;
        self.mint.saw(entry);
        Ok(())
    }

    fn beside(&self, entry: &Entry) -> Result<String, Error> {
        let blob = self.blobs().keep(codec::encode_body(&entry.body)?.as_bytes())?;
        codec::encode_beside(entry, &blob)
    }

    /// Writes an entry of another session, in the order of its commits, before the session begins. Its directory
    /// is there.
    pub(super) fn write(&mut self, entry: &Entry) -> Result<(), Error> {
        let line = codec::encode(entry)?;
        let line = if line.len() > RECORD_MAX { self.beside(entry)? } else { line };
        self.put(&line, Durability::Buffered)?;
        self.mint.saw(entry);
        Ok(())
    }

    /// Gives it a display name.
    pub fn rename(&mut self, title: &str) -> Result<(), Error> {
        let title = one_line(title);
        self.put(&codec::encode_title(&title)?, Durability::Synced)?;
        self.title = title;
        if self.began() {
            keep_title(&self.dir(), &self.title);
        }
        Ok(())
    }

    /// Records that the head moved. The next entry moves it on.
    pub fn move_head(&mut self, to: Option<&EntryId>) -> Result<(), Error> {
        self.put(&codec::encode_head(to)?, Durability::Synced)
    }

    /// Commits what the nodes of jobs become: all of it in one write or, on an error, nothing.
    pub fn put_jobs(&mut self, lines: &[String]) -> Result<(), Error> {
        self.put(&lines.concat(), Durability::Buffered)
    }

    fn put(&mut self, line: &str, durability: Durability) -> Result<(), Error> {
        match &mut self.place {
            Place::Unborn(lines) => {
                lines.push_str(line);
                Ok(())
            }
            Place::Born { journal, .. } => journal.commit(line, durability),
        }
    }
}

/// Reads a session without opening it: nothing is changed, whoever has it open. Its directory need not be there.
pub fn view(dirs: &Dirs, id: &SessionId) -> Result<Opened, Error> {
    let dir = there(dirs, id)?;
    let reading = Journal::view(&dir, id, &Blobs::at(dir.join(BLOBS)))?;
    Ok(Opened::of(reading).0)
}

/// Gives a session that is not open anywhere a display name.
pub fn rename(dirs: &Dirs, id: &SessionId, title: &str) -> Result<(), Error> {
    let dir = there(dirs, id)?;
    let _lease = match Lease::take(&dir.join(LEASE))? {
        Taking::Ours(lease, _) => lease,
        Taking::Held(holder) => return Err(Error::Held { holder }),
    };
    let title = one_line(title);
    let (mut journal, _) = Journal::open(&dir, id, &Blobs::at(dir.join(BLOBS)), known)?;
    journal.commit(&codec::encode_title(&title)?, Durability::Synced)?;
    keep_title(&dir, &title);
    Ok(())
}

/// Commits, at the head of a session that is not open anywhere, how agents of it ended. Blocking.
pub fn tell_ends(dirs: &Dirs, id: &SessionId, ends: &[AgentEnd]) -> Result<(), Error> {
    let dir = there(dirs, id)?;
    let _lease = match Lease::take(&dir.join(LEASE))? {
        Taking::Ours(lease, _) => lease,
        Taking::Held(holder) => return Err(Error::Held { holder }),
    };
    let (mut journal, mut reading) = Journal::open(&dir, id, &Blobs::at(dir.join(BLOBS)), known)?;
    let mut head = reading.tree.head.take();
    let mut lines = String::new();
    for end in ends {
        let body = EntryBody::AgentEnd(end.clone());
        let entry = Entry { id: reading.mint.entry(), parent: head.take(), at: now(), body };
        let line = codec::encode(&entry)?;
        if line.len() > RECORD_MAX {
            let blob = Blobs::at(dir.join(BLOBS)).keep(codec::encode_body(&entry.body)?.as_bytes())?;
            lines.push_str(&codec::encode_beside(&entry, &blob)?);
        } else {
            lines.push_str(&line);
        }
        lines.push_str(&codec::encode_agent_over(&end.node.name, end.node.run)?);
        head = Some(entry.id);
    }
    journal.commit(&lines, Durability::Synced)
}

/// Puts the display name where lists find it without reading the journal, whose record is what counts: a list
/// that shows the first message instead does no harm.
fn keep_title(dir: &Path, title: &str) {
    if let Err(e) = private::replace(&dir.join(TITLE), title.as_bytes()) {
        tracing::warn!("the display name could not be kept for lists: {}", crate::base::chain(&e));
    }
}

/// Whether this program may write to a journal of this format.
fn known(header: &Header) -> Result<(), Error> {
    if header.v > VERSION { Err(Error::Newer { v: header.v }) } else { Ok(()) }
}

/// The directory of a session that is there, checked to be private all the way down.
pub(super) fn there(dirs: &Dirs, id: &SessionId) -> Result<PathBuf, Error> {
    let dir = dirs.session(id);
    let text = id.as_str();
    if text.is_empty() || file_name(text) != text || !dir.join(JOURNAL).exists() {
        return Err(Error::NoSession { id: text.to_owned() });
    }
    private::check_dir(dirs.state())?;
    private::check_dir(&dirs.sessions())?;
    private::check_dir(&dir)?;
    Ok(dir)
}

/// Looks at a directory and asks the law whether a session may run there.
pub fn runs_in(named: Option<&Path>) -> Result<PathBuf, Refusal> {
    let seen = match named.map(fs::metadata) {
        Some(Ok(meta)) if meta.is_dir() => Seen::Directory,
        Some(Ok(_)) => Seen::Other,
        Some(Err(e)) if e.kind() == io::ErrorKind::NotFound => Seen::Nothing,
        Some(Err(e)) if e.kind() == io::ErrorKind::NotADirectory => Seen::Nothing,
        Some(Err(_)) => Seen::Closed,
        None => Seen::Nothing,
    };
    cwd(named, seen).map(Path::to_owned)
}

/// A new session's id.
pub fn mint() -> SessionId {
    SessionId::new(Uuid::now_v7().to_string())
}

/// The time by the machine's clock.
pub fn now() -> Millis {
    Millis(u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default())
}

/// An id as a file's name: itself where it can be one, else its hash.
fn file_name(id: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if !id.is_empty() && id.len() <= 64 && id.bytes().all(plain) {
        id.to_owned()
    } else {
        blobs::hash(id.as_bytes())
    }
}

fn one_line(title: &str) -> String {
    title
        .split(|c: char| c.is_control() || c.is_whitespace())
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
