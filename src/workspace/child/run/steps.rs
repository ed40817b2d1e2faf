//! Carrying out: each path is looked at, and what the law says is done, until it says that it is done.

use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::Errno;

use super::super::beneath::{is_blocked, name, version_in};
use super::super::error::{Error, is_refusal};
use super::{Beside, Ended, Planned, Run, Step};
use crate::law::hand_back::carry::{Act, Outcome, act, found, refused};
use crate::law::hand_back::merge1::{Clash, Verdict, merge1};
use crate::law::hand_back::plan::{Plan, Way};
use crate::law::hand_back::tree::{TreePath, Version};

/// How often a path is looked at again because somebody else is at it too.
const LOOKS_MAX: usize = 100;

impl Run<'_> {
    /// Carries every step out and syncs; what became of each path.
    pub(super) fn carry_out(&self, planned: &Planned, besides: Vec<Beside>) -> Result<Ended, Error> {
        let paths = &planned.plan.paths;
        let mut ended =
            Ended { verdicts: paths.iter().map(|path| path.verdict).collect(), displaced: Vec::new() };
        let steps = self.steps(planned, besides);
        for step in &steps {
            let outcome = self.carry1(step, &planned.plan)?;
            ended.verdicts[step.at] = self.verdict(step, outcome, &paths[step.at].base)?;
            if outcome == Outcome::ConflictAndKept
                && let Some(kept) = self.keep_beside(step)?
            {
                ended.displaced.push((step.at, kept));
            }
            if step.way == Way::Remove && outcome == Outcome::Taken {
                self.remove_emptied(step.path);
            }
        }
        self.versions.sync()?;
        let dirs = steps.iter().flat_map(|step| [step.beside.clone(), step.path.above()]);
        self.sync_dirs(dirs)?;
        Ok(ended)
    }

    fn carry1(&self, step: &Step<'_>, plan: &Plan) -> Result<Outcome, Error> {
        let mut last = None;
        for _ in 0..LOOKS_MAX {
            let beside = self.version_beside(step)?;
            let target = self.parent.version(step.path).map_err(Error::at("read", step.path))?;
            let seen = |version: &Version| found(version, step.parent, step.child);
            let next = act(step.way, seen(&target), seen(&beside), last);
            if let Act::Done(outcome) = next {
                return Ok(outcome);
            }
            match self.act(step, next, plan) {
                Ok(()) => last = Some(next),
                // somebody made, removed or swapped something in between: look again
                Err(Errno::EXIST | Errno::NOENT) => last = None,
                Err(error) if is_blocked(error) && error != Errno::XDEV => return Ok(Outcome::Conflict),
                Err(error) if is_refusal(error) => return Ok(refused(seen(&beside))),
                Err(error) => return Err(Error::at("put in place", step.path)(error)),
            }
        }
        Ok(Outcome::Conflict)
    }

    fn act(&self, step: &Step<'_>, act: Act, plan: &Plan) -> Result<(), Errno> {
        let beside = self.parent.dir(step.beside.as_ref())?;
        let (prepared, target) = (step.name.as_str(), name(step.path));
        match act {
            Act::Exchange | Act::PutBack | Act::PutBackNewest => {
                let dir = self.parent.dir_of(step.path)?;
                rustix::fs::renameat_with(&beside, prepared, &dir, target, RenameFlags::EXCHANGE)
            }
            Act::Place | Act::Return => {
                let bits =
                    |dir: &TreePath| plan.dirs.iter().find(|(known, _)| known == dir).map(|(_, bits)| *bits);
                let dir = self.parent.made_dir_of(step.path, &bits)?;
                rustix::fs::renameat_with(&beside, prepared, &dir, target, RenameFlags::NOREPLACE)
            }
            Act::TakeAway => {
                let dir = self.parent.dir_of(step.path)?;
                rustix::fs::renameat_with(&dir, target, &beside, prepared, RenameFlags::NOREPLACE)
            }
            Act::Done(_) => Ok(()),
        }
    }

    pub(super) fn version_beside(&self, step: &Step<'_>) -> Result<Version, Error> {
        let dir = match self.parent.dir(step.beside.as_ref()) {
            Ok(dir) => dir,
            Err(Errno::NOENT) => return Ok(Version::Absent),
            Err(error) if is_blocked(error) => return Ok(Version::Absent),
            Err(error) => return Err(Error::at("look beside", step.path)(error)),
        };
        version_in(&dir, step.name.as_ref()).map_err(Error::at("look beside", step.path))
    }

    fn verdict(&self, step: &Step<'_>, outcome: Outcome, base: &Version) -> Result<Verdict, Error> {
        Ok(match outcome {
            Outcome::Taken => Verdict::Taken,
            Outcome::Same => Verdict::Same,
            Outcome::Disturbed => Verdict::Conflict(Clash::Disturbed),
            Outcome::Refused => Verdict::Conflict(Clash::Refused),
            Outcome::Conflict | Outcome::ConflictAndKept => {
                let now = self.parent.version(step.path).map_err(Error::at("read", step.path))?;
                match merge1(base, &now, step.child) {
                    conflict @ Verdict::Conflict(_) => conflict,
                    Verdict::Kept | Verdict::Taken | Verdict::Same | Verdict::Special => {
                        Verdict::Conflict(Clash::Disturbed)
                    }
                }
            }
        })
    }

    /// Keeps what is beside a path and is nobody's but a person's; what it is.
    pub(super) fn keep_beside(&self, step: &Step<'_>) -> Result<Option<Version>, Error> {
        let version = self.version_beside(step)?;
        if let Version::File { executable, .. } = version {
            let path = match &step.beside {
                Some(dir) => [dir.as_bytes(), b"/", step.name.as_bytes()].concat(),
                None => step.name.clone().into_bytes(),
            };
            let Some(path) = TreePath::new(path) else { return Ok(None) };
            let mut file = self.parent.file(&path).map_err(Error::at("keep what was saved at", step.path))?;
            let hash = self.versions.keep(&mut file)?;
            return Ok(Some(Version::File { hash, executable }));
        }
        Ok((version != Version::Absent).then_some(version))
    }

    /// Removes the directories that a removal emptied, unless the child has them.
    fn remove_emptied(&self, path: &TreePath) {
        for dir in path.all_above() {
            if (self.keeps_dir)(&dir) {
                break;
            }
            let Ok(outer) = self.parent.dir_of(&dir) else { break };
            // one that is not empty stays
            if rustix::fs::unlinkat(&outer, name(&dir), AtFlags::REMOVEDIR).is_err() {
                break;
            }
        }
    }
}
