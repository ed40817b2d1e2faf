//! What happens to the tree.

use super::rows::{Row, What};
use super::{Msg, Out, State, Target};
use crate::base::Millis;
use crate::ui::action::Action;
use crate::ui::widget::text::{ellipsis, tame};

/// Columns of an entry's text in what is asked about it.
const QUOTED: usize = 40;

/// Changes the state by a message; what is to be done.
pub fn update(state: &mut State, msg: Msg, now: Millis) -> Vec<Out> {
    match msg {
        // nothing opens: going back there is asked for by its key
        Msg::List(msg) => drop(state.list.update(msg, now)),
        Msg::Search(text) => {
            state.search = text;
            state.arrange();
            state.list.searched();
        }
        Msg::Do(action) => return act(state, action),
    }
    Vec::new()
}

fn act(state: &mut State, action: Action) -> Vec<Out> {
    match action {
        Action::TreeFind => return vec![Out::Find],
        Action::TreeLeave if state.search.is_empty() => return vec![Out::Leave],
        Action::TreeLeave => {
            state.search.clear();
            state.arrange();
            state.list.reveal();
            return Vec::new();
        }
        Action::TreeToggleAll => {
            state.all = !state.all;
            state.turned.clear();
            state.arrange();
            state.list.reveal();
            return Vec::new();
        }
        _ => {}
    }
    let Some(row) = state.list.at().and_then(|at| state.rows.get(at)).cloned() else {
        return vec![Out::Say("nothing is here yet".to_owned())];
    };
    match action {
        Action::TreeToggle => toggle(state, &row),
        Action::TreeRewind => return vec![rewind(state, &row)],
        Action::TreeFork => return vec![Out::Fork(target(state, &row))],
        Action::TreeCopy => return vec![Out::Copy(state.forest.shown(&row).text.clone())],
        _ => {}
    }
    Vec::new()
}

/// A run of calls is opened or folded, a branch folded or opened.
fn toggle(state: &mut State, row: &Row) {
    let turns = matches!(row.what, What::Calls(_) | What::Opened(_) | What::Branch(_)) || row.begins;
    if !turns {
        return;
    }
    let id = state.forest.id(row).clone();
    if !state.turned.remove(&id) {
        state.turned.insert(id);
    }
    state.arrange();
    state.list.reveal();
}

fn rewind(state: &State, row: &Row) -> Out {
    let entry = state.forest.target(row);
    if entry.message.is_none() && state.forest.head().as_ref() == Some(&entry.id) {
        return Out::Say("the conversation stands there already".to_owned());
    }
    Out::Rewind(target(state, row))
}

/// A message of the person's is gone back to before it; everything else to it.
fn target(state: &State, row: &Row) -> Target {
    let entry = state.forest.target(row);
    let text = tame(&entry.text);
    let quoted = ellipsis(&text, QUOTED);
    match &entry.message {
        Some((message, before)) => {
            let words = format!("before “{quoted}”");
            Target { to: before.clone(), take_back: Some(message.clone()), words }
        }
        None => {
            Target { to: Some(entry.id.clone()), take_back: None, words: format!("to after “{quoted}”") }
        }
    }
}
