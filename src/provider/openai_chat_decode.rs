//! The stream of Chat Completions, with the dialects of its many servers.
//!
//! Reasoning as `reasoning_content`, `reasoning` or `reasoning_details`; calls without ids, with gaps in
//! their indices, all under one index, with arguments as an object; usage that is missing, or in each chunk;
//! a stream without `[DONE]`, which is complete when a reason to finish came.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{Json, RawObject, arguments, arguments_object, quoted, raw};
use super::live::Live;
use super::wire::{Came, Decoder, Step};
use crate::api::message::{Block, Body, Stop, Usage};

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<Counts>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
}

/// The delta of most chunks. Any other member makes this fail, and the slow way takes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain<'a> {
    #[serde(borrow, default, rename = "role")]
    _role: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    reasoning_content: Option<Cow<'a, str>>,
}

#[derive(Deserialize, Default)]
struct Counts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_cache_hit_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
}

#[derive(Deserialize, Default)]
struct Details {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

/// A call under way.
struct Call {
    index: Option<u64>,
    id: String,
    minted: bool,
    name: String,
    arguments: String,
    /// Members beside those that we know.
    extra: RawObject,
    at: usize,
}

/// What the message is made of, in the order of its first pieces.
enum Piece {
    Text(String),
    Thinking,
    Call(usize),
}

/// Decodes the stream.
pub(super) struct ChatDecoder {
    seed: u64,
    pieces: Vec<Piece>,
    calls: Vec<Call>,
    /// The block at hand: its place in `pieces`.
    current: Option<usize>,
    thinking: String,
    /// The member that the thinking came in.
    thinking_key: String,
    details: Vec<Value>,
    extra: RawObject,
    stop: Option<Stop>,
    usage: Option<Usage>,
    done: bool,
}

impl ChatDecoder {
    /// A decoder; `seed` makes the ids that a server leaves out unique.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            pieces: Vec::new(),
            calls: Vec::new(),
            current: None,
            thinking: String::new(),
            thinking_key: String::new(),
            details: Vec::new(),
            extra: RawObject::default(),
            stop: None,
            usage: None,
            done: false,
        }
    }
}

impl Decoder for ChatDecoder {
    fn event(&mut self, name: &str, data: &str, live: &mut Live) -> Step {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Step::Finished;
        }
        let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(data) else {
            return match serde_json::from_str::<Value>(data) {
                Ok(value) if value.get("error").is_some() || name == "error" => failed(&value),
                _ => Step::Garbled,
            };
        };
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            return failed(&serde_json::from_str(error.get()).unwrap_or_default());
        }
        if name == "error" {
            return failed(&serde_json::from_str(data).unwrap_or_default());
        }
        if let Some(counts) = chunk.usage {
            self.count(&counts);
        }
        for choice in chunk.choices.unwrap_or_default().into_iter().take(1) {
            if let Some(delta) = choice.delta.or(choice.message) {
                self.delta(delta.get(), live);
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.end_current(live);
                self.stop = Some(stop(&reason));
            }
        }
        Step::More
    }

    fn complete(&self) -> bool {
        self.stop.is_some()
    }

    fn take(&mut self) -> Came {
        let whole = self.done || self.stop.is_some();
        let mut came = Came { blocks: Vec::new(), stop: self.stop.take(), usage: self.usage.take() };
        let mut calls: Vec<Option<Call>> = std::mem::take(&mut self.calls).into_iter().map(Some).collect();
        for piece in std::mem::take(&mut self.pieces) {
            match piece {
                Piece::Text(text) if text.is_empty() => {}
                Piece::Text(text) => came.blocks.push(Block::plain(Body::Text(text))),
                Piece::Thinking => came.blocks.extend(self.thought(whole)),
                Piece::Call(at) => {
                    came.blocks
                        .extend(calls.get_mut(at).and_then(Option::take).map(|call| call.block(whole)));
                }
            }
        }
        if whole
            && let Some(extra) = Some(std::mem::take(&mut self.extra)).filter(|extra| !extra.0.is_empty())
        {
            came.blocks.push(Block { body: Body::Unknown, raw: extra.to_raw() });
        }
        let called = came.blocks.iter().any(|block| matches!(block.body, Body::Call { .. }));
        came.stop = match came.stop {
            Some(Stop::End) if called => Some(Stop::Calls),
            Some(Stop::Calls) if !called => Some(Stop::End),
            None if self.done => Some(if called { Stop::Calls } else { Stop::End }),
            other => other,
        };
        came
    }
}

impl ChatDecoder {
    fn delta(&mut self, json: &str, live: &mut Live) {
        if let Ok(plain) = serde_json::from_str::<Plain<'_>>(json) {
            if let Some(text) = plain.reasoning_content {
                self.think("reasoning_content", &text, live);
            }
            if let Some(text) = plain.content {
                self.text(&text, live);
            }
            return;
        }
        let members = RawObject::parse(json).unwrap_or_default();
        let detailed = members.get("reasoning_details").is_some_and(|d| d != "null" && d != "[]");
        for (key, value) in members.0 {
            let json = value.get();
            if json == "null" || key == "role" {
                continue;
            }
            match key.as_str() {
                "content" => self.content(json, live),
                "refusal" => self.text(&serde_json::from_str::<String>(json).unwrap_or_default(), live),
                "reasoning_content" | "reasoning" => {
                    let text: String = serde_json::from_str(json).unwrap_or_default();
                    self.think(&key, &text, live);
                }
                "reasoning_details" => self.detail(json, live),
                "tool_calls" => {
                    for call in serde_json::from_str::<Vec<RawObject>>(json).unwrap_or_default() {
                        self.call(call, live);
                    }
                }
                _ => self.extra.set(&key, value),
            }
        }
        if detailed {
            self.thinking_key = "reasoning_details".into();
        }
    }

    /// Content is a string; some servers send parts.
    fn content(&mut self, json: &str, live: &mut Live) {
        match serde_json::from_str::<Value>(json).unwrap_or_default() {
            Value::String(text) => self.text(&text, live),
            Value::Array(parts) => {
                for part in &parts {
                    let inner = part["thinking"]
                        .as_array()
                        .map(|all| all.iter().filter_map(|one| one["text"].as_str()).collect::<String>());
                    match (part["text"].as_str(), inner) {
                        (Some(text), _) => self.text(text, live),
                        (None, Some(text)) => self.think("reasoning_content", &text, live),
                        (None, None) => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, live: &mut Live) {
        if text.is_empty() {
            return;
        }
        let at = self.current.filter(|at| matches!(self.pieces.get(*at), Some(Piece::Text(_))));
        let at = at.unwrap_or_else(|| self.begin(Piece::Text(String::new()), live));
        if let Some(Piece::Text(all)) = self.pieces.get_mut(at) {
            all.push_str(text);
        }
        live.text(text);
    }

    fn think(&mut self, key: &str, text: &str, live: &mut Live) {
        if text.is_empty() {
            return;
        }
        if self.thinking_key.is_empty() {
            self.thinking_key = key.to_string();
        }
        self.thinking_block(live);
        self.thinking.push_str(text);
        live.thinking(text);
    }

    fn thinking_block(&mut self, live: &mut Live) {
        let current = self.current.and_then(|at| self.pieces.get(at));
        if matches!(current, Some(Piece::Thinking)) {
            return;
        }
        match self.pieces.iter().position(|piece| matches!(piece, Piece::Thinking)) {
            Some(at) => {
                self.end_current(live);
                self.current = Some(at);
            }
            None => {
                self.begin(Piece::Thinking, live);
            }
        }
    }

    /// Pieces of one detail (same index and type) are put together; strings grow, all else is set.
    fn detail(&mut self, json: &str, live: &mut Live) {
        let Ok(details) = serde_json::from_str::<Vec<Value>>(json) else { return };
        if !details.is_empty() {
            self.thinking_block(live);
            live.mute();
        }
        for detail in details {
            let same = self.details.last_mut().filter(|old| {
                old["type"] == detail["type"] && old["index"] == detail["index"] && !old["index"].is_null()
            });
            match (same, detail) {
                (Some(Value::Object(old)), Value::Object(new)) => {
                    for (key, value) in new {
                        match (old.get_mut(&key), value) {
                            (Some(Value::String(all)), Value::String(more))
                                if matches!(key.as_str(), "text" | "summary" | "data") =>
                            {
                                all.push_str(&more);
                            }
                            (_, Value::Null) => {}
                            (_, value) => {
                                old.insert(key, value);
                            }
                        }
                    }
                }
                (_, detail) => self.details.push(detail),
            }
        }
    }

    fn call(&mut self, delta: RawObject, live: &mut Live) {
        let index = delta.get("index").and_then(|json| serde_json::from_str::<u64>(json).ok());
        let id = delta.string("id").unwrap_or_default();
        let function = delta.get("function").and_then(RawObject::parse).unwrap_or_default();
        let name = function.string("name").unwrap_or_default();
        // A string in pieces, or (Ollama) the object itself.
        let piece = match function.get("arguments") {
            None | Some("null") => String::new(),
            Some(json) => serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_string()),
        };
        let at = self.place(index, &id, &name);
        let at = at.unwrap_or_else(|| self.begin_call(index, id, name, live));
        let call = &mut self.calls[at];
        for (key, value) in delta.0 {
            if !matches!(key.as_str(), "index" | "id" | "type" | "function") && value.get() != "null" {
                call.extra.set(&key, value);
            }
        }
        call.arguments.push_str(&piece);
        // Pieces of a call that is not the one at hand are kept, but not told: the events have no index.
        if self.current == Some(call.at) {
            live.input(&piece);
        }
    }

    /// The call that a delta belongs to; `None`: it begins one.
    fn place(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index)?,
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.id == id)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let call = &self.calls[at];
        let other_id = !id.is_empty() && !call.minted && id != call.id;
        let whole = || serde_json::from_str::<Value>(&call.arguments).is_ok_and(|value| value.is_object());
        let again = !name.is_empty() && id.is_empty() && whole();
        (!other_id && !again).then_some(at)
    }

    fn begin_call(&mut self, index: Option<u64>, id: String, name: String, live: &mut Live) -> usize {
        let n = self.calls.len();
        let minted = id.is_empty();
        let id = if minted { format!("call_{:012x}_{n}", self.seed & 0xffff_ffff_ffff) } else { id };
        let at = self.begin(Piece::Call(n), live);
        live.call(&id, &name);
        let extra = RawObject::default();
        self.calls.push(Call { index, id, minted, name, arguments: String::new(), extra, at });
        n
    }

    fn begin(&mut self, piece: Piece, live: &mut Live) -> usize {
        self.end_current(live);
        self.pieces.push(piece);
        self.current = Some(self.pieces.len() - 1);
        self.pieces.len() - 1
    }

    fn end_current(&mut self, live: &mut Live) {
        if self.current.take().is_some() {
            live.block_end();
        }
    }

    fn thought(&mut self, whole: bool) -> Option<Block> {
        let text = std::mem::take(&mut self.thinking);
        let details = Value::Array(std::mem::take(&mut self.details));
        let detailed = self.thinking_key == "reasoning_details";
        let text = if text.is_empty() { texts(&details) } else { text };
        if text.is_empty() && !detailed {
            return None;
        }
        let mut json = Json::default();
        json.open('{').key(&self.thinking_key);
        if detailed {
            json.value(&details)
        } else {
            json.str(&text)
        };
        json.close('}');
        Some(Block { body: Body::Thinking(text), raw: if whole { raw(json.finish()) } else { None } })
    }

    fn count(&mut self, counts: &Counts) {
        let details = counts.prompt_tokens_details.as_ref();
        let read = details.and_then(|d| d.cached_tokens).or(counts.prompt_cache_hit_tokens).unwrap_or(0);
        let write = details.and_then(|d| d.cache_write_tokens).unwrap_or(0);
        let thought = counts.completion_tokens_details.as_ref().and_then(|d| d.reasoning_tokens);
        self.usage = Some(Usage {
            input: counts.prompt_tokens.unwrap_or(0).saturating_sub(read + write),
            output: counts.completion_tokens.unwrap_or(0),
            cache_read: read,
            cache_write: write,
            reasoning: thought.unwrap_or(0),
        });
    }
}

impl Call {
    fn block(self, whole: bool) -> Block {
        let input = if whole {
            arguments(&self.arguments)
        } else {
            serde_json::from_str(&self.arguments).unwrap_or_else(|_| Value::String(self.arguments.clone()))
        };
        let text = if input.is_object() && !self.arguments.trim().is_empty() {
            self.arguments
        } else {
            arguments_object(&input)
        };
        let mut json = Json::default();
        json.open('{').member("id", &self.id).member("type", "function").key("function").open('{');
        json.member("name", &self.name).key("arguments").raw(&quoted(&text)).close('}');
        for (key, value) in &self.extra.0 {
            json.key(key).raw(value.get());
        }
        json.close('}');
        let own = if whole { raw(json.finish()) } else { None };
        Block { body: Body::Call { id: self.id, name: self.name, input }, raw: own }
    }
}

fn texts(details: &Value) -> String {
    let all = details.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter_map(|d| d["text"].as_str().or_else(|| d["summary"].as_str())).collect()
}

fn stop(reason: &str) -> Stop {
    match reason {
        "stop" | "eos" => Stop::End,
        "tool_calls" | "function_call" => Stop::Calls,
        "length" => Stop::MaxTokens,
        "content_filter" => Stop::Refused,
        other => Stop::Other(other.to_string()),
    }
}

fn failed(value: &Value) -> Step {
    let error = value.get("error").filter(|error| error.is_object()).unwrap_or(value);
    let code = error.get("code").or_else(|| error.get("status"));
    let number = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let status = number.and_then(|n| u16::try_from(n).ok()).filter(|n| (400..600).contains(n));
    Step::Failed { status, words: super::failure::said(error).unwrap_or_else(|| value.to_string()) }
}
