//! What a person decided is written, taken back, or kept for later. Everything is looked at again before it is written.

use super::list::same;
use super::{Place, Why, planned};
use crate::api::hand_back::{Draft as Decided, HandBackReply, Take};
use crate::base::chain;
use crate::law::hand_back::tree::{Obstacle, TreePath, Version};
use crate::law::merge::resolution::Choice;
use crate::workspace::child::Room;
use crate::workspace::child::draft::Draft;
use crate::workspace::child::error::Error;
use crate::workspace::child::hand_back::Record;
use crate::workspace::child::resolve::{Resolved, Written};

impl Place {
    pub(super) fn write(
        &self,
        child: &str,
        path: &TreePath,
        seen: &Version,
        take: Take,
        choices: Option<Vec<Choice>>,
    ) -> Result<HandBackReply, Why> {
        let (room, record) = self.record(child)?;
        planned(&record, child, path)?;
        fits(path, seen, &take)?;
        let written = match take {
            Take::Version(version) => {
                // what stands there is settled as it is, whoever saved it
                if let Version::File { .. } = version
                    && version.tracked() != seen.tracked()
                    && room.look_kept(&version, 0).is_err()
                {
                    return Err(Why(format!(
                        "That version of {path} is not kept any more, so nothing was written: take another one, or write it by hand."
                    )));
                }
                Written::Version(version)
            }
            Take::Bytes { bytes, executable } => Written::Bytes { bytes: bytes.to_vec(), executable },
        };
        let resolved = self.in_turn(|| room.resolve(&self.cwd, path, seen, written, choices));
        self.written(child, room, record, path, resolved.map(Some))
    }

    pub(super) fn undo(&self, child: &str, path: &TreePath) -> Result<HandBackReply, Why> {
        let (room, record) = self.record(child)?;
        planned(&record, child, path)?;
        let undone = self.in_turn(|| room.undo(&self.cwd, path));
        if let Ok(None) = undone {
            return Err(Why(format!("Nothing was written for {path} that could be taken back.")));
        }
        self.written(child, room, record, path, undone)
    }

    pub(super) fn keep_draft(
        &self,
        child: &str,
        path: TreePath,
        of: [Version; 2],
        decided: Option<Decided>,
    ) -> Result<HandBackReply, Why> {
        let (room, record) = self.record(child)?;
        planned(&record, child, &path)?;
        match decided {
            Some(decided) => room.keep_draft(&Draft { path, of, decided })?,
            None => room.drop_draft(&path)?,
        }
        Ok(HandBackReply::Kept)
    }

    /// How the hand-back stands after a write; what is at the path now where something else came in between.
    fn written(
        &self,
        child: &str,
        room: Room,
        record: Record,
        path: &TreePath,
        done: Result<Option<Resolved>, Error>,
    ) -> Result<HandBackReply, Why> {
        match done {
            Ok(resolved) => {
                let planned = planned(&record, child, path)?;
                // a memory is a convenience: that it cannot be kept does not make what was written fail
                let remembered = resolved.map_or(Ok(()), |resolved| {
                    room.remember(&self.earlier, &planned.base, &planned.child, &resolved)
                });
                if let Err(error) = remembered {
                    tracing::warn!("a resolution is not remembered for later: {}", chain(&error));
                }
                let stands = self.hand_back(child.to_owned(), &room, record)?;
                Ok(HandBackReply::Written(Box::new(stands)))
            }
            Err(Error::ChangedMeanwhile { .. }) => {
                let sides = self.sides_of(child, &room, &record, path)?;
                Ok(HandBackReply::Changed(Box::new(sides)))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether what was chosen can be put where the parent's directory has this.
fn fits(path: &TreePath, seen: &Version, take: &Take) -> Result<(), Why> {
    let puts = match take {
        Take::Version(version) if same(version, seen) => return Ok(()),
        Take::Version(Version::InTheWay(Obstacle::Special)) => {
            return Err(Why(format!(
                "{path} is a socket, a device or a pipe there, which is not put anywhere."
            )));
        }
        Take::Version(Version::Absent | Version::InTheWay(_)) => false,
        Take::Version(Version::File { .. } | Version::Link { .. }) | Take::Bytes { .. } => true,
    };
    let there = match seen {
        Version::InTheWay(Obstacle::Directory) if puts => "a directory is in its place",
        Version::InTheWay(Obstacle::Above) if puts => {
            "a file or a link is in the place of one of its directories"
        }
        Version::InTheWay(Obstacle::Special) => "something that is no file is in its place",
        Version::InTheWay(_) | Version::Absent | Version::File { .. } | Version::Link { .. } => return Ok(()),
    };
    Err(Why(format!("{path} was not written: {there}. Move that away, and look at it again.")))
}
