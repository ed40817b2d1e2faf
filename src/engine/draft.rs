//! What a person typed and what was not delivered yet outlives the program, however it ends: a file
//! beside the journal (or, before a session's first message, one for the directory) holds it, and the
//! next open puts it back into the composer.

use std::path::PathBuf;

use crate::api::event::Event;
use crate::store::{blobs, private};

use super::owner::Owner;

/// The file's name.
pub(super) const DRAFT: &str = "draft";
/// The directory of drafts of sessions that have not begun.
const DRAFTS: &str = "drafts";

impl Owner {
    /// Keeps what is typed and what waits, if it changed.
    pub(super) fn keep_draft(&mut self) {
        if !self.options.drafts || self.read_only.is_some() {
            return;
        }
        let waiting = self.turn.waiting().filter_map(|(id, _)| self.messages.get(&id));
        let texts = waiting.map(|m| &m.text).chain(&self.left_over).chain([&self.draft]);
        let text = texts.filter(|t| !t.trim().is_empty()).cloned().collect::<Vec<_>>().join("\n\n");
        if text == self.draft_kept {
            return;
        }
        let path = self.draft_file();
        let kept = if text.is_empty() {
            std::fs::remove_file(&path).or_else(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Ok(()),
                _ => Err(error.to_string()),
            })
        } else {
            path.parent()
                .map_or(Ok(()), private::dir_all)
                .and_then(|()| private::replace(&path, text.as_bytes()))
                .map_err(|error| crate::base::chain(&error))
        };
        match kept {
            Ok(()) => self.draft_kept = text,
            Err(why) => tracing::warn!("the draft was not kept in {}: {why}", path.display()),
        }
    }

    /// Gives back what an earlier program kept.
    pub(super) fn return_draft(&mut self) {
        if !self.options.drafts || self.read_only.is_some() {
            return;
        }
        let Ok(bytes) = private::read(&self.draft_file()) else { return };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        self.draft.clone_from(&text);
        self.draft_kept.clone_from(&text);
        self.event(Event::TakenBack { text, images: Vec::new() });
    }

    fn draft_file(&self) -> PathBuf {
        if self.store.began() {
            return self.session_dir.join(DRAFT);
        }
        let name = blobs::hash(self.cwd.as_os_str().as_encoded_bytes());
        self.options.dirs.state().join(DRAFTS).join(name)
    }

    /// The session begins: a draft that was kept for its directory is its own from now on.
    pub(super) fn move_draft(&mut self) {
        if self.options.drafts && !self.store.began() {
            // What is not there needs no moving; a draft that stays is offered once more.
            let _ = std::fs::remove_file(self.draft_file());
            self.draft_kept.clear();
        }
    }
}
