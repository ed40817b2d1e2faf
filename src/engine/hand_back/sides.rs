//! One path with its three versions: base and child as they were kept, the parent's as it is now.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use super::{Place, Why, planned};
use crate::api::hand_back::{Sided, Sides, Stamp};
use crate::law::hand_back::tree::TreePath;
use crate::workspace::child::Room;
use crate::workspace::child::hand_back::Record;
use crate::workspace::child::look::{BYTES_MAX, Looked};
use crate::workspace::stamp::stamp;

impl Place {
    /// All that the viewer needs of a path.
    pub(super) fn sides(&self, child: &str, path: &TreePath) -> Result<Sides, Why> {
        let (room, record) = self.record(child)?;
        self.sides_of(child, &room, &record, path)
    }

    pub(super) fn sides_of(
        &self,
        child: &str,
        room: &Room,
        record: &Record,
        path: &TreePath,
    ) -> Result<Sides, Why> {
        let planned = planned(record, child, path)?;
        let stamp = self.stamp(path);
        let base = room.look_kept(&planned.base, BYTES_MAX)?;
        let parent = room.look(&self.cwd, path, BYTES_MAX)?;
        let theirs = room.look_kept(&planned.child, BYTES_MAX)?;
        let of = [base.version.clone(), parent.version.clone(), theirs.version.clone()];
        let draft = room.draft(path, &[base.version.clone(), theirs.version.clone()])?;
        let can_propose = self.can_propose([&base, &parent, &theirs]);
        let earlier = self.earlier.find(&of.map(|version| version.tracked().clone()))?;
        Ok(Sides {
            child: child.to_owned(),
            path: path.clone(),
            verdict: planned.verdict,
            base: sided(base),
            parent: sided(parent),
            stamp,
            theirs: sided(theirs),
            parent_then: record.parents(planned).clone(),
            draft: draft.map(|draft| draft.decided),
            earlier: earlier.map(|found| Arc::from(found.bytes)),
            can_propose,
        })
    }
}

impl Place {
    /// The stamp of what is at a path in the parent's directory. It is only asked whether it is another one.
    pub(super) fn stamp(&self, path: &TreePath) -> Stamp {
        stamp(self.cwd.join(OsStr::from_bytes(path.as_bytes())).symlink_metadata())
    }
}

/// A version as the viewer gets it.
pub fn sided(looked: Looked) -> Sided {
    Sided { version: looked.version, bytes: looked.bytes.map(Arc::from), bytes_len: looked.len }
}
