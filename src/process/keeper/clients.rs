//! Who speaks with the keeper: its program, and visitors on a socket in the command's directory.
//!
//! The socket is private from its first moment; whoever connects is asked for nothing before the system has
//! said that it is the same person. A visitor that does not read is sent away: nothing here waits.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;

use nix::poll::{PollFd, PollFlags};

use super::socket::Socket;
use crate::api::screen::Screen;
use crate::law::frame::FrameId;
use crate::law::socket::heard;
use crate::process::record::SOCKET_FILE;
use crate::process::terminal::Frame;
use crate::process::wire::{FromKeeper, Role, Standing, ToKeeper, WIRE_VERSION};
use crate::store::socket::{peer, us};

/// Visitors at the same time.
const VISITORS_MAX: usize = 32;
/// Bytes that may wait for a visitor.
const WAITING_MAX: usize = 1 << 20;

struct Client {
    /// No other has it.
    number: u64,
    socket: Socket,
    /// None before its hello.
    role: Option<Role>,
    /// The picture that it was shown, while it watches.
    shown: Option<Arc<Screen>>,
}

/// All who speak with the keeper.
pub struct Clients {
    listener: Option<UnixListener>,
    clients: Vec<Client>,
    /// The number of the next one.
    next: u64,
}

/// A request that waits to be carried out and answered.
#[derive(Debug)]
pub struct Wish {
    /// Whose.
    pub client: u64,
    /// Its id.
    pub id: FrameId,
    /// What.
    pub what: ToKeeper,
}

/// What came of showing a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// All who watch have it now.
    pub all: bool,
    /// Somebody was sent it.
    pub sent: bool,
}

/// What came from them.
#[derive(Debug, Default)]
pub struct Said {
    /// Wishes, in order.
    pub wishes: Vec<Wish>,
    /// Somebody began to watch.
    pub watch: bool,
    /// The program was there, and is gone.
    pub program_gone: bool,
}

impl Clients {
    /// The program, on the socket that the keeper was started with. Visitors come later (`listen`).
    pub fn new(program: Socket) -> Self {
        Self {
            listener: None,
            clients: vec![Client { number: 0, socket: program, role: Some(Role::Program), shown: None }],
            next: 1,
        }
    }

    /// Listens in the command's directory. A path is limited to 107 bytes: it goes through a descriptor.
    pub fn listen(&mut self, dir: &Path) -> io::Result<()> {
        let dir = std::fs::File::open(dir)?;
        let path = format!("/proc/self/fd/{}/{SOCKET_FILE}", dir.as_raw_fd());
        // the directory is 0700; the mask closes the socket itself from its first moment
        let before = nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o177));
        let bound = UnixListener::bind(&path);
        nix::sys::stat::umask(before);
        let listener = bound?;
        listener.set_nonblocking(true)?;
        debug_assert!(std::fs::metadata(&path).is_ok_and(|meta| meta.permissions().mode() & 0o077 == 0));
        self.listener = Some(listener);
        Ok(())
    }

    /// What to wait for.
    pub fn fds<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        if let Some(listener) = &self.listener {
            fds.push(PollFd::new(listener.as_fd(), PollFlags::POLLIN));
        }
        for client in self.clients.iter().filter(|client| !client.socket.gone()) {
            let mut wanted = PollFlags::POLLIN;
            if !client.socket.idle() {
                wanted |= PollFlags::POLLOUT;
            }
            fds.push(PollFd::new(client.socket.fd(), wanted));
        }
    }

    /// The program's socket.
    pub fn program(&self) -> Option<BorrowedFd<'_>> {
        self.of(Role::Program).map(|client| client.socket.fd())
    }

    fn of(&self, role: Role) -> Option<&Client> {
        self.clients.iter().find(|client| client.role == Some(role) && !client.socket.gone())
    }

    /// Whether all have read what was told.
    pub fn idle(&self) -> bool {
        self.clients.iter().all(|client| client.socket.idle() || client.socket.gone())
    }
    /// Whether somebody listens who has read all: progress is worth telling.
    pub fn ready(&self) -> bool {
        let mut listening = self.clients.iter().filter(|c| c.role.is_some() && !c.socket.gone()).peekable();
        listening.peek().is_some() && listening.any(|client| client.socket.idle())
    }
    /// Whether nobody is there.
    pub fn alone(&self) -> bool {
        self.clients.iter().all(|client| client.socket.gone())
    }

    /// Tells all who said hello.
    pub fn send(&mut self, what: &FromKeeper) {
        for client in self.clients.iter_mut().filter(|client| client.role.is_some()) {
            client.socket.send(what);
        }
    }

    /// Answers a request.
    pub fn reply(&mut self, wish: u64, id: &FrameId, done: Result<(), String>) {
        if let Some(client) = self.clients.iter_mut().find(|client| client.number == wish) {
            client.socket.reply(id, done);
        }
    }

    /// Tells progress to those who have read all before it.
    pub fn send_progress(&mut self, what: &FromKeeper) {
        for client in self.clients.iter_mut().filter(|client| client.role.is_some() && client.socket.idle()) {
            client.socket.send(what);
        }
    }

    /// Whether somebody watches who has read what was told before.
    pub fn watched(&self) -> bool {
        self.clients.iter().any(|client| client.shown.is_some() && client.socket.idle())
    }

    /// Shows a picture to those who watch and have read what was told before.
    pub fn show(&mut self, picture: &Arc<Screen>) -> Shown {
        let mut done = Shown { all: true, sent: false };
        for client in &mut self.clients {
            let Some(shown) = &mut client.shown else { continue };
            if Arc::ptr_eq(shown, picture) {
                continue;
            }
            if client.socket.idle() {
                client.socket.send(&FromKeeper::Screen(Box::new(Frame::between(shown, picture))));
                *shown = Arc::clone(picture);
                done.sent = true;
            } else {
                done.all = false;
            }
        }
        done
    }

    /// Shows the last picture to all who watch, whether they have read what was told before or not.
    pub fn show_last(&mut self, picture: &Arc<Screen>) {
        for client in &mut self.clients {
            let Some(shown) = &mut client.shown else { continue };
            if !Arc::ptr_eq(shown, picture) {
                client.socket.send(&FromKeeper::Screen(Box::new(Frame::between(shown, picture))));
                *shown = Arc::clone(picture);
            }
        }
    }

    /// Sends what waits, lets people in and hears what they say.
    pub fn hear(&mut self, standing: impl Fn() -> Standing) -> Said {
        let had_program = self.of(Role::Program).is_some();
        self.let_in();
        let mut said = Said::default();
        let mut at = 0;
        while at < self.clients.len() {
            let client = &mut self.clients[at];
            client.socket.flush();
            let asked = client.socket.hear();
            for (id, what) in asked {
                self.take(at, id, what, &standing, &mut said);
            }
            let client = &mut self.clients[at];
            if client.role != Some(Role::Program) && client.socket.waiting() > WAITING_MAX {
                client.socket.close();
            }
            at += 1;
        }
        self.clients.retain(|client| !client.socket.gone());
        said.program_gone = had_program && self.of(Role::Program).is_none();
        said
    }

    fn take(
        &mut self,
        at: usize,
        id: FrameId,
        what: ToKeeper,
        standing: &impl Fn() -> Standing,
        said: &mut Said,
    ) {
        match (what, self.clients[at].role) {
            (ToKeeper::Hello { version, role }, None) => {
                let refused = if version != WIRE_VERSION {
                    Some(format!("the keeper speaks version {WIRE_VERSION}, not {version}"))
                } else if role == Role::Program && self.of(Role::Program).is_some() {
                    Some("the session's program is there already".to_owned())
                } else {
                    None
                };
                let client = &mut self.clients[at];
                match refused {
                    Some(why) => {
                        client.socket.send(&FromKeeper::Refused { why: why.clone() });
                        client.socket.reply(&id, Err(why));
                        client.socket.close();
                    }
                    None => {
                        client.role = Some(role);
                        client.socket.send(&FromKeeper::Standing(Box::new(standing())));
                        client.socket.reply(&id, Ok(()));
                    }
                }
            }
            // who said no hello asks for nothing
            (_, None) => {
                let socket = &mut self.clients[at].socket;
                socket.reply(&id, Err("a hello comes first".to_owned()));
                socket.close();
            }
            (ToKeeper::Launch(_) | ToKeeper::Hello { .. }, Some(_)) => {
                self.clients[at].socket.reply(&id, Err("that was said before".to_owned()));
            }
            (ToKeeper::Watch { on }, Some(_)) => {
                self.clients[at].shown = on.then(Arc::default);
                said.watch |= on;
                self.clients[at].socket.reply(&id, Ok(()));
            }
            (
                what @ (ToKeeper::Kill { .. }
                | ToKeeper::Signal { .. }
                | ToKeeper::Keep { .. }
                | ToKeeper::Input { .. }
                | ToKeeper::Resize { .. }),
                Some(_),
            ) => said.wishes.push(Wish { client: self.clients[at].number, id, what }),
        }
    }

    fn let_in(&mut self) {
        let Some(listener) = &self.listener else { return };
        while let Ok((stream, _)) = listener.accept() {
            if !same_person(&stream) || self.clients.len() > VISITORS_MAX {
                continue;
            }
            if let Ok(socket) = Socket::accepted(stream) {
                self.clients.push(Client { number: self.next, socket, role: None, shown: None });
                self.next += 1;
            }
        }
    }
}

/// Whether the other side is a process of the same person, before a byte of it is read.
fn same_person(stream: &UnixStream) -> bool {
    heard(peer(stream), us())
}
