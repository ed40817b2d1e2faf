//! The owner loop of a session: it alone changes the session. Everything that happens reaches it as a
//! command, a stream event or a word of a task; each is handled to its end before the next.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::api::access::{Approval, Mode, Wish};
use crate::api::board::{Context, Pending, Phase as Shown};
use crate::api::command::{AgentAsk, Command};
use crate::api::event::{Event, Reply};
use crate::api::message::{Image, Thinking, Usage};
use crate::base::{CallId, EntryId, Millis, SessionId};
use crate::law::access::rule::Rules;
use crate::law::turn::{self, Phase, Turn};
use crate::link::Shared;
use crate::provider::Control;
use crate::tool::{Tool, ToolEnd};
use crate::workspace::git::GitState;
use crate::workspace::instructions::Instructions;

use super::calls::Calls;
use super::options::{ModelInUse, Options};
use super::stream::Stream;

/// Words of tasks that may wait for the owner.
pub(super) const WORDS_MAX: usize = 256;
/// How long a journal that could not be written rests before the next try.
const REST: Duration = Duration::from_secs(2);
/// How long a call's settle is tried again before the turn fails without it.
const SETTLE_MAX: Duration = Duration::from_secs(10);
/// How long a session may take to close; then what did not end is left to the next open.
const CLOSE_MAX: Duration = Duration::from_secs(8);

/// What a task tells the owner.
pub enum Word {
    /// What a call wants, or what is wrong with its input.
    Wished(CallId, Result<Wish, String>),
    /// A call came to its end.
    CallEnded(CallId, ToolEnd),
    /// The session's directory is not where it was, so a call cannot run: what became of it.
    Misplaced(CallId, String),
    /// A call's task is gone without an end.
    CallLost(CallId),
    /// A query was answered.
    Replied(u64, Reply),
    /// The git state of the directory.
    Git(Option<GitState>),
    /// A rewind's files were looked at.
    Planned(Box<super::restore::Plan>),
    /// Files were put back; none: it broke off inside.
    PutBack(Option<Box<super::restore::Done>>),
    /// The hand-backs were looked at.
    HandBacks(super::hand_back::Looked),
    /// Nothing to do.
    Nothing,
}

/// A message of the person on its way.
pub(super) struct Outgoing {
    pub text: String,
    pub images: Vec<Image>,
}

/// What fills the window, and what was spent.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// The provider's count with the newest answer.
    pub counted: Option<u64>,
    /// Bytes that came after that count.
    pub bytes_since: u64,
    /// Bytes of instructions and tools, counted while no provider has counted.
    pub fixed_bytes: u64,
    /// Tokens spent.
    pub usage: Usage,
    /// Dollars spent.
    pub cost: f64,
    /// Whether every answer's price was known.
    pub cost_known: bool,
    /// The prices of the models that answered, as far as they are known.
    pub prices: std::collections::HashMap<String, Option<crate::api::provider::Price>>,
}

/// A session and all that it owns.
pub struct Owner {
    pub(super) options: Arc<Options>,
    pub(super) cwd: std::path::PathBuf,
    /// Where that led when the session was opened, every link resolved.
    pub(super) cwd_real: std::path::PathBuf,
    /// It is not there now, and the person was told.
    pub(super) misplaced: bool,
    pub(super) shared: Shared,
    pub(super) events: mpsc::Sender<Event>,
    pub(super) unsent: VecDeque<Event>,
    pub(super) words: mpsc::Sender<Word>,
    pub(super) session_id: SessionId,
    pub(super) session_dir: std::path::PathBuf,
    pub(super) store: crate::store::Session,
    pub(super) head: Option<EntryId>,
    pub(super) unwritten: Vec<crate::api::entry::Entry>,
    pub(super) disk_failed: bool,
    pub(super) turn: Turn,
    pub(super) turn_began: Option<Millis>,
    pub(super) messages: BTreeMap<u64, Outgoing>,
    pub(super) next_message: u64,
    /// What stands in the composer, as it was told last.
    pub(super) draft: String,
    /// What was given back while the session closes: nobody is there to take it.
    pub(super) left_over: Vec<String>,
    /// What the draft's file holds.
    pub(super) draft_kept: String,
    /// Since when a settle could not be written.
    pub(super) unsettled_since: Option<Instant>,
    pub(super) stream: Option<Stream>,
    pub(super) control: Control,
    pub(super) retrying: Option<Shown>,
    pub(super) pause: Option<Instant>,
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) calls: Calls,
    /// The agents.
    pub(super) post: super::children::Post,
    /// The jobs.
    pub(super) desk: super::jobs::Desk,
    /// All entries, of every branch.
    pub(super) tree: crate::store::tree::Tree,
    /// Directories of other sessions that entries of this one name: it was forked from them.
    pub(super) origins: Vec<std::path::PathBuf>,
    /// A rewind, or the taking back of a restoring, that is under way.
    pub(super) rewinding: Option<super::rewind::Rewinding>,
    /// What came back from children.
    pub(super) hand_backs: super::hand_back::HandBacks,
    /// Commands that wait for its end.
    pub(super) held: VecDeque<Command>,
    /// What the journal is to hold of them.
    pub(super) nodes: super::jobs::Nodes,
    pub(super) approvals: Vec<Approval>,
    pub(super) rules: Rules,
    pub(super) model: Option<ModelInUse>,
    pub(super) mode: Mode,
    pub(super) thinking: Thinking,
    pub(super) title: String,
    pub(super) git: Option<GitState>,
    pub(super) trusted: Option<bool>,
    pub(super) system: String,
    pub(super) instructions: Instructions,
    pub(super) meter: Meter,
    pub(super) read_only: Option<String>,
    pub(super) fail_why: Option<String>,
    pub(super) owed: super::turn::Owed,
    pub(super) backstop: Option<Instant>,
    /// The session is being closed: until when at most.
    pub(super) closing: Option<Instant>,
    /// Jobs go on when it has been.
    pub(super) leave_jobs: bool,
}

impl Owner {
    /// Runs until the session is closed.
    pub(super) async fn run(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        mut words: mpsc::Receiver<Word>,
    ) {
        self.publish_status();
        let jobs = self.desk.wake.clone();
        let agents = self.post.wake.clone();
        while !self.done() {
            let deadline = self.deadline();
            tokio::select! {
                command = commands.recv() => match command {
                    Some(Command::Close { leave_jobs }) => self.close(leave_jobs),
                    None => self.close(false),
                    Some(command) => self.on_command(command),
                },
                Some(word) = words.recv() => self.on_word(word),
                event = Stream::next(&mut self.stream) => self.on_stream(event),
                () = jobs.notified() => self.on_jobs(),
                () = agents.notified() => self.on_agents(),
                () = Self::at(deadline) => self.on_deadline(),
            }
            self.go_on_rewinding();
        }
        self.on_jobs();
        self.on_agents();
        self.write_nodes();
        self.flush();
        self.keep_draft();
        // Closed, and its lease given back, before the word goes out.
        drop(self.store);
        // A front end that is gone needs no word.
        let _ = self.events.send(Event::Closed).await;
        self.shared.change(|_| ());
    }

    async fn at(deadline: Option<Instant>) {
        match deadline {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let rest = self.disk_failed.then(|| Instant::now() + REST);
        [self.pause, self.backstop, self.closing, self.nodes.due, self.rewinding_due(), rest]
            .into_iter()
            .flatten()
            .min()
    }

    fn on_deadline(&mut self) {
        let now = Instant::now();
        if self.pause.is_some_and(|at| at <= now) {
            self.pause = None;
            self.retrying = None;
            self.turn_event(turn::Event::TryNow);
        }
        if self.backstop.is_some_and(|at| at <= now) {
            self.backstop = None;
            self.give_up_calls();
        }
        self.rewinding_stopped(None);
        if self.nodes.due.is_some_and(|at| at <= now) {
            self.write_nodes();
        }
        if self.disk_failed && self.flush() {
            self.settle_again();
        }
        if self.unsettled_since.is_some_and(|since| since + SETTLE_MAX <= now) {
            self.abandon_calls();
        }
    }

    fn done(&self) -> bool {
        let Some(until) = self.closing else { return false };
        let over = self.turn.phase() == Phase::Idle
            && self.rewinding.is_none()
            && self.hand_backs.at_rest()
            && self.stream.is_none()
            && self.calls.is_empty()
            && self.desk.none_to_end()
            && self.post.at_rest();
        over || until <= Instant::now()
    }

    /// Ends the turn, and the commands that the person ran beside it.
    pub(super) fn interrupt(&mut self) {
        self.turn_event(turn::Event::Interrupt);
        self.abandon_calls();
        if self.turn.phase() == Phase::Idle && !self.calls.is_empty() {
            self.cancel_all();
        }
    }

    fn close(&mut self, leave_jobs: bool) {
        self.closing.get_or_insert(Instant::now() + CLOSE_MAX);
        self.interrupt();
        self.cancel_all();
        self.forgo_rewinding();
        self.end_jobs(leave_jobs);
        self.post.close();
        self.hand_backs.close();
        if self.disk_failed {
            self.abandon_calls();
        }
    }

    fn on_word(&mut self, word: Word) {
        match word {
            Word::Wished(call, wish) => self.on_wish(&call, wish),
            Word::CallEnded(call, end) => self.on_call_ended(&call, end),
            Word::Misplaced(call, why) => self.on_misplaced(&call, &why),
            Word::CallLost(call) => self.on_call_lost(&call),
            Word::Replied(number, reply) => self.event(Event::Answered { number, reply }),
            Word::Git(git) => {
                self.git = git;
                self.publish_status();
            }
            Word::Planned(plan) => self.on_planned(*plan),
            Word::PutBack(done) => self.on_put_back(done),
            Word::HandBacks(looked) => self.on_hand_backs(looked),
            Word::Nothing => {}
        }
    }

    pub(super) fn on_command(&mut self, command: Command) {
        let Some(command) = self.hold(command) else { return };
        if let Some(holder) = &self.read_only
            && !matches!(
                command,
                Command::Ask { .. }
                    | Command::Interrupt
                    | Command::Draft(_)
                    | Command::Fork { .. }
                    | Command::Agent { ask: AgentAsk::Look, .. }
            )
        {
            let text =
                format!("This view is read-only: {holder} has the session open. Close it there first.");
            self.say(crate::api::entry::Level::Warning, text);
            if let Command::Send { text, images, .. } = command {
                self.event(Event::TakenBack { text, images });
            }
            return;
        }
        match command {
            Command::Send { text, images, after_turn } => self.send(text, images, after_turn),
            Command::TakeBack { id } => self.turn_event(turn::Event::TakeBack { id }),
            Command::Interrupt => self.interrupt(),
            Command::Decide { call, decision } => self.decide(&call, decision),
            Command::Retry => self.retry(),
            Command::SetMode(mode) => self.set_mode(mode),
            Command::SetModel(name) => self.set_model(&name),
            Command::SetThinking(thinking) => {
                self.thinking = thinking;
                self.publish_status();
            }
            Command::Compact => self.turn_event(turn::Event::CompactAsked),
            Command::Rename(title) => self.rename(title),
            Command::Rewind { to, restore, take_back } => self.rewind(to, restore, take_back),
            Command::Detach { call } => self.detach(call),
            Command::Job { job, ask } => self.job(job, ask),
            Command::Agent { path, ask } => self.agent(&path, ask),
            Command::Allow(rule) => self.allow(&rule),
            Command::UndoRestore => self.undo_restore(),
            Command::Fork { to, take_back } => self.fork(to.as_ref(), take_back.as_ref()),
            Command::Shell { command, hidden } => self.run_shell(command, hidden),
            Command::Trust(trust) => self.trust(trust),
            Command::Ask { number, query } => self.ask_query(number, query),
            Command::Tell { level, text } => self.say(level, text),
            Command::Draft(text) => {
                self.draft = text;
                self.keep_draft();
            }
            Command::Close { leave_jobs } => self.close(leave_jobs),
        }
    }

    fn send(&mut self, text: String, images: Vec<Image>, after_turn: bool) {
        if self.model.is_none() {
            let text_back = text;
            self.say(
                crate::api::entry::Level::Warning,
                "No model is chosen yet. Choose one with /model; the message is back in the composer.".into(),
            );
            self.event(Event::TakenBack { text: text_back, images });
            return;
        }
        // What stood in the composer is on its way now.
        self.draft.clear();
        self.next_message += 1;
        let id = self.next_message;
        self.messages.insert(id, Outgoing { text, images });
        self.turn_event(turn::Event::Send { id, after_turn });
    }

    fn retry(&mut self) {
        if self.pause.take().is_some() {
            self.retrying = None;
            self.turn_event(turn::Event::TryNow);
        } else if self.stream.is_some() {
            self.control.retry_now.notify_waiters();
        } else {
            self.turn_event(turn::Event::TryNow);
        }
    }

    /// Shows the title and status lines as they are now.
    pub(super) fn publish_status(&mut self) {
        let phase = self.shown_phase();
        let pending: Vec<Pending> = self
            .turn
            .waiting()
            .map(|(id, after_turn)| Pending {
                id,
                text: self.messages.get(&id).map(|m| m.text.clone()).unwrap_or_default(),
                after_turn,
            })
            .collect();
        let context = Context { used: self.used(), window: self.model.as_ref().and_then(|m| m.card.window) };
        let (model, scripted) = self.model.as_ref().map(|m| (m.id.clone(), m.scripted)).unwrap_or_default();
        let approvals = {
            let mut all = self.approvals.clone();
            all.extend(self.post.approvals());
            (*self.shared.read().approvals != all).then(|| Arc::new(all))
        };
        self.shared.change(|record| {
            let status = Arc::make_mut(&mut record.status);
            status.title.clone_from(&self.title);
            status.branch = self.git.as_ref().map(GitState::word);
            status.model = model;
            status.scripted = scripted;
            status.mode = self.mode;
            status.trusted = self.trusted;
            status.read_only.clone_from(&self.read_only);
            status.phase = phase;
            status.turn_began = self.turn_began;
            status.context = context;
            status.usage = self.meter.usage;
            status.cost = self.meter.cost_known.then_some(self.meter.cost);
            status.pending = pending;
            if let Some(approvals) = approvals {
                record.approvals = approvals;
            }
        });
    }

    pub(super) fn shown_phase(&self) -> Shown {
        match self.turn.phase() {
            Phase::Idle if !self.calls.is_empty() => Shown::Calling,
            Phase::Idle => Shown::Idle,
            Phase::Asking | Phase::Pausing => match (&self.retrying, &self.stream) {
                (Some(retrying), _) => retrying.clone(),
                (None, Some(stream)) if stream.began() => Shown::Streaming,
                (None, _) => Shown::Waiting,
            },
            Phase::Calling { .. } => Shown::Calling,
            Phase::Compacting { .. } => Shown::Compacting,
            Phase::Stopping { .. } => Shown::Stopping,
        }
    }
}
