//! What is not the screen: `exec` (one prompt, its events on standard output).

pub mod exec;
mod exec_events;

pub use exec::{ExecOptions, exec};
