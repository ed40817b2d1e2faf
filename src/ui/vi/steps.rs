//! What can be taken back and done again: steps of the whole text, what was written since a command, and `.`.

use super::text::{Pos, Text, Unit};
use super::{Mode, Vi};

/// Most steps that can be taken back.
const STEPS_MAX: usize = 200;

/// A text that was, and where the cursor was before it was changed.
#[derive(Clone, Debug)]
struct Step {
    lines: Vec<Vec<Unit>>,
    at: Pos,
}

/// What is written in insert mode.
#[derive(Clone, Debug)]
struct Writing {
    /// The text as it was when it began, the cursor where it is written.
    base: Text,
    count: usize,
    /// Each time in a line of its own.
    lines: bool,
}

/// How much was selected: so many lines more, so many units (of the last line, where there are more), whole lines.
pub(super) type Extent = (usize, usize, bool);

/// The command that changed the text last.
#[derive(Clone, Debug, Default)]
struct Last {
    said: Vec<char>,
    count: usize,
    written: Vec<Vec<Unit>>,
    selected: Option<Extent>,
}

/// What was.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    undo: Vec<Step>,
    redo: Vec<Step>,
    /// The text before what goes on.
    begun: Option<Text>,
    writing: Option<Writing>,
    last: Option<Last>,
    /// `.` is being done: it is not what is done again.
    again: bool,
}

impl Steps {
    pub(super) fn clear(&mut self) {
        *self = Steps { last: self.last.take(), ..Steps::default() };
    }
}

impl Vi {
    /// Whether the text before what is written is known.
    pub fn begun(&self) -> bool {
        self.steps.begun.is_some()
    }

    /// What happens next to the text is one step.
    pub fn begin_step(&mut self, text: &Text) {
        if self.steps.begun.is_none() {
            self.steps.begun = Some(text.clone());
        }
    }

    /// The step is over, unless it is still written.
    pub fn end_step(&mut self, text: &Text) {
        if self.mode == Mode::Insert {
            return;
        }
        let Some(begun) = self.steps.begun.take() else { return };
        if begun.lines != text.lines {
            self.steps.redo.clear();
            if self.steps.undo.len() == STEPS_MAX {
                self.steps.undo.remove(0);
            }
            self.steps.undo.push(Step { lines: begun.lines, at: begun.at });
        }
    }

    pub(super) fn undo(&mut self, text: &mut Text) {
        if let Some(mut step) = self.steps.undo.pop() {
            place(text, &mut step);
            self.steps.redo.push(step);
            self.want = text.at.1;
        }
    }

    pub(super) fn redo(&mut self, text: &mut Text) {
        for _ in 0..self.count.max(1) {
            let Some(mut step) = self.steps.redo.pop() else { return };
            place(text, &mut step);
            self.steps.undo.push(step);
        }
        self.want = text.at.1;
    }

    /// A command changed the text: `.` does it again.
    pub(super) fn done(&mut self, selected: Option<Extent>) {
        if !self.steps.again {
            let said = self.said.clone();
            self.steps.last = Some(Last { said, count: self.count, written: Vec::new(), selected });
        }
    }

    pub(super) fn extent(&self, text: &Text, lines: bool) -> Extent {
        let (from, to) = super::ordered(self.anchor, text.at);
        let units = if from.0 == to.0 { to.1 - from.1 } else { to.1 };
        (to.0 - from.0, units, lines)
    }

    /// `.`, with a count of its own or the old one.
    pub(super) fn again(&mut self, text: &mut Text, given: usize) {
        let Some(mut last) = self.steps.last.clone() else { return };
        if given > 0 {
            last.count = given;
        }
        self.begin_step(text);
        self.steps.again = true;
        self.forget();
        self.count = last.count;
        if let Some((rows, units, lines)) = last.selected {
            self.count = 0;
            self.mode = Mode::Visual { lines };
            self.anchor = text.at;
            let row = (text.at.0 + rows).min(text.last());
            let column = if rows == 0 { text.at.1 + units } else { units };
            text.at = (row, column.min(text.len(row).saturating_sub(1)));
        }
        for c in &last.said {
            self.letter(text, *c);
        }
        if self.mode == Mode::Insert {
            text.at = text.insert(text.at, &last.written);
            self.leave(text);
        }
        self.steps.again = false;
        if given > 0 {
            self.steps.last = Some(last);
        }
        self.forget();
    }

    /// Begins to write where the cursor is.
    pub(super) fn write(&mut self, text: &Text, count: usize, lines: bool) {
        self.mode = Mode::Insert;
        self.steps.writing = Some(Writing { base: text.clone(), count, lines });
    }

    /// The keys that begin to write.
    pub(super) fn insert(&mut self, text: &mut Text, c: char, count: usize) {
        self.begin_step(text);
        self.done(None);
        let row = text.at.0;
        match c {
            'a' => text.at.1 = (text.at.1 + 1).min(text.len(row)),
            'I' => {
                let blank = text.lines[row].iter().all(|unit| unit.blank());
                text.at.1 = if blank { text.len(row) } else { text.first_letter(row) };
            }
            'A' => text.at.1 = text.len(row),
            'o' | 'O' => {
                let new = if c == 'o' { row + 1 } else { row };
                text.lines.insert(new, Vec::new());
                text.at = (new, 0);
            }
            _ => {}
        }
        self.write(text, count, matches!(c, 'o' | 'O'));
    }

    /// Begins to write without a key of vi, as typing in another pane does.
    pub fn go_on_writing(&mut self, text: &Text) {
        self.forget();
        self.begin_step(text);
        self.write(text, 1, false);
    }

    /// Escape: what was written is one step, done as often as was said.
    pub fn leave(&mut self, text: &mut Text) {
        self.mode = Mode::Normal;
        if let Some(Writing { base, count, lines }) = self.steps.writing.take() {
            let written = written(&base, text);
            if let Some((pieces, end)) = &written
                && *end == text.at
            {
                for _ in 1..count {
                    if lines {
                        text.at = text.insert(text.at, &[Vec::new(), Vec::new()]);
                    }
                    text.at = text.insert(text.at, pieces);
                }
            }
            if let Some(last) = self.steps.last.as_mut().filter(|_| !self.steps.again) {
                last.written = written.map(|(pieces, _)| pieces).unwrap_or_default();
            }
        }
        text.at.1 = text.at.1.saturating_sub(1);
        text.settle();
        self.want = text.at.1;
        if !self.steps.again {
            self.forget();
            self.end_step(text);
        }
    }

    /// Takes back what was written and not ended, or else the last step.
    pub fn take_back(&mut self, text: &mut Text) {
        let mode = self.mode;
        self.mode = Mode::Normal;
        self.end_step(text);
        self.undo(text);
        self.mode = mode;
        if mode == Mode::Insert {
            self.write(text, 1, false);
        }
    }

    /// Does again what was taken back last.
    pub fn bring_back(&mut self, text: &mut Text) {
        if self.mode == Mode::Normal {
            self.forget();
            self.redo(text);
        }
    }
}

/// What was put in at the cursor of a text that was, and where it ends; none: something else was changed.
fn written(base: &Text, now: &Text) -> Option<(Vec<Vec<Unit>>, Pos)> {
    let (row, column) = base.at;
    let more = now.lines.len().checked_sub(base.lines.len())?;
    let last = row + more;
    let rest = &base.lines[row][column.min(base.len(row))..];
    let end = now.len(last).checked_sub(rest.len())?;
    let same = base.lines[..row] == now.lines[..row]
        && base.lines[row + 1..] == now.lines[last + 1..]
        && now.lines[last][end..] == *rest
        && now.lines[row].starts_with(&base.lines[row][..column.min(base.len(row))]);
    (same && (row, column) <= (last, end)).then(|| (now.slice(base.at, (last, end)), (last, end)))
}

/// Puts the other text in the place, the cursor where the first change is.
fn place(text: &mut Text, step: &mut Step) {
    std::mem::swap(&mut text.lines, &mut step.lines);
    let first = text.lines.iter().zip(&step.lines).take_while(|(a, b)| a == b).count();
    let row = if step.at.0 + 1 == first && first > 0 { first - 1 } else { first };
    text.at = if row > text.last() {
        (text.last(), 0)
    } else if row == step.at.0 {
        (row, step.at.1)
    } else {
        (row, text.first_letter(row))
    };
    text.settle();
}
