//! What keys do in the transcript of an agent: those of the conversation, and its own.

use super::close;
use crate::api::event::Reply;
use crate::base::Millis;
use crate::ui::act::scrolls;
use crate::ui::action::{Action, Layer};
use crate::ui::agents_update;
use crate::ui::input::{Key, Mouse, MouseDid};
use crate::ui::keymap::Meaning;
use crate::ui::model::{Asker, Model};
use crate::ui::msg::Effect;
use crate::ui::overlay::{Overlay, catalog, line};
use crate::ui::pane::{agents, conversation};

/// Rows that a turn of the wheel scrolls.
const WHEEL_ROWS: i32 = 3;

/// Actions from everywhere that are good here too; the others are of what the view covers.
const ALSO: [Action; 4] = [Action::Redraw, Action::Suspend, Action::Dump, Action::RawView];

/// A key for the view.
pub fn on_key(model: &mut Model, key: Key, now: Millis, out: &mut Vec<Effect>) {
    let layers = [Layer::AgentView, Layer::Conversation, Layer::Global];
    match model.keymap.meaning(&layers, model.chord.take(), key) {
        Meaning::Do(Action::AnswerApproval) if !model.approvals.is_empty() => {
            close(model);
            crate::ui::act::act(model, Action::AnswerApproval, now, out);
        }
        Meaning::Do(action) if ALSO.contains(&action) => crate::ui::act::act(model, action, now, out),
        Meaning::Do(action) if takes(action) => act(model, action, now, out),
        Meaning::First => model.chord = Some(key),
        Meaning::Do(_) | Meaning::Nothing => {
            if let Some(c) = key.typed() {
                let (keys, back) =
                    (model.keymap.hint(Action::TranscriptKeys), model.keymap.hint(Action::TranscriptLeave));
                model.say(format!("`{c}` does nothing here: {keys} shows the keys, {back} goes back"), now);
            }
        }
    }
}

/// Whether an action is of the view alone.
fn fits(action: Action) -> bool {
    action.layer() == Layer::AgentView
}

/// Whether an action does something here.
fn takes(action: Action) -> bool {
    let same = [
        Action::Find,
        Action::Transcript,
        Action::Leave,
        Action::Help,
        Action::KeysHere,
        Action::SelectText,
        Action::TakeMenu,
    ];
    fits(action) || same.contains(&action) || scrolls(action).is_some()
}

/// Does an action of the view.
fn act(model: &mut Model, action: Action, now: Millis, out: &mut Vec<Effect>) {
    let Some(state) = &mut model.agent_view else { return };
    let of_list = match action {
        Action::TranscriptMessage => Some(Action::AgentMessage),
        Action::TranscriptStop => Some(Action::AgentStop),
        Action::TranscriptHandBack => Some(Action::AgentHandBack),
        _ => None,
    };
    if let Some(same) = of_list {
        let path = state.path.clone();
        for wanted in agents::one(&model.agents, &path, same) {
            agents_update::carry_out(model, wanted, now, out);
        }
        return;
    }
    match action {
        Action::TranscriptKeys | Action::KeysHere | Action::Help => {
            model.overlays.push(Overlay::Page(catalog::help(&model.keymap, Layer::AgentView)));
        }
        Action::Find => model.overlays.push(Overlay::Line(line::State::new(line::Kind::FindTranscript))),
        Action::TakeMenu => crate::ui::select_update::menu(model, now),
        Action::SelectText => {
            to_transcript(model, conversation::Msg::Pick(conversation::Pick::Enter), now, out);
        }
        Action::Transcript => out.push(Effect::Page(state.conversation.transcript())),
        Action::TranscriptBack if state.finds => search(model, String::new(), now, out),
        Action::TranscriptBack | Action::TranscriptLeave | Action::Leave => close(model),
        _ => {
            if let Some(msg) = scrolls(action) {
                to_transcript(model, msg, now, out);
            }
        }
    }
}

/// The text of a search changed; empty ends it.
pub fn search(model: &mut Model, text: String, now: Millis, out: &mut Vec<Effect>) {
    if let Some(state) = &mut model.agent_view {
        state.finds = !text.is_empty();
    }
    to_transcript(model, conversation::Msg::Search(text), now, out);
}

/// The answer to a question of the transcript of an agent.
pub fn answered(model: &mut Model, token: u64, reply: Reply, now: Millis, out: &mut Vec<Effect>) {
    match reply {
        Reply::Failed(why) => model.say(why, now),
        reply => to_transcript(model, conversation::Msg::Answered { token, reply }, now, out),
    }
}

/// The wheel scrolls, a click chooses, a drag selects.
pub fn on_mouse(model: &mut Model, mouse: Mouse, now: Millis, out: &mut Vec<Effect>) {
    let Some(state) = &model.agent_view else { return };
    let area = state.area;
    let msg = match mouse.did {
        MouseDid::WheelUp => conversation::Msg::Lines(-WHEEL_ROWS),
        MouseDid::WheelDown => conversation::Msg::Lines(WHEEL_ROWS),
        MouseDid::Press if area.contains((mouse.column, mouse.row).into()) => {
            conversation::Msg::Press { column: mouse.column - area.x, row: mouse.row - area.y }
        }
        MouseDid::Drag => conversation::drag(area, mouse),
        MouseDid::Release => conversation::Msg::Release,
        MouseDid::Press | MouseDid::Other => return,
    };
    to_transcript(model, msg, now, out);
}

/// The mouse selects over an edge: the view scrolls by itself. A search goes on.
pub fn pull(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    if model.agent_view.as_ref().is_some_and(|view| view.conversation.pulls_at().is_some()) {
        to_transcript(model, conversation::Msg::Pull, now, out);
    }
    if model.agent_view.as_ref().is_some_and(|view| view.conversation.has_more()) {
        to_transcript(model, conversation::Msg::More, now, out);
    }
}

/// Gives the transcript a message and does what it wants.
pub fn to_transcript(model: &mut Model, msg: conversation::Msg, now: Millis, out: &mut Vec<Effect>) {
    let Some(state) = &mut model.agent_view else { return };
    for wanted in conversation::update(&mut state.conversation, msg, now) {
        match wanted {
            conversation::Out::Copy(text) => out.push(Effect::Copy(text)),
            conversation::Out::Ask { token, query } => {
                let effect = model.ask(Asker::Transcript(token), query);
                out.push(effect);
            }
        }
    }
}
