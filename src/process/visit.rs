//! A visitor of a keeper: looks, asks and goes. Blocking; for the command line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};

use crate::process::open_socket;
use crate::process::record::{KEEPER_FILE, KeeperRecord, read};
use crate::process::wire::{FromKeeper, LINE_MAX, Role, Standing, ToKeeper, WIRE_VERSION, request};

/// How long a keeper may take for a hello.
const HELLO_MAX: Duration = Duration::from_secs(5);

/// A visit.
pub struct Visit {
    stream: BufReader<UnixStream>,
    /// What came and is no whole line yet, once it is heard without waiting.
    incoming: Vec<u8>,
    /// Requests so far: each has its number as id.
    asked: u64,
}

/// What was heard without waiting.
pub enum Heard {
    /// This.
    Said(Box<FromKeeper>),
    /// Nothing now.
    Nothing,
    /// The keeper is gone.
    Gone,
}

impl Visit {
    /// Says hello to the keeper of the command of this directory.
    pub fn open(dir: &Path) -> io::Result<(Self, Standing)> {
        let stream = open_socket(dir)?;
        stream.set_read_timeout(Some(HELLO_MAX))?;
        let mut visit = Self { stream: BufReader::new(stream), incoming: Vec::new(), asked: 0 };
        visit.say(&ToKeeper::Hello { version: WIRE_VERSION, role: Role::Visitor })?;
        loop {
            match visit.hear()? {
                Some(FromKeeper::Standing(standing)) => {
                    visit.stream.get_ref().set_read_timeout(None)?;
                    return Ok((visit, *standing));
                }
                Some(FromKeeper::Refused { why }) => return Err(io::Error::other(why)),
                Some(_) => {}
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// Asks for something.
    pub fn say(&mut self, what: &ToKeeper) -> io::Result<()> {
        self.asked += 1;
        self.stream.get_mut().write_all(&request(self.asked, what))
    }

    /// What the keeper tells next; none when it is gone. What is not understood is passed by.
    pub fn hear(&mut self) -> io::Result<Option<FromKeeper>> {
        loop {
            let mut bytes = Vec::new();
            let count = self.stream.by_ref().take(LINE_MAX as u64).read_until(b'\n', &mut bytes)?;
            if count == 0 {
                return Ok(None);
            }
            if let Ok(heard) = serde_json::from_slice(&bytes) {
                return Ok(Some(heard));
            }
        }
    }

    /// The same without waiting; from then on only this is used. Ask until there is nothing, then wait for the socket.
    pub fn hear_now(&mut self) -> io::Result<Heard> {
        let before = self.stream.buffer().len();
        self.incoming.extend_from_slice(self.stream.buffer());
        self.stream.consume(before);
        let mut from = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.incoming[from..]) {
                let line: Vec<u8> = self.incoming.drain(..=from + at).collect();
                from = 0;
                match serde_json::from_slice(&line) {
                    Ok(heard) => return Ok(Heard::Said(heard)),
                    Err(_) => continue,
                }
            }
            from = self.incoming.len();
            if from > LINE_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let mut piece = [0; 64 * 1024];
            match recv(self.stream.get_ref().as_raw_fd(), &mut piece, MsgFlags::MSG_DONTWAIT) {
                Ok(0) => return Ok(Heard::Gone),
                Ok(count) => self.incoming.extend_from_slice(&piece[..count]),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Ok(Heard::Nothing),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for Visit {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.get_ref().as_fd()
    }
}

/// Whether the keeper of this directory lives, by its number, start and boot.
pub fn kept_alive(dir: &Path) -> bool {
    let record = read::<KeeperRecord>(dir, KEEPER_FILE).ok().flatten();
    record.is_some_and(|record| record.boot == super::launch::boot() && super::launch::lives(&record.keeper))
}
