//! What was decided and not written is kept as it is made, so that the program may end in any way at any time.
//!
//! A moment after the first choice, for all that were made until then, and what is being written by hand with them. Not
//! here: what is kept (`carried`), and where (the session is asked).

use super::open::Open;
use super::{Asked, Out, State};
use crate::api::hand_back::HandBackAsk;
use crate::base::Millis;
use crate::law::hand_back::tree::TreePath;

/// From the first choice to when it is kept.
const WAIT: Millis = Millis(300);
/// The same while the result is written by hand: the whole text is compared for it.
const WAIT_EDIT: Millis = Millis(1000);

/// What is known of the keeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Keeping {
    /// Something was decided since it was kept.
    pub owed: bool,
    /// When it is kept.
    pub at: Option<Millis>,
    /// It could not be, and that was said.
    pub failed: bool,
}

impl State {
    /// Something happened at this time: what was decided is kept a moment later.
    pub(super) fn keep_later(&mut self, now: Millis) {
        let wait = if self.edits() { WAIT_EDIT } else { WAIT };
        let Keeping { owed, at, failed } = self.keeping;
        self.keeping.at = if owed && !failed { at.or(Some(now.plus(wait))) } else { None };
    }

    /// Keeps what was decided, unless that is under way.
    pub(super) fn keep(&mut self, out: &mut Vec<Out>) {
        self.keeping.at = None;
        let under_way = |asked: &Asked| matches!(asked, Asked::Draft(..) | Asked::Write(..));
        if !self.asked.iter().any(|(_, asked)| under_way(asked)) {
            self.keep_now(out);
        }
    }

    pub(super) fn keep_now(&mut self, out: &mut Vec<Out>) {
        self.keeping.owed = false;
        let Some(open) = &mut self.open else { return };
        if let Some(ask) = open.draft() {
            open.kept();
            let asked = Asked::Draft(open.sides.child.clone(), open.sides.path.clone());
            out.push(self.ask(asked, ask));
        }
    }

    /// What was decided could not be kept. That is said once: it stands here all the same.
    pub(super) fn not_kept(&mut self, child: &str, path: &TreePath, why: &str, out: &mut Vec<Out>) {
        if let Some(open) = self.open.as_mut().filter(|open| open.is(child, path)) {
            open.sides.draft = None;
        }
        if !std::mem::replace(&mut self.keeping.failed, true) {
            out.push(Out::Say(format!("what you chose is not kept for later: {why}").into()));
        }
    }

    /// The choices that would be lost if the program ended now, as what keeps them.
    pub fn keeps(&mut self) -> Option<HandBackAsk> {
        // what is being written by hand, too
        if let Some(text) = self.text_mut() {
            text.fold();
        }
        self.open.as_ref().filter(|_| self.shown).and_then(Open::draft)
    }
}
