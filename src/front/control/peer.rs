//! One connection to the control socket. Nothing of it waits: what cannot be sent yet is kept up to a bound, and
//! nothing more of a peer is read or answered while that much waits for it.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::poll::PollFlags;
use serde_json::Value;

use crate::law::frame::{Admission, FrameId, Gate, Line, Splitter};

use super::answer::SERVED;

/// Most bytes of a frame.
pub const LINE_MAX: usize = 64 * 1024;
/// Bytes that are read at once.
const PIECE: usize = 16 * 1024;
/// While so many bytes wait for a peer, nothing more of it is answered.
const OUTGOING_MAX: usize = 256 * 1024;
/// A peer that takes nothing for this long is sent away.
const STALL_MAX: Duration = Duration::from_secs(5);

/// A peer.
pub struct Peer {
    /// Names it here.
    pub number: u64,
    stream: UnixStream,
    splitter: Splitter,
    gate: Gate,
    /// Lines that came and were not looked at.
    lines: VecDeque<Line>,
    outgoing: Vec<u8>,
    /// When it last took or said something.
    moved: Instant,
    /// It says nothing more.
    ended: bool,
    /// Nothing of it is heard any more; it goes when it has read what was told.
    leaving: bool,
    gone: bool,
}

impl Peer {
    /// A connection that does not block.
    pub fn new(number: u64, stream: UnixStream) -> Self {
        Self {
            number,
            stream,
            splitter: Splitter::new(LINE_MAX),
            gate: Gate::new(SERVED),
            lines: VecDeque::new(),
            outgoing: Vec::new(),
            moved: Instant::now(),
            ended: false,
            leaving: false,
            gone: false,
        }
    }

    /// What to wait for.
    pub fn wanted(&self) -> PollFlags {
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::POLLIN, self.listens());
        wanted.set(PollFlags::POLLOUT, !self.outgoing.is_empty());
        wanted
    }
    /// The connection, to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn listens(&self) -> bool {
        let room = self.outgoing.len() < OUTGOING_MAX && !self.gate.full();
        room && self.lines.is_empty() && !self.ended && !self.leaving && !self.gone
    }

    /// The other side is closed: what still stands in the connection is read, and no more.
    pub fn hung_up(&mut self) {
        if !self.listens() {
            self.gone = true;
        }
    }

    /// Reads what came, if there is room for it.
    pub fn read(&mut self) {
        let mut piece = [0; PIECE];
        while self.listens() {
            match self.stream.read(&mut piece) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    self.moved = Instant::now();
                    self.lines.extend(self.splitter.push(&piece[..count]));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.gone = true,
            }
        }
    }

    /// What becomes of its next line, if there is one and room for its answer.
    pub fn next(&mut self) -> Option<Admission> {
        if self.leaving || self.gone || self.outgoing.len() >= OUTGOING_MAX || self.gate.full() {
            return None;
        }
        self.lines.pop_front().map(|line| self.gate.admit(line))
    }

    /// Whether a frame may be replied to: once.
    pub fn may_reply(&mut self, id: &FrameId) -> bool {
        self.gate.replied(id)
    }

    /// Tells it something.
    pub fn say(&mut self, what: &Value) {
        if self.outgoing.is_empty() {
            self.moved = Instant::now();
        }
        self.outgoing.extend_from_slice(what.to_string().as_bytes());
        self.outgoing.push(b'\n');
        self.flush();
    }

    /// Sends what waits, as far as there is room.
    pub fn flush(&mut self) {
        while !self.outgoing.is_empty() && !self.gone {
            match self.stream.write(&self.outgoing) {
                Ok(count) if count > 0 => {
                    self.outgoing.drain(..count);
                    self.moved = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Ok(_) | Err(_) => self.gone = true,
            }
        }
    }

    /// What it says is not to be trusted any more: it goes when it has read what was told.
    pub fn leave(&mut self) {
        self.leaving = true;
        self.lines.clear();
    }

    /// When it is sent away unless it takes something.
    pub fn due(&self) -> Option<Instant> {
        (!self.outgoing.is_empty()).then(|| self.moved + STALL_MAX)
    }

    /// Whether it is over with it. A peer that says nothing more stays while something is done for it.
    pub fn over(&self, now: Instant) -> bool {
        let told = self.outgoing.is_empty();
        let done = self.ended && self.lines.is_empty() && self.gate.open().next().is_none();
        self.gone || (told && (self.leaving || done)) || self.due().is_some_and(|due| due <= now)
    }

    /// Since when it rests; none while something is under way for it.
    pub fn rests_since(&self) -> Option<Instant> {
        let rests = self.outgoing.is_empty() && self.lines.is_empty() && self.gate.open().next().is_none();
        rests.then_some(self.moved)
    }
}
