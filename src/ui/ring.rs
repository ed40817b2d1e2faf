//! The last messages of the screen, for a dump that can be replayed. What is secret enters as a
//! placeholder.

use std::collections::VecDeque;

use crate::api::event::{Event, Reply};
use crate::base::Millis;
use crate::ui::input::{Code, Input, Key};
use crate::ui::msg::Msg;
use crate::ui::pane::conflict;

/// Most messages that are kept.
const MOST: usize = 512;

/// What of the input must not be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// Nothing.
    None,
    /// The characters that are typed: into a secret field, or while a job waits for input, wherever they go.
    Text,
    /// Every key: they are typed into a job.
    Keys,
}

/// The ring.
#[derive(Debug, Default)]
pub struct Ring {
    kept: VecDeque<(Millis, Msg)>,
}

impl Ring {
    /// Keeps a message.
    pub fn keep(&mut self, now: Millis, msg: &Msg, secrecy: Secrecy) {
        let dot = |key: Key| Msg::Input(Input::Key(key));
        let msg = match (msg, secrecy) {
            (Msg::Input(Input::Key(key)), Secrecy::Text) if key.typed().is_some() => {
                dot(Key { code: Code::Char('•'), ..*key })
            }
            (Msg::Input(Input::Key(_)), Secrecy::Keys) => dot(Key::plain(Code::Char('•'))),
            (Msg::Input(Input::Paste(_)), Secrecy::Text | Secrecy::Keys) => {
                Msg::Input(Input::Paste("•".to_owned()))
            }
            // a job's output stands in its file, and is long
            (Msg::Event(Event::Answered { number, reply: Reply::JobLog { offset, size, .. } }), _) => {
                let reply = Reply::JobLog { bytes: Vec::new(), offset: *offset, size: *size };
                Msg::Event(Event::Answered { number: *number, reply })
            }
            // files that are merged are long, and their own
            (Msg::Event(Event::Answered { number, reply: Reply::HandBack(_) }), _) => {
                let reply = Reply::Done("of the hand-backs".to_owned());
                Msg::Event(Event::Answered { number: *number, reply })
            }
            (Msg::Conflict(conflict::Msg::Edited(_)), _) => Msg::Conflict(conflict::Msg::Edited(Vec::new())),
            (other, _) => other.clone(),
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
