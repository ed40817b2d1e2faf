//! Draws what stands around the content: the title, the frames, the line that names the path.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Widget as _};

use super::list::Item;
use super::open::Open;
use super::places::Places;
use super::text::Text;
use super::view::Shown;
use super::{Focus, State, paths, words};
use crate::law::merge::regions::Whitespace;
use crate::ui::theme::Theme;
use crate::ui::widget::row::put;
use crate::ui::widget::text::{ellipsis, tame, width};

/// Draws the title: whose hand-back, to where, and how it stands.
pub(super) fn title(state: &State, place: Rect, buf: &mut Buffer, theme: &Theme, shown: &Shown<'_>) {
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

/// What stands in the line of the path.
#[derive(Default)]
struct Heads {
    path: String,
    outcome: String,
    /// Where one is in it, at length and in short.
    long: String,
    short: String,
}

fn heads(state: &State) -> Heads {
    let Some(hand_back) = state.hand_back() else {
        let picked = state.all.as_ref().and_then(|all| all.get(state.picked));
        let name = picked.map(|one| tame(&one.child).into_owned()).unwrap_or_default();
        let counts = picked.map(words::counts).unwrap_or_default();
        return Heads { path: name, outcome: counts, ..Heads::default() };
    };
    let Some(item) = state.item() else {
        return Heads { path: tame(&hand_back.child).into_owned(), ..Heads::default() };
    };
    let empty = state.open.as_ref().filter(|_| state.is_open_selected()).and_then(Open::empty_side);
    let outcome = match item {
        Item::Path(path) if path.is_open() && empty.is_some() => empty.unwrap_or_default().to_owned(),
        Item::Path(path) => words::outcome(path),
        Item::LeftOut(_) => "left out by the ignore rules: it is still in the copy".to_owned(),
    };
    let open = state.open.as_ref().filter(|_| state.is_open_selected());
    let (long, short) = match open.map(|open| (open, &open.form, &open.text)) {
        // what is shown below a form is looked at only
        Some((_, Some(form), _)) => (form.stands(), form.stands()),
        Some((open, None, Some(text))) => (where_it_is(open, text, state.look.whitespace), briefly(text)),
        Some((_, None, None)) | None => (String::new(), String::new()),
    };
    Heads { path: item.path().to_string(), outcome, long, short }
}

/// The same where there is little room.
fn briefly(text: &Text) -> String {
    match (text.number(), text.current) {
        (Some((number, all)), Some(at)) => format!("{number}/{all} {}", text.stands(at)),
        (_, _) => String::new(),
    }
}

/// Where one is in a text, and what is left to choose.
fn where_it_is(open: &Open, text: &Text, whitespace: Whitespace) -> String {
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
    let waiting = text.open();
    if waiting > 0 && text.resolution.hunks().count() > 1 {
        out.push(format!("{waiting} open"));
    } else if waiting == 0 && text.fixed.is_none() {
        out.push("all chosen".to_owned());
    }
    if text.fixed.is_none() && open.modes_differ() {
        out.push(if text.executable { "executable" } else { "not executable" }.to_owned());
    }
    if whitespace == Whitespace::SetAside {
        out.push("no whitespace".to_owned());
    }
    out.join(" · ")
}

/// Draws the frames with what stands in them, and the lines between.
pub(super) fn frames(state: &State, places: &Places, buf: &mut Buffer, theme: &Theme) {
    let lists = state.hand_back().is_none() || state.focus == Focus::Paths;
    let style = |focus: bool| if focus { theme.border_focus } else { theme.border };
    if let Some(rect) = places.list_frame {
        let name = if state.hand_back().is_some() { " Paths " } else { " Agents " };
        Block::bordered().border_style(style(lists)).title(name).title_style(theme.dim).render(rect, buf);
    }
    let heads = heads(state);
    if let Some(rect) = places.frame {
        // the only one there is has the keys
        let focus = !lists || places.list_frame.is_none();
        Block::bordered().border_style(style(focus)).render(rect, buf);
        let line = Rect { x: rect.x + 1, width: rect.width.saturating_sub(2), height: 1, ..rect };
        line_of(&heads, line, buf, theme);
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
            put(buf, rect.x, part.head.y, "├", 1, theme.text.patch(style(focus)));
            put(buf, rect.right() - 1, part.head.y, "┤", 1, theme.text.patch(style(focus)));
        }
    }
    if let Some(line) = places.head {
        line_of(&heads, line, buf, theme);
    }
}

/// The path and its outcome at the left of a line, where one is in it at the right: at length where that leaves room
/// for the path, else in short; the outcome gives way first.
fn line_of(heads: &Heads, line: Rect, buf: &mut Buffer, theme: &Theme) {
    let wide = usize::from(line.width);
    let name = heads.path.rsplit('/').next().unwrap_or_default();
    let fits = width(name) + width(&heads.long) + 6 <= wide;
    let right = if fits { &heads.long } else { &heads.short };
    let right = match right.is_empty() {
        true => String::new(),
        false => format!(" {} ", ellipsis(right, wide.saturating_sub(8))),
    };
    let room = wide.saturating_sub(width(&right) + 1);
    let whole = format!("{} · {}", heads.path, heads.outcome);
    let left = match () {
        () if !heads.outcome.is_empty() && width(&whole) + 2 <= room => whole,
        () => paths::from_the_end(&heads.path, room.saturating_sub(2)),
    };
    if room > 2 && !left.is_empty() {
        put(buf, line.x, line.y, &format!(" {left} "), room, theme.text.patch(theme.strong));
    }
    let used = width(&right);
    if wide > used && used > 0 {
        put(buf, line.right() - used as u16, line.y, &right, used, theme.text.patch(theme.accent));
    }
}
