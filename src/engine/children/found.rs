//! Agents of an earlier program, when their session is opened again.
//!
//! One whose end stands in the conversation has ended. One that has a node and no end was cut: its copy is as it was,
//! and it can be told to go on, or be ended. A hand-back that was cut is ended at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::api::agent::{AgentEnd, AgentNode, AgentState, Workspace};
use crate::api::entry::{Entry, EntryBody, TurnStatus};
use crate::api::message::Usage;
use crate::base::{SessionId, chain};
use crate::engine::owner::Owner;
use crate::engine::spawn;
use crate::law::children::{By, End, Event, Found, Left, path_of};
use crate::store::codec::Parent;
use crate::store::{self, Dirs, Opened};
use crate::workspace::child::{self as workspace, Room};

use super::agent::{Agent, Before};
use super::asking::{Here, which};
use super::back::clean_up_all;
use super::ending::Ending;

/// What the journal tells of agents.
#[derive(Debug, Default)]
pub struct Known {
    /// Nodes that stand, and what each is to be told.
    pub nodes: Vec<(AgentNode, String)>,
    /// Runs that were taken off the list, by the agents' paths.
    pub dismissed: BTreeMap<String, u32>,
}

/// Sets copies aside that a crash cut while they were made: nobody worked in them, and no agent is known by them. They
/// are removed beside the session, for that may take long.
fn cut_births(rooms: &Path, known: &BTreeSet<PathBuf>) -> Vec<Room> {
    let mut cut = Vec::new();
    for (_, room) in workspace::rooms::rooms(rooms).unwrap_or_default() {
        let used = room.is_born() || room.record().exists() || room.is_cut();
        if used || known.contains(room.dir()) {
            continue;
        }
        match room.set_aside() {
            Ok(room) => cut.push(room),
            Err(error) => tracing::warn!("a copy that was cut stays: {}", chain(&error)),
        }
    }
    cut
}

impl Owner {
    /// Lists them, and ends what was being handed back.
    pub(in crate::engine) fn take_up_agents(&mut self, known: Known) {
        let ends = ends(&self.tree.entries);
        let nodes = known.nodes.iter().map(|(node, _)| node).chain(ends.values().map(|end| &end.node));
        let rooms: BTreeSet<PathBuf> = nodes.filter_map(|node| node.room.clone()).collect();
        let place = self.options.dirs.workspaces_of(&self.session_id);
        if self.read_only.is_none() {
            let cut = cut_births(&place, &rooms);
            self.go_on_cleaning(cut, ends.values().map(|end| end.node.session.clone()).collect());
        }
        let (here, up) = (self.here(), self.post.path.clone());
        self.post.dismissed_before(known.dismissed);
        // one that works again after its end is what its newest run is
        let again = |end: &AgentEnd| {
            let stands = |node: &AgentNode| node.name == end.node.name && !is_over(&ends, node);
            known.nodes.iter().any(|(node, _)| stands(node))
        };
        let ended: Vec<&Arc<AgentEnd>> =
            ends.values().filter(|end| end.end != End::Deleted && !again(end)).collect();
        for end in ended {
            let path = path_of(up.as_deref(), &end.node.name);
            let mut agent = match self.agent_of(&here, &path, &end.node, AgentState::Ended(Arc::clone(end))) {
                Some(agent) => agent,
                None => continue,
            };
            (agent.row.calls, agent.row.usage, agent.row.cost) = (end.calls, end.usage, end.cost);
            agent.told.send_replace(Some(Arc::clone(end)));
            self.enter(path, agent, Found::Ended(end.end.clone()));
            if self.read_only.is_none() && came_back_elsewhere(end) {
                // somebody tried its hand-back again while nobody was there to tell
                self.post.event(&end.node.name, Event::Again);
            }
        }
        for (node, words) in known.nodes {
            if is_over(&ends, &node) {
                self.agent_over(&node);
            } else {
                let before = before(&self.tree.entries, &node);
                self.take_up(&here, up.as_deref(), node, words, before);
            }
        }
    }

    /// Removes copies whose making was cut, and what is left of those whose removal was.
    fn go_on_cleaning(&self, cut: Vec<Room>, agents: Vec<SessionId>) {
        let (dirs, session) = (self.options.dirs.clone(), self.session_id.clone());
        let leaving_waits = self.post.crew.beside();
        spawn::task(async move {
            spawn::off_the_loop(move || {
                for room in cut {
                    if let Err(error) = room.drop_all() {
                        tracing::warn!("a copy that was cut stays: {}", chain(&error));
                    }
                }
                clean_up_all(&dirs, &session, &agents);
            })
            .await;
            drop(leaving_waits);
        });
    }

    /// One that was cut, and before it those of its own that were cut with it.
    fn take_up(&mut self, here: &Here, up: Option<&str>, node: AgentNode, words: String, used: Before) {
        let path = path_of(up, &node.name);
        let Some(mut agent) = self.agent_of(here, &path, &node, AgentState::Cut) else { return };
        let own = store::view(&self.options.dirs, &node.session).ok();
        if let Some(own) = &own {
            let ends = ends(&own.tree.entries);
            let below = here.of_agent(&node);
            for (node, words) in &own.agents {
                if !is_over(&ends, node) {
                    let before = before(&own.tree.entries, node);
                    self.take_up(&below, Some(&path), node.clone(), words.clone(), before);
                }
            }
            (agent.row.calls, agent.row.usage) = spent(own);
            agent.row.cost = used.cost;
            (agent.before, agent.resumed) = (used, true);
        }
        let found = match (Ending::read(&node), handed(&node)) {
            (Some(ending), _) => Found::HandsBack(ending.into_agent(&mut agent)),
            (None, true) => {
                let (end, answer) = own.as_ref().map_or_else(unknown, ended_so);
                agent.answer = answer;
                Found::HandsBack(end)
            }
            (None, false) => {
                if !own.as_ref().is_some_and(|own| heard(own, &node, &words)) {
                    agent.words.push(words);
                }
                Found::Cut
            }
        };
        self.enter(path, agent, found);
    }

    fn agent_of(&mut self, here: &Here, path: &str, node: &AgentNode, state: AgentState) -> Option<Agent> {
        let model = here.model_for(path, node.model.as_deref()).ok().or_else(|| here.model.clone());
        let Some(model) = model else {
            let text = format!(
                "The agent {} is not listed: no model is chosen. Choose one, and open again.",
                node.name
            );
            self.say(crate::api::entry::Level::Warning, text);
            return None;
        };
        let mut options = here.options_for(&self.post.crew, path, node, model);
        options.which = which(&options.dirs, &node.session);
        Some(Agent::new(node.clone(), options, here.dir.clone(), state))
    }

    fn enter(&mut self, path: String, mut agent: Agent, found: Found) {
        let isolated = agent.row.node.workspace == Workspace::Isolated;
        let granted = agent.row.node.budget;
        let used = agent.used().usage.total();
        let budget = Left { granted, left: granted.map(|granted| granted.saturating_sub(used)) };
        let crew = self.post.crew.clone();
        let mut inner = crew.inner();
        agent.dismissed |= inner.dismissed.contains(&(path.clone(), agent.row.node.run));
        match inner.agents.get_mut(&path) {
            // it was found together with its parent, whose session is opened now
            Some(known) => (known.options, known.parent_dir) = (agent.options, agent.parent_dir),
            None => drop(inner.agents.insert(path.clone(), agent)),
        }
        let effects = inner.law.found(&path, isolated, found, budget);
        inner.publish(&path);
        crew.carry_out(&mut inner, effects);
    }
}

/// Whether the end of this run was told.
fn is_over(ends: &BTreeMap<String, Arc<AgentEnd>>, node: &AgentNode) -> bool {
    // another one may have its name, after it was deleted
    let same = |end: &&Arc<AgentEnd>| end.node.session == node.session;
    ends.get(&node.name).filter(same).is_some_and(|end| end.node.run >= node.run)
}

/// The newest end of each.
fn ends(entries: &[Arc<Entry>]) -> BTreeMap<String, Arc<AgentEnd>> {
    let mut ends: BTreeMap<String, Arc<AgentEnd>> = BTreeMap::new();
    for entry in entries {
        let EntryBody::AgentEnd(end) = &entry.body else { continue };
        let same =
            |known: &&Arc<AgentEnd>| known.node.session == end.node.session && known.node.run == end.node.run;
        let known = ends.get(&end.node.name).filter(same);
        let whole = match known {
            // its end was told before: this is what came back of it later
            Some(known) if end.again => known.with_hand_back(end),
            _ => end.clone(),
        };
        ends.insert(end.node.name.clone(), Arc::new(whole));
    }
    ends
}

/// Whether what it changed came back after its end was told as one without.
fn came_back_elsewhere(end: &AgentEnd) -> bool {
    end.hand_back_failed() && end.node.room.as_ref().is_some_and(|room| Room::at(room).record().exists())
}

/// Whether its hand-back was begun.
fn handed(node: &AgentNode) -> bool {
    let room = node.room.as_ref().map(Room::at);
    room.is_some_and(|room| room.record().exists() || room.is_cut())
}

/// What its earlier runs used.
fn before(entries: &[Arc<Entry>], node: &AgentNode) -> Before {
    let mut before = Before::default();
    for entry in entries {
        if let EntryBody::AgentEnd(end) = &entry.body
            && end.node.session == node.session
            && !end.again
        {
            before.calls += end.calls;
            before.usage.add(&end.usage);
            before.cost = end.cost.map(|cost| cost + before.cost.unwrap_or(0.0)).or(before.cost);
        }
    }
    before
}

/// The calls and tokens that its own journal knows of.
fn spent(own: &Opened) -> (u64, Usage) {
    let (mut calls, mut usage) = (0, Usage::default());
    for entry in own.branch() {
        let used = match &entry.body {
            EntryBody::Answer(answer) => answer.usage.as_ref(),
            EntryBody::CallSettle(settle) => settle.usage.as_ref(),
            _ => None,
        };
        calls += u64::from(matches!(entry.body, EntryBody::CallStart(_)));
        if let Some(used) = used {
            usage.add(used);
        }
    }
    (calls, usage)
}

/// Whether it was told this before the program went.
fn heard(own: &Opened, node: &AgentNode, words: &str) -> bool {
    let told = |entry: &Arc<Entry>| {
        let after = entry.at >= node.told;
        after && matches!(&entry.body, EntryBody::User(said) if said.text.contains(words))
    };
    own.tree.entries.iter().any(told)
}

fn unknown() -> (End, String) {
    (End::Stopped { by: By::User }, String::new())
}

/// How it had ended when its hand-back began, and what it said: as its own journal tells.
fn ended_so(own: &Opened) -> (End, String) {
    let branch = own.branch();
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
    let (none, nothing) = unknown();
    (end.unwrap_or(none), answer.unwrap_or(nothing))
}

/// Whether the session of an agent works in a copy: as its parent's journal says, else as there is a room of its name.
pub fn has_copy(dirs: &Dirs, of: &Parent, session: &SessionId) -> bool {
    let Ok(parent) = store::view(dirs, &of.session) else {
        return dirs.workspace(&of.session, &of.agent).exists();
    };
    let ended = parent.tree.entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::AgentEnd(end) => Some(&end.node),
        _ => None,
    });
    let mut nodes = parent.agents.iter().map(|(node, _)| node).chain(ended);
    nodes.any(|node| node.session == *session && node.workspace == Workspace::Isolated)
}
