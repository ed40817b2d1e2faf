//! A result that is not chosen by hunk: written by hand, here or in an editor, or proposed.

use super::choose::hunks;
use super::edit::Editor;
use super::said::Said;
use super::text::Text;
use super::{Out, State};
use crate::law::merge::markers;
use crate::law::merge::resolution::Choice;
use crate::ui::action::Action;

impl State {
    /// A key while the result is edited.
    pub(super) fn edit(&mut self, action: Action, out: &mut Vec<Out>) {
        let height = self.drawn.rows;
        self.keeping.owed = true;
        let Some(text) = self.text_mut() else { return };
        let Some(editor) = &mut text.editor else { return };
        match action {
            Action::ConflictEditDrop => {
                let touched = editor.is_touched();
                text.editor = None;
                if touched {
                    out.push(Out::Say("the edit is dropped".into()));
                }
            }
            Action::ConflictEditDone => {
                text.fold();
                if let Some(at) = text.current {
                    text.show(at, height);
                }
                out.push(Out::Say(stands(text)));
            }
            Action::ConflictKeys => out.push(Out::Keys),
            action => editor.act(action),
        }
        // what was changed outside meanwhile is seen now
        if !self.edits() && std::mem::take(&mut self.stale) {
            self.look_again(out);
        }
    }

    /// Something is typed while the result is edited.
    pub(super) fn write_in(&mut self, what: impl FnOnce(&mut Editor)) {
        if let Some(editor) = self.text_mut().and_then(|text| text.editor.as_mut()) {
            what(editor);
            self.keeping.owed = true;
        }
    }

    pub(super) fn begin_edit(&mut self, out: &mut Vec<Out>) {
        let Some(text) = self.text_mut() else { return };
        let at = text.current.and_then(|at| text.lines.get(at)).copied().unwrap_or(0);
        match Editor::open(&text.resolution.result(), at) {
            Some(editor) => text.editor = Some(editor),
            None => {
                let odd = Said::from("it is not UTF-8: ").key(Action::ConflictEditor);
                out.push(Out::Say(odd.and(" opens it in your editor")));
            }
        }
    }

    /// Opens the result with markers in the person's editor; what came back half is gone on with.
    pub(super) fn editor(&mut self, out: &mut Vec<Out>) {
        let Some(open) = &self.open else { return };
        let Some(text) = &open.text else { return };
        let bytes = markers::gone_on(&text.resolution, &text.halves).text;
        let name = String::from_utf8_lossy(open.sides.path.name()).into_owned();
        out.push(Out::Edit { name, bytes });
    }

    pub(super) fn edited(&mut self, bytes: Vec<u8>, out: &mut Vec<Out>) {
        let height = self.drawn.rows;
        let mut left = None;
        self.keeping.owed = true;
        let Some(text) = self.text_mut().filter(|text| text.fixed.is_none()) else { return };
        text.change(|resolution| left = markers::back(resolution, &bytes).err());
        match left {
            None => {
                text.halves.clear();
                out.push(Out::Say(stands(text)));
            }
            Some(left) => {
                text.show(left.region, height);
                text.halves = left.halves;
                let half = format!(
                    "line {} still has a marker of a hunk that was changed: it stays open, the rest is taken; ",
                    left.line
                );
                out.push(Out::Say(Said::from(half).key(Action::ConflictEditor).and(" goes on")));
            }
        }
    }

    pub(super) fn earlier(&mut self, out: &mut Vec<Out>) {
        match self.open.as_ref().and_then(|open| open.sides.earlier.clone()) {
            Some(result) => self.adopt(&result, "as it was resolved before", out),
            None => out.push(Out::Say("these three versions were not resolved before".into())),
        }
    }

    /// Shows a whole result as a proposal.
    pub(super) fn adopt(&mut self, result: &[u8], from: &'static str, out: &mut Vec<Out>) {
        let changed = self.change(|resolution| resolution.adopt(result));
        self.proposed(changed, from, out);
    }

    /// Shows a merge as a proposal: what it leaves open stays so.
    pub(super) fn take_merge(&mut self, merge: &[u8], from: &'static str, out: &mut Vec<Out>) {
        let mut whole = true;
        let before = self.text().map_or(Vec::new(), |text| text.resolution.choices().to_vec());
        let changed = self.change(|resolution| whole = markers::adopt(resolution, merge));
        if whole {
            if let Some(text) = self.text_mut() {
                // what a person wrote before, and it left, stays theirs
                let old = std::mem::take(&mut text.made);
                let of = |(at, now): (usize, &Choice)| match before.get(at) {
                    Some(before) if before == now => old.get(at).cloned().unwrap_or(Choice::Open),
                    Some(_) | None => now.clone(),
                };
                text.made = text.resolution.choices().iter().enumerate().map(of).collect();
            }
            self.proposed(changed, from, out);
        } else {
            out.push(Out::Say(
                format!("the merge {from} has half a conflict in it, and is not taken").into(),
            ));
        }
    }

    fn proposed(&mut self, changed: bool, from: &'static str, out: &mut Vec<Out>) {
        self.keeping.owed = true;
        if let Some(text) = self.text_mut() {
            text.proposal = Some(from);
        }
        let left = match self.text().map_or(0, Text::open) {
            0 => String::new(),
            open => format!("{} still open · ", hunks(open)),
        };
        let said = Said::from(format!("a proposal, {from}: {left}"));
        out.push(Out::Say(if changed {
            let said = said.and("look at it · ").key(Action::ConflictWrite).and(" writes it · ");
            said.key(Action::ConflictUndo).and(" takes it back")
        } else {
            said.and("it is what stands here")
        }));
    }
}

/// What is left to do in a text.
fn stands(text: &Text) -> Said {
    match text.open() {
        0 => Said::from("all is chosen: ").key(Action::ConflictWrite).and(" writes it"),
        open => format!("{} still open", hunks(open)).into(),
    }
}
