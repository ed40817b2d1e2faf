//! What is not the screen: `exec` (one prompt, its events on standard output), `control` (the socket of a running
//! program), `jobs` (jobs from another terminal), `attach` (a job's terminal in this one),
//! `merge` (one merge over plain files, for git and jj).

pub mod attach;
pub mod control;
pub mod exec;
mod exec_events;
pub mod hand_back;
pub mod jobs;
pub mod merge;

pub use exec::{ExecOptions, exec};
