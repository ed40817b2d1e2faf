//! What happens to the jobs pane.

use super::{Msg, Out, State, words};
use crate::api::command::JobAsk;
use crate::api::job::JobState;
use crate::base::{JobId, Millis};
use crate::ui::action::Action;

/// Most lines that are copied of a job's end.
const COPIED_LINES: usize = 200;

/// Changes the state by a message; what is to be done.
pub fn update(state: &mut State, msg: Msg, now: Millis) -> Vec<Out> {
    match msg {
        Msg::List(msg) => {
            return state.list.update(msg, now).map(|job| Out::Open(job, false)).into_iter().collect();
        }
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
        Action::JobFind => return vec![Out::Find],
        Action::JobLeave if state.search.is_empty() => return vec![Out::Leave],
        Action::JobLeave => {
            state.search.clear();
            state.arrange();
            state.list.reveal();
            return Vec::new();
        }
        Action::JobDismissAll => return dismiss_all(state),
        _ => {}
    }
    let Some(job) = state.selected() else {
        let words =
            if state.listed().is_empty() { "there is no job here" } else { "choose a job first: j, k" };
        return vec![Out::Say(words.to_owned())];
    };
    one(state, job, action)
}

fn dismiss_all(state: &State) -> Vec<Out> {
    let ended: Vec<JobId> =
        state.listed().iter().copied().filter(|job| state.get(*job).is_some_and(|row| !row.runs())).collect();
    if ended.is_empty() {
        return vec![Out::Say("no job here has ended".to_owned())];
    }
    ended.into_iter().map(|job| Out::Ask(job, JobAsk::Dismiss)).collect()
}

/// An action on one job.
pub fn one(state: &State, job: JobId, action: Action) -> Vec<Out> {
    let Some(row) = state.get(job) else { return Vec::new() };
    let over = || vec![Out::Say(format!("{job} has ended"))];
    let out = match action {
        Action::JobOpen => Out::Open(job, false),
        Action::JobAttach if !row.runs() => return over(),
        Action::JobAttach if !row.node.terminal => {
            Out::Say(format!("{job} has no terminal to type into; Enter shows its output"))
        }
        Action::JobAttach => Out::Open(job, true),
        Action::JobKill | Action::JobSignal | Action::JobKeep if !row.runs() => return over(),
        Action::JobKill => Out::Ask(job, JobAsk::Kill),
        Action::JobSignal => Out::Signals(job),
        Action::JobKeep => Out::Ask(job, JobAsk::Keep(!row.kept)),
        Action::JobCopy => Out::Copy(row.node.command.clone()),
        Action::JobCopyLast => match words::last_lines(row, COPIED_LINES) {
            lines if lines.is_empty() => Out::Say(format!("{job} has no output yet")),
            lines => Out::Copy(lines.join("\n")),
        },
        Action::JobDismiss => match &row.state {
            JobState::Ended(_) => Out::Ask(job, JobAsk::Dismiss),
            JobState::Sought | JobState::Running | JobState::Ending { .. } => {
                Out::Say(format!("{job} runs: x ends it, then d takes it off the list"))
            }
        },
        _ => return Vec::new(),
    };
    vec![out]
}
