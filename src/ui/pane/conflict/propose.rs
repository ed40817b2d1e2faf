//! A merge program's merge: asked for, waited for in sight, ended, and taken; or only offered, where something was chosen
//! or written since it was asked for.

use std::sync::Arc;

use super::said::Said;
use super::{Asked, Out, State};
use crate::api::hand_back::HandBackAsk;
use crate::base::Millis;
use crate::law::hand_back::tree::TreePath;
use crate::ui::action::Action;

/// How often it is said how long it works already.
const EVERY: Millis = Millis(1000);

/// How long one is at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Works {
    /// Since when.
    since: Option<Millis>,
    /// When that is said anew.
    pub at: Option<Millis>,
}

impl State {
    /// Asks for one; takes the one that is offered; ends the one that is at work.
    pub(super) fn propose(&mut self, out: &mut Vec<Out>) {
        let Some(open) = &mut self.open else { return };
        let Some(text) = &mut open.text else { return };
        if let Some(merge) = text.offered.take() {
            return self.take_merge(&merge, "of mergiraf", out);
        }
        if !open.sides.can_propose {
            return out.push(Out::Say("mergiraf, which could propose a merge, is not on the PATH".into()));
        }
        if self.asked.iter().any(|(_, asked)| matches!(asked, Asked::Propose(..))) {
            self.stop_proposal(out);
            return;
        }
        let (child, path) = (open.sides.child.clone(), open.sides.path.clone());
        text.asked_at = Some(text.resolution.choices().to_vec());
        let ask = HandBackAsk::Propose { child: child.clone(), path: path.clone() };
        out.push(self.ask(Asked::Propose(child, path), ask));
    }

    /// Ends the one that is at work; whether there was one.
    pub(super) fn stop_proposal(&mut self, out: &mut Vec<Out>) -> bool {
        let stopped = self.drop_proposal(out);
        if stopped {
            out.push(Out::Say("mergiraf was stopped".into()));
        }
        stopped
    }

    /// The same without a word.
    pub(super) fn drop_proposal(&mut self, out: &mut Vec<Out>) -> bool {
        let works = |(_, asked): &(u64, Asked)| matches!(asked, Asked::Propose(..));
        let Some(at) = self.asked.iter().position(works) else { return false };
        let (_, asked) = self.asked.remove(at);
        self.works = Works::default();
        if let Asked::Propose(child, path) = asked {
            // nobody waits for the answer
            self.last_token += 1;
            out.push(Out::Ask { token: self.last_token, ask: HandBackAsk::StopProposal { child, path } });
        }
        true
    }

    /// What one made has come.
    pub(super) fn proposal_came(
        &mut self,
        child: &str,
        path: &TreePath,
        merge: Option<Arc<[u8]>>,
        out: &mut Vec<Out>,
    ) {
        let Some(open) = self.open.as_mut().filter(|open| open.is(child, path)) else { return };
        let Some(text) = open.text.as_mut().filter(|text| text.fixed.is_none()) else { return };
        let Some(merge) = merge else { return out.push(Out::Say("mergiraf found no merge".into())) };
        let Some(before) = text.asked_at.take() else {
            let said = Said::from("mergiraf's merge is of what was there before: ");
            return out.push(Out::Say(said.key(Action::ConflictPropose).and(" asks again")));
        };
        let edits = text.editor.is_some();
        if !edits && before == text.resolution.choices() {
            return self.take_merge(&merge, "of mergiraf", out);
        }
        // what was chosen or written meanwhile stays
        text.offered = Some(merge);
        let when = if edits { " takes it when you have written" } else { " takes it" };
        let said = Said::from("mergiraf's merge is there: ").key(Action::ConflictPropose).and(when);
        out.push(Out::Say(said));
    }

    /// That one is at work, and how long already; none: none is.
    pub fn works(&self, now: Millis) -> Option<Said> {
        let since = self.works.since.filter(|_| self.proposes())?;
        let words = format!("mergiraf works … {} s", now.since(since).0 / 1000);
        Some(if self.edits() {
            words.into()
        } else {
            Said::from(format!("{words} · ")).key(Action::ConflictBack).and(" stops it")
        })
    }

    fn proposes(&self) -> bool {
        self.asked.iter().any(|(_, asked)| matches!(asked, Asked::Propose(..)))
    }

    /// Something happened at this time: when it is said next how long one is at work.
    pub(super) fn works_on(&mut self, now: Millis) {
        if !self.proposes() {
            self.works = Works::default();
            return;
        }
        let since = *self.works.since.get_or_insert(now);
        let at = self.works.at.filter(|at| *at > now);
        self.works.at = at.or(Some(now.plus(Millis(EVERY.0 - now.since(since).0 % EVERY.0))));
    }
}
