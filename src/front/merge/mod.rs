//! One merge for git or jj: the conflict viewer's questions answered over four plain files, without a session.
//!
//! In reading order: `files` (the four of them: read, and the result written), `desk` (what is asked of the one path),
//! `proposals` (merge programs, beside it).
//! Here: a thread that stands in for a session, so that the screen needs not know.
//!
//! Not here: the screen, and the command line.

mod desk;
mod files;
mod proposals;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use crate::api::access::Mode;
use crate::api::board::{Context, Live, Phase, Record, Status};
use crate::api::command::{Command, Query};
use crate::api::event::{Event, Reply};
use crate::api::hand_back::{HandBackAsk, HandBackReply};
use crate::api::message::Usage;
use crate::base::SessionId;
use crate::law::board::Board;
use crate::link::{AgentRecords, COMMANDS_MAX, EVENTS_MAX, Front, Shared, Wake};

use desk::Desk;
use proposals::Proposals;

/// The files of one merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// What both began with.
    pub base: PathBuf,
    /// Ours.
    pub local: PathBuf,
    /// Theirs.
    pub remote: PathBuf,
    /// Where the result goes.
    pub merged: PathBuf,
    /// The path that it is of, where the result goes elsewhere: it is shown, and tells the language.
    pub path: Option<PathBuf>,
}

impl Files {
    /// The path that the result is of.
    pub fn shown(&self) -> &Path {
        self.path.as_deref().unwrap_or(&self.merged)
    }
}

/// A merge that is open.
pub struct Opened {
    /// What its front end holds.
    pub front: Front,
    thread: JoinHandle<bool>,
}

/// Opens a merge; or in words which file cannot be read. `path`: where a merge program is looked for.
pub fn open(files: &Files, path: OsString, wake: Wake) -> Result<Opened, String> {
    let desk = Desk::open(files, path)?;
    let shared = Shared::new(record(files), wake);
    let (commands, commands_out) = mpsc::channel(COMMANDS_MAX);
    let (events_in, events) = mpsc::channel(EVENTS_MAX);
    let ours = shared.clone();
    let thread = std::thread::Builder::new()
        .name("merge".into())
        .spawn(move || serve(desk, &ours, commands_out, &events_in))
        .map_err(|error| format!("the merge's thread could not be started: {error}"))?;
    Ok(Opened { front: Front { commands, events, shared, agents: AgentRecords::default() }, thread })
}

impl Opened {
    /// Closes it; whether the result was written.
    pub fn close(mut self) -> bool {
        if self.front.commands.blocking_send(Command::Close { leave_jobs: false }).is_ok() {
            while let Some(event) = self.front.events.blocking_recv() {
                if event == Event::Closed {
                    break;
                }
            }
        }
        // a thread that panicked has said so itself
        self.thread.join().unwrap_or(false)
    }
}

/// Answers until it is closed; whether the result is written then.
fn serve(
    mut desk: Desk,
    shared: &Shared,
    mut commands: mpsc::Receiver<Command>,
    events: &mpsc::Sender<Event>,
) -> bool {
    let mut proposals = Proposals::default();
    while let Some(command) = commands.blocking_recv() {
        match command {
            Command::Ask { number, query } => {
                let reply = match query {
                    Query::HandBack(HandBackAsk::Propose { .. }) => {
                        let wanted = desk.wanted();
                        match wanted.and_then(|wanted| proposals.begin(number, wanted, shared, events)) {
                            // it answers itself
                            Ok(()) => continue,
                            Err(why) => Reply::Failed(why),
                        }
                    }
                    Query::HandBack(HandBackAsk::StopProposal { .. }) => {
                        proposals.stop();
                        Reply::HandBack(HandBackReply::Stopped)
                    }
                    Query::HandBack(ask) => desk.answer(ask),
                    Query::Commands => Reply::Commands(Vec::new()),
                    _ => Reply::Failed(ALONE.into()),
                };
                let open = desk.open_conflicts();
                shared.change(|record| Arc::make_mut(&mut record.status).open_conflicts = open);
                if events.blocking_send(Event::Answered { number, reply }).is_err() {
                    break;
                }
            }
            Command::Close { .. } => break,
            // nothing else is a matter of a merge, and the viewer alone asks for none of it
            _ => {}
        }
        shared.change(|_| ());
    }
    drop(proposals);
    // a front end that is gone needs no word
    let _ = events.blocking_send(Event::Closed);
    shared.change(|_| ());
    desk.is_written()
}

/// What is said to a question that needs a session.
const ALONE: &str = "This is one merge and no session: start windlass in the directory for that.";

fn record(files: &Files) -> Record {
    let status = Status {
        session: SessionId::new(""),
        title: String::new(),
        cwd: std::env::current_dir().unwrap_or_default(),
        branch: None,
        model: String::new(),
        scripted: false,
        rehearsal: false,
        mode: Mode::default(),
        profile: String::new(),
        trusted: None,
        read_only: None,
        phase: Phase::Idle,
        turn_began: None,
        context: Context::default(),
        usage: Usage::default(),
        cost: None,
        pending: Vec::new(),
        open_conflicts: 1,
        conflicted: std::collections::BTreeMap::new(),
        counted: 0,
        untold_ends: 0,
    };
    let title = files.shown().display().to_string();
    Record {
        path: Vec::new(),
        epoch: 0,
        live: Live::default(),
        calls: Board::default(),
        jobs: Board::default(),
        agents: Board::default(),
        approvals: Arc::new(Vec::new()),
        status: Arc::new(Status { title, ..status }),
        revision: 0,
    }
}
