//! A command's own terminal: a pseudo-terminal with an emulator behind it, in the keeper.
//!
//! The emulator knows what a person would see at every moment, and answers what programs ask of a terminal, so that
//! none hangs for want of an answer. `picture` is what it shows now; `Frame` carries a picture to who watches.
//! Not here: the spool (every byte goes there too), who watches (`keeper`), how it is drawn (`ui`).

mod device;
mod frame;
mod picture;
mod reply;
mod skim;
mod stand_in;
mod waits;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroU16;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{InputFlags, LocalFlags, SetArg, tcgetattr, tcsetattr};
use rustix::termios::{tcgetpgrp, tcsetwinsize};

use crate::api::screen::{Screen, Size};
use crate::base::Millis;

use device::Strings;
pub use frame::Frame;
use reply::Asked;

/// Most rows and columns.
const SIZE_MAX: u16 = 1000;
/// Rows that scrolled off and are remembered: none, for the spool has them.
const SCROLLBACK: usize = 0;
/// Most bytes that wait to be typed in; what comes on top is lost, as on a real line.
const WAITING_MAX: usize = 1 << 20;

/// A command's terminal, seen from the keeper.
pub struct Terminal {
    master: File,
    /// The device number of the command's end.
    device: u64,
    parser: vt100::Parser<Asked>,
    strings: Strings,
    /// Text that waits to be emulated.
    skim: skim::Skim,
    /// The begin of a character whose end has not come.
    unfinished: Vec<u8>,
    outgoing: VecDeque<u8>,
    picture: Arc<Screen>,
    /// Bytes came since the picture was taken.
    stale: bool,
    /// Something came, or was typed in, since it was found out whether its program waits.
    fresh: bool,
    sampler: waits::Sampler,
}

impl Terminal {
    /// A new one; the other end is the command's standard input, output and error.
    pub fn open(size: Size) -> io::Result<(Self, OwnedFd)> {
        let size = bounded(size);
        let window = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(Some(&window), None)?;
        for fd in [&pair.master, &pair.slave] {
            fcntl(fd, FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC))?;
        }
        let mut modes = tcgetattr(&pair.slave)?;
        modes.input_flags |= InputFlags::IUTF8;
        tcsetattr(&pair.slave, SetArg::TCSANOW, &modes)?;
        fcntl(&pair.master, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let terminal = Self {
            master: File::from(pair.master),
            device: rustix::fs::fstat(&pair.slave)?.st_rdev,
            parser: emulator(size),
            strings: Strings::default(),
            skim: skim::Skim::default(),
            unfinished: Vec::new(),
            outgoing: VecDeque::new(),
            picture: Arc::new(Screen { size, ..Screen::default() }),
            stale: true,
            fresh: true,
            sampler: waits::Sampler::default(),
        };
        Ok((terminal, pair.slave))
    }

    /// Another descriptor of the keeper's end, for reading.
    pub fn reader(&self) -> io::Result<File> {
        self.master.try_clone()
    }

    /// The command wrote these bytes: they are shown, and what they ask is answered, in the order of the questions.
    pub fn feed(&mut self, bytes: &[u8]) {
        (self.stale, self.fresh) = (true, true);
        if self.unfinished.is_empty() && self.skim.holds(bytes, usize::from(self.rows())) {
            return;
        }
        self.catch_up();
        self.skim.follow(bytes);
        // the emulator (vte 0.15) loses what follows a character that came in two pieces
        let mut joined = std::mem::take(&mut self.unfinished);
        let bytes = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            &joined
        };
        let (mut rest, unfinished) = bytes.split_at(bytes.len() - unfinished(bytes));
        self.unfinished = unfinished.to_vec();
        while let Some((end, answer)) = self.strings.next(rest) {
            let (asked, more) = rest.split_at(end);
            self.show(asked);
            self.parser.callbacks_mut().say(&answer);
            rest = more;
        }
        self.show(rest);
        let answers = std::mem::take(&mut self.parser.callbacks_mut().answers);
        self.input(&answers);
    }

    /// Text that waited is emulated, as far as it can be seen.
    fn catch_up(&mut self) {
        let waited = self.skim.take(usize::from(self.rows()));
        if !waited.is_empty() {
            self.show(&waited);
        }
    }

    fn rows(&self) -> u16 {
        let (rows, _) = self.parser.screen().size();
        rows.into()
    }

    /// The emulator shows what the command wrote.
    fn show(&mut self, bytes: &[u8]) {
        self.emulate(|parser| stand_in::show(parser, bytes));
    }

    /// Lets the emulator do something. It reads what anybody wrote: a fault in it costs the picture, not the job.
    fn emulate(&mut self, step: impl FnOnce(&mut vt100::Parser<Asked>)) {
        let parser = &mut self.parser;
        if catch_unwind(AssertUnwindSafe(|| step(parser))).is_err() {
            self.parser = emulator(self.picture.size);
        }
    }

    /// Types these bytes in, now or when there is room.
    pub fn input(&mut self, bytes: &[u8]) {
        self.fresh = true;
        if self.outgoing.len() + bytes.len() <= WAITING_MAX {
            self.outgoing.extend(bytes);
            self.flush();
        }
    }

    /// Whether bytes wait to be typed in.
    pub fn wants_write(&self) -> bool {
        !self.outgoing.is_empty()
    }
    /// The keeper's end, to wait for room.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.master.as_fd()
    }

    /// Types in what waits, as far as there is room.
    pub fn flush(&mut self) {
        while !self.outgoing.is_empty() {
            let (first, _) = self.outgoing.as_slices();
            match (&self.master).write(first) {
                Ok(count) if count > 0 => drop(self.outgoing.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // nobody reads there any more
                Ok(_) | Err(_) => self.outgoing.clear(),
            }
        }
    }

    /// Gives it another size; the command is told by the system (SIGWINCH).
    pub fn resize(&mut self, size: Size) {
        let size = bounded(size);
        self.stale = true;
        self.catch_up();
        self.emulate(|parser| {
            // rows that scrolled off are not remembered; it would put blank ones on top for as many as it saw go, and of
            // a flood it saw a part
            parser.screen_mut().clear_scrollback();
            parser.screen_mut().set_size(rows(size), cols(size));
        });
        let window =
            rustix::termios::Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
        // a terminal whose command has gone needs no size
        let _ = tcsetwinsize(&self.master, window);
    }

    /// What it shows now. Rows that did not change are those of the picture before.
    pub fn picture(&mut self) -> Arc<Screen> {
        // the modes of the line can change without a byte of output
        if std::mem::take(&mut self.stale) || self.echo_changed() {
            self.catch_up();
            let title = self.parser.callbacks().title.chars().map(stand_in::meant).collect();
            let now = picture::picture(self.parser.screen(), title, self.echoes(), &self.picture);
            if now != *self.picture {
                self.picture = Arc::new(now);
            }
        }
        self.picture.clone()
    }

    /// Whether what is typed is shown no longer, or again, since the last picture: nothing is written for that.
    pub fn echo_changed(&self) -> bool {
        self.echoes() != self.picture.modes.echo
    }

    fn echoes(&self) -> bool {
        tcgetattr(&self.master).is_ok_and(|modes| modes.local_flags.contains(LocalFlags::ECHO))
    }

    /// Whether a program of the group in front seems to wait for input.
    pub fn waits(&mut self) -> bool {
        let (Some(group), Ok(modes)) = (self.in_front(), tcgetattr(&self.master)) else { return false };
        let flags = modes.local_flags;
        let secret = flags.contains(LocalFlags::ICANON) && !flags.contains(LocalFlags::ECHO);
        let fresh = std::mem::take(&mut self.fresh);
        self.sampler.waits(waits::Asked { group, device: self.device, secret }, fresh)
    }

    /// How long until that is asked again, when nothing comes.
    pub fn rest(&self) -> Millis {
        self.sampler.rest()
    }

    /// The process group in front, for signals.
    pub fn in_front(&self) -> Option<i32> {
        tcgetpgrp(&self.master).ok().map(|group| group.as_raw_nonzero().get())
    }
}

/// How many bytes at the end begin a character that is not whole.
fn unfinished(bytes: &[u8]) -> usize {
    for (back, byte) in (1..=3).zip(bytes.iter().rev()) {
        let length = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if back < length { back } else { 0 };
    }
    0
}

fn emulator(size: Size) -> vt100::Parser<Asked> {
    vt100::Parser::new_with_callbacks(rows(size), cols(size), SCROLLBACK, Asked::default())
}

fn bounded(size: Size) -> Size {
    Size { rows: size.rows.clamp(1, SIZE_MAX), cols: size.cols.clamp(1, SIZE_MAX) }
}

fn rows(size: Size) -> NonZeroU16 {
    NonZeroU16::new(size.rows).unwrap_or(NonZeroU16::MIN)
}

fn cols(size: Size) -> NonZeroU16 {
    NonZeroU16::new(size.cols).unwrap_or(NonZeroU16::MIN)
}

#[cfg(test)]
mod tests;
