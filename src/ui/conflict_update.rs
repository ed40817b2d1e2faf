//! The conflict viewer on the screen: opened, its keys, and what it wants done.

use ratatui::buffer::Buffer;

use crate::api::command::{Command, Query};
use crate::base::Millis;
use crate::ui::act;
use crate::ui::action::{ACTIONS, Action, Layer};
use crate::ui::chrome;
use crate::ui::input::{Key, Mouse, MouseDid};
use crate::ui::keymap::Meaning;
use crate::ui::model::{Asker, Model};
use crate::ui::msg::{Effect, Exit};
use crate::ui::overlay::{Overlay, catalog};
use crate::ui::pane::conflict::{self, Out};
use crate::ui::theme::Theme;
use crate::ui::widget::row::put;
use crate::ui::widget::text::width;

/// Rows that a turn of the wheel scrolls.
const WHEEL_ROWS: i32 = 3;

/// Actions from everywhere that are good here too; the others are of what the viewer covers.
const ALSO: [Action; 4] = [Action::Redraw, Action::Suspend, Action::Dump, Action::AnswerApproval];

/// Opens the viewer.
pub fn enter(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    model.conflicts_seen = model.status.open_conflicts;
    to_conflict(model, conflict::Msg::Enter, now, out);
}

/// Opens the viewer on what came back from one child.
pub fn enter_child(model: &mut Model, child: String, now: Millis, out: &mut Vec<Effect>) {
    model.conflicts_seen = model.status.open_conflicts;
    to_conflict(model, conflict::Msg::EnterChild(child), now, out);
}

/// Gives the viewer a message and does what it wants.
pub fn to_conflict(model: &mut Model, msg: conflict::Msg, now: Millis, out: &mut Vec<Effect>) {
    for wanted in conflict::update(&mut model.conflict, msg) {
        match wanted {
            Out::Ask { token, ask } => {
                let effect = model.ask(Asker::Conflict(token), Query::HandBack(ask));
                out.push(effect);
            }
            Out::AskOpen(open) => model.overlays.push(Overlay::List(catalog::write_open(open))),
            Out::Edit { name, bytes } => out.push(Effect::EditMerge(name, bytes)),
            Out::Keys => {
                let layer = if model.conflict.edits() { Layer::ConflictEdit } else { Layer::Conflict };
                model.overlays.push(Overlay::Page(catalog::help(&model.keymap, layer)));
            }
            Out::Close if model.conflict.alone() => out.push(Effect::Leave(Exit::Quit)),
            Out::Close => {}
            Out::Say(text) => model.say(text, now),
        }
    }
}

/// Whether an action is of the viewer.
pub fn fits(action: Action) -> bool {
    let of = |layer: Layer| matches!(layer, Layer::Conflict | Layer::ConflictEdit);
    ACTIONS.iter().any(|(layer, known, ..)| of(*layer) && *known == action)
}

/// Does an action of the viewer.
pub fn act(model: &mut Model, action: Action, now: Millis, out: &mut Vec<Effect>) {
    if model.conflict.shown() {
        to_conflict(model, conflict::Msg::Do(action), now, out);
    }
}

/// A key for the viewer.
pub fn on_key(model: &mut Model, key: Key, now: Millis, out: &mut Vec<Effect>) {
    let edits = model.conflict.edits();
    let layers: &[Layer] = if edits {
        &[Layer::ConflictEdit, Layer::Composer, Layer::Global]
    } else {
        &[Layer::Conflict, Layer::Global]
    };
    match model.keymap.meaning(layers, model.chord.take(), key) {
        Meaning::Do(Action::AnswerApproval) if !model.approvals.is_empty() => {
            to_conflict(model, conflict::Msg::Do(Action::ConflictLeave), now, out);
            act::act(model, Action::AnswerApproval, now, out);
        }
        Meaning::Do(Action::Help) => to_conflict(model, conflict::Msg::Do(Action::ConflictKeys), now, out),
        Meaning::Do(action) if ALSO.contains(&action) => act::act(model, action, now, out),
        // the key that opens it leaves it, too
        Meaning::Do(Action::HandBack) if !edits => {
            to_conflict(model, conflict::Msg::Do(Action::ConflictLeave), now, out);
        }
        Meaning::Do(action) if edits || fits(action) => {
            to_conflict(model, conflict::Msg::Do(action), now, out);
        }
        Meaning::First => model.chord = Some(key),
        Meaning::Do(_) | Meaning::Nothing => match key.typed() {
            Some(c) if edits => to_conflict(model, conflict::Msg::Insert(c), now, out),
            Some(c) => {
                let (keys, back) =
                    (model.keymap.hint(Action::ConflictKeys), model.keymap.hint(Action::ConflictLeave));
                model.say(format!("`{c}` does nothing here: {keys} shows the keys, {back} leaves"), now);
            }
            None => {}
        },
    }
}

/// A paste: text for the result where that is written, else nothing.
pub fn paste(model: &mut Model, text: String, now: Millis, out: &mut Vec<Effect>) {
    if model.conflict.edits() {
        to_conflict(model, conflict::Msg::Paste(text), now, out);
    } else {
        let key = model.keymap.hint(Action::ConflictEdit);
        model.say(format!("nothing was pasted: {key} writes the result by hand"), now);
    }
}

/// The wheel scrolls, a click selects a path or a hunk.
pub fn on_mouse(model: &mut Model, mouse: Mouse, now: Millis, out: &mut Vec<Effect>) {
    let msg = match mouse.did {
        MouseDid::WheelUp => conflict::Msg::Scroll(-WHEEL_ROWS),
        MouseDid::WheelDown => conflict::Msg::Scroll(WHEEL_ROWS),
        MouseDid::Press => conflict::Msg::Click { column: mouse.column, row: mouse.row },
        MouseDid::Release | MouseDid::Drag | MouseDid::Other => return,
    };
    to_conflict(model, msg, now, out);
}

/// What came back is asked for anew when the session counts other conflicts than before.
pub fn wants(model: &mut Model) -> Option<Command> {
    if !model.conflict.shown() || model.conflicts_seen == model.status.open_conflicts {
        return None;
    }
    model.conflicts_seen = model.status.open_conflicts;
    let wanted = conflict::update(&mut model.conflict, conflict::Msg::Refresh);
    wanted.into_iter().find_map(|wanted| match wanted {
        Out::Ask { token, ask } => match model.ask(Asker::Conflict(token), Query::HandBack(ask)) {
            Effect::Send(command) => Some(command),
            _ => None,
        },
        _ => None,
    })
}

/// What keeps the choices that are not written, as the program ends.
pub fn keeps(model: &mut Model) -> Option<Command> {
    let ask = model.conflict.keeps()?;
    // nobody is there for the answer
    match model.ask(Asker::Outcome, Query::HandBack(ask)) {
        Effect::Send(command) => Some(command),
        _ => None,
    }
}

/// Draws the viewer over the whole screen; where the cursor is (none: hidden).
pub fn view(model: &mut Model, buf: &mut Buffer, theme: &Theme, now: Millis) -> Option<(u16, u16)> {
    let shown = conflict::Shown { now, keymap: &model.keymap, cwd: &model.status.cwd, home: &model.home };
    let (cursor, keys) = conflict::view(&mut model.conflict, buf, theme, &shown);
    if keys.is_empty() || chrome::word(model, keys, buf, theme, now) {
        return cursor;
    }
    buf.set_style(keys, theme.status);
    let mut place = keys;
    if !model.approvals.is_empty() {
        let words = format!(" ? {} waiting for your answer ·", model.approvals.len());
        let style = ratatui::style::Style { bg: theme.status.bg, ..theme.warning };
        put(buf, place.x, place.y, &words, usize::from(place.width), style);
        let used = (width(&words) as u16).min(place.width);
        place = ratatui::layout::Rect { x: place.x + used, width: place.width - used, ..place };
    }
    if let Some(first) = model.chord {
        let follows = model.keymap.after(&[Layer::Conflict, Layer::Global], first);
        let follows: Vec<(String, &str)> = follows
            .into_iter()
            .map(|(key, action)| (key, follow(action)))
            .filter(|(_, says)| !says.is_empty())
            .collect();
        chrome::keys_and_words(&follows, place, buf, theme);
    } else {
        // the key of all keys never gives way
        let all = model.keymap.hint(Action::ConflictKeys);
        let kept = if place.width >= 24 { (width(&all) + 9) as u16 } else { 0 };
        let first = ratatui::layout::Rect { width: place.width - kept, ..place };
        let last = ratatui::layout::Rect { x: first.right(), width: kept, ..place };
        chrome::pairs(&model.keymap, &conflict::hints(&model.conflict), first, buf, theme);
        chrome::keys_and_words(&[(all, "keys")], last, buf, theme);
    }
    cursor
}

/// What follows the first of two keys, in a word.
fn follow(action: Action) -> &'static str {
    match action {
        Action::ConflictOpenParent => "all open: parent",
        Action::ConflictOpenChild => "child",
        Action::ConflictOpenBoth => "both",
        Action::ConflictOpenBothChildFirst => "both, child first",
        Action::ConflictOpenBase => "base",
        Action::ConflictFileParent => "whole file: parent",
        Action::ConflictFileChild => "child",
        Action::ConflictFileBase => "base",
        Action::HandBack => "leave",
        _ => "",
    }
}
