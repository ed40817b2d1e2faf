//! All agents of a session and theirs: the law behind a lock, its effects carried out, rows told to every session
//! above them.
//!
//! Held for moments, never across an await. Whoever holds it may take a record's lock, never the other way round.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use crate::api::access::Approval;
use crate::api::agent::{AgentEnd, AgentNode, AgentState};
use crate::api::entry::Level;
use crate::engine::{clock, spawn};
use crate::law::children::{Bounds, Children, Effect, End, Event, State, Work};
use crate::link::{AgentRecords, Shared, Wake};
use crate::tool::crew::Stands;

use super::agent::{Agent, Order};
use super::post::Post;

/// Orders that may wait for the task of one agent.
const ORDERS_MAX: usize = 64;
/// News of one session that wait for its owner; past it words are left out.
const NEWS_MAX: usize = 4096;

/// What the owner of a session must know of its agents.
#[derive(Debug)]
pub enum News {
    /// This one was asked for, or is to work again; what it is to be told.
    Began(AgentNode, String),
    /// This one ended.
    Ended(Box<AgentEnd>),
    /// Nothing is left of one that had not begun.
    Forgotten(AgentNode),
    /// Their open questions are others now.
    Asks,
    /// What one changed came back at last: what is open is counted anew.
    CameBack,
    /// A word for the person.
    Said(Level, String),
}

/// A session that is open, its agents' parent.
pub(super) struct Seat {
    shared: Shared,
    pub(super) news: Vec<News>,
    wake: Arc<Notify>,
}

pub(super) struct Inner {
    pub law: Children,
    pub agents: BTreeMap<String, Agent>,
    /// Sessions that are open, by the agent's path; none: the session itself.
    pub seats: BTreeMap<Option<String>, Seat>,
    pub closing: bool,
    /// What is done beside them that leaving waits for.
    pub beside: usize,
    /// Ends that the session of an agent has not heard, for it was closed before: by the agent's path.
    pub unheard: BTreeMap<String, Vec<AgentEnd>>,
    /// Runs that were taken off the list.
    pub dismissed: BTreeSet<(String, u32)>,
}

/// Something that leaving the session waits for, until it is dropped.
pub(super) struct Beside(Crew);

impl Drop for Beside {
    fn drop(&mut self) {
        let mut inner = self.0.inner();
        inner.beside = inner.beside.saturating_sub(1);
        if let Some(seat) = inner.seats.get(&None) {
            seat.wake.notify_one();
        }
    }
}

/// All agents of a session and theirs.
#[derive(Clone)]
pub struct Crew {
    inner: Arc<Mutex<Inner>>,
    records: AgentRecords,
    /// Held by who opens the session of an agent or writes to it while it is closed.
    pub(super) journals: Arc<tokio::sync::Mutex<()>>,
}

/// The part of a path behind a session's own; none: it is not under it.
pub(super) fn below<'a>(of: Option<&str>, path: &'a str) -> Option<&'a str> {
    match of {
        None => Some(path),
        Some(of) => path.strip_prefix(of)?.strip_prefix('/'),
    }
}

/// The path of an agent's parent.
pub(super) fn above(path: &str) -> Option<String> {
    path.rsplit_once('/').map(|(parent, _)| parent.to_owned())
}

impl Crew {
    /// None yet.
    pub fn new(bounds: Bounds, records: AgentRecords) -> Self {
        let inner = Inner {
            law: Children::new(bounds),
            agents: BTreeMap::new(),
            seats: BTreeMap::new(),
            closing: false,
            beside: 0,
            unheard: BTreeMap::new(),
            dismissed: BTreeSet::new(),
        };
        Self { inner: Arc::new(Mutex::new(inner)), records, journals: Arc::default() }
    }

    /// A session takes its place: it hears of its agents from here on.
    pub fn post(&self, path: Option<String>, shared: &Shared) -> Post {
        let wake = Arc::new(Notify::new());
        let seat = Seat { shared: shared.clone(), news: Vec::new(), wake: Arc::clone(&wake) };
        self.inner().seats.insert(path.clone(), seat);
        Post { crew: self.clone(), path, wake }
    }

    /// The session of an agent is closed.
    pub(super) fn leave(&self, path: &str) {
        let mut inner = self.inner();
        let left = inner.seats.remove(&Some(path.to_owned())).map(|seat| seat.news).unwrap_or_default();
        for news in left {
            inner.tell(Some(path.to_owned()), news);
        }
        self.write_unheard(&mut inner);
    }

    /// What wakes the front end: it may look at the record of any agent.
    pub(super) fn front_wake(&self) -> Wake {
        let shared = self.inner().seats.get(&None).map(|seat| seat.shared.clone());
        shared.map_or_else(|| Arc::new(|| ()) as Wake, |shared| shared.wake())
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn records(&self) -> &AgentRecords {
        &self.records
    }

    /// Leaving waits for what is done while this is held.
    pub(super) fn beside(&self) -> Beside {
        self.inner().beside(self)
    }

    /// Something happened to an agent.
    pub(super) fn event(&self, path: &str, event: Event) {
        let mut inner = self.inner();
        let quiet = event == Event::Heard;
        let effects = inner.law.step(path, event, clock::now());
        if !quiet || !effects.is_empty() {
            self.carry_out(&mut inner, effects);
        }
    }

    /// The turn of an agent is over, the last of as many; whether that is so: another one may have been begun meanwhile.
    pub(super) fn over(&self, path: &str, turns: usize, end: End) -> bool {
        let mut inner = self.inner();
        let owes = inner.agents.get(path).map(|agent| agent.owes).unwrap_or_default();
        if owes.messages > 0 || owes.turns > turns {
            return false;
        }
        let effects = inner.law.step(path, Event::Over(end), clock::now());
        self.carry_out(&mut inner, effects);
        true
    }

    /// Its copy and its session could not be made. One that was to go on is cut as it was, and the person is told.
    pub(super) fn unprepared(&self, path: &str, why: Option<String>) {
        self.event(path, Event::Unprepared(why.clone()));
        let cut = self.inner().law.state(path) == Some(&State::Cut);
        if let (true, Some(why)) = (cut, why) {
            self.said(path, Level::Warning, &format!("it could not go on: {why}. It is as it was"));
        }
    }

    /// Time passed.
    pub(super) fn tick(&self) {
        let mut inner = self.inner();
        let effects = inner.law.tick(clock::now());
        if !effects.is_empty() {
            self.carry_out(&mut inner, effects);
        }
    }

    /// When time must be told at the latest.
    pub(super) fn due(&self) -> Option<Instant> {
        let due = self.inner().law.due(clock::now())?;
        Instant::now().checked_add(Duration::from_millis(due.0))
    }

    pub(super) fn carry_out(&self, inner: &mut Inner, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Prepare(path) => self.prepare(inner, path),
                Effect::Begin(path) => inner.order(&path, Order::Begin),
                Effect::Halt(path) => {
                    inner.give_up_copy(&path);
                    inner.order(&path, Order::Halt);
                }
                Effect::Close(path) => {
                    inner.give_up_copy(&path);
                    inner.order(&path, Order::Close);
                }
                Effect::HandBack(path) => drop(spawn::task(super::back::hand_back(self.clone(), path))),
                Effect::Ended(path, end) => inner.ended(&path, end),
                Effect::CameBack(path) => inner.came_back(&path),
                Effect::Forget(path) => inner.forget(&path),
            }
        }
        inner.refresh();
        self.write_unheard(inner);
    }

    fn prepare(&self, inner: &mut Inner, path: String) {
        if let Some(agent) = inner.agents.get_mut(&path) {
            let (orders, taken) = mpsc::channel(ORDERS_MAX);
            agent.orders = Some(orders);
            agent.row.state = AgentState::Preparing { files: 0, of: 0 };
            agent.row.began = Some(clock::now());
            agent.stands.send_replace(Stands::Preparing);
            spawn::task(super::live::live(self.clone(), path, taken));
        }
    }

    /// Changes the row of an agent, and tells it where it changed.
    pub(super) fn update(&self, path: &str, change: impl FnOnce(&mut Agent)) {
        let mut inner = self.inner();
        let Some(agent) = inner.agents.get_mut(path) else { return };
        let before = agent.row.clone();
        change(agent);
        if agent.row != before {
            inner.publish(path);
        }
    }

    /// Reads something of an agent.
    pub(super) fn look<T>(&self, path: &str, look: impl FnOnce(&Agent) -> T) -> Option<T> {
        self.inner().agents.get(path).map(look)
    }

    /// The open questions of an agent are these now.
    pub(super) fn asks(&self, path: &str, approvals: Arc<Vec<Approval>>) {
        let asking = !approvals.is_empty();
        self.update(path, |agent| {
            agent.row.asks = approvals.len();
            agent.approvals = approvals;
        });
        self.event(path, Event::Asks(asking));
        self.inner().tell(above(path), News::Asks);
    }

    /// A word of an agent's session for the person.
    pub(super) fn said(&self, path: &str, level: Level, text: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.inner().tell(above(path), News::Said(level, format!("agent {name}: {text}")));
    }
}

impl Inner {
    pub(super) fn beside(&mut self, crew: &Crew) -> Beside {
        self.beside += 1;
        Beside(crew.clone())
    }

    fn order(&self, path: &str, order: Order) {
        if let Some(agent) = self.agents.get(path) {
            agent.order(order);
        }
    }

    fn give_up_copy(&self, path: &str) {
        if let Some(agent) = self.agents.get(path) {
            agent.progress.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }

    pub(super) fn tell(&mut self, session: Option<String>, news: News) {
        match (self.seats.get_mut(&session), session, news) {
            (Some(seat), _, news) => {
                if matches!(news, News::Ended(_)) {
                    seat.shared.change(|record| Arc::make_mut(&mut record.status).untold_ends += 1);
                }
                let word = matches!(news, News::Said(..));
                if !word || seat.news.len() < NEWS_MAX {
                    seat.news.push(news);
                }
                seat.wake.notify_one();
            }
            // the one above is closed: its journal hears of it
            (None, Some(path), News::Ended(end)) => self.unheard.entry(path).or_default().push(*end),
            (None, ..) => {}
        }
    }

    pub(super) fn has_seat(&self, path: &str) -> bool {
        self.seats.contains_key(&Some(path.to_owned()))
    }

    fn ended(&mut self, path: &str, end: End) {
        let Some(agent) = self.agents.get_mut(path) else { return };
        let (used, now) = (agent.used(), clock::now());
        agent.stands.send_if_modified(|stands| {
            let begins =
                matches!(stands, Stands::Waiting { .. } | Stands::Preparing | Stands::Copying { .. });
            if begins {
                // who waits for its beginning waits no longer, however it ended
                *stands = match &end {
                    End::Failed { why } => Stands::Failed(why.clone()),
                    End::Answered | End::Stalled { .. } | End::Stopped { .. } | End::Deleted => Stands::Gone,
                };
            }
            begins
        });
        let ended = Arc::new(AgentEnd {
            node: agent.row.node.clone(),
            answer: std::mem::take(&mut agent.answer),
            calls: used.calls,
            usage: used.usage,
            cost: used.cost,
            hand_back: agent.hand_back.take(),
            trouble: agent.trouble.take(),
            again: false,
            ended: now,
            duration: now.since(agent.row.node.asked),
            end,
        });
        agent.dismissed |= ended.end == End::Deleted;
        agent.row.state = AgentState::Ended(Arc::clone(&ended));
        agent.row.now.clear();
        agent.row.asks = 0;
        agent.approvals = Arc::default();
        agent.orders = None;
        agent.told.send_replace(Some(Arc::clone(&ended)));
        // before its row: who sees that it has ended sees that its parent does not know it yet
        self.tell(above(path), News::Ended(Box::new((*ended).clone())));
        self.publish(path);
        self.tell(above(path), News::Asks);
    }

    /// A hand-back that had failed was tried again: what came of it is told in a report of its own, that it failed again
    /// in a word.
    fn came_back(&mut self, path: &str) {
        let Some(agent) = self.agents.get_mut(path) else { return };
        let Some(told) = agent.told.borrow().clone() else { return };
        let again = AgentEnd {
            answer: String::new(),
            hand_back: agent.hand_back.take(),
            trouble: agent.trouble.take(),
            again: true,
            ended: clock::now(),
            ..(*told).clone()
        };
        let end = Arc::new(told.with_hand_back(&again));
        agent.row.state = AgentState::Ended(Arc::clone(&end));
        agent.told.send_replace(Some(end));
        self.publish(path);
        match &again.trouble {
            Some(why) => {
                let word = format!("agent {path}: {why}");
                self.tell(None, News::Said(Level::Warning, word));
            }
            None => {
                self.tell(above(path), News::Ended(Box::new(again)));
                self.tell(None, News::CameBack);
            }
        }
    }

    fn forget(&mut self, path: &str) {
        self.unlist(path);
        if let Some(agent) = self.agents.remove(path) {
            agent.stands.send_replace(Stands::Gone);
            self.tell(above(path), News::Forgotten(agent.row.node));
        }
    }

    /// Brings the rows in line with the law.
    fn refresh(&mut self) {
        let mut changed = Vec::new();
        for (path, agent) in &mut self.agents {
            let state = match self.law.state(path) {
                Some(State::Waiting) => {
                    let number = self.law.number(path).unwrap_or(1);
                    agent.stands.send_if_modified(|stands| {
                        let now = Stands::Waiting { number };
                        std::mem::replace(stands, now.clone()) != now
                    });
                    AgentState::Waiting { number }
                }
                Some(State::Working(Work::Turn)) => AgentState::Working,
                Some(State::Working(Work::Waits | Work::Over(_))) => AgentState::Resting,
                Some(State::Stopping(..)) => AgentState::Stopping,
                Some(State::HandingBack(_) | State::Again(_)) => AgentState::HandingBack,
                Some(State::Cut) => {
                    agent.orders = None;
                    AgentState::Cut
                }
                // these say more than the law
                Some(State::Preparing | State::Ended(_)) | None => continue,
            };
            if agent.row.state != state {
                agent.row.state = state;
                changed.push(path.clone());
            }
        }
        for path in changed {
            self.publish(&path);
        }
    }

    /// Tells the row of an agent to every session above it.
    pub(super) fn publish(&self, path: &str) {
        let Some(agent) = self.agents.get(path) else { return };
        if agent.dismissed {
            return self.unlist(path);
        }
        for (session, seat) in &self.seats {
            let Some(name) = below(session.as_deref(), path) else { continue };
            seat.shared.change(|record| match record.agents.get(&name.to_owned()) {
                Some(_) => record.agents.report(&name.to_owned(), |row| row.clone_from(&agent.row)),
                None => record.agents.begin(name.to_owned(), agent.row.clone()),
            });
        }
    }

    pub(super) fn unlist(&self, path: &str) {
        for (session, seat) in &self.seats {
            if let Some(name) = below(session.as_deref(), path) {
                seat.shared.change(|record| record.agents.end(&name.to_owned()));
            }
        }
    }
}
