//! The owner's part of agents: their nodes in the journal, their ends in the conversation, their questions to the
//! person, and what the person asks of them.

use std::sync::Arc;

use crate::api::access::Decision;
use crate::api::agent::{AgentEnd, AgentNode, AgentState};
use crate::api::board::{Live, Phase, Record, Status};
use crate::api::command::AgentAsk;
use crate::api::entry::{EntryBody, Level};
use crate::api::event::Event as Told;
use crate::base::{CallId, EntryId, chain};
use crate::engine::owner::{Owner, Word};
use crate::engine::{clock, spawn};
use crate::law::access::rule::{Rule, Scope};
use crate::law::board::Board;
use crate::law::children::{By, End, Event};
use crate::link::{AgentRecords, Shared};
use crate::store::{self, codec};
use crate::tool::agent_words::row_in_words;

use super::agent::Order;
use super::asking::Here;
use super::crew::News;

/// Agents that a request names; more are counted.
const TOLD_MAX: usize = 20;

impl Owner {
    /// What the session is now, for an agent that is asked for.
    pub(in crate::engine) fn here(&self) -> Here {
        Here {
            options: Arc::clone(&self.options),
            session: self.session_id.clone(),
            model: self.model.clone(),
            mode: self.mode,
            thinking: self.thinking,
            rules: self.rules.clone(),
            tools: self.tools.iter().map(|tool| tool.spec().name).collect(),
            after: self.head.clone(),
            cwd: self.cwd.clone(),
            dir: self.options.child.as_ref().map_or_else(|| self.cwd_real.clone(), |child| child.dir.clone()),
        }
    }

    /// Takes in what happened to agents.
    pub(in crate::engine) fn on_agents(&mut self) {
        let mut taken_in = 0;
        for news in self.post.news() {
            taken_in += usize::from(matches!(news, News::Ended(_)));
            match news {
                News::Began(node, words) => self.agent_stands(&node, &words),
                News::Ended(end) => self.agent_ended(*end),
                News::Forgotten(node) => self.agent_over(&node),
                News::Asks => {}
                News::CameBack => self.look_at_hand_backs(),
                News::Said(level, text) => self.say(level, text),
            }
        }
        self.publish_status();
        if taken_in > 0 {
            self.shared.change(|record| Arc::make_mut(&mut record.status).untold_ends -= taken_in);
        }
    }

    fn agent_ended(&mut self, end: AgentEnd) {
        let node = end.node.clone();
        let rewound = end.end == (End::Stopped { by: By::Rewind });
        let handed = end.hand_back.is_some();
        self.commit(EntryBody::AgentEnd(end));
        if handed {
            self.look_at_hand_backs();
        }
        self.agent_over(&node);
        let free = self.closing.is_none() && self.rewinding.is_none();
        if free && !rewound && self.options.limits.agent_end_starts_turn {
            self.start_turn();
        }
    }

    /// The journal holds that an agent was asked for.
    fn agent_stands(&mut self, node: &AgentNode, words: &str) {
        let written = codec::encode_agent(node, words).and_then(|line| self.store.put_jobs(&[line]));
        if let Err(error) = written {
            let why = chain(&error);
            let name = &node.name;
            self.say(
                Level::Warning,
                format!("The journal does not say that the agent {name} works: {why}. After a crash it is not listed."),
            );
        }
    }

    /// The journal holds that it is over with this run.
    pub(super) fn agent_over(&mut self, node: &AgentNode) {
        let written =
            codec::encode_agent_over(&node.name, node.run).and_then(|line| self.store.put_jobs(&[line]));
        if let Err(error) = written {
            tracing::warn!("the end of the agent {} is not in the journal: {}", node.name, chain(&error));
        }
    }

    /// Does what a person asks of an agent.
    pub(in crate::engine) fn agent(&mut self, path: &str, ask: AgentAsk) {
        let row = self.post.rows().into_iter().find(|(other, _)| other == path).map(|(_, row)| row);
        let Some(row) = row else {
            return self.say(Level::Warning, format!("There is no agent {path}."));
        };
        let over = row.end().is_some();
        match ask {
            AgentAsk::Message(text) => {
                if let Err(why) = self.post.message(path, text.clone(), self.head.clone()) {
                    self.say(
                        Level::Warning,
                        format!("It was not told: {why}. Your words are in your draft."),
                    );
                    self.event(Told::TakenBack { text, images: Vec::new() });
                }
            }
            AgentAsk::Stop | AgentAsk::Delete | AgentAsk::Dismiss if over => {
                if ask == AgentAsk::Stop {
                    self.say(Level::Info, format!("{path} has ended already."));
                } else {
                    self.dismiss_agent(path, row.node.run);
                }
            }
            AgentAsk::Stop => self.post.event(path, Event::Stop(By::User)),
            AgentAsk::Delete => self.post.event(path, Event::Delete),
            AgentAsk::Dismiss => {
                self.say(Level::Info, format!("{path} has not ended: stop it first."));
            }
            AgentAsk::HandBack => {
                if let Err(why) = self.post.again(path) {
                    self.say(Level::Info, why);
                }
            }
            AgentAsk::Look => self.look_at_agent(path, row.node),
        }
    }

    /// Takes one that has ended off the list, for good.
    fn dismiss_agent(&mut self, path: &str, run: u32) {
        if !self.post.dismiss(path) {
            return;
        }
        let written = codec::encode_agent_dismissed(path, run).and_then(|line| self.store.put_jobs(&[line]));
        if let Err(error) = written {
            let why = chain(&error);
            self.say(Level::Warning, format!("{path} is listed again after the next open: {why}."));
        }
    }

    /// Lets the record of an agent of an earlier program be read.
    fn look_at_agent(&mut self, path: &str, node: AgentNode) {
        let whole = self.post.whole(path);
        let records: AgentRecords = self.post.crew.records().clone();
        if records.get(&whole).is_some() {
            return;
        }
        let (dirs, shared) = (self.options.dirs.clone(), self.shared.clone());
        let status = (*self.shared.read().status).clone();
        spawn::blocking(
            self.words.clone(),
            move || {
                match store::view(&dirs, &node.session) {
                    Ok(opened) => {
                        records.put(whole, Shared::new(read_back(&node, &opened, status), shared.wake()));
                        shared.change(|_| ());
                    }
                    Err(error) => {
                        let why = chain(&error);
                        tracing::warn!("the agent {} cannot be looked at: {why}", node.name);
                        records.refuse(whole, why);
                        shared.change(|_| ());
                    }
                }
                Word::Nothing
            },
            || Word::Nothing,
        );
    }

    /// Its agents that run or were cut, for the model; nothing when there are none.
    pub(in crate::engine) fn agents_told(&self) -> String {
        let now = clock::now();
        let rows = self.post.rows();
        let stand: Vec<_> =
            rows.iter().filter(|(_, row)| row.runs() || row.state == AgentState::Cut).collect();
        if stand.is_empty() {
            return String::new();
        }
        let lines: Vec<String> =
            stand.iter().take(TOLD_MAX).map(|(path, row)| row_in_words(path, row, now)).collect();
        let more = match stand.len().saturating_sub(TOLD_MAX) {
            0 => String::new(),
            more => format!("and {more} more: `agents` lists them\n"),
        };
        format!("\n<agents>\n{}\n{more}</agents>", lines.join("\n"))
    }

    /// Stops the agents that were asked for after an entry; which.
    pub(in crate::engine) fn stop_agents_since(&mut self, to: Option<&EntryId>) -> Vec<String> {
        let orphans = self.post.orphans(to);
        for path in &orphans {
            self.post.event(path, Event::Stop(By::Rewind));
        }
        orphans
    }

    /// The person answered a question of an agent. What is allowed for longer than once holds for all of the session.
    pub(in crate::engine) fn decide_for(&mut self, name: &str, call: &str, decision: Decision) {
        let whole = format!("{name}/{call}");
        let asked = self.post.approvals().into_iter().find(|approval| approval.call.as_str() == whole);
        let Some(approval) = asked else { return };
        let lasting = matches!(decision, Decision::Session | Decision::Always);
        self.post.order(name, Order::Decide(CallId::new(call), decision));
        if let Some(rule) = approval.rule.filter(|_| lasting) {
            self.allow(&rule);
        }
    }

    /// Allows something for the rest of the session, here and for its agents.
    pub(in crate::engine) fn allow(&mut self, rule: &str) {
        match Rule::parse(rule, Scope::Session) {
            Ok(rule) if self.rules.allow.iter().any(|known| known.text == rule.text) => {}
            Ok(parsed) => {
                self.rules.allow.push(parsed);
                self.post.order_all(None, Some(rule));
                self.judge_again();
                self.publish_status();
            }
            Err(why) => self.say(Level::Warning, format!("The rule {rule} was not taken: {why}")),
        }
    }
}

/// The record of a session that is not open, to be read.
fn read_back(node: &AgentNode, opened: &store::Opened, status: Status) -> Record {
    let status = Status {
        session: node.session.clone(),
        title: node.name.clone(),
        cwd: opened.header.cwd.clone().unwrap_or_default(),
        branch: None,
        phase: Phase::Idle,
        turn_began: None,
        pending: Vec::new(),
        open_conflicts: 0,
        conflicted: std::collections::BTreeMap::new(),
        counted: 0,
        untold_ends: 0,
        ..status
    };
    Record {
        path: opened.branch(),
        epoch: 0,
        live: Live::default(),
        calls: Board::default(),
        jobs: Board::default(),
        agents: Board::default(),
        approvals: Arc::default(),
        status: Arc::new(status),
        revision: 1,
    }
}
