//! Commands under a keeper: a small process of ours that owns a command's output and its whole tree.
//!
//! In reading order: `environment` (what crosses to a command), `record` (what a command's directory
//! tells), `wire` (what program and keeper say to each other), `launch` (the program's side), `keeper`
//! (the other side), `tree` (finding and signalling processes), `pre_exec` (the only unsafe code).
//!
//! Not here: what confines a command (`sandbox` plans that and is the one way to start one).

pub mod environment;
pub mod keeper;
pub mod launch;
mod pre_exec;
pub mod record;
pub mod tree;
pub mod wire;

pub use environment::child_environment;
pub use launch::{Launch, LaunchError, News, Running, launch, use_keeper_program};
pub use record::Record;
