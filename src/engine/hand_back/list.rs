//! The hand-backs of a session as a list, and how many of their conflicts are open.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::{Place, Why};
use crate::api::hand_back::{ByHand, HandBack, HandBackPath};
use crate::base::{Millis, chain};
use crate::law::hand_back::merge1::Verdict;
use crate::law::hand_back::plan::Planned;
use crate::law::hand_back::renames::Rename;
use crate::law::hand_back::tree::{TreePath, Version};
use crate::workspace::child::Room;
use crate::workspace::child::draft::Draft;
use crate::workspace::child::hand_back::Record;
use crate::workspace::child::resolve::Resolved;
use crate::workspace::child::rooms::rooms;

impl Place {
    /// All hand-backs that ended, newest first. One that cannot be read is told of by `count` and hides no other, but
    /// for an empty list, which says why.
    pub(super) fn list(&self) -> Result<Vec<HandBack>, Why> {
        let (mut all, mut damaged) = (Vec::new(), None);
        for (child, room) in rooms(&self.rooms)? {
            let read = room.read_record().map_err(Why::from);
            match read
                .and_then(|record| record.map(|record| self.hand_back(child, &room, record)).transpose())
            {
                Ok(back) => all.extend(back),
                Err(why) => damaged = damaged.or(Some(why)),
            }
        }
        all.sort_by_key(|back| std::cmp::Reverse(back.at));
        match damaged {
            Some(why) if all.is_empty() => Err(why),
            Some(_) | None => Ok(all),
        }
    }

    /// One hand-back as it stands now.
    pub(super) fn hand_back(&self, child: String, room: &Room, record: Record) -> Result<HandBack, Why> {
        let standing = Standing { last: room.last_resolutions()?, drafts: room.all_drafts()? };
        let mut paths = Vec::new();
        for planned in &record.paths {
            let parent = record.parents(planned).clone();
            paths.push(self.path(room, planned.clone(), parent, &standing));
        }
        let renames = record.renames.into_iter();
        Ok(HandBack {
            child,
            at: time_of(&room.record()),
            paths,
            renames: renames.map(|(from, to, alike)| Rename { from, to, alike }).collect(),
            left_out: record.left_out,
            kept: record.displaced.into_iter().map(|(path, _)| path).collect(),
        })
    }

    /// `parent`: what the directory had at the path.
    fn path(&self, room: &Room, planned: Planned, parent: Version, standing: &Standing) -> HandBackPath {
        let Planned { path, base, child, verdict, .. } = planned;
        let conflict = matches!(verdict, Verdict::Conflict(_));
        let last = standing.last.get(&path);
        let drafted = standing.drafts.iter().find(|draft| draft.path == path);
        // what stays as the child left it may be changed at any time: that is the person's work and not looked for
        let now = match conflict && last.is_none() {
            // why it cannot be read is told when it is looked at
            true => room.parents(&self.cwd, &path).ok(),
            false => None,
        };
        let by_hand = match (conflict, last, &now) {
            (true, Some(_), _) => ByHand::Resolved,
            (false, Some(last), _) if last.after != *child.tracked() => ByHand::Reverted,
            (true, None, Some(now)) if *now.tracked() != parent => ByHand::Outside,
            (_, _, _) => ByHand::Nothing,
        };
        let draft = drafted.is_some_and(|draft| draft.of == [base, child]);
        HandBackPath { path, verdict, by_hand, draft }
    }

    /// How many conflicts of each child are open, where any is, and what could not be read.
    pub(super) fn count(&self) -> (BTreeMap<String, usize>, Vec<String>) {
        let (mut open, mut troubles) = (BTreeMap::new(), Vec::new());
        match rooms(&self.rooms) {
            Ok(rooms) => {
                for (child, room) in rooms {
                    let standing = room.standing().and_then(|standing| Ok((room.all_drafts()?, standing).1));
                    match standing {
                        Ok(standing) if standing.open.is_empty() => {}
                        Ok(standing) => drop(open.insert(child, standing.open.len())),
                        Err(error) => {
                            troubles
                                .push(format!("The hand-back of {child} cannot be read: {}.", chain(&error)));
                        }
                    }
                }
            }
            Err(error) => troubles.push(format!("The hand-backs cannot be listed: {}.", chain(&error))),
        }
        (open, troubles)
    }

    /// Ends the resolutions that a crash cut; what could not be.
    pub(super) fn finish(&self) -> Vec<String> {
        let mut troubles = Vec::new();
        if self.may_write().is_err() {
            return troubles;
        }
        for (child, room) in rooms(&self.rooms).unwrap_or_default() {
            if !matches!(room.read_record(), Ok(Some(_))) {
                continue;
            }
            let finished = self.in_turn(|| room.finish_resolutions(&self.cwd));
            troubles.extend(finished.unwrap_or_else(|error| vec![error]).iter().map(|error| {
                format!("A resolution of {child} was cut and could not be ended: {}.", chain(error))
            }));
        }
        troubles
    }
}

/// What a person did in a workspace, as far as it stands.
struct Standing {
    last: BTreeMap<TreePath, Resolved>,
    drafts: Vec<Draft>,
}

/// When a hand-back ended, or rose: its record is written then, and never again.
fn time_of(record: &Path) -> Millis {
    let changed = record.metadata().and_then(|meta| meta.modified());
    let since = changed.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Millis(since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)))
}

/// Whether two versions are the same as far as files and links go.
pub(super) fn same(one: &Version, other: &Version) -> bool {
    one.tracked() == other.tracked()
}
