//! What keys do in the view of a job, and where the answers to its questions go.

use ratatui::layout::Rect;

use super::find::{Asked, Find};
use super::{State, attach, close, select};
use crate::api::command::Query;
use crate::api::event::Reply;
use crate::api::job::JobRow;
use crate::base::{JobId, Millis};
use crate::ui::action::{Action, Layer};
use crate::ui::input::{Key, Mouse, MouseDid};
use crate::ui::jobs_update;
use crate::ui::keymap::Meaning;
use crate::ui::model::{Asker, Model};
use crate::ui::msg::Effect;
use crate::ui::overlay::{Overlay, catalog, line};
use crate::ui::pane::conversation::Pick;
use crate::ui::pane::jobs;

/// Rows that a turn of the wheel scrolls.
const WHEEL_ROWS: i64 = 3;

/// Actions from everywhere that are good here too; the others are of what the view covers.
const ALSO: [Action; 6] =
    [Action::Redraw, Action::Suspend, Action::Dump, Action::Help, Action::AnswerApproval, Action::RawView];

/// A key for the view.
pub fn on_key(model: &mut Model, key: Key, now: Millis, out: &mut Vec<Effect>) {
    match model.keymap.meaning(&[Layer::JobView, Layer::Global], model.chord.take(), key) {
        Meaning::Do(action) if fits(action) => act(model, action, now, out),
        Meaning::Do(Action::AnswerApproval) if !model.approvals.is_empty() => {
            close(model, out);
            crate::ui::act::act(model, Action::AnswerApproval, now, out);
        }
        Meaning::Do(Action::Help) => act(model, Action::ViewKeys, now, out),
        Meaning::Do(action) if ALSO.contains(&action) => crate::ui::act::act(model, action, now, out),
        Meaning::First => model.chord = Some(key),
        Meaning::Do(_) | Meaning::Nothing => {
            if key.typed().is_some()
                && let Some(words) = jobs_update::missed(model, Action::ViewAttach)
            {
                model.say(words, now);
            } else if let Some(c) = key.typed() {
                let (keys, back) =
                    (model.keymap.hint(Action::ViewKeys), model.keymap.hint(Action::ViewLeave));
                model.say(format!("`{c}` does nothing here: {keys} shows the keys, {back} goes back"), now);
            }
        }
    }
}

/// Whether an action is of the view.
pub fn fits(action: Action) -> bool {
    action.layer() == Layer::JobView
}

/// The wheel scrolls, a drag selects.
pub fn on_mouse(model: &mut Model, mouse: Mouse, now: Millis, out: &mut Vec<Effect>) {
    let (columns, rows) = model.size;
    let place = super::body(Rect::new(0, 0, columns, rows));
    let Some(state) = &mut model.job_view else { return };
    // below a picture there is nothing
    let pictured = model.jobs.get(state.job).and_then(|row| state.picture(row)).is_some();
    match mouse.did {
        MouseDid::WheelUp if pictured => state.raw = true,
        _ if pictured => {}
        MouseDid::WheelUp => state.log.scroll(-WHEEL_ROWS),
        MouseDid::WheelDown => state.log.scroll(WHEEL_ROWS),
        MouseDid::Press if place.contains((mouse.column, mouse.row).into()) => {
            state.press(mouse.column - place.x, mouse.row - place.y, now);
        }
        MouseDid::Drag => {
            let row = i32::from(mouse.row) - i32::from(place.y);
            state.drag(mouse.column.saturating_sub(place.x), row, place.height, now);
        }
        MouseDid::Release => {
            let taken = state.release();
            select::carry_out(model, taken, now, out);
        }
        MouseDid::Press | MouseDid::Other => {}
    }
}

/// Does an action of the view.
pub fn act(model: &mut Model, action: Action, now: Millis, out: &mut Vec<Effect>) {
    let Some(state) = &mut model.job_view else { return };
    let job = state.job;
    let Some(row) = model.jobs.get(job) else { return close(model, out) };
    if let Some(same) = of_list(action) {
        return on_job(model, job, same, now, out);
    }
    match action {
        Action::ViewSwitch => switch(model, now),
        Action::ViewFind => {
            model.overlays.push(Overlay::Line(line::State::new(line::Kind::FindLog(job))));
        }
        Action::ViewFindNext => look_on(model, false, now, out),
        Action::ViewFindPrevious => look_on(model, true, now, out),
        Action::ViewKeys => {
            model.overlays.push(Overlay::Page(catalog::help(&model.keymap, Layer::JobView)));
        }
        Action::ViewSelect => {
            // a picture is not selected from: all that was written is
            state.raw |= state.picture(row).is_some();
            crate::ui::select_update::pick(model, Pick::Enter, now, out);
        }
        Action::ViewBack if state.selected() => state.unselect(),
        Action::ViewBack if state.find.is_some() => state.find = None,
        Action::ViewBack | Action::ViewLeave => close(model, out),
        _ => scroll(state, row, action),
    }
}

/// The list's action that is the same as the view's.
fn of_list(action: Action) -> Option<Action> {
    Some(match action {
        Action::ViewAttach => Action::JobAttach,
        Action::ViewKill => Action::JobKill,
        Action::ViewSignal => Action::JobSignal,
        Action::ViewKeep => Action::JobKeep,
        Action::ViewCopy => Action::JobCopy,
        Action::ViewCopyLast => Action::JobCopyLast,
        Action::ViewDismiss => Action::JobDismiss,
        _ => return None,
    })
}

fn on_job(model: &mut Model, job: JobId, action: Action, now: Millis, out: &mut Vec<Effect>) {
    for wanted in jobs::one(&model.jobs, job, action) {
        match wanted {
            jobs::Out::Open(job, _) => attach(model, job, out),
            jobs::Out::Ask(_, crate::api::command::JobAsk::Dismiss) => {
                close(model, out);
                jobs_update::carry_out(model, wanted, now, out);
            }
            wanted => jobs_update::carry_out(model, wanted, now, out),
        }
    }
}

/// Between the picture and the log.
fn switch(model: &mut Model, now: Millis) {
    let Some(state) = &mut model.job_view else { return };
    let Some(row) = model.jobs.get(state.job) else { return };
    if state.picture(row).is_some() {
        state.raw = true;
    } else if state.raw && row.node.terminal {
        state.raw = false;
        if state.picture(row).is_none() {
            model.say("its last picture is gone with it: this is all it wrote", now);
        }
    } else {
        let job = state.job;
        model.say(format!("{job} has no picture of its own: this is all it wrote"), now);
    }
}

/// Moves in the log. A picture holds one screen: moving leads to the log, and from its end back.
fn scroll(state: &mut State, row: &JobRow, action: Action) {
    if state.picture(row).is_some() {
        state.raw = true;
    }
    let log = &mut state.log;
    match action {
        Action::ViewDown => log.scroll(1),
        Action::ViewUp => log.scroll(-1),
        Action::ViewHalfDown => log.halves(1),
        Action::ViewHalfUp => log.halves(-1),
        Action::ViewPageDown => log.halves(2),
        Action::ViewPageUp => log.halves(-2),
        Action::ViewFirst => log.begin(),
        Action::ViewLast => log.follow(),
        _ => {}
    }
}

/// Begins a search: on from what is in sight, and above it if there is nothing. Without a text the one before goes on.
pub fn search(model: &mut Model, job: JobId, text: String, now: Millis, out: &mut Vec<Effect>) {
    let Some(state) = model.job_view.as_mut().filter(|state| state.job == job) else { return };
    if text.is_empty() {
        return look_on(model, false, now, out);
    }
    state.raw = true;
    state.searches += 1;
    let asked = Asked { back: false, first: true, from: state.log.first() };
    state.find = Some(Find { text, token: state.searches, asked: None, hit: None });
    ask(model, asked, out);
}

fn ask(model: &mut Model, asked: Asked, out: &mut Vec<Effect>) {
    let Some(state) = &mut model.job_view else { return };
    let (job, Some(find)) = (state.job, &mut state.find) else { return };
    find.asked = Some(asked);
    let query = Query::JobSearch { job, text: find.text.clone(), from: asked.from, back: asked.back };
    let asker = Asker::JobFind(job, find.token);
    out.push(model.ask(asker, query));
}

/// The next hit, or the one before: from the last one, else from what is in sight.
fn look_on(model: &mut Model, back: bool, now: Millis, out: &mut Vec<Effect>) {
    let Some(state) = &mut model.job_view else { return };
    let Some(find) = &mut state.find else {
        let key = model.keymap.hint(Action::ViewFind);
        return model.say(format!("nothing is looked for: {key} searches"), now);
    };
    if find.asked.is_some() {
        return;
    }
    let from = match (find.hit, back) {
        (Some(hit), false) => hit + 1,
        (Some(hit), true) => hit,
        (None, false) => state.log.first(),
        (None, true) => state.log.last(),
    };
    ask(model, Asked { back, first: false, from }, out);
}

/// The answer to a question of the view.
pub fn pieces(model: &mut Model, asker: Asker, reply: Reply, now: Millis, out: &mut Vec<Effect>) {
    let (Asker::JobLog(job) | Asker::JobFind(job, _)) = asker else { return };
    let Some(state) = model.job_view.as_mut().filter(|state| state.job == job) else { return };
    match (asker, reply) {
        (Asker::JobLog(_), Reply::JobLog { bytes, offset, size }) => state.log.take(offset, bytes, size),
        (Asker::JobLog(_), Reply::Failed(why)) => state.log.lost(Some(why)),
        (Asker::JobFind(_, token), reply) => found(model, token, reply, now, out),
        (_, _) => state.log.lost(None),
    }
}

fn found(model: &mut Model, token: u64, reply: Reply, now: Millis, out: &mut Vec<Effect>) {
    let (up, down) = (model.keymap.hint(Action::ViewFindPrevious), model.keymap.hint(Action::ViewFindNext));
    let Some(state) = &mut model.job_view else { return };
    let Some(find) = state.find.as_mut().filter(|find| find.token == token) else { return };
    let Some(asked) = find.asked.take() else { return };
    let text = find.text.clone();
    let words = match reply {
        Reply::JobFound(Some(at)) => {
            find.hit = Some(at);
            state.log.show(at);
            // where it is stands in the head
            if !(asked.first && asked.back) {
                model.toast = None;
                return;
            }
            format!("the last hit, at {}%: none below it", state.log.percent_of(at))
        }
        Reply::JobFound(None) if asked.first && !asked.back => {
            return ask(model, Asked { back: true, ..asked }, out);
        }
        Reply::JobFound(None) if asked.first => format!("no hit for “{text}”"),
        Reply::JobFound(None) if asked.back => format!("no further hit above; {down} looks below"),
        Reply::JobFound(None) => format!("no further hit below; {up} looks above"),
        Reply::Failed(why) => why,
        _ => return,
    };
    model.say(words, now);
}
