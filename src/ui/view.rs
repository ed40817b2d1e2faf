//! The only place that draws: a model and a moment become a buffer and a cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Widget as _};

use crate::api::access::{Approval, Preview};
use crate::api::board::Phase;
use crate::base::Millis;
use crate::ui::action::Action;
use crate::ui::agent_view;
use crate::ui::chrome;
use crate::ui::conflict_update;
use crate::ui::job_view;
use crate::ui::layout::{Column, Layout, Looked, layout};
use crate::ui::model::Model;
use crate::ui::overlay::{Overlay, approve, line, list, page, timeline};
use crate::ui::pane::{PaneId, agents, composer, conversation, jobs, live, tree};
use crate::ui::picture;
use crate::ui::theme::Theme;
use crate::ui::widget::row::Put as _;
use crate::ui::widget::text::{ellipsis, tame, width};

/// Draws everything into `buf`; where the cursor is (none: hidden).
pub fn view(model: &mut Model, buf: &mut Buffer, now: Millis) -> Option<(u16, u16)> {
    let area = buf.area;
    let theme = model.look().clone();
    buf.set_style(area, theme.text);
    if model.conflict.shown() {
        cover(model);
        let cursor = conflict_update::view(model, buf, &theme, now);
        return if model.overlays.is_empty() { cursor } else { draw_overlay(model, buf, &theme) };
    }
    if model.job_view.is_some() {
        cover(model);
        let cursor = job_view::view(model, buf, &theme, now);
        return if model.overlays.is_empty() { cursor } else { draw_overlay(model, buf, &theme) };
    }
    if model.agent_view.is_some() {
        cover(model);
        agent_view::view(model, buf, &theme, now);
        return if model.overlays.is_empty() { None } else { draw_overlay(model, buf, &theme) };
    }
    let most = (area.height / 3).max(1);
    // how wide the composer is does not depend on how high it is
    let (column, looked) = (column(model), looked(model.focus));
    let inner_width = layout(area, 1, 0, column, Looked::Nowhere).composer.width;
    let rows = composer::rows(&mut model.composer, inner_width, most);
    let first = strip(model, area, now).is_some() || !counts(model, area).is_empty();
    let strips = (words(model).len() + usize::from(first)) as u16 + pictures(model, area).1;
    let places = layout(area, rows, strips, column, looked);
    chrome::title(model, places.title, buf, &theme);
    // what is covered takes no key, in this frame too
    if !model.overlays.is_empty() {
        model.approve.covered();
    }
    let answering = model.approval_takes_keys(now);
    frames(model, &places, buf, &theme, answering);
    model.conversation_area = beside_approval(model, &places, area, &theme);
    let over = over(&places);
    draw_jobs(model, &places, buf, &theme, now);
    draw_agents(model, &places, buf, &theme, now);
    if over != Looked::Nowhere {
        model.conversation_area = Rect::default();
    }
    model.tree_area = Rect::default();
    if model.focus == PaneId::Tree {
        // over the conversation, as the jobs where they have no column
        model.tree_area = aligned(&places, std::mem::take(&mut model.conversation_area));
        tree::view(&mut model.tree, model.tree_area, buf, &theme, now);
    }
    if over == Looked::Nowhere && model.focus != PaneId::Tree {
        draw_conversation(model, &places, buf, &theme, now);
    }
    if let Some(rect) = places.live {
        live::view(&model.live, rect, buf, &theme, now, model.reduced_motion);
    }
    let strips = draw_pictures(model, &places, buf);
    draw_strips(model, strips, buf, &theme, now);
    let cursor = draw_composer(model, places.composer, buf, &theme, now);
    draw_approval(model, &places, buf, &theme, now);
    let under = places.composer_frame.or(places.rule).unwrap_or(places.composer);
    let top = places.title.bottom();
    let over = Rect { y: top, height: under.y.saturating_sub(top), ..places.composer };
    composer::view_popup(&model.composer, over, buf, &theme);
    chrome::status(model, places.status, buf, &theme, now);
    if !model.overlays.is_empty() {
        return draw_overlay(model, buf, &theme);
    }
    cursor.filter(|_| model.focus == PaneId::Composer && !model.approval_takes_keys(now))
}

/// Columns from which a conversation without a frame leaves one to its scrollbar.
const BAR_FROM: u16 = 30;

/// Where a list stands over the conversation: without a frame its text begins where the conversation's does.
fn aligned(places: &Layout, rect: Rect) -> Rect {
    if places.conversation_frame.is_some() || rect.width < BAR_FROM {
        return rect;
    }
    Rect { x: rect.x + 1, width: rect.width - 1, ..rect }
}

/// Another view covers the panes: what is covered takes no key and no click.
fn cover(model: &mut Model) {
    model.approve.covered();
    (model.conversation_area, model.jobs_area, model.agents_area) =
        (Rect::default(), Rect::default(), Rect::default());
}

/// What the lists of the right column want; none: there is none.
fn column(model: &Model) -> Option<Column> {
    // below a selected job stands how it ended
    let jobs = model.jobs.listed().len() + if model.focus == PaneId::Jobs { 4 } else { 0 };
    let agents = model.agents.wants(model.focus == PaneId::Agents);
    let wants = Column { jobs: u16::try_from(jobs.max(2)).unwrap_or(u16::MAX), agents };
    (!model.live.hidden).then_some(wants)
}

fn looked(focus: PaneId) -> Looked {
    match focus {
        PaneId::Jobs => Looked::Jobs,
        PaneId::Agents => Looked::Agents,
        PaneId::Conversation | PaneId::Composer | PaneId::Live | PaneId::Tree => Looked::Nowhere,
    }
}

/// The list that stands over the conversation.
fn over(places: &Layout) -> Looked {
    let talk = Some(places.conversation);
    match (places.jobs == talk, places.agents == talk) {
        (true, _) => Looked::Jobs,
        (_, true) => Looked::Agents,
        (false, false) => Looked::Nowhere,
    }
}

/// Draws the topmost overlay alone: what it covers is not to be answered.
fn draw_overlay(model: &mut Model, buf: &mut Buffer, theme: &Theme) -> Option<(u16, u16)> {
    let area = buf.area;
    match model.overlays.last_mut()? {
        Overlay::List(state) => {
            list::view(state, area, buf, theme);
            None
        }
        Overlay::Page(state) => {
            page::view(state, area, buf, theme);
            None
        }
        Overlay::Timeline(state) => {
            timeline::view(state, area, buf, theme);
            None
        }
        Overlay::Line(state) => {
            let extra = match (&state.kind, model.conversation.hits()) {
                (line::Kind::Find, Some((0, _))) if !state.text.is_empty() => "no hit".to_owned(),
                (line::Kind::Find, Some((all, at))) => format!("{at} of {all} · Enter, then n and N"),
                (line::Kind::FindJob, _) if !state.text.is_empty() => {
                    format!("{} of {}", model.jobs.listed().len(), model.jobs.iter().count())
                }
                (line::Kind::FindTree, _) if !state.text.is_empty() => {
                    let (hits, all) = model.tree.hits();
                    format!("{hits} of {all}")
                }
                (line::Kind::FindLog(_), _) if !state.text.is_empty() => "Enter, then n and N".to_owned(),
                _ => String::new(),
            };
            line::view(state, area, buf, theme, &extra)
        }
    }
}

/// The conversation and its scrollbar.
fn draw_conversation(model: &mut Model, places: &Layout, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let mut talk = model.conversation_area;
    // without a frame the bar has a column of its own, whether it is there or not: nothing is wrapped anew for it
    if places.conversation_frame.is_none() && talk.width >= BAR_FROM {
        talk.width -= 1;
    }
    let right = places.conversation_frame.map_or(model.conversation_area.right(), Rect::right);
    model.conversation_area = talk;
    conversation::view(&mut model.conversation, talk, buf, theme, now);
    model.conversation.bar(Rect { x: right.saturating_sub(1), width: 1, ..talk }, buf, theme);
}

/// The jobs, in their column or over the conversation.
fn draw_jobs(model: &mut Model, places: &Layout, buf: &mut Buffer, theme: &Theme, now: Millis) {
    // what an approval leaves, as for the conversation
    let above = aligned(places, model.conversation_area);
    let rect = if over(places) == Looked::Jobs { Some(above) } else { places.jobs };
    model.jobs_area = rect.unwrap_or_default();
    let detach = model.keymap.hint(Action::Detach);
    let shown = jobs::Shown { now, focus: model.focus == PaneId::Jobs, detach: &detach };
    jobs::view(&mut model.jobs, model.jobs_area, buf, theme, shown);
}

/// The agents, in their column or over the conversation.
fn draw_agents(model: &mut Model, places: &Layout, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let above = aligned(places, model.conversation_area);
    let rect = if over(places) == Looked::Agents { Some(above) } else { places.agents };
    model.agents_area = rect.unwrap_or_default();
    let status = model.status.clone();
    // while a person is asked, nothing turns
    let still = model.reduced_motion || !model.approvals.is_empty();
    let shown =
        agents::Shown { now, focus: model.focus == PaneId::Agents, still, conflicted: status.conflicted() };
    agents::view(&mut model.agents, model.agents_area, buf, theme, shown);
}

/// The title of the jobs: how many run, and what is looked for.
fn jobs_title(model: &Model) -> String {
    let search = match model.jobs.search() {
        "" => String::new(),
        search => format!("/{} ", tame(search)),
    };
    format!(" Jobs ({}) {search}", model.jobs.running().count())
}

/// One frame around conversation and composer, the part that has the focus brighter.
fn frames(model: &Model, places: &Layout, buf: &mut Buffer, theme: &Theme, answering: bool) {
    let has = |pane| model.focus == pane && !answering;
    let style = |focus| if focus { theme.border_focus } else { theme.border };
    let boxed = |rect: Option<Rect>, title: &str, style, buf: &mut Buffer| {
        if let Some(rect) = rect {
            Block::bordered()
                .border_style(style)
                .title(title.to_owned())
                .title_style(theme.dim)
                .render(rect, buf);
        }
    };
    let over = over(places);
    let listed =
        matches!((over, model.focus), (Looked::Jobs, PaneId::Jobs) | (Looked::Agents, PaneId::Agents));
    let (writes, reads) =
        (has(PaneId::Composer), has(PaneId::Conversation) || has(PaneId::Tree) || listed && has(model.focus));
    let jobs = jobs_title(model);
    let agents = agents::title(&model.agents);
    let tree = tree::title(&model.tree);
    let above = |buf: &mut Buffer| {
        let title = match (over, model.focus) {
            (Looked::Jobs, _) => &jobs,
            (Looked::Agents, _) => &agents,
            (Looked::Nowhere, PaneId::Tree) => &tree,
            (Looked::Nowhere, _) => " Conversation ",
        };
        boxed(places.conversation_frame, title, style(reads), buf);
    };
    if !reads {
        above(buf);
    }
    boxed(places.composer_frame, "", style(writes), buf);
    if reads {
        above(buf);
    }
    if let Some(below) = places.composer_frame {
        let line = format!("├{}┤", "─".repeat(usize::from(below.width.saturating_sub(2))));
        buf.put(below.x, below.y, line, usize::from(below.width), style(writes || reads));
    }
    boxed(places.live_frame, " Live ", theme.border, buf);
    let mut lists =
        [(places.jobs_frame, &jobs, has(PaneId::Jobs)), (places.agents_frame, &agents, has(PaneId::Agents))];
    // the line that two of them have is of the one with the focus
    lists.sort_by_key(|(.., focus)| *focus);
    for (rect, title, focus) in lists {
        let Some(rect) = rect else { continue };
        boxed(Some(rect), title, style(focus), buf);
        let below = (Some(rect) == places.jobs_frame).then(|| rect.bottom() - 1);
        for y in [Some(rect.y), below].into_iter().flatten() {
            for (x, corner) in [(rect.x, "├"), (rect.right() - 1, "┤")] {
                buf.put(x, y, corner, 1, style(focus));
            }
        }
    }
    // a box that was drawn later has its line over the title of the one below
    if let Some(rect) = places.agents_frame {
        let room = usize::from(rect.width.saturating_sub(2));
        buf.put(rect.x + 1, rect.y, &agents, room, theme.dim);
    }
    if let Some(rule) = places.rule {
        let line = "─".repeat(usize::from(rule.width));
        buf.put(rule.x, rule.y, line, usize::from(rule.width), style(writes));
    }
    if let Some(line) = places.composer_frame.or(places.rule) {
        over_draft(model, line, buf, theme);
    }
}

/// What the line over the draft tells: the mode of vi's keys, and what is about to be sent.
fn over_draft(model: &Model, line: Rect, buf: &mut Buffer, theme: &Theme) {
    let room = usize::from(line.width.saturating_sub(4));
    let mode = model.composer.vi.as_ref().map_or(String::new(), |vi| format!(" {} ", vi.words()));
    let mode = tame(&mode);
    if !mode.is_empty() && width(&mode) <= room {
        buf.put(line.x + 2, line.y, &mode, room, theme.dim);
    }
    let status = &model.status;
    let words = composer::estimate::words(&model.composer, &model.prices, &status.model, status.context.used);
    let words = format!(" {words} ");
    let long = width(&words);
    if words.len() > 2 && long + width(&mode) < room {
        buf.put(line.right() - 2 - long as u16, line.y, &words, long, theme.dim);
    }
}

/// The lines of words over the draft: why a request is tried again, and the messages that wait. Each with what stands
/// at its end, whatever of the rest has room.
fn words(model: &Model) -> Vec<(String, String)> {
    let why = match &model.status.phase {
        Phase::Retrying { why, .. } => Some((format!("! {why}"), String::new())),
        Phase::Idle | Phase::Waiting | Phase::Streaming | Phase::Calling => None,
        Phase::Compacting | Phase::Stopping | Phase::Opening => None,
    };
    why.into_iter().chain(pending_rows(model)).collect()
}

/// The messages that wait, one line each.
fn pending_rows(model: &Model) -> Vec<(String, String)> {
    let key = model.keymap.hint(Action::Up);
    let all = &model.status.pending;
    let mut out: Vec<(String, String)> = all
        .iter()
        .take(3)
        .map(|p| {
            let when = if p.after_turn { "after the turn" } else { "at the next tool" };
            let mut lines = p.text.lines();
            let first = lines.next().unwrap_or_default();
            let more = if lines.next().is_some() { " …" } else { "" };
            (format!("⧗ {when}: {first}{more}"), String::new())
        })
        .collect();
    if let Some((_, end)) = out.last_mut() {
        let more = if all.len() > 3 { format!(" · {} more", all.len() - 3) } else { String::new() };
        *end = format!("{more}  ({key} takes the newest back)");
    }
    out
}

/// The line of what runs, where there is no room for its pane.
fn strip(model: &Model, area: Rect, now: Millis) -> Option<live::Line> {
    let has_pane = area.width >= crate::ui::layout::WIDE && !model.live.hidden;
    // what waits for the person is said by the approval itself
    if has_pane {
        None
    } else {
        model.live.line(now).filter(|line| !line.asks() || model.approvals.is_empty())
    }
}

/// The counts of agents, open conflicts and jobs, where there is no room for panes: in full, and shorter where there is
/// less room.
fn counts(model: &Model, area: Rect) -> Vec<String> {
    let has_pane = area.width >= crate::ui::layout::WIDE && !model.live.hidden;
    if has_pane {
        return Vec::new();
    }
    // what is listed is not counted beside it
    let shown = |pane, counts: String| if model.focus == pane { String::new() } else { counts };
    let key = |action| model.keymap.hint(action);
    let agents = shown(PaneId::Agents, agents::counts(&model.agents, &key(Action::Agents)));
    let jobs = shown(PaneId::Jobs, jobs::counts(&model.jobs, &key(Action::Jobs)));
    let few = match model.agents.running().count() {
        0 => String::new(),
        1 => "1 agent".to_owned(),
        more => format!("{more} agents"),
    };
    let few = shown(PaneId::Agents, few);
    let (conflicts, flag) = match model.status.open_conflicts {
        0 => (String::new(), String::new()),
        open => (format!("{} · {}", chrome::conflicts(open), key(Action::HandBack)), format!("⚑ {open}")),
    };
    let tries: [&[&String]; 5] =
        [&[&agents, &conflicts, &jobs], &[&agents, &conflicts], &[&agents, &flag], &[&few, &flag], &[&flag]];
    let joined = |parts: &[&String]| {
        parts.iter().filter(|part| !part.is_empty()).map(|part| part.as_str()).collect::<Vec<_>>().join("  ")
    };
    let mut out: Vec<String> = tries.into_iter().map(joined).filter(|counts| !counts.is_empty()).collect();
    out.dedup();
    out
}

/// Columns that a message that waits keeps beside what stands at its end.
const END_LEAVES: usize = 24;
/// Columns that what runs now keeps beside the counts.
const LINE_COLUMNS: usize = 24;

/// The thumbnails of the draft's images, and the rows that they take.
fn pictures(model: &Model, area: Rect) -> (Vec<picture::Picture>, u16) {
    let room = model.thumbnails && area.height >= PICTURES_FROM && model.raw.is_none();
    let all = if room { model.composer.draft.pictures() } else { Vec::new() };
    let rows = if all.is_empty() { 0 } else { picture::ROWS };
    (all.into_iter().map(|(picture, _)| picture).collect(), rows)
}

/// Rows of the screen from which there is room for thumbnails.
const PICTURES_FROM: u16 = 20;

/// Draws them below the other lines over the draft; what is left for those.
fn draw_pictures(model: &Model, places: &Layout, buf: &mut Buffer) -> Option<Rect> {
    let rect = places.strips?;
    let (all, rows) = pictures(model, buf.area);
    let rest = Rect { height: rect.height.saturating_sub(rows), ..rect };
    let mut place = Rect { y: rest.bottom(), height: rect.height - rest.height, ..rect };
    for picture in all {
        picture.draw(place, buf);
        let used = (picture.columns + 1).min(place.width);
        place = Rect { x: place.x + used, width: place.width - used, ..place };
    }
    Some(rest)
}

fn draw_strips(model: &Model, rect: Option<Rect>, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let Some(mut rect) = rect.filter(|rect| !rect.is_empty()) else { return };
    let (line, counts) = (strip(model, buf.area, now), counts(model, buf.area));
    if line.is_some() || !counts.is_empty() {
        let mut place = Rect { height: 1, ..rect };
        // beside what runs now the counts stand at the right, where there is room for both
        let wide = usize::from(rect.width);
        let taken = if line.is_some() { LINE_COLUMNS } else { 0 };
        let long = |counts: &String| width(counts);
        let fits = counts.iter().find(|counts| long(counts) + taken <= wide);
        match (&line, fits.or(counts.last())) {
            (None, Some(counts)) => {
                let counts = ellipsis(counts, wide);
                buf.put(place.x, place.y, counts, wide, theme.dim);
            }
            (Some(_), _) if fits.is_none() => {}
            (Some(_), Some(counts)) => {
                let long = long(counts);
                buf.put(place.right() - long as u16, place.y, counts, long, theme.dim);
                place.width -= long as u16 + 2;
            }
            (_, None) => {}
        }
        if let Some(line) = line {
            line.draw(place, buf, theme, live::spinner(now, model.reduced_motion));
        }
        rect = Rect { y: rect.y + 1, height: rect.height - 1, ..rect };
    }
    let wide = usize::from(rect.width);
    for (at, (text, end)) in words(model).iter().take(usize::from(rect.height)).enumerate() {
        // where little of the message would be left, it stands alone
        let taken = width(end);
        let end = if taken + END_LEAVES <= wide { end } else { "" };
        let text = ellipsis(&tame(text), wide - width(end)).into_owned() + end;
        buf.put(rect.x, rect.y + at as u16, text, wide, theme.warning);
    }
}

fn draw_composer(
    model: &mut Model,
    rect: Rect,
    buf: &mut Buffer,
    theme: &Theme,
    now: Millis,
) -> Option<(u16, u16)> {
    let hint = if let Some(holder) = &model.status.read_only {
        format!("read-only: the session is open in {holder}")
    } else if model.quit_until.is_some_and(|until| now <= until) {
        format!("{} again leaves", model.keymap.hint(Action::Cancel))
    } else if model.status.phase.busy() {
        "steer it, or queue what comes after".to_owned()
    } else {
        ["what shall be done?  @ files · / commands · ! shell · ? keys", "@ files · / commands · ? keys"]
            .into_iter()
            .find(|hint| hint.chars().count() + 3 < usize::from(rect.width))
            .unwrap_or("? keys")
            .to_owned()
    };
    composer::view(&mut model.composer, rect, buf, theme, &hint)
}

/// Rows of the conversation that stay above an approval, where there are many.
const TALK_ROWS: u16 = 4;
/// Columns of the command of a job in the title of a question.
const JOB_COLUMNS: usize = 32;

/// Where an approval may stand: a screen too small for a conversation gives it all of itself.
fn for_approval(places: &Layout, area: Rect) -> Rect {
    let talk = places.conversation;
    if talk.height < 8 || talk.width < 30 {
        return Rect { height: places.status.y.max(area.y + 1) - area.y, ..area };
    }
    let above = if talk.height >= 4 * TALK_ROWS { TALK_ROWS } else { 0 };
    Rect { y: talk.y + above, height: talk.height - above, ..talk }
}

/// What an approval leaves of the conversation: what was said last stands above it, not behind it.
fn beside_approval(model: &mut Model, places: &Layout, area: Rect, theme: &Theme) -> Rect {
    let approvals = model.approvals.clone();
    let Some(approval) = approvals.first() else { return places.conversation };
    let number = model.approve.number();
    let colours = |stream, line| model.conversation.colours_beside(number, stream, line);
    let shown = approve::Shown {
        approval,
        job: None,
        open: approvals.len(),
        takes: false,
        keymap: &model.keymap,
        shape: model.conversation.shape().0,
        colours: &colours,
    };
    let rect = approve::place(&mut model.approve, shown, for_approval(places, area), theme);
    let talk = places.conversation;
    Rect { height: rect.y.saturating_sub(talk.y).min(talk.height), ..talk }
}

/// What a call of the model would do with a job, with the job's command and age: `end job j1 (cargo run, 12:00)`.
fn of_job(model: &Model, approval: &Approval, now: Millis) -> Option<String> {
    let Preview::Text { text } = &approval.preview else { return None };
    let words = text.lines().next().filter(|_| approval.tool == "jobs")?.trim_end_matches(':');
    let job = words.split(' ').find_map(|word| word.parse().ok())?;
    let words = words
        .split_once(' ')
        .map_or(words.to_lowercase(), |(verb, rest)| format!("{} {rest}", verb.to_lowercase()));
    // an agent's jobs are not listed here
    let row = model.jobs.get(job).filter(|_| approval.agent.is_none());
    let of = row.map(|row| {
        let command = row.node.command.lines().next().unwrap_or_default();
        format!(" ({}, {})", ellipsis(&tame(command), JOB_COLUMNS), live::elapsed(now.since(row.node.began)))
    });
    Some(words + &of.unwrap_or_default())
}

fn draw_approval(model: &mut Model, places: &Layout, buf: &mut Buffer, theme: &Theme, now: Millis) {
    // what is covered is not seen: it begins anew when it is shown again
    let covered = !model.overlays.is_empty();
    if covered {
        model.approve.covered();
    }
    let takes = model.approval_takes_keys(now);
    let approvals = model.approvals.clone();
    let Some(approval) = approvals.first() else { return };
    let job = of_job(model, approval, now);
    let area = for_approval(places, buf.area);
    if model.conversation.take_beside() {
        model.approve.recolour();
    }
    let number = model.approve.number();
    let colours = |stream, line| model.conversation.colours_beside(number, stream, line);
    let shown = approve::Shown {
        approval,
        job: job.as_deref(),
        open: approvals.len(),
        takes,
        keymap: &model.keymap,
        shape: model.conversation.shape().0,
        colours: &colours,
    };
    approve::view(&mut model.approve, shown, area, buf, theme);
    if let Some((diff, text, pieces)) = model.approve.diff() {
        model.conversation.want_beside(number, diff, text, 0..pieces);
    }
    if covered {
        model.approve.covered();
    }
}
