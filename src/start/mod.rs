//! The other half of `main`: a session is wired to its front end. Like `main` it names every layer, and
//! nobody but `main` names it.
//!
//! In reading order: `models` (what can be chosen), `ready` (settings and flags to options), `exec`,
//! `screen`, `merge` (one merge on the screen, without a session).

pub mod exec;
pub mod merge;
pub mod models;
pub mod ready;
pub mod screen;

use std::sync::Arc;

use crate::front::control::{Control, Tap};
use crate::link::{Front, Wake};
use crate::store::Dirs;
use crate::store::socket::places;

pub use ready::{Misuse, Ready, ready};

/// Threads that drive tasks: network, timers, tools.
const WORKERS: usize = 2;
/// Threads for blocking work at once.
const BLOCKING: usize = 16;

/// The runtime of the engine.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(BLOCKING)
        .thread_name("engine")
        .enable_all()
        .build()
}

/// The wake to open a session with, and the tap on it for the control socket (none where there is no descriptor
/// left for one).
fn tapped(wake: Wake) -> (Option<Arc<Tap>>, Wake) {
    match Tap::new() {
        Ok(tap) => (Some(Arc::clone(&tap)), tap.over(wake)),
        Err(_) => (None, wake),
    }
}

/// The session's control socket; none where there can be no thread for it. Nothing is waited for.
fn served(front: &Front, tap: Arc<Tap>, dirs: Dirs) -> Option<Control> {
    Control::serve(front, tap, places(), dirs).ok()
}

/// What is said where a directory's own settings are left out.
const NOT_TRUSTED: &str = "This directory has settings of its own (.windlass), which are not read because it is \
    not trusted. Trust it on the screen with /trust.";
