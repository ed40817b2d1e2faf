//! The keys of vi over the draft, where the person wants them. Enter, control keys, and the history at the edges of the
//! draft stay what they are; folded pastes and images are one unit each.
//!
//! Deliberately not here: what the keys do to a text (`ui::vi`).

use tui_textarea::{CursorMove, TextArea};

use super::State;
use super::draft::Draft;
use crate::ui::action::Action;
use crate::ui::input::{Code, Key, Mods};
use crate::ui::vi::text::{Names, Pos, Text, Unit};
use crate::ui::vi::{self, Mode, Press, Vi};

/// What a key was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    /// It is done.
    Done,
    /// It is this action.
    Does(Action),
    /// It is no key of vi now.
    No,
}

/// A key for the draft. `busy`: a turn runs, which Escape interrupts where nothing is written.
pub fn key(state: &mut State, key: Key, busy: bool) -> Took {
    let Some(mut vi) = state.vi.take() else { return Took::No };
    let took = if vi.mode() == Mode::Insert {
        insert(state, &mut vi, key, busy)
    } else {
        normal(&mut state.draft, &mut vi, key)
    };
    state.vi = Some(vi);
    took
}

fn insert(state: &mut State, vi: &mut Vi, key: Key, busy: bool) -> Took {
    let suggested = state.popup.is_some();
    if key != Key::plain(Code::Escape) || busy && state.draft.is_empty() && !suggested {
        return Took::No;
    }
    state.popup = None;
    let old = read(&state.draft, &mut vi.names);
    let mut text = old.clone();
    vi.begin_step(&old);
    vi.leave(&mut text);
    write(&mut state.draft, &vi.names, &old, &text);
    Took::Done
}

fn normal(draft: &mut Draft, vi: &mut Vi, key: Key) -> Took {
    let press = match (key.code, key.mods) {
        // what it ends elsewhere it ends here, when there is nothing of vi to end
        (Code::Escape, _) if !vi.waits() && vi.mode() == Mode::Normal => return Took::No,
        (Code::Escape, Mods::NONE) => Press::Escape,
        (Code::Char('r'), Mods::CTRL) if !vi.waits() && vi.mode() == Mode::Normal => Press::Redo,
        (Code::Enter, Mods::NONE) if vi.waits() => Press::Break,
        (Code::Backspace, Mods::NONE) => Press::Back,
        (Code::Delete, Mods::NONE) => Press::Typed('x'),
        (Code::Left, Mods::NONE) => Press::Typed('h'),
        (Code::Right, Mods::NONE) => Press::Typed('l'),
        (Code::Up, Mods::NONE) => Press::Typed('k'),
        (Code::Down, Mods::NONE) => Press::Typed('j'),
        (Code::Home, Mods::NONE) => Press::Typed('0'),
        (Code::End, Mods::NONE) => Press::Typed('$'),
        _ => match key.typed() {
            Some(c) => Press::Typed(c),
            None => {
                vi.forget();
                return Took::No;
            }
        },
    };
    if draft.is_empty() && !vi.waits() {
        match press {
            // the list of keys, as everywhere in an empty draft
            Press::Typed('?') => return Took::No,
            // what begins a command
            Press::Typed('/' | '!' | '@') => {
                let text = read(draft, &mut vi.names);
                vi.go_on_writing(&text);
                return Took::No;
            }
            _ => {}
        }
    }
    let old = read(draft, &mut vi.names);
    let mut text = old.clone();
    let took = vi.press(&mut text, press);
    write(draft, &vi.names, &old, &text);
    match took {
        vi::Took::Above => Took::Does(Action::Up),
        vi::Took::Below => Took::Does(Action::Down),
        vi::Took::Done => Took::Done,
        vi::Took::No => {
            vi.forget();
            if press == Press::Break { Took::Done } else { Took::No }
        }
    }
}

/// Before something happens to the draft: what was there can be taken back. `types`: a character is typed.
pub(super) fn before(state: &mut State, types: bool) {
    let Some(vi) = &mut state.vi else { return };
    if types && vi.mode() != Mode::Insert {
        let text = read(&state.draft, &mut vi.names);
        vi.go_on_writing(&text);
    } else if !vi.begun() {
        let text = read(&state.draft, &mut vi.names);
        vi.begin_step(&text);
    }
}

/// Something happened to the draft.
pub(super) fn after(state: &mut State) {
    let Some(vi) = &mut state.vi else { return };
    if vi.mode() == Mode::Insert {
        return;
    }
    let old = read(&state.draft, &mut vi.names);
    vi.end_step(&old);
    let mut text = old.clone();
    text.settle();
    write(&mut state.draft, &vi.names, &old, &text);
}

/// Takes a step back, or does it again.
pub(super) fn step(state: &mut State, action: Action) {
    let Some(vi) = &mut state.vi else { return };
    let old = read(&state.draft, &mut vi.names);
    let mut text = old.clone();
    match action {
        Action::Redo => vi.bring_back(&mut text),
        _ => vi.take_back(&mut text),
    }
    write(&mut state.draft, &vi.names, &old, &text);
}

/// What is selected, in lines and characters: from a place to before another.
pub(super) fn selected(state: &mut State) -> Option<(Pos, Pos)> {
    let vi = state.vi.as_mut().filter(|vi| matches!(vi.mode(), Mode::Visual { .. }))?;
    let text = read(&state.draft, &mut vi.names);
    let (from, to) = vi.selected(&text)?;
    Some((in_chars(&vi.names, &text, from), in_chars(&vi.names, &text, to)))
}

/// The draft as vi sees it.
fn read(draft: &Draft, names: &mut Names) -> Text {
    let ranges = draft.area.atomic_ranges();
    let mut next = 0;
    let lines = draft.area.lines().iter().enumerate().map(|(row, line)| {
        if ranges.get(next).is_none_or(|range| range.row != row) {
            return line.chars().map(Unit::One).collect();
        }
        let chars: Vec<char> = line.chars().collect();
        let mut units = Vec::with_capacity(chars.len());
        let mut at = 0;
        while at < chars.len() {
            while ranges.get(next).is_some_and(|range| range.row == row && range.start_col < at) {
                next += 1;
            }
            match ranges.get(next).filter(|range| (range.row, range.start_col) == (row, at)) {
                Some(range) if range.end_col > at => {
                    let end = range.end_col.min(chars.len());
                    units.push(names.unit(&chars[at..end].iter().collect::<String>()));
                    at = end;
                }
                _ => {
                    units.push(Unit::One(chars[at]));
                    at += 1;
                }
            }
        }
        while ranges.get(next).is_some_and(|range| range.row == row) {
            next += 1;
        }
        units
    });
    let lines: Vec<Vec<Unit>> = lines.collect();
    let (row, column) = draft.area.cursor();
    let mut text = Text { lines, at: (row, 0) };
    let mut chars = 0;
    while chars < column && text.at.1 < text.len(row) {
        chars += names.chars(&text.lines[row][text.at.1..=text.at.1]);
        text.at.1 += 1;
    }
    text
}

fn in_chars(names: &Names, text: &Text, at: Pos) -> Pos {
    (at.0, names.chars(&text.lines[at.0][..at.1.min(text.len(at.0))]))
}

/// Lets the draft be what vi made of it: only lines that are others are touched, so that the view stays.
fn write(draft: &mut Draft, names: &Names, old: &Text, new: &Text) {
    let cursor = in_chars(names, new, new.at);
    let (a, b) = (&old.lines, &new.lines);
    let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let most = a.len().min(b.len()) - front;
    let back = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let (gone, come) = (front..a.len() - back, front..b.len() - back);
    let said: Vec<String> = b[come].iter().map(|line| names.say(line)).collect();
    draft.edit(|area| {
        if !gone.is_empty() || !said.is_empty() {
            let mut lines = area.lines().to_vec();
            lines.splice(gone.clone(), said.iter().cloned());
            // a unit that is made of parts may be cut in none of them
            area.clear_atomic_ranges();
            area.cancel_selection();
            put(area, gone, &said);
            if area.lines() != lines {
                area.set_lines(lines, cursor);
            }
        }
        jump(area, cursor);
    });
}

fn put(area: &mut TextArea<'static>, gone: std::ops::Range<usize>, said: &[String]) {
    let (all, text) = (area.lines().len(), said.join("\n"));
    let end = |row: usize| (row, area.lines().get(row).map_or(0, |line| line.chars().count()));
    let (from, to, text) = match (gone.is_empty(), said.is_empty()) {
        (true, _) if gone.start < all => ((gone.start, 0), (gone.start, 0), format!("{text}\n")),
        (true, _) => (end(gone.start - 1), end(gone.start - 1), format!("\n{text}")),
        (false, true) if gone.end < all => ((gone.start, 0), (gone.end, 0), text),
        (false, true) => (end(gone.start.saturating_sub(1)), end(gone.end - 1), text),
        (false, false) => ((gone.start, 0), end(gone.end - 1), text),
    };
    jump(area, from);
    if from != to {
        area.start_selection();
        jump(area, to);
        if text.is_empty() {
            area.delete_char();
        }
    }
    if !text.is_empty() {
        area.insert_str(&text);
    }
}

fn jump(area: &mut TextArea<'static>, (row, column): Pos) {
    match (u16::try_from(row), u16::try_from(column)) {
        (Ok(row), Ok(column)) => area.move_cursor(CursorMove::Jump(row, column)),
        _ => area.set_lines(area.lines().to_vec(), (row, column)),
    }
}

#[cfg(test)]
#[path = "vi_tests.rs"]
mod tests;
