//! The keys of vi over a text: normal mode, visual mode, and the way into writing and back; with counts and `.`.
//!
//! `text` is what is changed, `motion` and `object` say what keys mean, `change` does it, `steps` keeps what can be taken
//! back and done again. It is as vim does it, which a table of vim's own answers holds. Deliberately not here: what typed keys
//! do while one writes (the composer's), and of vi: registers by name, marks, macros and searches, for which a draft has an
//! editor (`^G`).

mod change;
pub mod motion;
mod object;
mod steps;
pub mod text;

use motion::{Ask, BACK_END, BIG_BACK_END, FIRST_LINE, Find, For, Kind, LAST_LETTER, motion};
use text::{Names, Pos, Text, Unit};

/// Largest count.
const COUNT_MAX: usize = 9999;

/// What typed keys do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They write.
    #[default]
    Insert,
    /// They move and change.
    Normal,
    /// They move the end of what is selected; whole lines, or not.
    Visual {
        /// Whole lines.
        lines: bool,
    },
}

/// What is done with what a motion goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
    Lower,
    Upper,
    Swap,
}

/// A key of normal and visual mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    /// A character.
    Typed(char),
    /// A line break, for `r`.
    Break,
    /// Backspace.
    Back,
    /// Control and `r`.
    Redo,
    /// Escape.
    Escape,
}

/// What a key was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    /// It is done, or waits for more.
    Done,
    /// It would leave the text upwards.
    Above,
    /// It would leave the text downwards.
    Below,
    /// It is no key of vi.
    No,
}

/// What was cut or copied.
#[derive(Clone, Debug, Default)]
struct Kept {
    pieces: Vec<Vec<Unit>>,
    lines: bool,
}

/// What is remembered between keys.
#[derive(Clone, Debug, Default)]
pub struct Vi {
    mode: Mode,
    /// What units of several characters say.
    pub names: Names,
    /// The keys of a command that is not whole, as they were typed.
    typed: String,
    /// Those that say what is done, without counts.
    said: Vec<char>,
    count: usize,
    /// The operator, and its count (0: none), while its motion is waited for.
    operator: Option<(Operator, usize)>,
    /// The first of two keys.
    first: Option<char>,
    find: Option<Find>,
    want: usize,
    anchor: Pos,
    kept: Kept,
    steps: steps::Steps,
}

impl Vi {
    /// What typed keys do.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The mode and what of a command was typed, in words for the frame.
    pub fn words(&self) -> String {
        let mode = match self.mode {
            Mode::Insert => "insert",
            Mode::Normal => "normal",
            Mode::Visual { lines: false } => "visual",
            Mode::Visual { lines: true } => "visual lines",
        };
        if self.typed.is_empty() { mode.to_owned() } else { format!("{mode} {}", self.typed) }
    }

    /// Whether a command is not whole.
    pub fn waits(&self) -> bool {
        !self.typed.is_empty()
    }

    /// What is selected: from a place to before another, and whether whole lines.
    pub fn selected(&self, text: &Text) -> Option<(Pos, Pos)> {
        let Mode::Visual { lines } = self.mode else { return None };
        let (from, to) = ordered(self.anchor, text.at);
        let end = text.len(to.0);
        Some(if lines { ((from.0, 0), (to.0, end)) } else { (from, (to.0, (to.1 + 1).min(end))) })
    }

    /// Forgets what of a command was typed.
    pub fn forget(&mut self) {
        (self.count, self.operator, self.first) = (0, None, None);
        self.typed.clear();
        self.said.clear();
    }

    /// A key in normal or visual mode.
    pub fn press(&mut self, text: &mut Text, press: Press) -> Took {
        let took = match press {
            Press::Escape => {
                self.forget();
                self.mode = Mode::Normal;
                Took::Done
            }
            Press::Redo if self.mode == Mode::Normal && !self.waits() => {
                self.redo(text);
                Took::Done
            }
            Press::Redo => Took::No,
            Press::Break if self.first == Some('r') => self.letter(text, '\n'),
            Press::Break => Took::No,
            Press::Back => self.letter(text, '\u{8}'),
            Press::Typed(c) => self.letter(text, c),
        };
        if self.mode == Mode::Normal {
            text.settle();
        }
        self.end_step(text);
        took
    }

    fn letter(&mut self, text: &mut Text, c: char) -> Took {
        self.typed.push(if c == '\u{8}' { ' ' } else { c });
        if self.first.is_none()
            && let Some(digit) = c.to_digit(10).filter(|digit| *digit > 0 || self.count > 0)
        {
            self.count = (self.count * 10 + digit as usize).min(COUNT_MAX);
            return Took::Done;
        }
        self.said.push(c);
        if let Some(first) = self.first.take() {
            self.second(text, first, c);
            return self.whole(Took::Done);
        }
        let object = matches!(c, 'i' | 'a') && (self.operator.is_some() || self.mode != Mode::Normal);
        if object || matches!(c, 'g' | 'r' | 'f' | 'F' | 't' | 'T') {
            self.first = Some(c);
            return Took::Done;
        }
        let took = self.one(text, c, None);
        self.whole(took)
    }

    /// A command is whole, unless its operator still waits for a motion.
    fn whole(&mut self, took: Took) -> Took {
        if self.operator.is_none() && self.first.is_none() {
            self.forget();
        }
        took
    }

    /// The second of two keys.
    fn second(&mut self, text: &mut Text, first: char, c: char) {
        match (first, c) {
            ('f' | 'F' | 't' | 'T', c) => {
                self.find = Some((first, c));
                self.one(text, first, Some(true));
            }
            ('g', 'g') => drop(self.one(text, FIRST_LINE, None)),
            ('g', 'e') => drop(self.one(text, BACK_END, None)),
            ('g', 'E') => drop(self.one(text, BIG_BACK_END, None)),
            ('g', '_') => drop(self.one(text, LAST_LETTER, None)),
            ('g', 'j' | 'k') => drop(self.one(text, c, None)),
            ('g', 'u' | 'U' | '~') if self.mode != Mode::Normal => drop(self.one(text, c, None)),
            ('g', 'u' | 'U' | '~') => {
                let operator = match c {
                    'u' => Operator::Lower,
                    'U' => Operator::Upper,
                    _ => Operator::Swap,
                };
                self.operator_key(text, operator);
            }
            ('r', c) => self.replace(text, c),
            ('i' | 'a', c) => self.object_key(text, first == 'a', c),
            _ => {
                self.operator = None;
            }
        }
    }

    /// A command, or a motion; `fresh`: a search of a line that was just typed.
    fn one(&mut self, text: &mut Text, c: char, fresh: Option<bool>) -> Took {
        let operator = match c {
            'd' => Some(Operator::Delete),
            'c' => Some(Operator::Change),
            'y' => Some(Operator::Yank),
            _ => None,
        };
        if let Mode::Visual { lines } = self.mode {
            if !self.visual(text, c, lines) {
                self.walk(text, c, fresh);
            }
            return Took::Done;
        }
        if let Some(operator) = operator {
            self.operator_key(text, operator);
            return Took::Done;
        }
        match (self.operator, c) {
            (Some((Operator::Lower, _)), 'u') => self.operator_key(text, Operator::Lower),
            (Some((Operator::Upper, _)), 'U') => self.operator_key(text, Operator::Upper),
            (Some((Operator::Swap, _)), '~') => self.operator_key(text, Operator::Swap),
            (Some(_), c) => self.over(text, c, fresh),
            (None, 'k') if text.at.0 == 0 => return Took::Above,
            (None, 'j') if text.at.0 == text.last() => return Took::Below,
            (None, c) => {
                if !self.command(text, c) {
                    self.walk(text, c, fresh);
                }
            }
        }
        Took::Done
    }

    /// A command of normal mode; whether it was one.
    fn command(&mut self, text: &mut Text, c: char) -> bool {
        let given = self.count;
        let count = given.max(1);
        let mut short = |vi: &mut Self, operator, motion| {
            vi.operator = Some((operator, vi.count));
            vi.count = 0;
            vi.over(text, motion, None);
        };
        match c {
            'x' => short(self, Operator::Delete, 'l'),
            'X' => short(self, Operator::Delete, 'h'),
            'D' => short(self, Operator::Delete, '$'),
            'C' => short(self, Operator::Change, '$'),
            's' => short(self, Operator::Change, 'l'),
            'S' => short(self, Operator::Change, '_'),
            'Y' => short(self, Operator::Yank, '_'),
            'p' | 'P' => self.put(text, c == 'P', count),
            '~' => self.swap(text, count),
            'J' => self.join(text, text.at.0, count.max(2), given),
            'u' => (0..count).for_each(|_| self.undo(text)),
            '.' => self.again(text, given),
            'v' | 'V' => {
                self.mode = Mode::Visual { lines: c == 'V' };
                self.anchor = text.at;
            }
            'i' | 'a' | 'I' | 'A' | 'o' | 'O' => self.insert(text, c, count),
            _ => return false,
        }
        true
    }

    /// An operator's key: the operator itself, or, doubled, whole lines.
    fn operator_key(&mut self, text: &mut Text, operator: Operator) {
        match self.operator {
            None if matches!(self.mode, Mode::Visual { .. }) => {}
            None => {
                self.operator = Some((operator, self.count));
                self.count = 0;
            }
            Some((waits, _)) if waits == operator => self.over(text, '_', None),
            Some(_) => self.operator = None,
        }
    }

    fn ask(&self, key: char, who: For, count: usize, fresh: Option<bool>) -> Ask {
        let (want, find) = (self.want, self.find);
        Ask { key, count: count.max(1), given: count > 0, who, want, find, fresh: fresh.is_some() }
    }

    /// Moves.
    fn walk(&mut self, text: &mut Text, key: char, fresh: Option<bool>) {
        let who = if self.mode == Mode::Normal { For::Cursor } else { For::Selection };
        if let Some(way) = motion(text, self.ask(key, who, self.count, fresh)) {
            (text.at, self.want) = (way.to, way.want);
        }
    }

    /// The operator over a motion.
    fn over(&mut self, text: &mut Text, key: char, fresh: Option<bool>) {
        let Some((operator, before)) = self.operator.take() else { return };
        let count = if before == 0 && self.count == 0 { 0 } else { before.max(1) * self.count.max(1) };
        self.count = count.min(COUNT_MAX);
        let who = For::Operator(operator == Operator::Change);
        let Some(way) = motion(text, self.ask(key, who, self.count, fresh)) else { return };
        let doubled = key == '_';
        let (from, to) = if way.kind == Kind::Lines && doubled {
            (text.at, (way.to.0, text.at.1))
        } else {
            ordered(text.at, way.to)
        };
        let kind = if way.kind == Kind::With && way.to < text.at && key != '%' {
            // a way back is with the unit that the cursor is on
            Kind::With
        } else {
            way.kind
        };
        self.operate(text, operator, from, to, kind);
        if doubled && !matches!(operator, Operator::Yank | Operator::Change | Operator::Delete) {
            text.at.1 = text.first_letter(text.at.0);
        }
    }

    /// An object's key, for an operator or for what is selected.
    fn object_key(&mut self, text: &mut Text, around: bool, key: char) {
        let operator = self.operator.take();
        let before = operator.map_or(1, |(_, count)| count.max(1));
        let Some(held) = object::object(text, key, around, before * self.count.max(1)) else { return };
        if let Some((operator, _)) = operator {
            text.at = held.from;
            return self.operate(text, operator, held.from, held.to, held.kind);
        }
        if held.from == held.to && held.kind == Kind::Before {
            return;
        }
        let mut to = held.to;
        if held.kind == Kind::Before && text.dec(&mut to) == text::Step::Line {
            to.1 = to.1.saturating_sub(1);
        }
        if self.anchor == text.at || held.from < self.anchor {
            self.anchor = held.from;
        }
        if held.kind == Kind::Lines {
            self.mode = Mode::Visual { lines: true };
        }
        text.at = to.max(text.at);
        self.want = text.at.1;
    }

    /// What is next written is another text: nothing of this one is taken back.
    pub fn renew(&mut self) {
        self.forget();
        self.mode = Mode::Insert;
        self.steps.clear();
    }

    /// The text became another one: the steps to this one lead nowhere.
    pub fn replaced(&mut self) {
        self.forget();
        self.steps.clear();
    }
}

fn ordered(a: Pos, b: Pos) -> (Pos, Pos) {
    if a <= b { (a, b) } else { (b, a) }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
