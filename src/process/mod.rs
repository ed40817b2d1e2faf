//! Commands under a keeper: a small process of ours that owns a command's output and its whole tree.
//!
//! In reading order: `environment` (what crosses to a command), `record` (what a command's directory
//! tells), `wire` (what program and keeper say to each other), `launch` (the program's side), `keeper`
//! (the other side), `visit` (others of the
//! same person), `terminal` (a terminal of its own), `tree` (finding and signalling processes), `cgroup` (holding a command's
//! processes together), `inside` (where a held command goes), `mounts` (the table of mounts), `answer` (a program of the person's, run for what it
//! prints), `foreground` (one that has this terminal), `pre_exec` (the only unsafe code).
//!
//! Not here: what confines a command (`sandbox` plans that and is the one way to start one).

pub mod answer;
pub mod cgroup;
pub mod environment;
pub mod foreground;
mod inside;
pub mod keeper;
pub mod launch;
pub mod mounts;
mod pre_exec;
pub mod record;
pub mod terminal;
pub mod tree;
pub mod visit;
pub mod wire;

/// Closes this program's memory, its environment with the keys and its open files to every other process
/// of the same person, through `/proc` and tracing; nothing of it is dumped either. Root sees all the same.
/// A program that is started from here is not closed by it.
pub fn close_to_others() {
    // Only an unknown kernel refuses; the program works then as it did before this was called.
    let _ = nix::sys::prctl::set_dumpable(false);
}

pub use environment::child_environment;
pub use inside::Inside;
pub use launch::{
    Adopted, Launch, LaunchError, News, Running, adopt, end_left_over, launch, open_socket, read_bounded,
    try_out, use_keeper_program,
};
pub use record::Record;
