//! An approval: the question whether a call may run.
//!
//! It takes no key until 400 ms after it was flushed to the terminal with the input drained, and
//! while a draft stands not before it was focused on purpose; a click never answers. What it shows
//! has control, bidirectional and zero-width characters made visible. What was not drawn, or was
//! covered by another overlay since, begins its 400 ms anew.

mod preview;
mod view;

pub use view::{Shown, place, view};

use crate::api::access::{Approval, Decision};
use crate::base::{CallId, Millis};
use crate::ui::action::Action;
use crate::ui::widget::diff::Diff;

/// How long after its flush an approval takes no key.
pub const ARM_MS: u64 = 400;
/// Most rows of the preview that a key goes on by.
const SCROLL_ROWS: usize = 5;

/// What is remembered of the approval at hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Which approval the rest is about.
    call: Option<CallId>,
    /// Whether the frame at hand shows it: its preview and its answers.
    drawn: bool,
    /// When it was flushed with the input drained.
    flushed_at: Option<Millis>,
    /// When it was seen first.
    since: Option<Millis>,
    /// Whether it was focused on purpose.
    focused: bool,
    /// Whether it was put aside on purpose.
    aside: bool,
    /// The marked answer.
    pub choice: usize,
    /// First line of the preview that is shown.
    top: usize,
    /// How many lines of it had room.
    room: usize,
    /// The preview's rows, laid out once for a width.
    laid: preview::Laid,
    /// How many approvals were at hand before.
    before: u64,
}

/// An answer that can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Once.
    Once,
    /// For the session.
    Session,
    /// Always, by a rule.
    Always,
    /// No.
    No,
    /// No, with a reason.
    NoBecause,
}

/// The answers that an approval offers.
pub fn choices(approval: &Approval) -> Vec<Choice> {
    let mut out = vec![Choice::Once, Choice::Session];
    if approval.rule.is_some() {
        out.push(Choice::Always);
    }
    out.extend([Choice::No, Choice::NoBecause]);
    out
}

impl Choice {
    /// The action of its key.
    pub fn action(self) -> Action {
        match self {
            Choice::Once => Action::Once,
            Choice::Session => Action::ForSession,
            Choice::Always => Action::Always,
            Choice::No => Action::No,
            Choice::NoBecause => Action::NoBecause,
        }
    }
    /// What it tells the session; none: more is to be typed.
    pub fn decision(self) -> Option<Decision> {
        match self {
            Choice::Once => Some(Decision::Once),
            Choice::Session => Some(Decision::Session),
            Choice::Always => Some(Decision::Always),
            Choice::No => Some(Decision::No(None)),
            Choice::NoBecause => None,
        }
    }
}

impl State {
    /// Another approval (or none) is at hand now.
    pub fn turn_to(&mut self, call: Option<&CallId>) {
        if self.call.as_ref() != call {
            *self = Self { call: call.cloned(), before: self.before + 1, ..Self::default() };
        }
    }
    /// What its diff is known by where colours are kept: no item of the conversation has that number.
    pub fn number(&self) -> u64 {
        u64::MAX - self.before
    }
    /// The diff that it shows, the text that it is of, and how many of its pieces are laid out.
    pub fn diff(&self) -> Option<(&Diff, &str, usize)> {
        self.laid.diff()
    }
    /// Colours of its diff have come.
    pub fn recolour(&mut self) {
        self.laid.again();
    }
    /// The frame at hand shows it.
    fn seen(&mut self) {
        self.drawn = true;
    }
    /// The frame at hand does not show it: it begins anew when it is shown again.
    pub fn covered(&mut self) {
        (self.drawn, self.flushed_at) = (false, None);
    }
    /// Moves in what it is about by a few rows, but by no more than are seen.
    pub fn scroll(&mut self, down: bool) {
        let by = self.room.clamp(1, SCROLL_ROWS);
        self.top = if down { self.top + by } else { self.top.saturating_sub(by) };
    }
    /// A frame was flushed, and no input was waiting.
    pub fn flushed(&mut self, now: Millis) {
        if self.call.is_some() && self.drawn && self.flushed_at.is_none() {
            self.flushed_at = Some(now);
            self.since.get_or_insert(now);
        }
    }
    /// Since when it waits for the person, who saw it then; none: it was not seen yet.
    pub fn since(&self) -> Option<Millis> {
        self.since
    }
    /// Whether it still waits for its first flush.
    pub fn unflushed(&self) -> bool {
        self.call.is_some() && self.drawn && self.flushed_at.is_none()
    }
    /// Whether it has been seen long enough to take a key.
    pub fn armed(&self, now: Millis) -> bool {
        self.flushed_at.is_some_and(|at| now.since(at).0 >= ARM_MS)
    }
    /// When it becomes so.
    pub fn arms_at(&self) -> Option<Millis> {
        self.flushed_at.map(|at| at.plus(Millis(ARM_MS)))
    }
    /// Whether a key is an answer to it.
    pub fn takes_keys(&self, now: Millis, draft_stands: bool) -> bool {
        self.armed(now) && (self.focused || (!draft_stands && !self.aside))
    }
    /// The person turned to it.
    pub fn focus(&mut self) {
        (self.focused, self.aside) = (true, false);
    }
    /// The person turned away from it.
    pub fn put_aside(&mut self) {
        (self.focused, self.aside) = (false, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Millis {
        Millis(ms)
    }

    #[test]
    fn no_key_is_taken_until_it_was_flushed_and_seen() {
        let mut state = State::default();
        state.turn_to(Some(&CallId::new("c1")));
        state.flushed(at(9_000));
        assert!(!state.takes_keys(at(10_000), false), "not drawn, so not flushed");
        state.seen();
        assert!(!state.takes_keys(at(10_000), false), "not flushed yet");
        state.flushed(at(10_000));
        assert!(!state.takes_keys(at(10_399), false));
        assert!(state.takes_keys(at(10_400), false));
        state.flushed(at(10_500));
        assert!(state.takes_keys(at(10_500), false), "a later flush does not begin anew");
    }

    #[test]
    fn while_a_draft_stands_it_must_be_focused_on_purpose() {
        let mut state = State::default();
        state.turn_to(Some(&CallId::new("c1")));
        state.seen();
        state.flushed(at(0));
        assert!(!state.takes_keys(at(5_000), true));
        state.focus();
        assert!(state.takes_keys(at(5_000), true));
        state.put_aside();
        assert!(!state.takes_keys(at(5_000), true));
        assert!(!state.takes_keys(at(5_000), false));
    }

    #[test]
    fn the_next_approval_begins_anew() {
        let mut state = State::default();
        state.turn_to(Some(&CallId::new("c1")));
        state.seen();
        state.flushed(at(0));
        state.focus();
        state.turn_to(Some(&CallId::new("c2")));
        assert!(!state.takes_keys(at(5_000), false));
        assert!(!state.unflushed(), "it is not drawn yet");
        state.seen();
        assert!(state.unflushed());
    }

    #[test]
    fn one_that_was_covered_begins_anew() {
        let mut state = State::default();
        state.turn_to(Some(&CallId::new("c1")));
        state.seen();
        state.flushed(at(0));
        assert!(state.takes_keys(at(400), false));
        state.covered();
        state.flushed(at(500));
        assert!(!state.takes_keys(at(5_000), false));
        state.seen();
        state.flushed(at(6_000));
        assert!(!state.takes_keys(at(6_399), false));
        assert!(state.takes_keys(at(6_400), false));
    }
}
