//! A page to read: help, what fills the window. Help is searched by typing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::list::{framed, place};
use crate::api::account::Share;
use crate::ui::theme::Theme;
use crate::ui::widget::row::{Role, put};
use crate::ui::widget::text::{ellipsis, tame, width};
use crate::ui::widget::wrap::{Break, Prefix, Wrapper};

/// Columns of a page, its frame counted.
const WIDE: u16 = 96;
/// Columns of a full bar.
const BAR: usize = 20;
/// Columns of the numbers of a bar.
const NUMBERS: usize = 16;
/// Columns of a cell, and least columns of a row's name.
const CELL: usize = 9;
const NAME: usize = 14;

/// One line of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A heading.
    Head(String),
    /// A key (or a name) and what it does.
    Pair(String, String),
    /// Plain words.
    Text(String),
    /// A part of a whole: its name, its size, the whole, a word on it.
    Bar {
        /// The part's name.
        name: String,
        /// Its size.
        part: u64,
        /// The whole's size.
        of: u64,
        /// A word on it.
        note: String,
        /// What it is of.
        share: Share,
    },
    /// A row of a table: its name, and cells of which those at the end stay where there is little room.
    Cells {
        /// Its name.
        name: String,
        /// Its cells.
        cells: Vec<String>,
        /// Whether it says what the cells below are.
        head: bool,
    },
}

/// The page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its title.
    pub title: String,
    lines: Vec<Line>,
    /// What was typed to search it; none: it is not searched.
    typed: Option<String>,
    /// The lines that match.
    shown: Vec<usize>,
    top: usize,
    room: usize,
    /// Rows of all that is shown, as last drawn.
    rows: usize,
}

/// One row of the page: nothing of a line is cut that can stand on several.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Drawn<'a> {
    /// A bar.
    Bar(&'a Line),
    /// A part of a heading.
    Head(String),
    /// A part of plain words.
    Text(String),
    /// A part of the word on the bar above, which had no room beside it.
    Note(String),
    /// A part of a key and of what it does.
    Pair(String, String),
}

/// The parts of a text that fit in so many columns.
fn parts(text: &str, wide: usize) -> Vec<String> {
    let mut rows = Wrapper::new(wide);
    rows.line(&Prefix::default(), &[(tame(text).into_owned(), Role::Text.into())], Break::Words);
    rows.rows().into_iter().map(|row| row.text.trim_end().to_owned()).collect()
}

impl State {
    /// A page of lines.
    pub fn new(title: &str, lines: Vec<Line>) -> Self {
        let shown = (0..lines.len()).collect();
        Self { title: title.to_owned(), lines, typed: None, shown, top: 0, room: 1, rows: usize::MAX }
    }
    /// Its lines as plain text, the title first.
    pub fn plain(&self) -> Vec<String> {
        let line = |line: &Line| match line {
            Line::Head(text) | Line::Text(text) => tame(text).into_owned(),
            Line::Pair(key, says) => format!("{}: {}", tame(key), tame(says)),
            Line::Cells { name, cells, .. } => format!("{}: {}", tame(name), cells.join(", ")),
            Line::Bar { name, part, of, note, .. } => {
                let note = if note.is_empty() { String::new() } else { format!(", {}", tame(note)) };
                format!("{}: {part} of {of}{note}", tame(name))
            }
        };
        std::iter::once(format!("{}:", self.title))
            .chain(self.lines.iter().map(line).filter(|text| !text.is_empty()))
            .collect()
    }
    /// The same page, searched by typing.
    pub fn searched(self) -> Self {
        Self { typed: Some(String::new()), ..self }
    }
    /// Whether typing searches it.
    pub fn searches(&self) -> bool {
        self.typed.is_some()
    }
    /// What was typed.
    pub fn typed(&self) -> &str {
        self.typed.as_deref().unwrap_or_default()
    }
    /// A typed character narrows the page, if it is searched.
    pub fn type_char(&mut self, c: char) {
        if let Some(typed) = &mut self.typed {
            typed.push(c);
            self.narrow();
        }
    }
    /// The last typed character, or all of them, go.
    pub fn untype(&mut self, all: bool) {
        if let Some(typed) = &mut self.typed {
            if all {
                typed.clear();
            } else {
                typed.pop();
            }
            self.narrow();
        }
    }
    fn narrow(&mut self) {
        let typed = self.typed().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let hits = |text: &str| {
            // `ctrl-p` finds `^P`, too
            let (text, long) = (text.to_lowercase(), text.to_lowercase().replace('^', "ctrl-"));
            words.iter().all(|word| text.contains(word) || long.contains(word))
        };
        self.top = 0;
        if words.is_empty() {
            self.shown = (0..self.lines.len()).collect();
            return;
        }
        let mut head = None;
        self.shown.clear();
        for (at, line) in self.lines.iter().enumerate() {
            let hit = match line {
                Line::Head(_) => {
                    head = Some(at);
                    false
                }
                Line::Pair(key, says) => hits(&format!("{key} {says}")),
                Line::Text(text) => !text.is_empty() && hits(text),
                Line::Bar { name, note, .. } => hits(&format!("{name} {note}")),
                Line::Cells { name, .. } => hits(name),
            };
            if hit {
                self.shown.extend(head.take());
                self.shown.push(at);
            }
        }
    }
    /// Scrolls by rows.
    pub fn scroll(&mut self, by: i32) {
        let last = self.rows.saturating_sub(self.room);
        self.top = self.top.saturating_add_signed(by as isize).min(last);
    }
    /// Scrolls by pages.
    pub fn scroll_page(&mut self, by: i32) {
        self.scroll(by * (self.room as i32 - 1).max(1));
    }
    /// Columns of the keys or names.
    fn column(&self, wide: usize) -> usize {
        let longest = self.lines.iter().map(|line| match line {
            Line::Pair(key, _) | Line::Bar { name: key, .. } => width(key),
            Line::Head(_) | Line::Text(_) | Line::Cells { .. } => 0,
        });
        longest.max().unwrap_or(0).min(wide / 3) + 2
    }
    /// What is shown, as rows.
    fn drawn(&self, column: usize, wide: usize) -> Vec<Drawn<'_>> {
        let mut out = Vec::new();
        for index in &self.shown {
            match &self.lines[*index] {
                line @ (Line::Bar { .. } | Line::Cells { .. }) => {
                    out.push(Drawn::Bar(line));
                    if let Line::Bar { note, .. } = line
                        && width(&tame(note)) > wide.saturating_sub(bar_places(column, wide).1)
                    {
                        let rows = parts(note, wide.saturating_sub(2)).into_iter();
                        out.extend(rows.map(|row| Drawn::Note(format!("  {row}"))));
                    }
                }
                Line::Head(text) => out.extend(parts(text, wide).into_iter().map(Drawn::Head)),
                Line::Text(text) => out.extend(parts(text, wide).into_iter().map(Drawn::Text)),
                Line::Pair(key, says) => {
                    let mut keys = parts(key, column - 1).into_iter();
                    let mut says = parts(says, wide.saturating_sub(column)).into_iter();
                    loop {
                        match (keys.next(), says.next()) {
                            (None, None) => break,
                            (key, says) => {
                                out.push(Drawn::Pair(key.unwrap_or_default(), says.unwrap_or_default()));
                            }
                        }
                    }
                }
            }
        }
        out
    }
}

/// Draws the page.
pub fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let extra = 3 + u16::from(state.searches());
    let wide = usize::from(area.width.min(WIDE).saturating_sub(4)).max(1);
    // a page that is searched keeps its height while it is narrowed
    let lines =
        if state.searches() { state.lines.len() } else { state.drawn(state.column(wide), wide).len() };
    let rect = place(area, (WIDE, (lines.min(1000) as u16) + extra));
    let mut inner = framed(rect, &state.title, buf, theme);
    if inner.is_empty() {
        return;
    }
    let wide = usize::from(inner.width);
    if state.searches() && inner.height > 2 {
        let (text, style) = match state.typed() {
            "" => ("› type to search".to_owned(), theme.dim),
            typed => (format!("› {}", tame(typed)), theme.user),
        };
        put(buf, inner.x, inner.y, &ellipsis(&text, wide), wide, style);
        inner = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
    }
    let foot = u16::from(inner.height > 2);
    state.room = usize::from(inner.height - foot);
    let column = state.column(wide);
    let rows = state.drawn(column, wide);
    let (all, top) = (rows.len(), state.top.min(rows.len().saturating_sub(state.room)));
    for (at, row) in rows.iter().skip(top).take(state.room).enumerate() {
        let place = Rect { y: inner.y + at as u16, height: 1, ..inner };
        draw_row(row, column, place, buf, theme);
    }
    (state.rows, state.top) = (all, top);
    if state.shown.is_empty() {
        put(buf, inner.x, inner.y, &ellipsis("nothing matches · Backspace widens it", wide), wide, theme.dim);
    }
    if foot == 1 {
        let below = state.rows.saturating_sub(state.top + state.room);
        let text = match below {
            0 => "Esc closes".to_owned(),
            1 => "1 more line below · PageDown · Esc closes".to_owned(),
            _ => format!("{below} more lines below · PageDown · Esc closes"),
        };
        put(buf, inner.x, inner.bottom() - 1, &ellipsis(&text, wide), wide, theme.dim);
    }
}

/// How long a full bar is, and where the word on it begins, when the names take `column`.
fn bar_places(column: usize, wide: usize) -> (usize, usize) {
    let bar = if wide >= column + 22 + BAR { BAR } else { 0 };
    (bar, column + bar + usize::from(bar > 0) + NUMBERS)
}

fn draw_row(row: &Drawn<'_>, column: usize, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let wide = usize::from(area.width);
    let mut at = |from: usize, text: &str, room: usize, style| {
        if from < wide {
            let room = room.min(wide - from);
            put(buf, area.x + from as u16, area.y, &ellipsis(&tame(text), room), room, style);
        }
    };
    match row {
        Drawn::Text(text) | Drawn::Bar(Line::Text(text)) => at(0, text, wide, theme.text),
        Drawn::Note(text) => at(0, text, wide, theme.dim),
        Drawn::Head(text) | Drawn::Bar(Line::Head(text)) => at(0, text, wide, theme.heading),
        Drawn::Pair(key, says) | Drawn::Bar(Line::Pair(key, says)) => {
            at(0, key, column - 1, theme.key);
            at(column, says, wide, theme.text);
        }
        Drawn::Bar(Line::Cells { name, cells, head }) => {
            let shown = cells.len().min(wide.saturating_sub(NAME) / CELL);
            let left = wide - shown * CELL;
            let style = if *head { theme.heading } else { theme.text };
            at(0, name, left - 1, style);
            for (place, cell) in cells[cells.len() - shown..].iter().enumerate() {
                at(
                    left + place * CELL,
                    &format!("{cell:>CELL$}"),
                    CELL,
                    if *head { theme.dim } else { theme.text },
                );
            }
        }
        Drawn::Bar(Line::Bar { name, part, of, note, share: whose }) => {
            at(0, name, column - 1, theme.key);
            let (bar, beside) = bar_places(column, wide);
            at(column, &filled(*part, *of, bar), bar, ink(*whose, theme));
            let numbers = format!("{part:>8}  {:>4}", share(*part, *of));
            at(beside - NUMBERS, &numbers, NUMBERS, theme.text);
            if width(&tame(note)) <= wide.saturating_sub(beside) {
                at(beside, note, wide, theme.dim);
            }
        }
    }
}

/// The colour of a part of the window.
fn ink(share: Share, theme: &Theme) -> Style {
    match share {
        Share::Instructions => theme.heading,
        Share::Tools => theme.tool,
        Share::Summary => theme.quote,
        Share::Person => theme.user,
        Share::Model => theme.accent,
        Share::Results => theme.ok,
        Share::Rest => theme.dim,
    }
}

/// A bar in eighths of a column; what is more than nothing shows.
fn filled(part: u64, of: u64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let whole = (columns as u128) * 8;
    let eighths = (u128::from(part) * whole).checked_div(u128::from(of)).unwrap_or(0).min(whole) as usize;
    let eighths = eighths.max(usize::from(part > 0 && columns > 0));
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// A share in percent, rounded; a small one is not nothing.
fn share(part: u64, of: u64) -> String {
    match (u128::from(part) * 200 + u128::from(of)).checked_div(u128::from(of) * 2) {
        None => "?".to_owned(),
        Some(0) if part > 0 => "<1%".to_owned(),
        Some(percent) => format!("{percent}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(filled(1, 2, 4), "██");
        assert_eq!(filled(3, 16, 4), "▊");
        assert_eq!(filled(9, 3, 4), "████", "never longer than the whole");
        assert_eq!(filled(1, 1_000_000, 4), "▏");
        assert_eq!(filled(1, 0, 4), "▏");
        assert_eq!(filled(0, 9, 4), "");
        assert_eq!(filled(u64::MAX, u64::MAX, 2), "██");
        assert_eq!((share(1, 3), share(1, 1000), share(0, 3)), ("33%".into(), "<1%".into(), "0%".into()));
        assert_eq!(share(u64::MAX, u64::MAX), "100%");
        assert_eq!(share(1, 0), "?");
    }

    #[test]
    fn a_search_keeps_the_headings_of_what_it_finds() {
        let pair = |key: &str, says: &str| Line::Pair(key.into(), says.into());
        let lines = vec![
            Line::Head("A".into()),
            pair("esc", "End what runs"),
            pair("x", "Cut"),
            Line::Head("B".into()),
            pair("y", "Copy"),
        ];
        let mut page = State::new("Keys", lines).searched();
        "what END".chars().for_each(|c| page.type_char(c));
        assert_eq!(page.shown, [0, 1]);
        page.untype(true);
        assert_eq!(page.shown, [0, 1, 2, 3, 4]);
        "copy".chars().for_each(|c| page.type_char(c));
        assert_eq!(page.shown, [3, 4]);
        page.type_char('q');
        assert!(page.shown.is_empty());
    }

    #[test]
    fn no_line_of_the_help_is_cut() {
        let keymap = crate::ui::keymap::Keymap::default();
        let words = |text: &str| text.split_whitespace().collect::<String>();
        for wide in [36, 46, 76, 92, 116] {
            for (layer, ..) in crate::ui::action::LAYERS {
                let page = super::super::catalog::help(&keymap, *layer);
                let column = page.column(wide);
                let (mut keys, mut says) = (String::new(), String::new());
                for row in page.drawn(column, wide) {
                    match row {
                        Drawn::Pair(key, does) => {
                            assert!(width(&key) < column && column + width(&does) <= wide, "{key} {does}");
                            keys += &words(&key);
                            says += &words(&does);
                        }
                        Drawn::Head(text) | Drawn::Text(text) => assert!(width(&text) <= wide, "{text}"),
                        other @ (Drawn::Bar(_) | Drawn::Note(_)) => panic!("{other:?}"),
                    }
                }
                for line in &page.lines {
                    if let Line::Pair(key, does) = line {
                        assert!(keys.contains(&words(key)), "{key} at {wide}");
                        assert!(says.contains(&words(does)), "{does} at {wide}");
                    }
                }
            }
        }
    }
}
