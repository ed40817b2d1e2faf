//! Draws the viewer over the whole screen: what came back in a line, the paths, the versions, the result, the keys.

use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Widget as _};

use super::columns::{Columns, column};
use super::list::Item;
use super::places::{Places, Wanted, places};
use super::text::Text;
use super::{Focus, State, forms, paths, result, words};
use crate::base::Millis;
use crate::law::merge::regions::{Side, Whitespace};
use crate::ui::action::Action;
use crate::ui::keymap::Keymap;
use crate::ui::theme::Theme;
use crate::ui::widget::row::put;
use crate::ui::widget::text::{ellipsis, tame, width};

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

/// Draws it; where the cursor is (none: hidden) and where the line of keys goes.
pub fn view(
    state: &mut State,
    buf: &mut Buffer,
    theme: &Theme,
    shown: &Shown<'_>,
) -> (Option<(u16, u16)>, Rect) {
    let area = buf.area;
    state.drawn = super::Drawn::default();
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
    let form =
        state.open.as_ref().filter(|_| here).and_then(|open| open.form.as_ref()).map_or(0, forms::Form::rows);
    let wanted = Wanted {
        sides: &seen,
        result: here && state.text().is_some_and(|text| text.fixed.is_none()),
        edits: here && state.edits(),
        lists: state.hand_back().is_none() || state.focus == Focus::Paths && !state.edits(),
        wide: look.wide,
        one: look.one,
        form,
    };
    let places = places(area, &wanted);
    title(state, places.title, buf, theme, shown);
    frames(state, &places, buf, theme);
    if let Some(list) = places.list {
        paths::view(state, list, buf, theme, shown.now);
    }
    let cursor = if state.hand_back().is_some() && !places.inner.is_empty() {
        inner(state, &places, buf, theme, shown)
    } else {
        None
    };
    (cursor, places.keys)
}

fn title(state: &State, place: Rect, buf: &mut Buffer, theme: &Theme, shown: &Shown<'_>) {
    if place.is_empty() {
        return;
    }
    buf.set_style(place, theme.title);
    let wide = usize::from(place.width);
    let cwd = shown.cwd.to_string_lossy();
    let cwd = match cwd.strip_prefix(shown.home) {
        Some(rest) if shown.home.len() > 1 => format!("~{rest}"),
        _ => cwd.into_owned(),
    };
    let (left, right) = match (state.hand_back(), state.alone) {
        (Some(one), true) => {
            let path = one.paths.first().map(|path| path.path.to_string()).unwrap_or_default();
            (format!(" Merge · {path}"), String::new())
        }
        (Some(one), false) => {
            (format!(" Hand-back · {} → {}", tame(&one.child), tame(&cwd)), words::counts(one))
        }
        (None, true) => (" Merge".to_owned(), String::new()),
        (None, false) => (" Hand-backs".to_owned(), String::new()),
    };
    // how it stands matters more than where
    let room = wide.saturating_sub(if right.is_empty() { 0 } else { width(&right) + 2 });
    let (left, right) =
        if room < 16 && !right.is_empty() { (format!(" {right}"), String::new()) } else { (left, right) };
    let room = wide.saturating_sub(if right.is_empty() { 0 } else { width(&right) + 2 });
    put(buf, place.x, place.y, &ellipsis(&left, room), room, theme.title);
    if !right.is_empty() {
        let x = place.right() - 1 - width(&right) as u16;
        put(buf, x, place.y, &right, width(&right), theme.title);
    }
}

/// What stands in the line of the path: the path and its outcome; and where one is in it.
fn heads(state: &State, narrow: bool) -> (String, String) {
    let Some(item) = state.item() else { return (String::new(), String::new()) };
    let outcome = match item {
        Item::Path(path) => words::outcome(path),
        Item::LeftOut(_) => "left out by the ignore rules: it is still in the copy".to_owned(),
    };
    let right = match state.text().filter(|_| state.is_open_selected()) {
        Some(text) if narrow => briefly(text),
        Some(text) => where_it_is(text, state.look.whitespace),
        None => String::new(),
    };
    (format!("{} · {outcome}", item.path()), right)
}

/// The same where there is little room.
fn briefly(text: &Text) -> String {
    match (text.number(), text.current) {
        (Some((number, all)), Some(at)) => format!("{number}/{all} {}", text.stands(at)),
        (_, _) => String::new(),
    }
}

fn where_it_is(text: &Text, whitespace: Whitespace) -> String {
    let mut out = Vec::new();
    if let Some(from) = text.proposal {
        out.push(format!("proposal, {from}"));
    }
    if let (Some((number, all)), Some(at)) = (text.number(), text.current) {
        out.push(format!("hunk {number} of {all}"));
        out.push(text.stands(at));
        if text.is_blank(at, whitespace) {
            out.push("whitespace only".to_owned());
        }
    } else if !text.hunks().is_empty() {
        out.push(format!("{} hunks", text.hunks().len()));
    }
    let open = text.open();
    if open > 0 && text.resolution.hunks().count() > 1 {
        out.push(format!("{open} open"));
    } else if open == 0 && text.fixed.is_none() {
        out.push("all chosen".to_owned());
    }
    if whitespace == Whitespace::SetAside {
        out.push("no whitespace".to_owned());
    }
    out.join(" · ")
}

fn frames(state: &State, places: &Places, buf: &mut Buffer, theme: &Theme) {
    let lists = state.hand_back().is_none() || state.focus == Focus::Paths;
    let style = |focus: bool| if focus { theme.border_focus } else { theme.border };
    if let Some(rect) = places.list_frame {
        let name = if state.hand_back().is_some() { " Paths " } else { " Children " };
        Block::bordered().border_style(style(lists)).title(name).title_style(theme.dim).render(rect, buf);
    }
    let (left, right) = heads(state, buf.area.width < super::places::MEDIUM);
    if let Some(rect) = places.frame {
        Block::bordered().border_style(style(!lists)).render(rect, buf);
        let line = Rect { x: rect.x + 1, width: rect.width.saturating_sub(2), height: 1, ..rect };
        two_ends(&left, &right, line, buf, theme);
        // the lines between the versions, and the one above the result
        let mut last: Option<Rect> = None;
        for (_, part) in &places.versions {
            if let Some(last) = last {
                for y in last.y..part.body.bottom() {
                    put(buf, last.right(), y, "│", 1, theme.text.patch(style(false)));
                }
            }
            last = Some(Rect { y: part.head.y, ..part.body });
        }
        if let Some(part) = places.result.filter(|part| part.head.height > 0 && part.head.y > rect.y + 1) {
            put(buf, rect.x, part.head.y, "├", 1, theme.text.patch(style(!lists)));
            put(buf, rect.right() - 1, part.head.y, "┤", 1, theme.text.patch(style(!lists)));
        }
    }
    if let Some(line) = places.head {
        two_ends(&left, &right, line, buf, theme);
    }
}

/// A text at the left and one at the right of a line; the right one stays whole.
fn two_ends(left: &str, right: &str, line: Rect, buf: &mut Buffer, theme: &Theme) {
    let wide = usize::from(line.width);
    let right = if right.is_empty() {
        String::new()
    } else {
        format!(" {} ", ellipsis(right, wide.saturating_sub(8)))
    };
    let room = wide.saturating_sub(width(&right) + 1);
    let path = left.split(" · ").next().unwrap_or_default();
    let left = if width(left) + 2 <= room {
        left.to_owned()
    } else {
        paths::from_the_end(path, room.saturating_sub(2))
    };
    if room > 2 {
        put(buf, line.x, line.y, &format!(" {left} "), room, theme.text.patch(theme.strong));
    }
    if wide > width(&right) {
        put(
            buf,
            line.right() - width(&right) as u16,
            line.y,
            &right,
            width(&right),
            theme.text.patch(theme.accent),
        );
    }
}

/// The versions, the form, the result.
fn inner(
    state: &mut State,
    places: &Places,
    buf: &mut Buffer,
    theme: &Theme,
    shown: &Shown<'_>,
) -> Option<(u16, u16)> {
    if !state.is_open_selected() || state.open.is_none() {
        paths::words_in(&tame(&instead(state)), pad(places.inner), buf, theme);
        return None;
    }
    let State { open, look, colours, child, alone, drawn, .. } = state;
    let (open, child) = (open.as_mut()?, child.as_deref().unwrap_or_default());
    drawn.versions = true;
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
    let rows = places.versions.iter().map(|(_, part)| usize::from(part.body.height)).max().unwrap_or(0);
    drawn.rows = rows.max(1);
    if let Some((_, part)) = places.versions.first() {
        drawn.versions_area = places.versions.iter().fold(part.body, |all, (_, part)| all.union(part.body));
    }
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
            Some(editor) => cursor = result::editor(editor, part.body, buf, theme),
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
        (Some(Item::Path(_)), None) => "looking…".to_owned(),
        (None, None) => "The child changed nothing.".to_owned(),
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

/// The keys that matter now, those first that narrow screens keep.
pub fn hints(state: &State) -> Vec<(Action, &'static str)> {
    use Action as A;
    if state.edits() {
        return vec![(A::ConflictEditDone, "takes it"), (A::ConflictEditDrop, "drops it")];
    }
    let leave = if state.alone { (A::ConflictLeave, "leave unwritten") } else { (A::ConflictLeave, "leave") };
    if state.hand_back().is_none() {
        let open = state.all.as_ref().is_some_and(|all| !all.is_empty());
        let open = open.then_some((A::ConflictOpen, "open"));
        return open.into_iter().chain([leave]).collect();
    }
    let open = state.open.as_ref().filter(|_| state.is_open_selected());
    let mut out = Vec::new();
    match open {
        Some(open) if open.form.is_some() => {
            out.extend([(A::ConflictParent, "parent"), (A::ConflictChild, "child")]);
            if open.form.as_ref().is_some_and(forms::Form::is_chosen) {
                out.extend([(A::ConflictWrite, "write"), (A::ConflictUndo, "undo")]);
            }
        }
        Some(open) if open.is_merge() => {
            out.extend([
                (A::ConflictParent, "parent"),
                (A::ConflictChild, "child"),
                (A::ConflictBoth, "both"),
            ]);
            out.extend([(A::ConflictWrite, "write"), (A::ConflictUndo, "undo"), (A::ConflictEdit, "edit")]);
            if open.sides.earlier.is_some() {
                out.push((A::ConflictEarlier, "as before"));
            }
            if open.sides.can_propose {
                out.push((A::ConflictPropose, "mergiraf"));
            }
            out.extend([
                (A::ConflictNext, "next"),
                (A::ConflictBase, "base"),
                (A::ConflictEditor, "$EDITOR"),
                (A::ConflictBothChildFirst, "both, child first"),
                (A::ConflictOpenParent, "all parent"),
                (A::ConflictOpenChild, "all child"),
            ]);
        }
        Some(open) => {
            use crate::api::hand_back::ByHand;
            match (open.sides.verdict, open.by_hand) {
                (_, ByHand::Resolved | ByHand::Reverted) => out.push((A::ConflictUndo, "take it back")),
                (crate::law::hand_back::merge1::Verdict::Taken, _) => {
                    out.push((A::ConflictRevert, "put it back"))
                }
                (_, ByHand::Nothing | ByHand::Outside) => {}
            }
            out.push((A::ConflictNext, "next change"));
        }
        None => {}
    }
    if state.next_open_path().is_some() {
        out.push((A::ConflictNextOpen, "next open"));
    }
    out.extend([(A::ConflictFocus, "paths"), leave]);
    out
}
