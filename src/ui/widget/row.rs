//! A laid-out row: text with looks, drawn into a buffer. A look names what a thing is, so that a theme
//! can change without a new layout.
//!
//! Deliberately not here: how rows come to be (`wrap`).

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::link::Link;
use super::text::{Tabs, cluster_width, clusters};
use crate::ui::theme::Theme;

/// What a piece of text is; the theme has a style for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is the field of `Theme` with its name
pub enum Role {
    #[default]
    Text,
    Dim,
    Heading,
    Code,
    CodeBlock,
    Link,
    Quote,
    User,
    Thinking,
    Tool,
    Added,
    AddedStrong,
    Removed,
    RemovedStrong,
    Ok,
    Warning,
    Error,
    Accent,
    Border,
    Key,
    Hit,
    HitCurrent,
    Keyword,
    String,
    Number,
    Comment,
    Function,
    Type,
    Variable,
    Operator,
}

/// Strong text, as a flag of a look.
pub const STRONG: u8 = 1;
/// Emphasised text, as a flag of a look.
pub const EMPHASIS: u8 = 2;
/// Text struck through, as a flag of a look.
pub const STRIKE: u8 = 4;

/// What a piece of text is, and how it is stressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Look {
    /// What it is.
    pub role: Role,
    /// `STRONG`, `EMPHASIS`, `STRIKE`, or-ed.
    pub flags: u8,
    /// What it stands on, where that is not what it is: its background is that role's.
    pub ground: Option<Role>,
    /// Where it leads.
    pub link: Option<Link>,
}

impl From<Role> for Look {
    fn from(role: Role) -> Self {
        Self { role, ..Self::default() }
    }
}

impl Look {
    /// The same with another flag.
    pub fn with(self, flag: u8) -> Self {
        Self { flags: self.flags | flag, ..self }
    }
    /// The same on the ground of a role.
    pub fn on(self, ground: Role) -> Self {
        Self { ground: Some(ground), ..self }
    }
    /// Its style.
    pub fn style(self, theme: &Theme) -> Style {
        let own = role_style(self.role, theme);
        let mut style = match self.ground {
            None => theme.text.patch(own),
            Some(role) => {
                let ground = theme.text.patch(role_style(role, theme));
                // what is told by its front alone keeps that
                let plain = theme.plain_diffs && matches!(role, Role::Added | Role::Removed);
                let told = role == Role::Text || role_style(role, theme).bg.is_some() && !plain;
                if told { ground.patch(Style { bg: None, ..own }) } else { ground }
            }
        };
        if self.flags & STRONG != 0 {
            style = style.patch(theme.strong);
        }
        if self.flags & EMPHASIS != 0 {
            style = style.patch(theme.emphasis);
        }
        if self.flags & STRIKE != 0 {
            style = style.add_modifier(Modifier::CROSSED_OUT);
        }
        if let Some(link) = self.link {
            style = style.underline_color(link.carried());
        }
        style
    }
}

fn role_style(role: Role, theme: &Theme) -> Style {
    match role {
        Role::Text => theme.text,
        Role::Dim => theme.dim,
        Role::Heading => theme.heading,
        Role::Code => theme.code,
        Role::CodeBlock => theme.code_block,
        Role::Link => theme.link,
        Role::Quote => theme.quote,
        Role::User => theme.user,
        Role::Thinking => theme.thinking,
        Role::Tool => theme.tool,
        Role::Added => theme.added,
        Role::AddedStrong => theme.added_strong,
        Role::Removed => theme.removed,
        Role::RemovedStrong => theme.removed_strong,
        Role::Ok => theme.ok,
        Role::Warning => theme.warning,
        Role::Error => theme.error,
        Role::Accent => theme.accent,
        Role::Border => theme.border,
        Role::Key => theme.key,
        Role::Hit => theme.hit,
        Role::HitCurrent => theme.hit_current,
        Role::Keyword => theme.code_block.patch(theme.syntax_keyword),
        Role::String => theme.code_block.patch(theme.syntax_string),
        Role::Number => theme.code_block.patch(theme.syntax_number),
        Role::Comment => theme.code_block.patch(theme.syntax_comment),
        Role::Function => theme.code_block.patch(theme.syntax_function),
        Role::Type => theme.code_block.patch(theme.syntax_type),
        Role::Variable => theme.code_block.patch(theme.syntax_variable),
        Role::Operator => theme.code_block.patch(theme.syntax_operator),
    }
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its text, prefix included.
    pub text: String,
    /// Where each look ends, in bytes of `text`.
    pub runs: Vec<(u32, Look)>,
    /// Bytes of `text` that are a prefix (marks, bars, indentation) and not content.
    pub indent: u32,
    /// Where its content begins in its block: grows strictly from row to row, the same at every width
    /// for the same content, so that a place survives a resize.
    pub at: u32,
    /// Whether it continues the row before: a wrap, not a line break of the source.
    pub soft: bool,
    /// What the rest of the row is filled with.
    pub ground: Role,
    /// Of the last row of a line: blanks behind it for which there was no room.
    pub blanks: u32,
    /// Of the first row of a line: where blanks stand for a tab of the source, in bytes of the line's content.
    pub tabs: Tabs,
}

impl Row {
    /// Appends a text with a look.
    pub fn push(&mut self, text: &str, look: Look) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        let end = self.text.len() as u32;
        match self.runs.last_mut() {
            Some((last, same)) if *same == look => *last = end,
            Some(_) | None => self.runs.push((end, look)),
        }
    }
    /// Cuts the text at a byte; the runs follow.
    pub fn truncate(&mut self, at: usize) {
        self.text.truncate(at);
        while let Some((end, _)) = self.runs.last_mut() {
            let before = *end as usize;
            if before <= at {
                break;
            }
            *end = at as u32;
            let empty = self.runs.len() < 2 && at == 0
                || self.runs.len() >= 2 && self.runs[self.runs.len() - 2].0 as usize >= at;
            if !empty {
                break;
            }
            self.runs.pop();
        }
    }
    /// The pieces of one look each.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, Look)> {
        let mut from = 0;
        self.runs.iter().map(move |(end, look)| {
            let piece = &self.text[from..*end as usize];
            from = *end as usize;
            (piece, *look)
        })
    }
    /// Its content, without the prefix.
    pub fn content(&self) -> &str {
        &self.text[self.indent as usize..]
    }
    /// Draws it at a place, at most `columns` wide.
    pub fn draw(&self, buffer: &mut Buffer, x: u16, y: u16, columns: u16, theme: &Theme) {
        let mut left = usize::from(columns);
        let mut x = x;
        for (piece, look) in self.pieces() {
            let used = put(buffer, x, y, piece, left, look.style(theme));
            x += used as u16;
            left -= used;
        }
        if self.ground != Role::Text && left > 0 {
            let style = Look::from(self.ground).style(theme);
            buffer.set_style(Rect { x, y, width: left as u16, height: 1 }, style);
        }
    }
}

/// Puts a text into a row of the buffer, at most `columns` wide; the columns used. A cluster that
/// does not fit whole is left out.
pub fn put(buffer: &mut Buffer, x: u16, y: u16, text: &str, columns: usize, style: Style) -> usize {
    let mut used = 0;
    for cluster in clusters(text) {
        let wide = cluster_width(cluster);
        if wide == 0 {
            continue;
        }
        if used + wide > columns {
            break;
        }
        for offset in 0..wide {
            let Some(cell) = buffer.cell_mut((x + (used + offset) as u16, y)) else { return used };
            if offset == 0 {
                cell.set_symbol(cluster);
            } else {
                cell.reset();
            }
            // what was drawn here before may have led somewhere
            cell.underline_color = Color::Reset;
            cell.set_style(style);
        }
        used += wide;
    }
    used
}

/// Texts are put into a buffer by the widths of this program, not by those of the library of buffers: only ours know
/// what the terminal shows in the place of what, and how wide.
pub trait Put {
    /// Puts a text, at most `columns` wide; where it ends.
    fn put(
        &mut self,
        x: u16,
        y: u16,
        text: impl AsRef<str>,
        columns: usize,
        style: impl Into<Style>,
    ) -> (u16, u16);
}

impl Put for Buffer {
    fn put(
        &mut self,
        x: u16,
        y: u16,
        text: impl AsRef<str>,
        columns: usize,
        style: impl Into<Style>,
    ) -> (u16, u16) {
        (x + put(self, x, y, text.as_ref(), columns, style.into()) as u16, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_cut_keeps_its_runs() {
        let mut row = Row::default();
        row.push("ab", Role::Text.into());
        row.push("cd", Role::Code.into());
        row.push("ef", Role::Code.into());
        row.truncate(3);
        assert_eq!(row.pieces().collect::<Vec<_>>(), [("ab", Role::Text.into()), ("c", Role::Code.into())]);
        row.truncate(2);
        assert_eq!(row.runs.len(), 1);
        row.truncate(0);
        assert!(row.runs.is_empty());
    }

    #[test]
    fn a_wide_cluster_that_does_not_fit_is_left_out() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 3, 1));
        assert_eq!(put(&mut buffer, 0, 0, "日本", 3, Style::default()), 2);
        assert_eq!(buffer.cell((0, 0)).map(|c| c.symbol().to_owned()), Some("日".into()));
        assert_eq!(buffer.cell((2, 0)).map(|c| c.symbol().to_owned()), Some(" ".into()));
    }
}
