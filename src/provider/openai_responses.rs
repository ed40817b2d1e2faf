//! OpenAI Responses: the request, and the events of its stream.
//!
//! Nothing is stored at the provider: reasoning comes encrypted and goes back byte for byte, item by item.
//! Not here: the Chat Completions of the same vendor and all who copy it (`openai_chat`).

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{Json, arguments, arguments_object};
use super::live::Live;
use super::wire::{
    Came, Decoder, HttpRequest, NOTHING_SAID, Step, Target, Told, Turn, call_id, join, turns, verbatim,
};
use crate::api::message::{Answer, Ask, Block, Body, Finish, Image, Message, Stop, Thinking, Usage};
use crate::api::provider::{ThinkingStyle, Wire};

/// Writes the request.
pub(super) fn request(ask: &Ask, target: &Target<'_>) -> HttpRequest {
    let turns = turns(ask, |answer, block| sends(answer, block, target));
    let mut json = Json::default();
    json.open('{').member("model", &ask.model).key("stream").raw("true").key("store").raw("false");
    if ask.max_output > 0 {
        json.key("max_output_tokens").raw(&ask.max_output.to_string());
    }
    reasoning(&mut json, ask, target);
    if super::openai_chat::is_openai(target.base_url) {
        json.member("prompt_cache_key", &cache_key(ask));
    }
    if !ask.system.is_empty() {
        json.member("instructions", &ask.system);
    }
    if !ask.tools.is_empty() {
        json.key("tools").open('[');
        for tool in &ask.tools {
            json.open('{').member("type", "function").member("name", tool.name);
            json.member("description", tool.description).key("parameters").value(&tool.schema);
            json.key("strict").raw("false").close('}');
        }
        json.close(']');
    }
    json.key("input").open('[');
    let last = turns.len() - 1;
    for (at, turn) in turns.iter().enumerate() {
        match turn {
            Turn::User { results, said } => {
                let volatile = if at == last { ask.volatile.as_str() } else { "" };
                user(&mut json, results, said, volatile);
            }
            Turn::Answer(answer) => assistant(&mut json, answer, target),
        }
    }
    json.close(']').close('}');
    HttpRequest { url: join(target.base_url, "/v1", "/responses"), headers: Vec::new(), body: json.finish() }
}

fn reasoning(json: &mut Json, ask: &Ask, target: &Target<'_>) {
    let style = target.card.thinking;
    if style == Some(ThinkingStyle::None) {
        return;
    }
    json.key("include").raw("[\"reasoning.encrypted_content\"]");
    let effort = match ask.thinking {
        Thinking::Default => None,
        Thinking::Off if style == Some(ThinkingStyle::Always) => Some("low"),
        Thinking::Off => Some("none"),
        Thinking::Low => Some("low"),
        Thinking::Medium => Some("medium"),
        Thinking::High => Some("high"),
    };
    if style.is_none() && effort.is_none() {
        return;
    }
    json.key("reasoning").open('{');
    if let Some(effort) = effort {
        json.member("effort", effort);
    }
    json.member("summary", "auto").close('}');
}

/// The same for all requests of one conversation, so that they meet the same cache.
pub(super) fn cache_key(ask: &Ask) -> String {
    let first = ask.messages.iter().find_map(|message| match message {
        Message::User { text, .. } => Some(text.as_str()),
        Message::Answer(_) | Message::Results(_) => None,
    });
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in ask.system.bytes().chain(first.unwrap_or_default().bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("windlass-{hash:016x}")
}

fn sends(answer: &Answer, block: &Block, target: &Target<'_>) -> bool {
    match &block.body {
        Body::Text(text) => !text.is_empty(),
        Body::Call { .. } => true,
        Body::Thinking(_) | Body::Unknown => verbatim(answer, block, Wire::OpenaiResponses, target).is_some(),
    }
}

fn assistant(json: &mut Json, answer: &Answer, target: &Target<'_>) {
    let raw = |block| verbatim(answer, block, Wire::OpenaiResponses, target);
    let finished = matches!(answer.finish, Finish::Finished(_));
    let mut blocks = answer.blocks.iter().filter(|block| sends(answer, block, target)).peekable();
    while let Some(block) = blocks.next() {
        if let Some(own) = raw(block) {
            // The wire refuses reasoning without the item that it led to, which a cut may have taken.
            let alone = blocks.peek().is_none_or(|next| raw(next).is_none());
            if finished || !matches!(block.body, Body::Thinking(_)) || !alone {
                json.raw(own.get());
            }
            continue;
        }
        match &block.body {
            Body::Text(text) => {
                json.open('{').member("type", "message").member("role", "assistant").key("content").open('[');
                json.open('{').member("type", "output_text").member("text", text);
                json.key("annotations").raw("[]").close('}').close(']').close('}');
            }
            Body::Call { id, name, input } => {
                json.open('{').member("type", "function_call").member("call_id", &call_id(id));
                json.member("name", name).member("arguments", &arguments_object(input)).close('}');
            }
            Body::Thinking(_) | Body::Unknown => {}
        }
    }
}

fn user(json: &mut Json, results: &[Told<'_>], said: &[&Message], volatile: &str) {
    let quiet = said.is_empty();
    for (at, told) in results.iter().enumerate() {
        let more = if quiet && at + 1 == results.len() { volatile } else { "" };
        result(json, told, more);
    }
    if quiet && !results.is_empty() {
        return;
    }
    json.open('{').member("type", "message").member("role", "user").key("content").open('[');
    for message in said {
        if let Message::User { text, images } = message {
            images.iter().for_each(|one| image(json, one));
            if !text.is_empty() {
                input_text(json, text);
            }
        }
    }
    if quiet {
        input_text(json, NOTHING_SAID);
    }
    if !volatile.is_empty() {
        input_text(json, volatile);
    }
    json.close(']').close('}');
}

fn result(json: &mut Json, told: &Told<'_>, volatile: &str) {
    json.open('{').member("type", "function_call_output").member("call_id", &call_id(told.id)).key("output");
    let mark = if told.error() { "Error: " } else { "" };
    let gap = if volatile.is_empty() { "" } else { "\n\n" };
    let images = told.result.map_or(&[][..], |result| &result.images);
    if images.is_empty() {
        json.pieces(&[mark, told.text(), gap, volatile]);
    } else {
        json.open('[').open('{').member("type", "input_text").key("text");
        json.pieces(&[mark, told.text()]).close('}');
        images.iter().for_each(|one| image(json, one));
        if !volatile.is_empty() {
            input_text(json, volatile);
        }
        json.close(']');
    }
    json.close('}');
}

fn input_text(json: &mut Json, text: &str) {
    json.open('{').member("type", "input_text").member("text", text).close('}');
}

fn image(json: &mut Json, image: &Image) {
    json.open('{').member("type", "input_image").key("image_url");
    json.pieces(&["data:", &image.media_type, ";base64,", &image.data]).close('}');
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    output_index: u64,
    #[serde(borrow)]
    delta: Option<Cow<'a, str>>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(default)]
    summary_index: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    call_id: Option<String>,
    id: Option<String>,
    name: String,
    arguments: String,
    content: Option<Vec<Part>>,
    summary: Option<Vec<Part>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Part {
    text: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Response {
    output: Option<Vec<Box<RawValue>>>,
    usage: Option<Counts>,
    incomplete_details: Option<Incomplete>,
    error: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Counts {
    input_tokens: u64,
    output_tokens: u64,
    input_tokens_details: Option<Details>,
    output_tokens_details: Option<Details>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Details {
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

/// An item under way.
struct Open {
    index: u64,
    body: Body,
    /// The arguments' text.
    input: String,
    part: u64,
}

/// Decodes the stream.
#[derive(Default)]
pub(super) struct ResponsesDecoder {
    open: Vec<Open>,
    done: Vec<(u64, Block)>,
    refused: bool,
    came: Came,
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, _name: &str, data: &str, live: &mut Live) -> Step {
        let Ok(event) = serde_json::from_str::<Event<'_>>(data) else {
            // The error event has an `item`-free shape of its own, with fields of any type.
            return match serde_json::from_str::<Value>(data) {
                Ok(value) if value["type"] == "error" => failed(&value),
                Ok(_) => Step::More,
                Err(_) => Step::Garbled,
            };
        };
        match event.kind.as_ref() {
            "response.output_text.delta" | "response.refusal.delta" => {
                let delta = event.delta.unwrap_or_default();
                if let Body::Text(text) =
                    &mut self.item(event.output_index, || Body::Text(String::new())).body
                {
                    text.push_str(&delta);
                    live.text(&delta);
                }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.think(event.output_index, event.summary_index, &event.delta.unwrap_or_default(), live);
            }
            "response.function_call_arguments.delta" => {
                let delta = event.delta.unwrap_or_default();
                if let Some(open) = self.open.iter_mut().find(|open| open.index == event.output_index) {
                    open.input.push_str(&delta);
                    live.input(&delta);
                }
            }
            "response.output_item.added" => {
                if let Some(item) = event.item {
                    self.begin(event.output_index, item.get(), live);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.finish(event.output_index, item, live);
                }
            }
            "response.completed" | "response.incomplete" => {
                self.close(event.response.map_or("{}", RawValue::get), live);
                return Step::Finished;
            }
            "response.failed" => {
                let response: Response =
                    event.response.and_then(|r| serde_json::from_str(r.get()).ok()).unwrap_or_default();
                return failed(&response.error.unwrap_or_default());
            }
            "error" => return failed(&serde_json::from_str(data).unwrap_or_default()),
            _ => {}
        }
        Step::More
    }

    fn complete(&self) -> bool {
        false
    }

    fn take(&mut self) -> Came {
        self.done.sort_by_key(|(index, _)| *index);
        let done = std::mem::take(&mut self.done).into_iter().map(|(_, block)| block);
        let cut = std::mem::take(&mut self.open).into_iter().filter_map(Open::cut);
        self.came.blocks.extend(done.chain(cut));
        std::mem::take(&mut self.came)
    }
}

impl ResponsesDecoder {
    fn item(&mut self, index: u64, body: impl FnOnce() -> Body) -> &mut Open {
        let at = self.open.iter().position(|open| open.index == index).unwrap_or_else(|| {
            self.open.push(Open { index, body: body(), input: String::new(), part: 0 });
            self.open.len() - 1
        });
        &mut self.open[at]
    }

    fn think(&mut self, index: u64, part: u64, delta: &str, live: &mut Live) {
        let open = self.item(index, || Body::Thinking(String::new()));
        if let Body::Thinking(text) = &mut open.body {
            if part != open.part && !text.is_empty() {
                text.push_str("\n\n");
                live.thinking("\n\n");
            }
            text.push_str(delta);
            live.thinking(delta);
        }
        open.part = part;
    }

    fn begin(&mut self, index: u64, item: &str, live: &mut Live) {
        let item: Item = serde_json::from_str(item).unwrap_or_default();
        let body = match item.kind.as_str() {
            "message" => Body::Text(String::new()),
            "reasoning" => Body::Thinking(String::new()),
            "function_call" => {
                let id = item.call_id.or(item.id).unwrap_or_default();
                live.call(&id, &item.name);
                live.input(&item.arguments);
                Body::Call { id, name: item.name, input: Value::Null }
            }
            _ => Body::Unknown,
        };
        let open = self.item(index, || body);
        open.input = item.arguments;
        live.mute();
    }

    fn finish(&mut self, index: u64, item: &RawValue, live: &mut Live) {
        let at = self.open.iter().position(|open| open.index == index);
        let open = at.map(|at| self.open.remove(at));
        let parsed: Item = serde_json::from_str(item.get()).unwrap_or_default();
        let shown = open.as_ref().is_some_and(Open::shown);
        let body = match parsed.kind.as_str() {
            "message" => {
                let parts = parsed.content.unwrap_or_default();
                self.refused |= parts.iter().any(|part| part.refusal.is_some());
                let texts = parts.into_iter().filter_map(|part| part.text.or(part.refusal));
                Body::Text(texts.collect::<Vec<_>>().join(""))
            }
            "reasoning" => {
                let summary = parsed.summary.unwrap_or_default();
                let texts = if summary.is_empty() { parsed.content.unwrap_or_default() } else { summary };
                let texts: Vec<String> = texts.into_iter().filter_map(|part| part.text).collect();
                Body::Thinking(texts.join("\n\n"))
            }
            "function_call" => {
                let id = parsed.call_id.or(parsed.id).unwrap_or_default();
                Body::Call { id, name: parsed.name, input: arguments(&parsed.arguments) }
            }
            _ => Body::Unknown,
        };
        if !shown {
            match &body {
                Body::Text(text) => live.text(text),
                Body::Thinking(text) => live.thinking(text),
                Body::Call { id, name, .. } => {
                    if open.is_none() {
                        live.call(id, name);
                    }
                    live.input(&parsed.arguments);
                }
                Body::Unknown => live.mute(),
            }
        }
        live.block_end();
        self.done.push((index, Block { body, raw: Some(item.to_owned()) }));
    }

    fn close(&mut self, response: &str, live: &mut Live) {
        let response: Response = serde_json::from_str(response).unwrap_or_default();
        for (index, item) in (0u64..).zip(response.output.unwrap_or_default()) {
            if !self.done.iter().any(|(done, _)| *done == index) {
                self.finish(index, &item, live);
            }
        }
        if let Some(counts) = response.usage {
            let cached = counts.input_tokens_details.and_then(|d| d.cached_tokens).unwrap_or(0);
            self.came.usage = Some(Usage {
                input: counts.input_tokens.saturating_sub(cached),
                output: counts.output_tokens,
                cache_read: cached,
                cache_write: 0,
                reasoning: counts.output_tokens_details.and_then(|d| d.reasoning_tokens).unwrap_or(0),
            });
        }
        let calls = self.done.iter().any(|(_, block)| matches!(block.body, Body::Call { .. }));
        self.came.stop = Some(match response.incomplete_details.and_then(|d| d.reason).as_deref() {
            Some("max_output_tokens") => Stop::MaxTokens,
            Some("content_filter") => Stop::Refused,
            Some(other) => Stop::Other(other.to_string()),
            None if calls => Stop::Calls,
            None if self.refused => Stop::Refused,
            None => Stop::End,
        });
    }
}

impl Open {
    /// Whether its content was already told.
    fn shown(&self) -> bool {
        match &self.body {
            Body::Text(text) | Body::Thinking(text) => !text.is_empty(),
            Body::Call { .. } => !self.input.is_empty(),
            Body::Unknown => true,
        }
    }

    fn cut(self) -> Option<Block> {
        let body = match self.body {
            Body::Text(text) if !text.is_empty() => Body::Text(text),
            Body::Thinking(text) if !text.is_empty() => Body::Thinking(text),
            Body::Call { id, name, .. } => {
                let input = serde_json::from_str(&self.input).unwrap_or(Value::String(self.input));
                Body::Call { id, name, input }
            }
            Body::Text(_) | Body::Thinking(_) | Body::Unknown => return None,
        };
        Some(Block::plain(body))
    }
}

fn failed(value: &Value) -> Step {
    let error = value.get("error").filter(|error| error.is_object()).unwrap_or(value);
    let code = error.get("code").and_then(Value::as_str).unwrap_or_default();
    let status = match code {
        "rate_limit_exceeded" => Some(429),
        "server_error" | "internal_error" => Some(500),
        "server_is_overloaded" | "slow_down" => Some(503),
        "context_length_exceeded" | "invalid_prompt" => Some(400),
        "insufficient_quota" => Some(402),
        _ => None,
    };
    Step::Failed { status, words: super::failure::said(error).unwrap_or_else(|| value.to_string()) }
}

#[cfg(test)]
#[path = "openai_responses_tests.rs"]
mod tests;
