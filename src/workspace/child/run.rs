//! A plan carried out on the parent's directory, so that it can be cut anywhere and run again.
//!
//! The records of a run are in a directory of its own: `plan.json` (with the id that is in the names of prepared
//! files), `prepared.json` (where each of them is), `end.json`, `clean`. Each is in place, synced, before what follows
//! it begins; `law::hand_back::carry` decides from them and from what is on the disk. Keeps `handback_crash_safe` and
//! `handback_idempotent`.

mod clean;
mod prepare;
mod steps;

pub(super) use prepare::umask;

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::beneath::Beneath;
use super::error::Error;
use super::versions::Versions;
use crate::base::chain;
use crate::law::hand_back::carry::{Recorded, Stage, stage};
use crate::law::hand_back::merge1::{Clash, Verdict};
use crate::law::hand_back::plan::{Plan, Way};
use crate::law::hand_back::tree::{TreePath, Version};
use crate::store::private;

/// A run: its records, and what it works on.
pub(super) struct Run<'a> {
    /// Where its records are.
    pub dir: PathBuf,
    /// The parent's directory.
    pub parent: &'a Beneath,
    /// Kept bytes: making the plan keeps those that it speaks of, and they are durable when all is prepared.
    pub versions: &'a Versions,
    /// Whether the child has a directory at a path: such a one is not removed when it is empty.
    pub keeps_dir: &'a (dyn Fn(&TreePath) -> bool + Sync),
}

/// What is recorded first.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Planned {
    /// In the names of all prepared files.
    pub id: String,
    /// What is done.
    pub plan: Plan,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ended {
    /// What became of each path of the plan, in its order.
    pub verdicts: Vec<Verdict>,
    /// What somebody saved and what is kept of it, by the place of its path in the plan.
    pub displaced: Vec<(usize, Version)>,
}

/// Where what is prepared for a path is: a directory beneath the parent's, none for the top.
type Beside = Option<TreePath>;

/// What preparing came to.
enum Prepared {
    /// All is there: where, in the order of the steps.
    Whole(Vec<Beside>),
    /// The system refused these paths of the plan.
    Refused(Vec<usize>),
}

/// A step of a run that is under way.
struct Step<'a> {
    at: usize,
    way: Way,
    path: &'a TreePath,
    parent: &'a Version,
    child: &'a Version,
    mode: Option<u32>,
    beside: Beside,
    name: String,
}

impl Run<'_> {
    /// Runs to its end, cleaned up. `plan` is asked only when nothing is recorded yet.
    pub fn finish(&self, plan: impl FnOnce() -> Result<Plan, Error>) -> Result<(Plan, Ended), Error> {
        private::dir(&self.dir)?;
        private::sweep(&self.dir);
        let (mut plan, mut made) = (Some(plan), None);
        loop {
            match stage(self.recorded()) {
                Stage::Plan => {
                    let Some(plan) = plan.take() else { continue };
                    let planned = Planned { id: Uuid::now_v7().simple().to_string(), plan: plan()? };
                    self.write("plan.json", &planned)?;
                    made = Some(planned);
                }
                Stage::Prepare => {
                    let Some(planned) = made.take() else {
                        self.forget_plan()?;
                        continue;
                    };
                    match self.prepare_recorded(planned) {
                        Ok(another) => made = another,
                        Err(error) => {
                            self.give_room_back();
                            return Err(error);
                        }
                    }
                }
                Stage::CarryOut => {
                    let (planned, besides) = (self.read("plan.json")?, self.read("prepared.json")?);
                    self.write("end.json", &self.carry_out(&planned, besides)?)?;
                }
                Stage::CleanUp => {
                    let (planned, besides) = (self.read("plan.json")?, self.read("prepared.json")?);
                    self.clean_up(&planned, besides, self.read("end.json")?)?;
                    self.write("clean", &())?;
                }
                Stage::Rest => {
                    let planned: Planned = self.read("plan.json")?;
                    return Ok((planned.plan, self.read("end.json")?));
                }
            }
        }
    }

    /// Prepares a plan, and records that it is. What the system refuses makes another plan of it, for nothing was moved yet.
    fn prepare_recorded(&self, mut planned: Planned) -> Result<Option<Planned>, Error> {
        match self.prepare(&planned)? {
            Prepared::Whole(besides) => {
                self.write("prepared.json", &besides)?;
                Ok(None)
            }
            Prepared::Refused(refused) => {
                for at in refused {
                    planned.plan.paths[at].verdict = Verdict::Conflict(Clash::Refused);
                }
                self.write("plan.json", &planned)?;
                Ok(Some(planned))
            }
        }
    }

    /// After preparing failed, for want of room as a rule: what was prepared goes. Where it cannot, the plan stays, and
    /// who runs it again or drops it removes that.
    fn give_room_back(&self) {
        if self.recorded() == Recorded::Plan
            && let Err(error) = self.forget_plan()
        {
            tracing::warn!("what was prepared for a hand-back stays for now: {}", chain(&error));
        }
    }

    /// Forgets a plan that an earlier run made and of which nothing was moved: the versions that it speaks of may not be kept.
    fn forget_plan(&self) -> Result<(), Error> {
        let planned: Planned = self.read("plan.json")?;
        self.wipe(&planned)?;
        let above = |path: &TreePath| path.all_above().map(Some).chain([None]).collect::<Vec<Beside>>();
        // the names of what is wiped are in the plan alone
        self.sync_dirs(planned.plan.paths.iter().flat_map(|planned| above(&planned.path)))?;
        let path = self.dir.join("plan.json");
        fs::remove_file(&path).map_err(Error::io("remove", &path))
    }

    /// What was recorded.
    pub fn recorded(&self) -> Recorded {
        let has = |name: &str| self.dir.join(name).exists();
        if has("clean") {
            Recorded::Clean
        } else if has("end.json") {
            Recorded::End
        } else if has("prepared.json") {
            Recorded::Prepared
        } else if has("plan.json") {
            Recorded::Plan
        } else {
            Recorded::Nothing
        }
    }

    fn write(&self, name: &str, record: &impl Serialize) -> Result<(), Error> {
        let path = self.dir.join(name);
        let written =
            serde_json::to_vec(record).map_err(|source| Error::Record { path: path.clone(), source })?;
        Ok(private::replace(&path, &written)?)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        let path = self.dir.join(name);
        serde_json::from_slice(&private::read(&path)?).map_err(|source| Error::Record { path, source })
    }

    /// The steps of a plan, with where each has its prepared file.
    fn steps<'a>(&self, planned: &'a Planned, besides: Vec<Beside>) -> Vec<Step<'a>> {
        let steps = planned.plan.steps().into_iter().zip(besides);
        let step = |((at, way), beside): ((usize, Way), Beside)| {
            let path = &planned.plan.paths[at];
            let name = name_beside(&planned.id, at);
            Step {
                at,
                way,
                path: &path.path,
                parent: path.parent.tracked(),
                child: path.child.tracked(),
                mode: path.mode,
                beside,
                name,
            }
        };
        steps.map(step).collect()
    }

    fn beside(&self, step: &Step<'_>) -> Result<OwnedFd, Error> {
        self.parent.dir(step.beside.as_ref()).map_err(Error::at("open the directory of", step.path))
    }
}

/// The name of what is prepared for a path: no one else's, for the id is random and recorded first.
fn name_beside(id: &str, at: usize) -> String {
    format!(".windlass-{id}-{at}")
}

/// Whether a name is that of something prepared: nobody's file, but of a hand-back that is under way.
pub(super) fn is_prepared(name: &[u8]) -> bool {
    let parts = || {
        let rest = std::str::from_utf8(name).ok()?.strip_prefix(".windlass-")?;
        rest.split_once('-')
    };
    let is_id = |id: &str| id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_number = |at: &str| !at.is_empty() && at.bytes().all(|byte| byte.is_ascii_digit());
    parts().is_some_and(|(id, at)| is_id(id) && is_number(at))
}

/// Reads how a run ended, if it did.
pub(super) fn ended(dir: &Path) -> Option<Ended> {
    serde_json::from_slice(&fs::read(dir.join("end.json")).ok()?).ok()
}
