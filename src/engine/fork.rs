//! A fork: the branch up to an entry becomes a session of its own, and the front end opens it.
//!
//! The session that it is from keeps its jobs, its journal and its files. What the branch names of it (artifacts)
//! stays where it is and is read there. A call or a turn that is open at the fork's end is ended in the fork: it goes
//! on, or went on, in the other session.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::api::entry::{
    CallSettle, CallStart, CallStatus, Details, Entry, EntryBody, Level, TurnEnd, TurnStatus,
};
use crate::api::event::Event;
use crate::base::{EntryId, JobId, SessionId, chain};
use crate::store::tree::Tree;
use crate::store::{self, Branch, Dirs, private, session::CALLS};

use super::draft::DRAFT;
use super::open::opens_turn;
use super::owner::Owner;

/// Most characters of a fork's name.
const TITLE_MAX: usize = 80;
/// What its name begins with.
const FORK_OF: &str = "fork of ";

impl Owner {
    /// Makes a session of the branch up to an entry (none: with nothing) and tells its name.
    pub(super) fn fork(&mut self, to: Option<&EntryId>, take_back: Option<&EntryId>) {
        if to.is_some_and(|id| self.tree.get(id).is_none()) {
            return self.say(Level::Error, "There is no such entry in this session.".into());
        }
        if !self.flush() || self.tree.entries.is_empty() {
            return self.say(Level::Info, "There is nothing to fork yet.".into());
        }
        let entries = self.tree.path(to);
        let ends = ends(&entries);
        let title = self.fork_title();
        // by the session's directory: in a read-only view the store is another one
        let blobs = store::Blobs::at(self.session_dir.join("blobs"));
        let branch = Branch { cwd: &self.cwd, title: &title, entries: &entries, ends, blobs: &blobs };
        match store::fork(&self.options.dirs, branch) {
            Ok(session) => {
                self.give_draft(&session, take_back);
                self.event(Event::Forked(session));
            }
            Err(error) => {
                let words = format!("The session could not be forked: {}", chain(&error));
                self.say(Level::Error, words);
            }
        }
    }

    fn fork_title(&self) -> String {
        let first = self.tree.entries.iter().find_map(|entry| match &entry.body {
            EntryBody::User(message) => message.text.lines().find(|line| !line.trim().is_empty()),
            _ => None,
        });
        let own = if self.title.is_empty() { first.unwrap_or_default() } else { &self.title };
        let own = own.trim().trim_start_matches(FORK_OF);
        format!("{FORK_OF}{own}").chars().take(TITLE_MAX).collect()
    }

    /// A message that the fork was made before stands in its composer when it is opened.
    fn give_draft(&self, session: &SessionId, message: Option<&EntryId>) {
        if let Some(EntryBody::User(message)) = message.and_then(|id| self.tree.get(id)).map(|e| &e.body) {
            let path = self.options.dirs.session(session).join(DRAFT);
            if let Err(error) = private::replace(&path, message.text.as_bytes()) {
                tracing::warn!("the message was not given to the fork: {}", chain(&error));
            }
        }
    }
}

/// What ends the calls and the turn that are open at the end of a branch.
fn ends(entries: &[Arc<Entry>]) -> Vec<EntryBody> {
    let mut open: Vec<&CallStart> = Vec::new();
    for entry in entries {
        match &entry.body {
            EntryBody::CallStart(start) => open.push(start),
            EntryBody::CallSettle(settle) => open.retain(|start| start.call != settle.call),
            _ => {}
        }
    }
    let mut out: Vec<EntryBody> = open.into_iter().map(cut).collect();
    if entries.iter().rev().find_map(opens_turn).unwrap_or(false) {
        out.push(EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Interrupted, why: None }));
    }
    out
}

fn cut(start: &CallStart) -> EntryBody {
    let words = "This session was forked before the call ended; what came of it is in the other session.";
    EntryBody::CallSettle(CallSettle::new(start.call.clone(), CallStatus::Interrupted, words))
}

/// The highest number of a job that entries name: a fork names jobs of the session that it is from.
pub(super) fn jobs_named(tree: &Tree) -> u32 {
    let named = |entry: &Arc<Entry>| match &entry.body {
        EntryBody::JobEnd(end) => Some(end.job),
        EntryBody::CallSettle(CallSettle { details: Details::Command { job, .. }, .. }) => *job,
        _ => None,
    };
    tree.entries.iter().filter_map(named).map(|JobId(number)| number).max().unwrap_or(0)
}

/// The directories of calls of other sessions that entries name: a fork's artifacts stay where they were.
pub(super) fn origins(tree: &Tree, dirs: &Dirs, own: &Path) -> Vec<PathBuf> {
    let sessions = dirs.sessions();
    let origin = |path: &PathBuf| {
        let session = path.strip_prefix(&sessions).ok()?.components().next()?;
        let Component::Normal(session) = session else { return None };
        let dir = sessions.join(session);
        (dir != own && path.starts_with(dir.join(CALLS))).then(|| dir.join(CALLS))
    };
    let named = |entry: &Arc<Entry>| match &entry.body {
        EntryBody::CallStart(start) => start.spool.as_ref().and_then(origin),
        EntryBody::CallSettle(settle) => settle.artifact.as_ref().and_then(origin),
        _ => None,
    };
    tree.entries.iter().filter_map(named).collect::<BTreeSet<_>>().into_iter().collect()
}
