//! What an agent's record tells goes to its row, and its turn's end to the law; what is ordered goes to its session.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use crate::api::board::{Phase, Record};
use crate::api::command::Command;
use crate::api::entry::{EntryBody, TurnStatus};
use crate::api::event::Event as Told;
use crate::api::message::Usage;
use crate::law::children::{By, End, Event};
use crate::link::Front;

use super::agent::Order;
use super::crew::Crew;

/// A session that is watched.
pub struct Watch {
    crew: Crew,
    path: String,
    front: Front,
    woken: Arc<Notify>,
    /// How far its entries were read.
    position: usize,
    calls: u64,
    answer: String,
    /// Messages that it was given, and how many of them stand in the record.
    sent: usize,
    delivered: usize,
    /// How the turn ended that ended last; none: one is open.
    turn: Option<(TurnStatus, Option<String>)>,
    /// Turns that ended, in earlier runs too.
    turns: usize,
    /// The end of the last one was told.
    over: bool,
    /// Tokens that were counted.
    used: u64,
    revision: u64,
    asked: Arc<Vec<crate::api::access::Approval>>,
    began: bool,
}

/// One moment of its record.
struct Seen {
    busy: bool,
    now: String,
    usage: Usage,
    cost: Option<f64>,
}

impl Watch {
    /// Of a session that was opened just now. What it did in earlier runs is not counted again.
    pub fn new(crew: Crew, path: String, front: Front, woken: Arc<Notify>) -> Self {
        let (position, usage, calls, turns) = {
            let record = front.shared.read();
            let calls = record.path.iter().filter(|e| matches!(e.body, EntryBody::CallStart(_))).count();
            let turns = record.path.iter().filter(|e| matches!(e.body, EntryBody::TurnEnd(_))).count();
            (record.path.len(), record.status.usage, calls as u64, turns)
        };
        crew.update(&path, |agent| {
            (agent.row.usage, agent.row.calls) = (usage, calls);
            if !agent.resumed {
                (agent.before.usage, agent.before.calls) = (usage, calls);
            }
        });
        Self {
            crew,
            path,
            front,
            woken,
            position,
            calls,
            answer: String::new(),
            sent: 0,
            delivered: 0,
            turn: None,
            turns,
            over: false,
            used: usage.total(),
            revision: 0,
            asked: Arc::default(),
            began: false,
        }
    }

    /// Watches until it is told to close, and closes it; whether it ever had words.
    pub async fn run(mut self, orders: &mut mpsc::Receiver<Order>) -> bool {
        loop {
            self.look();
            let due = self.crew.due();
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Close) | None => break,
                    Some(order) => self.carry_out(order).await,
                },
                () = self.woken.notified() => {}
                told = self.front.events.recv() => match told {
                    Some(Told::Closed) | None => return self.began,
                    Some(told) => self.told(told),
                },
                () = at(due) => self.crew.tick(),
            }
        }
        self.send(Command::Close { leave_jobs: false }).await;
        while let Some(told) = self.front.events.recv().await {
            if told == Told::Closed {
                break;
            }
            self.told(told);
        }
        self.look();
        self.began
    }

    async fn send(&self, command: Command) {
        // it is gone only when its events end, which is seen there
        let _ = self.front.commands.send(command).await;
    }

    async fn say(&mut self, text: String) {
        self.began = true;
        self.sent += 1;
        self.send(Command::Send { text, images: Vec::new(), after_turn: false }).await;
    }

    async fn carry_out(&mut self, order: Order) {
        match order {
            Order::Begin => {
                let mut words = Vec::new();
                self.crew.update(&self.path, |agent| words = std::mem::take(&mut agent.words));
                self.say(words.join("\n\n")).await;
            }
            Order::Say(text) => {
                self.say(text).await;
                self.crew
                    .update(&self.path, |agent| agent.owes.messages = agent.owes.messages.saturating_sub(1));
            }
            Order::Halt => self.send(Command::Interrupt).await,
            Order::Decide(call, decision) => self.send(Command::Decide { call, decision }).await,
            Order::Allow(rule) => self.send(Command::Allow(rule)).await,
            Order::Mode(mode) => self.send(Command::SetMode(mode)).await,
            // it is heard where orders are
            Order::Close => {}
        }
    }

    fn told(&mut self, told: Told) {
        match told {
            Told::Said { level, text } => self.crew.said(&self.path, level, &text),
            Told::TakenBack { text, .. } => {
                self.sent = self.sent.saturating_sub(1);
                // it may be all that was waited for
                (self.revision, self.over) = (0, false);
                let line = crate::tool::input::one_line(&text, 80);
                self.crew
                    .update(&self.path, |agent| agent.trouble(format!("it was not told any more: {line}")));
            }
            Told::Answered { .. } | Told::Rewound(_) | Told::Forked(_) | Told::Closed => {}
        }
    }

    fn look(&mut self) {
        let (seen, approvals, revision) = {
            let shared = self.front.shared.clone();
            let record = shared.read();
            if record.revision == self.revision {
                return;
            }
            (self.read(&record), Arc::clone(&record.approvals), record.revision)
        };
        self.revision = revision;
        self.crew.event(&self.path, Event::Heard);
        let (calls, answer) = (self.calls, &self.answer);
        self.crew.update(&self.path, |agent| {
            agent.row.calls = calls;
            agent.row.usage = seen.usage;
            agent.row.cost = seen.cost;
            agent.row.now = seen.now;
            agent.answer.clone_from(answer);
        });
        if approvals != self.asked {
            self.asked = Arc::clone(&approvals);
            self.crew.asks(&self.path, approvals);
        }
        let used = seen.usage.total();
        if used > self.used {
            self.crew.event(&self.path, Event::Used(used - self.used));
            self.used = used;
        }
        self.turn(seen.busy);
    }

    /// Whether its turn is over, or goes on again.
    fn turn(&mut self, busy: bool) {
        if busy {
            if std::mem::take(&mut self.over) {
                self.crew.event(&self.path, Event::Goes);
            }
            return;
        }
        let all = self.began && self.delivered >= self.sent;
        if let (true, false, Some((status, why))) = (all, self.over, &self.turn) {
            let end = match status {
                TurnStatus::Done => End::Answered,
                TurnStatus::Failed => {
                    End::Failed { why: why.clone().unwrap_or_else(|| "no reason was given".to_owned()) }
                }
                // nobody but the person can: who stops it has said so to the law before
                TurnStatus::Interrupted => End::Stopped { by: By::User },
            };
            self.over = self.crew.over(&self.path, self.turns, end);
        }
    }

    /// Reads what is new.
    fn read(&mut self, record: &Record) -> Seen {
        for entry in record.path.get(self.position..).unwrap_or_default() {
            match &entry.body {
                EntryBody::User(_) => {
                    self.delivered += 1;
                    self.turn = None;
                }
                EntryBody::Answer(answer) => {
                    let text = answer.text();
                    if !text.trim().is_empty() {
                        self.answer = text;
                    }
                }
                EntryBody::CallStart(_) => self.calls += 1,
                EntryBody::TurnEnd(end) => {
                    self.turn = Some((end.status, end.why.clone()));
                    (self.turns, self.over) = (self.turns + 1, false);
                }
                EntryBody::CallSettle(_)
                | EntryBody::Notice(_)
                | EntryBody::Compaction(_)
                | EntryBody::Setting(_)
                | EntryBody::JobEnd(_)
                | EntryBody::AgentEnd(_)
                | EntryBody::Restore(_)
                | EntryBody::Unknown(_) => {}
            }
        }
        self.position = record.path.len();
        let status = &record.status;
        Seen {
            busy: status.phase.busy() || !status.pending.is_empty(),
            now: now(record),
            usage: status.usage,
            cost: status.cost,
        }
    }
}

/// What it does now, in words.
fn now(record: &Record) -> String {
    if let Some((_, call)) = record.calls.iter().next() {
        return format!("{} {}", call.tool, call.title);
    }
    match &record.status.phase {
        Phase::Idle | Phase::Opening => String::new(),
        Phase::Waiting => "waits for its model".to_owned(),
        Phase::Streaming => "answers".to_owned(),
        Phase::Calling => "calls".to_owned(),
        Phase::Retrying { why, .. } => format!("tries again: {why}"),
        Phase::Compacting => "summarises".to_owned(),
        Phase::Stopping => "stops".to_owned(),
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
