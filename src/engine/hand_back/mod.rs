//! What came back from the children of a session, served to the screen: the paths, their versions, and what a person
//! writes of them.
//!
//! In reading order: `session` (the owner's part: questions go to blocking threads, open conflicts are counted),
//! `order` (drafts in the order of the questions), `list`, `sides`, `propose` (a merge program's merge), `at_work` (those
//! programs, to be ended), `write`, `turn` (one writer at a time in a directory). The record of a resolution is the
//! workspace's (`workspace::child`), so the conversation has no entry of it, and it is not taken back by a rewind.
//!
//! Not here: the hand-back itself and the stopping of a child before it; what to choose (`law::merge`, and the person).

mod at_work;
mod list;
mod order;
mod propose;
mod session;
mod sides;
mod turn;
mod write;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::api::event::Reply;
use crate::api::hand_back::{HandBackAsk, HandBackReply};
use crate::base::chain;
use crate::law::hand_back::plan::Planned;
use crate::law::hand_back::tree::TreePath;
use crate::workspace::child::Room;
use crate::workspace::child::earlier::Earlier;
use crate::workspace::child::error::Error;
use crate::workspace::child::hand_back::Record;
use crate::workspace::child::rooms::rooms;

pub use session::{HandBacks, Looked};
pub use sides::sided;
pub use turn::in_turn;

/// Where the hand-backs of a session are, and where they went.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The workspaces of the session's children.
    rooms: PathBuf,
    /// The resolutions that are remembered.
    earlier: Earlier,
    /// The session's directory.
    cwd: PathBuf,
    /// Where that led when the session was opened.
    real: PathBuf,
    /// Another program holds the session: nothing is written. Who.
    read_only: Option<String>,
    /// Where the person's programs are looked for.
    path: OsString,
    order: Arc<order::Order>,
    at_work: Arc<at_work::AtWork>,
}

/// Why a question has no answer, in words.
struct Why(String);

impl From<Error> for Why {
    fn from(error: Error) -> Why {
        Why(chain(&error))
    }
}

impl Place {
    /// Answers the `number`th question. Blocking.
    fn answer(&self, number: u64, ask: HandBackAsk) -> Reply {
        let answered = match ask {
            HandBackAsk::List => self.list().map(HandBackReply::List),
            HandBackAsk::Sides { child, path } => {
                self.sides(&child, &path).map(|sides| HandBackReply::Sides(Box::new(sides)))
            }
            HandBackAsk::Stamp { path, .. } => Ok(HandBackReply::Stamp(self.stamp(&path))),
            HandBackAsk::Write { child, path, seen, take, choices } => {
                let write = || self.write(&child, &path, &seen, take, choices);
                self.may_write().and_then(|()| self.order.anyway((&child, &path), number, write))
            }
            HandBackAsk::Undo { child, path } => self.may_write().and_then(|()| self.undo(&child, &path)),
            HandBackAsk::KeepDraft { child, path, of, draft } => {
                let decided = draft.map(|draft| *draft);
                let kept = || self.keep_draft(&child, path.clone(), *of, decided);
                let kept = || self.order.next((&child, &path), number, kept);
                self.may_write().and_then(|()| kept().unwrap_or(Ok(HandBackReply::Kept)))
            }
            HandBackAsk::Propose { child, path } => {
                let made = self.propose(&child, &path, &self.at_work.stop_of(number));
                self.at_work.end(number);
                made.map(|made| HandBackReply::Proposal(made.map(Arc::from)))
            }
            // whoever takes the questions does it
            HandBackAsk::StopProposal { .. } => Ok(HandBackReply::Stopped),
        };
        match answered {
            Ok(reply) => Reply::HandBack(reply),
            Err(Why(why)) => Reply::Failed(why),
        }
    }

    /// Whether anything may be written: the session is ours, and its directory is where it was.
    fn may_write(&self) -> Result<(), Why> {
        if let Some(holder) = &self.read_only {
            return Err(Why(format!(
                "This view is read-only: {holder} has the session open. Resolve it there, or close it there first."
            )));
        }
        super::calls::in_place(&self.cwd, &self.real).map_err(|why| {
            Why(format!("{why}; nothing was written. Bring it back, or open the session anew."))
        })
    }

    /// A child's workspace. Only names that are listed count, so that no name leads elsewhere.
    fn room(&self, child: &str) -> Result<Room, Why> {
        let room = rooms(&self.rooms)?.into_iter().find(|(name, _)| name == child);
        room.map(|(_, room)| room).ok_or_else(|| {
            Why(format!("There is no workspace of {child} any more; what it changed is as it was left."))
        })
    }

    /// A child's workspace with the record of its hand-back.
    fn record(&self, child: &str) -> Result<(Room, Record), Why> {
        let room = self.room(child)?;
        match room.read_record()? {
            Some(record) => Ok((room, record)),
            None => Err(Why(format!("{child} has not handed anything back yet."))),
        }
    }
}

/// The path of a record.
fn planned<'a>(record: &'a Record, child: &str, path: &TreePath) -> Result<&'a Planned, Why> {
    record
        .path(path)
        .ok_or_else(|| Why(format!("{child} did not change {path}, so there is nothing to resolve.")))
}
