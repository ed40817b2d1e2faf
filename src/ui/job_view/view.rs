//! Draws the view of a job: a head that says how it stands, its picture or its log, and the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::find::{Find, nearest, places};
use super::log::Log;
use super::{Attached, State, attach, bytes, select};
use crate::api::job::{JobRow, JobState};
use crate::base::Millis;
use crate::ui::action::Action;
use crate::ui::chrome;
use crate::ui::keymap::Keymap;
use crate::ui::model::Model;
use crate::ui::pane::jobs;
use crate::ui::pane::live::elapsed;
use crate::ui::theme::Theme;
use crate::ui::widget::bar::{self, Bar, Mark};
use crate::ui::widget::row::{Look, put};
use crate::ui::widget::terminal;
use crate::ui::widget::text::{ellipsis, tame, width};

/// Columns from which there is a scrollbar.
const BAR_FROM: u16 = 24;
/// Columns that a command keeps in the head where there are others to give way.
const COMMAND_COLUMNS: usize = 16;

/// The place of the picture or the log: the same whether a person is attached or not, so that the job's terminal
/// does not change its size with it.
pub fn body(area: Rect) -> Rect {
    let (head, keys) = (u16::from(area.height >= 2), u16::from(area.height >= 4));
    Rect { y: area.y + head, height: area.height - head - keys, ..area }
}

/// Draws the view over the whole screen; where the cursor is (none: hidden).
pub fn view(model: &mut Model, buf: &mut Buffer, theme: &Theme, now: Millis) -> Option<(u16, u16)> {
    let mut state = model.job_view.take()?;
    let area = buf.area;
    let place = body(area);
    let mut cursor = None;
    let row = model.jobs.get(state.job);
    attach::see_end(&mut state, row.is_some_and(JobRow::runs), now);
    if let Some(row) = row {
        let picture = state.picture(row).map(|screen| screen.cloned());
        match &picture {
            Some(Some(screen)) => {
                terminal::draw(screen, place, buf, theme.text);
                if matches!(state.attached, Attached::Yes { .. }) {
                    cursor = terminal::cursor(screen, place);
                }
            }
            Some(None) => {}
            None => log(&mut state, row, place, buf, theme),
        }
        if area.height >= 4 {
            let place = Rect { y: area.bottom() - 1, height: 1, ..area };
            keys(model, &state, row, place, buf, theme, now);
        }
    }
    if area.height >= 2 {
        let place = Rect { height: 1, ..area };
        head(model, &state, row, place, buf, theme, now);
    }
    model.job_view = Some(state);
    cursor
}

fn log(state: &mut State, row: &JobRow, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let (log, find, pick) = (&mut state.log, &state.find, &state.pick);
    let current = current(log, find.as_ref());
    let mut hits: Option<(u64, Vec<std::ops::Range<usize>>)> = None;
    let picked = select::marks(pick, log);
    log.draw(usize::from(area.width), usize::from(area.height), |y, start, line, nth| {
        let (x, y) = (area.x, area.y + y as u16);
        let (from, text) = line.row(nth);
        let wide = usize::from(area.width);
        let place = Rect { y, height: 1, ..area };
        let Some(find) = find else {
            put(buf, x, y, text, wide, theme.text);
            return select::draw(picked, (start, line, nth), place, (buf, theme));
        };
        if hits.as_ref().is_none_or(|(of, _)| *of != start) {
            hits = Some((start, places(&line.text, &find.text)));
        }
        let found = hits.as_ref().map(|(_, found)| found.as_slice()).unwrap_or_default();
        let marked = current.filter(|(of, _)| *of == start).and_then(|(_, at)| nearest(found, at));
        let mut used = 0;
        let mut at = from;
        for (index, hit) in
            found.iter().enumerate().filter(|(_, hit)| hit.end > from && hit.start < from + text.len())
        {
            let (begin, end) = (hit.start.max(from), hit.end.min(from + text.len()));
            let style = if marked == Some(index) { theme.hit_current } else { theme.hit };
            for (text, style) in
                [(&line.text[at..begin], theme.text), (&line.text[begin..end], theme.text.patch(style))]
            {
                used += put(buf, x + used as u16, y, text, wide - used, style);
            }
            at = end;
        }
        put(buf, x + used as u16, y, &line.text[at..from + text.len()], wide - used, theme.text);
        select::draw(picked, (start, line, nth), place, (buf, theme));
    });
    if (!log.follows() || find.is_some()) && area.width >= BAR_FROM {
        let marks: Vec<(u64, Mark)> =
            find.iter().filter_map(|find| Some((find.hit?, Mark::Current))).collect();
        let shown = Bar { total: bytes(row), view: (log.first(), log.last()), marks: &marks };
        let right = Rect { x: area.right() - 1, width: 1, ..area };
        bar::draw(&shown, right, buf, theme);
    }
    if !area.is_empty() && log.last() == log.first() {
        let words = match log.trouble() {
            Some(why) => tame(why).into_owned(),
            None if log.unknown() => String::new(),
            None if row.runs() => "no output yet".to_owned(),
            None => "it had no output".to_owned(),
        };
        let wide = usize::from(area.width);
        put(buf, area.x, area.y, &ellipsis(&words, wide), wide, theme.dim);
    }
}

/// The line of the last hit and about where in its text it stands.
fn current(log: &Log, find: Option<&Find>) -> Option<(u64, usize)> {
    let hit = find?.hit?;
    let start = log.line_of(hit)?;
    Some((start, log.inside(start, hit) as usize))
}

/// The head: which job, how it stands, how much it wrote, where one is; attached: how to leave.
fn head(
    model: &Model,
    state: &State,
    row: Option<&JobRow>,
    place: Rect,
    buf: &mut Buffer,
    theme: &Theme,
    now: Millis,
) {
    let wide = usize::from(place.width);
    let job = state.job;
    let line = |buf: &mut Buffer, text: &str, style: Style| {
        buf.set_style(place, style);
        put(buf, place.x, place.y, &ellipsis(text, wide), wide, style);
    };
    let typed = theme.text.patch(theme.accent).add_modifier(Modifier::REVERSED | Modifier::BOLD);
    let fitting = |tries: &[String]| {
        let fits = tries.iter().find(|text| width(text) <= wide);
        fits.or(tries.last()).cloned().unwrap_or_default()
    };
    match state.attached {
        Attached::Yes { .. } => {
            let keys = leaves(&model.keymap);
            let command = row.map(command).unwrap_or_default();
            line(
                buf,
                &fitting(&[
                    format!(" attached to {job}: all you type goes to it · {keys} leaves · {command}"),
                    format!(" attached to {job}: all you type goes to it · {keys} leaves"),
                    format!(" attached to {job} · {keys} leaves"),
                    format!(" {job} · {keys} leaves"),
                    format!("{keys} leaves"),
                    model.keymap.hint(Action::LeaveTerminal),
                ]),
                typed,
            );
        }
        Attached::Over { .. } => {
            let end = match row.map(|row| &row.state) {
                Some(JobState::Ended(outcome)) => jobs::cause(outcome),
                Some(JobState::Sought | JobState::Running | JobState::Ending { .. }) | None => {
                    "it is off the list".to_owned()
                }
            };
            line(
                buf,
                &fitting(&[
                    format!(
                        " {job} has ended: {end} · nothing you type goes anywhere · press a key to go on"
                    ),
                    format!(" {job} has ended: {end} · press a key to go on"),
                    format!(" {job} has ended · press a key to go on"),
                    format!(" {job} has ended · press a key"),
                    "ended · press a key".to_owned(),
                ]),
                theme.text.patch(theme.warning).add_modifier(Modifier::REVERSED),
            );
        }
        Attached::No => {
            if let Some(row) = row {
                facts(state, row, place, buf, theme, now);
            }
        }
    }
}

/// The keys that leave a terminal: the first and, should it not be sent, another one.
fn leaves(keymap: &Keymap) -> String {
    let keys = keymap.hints(Action::LeaveTerminal);
    match keys.as_slice() {
        [] => "(no key)".to_owned(),
        [one] => one.clone(),
        [one, .., last] => format!("{one} (or {last})"),
    }
}

fn command(row: &JobRow) -> String {
    let title = row.screen.as_ref().map(|screen| screen.title.trim()).filter(|title| !title.is_empty());
    title.filter(|_| row.runs()).map_or_else(|| jobs::command(row), |title| tame(title).replace('\n', " "))
}

fn facts(state: &State, row: &JobRow, place: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let wide = usize::from(place.width);
    buf.set_style(place, theme.title);
    let on_title = |style: Style| Style { bg: theme.title.bg, ..style };
    let (mark, role) = jobs::stands(row);
    let time = match &row.state {
        JobState::Sought | JobState::Running | JobState::Ending { .. } => elapsed(now.since(row.node.began)),
        JobState::Ended(outcome) => outcome.lasted().map(elapsed).unwrap_or_default(),
    };
    let kept = if row.kept && row.runs() { "kept" } else { "" };
    let pid = if row.pid > 0 && row.runs() { format!("pid {}", row.pid) } else { String::new() };
    // what gives way first has the highest number
    let mut facts = vec![
        (stands(row), 0),
        (kept.to_owned(), 4),
        (pid, 5),
        (time, 3),
        (jobs::bytes(bytes(row)), 2),
        (where_it_is(state, row), 1),
    ];
    facts.retain(|(text, _)| !text.is_empty());
    let command = jobs::command(row);
    let before = format!(" {} {mark} ", state.job);
    let keeps = width(&command).min(COMMAND_COLUMNS) + width(&before) + 3;
    let joined =
        |facts: &[(String, u8)]| facts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" · ");
    while facts.len() > 1 && width(&joined(&facts)) + keeps > wide {
        let most = facts.iter().map(|(_, gives_way)| *gives_way).max();
        facts.retain(|(_, gives_way)| Some(*gives_way) != most);
    }
    let right = ellipsis(&joined(&facts), wide.saturating_sub(width(&before) + 1)).into_owned();
    let x = place.x + put(buf, place.x, place.y, &format!(" {} ", state.job), wide, theme.title) as u16;
    let left = |x: u16| usize::from(place.right().saturating_sub(x));
    let x = x + put(buf, x, place.y, mark, left(x), on_title(Look::from(role).style(theme))) as u16 + 1;
    let room = left(x).saturating_sub(width(&right) + 3);
    put(buf, x, place.y, &ellipsis(&command, room), room, theme.title);
    let long = width(&right) + 1;
    if left(x) >= long {
        let style = if jobs::matters(row) { on_title(theme.warning) } else { theme.title };
        put(buf, place.right() - long as u16, place.y, &right, long, style);
    }
}

/// How a job stands, in words: nothing of one that simply runs.
fn stands(row: &JobRow) -> String {
    match &row.state {
        JobState::Running if row.stopped => "stopped until a signal (CONT) continues it".to_owned(),
        JobState::Running if row.waiting => "waits for input".to_owned(),
        JobState::Sought => "being looked up".to_owned(),
        JobState::Running => String::new(),
        JobState::Ending { .. } => jobs::ending(row),
        JobState::Ended(outcome) => jobs::cause(outcome),
    }
}

/// Which part of it is seen.
fn where_it_is(state: &State, row: &JobRow) -> String {
    if state.picture(row).is_some() {
        return "terminal".to_owned();
    }
    match &state.find {
        Some(find) if find.asked.is_some() => "searching".to_owned(),
        Some(Find { hit: Some(at), .. }) if state.log.sees(*at) => {
            format!("hit at {}%", state.log.percent_of(*at))
        }
        Some(_) | None if state.log.follows() && row.runs() => "follow".to_owned(),
        Some(_) | None if state.log.follows() => "end".to_owned(),
        Some(_) | None => format!("{}%", state.log.percent()),
    }
}

/// The keys that matter now; a word to the person stands in their place.
fn keys(
    model: &Model,
    state: &State,
    row: &JobRow,
    place: Rect,
    buf: &mut Buffer,
    theme: &Theme,
    now: Millis,
) {
    if chrome::word(model, place, buf, theme, now) {
        return;
    }
    let approvals = model.approvals.len();
    let x = if approvals > 0 {
        let words = format!(" ? {approvals} waiting for your answer ·");
        let style = Style { bg: theme.status.bg, ..theme.warning };
        buf.set_style(place, theme.status);
        place.x + put(buf, place.x, place.y, &words, usize::from(place.width), style) as u16
    } else {
        place.x
    };
    let hints = if state.attached() {
        attached_hints(state)
    } else if state.picks() {
        crate::ui::select_update::hints(state.selected())
    } else {
        hints(model, state, row)
    };
    let rest = Rect { x, width: place.right() - x, ..place };
    chrome::pairs(&model.keymap, &hints, rest, buf, theme);
}

fn attached_hints(state: &State) -> Vec<(Action, &'static str)> {
    match state.attached {
        Attached::Yes { .. } => vec![(Action::LeaveTerminal, "leaves")],
        Attached::Over { .. } | Attached::No => Vec::new(),
    }
}

/// The keys that matter now, those first that narrow screens keep.
fn hints(model: &Model, state: &State, row: &JobRow) -> Vec<(Action, &'static str)> {
    let mut out = Vec::new();
    let pictured = state.picture(row).is_some();
    if !model.approvals.is_empty() {
        out.push((Action::AnswerApproval, "answer"));
    }
    if row.runs() && row.node.terminal {
        out.push((Action::ViewAttach, "attach"));
    }
    // what is there to be done with one that is over: no narrow screen drops it
    if !row.runs() {
        out.push((Action::ViewLeave, "back"));
    }
    if pictured {
        out.push((Action::ViewSwitch, "whole output"));
    } else if state.raw && row.node.terminal && (row.runs() || row.screen.is_some()) {
        out.push((Action::ViewSwitch, "terminal"));
    }
    if state.find.is_some() {
        out.extend([(Action::ViewFindNext, "next"), (Action::ViewFindPrevious, "before")]);
    } else {
        out.push((Action::ViewFind, "search"));
    }
    if !pictured && !state.log.follows() {
        out.push((Action::ViewLast, "end"));
    }
    if row.runs() {
        out.push((Action::ViewLeave, "back"));
        let keep = if row.kept { "keep no longer" } else { "keep" };
        out.extend([(Action::ViewKill, "kill"), (Action::ViewSignal, "signal"), (Action::ViewKeep, keep)]);
    } else {
        out.push((Action::ViewDismiss, "dismiss"));
    }
    out.extend([(Action::ViewCopy, "copy"), (Action::ViewKeys, "keys")]);
    out
}
