//! What can go wrong with the files of a session. Each says what happened, to what, and what to do next.

use std::io;
use std::path::{Path, PathBuf};

use crate::law::cwd::Refusal;
use crate::law::lease::Holder;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no home directory to keep anything in.
    #[error(
        "no home directory is known, so nothing can be kept; set HOME, or XDG_STATE_HOME and XDG_CONFIG_HOME"
    )]
    NoHome,
    /// A private file or directory is not private.
    #[error("{} {wrong}, but what it holds is private; {todo}", path.display())]
    NotPrivate {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        wrong: String,
        /// What to do.
        todo: String,
    },
    /// The control socket's place is not fit for it.
    #[error("{} {wrong}", path.display())]
    Socket {
        /// The directory, or the socket.
        path: PathBuf,
        /// What is wrong and what to do.
        wrong: String,
    },
    /// The system refused an operation.
    #[error("could not {what} {}", path.display())]
    Io {
        /// The operation, as a verb.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A record is over the bound.
    #[error(
        "a record of {bytes} bytes is over the journal's bound of {max}; its big parts belong beside the journal"
    )]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The bound.
        max: u64,
    },
    /// A value cannot be written as JSON.
    #[error("an entry cannot be written as JSON")]
    Encode(#[source] serde_json::Error),
    /// The journal changed under the program that has it open.
    #[error("the journal {} {wrong} while it was open here; copy what is on the screen, leave, and open the session anew", path.display())]
    Disturbed {
        /// The journal.
        path: PathBuf,
        /// What happened to it.
        wrong: String,
    },
    /// No session has this id.
    #[error("no session {id} here; `windlass sessions` lists those there are")]
    NoSession {
        /// The id as given.
        id: String,
    },
    /// Several sessions begin so.
    #[error("{count} sessions begin with {id}; write more of the id (`windlass sessions` lists them)")]
    Ambiguous {
        /// The id as given.
        id: String,
        /// How many.
        count: usize,
    },
    /// The session is open elsewhere.
    #[error("the session is open in another program ({}); close it there, or view it only", who(holder.as_ref()))]
    Held {
        /// By whom.
        holder: Option<Holder>,
    },
    /// The journal was written by a newer version.
    #[error(
        "the session was written by a newer version of windlass (format {v}, this one knows 1); it can be viewed, not continued"
    )]
    Newer {
        /// Its format.
        v: u64,
    },
    /// It cannot run in its directory.
    #[error(transparent)]
    Cwd(#[from] Refusal),
    /// A blob is not what its name says, or its name is none.
    #[error("the kept bytes {hash} {wrong}; what refers to them cannot be restored")]
    Blob {
        /// The name.
        hash: String,
        /// What is wrong.
        wrong: String,
    },
}

impl Error {
    /// Wraps what the system said.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { what, path: path.to_owned(), source }
    }
}

/// A holder, in words.
pub fn who(holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) => format!("pid {}", holder.pid),
        None => "which one is not known".into(),
    }
}
