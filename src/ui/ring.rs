//! The last messages of the screen, for a dump that can be replayed. What is secret enters as a
//! placeholder.

use std::collections::VecDeque;

use crate::base::Millis;
use crate::ui::input::{Code, Input};
use crate::ui::msg::Msg;

/// Most messages that are kept.
const MOST: usize = 512;

/// The ring.
#[derive(Debug, Default)]
pub struct Ring {
    kept: VecDeque<(Millis, Msg)>,
}

impl Ring {
    /// Keeps a message; `secret`: what was typed must not be told.
    pub fn keep(&mut self, now: Millis, msg: &Msg, secret: bool) {
        let msg = match msg {
            Msg::Input(Input::Key(key)) if secret && key.typed().is_some() => {
                Msg::Input(Input::Key(crate::ui::input::Key { code: Code::Char('•'), ..*key }))
            }
            Msg::Input(Input::Paste(_)) if secret => Msg::Input(Input::Paste("•".to_owned())),
            other => other.clone(),
        };
        if self.kept.len() == MOST {
            self.kept.pop_front();
        }
        self.kept.push_back((now, msg));
    }
    /// The messages, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &(Millis, Msg)> {
        self.kept.iter()
    }
    /// The ring as text, one message a line.
    pub fn dump(&self) -> String {
        self.kept.iter().map(|(at, msg)| format!("{} {msg:?}\n", at.0)).collect()
    }
}
