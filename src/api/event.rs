//! What a session tells a front end besides the record: answers to queries, and things given back.

use std::path::PathBuf;

use crate::api::entry::Level;
use crate::api::message::Image;
use crate::base::{Millis, SessionId};

/// An event. Nothing that must not be lost travels here alone, but for what is given back.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A message that was not delivered: it belongs back into the composer.
    TakenBack {
        /// The text.
        text: String,
        /// Its images.
        images: Vec<Image>,
    },
    /// A word to the person that is not part of the conversation.
    Said {
        /// How much it matters.
        level: Level,
        /// What happened, to what, what to do next.
        text: String,
    },
    /// The answer to a query.
    Answered {
        /// The asker's number.
        number: u64,
        /// The answer.
        reply: Reply,
    },
    /// The owner loop has ended; nothing comes after.
    Closed,
}

/// Answers to queries, by the query's name.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Paths relative to the session's directory.
    Files(Vec<String>),
    /// Sessions, newest first.
    Sessions(Vec<SessionInfo>),
    /// Models.
    Models(Vec<ModelInfo>),
    /// A piece of an artifact.
    Artifact {
        /// The text, what is not UTF-8 replaced.
        text: String,
        /// The artifact's whole size in bytes.
        size: u64,
    },
    /// Parts of the window: name, tokens, and a word on each.
    Context(Vec<ContextPart>),
    /// Model servers on loopback.
    Servers(Vec<ServerInfo>),
    /// Custom commands.
    Commands(Vec<CustomCommand>),
    /// Earlier prompts.
    Prompts(Vec<String>),
    /// It was done; where.
    Done(String),
    /// It could not be answered; why and what to do.
    Failed(String),
}

/// A session, for the picker and `windlass sessions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// Its display name, else the first line of its first message.
    pub title: String,
    /// Its directory.
    pub cwd: PathBuf,
    /// When its journal was last written.
    pub changed: Millis,
    /// Size of its journal in bytes.
    pub bytes: u64,
    /// Who has it open, in words.
    pub holder: Option<String>,
}

/// A model, for the picker.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInfo {
    /// `provider/name`.
    pub id: String,
    /// Its window in tokens, where known.
    pub window: Option<u64>,
    /// Dollars for a million tokens, input and output, where known.
    pub price: Option<(f64, f64)>,
    /// Whether it can be used now (a key is there, or none is needed).
    pub usable: bool,
    /// What is missing, when it cannot.
    pub missing: Option<String>,
}

/// One part of what fills the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextPart {
    /// `instructions`, `AGENTS.md`, `tools`, `messages`, `results`, …
    pub name: String,
    /// Its size in tokens, estimated.
    pub tokens: u64,
    /// Where it comes from.
    pub note: String,
}

/// A model server that answers on loopback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// What kind: `Ollama`, `llama.cpp`, `LM Studio`, `vLLM`.
    pub kind: String,
    /// Its base URL.
    pub base_url: String,
    /// Its models.
    pub models: Vec<String>,
}

/// A command of `commands/*.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomCommand {
    /// Its name, without the slash.
    pub name: String,
    /// Its text; `$ARGUMENTS` stands for what is typed after the name.
    pub text: String,
}
