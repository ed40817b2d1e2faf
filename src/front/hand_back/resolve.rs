//! What a path gets from the command line, and how that is taken back.
//!
//! What somebody changed since the hand-back is not written over unseen: the parent's lines are taken into a merge, and
//! a whole version is refused. Everything is written by the workspace, with its re-check and its record.

use std::path::{Path, PathBuf};

use super::sides::Sides;
use super::three::Gone;
use super::tool;
use super::{Child, Of, refused};
use crate::base::chain;
use crate::front::jobs::{Refused, Told, failed, misuse};
use crate::law::hand_back::merge1::{Clash, Verdict};
use crate::law::hand_back::plan::Planned;
use crate::law::hand_back::tree::{Obstacle, TreePath, Version};
use crate::law::merge::resolution::{Choice, Resolution};
use crate::workspace::child::earlier::Earlier;
use crate::workspace::child::error::Error;
use crate::workspace::child::hand_back::Record;
use crate::workspace::child::resolve::{Resolved, Written};

/// Where a resolution is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// What the parent's directory has, or had.
    Parent,
    /// What the agent left.
    Child,
    /// What the agent found.
    Base,
    /// The lines of both, where both changed them: the parent's, then the agent's.
    Both,
    /// What the same three versions were resolved to before.
    Earlier,
    /// A file, whole.
    File(PathBuf),
    /// What a program makes of the three.
    Tool(String),
}

/// Writes a resolution of a path; the exit code.
pub fn resolve(of: &Of, name: &str, path: &Path, from: &From, told: &mut Told<'_>) -> Result<u8, Refused> {
    let child = of.child(name)?;
    let record = child.record()?;
    let planned = child.path(&record, path)?;
    finish(&child, told)?;
    let sides = Sides::of(&child, planned).map_err(|error| refused(&error))?;
    let known = known(&child, &record, planned)?;
    let seen = &sides.parent.version;
    let as_known = *seen.tracked() == known;
    let whole = |version: &Version, whose: &str| -> Result<(Written, Option<Vec<Choice>>), Refused> {
        if as_known {
            return Ok((Written::Version(version.clone()), None));
        }
        Err(failed(format!(
            "{} was changed here since the hand-back, and {whose} would replace that; look at `windlass handback show {} {}`, then take `both`, `--file` or `--tool`, or settle it as it is with `--take parent`",
            planned.path, child.name, planned.path
        )))
    };
    let (result, choices) = match from {
        From::Earlier => (earlier(of, &child, planned, &sides)?, None),
        From::Child => whole(&planned.child, "the agent's")?,
        From::Base => whole(&planned.base, "the base")?,
        // what was written over by a hand-back or a resolution is had back; what somebody made of it since stays
        From::Parent if as_known => (Written::Version(record.parents(planned).clone()), None),
        From::Parent => (Written::Version(seen.clone()), None),
        From::Both => {
            let merged = both(planned, &sides)?;
            // what is here holds a choice already: the lines of both sides would be in it twice
            if is_resolved(&child, planned)? {
                return Err(resolved_already(&child, planned));
            }
            merged
        }
        From::File(file) => {
            let bytes = std::fs::read(file)
                .map_err(|error| misuse(format!("{} cannot be read: {error}", file.display())))?;
            (Written::Bytes { bytes, executable: sides.executable() }, None)
        }
        From::Tool(command) => {
            let merge = merge(planned, &sides)?;
            let bytes = tool::run(command, &planned.path, &merge)?;
            (Written::Bytes { bytes, executable: sides.executable() }, None)
        }
    };
    fits(planned, seen, &result)?;
    let written = child.room.resolve(&child.parent, &planned.path, seen, result, choices);
    let resolved = written.map_err(|error| refused(&error))?;
    remember(of, &child, planned, &resolved, told);
    let words = if resolved.before == resolved.after { "settled as it is" } else { "written" };
    say(&child, &planned.path, words, told)
}

/// Says what was done and how much is left; the exit code.
fn say(child: &Child, path: &TreePath, words: &str, told: &mut Told<'_>) -> Result<u8, Refused> {
    let open = child.room.standing().map_err(|error| refused(&error))?.open.len();
    let left = match open {
        0 => "no conflict is open".into(),
        1 => "1 conflict is open".into(),
        more => format!("{more} conflicts are open"),
    };
    told.line(&format!("{path}: {words}; {left}"))?;
    Ok(0)
}

/// Remembers how a path was resolved, for the same versions seen again. That it cannot be is no reason to fail.
fn remember(of: &Of, child: &Child, planned: &Planned, resolved: &Resolved, told: &mut Told<'_>) {
    let earlier = Earlier::at(of.dirs.resolutions());
    if let Err(error) = child.room.remember(&earlier, &planned.base, &planned.child, resolved) {
        // nobody can be told where that is gone
        let _ =
            writeln!(told.beside, "windlass: the resolution is not remembered for later: {}", chain(&error));
    }
}

/// What stands at the path as far as the record knows: what was written last, else what the hand-back left there.
fn known(child: &Child, record: &Record, planned: &Planned) -> Result<Version, Refused> {
    Ok(match last(child, &planned.path)? {
        Some(last) => last.after,
        None if planned.verdict == Verdict::Taken => planned.child.tracked().clone(),
        None => record.parents(planned).clone(),
    })
}

/// Whether the path was in conflict, was resolved, and that was not taken back.
fn is_resolved(child: &Child, planned: &Planned) -> Result<bool, Refused> {
    let open = child.room.standing().map_err(|error| refused(&error))?.open;
    Ok(planned.verdict != Verdict::Taken
        && last(child, &planned.path)?.is_some()
        && !open.contains(&planned.path))
}

/// The last of the path's resolutions, one that takes another back too.
fn last(child: &Child, path: &TreePath) -> Result<Option<Resolved>, Refused> {
    let all = child.room.resolved().map_err(|error| refused(&error))?;
    Ok(all.into_iter().rfind(|one| one.path == *path))
}

/// Ends the resolutions that were cut. One that cannot be is told of, and is no reason not to write another one.
fn finish(child: &Child, told: &mut Told<'_>) -> Result<(), Refused> {
    let left = child.room.finish_resolutions(&child.parent).map_err(|error| refused(&error))?;
    for error in left {
        let why = chain(&error);
        // nobody can be told where that is gone
        let _ = writeln!(told.beside, "windlass: a resolution that was cut could not be ended: {why}");
    }
    Ok(())
}

/// Refuses what can be put nowhere, and a path where nothing can be put.
fn fits(planned: &Planned, seen: &Version, result: &Written) -> Result<(), Refused> {
    let path = &planned.path;
    let puts = match result {
        // as it is here
        Written::Version(version) if version == seen => return Ok(()),
        Written::Version(Version::InTheWay(Obstacle::Special)) => {
            return Err(failed(format!(
                "that version of {path} is no file, or could not be read, so it is put nowhere; take another one, or \
                 give a --file"
            )));
        }
        Written::Version(Version::Absent | Version::InTheWay(_)) => false,
        Written::Version(Version::File { .. } | Version::Link { .. }) | Written::Bytes { .. } => true,
    };
    match seen {
        Version::InTheWay(_) if puts => Err(failed(format!(
            "something that is no file of that path is in the place of {path} here; move it away, then resolve again, \
             or settle it as it is with `--take parent`"
        ))),
        Version::InTheWay(_) | Version::Absent | Version::File { .. } | Version::Link { .. } => Ok(()),
    }
}

fn resolved_already(child: &Child, planned: &Planned) -> Refused {
    failed(format!(
        "{} is resolved already; `windlass handback revert {} {}` takes that back first",
        planned.path, child.name, planned.path
    ))
}

fn merge(planned: &Planned, sides: &Sides) -> Result<Resolution, Refused> {
    if let Some(gone) = sides.gone() {
        let (what, parent, child) = match gone {
            Gone::Parents => (Clash::ParentRemoved, "it stays removed", "it comes back as the agent left it"),
            Gone::Childs => (Clash::ChildRemoved, "it stays as it is", "it is removed"),
        };
        return Err(failed(format!(
            "{} was {}, so there are no lines of both; take `parent` ({parent}), `child` ({child}) or `base`, or give a \
             `--file`",
            planned.path,
            what.words()
        )));
    }
    let no_text = || {
        failed(format!(
            "{} has no lines to merge in all its versions; take `parent`, `child` or `base`, or give a `--file`",
            planned.path
        ))
    };
    sides.text().map(Resolution::new).ok_or_else(no_text)
}

fn earlier(of: &Of, child: &Child, planned: &Planned, sides: &Sides) -> Result<Written, Refused> {
    let found =
        Earlier::at(of.dirs.resolutions()).find(&sides.versions()).map_err(|error| refused(&error))?;
    if let Some(found) = found {
        return Ok(Written::Bytes { bytes: found.bytes, executable: found.executable });
    }
    if is_resolved(child, planned)? {
        return Err(resolved_already(child, planned));
    }
    Err(failed(format!(
        "no earlier resolution is known of these versions of {} (the base's, the agent's, and what is here now); take \
         another one",
        planned.path
    )))
}

fn both(planned: &Planned, sides: &Sides) -> Result<(Written, Option<Vec<Choice>>), Refused> {
    let mut merge = merge(planned, sides)?;
    merge.choose_open(&Choice::Both);
    let choices = merge.choices().to_vec();
    Ok((Written::Bytes { bytes: merge.result(), executable: sides.executable() }, Some(choices)))
}

/// Takes back what was done about a path: the newest resolution, or what the hand-back took; the exit code.
pub fn revert(of: &Of, name: &str, path: &Path, told: &mut Told<'_>) -> Result<u8, Refused> {
    let child = of.child(name)?;
    let record = child.record()?;
    let planned = child.path(&record, path)?;
    finish(&child, told)?;
    let as_before = *planned.parent.tracked() == known(&child, &record, planned)?;
    let taken = planned.verdict == Verdict::Taken;
    if taken && as_before {
        return Err(failed(format!(
            "{} is as it was before the hand-back; `windlass handback resolve {} {} --take child` takes it again",
            planned.path, child.name, planned.path
        )));
    }
    let undone =
        child.room.undo(&child.parent, &planned.path).map_err(|error| stale(&child, planned, error))?;
    if let Some(undone) = undone {
        remember(of, &child, planned, &undone, told);
        say(&child, &planned.path, "taken back", told)?;
        return tell_other_half(&child, &record, planned, told);
    }
    if !taken {
        let path = &planned.path;
        return Err(failed(match last(&child, path)? {
            Some(_) => format!("what was done about {path} is taken back already: it is as it was"),
            None => format!("nothing was done about {path}, so there is nothing to take back"),
        }));
    }
    let (seen, before) = (planned.child.tracked(), Written::Version(planned.parent.clone()));
    let written = child.room.resolve(&child.parent, &planned.path, seen, before, None);
    written.map_err(|error| stale(&child, planned, error))?;
    say(&child, &planned.path, "put back as it was", told)?;
    tell_other_half(&child, &record, planned, told)
}

/// Says what undoes the other half of a rename of which this path is one, if that stands as the child has it; the exit code.
fn tell_other_half(
    child: &Child,
    record: &Record,
    planned: &Planned,
    told: &mut Told<'_>,
) -> Result<u8, Refused> {
    let Some(other) = record.other_half(&planned.path) else { return Ok(0) };
    let put_back = known(child, record, planned)? == *record.parents(planned);
    if put_back && known(child, record, other)? == *other.child.tracked() {
        let (words, name, path) = match other.child.tracked() {
            Version::Absent => ("the file's old path, which is still gone", &child.name, &other.path),
            _ => ("the file's new path, which is still there", &child.name, &other.path),
        };
        told.line(&format!(
            "it is one half of a rename; {path} is {words}: `windlass handback revert {name} {path}` puts that back too"
        ))?;
    }
    Ok(0)
}

/// What was changed since is not written over by a revert.
fn stale(child: &Child, planned: &Planned, error: Error) -> Refused {
    match error {
        Error::ChangedMeanwhile { path } => failed(format!(
            "{path} was changed here since, so it stays; its versions are shown by `windlass handback show {} {}`",
            child.name, planned.path
        )),
        error => refused(&error),
    }
}
