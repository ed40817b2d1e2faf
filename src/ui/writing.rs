//! Keys of a text that is written: one meaning for the composer and for the result of a merge.
//!
//! Deliberately not here: moving up and down (at the edge of a draft that is the history, and a long text is moved in by
//! its own editor), undo (each keeps its own steps), and what typed characters do.

use tui_textarea::{CursorMove, TextArea};

use crate::ui::action::Action;

/// Does to a text what a key says that writing has everywhere; whether it was such a key.
pub fn act(area: &mut TextArea<'_>, action: Action) -> bool {
    match action {
        Action::Newline => area.insert_newline(),
        Action::Left => area.move_cursor(CursorMove::Back),
        Action::Right => area.move_cursor(CursorMove::Forward),
        Action::WordLeft => area.move_cursor(CursorMove::WordBack),
        Action::WordRight => area.move_cursor(CursorMove::WordForward),
        Action::LineStart => area.move_cursor(CursorMove::Head),
        Action::LineEnd => area.move_cursor(CursorMove::End),
        Action::DeleteLeft => drop(area.delete_char()),
        Action::DeleteRight => drop(area.delete_next_char()),
        Action::DeleteWordLeft => drop(area.delete_word()),
        Action::DeleteWordRight => drop(area.delete_next_word()),
        Action::DeleteToStart => drop(area.delete_line_by_head()),
        Action::DeleteToEnd => drop(area.delete_line_by_end()),
        Action::Yank => drop(area.paste()),
        _ => return false,
    }
    true
}

/// What of a paste can stand in a text: line breaks of one kind, tabs, and no other control character.
pub fn clean(paste: &str) -> String {
    let text = paste.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}
