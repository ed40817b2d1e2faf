//! `windlass handback`: what came back from a session's agents, and its conflicts resolved without the screen.
//!
//! It works on the workspaces themselves, and waits for whoever else writes there: the screen may be at the same one.
//!
//! In reading order: `row` (a hand-back as JSON and as lines), `sides` (the versions of a path), `three` (their lines
//! side by side), `resolve` (what a path gets), `tool` (a merge program of the person's), `away` (a workspace dropped).

mod away;
mod resolve;
mod row;
mod sides;
mod three;
mod tool;

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::base::{SessionId, chain};
use crate::front::jobs::{Refused, Told, failed, misuse, session, written};
use crate::law::hand_back::plan::Planned;
use crate::law::hand_back::tree::TreePath;
use crate::store::{self, Dirs};
use crate::workspace::child::Room;
use crate::workspace::child::earlier::Earlier;
use crate::workspace::child::error::Error;
use crate::workspace::child::hand_back::Record;
use crate::workspace::child::rooms::rooms;

pub use away::drop_child;
pub use resolve::{From, resolve, revert};

/// The session whose agents are meant.
pub struct Of {
    dirs: Dirs,
    session: SessionId,
}

/// One agent's workspace.
pub(super) struct Child {
    name: String,
    room: Room,
    /// The directory that it is a copy of.
    parent: PathBuf,
}

/// How deep workspaces of agents of agents are looked for.
const NESTED_MAX: usize = 64;

fn refused(error: &Error) -> Refused {
    failed(chain(error))
}

impl Of {
    /// The session that is named, else the newest of the directory.
    pub fn one(dirs: &Dirs, named: Option<&str>, cwd: Option<&Path>) -> Result<Of, Refused> {
        Ok(Of { dirs: dirs.clone(), session: session(dirs, named, cwd)? })
    }

    /// The workspaces of its agents, and those of the agents of one that has not handed back, under its name.
    fn rooms(&self) -> Result<Vec<(String, Room)>, Refused> {
        let mut all = Vec::new();
        let mut look = vec![(String::new(), self.dirs.workspaces_of(&self.session))];
        while let Some((above, dir)) = look.pop() {
            for (name, room) in rooms(&dir).map_err(|error| refused(&error))? {
                let name = format!("{above}{name}");
                if !room.record().exists()
                    && let Some(own) = room.own().filter(|_| name.matches('/').count() < NESTED_MAX)
                {
                    look.push((format!("{name}/"), own));
                }
                all.push((name, room));
            }
        }
        all.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(all)
    }

    fn child(&self, name: &str) -> Result<Child, Refused> {
        let all = self.rooms()?;
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let unknown = || {
            misuse(format!(
                "the session {} has no agent {name} with a copy of its own; it has {has}",
                self.session
            ))
        };
        let room =
            all.iter().find(|(own, _)| own == name).map(|(_, room)| room.clone()).ok_or_else(unknown)?;
        let parent = match room.parent().map_err(|error| refused(&error))? {
            Some(parent) => parent,
            None => {
                let session = store::view(&self.dirs, &self.session);
                let cwd = session.map_err(|error| failed(chain(&error)))?.header.cwd;
                cwd.ok_or_else(|| {
                    failed(format!("of which directory {name} has a copy is not known any more"))
                })?
            }
        };
        Ok(Child { name: name.to_owned(), room, parent })
    }
}

impl Child {
    fn record(&self) -> Result<Record, Refused> {
        let name = &self.name;
        match self.room.read_record().map_err(|error| refused(&error))? {
            Some(record) => Ok(record),
            // it was begun, so the agent is stopped: it is ended here, or waited for where somebody else is at it
            None if self.room.can_go_on() => self.take_back(),
            None => Err(failed(format!("{name} has not handed back yet"))),
        }
    }

    fn take_back(&self) -> Result<Record, Refused> {
        let record = self.room.take_back(&self.parent).map_err(|error| refused(&error))?;
        self.room.clean_up().map_err(|error| refused(&error))?;
        Ok(record)
    }

    /// A path of the record, as it was written on the command line: beneath the parent's directory, or absolute.
    fn path<'a>(&self, record: &'a Record, written: &Path) -> Result<&'a Planned, Refused> {
        let real = self.parent.canonicalize().unwrap_or_else(|_| self.parent.clone());
        let beneath =
            written.strip_prefix(&real).or_else(|_| written.strip_prefix(&self.parent)).unwrap_or(written);
        let beneath = beneath.strip_prefix(".").unwrap_or(beneath);
        let path = TreePath::new(beneath.as_os_str().as_bytes());
        path.and_then(|path| record.path(&path)).ok_or_else(|| {
            misuse(format!(
                "{} did not change {}; `windlass handback show {}` lists what it changed beneath {}",
                self.name,
                written.display(),
                self.name,
                self.parent.display()
            ))
        })
    }
}

/// Prints the hand-backs; the exit code.
pub fn list(of: &Of, json: bool, told: &mut Told<'_>) -> Result<u8, Refused> {
    let (mut text, mut code) = (String::new(), 0);
    for (name, room) in of.rooms()? {
        let standing = room.standing().map_err(|error| chain(&error));
        // one that is damaged hides no other
        code = code.max(u8::from(standing.is_err()));
        match (standing, json) {
            (Ok(standing), true) => text.push_str(&format!("{}\n", row::json(&name, room.dir(), &standing))),
            (Ok(standing), false) => text.push_str(&row::lines(&name, &standing)),
            (Err(why), true) => text.push_str(&format!("{}\n", row::damaged(&name, room.dir(), &why))),
            (Err(why), false) => text.push_str(&format!("{name}  cannot be read: {why}\n")),
        }
    }
    if text.is_empty() && !json {
        text = "no agent has a copy of its own\n".into();
    }
    written(told.out.write_all(text.as_bytes()).and_then(|()| told.out.flush())).map(|()| code)
}

/// Tries a hand-back again that was cut or failed; the exit code.
pub fn retry(of: &Of, name: &str, told: &mut Told<'_>) -> Result<u8, Refused> {
    let child = of.child(name)?;
    let recorded = child.room.read_record().map_err(|error| refused(&error))?.is_some();
    if recorded {
        return Err(failed(format!(
            "{name} has handed back already; `windlass handback show {name}` lists it"
        )));
    }
    if !child.room.can_go_on() {
        return Err(failed(format!(
            "{name} has not handed back yet: it may be at work in its copy; it does when it ends"
        )));
    }
    child.take_back()?;
    let standing = child.room.standing().map_err(|error| refused(&error))?;
    let lines = row::lines(name, &standing);
    written(told.out.write_all(lines.as_bytes()).and_then(|()| told.out.flush())).map(|()| 0)
}

/// Prints what an agent changed, or the three versions of one path; the exit code.
pub fn show(of: &Of, name: &str, path: Option<&Path>, told: &mut Told<'_>) -> Result<u8, Refused> {
    let child = of.child(name)?;
    let record = child.record()?;
    let resolved = child.room.resolved().map_err(|error| refused(&error))?;
    let text = match path {
        None => row::paths(&record, &resolved).into_bytes(),
        Some(path) => {
            let planned = child.path(&record, path)?;
            let sides = sides::Sides::of(&child, planned).map_err(|error| refused(&error))?;
            let mut text = format!("{}  {}\n", planned.path, row::state(planned, &resolved)).into_bytes();
            let earlier = Earlier::at(of.dirs.resolutions()).find(&sides.versions());
            if earlier.map_err(|error| refused(&error))?.is_some() {
                text.extend(b"these three were resolved before: `--take earlier` does it the same way\n");
            }
            text.extend(sides.shown());
            text
        }
    };
    written(told.out.write_all(&text).and_then(|()| told.out.flush())).map(|()| 0)
}
