//! The hand-back of an agent that was stopped: on a blocking thread, one at a time in a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::api::agent::{AgentNode, AgentState, HandBackReport, LeftOpen};
use crate::base::{SessionId, chain};
use crate::engine::hand_back::in_turn;
use crate::engine::spawn;
use crate::law::children::Event;
use crate::law::hand_back::merge1::Verdict;
use crate::law::hand_back::rise::{file_name, name_of};
use crate::store::Dirs;
use crate::workspace::child::Room;
use crate::workspace::child::hand_back::Record;
use crate::workspace::child::rise::{Below, rise_of_shared};
use crate::workspace::child::rooms::rooms;

use super::agent::Agent;
use super::crew::{Crew, Inner};

/// Hands back what an agent changed and tells that it did; then its copies go, which nobody waits for. One that fails
/// leaves the copy as it is.
pub async fn hand_back(crew: Crew, path: String) {
    let leaving_waits = crew.beside();
    if spawn::guarded(back(crew.clone(), path.clone())).await.is_none() {
        crew.update(&path, |agent| agent.trouble("its hand-back broke off inside Windlass".to_owned()));
        crew.event(&path, Event::HandedBack);
    }
    drop(leaving_waits);
}

async fn back(crew: Crew, path: String) {
    let Some((dir, node)) = crew.look(&path, |agent| (agent.parent_dir.clone(), agent.row.node.clone()))
    else {
        return;
    };
    // its own agents' ends first: they are a part of it
    crew.hear(&path).await;
    let ending = crew.ending(&path);
    let Some(own) = crew.look(&path, |agent| Own::of(agent, &path)) else { return };
    let (room, of) = (node.room.clone().map(Room::at), own.clone());
    let done = spawn::off_the_loop(move || {
        if let Some(ending) = ending {
            ending.keep(&node);
        }
        carry_out(&node, &dir, &of)
    })
    .await;
    let handed = done.is_ok();
    let rose = done.as_ref().map_or(Vec::new(), |(_, below)| crew.rose(&path, &own, below));
    crew.update(&path, |agent| match done {
        Ok((report, _)) => agent.hand_back = report,
        Err(why) => agent.trouble(why),
    });
    crew.event(&path, Event::HandedBack);
    if handed {
        spawn::off_the_loop(move || room.iter().chain(&rose).for_each(clean_up)).await;
    }
}

/// Where the workspaces of an agent's own agents are, and where they rise to at its end.
#[derive(Clone)]
struct Own {
    name: String,
    session: SessionId,
    from: PathBuf,
    up: PathBuf,
    /// Its name for who is to do something by hand.
    path: String,
}

impl Own {
    fn of(agent: &Agent, path: &str) -> Own {
        let (dirs, node) = (&agent.options.dirs, &agent.row.node);
        let from = dirs.workspaces_of(&node.session);
        let above = agent.options.child.as_ref().map(|child| dirs.workspaces_of(&child.parent));
        let room = node.room.as_deref();
        let up = room.and_then(Path::parent).map(Path::to_owned).or(above).unwrap_or_else(|| from.clone());
        let named = room.and_then(Path::file_name).map(|name| name_of(&name.to_string_lossy()));
        let path = named.unwrap_or_else(|| path.to_owned());
        Own { name: node.name.clone(), session: node.session.clone(), from, up, path }
    }
}

impl Crew {
    /// What the agents of one that ended left has other places now; the workspaces that rose.
    fn rose(&self, path: &str, own: &Own, below: &[Below]) -> Vec<Room> {
        let mut inner = self.inner();
        let Inner { agents, .. } = &mut *inner;
        let Some(dir) = agents.get(path).map(|agent| agent.parent_dir.clone()) else { return Vec::new() };
        let moved =
            |below: &Below| (own.from.join(file_name(&below.own)), own.up.join(file_name(&below.name)));
        let moved: Vec<(PathBuf, PathBuf)> = below.iter().map(moved).collect();
        let (under, mut changed) = (format!("{path}/"), Vec::new());
        for (other, agent) in agents.iter_mut().filter(|(other, _)| other.starts_with(&under)) {
            let to = moved.iter().find(|(from, _)| agent.row.node.room.as_ref() == Some(from));
            if let Some((_, to)) = to {
                agent.row.node.room = Some(to.clone());
                if let AgentState::Ended(end) = &mut agent.row.state {
                    Arc::make_mut(end).node.room = Some(to.clone());
                    agent.told.send_replace(Some(Arc::clone(end)));
                }
                agent.parent_dir.clone_from(&dir);
                changed.push(other.clone());
            }
        }
        for other in changed {
            inner.publish(&other);
        }
        moved.into_iter().map(|(_, to)| Room::at(to)).collect()
    }
}

/// Removes the copies of one that has handed back. What is left of them is removed at the next open. Blocking.
fn clean_up(room: &Room) {
    if room.is_to_clean()
        && let Err(error) = room.clean_up()
    {
        tracing::warn!("copies that were handed back stay in {}: {}", room.dir().display(), chain(&error));
    }
}

/// Removes what is left of such copies of a session's agents and of theirs. Blocking.
pub fn clean_up_all(dirs: &Dirs, session: &SessionId, agents: &[SessionId]) {
    for session in agents.iter().chain([session]) {
        for (_, room) in rooms(&dirs.workspaces_of(session)).unwrap_or_default() {
            clean_up(&room);
        }
    }
}

/// What came back of one, and what rose with it. Blocking.
fn carry_out(
    node: &AgentNode,
    parent: &Path,
    own: &Own,
) -> Result<(Option<HandBackReport>, Vec<Below>), String> {
    let nothing = || (Some(HandBackReport::default()), Vec::new());
    let Some(room) = node.room.as_ref().map(Room::at) else {
        let rose = in_turn(parent, || rise_of_shared(own.from.clone(), own.up.clone(), &own.name, parent));
        let below =
            rose.map_err(|error| format!("what its agents left was not handed on: {}", chain(&error)))?;
        let report = HandBackReport { below: left_open(&below), ..HandBackReport::default() };
        return Ok(((!report.below.is_empty()).then_some(report), below));
    };
    if !room.is_born() && !room.record().exists() && !room.is_cut() {
        // its copy was being made when the program went: nobody worked in it
        if room.dir().exists() {
            room.drop_all().map_err(|error| chain(&error))?;
        }
        return Ok(nothing());
    }
    let taken =
        room.name_agent(own.session.as_str()).and_then(|()| in_turn(parent, || room.take_back(parent)));
    taken.map(|record| (Some(report(&record)), record.below)).map_err(|error| {
        let copy: PathBuf = room.copy();
        format!(
            "what it changed was not handed back: {}. Its copy stays in {}; `windlass handback retry {}` tries again",
            chain(&error),
            copy.display(),
            own.path
        )
    })
}

/// What is told of those that rose: what is open of them, and that one has not handed back.
fn left_open(below: &[Below]) -> Vec<LeftOpen> {
    let left = below.iter().filter(|below| !below.handed || !below.open.is_empty());
    left.map(|below| LeftOpen {
        name: below.name.clone(),
        conflicts: below.open.clone(),
        handed: below.handed,
    })
    .collect()
}

fn report(record: &Record) -> HandBackReport {
    let with = |wanted: fn(Verdict) -> bool| record.with(wanted).cloned().collect::<Vec<_>>();
    let mut left_out = record.left_out.clone();
    left_out.extend(record.with(|verdict| verdict == Verdict::Special).cloned());
    HandBackReport {
        taken: with(|verdict| verdict == Verdict::Taken),
        same: with(|verdict| verdict == Verdict::Same),
        conflicts: with(|verdict| matches!(verdict, Verdict::Conflict(_))),
        left_out,
        kept: record.displaced.iter().map(|(path, _)| path.clone()).collect(),
        below: left_open(&record.below),
    }
}
