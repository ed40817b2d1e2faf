//! Which keys are shown below the viewer.

use super::open::Open;
use super::{Focus, State, forms};
use crate::api::hand_back::ByHand;
use crate::law::hand_back::merge1::Verdict;
use crate::ui::action::Action;

/// The keys that matter now, those first that narrow screens keep.
pub fn hints(state: &State) -> Vec<(Action, &'static str)> {
    use Action as A;
    if state.edits() {
        return vec![
            (A::ConflictEditDone, "takes it"),
            (A::ConflictEditDrop, "drops it"),
            (A::Undo, "undo"),
            (A::Redo, "redo"),
        ];
    }
    if state.hand_back().is_none() {
        let open = state.all.as_ref().is_some_and(|all| !all.is_empty());
        return open.then_some((A::ConflictOpen, "open")).into_iter().collect();
    }
    let open = state.open.as_ref().filter(|_| state.is_open_selected());
    let waits = state.next_open_path().is_some();
    let mut out = Vec::new();
    if !state.drawn.versions {
        // nothing is chosen unseen
        out.extend(state.wanted().map(|_| (A::ConflictOpen, "look at it")));
        out.extend(open.and_then(taken));
        out.extend(waits.then_some((A::ConflictNextOpen, "next open")));
        return out;
    }
    match open {
        Some(open) if open.form.is_some() => {
            out.extend([(A::ConflictParent, "parent"), (A::ConflictChild, "child")]);
            if open.form.as_ref().is_some_and(forms::Form::is_chosen) {
                out.extend([(A::ConflictWrite, "write"), (A::ConflictUndo, "undo")]);
            }
        }
        Some(open) if open.is_merge() => {
            out.extend([
                (A::ConflictParent, "parent"),
                (A::ConflictChild, "child"),
                (A::ConflictBoth, "both"),
            ]);
            out.extend([(A::ConflictWrite, "write"), (A::ConflictUndo, "undo")]);
            out.extend(waits.then_some((A::ConflictNextOpen, "next open")));
            out.push((A::ConflictEdit, "edit"));
            if open.sides.earlier.is_some() {
                out.push((A::ConflictEarlier, "as before"));
            }
            if open.sides.can_propose {
                let there = open.text.as_ref().is_some_and(|text| text.offered.is_some());
                out.push((A::ConflictPropose, if there { "take mergiraf's" } else { "mergiraf" }));
            }
            out.extend([
                (A::ConflictNext, "next"),
                (A::ConflictBase, "base"),
                (A::ConflictEditor, "$EDITOR"),
                (A::ConflictBothChildFirst, "both, child first"),
                (A::ConflictOpenParent, "all parent"),
                (A::ConflictOpenChild, "all child"),
            ]);
        }
        Some(open) => {
            out.extend(taken(open));
            out.push((A::ConflictNext, "next change"));
        }
        None => {}
    }
    if waits && !out.contains(&(A::ConflictNextOpen, "next open")) {
        out.push((A::ConflictNextOpen, "next open"));
    }
    // where nothing came back there is nothing to turn to
    let other = if state.focus == Focus::Paths { "versions" } else { "paths" };
    out.extend(state.item().map(|_| (A::ConflictFocus, other)));
    out
}

/// The key that gets out, which is always shown; none: another one does first.
pub fn way_out(state: &State) -> Option<(Action, &'static str)> {
    let word = if state.alone { "leave unwritten" } else { "leave" };
    (!state.edits()).then_some((Action::ConflictLeave, word))
}

/// What can be done with a path that is no open conflict.
fn taken(open: &Open) -> Option<(Action, &'static str)> {
    match (open.sides.verdict, open.by_hand) {
        (_, ByHand::Resolved | ByHand::Reverted) => Some((Action::ConflictUndo, "take it back")),
        (Verdict::Taken, _) => Some((Action::ConflictRevert, "put it back")),
        (_, ByHand::Nothing | ByHand::Outside) => None,
    }
}
