//! What is kept of one agent: its row, how its session is opened, and who waits for it.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use crate::api::access::{Approval, Decision, Mode};
use crate::api::agent::{AgentEnd, AgentNode, AgentRow, AgentState, HandBackReport};
use crate::api::message::Usage;
use crate::base::{CallId, SessionId};
use crate::engine::options::{ModelInUse, Options};
use crate::tool::crew::Stands;
use crate::workspace::child::Progress;
use crate::workspace::child::Room;

use super::crew::Crew;

/// Whose session it is: a session that is opened with this is an agent's.
#[derive(Clone)]
pub struct ChildOf {
    /// All agents.
    pub crew: Crew,
    /// Its path among them.
    pub path: String,
    /// Its name under its parent.
    pub name: String,
    /// Its parent's session.
    pub parent: SessionId,
    /// Its own.
    pub session: SessionId,
    /// The directory that its work changes, as it really is.
    pub dir: PathBuf,
    /// Its model.
    pub model: ModelInUse,
    /// The tools that it may use; none: all.
    pub tools: Option<Vec<String>>,
}

/// What the task of an agent's run is to do.
#[derive(Debug)]
pub enum Order {
    /// Give it its words.
    Begin,
    /// Tell it this.
    Say(String),
    /// Cut its turn.
    Halt,
    /// Close its session.
    Close,
    /// The person answered a question of it.
    Decide(CallId, Decision),
    /// The person allows this for the session.
    Allow(String),
    /// The person changed the mode.
    Mode(Mode),
}

/// What a run began with, so that its own counts can be told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    pub calls: u64,
    pub usage: Usage,
    pub cost: Option<f64>,
}

/// One agent.
pub struct Agent {
    pub row: AgentRow,
    /// How its session is opened.
    pub options: Options,
    /// Its parent's directory, as it really is.
    pub parent_dir: PathBuf,
    /// What it is told when it begins.
    pub words: Vec<String>,
    /// The task of its run; none: none is under way.
    pub orders: Option<mpsc::Sender<Order>>,
    pub stands: watch::Sender<Stands>,
    pub told: watch::Sender<Option<Arc<AgentEnd>>>,
    /// The copying, and the wish to end it.
    pub progress: Arc<Progress>,
    /// Its open questions.
    pub approvals: Arc<Vec<Approval>>,
    /// What this run said last.
    pub answer: String,
    pub hand_back: Option<HandBackReport>,
    pub trouble: Option<String>,
    pub before: Before,
    /// This run began in an earlier program: what it used there counts too.
    pub resumed: bool,
    /// Taken off the list.
    pub dismissed: bool,
    /// What it must have come to before its turn can be over.
    pub owes: Owes,
}

/// What an agent must have come to before its turn can be over: it was begun while its record still told otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owes {
    /// Turns that its record must have ended, since its session was opened or before.
    pub turns: usize,
    /// Messages that the task of its run was not given yet.
    pub messages: usize,
}

impl Agent {
    /// One that was asked for, or that was found.
    pub fn new(node: AgentNode, options: Options, parent_dir: PathBuf, state: AgentState) -> Self {
        let row = AgentRow {
            held: None,
            lacks: None,
            state,
            calls: 0,
            usage: Usage::default(),
            cost: None,
            now: String::new(),
            asks: 0,
            began: None,
            node,
        };
        Self {
            row,
            options,
            parent_dir,
            words: Vec::new(),
            orders: None,
            stands: watch::channel(Stands::default()).0,
            told: watch::channel(None).0,
            progress: Arc::default(),
            approvals: Arc::default(),
            answer: String::new(),
            hand_back: None,
            trouble: None,
            before: Before::default(),
            resumed: false,
            dismissed: false,
            owes: Owes::default(),
        }
    }

    /// Another run begins: what the last one left is told no more.
    pub fn begin_again(&mut self) {
        self.told.send_replace(None);
        self.stands.send_replace(Stands::default());
        self.progress = Arc::default();
        (self.answer, self.hand_back, self.trouble) = (String::new(), None, None);
        self.before = Before { calls: self.row.calls, usage: self.row.usage, cost: self.row.cost };
        (self.dismissed, self.resumed, self.owes) = (false, false, Owes::default());
    }

    /// What this run used.
    pub fn used(&self) -> Before {
        let (now, was) = (&self.row.usage, &self.before.usage);
        Before {
            calls: self.row.calls.saturating_sub(self.before.calls),
            usage: Usage {
                input: now.input.saturating_sub(was.input),
                output: now.output.saturating_sub(was.output),
                cache_read: now.cache_read.saturating_sub(was.cache_read),
                cache_write: now.cache_write.saturating_sub(was.cache_write),
                reasoning: now.reasoning.saturating_sub(was.reasoning),
            },
            cost: self.row.cost.map(|cost| cost - self.before.cost.unwrap_or(0.0)),
        }
    }

    /// Whether what it changed is in its copy only: it was to be handed back, and that failed.
    pub fn holds_work(&self) -> bool {
        let failed = self.row.end().is_some_and(|end| end.hand_back_failed());
        let room = self.row.node.room.as_ref().map(Room::at);
        failed && room.is_some_and(|room| room.is_born() && !room.record().exists())
    }

    /// Something went wrong beside it.
    pub fn trouble(&mut self, why: String) {
        self.trouble = Some(match self.trouble.take() {
            Some(before) => format!("{before}; {why}"),
            None => why,
        });
    }

    /// Gives the task of its run an order. One that is far behind gets it later, never not.
    pub fn order(&self, order: Order) {
        let Some(orders) = &self.orders else { return };
        if let Err(mpsc::error::TrySendError::Full(order)) = orders.try_send(order) {
            let orders = orders.clone();
            crate::engine::spawn::task(async move { drop(orders.send(order).await) });
        }
    }
}
