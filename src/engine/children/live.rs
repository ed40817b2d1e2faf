//! The task of one run of an agent: its copy, its session, its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

use crate::api::agent::{AgentNode, AgentState, Hold, Workspace};
use crate::base::chain;
use crate::engine::hand_back::in_turn;
use crate::engine::options::Options;
use crate::engine::{Opened, clock, open, spawn};
use crate::law::children::Event;
use crate::law::hand_back::tree::named;
use crate::link::Wake;
use crate::sandbox::hold::{self, Commands, Held};
use crate::tool::crew::{Stands, Stood};
use crate::workspace::child::Room;
use crate::workspace::child::born::{Around, Made};
use crate::workspace::child::error::Error;

use super::agent::Order;
use super::crew::Crew;
use super::watch::Watch;

/// How often the counts of a copy are told while it is made.
const TOLD_EVERY: Duration = Duration::from_millis(100);
/// Paths that a warning names.
const NAMED_MAX: usize = 8;

/// One run, from a place to where its session is closed. One that breaks off inside is told as closed.
pub async fn live(crew: Crew, path: String, orders: mpsc::Receiver<Order>) {
    if spawn::guarded(run(crew.clone(), path.clone(), orders)).await.is_none() {
        crew.leave(&path);
        crew.unprepared(&path, Some("it broke off inside Windlass".to_owned()));
    }
    crew.event(&path, Event::Closed);
}

async fn run(crew: Crew, path: String, mut orders: mpsc::Receiver<Order>) {
    let Some((options, node)) = crew.look(&path, |agent| (agent.options.clone(), agent.row.node.clone()))
    else {
        return;
    };
    let (mut stood, made) = match prepare(&crew, &path, &node).await {
        Ok(stood) => stood,
        Err(why) => return crew.unprepared(&path, why),
    };
    // what an earlier program left in its copy stays
    let unused = made.then_some(&node);
    let opened = match hold(&crew, &path, &node, options).await {
        Ok(options) => {
            stood.warnings.extend(options.held.as_ref().and_then(|held| less_held(held.commands())));
            opened(&crew, &path, options).await
        }
        Err(why) => Err(why),
    };
    let (session, woken) = match opened {
        Ok(opened) => opened,
        Err(why) => {
            drop_room(unused).await;
            return crew.unprepared(&path, Some(why));
        }
    };
    crew.update(&path, |agent| {
        agent.row.lacks.clone_from(&stood.lacks);
        agent.stands.send_replace(Stands::Works(stood));
    });
    crew.event(&path, Event::Prepared);
    let Opened { front, thread } = session;
    let began = Watch::new(crew.clone(), path.clone(), front, woken).run(&mut orders).await;
    // a session's thread that panicked has said so itself
    let _ = spawn::off_the_loop(move || thread.join()).await;
    if !began {
        drop_room(unused).await;
    }
    crew.leave(&path);
}

/// Its session is opened; woken when its record changes.
async fn opened(crew: &Crew, path: &str, options: Options) -> Result<(Opened, Arc<Notify>), String> {
    let woken = Arc::new(Notify::new());
    let (ringer, front) = (Arc::clone(&woken), crew.front_wake());
    let wake: Wake = Arc::new(move || {
        ringer.notify_one();
        front();
    });
    let handle = tokio::runtime::Handle::current();
    crew.hear(path).await;
    let one = crew.journals.lock().await;
    let session = spawn::off_the_loop(move || open(options, &handle, wake)).await;
    drop(one);
    if let Ok(session) = &session {
        // what it holds now is of earlier runs: it was told nothing yet
        crew.records().put(path.to_owned(), session.front.shared.clone());
    }
    crew.update(path, |agent| agent.row.began = Some(clock::now()));
    session.map(|session| (session, woken)).map_err(|error| chain(&error))
}

/// It is held inside its copy, if it has one.
async fn hold(crew: &Crew, path: &str, node: &AgentNode, options: Options) -> Result<Options, String> {
    let (Workspace::Isolated, Some(room), Some(seen)) = (node.workspace, &node.room, options.cwd.clone())
    else {
        return Ok(options);
    };
    let commands = Commands::choose(&hold::available().await, options.limits.unheld_commands);
    let how = match commands {
        Commands::Held => Hold::Held,
        Commands::Unheld => Hold::NotHeld,
        Commands::Refused(_) => Hold::NoCommands,
    };
    crew.update(path, |agent| agent.row.held = Some(how));
    let (dirs, room) = (options.dirs.clone(), Room::at(room));
    let held = spawn::off_the_loop(move || Held::new(&dirs, &seen, room.dir(), &room.copy(), commands)).await;
    let held = held.map_err(|error| format!("its copy cannot be found: {error}"))?;
    Ok(Options { held: Some(Arc::new(held)), ..options })
}

/// What is told of an agent in a copy that is not held as others are.
fn less_held(commands: &Commands) -> Option<String> {
    match commands {
        Commands::Held => None,
        Commands::Unheld => Some(
            "its commands are not held in its copy: they can reach everything (the setting agents.unheld_commands)"
                .to_owned(),
        ),
        Commands::Refused(why) => Some(format!(
            "it has no `bash`: on this machine its commands cannot be held in its copy ({why}). `windlass doctor` says \
             what is missing; with agents.unheld_commands they run without a hold"
        )),
    }
}

/// Makes its copy, if it is to have one; whether this run made it. Else why not; none: it was given up, and nothing of it
/// is left.
async fn prepare(crew: &Crew, path: &str, node: &AgentNode) -> Result<(Stood, bool), Option<String>> {
    let room = match (node.workspace, &node.room) {
        (Workspace::Isolated, Some(room)) => Room::at(room),
        (Workspace::Isolated, None) | (Workspace::Shared, _) => {
            return Ok((Stood { words: "shared".to_owned(), ..Stood::default() }, false));
        }
    };
    if room.record().exists() {
        return Err(Some("its copy was handed back already; tell it again".to_owned()));
    }
    let session = node.session.as_str();
    let named = |room: &Room| room.name_agent(session).map_err(|error| Some(chain(&error)));
    if room.is_born() {
        named(&room)?;
        let words = "isolated · its copy as it left it".to_owned();
        return Ok((Stood { words, ..Stood::default() }, false));
    }
    if room.dir().exists() {
        // a copy that a crash cut: nobody worked in it
        let cut = room.clone();
        let dropped = spawn::off_the_loop(move || cut.drop_all()).await;
        dropped.map_err(|error| Some(chain(&error)))?;
    }
    let (progress, parent) = crew
        .look(path, |agent| (Arc::clone(&agent.progress), agent.parent_dir.clone()))
        .ok_or(None::<String>)?;
    let told = Arc::clone(&progress);
    let own = crew.look(path, |agent| {
        let dirs = &agent.options.dirs;
        [dirs.state().to_owned(), dirs.config().to_owned()]
    });
    let own = own.ok_or(None::<String>)?;
    let makes = room.clone();
    let mut copying = Box::pin(spawn::off_the_loop(move || {
        // not while something is handed back into the directory: half of it would be in the base
        let turn = |work: &mut dyn FnMut()| in_turn(&parent, work);
        makes.make_minding(&parent, &Around { own: &own, in_turn: &turn }, &progress)
    }));
    let made = loop {
        tokio::select! {
            made = &mut copying => break made,
            () = tokio::time::sleep(TOLD_EVERY) => {
                let (files, of) = (told.files.load(Ordering::Relaxed), told.of.load(Ordering::Relaxed));
                crew.update(path, |agent| {
                    if let AgentState::Preparing { .. } = agent.row.state {
                        agent.row.state = AgentState::Preparing { files, of };
                    }
                    agent.stands.send_replace(Stands::Copying { files, of });
                });
            }
        }
    };
    match made {
        Ok(made) => named(&room).map(|()| (stood(&made), true)),
        Err(Error::Cancelled) => Err(None),
        Err(error) => Err(Some(chain(&error))),
    }
}

/// What was made, in words.
fn stood(made: &Made) -> Stood {
    let (counts, mut warnings) = (&made.counts, Vec::new());
    let links = counts.links.min(counts.made.len() as u64);
    let files = counts.made.len() as u64 - links;
    let and_links = if links == 0 { String::new() } else { format!(" and {}", counted(links, "link")) };
    if let Some(why) = &made.no_git {
        warnings.push(format!("git does not work in its copy: {why}"));
    }
    let how = if made.cloned { "cloned" } else { "copied" };
    if !made.cloned && counts.copied > 0 {
        warnings.push(format!(
            "this filesystem cannot clone: {} of {} in all copied twice",
            counted(counts.copied, "file"),
            counted(counts.bytes, "byte")
        ));
    }
    let lacks = (!counts.skipped.is_empty()).then(|| {
        let (are, they_are) =
            if counts.skipped.len() == 1 { ("is", "it is no file") } else { ("are", "they are no files") };
        format!(
            "{} {are} not in its copy, for {they_are} or cannot be read: {}",
            counted(counts.skipped.len() as u64, "path"),
            named(&counts.skipped, NAMED_MAX)
        )
    });
    warnings.extend(lacks.clone());
    if !made.repositories.is_empty() {
        warnings.push(format!(
            "directories in it that are repositories of their own were copied too; the files changed there come back, commits made there do not: {}",
            named(&made.repositories, NAMED_MAX)
        ));
    }
    Stood { words: format!("isolated · {}{and_links} · {how}", counted(files, "file")), warnings, lacks }
}

/// `1 file`, `214 files`.
fn counted(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

/// A copy that this run made and in which nothing was done goes.
async fn drop_room(made: Option<&AgentNode>) {
    if let Some(AgentNode { workspace: Workspace::Isolated, room: Some(room), .. }) = made {
        let room = Room::at(room);
        if let Err(error) = spawn::off_the_loop(move || room.drop_all()).await {
            tracing::warn!("a copy that was not used stays: {}", chain(&error));
        }
    }
}
