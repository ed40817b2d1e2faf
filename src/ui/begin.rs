//! What is asked right after the screen stands, whichever it is.

use crate::api::command::{Command, Query};
use crate::base::Millis;
use crate::ui::model::{Asker, Model, UiOptions};
use crate::ui::msg::{Effect, Msg};
use crate::ui::pane::conflict;
use crate::ui::update::update;

/// Asks for what is needed and was ordered; what is to be done.
pub fn begin(model: &mut Model, options: &UiOptions, now: Millis) -> Vec<Effect> {
    let mut out = vec![model.ask(Asker::Commands, Query::Commands)];
    if options.alone {
        out.extend(update(model, Msg::Conflict(conflict::Msg::Enter), now));
    }
    if let Some(text) = options.prompt.clone() {
        out.push(Effect::Send(Command::Send { text, images: Vec::new(), after_turn: false }));
    }
    if options.first_run {
        out.extend(update(model, Msg::Welcome, now));
    }
    if options.ask_trust {
        out.extend(update(model, Msg::AskTrust, now));
    }
    out
}
