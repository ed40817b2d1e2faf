//! What changes the parent's file: a result written, a path put back, either taken back. And the step that `undo` takes
//! of what is not written.

use super::open::Open;
use super::said::Said;
use super::text::Text;
use super::{Asked, Done, Out, State};
use crate::api::hand_back::{ByHand, HandBackAsk, Take};
use crate::law::hand_back::merge1::Verdict;
use crate::law::hand_back::tree::TreePath;
use crate::law::merge::resolution::Choice;
use crate::ui::action::Action;

impl State {
    pub(super) fn undo(&mut self, out: &mut Vec<Out>) {
        let height = self.drawn.rows;
        let Some(open) = &mut self.open else { return };
        if matches!(open.by_hand, ByHand::Resolved | ByHand::Reverted) {
            let (child, path) = (open.sides.child.clone(), open.sides.path.clone());
            let ask = HandBackAsk::Undo { child: child.clone(), path: path.clone() };
            return out.push(self.ask(Asked::Write(child, path, Done::TakenBack), ask));
        }
        let undone = match (&mut open.form, &mut open.text) {
            (Some(form), _) => form.undo(),
            (None, Some(text)) if text.fixed.is_none() => match text.undo() {
                Some(hunk) => {
                    text.show(hunk, height);
                    true
                }
                None => false,
            },
            (None, _) => false,
        };
        if !undone {
            out.push(Out::Say("nothing was chosen that could be taken back".into()));
        }
    }

    pub(super) fn revert(&mut self, out: &mut Vec<Out>) {
        let Some(open) = &self.open else { return };
        match (open.sides.verdict, open.by_hand) {
            _ if open.is_changed_since() => out.push(Out::Say(
                "it was changed since it was taken, and to put it back would throw that away: see to it in your editor"
                    .into(),
            )),
            (Verdict::Taken, ByHand::Nothing | ByHand::Outside) => {
                let take = Take::Version(open.sides.parent_then.clone());
                let ask = self.writes(take, None);
                out.extend(
                    ask.map(|(child, path, ask)| self.ask(Asked::Write(child, path, Done::Reverted), ask)),
                );
            }
            (_, ByHand::Resolved | ByHand::Reverted) => self.undo(out),
            (Verdict::Conflict(_), _) => {
                let open = Said::from("it is not written yet: ").key(Action::ConflictUndo);
                out.push(Out::Say(open.and(" takes a choice back")));
            }
            (_, _) => out.push(Out::Say("nothing was taken here that could be put back".into())),
        }
    }

    fn writes(&self, take: Take, choices: Option<Vec<Choice>>) -> Option<(String, TreePath, HandBackAsk)> {
        let sides = &self.open.as_ref()?.sides;
        let (child, path) = (sides.child.clone(), sides.path.clone());
        let seen = sides.parent.version.clone();
        let ask = HandBackAsk::Write { child: child.clone(), path: path.clone(), seen, take, choices };
        Some((child, path, ask))
    }

    /// `w`: hunks that are open are asked about first.
    pub(super) fn ask_write(&mut self, out: &mut Vec<Out>) {
        let Some(open) = &self.open else { return };
        if !open.is_merge() {
            let why = open.text.as_ref().and_then(|text| text.fixed.clone());
            return out.push(Out::Say(why.unwrap_or_else(|| self.nothing())));
        }
        match open.text.as_ref().filter(|_| open.form.is_none()).map_or(0, Text::open) {
            0 => self.write(out),
            waiting => {
                self.asked_open = Some(open.id);
                out.push(Out::AskOpen(waiting));
            }
        }
    }

    /// The hunks that are open get this, and it is written: if they are those that were asked about.
    pub(super) fn write_open(&mut self, choice: &Choice, out: &mut Vec<Out>) {
        let here = self.open.as_ref().map(|open| open.id);
        if self.asked_open.take() != here || !self.is_open_selected() {
            let said = Said::from("it changed meanwhile: nothing was written, ").key(Action::ConflictWrite);
            return out.push(Out::Say(said.and(" asks again")));
        }
        self.change(|resolution| resolution.choose_open(choice));
        self.write(out);
    }

    pub(super) fn write(&mut self, out: &mut Vec<Out>) {
        let Some((take, choices)) = self.open.as_ref().and_then(Open::take) else {
            return out.push(Out::Say("nothing is chosen yet: the keys stand before the choices".into()));
        };
        let ask = self.writes(take, choices);
        out.extend(ask.map(|(child, path, ask)| self.ask(Asked::Write(child, path, Done::Resolved), ask)));
    }
}
