//! The keeper's end of the socket to its program. It never blocks the keeper: what cannot be sent yet
//! waits, and progress that would have to wait is left out.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use crate::process::wire::{FromKeeper, LINE_MAX, LaunchLine, ToKeeper, line};

/// The socket.
pub struct Socket {
    stream: UnixStream,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    gone: bool,
}

impl Socket {
    /// Waits for the launch, which is the first line.
    pub fn open(mut stream: UnixStream) -> io::Result<(Self, Box<LaunchLine>)> {
        let mut incoming = Vec::new();
        let mut buffer = [0; 16 * 1024];
        let end = loop {
            let count = stream.read(&mut buffer)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let before = incoming.len();
            incoming.extend_from_slice(&buffer[..count]);
            if let Some(at) = memchr::memchr(b'\n', &incoming[before..]) {
                break before + at;
            }
        };
        let first: ToKeeper = serde_json::from_slice(&incoming[..end])?;
        let ToKeeper::Launch(launch) = first else { return Err(io::ErrorKind::InvalidData.into()) };
        incoming.drain(..=end);
        stream.set_nonblocking(true)?;
        Ok((Self { stream, incoming, outgoing: Vec::new(), gone: false }, launch))
    }

    /// One that a visitor opened; its first line is a hello.
    pub fn accepted(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, incoming: Vec::new(), outgoing: Vec::new(), gone: false })
    }

    /// Bytes that wait to be sent.
    pub fn waiting(&self) -> usize {
        self.outgoing.len()
    }
    /// Nobody is spoken to any more.
    pub fn close(&mut self) {
        self.gone = true;
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
    /// The socket, to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
    /// Whether nothing waits to be sent.
    pub fn idle(&self) -> bool {
        self.outgoing.is_empty()
    }
    /// Whether the program is gone.
    pub fn gone(&self) -> bool {
        self.gone
    }

    /// Sends a line, now or when there is room.
    pub fn send(&mut self, what: &FromKeeper) {
        if !self.gone {
            self.outgoing.extend_from_slice(&line(what));
            self.flush();
        }
    }

    /// Sends what waits, as far as there is room.
    pub fn flush(&mut self) {
        while !self.outgoing.is_empty() {
            match self.stream.write(&self.outgoing) {
                Ok(count) if count > 0 => {
                    self.outgoing.drain(..count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // nobody reads any more; that it is gone is heard by reading
                Ok(_) | Err(_) => self.outgoing.clear(),
            }
        }
    }

    /// Reads what came. A line that is not understood is passed by: a kill must not be lost to it.
    pub fn hear(&mut self) -> Vec<ToKeeper> {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => self.gone = true,
                Ok(count) => {
                    self.incoming.extend_from_slice(&buffer[..count]);
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => self.gone = true,
            }
            break;
        }
        let mut lines = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', &self.incoming) {
            lines.extend(serde_json::from_slice(&self.incoming[..end]).ok());
            self.incoming.drain(..=end);
        }
        // a line without an end is none of ours
        if self.incoming.len() > LINE_MAX {
            self.incoming.clear();
            self.close();
        }
        lines
    }
}
