//! Windlass: a full-screen terminal program for coding with a language model.
//!
//! The code map, in reading order. `docs/ARCHITECTURE.md` says who may name whom; a test holds it.

/// Pure: what the engine and a front end say to each other.
pub mod api;
/// Plain values: ids, plain-number time, the error-chain printer.
pub mod base;
/// The command line.
pub mod cli;
/// What was written (flags, environment, settings) and what it means.
pub mod config;
/// The shell: the owner loop of a session, turns, calls.
pub mod engine;
/// What is not the screen: `exec`, the control socket, jobs from another terminal.
pub mod front;
/// Pure: the state machines and decisions that the laws are about.
pub mod law;
/// The channel ends that both sides hold.
pub mod link;
/// Spawning, the keeper, process identity.
pub mod process;
/// One file for each wire format of a model.
pub mod provider;
/// One file for each confinement profile.
pub mod sandbox;
/// The other half of `main`: a session is wired to its front end.
pub mod start;
/// Journal, session directory, leases, private files.
pub mod store;
/// One file for each tool of the model.
pub mod tool;
/// The screen.
pub mod ui;
/// What is known of a working directory: instructions, git state, file lists; a child's copy and its hand-back.
pub mod workspace;
