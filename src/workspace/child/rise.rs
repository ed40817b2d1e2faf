//! What the agents of an agent left, when that agent ends: their workspaces rise to where its own is.
//!
//! They are held from before the agent's own hand-back is planned until they have risen, so that nobody resolves
//! anything in a copy that was read already. Which they are is in the agent's record, so that what a cut left is done by
//! who comes next. A workspace moves by one rename; before it, it is told its directory, and what that has at the paths
//! that are open. Keeps `rise_loses_nothing`.
//!
//! Not here: what becomes of each (`law::hand_back::rise`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};
use serde::{Deserialize, Serialize};

use super::Room;
use super::beneath::Beneath;
use super::error::Error;
use super::hand_back::Record;
use super::keeping::keep_latest;
use super::lock::Lock;
use super::removal::remove_all;
use super::rooms::rooms;
use super::versions::Versions;
use crate::law::hand_back::rise::{Fate, Stands, fate, file_name, name, name_of};
use crate::law::hand_back::tree::{TreePath, Version};
use crate::store::private;

/// The workspace of an agent's own agent, which rose at the agent's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Below {
    /// Its name from then on: `lexer/x`.
    pub name: String,
    /// Its name before, among those of the agent's own agents.
    pub own: String,
    /// Whether it had handed back; else its work is in its copy only.
    pub handed: bool,
    /// Its conflicts that were open then, in order.
    pub open: Vec<TreePath>,
}

/// Where the workspaces of an agent's own agents are, and where they rise to.
pub(super) struct Rise<'a> {
    /// Their directory; none: it has no agents.
    from: Option<PathBuf>,
    /// That of the agent's own workspace.
    up: PathBuf,
    /// The name of the agent's workspace.
    of: String,
    /// The agent's copy, which goes; none: it had none, and they worked in copies of its parent's directory.
    goes: Option<PathBuf>,
    /// The directory that the agent hands back to.
    parent: &'a Path,
}

/// Workspaces that are held while they rise.
#[derive(Default)]
pub(super) struct Own {
    held: Vec<(String, Room, Lock)>,
}

/// What the agents of one without a copy left rises, when that one ends: from `own` to `up`, under its name; what rose.
pub fn rise_of_shared(own: PathBuf, up: PathBuf, of: &str, dir: &Path) -> Result<Vec<Below>, Error> {
    let rise = Rise { from: Some(own), up, of: of.to_owned(), goes: None, parent: dir };
    let own = rise.hold()?;
    let below = rise.below(&own)?;
    rise.carry_out(&own, &below)?;
    Ok(below)
}

impl Room {
    /// Writes down whose workspace it is: what the agent's own agents leave is found by that.
    pub fn name_agent(&self, session: &str) -> Result<(), Error> {
        let known = private::read(&self.agent()).is_ok_and(|known| known == session.as_bytes());
        if known || !self.dir().exists() {
            return Ok(());
        }
        Ok(private::replace(&self.agent(), session.as_bytes())?)
    }

    /// Where the workspaces of the agent's own agents are; none: whose it is is not known.
    pub fn own(&self) -> Option<PathBuf> {
        let session = String::from_utf8(private::read(&self.agent()).ok()?).ok()?;
        let plain = !session.is_empty() && session != ".." && !session.contains(['/', '\0']);
        plain.then(|| self.dir().parent()?.parent().map(|all| all.join(session)))?
    }

    pub(super) fn rise<'a>(&self, parent: &'a Path) -> Rise<'a> {
        let dir = self.dir();
        let of = dir.file_name().map(|name| name_of(&name.to_string_lossy())).unwrap_or_default();
        let up = dir.parent().unwrap_or(dir).to_owned();
        Rise { from: self.own(), up, of, goes: Some(self.copy()), parent }
    }

    fn stands(&self) -> Stands {
        Stands {
            handed: self.record().exists(),
            begun: self.is_cut(),
            prepared: self.run().join("prepared.json").exists(),
            born: self.is_born(),
        }
    }

    /// Tells it which directory it is beneath now, and what that has at the paths that are open.
    fn change_parent(&self, record: &mut Record, parent: &Path) -> Result<(), Error> {
        self.give_up_unfinished();
        let versions = Versions::open(&self.versions())?;
        let beneath = Beneath::open(parent).map_err(Error::io("open", parent))?;
        let now = |path: TreePath| -> Option<(TreePath, Version)> {
            let seen = beneath.version(&path).ok()?;
            // one that cannot be read, or is saved all the time, is looked at when it is resolved
            let kept = keep_latest(&beneath, &path, &seen, &versions).ok()?;
            Some((path, kept))
        };
        record.risen = self.open_conflicts(record)?.into_iter().filter_map(now).collect();
        versions.sync()?;
        let written = serde_json::to_vec_pretty(record);
        let written = written.map_err(|source| Error::Record { path: self.record(), source })?;
        Ok(private::replace(&self.record(), &written)?)
    }
}

impl Rise<'_> {
    /// Ends what must end before, and holds the others.
    pub fn hold(&self) -> Result<Own, Error> {
        let mut own = Own::default();
        let Some(from) = &self.from else { return Ok(own) };
        let (stays, dir) = (self.goes.is_none(), self.goes.as_deref().unwrap_or(self.parent));
        for (name, room) in rooms(from)? {
            let (mut fates, mut failed) = (fate(room.stands(), false, stays), None);
            if fates == Fate::EndsFirst {
                failed = room.take_back(dir).err();
                fates = fate(room.stands(), failed.is_some(), stays);
            }
            if room.record().exists() {
                // what cannot be finished is given up with the copy
                drop(room.finish_resolutions(dir)?);
            }
            let lock = room.lock()?;
            match (fates, failed) {
                (Fate::Holds, Some(error)) => return Err(Error::Own { name, source: Box::new(error) }),
                (Fate::PlansAnew | Fate::Holds, _) => {
                    let beneath = Beneath::open_ours(dir).map_err(Error::io("open", dir))?;
                    room.forget_plan(&beneath)?;
                }
                (Fate::Goes, _) => {
                    remove_all(room.dir())?;
                    continue;
                }
                (Fate::Rises | Fate::EndsFirst, _) => {}
            }
            own.held.push((name, room, lock));
        }
        Ok(own)
    }

    /// What they will be called, and what is open of them.
    pub fn below(&self, own: &Own) -> Result<Vec<Below>, Error> {
        if own.held.is_empty() {
            return Ok(Vec::new());
        }
        let mut taken: BTreeSet<String> = rooms(&self.up)?.into_iter().map(|(name, _)| name).collect();
        let mut all = Vec::new();
        for (own, room, _) in &own.held {
            let record = room.read_record()?;
            let open = record.as_ref().map_or(Ok(Vec::new()), |record| room.open_conflicts(record))?;
            let name = name(&self.of, own, &taken);
            taken.insert(name.clone());
            all.push(Below { name, own: own.clone(), handed: record.is_some(), open });
        }
        Ok(all)
    }

    /// Lets them rise that did not yet: a cut left them.
    pub fn go_on(&self, below: &[Below]) -> Result<(), Error> {
        let Some(from) = self.from.as_ref().filter(|_| !below.is_empty()) else { return Ok(()) };
        let mut own = Own::default();
        for one in below {
            let room = Room::at(from.join(file_name(&one.own)));
            if room.dir().exists() {
                let lock = room.lock()?;
                own.held.push((one.own.clone(), room, lock));
            }
        }
        self.carry_out(&own, below)
    }

    /// Lets them rise.
    pub fn carry_out(&self, own: &Own, below: &[Below]) -> Result<(), Error> {
        for (name, room, _) in &own.held {
            if let Some(below) = below.iter().find(|below| below.own == *name) {
                self.raise(room, below)?;
            }
        }
        if let Some(from) = &self.from {
            // one that holds more stays
            let _ = fs::remove_dir(from);
        }
        Ok(())
    }

    fn raise(&self, room: &Room, below: &Below) -> Result<(), Error> {
        if let (Some(_), Some(mut record)) = (&self.goes, room.read_record()?) {
            room.change_parent(&mut record, self.parent)?;
        }
        room.name_parent(self.parent)?;
        private::dir_all(&self.up)?;
        let to = self.up.join(file_name(&below.name));
        rustix::fs::renameat_with(CWD, room.dir(), CWD, &to, RenameFlags::NOREPLACE)
            .map_err(|error| Error::io("move a workspace to", &to)(error.into()))?;
        private::sync_dir(&self.up)?;
        if let Some(from) = &self.from {
            private::sync_dir(from)?;
        }
        Ok(())
    }
}
