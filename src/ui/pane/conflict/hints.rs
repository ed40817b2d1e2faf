//! Which keys are shown below the viewer.

use super::{State, forms};
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
    let leave = if state.alone { (A::ConflictLeave, "leave unwritten") } else { (A::ConflictLeave, "leave") };
    if state.hand_back().is_none() {
        let open = state.all.as_ref().is_some_and(|all| !all.is_empty());
        let open = open.then_some((A::ConflictOpen, "open"));
        return open.into_iter().chain([leave]).collect();
    }
    let open = state.open.as_ref().filter(|_| state.is_open_selected());
    let mut out = Vec::new();
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
            out.extend([(A::ConflictWrite, "write"), (A::ConflictUndo, "undo"), (A::ConflictEdit, "edit")]);
            if open.sides.earlier.is_some() {
                out.push((A::ConflictEarlier, "as before"));
            }
            if open.sides.can_propose {
                out.push((A::ConflictPropose, "mergiraf"));
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
            match (open.sides.verdict, open.by_hand) {
                (_, ByHand::Resolved | ByHand::Reverted) => out.push((A::ConflictUndo, "take it back")),
                (Verdict::Taken, _) => out.push((A::ConflictRevert, "put it back")),
                (_, ByHand::Nothing | ByHand::Outside) => {}
            }
            out.push((A::ConflictNext, "next change"));
        }
        None => {}
    }
    if state.next_open_path().is_some() {
        out.push((A::ConflictNextOpen, "next open"));
    }
    // where nothing came back there is nothing to turn to
    out.extend(state.item().map(|_| (A::ConflictFocus, "paths")));
    out.push(leave);
    out
}
