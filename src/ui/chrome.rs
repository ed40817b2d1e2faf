//! The title line and the status line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::api::board::Phase;
use crate::base::Millis;
use crate::ui::action::{Action, Layer};
use crate::ui::keymap::Keymap;
use crate::ui::layout::MEDIUM;
use crate::ui::model::Model;
use crate::ui::pane::PaneId;
use crate::ui::pane::conversation::count;
use crate::ui::pane::live::{elapsed, spinner};
use crate::ui::theme::Theme;
use crate::ui::widget::row::Put as _;
use crate::ui::widget::text::{ellipsis, tame, width};

/// Draws the title: where, with which model, how confined, how full, how dear.
pub fn title(model: &Model, rect: Rect, buf: &mut Buffer, theme: &Theme) {
    if rect.is_empty() {
        return;
    }
    buf.set_style(rect, theme.title);
    let wide = usize::from(rect.width);
    let text = fitting(facts(model), wide);
    buf.put(rect.x, rect.y, ellipsis(&text, wide), wide, theme.title);
    if let Some(name) = text.find(NAME) {
        let mark = Rect { x: rect.x + name as u16, width: (NAME.len() as u16).min(rect.width), ..rect };
        buf.set_style(mark.intersection(rect), Modifier::BOLD);
    }
    // the session's own title stands at the right, where there is room for some of it
    let room = wide.saturating_sub(width(&text) + 3);
    let title = tame(model.status.title.lines().next().unwrap_or_default());
    if room >= 12 && !title.is_empty() {
        let title = ellipsis(&title, room);
        let x = rect.right() - 1 - width(&title) as u16;
        buf.put(x, rect.y, &title, room, theme.title);
    }
}

/// The program's name in the title.
const NAME: &str = "windlass";

/// What the title says: (what stands before it, the text, when it gives way: the highest first, 0 last).
type Fact = (&'static str, String, u8);

fn facts(model: &Model) -> Vec<Fact> {
    let status = &model.status;
    let mut out = vec![(" ", NAME.to_owned(), 7)];
    out.push(("  ", tame(&home(&status.cwd.to_string_lossy(), &model.home)).into_owned(), 0));
    if let Some(branch) = &status.branch {
        out.push(("  ", tame(branch).into_owned(), 6));
    }
    let mut fact = |text: String, gives_way| out.push((" · ", text, gives_way));
    if status.rehearsal {
        fact("rehearsal: scripted model".to_owned(), 2);
    } else if let Some(file) = status.model.strip_prefix("scripted:") {
        fact(format!("scripted:{}", tame(file.rsplit('/').next().unwrap_or(file))), 2);
    } else if status.model.is_empty() {
        let word = if status.phase == Phase::Opening { "opening" } else { "no model" };
        fact(word.to_owned(), 2);
    } else {
        fact(tame(&status.model).into_owned(), 2);
    }
    fact(status.mode.word().to_owned(), 0);
    fact(status.profile.clone(), 0);
    match (status.context.used, status.context.window) {
        (Some(used), Some(window)) if window > 0 => fact(format!("ctx {}%", used * 100 / window), 5),
        (Some(used), _) => fact(format!("ctx {}k of unknown", used / 1000), 5),
        (None, None) if !status.model.is_empty() => fact("ctx unknown".to_owned(), 8),
        (None, Some(_) | None) => {}
    }
    if let Some(cost) = status.cost.filter(|cost| *cost > 0.0) {
        fact(format!("${cost:.2}"), 8);
    }
    match status.usage.total() {
        0 => {}
        tokens => fact(format!("{} tokens", count(tokens)), 9),
    }
    let running = model.jobs.running().count();
    if running > 0 {
        let kept = model.jobs.running().filter(|(_, row)| row.kept).count();
        let kept = if kept > 0 { format!(" ({kept} kept)") } else { String::new() };
        fact(format!("{running} job{}{kept}", if running == 1 { "" } else { "s" }), 4);
    }
    let agents = model.agents.running().count();
    if agents > 0 {
        fact(format!("{agents} agent{}", if agents == 1 { "" } else { "s" }), 4);
    }
    let in_copies: usize =
        model.agents.iter().map(|(path, row)| crate::ui::pane::agents::in_copy(path, row)).sum();
    match (status.open_conflicts, in_copies) {
        (0, 0) => {}
        (open, 0) => fact(conflicts(open), 1),
        (0, below) => fact(format!("{} in a copy", conflicts(below)), 1),
        (open, below) => fact(format!("{}, {below} in a copy", conflicts(open)), 1),
    }
    if status.trusted == Some(false) {
        fact("untrusted".to_owned(), 3);
    }
    out
}

/// So many conflicts are open.
pub fn conflicts(open: usize) -> String {
    if open == 1 { "⚑ 1 conflict".to_owned() } else { format!("⚑ {open} conflicts") }
}

/// The facts that fit as one text: what matters most first gets its room, a model also without its provider.
fn fitting(mut facts: Vec<Fact>, wide: usize) -> String {
    // a directory keeps a part of the line also when it is long
    let most = (wide / 3).max(12);
    if let Some((_, path, _)) = facts.iter_mut().find(|(.., gives_way)| *gives_way == 0) {
        let all: Vec<&str> = path.graphemes(true).collect();
        if all.len() > most {
            *path = format!("…{}", all[all.len() + 1 - most..].concat());
        }
    }
    let mut order: Vec<usize> = (0..facts.len()).collect();
    order.sort_by_key(|at| facts[*at].2);
    let mut shown = vec![false; facts.len()];
    for at in order {
        shown[at] = true;
        if width(&joined(&facts, &shown)) <= wide || facts[at].2 == 0 {
            continue;
        }
        if let Some((_, name)) = facts[at].1.rsplit_once('/') {
            facts[at].1 = name.to_owned();
        }
        shown[at] = width(&joined(&facts, &shown)) <= wide;
    }
    joined(&facts, &shown)
}

fn joined(facts: &[Fact], shown: &[bool]) -> String {
    let mut out = String::new();
    for ((before, text, _), _) in facts.iter().zip(shown).filter(|(_, shown)| **shown) {
        out.push_str(if out.is_empty() { " " } else { before });
        out.push_str(text);
    }
    out
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
        // why it is stands over the draft, where there is room for it
        Phase::Retrying { attempt, at, .. } => {
            let left = at.since(now).0.div_ceil(1000);
            return format!("try {attempt} in {left} s");
        }
        Phase::Compacting => "summarising".to_owned(),
        Phase::Stopping => "stopping".to_owned(),
    };
    let began = match &model.status.phase {
        Phase::Calling if !model.approvals.is_empty() => model.approve.since(),
        _ => model.status.turn_began,
    };
    match began {
        Some(began) => format!("{word} {}", elapsed(now.since(began))),
        None => word,
    }
}

/// The keys that matter now.
fn hints(model: &Model, now: Millis) -> Vec<(Action, &'static str)> {
    let idle = model.composer.draft.is_empty();
    if !model.overlays.is_empty() {
        // it says its own keys
        Vec::new()
    } else if model.approval_takes_keys(now) {
        let mut out = vec![
            (Action::Choose, "answer"),
            (Action::ChoiceNext, "next answer"),
            (Action::PreviewDown, "scroll"),
            (Action::Aside, "write instead"),
        ];
        if model.approvals.len() > 1 {
            out.insert(1, (Action::NextApproval, "next question"));
        }
        out
    } else if !model.approvals.is_empty() {
        let answer = (Action::AnswerApproval, "answer");
        std::iter::once(answer).chain(hints_of_pane(model).unwrap_or_default()).collect()
    } else if let Some(hints) = hints_of_pane(model) {
        hints
    } else if model.status.phase.busy() {
        let last = if idle { (Action::Help, "keys") } else { (Action::Newline, "new line") };
        let mut out = vec![(Action::Send, "steer"), (Action::Queue, "queue"), last];
        if model.live.running() > 0 {
            out.insert(0, (Action::Detach, "background"));
        }
        out
    } else if idle {
        vec![
            (Action::Send, "send"),
            (Action::NextMode, "mode"),
            (Action::Complete, "read"),
            (Action::Palette, "commands"),
            (Action::Help, "keys"),
        ]
    } else {
        vec![(Action::Send, "send"), (Action::Newline, "new line"), (Action::Editor, "editor")]
    }
}

/// The keys of the pane that has the focus; none: it is the composer.
fn hints_of_pane(model: &Model) -> Option<Vec<(Action, &'static str)>> {
    match model.focus {
        PaneId::Composer | PaneId::Live => None,
        PaneId::Conversation if model.conversation.picks() => {
            Some(crate::ui::select_update::hints(model.conversation.marks()))
        }
        PaneId::Conversation if model.conversation.is_empty() => {
            Some(vec![(Action::Leave, "write"), (Action::KeysHere, "keys")])
        }
        PaneId::Tree if model.tree.hits().0 == 0 => {
            Some(vec![(Action::TreeLeave, "back"), (Action::TreeKeys, "keys")])
        }
        PaneId::Conversation => Some(vec![
            (Action::Leave, "write"),
            (Action::Next, "next"),
            (Action::Toggle, "open"),
            (Action::Find, "search"),
            (Action::Copy, "copy"),
            (Action::KeysHere, "keys"),
        ]),
        PaneId::Jobs => Some(job_hints(model)),
        PaneId::Agents => Some(agent_hints(model)),
        PaneId::Tree => Some(vec![
            (Action::TreeRewind, "go back there"),
            (Action::TreeFork, "fork"),
            (Action::TreeToggle, "open"),
            (Action::TreeFind, "search"),
            (Action::TreeLeave, "back"),
            (Action::TreeKeys, "keys"),
        ]),
    }
}

/// The keys that matter for the selected job.
fn job_hints(model: &Model) -> Vec<(Action, &'static str)> {
    let back = (Action::JobLeave, "back");
    let Some(row) = model.jobs.selected().and_then(|job| model.jobs.get(job)) else { return vec![back] };
    let mut out = vec![(Action::JobOpen, "view")];
    if row.runs() {
        if row.node.terminal {
            out.push((Action::JobAttach, "attach"));
        }
        let keep = if row.kept { "keep no longer" } else { "keep" };
        out.extend([(Action::JobKill, "kill"), (Action::JobSignal, "signal"), (Action::JobKeep, keep)]);
    } else {
        out.extend([(Action::JobDismiss, "dismiss"), (Action::JobDismissAll, "all ended")]);
    }
    out.extend([(Action::JobCopy, "copy"), (Action::JobFind, "search"), back, (Action::JobKeys, "keys")]);
    out
}

/// The keys that matter for the selected agent.
fn agent_hints(model: &Model) -> Vec<(Action, &'static str)> {
    let back = (Action::AgentLeave, "back");
    let Some(row) = model.agents.selected().and_then(|path| model.agents.get(path)) else {
        return vec![back];
    };
    let mut out = vec![(Action::AgentOpen, "view")];
    match row.end() {
        Some(end) => {
            if end.hand_back.is_some() {
                out.push((Action::AgentHandBack, "hand-back"));
            }
            if end.hand_back_failed() {
                out.push((Action::AgentRetry, "hand back again"));
            }
            out.extend([(Action::AgentMessage, "write to it"), (Action::AgentDismiss, "dismiss")]);
            out.push((Action::AgentCopy, "copy"));
        }
        None if row.runs() => {
            out.extend([(Action::AgentMessage, "write to it"), (Action::AgentStop, "stop")])
        }
        None => out.extend([(Action::AgentMessage, "write to it"), (Action::AgentStop, "end it")]),
    }
    out.extend([back, (Action::AgentKeys, "keys")]);
    out
}

/// What follows the first of two keys, in a word; those that matter most first in the keymap.
const FOLLOWS: [(Action, &str); 15] = [
    (Action::Models, "model"),
    (Action::Thinking, "thinking"),
    (Action::Sessions, "sessions"),
    (Action::NewSession, "new"),
    (Action::Themes, "theme"),
    (Action::Context, "context"),
    (Action::Live, "live"),
    (Action::Jobs, "jobs"),
    (Action::Agents, "agents"),
    (Action::Tree, "tree"),
    (Action::HandBack, "hand-back"),
    (Action::Conversation, "read"),
    (Action::Undo, "undo"),
    (Action::Redo, "redo"),
    (Action::Dump, "dump"),
];

/// An action's key as it is pressed now: `?` is a letter once something is written.
fn key_now(model: &Model, action: Action) -> String {
    if action == Action::Help && model.composer.draft.is_empty() && model.approvals.is_empty() {
        return "?".to_owned();
    }
    model.keymap.hint(action)
}

/// Draws the status line: a word to the person, else what is done and the keys that matter now.
pub fn status(model: &Model, rect: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
    if rect.is_empty() {
        return;
    }
    buf.set_style(rect, theme.status);
    let mut x = rect.x;
    let room = |x: u16| usize::from(rect.right().saturating_sub(x));
    let busy = model.status.phase.busy();
    if busy {
        x = draw_doing(model, rect, buf, theme, now);
    }
    let before = |x: u16| if x == rect.x { " " } else { " · " };
    if let Some(toast) = model.toast.as_ref().filter(|t| t.until > now) {
        let text = format!("{}{}", before(x), tame(&toast.text.replace('\n', " ")));
        buf.put(x, rect.y, ellipsis(&text, room(x)), room(x), on_status(theme.warning, theme));
        return;
    }
    if let Some(first) = model.chord {
        let layer = match model.focus {
            PaneId::Composer => Layer::Composer,
            PaneId::Jobs => Layer::Jobs,
            PaneId::Agents => Layer::Agents,
            PaneId::Tree => Layer::Tree,
            PaneId::Conversation | PaneId::Live => Layer::Conversation,
        };
        let follows = model.keymap.after(&[layer, Layer::Global], first);
        for (key, action) in follows {
            let Some((_, says)) = FOLLOWS.iter().find(|(of, _)| *of == action) else { continue };
            if room(x) < width(&key) + says.len() + 4 {
                break;
            }
            x = buf.put(x, rect.y, before(x), room(x), theme.status).0;
            x = pair(buf, x, rect, &key, says, theme);
        }
        return;
    }
    let pending = model.status.pending.len();
    let waits = if pending > 0 { format!("{pending} queued ") } else { String::new() };
    let kept = if waits.is_empty() || room(x) < waits.len() + 24 { 0 } else { waits.len() + 2 };
    for (action, says) in hints(model, now) {
        let key = key_now(model, action);
        if key.is_empty() || room(x) < width(&key) + says.len() + 5 + kept {
            continue;
        }
        x = buf.put(x, rect.y, before(x), room(x), theme.status).0;
        x = pair(buf, x, rect, &key, says, theme);
    }
    if !waits.is_empty() && room(x) > waits.len() {
        buf.put(rect.right() - waits.len() as u16, rect.y, &waits, waits.len(), theme.status);
    }
}

/// What is done, for how long, and the key that ends it, which never gives way.
fn draw_doing(model: &Model, rect: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) -> u16 {
    let wide = usize::from(rect.width);
    let asking = !model.approvals.is_empty();
    let (mark, style) =
        if asking { ("?", theme.warning) } else { (spinner(now, model.reduced_motion), theme.accent) };
    // an overlay has keys of its own
    let mut keys = vec![(Action::Interrupt, "interrupt")];
    keys.retain(|_| {
        model.overlays.is_empty() && !matches!(model.focus, PaneId::Jobs | PaneId::Agents | PaneId::Tree)
    });
    if !keys.is_empty() && matches!(model.status.phase, Phase::Retrying { .. }) {
        keys.push((Action::Retry, "try now"));
    }
    let mut keys: Vec<(String, &str)> =
        keys.into_iter().map(|(action, says)| (model.keymap.hint(action), says)).collect();
    let mut x = buf.put(rect.x, rect.y, format!(" {mark} "), wide, on_status(style, theme)).0;
    let room = |x: u16| usize::from(rect.right().saturating_sub(x));
    let needs =
        |keys: &[(String, &str)]| keys.iter().map(|(key, says)| width(key) + says.len() + 4).sum::<usize>();
    // where there is little room, a word to the person stands in the place of what is done
    let told = wide < usize::from(MEDIUM) && model.toast.as_ref().is_some_and(|toast| toast.until > now);
    if told || needs(&keys) + 4 > room(x) {
        keys.truncate(1);
    }
    let left = if told { 0 } else { room(x).saturating_sub(needs(&keys)) };
    if left >= 4 {
        x = buf.put(x, rect.y, ellipsis(&doing(model, now), left), left, theme.status).0;
    }
    for (at, (key, says)) in keys.iter().enumerate() {
        if at > 0 || left >= 4 {
            x = buf.put(x, rect.y, " · ", room(x), theme.status).0;
        }
        x = pair(buf, x, rect, key, says, theme);
    }
    x
}

/// A style with the ground of the status line.
fn on_status(style: Style, theme: &Theme) -> Style {
    Style { bg: theme.status.bg, ..style }
}

/// Draws a word to the person over a status line; whether there is one.
pub fn word(model: &Model, rect: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) -> bool {
    let Some(toast) = model.toast.as_ref().filter(|toast| toast.until > now) else { return false };
    buf.set_style(rect, theme.status);
    let wide = usize::from(rect.width);
    let text = format!(" {}", tame(&toast.text.replace('\n', " ")));
    buf.put(rect.x, rect.y, ellipsis(&text, wide), wide, on_status(theme.warning, theme));
    true
}

/// Draws keys and what they do, as many as there is room for.
pub fn pairs(keymap: &Keymap, hints: &[(Action, &str)], rect: Rect, buf: &mut Buffer, theme: &Theme) {
    let hints: Vec<(String, &str)> =
        hints.iter().map(|(action, says)| (keymap.hint(*action), *says)).collect();
    keys_and_words(&hints, rect, buf, theme);
}

/// Draws keys, given as they are shown, and what they do.
pub fn keys_and_words(hints: &[(String, &str)], rect: Rect, buf: &mut Buffer, theme: &Theme) {
    buf.set_style(rect, theme.status);
    let room = |x: u16| usize::from(rect.right().saturating_sub(x));
    let mut x = rect.x;
    for (key, says) in hints {
        if key.is_empty() || room(x) < width(key) + says.len() + 5 {
            continue;
        }
        x = buf.put(x, rect.y, if x == rect.x { " " } else { " · " }, room(x), theme.status).0;
        x = pair(buf, x, rect, key, says, theme);
    }
}

fn pair(buf: &mut Buffer, x: u16, rect: Rect, key: &str, says: &str, theme: &Theme) -> u16 {
    let room = |x: u16| usize::from(rect.right().saturating_sub(x));
    let key_style = on_status(theme.key, theme);
    let x = buf.put(x, rect.y, key, room(x), key_style).0;
    buf.put(x, rect.y, format!(" {says}"), room(x), theme.status).0
}
