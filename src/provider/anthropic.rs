//! Anthropic Messages: the request, and the events of its stream.
//!
//! Thinking goes back with its signature, byte for byte; a thinking block that was cut off has none and is
//! left out. Cache marks: the last tool, the system text, and the last stable block of the two newest user
//! turns, so that the mark of the request before is still there to be hit.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{Json, RawObject, arguments, arguments_object, quoted, raw};
use super::live::Live;
use super::wire::{
    Came, Decoder, HttpRequest, NOTHING_SAID, Step, Target, Told, Turn, call_id, join, turns, verbatim,
};
use crate::api::message::{Answer, Ask, Block, Body, Image, Message, Stop, Thinking};
use crate::api::provider::{ThinkingStyle, Wire};

/// Output tokens asked for when nothing is known of the model.
const MAX_OUTPUT: u64 = 8192;
const MARK: &str = "{\"type\":\"ephemeral\"}";

/// Writes the request.
pub(super) fn request(ask: &Ask, target: &Target<'_>) -> HttpRequest {
    let base = target.base_url.trim_end_matches('/');
    let base = base.strip_suffix("/v1").unwrap_or(base);
    let mut headers = vec![("anthropic-version", "2023-06-01".to_string())];
    let turns = turns(ask, |answer, block| sends(answer, block, target));
    let mut json = Json::default();
    json.open('{').member("model", &ask.model);
    let most = [Some(ask.max_output).filter(|n| *n > 0), target.card.max_output].into_iter().flatten().next();
    let most = most.unwrap_or(MAX_OUTPUT);
    json.key("max_tokens").raw(&most.to_string()).key("stream").raw("true");
    if thinking(&mut json, ask, target, most, &turns) {
        headers.push(("anthropic-beta", "interleaved-thinking-2025-05-14".to_string()));
    }
    if !ask.tools.is_empty() {
        json.key("tools").open('[');
        for (at, tool) in ask.tools.iter().enumerate() {
            json.open('{').member("name", tool.name).member("description", tool.description);
            json.key("input_schema").value(&tool.schema);
            if at + 1 == ask.tools.len() {
                json.key("cache_control").raw(MARK);
            }
            json.close('}');
        }
        json.close(']');
    }
    if !ask.system.is_empty() {
        json.key("system").open('[').open('{').member("type", "text").member("text", &ask.system);
        json.key("cache_control").raw(MARK).close('}').close(']');
    }
    json.key("messages").open('[');
    let last = turns.len() - 1;
    for (at, turn) in turns.iter().enumerate() {
        match turn {
            Turn::User { results, said } => {
                let volatile = if at == last { ask.volatile.as_str() } else { "" };
                user(&mut json, results, said, volatile, at + 3 > last);
            }
            Turn::Answer(answer) => assistant(&mut json, answer, target),
        }
    }
    json.close(']').close('}');
    HttpRequest { url: join(base, "", "/v1/messages"), headers, body: json.finish() }
}

/// Says how much to think; whether thinking between calls must be asked for by a header.
fn thinking(json: &mut Json, ask: &Ask, target: &Target<'_>, most: u64, turns: &[Turn<'_>]) -> bool {
    let style = target.card.thinking.unwrap_or(ThinkingStyle::Budget);
    let (effort, budget) = match ask.thinking {
        Thinking::Default => return false,
        Thinking::Off => {
            if style != ThinkingStyle::Always && style != ThinkingStyle::None {
                json.key("thinking").raw("{\"type\":\"disabled\"}");
            }
            return false;
        }
        Thinking::Low => ("low", 4096),
        Thinking::Medium => ("medium", 12_288),
        Thinking::High => ("high", 28_672),
    };
    match style {
        ThinkingStyle::None => false,
        ThinkingStyle::Effort | ThinkingStyle::Always => {
            json.key("thinking").raw("{\"type\":\"adaptive\"}");
            json.key("output_config").open('{').member("effort", effort).close('}');
            false
        }
        ThinkingStyle::Budget => {
            // With thinking on, the wire refuses open calls whose answer does not begin with thinking.
            let budget = std::cmp::min(budget, most.saturating_sub(1024));
            if budget < 1024 || open_calls_without_thinking(turns, target) {
                return false;
            }
            json.key("thinking").open('{').member("type", "enabled");
            json.key("budget_tokens").raw(&budget.to_string()).close('}');
            true
        }
    }
}

fn open_calls_without_thinking(turns: &[Turn<'_>], target: &Target<'_>) -> bool {
    let [.., Turn::Answer(answer), Turn::User { results, .. }] = turns else { return false };
    let first = answer.blocks.iter().find(|block| sends(answer, block, target));
    !results.is_empty() && !first.is_some_and(|block| matches!(block.body, Body::Thinking(_)))
}

/// Whether anything of the block goes out: the wire refuses blank text.
fn sends(answer: &Answer, block: &Block, target: &Target<'_>) -> bool {
    match &block.body {
        Body::Text(text) => !text.trim().is_empty(),
        Body::Call { .. } => true,
        Body::Thinking(_) | Body::Unknown => verbatim(answer, block, Wire::Anthropic, target).is_some(),
    }
}

fn assistant(json: &mut Json, answer: &Answer, target: &Target<'_>) {
    json.open('{').member("role", "assistant").key("content").open('[');
    for block in answer.blocks.iter().filter(|block| sends(answer, block, target)) {
        if let Some(raw) = verbatim(answer, block, Wire::Anthropic, target) {
            json.raw(raw.get());
            continue;
        }
        match &block.body {
            Body::Text(text) => {
                json.open('{').member("type", "text").member("text", text).close('}');
            }
            Body::Call { id, name, input } => {
                json.open('{').member("type", "tool_use").member("id", &call_id(id)).member("name", name);
                json.key("input").raw(&arguments_object(input)).close('}');
            }
            Body::Thinking(_) | Body::Unknown => {}
        }
    }
    json.close(']').close('}');
}

fn user(json: &mut Json, results: &[Told<'_>], said: &[&Message], volatile: &str, marked: bool) {
    let mut blocks: Vec<String> = results.iter().map(result).collect();
    for message in said {
        if let Message::User { text, images } = message {
            blocks.extend(images.iter().map(|one| format!("{}}}", image(one))));
            if !text.trim().is_empty() {
                blocks.push(format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text)));
            }
        }
    }
    if blocks.is_empty() {
        blocks.push(format!("{{\"type\":\"text\",\"text\":{}}}", quoted(NOTHING_SAID)));
    }
    if marked && let Some(last) = blocks.last_mut() {
        last.truncate(last.len() - 1);
        last.push_str(&format!(",\"cache_control\":{MARK}}}"));
    }
    if !volatile.is_empty() {
        blocks.push(format!("{{\"type\":\"text\",\"text\":{}}}", quoted(volatile)));
    }
    json.open('{').member("role", "user").key("content").open('[');
    for block in &blocks {
        json.raw(block);
    }
    json.close(']').close('}');
}

fn result(told: &Told<'_>) -> String {
    let mut json = Json::default();
    json.open('{').member("type", "tool_result").member("tool_use_id", &call_id(told.id));
    let images = told.result.map_or(&[][..], |result| &result.images);
    if images.is_empty() {
        json.member("content", told.text());
    } else {
        json.key("content").open('[');
        if !told.text().trim().is_empty() {
            json.open('{').member("type", "text").member("text", told.text()).close('}');
        }
        for one in images {
            json.raw(&image(one)).close('}');
        }
        json.close(']');
    }
    if told.error() {
        json.key("is_error").raw("true");
    }
    json.close('}');
    json.finish()
}

/// An image block, still open.
fn image(image: &Image) -> String {
    format!(
        "{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":{},\"data\":{}}}",
        quoted(&image.media_type),
        quoted(&image.data)
    )
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    usage: Option<Counts>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The deltas that come by the thousand; every other kind is taken in as it is.
#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    partial_json: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize, Default)]
struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

/// A block under way.
struct Open {
    index: u64,
    kind: String,
    members: RawObject,
    /// The text, the thinking, or the arguments' JSON.
    text: String,
    /// Other members that grew: strings that were appended to.
    grown: Vec<(String, String)>,
    /// Lists that grew.
    lists: Vec<(String, Vec<Value>)>,
}

/// Decodes the stream.
#[derive(Default)]
pub(super) struct AnthropicDecoder {
    open: Vec<Open>,
    came: Came,
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, _name: &str, data: &str, live: &mut Live) -> Step {
        let Ok(event) = serde_json::from_str::<Event<'_>>(data) else { return Step::Garbled };
        match event.kind.as_ref() {
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.delta(event.index, delta.get(), live);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.start(event.index, block.get(), live);
                }
            }
            "content_block_stop" => {
                if let Some(at) = self.open.iter().position(|open| open.index == event.index) {
                    let open = self.open.remove(at);
                    self.came.blocks.push(open.close());
                    live.block_end();
                }
            }
            "message_start" => {
                let usage =
                    event.message.and_then(|m| RawObject::parse(m.get())?.get("usage").map(str::to_string));
                if let Some(counts) = usage.and_then(|usage| serde_json::from_str(&usage).ok()) {
                    self.count(counts);
                }
            }
            "message_delta" => {
                if let Some(counts) = event.usage {
                    self.count(counts);
                }
                let delta = event.delta.and_then(|d| serde_json::from_str::<Delta<'_>>(d.get()).ok());
                if let Some(reason) = delta.and_then(|delta| delta.stop_reason) {
                    self.came.stop = Some(stop(&reason));
                }
            }
            "message_stop" => return Step::Finished,
            "error" => return failed(event.error.map_or(data, RawValue::get)),
            _ => {}
        }
        Step::More
    }

    fn complete(&self) -> bool {
        false
    }

    fn take(&mut self) -> Came {
        let cut = std::mem::take(&mut self.open).into_iter().filter_map(Open::cut);
        self.came.blocks.extend(cut);
        std::mem::take(&mut self.came)
    }
}

impl AnthropicDecoder {
    fn start(&mut self, index: u64, block: &str, live: &mut Live) {
        let members = RawObject::parse(block).unwrap_or_default();
        let kind = members.string("type").unwrap_or_default();
        let mut text = String::new();
        match kind.as_str() {
            "text" => {
                text = members.string("text").unwrap_or_default();
                live.text(&text);
            }
            "thinking" => {
                text = members.string("thinking").unwrap_or_default();
                live.thinking(&text);
            }
            "tool_use" => {
                live.call(
                    &members.string("id").unwrap_or_default(),
                    &members.string("name").unwrap_or_default(),
                );
            }
            _ => live.mute(),
        }
        self.open.push(Open { index, kind, members, text, grown: Vec::new(), lists: Vec::new() });
    }

    fn delta(&mut self, index: u64, json: &str, live: &mut Live) {
        let Some(open) = self.open.iter_mut().find(|open| open.index == index) else { return };
        let Ok(delta) = serde_json::from_str::<Delta<'_>>(json) else { return open.grow(json) };
        match (delta.kind.as_ref(), &delta.text, &delta.thinking, &delta.partial_json) {
            ("text_delta", Some(text), _, _) if open.kind == "text" => {
                open.text.push_str(text);
                live.text(text);
            }
            ("thinking_delta", _, Some(text), _) if open.kind == "thinking" => {
                open.text.push_str(text);
                live.thinking(text);
            }
            ("input_json_delta", _, _, Some(part)) => {
                open.text.push_str(part);
                if open.kind == "tool_use" {
                    live.input(part);
                }
            }
            _ => open.grow(json),
        }
    }

    fn count(&mut self, counts: Counts) {
        let usage = self.came.usage.get_or_insert_default();
        let set = |to: &mut u64, from: Option<u64>| *to = from.unwrap_or(*to);
        set(&mut usage.input, counts.input_tokens);
        set(&mut usage.output, counts.output_tokens);
        set(&mut usage.cache_read, counts.cache_read_input_tokens);
        set(&mut usage.cache_write, counts.cache_creation_input_tokens);
    }
}

impl Open {
    /// Takes in a delta of any kind: strings are appended to the member of that name, lists are extended, a
    /// citation joins the citations, all else is set.
    fn grow(&mut self, json: &str) {
        let Some(delta) = RawObject::parse(json) else { return };
        for (key, value) in delta.0 {
            if key == "type" {
                continue;
            }
            match serde_json::from_str::<Value>(value.get()) {
                Ok(Value::String(text)) => match self.grown.iter_mut().find(|(k, _)| *k == key) {
                    Some((_, old)) => old.push_str(&text),
                    None => {
                        let old = self.members.string(&key).unwrap_or_default();
                        self.grown.push((key, old + &text));
                    }
                },
                Ok(Value::Array(more)) => self.extend(key, more),
                Ok(one) if key == "citation" => self.extend("citations".into(), vec![one]),
                _ => self.members.set(&key, value),
            }
        }
    }

    fn extend(&mut self, key: String, more: Vec<Value>) {
        match self.lists.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => old.extend(more),
            None => {
                let old = self.members.get(&key).and_then(|json| serde_json::from_str(json).ok());
                let mut all: Vec<Value> = old.unwrap_or_default();
                all.extend(more);
                self.lists.push((key, all));
            }
        }
    }

    /// The block, complete.
    fn close(mut self) -> Block {
        let text = std::mem::take(&mut self.text);
        let body = match self.kind.as_str() {
            "text" => {
                self.put("text", quoted(&text));
                Body::Text(text)
            }
            "thinking" => {
                self.put("thinking", quoted(&text));
                Body::Thinking(text)
            }
            "redacted_thinking" => Body::Thinking(String::new()),
            "tool_use" => {
                let given = self.members.get("input").unwrap_or("{}").to_string();
                let input = arguments(if text.is_empty() { &given } else { &text });
                if input.is_object() && !text.trim().is_empty() {
                    self.put("input", text);
                } else if !input.is_object() {
                    self.put("input", arguments_object(&input));
                }
                self.call(input)
            }
            _ => {
                if !text.is_empty() {
                    self.put("input", arguments_object(&arguments(&text)));
                }
                Body::Unknown
            }
        };
        for (key, text) in std::mem::take(&mut self.grown) {
            self.put(&key, quoted(&text));
        }
        for (key, list) in std::mem::take(&mut self.lists) {
            self.put(&key, Value::Array(list).to_string());
        }
        Block { body, raw: self.members.to_raw() }
    }

    /// What came of a block that was cut off. Without its raw JSON: it is not what the provider meant.
    fn cut(self) -> Option<Block> {
        let body = match self.kind.as_str() {
            "text" if !self.text.is_empty() => Body::Text(self.text),
            "thinking" if !self.text.is_empty() => Body::Thinking(self.text),
            "tool_use" => {
                let parsed = serde_json::from_str::<Value>(&self.text);
                let input = parsed.unwrap_or_else(|_| Value::String(self.text.clone()));
                self.call(input)
            }
            _ => return None,
        };
        Some(Block::plain(body))
    }

    fn call(&self, input: Value) -> Body {
        let member = |key| self.members.string(key).unwrap_or_default();
        Body::Call { id: member("id"), name: member("name"), input }
    }

    fn put(&mut self, key: &str, json: String) {
        if let Some(value) = raw(json) {
            self.members.set(key, value);
        }
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "end_turn" | "stop_sequence" => Stop::End,
        "tool_use" => Stop::Calls,
        "max_tokens" => Stop::MaxTokens,
        "refusal" => Stop::Refused,
        other => Stop::Other(other.to_string()),
    }
}

fn failed(error: &str) -> Step {
    let value: Value = serde_json::from_str(error).unwrap_or_default();
    let status = match value.get("type").and_then(Value::as_str) {
        Some("overloaded_error") => Some(529),
        Some("rate_limit_error") => Some(429),
        Some("api_error") => Some(500),
        Some("timeout_error") => Some(504),
        Some("invalid_request_error") => Some(400),
        Some("authentication_error") => Some(401),
        Some("permission_error") => Some(403),
        Some("not_found_error") => Some(404),
        Some("request_too_large") => Some(413),
        _ => None,
    };
    Step::Failed { status, words: super::failure::said(&value).unwrap_or_else(|| error.to_string()) }
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
