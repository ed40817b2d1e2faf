//! The live pane: what runs now, from the board.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::api::board::Record;
use crate::base::{CallId, Millis};
use crate::law::board::Progress;
use crate::ui::theme::Theme;
use crate::ui::widget::row::Put as _;
use crate::ui::widget::text::{ellipsis, output_line, tame, width};

/// Last lines of output that are kept of each call.
const LINES: usize = 4;
/// Bytes of a call's tail that are looked at for them.
const TAIL_BYTES: usize = 4096;

/// One running call as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    call: CallId,
    tool: String,
    title: String,
    began: Millis,
    asking: bool,
    tail: Vec<String>,
}

/// What the pane remembers.
#[derive(Debug, Default)]
pub struct State {
    rows: Vec<Row>,
    revision: u64,
    /// Whether the person hid the pane.
    pub hidden: bool,
}

impl State {
    /// Takes what is new; whether anything changed.
    pub fn sync(&mut self, record: &Record) -> bool {
        if self.revision == record.calls.revision() {
            return false;
        }
        self.revision = record.calls.revision();
        self.rows = record.calls.iter().map(|(call, progress)| row(call, progress)).collect();
        self.rows.sort_by_key(|r| r.began);
        true
    }
    /// How many calls run.
    pub fn running(&self) -> usize {
        self.rows.len()
    }
    /// One line on what runs, for screens without the pane.
    pub fn line(&self, now: Millis) -> Option<Line> {
        let first = self.rows.first()?;
        let more = self.rows.len() - 1;
        let time = elapsed(now.since(first.began));
        Some(Line {
            tool: first.tool.clone(),
            title: first.title.clone(),
            asking: first.asking,
            end: if more > 0 { format!("{time} · {more} more") } else { time },
        })
    }
}

/// What runs, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    tool: String,
    title: String,
    /// Whether it waits for the person.
    asking: bool,
    /// What stands at its end: how long, and how many more.
    end: String,
}

impl Line {
    /// Whether the first of what runs waits for the person.
    pub fn asks(&self) -> bool {
        self.asking
    }
    /// Draws it; its end gives way to nothing but the tool's name.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, theme: &Theme, spinner: &str) {
        if area.is_empty() {
            return;
        }
        let (mark, style) = if self.asking { ("?", theme.warning) } else { (spinner, theme.accent) };
        let (y, wide) = (area.y, usize::from(area.width));
        let left = |x: u16| usize::from(area.right().saturating_sub(x));
        let x = buf.put(area.x, y, mark, wide, style).0 + 1;
        let x = buf.put(x, y, &self.tool, left(x), theme.tool).0 + 1;
        let end = width(&self.end);
        let room = left(x).saturating_sub(end + 1);
        buf.put(x, y, ellipsis(&self.title, room), room, theme.text);
        if left(x) >= end {
            buf.put(area.right() - end as u16, y, &self.end, end, theme.dim);
        }
    }
}

fn row(call: &CallId, progress: &Progress) -> Row {
    Row {
        call: call.clone(),
        tool: progress.tool.clone(),
        title: tame(progress.title.lines().next().unwrap_or_default()).into_owned(),
        began: progress.began,
        asking: progress.asking,
        tail: last_lines(&progress.tail, LINES),
    }
}

/// The newest lines of an output that say something, oldest first; no escape of theirs is left.
pub fn last_lines(text: &str, most: usize) -> Vec<String> {
    let mut from = text.len().saturating_sub(TAIL_BYTES.max(most.saturating_mul(120)));
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let mut tail: Vec<String> = text[from..]
        .lines()
        .rev()
        .filter(|l| !l.trim().is_empty())
        .take(most)
        .map(|l| output_line(l).chars().take(300).collect())
        .collect();
    tail.reverse();
    tail
}

/// A length of time as `m:ss` or `h:mm:ss`.
pub fn elapsed(time: Millis) -> String {
    let s = time.0 / 1000;
    if s >= 3600 {
        format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
    } else {
        format!("{}:{:02}", s / 60, s % 60)
    }
}

const SPIN: [&str; 8] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];

/// The picture of a spinner at a time; a fixed mark under reduced motion.
pub fn spinner(now: Millis, reduced: bool) -> &'static str {
    if reduced { "●" } else { SPIN[(now.0 / 125 % 8) as usize] }
}

/// Draws the pane's content.
pub fn view(state: &State, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis, reduced: bool) {
    if area.is_empty() {
        return;
    }
    let wide = usize::from(area.width);
    if state.rows.is_empty() {
        buf.put(area.x, area.y, ellipsis("no call runs · calls show here", wide), wide, theme.dim);
        return;
    }
    // each call gets its line first; what is left shows output
    let spare = usize::from(area.height).saturating_sub(state.rows.len());
    let each = (spare / state.rows.len()).min(LINES);
    let mut y = area.y;
    for row in &state.rows {
        if y >= area.bottom() {
            break;
        }
        let line = Line {
            tool: row.tool.clone(),
            title: row.title.clone(),
            asking: row.asking,
            end: elapsed(now.since(row.began)),
        };
        line.draw(Rect { y, height: 1, ..area }, buf, theme, spinner(now, reduced));
        y += 1;
        for line in row.tail.iter().rev().take(each).rev() {
            if y < area.bottom() && wide > 2 {
                buf.put(area.x + 2, y, ellipsis(line, wide - 2), wide - 2, theme.dim);
                y += 1;
            }
        }
    }
}
