//! What is not the screen: `exec` (one prompt, its events on standard output), `control` (the socket of a running
//! program), `jobs` (jobs from another terminal), `attach` (a job's terminal in this one).

pub mod attach;
pub mod control;
pub mod exec;
mod exec_events;
pub mod jobs;

pub use exec::{ExecOptions, exec};
