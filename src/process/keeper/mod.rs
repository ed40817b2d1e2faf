//! The keeper: the program's own binary, started again for one command. It owns the command's output and
//! its whole tree, and records the end; when the program goes, it ends the tree.
//!
//! One thread, one poll loop, no runtime: it starts in a few milliseconds and sleeps until something
//! happens. What to do is decided by `law::job`; this carries it out.
//!
//! Keeps `job_kill_reaches_descendants`, `job_dies_with_program_unless_kept`, `job_no_silent_loss`,
//! `output_artifact_is_whole`. The design stands in `docs/decisions/keeper.md`.

mod begin;
mod clients;
mod intake;
mod look;
mod run;
mod socket;
mod step_back;
mod whole;

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// The first argument that makes the binary a keeper. Not for people.
pub const KEEPER_ARGUMENT: &str = "__keeper";

/// Becomes a keeper, and never returns, when the program was started as one. The very first thing that
/// `main` does; in a normal start it costs one look at the arguments.
pub fn main_if_keeper() {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == KEEPER_ARGUMENT) {
        let code = match std::io::stdin().as_fd().try_clone_to_owned() {
            Ok(socket) => run::keep(UnixStream::from(socket)),
            Err(_) => 2,
        };
        std::process::exit(code);
    }
}
