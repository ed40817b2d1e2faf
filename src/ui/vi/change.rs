//! What commands of vi do to the text: operators, putting back, joining, replacing, and the keys of visual mode.

use super::motion::Kind;
use super::text::{Class, Pos, Text, Unit};
use super::{Kept, Mode, Operator, Vi, ordered};

impl Vi {
    /// Does an operator from a place to another, which are in order.
    pub(super) fn operate(&mut self, text: &mut Text, operator: Operator, from: Pos, to: Pos, kind: Kind) {
        let (to, kind) = self.reach(text, operator, from, to, kind);
        if operator != Operator::Yank {
            text.at = from;
            self.begin_step(text);
            self.done(None);
        }
        if kind == Kind::Lines {
            return self.whole_lines(text, operator, from, to.0);
        }
        let end = if kind == Kind::With { (to.0, (to.1 + 1).min(text.len(to.0))) } else { to };
        self.part(text, operator, from, end);
    }

    /// Where an operator ends, and how: vi has its ways at line ends.
    fn reach(&self, text: &Text, operator: Operator, from: Pos, to: Pos, kind: Kind) -> (Pos, Kind) {
        let (mut to, mut kind) = (to, kind);
        let in_indent = text.indent(from.0) >= from.1;
        // up to the begin of a line is up to the end of the one before
        if kind == Kind::Before && to.1 == 0 && to.0 > from.0 {
            to.0 -= 1;
            if in_indent {
                return (to, Kind::Lines);
            }
            to.1 = text.len(to.0);
            if to.1 > 0 {
                (to.1, kind) = (to.1 - 1, Kind::With);
            }
        }
        if operator == Operator::Delete && kind != Kind::Lines && to.0 > from.0 && in_indent {
            let end = (to.1 + usize::from(kind == Kind::With)).min(text.len(to.0));
            if text.lines[to.0][end..].iter().all(|unit| unit.blank()) {
                kind = Kind::Lines;
            }
        }
        (to, kind)
    }

    fn part(&mut self, text: &mut Text, operator: Operator, from: Pos, end: Pos) {
        let empty = from == end;
        match operator {
            Operator::Delete | Operator::Change | Operator::Yank => {
                if !empty {
                    self.kept = Kept { pieces: text.slice(from, end), lines: false };
                }
                if operator != Operator::Yank {
                    text.remove(from, end);
                }
            }
            operator => recase(text, operator, from, end),
        }
        text.at = from;
        self.want = from.1;
        if operator == Operator::Change {
            self.write(text, 1, false);
        }
    }

    fn whole_lines(&mut self, text: &mut Text, operator: Operator, from: Pos, last: usize) {
        let first = from.0;
        match operator {
            Operator::Delete | Operator::Change | Operator::Yank => {
                self.kept = Kept { pieces: text.lines[first..=last].to_vec(), lines: true };
                text.at = (first, from.1.min(text.len(first).saturating_sub(1)));
            }
            operator => {
                recase(text, operator, (first, 0), (last, text.len(last)));
                text.at = from;
            }
        }
        match operator {
            Operator::Delete => {
                text.remove_lines(first, last);
                text.at.0 = first.min(text.last());
                text.at.1 = text.first_letter(text.at.0);
                self.want = text.at.1;
            }
            Operator::Change => {
                text.lines.splice(first..=last, [Vec::new()]);
                text.at = (first, 0);
                self.write(text, 1, false);
            }
            _ => self.want = text.at.1,
        }
    }

    /// `r` and what comes in the place.
    pub(super) fn replace(&mut self, text: &mut Text, c: char) {
        if let Mode::Visual { lines } = self.mode {
            let (from, end) = self.chosen(text, lines);
            self.begin_step(text);
            self.done(Some(self.extent(text, lines)));
            for row in from.0..=end.0 {
                let first = if row == from.0 { from.1 } else { 0 };
                let last = if row == end.0 { end.1.min(text.len(row)) } else { text.len(row) };
                text.lines[row].iter_mut().take(last).skip(first).for_each(|unit| *unit = Unit::One(c));
            }
            text.at = from;
            self.mode = Mode::Normal;
            return;
        }
        let (row, column) = text.at;
        let count = self.count.max(1);
        if self.operator.take().is_some() || column + count > text.len(row) {
            return;
        }
        self.begin_step(text);
        self.done(None);
        if c == '\n' {
            text.remove(text.at, (row, column + count));
            text.insert(text.at, &[Vec::new(), Vec::new()]);
            text.at = (row + 1, 0);
        } else {
            text.lines[row][column..column + count].fill(Unit::One(c));
            text.at.1 = column + count - 1;
        }
        self.want = text.at.1;
    }

    /// `~` of so many.
    pub(super) fn swap(&mut self, text: &mut Text, count: usize) {
        let (row, column) = text.at;
        let end = (column + count).min(text.len(row));
        if end == column {
            return;
        }
        self.begin_step(text);
        self.done(None);
        recase(text, Operator::Swap, text.at, (row, end));
        text.at.1 = end;
        self.want = end.min(text.len(row) - 1);
    }

    /// Joins so many lines from one on.
    pub(super) fn join(&mut self, text: &mut Text, row: usize, count: usize, given: usize) {
        let room = text.last() - row + 1;
        if room < 2 || count > room && given <= 2 && self.mode == Mode::Normal {
            return;
        }
        self.begin_step(text);
        if self.mode == Mode::Normal {
            self.done(None);
        }
        for _ in 1..count.min(room) {
            let next = text.lines.remove(row + 1);
            let begin = next.iter().take_while(|unit| unit.blank()).count();
            let line = &mut text.lines[row];
            let rest = &next[begin..];
            text.at = (row, line.len());
            let gap = rest.first().is_some_and(|unit| !unit.is(')'));
            if gap && line.last().is_some_and(|unit| unit.class(false) != Class::Blank) {
                line.push(Unit::One(' '));
            }
            line.extend_from_slice(rest);
        }
        self.want = text.at.1;
    }

    /// Puts what was cut or copied.
    pub(super) fn put(&mut self, text: &mut Text, before: bool, count: usize) {
        let Kept { pieces, lines } = self.kept.clone();
        if pieces.is_empty() {
            return;
        }
        self.begin_step(text);
        if self.mode == Mode::Normal {
            self.done(None);
        }
        put(text, &pieces, lines, before, count);
        self.want = text.at.1;
    }

    /// What is selected: from a place to before another.
    fn chosen(&self, text: &Text, lines: bool) -> (Pos, Pos) {
        let (from, to) = ordered(self.anchor, text.at);
        if lines {
            return ((from.0, 0), (to.0, text.len(to.0)));
        }
        match text.unit(to) {
            Some(_) => (from, (to.0, to.1 + 1)),
            // with the line's end
            None if to.0 < text.last() => (from, (to.0 + 1, 0)),
            None => (from, to),
        }
    }

    /// A key of visual mode; whether it was one that is no motion.
    pub(super) fn visual(&mut self, text: &mut Text, c: char, lines: bool) -> bool {
        let whole = lines || matches!(c, 'X' | 'D' | 'Y' | 'C' | 'S' | 'R');
        let operator = match c {
            'd' | 'x' | 'X' | 'D' => Operator::Delete,
            'c' | 's' | 'C' | 'S' | 'R' => Operator::Change,
            'y' | 'Y' => Operator::Yank,
            'u' => Operator::Lower,
            'U' => Operator::Upper,
            '~' => Operator::Swap,
            'v' | 'V' if (c == 'V') == lines => {
                self.mode = Mode::Normal;
                return true;
            }
            'v' | 'V' => {
                self.mode = Mode::Visual { lines: c == 'V' };
                return true;
            }
            'o' => {
                std::mem::swap(&mut self.anchor, &mut text.at);
                self.want = text.at.1;
                return true;
            }
            'J' => {
                let (from, to) = ordered(self.anchor, text.at);
                self.done(Some(self.extent(text, lines)));
                self.join(text, from.0, (to.0 - from.0 + 1).max(2), 0);
                self.mode = Mode::Normal;
                return true;
            }
            'p' | 'P' => {
                self.put_over(text, lines);
                return true;
            }
            _ => return false,
        };
        let from = ordered(self.anchor, text.at).0;
        let (begin, end) = self.chosen(text, whole);
        let extent = self.extent(text, whole);
        self.mode = Mode::Normal;
        text.at = if whole { (from.0, 0) } else { from };
        if operator != Operator::Yank {
            self.begin_step(text);
            self.done(Some(extent));
        }
        if whole {
            self.whole_lines(text, operator, (from.0, 0), end.0);
        } else {
            self.part(text, operator, begin, end);
        }
        true
    }

    /// Puts what was cut in the place of what is selected, which is kept now.
    fn put_over(&mut self, text: &mut Text, lines: bool) {
        let old = self.kept.clone();
        if old.pieces.is_empty() {
            self.mode = Mode::Normal;
            return;
        }
        let (from, end) = self.chosen(text, lines);
        self.begin_step(text);
        self.done(Some(self.extent(text, lines)));
        self.mode = Mode::Normal;
        let count = self.count.max(1);
        if lines {
            let all = text.lines.len() == end.0 - from.0 + 1;
            self.whole_lines(text, Operator::Delete, from, end.0);
            let behind = from.0 > text.last();
            let before = !behind;
            put(text, &old.pieces, true, before, count);
            if all {
                // the line that stands for no text
                let rest = text.lines.len() - 1;
                text.remove_lines(rest, rest);
            }
        } else {
            self.part(text, Operator::Delete, from, end);
            if old.lines {
                let cut = text.insert(text.at, &[Vec::new(), Vec::new()]);
                text.at = (cut.0, 0);
                put(text, &old.pieces, true, true, count);
            } else {
                put(text, &old.pieces, false, true, count);
            }
        }
        self.want = text.at.1;
    }
}

/// Puts pieces before or behind the cursor, so many times; the cursor is where vi has it then.
fn put(text: &mut Text, pieces: &[Vec<Unit>], lines: bool, before: bool, count: usize) {
    let row = text.at.0;
    if lines {
        let at = if before { row } else { row + 1 };
        let all = std::iter::repeat_n(pieces, count).flatten().cloned();
        text.lines.splice(at..at, all);
        text.at = (at, text.first_letter(at));
        return;
    }
    let begin = (row, if before || text.len(row) == 0 { text.at.1 } else { text.at.1 + 1 });
    let begin = (row, begin.1.min(text.len(row)));
    let mut end = begin;
    for _ in 0..count {
        end = text.insert(end, pieces);
    }
    text.at = if pieces.len() > 1 { begin } else { (end.0, end.1.saturating_sub(1)) };
}

/// Letters from a place to before another, small, large, or the other way.
fn recase(text: &mut Text, operator: Operator, from: Pos, end: Pos) {
    for row in from.0..=end.0.min(text.last()) {
        let first = if row == from.0 { from.1 } else { 0 };
        let last = if row == end.0 { end.1 } else { text.len(row) };
        for unit in text.lines[row].iter_mut().take(last).skip(first) {
            let Unit::One(c) = *unit else { continue };
            let upper = match operator {
                Operator::Upper => true,
                Operator::Lower => false,
                _ => !c.is_uppercase(),
            };
            // a letter that becomes two stays as it is
            let mut other = [None, None];
            if upper {
                c.to_uppercase().take(2).enumerate().for_each(|(at, c)| other[at] = Some(c));
            } else {
                c.to_lowercase().take(2).enumerate().for_each(|(at, c)| other[at] = Some(c));
            }
            if let [Some(c), None] = other {
                *unit = Unit::One(c);
            }
        }
    }
}
