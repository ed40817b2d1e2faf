//! A list to choose from: palette, pickers, questions. Typing narrows it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear, Widget as _};

use crate::api::access::Mode;
use crate::api::message::Thinking;
use crate::base::{JobId, SessionId};
use crate::law::merge::resolution::Choice;
use crate::ui::action::Action;
use crate::ui::msg::Exit;
use crate::ui::pane::tree::Target;
use crate::ui::theme::Theme;
use crate::ui::widget::fuzzy;
use crate::ui::widget::row;
use crate::ui::widget::row::Put as _;
use crate::ui::widget::text::{ellipsis, tame, width};
use crate::ui::widget::wrap::{Break, Prefix, Wrapper};

/// Columns of a list, its frame counted: what it has where there is room, and at most.
const COLUMNS: (u16, u16) = (90, 140);

/// Which list it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Every command.
    Palette,
    /// Models.
    Models,
    /// Levels of thinking.
    Thinking,
    /// Sessions, of this directory or of all.
    Sessions {
        /// Of all directories.
        all: bool,
    },
    /// Themes; the one that was on before.
    Themes {
        /// Its index.
        before: usize,
    },
    /// Earlier prompts.
    History {
        /// Of all directories.
        all: bool,
    },
    /// The first run.
    Welcome,
    /// Whether a directory is trusted.
    Trust,
    /// Whether to leave.
    Quit,
    /// Signals for a job.
    Signals,
    /// Whether a rewind is meant.
    Rewind,
    /// Whether a merge is written while hunks are open.
    WriteOpen,
    /// What is copied of an item.
    Take,
    /// A card of the tour.
    Tour,
}

/// What the session is left for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// This.
    Exit(Exit),
    /// A fork there, which is made then.
    Fork(Target),
}

/// What becomes of the jobs of a session that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jobs {
    /// Those that are not kept end.
    End,
    /// Every one goes on.
    GoOn,
    /// Every one ends, those that are kept too.
    EndAll,
}

/// What a row stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Do an action.
    Do(Action),
    /// Turn to where an action is done, and say its key.
    There(Action),
    /// Do a `/` command.
    Slash(&'static str),
    /// Put this before the cursor.
    Write(String),
    /// Take this model.
    Model(String),
    /// Open this session.
    Session(SessionId),
    /// Take the theme of this index.
    Theme(usize),
    /// Take this prompt.
    Prompt(String),
    /// Type a key for this provider.
    Key(&'static str),
    /// Change the mode.
    Mode(Mode),
    /// Start the rehearsal.
    Rehearsal,
    /// Trust the directory or not.
    Trust(bool),
    /// Let the model think so much.
    Thinking(Thinking),
    /// Leave the session, with its jobs as it says.
    Leave(Goal, Jobs),
    /// Send a job this signal.
    Signal(JobId, i32),
    /// Go back there; whether the files are put back.
    Rewind(Target, bool),
    /// Write the merge; hunks that are open get this.
    WriteOpen(Choice),
    /// Copy this.
    Copy(String),
    /// Show this card of the tour, from 0.
    Tour(usize),
    /// Only close the list.
    Close,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What is chosen.
    pub text: String,
    /// A word on it.
    pub note: String,
    /// What it stands for.
    pub pick: Pick,
    /// Whether it can be taken; else `note` says what is missing.
    pub usable: bool,
}

impl Row {
    /// A row that can be taken.
    pub fn new(text: impl Into<String>, note: impl Into<String>, pick: Pick) -> Self {
        Self { text: text.into(), note: note.into(), pick, usable: true }
    }
}

/// The list.
#[derive(Clone, Debug)]
pub struct State {
    /// Which it is.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// Words above the rows.
    pub intro: Vec<String>,
    /// Keys, in words, for the last line.
    pub hint: String,
    rows: Vec<Row>,
    typed: String,
    shown: Vec<usize>,
    at: usize,
    page: usize,
    /// The first row of the words above that is drawn, and how many are, where not all of them have room.
    above: usize,
    above_page: Option<usize>,
    /// Whether the rows are still being fetched.
    pub waits: bool,
}

impl State {
    /// A list of rows.
    pub fn new(kind: Kind, title: &str, rows: Vec<Row>) -> Self {
        let mut state = Self {
            kind,
            title: title.to_owned(),
            intro: Vec::new(),
            hint: "Enter takes it · Esc closes".to_owned(),
            rows: Vec::new(),
            typed: String::new(),
            shown: Vec::new(),
            at: 0,
            page: 5,
            above: 0,
            above_page: None,
            waits: false,
        };
        state.set_rows(rows);
        state
    }
    /// Replaces the rows; what was typed stays.
    pub fn set_rows(&mut self, rows: Vec<Row>) {
        self.rows = rows;
        self.waits = false;
        self.narrow();
    }
    /// Puts rows in at a place; the mark stays on its row.
    pub fn insert_rows(&mut self, at: usize, rows: Vec<Row>) {
        let at = at.min(self.rows.len());
        let marked = self.shown.get(self.at).map(|i| if *i < at { *i } else { i + rows.len() });
        self.rows.splice(at..at, rows);
        self.narrow();
        self.at = self.shown.iter().position(|i| Some(*i) == marked).unwrap_or(0);
    }
    fn narrow(&mut self) {
        let texts: Vec<String> = self.rows.iter().map(|r| format!("{} {}", r.text, r.note)).collect();
        self.shown = fuzzy::rank(&self.typed, texts.iter().map(String::as_str), false, usize::MAX);
        self.at = 0;
    }
    /// A typed character narrows the list.
    pub fn type_char(&mut self, c: char) {
        self.typed.push(c);
        self.narrow();
    }
    /// The last typed character goes.
    pub fn untype(&mut self, all: bool) {
        if all {
            self.typed.clear();
        } else {
            self.typed.pop();
        }
        self.narrow();
    }
    /// Moves the mark; it goes round at the ends when by one.
    pub fn step(&mut self, by: i32) {
        let len = self.shown.len() as i32;
        if len == 0 {
            return;
        }
        let next = self.at as i32 + by;
        self.at = if by.abs() == 1 { next.rem_euclid(len) } else { next.clamp(0, len - 1) } as usize;
    }
    /// Moves the mark by pages; where words above have no room, moves in these.
    pub fn step_page(&mut self, by: i32) {
        match self.above_page {
            Some(page) => self.above = self.above.saturating_add_signed(by as isize * page.max(1) as isize),
            None => self.step(by * (self.page.max(2) as i32)),
        }
    }
    /// Marks the row of this pick.
    pub fn mark(&mut self, pick: &Pick) {
        self.at = self.shown.iter().position(|i| self.rows[*i].pick == *pick).unwrap_or(self.at);
    }
    /// The marked row.
    pub fn marked(&self) -> Option<&Row> {
        self.shown.get(self.at).and_then(|i| self.rows.get(*i))
    }
    /// The rows that are shown, in order.
    pub fn rows_shown(&self) -> Vec<Row> {
        self.shown.iter().filter_map(|at| self.rows.get(*at)).cloned().collect()
    }
    /// What its rows stand for.
    #[cfg(test)]
    pub fn picks(&self) -> impl Iterator<Item = &Pick> {
        self.rows.iter().map(|row| &row.pick)
    }
    /// Whether nothing was typed into it.
    pub fn untyped(&self) -> bool {
        self.typed.is_empty()
    }
    /// Why it has no rows, and what to do about it.
    fn empty(&self) -> String {
        let why = match self.kind {
            _ if self.waits => "looking…",
            _ if !self.typed.is_empty() => {
                return format!("nothing has “{}” · Backspace widens it", tame(&self.typed));
            }
            Kind::Sessions { all: true } => "no session is kept yet · each one that you begin is",
            Kind::Sessions { all: false } => "no session here yet · ^A looks in all directories",
            Kind::History { all: false } => {
                "nothing was sent from this directory yet · ^A looks in all directories"
            }
            Kind::History { all: true } => "nothing was sent yet · what you send stands here",
            Kind::Models => "no model is known · /key stores a key or finds a server",
            Kind::Take => "nothing of it can be copied",
            Kind::Palette
            | Kind::Thinking
            | Kind::Themes { .. }
            | Kind::Welcome
            | Kind::Trust
            | Kind::Quit => "nothing",
            Kind::Signals | Kind::Rewind | Kind::WriteOpen | Kind::Tour => "nothing",
        };
        why.to_owned()
    }
    /// Whether it asks something: its rows are few, and typing does not narrow them.
    pub fn asks(&self) -> bool {
        matches!(
            self.kind,
            Kind::Trust | Kind::Quit | Kind::Welcome | Kind::Rewind | Kind::WriteOpen | Kind::Tour
        )
    }
    /// How many columns it wants, its frame counted: what every row and its note take, but for what is long.
    fn columns(&self) -> u16 {
        let longest = |of: &dyn Fn(&Row) -> usize| self.rows.iter().map(of).max().unwrap_or(0);
        let wants = longest(&|row| width(&tame(&row.text))) + longest(&|row| width(&tame(&row.note))) + 8;
        (wants.min(usize::from(COLUMNS.1)) as u16).max(COLUMNS.0)
    }
    /// How many rows it wants, its frame counted, when `intro` rows stand above.
    fn height(&self, intro: usize) -> u16 {
        (self.rows.len().max(1) + intro + 4).min(200) as u16
    }
}

/// A box for an overlay: in the middle, as large as it wants and can be.
pub fn place(area: Rect, wants: (u16, u16)) -> Rect {
    let width = wants.0.min(area.width);
    let height = wants.1.min(area.height);
    Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 3, width, height)
}

/// Draws a frame with a title if there is room for one; what is inside.
pub fn framed(rect: Rect, title: &str, buf: &mut Buffer, theme: &Theme) -> Rect {
    Clear.render(rect, buf);
    buf.set_style(rect, theme.text);
    if rect.width < 4 || rect.height < 4 {
        return rect;
    }
    let title = ellipsis(title, usize::from(rect.width).saturating_sub(4));
    let block = Block::bordered()
        .border_style(theme.border_focus)
        .title(format!(" {title} "))
        .title_style(theme.heading);
    let inner = block.inner(rect);
    block.render(rect, buf);
    Rect { x: inner.x + 1, width: inner.width.saturating_sub(2).max(1), ..inner }
}

/// Draws the list.
pub fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let columns = area.width.min(state.columns());
    let above = intro(state, usize::from(columns.saturating_sub(4)).max(1)).len();
    let rect = place(area, (columns, state.height(above)));
    let inner = framed(rect, &state.title, buf, theme);
    if inner.is_empty() {
        return;
    }
    let wide = usize::from(inner.width);
    let mut y = inner.y;
    let spare = |y: u16| inner.bottom().saturating_sub(y);
    // the rows come first where there is little room
    let keep = (state.shown.len() as u16).clamp(1, 6);
    let room = spare(y).saturating_sub(keep + 1);
    y += draw_intro(state, Rect { height: room, ..inner }, buf, theme);
    if state.asks() {
        y += u16::from(spare(y) > keep + 1 && !state.intro.is_empty());
    } else if spare(y) > 1 {
        let text = if state.typed.is_empty() {
            "› type to narrow".to_owned()
        } else {
            format!("› {}", state.typed)
        };
        let style = if state.typed.is_empty() { theme.dim } else { theme.user };
        buf.put(inner.x, y, ellipsis(&text, wide), wide, style);
        y += 1;
    }
    // a note that has no room beside its row stands below
    let beside = column(state, wide).map_or(0, |column| wide - column);
    let note = state.marked().map(|row| row.note.clone()).filter(|note| width(&tame(note)) > beside);
    // where there is no row, no key takes one
    let hint = if state.shown.is_empty() { "Esc closes" } else { &state.hint };
    let told = note.unwrap_or_else(|| hint.to_owned());
    let hint = u16::from(spare(y) > keep && !told.is_empty());
    let room = usize::from(spare(y) - hint.min(spare(y)));
    state.page = room;
    draw_rows(state, Rect { y, height: room as u16, ..inner }, buf, theme);
    if hint == 1 {
        buf.put(inner.x, inner.bottom() - 1, ellipsis(&tame(&told), wide), wide, theme.dim);
    }
}

/// Draws the words above the rows; where they have no room, a part of them and how to see the rest. The rows used.
fn draw_intro(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme) -> u16 {
    let rows = intro(state, usize::from(area.width));
    let height = usize::from(area.height);
    let all = rows.len() <= height;
    // the last row says what is missing
    let room = if all { height } else { height.saturating_sub(1) };
    state.above = if all { 0 } else { state.above.min(rows.len() - room) };
    state.above_page = (!all && height > 0).then_some(room);
    for (line, row) in rows.iter().skip(state.above).take(room).enumerate() {
        row.draw(buf, area.x, area.y + line as u16, area.width, theme);
    }
    if !all && height > 0 {
        let below = rows.len() - state.above - room;
        let lines = |n: usize| if n == 1 { "1 more line".to_owned() } else { format!("{n} more lines") };
        let text = match below {
            0 => format!("↑ {} above: PageUp", lines(state.above)),
            below => format!("↓ {}: PageDown", lines(below)),
        };
        let wide = usize::from(area.width);
        buf.put(area.x, area.bottom() - 1, ellipsis(&text, wide), wide, theme.warning);
    }
    rows.len().min(height) as u16
}

/// The words above the rows, wrapped.
fn intro(state: &State, wide: usize) -> Vec<row::Row> {
    let mut out = Wrapper::new(wide);
    for line in &state.intro {
        let piece = (tame(line).into_owned(), row::Role::Dim.into());
        out.line(&Prefix::default(), &[piece], Break::Words);
    }
    out.rows()
}

/// The column of the notes; none: there is no room for them.
fn column(state: &State, wide: usize) -> Option<usize> {
    let longest = state.shown.iter().map(|i| width(&state.rows[*i].text)).max().unwrap_or(0);
    let note = state.shown.iter().map(|i| width(&tame(&state.rows[*i].note))).max().unwrap_or(0);
    let column = (longest + 4).min((wide * 3 / 5 + 4).max(wide.saturating_sub(note)));
    (column + 12 <= wide).then_some(column)
}

fn draw_rows(state: &State, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let wide = usize::from(area.width);
    if area.height == 0 {
        return;
    }
    if state.shown.is_empty() {
        buf.put(area.x, area.y, ellipsis(&state.empty(), wide), wide, theme.dim);
        return;
    }
    let room = usize::from(area.height);
    let first = (state.at + 1).saturating_sub(room);
    let notes = column(state, wide);
    for (line, index) in state.shown.iter().skip(first).take(room).enumerate() {
        let row = &state.rows[*index];
        let y = area.y + line as u16;
        let marked = first + line == state.at;
        let (style, dim) = match (marked, row.usable) {
            (true, _) => (theme.selection, theme.selection),
            (false, true) => (theme.text, theme.dim),
            (false, false) => (theme.dim, theme.dim),
        };
        buf.set_style(Rect { y, height: 1, ..area }, style);
        let sign = if marked { "▸ " } else { "  " };
        let notes = notes.filter(|_| !row.note.is_empty());
        let text_room = notes.map_or(wide, |column| column - 2);
        let text = format!("{sign}{}", tame(&row.text));
        buf.put(area.x, y, ellipsis(&text, text_room), text_room, style);
        if let Some(column) = notes {
            let left = wide - column;
            buf.put(area.x + column as u16, y, ellipsis(&tame(&row.note), left), left, dim);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_put_in_above_leave_the_mark_on_its_row() {
        let row = |text: &str| Row::new(text, "", Pick::Write(text.to_owned()));
        let mut list = State::new(Kind::Welcome, "t", vec![row("a"), row("b")]);
        list.step(1);
        list.insert_rows(1, vec![row("x"), row("y")]);
        assert_eq!(list.marked().map(|r| r.text.as_str()), Some("b"));
        list.step(-1);
        assert_eq!(list.marked().map(|r| r.text.as_str()), Some("y"));
        list.insert_rows(99, vec![row("z")]);
        assert_eq!(list.marked().map(|r| r.text.as_str()), Some("y"));
    }
}
