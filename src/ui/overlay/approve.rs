//! An approval: the question whether a call may run.
//!
//! It takes no key until 400 ms after it was flushed to the terminal with the input drained, and
//! while a draft stands not before it was focused on purpose; a click never answers. What it shows
//! has control, bidirectional and zero-width characters made visible.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::list::framed;
use crate::api::access::{Approval, Class, Decision, Preview};
use crate::base::{CallId, Millis};
use crate::ui::action::Action;
use crate::ui::keymap::Keymap;
use crate::ui::theme::Theme;
use crate::ui::widget::text::{ellipsis, visible, width};

/// How long after its flush an approval takes no key.
pub const ARM_MS: u64 = 400;

/// What is remembered of the approval at hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Which approval the rest is about.
    call: Option<CallId>,
    /// When it was flushed with the input drained.
    flushed_at: Option<Millis>,
    /// Whether it was focused on purpose.
    focused: bool,
    /// Whether it was put aside on purpose.
    aside: bool,
    /// The marked answer.
    pub choice: usize,
    /// First line of the preview that is shown.
    pub top: usize,
}

/// An answer that can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Once.
    Once,
    /// For the session.
    Session,
    /// Always, by a rule.
    Always,
    /// No.
    No,
    /// No, with a reason.
    NoBecause,
}

/// The answers that an approval offers.
pub fn choices(approval: &Approval) -> Vec<Choice> {
    let mut out = vec![Choice::Once, Choice::Session];
    if approval.rule.is_some() {
        out.push(Choice::Always);
    }
    out.extend([Choice::No, Choice::NoBecause]);
    out
}

impl Choice {
    /// The action of its key.
    pub fn action(self) -> Action {
        match self {
            Choice::Once => Action::Once,
            Choice::Session => Action::ForSession,
            Choice::Always => Action::Always,
            Choice::No => Action::No,
            Choice::NoBecause => Action::NoBecause,
        }
    }
    /// What it tells the session; none: more is to be typed.
    pub fn decision(self) -> Option<Decision> {
        match self {
            Choice::Once => Some(Decision::Once),
            Choice::Session => Some(Decision::Session),
            Choice::Always => Some(Decision::Always),
            Choice::No => Some(Decision::No(None)),
            Choice::NoBecause => None,
        }
    }
}

impl State {
    /// Another approval (or none) is at hand now.
    pub fn turn_to(&mut self, call: Option<&CallId>) {
        if self.call.as_ref() != call {
            *self = Self { call: call.cloned(), ..Self::default() };
        }
    }
    /// A frame that showed it was flushed, and no input was waiting.
    pub fn flushed(&mut self, now: Millis) {
        if self.call.is_some() && self.flushed_at.is_none() {
            self.flushed_at = Some(now);
        }
    }
    /// Whether it still waits for its first flush.
    pub fn unflushed(&self) -> bool {
        self.call.is_some() && self.flushed_at.is_none()
    }
    /// Whether it has been seen long enough to take a key.
    pub fn armed(&self, now: Millis) -> bool {
        self.flushed_at.is_some_and(|at| now.since(at).0 >= ARM_MS)
    }
    /// When it becomes so.
    pub fn arms_at(&self) -> Option<Millis> {
        self.flushed_at.map(|at| at.plus(Millis(ARM_MS)))
    }
    /// Whether a key is an answer to it.
    pub fn takes_keys(&self, now: Millis, draft_stands: bool) -> bool {
        self.armed(now) && (self.focused || (!draft_stands && !self.aside))
    }
    /// The person turned to it.
    pub fn focus(&mut self) {
        (self.focused, self.aside) = (true, false);
    }
    /// The person turned away from it.
    pub fn put_aside(&mut self) {
        (self.focused, self.aside) = (false, true);
    }
}

fn heading(approval: &Approval) -> String {
    let does = match approval.class {
        Class::Read => "read",
        Class::Write => "change files",
        Class::Execute => "run a command",
        Class::Network => "reach the network",
    };
    format!("{} wants to {does}", approval.tool)
}

/// The preview's lines, made visible, with a style for each.
fn preview(approval: &Approval, theme: &Theme) -> Vec<(String, ratatui::style::Style)> {
    match &approval.preview {
        Preview::Command { command, cwd } => {
            let mut out: Vec<_> = command
                .split('\n')
                .enumerate()
                .map(|(at, l)| (format!("{} {}", if at == 0 { "$" } else { " " }, visible(l)), theme.strong))
                .collect();
            out.push((format!("in {}", visible(&cwd.to_string_lossy())), theme.dim));
            out
        }
        Preview::Diff { diff } => diff
            .lines()
            .map(|l| {
                let style = match l.as_bytes().first() {
                    Some(b'+') => theme.added,
                    Some(b'-') => theme.removed,
                    Some(b'@') => theme.accent,
                    _ => theme.text,
                };
                (visible(l).into_owned(), style)
            })
            .collect(),
        Preview::Text { text } => text.lines().map(|l| (visible(l).into_owned(), theme.text)).collect(),
    }
}

/// The answers, wrapped: rows of (marked, text).
fn answers(
    state: &State,
    approval: &Approval,
    keymap: &Keymap,
    wide: usize,
    takes: bool,
) -> Vec<Vec<(bool, String)>> {
    let mut rows: Vec<Vec<(bool, String)>> = vec![Vec::new()];
    let mut used = 0;
    for (at, choice) in choices(approval).into_iter().enumerate() {
        let says = match choice {
            Choice::Once => "once".to_owned(),
            Choice::Session => "this session".to_owned(),
            Choice::Always => format!("always: {}", visible(approval.rule.as_deref().unwrap_or_default())),
            Choice::No => "no".to_owned(),
            Choice::NoBecause => "no, because…".to_owned(),
        };
        let text = ellipsis(&format!(" {} {says} ", keymap.hint(choice.action())), wide).into_owned();
        let need = width(&text) + 1;
        if used > 0 && used + need > wide {
            rows.push(Vec::new());
            used = 0;
        }
        used += need;
        if let Some(row) = rows.last_mut() {
            row.push((takes && at == state.choice, text));
        }
    }
    rows
}

/// Draws the approval at the bottom of `area`. `takes`: whether it takes keys now; `more`: how many wait behind it.
#[allow(clippy::too_many_arguments)]
pub fn view(
    state: &mut State,
    approval: &Approval,
    more: usize,
    takes: bool,
    keymap: &Keymap,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) {
    let lines = preview(approval, theme);
    let wide =
        usize::from(area.width.saturating_sub(if area.width < 4 || area.height < 4 { 0 } else { 4 })).max(1);
    let answers = answers(state, approval, keymap, wide, takes);
    let wants = lines.iter().map(|(l, _)| width(l).max(1).div_ceil(wide)).sum::<usize>() + answers.len() + 4;
    let height = area.height.min(wants.min(usize::from(u16::MAX)) as u16);
    let rect = Rect { y: area.bottom() - height, height, ..area };
    let title =
        if more > 0 { format!("{} ({more} more wait)", heading(approval)) } else { heading(approval) };
    let inner = framed(rect, &title, buf, theme);
    if inner.is_empty() {
        return;
    }
    let wide = usize::from(inner.width);
    let shown = (answers.len() as u16).min(inner.height);
    let mut foot = inner.bottom() - shown;
    for (at, row) in answers.iter().take(usize::from(shown)).enumerate() {
        let mut x = inner.x;
        for (marked, text) in row {
            let style = match (takes, marked) {
                (_, true) => theme.selection,
                (true, false) => theme.key,
                (false, _) => theme.dim,
            };
            let left = usize::from(inner.right().saturating_sub(x));
            x = buf.set_stringn(x, foot + at as u16, text, left, style).0 + 1;
        }
    }
    if foot > inner.y {
        foot -= 1;
        let said = if takes { approval.why.clone() } else { waiting(state, keymap) };
        let style = if takes { theme.dim } else { theme.warning };
        buf.set_stringn(inner.x, foot, ellipsis(&visible(&said), wide), wide, style);
    }
    draw_preview(state, &lines, Rect { height: foot - inner.y, ..inner }, buf, theme);
}

fn waiting(state: &State, keymap: &Keymap) -> String {
    if state.focused || state.flushed_at.is_none() {
        return "a moment…".to_owned();
    }
    format!("{} to answer; what you type goes into your draft", keymap.hint(Action::AnswerApproval))
}

fn draw_preview(
    state: &mut State,
    lines: &[(String, ratatui::style::Style)],
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) {
    if area.is_empty() {
        return;
    }
    let wide = usize::from(area.width);
    let mut rows: Vec<(&str, ratatui::style::Style)> = Vec::new();
    for (line, style) in lines {
        let mut rest = line.as_str();
        loop {
            let (head, _) = crate::ui::widget::text::fit(rest, wide);
            let head = if head.is_empty() { rest } else { head };
            rows.push((head, *style));
            rest = &rest[head.len()..];
            if rest.is_empty() {
                break;
            }
        }
    }
    let mut room = usize::from(area.height);
    if rows.len() > room && room > 1 {
        room -= 1;
    }
    state.top = state.top.min(rows.len().saturating_sub(room));
    for (at, (text, style)) in rows.iter().skip(state.top).take(room).enumerate() {
        buf.set_stringn(area.x, area.y + at as u16, text, wide, *style);
    }
    let below = rows.len().saturating_sub(state.top + room);
    if room < usize::from(area.height) {
        let text = format!("… {below} more lines, {} above (PageDown, PageUp)", state.top);
        buf.set_stringn(area.x, area.bottom() - 1, ellipsis(&text, wide), wide, theme.warning);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Millis {
        Millis(ms)
    }

    #[test]
    fn no_key_is_taken_until_it_was_flushed_and_seen() {
        let mut state = State::default();
        state.turn_to(Some(&CallId::new("c1")));
        assert!(!state.takes_keys(at(10_000), false), "not flushed yet");
        state.flushed(at(10_000));
        assert!(!state.takes_keys(at(10_399), false));
        assert!(state.takes_keys(at(10_400), false));
        state.flushed(at(10_500));
        assert!(state.takes_keys(at(10_500), false), "a later flush does not begin anew");
    }

    #[test]
    fn while_a_draft_stands_it_must_be_focused_on_purpose() {
        let mut state = State::default();
        state.turn_to(Some(&CallId::new("c1")));
        state.flushed(at(0));
        assert!(!state.takes_keys(at(5_000), true));
        state.focus();
        assert!(state.takes_keys(at(5_000), true));
        state.put_aside();
        assert!(!state.takes_keys(at(5_000), true));
        assert!(!state.takes_keys(at(5_000), false));
    }

    #[test]
    fn the_next_approval_begins_anew() {
        let mut state = State::default();
        state.turn_to(Some(&CallId::new("c1")));
        state.flushed(at(0));
        state.focus();
        state.turn_to(Some(&CallId::new("c2")));
        assert!(!state.takes_keys(at(5_000), false));
        assert!(state.unflushed());
    }
}
