//! What a model is told of a session: the entries of a branch as messages. Pure.
//!
//! Whatever was interrupted, cut off or lost, the messages are valid on every wire: the first is the
//! person's, the sides take turns, and every call has exactly one result, right after its answer and
//! in the order of the calls. What a branch says grows at its end, so that the earlier messages stay
//! as they were. Loading images from the blobs is the shell's (`images_mut`).
//!
//! Keeps `every_call_gets_a_result`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::api::agent::{AgentEnd, AgentRun};
use crate::api::entry::{
    CallSettle, CallStart, CallStatus, Compaction, Details, Entry, EntryBody, UserMessage,
};
use crate::api::job::JobEnd;
use crate::api::message::{Answer, Block, Body, Finish, Image, Message, ToolResult};
use crate::base::{CallId, JobId};
use crate::law::children;
use crate::law::job::{By, End};
use crate::tool::agent_words::end_in_words;
use crate::tool::input::one_line;
use crate::tool::jobs::ended_in_words;

/// The wire id of a command that the person ran (`!`): its result is told as the person's words.
pub const PERSON_SHOWN: &str = "!";
/// The wire id of a command that the person keeps from the model (`!!`).
pub const PERSON_HIDDEN: &str = "!!";

/// Most characters of a job's command that its end repeats.
const COMMAND_MAX: usize = 200;

/// Stands in the place of a result that never came.
pub const NO_RESULT: &str = "Interrupted: the call ended without a result. What it did before is not known.";
/// Stands where two answers would meet without a word of the person.
const GO_ON: &str = "Go on.";

/// The messages of a branch, from its root to its head.
pub fn messages(path: &[Arc<Entry>]) -> Vec<Message> {
    let (summary, entries) = visible(path);
    let calls = Calls::read(&entries);
    let mut out = Out::default();
    if let Some(compaction) = summary {
        let text = format!("Summary of the conversation up to here:\n\n{}", compaction.summary);
        out.user(&text, &[]);
    }
    for (at, entry) in entries.iter().enumerate() {
        match &entry.body {
            EntryBody::User(UserMessage { text, images, .. }) => out.user(text, images),
            EntryBody::Answer(answer) => out.answer(answer, at, &calls, &entries[at + 1..]),
            EntryBody::CallSettle(settle) => {
                if let Some(start) = calls.person.get(&settle.call) {
                    out.user(&person_ran(start, settle), &settle.images);
                }
            }
            EntryBody::JobEnd(end) if calls.told_before(end.job, at) => {}
            EntryBody::JobEnd(end) => {
                if let Some(told) = job_ended(end, calls.spools.get(&end.call).copied()) {
                    out.user(&told, &[]);
                }
            }
            EntryBody::AgentEnd(end) if !end.again && calls.told_agent_before(end, at) => {}
            EntryBody::AgentEnd(end) => {
                if let Some(told) = agent_ended(end) {
                    out.user(&told, &[]);
                }
            }
            EntryBody::CallStart(_)
            | EntryBody::Notice(_)
            | EntryBody::Compaction(_)
            | EntryBody::TurnEnd(_)
            | EntryBody::Setting(_)
            | EntryBody::Restore(_)
            | EntryBody::Unknown(_) => {}
        }
    }
    out.messages
}

/// All images of the messages, for the shell to load.
pub fn images_mut(messages: &mut [Message]) -> impl Iterator<Item = &mut Image> {
    messages.iter_mut().flat_map(|message| -> Box<dyn Iterator<Item = &mut Image>> {
        match message {
            Message::User { images, .. } => Box::new(images.iter_mut()),
            Message::Results(results) => Box::new(results.iter_mut().flat_map(|r| r.images.iter_mut())),
            Message::Answer(_) => Box::new(std::iter::empty()),
        }
    })
}

/// The newest summary, and the entries that are told besides it.
pub fn visible(path: &[Arc<Entry>]) -> (Option<&Compaction>, Vec<&Entry>) {
    let newest = path.iter().enumerate().rev().find_map(|(at, entry)| match &entry.body {
        EntryBody::Compaction(compaction) => Some((at, compaction)),
        _ => None,
    });
    let Some((at, compaction)) = newest else {
        return (None, path.iter().map(Arc::as_ref).collect());
    };
    let from = compaction.keep_from.as_ref().and_then(|id| path[..at].iter().position(|e| e.id == *id));
    let kept = &path[from.unwrap_or(at)..at];
    (Some(compaction), kept.iter().chain(&path[at + 1..]).map(Arc::as_ref).collect())
}

/// Which settle belongs to which call of which answer.
#[derive(Default)]
struct Calls<'a> {
    /// By the answer's place among the entries and the block's place in the answer.
    results: HashMap<(usize, usize), &'a CallSettle>,
    /// The person's own commands that the model is told.
    person: HashMap<&'a CallId, &'a CallStart>,
    /// The files with the output of commands.
    spools: HashMap<&'a CallId, &'a Path>,
    /// Jobs whose end a call told, and where the first such call began.
    told: HashMap<JobId, usize>,
    /// Runs of subagents whose end a call told, and where that call began.
    told_agents: Vec<(AgentRun, usize)>,
}

impl<'a> Calls<'a> {
    fn read(entries: &[&'a Entry]) -> Self {
        let mut calls = Calls::default();
        let mut owner: HashMap<&CallId, (usize, usize)> = HashMap::new();
        let mut begun: HashMap<&CallId, usize> = HashMap::new();
        // The calls of the newest answer that no start has claimed. Ids may repeat, so they go in order.
        let mut unclaimed: Vec<(usize, usize, &str)> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            if let EntryBody::CallStart(CallStart { call, spool: Some(spool), .. }) = &entry.body {
                calls.spools.insert(call, spool);
            }
            match &entry.body {
                EntryBody::Answer(answer) => {
                    unclaimed = answer.calls().map(|(block, id, ..)| (at, block, id)).collect();
                }
                EntryBody::CallStart(start) if start.wire_id == PERSON_SHOWN => {
                    calls.person.insert(&start.call, start);
                }
                EntryBody::CallStart(start) => {
                    if let Some(n) = unclaimed.iter().position(|(.., id)| *id == start.wire_id) {
                        let (at, block, _) = unclaimed.remove(n);
                        owner.insert(&start.call, (at, block));
                        begun.insert(&start.call, at);
                    }
                }
                EntryBody::CallSettle(settle) => {
                    if let Some(place) = owner.get(&settle.call) {
                        calls.results.entry(*place).or_insert(settle);
                    }
                    if let (Details::Command { told: Some(job), .. }, Some(from)) =
                        (&settle.details, begun.get(&settle.call))
                    {
                        calls.told.entry(*job).or_insert(*from);
                    }
                    if let (Details::Agents { told }, Some(from)) = (&settle.details, begun.get(&settle.call))
                    {
                        calls.told_agents.extend(told.iter().map(|run| (run.clone(), *from)));
                    }
                }
                EntryBody::User(_)
                | EntryBody::Notice(_)
                | EntryBody::Compaction(_)
                | EntryBody::TurnEnd(_)
                | EntryBody::Setting(_)
                | EntryBody::JobEnd(_)
                | EntryBody::AgentEnd(_)
                | EntryBody::Restore(_)
                | EntryBody::Unknown(_) => {}
            }
        }
        calls
    }

    /// Whether the end of a job that stands at `at` is told by the result of a call that began before it. One that
    /// began later does not change what was told already.
    fn told_before(&self, job: JobId, at: usize) -> bool {
        self.told.get(&job).is_some_and(|from| *from < at)
    }

    /// The same of a subagent's end.
    fn told_agent_before(&self, end: &AgentEnd, at: usize) -> bool {
        let run = AgentRun { name: end.node.name.clone(), run: end.node.run };
        self.told_agents.iter().any(|(told, from)| *told == run && *from < at)
    }
}

/// The messages so far; keeps them valid while they grow.
#[derive(Default)]
struct Out {
    messages: Vec<Message>,
}

impl Out {
    /// The person's words, joined to those right before. Without words or images there is nothing to say.
    fn user(&mut self, text: &str, images: &[Image]) {
        let blank = text.trim().is_empty();
        if blank && images.is_empty() {
            return;
        }
        if let Some(Message::User { text: before, images: shown }) = self.messages.last_mut() {
            if !blank {
                if !before.is_empty() {
                    before.push_str("\n\n");
                }
                before.push_str(text);
            }
            shown.extend_from_slice(images);
            return;
        }
        let text = if blank { String::new() } else { text.to_owned() };
        self.messages.push(Message::User { text, images: images.to_vec() });
    }

    fn answer(&mut self, answer: &Answer, at: usize, calls: &Calls<'_>, after: &[&Entry]) {
        let result = |block: usize| calls.results.get(&(at, block)).copied();
        let told = match &answer.finish {
            Finish::Finished(_) => answer.clone(),
            Finish::Truncated(why) => plain(answer, &format!("cut off: {why}"), result),
            Finish::Cancelled => plain(answer, "cut off: the person stopped it", result),
            Finish::Failed(why) => plain(answer, &format!("cut off by an error: {why}"), result),
        };
        let unfinished = !matches!(answer.finish, Finish::Finished(_));
        let settled = told.calls().next().is_some();
        if says_nothing(&told) || (unfinished && !settled && asked_again(after)) {
            return;
        }
        // In a finished answer blocks keep their places, in a plain one only settled calls are left.
        let places: Vec<usize> = if unfinished {
            answer.calls().map(|(block, ..)| block).filter(|block| result(*block).is_some()).collect()
        } else {
            answer.calls().map(|(block, ..)| block).collect()
        };
        let results: Vec<ToolResult> = told
            .calls()
            .zip(places)
            .map(|((_, id, name, _), place)| tool_result(id, name, result(place)))
            .collect();
        if matches!(self.messages.last(), None | Some(Message::Answer(_))) {
            self.user(GO_ON, &[]);
        }
        self.messages.push(Message::Answer(told));
        if !results.is_empty() {
            self.messages.push(Message::Results(results));
        }
    }
}

/// Whether the request of an answer that broke off was made again, or will be: no word of the person
/// came after it.
fn asked_again(after: &[&Entry]) -> bool {
    let next = after.iter().find(|e| matches!(e.body, EntryBody::User(_) | EntryBody::Answer(_)));
    !matches!(next.map(|e| &e.body), Some(EntryBody::User(_)))
}

/// An answer that broke off, in its own words without the provider's blocks, and marked: a wire would
/// refuse half a block, or a thought whose signature did not come.
fn plain<'a>(answer: &Answer, mark: &str, result: impl Fn(usize) -> Option<&'a CallSettle>) -> Answer {
    let mut blocks: Vec<Block> = Vec::new();
    for (at, block) in answer.blocks.iter().enumerate() {
        match &block.body {
            Body::Text(text) if !text.trim().is_empty() => blocks.push(Block::plain(block.body.clone())),
            Body::Call { .. } if result(at).is_some() => blocks.push(Block::plain(block.body.clone())),
            Body::Text(_) | Body::Call { .. } | Body::Thinking(_) | Body::Unknown => {}
        }
    }
    let last_text = blocks.iter_mut().rev().find_map(|block| match &mut block.body {
        Body::Text(text) => Some(text),
        Body::Call { .. } | Body::Thinking(_) | Body::Unknown => None,
    });
    if let Some(text) = last_text {
        text.push_str(&format!("\n\n[This answer was {mark}]"));
    }
    Answer { blocks, ..answer.clone() }
}

fn says_nothing(answer: &Answer) -> bool {
    answer.blocks.iter().all(|block| match &block.body {
        Body::Text(text) => text.trim().is_empty(),
        Body::Thinking(_) => true,
        Body::Call { .. } | Body::Unknown => false,
    })
}

fn tool_result(id: &str, name: &str, settle: Option<&CallSettle>) -> ToolResult {
    let (id, name) = (id.to_owned(), name.to_owned());
    let Some(settle) = settle else {
        return ToolResult { id, name, text: NO_RESULT.to_owned(), images: Vec::new(), error: true };
    };
    let text = result_text(settle);
    let error = !matches!(settle.status, CallStatus::Ok | CallStatus::Detached);
    ToolResult { id, name, text, images: settle.images.clone(), error }
}

/// The output with the warnings after it. Never empty: some wires refuse that.
fn result_text(settle: &CallSettle) -> String {
    let mut text = settle.output.clone();
    for warning in &settle.warnings {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[warning: {warning}]"));
    }
    if text.trim().is_empty() {
        text = match settle.status {
            CallStatus::Ok if settle.images.is_empty() => "(no output)",
            CallStatus::Ok => "(an image)",
            CallStatus::Error => "It failed and said nothing.",
            CallStatus::Refused => "Refused.",
            CallStatus::Cancelled => "Cancelled by the person before it had any output.",
            CallStatus::Detached => "It goes on in the background.",
            CallStatus::Interrupted => NO_RESULT,
        }
        .to_owned();
    }
    text
}

/// What the model is told of a job's end, as a word from the person's side; nothing of a job that is kept
/// from it, nor of one that a rewind ended: on this branch it never was.
pub(super) fn job_ended(end: &JobEnd, spool: Option<&Path>) -> Option<String> {
    if end.hidden || end.outcome.end == (End::Killed { by: By::Rewind }) {
        return None;
    }
    let command = one_line(&end.command, COMMAND_MAX);
    let mut told = format!("[job {} ({command}) {}", end.job, ended_in_words(&end.outcome));
    match end.outcome.last.trim_end() {
        "" if end.outcome.bytes == 0 => told.push_str("; it printed nothing"),
        "" => {}
        last => told.push_str(&format!("; its last lines:\n{last}\n")),
    }
    if let Some(spool) = spool {
        let gap = if told.ends_with('\n') { "" } else { "; " };
        told.push_str(&format!("{gap}the whole output: {}", end.output(spool).display()));
    }
    told.push(']');
    Some(told)
}

/// What the model is told of a subagent's end; nothing of one that a rewind ended: on this branch it never was.
pub(super) fn agent_ended(end: &AgentEnd) -> Option<String> {
    let rewound = end.end == (children::End::Stopped { by: children::By::Rewind });
    (!rewound).then(|| format!("[{}]", end_in_words(&end.node.name, end)))
}

fn person_ran(start: &CallStart, settle: &CallSettle) -> String {
    let command = start.input.get("command").and_then(|c| c.as_str()).unwrap_or_default();
    format!("I ran this command myself ({}):\n\n$ {command}\n{}", settle.status.word(), result_text(settle))
}

#[cfg(test)]
mod tests;
