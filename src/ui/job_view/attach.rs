//! Attached to a job: what is typed, pasted and done with the mouse goes to its terminal, but for the key that leaves.
//!
//! When the job ends meanwhile, nothing that was meant for it does anything else: keys are swallowed until a person
//! who has had time to read it presses one. Deliberately not here: the bytes (`input::encode`).

use super::{Attached, State, body, close, open};
use crate::api::command::{Command, JobAsk, SecretBytes};
use crate::api::screen::Modes;
use crate::base::{JobId, Millis};
use crate::ui::action::{Action, Layer};
use crate::ui::input::{Code, Input, Key, Mods, Mouse, encode};
use crate::ui::keymap::Meaning;
use crate::ui::model::Model;
use crate::ui::msg::Effect;

/// How long no key may come after the end is seen: what is typed on in that time was meant for the job.
const READ_MS: u64 = 800;
/// Most bytes of one command: a long paste is several.
const INPUT_BYTES: usize = 32 * 1024;
/// Most bytes of a paste: a terminal takes no more at once.
const PASTE_MAX: usize = 512 * 1024;

/// Attaches to a job; from the list its view is opened for it, and left with it.
pub fn attach(model: &mut Model, job: JobId, out: &mut Vec<Effect>) {
    let back = model.job_view.as_ref().is_none_or(|state| state.job != job);
    if back {
        open(model, job, out);
    }
    if let Some(state) = &mut model.job_view {
        state.raw = false;
        state.attached = Attached::Yes { back, chord: None };
    }
}

/// What came from the terminal while a person is attached; whether it was taken.
pub fn on_input(model: &mut Model, input: &Input, now: Millis, out: &mut Vec<Effect>) -> bool {
    if !model.overlays.is_empty() || !model.attached() {
        return false;
    }
    match input {
        Input::Key(key) => on_key(model, *key, now, out),
        Input::Paste(text) if text.len() > PASTE_MAX => {
            let most = PASTE_MAX / 1024;
            model.say(
                format!("nothing was pasted: it has more than the {most} KiB that a terminal takes"),
                now,
            );
        }
        Input::Paste(text) => {
            let bytes = encode::paste(text, &modes(model));
            send(model, bytes, out);
        }
        Input::Mouse(mouse) => on_mouse(model, *mouse, out),
        Input::Focus(_) | Input::Reply(_) => return false,
    }
    true
}

fn on_key(model: &mut Model, key: Key, now: Millis, out: &mut Vec<Effect>) {
    notice_end(model);
    // over a slow line an Escape and the key that leaves come at once
    let bare = Key { mods: Mods { alt: false, ..key.mods }, ..key };
    let means = |key| model.keymap.meaning(&[Layer::Attached], None, key);
    if key.mods.alt && means(key) == Meaning::Nothing && matches!(means(bare), Meaning::Do(_)) {
        on_key(model, Key::plain(Code::Escape), now, out);
        return on_key(model, bare, now, out);
    }
    let Some(state) = &mut model.job_view else { return };
    let (back, before) = match state.attached {
        Attached::Yes { back, chord } => (back, chord),
        Attached::Over { since } => {
            let read = since.is_some_and(|since| now.since(since).0 >= READ_MS);
            let leaves = model.keymap.meaning(&[Layer::Attached], None, key);
            state.attached = if read || leaves == Meaning::Do(Action::LeaveTerminal) {
                Attached::No
            } else {
                // one who types on has not read it yet
                Attached::Over { since: since.map(|_| now) }
            };
            return;
        }
        Attached::No => return,
    };
    match model.keymap.meaning(&[Layer::Attached], before, key) {
        Meaning::Do(_) if back => close(model, out),
        Meaning::Do(_) => state.attached = Attached::No,
        Meaning::First => state.attached = Attached::Yes { back, chord: Some(key) },
        Meaning::Nothing => {
            state.attached = Attached::Yes { back, chord: None };
            let modes = modes(model);
            let keys = before.into_iter().chain([key]);
            send(model, keys.flat_map(|key| encode::key(key, &modes)).collect(), out);
        }
    }
}

fn on_mouse(model: &mut Model, mouse: Mouse, out: &mut Vec<Effect>) {
    let (columns, rows) = model.size;
    let place = body(ratatui::layout::Rect::new(0, 0, columns, rows));
    let Some(screen) = model.job_view.as_ref().and_then(|state| model.jobs.get(state.job)?.screen.clone())
    else {
        return;
    };
    if place.contains((mouse.column, mouse.row).into()) {
        let inside = Mouse { column: mouse.column - place.x, row: mouse.row - place.y, ..mouse };
        send(model, encode::mouse(inside, &screen.modes, screen.alternate), out);
    }
}

/// What the program wants of its input; until its picture is there, what programs want at first.
fn modes(model: &Model) -> Modes {
    let row = model.job_view.as_ref().and_then(|state| model.jobs.get(state.job));
    row.and_then(|row| row.screen.as_ref()).map(|screen| screen.modes).unwrap_or_default()
}

fn send(model: &mut Model, bytes: Vec<u8>, out: &mut Vec<Effect>) {
    notice_end(model);
    let Some(State { job, attached: Attached::Yes { .. }, .. }) = model.job_view else { return };
    let pieces = bytes.chunks(INPUT_BYTES);
    out.extend(
        pieces
            .map(|piece| Effect::Send(Command::Job { job, ask: JobAsk::Input(SecretBytes(piece.to_vec())) })),
    );
}

/// A job that has ended takes nothing any more.
fn notice_end(model: &mut Model) {
    let Some(state) = &mut model.job_view else { return };
    let ended = model.jobs.get(state.job).is_none_or(|row| !row.runs());
    if ended && matches!(state.attached, Attached::Yes { .. }) {
        state.attached = Attached::Over { since: None };
    }
}

/// The end of the job is on the screen from now on.
pub(super) fn see_end(state: &mut State, runs: bool, now: Millis) {
    if !runs && matches!(state.attached, Attached::Yes { .. } | Attached::Over { since: None }) {
        state.attached = Attached::Over { since: Some(now) };
    }
}
