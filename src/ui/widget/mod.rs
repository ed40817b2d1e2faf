//! Widgets: drawn from plain arguments only, correct at every size from 1×1.

/// A laid-out row and how it is drawn.
pub mod row;
/// Clusters, widths, cutting, and making the invisible visible.
pub mod text;
/// Wrapping with hanging prefixes.
pub mod wrap;
/// Markdown that streams.
pub mod markdown;
