//! What the agents pane wants, done.

use crate::api::agent::AgentState;
use crate::api::command::{AgentAsk, Command};
use crate::base::Millis;
use crate::ui::agent_view;
use crate::ui::conflict_update;
use crate::ui::model::Model;
use crate::ui::msg::Effect;
use crate::ui::overlay::{Overlay, line};
use crate::ui::pane::{PaneId, agents};

/// Gives the agents pane a message and does what it wants.
pub fn to_agents(model: &mut Model, msg: agents::Msg, now: Millis, out: &mut Vec<Effect>) {
    for wanted in agents::update(&mut model.agents, msg, now) {
        carry_out(model, wanted, now, out);
    }
}

/// Does what the agents pane wants.
pub fn carry_out(model: &mut Model, wanted: agents::Out, now: Millis, out: &mut Vec<Effect>) {
    match wanted {
        agents::Out::Ask(path, ask) => {
            if ask == AgentAsk::Dismiss {
                model.agents.dismissing(path.clone());
            }
            out.push(Effect::Send(Command::Agent { path, ask }));
        }
        agents::Out::Open(path) => agent_view::open(model, path, out),
        agents::Out::Message(path) => write_to(model, path),
        agents::Out::HandBack(path) => conflict_update::enter_child(model, path, now, out),
        agents::Out::Copy(text) => out.push(Effect::Copy(text)),
        agents::Out::Leave => model.focus = PaneId::Composer,
        agents::Out::Say(text) => model.say(text, now),
    }
}

/// Asks for a message to an agent, and says what becomes of it.
fn write_to(model: &mut Model, path: String) {
    let Some(row) = model.agents.get(&path) else { return };
    let says = match row.state {
        AgentState::Ended(ref end) if end.hand_back_failed() => "its hand-back failed: r tries that first",
        AgentState::Ended(_) => "it has ended: it works again then",
        AgentState::Cut => "it was cut off: it goes on then",
        AgentState::Waiting { .. } | AgentState::Preparing { .. } => {
            "it has not begun: read at its beginning"
        }
        AgentState::Resting => "it waits for its agents: read after them",
        AgentState::Working | AgentState::Stopping | AgentState::HandingBack => {
            "it works: read at its next tool"
        }
    };
    model.overlays.push(Overlay::Line(line::State::new(line::Kind::Message { path, says })));
}

/// Sends an agent a message that was typed.
pub fn send(model: &mut Model, path: String, text: String, now: Millis, out: &mut Vec<Effect>) {
    if text.is_empty() {
        return model.say("nothing was written", now);
    }
    if let Some(holder) = &model.status.read_only {
        let words = format!("this view is read-only: the session is open in {holder}");
        return model.say(words, now);
    }
    out.push(Effect::Send(Command::Agent { path, ask: AgentAsk::Message(text) }));
}

/// The list of agents gets the focus.
pub fn enter(model: &mut Model) {
    model.focus = PaneId::Agents;
    model.agents.entered();
}
