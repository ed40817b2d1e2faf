//! The hand-back of an agent that was stopped: on a blocking thread, one at a time in a directory.

use std::path::{Path, PathBuf};

use crate::api::agent::{AgentNode, HandBackReport};
use crate::base::{SessionId, chain};
use crate::engine::hand_back::in_turn;
use crate::engine::spawn;
use crate::law::children::Event;
use crate::law::hand_back::merge1::Verdict;
use crate::store::Dirs;
use crate::workspace::child::Room;
use crate::workspace::child::hand_back::Record;
use crate::workspace::child::rooms::rooms;

use super::crew::Crew;

/// Hands back what an agent changed and tells that it did; then its copies go, which nobody waits for. One that fails
/// leaves the copy as it is.
pub async fn hand_back(crew: Crew, path: String) {
    let leaving_waits = crew.beside();
    if spawn::guarded(back(crew.clone(), path.clone())).await.is_none() {
        crew.update(&path, |kid| kid.trouble("its hand-back broke off inside Windlass".to_owned()));
        crew.event(&path, Event::HandedBack);
    }
    drop(leaving_waits);
}

async fn back(crew: Crew, path: String) {
    let Some((dir, node)) = crew.look(&path, |kid| (kid.parent_dir.clone(), kid.row.node.clone())) else {
        return;
    };
    // its own agents' ends first: they are a part of it
    crew.hear(&path).await;
    let ending = crew.ending(&path);
    let room = node.room.clone().map(Room::at);
    let done = spawn::off_the_loop(move || {
        if let Some(ending) = ending {
            ending.keep(&node);
        }
        carry_out(&node, &dir)
    })
    .await;
    let handed = done.is_ok();
    crew.update(&path, |kid| match done {
        Ok(report) => kid.hand_back = Some(report),
        Err(why) => kid.trouble(why),
    });
    crew.event(&path, Event::HandedBack);
    if let (true, Some(room)) = (handed, room) {
        spawn::off_the_loop(move || clean_up(&room)).await;
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

/// What came back of one. Blocking.
fn carry_out(node: &AgentNode, parent: &Path) -> Result<HandBackReport, String> {
    let Some(room) = node.room.as_ref().map(Room::at) else { return Ok(HandBackReport::default()) };
    if !room.is_born() && !room.record().exists() && !room.is_cut() {
        // its copy was being made when the program went: nobody worked in it
        if room.dir().exists() {
            room.drop_all().map_err(|error| chain(&error))?;
        }
        return Ok(HandBackReport::default());
    }
    in_turn(parent, || room.take_back(parent)).map(|record| report(&record)).map_err(|error| {
        let copy: PathBuf = room.copy();
        format!(
            "what it changed was not handed back: {}. Its copy stays in {}; `windlass handback show` with its name tries again",
            chain(&error),
            copy.display()
        )
    })
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
    }
}
