//! When a command is looked at, and what is told of it: its terminal's picture, whether its program seems to wait
//! for input, whether its process is stopped.

use super::clients::Clients;
use crate::base::Millis;
use crate::process::terminal::Terminal;
use crate::process::tree::seen;
use crate::process::wire::{FromKeeper, PROGRESS_EVERY};

/// A terminal is sampled so long after something came, and then as it says.
const SAMPLE_AFTER: Millis = Millis(300);

/// When a terminal is looked at, and what was seen.
pub struct Look {
    /// Its picture may have changed since it was shown.
    pub stale: bool,
    /// When it may be shown next.
    next: Millis,
    /// When it is found out next whether its program waits.
    sample: Millis,
    /// Whether it seemed to.
    pub waiting: bool,
    /// Whether there is a terminal.
    there: bool,
    /// The command's own process is stopped.
    pub stopped: bool,
}

impl Look {
    /// A command that has begun; `there`: it has a terminal.
    pub fn new(there: bool) -> Self {
        Self { stale: true, next: Millis(0), sample: SAMPLE_AFTER, waiting: false, there, stopped: false }
    }
    /// Output or input came.
    pub fn something_came(&mut self, now: Millis) {
        self.stale = true;
        self.sample = now.plus(SAMPLE_AFTER);
    }
    /// When the terminal is to be looked at.
    pub fn due(&self, runs: bool, watched: bool) -> Option<Millis> {
        let show = Some(self.next).filter(|_| self.stale && watched);
        let sample = Some(self.sample).filter(|_| runs);
        [show, sample].into_iter().flatten().min().filter(|_| self.there)
    }

    /// Shows the terminal's picture to who watches, and finds out whether its program waits.
    pub fn at_terminal(&mut self, terminal: &mut Terminal, runs: bool, now: Millis, clients: &mut Clients) {
        terminal.flush();
        if self.stale && clients.watched() && self.next <= now {
            let shown = clients.show(&terminal.picture());
            self.stale = !shown.all;
            // what was typed has no answer yet: that is shown as soon as it comes
            if shown.sent || !shown.all {
                self.next = now.plus(PROGRESS_EVERY);
            }
        }
        if self.sample <= now && runs {
            self.stale |= terminal.echo_changed();
            let waiting = terminal.waits();
            self.sample = now.plus(terminal.rest());
            if std::mem::replace(&mut self.waiting, waiting) != waiting {
                clients.send(&FromKeeper::Waiting { on: waiting });
            }
        }
    }

    /// Whether the command's own process (none: it has ended) is stopped. The system tells of a child that stops or
    /// goes on as it does of one that ends, so nothing is sampled for it.
    pub fn at_process(&mut self, process: Option<i32>, clients: &mut Clients) {
        let stopped = process.and_then(seen).is_some_and(|seen| seen.stopped());
        if std::mem::replace(&mut self.stopped, stopped) != stopped {
            clients.send(&FromKeeper::Stopped { on: stopped });
        }
    }
}
