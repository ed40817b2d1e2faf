//! What a session tells of itself, from its entries: what was spent on what, what ran when, what fills the window. Pure:
//! prices, titles of calls and the time come in.

use std::collections::HashMap;
use std::sync::Arc;

use crate::api::account::{AgentSpent, ContextPart, Ran, Share, Spent, TurnTimes, UsageReport};
use crate::api::entry::{CallStart, CallStatus, Delivery, Entry, EntryBody, TurnStatus};
use crate::api::message::{Answer, Body, Finish, Usage};
use crate::base::{CallId, Millis, SessionId};
use crate::law::board::Progress;
use crate::law::window;

/// Tools of which the results are told apart; the others are one part.
const TOOLS_MAX: usize = 8;

/// An agent that runs.
pub(super) struct Running {
    /// Its path.
    pub path: String,
    /// Its session.
    pub session: SessionId,
    /// What it used in all of its runs.
    pub spent: Spent,
}

/// What was spent, on all branches. `price`: dollars for tokens of a model. `running`: agents that run, of which what
/// this run used is told: what those before used is in the sum since their ends.
pub(super) fn usage(
    entries: &[Arc<Entry>],
    price: &dyn Fn(&str, &Usage) -> Option<f64>,
    running: Vec<Running>,
) -> UsageReport {
    let mut out = UsageReport::default();
    let mut ended: HashMap<&SessionId, Spent> = HashMap::new();
    let mut open = false;
    for entry in entries {
        let (whose, spent) = match &entry.body {
            EntryBody::User(said) => {
                if !open || said.delivery != Delivery::Steered {
                    out.turns.push((first_line(&said.text), Spent::default()));
                    open = true;
                }
                continue;
            }
            EntryBody::TurnEnd(_) => {
                open = false;
                continue;
            }
            EntryBody::Answer(answer) => {
                let Some(usage) = answer.usage else { continue };
                (answer.model.clone(), Spent { answers: 1, usage, cost: price(&answer.model, &usage) })
            }
            EntryBody::CallSettle(settle) => {
                let Some(usage) = settle.usage else { continue };
                ("calls".to_owned(), Spent { answers: 0, usage, cost: None })
            }
            EntryBody::AgentEnd(end) if !end.again => {
                let spent = Spent { answers: 0, usage: end.usage, cost: end.cost };
                ended.entry(&end.node.session).or_default().add(&spent);
                add_agent(&mut out.agents, AgentSpent { path: end.node.name.clone(), spent, runs: false });
                ("agents".to_owned(), spent)
            }
            _ => continue,
        };
        out.total.add(&spent);
        if let Some((_, turn)) = out.turns.last_mut() {
            turn.add(&spent);
        }
        match out.models.iter_mut().find(|(known, _)| *known == whose) {
            Some((_, known)) => known.add(&spent),
            None => out.models.push((whose, spent)),
        }
    }
    out.agents.extend(running.into_iter().map(|Running { path, session, spent }| {
        let spent = ended.get(&session).map_or(spent, |before| spent.without(before));
        AgentSpent { path, spent, runs: true }
    }));
    out
}

fn add_agent(agents: &mut Vec<AgentSpent>, more: AgentSpent) {
    match agents.iter_mut().find(|known| known.path == more.path) {
        Some(known) => known.spent.add(&more.spent),
        None => agents.push(more),
    }
}

fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

/// What ran when, turn by turn, on one branch. `running`: the calls that run.
pub(super) fn timeline(
    path: &[Arc<Entry>],
    running: &[(CallId, Progress)],
    title: &dyn Fn(&CallStart) -> String,
    now: Millis,
) -> Vec<TurnTimes> {
    let mut out = Times { turns: Vec::new(), calls: HashMap::new(), last: Millis(0) };
    for entry in path {
        out.take(entry, title);
    }
    for (call, progress) in running {
        if let Some((turn, row)) = out.calls.get(call).copied() {
            let ran = &mut out.turns[turn].rows[row];
            ran.runs = true;
            if progress.asking {
                ran.asked = now.since(ran.began);
            }
        }
    }
    let last = out.turns.len().saturating_sub(1);
    for (at, turn) in out.turns.iter_mut().enumerate() {
        // only the newest can run; of another the end was lost with its program
        turn.runs &= at == last;
        let newest =
            turn.rows.iter().filter(|row| !row.runs).map(|row| row.ended).max().unwrap_or(turn.began);
        if turn.runs {
            turn.ended = now;
        } else {
            turn.ended = turn.ended.max(newest);
        }
        for row in turn.rows.iter_mut().filter(|row| row.runs) {
            row.ended = turn.ended;
        }
    }
    out.turns
}

struct Times {
    turns: Vec<TurnTimes>,
    /// Calls that have not settled: their turn and row.
    calls: HashMap<CallId, (usize, usize)>,
    /// When the model could begin.
    last: Millis,
}

impl Times {
    fn begin(&mut self, title: String, at: Millis) {
        self.turns.push(TurnTimes { title, began: at, ended: at, runs: true, rows: Vec::new() });
        self.last = at;
    }
    /// The turn that runs; a new one where none does.
    fn turn(&mut self, at: Millis) -> &mut TurnTimes {
        if !self.turns.last().is_some_and(|turn| turn.runs) {
            self.begin("(begun by itself)".to_owned(), at);
        }
        let last = self.turns.len() - 1;
        &mut self.turns[last]
    }
    fn take(&mut self, entry: &Entry, title: &dyn Fn(&CallStart) -> String) {
        let at = entry.at;
        match &entry.body {
            EntryBody::User(said) => {
                let steers =
                    said.delivery == Delivery::Steered && self.turns.last().is_some_and(|turn| turn.runs);
                if !steers {
                    self.begin(first_line(&said.text), at);
                }
            }
            EntryBody::Answer(answer) => self.model(at, finish(answer)),
            EntryBody::Compaction(_) => self.model(at, "summary"),
            EntryBody::CallStart(start) => {
                let (tool, title) = (Some(start.tool.clone()), title(start));
                let turn = self.turn(at);
                turn.rows.push(Ran {
                    tool,
                    title,
                    began: at,
                    asked: Millis(0),
                    ended: at,
                    word: "",
                    runs: false,
                });
                let place = (self.turns.len() - 1, self.turns[self.turns.len() - 1].rows.len() - 1);
                self.calls.insert(start.call.clone(), place);
            }
            EntryBody::CallSettle(settle) => {
                if let Some((turn, row)) = self.calls.remove(&settle.call) {
                    let ran = &mut self.turns[turn].rows[row];
                    (ran.ended, ran.asked) = (at, settle.asked.min(at.since(ran.began)));
                    ran.word = if settle.status == CallStatus::Ok { "" } else { settle.status.word() };
                }
                self.last = at;
            }
            EntryBody::TurnEnd(end) => {
                if let Some(turn) = self.turns.last_mut() {
                    (turn.ended, turn.runs) = (at, false);
                    if end.status == TurnStatus::Interrupted
                        && let Some(row) = turn.rows.last_mut()
                        && row.word.is_empty()
                    {
                        row.word = "interrupted";
                    }
                }
                self.last = at;
            }
            EntryBody::Notice(_)
            | EntryBody::Setting(_)
            | EntryBody::JobEnd(_)
            | EntryBody::AgentEnd(_)
            | EntryBody::Restore(_)
            | EntryBody::Unknown(_) => {}
        }
    }
    /// The model spoke, from when it could begin.
    fn model(&mut self, at: Millis, word: &'static str) {
        self.turn(at);
        let began = self.last.min(at);
        let row =
            Ran { tool: None, title: String::new(), began, asked: Millis(0), ended: at, word, runs: false };
        self.turn(at).rows.push(row);
        self.last = at;
    }
}

fn finish(answer: &Answer) -> &'static str {
    match &answer.finish {
        Finish::Finished(_) => "",
        Finish::Truncated(_) => "cut off",
        Finish::Cancelled => "cancelled",
        Finish::Failed(_) => "error",
    }
}

/// What the messages of the window are of. `entries`: those that the model is told, after the summary.
pub(super) fn messages(entries: &[&Entry], summary: u64) -> Vec<ContextPart> {
    let (mut user, mut text, mut thinking, mut calls, mut news) = ((0, 0), (0, 0), 0, (0, 0), (0, 0));
    let mut tools: Vec<(String, u64, u64)> = Vec::new();
    let mut of: HashMap<&CallId, &str> = HashMap::new();
    let plus = |sum: &mut (u64, u64), bytes: usize| *sum = (sum.0 + bytes as u64, sum.1 + 1);
    for entry in entries {
        match &entry.body {
            EntryBody::User(said) => plus(&mut user, said.text.len()),
            EntryBody::Answer(answer) => {
                text.1 += 1;
                for block in &answer.blocks {
                    match &block.body {
                        Body::Text(words) => text.0 += words.len() as u64,
                        Body::Thinking(words) => thinking += words.len() as u64,
                        Body::Call { name, input, .. } => {
                            plus(&mut calls, name.len() + input.to_string().len())
                        }
                        Body::Unknown => text.0 += block.raw.as_ref().map_or(0, |raw| raw.get().len() as u64),
                    }
                }
            }
            EntryBody::CallStart(start) => {
                of.insert(&start.call, &start.tool);
            }
            EntryBody::CallSettle(settle) => {
                let tool = of.get(&settle.call).copied().unwrap_or("calls");
                let bytes = settle.output.len() as u64;
                match tools.iter_mut().find(|(known, ..)| known == tool) {
                    Some((_, sum, count)) => (*sum, *count) = (*sum + bytes, *count + 1),
                    None => tools.push((tool.to_owned(), bytes, 1)),
                }
            }
            EntryBody::JobEnd(end) => {
                plus(&mut news, super::history::job_ended(end, None).map_or(0, |told| told.len()));
            }
            EntryBody::AgentEnd(end) => {
                plus(&mut news, super::history::agent_ended(end).map_or(0, |told| told.len()));
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    let mut part = |share, name: &str, bytes: u64, note: String| {
        if bytes > 0 {
            out.push(ContextPart { share, name: name.into(), tokens: window::estimate(bytes), note });
        }
    };
    part(Share::Summary, "summary", summary, "of older entries".into());
    part(Share::Person, "messages", user.0, format!("{} of yours", user.1));
    part(Share::Model, "answers", text.0, format!("{}", text.1));
    part(Share::Model, "thinking", thinking, String::new());
    part(Share::Model, "calls", calls.0, format!("{}", calls.1));
    tools.sort_by_key(|(_, bytes, _)| std::cmp::Reverse(*bytes));
    for (tool, bytes, count) in tools.iter().take(TOOLS_MAX) {
        let plural = if *count == 1 { "call" } else { "calls" };
        part(Share::Results, &format!("results of {tool}"), *bytes, format!("{count} {plural}"));
    }
    let others = tools.iter().skip(TOOLS_MAX).map(|(_, bytes, _)| bytes).sum();
    part(Share::Results, "results of others", others, String::new());
    part(Share::Results, "ends", news.0, format!("{} of jobs and agents", news.1));
    out
}

/// The parts are estimates; their sum becomes the meter's count, to the token.
pub(super) fn agree(parts: &mut Vec<ContextPart>, used: u64) {
    let sum: u64 = parts.iter().map(|part| part.tokens).sum();
    if used >= sum {
        let note = "the provider counts so much beyond these estimates".into();
        let rest = ContextPart { share: Share::Rest, name: "not itemised".into(), tokens: used - sum, note };
        return parts.push(rest);
    }
    let mut left = used;
    for part in parts.iter_mut() {
        let scaled = u128::from(part.tokens) * u128::from(used) / u128::from(sum.max(1));
        part.tokens = u64::try_from(scaled).unwrap_or(u64::MAX);
        left = left.saturating_sub(part.tokens);
    }
    // what rounding lost
    if let Some(largest) = parts.iter_mut().max_by_key(|part| part.tokens) {
        largest.tokens += left;
    }
}

#[cfg(test)]
#[path = "account_tests.rs"]
mod tests;
