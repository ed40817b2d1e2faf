//! Text objects of vi: a word, what stands in quotes or brackets, a paragraph; with what is around them, or without.

use super::motion::{Kind, other};
use super::text::{Class, Pos, Text};

/// What an object holds: from a place to another, with it or before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its begin.
    pub from: Pos,
    /// Its end.
    pub to: Pos,
    /// How the end is meant.
    pub kind: Kind,
}

/// The object of a key at the cursor; `around`: with its quotes, brackets or blanks.
pub fn object(text: &Text, key: char, around: bool, count: usize) -> Option<Held> {
    match key {
        'w' | 'W' => word(text, around, count, key == 'W'),
        '"' | '\'' | '`' => quoted(text, key, around),
        '(' | ')' | 'b' => bracket(text, ('(', ')'), around, count),
        '[' | ']' => bracket(text, ('[', ']'), around, count),
        '{' | '}' | 'B' => bracket(text, ('{', '}'), around, count),
        '<' | '>' => bracket(text, ('<', '>'), around, count),
        'p' => paragraph(text, around, count),
        _ => None,
    }
}

/// Where the run of one class that holds a place begins, and where it ends (behind its last).
fn run(text: &Text, (row, column): Pos, big: bool) -> (usize, usize) {
    let class = text.class((row, column), big);
    let same = |at: usize| text.class((row, at), big) == class;
    let begin = (0..=column).rev().take_while(|at| same(*at)).last().unwrap_or(column);
    let end = (column..text.len(row)).take_while(|at| same(*at)).last().map_or(column, |at| at + 1);
    (begin, end)
}

fn word(text: &Text, around: bool, count: usize, big: bool) -> Option<Held> {
    let (row, column) = text.at;
    if text.len(row) == 0 {
        return (!around).then_some(Held { from: text.at, to: text.at, kind: Kind::Before });
    }
    let (mut begin, mut end) = run(text, (row, column), big);
    let first_blank = text.class((row, column), big) == Class::Blank;
    if !around {
        for _ in 1..count {
            if end >= text.len(row) {
                return None;
            }
            end = run(text, (row, end), big).1;
        }
        return Some(Held { from: (row, begin), to: (row, end), kind: Kind::Before });
    }
    let mut after = false;
    for time in 0..count {
        if time > 0 {
            if end >= text.len(row) {
                return None;
            }
            end = run(text, (row, end), big).1;
        }
        after = end < text.len(row) && (first_blank || text.class((row, end), big) == Class::Blank);
        if after {
            end = run(text, (row, end), big).1;
        } else if first_blank {
            return None;
        }
    }
    if !first_blank && !after && begin > 0 && text.class((row, begin - 1), big) == Class::Blank {
        let before = run(text, (row, begin - 1), big).0;
        begin = if before > 0 { before } else { begin };
    }
    Some(Held { from: (row, begin), to: (row, end), kind: Kind::Before })
}

fn quoted(text: &Text, quote: char, around: bool) -> Option<Held> {
    let (row, column) = text.at;
    let line = &text.lines[row];
    let next = |from: usize| {
        let mut at = from;
        while at < line.len() {
            if line[at].is('\\') {
                at += 1;
            } else if line[at].is(quote) {
                return Some(at);
            }
            at += 1;
        }
        None
    };
    let mut from = 0;
    let (open, close) = loop {
        let open = next(from)?;
        let close = next(open + 1)?;
        if column <= close {
            break (open, close);
        }
        from = close + 1;
    };
    if !around {
        return Some(Held { from: (row, open + 1), to: (row, close), kind: Kind::Before });
    }
    let blanks = |from: usize| line[from..].iter().take_while(|unit| unit.blank()).count();
    let after = blanks(close + 1);
    let before = line[..open].iter().rev().take_while(|unit| unit.blank()).count();
    let begin = if after == 0 { open - before } else { open };
    Some(Held { from: (row, begin), to: (row, close + 1 + after), kind: Kind::Before })
}

fn bracket(text: &Text, (open, close): (char, char), around: bool, count: usize) -> Option<Held> {
    let here = text.unit(text.at);
    let mut begin = if here.is_some_and(|unit| unit.is(open)) {
        text.at
    } else {
        // where none is around the cursor, the next one
        other(text, text.at, open, close, false).or_else(|| other(text, text.at, close, open, true))?
    };
    for _ in 1..count {
        begin = other(text, begin, open, close, false)?;
    }
    let end = other(text, begin, open, close, true)?;
    if around {
        return Some(Held { from: begin, to: end, kind: Kind::With });
    }
    let inner = (begin.0, begin.1 + 1);
    // a bracket at the end of its line and one at the begin of another hold whole lines
    if end.0 > begin.0 + 1 && inner.1 >= text.len(begin.0) && text.indent(end.0) >= end.1 {
        let last = end.0 - 1;
        return Some(Held { from: (begin.0 + 1, 0), to: (last, text.len(last)), kind: Kind::Lines });
    }
    Some(Held { from: inner, to: end, kind: Kind::Before })
}

fn paragraph(text: &Text, around: bool, count: usize) -> Option<Held> {
    let blank = |row: usize| text.lines[row].iter().all(|unit| unit.blank());
    let row = text.at.0;
    let whether = blank(row);
    let mut first = (0..=row).rev().take_while(|row| blank(*row) == whether).last()?;
    let end_of = |row: usize| (row..=text.last()).take_while(|at| blank(*at) == blank(row)).last();
    let mut last = end_of(row)?;
    let more = |last: usize| if last < text.last() { end_of(last + 1) } else { None };
    if !around {
        for _ in 1..count {
            last = more(last)?;
        }
        return Some(Held { from: (first, 0), to: (last, 0), kind: Kind::Lines });
    }
    for time in 0..count {
        if time > 0 {
            last = more(last)?;
        }
        match more(last) {
            Some(end) => last = end,
            None if whether || time > 0 => return None,
            // nothing follows: the blank lines before go with it
            None => first = (0..first).rev().take_while(|row| blank(*row)).last().unwrap_or(first),
        }
    }
    Some(Held { from: (first, 0), to: (last, 0), kind: Kind::Lines })
}
