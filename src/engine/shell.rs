//! A command of the person's (`!`, `!!`): a call like the model's, outside of any turn.

use serde_json::json;

use crate::api::entry::Level;
use crate::law::call;

use super::history::{PERSON_HIDDEN, PERSON_SHOWN};
use super::owner::Owner;

impl Owner {
    /// Runs it at once: the person's own command needs no approval.
    pub(super) fn run_shell(&mut self, command: String, hidden: bool) {
        if let Err(error) = self.store.begin() {
            let why = crate::base::chain(&error);
            return self.say(Level::Error, format!("The command was not run: {why}"));
        }
        let wire_id = if hidden { PERSON_HIDDEN } else { PERSON_SHOWN };
        let call = self.open_call(wire_id, "bash", json!({ "command": command }), false);
        self.call_event(&call, call::Event::Begin);
    }
}
