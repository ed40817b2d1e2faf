//! How an agent's run ended, kept in its room from before its hand-back begins: when the program is killed during that,
//! the next open tells the end as it was, with what was used.

use serde::{Deserialize, Serialize};

use crate::api::agent::AgentNode;
use crate::api::message::Usage;
use crate::base::chain;
use crate::law::children::{End, State};
use crate::store::private;
use crate::workspace::child::Room;

use super::agent::{Agent, Before};
use super::crew::Crew;

/// The end of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// How it ended.
    pub end: End,
    answer: String,
    calls: u64,
    usage: Usage,
    cost: Option<f64>,
    trouble: Option<String>,
}

impl Ending {
    /// Keeps it. Without it the end is told as the agent's own journal knows it. Blocking.
    pub fn keep(&self, node: &AgentNode) {
        let Some(room) = node.room.as_ref().map(Room::at).filter(Room::is_born) else { return };
        let kept = serde_json::to_vec(self).map_err(|error| error.to_string());
        let kept =
            kept.and_then(|bytes| private::replace(&room.ending(), &bytes).map_err(|error| chain(&error)));
        if let Err(why) = kept {
            tracing::warn!("how the agent {} ended is not kept: {why}", node.name);
        }
    }

    /// What was kept of this agent; none: its hand-back had not begun.
    pub fn read(node: &AgentNode) -> Option<Ending> {
        let room = Room::at(node.room.as_ref()?);
        serde_json::from_slice(&private::read(&room.ending()).ok()?).ok()
    }

    /// Puts it where its end is told from.
    pub fn into_agent(self, agent: &mut Agent) -> End {
        (agent.row.calls, agent.row.usage, agent.row.cost) = (self.calls, self.usage, self.cost);
        agent.before = Before::default();
        (agent.answer, agent.trouble) = (self.answer, self.trouble);
        self.end
    }
}

impl Crew {
    /// How one that begins to hand back has ended.
    pub(super) fn ending(&self, path: &str) -> Option<Ending> {
        let inner = self.inner();
        let State::HandingBack(end) = inner.law.state(path)? else { return None };
        let agent = inner.agents.get(path)?;
        let used = agent.used();
        Some(Ending {
            end: end.clone(),
            answer: agent.answer.clone(),
            calls: used.calls,
            usage: used.usage,
            cost: used.cost,
            trouble: agent.trouble.clone(),
        })
    }
}
