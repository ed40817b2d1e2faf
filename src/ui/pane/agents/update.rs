//! What happens to the agents pane.

use super::{Msg, Out, State, hand_back_of, over};
use crate::api::agent::{AgentEnd, AgentRow, AgentState};
use crate::api::command::AgentAsk;
use crate::base::Millis;
use crate::ui::action::Action;

/// Changes the state by a message; what is to be done.
pub fn update(state: &mut State, msg: Msg, now: Millis) -> Vec<Out> {
    match msg {
        Msg::List(msg) => state.list.update(msg, now).map(Out::Open).into_iter().collect(),
        Msg::Do(action) => act(state, action),
    }
}

fn act(state: &mut State, action: Action) -> Vec<Out> {
    match action {
        Action::AgentLeave => return vec![Out::Leave],
        Action::AgentDismissAll => return dismiss_all(state),
        _ => {}
    }
    let Some(path) = state.selected().map(str::to_owned) else {
        let words =
            if state.order.is_empty() { "there is no agent here" } else { "choose an agent first: j, k" };
        return vec![Out::Say(words.to_owned())];
    };
    one(state, &path, action)
}

fn dismiss_all(state: &State) -> Vec<Out> {
    let ended = state.iter().filter(|(_, row)| over(row));
    let out: Vec<Out> = ended.map(|(path, _)| Out::Ask(path.clone(), AgentAsk::Dismiss)).collect();
    if out.is_empty() { vec![Out::Say("no agent here has ended".to_owned())] } else { out }
}

/// The hand-back that is shown for one that has ended: its own, or that of the first of its agents that left something.
fn shown(path: &str, row: &AgentRow, end: &AgentEnd) -> Option<String> {
    let below = end.hand_back.iter().flat_map(|report| &report.below);
    let left = || below.into_iter().find(|below| below.handed).map(|below| below.name.clone());
    match row.node.room {
        Some(_) => hand_back_of(path, row),
        None => left(),
    }
}

/// An action on one agent.
pub fn one(state: &State, path: &str, action: Action) -> Vec<Out> {
    let Some(row) = state.get(path) else { return Vec::new() };
    let say = |words: String| Out::Say(words);
    let ask = |ask: AgentAsk| Out::Ask(path.to_owned(), ask);
    let ends = matches!(row.state, AgentState::Stopping | AgentState::HandingBack);
    let out = match action {
        Action::AgentOpen => Out::Open(path.to_owned()),
        Action::AgentMessage if ends => say(format!("{path} is about to end: write to it once it has")),
        Action::AgentMessage => Out::Message(path.to_owned()),
        Action::AgentStop | Action::AgentDelete if over(row) => say(format!("{path} has ended")),
        Action::AgentStop if ends => say(format!("{path} is about to end already")),
        Action::AgentStop => ask(AgentAsk::Stop),
        Action::AgentDelete => ask(AgentAsk::Delete),
        Action::AgentDismiss if over(row) => ask(AgentAsk::Dismiss),
        Action::AgentDismiss => {
            say(format!("{path} has not ended: x stops it, then d takes it off the list"))
        }
        Action::AgentHandBack => match row.end() {
            Some(end) if end.hand_back.is_some() => match (shown(path, row, end), path.rsplit_once('/')) {
                (Some(name), _) => Out::HandBack(name),
                (None, Some((up, _))) => say(format!(
                    "what came back from {path} went to {up}: it is resolved here once {up} has ended"
                )),
                (None, None) => say(format!("nothing of {path} is open")),
            },
            Some(end) if end.node.room.is_some() => {
                say(end.trouble.clone().unwrap_or_else(|| format!("nothing came back from {path}")))
            }
            Some(_) => say(format!("{path} had no copy: what it changed is in your directory")),
            None if row.node.room.is_some() => say(format!("{path} hands back once it has ended")),
            None => say(format!("{path} has no copy: what it changes is in your directory at once")),
        },
        Action::AgentRetry => match row.end() {
            Some(end) if end.hand_back_failed() => ask(AgentAsk::HandBack),
            Some(_) => say(format!("the hand-back of {path} did not fail")),
            None => say(format!("{path} has not ended: x ends it and hands back")),
        },
        Action::AgentCopy => match row.end().map(|end| end.answer.trim()) {
            Some(answer) if !answer.is_empty() => Out::Copy(answer.to_owned()),
            Some(_) => say(format!("{path} said nothing at its end")),
            None => say(format!("{path} has not ended: Enter shows what it says")),
        },
        _ => return Vec::new(),
    };
    vec![out]
}
