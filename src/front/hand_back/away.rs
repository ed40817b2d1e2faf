//! A workspace dropped for good, with those of its agent's own agents.
//!
//! What is nowhere else goes only by force: work that was not handed back, and conflicts that are open.

use super::{Child, Of, refused};
use crate::front::jobs::{Refused, Told, failed};
use crate::store;
use crate::workspace::child::rooms::Standing;

/// Drops an agent's workspace for good; `ask` is put the question where a person can answer, and is none elsewhere.
/// The exit code.
pub fn drop_child(
    of: &Of,
    name: &str,
    force: bool,
    ask: Option<&mut dyn FnMut(&str) -> bool>,
    told: &mut Told<'_>,
) -> Result<u8, Refused> {
    let mut all = vec![of.child(name)?];
    for own in own(of, &all[0])? {
        all.push(of.child(&own)?);
    }
    let mut lost = Vec::new();
    for child in &all {
        if let Some(why) = may_not_go(of, child, force)? {
            return Err(failed(why));
        }
        lost.push(lost_with(child)?);
    }
    if !force {
        let with = match all.len() {
            1 => String::new(),
            _ => format!(", with those of {}", names(&all[1..])),
        };
        let question = format!("Drop the copy of {name} and the kept versions{with}, for good? [y/N] ");
        let Some(ask) = ask else {
            return Err(failed(format!(
                "nobody can be asked here whether to drop {name} for good; use --force"
            )));
        };
        if !ask(&question) {
            return Err(failed(format!("{name} is as it was")));
        }
    }
    // those below first: cut here, the rest is still found by its name
    for (child, lost) in all.iter().zip(lost).rev() {
        let handed = child.room.record().exists();
        let dropped = if handed { child.room.drop_all() } else { child.room.drop_unhanded(&child.parent) };
        dropped.map_err(|error| refused(&error))?;
        told.line(&format!("{}: dropped{lost}", child.name))?;
    }
    Ok(0)
}

fn names(children: &[Child]) -> String {
    children.iter().map(|child| child.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The names of the workspaces of its agent's own agents: those that rose with it, or that are still beneath it.
fn own(of: &Of, child: &Child) -> Result<Vec<String>, Refused> {
    let record = child.room.read_record().map_err(|error| refused(&error))?;
    let under = format!("{}/", child.name);
    let is_own = |name: &String| match &record {
        Some(record) => record.below.iter().any(|below| below.name == *name),
        None => name.starts_with(&under),
    };
    Ok(of.rooms()?.into_iter().map(|(name, _)| name).filter(is_own).collect())
}

/// What is nowhere else and goes with it, as the end of a line: nothing where all came back and was decided.
fn lost_with(child: &Child) -> Result<String, Refused> {
    let Standing { record, open, .. } = child.room.standing().map_err(|error| refused(&error))?;
    Ok(match (record, open.len()) {
        (Some(_), 0) => String::new(),
        (Some(_), open) => format!(", with {open} open {}", conflicts(open)),
        // what cannot be counted goes all the same
        (None, _) => match child.room.unhanded() {
            Ok(changed) => format!(", with {} that had not come back", paths(changed.len())),
            Err(_) => ", with what had not come back".to_owned(),
        },
    })
}

fn conflicts(number: usize) -> &'static str {
    if number == 1 { "conflict" } else { "conflicts" }
}

fn paths(number: usize) -> String {
    if number == 1 { "1 changed path".to_owned() } else { format!("{number} changed paths") }
}

/// Why it cannot be dropped, or not without force.
fn may_not_go(of: &Of, child: &Child, force: bool) -> Result<Option<String>, Refused> {
    let name = &child.name;
    let Standing { record, open, half, failed, .. } =
        child.room.standing().map_err(|error| refused(&error))?;
    if half && child.parent.is_dir() {
        let ended = if failed.is_some() { "failed" } else { "was cut" };
        return Ok(Some(format!(
            "the hand-back of {name} {ended} half way, and files of {} may stand beside their places; \
             `windlass handback retry {name}` ends it, and so does the session's next open; then drop the agent",
            child.parent.display()
        )));
    }
    if record.is_none() && failed.is_none() && force {
        let lease = of.dirs.session(&of.session).join(store::lease::LEASE);
        if let Some(holder) = store::lease::holder(&lease) {
            let who = store::error::who(Some(&holder));
            return Ok(Some(format!(
                "{name} may be at work in its copy: the session is open in {who}; stop it there first"
            )));
        }
    }
    if !force && record.is_none() {
        let again = match failed {
            Some(_) => format!("`windlass handback retry {name}` tries again, and "),
            None => String::new(),
        };
        return Ok(Some(format!(
            "{name} has not handed back, so its work is nowhere else; {again}--force drops it all the same"
        )));
    }
    if !force && !open.is_empty() {
        return Ok(Some(format!(
            "{name} has {} open {}; resolve them, or drop the agent's versions with --force",
            open.len(),
            conflicts(open.len())
        )));
    }
    Ok(None)
}
