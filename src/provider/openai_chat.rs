//! OpenAI Chat Completions, as its inventor and every compatible server speak it: the request.
//!
//! The decoder stands in `openai_chat_decode`. A message of this wire has no blocks: what a provider added
//! to it (reasoning, signed details, fields that we do not know) is kept as members of the message.

use std::collections::BTreeMap;

use super::json::{Json, RawObject, arguments_object};
use super::wire::{HttpRequest, NOTHING_SAID, Target, Told, Turn, call_id, join, turns, verbatim};
use crate::api::message::{Answer, Ask, Block, Body, Image, Message, Thinking};
use crate::api::provider::{ThinkingStyle, Wire};

pub(super) use super::openai_chat_decode::ChatDecoder;

/// Whether the address is OpenAI's own, which takes parameters that others refuse.
pub(super) fn is_openai(base_url: &str) -> bool {
    host(base_url).ends_with("openai.com")
}

fn host(base_url: &str) -> &str {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    rest.split(['/', ':']).next().unwrap_or(rest)
}

/// Writes the request.
pub(super) fn request(ask: &Ask, target: &Target<'_>) -> HttpRequest {
    let turns = turns(ask, |answer, block| sends(answer, block, target));
    let openai = is_openai(target.base_url);
    let mut json = Json::default();
    json.open('{').member("model", &ask.model).key("stream").raw("true");
    json.key("stream_options").raw("{\"include_usage\":true}");
    if ask.max_output > 0 {
        json.key(if openai { "max_completion_tokens" } else { "max_tokens" })
            .raw(&ask.max_output.to_string());
    }
    thinking(&mut json, ask, target);
    if openai {
        json.member("prompt_cache_key", &super::openai_responses::cache_key(ask));
    }
    if !ask.tools.is_empty() {
        json.key("tools").open('[');
        for tool in &ask.tools {
            json.open('{').member("type", "function").key("function").open('{').member("name", tool.name);
            json.member("description", tool.description).key("parameters").value(&tool.schema);
            json.close('}').close('}');
        }
        json.close(']');
    }
    json.key("messages").open('[');
    if !ask.system.is_empty() {
        json.open('{').member("role", "system").member("content", &ask.system).close('}');
    }
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
    HttpRequest {
        url: join(target.base_url, "/v1", "/chat/completions"),
        headers: Vec::new(),
        body: json.finish(),
    }
}

fn thinking(json: &mut Json, ask: &Ask, target: &Target<'_>) {
    let style = target.card.thinking;
    if style == Some(ThinkingStyle::None) || ask.thinking == Thinking::Default {
        return;
    }
    if host(target.base_url).ends_with("deepseek.com") {
        let on = if ask.thinking == Thinking::Off { "disabled" } else { "enabled" };
        json.key("thinking").open('{').member("type", on).close('}');
        return;
    }
    let effort = match ask.thinking {
        Thinking::Default => return,
        Thinking::Off if style == Some(ThinkingStyle::Always) => "low",
        Thinking::Off => "none",
        Thinking::Low => "low",
        Thinking::Medium => "medium",
        Thinking::High => "high",
    };
    json.member("reasoning_effort", effort);
}

fn sends(answer: &Answer, block: &Block, target: &Target<'_>) -> bool {
    match &block.body {
        Body::Text(text) => !text.is_empty(),
        Body::Call { .. } => true,
        Body::Thinking(_) | Body::Unknown => verbatim(answer, block, Wire::OpenaiChat, target).is_some(),
    }
}

fn assistant(json: &mut Json, answer: &Answer, target: &Target<'_>) {
    let mut texts: Vec<&str> = Vec::new();
    let mut calls: Vec<&Block> = Vec::new();
    let mut extra: BTreeMap<String, String> = BTreeMap::new();
    for block in answer.blocks.iter().filter(|block| sends(answer, block, target)) {
        match &block.body {
            Body::Text(text) => texts.push(text),
            Body::Call { .. } => calls.push(block),
            Body::Thinking(_) | Body::Unknown => {
                let own = verbatim(answer, block, Wire::OpenaiChat, target);
                for (key, value) in own.and_then(|raw| RawObject::parse(raw.get())).unwrap_or_default().0 {
                    extra.insert(key, value.get().to_string());
                }
            }
        }
    }
    json.open('{').member("role", "assistant").key("content");
    match (texts.is_empty(), calls.is_empty()) {
        (true, false) => json.raw("null"),
        _ => json.pieces(&texts),
    };
    for (key, value) in &extra {
        json.key(key).raw(value);
    }
    if !calls.is_empty() {
        json.key("tool_calls").open('[');
        for block in calls {
            call(json, block, verbatim(answer, block, Wire::OpenaiChat, target).map(|raw| raw.get()));
        }
        json.close(']');
    }
    json.close('}');
}

fn call(json: &mut Json, block: &Block, own: Option<&str>) {
    let Body::Call { id, name, input } = &block.body else { return };
    if let Some(own) = own {
        json.raw(own);
        return;
    }
    json.open('{').member("id", &call_id(id)).member("type", "function").key("function").open('{');
    json.member("name", name).member("arguments", &arguments_object(input)).close('}').close('}');
}

fn user(json: &mut Json, results: &[Told<'_>], said: &[&Message], volatile: &str) {
    let pictures: Vec<&Image> =
        results.iter().filter_map(|told| told.result).flat_map(|result| &result.images).collect();
    let quiet = said.is_empty() && pictures.is_empty();
    for (at, told) in results.iter().enumerate() {
        let more = if quiet && at + 1 == results.len() { volatile } else { "" };
        let gap = if more.is_empty() { "" } else { "\n\n" };
        let mark = if told.error() { "Error: " } else { "" };
        json.open('{').member("role", "tool").member("tool_call_id", &call_id(told.id));
        json.key("content").pieces(&[mark, told.text(), gap, more]).close('}');
    }
    if quiet && !results.is_empty() {
        return;
    }
    let mut texts: Vec<&str> = Vec::new();
    let mut images = pictures.clone();
    if !pictures.is_empty() {
        texts.push("The images of the tool results above:");
    }
    for message in said {
        if let Message::User { text, images: more } = message {
            texts.extend(Some(text.as_str()).filter(|text| !text.is_empty()));
            images.extend(more);
        }
    }
    if texts.is_empty() && images.is_empty() {
        texts.push(NOTHING_SAID);
    }
    texts.extend(Some(volatile).filter(|text| !text.is_empty()));
    content(json, &texts, &images);
}

fn content(json: &mut Json, texts: &[&str], images: &[&Image]) {
    json.open('{').member("role", "user").key("content");
    if images.is_empty() {
        let gaps = std::iter::repeat_n("\n\n", texts.len());
        let pieces: Vec<&str> = gaps.zip(texts).flat_map(|(gap, text)| [gap, text]).skip(1).collect();
        json.pieces(&pieces);
    } else {
        json.open('[');
        for image in images {
            json.open('{').member("type", "image_url").key("image_url").open('{').key("url");
            json.pieces(&["data:", &image.media_type, ";base64,", &image.data]).close('}').close('}');
        }
        for text in texts {
            json.open('{').member("type", "text").member("text", text).close('}');
        }
        json.close(']');
    }
    json.close('}');
}

#[cfg(test)]
#[path = "openai_chat_tests.rs"]
mod tests;
