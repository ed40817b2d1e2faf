//! Gemini `streamGenerateContent`: the request, and the chunks of its stream.
//!
//! A block of ours is one or more *parts* of theirs: unsigned text that came in pieces is put together, and a
//! part that bears a signature stays as it came, so that what was signed goes back unchanged. The wire has
//! no ids for calls, or optional ones: results go by order and name.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{Json, RawObject, arguments_object, quoted, raw};
use super::live::Live;
use super::wire::{
    Came, Decoder, HttpRequest, NOTHING_SAID, Step, Target, Told, Turn, join, turns, verbatim,
};
use crate::api::message::{Answer, Ask, Block, Body, Image, Message, Stop, Thinking, Usage};
use crate::api::provider::{ThinkingStyle, Wire};

/// Begins the ids that we mint; such ids are not sent.
const MINTED: &str = "windlass_";
/// What Google documents for calls that another model made.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Writes the request.
pub(super) fn request(ask: &Ask, target: &Target<'_>) -> HttpRequest {
    let turns = turns(ask, |answer, block| sends(answer, block, target));
    let mut json = Json::default();
    json.open('{');
    if !ask.system.is_empty() {
        json.key("systemInstruction").open('{').key("parts").open('[');
        text_part(&mut json, &ask.system);
        json.close(']').close('}');
    }
    if !ask.tools.is_empty() {
        json.key("tools").open('[').open('{').key("functionDeclarations").open('[');
        for tool in &ask.tools {
            json.open('{').member("name", tool.name).member("description", tool.description);
            json.key("parametersJsonSchema").value(&tool.schema).close('}');
        }
        json.close(']').close('}').close(']');
    }
    json.key("generationConfig").open('{');
    if ask.max_output > 0 {
        json.key("maxOutputTokens").raw(&ask.max_output.to_string());
    }
    thinking(&mut json, ask, target);
    json.close('}').key("contents").open('[');
    let last = turns.len() - 1;
    let mut own_ids: Vec<&str> = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        match turn {
            Turn::User { results, said } => {
                let volatile = if at == last { ask.volatile.as_str() } else { "" };
                user(&mut json, results, said, volatile, &own_ids);
            }
            Turn::Answer(answer) => {
                let own = answer.wire == Wire::Gemini.name();
                let ids = answer.calls().map(|(_, id, _, _)| id).filter(|id| own && !id.starts_with(MINTED));
                own_ids = ids.collect();
                model(&mut json, answer, target, &ask.model);
            }
        }
    }
    json.close(']').close('}');
    let base = target.base_url.trim_end_matches('/');
    let version = if base.ends_with("/v1beta") || base.ends_with("/v1") { "" } else { "/v1beta" };
    let model = ask.model.trim_start_matches("models/");
    let url = join(base, "", &format!("{version}/models/{model}:streamGenerateContent?alt=sse"));
    HttpRequest { url, headers: Vec::new(), body: json.finish() }
}

fn thinking(json: &mut Json, ask: &Ask, target: &Target<'_>) {
    let style = target.card.thinking.unwrap_or(if ask.model.contains("gemini-3") {
        ThinkingStyle::Always
    } else if ask.model.contains("gemini-2.5") {
        ThinkingStyle::Budget
    } else {
        ThinkingStyle::None
    });
    if style == ThinkingStyle::None {
        return;
    }
    json.key("thinkingConfig").open('{').key("includeThoughts");
    json.raw(if ask.thinking == Thinking::Off { "false" } else { "true" });
    let (level, budget) = match ask.thinking {
        Thinking::Default => ("", ""),
        Thinking::Off if style == ThinkingStyle::Always => ("low", ""),
        Thinking::Off => ("minimal", "0"),
        Thinking::Low => ("low", "2048"),
        Thinking::Medium => ("medium", "8192"),
        Thinking::High => ("high", "24576"),
    };
    match style {
        ThinkingStyle::Budget if !budget.is_empty() => {
            json.key("thinkingBudget").raw(budget);
        }
        ThinkingStyle::Effort | ThinkingStyle::Always if !level.is_empty() => {
            json.member("thinkingLevel", level);
        }
        ThinkingStyle::None | ThinkingStyle::Budget | ThinkingStyle::Effort | ThinkingStyle::Always => {}
    }
    json.close('}');
}

fn sends(answer: &Answer, block: &Block, target: &Target<'_>) -> bool {
    match &block.body {
        Body::Text(text) => !text.is_empty(),
        Body::Call { .. } => true,
        Body::Thinking(_) | Body::Unknown => verbatim(answer, block, Wire::Gemini, target).is_some(),
    }
}

fn model(json: &mut Json, answer: &Answer, target: &Target<'_>, name: &str) {
    json.open('{').member("role", "model").key("parts").open('[');
    let mut first_call = true;
    for block in answer.blocks.iter().filter(|block| sends(answer, block, target)) {
        if let Some(own) = verbatim(answer, block, Wire::Gemini, target) {
            let parts = own.get();
            json.raw(parts.strip_prefix('[').and_then(|p| p.strip_suffix(']')).unwrap_or(parts));
            first_call &= !matches!(block.body, Body::Call { .. });
            continue;
        }
        match &block.body {
            Body::Text(text) => text_part(json, text),
            Body::Call { name: tool, input, .. } => {
                json.open('{').key("functionCall").open('{').member("name", tool);
                json.key("args").raw(&arguments_object(input)).close('}');
                if first_call && name.contains("gemini-3") {
                    json.member("thoughtSignature", UNSIGNED);
                }
                first_call = false;
                json.close('}');
            }
            Body::Thinking(_) | Body::Unknown => {}
        }
    }
    json.close(']').close('}');
}

fn user(json: &mut Json, results: &[Told<'_>], said: &[&Message], volatile: &str, own_ids: &[&str]) {
    json.open('{').member("role", "user").key("parts").open('[');
    for told in results {
        json.open('{').key("functionResponse").open('{');
        if own_ids.contains(&told.id) {
            json.member("id", told.id);
        }
        json.member("name", told.name).key("response").open('{');
        json.member(if told.error() { "error" } else { "output" }, told.text())
            .close('}')
            .close('}')
            .close('}');
    }
    for result in results.iter().filter_map(|told| told.result) {
        result.images.iter().for_each(|one| image_part(json, one));
    }
    let mut nothing = results.is_empty();
    for message in said {
        if let Message::User { text, images } = message {
            images.iter().for_each(|one| image_part(json, one));
            if !text.is_empty() {
                text_part(json, text);
            }
            nothing &= images.is_empty() && text.is_empty();
        }
    }
    if nothing {
        text_part(json, NOTHING_SAID);
    }
    if !volatile.is_empty() {
        text_part(json, volatile);
    }
    json.close(']').close('}');
}

fn text_part(json: &mut Json, text: &str) {
    json.open('{').member("text", text).close('}');
}

fn image_part(json: &mut Json, image: &Image) {
    json.open('{').key("inlineData").open('{').member("mimeType", &image.media_type);
    json.member("data", &image.data).close('}').close('}');
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, default)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default)]
    usage_metadata: Option<Counts>,
    #[serde(default)]
    prompt_feedback: Option<Feedback>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Counts {
    prompt_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
    cached_content_token_count: u64,
    tool_use_prompt_token_count: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    #[serde(default)]
    thought: Option<bool>,
    thought_signature: Option<Value>,
    function_call: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    args: Value,
}

/// A run of text or of thoughts under way.
struct Run {
    thought: bool,
    text: String,
    /// The signed parts so far, as they came, and unsigned text before them, put together.
    parts: Vec<String>,
    /// Unsigned text since the last signed part.
    loose: String,
}

/// Decodes the stream.
pub(super) struct GeminiDecoder {
    seed: u64,
    calls: u64,
    run: Option<Run>,
    came: Came,
}

impl GeminiDecoder {
    /// A decoder; `seed` makes the ids that the wire leaves out unique.
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, calls: 0, run: None, came: Came::default() }
    }
}

impl Decoder for GeminiDecoder {
    fn event(&mut self, _name: &str, data: &str, live: &mut Live) -> Step {
        let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(data) else {
            return match serde_json::from_str::<Value>(data) {
                Ok(value) if value.get("error").or_else(|| value.get(0)).is_some() => failed(&value),
                _ => Step::Garbled,
            };
        };
        if let Some(error) = chunk.error {
            return failed(&serde_json::from_str(error.get()).unwrap_or_default());
        }
        if let Some(counts) = chunk.usage_metadata {
            self.came.usage = Some(Usage {
                input: (counts.prompt_token_count + counts.tool_use_prompt_token_count)
                    .saturating_sub(counts.cached_content_token_count),
                output: counts.candidates_token_count + counts.thoughts_token_count,
                cache_read: counts.cached_content_token_count,
                cache_write: 0,
                reasoning: counts.thoughts_token_count,
            });
        }
        for candidate in chunk.candidates.unwrap_or_default().into_iter().take(1) {
            for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
                self.part(part, live);
            }
            if let Some(reason) = candidate.finish_reason {
                self.close_run(live);
                self.came.stop = Some(self.stop(&reason));
            }
        }
        if chunk.prompt_feedback.and_then(|feedback| feedback.block_reason).is_some() {
            self.came.stop = Some(Stop::Refused);
        }
        Step::More
    }

    fn complete(&self) -> bool {
        self.came.stop.is_some()
    }

    fn take(&mut self) -> Came {
        if let Some(run) = self.run.take() {
            let whole = self.came.stop.is_some();
            self.came.blocks.extend(run.block(whole));
        }
        std::mem::take(&mut self.came)
    }
}

impl GeminiDecoder {
    fn part(&mut self, own: &RawValue, live: &mut Live) {
        let Ok(part) = serde_json::from_str::<Part>(own.get()) else { return self.unknown(own, live) };
        if let Some(function) = part.function_call {
            self.call(function, own, live);
        } else if let Some(text) = part.text {
            self.text(&text, part.thought.unwrap_or(false), part.thought_signature.is_some(), own, live);
        } else {
            self.unknown(own, live);
        }
    }

    fn text(&mut self, text: &str, thought: bool, signed: bool, own: &RawValue, live: &mut Live) {
        if text.is_empty() && !signed {
            return;
        }
        // A bare signature belongs to what was said before it, of whatever kind.
        let stays = self.run.as_ref().is_some_and(|run| run.thought == thought || text.is_empty());
        if !stays {
            self.close_run(live);
        }
        if text.is_empty() && self.run.is_none() {
            live.mute();
            let raw = Some(own.to_owned());
            self.came.blocks.push(Block { body: Body::Thinking(String::new()), raw });
            return;
        }
        let run = self.run.get_or_insert_with(|| Run {
            thought,
            text: String::new(),
            parts: Vec::new(),
            loose: String::new(),
        });
        run.text.push_str(text);
        if signed {
            run.settle();
            run.parts.push(own.get().to_string());
        } else {
            run.loose.push_str(text);
        }
        if run.thought { live.thinking(text) } else { live.text(text) }
    }

    fn call(&mut self, function: Function, own: &RawValue, live: &mut Live) {
        self.close_run(live);
        self.calls += 1;
        let minted = || format!("{MINTED}{:012x}_{}", self.seed & 0xffff_ffff_ffff, self.calls);
        let id = function.id.filter(|id| !id.is_empty()).unwrap_or_else(minted);
        let input =
            if function.args.is_null() { Value::Object(serde_json::Map::new()) } else { function.args };
        live.call(&id, &function.name);
        live.input(&input.to_string());
        live.block_end();
        let body = Body::Call { id, name: function.name, input };
        self.came.blocks.push(Block { body, raw: Some(own.to_owned()) });
    }

    fn unknown(&mut self, own: &RawValue, live: &mut Live) {
        self.close_run(live);
        if RawObject::parse(own.get()).is_some_and(|object| !object.0.is_empty()) {
            live.mute();
            self.came.blocks.push(Block { body: Body::Unknown, raw: Some(own.to_owned()) });
        }
    }

    fn close_run(&mut self, live: &mut Live) {
        if let Some(block) = self.run.take().and_then(|run| run.block(true)) {
            live.block_end();
            self.came.blocks.push(block);
        }
    }

    fn stop(&self, reason: &str) -> Stop {
        let called = self.calls > 0;
        match reason {
            "STOP" if called => Stop::Calls,
            "STOP" => Stop::End,
            "MAX_TOKENS" => Stop::MaxTokens,
            "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" | "IMAGE_SAFETY" => {
                Stop::Refused
            }
            other => Stop::Other(other.to_string()),
        }
    }
}

impl Run {
    /// Makes a part of the unsigned text so far.
    fn settle(&mut self) {
        if self.loose.is_empty() {
            return;
        }
        let text = quoted(&std::mem::take(&mut self.loose));
        let mark = if self.thought { ",\"thought\":true" } else { "" };
        self.parts.push(format!("{{\"text\":{text}{mark}}}"));
    }

    /// The block. Each run that was closed by another part is whole, even when the stream then broke.
    fn block(mut self, whole: bool) -> Option<Block> {
        self.settle();
        let own = match self.parts.as_slice() {
            [] => return None,
            [one] => raw(one.clone()),
            more => raw(format!("[{}]", more.join(","))),
        };
        let body = if self.thought { Body::Thinking(self.text) } else { Body::Text(self.text) };
        Some(Block { body, raw: if whole { own } else { None } })
    }
}

fn failed(value: &Value) -> Step {
    let inner = value.get(0).unwrap_or(value);
    let error = inner.get("error").unwrap_or(inner);
    let status = error.get("code").and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
    Step::Failed { status, words: super::failure::said(error).unwrap_or_else(|| value.to_string()) }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
