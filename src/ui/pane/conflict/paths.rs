//! Draws the lists: the children of whom something came back, and the paths of one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::list::{Item, item, len};
use super::{Focus, State, legend, words};
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
    let Some(hand_back) = state.hand_back() else { return };
    if len(hand_back) == 0 {
        return words_in("Nothing came back.", area, buf, theme);
    }
    let top = first(hand_back, (state.top, state.selected), area);
    let mut used = 0;
    let mut letters = Vec::new();
    for (at, row, rows) in placed(hand_back, top, area) {
        let Some(item) = item(hand_back, at) else { continue };
        let place = Rect { y: area.y + row, height: rows.min(area.height - row), ..area };
        let marked = (at == state.selected).then_some(state.focus == Focus::Paths);
        line(hand_back, item, marked, place, buf, theme);
        (used, _) = (usize::from(row + rows), letters.extend(letters_of(item, 0).chars()));
    }
    if usize::from(area.width) < WORDS_FROM {
        legend::draw(&letters, used, area, buf, theme);
    }
    state.top = top;
}

/// The first path that is drawn, so that the selected one is seen whole and no room is left below.
fn first(hand_back: &HandBack, (top, selected): (usize, usize), area: Rect) -> usize {
    let fits_from = |last: usize| {
        let mut left = area.height;
        let fits = |at: &usize| {
            let rows = rows(hand_back, *at, area.width);
            let fits = rows <= left;
            left = left.saturating_sub(rows);
            fits
        };
        (0..=last).rev().take_while(fits).last().unwrap_or(last)
    };
    top.min(selected).max(fits_from(selected)).min(fits_from(len(hand_back).saturating_sub(1)))
}

/// What is drawn from a path on: each with its first row, and how many it has.
fn placed(hand_back: &HandBack, top: usize, area: Rect) -> impl Iterator<Item = (usize, u16, u16)> {
    let mut next = 0;
    (top..len(hand_back)).map_while(move |at| {
        let (row, rows) = (next, rows(hand_back, at, area.width));
        next += rows;
        (row < area.height).then_some((at, row, rows))
    })
}

/// The path that is drawn in a row, counted from the first one.
pub(super) fn at_row(hand_back: &HandBack, top: usize, row: u16, area: Rect) -> Option<usize> {
    let at = |(at, first, rows): (usize, u16, u16)| (first..first + rows).contains(&row).then_some(at);
    placed(hand_back, top, area).find_map(at)
}

/// Rows of a path: another name that does not fit beside it stands below it.
fn rows(hand_back: &HandBack, at: usize, wide: u16) -> u16 {
    let below = item(hand_back, at).is_some_and(|item| {
        let room = usize::from(wide).saturating_sub(2 + width(&letters_of(item, usize::from(wide))));
        names(hand_back, item, room).1.is_some()
    });
    1 + u16::from(below)
}

/// Columns from which words stand in the place of the letters.
const WORDS_FROM: usize = 46;

/// What stands at the end of a path's row: its letter, and whether choices are kept for it; in words where there is room.
fn letters_of(item: Item<'_>, wide: usize) -> String {
    let (letter, draft) = match item {
        Item::Path(path) => (words::mark(path).1, path.draft && path.is_open()),
        Item::LeftOut(_) => ('–', false),
    };
    match (wide >= WORDS_FROM, draft) {
        (true, true) => format!(" {}, {} ", legend::word(letter), legend::word('…')),
        (true, false) => format!(" {} ", legend::word(letter)),
        (false, true) => format!(" {letter}…"),
        (false, false) => format!(" {letter} "),
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
    let (mark, _, role) = match item {
        Item::Path(path) => words::mark(path),
        Item::LeftOut(_) => ("·", '–', Role::Dim),
    };
    let letters = letters_of(item, wide);
    let kept = width(&letters);
    let mut x = put(buf, place.x, place.y, mark, wide, ink(Look::from(role).style(theme)));
    x += put(buf, place.x + x as u16, place.y, " ", wide - x, style);
    let room = wide.saturating_sub(x + kept);
    let (text, below) = names(hand_back, item, room);
    let plain = match item {
        Item::Path(path) if path.is_open() => theme.text,
        Item::Path(_) | Item::LeftOut(_) => theme.text.patch(theme.dim),
    };
    put(buf, place.x + x as u16, place.y, &text, room, ink(plain));
    if let Some(below) = below.filter(|_| place.height > 1) {
        put(buf, place.x + 2, place.y + 1, &below, wide.saturating_sub(2), ink(plain));
    }
    if wide > kept + 4 {
        let style = ink(Look::from(role).style(theme));
        put(buf, place.right() - kept as u16, place.y, &letters, kept, style);
    }
}

/// A path as it is listed, in so many columns: with its other name where it has one, below it where there is no room for
/// both.
fn names(hand_back: &HandBack, item: Item<'_>, room: usize) -> (String, Option<String>) {
    let path = item.path();
    let short = |path: &TreePath| tame(&String::from_utf8_lossy(path.name())).into_owned();
    let to = hand_back.renames.iter().find(|rename| rename.to == *path);
    let from = hand_back.renames.iter().find(|rename| rename.from == *path);
    let other = match (to, from, item) {
        (Some(rename), ..) => format!("← {}", short(&rename.from)),
        (_, Some(rename), _) => format!("→ {}", short(&rename.to)),
        (None, None, Item::LeftOut(_)) => "(left out)".to_owned(),
        (None, None, Item::Path(_)) => return (from_the_end(&path.to_string(), room), None),
    };
    let own = from_the_end(&path.to_string(), room.saturating_sub(width(&other) + 1));
    if own.ends_with(&short(path)) && width(&own) + 1 + width(&other) <= room {
        return (format!("{own} {other}"), None);
    }
    let own = from_the_end(&path.to_string(), room);
    match item {
        Item::LeftOut(_) => (own, None),
        Item::Path(_) => (own, Some(in_the_middle(&other, room))),
    }
}

/// A text cut in its middle.
fn in_the_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns || columns < 5 {
        return ellipsis(text, columns).into_owned();
    }
    let half = columns / 2;
    let first = ellipsis(text, half + 1).trim_end_matches('…').to_owned();
    let last = from_the_end(text, columns - width(&first));
    format!("{first}{}", last)
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
