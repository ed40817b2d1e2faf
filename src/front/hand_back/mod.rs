//! `windlass handback`: what came back from a session's children, and its conflicts resolved without the screen.
//!
//! It works on the workspaces themselves, and waits for whoever else writes there: the screen may be at the same one.
//!
//! In reading order: `row` (a hand-back as JSON and as lines), `sides` (the versions of a path), `three` (their lines
//! side by side), `resolve` (what a path gets), `tool` (a merge program of the person's).

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

pub use resolve::{From, resolve, revert};

/// The session whose children are meant.
pub struct Of {
    dirs: Dirs,
    session: SessionId,
}

/// One child's workspace.
pub(super) struct Child {
    name: String,
    room: Room,
    /// The directory that it is a copy of.
    parent: PathBuf,
}

fn refused(error: &Error) -> Refused {
    failed(chain(error))
}

impl Of {
    /// The session that is named, else the newest of the directory.
    pub fn one(dirs: &Dirs, named: Option<&str>, cwd: Option<&Path>) -> Result<Of, Refused> {
        Ok(Of { dirs: dirs.clone(), session: session(dirs, named, cwd)? })
    }

    fn rooms(&self) -> Result<Vec<(String, Room)>, Refused> {
        rooms(&self.dirs.workspaces_of(&self.session)).map_err(|error| refused(&error))
    }

    fn child(&self, name: &str) -> Result<Child, Refused> {
        let all = self.rooms()?;
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let unknown = || {
            misuse(format!(
                "the session {} has no child {name} with a copy of its own; it has {has}",
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
            // it was begun, so the child is stopped: it is ended here, or waited for where somebody else is at it
            None if self.room.can_go_on() => {
                let record = self.room.take_back(&self.parent).map_err(|error| refused(&error))?;
                self.room.clean_up().map_err(|error| refused(&error))?;
                Ok(record)
            }
            None => Err(failed(format!("{name} has not handed back yet"))),
        }
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
                "{} did not change {}; `windlass handback show {}` lists what it changed, from {} on",
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
        text = "no child has a copy of its own\n".into();
    }
    written(told.out.write_all(text.as_bytes()).and_then(|()| told.out.flush())).map(|()| code)
}

/// Prints what a child changed, or the three versions of one path; the exit code.
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

/// Drops a child's workspace for good; `ask` is put the question where a person can answer, and is none elsewhere.
/// The exit code.
pub fn drop_child(
    of: &Of,
    name: &str,
    force: bool,
    ask: Option<&mut dyn FnMut(&str) -> bool>,
    told: &mut Told<'_>,
) -> Result<u8, Refused> {
    let child = of.child(name)?;
    let standing = child.room.standing().map_err(|error| refused(&error))?;
    if standing.cut && child.parent.is_dir() {
        return Err(failed(format!(
            "the hand-back of {name} was cut before its end, and files of {} may stand beside their places; open the \
             session, which ends it, then drop the child",
            child.parent.display()
        )));
    }
    let open = standing.open.len();
    if standing.record.is_none() {
        let lease = of.dirs.session(&of.session).join(store::lease::LEASE);
        if let (true, Some(holder)) = (force, store::lease::holder(&lease)) {
            let who = store::error::who(Some(&holder));
            return Err(failed(format!(
                "{name} may be at work in its copy: the session is open in {who}; stop it there first"
            )));
        }
    }
    if !force {
        if standing.record.is_none() {
            return Err(failed(format!(
                "{name} has not handed back, so its work is nowhere else; --force drops it all the same"
            )));
        }
        if open > 0 {
            let conflicts = if open == 1 { "conflict" } else { "conflicts" };
            return Err(failed(format!(
                "{name} has {open} open {conflicts}; resolve them, or drop the child's versions with --force"
            )));
        }
        let question = format!("Drop the copy of {name} and the kept versions, for good? [y/N] ");
        let Some(ask) = ask else {
            return Err(failed(format!(
                "nobody can be asked here whether to drop {name} for good; use --force"
            )));
        };
        if !ask(&question) {
            return Err(failed(format!("{name} is as it was")));
        }
    }
    child.room.drop_all().map_err(|error| refused(&error))?;
    told.line(&format!("{name}: dropped"))?;
    Ok(0)
}
