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
use crate::ui::widget::text::{broken, cluster_width, clusters, ellipsis, tame, width};

/// Draws the list that is at hand.
pub(super) fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
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
        let (mark, role) = match one.paths.is_empty() {
            _ if open => ("⚑ ", Role::Warning),
            true => ("· ", Role::Dim),
            false => ("✓ ", Role::Ok),
        };
        let mut x = put(buf, place.x, place.y, mark, wide, ink(role));
        // how it stands matters more than when that was
        let name = tame(&one.child);
        let text = format!("{name}  {}", words::counts(one));
        x += put(buf, place.x + x as u16, place.y, &ellipsis(&text, wide - x), wide - x, style);
        let age = format!("{} ago", ago(now.since(one.at)));
        if x + width(&age) + 2 <= wide {
            put(buf, place.right() - width(&age) as u16, place.y, &age, width(&age), ink(Role::Dim));
        }
    }
}

/// Draws what came back from the child that is marked, without opening it: what waits first. Without children: what is
/// said instead.
pub(super) fn preview(state: &State, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let Some(one) = state.all.as_ref().and_then(|all| all.get(state.picked)) else {
        return words_in(empty(state), area, buf, theme);
    };
    if one.paths.is_empty() {
        return words_in("Its copy ended as it began: nothing came back.", area, buf, theme);
    }
    let (open, rest): (Vec<_>, Vec<_>) = one.paths.iter().partition(|path| path.is_open());
    let rows = usize::from(area.height);
    let all = open.len() + rest.len();
    let shown = if all > rows { rows.saturating_sub(1) } else { all };
    let names = one.paths.iter().map(|path| width(&path.path.to_string())).max().unwrap_or(0);
    let names = names.min(usize::from(area.width) / 2);
    for (n, path) in open.into_iter().chain(rest).take(shown).enumerate() {
        let place = Rect { y: area.y + n as u16, height: 1, ..area };
        let (mark, _, role) = words::mark(path);
        let wide = usize::from(place.width);
        put(buf, place.x, place.y, mark, wide, Look::from(role).style(theme));
        let ink = if path.is_open() { theme.text } else { theme.text.patch(theme.dim) };
        let name = from_the_end(&path.path.to_string(), names);
        put(buf, place.x + 2, place.y, &name, wide.saturating_sub(2), ink);
        let room = wide.saturating_sub(names + 4);
        let text = words::outcome(path);
        let x = place.x + (names + 4) as u16;
        put(buf, x, place.y, &ellipsis(&text, room), room, theme.text.patch(theme.dim));
    }
    if shown < all && area.height > 0 {
        let more = format!("… and {} more", all - shown);
        let wide = usize::from(area.width);
        put(buf, area.x, area.bottom() - 1, &ellipsis(&more, wide), wide, theme.text.patch(theme.dim));
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
    let wide = usize::from(area.width);
    for (n, line) in broken(text, wide).iter().enumerate().take(usize::from(area.height)) {
        put(buf, area.x, area.y + n as u16, line, wide, theme.dim);
    }
}

fn paths(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let Some(all) = state.hand_back().map(len) else { return };
    state.top = scroll(state.top, state.selected, all, usize::from(area.height));
    let Some(hand_back) = state.hand_back() else { return };
    if all == 0 {
        return words_in("Nothing came back.", area, buf, theme);
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
    let text = name(hand_back, item, room);
    let plain = match item {
        Item::Path(path) if path.is_open() => theme.text,
        Item::Path(_) | Item::LeftOut(_) => theme.text.patch(theme.dim),
    };
    put(buf, place.x + x as u16, place.y, &text, room, ink(plain));
    if wide > kept + 4 {
        let style = ink(Look::from(role).style(theme));
        put(buf, place.right() - kept as u16, place.y, &letters, kept, style);
    }
}

/// A path as it is listed, in so many columns: with its other name where it has one and there is room for it.
fn name(hand_back: &HandBack, item: Item<'_>, room: usize) -> String {
    let path = item.path();
    let short = |path: &TreePath| tame(&String::from_utf8_lossy(path.name())).into_owned();
    let to = hand_back.renames.iter().find(|rename| rename.to == *path);
    let from = hand_back.renames.iter().find(|rename| rename.from == *path);
    let (arrow, other) = match (to, from, item) {
        (Some(rename), ..) => (" ←", format!(" {}", short(&rename.from))),
        (_, Some(rename), _) => (" →", format!(" {}", short(&rename.to))),
        (None, None, Item::LeftOut(_)) => (" (left out)", String::new()),
        (None, None, Item::Path(_)) => return from_the_end(&path.to_string(), room),
    };
    let fits = |text: &String| width(text) <= room;
    let own = from_the_end(&path.to_string(), room.saturating_sub(width(arrow) + width(&other)));
    let whole = Some(format!("{own}{arrow}{other}")).filter(|text| fits(text) && own.ends_with(&short(path)));
    let half =
        || Some(format!("{}{arrow}", from_the_end(&path.to_string(), room.saturating_sub(width(arrow)))));
    let half = || half().filter(|text| fits(text) && text.contains(&short(path)));
    whole.or_else(half).unwrap_or_else(|| from_the_end(&path.to_string(), room))
}

/// A path cut at its beginning, since its end tells most: at the end of a directory's name where the last part fits.
pub(super) fn from_the_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let cuts = text.match_indices('/').map(|(at, _)| &text[at..]);
    if let Some(rest) = cuts.into_iter().find(|rest| width(rest) < columns) {
        return format!("…{rest}");
    }
    let mut over = width(text) + 1 - columns;
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
