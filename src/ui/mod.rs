//! The screen: one model, one update, one thread that never waits for anything but its own `poll`.
//!
//! In reading order: `run` (the loop), `msg` and `model` (what happens and what is), `update` (the
//! only place that changes the model), `view` (the only place that draws), `writer` (a drawn buffer
//! becomes bytes), `terminal` (the guard of the terminal's modes), `input` (bytes become events).
//!
//! Deliberately not here: the engine. The screen knows `api` and `link` only.

/// What actions do.
mod act;
/// What keys can do.
pub mod action;
/// The transcript of one agent, over the whole screen.
pub mod agent_view;
/// What the agents pane wants, done.
mod agents_update;
/// What is asked right after the screen stands.
mod begin;
/// The title line and the status line.
mod chrome;
/// Copying through the terminal.
pub mod clipboard;
/// What the conflict viewer wants, done.
pub mod conflict_update;
/// How many colours the terminal shows.
pub mod depth;
/// What a person who looks elsewhere is told of.
mod ends;
/// Which characters the terminal can show.
pub mod glyphs;
/// Bytes of the terminal become events.
pub mod input;
/// One job over the whole screen.
pub mod job_view;
/// What the jobs pane wants, done.
mod jobs_update;
/// JSON with comments, with lines.
pub mod jsonc;
/// Which key does what.
pub mod keymap;
/// Where everything stands.
pub mod layout;
/// Plain lines for a screen reader.
mod linear;
/// Moving in the lists of the main screen.
mod list_update;
/// The one model.
pub mod model;
/// What can happen, and what is wanted.
pub mod msg;
/// What sits over the panes: approvals, pickers, help.
pub mod overlay;
/// What keys do to overlays.
mod overlay_update;
/// When to draw.
pub mod pace;
/// The panes and their closed list.
pub mod pane;
/// The terminal's drawing style.
mod pen;
/// Thumbnails of images.
pub mod picture;
/// Plain text for the terminal's own selection.
mod raw;
/// The last messages.
mod ring;
/// The loop.
mod run;
/// Selecting text by keys.
mod select_update;
/// Signals in the screen's poll.
mod signals;
/// The guard of the terminal's modes.
mod terminal;
/// Styles by what they are for.
pub mod theme;
/// What the tree wants, done.
mod tree_update;
/// The only place that changes the model.
pub mod update;
/// The keys of vi over a text.
pub mod vi;
/// The only place that draws.
pub mod view;
/// What wakes the screen.
mod wake;
/// Things drawn from plain arguments only.
pub mod widget;
/// The title of the terminal's window.
pub mod window;
/// A drawn buffer becomes bytes.
pub mod writer;
/// Keys of a text that is written.
mod writing;

pub use model::{ENVIRONMENT, Model, UiOptions};
pub use msg::{Effect, Exit, Left, Msg};
pub use run::run;
pub use select_update::RAW;
pub use terminal::UiError;
pub use wake::{WakeEnd, wake_pair};
