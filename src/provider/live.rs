//! What the decoders tell while an answer comes: events, joined as far as one read of the network goes.
//!
//! A decoder calls these for each piece; whoever reads the network drains once a read, so that a hundred
//! small pieces that came together cost one event.

use super::StreamEvent;

/// Events to send since the last drain.
#[derive(Debug, Default)]
pub struct Live {
    events: Vec<StreamEvent>,
    came: bool,
}

impl Live {
    /// A piece of text.
    pub(super) fn text(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if let Some(StreamEvent::Text(last)) = self.events.last_mut() {
            last.push_str(piece);
            return;
        }
        self.push(StreamEvent::Text(piece.to_string()));
    }
    /// A piece of thinking.
    pub(super) fn thinking(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if let Some(StreamEvent::Thinking(last)) = self.events.last_mut() {
            last.push_str(piece);
            return;
        }
        self.push(StreamEvent::Thinking(piece.to_string()));
    }
    /// A call begins.
    pub(super) fn call(&mut self, id: &str, name: &str) {
        self.push(StreamEvent::CallBegun { id: id.to_string(), name: name.to_string() });
    }
    /// A piece of its arguments.
    pub(super) fn input(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if let Some(StreamEvent::CallInput(last)) = self.events.last_mut() {
            last.push_str(piece);
            return;
        }
        self.push(StreamEvent::CallInput(piece.to_string()));
    }
    /// The block at hand is complete.
    pub(super) fn block_end(&mut self) {
        self.push(StreamEvent::BlockEnd);
    }
    /// A block came that has nothing to show.
    pub(super) fn mute(&mut self) {
        self.came = true;
    }
    /// Whether anything of an answer has come.
    pub fn came(&self) -> bool {
        self.came
    }
    /// Takes what is to be sent.
    pub fn drain(&mut self) -> std::vec::Drain<'_, StreamEvent> {
        self.events.drain(..)
    }
    fn push(&mut self, event: StreamEvent) {
        self.came = true;
        self.events.push(event);
    }
}
