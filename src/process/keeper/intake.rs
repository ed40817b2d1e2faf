//! A command's output as its keeper takes it in: every byte to the spool, counted, bounded, and its
//! newest part at hand.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::pipe2;

use crate::api::screen::Size;
use crate::base::plain;
use crate::law::output::Keep;
use crate::law::output::{Bounded, Kept, OutputLimits, Spool, Truncation, shown};
use crate::process::keeper::step_back::Place;
use crate::process::record::{LEFT_OUTPUT_FILE, OUTPUT_FILE};
use crate::process::terminal::Terminal;
use crate::process::wire::TAIL_MAX;

/// Size of the pipe, and most bytes of one read: few wake-ups under a flood.
const PIPE_BYTES: usize = 1 << 20;

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// So many bytes.
    Bytes(u64),
    /// Nothing at the moment.
    Nothing,
    /// No writer is left.
    Closed,
}

/// The output of one command.
pub struct Intake {
    pipe: Option<File>,
    terminal: Option<Terminal>,
    buffer: Vec<u8>,
    file: File,
    spool: Spool,
    spool_max: u64,
    bounded: Bounded,
    recent: Vec<u8>,
    ended: bool,
    left_path: PathBuf,
    left: Option<File>,
    left_bytes: u64,
    place: Place,
    trouble: Option<io::Error>,
}

impl Intake {
    /// Makes the spool, and the pipe or the terminal, whose other end goes to the command.
    pub fn new(
        dir: &Path,
        spool_max: u64,
        truncation: Truncation,
        terminal: Option<Size>,
    ) -> io::Result<(Self, OwnedFd)> {
        let file = private(&dir.join(OUTPUT_FILE))?;
        let (reader, writer, terminal) = match terminal {
            Some(size) => {
                let (terminal, slave) = Terminal::open(size)?;
                (terminal.reader()?, slave, Some(terminal))
            }
            None => {
                let (reader, writer) = pipe()?;
                (reader, writer, None)
            }
        };
        // under `Off` the program reads the spool: nothing is held here
        let counted = OutputLimits { bytes: 0, lines: 0, keep: Keep::Head };
        let bound = match truncation {
            Truncation::On(limits) => limits,
            Truncation::Off => counted,
        };
        let intake = Self {
            pipe: Some(reader),
            terminal,
            buffer: vec![0; PIPE_BYTES],
            file,
            spool: Spool::new(spool_max),
            spool_max,
            bounded: Bounded::new(Truncation::On(bound)),
            recent: Vec::new(),
            ended: false,
            left_path: dir.join(LEFT_OUTPUT_FILE),
            left: None,
            left_bytes: 0,
            place: Place::default(),
            trouble: None,
        };
        Ok((intake, writer))
    }

    /// The command's terminal, if it has one.
    pub fn terminal(&mut self) -> Option<&mut Terminal> {
        self.terminal.as_mut()
    }
    /// The same, to look at.
    pub fn terminal_ref(&self) -> Option<&Terminal> {
        self.terminal.as_ref()
    }

    /// The pipe, while it has writers.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(|pipe| pipe.as_fd())
    }

    /// Takes in what one read gives.
    pub fn take(&mut self) -> Taken {
        let Some(pipe) = &mut self.pipe else { return Taken::Closed };
        match pipe.read(&mut self.buffer) {
            Ok(0) => {
                self.pipe = None;
                Taken::Closed
            }
            Ok(count) => {
                self.keep(count);
                Taken::Bytes(count as u64)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Taken::Bytes(0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Taken::Nothing,
            Err(_) => {
                self.pipe = None;
                Taken::Closed
            }
        }
    }

    /// Takes in all that stands in the pipe now; the bytes. What others write meanwhile may be in it,
    /// but no more than the pipe holds: everything that a process wrote before its end is.
    pub fn drain(&mut self) -> u64 {
        let mut total = 0;
        while let Taken::Bytes(count) = self.take() {
            total += count;
            if total >= PIPE_BYTES as u64 {
                break;
            }
        }
        total
    }

    fn keep(&mut self, count: usize) {
        let bytes = &self.buffer[..count];
        self.place.on_bytes(self.spool.written() + self.left_bytes + count as u64);
        if let Some(terminal) = &mut self.terminal {
            terminal.feed(bytes);
        }
        if self.ended {
            self.left_bytes += count as u64;
            if self.left_bytes <= self.spool_max && self.trouble.is_none() {
                self.trouble = append_left(&self.left_path, &mut self.left, bytes).err();
            }
            remember(&mut self.recent, bytes);
            return;
        }
        let room = self.spool.room(count);
        if room > 0 && self.trouble.is_none() {
            match self.file.write_all(&bytes[..room]) {
                Ok(()) => self.spool.wrote(room),
                Err(error) => {
                    self.spool.failed(self.file.metadata().map_or(self.spool.written(), |data| data.len()));
                    self.trouble = Some(error);
                }
            }
        }
        self.bounded.push(bytes);
        remember(&mut self.recent, bytes);
    }

    /// Bytes and lines before the end.
    pub fn counts(&self) -> (u64, u64) {
        (self.bounded.bytes(), self.bounded.lines())
    }
    /// Bytes that stand in the spool.
    pub fn spooled(&self) -> u64 {
        self.spool.written()
    }
    /// Bytes that came after the end.
    pub fn left_bytes(&self) -> u64 {
        self.left_bytes
    }
    /// Why the output cannot be spooled, if so.
    pub fn trouble(&self) -> Option<&io::Error> {
        self.trouble.as_ref()
    }

    /// The newest part of the output as plain text, whole lines where that is possible.
    pub fn tail(&self) -> String {
        let mut newest = self.recent.as_slice();
        if newest.len() == TAIL_MAX
            && let Some(at) = memchr::memchr(b'\n', &newest[..newest.len() - 1])
        {
            newest = &newest[at + 1..];
        }
        shown(&plain(newest))
    }

    /// The command has ended: what was kept. Later output is of processes that it left behind.
    pub fn end(&mut self) -> Kept {
        self.ended = true;
        self.recent.clear();
        let empty = Bounded::new(Truncation::Off);
        std::mem::replace(&mut self.bounded, empty).finish()
    }
}

fn pipe() -> io::Result<(File, OwnedFd)> {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
    // a smaller pipe is slower, nothing else: the limit of the user may be reached
    let _ = fcntl(&reader, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES as i32));
    fcntl(&reader, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok((File::from(reader), writer))
}

/// Keeps the newest bytes.
fn remember(recent: &mut Vec<u8>, bytes: &[u8]) {
    let newest = &bytes[bytes.len() - bytes.len().min(TAIL_MAX)..];
    let over = (recent.len() + newest.len()).saturating_sub(TAIL_MAX);
    recent.drain(..over);
    recent.extend_from_slice(newest);
}

fn append_left(path: &Path, file: &mut Option<File>, bytes: &[u8]) -> io::Result<()> {
    let file = match file {
        Some(file) => file,
        None => file.insert(private(path)?),
    };
    file.write_all(bytes)
}

/// A new file that is private from its first moment.
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
