//! Overlays: a stack in the model, the first to see a key.

pub mod approve;
pub mod catalog;
pub mod leave;
pub mod line;
pub mod list;
pub mod page;
pub mod palette;
pub mod timeline;
pub mod tour;
pub mod usage;

/// One of the stack.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// A list to choose from.
    List(list::State),
    /// A line to type.
    Line(line::State),
    /// A page to read.
    Page(page::State),
    /// What ran when.
    Timeline(timeline::State),
}
