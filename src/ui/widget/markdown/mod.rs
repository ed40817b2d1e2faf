//! Markdown that streams: split into blocks line by line, laid out block by block.
//!
//! In reading order: `blocks` (`Doc`: which blocks there are; a finished one is never touched again),
//! `unread` (a long text, its end first), `machine` (the line machine behind it), `line` and `html` (what one line is), `inline` (what stands inside a
//! paragraph, read by pulldown-cmark), `layout` and `table` (rows of a block at a width).
//!
//! Deliberate: the block structure is a function of whole lines, so that any chunking of a text ends in
//! the same blocks, and the cost of a token does not grow with the answer, the list, the fence or the
//! paragraph it stands in. Reference definitions are shown as they are written, for what comes later in
//! a stream cannot change what is drawn already; raw HTML is shown as text, but for `<details>`, which folds. The mark of a note is shown as one
//! whether its note has come or not.

mod blocks;
mod html;
mod inline;
mod layout;
mod line;
mod machine;
mod table;
mod unread;

pub use blocks::{Block, Container, Doc, Kind, Mark};
pub use layout::{Colours, lay, unfolded, words};

#[cfg(test)]
mod tests;
