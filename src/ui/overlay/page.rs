//! A page to read: help, what fills the window.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::list::{framed, place};
use crate::ui::theme::Theme;
use crate::ui::widget::text::{ellipsis, tame};

/// One line of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A heading.
    Head(String),
    /// A key (or a name) and what it does.
    Pair(String, String),
    /// Plain words.
    Text(String),
}

/// The page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its title.
    pub title: String,
    /// Its lines.
    pub lines: Vec<Line>,
    top: usize,
    room: usize,
}

impl State {
    /// A page of lines.
    pub fn new(title: &str, lines: Vec<Line>) -> Self {
        Self { title: title.to_owned(), lines, top: 0, room: 1 }
    }
    /// Scrolls by lines.
    pub fn scroll(&mut self, by: i32) {
        let last = self.lines.len().saturating_sub(self.room);
        self.top = self.top.saturating_add_signed(by as isize).min(last);
    }
    /// Scrolls by pages.
    pub fn scroll_page(&mut self, by: i32) {
        self.scroll(by * (self.room as i32 - 1).max(1));
    }
}

/// Draws the page.
pub fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let rect = place(area, (96, (state.lines.len() as u16).saturating_add(3)));
    let inner = framed(rect, &state.title, buf, theme);
    if inner.is_empty() {
        return;
    }
    let foot = u16::from(inner.height > 2);
    state.room = usize::from(inner.height - foot);
    state.scroll(0);
    let wide = usize::from(inner.width);
    let column = state
        .lines
        .iter()
        .filter_map(|l| match l {
            Line::Pair(key, _) => Some(crate::ui::widget::text::width(key)),
            Line::Head(_) | Line::Text(_) => None,
        })
        .max()
        .unwrap_or(0)
        .min(wide / 3)
        + 2;
    for (at, line) in state.lines.iter().skip(state.top).take(state.room).enumerate() {
        let y = inner.y + at as u16;
        match line {
            Line::Head(text) => {
                buf.set_stringn(inner.x, y, ellipsis(text, wide), wide, theme.heading);
            }
            Line::Text(text) => {
                buf.set_stringn(inner.x, y, ellipsis(&tame(text), wide), wide, theme.text);
            }
            Line::Pair(key, says) => {
                buf.set_stringn(inner.x, y, ellipsis(key, column - 1), column - 1, theme.key);
                if column < wide {
                    let left = wide - column;
                    buf.set_stringn(
                        inner.x + column as u16,
                        y,
                        ellipsis(&tame(says), left),
                        left,
                        theme.text,
                    );
                }
            }
        }
    }
    if foot == 1 {
        let below = state.lines.len().saturating_sub(state.top + state.room);
        let text = if below > 0 {
            format!("{below} more lines below · PageDown · Esc closes")
        } else {
            "Esc closes".to_owned()
        };
        buf.set_stringn(inner.x, inner.bottom() - 1, ellipsis(&text, wide), wide, theme.dim);
    }
}
