//! Files are put back: the plan made from what the session's tools recorded, its carrying out, and the note that lets
//! a crash in the middle be finished by the next open.
//!
//! The note (`restoring.json` in the session's directory) stands before the first file is touched and goes when the
//! entry that tells of it all is in the journal. Every step can be done again: what is done already is seen by the
//! file's bytes. What is decided is `law::rewind`'s, one file is `tool::put_back`'s, when is `rewind`'s.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::api::entry::{Stayed, Touched};
use crate::base::{EntryId, chain};
use crate::law::rewind::{Decision, Present, Touch, plan};
use crate::store::{Blobs, private};
use crate::tool::put_back::{Look, Wanted, look, put_back, tidy};
use crate::tool::site::Site;

/// The note's name in the session's directory.
pub const NOTE: &str = "restoring.json";

/// One file that is put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The file.
    #[serde(with = "crate::api::path")]
    path: PathBuf,
    /// The hash of the bytes that the plan saw.
    from: Option<String>,
    /// The hash of the bytes that it gets.
    to: Option<String>,
    /// The permission bits that it gets, where known.
    mode: Option<u32>,
    /// Those that the plan saw.
    mode_now: Option<u32>,
    /// Directories above it that were missing.
    missing: u32,
}

/// A directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Directory {
    #[serde(with = "crate::api::path")]
    path: PathBuf,
}

/// What is done with the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Those that are put back, by path.
    steps: Vec<Step>,
    /// Those that stay.
    stayed: Vec<Stayed>,
    /// Directories that the session's tools made.
    made: BTreeSet<Directory>,
}

/// Why files are put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Why {
    /// A rewind to this entry.
    Rewind {
        /// The entry; none: before the first.
        to: Option<EntryId>,
    },
    /// This restoring is taken back.
    Undo {
        /// Its entry.
        of: EntryId,
    },
}

/// What a crash must not make forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// A name that no other restoring has: prepared files bear it.
    id: String,
    /// The newest entry of the journal when the note was written.
    pub after: Option<EntryId>,
    /// The head then.
    pub head: Option<EntryId>,
    /// Why.
    pub why: Why,
    /// What is done.
    pub plan: Plan,
}

/// What was done with the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Those that were put back, with what stood there before.
    pub touched: Vec<Touched>,
    /// Those that stayed.
    pub stayed: Vec<Stayed>,
}

impl Done {
    /// The same with the paths that an agent sees who works in a copy.
    pub fn seen_by(mut self, site: &Site) -> Done {
        self.touched.iter_mut().for_each(|touched| touched.path = site.seen(&touched.path));
        self.stayed.iter_mut().for_each(|stayed| stayed.path = site.seen(&stayed.path));
        self
    }
}

impl Plan {
    /// Looks at every file that was touched, and decides by the law. Blocking.
    pub fn of(touches: &[Touched], blobs: &Blobs) -> Plan {
        let mut looks: BTreeMap<PathBuf, Look> = BTreeMap::new();
        let touched: Vec<Touch> = touches.iter().map(touch).collect();
        let mut seen = |path: &Path| {
            let look = look(path);
            let present = look.present.clone();
            looks.insert(path.to_owned(), look);
            present
        };
        let decided = plan(&touched, &mut seen, |hash| blobs.path(hash).is_file());
        let mut out = Plan::default();
        for (path, decision) in decided {
            match decision {
                Decision::AlreadySo => {}
                Decision::Conflict(why) => out.stayed.push(Stayed { path, why: why.words() }),
                Decision::Restore { to, mode } => {
                    let Some(Look { present, mode: mode_now, missing }) = looks.remove(&path) else {
                        continue;
                    };
                    out.steps.push(Step { path, from: hash(present), to, mode, mode_now, missing });
                }
            }
        }
        let made = touches.iter().flat_map(|t| t.path.ancestors().skip(1).take(t.made as usize));
        out.made = made.map(|dir| Directory { path: dir.to_owned() }).collect();
        out
    }

    /// Whether no file is put back.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The files that are put back.
    pub fn restores(&self) -> Vec<PathBuf> {
        self.steps.iter().map(|step| step.path.clone()).collect()
    }

    /// The files that stay, and why.
    pub fn stayed(&self) -> &[Stayed] {
        &self.stayed
    }

    /// A change since is nobody's in particular where the session's own later work counts as one.
    pub fn by_nobody(mut self) -> Plan {
        for stayed in &mut self.stayed {
            stayed.why = stayed.why.replace(" by someone else", "");
        }
        self
    }
}

fn touch(touched: &Touched) -> Touch {
    let Touched { path, before, after, mode, .. } = touched.clone();
    Touch { path, before, after, mode }
}

fn hash(present: Present) -> Option<String> {
    match present {
        Present::File(hash) => Some(hash),
        Present::Gone | Present::NotOurs | Present::Unreadable(_) => None,
    }
}

impl Note {
    /// A note that is written nowhere yet.
    pub fn new(after: Option<EntryId>, head: Option<EntryId>, why: Why, plan: Plan) -> Note {
        Note { id: Uuid::now_v7().simple().to_string(), after, head, why, plan }
    }

    /// The note of a session's directory; none: there is none.
    pub fn read(dir: &Path) -> Result<Option<Note>, String> {
        let path = dir.join(NOTE);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = private::read(&path).map_err(|error| chain(&error))?;
        let note = serde_json::from_slice(&bytes);
        note.map(Some).map_err(|error| format!("{} could not be understood: {error}", path.display()))
    }

    /// Writes it, durable when it returns.
    pub fn write(&self, dir: &Path) -> Result<(), String> {
        let text = serde_json::to_string(self).map_err(|error| error.to_string())?;
        private::replace(&dir.join(NOTE), text.as_bytes()).map_err(|error| chain(&error))
    }

    /// Takes the note of a session's directory away. One that stays is seen to be done at the next open.
    pub fn remove(dir: &Path) {
        let _ = std::fs::remove_file(dir.join(NOTE));
    }

    /// Puts the files back, each looked at once more just before. `again`: a crash came before, so some may be done
    /// already. Blocking.
    pub fn carry_out(&self, blobs: &Blobs, cwd: &Path, again: bool) -> Done {
        let mut done = Done { touched: Vec::new(), stayed: self.plan.stayed.clone() };
        for (n, step) in self.plan.steps.iter().enumerate() {
            let aside = format!(".windlass-{}-{n}", self.id);
            match self.one(step, &aside, blobs, cwd, again) {
                Ok(Some(made)) => done.touched.push(Touched {
                    path: step.path.clone(),
                    before: step.from.clone(),
                    after: step.to.clone(),
                    mode: step.mode_now,
                    made,
                }),
                Ok(None) => {}
                Err(why) => done.stayed.push(Stayed { path: step.path.clone(), why }),
            }
        }
        for step in &done.touched {
            if step.after.is_none() {
                self.remove_made(&step.path);
            }
        }
        done
    }

    /// One file: how many directories were made for it; none: it is so by somebody else's doing.
    fn one(
        &self,
        step: &Step,
        aside: &str,
        blobs: &Blobs,
        cwd: &Path,
        again: bool,
    ) -> Result<Option<u32>, String> {
        let (from, to) = (step.from.as_deref(), step.to.as_deref());
        let wanted = Wanted { path: &step.path, cwd, from, to: None, mode: step.mode, aside };
        if again && let Some(why) = tidy(wanted, to) {
            return Err(why);
        }
        let present = look(&step.path).present;
        let is_so = match (&present, to) {
            (Present::File(now), Some(to)) => now == to,
            (Present::Gone, None) => true,
            _ => false,
        };
        if is_so {
            let ours = again && from.is_none_or(|from| blobs.path(from).is_file());
            return Ok(ours.then_some(step.missing));
        }
        let bytes = to.map(|hash| blobs.load(hash)).transpose().map_err(|error| chain(&error))?;
        let wanted = Wanted { to: bytes.as_deref(), ..wanted };
        let keep = |bytes: &[u8]| {
            let kept = blobs.keep(bytes).map(drop);
            kept.map_err(|error| format!("stays: its bytes could not be kept first ({})", chain(&error)))
        };
        put_back(wanted, keep).map(Some)
    }

    /// Directories above a removed file that were made by the session's tools go, once they are empty.
    fn remove_made(&self, path: &Path) {
        for dir in path.ancestors().skip(1) {
            if !self.plan.made.contains(&Directory { path: dir.to_owned() }) {
                return;
            }
            match std::fs::remove_dir(dir) {
                Ok(()) => {}
                // another file took it along, or the run before a crash did
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_cut_off_between_two_directories_removes_the_other() {
        let tmp = tempfile::tempdir().unwrap();
        let cwd = tmp.path().canonicalize().unwrap();
        let blobs = Blobs::at(cwd.join("blobs"));
        let from = blobs.keep(b"new").unwrap();
        let path = cwd.join("made/in/f");
        let step =
            Step { path: path.clone(), from: Some(from), to: None, mode: None, mode_now: None, missing: 0 };
        let made = [cwd.join("made"), cwd.join("made/in")].map(|path| Directory { path });
        let plan = Plan { steps: vec![step], stayed: Vec::new(), made: made.into() };
        let note = Note::new(None, None, Why::Rewind { to: None }, plan);
        // the file and the inner directory went before the crash
        std::fs::create_dir(cwd.join("made")).unwrap();
        let done = note.carry_out(&blobs, &cwd, true);
        assert_eq!(done.touched.iter().map(|touched| &touched.path).collect::<Vec<_>>(), [&path]);
        assert!(!cwd.join("made").exists());
        // what somebody put there stays, with its directory
        std::fs::create_dir_all(cwd.join("made/in")).unwrap();
        std::fs::write(cwd.join("made/theirs"), "x").unwrap();
        note.carry_out(&blobs, &cwd, true);
        assert!(cwd.join("made/theirs").exists() && !cwd.join("made/in").exists());
    }
}
