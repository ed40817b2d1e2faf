//! `windlass jobs attach`: a job's terminal in this one, whether a program has its session open or not.
//!
//! It speaks with the job's keeper like any visitor: the pictures that the keeper sends are painted, every byte that is
//! typed goes there as it is, and `^]` or F12 leaves. The keeper's terminal gets the size of this one when it comes and when
//! it changes; who sets a size last rules, as several may look. Who leaves gives back the size that it found, unless
//! somebody else has set another since.
//!
//! In reading order: `terminal` (the modes and signals), `keys` (which leave), `paint` (a picture as bytes).
//!
//! Not here: interpreting what the job writes (the keeper's emulator), what is typed: it stands nowhere.

mod keys;
mod paint;
pub mod terminal;

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use signal_hook::consts::{SIGCONT, SIGTSTP, SIGWINCH};

use crate::api::job::JobState;
use crate::api::screen::{Screen, Size};
use crate::base::JobId;
use crate::process::visit::{Heard, Visit};
use crate::process::wire::{FromKeeper, ToKeeper};

use super::jobs::{Of, Refused, Told, failed, misuse};
use keys::{HELD_MAX, Keys};
use paint::Painter;
use terminal::{Raw, Signals};

/// Bytes that are read of what is typed at once.
const PIECE: usize = 4096;

/// How it came to an end.
#[derive(Debug, PartialEq, Eq)]
enum Left {
    /// The person left.
    Key,
    /// The job ended, in words.
    Ended(String),
    /// A signal told this program to end.
    Signal(i32),
    /// The terminal is gone.
    HungUp,
    /// The keeper says nothing more.
    Silent,
}

/// Attaches this terminal to a job's; the exit code.
pub fn attach(of: &Of, job: &str, told: &mut Told<'_>) -> Result<u8, Refused> {
    let id: JobId = job.parse().map_err(misuse)?;
    let seen = of.seen(id)?;
    if !seen.row.node.terminal {
        return Err(failed(format!(
            "{id} has no terminal that one could attach to; `windlass jobs tail --follow {id}` shows what it prints"
        )));
    }
    if let JobState::Ended(outcome) = &seen.row.state {
        return Err(failed(format!(
            "{id} has ended already: {}; `windlass jobs tail {id}` shows what it printed",
            outcome.words()
        )));
    }
    if !terminal::there() {
        return Err(misuse(format!(
            "attaching needs a terminal for input and output; `windlass jobs tail --follow {id}` needs none"
        )));
    }
    let away = |error: io::Error| failed(format!("the keeper of {id} does not answer: {error}"));
    let (mut visit, _) = Visit::open(&seen.dir).map_err(away)?;
    visit.say(&ToKeeper::Watch { on: true }).map_err(away)?;
    let here = |error: io::Error| failed(format!("this terminal cannot be used: {error}"));
    let signals = Signals::listen().map_err(here)?;
    let raw = Raw::enter().map_err(here)?;
    let painter = Painter::new(terminal::size());
    let note = format!(" attached to {id} · ^] or F12 leaves ");
    let mut attached = Attached {
        visit,
        signals,
        raw,
        painter,
        keys: Keys::default(),
        release: None,
        screen: Arc::default(),
        found: None,
        note: Some(note),
    };
    let left = attached.run();
    attached.give_back();
    drop(attached);
    let state = match &left {
        Left::Ended(words) => words.clone(),
        Left::Key | Left::Signal(_) | Left::HungUp | Left::Silent => of.seen(id)?.row.state.words(),
    };
    let how = if matches!(left, Left::Ended(_)) { "ended" } else { "left" };
    told.line(&format!("{how} {id}: {state}"))?;
    match left {
        Left::Key | Left::Ended(_) => Ok(0),
        Left::Signal(signal) => Ok(128u8.saturating_add(u8::try_from(signal).unwrap_or(0))),
        Left::HungUp => Ok(1),
        Left::Silent => Err(failed(format!("the keeper of {id} said nothing more"))),
    }
}

struct Attached {
    visit: Visit,
    signals: Signals,
    raw: Raw,
    painter: Painter,
    keys: Keys,
    /// When what the keys hold back goes to the job.
    release: Option<Instant>,
    /// The picture as it was told last.
    screen: Arc<Screen>,
    /// The size that the job's terminal had.
    found: Option<Size>,
    /// How to leave, until something is typed.
    note: Option<String>,
}

impl Attached {
    fn run(&mut self) -> Left {
        loop {
            if let Some(left) = self.hear().or_else(|| self.obey()) {
                return left;
            }
            let typed = match self.rest() {
                Ok(typed) => typed,
                Err(_) => return Left::HungUp,
            };
            let left = if typed { self.types() } else { self.let_go() };
            if let Some(left) = left {
                return left;
            }
        }
    }

    /// Waits until something comes or is due; whether something was typed.
    fn rest(&self) -> io::Result<bool> {
        let (stdin, signals) = (io::stdin(), self.signals.fd());
        let mut fds = [
            PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.visit.as_fd(), PollFlags::POLLIN),
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
        ];
        let timeout = self.release.map_or(PollTimeout::NONE, |due| {
            let wait = due.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
            PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut fds, timeout) {
            Ok(_) => Ok(fds[0].any().unwrap_or(false)),
            Err(nix::errno::Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes in what the keeper told.
    fn hear(&mut self) -> Option<Left> {
        let mut painted = true;
        let left = loop {
            match self.visit.hear_now() {
                Ok(Heard::Said(said)) => match *said {
                    FromKeeper::Screen(frame) => {
                        self.screen = Arc::new(frame.apply(&self.screen));
                        painted = false;
                        if self.found.is_none() {
                            self.found = Some(self.screen.size);
                            if self.resize().is_err() {
                                break Some(Left::Silent);
                            }
                        }
                    }
                    FromKeeper::Ended { record, .. } => {
                        break Some(Left::Ended(crate::api::job::JobOutcome::words_of(
                            &record.end,
                            record.gone,
                            &[],
                        )));
                    }
                    _ => {}
                },
                Ok(Heard::Nothing) => break None,
                Ok(Heard::Gone) | Err(_) => break Some(Left::Silent),
            }
        };
        if !painted && left.is_none() {
            return self.paint();
        }
        left
    }

    fn paint(&mut self) -> Option<Left> {
        let bytes = self.painter.paint(&self.screen, self.note.as_deref());
        terminal::write(&bytes).err().map(|_| Left::HungUp)
    }

    /// Gives the job's terminal the size of this one.
    fn resize(&mut self) -> io::Result<()> {
        self.visit.say(&ToKeeper::Resize { size: self.painter.size() })
    }

    /// Does what signals say.
    fn obey(&mut self) -> Option<Left> {
        for signal in self.signals.take() {
            match signal {
                SIGWINCH => {
                    self.painter.anew(terminal::size());
                    if self.resize().is_err() {
                        return Some(Left::Silent);
                    }
                }
                SIGTSTP => {
                    let _ = terminal::write(&self.painter.leave());
                    self.raw.pause();
                    let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGSTOP);
                }
                SIGCONT => {
                    if self.raw.again().is_err() {
                        return Some(Left::HungUp);
                    }
                    self.painter = Painter::new(terminal::size());
                    if self.resize().is_err() {
                        return Some(Left::Silent);
                    }
                }
                signal => return Some(Left::Signal(signal)),
            }
            if let Some(left) = self.paint() {
                return Some(left);
            }
        }
        None
    }

    /// Sends on what was typed.
    fn types(&mut self) -> Option<Left> {
        let mut bytes = [0; PIECE];
        let count = match rustix::io::read(io::stdin(), &mut bytes) {
            Ok(0) => return Some(Left::HungUp),
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return None,
            Err(_) => return Some(Left::HungUp),
        };
        let typed = self.keys.take(&bytes[..count]);
        self.release = self.keys.holds().then(|| Instant::now() + HELD_MAX);
        if let Some(left) = self.pass(&typed.bytes) {
            return Some(left);
        }
        if typed.leaves {
            return Some(Left::Key);
        }
        if self.note.take().is_some() {
            return self.paint();
        }
        None
    }

    /// Sends on what was held back, when that is due.
    fn let_go(&mut self) -> Option<Left> {
        self.release.take_if(|due| *due <= Instant::now())?;
        let held = self.keys.release();
        self.pass(&held)
    }

    /// Sends bytes to the job.
    fn pass(&mut self, bytes: &[u8]) -> Option<Left> {
        if bytes.is_empty() {
            return None;
        }
        let input = ToKeeper::Input { bytes: STANDARD.encode(bytes) };
        self.visit.say(&input).is_err().then_some(Left::Silent)
    }

    /// Gives the job's terminal back the size that it had, if it has ours now.
    fn give_back(&mut self) {
        let _ = terminal::write(&self.painter.leave());
        if let Some(size) = self.found
            && self.screen.size == self.painter.size()
            && size != self.painter.size()
        {
            // a keeper that is gone needs none
            let _ = self.visit.say(&ToKeeper::Resize { size });
        }
    }
}
