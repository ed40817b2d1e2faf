//! The raw view: plain text without frames, gutters and wraps of ours, and without mouse reports, so that the
//! terminal's own selection works and joins what the terminal itself wrapped.
//!
//! It is written past the buffer: cells of a grid know no wraps. Pure; what it shows is what was there when it was
//! opened.

use crate::ui::input::{Code, Key};
use crate::ui::widget::text::{cluster_width, clusters, ellipsis, tame};

/// The text, and where one is in it.
#[derive(Debug)]
pub struct State {
    lines: Vec<String>,
    /// The line at the top, and which of its rows.
    top: (usize, usize),
    /// What was written last: size and place.
    written: Option<((u16, u16), (usize, usize))>,
}

impl State {
    /// These lines, with one of them at the top.
    pub fn new(text: &str, top: usize) -> Self {
        let lines: Vec<String> = text.lines().map(|line| tame(line).into_owned()).collect();
        let top = (top.min(lines.len().saturating_sub(1)), 0);
        Self { lines, top, written: None }
    }
    /// The next page is written anew, whatever was.
    pub fn forget(&mut self) {
        self.written = None;
    }
    /// Moves by a key; whether it is one that moves. Every other one goes back.
    pub fn key(&mut self, key: Key, (columns, rows): (u16, u16)) -> bool {
        let page = i64::from(rows.saturating_sub(2).max(1));
        let by = match key.code {
            Code::Up | Code::Char('k') => -1,
            Code::Down | Code::Char('j') => 1,
            Code::PageUp | Code::Char('b') => -page,
            Code::PageDown | Code::Char(' ') => page,
            Code::Home | Code::Char('g') => i64::MIN,
            Code::End | Code::Char('G') => i64::MAX,
            _ => return false,
        };
        self.scroll(by, usize::from(columns.max(1)), usize::from(rows.saturating_sub(1).max(1)));
        true
    }
    fn rows(&self, line: usize, columns: usize) -> usize {
        self.lines.get(line).map_or(1, |line| starts(line, columns).len())
    }
    fn scroll(&mut self, by: i64, columns: usize, room: usize) {
        let last = self.back((self.lines.len(), 0), room, columns);
        self.top = match by {
            i64::MIN => (0, 0),
            i64::MAX => last,
            _ if by < 0 => self.back(self.top, by.unsigned_abs() as usize, columns),
            _ => self.on(self.top, by as usize, columns),
        };
        self.top = self.top.min(last);
    }
    fn back(&self, (mut line, mut row): (usize, usize), rows: usize, columns: usize) -> (usize, usize) {
        for _ in 0..rows {
            match (row.checked_sub(1), line.checked_sub(1)) {
                (Some(before), _) => row = before,
                (None, Some(before)) => (line, row) = (before, self.rows(before, columns) - 1),
                (None, None) => break,
            }
        }
        (line, row)
    }
    fn on(&self, (mut line, mut row): (usize, usize), rows: usize, columns: usize) -> (usize, usize) {
        for _ in 0..rows {
            if row + 1 < self.rows(line, columns) {
                row += 1;
            } else if line + 1 < self.lines.len() {
                (line, row) = (line + 1, 0);
            }
        }
        (line, row)
    }
    /// The bytes that show it; none: it is shown already. `words` stand in the last row.
    pub fn page(&mut self, size: (u16, u16), words: &str) -> Option<Vec<u8>> {
        let state = (size, self.top);
        if self.written == Some(state) {
            return None;
        }
        self.written = Some(state);
        let (columns, height) = (usize::from(size.0.max(1)), size.1.max(1));
        let mut out = String::from("\x1b[?2026h\x1b[?25l\x1b[m\x1b[H\x1b[2J");
        let mut room = usize::from(height - 1);
        let (mut line, mut row) = self.top;
        while room > 0 && line < self.lines.len() {
            let text = &self.lines[line];
            let starts = starts(text, columns);
            let at = |row: usize| starts.get(row).copied().unwrap_or(text.len());
            let shown = (starts.len() - row.min(starts.len() - 1)).min(room);
            // the terminal wraps it: its selection then knows that it is one line
            out.push_str(&text[at(row)..at(row + shown)]);
            room -= shown;
            (line, row) = (line + 1, 0);
            if room > 0 {
                out.push_str("\r\n");
            }
        }
        let words = ellipsis(words, columns.saturating_sub(1));
        out.push_str(&format!("\x1b[{height};1H\x1b[7m{words}\x1b[m\x1b[?2026l"));
        Some(out.into_bytes())
    }
}

/// Where each row of a line begins, as a terminal wraps it.
fn starts(line: &str, columns: usize) -> Vec<usize> {
    let (mut out, mut used, mut at) = (vec![0], 0, 0);
    for cluster in clusters(line) {
        let wide = cluster_width(cluster);
        if used + wide > columns && used > 0 {
            out.push(at);
            used = 0;
        }
        used += wide;
        at += cluster.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(state: &mut State, size: (u16, u16)) -> vt100::Parser {
        let at_least = |count: u16| std::num::NonZero::new(count).unwrap_or(std::num::NonZero::<u16>::MIN);
        let mut parser = vt100::Parser::new(at_least(size.1), at_least(size.0), 0);
        state.forget();
        parser.process(&state.page(size, "raw: a key goes back").unwrap_or_default());
        parser
    }

    #[test]
    fn lines_are_wrapped_by_the_terminal_and_nothing_stands_beside_them() {
        let long = "word 日本 ".repeat(9);
        let mut state = State::new(&format!("first\n{long}\n\nlast"), 0);
        let parser = shown(&mut state, (20, 12));
        let screen = parser.screen();
        let rows: Vec<String> = screen.rows(0, 20).collect();
        assert_eq!(rows[0], "first");
        assert!(!screen.row_wrapped(0) && screen.row_wrapped(1));
        let wrapped: Vec<usize> = (0..11).filter(|row| screen.row_wrapped(*row)).map(usize::from).collect();
        let last = wrapped.last().copied().unwrap_or_default();
        assert_eq!(rows[1..=last + 1].concat().replace(' ', ""), long.replace(' ', ""));
        assert_eq!(rows[last + 3], "last");
        assert!(rows[11].starts_with("raw: a key goes"));
        assert_eq!(state.page((20, 12), ""), None, "nothing changed, nothing is written");
    }

    #[test]
    fn it_is_moved_in_to_its_end_and_back_at_every_size() {
        let text: String = (0..50).map(|n| format!("line {n} {}\n", "x".repeat(n))).collect();
        for size in [(1, 1), (1, 9), (7, 2), (20, 5), (200, 60)] {
            let mut state = State::new(&text, 10);
            let key = |code| Key::plain(code);
            for code in
                [Code::End, Code::PageUp, Code::Up, Code::Down, Code::PageDown, Code::Home, Code::Down]
            {
                assert!(state.key(key(code), size));
                shown(&mut state, size);
            }
            state.key(key(Code::End), size);
            if size.1 > 2 {
                let rows: Vec<String> = shown(&mut state, size).screen().rows(0, size.0).collect();
                let end = rows[..rows.len() - 1].iter().rev().find(|row| !row.is_empty());
                assert!(end.is_some_and(|row| row.ends_with('x')), "{size:?} {rows:?}");
            }
            assert!(!state.key(key(Code::Escape), size));
        }
    }
}
