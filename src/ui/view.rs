//! The only place that draws: a model and a moment become a buffer and a cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Widget as _};

use crate::api::board::Phase;
use crate::base::Millis;
use crate::ui::action::Action;
use crate::ui::chrome;
use crate::ui::job_view;
use crate::ui::layout::{Layout, layout};
use crate::ui::model::Model;
use crate::ui::overlay::{Overlay, approve, line, list, page};
use crate::ui::pane::{PaneId, composer, conversation, jobs, live, tree};
use crate::ui::theme::Theme;

/// Draws everything into `buf`; where the cursor is (none: hidden).
pub fn view(model: &mut Model, buf: &mut Buffer, now: Millis) -> Option<(u16, u16)> {
    let area = buf.area;
    let theme = model.look().clone();
    buf.set_style(area, theme.text);
    if model.job_view.is_some() {
        // what is covered takes no key
        model.approve.covered();
        (model.conversation_area, model.jobs_area) = (Rect::default(), Rect::default());
        let cursor = job_view::view(model, buf, &theme, now);
        return if model.overlays.is_empty() { cursor } else { draw_overlay(model, buf, &theme) };
    }
    let most = (area.height / 3).max(1);
    // how wide the composer is does not depend on how high it is
    let inner_width = layout(area, 1, 0, !model.live.hidden, false).composer.width;
    let rows = composer::rows(&mut model.composer, inner_width, most);
    let first = strip(model, area, now).is_some() || !job_counts(model, area).is_empty();
    let strips = (words(model).len() + usize::from(first)) as u16;
    let places = layout(area, rows, strips, !model.live.hidden, model.focus == PaneId::Jobs);
    chrome::title(model, places.title, buf, &theme);
    // what is covered takes no key, in this frame too
    if !model.overlays.is_empty() {
        model.approve.covered();
    }
    let answering = model.approval_takes_keys(now);
    frames(model, &places, buf, &theme, answering);
    model.conversation_area = beside_approval(model, &places, area, &theme);
    draw_jobs(model, &places, buf, &theme, now);
    model.tree_area = Rect::default();
    if model.focus == PaneId::Tree {
        // over the conversation, as the jobs where they have no column
        model.tree_area = std::mem::take(&mut model.conversation_area);
        tree::view(&mut model.tree, model.tree_area, buf, &theme, now);
    }
    if places.jobs != Some(places.conversation) && model.focus != PaneId::Tree {
        conversation::view(&mut model.conversation, model.conversation_area, buf, &theme, now);
    }
    if let Some(rect) = places.live {
        live::view(&model.live, rect, buf, &theme, now, model.reduced_motion);
    }
    draw_strips(model, &places, buf, &theme, now);
    let cursor = draw_composer(model, places.composer, buf, &theme, now);
    draw_approval(model, &places, buf, &theme, now);
    let under = places.composer_frame.or(places.rule).unwrap_or(places.composer);
    let under = Rect { y: under.y, ..places.composer };
    composer::view_popup(&model.composer, under, buf, &theme);
    chrome::status(model, places.status, buf, &theme, now);
    if !model.overlays.is_empty() {
        return draw_overlay(model, buf, &theme);
    }
    cursor.filter(|_| model.focus == PaneId::Composer && !model.approval_takes_keys(now))
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

/// The jobs, in their column or over the conversation.
fn draw_jobs(model: &mut Model, places: &Layout, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let over = places.jobs == Some(places.conversation);
    // what an approval leaves, as for the conversation
    let rect = if over { Some(model.conversation_area) } else { places.jobs };
    model.jobs_area = rect.unwrap_or_default();
    let detach = model.keymap.hint(Action::Detach);
    let shown = jobs::Shown { now, focus: model.focus == PaneId::Jobs, detach: &detach };
    jobs::view(&mut model.jobs, model.jobs_area, buf, theme, shown);
    if over {
        model.conversation_area = Rect::default();
    }
}

/// The title of the jobs: how many run, and what is looked for.
fn jobs_title(model: &Model) -> String {
    let search = match model.jobs.search() {
        "" => String::new(),
        search => format!("/{} ", crate::ui::widget::text::tame(search)),
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
    let over = places.jobs == Some(places.conversation);
    let (writes, reads) =
        (has(PaneId::Composer), has(PaneId::Conversation) || over && has(PaneId::Jobs) || has(PaneId::Tree));
    let jobs = jobs_title(model);
    let tree = tree::title(&model.tree);
    let above = |buf: &mut Buffer| {
        let title = match (over, model.focus) {
            (true, _) => &jobs,
            (false, PaneId::Tree) => &tree,
            (false, _) => " Conversation ",
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
        buf.set_stringn(below.x, below.y, line, usize::from(below.width), style(writes || reads));
    }
    boxed(places.live_frame, " Live ", theme.border, buf);
    if let Some(rect) = places.jobs_frame {
        boxed(Some(rect), &jobs, style(has(PaneId::Jobs)), buf);
        for (x, corner) in [(rect.x, "├"), (rect.right() - 1, "┤")] {
            buf.set_stringn(x, rect.y, corner, 1, style(has(PaneId::Jobs)));
        }
    }
    if let Some(rule) = places.rule {
        let line = "─".repeat(usize::from(rule.width));
        buf.set_stringn(rule.x, rule.y, line, usize::from(rule.width), style(writes));
    }
}

/// The lines of words over the draft: why a request is tried again, and the messages that wait.
fn words(model: &Model) -> Vec<String> {
    let why = match &model.status.phase {
        Phase::Retrying { why, .. } => Some(format!("! {why}")),
        Phase::Idle | Phase::Waiting | Phase::Streaming | Phase::Calling => None,
        Phase::Compacting | Phase::Stopping | Phase::Opening => None,
    };
    why.into_iter().chain(pending_rows(model)).collect()
}

/// The messages that wait, one line each.
fn pending_rows(model: &Model) -> Vec<String> {
    let key = model.keymap.hint(Action::Up);
    let all = &model.status.pending;
    let mut out: Vec<String> = all
        .iter()
        .take(3)
        .map(|p| {
            let when = if p.after_turn { "after the turn" } else { "at the next tool" };
            format!("⧗ {when}: {}", p.text.lines().next().unwrap_or_default())
        })
        .collect();
    if let Some(last) = out.last_mut() {
        let more = if all.len() > 3 { format!(" · {} more", all.len() - 3) } else { String::new() };
        last.push_str(&format!("{more}  ({key} takes the newest back)"));
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

/// The counts of the jobs, where there is no room for their pane.
fn job_counts(model: &Model, area: Rect) -> String {
    let has_pane = area.width >= crate::ui::layout::WIDE && !model.live.hidden;
    if has_pane || model.focus == PaneId::Jobs {
        String::new()
    } else {
        jobs::counts(&model.jobs, &model.keymap.hint(Action::Jobs))
    }
}

fn draw_strips(model: &Model, places: &Layout, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let Some(mut rect) = places.strips else { return };
    let (line, counts) = (strip(model, buf.area, now), job_counts(model, buf.area));
    if line.is_some() || !counts.is_empty() {
        let mut place = Rect { height: 1, ..rect };
        // beside what runs now the counts stand at the right, where there is room for both
        let (wide, long) = (usize::from(rect.width), crate::ui::widget::text::width(&counts));
        if line.is_none() {
            buf.set_stringn(
                place.x,
                place.y,
                crate::ui::widget::text::ellipsis(&counts, wide),
                wide,
                theme.dim,
            );
        } else if long > 0 && long + 24 <= wide {
            buf.set_stringn(place.right() - long as u16, place.y, &counts, long, theme.dim);
            place.width -= long as u16 + 2;
        }
        if let Some(line) = line {
            line.draw(place, buf, theme, live::spinner(now, model.reduced_motion));
        }
        rect = Rect { y: rect.y + 1, height: rect.height - 1, ..rect };
    }
    let wide = usize::from(rect.width);
    for (at, text) in words(model).iter().take(usize::from(rect.height)).enumerate() {
        let text = crate::ui::widget::text::tame(text);
        let text = crate::ui::widget::text::ellipsis(&text, wide);
        buf.set_stringn(rect.x, rect.y + at as u16, text, wide, theme.warning);
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
    let shown = approve::Shown { approval, open: approvals.len(), takes: false, keymap: &model.keymap };
    let rect = approve::place(&mut model.approve, shown, for_approval(places, area), theme);
    let talk = places.conversation;
    Rect { height: rect.y.saturating_sub(talk.y).min(talk.height), ..talk }
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
    let area = for_approval(places, buf.area);
    let shown = approve::Shown { approval, open: approvals.len(), takes, keymap: &model.keymap };
    approve::view(&mut model.approve, shown, area, buf, theme);
    if covered {
        model.approve.covered();
    }
}
