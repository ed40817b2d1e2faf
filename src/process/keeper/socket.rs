//! The keeper's end of a socket: requests come in through the splitter and the gate of law P, replies and events go out. It
//! never blocks the keeper: what cannot be sent yet waits, and progress that would have to wait is left out.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use crate::law::frame::{Admission, FrameId, Gate, Line, Splitter};
use crate::process::wire::{
    FromKeeper, LAUNCH_MAX, LINE_MAX, LaunchLine, Reply, SERVED, Status, ToKeeper, line,
};

/// A request that waits for its reply.
pub type Asked = (FrameId, ToKeeper);

/// The socket.
pub struct Socket {
    stream: UnixStream,
    splitter: Splitter,
    gate: Gate,
    /// Requests that came with the launch.
    early: Vec<Asked>,
    outgoing: Vec<u8>,
    gone: bool,
}

impl Socket {
    fn new(stream: UnixStream) -> Self {
        let (splitter, gate) = (Splitter::new(LINE_MAX), Gate::new(SERVED));
        Self { stream, splitter, gate, early: Vec::new(), outgoing: Vec::new(), gone: false }
    }

    /// Waits for the launch, which is the first request.
    pub fn open(mut stream: UnixStream) -> io::Result<(Self, FrameId, Box<LaunchLine>)> {
        let mut first = Splitter::new(LAUNCH_MAX);
        let mut buffer = [0; 16 * 1024];
        let (launch, rest) = loop {
            let count = stream.read(&mut buffer)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let bytes = &buffer[..count];
            // what follows it is not for this splitter
            let end = memchr::memchr(b'\n', bytes).map_or(count, |at| at + 1);
            if let Some(line) = first.push(&bytes[..end]).pop() {
                break (line, bytes[end..].to_vec());
            }
        };
        let mut socket = Self::new(stream);
        let mut asked = Vec::new();
        socket.admit(launch, &mut asked);
        let Some((id, ToKeeper::Launch(launch))) = asked.pop() else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        socket.stream.set_nonblocking(true)?;
        let mut early = Vec::new();
        for line in socket.splitter.push(&rest) {
            socket.admit(line, &mut early);
        }
        socket.early = early;
        Ok((socket, id, launch))
    }

    /// One that a visitor opened; its first request is a hello.
    pub fn accepted(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::new(stream))
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

    /// Answers a request: with its result, or why it was not carried out. Once for each.
    pub fn reply(&mut self, id: &FrameId, done: Result<(), String>) {
        if self.gate.replied(id) {
            let status = if done.is_ok() { Status::Ok } else { Status::Error };
            self.send(&FromKeeper::Reply(Reply { id: id.clone(), status, why: done.err() }));
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

    /// Reads the requests that came. What is none is refused, or passed by where nobody could be answered: a kill
    /// must not be lost to what stands before it.
    pub fn hear(&mut self) -> Vec<Asked> {
        let mut asked = std::mem::take(&mut self.early);
        let mut buffer = [0; 4096];
        while !self.gate.full() {
            match self.stream.read(&mut buffer) {
                Ok(0) => self.gone = true,
                Ok(count) => {
                    for line in self.splitter.push(&buffer[..count]) {
                        self.admit(line, &mut asked);
                    }
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => self.gone = true,
            }
            break;
        }
        asked
    }

    fn admit(&mut self, line: Line, asked: &mut Vec<Asked>) {
        match self.gate.admit(line) {
            Admission::Run(frame) => match serde_json::from_value(frame.body.into()) {
                Ok(what) => asked.push((frame.id, what)),
                Err(error) => {
                    self.reply(&frame.id, Err(format!("`{}` is not understood: {error}", frame.kind)));
                }
            },
            Admission::Refuse(id, refusal) => {
                let status = if refusal.status() == "duplicate" { Status::Duplicate } else { Status::Error };
                self.send(&FromKeeper::Reply(Reply { id, status, why: Some(refusal.words()) }));
            }
            Admission::Fault(fault) => self.send(&FromKeeper::Fault { why: fault.words().to_owned() }),
        }
    }
}
