//! A model that speaks from a script: for the rehearsal and for black-box tests. It goes through the same
//! tries, waits and ends as every other.
//!
//! Not here: running children; their scripts are parsed with the rest and handed out by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use tokio::sync::mpsc;

use super::tries::{Attempt, Ending, Outlet, Source, random, run};
use super::{Answering, Control, Failure, FailureKind, Provider, StreamEvent};
use crate::api::message::{Answer, Ask, Block, Body, Finish, Message, Stop, Usage};
use crate::base::Millis;
use crate::law::retry::{Cause, Policy};

/// Most characters of a mismatch's two sides that are shown.
const SHOWN_MAX: usize = 600;

/// Why a script cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It cannot be read.
    #[error("cannot read the script {}: {source}. Check the path after `scripted:`.", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is not what a script looks like.
    #[error(
        "{file}:{line}:{column}: {key}{what}. A script is {{\"turns\": [{{\"say\": …, \"calls\": […]}}, …]}}."
    )]
    Parse {
        /// The file's name.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The key at fault with a colon, or nothing.
        key: String,
        /// What is wrong and what was expected.
        what: String,
    },
}

#[derive(Debug, Deserialize)]
struct Script {
    #[serde(default)]
    window: Option<u64>,
    turns: Vec<Turn>,
    #[serde(default)]
    agents: BTreeMap<String, Agent>,
}

#[derive(Debug, Deserialize)]
struct Agent {
    turns: Vec<Turn>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Turn {
    think: Option<String>,
    #[serde(deserialize_with = "chunks")]
    say: Vec<String>,
    pace_ms: u64,
    calls: Vec<ScriptedCall>,
    expect: Option<Expect>,
    usage: Option<Usage>,
    fail: Option<Fail>,
    cut_after_bytes: Option<usize>,
}

#[derive(Clone, Debug, Deserialize)]
struct ScriptedCall {
    tool: String,
    #[serde(default = "nothing")]
    input: Value,
}

#[derive(Clone, Debug, Deserialize)]
struct Expect {
    contains: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Fail {
    status: Option<u16>,
    #[serde(default)]
    message: String,
    retry_after_s: Option<f64>,
}

fn nothing() -> Value {
    Value::Object(serde_json::Map::new())
}

fn chunks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct Chunks;
    impl<'de> Visitor<'de> for Chunks {
        type Value = Vec<String>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a string or a list of strings")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_string()])
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<String>, A::Error> {
            let mut all = Vec::new();
            while let Some(one) = seq.next_element()? {
                all.push(one);
            }
            Ok(all)
        }
    }
    from.deserialize_any(Chunks)
}

/// A scripted model. Clones share the script and its place in it.
#[derive(Clone, Debug)]
pub struct Scripted {
    model: String,
    file: String,
    window: Option<u64>,
    turns: Arc<Vec<Turn>>,
    next: Arc<Mutex<usize>>,
    agents: Arc<BTreeMap<String, Arc<Vec<Turn>>>>,
    seed: u32,
    policy: Policy,
}

impl Scripted {
    /// Reads a script file. The model is named `scripted:FILE`.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Read { path: path.to_path_buf(), source })?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Parses a script; `name` stands for the file in errors and in the model's name.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let script: Script = serde_json::from_str(text).map_err(|error| parse_error(name, text, &error))?;
        let agents = script.agents.into_iter().map(|(name, agent)| (name, Arc::new(agent.turns))).collect();
        Ok(Self {
            model: format!("scripted:{name}"),
            file: name.to_string(),
            window: script.window,
            turns: Arc::new(script.turns),
            next: Arc::default(),
            agents: Arc::new(agents),
            seed: (random() & 0xffff_ffff) as u32,
            policy: Policy::default(),
        })
    }

    /// With another policy of tries.
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The window that the script claims.
    pub fn window(&self) -> Option<u64> {
        self.window
    }

    /// The model's full name.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The script of a child, from its start. `None`: the script has no agent of that name.
    pub fn agent(&self, name: &str) -> Option<Scripted> {
        let turns = Arc::clone(self.agents.get(name)?);
        Some(Scripted { turns, next: Arc::default(), ..self.clone() })
    }

    fn take(&self) -> (usize, Option<Turn>) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = *next;
        let turn = self.turns.get(at).cloned();
        if turn.is_some() {
            *next += 1;
        }
        (at, turn)
    }
}

impl Provider for Scripted {
    fn stream(&self, ask: Ask, control: Control, events: mpsc::Sender<StreamEvent>) -> Answering {
        let speech = Speech { script: self.clone(), ask, blocks: Vec::new(), usage: None };
        let policy = self.policy;
        Box::pin(run(speech, policy, control, events))
    }

    fn for_agent(&self, path: &str) -> Option<Result<Arc<dyn Provider>, String>> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let found = self.agent(path).or_else(|| self.agent(name));
        Some(
            found.map(|script| Arc::new(script) as Arc<dyn Provider>).ok_or_else(|| {
                format!("the script {} has no agent {name}: add it to its `agents`", self.file)
            }),
        )
    }
}

/// One request to the script.
struct Speech {
    script: Scripted,
    ask: Ask,
    blocks: Vec<Block>,
    usage: Option<Usage>,
}

impl Source for Speech {
    async fn attempt(&mut self, outlet: &mut Outlet) -> Attempt {
        let (at, turn) = self.script.take();
        let Some(turn) = turn else {
            let had = self.script.turns.len();
            return failed(format!(
                "The script {} has run out: it has {had} turns and one more was asked for. Add a turn.",
                self.script.file
            ));
        };
        if let Some(expect) = &turn.expect
            && let Err(found) = expect.check(&self.ask.messages)
        {
            return failed(format!(
                "Turn {} of the script {} expected text that contains\n  {}\nbut was given\n  {}",
                at + 1,
                self.script.file,
                shown(&expect.contains),
                shown(&found)
            ));
        }
        if let Some(fail) = turn.fail {
            return fail.attempt();
        }
        outlet.begun().await;
        self.speak(at, turn, outlet).await
    }

    fn answer(&mut self, ending: &Ending) -> Answer {
        let calls = self.blocks.iter().any(|block| matches!(block.body, Body::Call { .. }));
        let finish = match ending {
            Ending::Finished => Finish::Finished(if calls { Stop::Calls } else { Stop::End }),
            Ending::Truncated(failure) => Finish::Truncated(failure.text.clone()),
            Ending::Cancelled => Finish::Cancelled,
            Ending::Failed(failure) => Finish::Failed(failure.text.clone()),
        };
        Answer {
            wire: "scripted".into(),
            model: self.script.model.clone(),
            blocks: std::mem::take(&mut self.blocks),
            finish,
            usage: self.usage,
        }
    }
}

impl Speech {
    async fn speak(&mut self, at: usize, turn: Turn, outlet: &Outlet) -> Attempt {
        let pace = Duration::from_millis(turn.pace_ms);
        self.usage = turn.usage;
        if let Some(think) = turn.think {
            self.blocks.push(Block::plain(Body::Thinking(think.clone())));
            outlet.send(StreamEvent::Thinking(think)).await;
            outlet.send(StreamEvent::BlockEnd).await;
        }
        let mut left = turn.cut_after_bytes.unwrap_or(usize::MAX);
        let mut said = false;
        for chunk in &turn.say {
            wait(pace).await;
            let piece = &chunk[..chunk.floor_char_boundary(left.min(chunk.len()))];
            left -= left.min(chunk.len());
            if !piece.is_empty() {
                self.text(piece, !said);
                said = true;
                outlet.send(StreamEvent::Text(piece.to_string())).await;
            }
            if left == 0 && turn.cut_after_bytes.is_some() {
                break;
            }
        }
        if turn.cut_after_bytes.is_some() {
            self.usage = None;
            return Attempt::Over(Ending::Truncated(Failure {
                kind: FailureKind::Connection,
                status: None,
                text: "The script cut the stream before its end.".into(),
            }));
        }
        if said {
            outlet.send(StreamEvent::BlockEnd).await;
        }
        if !turn.calls.is_empty() {
            wait(pace).await;
        }
        for (n, call) in turn.calls.into_iter().enumerate() {
            let id = format!("scripted_{:08x}_{}_{}", self.script.seed, at + 1, n + 1);
            outlet.send(StreamEvent::CallBegun { id: id.clone(), name: call.tool.clone() }).await;
            outlet.send(StreamEvent::CallInput(call.input.to_string())).await;
            outlet.send(StreamEvent::BlockEnd).await;
            self.blocks.push(Block::plain(Body::Call { id, name: call.tool, input: call.input }));
        }
        Attempt::Over(Ending::Finished)
    }

    fn text(&mut self, piece: &str, first: bool) {
        match self.blocks.last_mut() {
            Some(Block { body: Body::Text(text), .. }) if !first => text.push_str(piece),
            _ => self.blocks.push(Block::plain(Body::Text(piece.to_string()))),
        }
    }
}

impl Expect {
    /// The newest tool results must contain the text, else the newest user text; `Err` is what was there.
    fn check(&self, messages: &[Message]) -> Result<(), String> {
        let since = messages.iter().rposition(|m| matches!(m, Message::Answer(_))).map_or(0, |at| at + 1);
        let mut results = String::new();
        let mut user = None;
        for message in &messages[since..] {
            match message {
                Message::Results(all) => {
                    for result in all {
                        results.push_str(&result.text);
                        results.push('\n');
                    }
                }
                Message::User { text, .. } => user = Some(text.as_str()),
                Message::Answer(_) => {}
            }
        }
        let in_user = user.is_some_and(|text| text.contains(&self.contains));
        if results.contains(&self.contains) || in_user {
            return Ok(());
        }
        let found = if results.is_empty() { user.unwrap_or_default() } else { results.trim_end() };
        Err(found.to_string())
    }
}

impl Fail {
    fn attempt(self) -> Attempt {
        let (cause, kind) = match self.status {
            None => (Cause::Connection, FailureKind::Connection),
            Some(status) => (Cause::Status(status), super::failure::kind_of(status, &self.message)),
        };
        let text = super::failure::text("the script", self.status, &self.message, kind);
        let asked = self.retry_after_s.map(|s| Millis((s.max(0.0) * 1000.0) as u64));
        Attempt::Refused { failure: Failure { kind, status: self.status, text }, cause, asked }
    }
}

fn failed(text: String) -> Attempt {
    Attempt::Over(Ending::Failed(Failure { kind: FailureKind::Script, status: None, text }))
}

async fn wait(pace: Duration) {
    if !pace.is_zero() {
        tokio::time::sleep(pace).await;
    }
}

fn shown(text: &str) -> String {
    if text.len() <= SHOWN_MAX {
        return text.to_string();
    }
    let cut = text.floor_char_boundary(SHOWN_MAX);
    format!("{}… ({} bytes more)", &text[..cut], text.len() - cut)
}

/// Adds the key at fault, which serde does not tell: the last key before the place.
fn parse_error(name: &str, text: &str, error: &serde_json::Error) -> ScriptError {
    let mut what = error.to_string();
    if let Some(at) = what.rfind(" at line ") {
        what.truncate(at);
    }
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let place = text.floor_char_boundary((before + error.column()).min(text.len()));
    let key =
        if error.is_data() && !what.starts_with("missing field") { key_before(&text[..place]) } else { None };
    ScriptError::Parse {
        file: name.to_string(),
        line: error.line(),
        column: error.column(),
        key: key.map(|key| format!("\"{key}\": ")).unwrap_or_default(),
        what,
    }
}

fn key_before(text: &str) -> Option<&str> {
    let mut end = text.len();
    while let Some(colon) = text[..end].rfind(':') {
        let head = text[..colon].trim_end();
        if let Some(inner) = head.strip_suffix('"')
            && let Some(open) = inner.rfind('"')
            && inner[open + 1..].chars().all(|c| c.is_alphanumeric() || c == '_')
        {
            return Some(&inner[open + 1..]);
        }
        end = colon;
    }
    None
}

#[cfg(test)]
#[path = "scripted_tests.rs"]
mod tests;
