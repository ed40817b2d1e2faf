//! Motions of vi: where a key leads, and what of the text an operator would take on the way.
//!
//! They are as vim's are, with its ways at the ends of lines and of the text. Deliberately not here: marks and searches.

use super::text::{Class, Pos, Step, Text};

/// What an operator takes of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To before where it leads.
    Before,
    /// With the unit where it leads.
    With,
    /// Whole lines.
    Lines,
}

/// Where a motion leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// There.
    pub to: Pos,
    /// What an operator takes.
    pub kind: Kind,
    /// The column that motions up and down want from now on.
    pub want: usize,
}

/// For whom a motion is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// The cursor.
    Cursor,
    /// The end of what is selected.
    Selection,
    /// An operator; `true`: it changes, for which `w` is `e`.
    Operator(bool),
}

/// A search in a line: `f`, `F`, `t` or `T`, and for what.
pub type Find = (char, char);

/// A motion that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Its key; those of two keys are the constants of this module.
    pub key: char,
    /// How often.
    pub count: usize,
    /// Whether that was said.
    pub given: bool,
    /// For whom.
    pub who: For,
    /// The column that motions up and down want.
    pub want: usize,
    /// The search of a line that was made last.
    pub find: Option<Find>,
    /// Whether that search is a new one, not `;` or `,`.
    pub fresh: bool,
}

/// `ge`.
pub const BACK_END: char = '\u{1}';
/// `gE`.
pub const BIG_BACK_END: char = '\u{4}';
/// `g_`.
pub const LAST_LETTER: char = '\u{2}';
/// `gg`.
pub const FIRST_LINE: char = '\u{3}';

/// Where a motion leads; none: nowhere, or it is none.
pub fn motion(text: &Text, ask: Ask) -> Option<Way> {
    let (row, column) = text.at;
    let plain = |to: Pos, kind| Some(Way { to, kind, want: to.1 });
    match ask.key {
        'h' | '\u{8}' => {
            if column == 0 && ask.who != For::Cursor {
                return plain(text.at, Kind::Before);
            }
            if column == 0 && (ask.key == 'h' || row == 0) {
                return None;
            }
            if column == 0 {
                return plain((row - 1, text.len(row - 1).saturating_sub(1)), Kind::Before);
            }
            plain((row, column.saturating_sub(ask.count)), Kind::Before)
        }
        'l' | ' ' => right(text, ask),
        'j' | 'k' | '+' | '-' | '_' => lines(text, ask),
        FIRST_LINE | 'G' => {
            let to = match (ask.given, ask.key) {
                (true, _) => ask.count - 1,
                (false, 'G') => text.last(),
                (false, _) => 0,
            };
            let to = to.min(text.last());
            plain((to, text.first_letter(to)), Kind::Lines)
        }
        '0' => plain((row, 0), Kind::Before),
        '^' => plain((row, text.first_letter(row)), Kind::Before),
        '|' => plain((row, (ask.count - 1).min(text.len(row).saturating_sub(1))), Kind::Before),
        '$' | LAST_LETTER => {
            if ask.count > 1 && row == text.last() {
                return None;
            }
            let to = (row + ask.count - 1).min(text.last());
            let line = &text.lines[to];
            let end = if ask.key == '$' {
                line.len()
            } else {
                line.iter().rposition(|unit| !unit.blank()).map_or(0, |at| at + 1)
            };
            let at = if ask.who == For::Selection && ask.key == '$' { end } else { end.saturating_sub(1) };
            let want = if ask.key == '$' { usize::MAX } else { at };
            Some(Way { to: (to, at), kind: Kind::With, want })
        }
        'w' | 'W' => word(text, ask),
        'e' | 'E' => {
            let (to, all) = word_end(text, text.at, ask.count, ask.key == 'E', false);
            ended(text, ask, to, all, Kind::With)
        }
        'b' | 'B' => plain(word_back(text, ask.count, ask.key == 'B')?, Kind::Before),
        BACK_END | BIG_BACK_END => {
            plain(word_back_end(text, ask.count, ask.key == BIG_BACK_END)?, Kind::With)
        }
        'f' | 'F' | 't' | 'T' | ';' | ',' => find(text, ask),
        '%' if !ask.given => plain(pair(text)?, Kind::With),
        '%' => {
            // so much of the text in per cent
            let to = (ask.count * text.lines.len()).div_ceil(100).clamp(1, text.lines.len()) - 1;
            (ask.count <= 100).then_some(())?;
            plain((to, text.first_letter(to)), Kind::Lines)
        }
        '{' | '}' => paragraph(text, ask),
        _ => None,
    }
}

fn right(text: &Text, ask: Ask) -> Option<Way> {
    let (row, column) = text.at;
    let len = text.len(row);
    let to = match ask.who {
        For::Cursor if column + 1 >= len && ask.key == ' ' && row < text.last() => (row + 1, 0),
        For::Cursor if column + 1 >= len => return None,
        For::Cursor => (row, (column + ask.count).min(len - 1)),
        For::Selection => (row, (column + ask.count).min(len)),
        // at the end of a line the last unit is taken
        For::Operator(_) => (row, (column + ask.count).min(len)),
    };
    Some(Way { to, kind: Kind::Before, want: to.1 })
}

fn lines(text: &Text, ask: Ask) -> Option<Way> {
    let row = text.at.0;
    let by = if ask.key == '_' { ask.count - 1 } else { ask.count };
    let to = match ask.key {
        'j' | '+' | '_' => {
            if by > 0 && row == text.last() {
                return None;
            }
            (row + by).min(text.last())
        }
        _ => {
            if row == 0 {
                return None;
            }
            row.saturating_sub(by)
        }
    };
    if matches!(ask.key, 'j' | 'k') {
        let most =
            text.len(to).saturating_sub(usize::from(ask.who != For::Selection || ask.want != usize::MAX));
        return Some(Way { to: (to, ask.want.min(most)), kind: Kind::Lines, want: ask.want });
    }
    let at = text.first_letter(to);
    Some(Way { to: (to, at), kind: Kind::Lines, want: at })
}

/// What a motion over words came to: it may not end behind the last unit, and what could not be done in full is none for the
/// cursor.
fn ended(text: &Text, ask: Ask, mut to: Pos, all: bool, mut kind: Kind) -> Option<Way> {
    if to > text.at && to.1 > 0 && to.1 >= text.len(to.0) && ask.who != For::Selection {
        to.1 -= 1;
        kind = Kind::With;
    }
    if !all && ask.who == For::Cursor && to == text.at {
        return None;
    }
    Some(Way { to, kind, want: to.1 })
}

fn word(text: &Text, ask: Ask) -> Option<Way> {
    let big = ask.key == 'W';
    let on_word = text.class(text.at, big) != Class::Blank;
    if ask.who == For::Operator(true) && on_word {
        let (to, all) = word_end(text, text.at, ask.count, big, true);
        return ended(text, ask, to, all, Kind::With);
    }
    let (to, all) = word_forward(text, text.at, ask.count, big, matches!(ask.who, For::Operator(_)));
    ended(text, ask, to, all, Kind::Before)
}

/// To the begin of a word; `eol`: the last one may end at the end of a line. Whether all of it could be done.
pub fn word_forward(text: &Text, from: Pos, count: usize, big: bool, eol: bool) -> (Pos, bool) {
    let mut at = from;
    for left in (0..count).rev() {
        let class = text.class(at, big);
        let in_last = at.0 == text.last();
        match text.inc(&mut at) {
            Step::Edge => return (at, false),
            Step::End | Step::Line if in_last => return (at, false),
            Step::End | Step::Line if eol && left == 0 => return (at, true),
            _ => {}
        }
        if class != Class::Blank {
            while text.class(at, big) == class {
                match text.inc(&mut at) {
                    Step::Edge => return (at, true),
                    Step::End | Step::Line if eol && left == 0 => return (at, true),
                    _ => {}
                }
            }
        }
        while text.class(at, big) == Class::Blank {
            if at.1 == 0 && text.len(at.0) == 0 {
                break;
            }
            let in_last = at.0 == text.last();
            match text.inc(&mut at) {
                Step::Edge => return (at, true),
                Step::End | Step::Line if in_last || eol && left == 0 => return (at, true),
                _ => {}
            }
        }
    }
    (at, true)
}

/// To the end of a word; `stop`: a word of one unit ends where it begins. Whether all of it could be done.
pub fn word_end(text: &Text, from: Pos, count: usize, big: bool, mut stop: bool) -> (Pos, bool) {
    let mut at = from;
    for _ in 0..count {
        let class = text.class(at, big);
        if text.inc(&mut at) == Step::Edge {
            return (at, false);
        }
        let skip = |at: &mut Pos, class| {
            while text.class(*at, big) == class {
                if text.inc(at) == Step::Edge {
                    return false;
                }
            }
            true
        };
        if text.class(at, big) == class && class != Class::Blank {
            if !skip(&mut at, class) {
                return (at, false);
            }
        } else if !stop || class == Class::Blank {
            if !skip(&mut at, Class::Blank) {
                return (at, false);
            }
            let class = text.class(at, big);
            if !skip(&mut at, class) {
                return (at, false);
            }
        }
        text.dec(&mut at);
        stop = false;
    }
    (at, true)
}

fn word_back(text: &Text, count: usize, big: bool) -> Option<Pos> {
    let mut at = text.at;
    for _ in 0..count {
        if text.dec(&mut at) == Step::Edge {
            return None;
        }
        let mut empty = false;
        while text.class(at, big) == Class::Blank {
            if at.1 == 0 && text.len(at.0) == 0 {
                empty = true;
                break;
            }
            if text.dec(&mut at) == Step::Edge {
                return Some(at);
            }
        }
        if empty {
            continue;
        }
        let class = text.class(at, big);
        while text.class(at, big) == class {
            if text.dec(&mut at) == Step::Edge {
                return Some(at);
            }
        }
        text.inc(&mut at);
    }
    Some(at)
}

fn word_back_end(text: &Text, count: usize, big: bool) -> Option<Pos> {
    let mut at = text.at;
    for _ in 0..count {
        let class = text.class(at, big);
        if text.dec(&mut at) == Step::Edge {
            return None;
        }
        if class != Class::Blank {
            while text.class(at, big) == class {
                if text.dec(&mut at) == Step::Edge {
                    return Some(at);
                }
            }
        }
        while text.class(at, big) == Class::Blank {
            if at.1 == 0 && text.len(at.0) == 0 {
                break;
            }
            if text.dec(&mut at) == Step::Edge {
                return Some(at);
            }
        }
    }
    Some(at)
}

fn find(text: &Text, ask: Ask) -> Option<Way> {
    let (mut how, c) = ask.find?;
    if ask.key == ',' {
        how = if how.is_lowercase() { how.to_ascii_uppercase() } else { how.to_ascii_lowercase() };
    }
    let (row, from) = text.at;
    let line = &text.lines[row];
    let until = matches!(how, 't' | 'T');
    let mut at = from;
    let mut left = ask.count;
    // `;` after `t` goes on over the one that it stands before
    let mut pass = until && !ask.fresh && ask.count == 1;
    while left > 0 {
        at = if how.is_lowercase() { at + 1 } else { at.checked_sub(1)? };
        if line.get(at)?.is(c) && !pass {
            left -= 1;
        }
        pass = false;
    }
    let (to, kind) = match how {
        'f' => (at, Kind::With),
        't' => (at - 1, Kind::With),
        'T' => (at + 1, Kind::Before),
        _ => (at, Kind::Before),
    };
    Some(Way { to: (row, to), kind, want: to })
}

const PAIRS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

fn pair(text: &Text) -> Option<Pos> {
    let (row, from) = text.at;
    let line = &text.lines[row];
    let (column, open, close, forward) = (from..line.len()).find_map(|column| {
        PAIRS.iter().find_map(|(open, close)| match line[column] {
            unit if unit.is(*open) => Some((column, *open, *close, true)),
            unit if unit.is(*close) => Some((column, *open, *close, false)),
            _ => None,
        })
    })?;
    other(text, (row, column), open, close, forward)
}

/// The bracket that belongs to the one at a place.
pub fn other(text: &Text, from: Pos, open: char, close: char, forward: bool) -> Option<Pos> {
    let mut depth = 1;
    let mut at = from;
    let (deeper, back) = if forward { (open, close) } else { (close, open) };
    loop {
        if forward && text.inc(&mut at) == Step::Edge || !forward && text.dec(&mut at) == Step::Edge {
            return None;
        }
        match text.unit(at) {
            Some(unit) if unit.is(deeper) => depth += 1,
            Some(unit) if unit.is(back) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

fn paragraph(text: &Text, ask: Ask) -> Option<Way> {
    let forward = ask.key == '}';
    let mut row = text.at.0;
    for left in (0..ask.count).rev() {
        let (mut filled, mut first) = (false, true);
        loop {
            filled |= text.len(row) > 0;
            if !first && filled && text.len(row) == 0 {
                break;
            }
            first = false;
            if forward && row == text.last() || !forward && row == 0 {
                if left > 0 {
                    return None;
                }
                break;
            }
            row = if forward { row + 1 } else { row - 1 };
        }
    }
    if forward && row == text.last() && text.len(row) > 0 {
        let to = (row, text.len(row) - 1);
        return Some(Way { to, kind: Kind::With, want: to.1 });
    }
    Some(Way { to: (row, 0), kind: Kind::Before, want: 0 })
}
