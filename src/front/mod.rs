//! What is not the screen: `exec` (one prompt, its events on standard output), `jobs` (jobs from another terminal).

pub mod exec;
mod exec_events;
pub mod jobs;

pub use exec::{ExecOptions, exec};
