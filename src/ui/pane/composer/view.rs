//! The composer drawn: the prompt mark, the text, the suggestions above it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget as _};

use super::State;
use super::popup::ROWS;
use crate::ui::theme::Theme;
use crate::ui::widget::row::Put as _;
use crate::ui::widget::text::ellipsis;

/// Columns of the prompt mark.
const MARK: u16 = 2;

/// How many rows the draft wants at a width, at most `most`.
pub fn rows(state: &mut State, width: u16, most: u16) -> u16 {
    let inner = width.saturating_sub(MARK).max(1);
    state.draft.area.measure(inner).content_rows.clamp(1, most.max(1))
}

/// Draws the draft; where the cursor is.
pub fn view(
    state: &mut State,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
    hint: &str,
) -> Option<(u16, u16)> {
    if area.is_empty() {
        return None;
    }
    buf.put(area.x, area.y, "❯", usize::from(area.width), theme.user);
    let inner = Rect { x: area.x + MARK.min(area.width), width: area.width.saturating_sub(MARK), ..area };
    if inner.is_empty() {
        return None;
    }
    state.draft.area.set_style(theme.text);
    state.draft.area.clear_custom_highlight();
    if let Some((from, to)) = super::vi::selected(state) {
        state.draft.area.custom_highlight((from, to), theme.selection, 1);
    }
    (&state.draft.area).render(inner, buf);
    if state.draft.is_empty() {
        buf.put(
            inner.x,
            inner.y,
            ellipsis(hint, usize::from(inner.width)),
            usize::from(inner.width),
            theme.dim,
        );
        return Some((inner.x, inner.y));
    }
    let at = state.draft.drawn_cursor()?;
    Some((at.x.min(inner.right() - 1), at.y.min(inner.bottom() - 1)))
}

/// Draws the suggestions at the bottom of `area` (between title and composer), over what stands there.
pub fn view_popup(state: &State, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let Some(popup) = &state.popup else { return };
    let shown = popup.rows.len().min(ROWS).min(usize::from(area.height));
    if shown == 0 || area.width < 4 {
        return;
    }
    let first = (popup.at + 1).saturating_sub(shown);
    let rect = Rect { y: area.bottom() - shown as u16, height: shown as u16, ..area };
    Clear.render(rect, buf);
    buf.set_style(rect, theme.code_block);
    let width = usize::from(rect.width);
    let longest = popup.rows.iter().map(|(text, _)| crate::ui::widget::text::width(text)).max().unwrap_or(0);
    for (line, (text, says)) in popup.rows.iter().skip(first).take(shown).enumerate() {
        let y = rect.y + line as u16;
        let style = if first + line == popup.at { theme.selection } else { theme.code_block };
        buf.set_style(Rect { y, height: 1, ..rect }, style);
        buf.put(rect.x + 1, y, ellipsis(text, width - 2), width - 2, style);
        let says_at = longest.min(width / 2) + 3;
        if !says.is_empty() && says_at + 8 < width {
            let left = width - says_at - 1;
            buf.put(rect.x + says_at as u16, y, ellipsis(says, left), left, style);
        }
    }
}
