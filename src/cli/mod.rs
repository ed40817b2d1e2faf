//! The command line: what was written (`args`), and the commands that need no screen.
//!
//! `exec` and the screen itself are started by `main`, which alone names every layer.

pub mod args;
pub mod ask;
pub mod config;
pub mod doctor;
pub mod export;
pub mod host;
pub mod out;
mod person;
pub mod rehearsal;
pub mod sessions;
