//! What happens to the jobs pane.

use super::{Msg, Out, State, words};
use crate::api::command::JobAsk;
use crate::api::job::JobState;
use crate::base::{JobId, Millis};
use crate::ui::action::Action;

/// Within this time a second click on a job opens it.
const DOUBLE_MS: u64 = 400;
/// Most lines that are copied of a job's end.
const COPIED_LINES: usize = 200;

/// Changes the state by a message; what is to be done.
pub fn update(state: &mut State, msg: Msg, now: Millis) -> Vec<Out> {
    match msg {
        Msg::Move(by) => step(state, by),
        Msg::Page(by) => step(state, by.saturating_mul(state.height.saturating_sub(1).max(1) as i32)),
        Msg::First => state.choose(0),
        Msg::Last => state.choose(usize::MAX),
        Msg::Scroll(by) => {
            let last = state.order.len().saturating_sub(1);
            state.top = state.top.saturating_add_signed(by as isize).min(last);
            state.show = false;
        }
        Msg::Click(row) => return click(state, row, now),
        Msg::Search(text) => {
            state.search = text;
            state.list();
            if state.selected().is_none() {
                state.choose(0);
            }
            state.show = true;
        }
        Msg::Do(action) => return act(state, action),
    }
    Vec::new()
}

fn step(state: &mut State, by: i32) {
    let from = match state.at() {
        Some(at) => at.saturating_add_signed(by as isize),
        // what was selected is gone: its place is where one goes on
        None => state.place.saturating_add_signed(by.saturating_add(if by > 0 { -1 } else { 0 }) as isize),
    };
    state.choose(from);
}

fn click(state: &mut State, row: u16, now: Millis) -> Vec<Out> {
    let Some(job) = state.rows.get(usize::from(row)).copied() else { return Vec::new() };
    let Some(at) = state.order.iter().position(|listed| *listed == job) else { return Vec::new() };
    state.choose(at);
    let again = state.clicked.is_some_and(|(before, then)| before == job && now.since(then).0 <= DOUBLE_MS);
    state.clicked = (!again).then_some((job, now));
    if again { vec![Out::Open(job, false)] } else { Vec::new() }
}

fn act(state: &mut State, action: Action) -> Vec<Out> {
    match action {
        Action::JobFind => return vec![Out::Find],
        Action::JobLeave if state.search.is_empty() => return vec![Out::Leave],
        Action::JobLeave => {
            state.search.clear();
            state.list();
            state.show = true;
            return Vec::new();
        }
        Action::JobDismissAll => return dismiss_all(state),
        _ => {}
    }
    let Some(job) = state.selected() else {
        let words = if state.order.is_empty() { "there is no job here" } else { "choose a job first: j, k" };
        return vec![Out::Say(words.to_owned())];
    };
    one(state, job, action)
}

fn dismiss_all(state: &State) -> Vec<Out> {
    let ended: Vec<JobId> =
        state.order.iter().copied().filter(|job| state.get(*job).is_some_and(|row| !row.runs())).collect();
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
