//! A session that begins as a branch of another: its entries are written record by record, the bytes beside the
//! journal are linked or copied. It stands whole or not at all.
//!
//! Not here: which branch, and how its end is made one that says nothing false (the engine's).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::blobs::Blobs;
use super::dirs::Dirs;
use super::error::Error;
use super::private;
use super::session::{Session, now};
use crate::api::entry::{Entry, EntryBody};
use crate::base::SessionId;

/// What the new session begins with.
#[derive(Debug)]
pub struct Branch<'a> {
    /// Its directory.
    pub cwd: &'a Path,
    /// Its display name.
    pub title: &'a str,
    /// Its entries, from the root.
    pub entries: &'a [Arc<Entry>],
    /// What follows them, in order.
    pub ends: Vec<EntryBody>,
    /// The blobs of the session that they are from.
    pub blobs: &'a Blobs,
}

/// Makes the session, durable when it returns, and leaves it closed. On an error nothing is left. Blocking.
pub fn fork(dirs: &Dirs, branch: Branch<'_>) -> Result<SessionId, Error> {
    let mut session = Session::create(dirs, branch.cwd)?;
    dirs.make()?;
    let dir = session.dir();
    private::dir(&dir)?;
    match fill(&mut session, branch) {
        Ok(()) => Ok(session.id().clone()),
        Err(error) => {
            let _ = fs::remove_dir_all(&dir);
            Err(error)
        }
    }
}

fn fill(session: &mut Session, branch: Branch<'_>) -> Result<(), Error> {
    session.rename(branch.title)?;
    let blobs = session.blobs();
    for name in branch.entries.iter().flat_map(|entry| named(&entry.body)).collect::<BTreeSet<_>>() {
        copy(branch.blobs, &blobs, name)?;
    }
    for entry in branch.entries {
        session.write(entry)?;
    }
    let mut parent = branch.entries.last().map(|entry| entry.id.clone());
    for body in branch.ends {
        let entry = Entry { id: session.mint_entry(), parent, at: now(), body };
        session.write(&entry)?;
        parent = Some(entry.id);
    }
    session.begin()
}

/// The blobs that an entry names.
fn named(body: &EntryBody) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    match body {
        EntryBody::User(message) => out.extend(message.images.iter().filter_map(|i| i.blob.as_deref())),
        EntryBody::CallSettle(settle) => {
            out.extend(settle.images.iter().filter_map(|image| image.blob.as_deref()));
            out.extend(settle.touched.iter().filter_map(|touched| touched.before.as_deref()));
        }
        EntryBody::Restore(restore) => {
            out.extend(restore.touched.iter().filter_map(|touched| touched.before.as_deref()));
        }
        EntryBody::Answer(_)
        | EntryBody::CallStart(_)
        | EntryBody::Notice(_)
        | EntryBody::Compaction(_)
        | EntryBody::TurnEnd(_)
        | EntryBody::Setting(_)
        | EntryBody::JobEnd(_)
        | EntryBody::AgentEnd(_)
        | EntryBody::Unknown(_) => {}
    }
    out
}

/// One blob: a second name for the same file, for it is never written again; else a copy. One that is gone stays so.
fn copy(from: &Blobs, to: &Blobs, name: &str) -> Result<(), Error> {
    if !from.path(name).is_file() || name.contains('/') {
        return Ok(());
    }
    private::dir(to.dir())?;
    if fs::hard_link(from.path(name), to.path(name)).is_ok() {
        return Ok(());
    }
    let bytes = from.load(name)?;
    to.keep(&bytes).map(drop)
}
