//! How an approval is drawn: the preview, why it is asked, and the answers, in that order of need.
//!
//! Where there is no row for the preview or none for the answers it counts as not seen, and takes no key.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{Choice, State, choices};
use crate::api::access::{Approval, Class};
use crate::ui::action::Action;
use crate::ui::keymap::Keymap;
use crate::ui::overlay::list::framed;
use crate::ui::theme::Theme;
use crate::ui::widget::diff::{Colours, Shape};
use crate::ui::widget::row::{Row, put};
use crate::ui::widget::text::{ellipsis, visible, width};
use crate::ui::widget::wrap::{Break, Prefix, Wrapper};

/// Most rows that the reason takes.
const WHY_ROWS: usize = 3;

/// What an approval is drawn from.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The approval.
    pub approval: &'a Approval,
    /// What it would do with a job, in words, where it is about one.
    pub job: Option<&'a str>,
    /// How many are open, this one counted.
    pub open: usize,
    /// Whether it takes keys now.
    pub takes: bool,
    /// Which key does what.
    pub keymap: &'a Keymap,
    /// How a diff is shown.
    pub shape: Shape,
    /// The colours of a diff, as far as they are known.
    pub colours: Colours<'a>,
}

/// Columns and rows that its frame takes of an area.
fn frame_of(area: Rect) -> (u16, u16) {
    if area.width < 4 || area.height < 4 { (0, 0) } else { (4, 2) }
}

/// Where the approval stands: at the bottom of `area`, as high as it needs.
pub fn place(state: &mut State, shown: Shown<'_>, area: Rect, theme: &Theme) -> Rect {
    let (columns, rows) = frame_of(area);
    let wide = usize::from(area.width.saturating_sub(columns)).max(1);
    let answers = answers(state, shown, wide, theme).len();
    let why = lines(&shown.approval.why, wide).len().min(WHY_ROWS);
    let most = usize::from(area.height);
    let wanted = state.top.saturating_add(most);
    state.laid.lay(&shown.approval.preview, (wide, shown.shape), wanted, shown.colours);
    let wants = state.laid.rows().len() + answers + why + usize::from(rows);
    let height = area.height.min(wants.min(most) as u16);
    Rect { y: area.bottom() - height, height, ..area }
}

/// Draws the approval at the bottom of `area`.
pub fn view(state: &mut State, shown: Shown<'_>, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let rect = place(state, shown, area, theme);
    let (framed_by, _) = frame_of(area);
    let wide = usize::from(area.width.saturating_sub(framed_by)).max(1);
    let answer_rows = answers(state, shown, wide, theme).len();
    let why = lines(&shown.approval.why, wide);
    let why = &why[..why.len().min(WHY_ROWS)];
    let inner = framed(rect, &heading(shown), buf, theme);
    if inner.is_empty() {
        return state.covered();
    }
    let places = places(inner, state.laid.rows().len(), answer_rows, why.len());
    if places[0].height > 0 && places[2].height > 0 {
        state.seen();
    } else {
        state.covered();
    }
    let shown = Shown { takes: shown.takes && state.flushed_at.is_some(), ..shown };
    let answers = answers(state, shown, wide, theme);
    let more = draw_preview(state, shown.keymap, places[0], buf, theme);
    for (at, row) in why.iter().take(usize::from(places[1].height)).enumerate() {
        row.draw(buf, inner.x, places[1].y + at as u16, inner.width, theme);
    }
    let below = if shown.takes { more } else { Some(told(state, shown)) };
    if let Some(told) = below.filter(|_| framed_by > 0) {
        let text = format!(" {} ", ellipsis(&told, wide.saturating_sub(2)));
        put(buf, inner.x, rect.bottom() - 1, &text, wide, theme.warning);
    }
    for (at, row) in answers.iter().take(usize::from(places[2].height)).enumerate() {
        let mut x = inner.x;
        for (text, style) in row {
            let left = usize::from(inner.right().saturating_sub(x));
            x += put(buf, x, places[2].y + at as u16, text, left, *style) as u16;
            x += 1;
        }
    }
}

/// Where preview, reason and answers stand. What is needed most has its row first.
fn places(inner: Rect, preview: usize, answers: usize, why: usize) -> [Rect; 3] {
    let mut left = usize::from(inner.height);
    let take = |left: &mut usize, most: usize| {
        let taken = most.min(*left);
        *left -= taken;
        taken
    };
    let first = take(&mut left, 1);
    let answers = take(&mut left, answers);
    // a preview that has room as a whole is not cut for the reason
    let more = preview.saturating_sub(first);
    let context = if more <= left { more } else { more.min(3) };
    let context = take(&mut left, context);
    let why = take(&mut left, why);
    let rest = take(&mut left, preview.saturating_sub(first + context));
    let mut y = inner.y;
    [first + context + rest, why, answers].map(|rows| {
        let rect = Rect { y, height: rows as u16, ..inner };
        y += rows as u16;
        rect
    })
}

fn heading(shown: Shown<'_>) -> String {
    let does = match (shown.job, shown.approval.class) {
        (Some(job), _) => job,
        (None, Class::Read) => "read",
        (None, Class::Write) => "change files",
        (None, Class::Execute) => "run a command",
        (None, Class::Network) => "reach the network",
    };
    let tool = visible(&shown.approval.tool);
    let text = match &shown.approval.agent {
        Some(path) => format!("agent {}: {tool} wants to {does}", visible(path)),
        None => format!("{tool} wants to {does}"),
    };
    if shown.open > 1 { format!("1 of {} · {text}", shown.open) } else { text }
}

fn lines(text: &str, wide: usize) -> Vec<Row> {
    let mut out = Wrapper::new(wide);
    for line in text.lines() {
        let piece = (visible(line).into_owned(), crate::ui::widget::row::Role::Dim.into());
        out.line(&Prefix::default(), &[piece], Break::Words);
    }
    out.rows()
}

/// Why it takes no key yet, on its lower border.
fn told(state: &State, shown: Shown<'_>) -> String {
    if state.focused || state.flushed_at.is_none() {
        return "a moment…".to_owned();
    }
    let key = shown.keymap.hint(Action::AnswerApproval);
    format!("{key} to answer; until then keys go where you were")
}

type Chips = Vec<(String, Style)>;

/// The answers, wrapped; in fewer words where that leaves the preview a row more.
fn answers(state: &State, shown: Shown<'_>, wide: usize, theme: &Theme) -> Vec<Chips> {
    let rows = answers_in(says, state, shown, wide, theme);
    if rows.len() <= 2 {
        return rows;
    }
    let short = answers_in(says_shortly, state, shown, wide, theme);
    if short.len() < rows.len() { short } else { rows }
}

/// The answers in these words, wrapped. The text of the rule is never cut.
fn answers_in(
    says: fn(Choice) -> &'static str,
    state: &State,
    shown: Shown<'_>,
    wide: usize,
    theme: &Theme,
) -> Vec<Chips> {
    let mut rows: Vec<Chips> = vec![Vec::new()];
    let mut used = 0;
    for (at, choice) in choices(shown.approval).into_iter().enumerate() {
        let style = match (shown.takes, at == state.choice) {
            (true, true) => theme.selection,
            (true, false) => theme.key,
            (false, _) => theme.dim,
        };
        let key = shown.keymap.hint(choice.action());
        let mut text = format!(" {key} {} ", says(choice));
        let mut rule = Vec::new();
        if choice == Choice::Always {
            let written = visible(shown.approval.rule.as_deref().unwrap_or_default()).replace('\n', "␊");
            if width(&text) + width(&written) + 2 <= wide {
                text = format!("{}: {written} ", text.trim_end());
            } else {
                text = format!("{}, by this rule:", text.trim_end());
                rule = rule_rows(&written, wide);
            }
        }
        let text = ellipsis(&text, wide).into_owned();
        let need = width(&text) + 1;
        if used > 0 && used + need > wide + 1 {
            rows.push(Vec::new());
            used = 0;
        }
        used += need;
        if let Some(row) = rows.last_mut() {
            row.push((text, style));
        }
        if !rule.is_empty() {
            rows.extend(rule.into_iter().map(|line| vec![(line, style)]));
            rows.push(Vec::new());
            used = 0;
        }
    }
    rows
}

fn says(choice: Choice) -> &'static str {
    match choice {
        Choice::Once => "once",
        Choice::Session => "this session",
        Choice::Always => "always",
        Choice::No => "no",
        Choice::NoBecause => "no, because…",
    }
}

fn says_shortly(choice: Choice) -> &'static str {
    match choice {
        Choice::Session => "session",
        Choice::NoBecause => "no…",
        Choice::Once | Choice::Always | Choice::No => says(choice),
    }
}

fn rule_rows(rule: &str, wide: usize) -> Vec<String> {
    let mut out = Wrapper::new(wide);
    let indent = || vec![("   ".to_owned(), crate::ui::widget::row::Role::Dim.into())];
    let piece = (rule.to_owned(), crate::ui::widget::row::Role::Text.into());
    out.line(&Prefix { first: indent(), rest: indent() }, &[piece], Break::Anywhere);
    out.rows().into_iter().map(|row| row.text).collect()
}

/// Draws what it is about; where not all of it is seen and there is no row to say so, the words for the lower border.
fn draw_preview(
    state: &mut State,
    keymap: &Keymap,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) -> Option<String> {
    if area.is_empty() {
        return None;
    }
    let rows = state.laid.rows();
    let mut room = usize::from(area.height);
    let whole = state.laid.whole() && rows.len() <= room;
    if !whole && room > 1 {
        room -= 1;
    }
    state.top = state.top.min(rows.len().saturating_sub(room));
    state.room = room;
    for (at, row) in rows.iter().skip(state.top).take(room).enumerate() {
        row.draw(buf, area.x, area.y + at as u16, area.width, theme);
    }
    if whole {
        return None;
    }
    let below = rows.len().saturating_sub(state.top + room);
    let many = if state.laid.whole() { below.to_string() } else { "many".to_owned() };
    let (down, up) = (keymap.hint(Action::PreviewDown), keymap.hint(Action::PreviewUp));
    if room < usize::from(area.height) {
        let wide = usize::from(area.width);
        let lines = if many == "1" { "line" } else { "lines" };
        let text = match (below, state.top) {
            (_, 0) => format!("… {many} more {lines} below ({down})"),
            (0, above) => format!("… {above} above ({up})"),
            (_, above) => format!("… {many} more {lines} below, {above} above ({down}, {up})"),
        };
        put(buf, area.x, area.bottom() - 1, &ellipsis(&text, wide), wide, theme.warning);
        return None;
    }
    Some(match below {
        0 => format!("{} more above: {up}", state.top),
        _ => format!("{many} more below: {down}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn every_part_stands_inside_and_the_preview_and_the_answers_come_first(
            height in 0u16..40, preview in 1usize..50, answers in 1usize..6, why in 0usize..4
        ) {
            let inner = Rect::new(3, 5, 30, height);
            let rects = places(inner, preview, answers, why);
            let sum: u16 = rects.iter().map(|r| r.height).sum();
            prop_assert!(sum <= height);
            prop_assert!(rects.iter().all(|r| r.bottom() <= inner.bottom() || r.height == 0));
            if height >= 2 {
                prop_assert!(rects[0].height > 0 && rects[2].height > 0);
            }
            if usize::from(height) >= preview + answers {
                prop_assert_eq!(usize::from(rects[0].height), preview, "cut for the reason");
            }
        }
    }
}
