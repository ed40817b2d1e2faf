//! The conversation: what was said, what streams in, one row for each call.
//!
//! `sync` takes what is new from one moment of the record, `update` changes the state by a message,
//! `view` draws. Nothing here reads a clock or waits.
//!
//! In reading order: `item` (what it is made of), `sync`, `lay` (rows of one block, kept in `cache`),
//! `report` (an agent's end), `reading` (long texts), `kept` (where one was), `view`, `marks` (its scrollbar), `update`, `search`, `select`, `take`, `source` (text for copies and the pager), `colours`. A place is a block
//! and what stands in it, never a number of rows, so that what is far away is never laid out.

mod cache;
mod colours;
mod item;
mod kept;
mod lay;
mod marks;
mod reading;
mod report;
mod search;
mod select;
mod source;
mod sync;
mod take;
mod update;
mod view;

use std::ops::Range;

use crate::api::command::Query;
use crate::api::event::Reply;
use crate::base::CallId;
use crate::ui::input::Mouse;
use crate::ui::widget::diff::{Diff, Shape, Stream};
use crate::ui::widget::row::Role;
use crate::ui::widget::scroll::Scroll;

pub use crate::ui::widget::picking::Pick;
pub use kept::Kept;
pub use lay::count;
pub use take::Piece;
pub use update::update;
pub use view::view;

/// What the pane remembers.
#[derive(Debug)]
pub struct State {
    items: Vec<item::Item>,
    last_id: u64,
    /// The session's directory: files are named from there.
    cwd: std::path::PathBuf,
    /// Entries taken of the record's path, in this epoch.
    seen: usize,
    epoch: u64,
    revision: u64,
    /// Where the items of the answer that streams in begin.
    live_from: usize,
    live_number: u64,
    /// The answer whose items became committed ones.
    live_committed: u64,
    board_revision: u64,
    /// The count of open conflicts that its reports tell.
    counted: u64,
    /// Calls without a settle, and their items.
    running: Vec<(CallId, u64)>,
    /// The files with the output of calls that run, or of which something goes on as a job.
    spools: std::collections::BTreeMap<crate::base::CallId, std::path::PathBuf>,
    /// The item with the newest list of things to do.
    list: Option<u64>,
    cache: cache::Cache,
    colours: colours::Colours,
    scroll: Scroll,
    /// Something came while the view was scrolled up.
    unseen: bool,
    /// The session is being opened: its entries will come.
    pub waits: bool,
    /// Reduced motion: spinners stand still.
    pub still: bool,
    selected: Option<u64>,
    all: Option<bool>,
    /// How diffs are shown.
    shape: Shape,
    /// Colours came for a diff that stands beside the conversation.
    beside: bool,
    search: search::Search,
    /// What is selected of the text.
    pick: crate::ui::widget::select::Picker<select::Key>,
    /// The row in which the mouse went down.
    pressed_row: u16,
    /// The item that the last click opened or folded.
    flipped: Option<u64>,
    /// The item whose text is not read to its begin, and looked at.
    reading: Option<u64>,
    /// Where one was in it before another session was shown.
    kept: Option<Box<kept::Kept>>,
    /// The first and the last row of it.
    drawn: Option<(crate::ui::widget::scroll::Spot, crate::ui::widget::scroll::Spot)>,
    /// Rows and gutter of the view as last drawn.
    height: usize,
    gutter: u16,
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
    /// To the beginning, the mark too.
    First,
    /// To the end, the mark too.
    Last,
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
    /// Select the failed call or turn before.
    PreviousError,
    /// Select the next call.
    NextCall,
    /// Select the call before.
    PreviousCall,
    /// Select no item.
    Deselect,
    /// Fold or unfold the selected item.
    Toggle,
    /// Fold or unfold all items.
    ToggleAll,
    /// Diffs the other way: side by side, or in one column.
    Shape,
    /// The search's text changed: marks its hits and goes to the nearest. Empty ends the search.
    Search(String),
    /// To the next hit.
    SearchNext,
    /// To the previous hit.
    SearchPrevious,
    /// Copy the source of the selected item (without one: of the last answer).
    Copy,
    /// The mouse went down, relative to the pane's inner area as last drawn.
    Press {
        /// Column.
        column: u16,
        /// Row.
        row: u16,
    },
    /// It moved with its button down, maybe over an edge.
    Drag {
        /// Column.
        column: i32,
        /// Row.
        row: i32,
    },
    /// The button went up: a click, or the end of a selection.
    Release,
    /// The mouse is still over an edge.
    Pull,
    /// Selecting by keys.
    Pick(Pick),
    /// Nothing else is to be done: search on, read on.
    More,
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

/// The message of a mouse that moved with its button down; `area`: where the pane was drawn.
pub fn drag(area: ratatui::layout::Rect, mouse: Mouse) -> Msg {
    Msg::Drag {
        column: i32::from(mouse.column) - i32::from(area.x),
        row: i32::from(mouse.row) - i32::from(area.y),
    }
}

impl State {
    /// A new one. `wake` makes the screen draw again when background work (colouring) has ended.
    pub fn new(wake: crate::link::Wake) -> Self {
        Self {
            items: Vec::new(),
            last_id: 0,
            cwd: std::path::PathBuf::new(),
            seen: 0,
            epoch: 0,
            revision: 0,
            live_from: 0,
            live_number: 0,
            live_committed: 0,
            board_revision: u64::MAX,
            counted: 0,
            running: Vec::new(),
            spools: std::collections::BTreeMap::new(),
            list: None,
            cache: cache::Cache::default(),
            colours: colours::Colours::new(wake),
            scroll: Scroll::Follow,
            unseen: false,
            waits: false,
            still: false,
            selected: None,
            all: None,
            shape: Shape::default(),
            beside: false,
            search: search::Search::default(),
            pick: crate::ui::widget::select::Picker::default(),
            pressed_row: 0,
            flipped: None,
            reading: None,
            kept: None,
            drawn: None,
            height: 24,
            gutter: 0,
        }
    }
    /// How diffs are shown, and in how many columns those of calls are.
    pub fn shape(&self) -> (Shape, usize) {
        (self.shape, lay::diff_columns(self.cache.width()))
    }
    /// Shows diffs so from now on.
    pub fn show_diffs(&mut self, shape: Shape) {
        if shape != self.shape {
            self.shape = shape;
            self.cache.clear();
        }
    }
    /// The colours of a line of a diff that stands beside the conversation.
    pub fn colours_beside(&self, number: u64, stream: Stream, line: u32) -> Option<&[(u32, Role)]> {
        self.colours.of_diff(number, stream, line)
    }
    /// Asks for the colours of some pieces of such a diff; `take_beside` tells that some came.
    pub fn want_beside(&mut self, number: u64, diff: &Diff, text: &str, pieces: Range<usize>) {
        pieces.for_each(|piece| self.colours.want_diff(number, diff, text, piece));
    }
    /// Whether colours came for a diff beside, since this was asked last.
    pub fn take_beside(&mut self) -> bool {
        std::mem::take(&mut self.beside)
    }
    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
    /// Whether something that is drawn here moves by itself (a spinner, an elapsed time).
    pub fn animates(&self) -> bool {
        !self.running.is_empty()
    }
    /// Whether colours of what was drawn have not come yet.
    pub fn owes_colours(&self) -> bool {
        self.colours.owes()
    }
    /// Takes the colours that have come; whether any did.
    pub fn take_colours(&mut self) -> bool {
        let come = self.colours.take();
        for ((id, first), lines) in &come {
            let Some(item) = self.items.iter().rev().find(|item| item.id == *id) else {
                self.beside = true;
                continue;
            };
            let (doc, head) = match &item.body {
                item::Body::Prose { doc, head, .. } => (doc, head),
                item::Body::Call(call) => {
                    let pieces = call.diff.as_ref().map_or(0..0, |diff| diff.pieces_of(*first));
                    let blocks = pieces.start + lay::CALL_BLOCKS..pieces.end + lay::CALL_BLOCKS;
                    self.cache.forget_range(*id, blocks, false);
                    continue;
                }
                _ => continue,
            };
            let shift = usize::from(head.is_some());
            let blocks = doc.blocks().iter().enumerate().skip(*first as usize);
            for (index, block) in blocks {
                let crate::ui::widget::markdown::Kind::Code { first: of, line, .. } = block.kind else {
                    break;
                };
                if of != *first || line >= lines.end.max(1) {
                    break;
                }
                if line + block.lines.len() as u32 >= lines.start {
                    self.cache.forget_block(*id, index + shift);
                }
            }
        }
        !come.is_empty()
    }
}

impl Default for State {
    fn default() -> Self {
        Self::new(std::sync::Arc::new(|| ()))
    }
}

#[cfg(test)]
mod tests;
