//! The title line and the status line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::api::access::Mode;
use crate::api::board::Phase;
use crate::base::Millis;
use crate::ui::action::Action;
use crate::ui::model::Model;
use crate::ui::pane::PaneId;
use crate::ui::pane::live::{elapsed, spinner};
use crate::ui::theme::Theme;
use crate::ui::widget::text::{ellipsis, tame, width};

/// Draws the title: where, with which model, how confined, how full, how dear.
pub fn title(model: &Model, rect: Rect, buf: &mut Buffer, theme: &Theme) {
    if rect.is_empty() {
        return;
    }
    buf.set_style(rect, theme.title);
    let wide = usize::from(rect.width);
    let status = &model.status;
    let mut right = Vec::new();
    if status.rehearsal || status.scripted {
        right.push(if status.rehearsal {
            "rehearsal: scripted model".to_owned()
        } else {
            "scripted model".to_owned()
        });
    }
    if !status.model.is_empty() && !status.rehearsal {
        right.push(status.model.clone());
    }
    right.push(format!("mode {}", status.mode.word()));
    right.push(status.profile.clone());
    match (status.context.used, status.context.window) {
        (Some(used), Some(window)) if window > 0 => right.push(format!("ctx {}%", used * 100 / window)),
        (Some(used), _) => right.push(format!("ctx {}k of unknown", used / 1000)),
        (None, Some(_)) => {}
        (None, None) if !status.model.is_empty() => right.push("ctx unknown".to_owned()),
        (None, None) => {}
    }
    if let Some(cost) = status.cost {
        right.push(format!("${cost:.2}"));
    }
    if status.trusted == Some(false) {
        right.push("untrusted".to_owned());
    }
    let mut left = format!(" windlass  {}", tame(&home(&status.cwd.to_string_lossy(), &model.home)));
    if let Some(branch) = &status.branch {
        left.push_str(&format!("  {}", tame(branch)));
    }
    if !status.title.is_empty() {
        left.push_str(&format!("  · {}", tame(status.title.lines().next().unwrap_or_default())));
    }
    // the right side gives way from its end, but never the mode and the confinement
    let mut facts = right.join(" · ");
    while width(&facts) + 26 > wide && right.len() > 1 {
        let dear = right.iter().rposition(|f| !f.starts_with("mode ") && *f != status.profile);
        match dear {
            Some(at) => drop(right.remove(at)),
            None => break,
        }
        facts = right.join(" · ");
    }
    let room = wide.saturating_sub(width(&facts) + 2);
    let left = ellipsis(&left, room.max(wide.min(9))).into_owned();
    buf.set_stringn(rect.x, rect.y, &left, wide, theme.title);
    let begin = wide.saturating_sub(width(&facts) + 1);
    if begin > width(&left) {
        buf.set_stringn(rect.x + begin as u16, rect.y, &facts, wide - begin, theme.title);
    }
}

/// A path with `~` for the person's home.
fn home(path: &str, home: &str) -> String {
    match path.strip_prefix(home) {
        Some(rest) if home.len() > 1 => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// What the session does, in a word or two.
fn doing(model: &Model, now: Millis) -> String {
    let word = match &model.status.phase {
        Phase::Idle => return String::new(),
        Phase::Opening => "opening the session".to_owned(),
        Phase::Waiting => "waiting for the model".to_owned(),
        Phase::Streaming => "answering".to_owned(),
        Phase::Calling if !model.approvals.is_empty() => "waiting for you".to_owned(),
        Phase::Calling => "running".to_owned(),
        Phase::Retrying { attempt, at, why } => {
            let left = at.since(now).0.div_ceil(1000);
            return format!(
                "try {attempt} in {left} s ({} now): {}",
                model.keymap.hint(Action::Retry),
                tame(why)
            );
        }
        Phase::Compacting => "summarising".to_owned(),
        Phase::Stopping => "stopping".to_owned(),
    };
    match model.status.turn_began {
        Some(began) => format!("{word} {}", elapsed(now.since(began))),
        None => word,
    }
}

/// The keys that matter now.
fn hints(model: &Model, now: Millis) -> Vec<(Action, &'static str)> {
    if !model.approvals.is_empty() && !model.approval_takes_keys(now) {
        vec![(Action::AnswerApproval, "answer")]
    } else if model.focus == PaneId::Conversation {
        vec![
            (Action::Leave, "write"),
            (Action::Next, "next"),
            (Action::Toggle, "open"),
            (Action::Find, "search"),
            (Action::Copy, "copy"),
            (Action::KeysHere, "keys"),
        ]
    } else if model.status.phase.busy() {
        vec![(Action::Send, "steer"), (Action::Queue, "after the turn")]
    } else {
        vec![
            (Action::Send, "send"),
            (Action::NextMode, "mode"),
            (Action::Palette, "commands"),
            (Action::Help, "keys"),
        ]
    }
}

/// Draws the status line: a word to the person, else what is done and the keys that matter now.
pub fn status(model: &Model, rect: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
    if rect.is_empty() {
        return;
    }
    buf.set_style(rect, theme.status);
    let wide = usize::from(rect.width);
    let mut x = rect.x;
    let room = |x: u16| usize::from(rect.right().saturating_sub(x));
    let busy = model.status.phase.busy();
    if busy {
        x = buf
            .set_stringn(
                x,
                rect.y,
                format!(" {} ", spinner(now, model.reduced_motion)),
                wide,
                theme.accent.patch(ratatui::style::Style { bg: theme.status.bg, ..theme.accent }),
            )
            .0;
        x = pair(buf, x, rect, &model.keymap.hint(Action::Interrupt), "interrupt", theme);
        let said = format!(" · {}", doing(model, now));
        x = buf.set_stringn(x, rect.y, ellipsis(&said, room(x)), room(x), theme.status).0;
    }
    if let Some(toast) = model.toast.as_ref().filter(|t| t.until > now) {
        let text = format!("{}{}", if busy { " · " } else { " " }, tame(&toast.text.replace('\n', " ")));
        buf.set_stringn(x, rect.y, ellipsis(&text, room(x)), room(x), theme.warning);
        return;
    }
    if model.chord.is_some() {
        let text =
            " · and then? m model · s sessions · n new · c theme · x context · l live · o conversation";
        buf.set_stringn(x, rect.y, ellipsis(text, room(x)), room(x), theme.warning);
        return;
    }
    let hints = hints(model, now);
    for (action, says) in hints {
        let key = model.keymap.hint(action);
        if key.is_empty() || room(x) < width(&key) + says.len() + 5 {
            continue;
        }
        x = buf.set_stringn(x, rect.y, if x == rect.x { " " } else { " · " }, room(x), theme.status).0;
        x = pair(buf, x, rect, &key, says, theme);
    }
    let queued = model.status.pending.len();
    if queued > 0 {
        let text = format!("{queued} queued ");
        if room(x) > text.len() {
            buf.set_stringn(rect.right() - text.len() as u16, rect.y, &text, text.len(), theme.status);
        }
    }
    if model.status.mode == Mode::Plan && room(x) > 24 {
        buf.set_stringn(x, rect.y, " · plan: read only", room(x), theme.status);
    }
}

fn pair(buf: &mut Buffer, x: u16, rect: Rect, key: &str, says: &str, theme: &Theme) -> u16 {
    let room = |x: u16| usize::from(rect.right().saturating_sub(x));
    let key_style = ratatui::style::Style { bg: theme.status.bg, ..theme.key };
    let x = buf.set_stringn(x, rect.y, key, room(x), key_style).0;
    buf.set_stringn(x, rect.y, format!(" {says}"), room(x), theme.status).0
}
