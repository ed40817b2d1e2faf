//! The directory of control sockets, and a session's socket in it.
//!
//! It is `$XDG_RUNTIME_DIR/windlass` where that is set and there, else `windlass-UID` in the directory for temporary
//! files. It is made 0700 in one step and checked (`law::socket`): once by its path, for the words, and once by the
//! descriptor that everything else goes through, so that what was checked is what is used. By it a path has no
//! limit of 107 bytes either. The socket has its mode before it has a name.
//!
//! Programs put sockets there one after the other: each locks the directory for that moment. So who has the lock sees
//! no socket that is bound and does not listen yet, and what refuses him is dead and not just being replaced.
//!
//! Not here: who serves it (`front::control`). Keeps `socket_dir_owned`, `socket_dir_created`.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, connect, getsockopt, listen, socket,
    sockopt::PeerCredentials,
};
use nix::sys::stat::{Mode, fchmod};
use rustix::fs::OFlags;

use super::error::Error;
use super::private::shown;
use crate::base::SessionId;
use crate::law::socket::{Found, Kind, Placing, Plan, SOCKET_MODE, Seen, There, dead, place, plan, usable};

/// Peers that may wait to be let in.
const BACKLOG: i32 = 32;
/// How long another program may take to put its socket there, and how often it is looked whether it has.
const TURN_MAX: Duration = Duration::from_secs(2);
const TURN_AGAIN: Duration = Duration::from_millis(5);

/// Where the sockets of this person's programs may be, the best place first. Who looks for one looks at all:
/// two terminals need not have the same environment.
pub fn places() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|dir| dir.is_absolute() && dir.is_dir());
    let temporary = std::env::temp_dir().join(format!("windlass-{}", us()));
    runtime.map(|dir| dir.join("windlass")).into_iter().chain([temporary]).collect()
}

/// The user that this program is.
pub fn us() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The user whose process is at the other end, as the system says.
pub fn peer(stream: &UnixStream) -> Option<u32> {
    getsockopt(stream, PeerCredentials).ok().map(|peer| peer.uid())
}

/// A directory of sockets that was checked.
#[derive(Debug)]
pub struct SocketDir {
    dir: File,
    path: PathBuf,
}

impl SocketDir {
    /// The directory at this path, made if it is not there.
    pub fn make(path: &Path) -> Result<Self, Error> {
        match plan(seen(path)?, us()) {
            Plan::Make { mode } => match DirBuilder::new().mode(mode).create(path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Error::io("make the directory", path)(error));
                }
                Ok(()) | Err(_) => {}
            },
            Plan::Use | Plan::Refuse(_) => {}
        }
        let gone = || Error::io("open the directory", path)(io::ErrorKind::NotFound.into());
        Self::look(path)?.ok_or_else(gone)
    }

    /// The directory at this path, if it is there.
    pub fn look(path: &Path) -> Result<Option<Self>, Error> {
        let Some(named) = seen(path)? else { return Ok(None) };
        fit(path, named)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let dir = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits() as i32)
            .open(path)
            .map_err(Error::io("open the directory", path))?;
        let opened = dir.metadata().map_err(Error::io("look at", path))?;
        fit(path, of(&opened))?;
        Ok(Some(Self { dir, path: path.to_owned() }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn at(&self, session: &SessionId) -> PathBuf {
        // an id is a file's name: nothing in it leads elsewhere
        let name = session.as_str().replace('/', "_");
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.dir.as_raw_fd()))
    }

    /// The lock of the directory, when it is free now.
    fn turn(&self) -> Result<Turn<'_>, TryLockError> {
        self.dir.try_lock().map(|()| Turn(&self.dir))
    }

    /// The lock of the directory, for as long as a socket is put there. Where the system has no such locks nobody
    /// gets one, so nobody sweeps there either.
    fn turn_soon(&self) -> Result<Option<Turn<'_>>, Error> {
        let begun = Instant::now();
        loop {
            match self.turn() {
                Ok(turn) => return Ok(Some(turn)),
                Err(TryLockError::Error(_)) => return Ok(None),
                Err(TryLockError::WouldBlock) if begun.elapsed() < TURN_MAX => std::thread::sleep(TURN_AGAIN),
                Err(TryLockError::WouldBlock) => {
                    let wrong =
                        "is locked by another program, which seems to be stopped; let it go on or end it";
                    return Err(Error::Socket { path: self.path.clone(), wrong: wrong.to_owned() });
                }
            }
        }
    }

    /// What stands there under a name.
    fn found(&self, session: &SessionId, held: &dyn Fn(&SessionId) -> bool) -> Option<Found> {
        let at = self.at(session);
        let meta = fs::symlink_metadata(&at).ok()?;
        let held = held(session);
        let socket = meta.file_type().is_socket();
        // a program that lives is not disturbed
        Some(Found {
            socket,
            owner: meta.uid(),
            refused: socket && !held && knock(&at) == Err(Errno::ECONNREFUSED),
            held,
        })
    }

    /// A socket for this session. What a program that is gone left in its place is replaced.
    fn listen(&self, session: &SessionId, lease_is_ours: bool) -> Result<UnixListener, Error> {
        let (at, shown) = (self.at(session), self.path.join(session.as_str()));
        let _turn = self.turn_soon()?;
        match place(there(&at), lease_is_ours) {
            Placing::Fresh => {}
            Placing::Replace => match fs::remove_file(&at) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("remove the dead socket", &shown)(error));
                }
                Ok(()) | Err(_) => {}
            },
            Placing::Leave(taken) => {
                return Err(Error::Socket { path: shown, wrong: taken.words().to_owned() });
            }
        }
        bound(&at).map_err(Error::io("make the socket", &shown))
    }

    /// Connects to the program that has this session open; none where nobody listens.
    pub fn connect(&self, session: &SessionId) -> io::Result<Option<UnixStream>> {
        match UnixStream::connect(self.at(session)) {
            Ok(stream) => Ok(Some(stream)),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Takes away what programs that were killed have left in this directory, and the directory when it is empty then; how
/// many. `held` says whether a program that is alive has a session open. Nothing is waited for: where another program
/// is just putting its socket, or the directory is not fit, nothing is done.
pub fn sweep(path: &Path, held: &dyn Fn(&SessionId) -> bool) -> usize {
    let Ok(Some(dir)) = SocketDir::look(path) else { return 0 };
    let Ok(turn) = dir.turn() else { return 0 };
    let mut gone = 0;
    for name in fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.file_name()) {
        let Some(session) = name.to_str().map(SessionId::new) else { continue };
        if dir.found(&session, held).is_some_and(|found| dead(found, us())) {
            gone += usize::from(fs::remove_file(dir.at(&session)).is_ok());
        }
    }
    drop(turn);
    if gone > 0 {
        // one that holds another socket stays
        let _ = fs::remove_dir(path);
    }
    gone
}

/// The lock of a directory. By itself it would last as long as any process that is just being started from this one.
struct Turn<'a>(&'a File);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// A session's socket in its place. Dropping it takes it away, and the directory when that is empty then.
#[derive(Debug)]
pub struct Bound {
    dir: SocketDir,
    session: SessionId,
}

impl Bound {
    /// Puts the socket of a session into this directory, which is made if it is not there. It does not block when
    /// somebody is let in by it.
    pub fn new(path: &Path, session: &SessionId, lease_is_ours: bool) -> Result<(Self, UnixListener), Error> {
        let begun = Instant::now();
        loop {
            let put = SocketDir::make(path).and_then(|dir| Ok((dir.listen(session, lease_is_ours)?, dir)));
            match put {
                Ok((listener, dir)) => return Ok((Self { dir, session: session.clone() }, listener)),
                // who left just now found it empty and removed it
                Err(Error::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && begun.elapsed() < TURN_MAX =>
                {
                    std::thread::sleep(TURN_AGAIN);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.dir.at(&self.session));
        // one that holds another socket stays
        let _ = fs::remove_dir(&self.dir.path);
    }
}

fn bound(at: &Path) -> io::Result<UnixListener> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let fd: OwnedFd = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    // its name takes this mode over, whatever the mask
    fchmod(&fd, Mode::from_bits_truncate(SOCKET_MODE))?;
    bind(fd.as_raw_fd(), &UnixAddr::new(at)?)?;
    listen(&fd, Backlog::new(BACKLOG)?)?;
    Ok(UnixListener::from(fd))
}

/// Tries whether somebody listens at a socket, without waiting for one that is busy or stopped (`EAGAIN`).
fn knock(at: &Path) -> Result<(), Errno> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let fd = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    connect(fd.as_raw_fd(), &UnixAddr::new(at)?)
}

/// What stands where the socket is to be.
fn there(at: &Path) -> There {
    match fs::symlink_metadata(at) {
        Err(_) => There::Nothing,
        Ok(meta) if meta.file_type().is_socket() => {
            There::Socket { answers: matches!(knock(at), Ok(()) | Err(Errno::EAGAIN)) }
        }
        Ok(_) => There::Other,
    }
}

/// What stands at the path, no link followed; none: nothing.
fn seen(path: &Path) -> Result<Option<Seen>, Error> {
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(of(&meta))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("look at", path)(error)),
    }
}

fn of(meta: &fs::Metadata) -> Seen {
    let kind = match meta.file_type() {
        kind if kind.is_dir() => Kind::Directory,
        kind if kind.is_symlink() => Kind::Link,
        _ => Kind::Other,
    };
    Seen { kind, owner: meta.uid(), mode: meta.mode() & 0o7777 }
}

fn fit(path: &Path, seen: Seen) -> Result<(), Error> {
    usable(seen, us()).map_err(|refusal| Error::Socket {
        path: path.to_owned(),
        wrong: format!("{}; {}", refusal.wrong(), refusal.todo(&shown(path))),
    })
}
