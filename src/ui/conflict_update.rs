//! The conflict viewer on the screen: opened, its keys, and what it wants done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::api::command::{Command, Query};
use crate::base::Millis;
use crate::ui::act;
use crate::ui::action::{ACTIONS, Action, Layer};
use crate::ui::chrome;
use crate::ui::input::{Key, Mouse, MouseDid};
use crate::ui::keymap::Meaning;
use crate::ui::model::{Asker, Model, Toast};
use crate::ui::msg::{Effect, Exit};
use crate::ui::overlay::{Overlay, catalog};
use crate::ui::pane::conflict::{self, Out};
use crate::ui::theme::Theme;
use crate::ui::update;
use crate::ui::widget::row::put;
use crate::ui::widget::text::{broken, ellipsis, tame, width};

/// Rows that a turn of the wheel scrolls.
const WHEEL_ROWS: i32 = 3;

/// How long words that came by themselves stay at least, whatever is pressed.
const READ: Millis = Millis(1500);

/// Most keys that wait for what they are for.
const AHEAD_MAX: usize = 64;

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
    // an answer to a key goes with the next one; what came by itself is to be read first
    let by_key = !matches!(
        msg,
        conflict::Msg::Answered { .. }
            | conflict::Msg::Time(_)
            | conflict::Msg::Compared
            | conflict::Msg::Refresh
            | conflict::Msg::NotAsked(_)
    );
    let stays = if by_key { Millis(0) } else { READ };
    let all = conflict::update(&mut model.conflict, msg);
    model.conflict.happened(now);
    for wanted in all {
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
            Out::Say(said) => {
                let words = said.words(&model.keymap);
                say(model, words, stays, now);
            }
            Out::Unsay => model.toast = model.toast.take().filter(|toast| toast.key_from.is_none()),
        }
    }
}

/// Does what is due.
pub fn tick(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    if model.conflict.due().is_some_and(|at| at <= now) {
        to_conflict(model, conflict::Msg::Time(now), now, out);
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
    said_before(model, now);
    if !model.ahead.is_empty() {
        return behind(model, key, now, out);
    }
    let first = model.chord.take();
    match model.keymap.meaning(layers(edits), first, key) {
        Meaning::Do(Action::AnswerApproval) if !model.approvals.is_empty() => {
            if edits {
                to_conflict(model, conflict::Msg::Do(Action::ConflictEditDone), now, out);
            }
            to_conflict(model, conflict::Msg::Do(Action::ConflictLeave), now, out);
            act::act(model, Action::AnswerApproval, now, out);
        }
        Meaning::Do(Action::Help) => to_conflict(model, conflict::Msg::Do(Action::ConflictKeys), now, out),
        Meaning::Do(action) if ALSO.contains(&action) => act::act(model, action, now, out),
        // the key that opens it leaves it, too
        Meaning::Do(Action::HandBack) if !edits => {
            to_conflict(model, conflict::Msg::Do(Action::ConflictLeave), now, out);
        }
        Meaning::Do(action) if fits(action) && model.conflict.waits_for(action) => {
            model.ahead.extend(first.into_iter().chain([key]));
        }
        Meaning::Do(action) if edits || fits(action) => {
            to_conflict(model, conflict::Msg::Do(action), now, out);
        }
        Meaning::Do(Action::Cancel) if model.conflict.alone() => cancel(model, now, out),
        Meaning::First => model.chord = Some(key),
        Meaning::Do(_) | Meaning::Nothing => match key.typed() {
            Some(c) if edits => to_conflict(model, conflict::Msg::Insert(c), now, out),
            Some(c) => {
                let (keys, back) =
                    (model.keymap.hint(Action::ConflictKeys), model.keymap.hint(Action::ConflictLeave));
                let words = format!("`{c}` does nothing here: {keys} shows the keys, {back} leaves");
                say(model, words, Millis(0), now);
            }
            None => {}
        },
    }
}

/// The key that leaves the program, of one merge alone: what is not written is warned of, as by the viewer's own key.
fn cancel(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    let again = model.quit_until.take().is_some_and(|until| now <= until);
    if again || model.conflict.is_unwritten() {
        return to_conflict(model, conflict::Msg::Do(Action::ConflictLeave), now, out);
    }
    model.quit_until = Some(now.plus(Millis(act::QUIT_MS)));
    say(model, format!("{} again leaves", model.keymap.hint(Action::Cancel)), Millis(0), now);
}

/// Tells the person something that the first key after this time takes away.
fn say(model: &mut Model, words: String, stays: Millis, now: Millis) {
    model.say(words, now);
    model.toast = model.toast.take().map(|toast| Toast { key_from: Some(now.plus(stays)), ..toast });
}

/// Something is pressed: what was said to a key before is done with.
fn said_before(model: &mut Model, now: Millis) {
    let stays = |toast: &Toast| toast.key_from.is_none_or(|from| from > now);
    model.toast = model.toast.take().filter(stays);
}

fn layers(edits: bool) -> &'static [Layer] {
    if edits {
        &[Layer::ConflictEdit, Layer::Composer, Layer::Global]
    } else {
        &[Layer::Conflict, Layer::Global]
    }
}

/// A key behind others that wait: it waits, too. One that leaves, pressed twice, waits for nothing.
fn behind(model: &mut Model, key: Key, now: Millis, out: &mut Vec<Effect>) {
    let leaves = [Action::ConflictLeave, Action::ConflictBack];
    match model.keymap.meaning(layers(false), None, key) {
        Meaning::Do(action) if ALSO.contains(&action) && action != Action::AnswerApproval => {
            act::act(model, action, now, out);
        }
        Meaning::Do(action) if leaves.contains(&action) && model.ahead.last() == Some(&key) => {
            model.ahead.clear();
            to_conflict(model, conflict::Msg::Do(action), now, out);
        }
        _ if model.ahead.len() < AHEAD_MAX => model.ahead.push(key),
        _ => model.say("the path is not here yet: this key was dropped", now),
    }
}

/// Something was answered: the keys that waited for it are done, each on what is seen then.
pub fn catch_up(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    let stumbled = model.conflict.stumbled();
    let keys = std::mem::take(&mut model.ahead);
    if keys.is_empty() {
        return;
    }
    if stumbled || !model.conflict.shown() {
        let why = model.toast.as_ref().filter(|toast| toast.until > now).map(|toast| toast.text.clone());
        let noun = if keys.len() == 1 { "1 key" } else { "the keys" };
        let dropped = format!("{noun} pressed meanwhile did nothing");
        return model.say(why.map_or(dropped.clone(), |why| format!("{why} · {dropped}")), now);
    }
    for key in keys {
        let (width, height) = model.size;
        model.conflict.look(Rect { x: 0, y: 0, width, height });
        update::on_key(model, key, now, out);
    }
}

/// A paste: text for the result where that is written, else nothing.
pub fn paste(model: &mut Model, text: String, now: Millis, out: &mut Vec<Effect>) {
    said_before(model, now);
    if model.conflict.edits() {
        to_conflict(model, conflict::Msg::Paste(text), now, out);
    } else {
        let key = model.keymap.hint(Action::ConflictEdit);
        say(model, format!("nothing was pasted: {key} writes the result by hand"), Millis(0), now);
    }
}

/// The wheel scrolls, a click selects a path or a hunk.
pub fn on_mouse(model: &mut Model, mouse: Mouse, now: Millis, out: &mut Vec<Effect>) {
    if mouse.did == MouseDid::Press {
        said_before(model, now);
    }
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
    let seen = conflict::view(&mut model.conflict, buf, theme, &shown);
    let (cursor, keys) = (seen.cursor, seen.keys);
    if keys.is_empty() || word(model, seen.word, keys, buf, theme, now) {
        return cursor;
    }
    buf.set_style(keys, theme.status);
    let mut place = keys;
    if !model.approvals.is_empty() {
        let words = format!(" ? {} waiting for your answer ·", model.approvals.len());
        let style = ratatui::style::Style { bg: theme.status.bg, ..theme.warning };
        put(buf, place.x, place.y, &words, usize::from(place.width), style);
        let used = (width(&words) as u16).min(place.width);
        place = Rect { x: place.x + used, width: place.width - used, ..place };
    }
    if !model.overlays.is_empty() {
        // the keys are those of what stands above
        return cursor;
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
        // the key that gets out and the key of all keys never give way
        let edits = model.conflict.edits();
        let all = model.keymap.hint(if edits { Action::Help } else { Action::ConflictKeys });
        let out = conflict::way_out(&model.conflict).filter(|_| place.width >= 36);
        let out = out.map(|(action, says)| (model.keymap.hint(action), says));
        let last: Vec<(String, &str)> = out.into_iter().chain([(all, "keys")]).collect();
        let long = last.iter().map(|(key, says)| width(key) + says.len() + 4).sum::<usize>() + 1;
        let kept = if place.width >= 24 { (long as u16).min(place.width) } else { 0 };
        let first = Rect { width: place.width - kept, ..place };
        let rest = Rect { x: first.right(), width: kept, ..place };
        chrome::pairs(&model.keymap, &conflict::hints(&model.conflict), first, buf, theme);
        chrome::keys_and_words(&last, rest, buf, theme);
    }
    cursor
}

/// Draws a word to the person above the keys, in a row or two; whether it had to be in the place of the keys.
fn word(model: &Model, place: Rect, keys: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) -> bool {
    if place == keys {
        return chrome::word(model, keys, buf, theme, now);
    }
    let toast = model.toast.as_ref().filter(|toast| toast.until > now).map(|toast| toast.text.clone());
    // what is said goes before what is going on
    let going_on = || model.conflict.works(now).map(|said| said.words(&model.keymap));
    let Some(text) = toast.or_else(going_on) else { return false };
    let text = tame(&text.replace('\n', " ")).into_owned();
    let wide = usize::from(place.width).saturating_sub(2);
    let style = ratatui::style::Style { bg: theme.status.bg, ..theme.warning };
    let mut rows = broken(&text, wide);
    if rows.len() > usize::from(place.height) {
        let rest = rows.split_off(usize::from(place.height).saturating_sub(1)).join(" ");
        rows.push(ellipsis(&rest, wide).into_owned());
    }
    let used = rows.iter().map(|row| width(row)).max().unwrap_or(0) + 2;
    for (n, row) in rows.iter().rev().enumerate() {
        let y = place.bottom() - 1 - n as u16;
        let row = format!(" {row:<0$} ", used - 2 - width(row) + row.chars().count());
        put(buf, place.x, y, &row, wide + 2, style);
    }
    false
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
