//! One line to type: a name, a reason, a search, a key (hidden).

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation as _;

use super::list::{framed, place};
use crate::base::{CallId, JobId, SessionId};
use crate::ui::theme::Theme;
use crate::ui::widget::row::Put as _;
use crate::ui::widget::text::{ellipsis, width};

/// What the line is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name for this session.
    Rename(SessionId),
    /// Why a call is refused.
    Reason(CallId),
    /// A search of the conversation.
    Find,
    /// A search of the jobs.
    FindJob,
    /// A search of a job's output.
    FindLog(JobId),
    /// A search of the tree.
    FindTree,
    /// A search of an agent's transcript.
    FindTranscript,
    /// A message to an agent.
    Message {
        /// Its path.
        path: String,
        /// What becomes of it, in words.
        says: &'static str,
    },
    /// A key for a provider; shown as dots, recorded as a placeholder.
    Key(String),
}

/// The line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// What it is for.
    pub kind: Kind,
    /// What was typed.
    pub text: String,
}

impl State {
    /// An empty line.
    pub fn new(kind: Kind) -> Self {
        Self { kind, text: String::new() }
    }
    /// Whether it must not be shown or recorded.
    pub fn secret(&self) -> bool {
        matches!(self.kind, Kind::Key(_))
    }
    /// Whether it is a search: it stands in the last row.
    fn finds(&self) -> bool {
        match self.kind {
            Kind::Find | Kind::FindJob | Kind::FindLog(_) | Kind::FindTree | Kind::FindTranscript => true,
            Kind::Rename(_) | Kind::Reason(_) | Kind::Key(_) | Kind::Message { .. } => false,
        }
    }
    /// Removes the last cluster.
    pub fn untype(&mut self) {
        let end = self.text.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
        self.text.truncate(end);
    }
    /// Adds pasted text, on one line.
    pub fn paste(&mut self, text: &str) {
        let line = text.trim_matches('\n').replace('\n', " ");
        self.text.extend(line.chars().filter(|c| !c.is_control()));
    }
}

/// Draws the line; where the cursor is. A search stands in the last row, the others in a box.
pub fn view(state: &State, area: Rect, buf: &mut Buffer, theme: &Theme, extra: &str) -> Option<(u16, u16)> {
    if area.is_empty() {
        return None;
    }
    let (title, words) = match &state.kind {
        Kind::Find | Kind::FindJob | Kind::FindLog(_) | Kind::FindTree | Kind::FindTranscript => ("", ""),
        Kind::Message { says, .. } => ("", *says),
        Kind::Rename(_) => ("Name of the session", "Enter keeps it · Esc leaves it"),
        Kind::Reason(_) => ("No, because", "goes to the model · Enter sends · Esc back"),
        Kind::Key(_) => ("Key", "stored in a file that only you can read · Enter stores · Esc back"),
    };
    let shown = if state.secret() { "•".repeat(state.text.chars().count()) } else { state.text.clone() };
    let (rect, mark) = if state.finds() {
        (Rect { y: area.bottom() - 1, height: 1, ..area }, "/")
    } else {
        let title = match &state.kind {
            Kind::Key(provider) => format!("Key for {provider}"),
            Kind::Message { path, .. } => format!("To {path}"),
            _ => title.to_owned(),
        };
        let inner = framed(place(area, (70, 4)), &title, buf, theme);
        if inner.height > 1 {
            let wide = usize::from(inner.width);
            buf.put(inner.x, inner.y + 1, ellipsis(words, wide), wide, theme.dim);
        }
        (Rect { height: 1, ..inner }, "❯ ")
    };
    buf.set_style(rect, theme.text);
    buf.put(rect.x, rect.y, " ".repeat(usize::from(rect.width)), usize::from(rect.width), theme.text);
    let room = usize::from(rect.width).saturating_sub(width(mark) + 1);
    let mut tail = shown.as_str();
    while width(tail) > room {
        let Some(first) = tail.graphemes(true).next() else { break };
        tail = &tail[first.len()..];
    }
    let line = format!("{mark}{tail}");
    buf.put(rect.x, rect.y, &line, usize::from(rect.width), theme.user);
    let end = rect.x + (width(&line) as u16).min(rect.width.saturating_sub(1));
    if !extra.is_empty() && usize::from(rect.right() - end) > extra.len() + 3 {
        buf.put(end + 2, rect.y, extra, extra.len(), theme.dim);
    }
    Some((end, rect.y))
}
