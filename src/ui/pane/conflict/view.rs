//! Draws the viewer over the whole screen: what came back in a line, the paths, the versions, the result, the keys.

use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::columns::{Columns, column};
use super::list::Item;
use super::places::{List, Places, Wanted, places};
use super::text::Text;
use super::{Drawn, Focus, State, forms, heads, paths, result, words};
use crate::base::Millis;
use crate::law::merge::regions::Side;
use crate::ui::keymap::Keymap;
use crate::ui::theme::Theme;
use crate::ui::widget::row::put;
use crate::ui::widget::text::{ellipsis, tame};

/// What the viewer is drawn with.
pub struct Shown<'a> {
    /// The time.
    pub now: Millis,
    /// Which key does what.
    pub keymap: &'a Keymap,
    /// The parent's directory.
    pub cwd: &'a Path,
    /// The person's home, shown as `~`.
    pub home: &'a str,
}

/// What was drawn, and what is still to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where the cursor is; none: hidden.
    pub cursor: Option<(u16, u16)>,
    /// Where the line of keys goes.
    pub keys: Rect,
    /// Where a word to the person goes, so that it hides no key: its last row first.
    pub word: Rect,
}

/// Draws it, but for the line of keys and a word to the person.
pub fn view(state: &mut State, buf: &mut Buffer, theme: &Theme, shown: &Shown<'_>) -> Seen {
    let places = arrange(state, buf.area);
    heads::title(state, places.title, buf, theme, shown);
    heads::frames(state, &places, buf, theme);
    if let Some(list) = places.list {
        paths::view(state, list, buf, theme, shown.now);
    }
    let cursor = match state.hand_back() {
        _ if places.inner.is_empty() => None,
        Some(_) => inner(state, &places, buf, theme, shown),
        None => {
            paths::preview(state, pad(places.inner), buf, theme);
            None
        }
    };
    Seen { cursor, keys: places.keys, word: places.word }
}

/// Places everything on an area of this size, and notes what of the path is seen.
pub(super) fn arrange(state: &mut State, area: Rect) -> Places {
    let here = state.is_open_selected();
    let look = state.look;
    if let Some(text) = state.text_mut() {
        text.lay(look);
    }
    let seen: Vec<Side> = if here {
        state.text().map(|text| text.seen(look.two).to_vec()).unwrap_or_default()
    } else {
        Vec::new()
    };
    let form = state.open.as_ref().filter(|_| here).and_then(|open| open.form.as_ref());
    let lists = state.hand_back().is_none() || state.focus == Focus::Paths && !state.edits();
    let wanted = Wanted {
        sides: &seen,
        result: here && state.text().is_some_and(|text| text.fixed.is_none()),
        edits: here && state.edits(),
        lists,
        list: match state.hand_back() {
            Some(_) if look.wide && !lists => List::Nowhere,
            Some(_) => List::Paths,
            None if state.all.as_ref().is_some_and(|all| !all.is_empty()) => List::Children,
            None => List::Nowhere,
        },
        one: look.one,
        form: form.map_or(0, forms::Form::rows),
    };
    let places = places(area, &wanted);
    let mut drawn = Drawn::default();
    if let Some(list) = places.list {
        (drawn.list, drawn.list_area) = (usize::from(list.height), list);
    }
    drawn.versions = here && state.open.is_some() && !places.inner.is_empty();
    let bodies = places.versions.iter().map(|(_, part)| part.body);
    drawn.rows = bodies.clone().map(|body| usize::from(body.height)).max().unwrap_or(0);
    if drawn.versions {
        drawn.rows = drawn.rows.max(1);
        drawn.versions_area = bodies.reduce(Rect::union).unwrap_or_default();
    }
    state.drawn = drawn;
    places
}

/// The versions, the form, the result.
fn inner(
    state: &mut State,
    places: &Places,
    buf: &mut Buffer,
    theme: &Theme,
    shown: &Shown<'_>,
) -> Option<(u16, u16)> {
    if !state.drawn.versions {
        paths::words_in(&tame(&instead(state)), pad(places.inner), buf, theme);
        return None;
    }
    let State { open, look, colours, child, alone, drawn, .. } = state;
    let (open, child) = (open.as_mut()?, child.as_deref().unwrap_or_default());
    if let (Some(form), Some(place)) = (&open.form, places.form) {
        forms::view(form, pad(place), buf, theme, shown.keymap);
    }
    let Some(text) = &mut open.text else {
        if open.form.is_none() {
            let facts = format!(
                "base: {} · child: {}",
                words::fact(&open.sides.base),
                words::fact(&open.sides.theirs)
            );
            paths::words_in(&facts, pad(places.inner), buf, theme);
        }
        return None;
    };
    if text.drawn.replace(drawn.rows) != Some(drawn.rows)
        && let Some(current) = text.current
    {
        text.show(current, drawn.rows);
    }
    text.top = text.top.min(text.table.rows.len().saturating_sub(drawn.rows));
    let lang = lang(&open.sides.path);
    for (side, _) in &places.versions {
        colour(colours, (open.id, *side), &lang, text, drawn.rows);
    }
    let mut editor = text.editor.take();
    let of = Columns { text, id: open.id, colours, whitespace: look.whitespace, theme };
    let stacked = places.frame.is_none();
    for (side, part) in &places.versions {
        head(&words::side(*side, child, *alone), stacked, part.head, buf, theme);
        column(&of, *side, strip_top(of.text, *side, part.body, drawn.rows), part.body, buf);
    }
    let mut cursor = None;
    if let Some(part) = places.result {
        let name = if editor.is_some() { "result, by hand" } else { "result" };
        head(name, true, part.head, buf, theme);
        match &mut editor {
            Some(editor) => cursor = result::editor(&of, editor, part.body, buf),
            None => {
                let top = of.text.result_top(drawn.rows, usize::from(part.body.height));
                result::result(&of, top, part.body, buf);
            }
        }
    }
    text.editor = editor;
    cursor
}

/// What is said where no path is shown.
fn instead(state: &State) -> String {
    match (state.item(), &state.trouble) {
        (_, Some(why)) => why.clone(),
        (Some(Item::LeftOut(_)), None) => {
            "The ignore rules leave it out, so it was not brought over. It stays in \
             the copy of the child until that is dropped."
                .to_owned()
        }
        (Some(Item::Path(_)), None) if state.compares() => "comparing…".to_owned(),
        (Some(Item::Path(_)), None) => "looking…".to_owned(),
        (None, None) => "There is nothing to look at: its copy ended as it began.".to_owned(),
    }
}

/// Asks for the colours of what is seen of a version.
fn colour(
    colours: &mut super::colours::Colours,
    (id, side): (u64, Side),
    lang: &str,
    text: &Text,
    rows: usize,
) {
    let last = text.table.rows.iter().skip(text.top).take(rows).filter_map(|row| row.line(side)).max();
    if let Some(last) = last {
        colours.want(id, side, lang, text.resolution.three(), last);
    }
}

/// The first row of a version: where it has fewer rows than the others, its own lines of the hunk at hand are seen.
fn strip_top(text: &Text, side: Side, place: Rect, rows: usize) -> usize {
    let height = usize::from(place.height);
    let hunk = text.current.map(|current| text.table.of(current));
    match hunk.filter(|hunk| height < rows && hunk.start > text.top && hunk.start < text.top + rows) {
        Some(hunk) => {
            let first = text.table.rows[hunk.clone()].iter().position(|row| row.line(side).is_some());
            (hunk.start + first.unwrap_or(0)).min((text.top + rows).saturating_sub(height))
        }
        None => text.top,
    }
}

/// The line that names a version: a rule where it stands above another.
fn head(name: &str, rule: bool, place: Rect, buf: &mut Buffer, theme: &Theme) {
    if place.is_empty() {
        return;
    }
    let wide = usize::from(place.width);
    if rule {
        let line = "─".repeat(wide);
        put(buf, place.x, place.y, &line, wide, theme.text.patch(theme.border));
    }
    let text = format!(" {name} ");
    put(buf, place.x, place.y, &ellipsis(&text, wide), wide, theme.text.patch(theme.dim));
}

fn pad(rect: Rect) -> Rect {
    Rect { x: rect.x + 1.min(rect.width), width: rect.width.saturating_sub(2), ..rect }
}

/// What the highlighter knows a path by.
fn lang(path: &crate::law::hand_back::tree::TreePath) -> String {
    let name = String::from_utf8_lossy(path.name()).into_owned();
    name.rsplit_once('.').map_or(name.clone(), |(_, end)| end.to_owned())
}
