//! A change outside of what is looked at is noticed: while a path is open and the window has the focus, the session is
//! asked for its stamp. With no path open nothing is asked.

use super::{Asked, Out, State};
use crate::api::hand_back::{HandBackAsk, Stamp};
use crate::base::Millis;
use crate::law::hand_back::tree::TreePath;

/// From one question to the next: what was changed is seen within a second.
const EVERY: Millis = Millis(700);

/// What is known of the watch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Watch {
    /// When it is asked next.
    at: Option<Millis>,
    /// The window has not the focus: it is looked anew when it has.
    pub away: bool,
    /// The stamp of what was looked at last.
    pub seen: Option<Stamp>,
}

impl State {
    /// When something of it is due; none: nothing is.
    pub fn due(&self) -> Option<Millis> {
        let due = [self.keeping.at, self.watch.at, self.works.at];
        due.into_iter().flatten().min().filter(|_| self.shown)
    }

    /// The window has the focus, or lost it.
    pub fn focused(&mut self, has: bool) {
        self.watch.away = !has;
        self.watch.at = self.watch.at.filter(|_| has);
    }

    /// Something happened at this time: what is due next.
    pub fn happened(&mut self, now: Millis) {
        self.keep_later(now);
        self.works_on(now);
        let watches = self.shown && !self.watch.away && self.is_open_selected();
        let asked = self.asked.iter().any(|(_, asked)| matches!(asked, Asked::Stamp(..)));
        let at = self.watch.at.unwrap_or(now.plus(EVERY));
        self.watch.at = (watches && !asked).then_some(at);
    }

    /// Does what is due.
    pub(super) fn on_time(&mut self, now: Millis, out: &mut Vec<Out>) {
        if self.keeping.at.is_some_and(|at| at <= now) {
            self.keep(out);
        }
        if self.watch.at.is_some_and(|at| at <= now) {
            self.watch.at = None;
            let looks = |asked: &Asked| matches!(asked, Asked::List | Asked::Sides(..) | Asked::Write(..));
            let busy = self.compares() || self.asked.iter().any(|(_, asked)| looks(asked));
            let open = self.open.as_ref().filter(|_| !busy);
            if let Some((child, path)) = open.map(|open| (open.sides.child.clone(), open.sides.path.clone()))
            {
                let ask = HandBackAsk::Stamp { child: child.clone(), path: path.clone() };
                out.push(self.ask(Asked::Stamp(child, path), ask));
            }
        }
    }

    /// The stamp of a path has come: it is looked at anew where that is another one.
    pub(super) fn stamped(&mut self, child: &str, path: &TreePath, stamp: Stamp, out: &mut Vec<Out>) {
        let here = self.open.as_ref().is_some_and(|open| open.is(child, path));
        if here && self.watch.seen != Some(stamp) {
            self.watch.seen = Some(stamp);
            self.refresh(out);
        }
    }
}
