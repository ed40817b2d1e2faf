//! Law A: the control socket is only for you. Which directory may hold it, what is done about one that is not there,
//! which socket may be put in place of another or is taken away as dead, and which peer is heard.
//!
//! What the system says comes in as plain values; a directory is looked at without following a link. Nothing here
//! changes what is there: a directory is made or taken as it is, never mended.
//!
//! Not here: files, sockets, where the directory is (`store::socket`), what is said over it (`law::frame`).
//!
//! Keeps `socket_dir_owned`, `socket_dir_created`, `peer_same_uid`.

/// The mode that a directory for sockets is made with, in one step.
pub const DIR_MODE: u32 = 0o700;
/// The mode that a socket has from its first moment.
pub const SOCKET_MODE: u32 = 0o600;

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// Anything else.
    Other,
}

/// What the system says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What it is.
    pub kind: Kind,
    /// The user whose it is.
    pub owner: u32,
    /// Its permissions: the lower twelve bits.
    pub mode: u32,
}

/// Why a directory may not hold the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is a link: whoever made it decides where it leads.
    Link,
    /// It is no directory.
    NotADirectory,
    /// It is somebody else's.
    Owner {
        /// Whose.
        owner: u32,
        /// Who we are.
        us: u32,
    },
    /// Others may put something in the socket's place.
    Writable {
        /// Its mode.
        mode: u32,
    },
    /// Its owner may not use it.
    Closed {
        /// Its mode.
        mode: u32,
    },
}

impl Refusal {
    /// What is wrong with the directory, as the rest of a sentence that begins with its path.
    pub fn wrong(&self) -> String {
        match self {
            Refusal::Link => "is a symbolic link, not a directory".to_owned(),
            Refusal::NotADirectory => "is not a directory".to_owned(),
            Refusal::Owner { owner, us } => {
                format!("belongs to the user with id {owner}, not to you ({us})")
            }
            Refusal::Writable { mode } => format!("can be written by others (mode {mode:04o})"),
            Refusal::Closed { mode } => format!("is closed to yourself (mode {mode:04o})"),
        }
    }
    /// What to do about it, given its path as a shell reads it.
    pub fn todo(&self, path: &str) -> String {
        match self {
            Refusal::Link | Refusal::NotADirectory => "move it away".to_owned(),
            Refusal::Owner { .. } => {
                "move it away, or set XDG_RUNTIME_DIR to a directory of your own".to_owned()
            }
            Refusal::Writable { .. } | Refusal::Closed { .. } => format!("run `chmod 700 {path}`"),
        }
    }
}

/// Whether a directory may hold the socket of this user; the first of what is wrong is named.
pub fn usable(seen: Seen, us: u32) -> Result<(), Refusal> {
    let Seen { kind, owner, mode } = seen;
    match kind {
        Kind::Link => Err(Refusal::Link),
        Kind::Other => Err(Refusal::NotADirectory),
        Kind::Directory if owner != us => Err(Refusal::Owner { owner, us }),
        Kind::Directory if mode & 0o022 != 0 => Err(Refusal::Writable { mode }),
        Kind::Directory if mode & DIR_MODE != DIR_MODE => Err(Refusal::Closed { mode }),
        Kind::Directory => Ok(()),
    }
}

/// What is done to have the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// It is made with this mode in one step, and looked at again.
    Make {
        /// The mode.
        mode: u32,
    },
    /// It is used as it is.
    Use,
    /// It is left as it is, and not used.
    Refuse(Refusal),
}

/// What is done about what was seen at the path (none: nothing stands there).
pub fn plan(seen: Option<Seen>, us: u32) -> Plan {
    match seen.map(|seen| usable(seen, us)) {
        None => Plan::Make { mode: DIR_MODE },
        Some(Ok(())) => Plan::Use,
        Some(Err(refusal)) => Plan::Refuse(refusal),
    }
}

/// What stands where the socket is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum There {
    /// Nothing.
    Nothing,
    /// A socket.
    Socket {
        /// Whether somebody answers at it.
        answers: bool,
    },
    /// Anything else.
    Other,
}

/// What becomes of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// The socket is put there.
    Fresh,
    /// What a program that is gone left there is removed first.
    Replace,
    /// Nothing is touched.
    Leave(Taken),
}

/// Why nothing is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Another program has the session's lease: the socket is its affair.
    NotOurs,
    /// A live program listens there.
    Alive,
    /// It is no socket.
    NoSocket,
}

impl Taken {
    /// In words, as the rest of a sentence that begins with the path.
    pub fn words(self) -> &'static str {
        match self {
            Taken::NotOurs => "belongs to the program that has the session open",
            Taken::Alive => "belongs to a program that answers there; close that one first",
            Taken::NoSocket => "is not a socket; move it away",
        }
    }
}

/// Whether a session's socket may be put there. Only who has the lease of the session may; and what answers is never
/// replaced, for a copy of a session's directory has a lease of its own.
pub fn place(there: There, lease_is_ours: bool) -> Placing {
    match (there, lease_is_ours) {
        (There::Nothing | There::Socket { .. } | There::Other, false) => Placing::Leave(Taken::NotOurs),
        (There::Nothing, true) => Placing::Fresh,
        (There::Socket { answers: false }, true) => Placing::Replace,
        (There::Socket { answers: true }, true) => Placing::Leave(Taken::Alive),
        (There::Other, true) => Placing::Leave(Taken::NoSocket),
    }
}

/// A thing in a directory of sockets, as it is seen while no other program puts one there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whether it is a socket.
    pub socket: bool,
    /// The user whose it is.
    pub owner: u32,
    /// Whether the system says that nobody listens there.
    pub refused: bool,
    /// Whether a program that is alive has the session of that name open.
    pub held: bool,
}

/// Whether it is taken away: only what a program of ours that is gone has left.
pub fn dead(found: Found, us: u32) -> bool {
    let Found { socket, owner, refused, held } = found;
    socket && owner == us && refused && !held
}

/// Whether a peer is heard: the system says that its process is the same user's. One of which it says nothing is not,
/// and neither is root's where we are not root, which needs no socket of ours.
pub fn heard(peer: Option<u32>, us: u32) -> bool {
    peer == Some(us)
}

#[cfg(test)]
mod tests;
