//! The transcript of one agent over the whole screen: the conversation of its own session, live while it works, with
//! its own scroll. It is read only; what a person says to it goes through `m`.
//!
//! `act` is what keys do, `view` draws. Deliberately not here: what a conversation is made of (`pane::conversation`),
//! and which records there are (`link::AgentRecords`).

mod act;
mod view;

use crate::api::command::{AgentAsk, Command};
use crate::link::{AgentRecords, Shared};
use crate::ui::model::Model;
use crate::ui::msg::Effect;
use crate::ui::pane::conversation;

/// So many transcripts that were left keep their place.
const LEFT_MAX: usize = 8;

pub use act::{answered, on_key, on_mouse, pull, search, to_transcript};
pub use view::view;

/// What the view remembers.
pub struct State {
    /// Which agent, by its path.
    pub path: String,
    /// What it said and did.
    pub conversation: conversation::State,
    /// The record that this is read from, once it is here.
    shared: Option<Shared>,
    /// Why it cannot be read.
    why_not: Option<String>,
    revision: u64,
    /// Whether something is looked for.
    finds: bool,
    /// Where the conversation was drawn, for clicks.
    area: ratatui::layout::Rect,
}

impl State {
    /// Whether the agent's record is here.
    pub fn has_record(&self) -> bool {
        self.shared.is_some()
    }
}

/// Opens the transcript of an agent.
pub fn open(model: &mut Model, path: String, out: &mut Vec<Effect>) {
    if model.agents.get(&path).is_none() {
        return;
    }
    out.push(Effect::Send(Command::Agent { path: path.clone(), ask: AgentAsk::Look }));
    close(model);
    // one that was left stands where it was
    let before = model.left.agents.iter().position(|view| view.path == path);
    let view = before.map(|at| model.left.agents.remove(at)).unwrap_or_else(|| State {
        path,
        conversation: fresh(model),
        shared: None,
        why_not: None,
        revision: 0,
        finds: false,
        area: ratatui::layout::Rect::default(),
    });
    model.agent_view = Some(view);
}

/// Leaves it.
pub fn close(model: &mut Model) {
    let Some(view) = model.agent_view.take() else { return };
    if model.left.agents.len() >= LEFT_MAX {
        model.left.agents.remove(0);
    }
    model.left.agents.push(view);
}

/// Takes what is new of the agent's record; whether anything did change.
pub fn sync(model: &mut Model, records: &AgentRecords) -> bool {
    let Some(mut state) = model.agent_view.take() else { return false };
    let mut changed = false;
    if let Some(shared) = records.get(&state.path) {
        if !state.shared.as_ref().is_some_and(|known| known.same(&shared)) {
            // a run of its own counts anew
            (state.conversation, state.revision) = (fresh(model), 0);
            changed = true;
        }
        let record = shared.read();
        if changed || record.revision != state.revision {
            state.revision = record.revision;
            changed |= state.conversation.sync(&record);
        }
        drop(record);
        state.shared = Some(shared);
    }
    let why_not = records.why_not(&state.path);
    changed |= why_not != state.why_not;
    state.why_not = why_not;
    changed |= state.conversation.take_colours();
    model.agent_view = Some(state);
    changed
}

fn fresh(model: &Model) -> conversation::State {
    let mut conversation = conversation::State::new(model.wake.clone());
    conversation.still = model.reduced_motion;
    conversation.show_diffs(model.conversation.shape().0);
    conversation
}
