//! The control socket of an open session: other programs of the same person ask of its jobs, and ask for things.
//!
//! It is a front end like the screen: it reads the record and gives commands to the owner loop, so there is no second
//! truth. One thread, one `poll`, nothing that waits: a session that nobody asks has no wake-up from it. The frames
//! pass the splitter and the gate of `law::frame`; every peer's user is read before a byte of it (`law::socket`).
//!
//! In reading order: `tap` (what wakes it), `peer` (one connection), `answer` (a frame's answer), `serve` (the loop),
//! `ask` (the other end). `docs/decisions/control-socket.md` says what is spoken.
//!
//! Not here: the directory and the socket (`store::socket`). Keeps `peer_same_uid` and the four `proto_` laws.

mod answer;
pub mod ask;
mod peer;
mod serve;
mod tap;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::mpsc::WeakSender;

use crate::api::command::Command;
use crate::link::{Front, Shared};
use crate::store::Dirs;
use crate::store::socket::Bound;

pub use answer::{SERVED, VERSION};
pub use peer::LINE_MAX;
pub use serve::PEERS_MAX;
pub use tap::Tap;

/// What the socket holds of a session. It does not keep the session open.
#[derive(Clone)]
struct Link {
    shared: Shared,
    commands: WeakSender<Command>,
}

/// The socket of a session, while it is open. Dropping it ends what is asked and takes the socket away.
pub struct Control {
    tap: Arc<Tap>,
    /// The socket's name, while it has one.
    name: Arc<Mutex<Option<Bound>>>,
    thread: Option<JoinHandle<()>>,
}

impl Control {
    /// Serves a session that is open or being opened, in the first of these directories. Nothing is waited for: what
    /// goes wrong later is told to the person by the session. The session's wake must go through the tap. Dead sockets
    /// of other sessions are taken away, but for those that somebody has open below `dirs`.
    pub fn serve(front: &Front, tap: Arc<Tap>, places: Vec<PathBuf>, dirs: Dirs) -> io::Result<Self> {
        let link = Link { shared: front.shared.clone(), commands: front.commands.downgrade() };
        tap.attach(front.shared.clone());
        let name = Arc::new(Mutex::new(None));
        let (rung, named) = (Arc::clone(&tap), Arc::clone(&name));
        let thread = std::thread::Builder::new()
            .name("control".into())
            .spawn(move || serve::run(link, &rung, &named, &places, &dirs))?;
        Ok(Self { tap, name, thread: Some(thread) })
    }

    /// Takes the socket away and lets nobody in any more; who is in goes on. Called before the session's lease is
    /// given back, so that the next program finds the place free.
    pub fn close_door(&self) {
        self.tap.close_door();
        unname(&self.name);
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.tap.stop();
        if let Some(thread) = self.thread.take() {
            // one that panicked has said so itself
            let _ = thread.join();
        }
        unname(&self.name);
    }
}

/// Takes the socket away; when this returns, its place is free.
fn unname(name: &Mutex<Option<Bound>>) {
    drop(name.lock().unwrap_or_else(PoisonError::into_inner).take());
}
