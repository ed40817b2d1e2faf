//! Draws the lists: the children of whom something came back, and the paths of one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::list::{Item, item, len};
use super::{Focus, State, words};
use crate::api::hand_back::HandBack;
use crate::base::Millis;
use crate::law::hand_back::tree::TreePath;
use crate::ui::overlay::catalog::ago;
use crate::ui::theme::Theme;
use crate::ui::widget::row::{Look, Role, put};
use crate::ui::widget::text::{cluster_width, clusters, ellipsis, tame, width};

/// Draws the list that is at hand.
pub(super) fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
    state.drawn.list = usize::from(area.height);
    state.drawn.list_area = area;
    if area.is_empty() {
        return;
    }
    match state.hand_back() {
        Some(_) => paths(state, area, buf, theme),
        None => children(state, area, buf, theme, now),
    }
}

/// The first line that is drawn, so that the marked one is seen.
fn scroll(top: usize, marked: usize, all: usize, height: usize) -> usize {
    top.min(marked).max((marked + 1).saturating_sub(height)).min(all.saturating_sub(height))
}

fn children(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let wide = usize::from(area.width);
    let Some(all) = state.all.as_ref().filter(|all| !all.is_empty()) else {
        return words_in(empty(state), area, buf, theme);
    };
    state.top = scroll(state.top, state.picked, all.len(), usize::from(area.height));
    for (n, one) in all.iter().enumerate().skip(state.top).take(usize::from(area.height)) {
        let place = Rect { y: area.y + (n - state.top) as u16, height: 1, ..area };
        let marked = n == state.picked;
        let style = if marked { theme.selection } else { theme.text };
        buf.set_style(place, style);
        let open = one.paths.iter().any(crate::api::hand_back::HandBackPath::is_open);
        let ink = |role: Role| if marked { theme.selection } else { Look::from(role).style(theme) };
        let (mark, role) = if open { ("⚑ ", Role::Warning) } else { ("✓ ", Role::Ok) };
        let mut x = put(buf, place.x, place.y, mark, wide, ink(role));
        let name = tame(&one.child);
        let text = format!("{name}  {}", words::counts(one));
        x += put(buf, place.x + x as u16, place.y, &ellipsis(&text, wide - x), wide - x, style);
        let age = format!("{} ago", ago(now.since(one.at)));
        if x + width(&age) + 2 <= wide {
            put(buf, place.right() - width(&age) as u16, place.y, &age, width(&age), ink(Role::Dim));
        }
    }
}

/// What is said where nothing is listed, and what to do.
fn empty(state: &State) -> &'static str {
    match (&state.all, &state.trouble) {
        (_, Some(_)) => "It could not be looked up. Leave and open it again.",
        (None, None) => "looking…",
        (Some(_), None) => {
            "Nothing has come back from a subagent yet. When one ends that works in a copy of its own, what it changed stands here: taken, or as a conflict to decide."
        }
    }
}

/// Draws words, broken at blanks.
pub(super) fn words_in(text: &str, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let (mut x, mut y) = (0, 0);
    let wide = usize::from(area.width);
    for word in text.split(' ') {
        let long = width(word);
        if x > 0 && x + 1 + long > wide {
            (x, y) = (0, y + 1);
        }
        if y >= area.height {
            return;
        }
        x += usize::from(x > 0);
        let room = wide.saturating_sub(x);
        x += put(buf, area.x + x.min(wide) as u16, area.y + y, &ellipsis(word, room), room, theme.dim);
    }
}

fn paths(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let Some(all) = state.hand_back().map(len) else { return };
    state.top = scroll(state.top, state.selected, all, usize::from(area.height));
    let Some(hand_back) = state.hand_back() else { return };
    if all == 0 {
        return words_in("The child changed nothing.", area, buf, theme);
    }
    for at in state.top..all.min(state.top + usize::from(area.height)) {
        let place = Rect { y: area.y + (at - state.top) as u16, height: 1, ..area };
        let marked = (at == state.selected).then_some(state.focus == Focus::Paths);
        if let Some(item) = item(hand_back, at) {
            line(hand_back, item, marked, place, buf, theme);
        }
    }
}

/// One path: its mark, its name, its letter. `marked`: it is selected, and whether the list has the keys.
fn line(
    hand_back: &HandBack,
    item: Item<'_>,
    marked: Option<bool>,
    place: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) {
    let wide = usize::from(place.width);
    let style = match marked {
        Some(true) => theme.selection,
        // where it is seen that the keys are elsewhere
        Some(false) => theme.text.patch(theme.hit),
        None => theme.text,
    };
    buf.set_style(place, style);
    let ink = |ink: Style| if marked.is_some() { style } else { ink };
    let (mark, letter, role) = match item {
        Item::Path(path) => words::mark(path),
        Item::LeftOut(_) => ("·", '–', Role::Dim),
    };
    let draft = matches!(item, Item::Path(path) if path.draft && path.is_open());
    let letters = if draft { format!(" {letter}…") } else { format!(" {letter} ") };
    let kept = width(&letters);
    let mut x = put(buf, place.x, place.y, mark, wide, ink(Look::from(role).style(theme)));
    x += put(buf, place.x + x as u16, place.y, " ", wide - x, style);
    let room = wide.saturating_sub(x + kept);
    let text = name(hand_back, item);
    let plain = match item {
        Item::Path(path) if path.is_open() => theme.text,
        Item::Path(_) | Item::LeftOut(_) => theme.text.patch(theme.dim),
    };
    put(buf, place.x + x as u16, place.y, &from_the_end(&text, room), room, ink(plain));
    if wide > kept + 4 {
        let style = ink(Look::from(role).style(theme));
        put(buf, place.right() - kept as u16, place.y, &letters, kept, style);
    }
}

/// A path as it is listed: with its other name where it has one.
fn name(hand_back: &HandBack, item: Item<'_>) -> String {
    let path = item.path();
    let short = |path: &TreePath| tame(&String::from_utf8_lossy(path.name())).into_owned();
    let to = hand_back.renames.iter().find(|rename| rename.to == *path);
    let from = hand_back.renames.iter().find(|rename| rename.from == *path);
    match (to, from, item) {
        (Some(rename), ..) => format!("{path} ← {}", short(&rename.from)),
        (_, Some(rename), _) => format!("{path} → {}", short(&rename.to)),
        (None, None, Item::LeftOut(_)) => format!("{path} (left out)"),
        (None, None, Item::Path(_)) => path.to_string(),
    }
}

/// A text cut at its beginning: of a path the end tells most.
pub(super) fn from_the_end(text: &str, columns: usize) -> String {
    let all = width(text);
    if all <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let mut over = all + 1 - columns;
    let mut at = 0;
    for cluster in clusters(text) {
        if over == 0 {
            break;
        }
        over = over.saturating_sub(cluster_width(cluster));
        at += cluster.len();
    }
    format!("…{}", &text[at..])
}
