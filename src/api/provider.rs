//! Settings of providers and models, as plain data that `config` reads and `provider` uses.
//!
//! Not here: what the built-in providers are, and what is known of a model (`provider::table`,
//! `provider::catalog`). A key never shows in a `Debug` text.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    OpenaiResponses,
    /// OpenAI Chat Completions, and every server that speaks it.
    OpenaiChat,
    /// Gemini `streamGenerateContent`.
    Gemini,
}

impl Wire {
    /// Every wire.
    pub const ALL: [Wire; 4] = [Wire::Anthropic, Wire::OpenaiResponses, Wire::OpenaiChat, Wire::Gemini];
    /// Its name in settings and answers.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Anthropic => "anthropic",
            Wire::OpenaiResponses => "openai-responses",
            Wire::OpenaiChat => "openai-chat",
            Wire::Gemini => "gemini",
        }
    }
    /// The wire of that name.
    pub fn named(name: &str) -> Option<Wire> {
        Wire::ALL.into_iter().find(|wire| wire.name() == name)
    }
}

/// One provider of the settings (`"providers": {"NAME": {…}}`). A setting with a built-in's name changes
/// that built-in: what it leaves out stays.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct ProviderSetting {
    /// Its wire.
    pub wire: Option<Wire>,
    /// Where it is, without the wire's own path: `http://127.0.0.1:8080/v1`.
    pub base_url: Option<String>,
    /// The environment variable that holds its key.
    pub key_env: Option<String>,
    /// Its key, from a 0600 file; never written in the settings. The variable, when set, comes first.
    #[serde(skip)]
    pub key: Option<SecretString>,
    /// More headers for each request.
    pub headers: BTreeMap<String, String>,
}

impl std::fmt::Debug for ProviderSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderSetting")
            .field("wire", &self.wire)
            .field("base_url", &self.base_url)
            .field("key_env", &self.key_env)
            .field("key", &self.key)
            .field("headers", &self.headers.keys())
            .finish()
    }
}

/// What is known of a model, each part only when known. The settings' `"models": {"provider/name": {…}}`
/// lie over what the program knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelCard {
    /// Tokens of its window.
    pub window: Option<u64>,
    /// Most tokens of one answer.
    pub max_output: Option<u64>,
    /// US dollars for a million tokens.
    pub price: Option<Price>,
    /// Whether it reads images.
    pub images: Option<bool>,
    /// How it is told to think.
    pub thinking: Option<ThinkingStyle>,
}

/// Prices in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Price {
    /// Input that the cache did not serve.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Input written to the cache.
    pub cache_write: f64,
}

/// How a model is told to think. Each style has the levels low, medium and high; only some can be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingStyle {
    /// It does not think.
    None,
    /// By a budget of tokens; can be off.
    Budget,
    /// By an effort; can be off.
    Effort,
    /// By an effort; always thinks.
    Always,
}
