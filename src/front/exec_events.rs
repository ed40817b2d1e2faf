//! The events of `exec --json` (`contracts`): one object a line, read off the record as it changes.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::api::agent::{AgentEnd, AgentNode, HandBackReport, LeftOpen};
use crate::api::board::{Live, PartKind, Phase, Record};
use crate::api::entry::{CallSettle, CallStatus, Entry, EntryBody, Notice};
use crate::api::event::Event;
use crate::api::job::JobEnd;
use crate::api::message::{Answer, Body, Finish, Usage};
use crate::api::title::title;
use crate::base::JobId;
use crate::law::hand_back::tree::TreePath;

/// Most characters of what a call is about, without `--json`.
const CALL_MAX: usize = 120;

/// How far the record was read.
#[derive(Debug, Default)]
pub struct Reader {
    position: usize,
    epoch: u64,
    number: u64,
    text: usize,
    thinking: usize,
    /// The try that was told last.
    tried: u32,
    /// Jobs that were told.
    jobs: BTreeSet<JobId>,
    /// Agents that were told, each with its run.
    agents: BTreeSet<(String, u32)>,
    /// How far the board of agents was read.
    agents_revision: u64,
    /// How far the board of jobs was read.
    jobs_revision: u64,
    /// A message of the person stands in the record.
    pub delivered: bool,
    /// The status of the last turn that ended.
    pub turn: Option<crate::api::entry::TurnStatus>,
    /// Why it failed.
    pub why: Option<String>,
    /// Agents whose hand-back failed, and did not come later: what they changed is in their copies only.
    pub not_back: BTreeSet<String>,
}

impl Reader {
    /// A reader that begins after what the record holds now.
    pub fn after(record: &Record) -> Self {
        Self {
            position: record.path.len(),
            epoch: record.epoch,
            jobs: record.jobs.iter().map(|(job, _)| *job).collect(),
            ..Self::default()
        }
    }

    /// A reader of a run of an agent. What `before` did not read of its earlier runs is told too; without it, only
    /// what is new since the record was opened.
    pub fn of_run(began: usize, before: Option<&Self>) -> Self {
        match before {
            None => Self { position: began, ..Self::default() },
            Some(Self { position, text, thinking, not_back, .. }) => Self {
                position: *position,
                text: *text,
                thinking: *thinking,
                not_back: not_back.clone(),
                ..Self::default()
            },
        }
    }

    /// What is new, in order.
    pub fn read(&mut self, record: &Record) -> Vec<Value> {
        let mut out = Vec::new();
        if record.epoch != self.epoch {
            self.epoch = record.epoch;
            self.position = self.position.min(record.path.len());
        }
        // a job is on the board before its end is an entry, and so is an agent
        self.jobs(record, &mut out);
        self.agents(record, &mut out);
        while let Some(entry) = record.path.get(self.position) {
            self.position += 1;
            self.entry(entry, &mut out);
        }
        self.live(&record.live, &mut out);
        self.retrying(&record.status.phase, &mut out);
        out
    }

    fn jobs(&mut self, record: &Record, out: &mut Vec<Value>) {
        if record.jobs.revision() == self.jobs_revision {
            return;
        }
        let changes = record.jobs.changes_since(self.jobs_revision);
        self.jobs_revision = changes.revision;
        for (job, row) in changes.running {
            if self.jobs.insert(*job) {
                out.push(json!({"type": "job.started", "job": job, "command": row.node.command}));
            }
        }
    }

    /// The agents of this session; those under them are told by their own.
    fn agents(&mut self, record: &Record, out: &mut Vec<Value>) {
        if record.agents.revision() == self.agents_revision {
            return;
        }
        let changes = record.agents.changes_since(self.agents_revision);
        self.agents_revision = changes.revision;
        for (path, row) in changes.running {
            if !path.contains('/') && row.runs() {
                self.agent_started(&row.node, out);
            }
        }
    }

    /// Each run is told once. One that was cut goes on in the same run, and begins for who reads here.
    fn agent_started(&mut self, node: &AgentNode, out: &mut Vec<Value>) {
        if self.agents.insert((node.name.clone(), node.run)) {
            let workspace = node.workspace.word();
            out.push(json!({"type": "child.started", "name": node.name, "workspace": workspace}));
        }
    }

    /// Each wait between tries is told once.
    fn retrying(&mut self, phase: &Phase, out: &mut Vec<Value>) {
        let Phase::Retrying { attempt, why, .. } = phase else {
            self.tried = 0;
            return;
        };
        if std::mem::replace(&mut self.tried, *attempt) != *attempt {
            out.push(json!({"type": "notice", "level": "warning", "text": format!("try {attempt} follows: {why}")}));
        }
    }

    fn live(&mut self, live: &Live, out: &mut Vec<Value>) {
        if live.number != self.number {
            (self.number, self.text, self.thinking) = (live.number, 0, 0);
        }
        let new = suffix(live, &PartKind::Thinking, self.thinking);
        delta("thinking.delta", &new, &mut self.thinking, out);
        let new = suffix(live, &PartKind::Text, self.text);
        delta("text.delta", &new, &mut self.text, out);
    }

    fn entry(&mut self, entry: &Entry, out: &mut Vec<Value>) {
        match &entry.body {
            EntryBody::User(m) => {
                self.delivered = true;
                out.push(json!({"type": "message", "role": "user", "text": m.text}));
            }
            EntryBody::Answer(answer) => self.answer(answer, out),
            EntryBody::CallStart(start) => out.push(json!({
                "type": "call.started", "id": start.call, "tool": start.tool, "input": start.input,
            })),
            EntryBody::CallSettle(settle) => out.push(settled(settle)),
            EntryBody::Notice(Notice { level, text }) => {
                out.push(json!({"type": "notice", "level": level, "text": text}));
            }
            EntryBody::Compaction(c) => out.push(json!({
                "type": "notice", "level": "info",
                "text": format!("older entries were summarised: {} tokens became {}", c.tokens_before, c.tokens_after),
            })),
            EntryBody::TurnEnd(end) => {
                self.turn = Some(end.status);
                self.why.clone_from(&end.why);
                if let Some(why) = &end.why {
                    out.push(json!({"type": "notice", "level": "error", "text": why}));
                }
                out.push(json!({"type": "turn.ended", "status": end.status.word()}));
            }
            EntryBody::JobEnd(end) => out.push(job_ended(end)),
            EntryBody::AgentEnd(end) => {
                // it may have ended before the board was read
                self.agent_started(&end.node, out);
                agent_ended(end, out);
                let name = &end.node.name;
                match end.hand_back_failed() {
                    true => drop(self.not_back.insert(name.clone())),
                    false => drop(self.not_back.remove(name)),
                }
            }
            EntryBody::Restore(_) | EntryBody::Setting(_) | EntryBody::Unknown(_) => {}
        }
    }

    fn answer(&mut self, answer: &Answer, out: &mut Vec<Value>) {
        let mut thinking = String::new();
        let mut text = String::new();
        for block in &answer.blocks {
            match &block.body {
                Body::Text(more) => text.push_str(more),
                Body::Thinking(more) => thinking.push_str(more),
                Body::Call { .. } | Body::Unknown => {}
            }
        }
        let rest = thinking.get(self.thinking..).unwrap_or_default();
        delta("thinking.delta", rest, &mut self.thinking, out);
        let rest = text.get(self.text..).unwrap_or_default();
        delta("text.delta", rest, &mut self.text, out);
        out.push(json!({"type": "message", "role": "assistant", "text": answer.text()}));
        if let Finish::Truncated(why) = &answer.finish {
            let text = format!("the answer was cut off ({why}); it is asked for again");
            out.push(json!({"type": "notice", "level": "warning", "text": text}));
        }
        (self.text, self.thinking) = (0, 0);
    }
}

fn delta(kind: &str, new: &str, sent: &mut usize, out: &mut Vec<Value>) {
    if !new.is_empty() {
        out.push(json!({"type": kind, "text": new}));
        *sent += new.len();
    }
}

/// The text of all parts of a kind, as one, from this byte on.
fn suffix(live: &Live, kind: &PartKind, mut from: usize) -> String {
    let mut out = String::new();
    for part in live.parts.iter().filter(|p| &p.kind == kind) {
        match part.text.get(from..) {
            Some(rest) => {
                out.push_str(rest);
                from = 0;
            }
            None => from -= part.text.len(),
        }
    }
    out
}

fn settled(settle: &CallSettle) -> Value {
    let mut event = Map::new();
    event.insert("type".into(), "call.settled".into());
    event.insert("id".into(), json!(settle.call));
    event.insert("status".into(), settle.status.word().into());
    event.insert("output".into(), settle.output.clone().into());
    event.insert("kept".into(), settle.kept.into());
    event.insert("dropped".into(), settle.dropped.into());
    if let Some(artifact) = &settle.artifact {
        event.insert("artifact".into(), path_json(artifact));
    }
    event.insert("warnings".into(), json!(settle.warnings));
    if let Some(usage) = &settle.usage {
        event.insert("usage".into(), json!(usage));
    }
    Value::Object(event)
}

fn job_ended(end: &JobEnd) -> Value {
    let outcome = &end.outcome;
    let mut event = json!({"type": "job.ended", "job": end.job, "cause": outcome.end.cause()});
    if let Some(object) = event.as_object_mut() {
        if let Some(code) = outcome.exit_code {
            object.insert("exit_code".into(), code.into());
        }
        if let Some(signal) = outcome.exit_signal {
            object.insert("signal".into(), signal.into());
        }
        object.insert("duration_ms".into(), outcome.lasted().map(|lasted| lasted.0).into());
    }
    event
}

/// The hand-back of a subagent, and its end.
fn agent_ended(end: &AgentEnd, out: &mut Vec<Value>) {
    let name = &end.node.name;
    if let Some(report) = &end.hand_back {
        let paths = |paths: &[TreePath]| -> Vec<Value> {
            paths.iter().map(|path| bytes_json(path.as_bytes())).collect()
        };
        let mut told = json!({
            "type": "handback", "child": name, "taken": paths(&report.taken), "same": paths(&report.same),
            "conflicts": paths(&report.conflicts), "left_out": paths(&report.left_out),
        });
        if !report.kept.is_empty() {
            told["kept"] = paths(&report.kept).into();
        }
        if !report.below.is_empty() {
            let below = report.below.iter().map(|below| {
                json!({"child": below.name, "handed_back": below.handed, "conflicts": paths(&below.conflicts)})
            });
            told["left_open"] = below.collect();
        }
        out.push(told);
    }
    if end.again {
        return;
    }
    if let Some(why) = &end.trouble {
        out.push(json!({"type": "notice", "level": "error", "text": format!("agent {name}: {why}")}));
    }
    out.push(json!({"type": "child.ended", "name": name, "status": end.end.status()}));
}

/// A path in JSON: a string, or its bytes where it is not UTF-8.
pub fn path_json(path: &Path) -> Value {
    bytes_json(path.as_os_str().as_bytes())
}

fn bytes_json(path: &[u8]) -> Value {
    match std::str::from_utf8(path) {
        Ok(text) => text.into(),
        Err(_) => json!({"bytes": STANDARD.encode(path)}),
    }
}

/// A `usage` event.
pub fn usage_event(usage: &Usage, cost: Option<f64>) -> Value {
    let mut event = json!({
        "type": "usage", "input": usage.input, "output": usage.output, "cache_read": usage.cache_read,
        "cache_write": usage.cache_write, "reasoning": usage.reasoning,
    });
    if let (Some(cost), Some(object)) = (cost, event.as_object_mut()) {
        object.insert("cost".into(), cost.into());
    }
    event
}

/// The event for a word of the engine that is no entry.
pub fn said(event: &Event) -> Option<Value> {
    match event {
        Event::Said { level, text } => Some(json!({"type": "notice", "level": level, "text": text})),
        Event::TakenBack { text, .. } => Some(json!({
            "type": "notice", "level": "warning", "text": format!("a message was not delivered: {text}"),
        })),
        Event::Answered { .. } | Event::Rewound(_) | Event::Forked(_) | Event::Closed => None,
    }
}

/// What a hand-back brought, and where to look at it where there is anything to see.
fn came_back(event: &Value) -> String {
    let count = |key: &str| event.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    let counts = [count("taken"), count("same"), count("conflicts"), count("left_out")];
    let left = event.get("left_open").and_then(Value::as_array).into_iter().flatten().map(left_open);
    let mut words: Vec<String> = left.collect();
    if words.is_empty() && counts == [0; 4] {
        return HandBackReport::in_numbers(counts);
    }
    if counts != [0; 4] {
        words.insert(0, HandBackReport::in_numbers(counts));
    }
    format!("{}; `windlass handback list` shows them", words.join(", "))
}

/// What one of its own agents left, in words.
fn left_open(event: &Value) -> String {
    let name = event.get("child").and_then(Value::as_str).unwrap_or_default();
    let handed = event.get("handed_back").and_then(Value::as_bool).unwrap_or(true);
    let count = event.get("conflicts").and_then(Value::as_array).map_or(0, Vec::len);
    LeftOpen::told(name, handed, count)
}

/// One line for a person, for what is worth one without `--json`.
pub fn line(event: &Value) -> Option<String> {
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    // what an agent does is told after its name
    let whose = match text("agent") {
        "" => String::new(),
        agent => format!("{agent}: "),
    };
    match text("type") {
        "call.started" => {
            let title = event.get("input").map(|input| title(text("tool"), input)).unwrap_or_default();
            let mut short: String = title.chars().take(CALL_MAX).collect();
            if short.len() < title.len() {
                short.push('…');
            }
            Some(format!("· {whose}{} {short}", text("tool")).trim_end().to_owned())
        }
        "call.settled" if text("status") != CallStatus::Ok.word() => Some(format!(
            "  {whose}{}: {}",
            text("status"),
            text("output").lines().next().unwrap_or_default()
        )),
        "job.started" => Some(format!("· {whose}{} runs: {}", text("job"), text("command"))),
        "job.ended" => Some(format!("· {whose}{} ended: {}", text("job"), text("cause"))),
        "child.started" => Some(format!("· {whose}agent {} begins ({})", text("name"), text("workspace"))),
        "handback" => Some(format!("· {whose}{} handed back: {}", text("child"), came_back(event))),
        "child.ended" => Some(format!("· {whose}{} ended: {}", text("name"), text("status"))),
        "notice" => Some(format!("{}: {whose}{}", text("level"), text("text"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
