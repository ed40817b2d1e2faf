//! What is asked of the one path of a merge, answered as a session answers it of a hand-back: base, ours as the
//! parent's, theirs as the child's.
//!
//! The result may have been anything before (git puts its own markers there). It is written over only while it is as it
//! was when it was looked at, and can be had back until the merge is closed.

use std::ffi::OsString;
use std::path::Path;

use super::Files;
use super::files::{look, put, remove, version, whole};
use super::proposals::Wanted;
use crate::api::event::Reply;
use crate::api::hand_back::{ByHand, Draft, HandBack, HandBackAsk, HandBackPath, HandBackReply, Sides, Take};
use crate::engine::hand_back::sided;
use crate::law::hand_back::merge1::{Clash, Verdict};
use crate::law::hand_back::tree::{TreePath, Version};
use crate::store::session::now;
use crate::workspace::child::look::Looked;
use crate::workspace::merge_program::MergeProgram;
use crate::workspace::stamp::stamp;

/// What theirs is called.
const THEIRS: &str = "remote";

/// One merge.
pub struct Desk {
    files: Files,
    path: TreePath,
    /// What the result was when it was looked at last.
    known: Version,
    /// What it was before each write that stands.
    before: Vec<Option<Vec<u8>>>,
    /// What was decided and not written, of which base and theirs.
    draft: Option<([Version; 2], Draft)>,
    program: Option<MergeProgram>,
}

impl Desk {
    /// Looks at all four; or in words which of them cannot be read.
    pub fn open(files: &Files, path: OsString) -> Result<Desk, String> {
        for file in [&files.base, &files.local, &files.remote] {
            look(file)?;
        }
        if files.merged.is_dir() {
            return Err(format!("{} is a directory, and the result is a file", files.merged.display()));
        }
        let dir = files.merged.parent().filter(|dir| !dir.as_os_str().is_empty());
        if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
            return Err(format!("{} is no directory: make it, or name another result", dir.display()));
        }
        Ok(Desk {
            path: shown(files.shown()),
            known: version(&files.merged)?,
            before: Vec::new(),
            draft: None,
            program: MergeProgram::find(&path),
            files: files.clone(),
        })
    }

    /// Whether the result is written.
    pub fn is_written(&self) -> bool {
        !self.before.is_empty()
    }

    /// 1 until it is written.
    pub fn open_conflicts(&self) -> usize {
        usize::from(!self.is_written())
    }

    /// Answers a question. Blocking.
    pub fn answer(&mut self, ask: HandBackAsk) -> Reply {
        let answered = match ask {
            HandBackAsk::List => Ok(HandBackReply::List(vec![self.stands()])),
            HandBackAsk::Sides { .. } => self.sides().map(|sides| HandBackReply::Sides(Box::new(sides))),
            HandBackAsk::Stamp { .. } => Ok(HandBackReply::Stamp(stamp(self.files.local.metadata()))),
            HandBackAsk::Write { seen, take, .. } => self.write(&seen, take),
            HandBackAsk::Undo { .. } => self.undo(),
            HandBackAsk::KeepDraft { of, draft, .. } => {
                self.draft = draft.map(|draft| (*of, *draft));
                Ok(HandBackReply::Kept)
            }
            // whoever takes the questions does these
            HandBackAsk::Propose { .. } | HandBackAsk::StopProposal { .. } => Ok(HandBackReply::Stopped),
        };
        answered.map_or_else(Reply::Failed, Reply::HandBack)
    }

    fn stands(&self) -> HandBack {
        let by_hand = if self.is_written() { ByHand::Resolved } else { ByHand::Nothing };
        let path = HandBackPath {
            path: self.path.clone(),
            verdict: Verdict::Conflict(Clash::Content),
            by_hand,
            draft: self.draft.is_some(),
        };
        HandBack {
            child: THEIRS.into(),
            at: now(),
            paths: vec![path],
            renames: Vec::new(),
            left_out: Vec::new(),
            kept: Vec::new(),
        }
    }

    fn sides(&self) -> Result<Sides, String> {
        let stamp = stamp(self.files.local.metadata());
        let [base, parent, theirs] =
            [look(&self.files.base)?, look(&self.files.local)?, look(&self.files.remote)?];
        let of = [base.version.clone(), theirs.version.clone()];
        let can_propose =
            self.program.is_some() && [&base, &parent, &theirs].into_iter().all(Looked::is_text);
        Ok(Sides {
            child: THEIRS.into(),
            path: self.path.clone(),
            verdict: Verdict::Conflict(Clash::Content),
            parent_then: parent.version.clone(),
            base: sided(base),
            parent: sided(parent),
            stamp,
            theirs: sided(theirs),
            draft: self.draft.as_ref().filter(|(drafted, _)| *drafted == of).map(|(_, draft)| draft.clone()),
            earlier: None,
            can_propose,
        })
    }

    fn write(&mut self, seen: &Version, take: Take) -> Result<HandBackReply, String> {
        if look(&self.files.local)?.version != *seen {
            return Ok(HandBackReply::Changed(Box::new(self.sides()?)));
        }
        let before = self.unchanged()?;
        let merged = &self.files.merged;
        match take {
            Take::Bytes { bytes, .. } => put(merged, &mut &bytes[..])?,
            Take::Version(version) => {
                let files = [&self.files.local, &self.files.remote, &self.files.base];
                let from =
                    files.into_iter().find(|file| look(file).is_ok_and(|looked| looked.version == version));
                let from = from.ok_or("That version is none of the three, so nothing was written.")?;
                let failed = |error| format!("{} cannot be read: {error}", from.display());
                put(merged, &mut std::fs::File::open(from).map_err(failed)?)?;
            }
        }
        self.known = version(&self.files.merged)?;
        self.before.push(before);
        self.draft = None;
        Ok(HandBackReply::Written(Box::new(self.stands())))
    }

    fn undo(&mut self) -> Result<HandBackReply, String> {
        if self.before.is_empty() {
            return Err("Nothing was written that could be taken back.".into());
        }
        self.unchanged()?;
        let merged = &self.files.merged;
        match self.before.last().and_then(Option::as_ref) {
            Some(bytes) => put(merged, &mut &bytes[..])?,
            None => remove(merged)?,
        }
        self.before.pop();
        self.known = version(&self.files.merged)?;
        Ok(HandBackReply::Written(Box::new(self.stands())))
    }

    /// What the result holds, if that is what was looked at; else it is told once, and is what is known from then on.
    fn unchanged(&mut self) -> Result<Option<Vec<u8>>, String> {
        let now = version(&self.files.merged)?;
        if now != self.known {
            self.known = now;
            return Err(format!(
                "{} was changed by another program meanwhile, so nothing was written; write again to replace it.",
                self.files.merged.display()
            ));
        }
        whole(&self.files.merged)
    }

    /// What a merge program is asked; in words why none can be.
    pub fn wanted(&self) -> Result<Wanted, String> {
        let program = self.program.clone().ok_or("There is no mergiraf on the PATH to ask.")?;
        let sides = self.sides()?;
        let [Some(base), Some(parent), Some(theirs)] =
            [sides.base.bytes, sides.parent.bytes, sides.theirs.bytes]
        else {
            return Err("These are not three texts of a size that can be merged.".into());
        };
        Ok(Wanted { program, path: self.path.clone(), texts: [base, parent, theirs] })
    }
}

/// A path as it is shown: beneath the current directory, else its name.
fn shown(path: &Path) -> TreePath {
    use std::os::unix::ffi::OsStrExt;
    let beneath = path.strip_prefix("./").unwrap_or(path);
    let name = path.file_name().unwrap_or_default();
    TreePath::new(beneath.as_os_str().as_bytes())
        .or_else(|| TreePath::new(name.as_bytes()))
        .or_else(|| TreePath::new("merged"))
        .unwrap_or_else(|| unreachable!("a plain name is a path of a tree"))
}
