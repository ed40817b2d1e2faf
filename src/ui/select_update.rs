//! Selecting text by keys, in whichever view it is done: the keys of their own layer; and the list of what one key
//! takes of an item.

use ratatui::layout::Rect;

use crate::base::Millis;
use crate::ui::action::{Action, Layer};
use crate::ui::agent_view;
use crate::ui::input::Key;
use crate::ui::job_view;
use crate::ui::keymap::Meaning;
use crate::ui::model::Model;
use crate::ui::msg::Effect;
use crate::ui::overlay::{Overlay, catalog, list};
use crate::ui::pane::PaneId;
use crate::ui::pane::conversation::{self, Pick};
use crate::ui::raw;
use crate::ui::update::to_conversation;
use crate::ui::widget::select::{Step, Unit};
use crate::ui::widget::text::tame;

/// Actions from everywhere that are good here too.
const ALSO: [Action; 3] = [Action::Redraw, Action::Suspend, Action::Dump];

/// Whether text is being selected by keys in what is on top.
pub fn selects(model: &Model) -> bool {
    if model.conflict.shown() {
        false
    } else if let Some(view) = &model.job_view {
        view.picks()
    } else if let Some(view) = &model.agent_view {
        view.conversation.picks()
    } else {
        model.focus == PaneId::Conversation && model.conversation.picks()
    }
}

/// A key while text is selected.
pub fn on_key(model: &mut Model, key: Key, now: Millis, out: &mut Vec<Effect>) {
    match model.keymap.meaning(&[Layer::Select, Layer::Global], model.chord.take(), key) {
        Meaning::Do(Action::PickKeys | Action::Help) => {
            model.overlays.push(Overlay::Page(catalog::help(&model.keymap, Layer::Select)));
        }
        Meaning::Do(Action::AnswerApproval) if !model.approvals.is_empty() => {
            pick(model, Pick::Leave, now, out);
            agent_view::close(model);
            job_view::close(model, out);
            crate::ui::act::act(model, Action::AnswerApproval, now, out);
        }
        Meaning::Do(action) if ALSO.contains(&action) => crate::ui::act::act(model, action, now, out),
        Meaning::Do(action) => match pick_of(action) {
            Some(what) => pick(model, what, now, out),
            None => missed(model, now),
        },
        Meaning::First => model.chord = Some(key),
        Meaning::Nothing => missed(model, now),
    }
}

fn missed(model: &mut Model, now: Millis) {
    let (take, leave) = (model.keymap.hint(Action::PickTake), model.keymap.hint(Action::PickLeave));
    model.say(format!("that key selects nothing: {take} takes what is marked, {leave} goes back"), now);
}

/// What an action of the layer does.
pub fn pick_of(action: Action) -> Option<Pick> {
    Some(match action {
        Action::PickLeft => Pick::Step(Step::Left),
        Action::PickRight => Pick::Step(Step::Right),
        Action::PickUp => Pick::Step(Step::Rows(-1)),
        Action::PickDown => Pick::Step(Step::Rows(1)),
        Action::PickWord => Pick::Step(Step::Word),
        Action::PickWordBack => Pick::Step(Step::WordBack),
        Action::PickBegin => Pick::Step(Step::Begin),
        Action::PickEnd => Pick::Step(Step::End),
        Action::PickHalfDown => Pick::Halves(1),
        Action::PickHalfUp => Pick::Halves(-1),
        Action::PickPageDown => Pick::Halves(2),
        Action::PickPageUp => Pick::Halves(-2),
        Action::PickFirst => Pick::First,
        Action::PickLast => Pick::Last,
        Action::PickMark => Pick::Mark(Unit::Cell),
        Action::PickLines => Pick::Mark(Unit::Line),
        Action::PickSwap => Pick::Swap,
        Action::PickTake => Pick::Take,
        Action::PickLeave => Pick::Leave,
        _ => return None,
    })
}

/// Selects in what is on top.
pub fn pick(model: &mut Model, what: Pick, now: Millis, out: &mut Vec<Effect>) {
    let (columns, rows) = model.size;
    if let Some(view) = &mut model.job_view {
        let height = job_view::body(Rect::new(0, 0, columns, rows)).height;
        let taken = view.picking(what, height);
        job_view::carry_out(model, taken, now, out);
    } else if model.agent_view.is_some() {
        agent_view::to_transcript(model, conversation::Msg::Pick(what), now, out);
    } else {
        to_conversation(model, conversation::Msg::Pick(what), now, out);
    }
}

/// What can be taken of the chosen item, to choose from.
pub fn menu(model: &mut Model, now: Millis) {
    let talk = model.agent_view.as_ref().map_or(&model.conversation, |view| &view.conversation);
    let rows: Vec<list::Row> = talk
        .pieces()
        .into_iter()
        .map(|piece| list::Row::new(piece.name, tame(&piece.note), list::Pick::Copy(piece.text)))
        .collect();
    if rows.is_empty() {
        return model.say("nothing was said yet that could be copied", now);
    }
    let mut shown = list::State::new(list::Kind::Take, "Copy", rows);
    shown.hint = "Enter copies it as it was written · Esc closes".to_owned();
    model.overlays.push(Overlay::List(shown));
}

/// Shows what is on top as plain text: the terminal's own selection works in it.
pub fn raw(model: &mut Model) {
    let (text, top) = match (&mut model.job_view, &mut model.agent_view) {
        (Some(view), _) => view.plain(),
        (None, Some(view)) => view.conversation.plain(),
        (None, None) => model.conversation.plain(),
    };
    model.raw = Some(raw::State::new(&text, top));
}

/// A key while that is shown: it moves, or goes back. Whether it is shown.
pub fn raw_key(model: &mut Model, key: Key) -> bool {
    let size = model.size;
    let Some(shown) = &mut model.raw else { return false };
    if !shown.key(key, size) {
        model.raw = None;
    }
    true
}

/// What stands in its last row.
pub const RAW: &str = " raw: Esc goes back · ↑ ↓ PageUp PageDown Home End move · select with the mouse";

/// The keys that matter while text is selected.
pub fn hints(marks: bool) -> Vec<(Action, &'static str)> {
    let mark = if marks { "mark nothing" } else { "mark" };
    let take = if marks { "copy it" } else { "copy the line" };
    vec![
        (Action::PickMark, mark),
        (Action::PickLines, "whole lines"),
        (Action::PickTake, take),
        (Action::PickLeave, "back"),
        (Action::PickKeys, "keys"),
    ]
}
