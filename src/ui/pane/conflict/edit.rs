//! The result written by hand, in place: the whole text that would be written, in an editor.
//!
//! A line that is not touched keeps its bytes with its end; a new one gets the end that most lines have.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use tui_textarea::{CursorMove, CursorRenderMode, TextArea, WrapMode};

use crate::law::merge::regions::{Ending, lines};
use crate::ui::action::Action;

/// The editor.
#[derive(Debug)]
pub(super) struct Editor {
    pub area: TextArea<'static>,
    /// The lines as they were, with their ends.
    old: Vec<Vec<u8>>,
    ending: &'static [u8],
    /// Something was changed.
    pub touched: bool,
}

/// A line without its end.
fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\n")).or(line.strip_suffix(b"\r")).unwrap_or(line)
}

impl Editor {
    /// Opens a text at a line (from 0); none if it is not UTF-8.
    pub fn open(text: &[u8], at: usize) -> Option<Editor> {
        let old: Vec<Vec<u8>> = lines(text).into_iter().map(<[u8]>::to_vec).collect();
        let mut shown = Vec::with_capacity(old.len() + 1);
        for line in &old {
            shown.push(std::str::from_utf8(bare(line)).ok()?.to_owned());
        }
        if old.last().is_none_or(|line| bare(line).len() < line.len()) {
            shown.push(String::new());
        }
        let mut area = TextArea::new(shown);
        area.set_wrap_mode(WrapMode::None);
        area.set_cursor_render_mode(CursorRenderMode::Hidden);
        area.set_cursor_line_style(ratatui::style::Style::new());
        area.set_tab_length(4);
        area.move_cursor(CursorMove::Jump(u16::try_from(at).unwrap_or(u16::MAX), 0));
        Some(Editor { area, old, ending: Ending::of(text).as_bytes(), touched: false })
    }

    /// The text as it is now.
    pub fn text(&self) -> Vec<u8> {
        let old: Vec<&str> =
            self.old.iter().map(|line| std::str::from_utf8(bare(line)).unwrap_or_default()).collect();
        let new: Vec<&str> = self.area.lines().iter().map(String::as_str).collect();
        let mut ends: Vec<&[u8]> = vec![self.ending; new.len()];
        for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                for n in 0..len {
                    let line = &self.old[old_index + n];
                    let end = &line[bare(line).len()..];
                    if !end.is_empty() {
                        ends[new_index + n] = end;
                    }
                }
            }
        }
        // after the last line nothing stands: an empty one says that the one before has an end
        if let Some(last) = ends.last_mut() {
            *last = b"";
        }
        new.iter().zip(ends).flat_map(|(line, end)| [line.as_bytes(), end].concat()).collect()
    }

    /// A key that the composer has too; whether it means something here.
    pub fn act(&mut self, action: Action) -> bool {
        let area = &mut self.area;
        match action {
            Action::ConflictEditNewline | Action::Newline => area.insert_newline(),
            Action::ConflictEditTab => self.touched |= area.insert_tab(),
            Action::Left => area.move_cursor(CursorMove::Back),
            Action::Right => area.move_cursor(CursorMove::Forward),
            Action::Up => area.move_cursor(CursorMove::Up),
            Action::Down => area.move_cursor(CursorMove::Down),
            Action::WordLeft => area.move_cursor(CursorMove::WordBack),
            Action::WordRight => area.move_cursor(CursorMove::WordForward),
            Action::LineStart => area.move_cursor(CursorMove::Head),
            Action::LineEnd => area.move_cursor(CursorMove::End),
            Action::PageUp => area.scroll(tui_textarea::Scrolling::PageUp),
            Action::PageDown => area.scroll(tui_textarea::Scrolling::PageDown),
            Action::Top => area.move_cursor(CursorMove::Top),
            Action::Bottom => area.move_cursor(CursorMove::Bottom),
            Action::DeleteLeft => drop(area.delete_char()),
            Action::DeleteRight => drop(area.delete_next_char()),
            Action::DeleteWordLeft => drop(area.delete_word()),
            Action::DeleteWordRight => drop(area.delete_next_word()),
            Action::DeleteToStart => drop(area.delete_line_by_head()),
            Action::DeleteToEnd => drop(area.delete_line_by_end()),
            Action::Yank => drop(area.paste()),
            Action::Undo => drop(area.undo()),
            Action::Redo => drop(area.redo()),
            _ => return false,
        }
        self.touched = true;
        true
    }

    /// Puts typed or pasted text in; only what can stand in a line, and line breaks.
    pub fn insert(&mut self, text: &str) {
        let clean = text.replace("\r\n", "\n").replace('\r', "\n");
        let clean: String = clean.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
        self.touched |= self.area.insert_str(clean);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_that_is_not_touched_keeps_its_end() {
        let mut editor = Editor::open(b"a\r\nb\nc\r\nlast", 1).expect("UTF-8");
        editor.insert("new\nx");
        assert_eq!(editor.text(), b"a\r\nnew\r\nxb\r\nc\r\nlast");
        editor.act(Action::Bottom);
        editor.act(Action::LineEnd);
        editor.act(Action::ConflictEditNewline);
        assert_eq!(editor.text(), b"a\r\nnew\r\nxb\r\nc\r\nlast\r\n");
        assert!(Editor::open(b"\xff\n", 0).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_only_looked_at_stays_byte_for_byte(lines in proptest::collection::vec("[ab\t é]{0,3}(\n|\r\n)", 0..8), rest in "[ab]{0,2}") {
            let text = lines.concat() + &rest;
            let editor = Editor::open(text.as_bytes(), 0).expect("UTF-8");
            prop_assert_eq!(editor.text(), text.into_bytes());
        }
    }
}
