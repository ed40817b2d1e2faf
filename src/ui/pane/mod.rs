//! The panes. Each is a folder of plain functions: `State`, `Msg`, `update`, `view`.

pub mod agents;
pub mod composer;
pub mod conflict;
pub mod conversation;
pub mod jobs;
pub mod list;
pub mod live;
pub mod tree;

/// The panes of the main screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaneId {
    /// What was said.
    Conversation,
    /// Where the person types.
    Composer,
    /// What runs now.
    Live,
    /// What outlives its call.
    Jobs,
    /// Subagents.
    Agents,
    /// Every branch, over the conversation.
    Tree,
}
