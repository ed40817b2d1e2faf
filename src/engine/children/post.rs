//! One session's place among all agents: what its owner hears of, and what it asks of its own ones.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::api::access::{Approval, Mode};
use crate::api::agent::{AgentRow, AgentState};
use crate::base::EntryId;
use crate::engine::clock;
use crate::law::children::{Event, State};
use crate::store::tree::order;

use super::agent::{Agent, Order};
use super::crew::{Crew, News, above, below};

/// One session's place among them.
#[derive(Clone)]
pub struct Post {
    pub(super) crew: Crew,
    /// Its path; none: the session itself.
    pub(super) path: Option<String>,
    /// News wait.
    pub wake: Arc<Notify>,
}

impl Post {
    /// What the owner must know, in order.
    pub fn news(&self) -> Vec<News> {
        let mut inner = self.crew.inner();
        inner.seats.get_mut(&self.path).map(|seat| std::mem::take(&mut seat.news)).unwrap_or_default()
    }

    /// The path of one of its agents among all.
    pub(super) fn whole(&self, path: &str) -> String {
        crate::law::children::path_of(self.path.as_deref(), path)
    }

    /// How deep it is: 0 for the session itself.
    pub fn depth(&self) -> usize {
        self.path.as_ref().map_or(0, |path| path.split('/').count())
    }

    /// An agent is not over before so many of its turns are.
    pub fn owe(&self, turns: usize) {
        let Some(path) = &self.path else { return };
        if let Some(agent) = self.crew.inner().agents.get_mut(path) {
            agent.owes.turns = turns;
        }
    }

    /// A turn is to begin by itself, after so many: whether it may. An agent that is on its way out has none, for it
    /// would be cut at once; one that may is not over before that turn is.
    pub fn goes_on(&self, turns: usize) -> bool {
        let Some(path) = &self.path else { return true };
        let mut inner = self.crew.inner();
        if !matches!(inner.law.state(path), Some(State::Working(_))) {
            return false;
        }
        if let Some(agent) = inner.agents.get_mut(path) {
            agent.owes.turns = turns + 1;
        }
        let effects = inner.law.step(path, Event::Goes, clock::now());
        self.crew.carry_out(&mut inner, effects);
        true
    }

    /// Whether none of its own agents lives; for the session itself also whether nothing is done beside them.
    pub fn at_rest(&self) -> bool {
        let inner = self.crew.inner();
        let beside = self.path.is_none() && inner.beside > 0;
        !beside && !inner.law.any_lives(self.path.as_deref())
    }

    /// The session closes: its agents are cut. That of an agent closes when its own have ended.
    pub fn close(&self) {
        if self.path.is_none() {
            let mut inner = self.crew.inner();
            inner.closing = true;
            let effects = inner.law.cut();
            self.crew.carry_out(&mut inner, effects);
        }
    }

    /// The rows of its agents and of those under them, by their paths under it.
    pub fn rows(&self) -> Vec<(String, AgentRow)> {
        let inner = self.crew.inner();
        let own = |(path, agent): (&String, &Agent)| {
            let path = below(self.path.as_deref(), path).filter(|_| !agent.dismissed)?;
            Some((path.to_owned(), agent.row.clone()))
        };
        inner.agents.iter().filter_map(own).collect()
    }

    /// Its own agents that a rewind to this entry stops.
    pub fn orphans(&self, to: Option<&EntryId>) -> Vec<String> {
        let target = to.map(order);
        let orphan = |(path, row): (String, AgentRow)| {
            let is = !path.contains('/')
                && (row.runs() || row.state == AgentState::Cut)
                && row.node.after.as_ref().map(order) >= target;
            is.then_some(path)
        };
        self.rows().into_iter().filter_map(orphan).collect()
    }

    /// Takes one that has ended off the list; whether it had.
    pub fn dismiss(&self, path: &str) -> bool {
        let whole = self.whole(path);
        let mut inner = self.crew.inner();
        let Some(agent) = inner.agents.get_mut(&whole).filter(|agent| agent.row.end().is_some()) else {
            return false;
        };
        agent.dismissed = true;
        let run = agent.row.node.run;
        inner.dismissed.insert((whole.clone(), run));
        inner.unlist(&whole);
        true
    }

    /// Tries the hand-back of one again, which failed. Why not.
    pub fn again(&self, path: &str) -> Result<(), String> {
        let whole = self.whole(path);
        let mut inner = self.crew.inner();
        if inner.closing {
            return Err("the session is being closed".to_owned());
        }
        let end = inner.agents.get(&whole).and_then(|agent| agent.row.end().cloned());
        let Some(end) = end else { return Err(format!("{path} has not ended.")) };
        if !end.hand_back_failed() {
            return Err(format!("The hand-back of {path} did not fail: there is nothing to try again."));
        }
        let effects = inner.law.step(&whole, Event::Again, clock::now());
        if effects.is_empty() {
            return Err(format!("{path} cannot hand back now: who asked for it does. Try again after that."));
        }
        self.crew.carry_out(&mut inner, effects);
        Ok(())
    }

    /// These runs were taken off the list in an earlier program.
    pub fn dismissed_before(&self, runs: impl IntoIterator<Item = (String, u32)>) {
        let runs = runs.into_iter().map(|(path, run)| (self.whole(&path), run));
        self.crew.inner().dismissed.extend(runs);
    }

    /// Something is to happen to one of its agents.
    pub fn event(&self, path: &str, event: Event) {
        self.crew.event(&self.whole(path), event);
    }

    /// Gives the task of one of its own agents an order; whether there is such a task.
    pub(super) fn order(&self, path: &str, order: Order) -> bool {
        let whole = self.whole(path);
        let inner = self.crew.inner();
        let Some(agent) = inner.agents.get(&whole).filter(|agent| agent.orders.is_some()) else {
            return false;
        };
        agent.order(order);
        true
    }

    /// Gives it to all of its own agents, and to those that begin later.
    pub fn order_all(&self, mode: Option<Mode>, allow: Option<&str>) {
        let mut inner = self.crew.inner();
        for (path, agent) in &mut inner.agents {
            if above(path) != self.path {
                continue;
            }
            if let Some(mode) = mode {
                agent.options.mode = mode;
                agent.order(Order::Mode(mode));
            }
            if let Some(rule) = allow {
                agent.order(Order::Allow(rule.to_owned()));
                if let Ok(rule) =
                    crate::law::access::rule::Rule::parse(rule, crate::law::access::rule::Scope::Session)
                {
                    agent.options.rules.allow.push(rule);
                }
            }
        }
    }

    /// The open questions of its own agents, each with the agent's name before its call.
    pub fn approvals(&self) -> Vec<Approval> {
        let inner = self.crew.inner();
        let mut out = Vec::new();
        for (path, agent) in &inner.agents {
            if above(path) != self.path || !matches!(inner.law.state(path), Some(State::Working(_))) {
                continue;
            }
            let name = &agent.row.node.name;
            out.extend(agent.approvals.iter().map(|approval| {
                Approval {
                    call: crate::base::CallId::new(format!("{name}/{}", approval.call)),
                    agent: Some(crate::law::children::path_of(
                        Some(name.as_str()),
                        approval.agent.as_deref().unwrap_or_default(),
                    ))
                    .map(|path| path.trim_end_matches('/').to_owned()),
                    ..approval.clone()
                }
            }));
        }
        out
    }
}
