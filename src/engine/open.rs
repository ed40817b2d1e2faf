//! A session is opened: the directory, the lease and the journal are looked at, what a crash left is
//! settled, and the owner loop begins.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::api::board::{Live, Phase, Record, Status};
use crate::api::command::Command;
use crate::api::entry::{CallStart, Entry, EntryBody, Level, TurnEnd, TurnStatus};
use crate::api::event::Event;
use crate::api::message::Usage;
use crate::base::SessionId;
use crate::law::board::Board;
use crate::law::call::{self, Call, Effect, Told};
use crate::law::turn::Turn;
use crate::link::{AgentRecords, COMMANDS_MAX, EVENTS_MAX, Front, Shared, Wake};
use crate::sandbox::hold::Commands;
use crate::store::{self, Opening, Session};

use super::calls::{Calls, settled};
use super::history::{PERSON_HIDDEN, PERSON_SHOWN};
use super::options::{Options, Which, evidence};
use super::owner::{Meter, Owner, WORDS_MAX};

/// Bytes of an interrupted call's spool that its settle shows.
const RECOVERED_TAIL: u64 = 4096;

/// Why a session could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store refused; its words say why and what to do.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The directory cannot be worked in.
    #[error("{0}")]
    Directory(String),
    /// It is that of an agent with a copy of its own.
    #[error(
        "the session is the agent {name}'s, which works in a copy of its parent's directory; opened by itself it would work in that directory, and nothing would hold it. Open the parent's session (`windlass --session {parent}`) and write to {name} there"
    )]
    Agent {
        /// The agent's name.
        name: String,
        /// Its parent's session.
        parent: SessionId,
    },
    /// The model cannot be used.
    #[error("{0}")]
    Model(String),
    /// The owner loop's thread could not be started.
    #[error("the session's thread could not be started; too many processes or threads run")]
    Thread(#[source] std::io::Error),
}

/// A session that is open, or being opened. Its record tells its id and its directory.
pub struct Opened {
    /// What its front end holds.
    pub front: Front,
    /// Ends when the session is closed; with an error when it could not be opened.
    pub thread: JoinHandle<Result<(), OpenError>>,
}

/// The engine's ends of the channels.
struct Ends {
    shared: Shared,
    events: mpsc::Sender<Event>,
    commands: mpsc::Receiver<Command>,
    agents: AgentRecords,
}

/// What the store gave.
struct Found {
    session: Session,
    id: SessionId,
    dir: PathBuf,
    cwd: PathBuf,
    title: String,
    tree: store::tree::Tree,
    unsettled: Vec<CallStart>,
    jobs: super::jobs::Known,
    agents: super::children::Known,
    reports: Vec<String>,
    read_only: Option<String>,
}

/// Opens a session and runs its owner loop on a thread of its own.
pub fn open(options: Options, runtime: &Handle, wake: Wake) -> Result<Opened, OpenError> {
    let found = find(&options)?;
    let model = choose_model(&options, &found)?;
    let (ends, front) = ends(first_status(&options, &found), wake);
    let joined = ends.join(options, found, model);
    let thread = begin(runtime, move || Ok(joined))?;
    Ok(Opened { front, thread })
}

/// Like `open`, but answers at once: the session is opened behind it, for a long one takes a while. One that
/// cannot be opened tells `Closed`, and its thread why.
pub fn open_behind(options: Options, runtime: &Handle, wake: Wake) -> Result<Opened, OpenError> {
    let (ends, front) = ends(status_before(&options), wake);
    let thread = begin(runtime, move || {
        let found = find(&options).and_then(|found| {
            let model = choose_model(&options, &found)?;
            Ok((found, model))
        });
        match found {
            Ok((found, model)) => {
                ends.shared.change(|record| record.status = Arc::new(first_status(&options, &found)));
                Ok(ends.join(options, found, model))
            }
            Err(error) => {
                // the channel is empty: there is room
                let _ = ends.events.try_send(Event::Closed);
                drop(ends.commands);
                ends.shared.change(|_| ());
                Err(error)
            }
        }
    })?;
    Ok(Opened { front, thread })
}

fn ends(status: Status, wake: Wake) -> (Ends, Front) {
    let record = Record {
        jobs: crate::law::board::Board::default(),
        agents: crate::law::board::Board::default(),
        path: Vec::new(),
        epoch: 0,
        live: Live::default(),
        calls: Board::default(),
        approvals: Arc::new(Vec::new()),
        status: Arc::new(status),
        revision: 0,
    };
    let shared = Shared::new(record, wake);
    let (commands, commands_out) = mpsc::channel(COMMANDS_MAX);
    let (events, events_out) = mpsc::channel(EVENTS_MAX);
    let agents = AgentRecords::default();
    let front = Front { commands, events: events_out, shared: shared.clone(), agents: agents.clone() };
    (Ends { shared, events, commands: commands_out, agents }, front)
}

/// Runs the owner loop of what is made there.
fn begin(
    runtime: &Handle,
    make: impl FnOnce() -> Result<Joined, OpenError> + Send + 'static,
) -> Result<JoinHandle<Result<(), OpenError>>, OpenError> {
    let handle = runtime.clone();
    let run = move || {
        let Joined { mut owner, jobs, agents, commands, words } = make()?;
        handle.block_on(async move {
            owner.take_up_jobs(jobs);
            owner.take_up_agents(agents);
            owner.look_at_git();
            owner.take_up_hand_backs();
            owner.run(commands, words).await;
        });
        Ok(())
    };
    std::thread::Builder::new().name("session".into()).spawn(run).map_err(OpenError::Thread)
}

/// An owner and what it hears.
struct Joined {
    owner: Owner,
    jobs: super::jobs::Known,
    agents: super::children::Known,
    commands: mpsc::Receiver<Command>,
    words: mpsc::Receiver<super::owner::Word>,
}

impl Ends {
    /// The owner of what was found. What a crash left is settled.
    fn join(self, options: Options, mut found: Found, model: Option<super::ModelInUse>) -> Joined {
        let (words, words_out) = mpsc::channel(WORDS_MAX);
        let (unsettled, reports) = (std::mem::take(&mut found.unsettled), std::mem::take(&mut found.reports));
        let path = found.branch();
        let (jobs, agents) = (std::mem::take(&mut found.jobs), std::mem::take(&mut found.agents));
        let post = post(&options, &self.shared, self.agents);
        let mut owner = owner(options, found, model, self.shared.clone(), self.events, words, post);
        owner.head = path.last().map(|entry| entry.id.clone());
        for entry in &path {
            owner.count(&entry.body);
        }
        owner.spend_elsewhere(&path);
        self.shared.change(|record| record.path = path);
        let notices = owner.options.notices.clone();
        for text in reports.into_iter().chain(notices) {
            owner.say(Level::Warning, text);
        }
        owner.return_draft();
        if owner.read_only.is_none() {
            owner.recover(unsettled);
            owner.finish_restoring();
            owner.list_ended_jobs();
        }
        owner.publish_status();
        Joined { owner, jobs, agents, commands: self.commands, words: words_out }
    }
}

/// Its place among all agents: the first, or that of the agent whose session it is.
fn post(options: &Options, shared: &Shared, agents: AgentRecords) -> super::children::Post {
    match &options.child {
        Some(child) => child.crew.post(Some(child.path.clone()), shared),
        None => super::children::Crew::new(options.limits.agents, agents).post(None, shared),
    }
}

/// The tools of a session: an agent may have fewer, one that is as deep as agents may be has none to spawn more, and one in a
/// copy whose commands cannot be held there has none to run them.
fn tools(options: &Options, depth: usize) -> Vec<Arc<dyn crate::tool::Tool>> {
    let deep = depth >= usize::try_from(options.limits.agents.depth).unwrap_or(usize::MAX);
    let bound = options.held.as_ref().is_some_and(|held| matches!(held.commands(), Commands::Refused(_)));
    let given = options.child.as_ref().and_then(|child| child.tools.as_ref());
    let has = |name: &str| {
        let kept_back = deep && matches!(name, "spawn" | "agents") || bound && name == "bash";
        !kept_back && given.is_none_or(|given| given.iter().any(|tool| tool == name))
    };
    crate::tool::table::all().into_iter().filter(|tool| has(tool.spec().name)).collect()
}

/// The owner of what was found, with nothing under way.
fn owner(
    options: Options,
    found: Found,
    model: Option<super::ModelInUse>,
    shared: Shared,
    events: mpsc::Sender<Event>,
    words: mpsc::Sender<super::owner::Word>,
    post: super::children::Post,
) -> Owner {
    let jobs_dir = found.dir.join(store::session::JOBS);
    let held = options.held.as_ref().map(|held| Arc::new(held.of_session(&found.dir)));
    let options = Options { held, ..options };
    let limits = &options.limits;
    let named = super::fork::jobs_named(&found.tree);
    Owner {
        desk: super::jobs::Desk::new(shared.clone(), jobs_dir, named, limits.jobs_max, limits.jobs_kept),
        origins: super::fork::origins(&found.tree, &options.dirs, &found.dir),
        tree: found.tree,
        rewinding: None,
        hand_backs: super::hand_back::HandBacks::default(),
        held: std::collections::VecDeque::new(),
        nodes: super::jobs::Nodes::default(),
        cwd_real: crate::tool::path::real(&found.cwd).unwrap_or_else(|_| found.cwd.clone()),
        cwd: found.cwd,
        misplaced: false,
        shared,
        events,
        unsent: std::collections::VecDeque::new(),
        words,
        session_id: found.id,
        session_dir: found.dir,
        store: found.session,
        head: None,
        unwritten: Vec::new(),
        disk_failed: false,
        turn: Turn::default(),
        turn_began: None,
        messages: std::collections::BTreeMap::new(),
        next_message: 0,
        draft: String::new(),
        left_over: Vec::new(),
        draft_kept: String::new(),
        unsettled_since: None,
        stream: None,
        control: crate::provider::Control::default(),
        retrying: None,
        pause: None,
        tools: tools(&options, post.depth()),
        post,
        calls: Calls::default(),
        approvals: Vec::new(),
        rules: options.rules.clone(),
        model,
        mode: options.mode,
        thinking: options.thinking,
        title: found.title,
        git: None,
        trusted: options.trusted,
        system: String::new(),
        instructions: crate::workspace::instructions::Instructions::default(),
        meter: Meter { cost_known: true, ..Meter::default() },
        read_only: found.read_only,
        fail_why: None,
        owed: super::turn::Owed::default(),
        backstop: None,
        closing: None,
        leave_jobs: false,
        options: Arc::new(options),
    }
}

fn find(options: &Options) -> Result<Found, OpenError> {
    let cwd = options.cwd.as_deref();
    let id = match &options.which {
        Which::New => None,
        Which::Id(id) => Some(id.clone()),
        Which::Newest => {
            let dir =
                store::session::runs_in(cwd).map_err(|refusal| OpenError::Directory(refusal.to_string()))?;
            store::newest_for(&options.dirs, &dir.canonicalize().unwrap_or(dir))
        }
    };
    let Some(id) = id else {
        let dir =
            store::session::runs_in(cwd).map_err(|refusal| OpenError::Directory(refusal.to_string()))?;
        return Ok(Found::fresh(match &options.child {
            None => Session::create(&options.dirs, &dir)?,
            Some(child) => {
                let of = store::codec::Parent { session: child.parent.clone(), agent: child.name.clone() };
                Session::create_for(&options.dirs, &dir, child.session.clone(), of)?
            }
        }));
    };
    let there_now = options.child.as_ref().and(cwd);
    match Session::open_in(&options.dirs, &id, there_now)? {
        Opening::Ours(session, opened) => {
            let opened = *opened;
            let session = *session;
            if let (None, Some(of)) = (&options.child, &opened.header.of)
                && super::children::has_copy(&options.dirs, of, &id)
            {
                return Err(OpenError::Agent { name: of.agent.clone(), parent: of.session.clone() });
            }
            Ok(Found {
                id: session.id().clone(),
                dir: session.dir(),
                cwd: session.cwd().to_path_buf(),
                title: opened.title,
                tree: opened.tree,
                unsettled: opened.unsettled.into_iter().map(|u| u.start).collect(),
                jobs: super::jobs::Known { nodes: opened.jobs, over: opened.jobs_over },
                agents: super::children::Known { nodes: opened.agents, dismissed: opened.agents_dismissed },
                reports: opened.reports,
                read_only: None,
                session,
            })
        }
        Opening::Held(holder) => {
            let opened = store::view(&options.dirs, &id)?;
            let cwd = opened.header.cwd.clone().unwrap_or_default();
            // A session that is never begun stands in for the one that we may not write.
            let session = Session::create(&options.dirs, &cwd)?;
            let who = holder
                .map_or_else(|| "another program".to_owned(), |h| format!("the program with pid {}", h.pid));
            Ok(Found {
                dir: options.dirs.session(&id),
                cwd: session.cwd().to_path_buf(),
                title: opened.title,
                tree: opened.tree,
                unsettled: Vec::new(),
                jobs: super::jobs::Known::default(),
                agents: super::children::Known::default(),
                reports: opened.reports,
                read_only: Some(who),
                id,
                session,
            })
        }
    }
}

impl Found {
    /// The branch that is open.
    fn branch(&self) -> Vec<Arc<Entry>> {
        self.tree.path(self.tree.head.as_ref())
    }
    fn fresh(session: Session) -> Self {
        Self {
            id: session.id().clone(),
            dir: session.dir(),
            cwd: session.cwd().to_path_buf(),
            title: String::new(),
            tree: store::tree::Tree::default(),
            unsettled: Vec::new(),
            jobs: super::jobs::Known::default(),
            agents: super::children::Known::default(),
            reports: Vec::new(),
            read_only: None,
            session,
        }
    }
}

/// The model asked for; else the one that the session used last.
fn choose_model(options: &Options, found: &Found) -> Result<Option<super::ModelInUse>, OpenError> {
    if let Some(child) = &options.child {
        return Ok(Some(child.model.clone()));
    }
    let used = found.branch().iter().rev().find_map(|entry| match &entry.body {
        EntryBody::Setting(setting) => setting.model.clone(),
        EntryBody::Answer(answer) if !answer.model.is_empty() => Some(answer.model.clone()),
        _ => None,
    });
    let fallback = || options.fallback.as_ref().and_then(|name| options.models.find(name).ok());
    match (&options.model, used) {
        (Some(name), _) => options.models.find(name).map(Some).map_err(OpenError::Model),
        (None, Some(name)) => Ok(options.models.find(&name).ok().or_else(fallback)),
        (None, None) => Ok(fallback()),
    }
}

fn first_status(options: &Options, found: &Found) -> Status {
    Status {
        session: found.id.clone(),
        title: found.title.clone(),
        cwd: found.cwd.clone(),
        read_only: found.read_only.clone(),
        phase: Phase::Idle,
        ..status_before(options)
    }
}

/// What is told before anything was found.
fn status_before(options: &Options) -> Status {
    let id = match &options.which {
        Which::Id(id) => id.clone(),
        Which::New | Which::Newest => SessionId::new(""),
    };
    Status {
        session: id,
        title: String::new(),
        cwd: options.cwd.clone().unwrap_or_default(),
        branch: None,
        model: String::new(),
        scripted: false,
        rehearsal: options.rehearsal,
        mode: options.mode,
        profile: evidence(options.held.as_deref()).to_owned(),
        trusted: options.trusted,
        read_only: None,
        phase: Phase::Opening,
        turn_began: None,
        context: crate::api::board::Context::default(),
        usage: Usage::default(),
        cost: None,
        pending: Vec::new(),
        open_conflicts: 0,
        conflicted: std::collections::BTreeMap::new(),
        counted: 0,
        untold_ends: 0,
    }
}

impl Owner {
    /// Settles, once, what a crash left: calls as interrupted, from what is durable; the turn as interrupted.
    fn recover(&mut self, unsettled: Vec<CallStart>) {
        for start in unsettled {
            let told = durable(&start);
            // what may live on of a command whose keeper was killed with the program
            if let Some(dir) = start.spool.as_ref().and_then(|spool| spool.parent()) {
                crate::process::end_left_over(dir);
            }
            let (_, effects) = call::step(Call::found(told), call::Event::Recover);
            for effect in effects {
                if let Effect::CommitSettle(settle) = effect {
                    self.commit(EntryBody::CallSettle(settled(&start.call, settle, start.spool.clone())));
                }
            }
        }
        let open = self.shared.read().path.iter().rev().find_map(opens_turn).unwrap_or(false);
        if open {
            let why = Some("the program ended while the turn ran".to_owned());
            self.commit(EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Interrupted, why }));
        }
    }
}

/// Whether a turn is open after this entry; none where the entry does not say.
pub(super) fn opens_turn(entry: &Arc<Entry>) -> Option<bool> {
    match &entry.body {
        EntryBody::TurnEnd(_) => Some(false),
        EntryBody::User(_) | EntryBody::Answer(_) => Some(true),
        EntryBody::CallStart(start) if start.wire_id == PERSON_SHOWN || start.wire_id == PERSON_HIDDEN => {
            None
        }
        EntryBody::CallStart(_) => Some(true),
        EntryBody::CallSettle(_)
        | EntryBody::Notice(_)
        | EntryBody::Compaction(_)
        | EntryBody::Setting(_)
        | EntryBody::JobEnd(_)
        | EntryBody::AgentEnd(_)
        | EntryBody::Restore(_)
        | EntryBody::Unknown(_) => None,
    }
}

/// What is durable of a call that was cut: the newest part of its spool.
fn durable(start: &CallStart) -> Told<Usage> {
    let mut told = Told::nothing();
    let Some(path) = &start.spool else { return told };
    let Ok(mut file) = std::fs::File::open(path) else { return told };
    let size = file.metadata().map(|m| m.len()).unwrap_or(0);
    let mut bytes = Vec::new();
    use std::io::{Read, Seek, SeekFrom};
    let from = size.saturating_sub(RECOVERED_TAIL);
    if file.seek(SeekFrom::Start(from)).is_ok() && file.read_to_end(&mut bytes).is_ok() {
        told.tail = String::from_utf8_lossy(&bytes).into_owned();
        told.bytes = size;
    }
    told
}
