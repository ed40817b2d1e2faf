//! A text as the keys of vi see it: lines of units. A unit is what moves and goes as a whole: a character, a cluster of
//! several, or a folded paste.
//!
//! Deliberately not here: which keys there are (`motion`, `object`, `change`), and where the text is from.

/// A place: the line, and the unit in it; as many as the line has: behind its last.
pub type Pos = (usize, usize);

/// What a unit is to a motion over words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A space, a tab, or the end of the line.
    Blank,
    /// A mark that is no letter.
    Mark,
    /// A letter, a digit or `_`.
    Word,
    /// A letter of a script that is written without spaces: its words end where the script does.
    Script(u8),
    /// Several characters that stand for something, as a folded paste.
    Token,
}

/// One unit. What several characters say is kept by `Names`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One character.
    One(char),
    /// Several: which, and what they are to motions.
    Many(u32, Class),
}

impl Unit {
    /// What it is to a motion; `big`: everything but blanks is one.
    pub fn class(self, big: bool) -> Class {
        let class = match self {
            Unit::One(c) => class_of(c),
            Unit::Many(_, class) => class,
        };
        if big && class != Class::Blank { Class::Word } else { class }
    }
    /// Whether it is this character.
    pub fn is(self, c: char) -> bool {
        self == Unit::One(c)
    }
    /// Whether it is a space or a tab.
    pub fn blank(self) -> bool {
        self.class(false) == Class::Blank
    }
}

fn class_of(c: char) -> Class {
    match c {
        ' ' | '\t' => Class::Blank,
        '_' => Class::Word,
        '\u{3040}'..='\u{309f}' => Class::Script(1),
        '\u{30a0}'..='\u{30ff}' => Class::Script(2),
        '\u{3300}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}' => Class::Script(3),
        '\u{ac00}'..='\u{d7a3}' => Class::Script(4),
        c if c.is_alphanumeric() => Class::Word,
        _ => Class::Mark,
    }
}

/// What the units of several characters say.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<String>);

impl Names {
    /// The unit of these characters.
    pub fn unit(&mut self, text: &str) -> Unit {
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Unit::One(c),
            (first, _) => {
                let at = self.0.iter().position(|known| known == text).unwrap_or_else(|| {
                    self.0.push(text.to_owned());
                    self.0.len() - 1
                });
                let class = match first {
                    Some('[') => Class::Token,
                    Some(c) => class_of(c),
                    None => Class::Mark,
                };
                Unit::Many(at as u32, class)
            }
        }
    }
    /// What units say.
    pub fn say(&self, units: &[Unit]) -> String {
        let mut out = String::with_capacity(units.len());
        for unit in units {
            match unit {
                Unit::One(c) => out.push(*c),
                Unit::Many(at, _) => out.push_str(self.0.get(*at as usize).map_or("", String::as_str)),
            }
        }
        out
    }
    /// So many characters these units have.
    pub fn chars(&self, units: &[Unit]) -> usize {
        let long = |at: u32| self.0.get(at as usize).map_or(0, |text| text.chars().count());
        units.iter().map(|unit| if let Unit::Many(at, _) = unit { long(*at) } else { 1 }).sum()
    }
}

/// How a step to the next or the last unit went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To another unit of the line.
    Unit,
    /// Behind the last unit of the line.
    End,
    /// Into another line.
    Line,
    /// There is none.
    Edge,
}

/// The text, and the cursor in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// At least one line.
    pub lines: Vec<Vec<Unit>>,
    /// The cursor.
    pub at: Pos,
}

impl Text {
    /// Units of a line.
    pub fn len(&self, row: usize) -> usize {
        self.lines.get(row).map_or(0, Vec::len)
    }
    /// The last line.
    pub fn last(&self) -> usize {
        self.lines.len() - 1
    }
    /// The unit at a place; none behind the last.
    pub fn unit(&self, at: Pos) -> Option<Unit> {
        self.lines.get(at.0)?.get(at.1).copied()
    }
    /// What stands at a place; the end of a line is blank.
    pub fn class(&self, at: Pos, big: bool) -> Class {
        self.unit(at).map_or(Class::Blank, |unit| unit.class(big))
    }
    /// A unit further, over the end of the line into the next.
    pub fn inc(&self, at: &mut Pos) -> Step {
        if at.1 < self.len(at.0) {
            at.1 += 1;
            return if at.1 < self.len(at.0) { Step::Unit } else { Step::End };
        }
        if at.0 == self.last() {
            return Step::Edge;
        }
        *at = (at.0 + 1, 0);
        Step::Line
    }
    /// A unit back, to the end of the line before.
    pub fn dec(&self, at: &mut Pos) -> Step {
        if at.1 > 0 {
            at.1 -= 1;
            return Step::Unit;
        }
        if at.0 == 0 {
            return Step::Edge;
        }
        *at = (at.0 - 1, self.len(at.0 - 1));
        Step::Line
    }
    /// The first unit of a line that is not blank; where all are, the last.
    pub fn first_letter(&self, row: usize) -> usize {
        let Some(line) = self.lines.get(row) else { return 0 };
        line.iter().position(|unit| !unit.blank()).unwrap_or(line.len().saturating_sub(1))
    }
    /// So many blanks begin a line.
    pub fn indent(&self, row: usize) -> usize {
        self.lines.get(row).map_or(0, |line| line.iter().take_while(|unit| unit.blank()).count())
    }
    /// The cursor on a unit of its line, not behind the last.
    pub fn settle(&mut self) {
        self.at.0 = self.at.0.min(self.last());
        self.at.1 = self.at.1.min(self.len(self.at.0).saturating_sub(1));
    }
    /// What stands from a place to before another.
    pub fn slice(&self, from: Pos, to: Pos) -> Vec<Vec<Unit>> {
        let part = |row: usize| {
            let line = &self.lines[row];
            let begin = if row == from.0 { from.1.min(line.len()) } else { 0 };
            let end = if row == to.0 { to.1.min(line.len()) } else { line.len() };
            line[begin..end.max(begin)].to_vec()
        };
        (from.0..=to.0.min(self.last())).map(part).collect()
    }
    /// Takes out what stands from a place to before another.
    pub fn remove(&mut self, from: Pos, to: Pos) {
        let to = if to.0 > self.last() { (self.last(), self.len(self.last())) } else { to };
        let end = to.1.min(self.len(to.0));
        let rest = self.lines[to.0].split_off(end);
        self.lines.drain(from.0 + 1..=to.0.max(from.0));
        self.lines[from.0].truncate(from.1);
        self.lines[from.0].extend(rest);
    }
    /// Takes whole lines out.
    pub fn remove_lines(&mut self, first: usize, last: usize) {
        self.lines.drain(first..=last.min(self.last()));
        if self.lines.is_empty() {
            self.lines.push(Vec::new());
        }
    }
    /// Puts pieces in, a line break between two; where they end.
    pub fn insert(&mut self, at: Pos, pieces: &[Vec<Unit>]) -> Pos {
        let column = at.1.min(self.len(at.0));
        let rest = self.lines[at.0].split_off(column);
        let Some((first, more)) = pieces.split_first() else {
            self.lines[at.0].extend(rest);
            return at;
        };
        self.lines[at.0].extend(first);
        self.lines.splice(at.0 + 1..at.0 + 1, more.iter().cloned());
        let row = at.0 + more.len();
        let end = (row, self.len(row));
        self.lines[row].extend(rest);
        end
    }
}
