//! The agents pane: the tree of subagents with their states, pushed by the board. Selection is by path, so that a key
//! never hits a neighbour when rows move or end.
//!
//! `order` makes the tree, `words` says how an agent stands, `update` what keys do, `view` draws. Deliberately not
//! here: the transcript of one agent (`ui::agent_view`), and what came back from it (the conflict viewer).

mod order;
mod update;
mod view;
mod words;

use crate::api::agent::{AgentRow, AgentState};
use crate::api::board::Record;
use crate::api::command::AgentAsk;
use crate::law::board::Picture;
use crate::ui::action::Action;
use crate::ui::pane::list::{self, List};

pub use order::Listed;
pub use update::{one, update};
pub use view::{Shown, counts, view};
pub use words::{
    Conflicted, calls, ended, hand_back_of, held, in_copy, is_less_held, lists, mark, open, own_open, says,
    spins, time, title, tokens, told,
};

/// What the pane remembers.
#[derive(Debug, Default)]
pub struct State {
    picture: Picture<String, AgentRow>,
    /// The agents as they are listed.
    order: Vec<Listed>,
    /// By their paths.
    list: List<String>,
}

/// What can happen to the pane.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// Moves in the list.
    List(list::Msg),
    /// A key that is bound.
    Do(Action),
}

/// What the pane wants done. Agents are named by their paths.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Do something with an agent.
    Ask(String, AgentAsk),
    /// Show its transcript.
    Open(String),
    /// Type a message to it.
    Message(String),
    /// Show what came back from it.
    HandBack(String),
    /// Copy to the clipboard.
    Copy(String),
    /// Back to the composer.
    Leave,
    /// Tell the person.
    Say(String),
}

impl State {
    /// Takes what is new; whether anything changed.
    pub fn sync(&mut self, record: &Record) -> bool {
        let changed = self.picture.update(&record.agents);
        if changed {
            self.arrange();
        }
        changed
    }
    /// An agent.
    pub fn get(&self, path: &str) -> Option<&AgentRow> {
        self.picture.get(&path.to_owned())
    }
    /// All agents, those that ended too, by their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &AgentRow)> {
        self.picture.iter()
    }
    /// The agents that have an end still to come in this program.
    pub fn running(&self) -> impl Iterator<Item = (&String, &AgentRow)> {
        self.picture.iter().filter(|(_, row)| row.runs())
    }
    /// Whether something about them moves on the screen by itself: a spinner.
    pub fn animates(&self) -> bool {
        self.running().any(|(_, row)| spins(row))
    }
    /// The agent that keys are for.
    pub fn selected(&self) -> Option<&str> {
        self.list.chosen().map(String::as_str)
    }
    /// The agents as they are listed.
    pub fn listed(&self) -> &[Listed] {
        &self.order
    }
    /// Rows that the pane would like to have.
    pub fn wants(&self, focus: bool) -> u16 {
        let details = if focus { view::DETAIL_ROWS } else { 0 };
        let rows = self.order.len().max(1) + if self.order.is_empty() { 0 } else { details };
        u16::try_from(rows).unwrap_or(u16::MAX)
    }
    /// The pane gets the focus: something is selected where anything can be.
    pub fn entered(&mut self) {
        self.list.enter();
    }
    /// Whether the last frame showed an agent.
    pub fn drawn(&self) -> bool {
        self.list.drawn()
    }
    /// The person takes an agent off the list.
    pub fn dismissing(&mut self, path: String) {
        self.list.leaving(path);
    }
    fn arrange(&mut self) {
        self.order = order::tree(&self.picture);
        self.list.set_all(self.order.iter().map(|listed| listed.path.clone()).collect());
    }
}

/// Whether an agent has ended; one that was cut has not.
fn over(row: &AgentRow) -> bool {
    matches!(row.state, AgentState::Ended(_))
}

#[cfg(test)]
mod tests;
