//! What the four wires have in common: what they are asked for, and what they give back.
//!
//! Everything here and in the wires is pure: no network, no clock, no key.

use serde_json::value::RawValue;

use super::live::Live;
use crate::api::message::{Answer, Ask, Block, Body, Message, Stop, ToolResult, Usage};
use crate::api::provider::{ModelCard, ThinkingStyle, Wire};

/// Who is asked, as a wire needs to know it.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    /// The provider's name.
    pub provider: &'a str,
    /// Where it is.
    pub base_url: &'a str,
    /// What is known of the model.
    pub card: &'a ModelCard,
}

/// A request, without its key.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpRequest {
    /// The whole address.
    pub url: String,
    /// Headers that the wire wants.
    pub headers: Vec<(&'static str, String)>,
    /// The body, JSON.
    pub body: String,
}

/// What an event did.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// More is to come.
    More,
    /// It was the end event.
    Finished,
    /// It was an error: the status that it stands for, if any, and the provider's words.
    Failed {
        /// The status.
        status: Option<u16>,
        /// The words.
        words: String,
    },
    /// It could not be understood at all.
    Garbled,
}

/// What came, when it is over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Came {
    /// The blocks, those that were cut off last and without raw JSON.
    pub blocks: Vec<Block>,
    /// Why the model stopped, if told.
    pub stop: Option<Stop>,
    /// Token counts, if told.
    pub usage: Option<Usage>,
}

/// Decodes the events of one answer.
pub trait Decoder: Send + Sync {
    /// Takes in an event.
    fn event(&mut self, name: &str, data: &str, live: &mut Live) -> Step;
    /// The stream ended without an end event: whether all had come all the same.
    fn complete(&self) -> bool;
    /// Gives what came, cut off or not.
    fn take(&mut self) -> Came;
}

/// Writes the request of a wire.
pub fn request(wire: Wire, ask: &Ask, target: &Target<'_>) -> HttpRequest {
    match wire {
        Wire::Anthropic => super::anthropic::request(ask, target),
        Wire::OpenaiResponses => super::openai_responses::request(ask, target),
        Wire::OpenaiChat => super::openai_chat::request(ask, target),
        Wire::Gemini => super::gemini::request(ask, target),
    }
}

/// A decoder of a wire. `seed` makes the ids that a server leaves out unique.
pub fn decoder(wire: Wire, seed: u64) -> Box<dyn Decoder> {
    match wire {
        Wire::Anthropic => Box::new(super::anthropic::AnthropicDecoder::default()),
        Wire::OpenaiResponses => Box::new(super::openai_responses::ResponsesDecoder::default()),
        Wire::OpenaiChat => Box::new(super::openai_chat::ChatDecoder::new(seed)),
        Wire::Gemini => Box::new(super::gemini::GeminiDecoder::new(seed)),
    }
}

/// The conversation as a server accepts it.
pub(super) enum Turn<'a> {
    /// User-side content: messages of the person that follow each other, and the results before them.
    User {
        /// Results, one for each call of the answer before.
        results: Vec<Told<'a>>,
        /// What the person said.
        said: Vec<&'a Message>,
    },
    /// An answer, with at least one block.
    Answer(&'a Answer),
}

/// A result as told.
pub(super) struct Told<'a> {
    /// The call's id.
    pub(super) id: &'a str,
    /// The tool.
    pub(super) name: &'a str,
    /// The result; `None`: there was none.
    pub(super) result: Option<&'a ToolResult>,
}

impl Told<'_> {
    /// The text for the model.
    pub(super) fn text(&self) -> &str {
        self.result.map_or("The call was interrupted: it has no result.", |result| result.text.as_str())
    }
    /// Whether it is an error.
    pub(super) fn error(&self) -> bool {
        self.result.is_none_or(|result| result.error)
    }
}

/// Orders the conversation: it begins and ends on the user side and alternates, every call has exactly one result, a result
/// without its call is left out, and so is an answer of which nothing would be sent.
pub(super) fn turns<'a>(ask: &'a Ask, sent: impl Fn(&Answer, &Block) -> bool) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for message in &ask.messages {
        match message {
            Message::Answer(answer) => {
                if !answer.blocks.iter().any(|block| sent(answer, block)) {
                    continue;
                }
                user_side(&mut turns);
                turns.push(Turn::Answer(answer));
                let results: Vec<Told<'a>> =
                    answer.calls().map(|(_, id, name, _)| Told { id, name, result: None }).collect();
                if !results.is_empty() {
                    turns.push(Turn::User { results, said: Vec::new() });
                }
            }
            Message::Results(all) => {
                if let Some(Turn::User { results, .. }) = turns.last_mut() {
                    for result in all {
                        let open = results.iter_mut().find(|t| t.result.is_none() && t.id == result.id);
                        if let Some(told) = open {
                            told.result = Some(result);
                        }
                    }
                }
            }
            Message::User { text, images } if text.trim().is_empty() && images.is_empty() => {}
            Message::User { .. } => match turns.last_mut() {
                Some(Turn::User { said, .. }) => said.push(message),
                _ => turns.push(Turn::User { results: Vec::new(), said: vec![message] }),
            },
        }
    }
    user_side(&mut turns);
    turns
}

/// Makes sure that the user side spoke last.
fn user_side(turns: &mut Vec<Turn<'_>>) {
    if !matches!(turns.last(), Some(Turn::User { .. })) {
        turns.push(Turn::User { results: Vec::new(), said: Vec::new() });
    }
}

/// What stands where the person said nothing and the wire wants something.
pub(super) const NOTHING_SAID: &str = "Continue.";

/// The raw JSON of a block, if this wire may send it as it is. What a provider signed or encrypted goes
/// back to that provider only.
pub(super) fn verbatim<'a>(
    answer: &Answer,
    block: &'a Block,
    wire: Wire,
    target: &Target<'_>,
) -> Option<&'a RawValue> {
    if answer.wire != wire.name() {
        return None;
    }
    let same_provider = answer.model.split('/').next() == Some(target.provider);
    // An item of Responses is refused without the reasoning that led to it, so they go together or not at all.
    let whole = same_provider && target.card.thinking != Some(ThinkingStyle::None);
    if wire == Wire::OpenaiResponses && !whole {
        return None;
    }
    match block.body {
        Body::Text(_) | Body::Call { .. } => block.raw.as_deref(),
        Body::Thinking(_) | Body::Unknown if same_provider => block.raw.as_deref(),
        Body::Thinking(_) | Body::Unknown => None,
    }
}

/// A call's id that every server accepts: letters, digits, `_`, `-`, at most 40 of them. Ids of a wire's own
/// pass unchanged; ids that must be changed stay distinct.
pub(super) fn call_id(id: &str) -> std::borrow::Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.is_empty() && id.len() <= 40 && id.chars().all(fits) {
        return id.into();
    }
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in id.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let kept: String = id.chars().filter(|c| fits(*c)).take(20).collect();
    format!("{kept}_{hash:016x}").into()
}

/// Joins a base address and a path; `version` is put between when the base has no path of its own.
pub(super) fn join(base: &str, version: &str, path: &str) -> String {
    let base = base.trim_end_matches('/');
    let after_scheme = base.split_once("://").map_or(base, |(_, rest)| rest);
    let version = if after_scheme.contains('/') { "" } else { version };
    format!("{base}{version}{path}")
}

#[cfg(test)]
#[path = "wire_tests.rs"]
pub(super) mod tests;
