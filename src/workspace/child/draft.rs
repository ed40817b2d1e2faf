//! What was decided and not written yet: it survives a restart, and goes when the path is merged or dropped.
//!
//! A draft is of a base and a child, which do not change. What of it fits the parent's file is not known here.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Room;
use super::beneath::hash;
use super::error::Error;
use crate::api::hand_back::Draft as Decided;
use crate::base::chain;
use crate::law::hand_back::tree::{TreePath, Version};
use crate::store::private;

/// What was decided of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// Which path.
    pub path: TreePath,
    /// The versions that it is of: base, child.
    pub of: [Version; 2],
    /// What was decided.
    pub decided: Decided,
}

impl Room {
    /// Keeps a draft in place of an earlier one of the path. One at a time: what a crash left of another goes.
    pub fn keep_draft(&self, draft: &Draft) -> Result<(), Error> {
        private::dir(&self.drafts())?;
        private::sweep(&self.drafts());
        let path = self.draft_path(&draft.path)?;
        let written =
            serde_json::to_vec(draft).map_err(|source| Error::Record { path: path.clone(), source })?;
        Ok(private::replace(&path, &written)?)
    }

    /// The draft of a path, if there is one and it is of these versions of base and child. One that is damaged is none.
    pub fn draft(&self, path: &TreePath, of: &[Version; 2]) -> Result<Option<Draft>, Error> {
        let at = self.draft_path(path)?;
        if !at.exists() {
            return Ok(None);
        }
        let draft: Result<Draft, Error> = private::read(&at).map_err(Error::from).and_then(|bytes| {
            serde_json::from_slice(&bytes).map_err(|source| Error::Record { path: at, source })
        });
        match draft {
            Ok(draft) => Ok((draft.path == *path && draft.of == *of).then_some(draft)),
            Err(error) => {
                tracing::warn!("choices of {path} that were kept cannot be read: {}", chain(&error));
                Ok(None)
            }
        }
    }

    /// Every draft that is kept, whether its versions are still those. One that is damaged is none.
    pub fn all_drafts(&self) -> Result<Vec<Draft>, Error> {
        let list = match fs::read_dir(self.drafts()) {
            Ok(list) => list,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("list", &self.drafts())(error)),
        };
        // what a crash left was not kept yet
        let placed = list.flatten().filter(|item| !item.file_name().as_encoded_bytes().starts_with(b"."));
        let kept = placed.filter_map(|item| private::read(&item.path()).ok());
        Ok(kept.filter_map(|bytes| serde_json::from_slice(&bytes).ok()).collect())
    }

    /// Removes the draft of a path; that there is none is fine.
    pub fn drop_draft(&self, path: &TreePath) -> Result<(), Error> {
        let at = self.draft_path(path)?;
        match fs::remove_file(&at) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &at)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn draft_path(&self, path: &TreePath) -> Result<PathBuf, Error> {
        // a path can be longer than a name may be
        let name = hash(&mut path.as_bytes()).map_err(Error::io("name a draft in", &self.drafts()))?;
        Ok(self.drafts().join(name.to_string()))
    }
}
