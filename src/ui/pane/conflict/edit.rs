//! The result written by hand, in place: the whole text that would be written, in an editor.
//!
//! A line that stays keeps its end, and so does one that is changed where it stands; a new one gets the end that most
//! lines have. The editor proper holds only the lines around the cursor, so that a key costs the same in a text of any
//! length; the steps are kept here. Not here: drawing (`result`), and which hunk a line is of (`text`).

use std::ops::Range;

use tui_textarea::{CursorMove, TextArea};

use crate::law::merge::regions::{Ending, lines};
use crate::ui::action::Action;
use crate::ui::writing;

/// Lines that are held above and below the cursor when it is brought somewhere.
const AROUND: usize = 400;
/// Lines that are held beyond the cursor at least, where there are more: no key moves further.
const AHEAD: usize = 300;
/// Steps that can be taken back.
const UNDO_MAX: usize = 1000;
/// Names no line: it was written here.
const NEW: u32 = u32::MAX;

/// The editor.
#[derive(Debug)]
pub(super) struct Editor {
    /// All lines, without their ends.
    lines: Vec<String>,
    /// What is known of each.
    known: Vec<Known>,
    /// The ends of the lines as they were.
    ends: Vec<&'static [u8]>,
    ending: &'static [u8],
    /// Whether most of what is indented is so with tabs.
    tabs: bool,
    /// The lines that are held.
    held: Range<usize>,
    area: TextArea<'static>,
    undo: Vec<Step>,
    redo: Vec<Step>,
    pub view: View,
}

/// What of the text is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// The first line, and the first column.
    pub top: usize,
    pub left: usize,
    /// Lines that were drawn last; 0: it was not drawn yet.
    pub rows: usize,
}

/// Where a line is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    /// The line of the result that it was, or `NEW`.
    line: u32,
    /// It is another one now.
    changed: bool,
}

/// Lines in the place of others.
#[derive(Clone, Debug)]
struct Step {
    at: usize,
    old: Vec<(String, Known)>,
    new: Vec<(String, Known)>,
    /// The cursor before and after: line and character.
    from: (usize, usize),
    to: (usize, usize),
    /// A character was typed: the next one belongs to it.
    typed: bool,
}

/// A line without its end, and its end.
fn bare(line: &[u8]) -> (&[u8], &'static [u8]) {
    const ENDS: [&[u8]; 3] = [b"\r\n", b"\n", b"\r"];
    let end = ENDS.into_iter().find(|end| line.ends_with(end)).unwrap_or_default();
    (&line[..line.len() - end.len()], end)
}

impl Editor {
    /// Opens a text at a line (from 0); none if it is not UTF-8.
    pub fn open(text: &[u8], at: usize) -> Option<Editor> {
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for line in lines(text) {
            let (line, end) = bare(line);
            all.push(std::str::from_utf8(line).ok()?.to_owned());
            ends.push(end);
        }
        if ends.last().is_none_or(|end| !end.is_empty()) {
            all.push(String::new());
            ends.push(b"");
        }
        let indents = |with: &str| all.iter().filter(|line| line.starts_with(with)).count();
        let tabs = indents("\t") > indents("  ");
        let known = (0..all.len()).map(|line| Known { line: line as u32, changed: false });
        let mut new = Editor {
            known: known.collect(),
            lines: all,
            ends,
            ending: Ending::of(text).as_bytes(),
            tabs,
            held: 0..0,
            area: TextArea::default(),
            undo: Vec::new(),
            redo: Vec::new(),
            view: View::default(),
        };
        new.hold(at, 0);
        Some(new)
    }

    /// The text as it is now.
    pub fn text(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.lines.iter().map(|line| line.len() + 2).sum());
        let last = self.lines.len() - 1;
        for (at, (line, known)) in self.lines.iter().zip(&self.known).enumerate() {
            out.extend_from_slice(line.as_bytes());
            let end = self.ends.get(known.line as usize).copied().unwrap_or_default();
            // after the last line nothing stands: an empty one says that the one before has an end
            if at < last {
                out.extend_from_slice(if end.is_empty() { self.ending } else { end });
            }
        }
        out
    }

    /// Its lines.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The line of the result that a line was (none: it is new), and whether it still is as it was.
    pub fn was(&self, at: usize) -> (Option<usize>, bool) {
        match self.known.get(at) {
            Some(known) if known.line != NEW => (Some(known.line as usize), !known.changed),
            Some(_) | None => (None, false),
        }
    }

    /// Line and character of the cursor.
    pub fn cursor(&self) -> (usize, usize) {
        let (line, character) = self.area.cursor();
        (self.held.start + line, character)
    }

    /// Whether something was changed.
    pub fn is_touched(&self) -> bool {
        !self.undo.is_empty()
    }

    /// A key that moves, or changes the text.
    pub fn act(&mut self, action: Action) {
        let page = self.view.rows.saturating_sub(1).clamp(1, AHEAD - 1);
        let end = self.lines.len() - 1;
        let character = self.cursor().1;
        match action {
            Action::Up => self.go(CursorMove::Up, 1),
            Action::Down => self.go(CursorMove::Down, 1),
            Action::PageUp => self.go(CursorMove::Up, page),
            Action::PageDown => self.go(CursorMove::Down, page),
            Action::Top => self.hold(0, character),
            Action::Bottom => self.hold(end, character),
            Action::Undo => self.step_back(),
            Action::Redo => self.step_again(),
            Action::ConflictEditNewline => self.change(false, TextArea::insert_newline),
            Action::ConflictEditTab => self.change(false, TextArea::insert_tab),
            action => self.change(false, |area| writing::act(area, action)),
        }
    }

    /// Puts a typed character in.
    pub fn insert(&mut self, c: char) {
        self.change(true, |area| area.insert_char(c));
    }

    /// Puts a paste in; only what can stand in a line, and line breaks.
    pub fn paste(&mut self, text: &str) {
        self.change(false, |area| area.insert_str(writing::clean(text)));
    }

    fn go(&mut self, by: CursorMove, times: usize) {
        (0..times).for_each(|_| self.area.move_cursor(by));
        self.slide();
    }

    /// Does something to the lines that are held, and takes over what became of them.
    fn change<T>(&mut self, typed: bool, what: impl FnOnce(&mut TextArea<'static>) -> T) {
        let from = self.cursor();
        what(&mut self.area);
        let (old, new) = (&self.lines[self.held.clone()], self.area.lines());
        let front = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let most = old.len().min(new.len()) - front;
        let back = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        let (gone, come) = (front..old.len() - back, front..new.len() - back);
        if !gone.is_empty() || !come.is_empty() {
            // as many as there were: each was changed where it stands
            let same = gone.len() == come.len();
            let known = &self.known[self.held.clone()];
            let before = gone.clone().map(|at| (old[at].clone(), known[at])).collect();
            let after = come.map(|at| {
                let line = if same { known[at].line } else { NEW };
                (new[at].clone(), Known { line, changed: true })
            });
            let (at, after) = (self.held.start + front, after.collect());
            let step = Step { at, old: before, new: after, from, to: self.cursor(), typed };
            self.held.end = self.held.start + new.len();
            put(&mut self.lines, &mut self.known, at, gone.len(), &step.new);
            self.keep(step);
        }
        self.slide();
    }

    /// Keeps a step; what is typed in a row is one.
    fn keep(&mut self, step: Step) {
        self.redo.clear();
        if let Some(last) = self.undo.last_mut()
            && step.typed
            && last.typed
            && (last.at, last.to, last.new.len(), step.new.len()) == (step.at, step.from, 1, 1)
        {
            (last.new, last.to) = (step.new, step.to);
            return;
        }
        if self.undo.len() == UNDO_MAX {
            self.undo.remove(0);
        }
        self.undo.push(step);
    }

    fn step_back(&mut self) {
        if let Some(step) = self.undo.pop() {
            put(&mut self.lines, &mut self.known, step.at, step.new.len(), &step.old);
            self.hold(step.from.0, step.from.1);
            self.redo.push(step);
        }
    }

    fn step_again(&mut self) {
        if let Some(step) = self.redo.pop() {
            put(&mut self.lines, &mut self.known, step.at, step.old.len(), &step.new);
            self.hold(step.to.0, step.to.1);
            self.undo.push(Step { typed: false, ..step });
        }
    }

    /// Holds other lines when the cursor comes near the end of those that are.
    fn slide(&mut self) {
        let (line, character) = self.cursor();
        let above = self.held.start > 0 && line - self.held.start < AHEAD;
        let below = self.held.end < self.lines.len() && self.held.end - line <= AHEAD;
        if above || below || self.held.len() > 4 * AROUND {
            self.hold(line, character);
        }
    }

    /// Holds the lines around this one, the cursor in it.
    fn hold(&mut self, line: usize, character: usize) {
        let line = line.min(self.lines.len() - 1);
        self.held = line.saturating_sub(AROUND)..(line + AROUND + 1).min(self.lines.len());
        let mut held = self.lines[self.held.clone()].to_vec();
        let here = line - self.held.start;
        // what is before the cursor is written there: the editor goes to no column beyond 65 535
        let cut = held[here].char_indices().nth(character).map_or(held[here].len(), |(at, _)| at);
        let rest = held[here].split_off(cut);
        let before = std::mem::replace(&mut held[here], rest);
        let mut area = TextArea::new(held);
        area.set_yank_text(self.area.yank_text());
        area.set_max_histories(0);
        area.set_tab_length(4);
        area.set_hard_tab_indent(self.tabs);
        area.move_cursor(CursorMove::Jump(here as u16, 0));
        area.insert_str(before);
        self.area = area;
    }
}

/// Puts lines in the place of so many others.
fn put(lines: &mut Vec<String>, known: &mut Vec<Known>, at: usize, gone: usize, new: &[(String, Known)]) {
    drop(lines.splice(at..at + gone, new.iter().map(|(line, _)| line.clone())));
    drop(known.splice(at..at + gone, new.iter().map(|(_, known)| *known)));
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
