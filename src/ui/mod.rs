//! The screen: one model, one update, one thread that never waits for anything but its own `poll`.
//!
//! In reading order: `run` (the loop), `msg` and `model` (what happens and what is), `update` (the
//! only place that changes the model), `view` (the only place that draws), `writer` (a drawn buffer
//! becomes bytes), `terminal` (the guard of the terminal's modes), `input` (bytes become events).
//!
//! Deliberately not here: the engine. The screen knows `api` and `link` only.

/// What keys can do.
pub mod action;
/// Copying through the terminal.
pub mod clipboard;
/// How many colours the terminal shows.
pub mod depth;
/// Bytes of the terminal become events.
pub mod input;
/// JSON with comments, with lines.
pub mod jsonc;
/// Which key does what.
pub mod keymap;
/// What sits over the panes: approvals, pickers, help.
pub mod overlay;
/// When to draw.
pub mod pace;
/// The panes and their closed list.
pub mod pane;
/// The terminal's drawing style.
mod pen;
/// Signals in the screen's poll.
mod signals;
/// The guard of the terminal's modes.
mod terminal;
/// Styles by what they are for.
pub mod theme;
/// What wakes the screen.
mod wake;
/// Things drawn from plain arguments only.
pub mod widget;
/// A drawn buffer becomes bytes.
pub mod writer;
