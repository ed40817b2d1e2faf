//! Messages of a model, in a form that every wire can be translated to, with the provider's own
//! JSON kept beside it.
//!
//! A block that came from a provider keeps its raw JSON; it is sent back to the same wire byte for
//! byte. To another wire it is translated from `body`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Token counts of one answer, as the provider told them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to the prompt cache.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens read from the prompt cache.
    pub cache_read: u64,
    /// Input tokens written to the prompt cache.
    pub cache_write: u64,
    /// Output tokens spent on reasoning, where told.
    pub reasoning: u64,
}

impl Usage {
    /// All tokens that stand in the window after the answer.
    pub fn total(&self) -> u64 {
        self.input + self.cache_read + self.cache_write + self.output
    }
    /// Adds another answer's counts.
    pub fn add(&mut self, other: &Usage) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.reasoning += other.reasoning;
    }
}

impl crate::law::call::Sum for Usage {
    fn add(&mut self, more: &Self) {
        Usage::add(self, more);
    }
}

/// An image, encoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// The bytes, base64 (standard alphabet, padded). Empty when `blob` holds them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub data: String,
    /// The session's blob that holds the bytes (SHA-256, hex), once stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// Where it came from, for people: a file's path or `pasted`.
    #[serde(default)]
    pub name: String,
}

/// What a block of an answer means, independent of the wire.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Text (Markdown) for the person.
    Text(String),
    /// The model's thinking; empty when the provider redacted it.
    Thinking(String),
    /// A tool call. `input` is what the model wrote; it need not fit the tool's schema.
    Call {
        /// The provider's id of the call, sent back with its result.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments. A `Value::String` holds arguments that were no valid JSON, as they came.
        input: Value,
    },
    /// A block of a type that we do not know; only `raw` says what it is.
    Unknown,
}

/// One block of an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "BlockRepr", into = "BlockRepr")]
pub struct Block {
    /// What it means.
    pub body: Body,
    /// The provider's JSON of it, for the same wire.
    pub raw: Option<Box<RawValue>>,
}

impl Block {
    /// A block that did not come from a provider.
    pub fn plain(body: Body) -> Self {
        Self { body, raw: None }
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body && self.raw.as_ref().map(|r| r.get()) == other.raw.as_ref().map(|r| r.get())
    }
}

/// How a block stands in the journal: flat, because raw JSON survives only plain structs.
#[derive(Serialize, Deserialize)]
struct BlockRepr {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raw: Option<Box<RawValue>>,
}

impl From<Block> for BlockRepr {
    fn from(block: Block) -> Self {
        let mut repr =
            BlockRepr { kind: String::new(), text: None, id: None, name: None, input: None, raw: block.raw };
        match block.body {
            Body::Text(text) => {
                repr.kind = "text".into();
                repr.text = Some(text);
            }
            Body::Thinking(text) => {
                repr.kind = "thinking".into();
                repr.text = Some(text);
            }
            Body::Call { id, name, input } => {
                repr.kind = "call".into();
                repr.id = Some(id);
                repr.name = Some(name);
                repr.input = Some(input);
            }
            Body::Unknown => repr.kind = "unknown".into(),
        }
        repr
    }
}

impl TryFrom<BlockRepr> for Block {
    type Error = String;
    fn try_from(repr: BlockRepr) -> Result<Self, String> {
        let body = match repr.kind.as_str() {
            "text" => Body::Text(repr.text.unwrap_or_default()),
            "thinking" => Body::Thinking(repr.text.unwrap_or_default()),
            "call" => Body::Call {
                id: repr.id.unwrap_or_default(),
                name: repr.name.unwrap_or_default(),
                input: repr.input.unwrap_or(Value::Null),
            },
            _ => Body::Unknown,
        };
        Ok(Block { body, raw: repr.raw })
    }
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It had said all.
    End,
    /// It waits for the results of its calls.
    Calls,
    /// The output limit was reached.
    MaxTokens,
    /// The provider refused to go on.
    Refused,
    /// Another reason, in the provider's word.
    Other(String),
}

/// How an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The wire's end event came.
    Finished(Stop),
    /// The stream ended without its end event; what came is kept. The text says how it broke.
    Truncated(String),
    /// The person (or the program's end) cancelled it.
    Cancelled,
    /// The provider answered with an error after it had begun; its own words.
    Failed(String),
}

/// One answer of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The wire it came over: `anthropic`, `openai-responses`, `openai-chat`, `gemini`, `scripted`.
    pub wire: String,
    /// The model, as `provider/name`.
    pub model: String,
    /// Its blocks, in order.
    pub blocks: Vec<Block>,
    /// How it ended.
    pub finish: Finish,
    /// Token counts, when told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl Answer {
    /// All text blocks, joined by blank lines.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|b| match &b.body {
                Body::Text(text) => Some(text.as_str()),
                Body::Thinking(_) | Body::Call { .. } | Body::Unknown => None,
            })
            .collect();
        texts.join("\n\n")
    }
    /// Its calls, as (index of the block, provider's id, tool, input).
    pub fn calls(&self) -> impl Iterator<Item = (usize, &str, &str, &Value)> {
        self.blocks.iter().enumerate().filter_map(|(at, b)| match &b.body {
            Body::Call { id, name, input } => Some((at, id.as_str(), name.as_str(), input)),
            Body::Text(_) | Body::Thinking(_) | Body::Unknown => None,
        })
    }
}

/// The result of a call, as a provider is told it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The provider's id of the call.
    pub id: String,
    /// The tool's name (Gemini wants it).
    pub name: String,
    /// What the model reads.
    pub text: String,
    /// Images, with their data.
    pub images: Vec<Image>,
    /// Whether it is an error.
    pub error: bool,
}

/// One message of the conversation, as a provider is told it.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The person (or a notice of the program in the person's place).
    User {
        /// The text.
        text: String,
        /// Images, with their data.
        images: Vec<Image>,
    },
    /// An earlier answer.
    Answer(Answer),
    /// Results of the calls of the answer before, one for each, in the order of the calls.
    Results(Vec<ToolResult>),
}

/// A tool, as a provider is told it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// JSON schema of its input.
    pub schema: Value,
}

/// Whether a thinking model should think, and how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// The provider's default.
    #[default]
    Default,
    /// None.
    Off,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

/// One request to a model. Everything before `volatile` is stable from turn to turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The model's name at the provider (without the provider's name).
    pub model: String,
    /// The stable instructions.
    pub system: String,
    /// The tools, in a fixed order.
    pub tools: Vec<ToolSpec>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// What changes from turn to turn (date, git state, running jobs); it is put after the stable
    /// prefix, at the end of the newest user-side message. Empty: nothing.
    pub volatile: String,
    /// Most output tokens wanted; 0: the model's own limit.
    pub max_output: u64,
    /// How much to think.
    pub thinking: Thinking,
}
