//! The hand-back of an agent that was stopped: on a blocking thread, one at a time in a directory.

use std::path::{Path, PathBuf};

use crate::api::agent::{AgentNode, HandBackReport, Workspace};
use crate::base::chain;
use crate::engine::hand_back::in_turn;
use crate::engine::spawn;
use crate::law::children::Event;
use crate::law::hand_back::merge1::Verdict;
use crate::store::{self, Dirs};
use crate::workspace::child::Room;
use crate::workspace::child::hand_back::Record;

use super::crew::Crew;

/// Hands back what an agent changed, and keeps what came of it for its end. One that fails leaves the copy as it is.
pub async fn hand_back(crew: &Crew, path: &str) {
    let Some((dir, node, dirs)) =
        crew.look(path, |kid| (kid.parent_dir.clone(), kid.row.node.clone(), kid.options.dirs.clone()))
    else {
        return;
    };
    let done = spawn::off_the_loop(move || carry_out(&dirs, &node, &dir)).await;
    crew.update(path, |kid| match done {
        Ok(report) => kid.hand_back = Some(report),
        Err(why) => kid.trouble(why),
    });
}

/// The same of one whose session is not open: it was cut by the end of a program.
pub async fn alone(crew: Crew, path: String) {
    hand_back(&crew, &path).await;
    crew.event(&path, Event::HandedBack);
}

/// First what its own agents changed in copies of its copy, which were cut with it. Blocking.
fn carry_out(dirs: &Dirs, node: &AgentNode, parent: &Path) -> Result<HandBackReport, String> {
    let Some(room) = node.room.as_ref().map(Room::at) else { return Ok(HandBackReport::default()) };
    if !room.is_born() && !room.record().exists() && !room.is_cut() {
        // its copy was being made when the program went: nobody worked in it
        if room.dir().exists() {
            room.drop_all().map_err(|error| chain(&error))?;
        }
        return Ok(HandBackReport::default());
    }
    if let Ok(session) = store::view(dirs, &node.session) {
        for (own, _) in &session.agents {
            if own.workspace == Workspace::Isolated && room.copy().is_dir() {
                // what cannot be handed back stays in its own copy
                if let Err(why) = carry_out(dirs, own, &room.copy()) {
                    tracing::warn!("{}: {why}", own.name);
                }
            }
        }
    }
    in_turn(parent, || room.hand_back(parent)).map(|record| report(&record)).map_err(|error| {
        let copy: PathBuf = room.copy();
        format!(
            "what it changed was not handed back: {}. Its copy stays in {}",
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
    }
}
