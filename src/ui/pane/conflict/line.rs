//! One line of a version as it is drawn: made visible, with its ground, its colours, and what changed inside it.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use similar::{ChangeTag, TextDiff};

use crate::ui::theme::Theme;
use crate::ui::widget::row::{Look, Role, put};
use crate::ui::widget::text::{cluster_width, clusters, tame};

/// Longest line whose changes are looked for, in bytes.
const INSIDE_MAX: usize = 600;
/// How much of two lines must be the same for what changed inside to be marked.
const ALIKE_MIN: f32 = 0.3;

/// A line that can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub text: String,
    /// What stands behind it: its end, where that is worth a word.
    pub end: &'static str,
}

/// Makes a line visible; `ends`: how it ends is shown.
pub(super) fn shown(line: &[u8], ends: bool) -> Shown {
    let (body, end) = match line {
        [body @ .., b'\r', b'\n'] => (body, if ends { "␍" } else { "" }),
        [body @ .., b'\n'] => (body, ""),
        [body @ .., b'\r'] => (body, "␍"),
        body => (body, "⊣"),
    };
    let mut text = String::with_capacity(body.len());
    for chunk in body.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    let text = match tame(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(tamed) => tamed,
    };
    Shown { text, end }
}

/// What a line stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// It is as the base has it.
    Plain,
    /// One of the sides put it there.
    Added,
    /// One of the sides took it away, or changed it.
    Removed,
}

impl Ground {
    fn roles(self) -> (Role, Role) {
        match self {
            Ground::Plain => (Role::Text, Role::Text),
            Ground::Added => (Role::Added, Role::AddedStrong),
            Ground::Removed => (Role::Removed, Role::RemovedStrong),
        }
    }

    /// The style of a piece: the ground's, with the ink of the code where the ground has a colour of its own.
    pub fn style(self, theme: &Theme, code: Option<Role>, strong: bool) -> Style {
        let (weak, marked) = self.roles();
        if strong {
            return Look::from(marked).style(theme);
        }
        let ground = Look::from(weak).style(theme);
        let ink = code.map(|role| Look::from(role).style(theme));
        match (self, ink) {
            (_, None) => ground,
            (Ground::Plain, Some(ink)) => Style { bg: ground.bg, ..ink },
            (Ground::Added | Ground::Removed, Some(ink))
                if ground.bg != theme.text.bg && !theme.plain_diffs =>
            {
                Style { bg: ground.bg, ..ink }
            }
            (Ground::Added | Ground::Removed, Some(_)) => ground,
        }
    }
}

/// The parts of `own` that `other` does not have; none: so little is alike that the whole line is another.
pub(super) fn inside(own: &str, other: &str) -> Option<Vec<Range<usize>>> {
    if own.len() > INSIDE_MAX || other.len() > INSIDE_MAX {
        return None;
    }
    let diff = TextDiff::from_unicode_words(other, own);
    if diff.ratio() < ALIKE_MIN {
        return None;
    }
    let (mut at, mut found) = (0, Vec::<Range<usize>>::new());
    for change in diff.iter_all_changes() {
        let len = change.value().len();
        match change.tag() {
            ChangeTag::Delete => continue,
            ChangeTag::Insert => match found.last_mut().filter(|last| last.end == at) {
                Some(last) => last.end += len,
                None => found.push(at..at + len),
            },
            ChangeTag::Equal => {}
        }
        at += len;
    }
    Some(found)
}

/// What is drawn of a line.
pub(super) struct Cell<'a> {
    pub line: &'a Shown,
    pub ground: Ground,
    pub colours: Option<&'a [(u32, Role)]>,
    pub marks: &'a [Range<usize>],
    /// Columns that are left out at the left.
    pub left: usize,
}

/// Draws a line over the whole of its place.
pub(super) fn draw(cell: &Cell<'_>, place: Rect, buf: &mut Buffer, theme: &Theme) {
    let wide = usize::from(place.width);
    let ground = cell.ground.style(theme, None, false);
    buf.set_style(place, ground);
    let text = &cell.line.text;
    let (mut skip, mut x, mut at) = (cell.left, 0, 0);
    let mut runs = cell.colours.unwrap_or_default().iter().peekable();
    let mut marks = cell.marks.iter().peekable();
    for cluster in clusters(text) {
        while runs.next_if(|(end, _)| *end as usize <= at).is_some() {}
        while marks.next_if(|mark| mark.end <= at).is_some() {}
        let columns = cluster_width(cluster);
        let here = at;
        at += cluster.len();
        if skip > 0 {
            skip = skip.saturating_sub(columns);
            continue;
        }
        if x + columns > wide {
            // there is more to the right
            put(buf, place.right() - 1, place.y, "›", 1, ground.patch(theme.dim));
            return;
        }
        let strong = marks.peek().is_some_and(|mark| mark.start <= here);
        let style = cell.ground.style(theme, runs.peek().map(|(_, role)| *role), strong);
        x += put(buf, place.x + x as u16, place.y, cluster, wide - x, style);
    }
    if cell.left > 0 && !text.is_empty() {
        put(buf, place.x, place.y, "‹", 1, ground.patch(theme.dim));
    }
    if !cell.line.end.is_empty() && x < wide {
        let dim = if theme.plain_diffs { ground } else { theme.dim };
        let style = ground.patch(Style { bg: ground.bg, ..dim });
        put(buf, place.x + x as u16, place.y, cell.line.end, wide - x, style);
    }
}

/// Draws a place where a version has no line in a change.
pub(super) fn gap(place: Rect, buf: &mut Buffer, theme: &Theme) {
    let text = "╱".repeat(usize::from(place.width));
    let style = theme.text.patch(theme.border).remove_modifier(Modifier::BOLD);
    put(buf, place.x, place.y, &text, usize::from(place.width), style);
}
