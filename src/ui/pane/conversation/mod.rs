//! The conversation: what was said, what streams in, one row for each call.
//!
//! `sync` takes what is new from one moment of the record, `update` changes the state by a message,
//! `view` draws. Nothing here reads a clock or waits.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::api::board::Record;
use crate::api::command::Query;
use crate::api::event::Reply;
use crate::base::Millis;
use crate::ui::theme::Theme;

/// What the pane remembers.
#[derive(Debug, Default)]
pub struct State {
    entries: usize,
}

/// What can happen to the pane.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// Scroll by lines; negative is up.
    Lines(i32),
    /// Scroll by pages; negative is up.
    Pages(i32),
    /// To the first line.
    Top,
    /// To the end, following it from then on.
    Bottom,
    /// Select the next item.
    Next,
    /// Select the previous item.
    Previous,
    /// Select the next message of the person.
    NextUser,
    /// Select the previous message of the person.
    PreviousUser,
    /// Select the next failed call or turn.
    NextError,
    /// Select no item.
    Deselect,
    /// Fold or unfold the selected item.
    Toggle,
    /// Fold or unfold all items.
    ToggleAll,
    /// The search's text changed: marks its hits and goes to the nearest. Empty ends the search.
    Search(String),
    /// To the next hit.
    SearchNext,
    /// To the previous hit.
    SearchPrevious,
    /// Copy the source of the selected item (without one: of the last answer).
    Copy,
    /// A click, relative to the pane's inner area as last drawn.
    Click {
        /// Column.
        column: u16,
        /// Row.
        row: u16,
    },
    /// The answer to a query that `update` asked for, by the token it gave.
    Answered {
        /// The token.
        token: u64,
        /// The answer.
        reply: Reply,
    },
}

/// What the pane wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Copy this text to the clipboard.
    Copy(String),
    /// Ask the session; the answer comes as `Msg::Answered` with the token.
    Ask {
        /// Comes back with the answer.
        token: u64,
        /// The question.
        query: Query,
    },
}

impl State {
    /// A new one. `wake` makes the screen draw again when background work (colouring) has ended.
    pub fn new(wake: crate::link::Wake) -> Self {
        let _ = wake;
        Self::default()
    }
    /// Takes what is new; whether anything changed that is drawn here.
    pub fn sync(&mut self, record: &Record) -> bool {
        let changed = record.path.len() != self.entries;
        self.entries = record.path.len();
        changed
    }
    /// Whether something that is drawn here moves by itself (a spinner, an elapsed time).
    pub fn animates(&self) -> bool {
        false
    }
    /// How many hits the search has and which one is current (from 1), while one is on.
    pub fn hits(&self) -> Option<(usize, usize)> {
        None
    }
    /// The whole transcript as plain text, for the pager.
    pub fn transcript(&self) -> String {
        String::new()
    }
}

/// Changes the state by a message.
pub fn update(state: &mut State, msg: Msg, now: Millis) -> Vec<Out> {
    let _ = (state, msg, now);
    Vec::new()
}

/// Draws the pane's content into `area` (the frame around it is the caller's).
pub fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let _ = (state, area, buf, theme, now);
}
