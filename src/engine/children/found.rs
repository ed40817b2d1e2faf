//! Agents of an earlier program, when their session is opened again.
//!
//! One whose end stands in the conversation has ended. One that has a node and no end was cut: its copy is as it was,
//! and it can be told to go on, or be ended. A hand-back that was cut is ended at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::api::agent::{AgentEnd, AgentNode, AgentState, Workspace};
use crate::api::entry::{Entry, EntryBody, TurnStatus};
use crate::base::chain;
use crate::engine::owner::Owner;
use crate::law::children::{By, End, Found};
use crate::store::{self, Dirs};
use crate::workspace::child::{self as workspace, Room};

use super::asking::which;
use super::kid::Kid;

/// What the journal tells of agents.
#[derive(Debug, Default)]
pub struct Known {
    /// Nodes that stand, and what each is to be told.
    pub nodes: Vec<(AgentNode, String)>,
}

/// Removes copies that a crash cut while they were made: nobody worked in them, and no agent is known by them.
fn sweep(rooms: &Path, known: &BTreeSet<PathBuf>) {
    for (_, room) in workspace::rooms::rooms(rooms).unwrap_or_default() {
        let used = room.is_born() || room.record().exists() || room.is_cut();
        if !used
            && !known.contains(room.dir())
            && let Err(error) = room.drop_all()
        {
            tracing::warn!("a copy that was cut stays: {}", chain(&error));
        }
    }
}

impl Owner {
    /// Lists them, and ends what was being handed back.
    pub(in crate::engine) fn take_up_agents(&mut self, known: Known) {
        let ends = ends(&self.tree.entries);
        let nodes = known.nodes.iter().map(|(node, _)| node).chain(ends.values().map(|end| &end.node));
        let rooms: BTreeSet<PathBuf> = nodes.filter_map(|node| node.room.clone()).collect();
        let place = self.options.dirs.workspaces_of(&self.session_id);
        if self.read_only.is_none() {
            sweep(&place, &rooms);
        }
        for end in ends.values().filter(|end| end.end != End::Deleted) {
            let mut kid = match self.kid_of(&end.node, AgentState::Ended(Arc::clone(end))) {
                Some(kid) => kid,
                None => continue,
            };
            (kid.row.calls, kid.row.usage, kid.row.cost) = (end.calls, end.usage, end.cost);
            kid.told.send_replace(Some(Arc::clone(end)));
            self.enter(kid, Found::Ended(end.end.clone()));
        }
        for (node, words) in known.nodes {
            if ends.get(&node.name).is_some_and(|end| end.node.run >= node.run) {
                self.agent_over(&node);
                continue;
            }
            let Some(mut kid) = self.kid_of(&node, AgentState::Cut) else { continue };
            let found = match cut_back(&node) {
                true => {
                    let (end, answer) = ended_so(&self.options.dirs, &node);
                    kid.answer = answer;
                    Found::HandsBack(end)
                }
                false => {
                    if !heard(&self.options.dirs, &node, &words) {
                        kid.words.push(words);
                    }
                    Found::Cut
                }
            };
            self.enter(kid, found);
        }
    }

    fn kid_of(&mut self, node: &AgentNode, state: AgentState) -> Option<Kid> {
        let here = self.here();
        let path = self.post.whole(&node.name);
        let model = here.model_for(&path, node.model.as_deref()).ok().or_else(|| here.model.clone());
        let Some(model) = model else {
            let text = format!(
                "The agent {} is not listed: no model is chosen. Choose one, and open again.",
                node.name
            );
            self.say(crate::api::entry::Level::Warning, text);
            return None;
        };
        let mut options = here.options_for(&self.post.crew, &path, node, model);
        options.which = which(&options.dirs, &node.session);
        Some(Kid::new(node.clone(), options, here.dir.clone(), state))
    }

    fn enter(&mut self, kid: Kid, found: Found) {
        let path = self.post.whole(&kid.row.node.name);
        let isolated = kid.row.node.workspace == Workspace::Isolated;
        let crew = self.post.crew.clone();
        let mut inner = crew.inner();
        inner.kids.insert(path.clone(), kid);
        let effects = inner.law.found(&path, isolated, found);
        inner.publish(&path);
        crew.carry_out(&mut inner, effects);
    }
}

/// The newest end of each.
fn ends(entries: &[Arc<Entry>]) -> BTreeMap<String, Arc<AgentEnd>> {
    let mut ends: BTreeMap<String, Arc<AgentEnd>> = BTreeMap::new();
    for entry in entries {
        if let EntryBody::AgentEnd(end) = &entry.body {
            ends.insert(end.node.name.clone(), Arc::new(end.clone()));
        }
    }
    ends
}

/// Whether its hand-back was begun.
fn cut_back(node: &AgentNode) -> bool {
    let room = node.room.as_ref().map(Room::at);
    room.is_some_and(|room| room.record().exists() || room.is_cut())
}

/// Whether it was told this before the program went.
fn heard(dirs: &Dirs, node: &AgentNode, words: &str) -> bool {
    let Ok(opened) = store::view(dirs, &node.session) else { return false };
    let told = |entry: &Arc<Entry>| matches!(&entry.body, EntryBody::User(said) if said.text.contains(words));
    opened.tree.entries.iter().any(told)
}

/// How it had ended when its hand-back began, and what it said: as its own journal tells.
fn ended_so(dirs: &Dirs, node: &AgentNode) -> (End, String) {
    let Ok(opened) = store::view(dirs, &node.session) else {
        return (End::Stopped { by: By::User }, String::new());
    };
    let branch = opened.branch();
    let answer = branch.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::Answer(answer) => Some(answer.text()).filter(|text| !text.trim().is_empty()),
        _ => None,
    });
    let end = branch.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::TurnEnd(end) => Some(match end.status {
            TurnStatus::Done => End::Answered,
            TurnStatus::Failed => End::Failed { why: end.why.clone().unwrap_or_default() },
            TurnStatus::Interrupted => End::Stopped { by: By::User },
        }),
        _ => None,
    });
    (end.unwrap_or(End::Stopped { by: By::User }), answer.unwrap_or_default())
}
