//! Widgets: drawn from plain arguments only, correct at every size from 1×1.

/// Versions of a text line beside line.
pub mod align;
/// A scrollbar.
pub mod bar;
/// Colours of texts, kept.
pub mod colours;
/// A unified diff as rows.
pub mod diff;
/// Fuzzy choice.
pub mod fuzzy;
/// Colours of code, in the background.
pub mod highlight;
/// Where a link goes.
pub mod link;
/// Markdown that streams.
pub mod markdown;
/// Selecting by keys.
pub mod picking;
/// Plain text in pieces.
pub mod plain;
/// A laid-out row and how it is drawn.
pub mod row;
/// Where a long list stands.
pub mod scroll;
/// Selecting text over soft wraps.
pub mod select;
/// The picture of a job's terminal.
pub mod terminal;
/// Clusters, widths, cutting, and making the invisible visible.
pub mod text;
/// Wrapping with hanging prefixes.
pub mod wrap;
