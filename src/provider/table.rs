//! The table of providers: the built-in ones, those of the settings, and those found on loopback; and how a
//! model's name finds its provider.
//!
//! Not here: reading settings, key files and the environment (`config`, which hands them in). A key never
//! shows in a `Debug` text.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::SecretString;
use tokio::sync::mpsc;

use super::http::{Exchange, Waits, is_loopback};
use super::scripted::{ScriptError, Scripted};
use super::tries::{random, run};
use super::wire::{Target, decoder, request};
use super::{Answering, Control, Provider, StreamEvent, catalog};
use crate::api::message::Ask;
use crate::api::provider::{ModelCard, ProviderSetting, Wire};
use crate::law::retry::Policy;

/// Name, wire, address, the variable of another address, the variable of the key.
type BuiltIn = (&'static str, Wire, &'static str, &'static str, &'static str);

const BUILT_IN: [BuiltIn; 6] = [
    ("anthropic", Wire::Anthropic, "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    ("openai", Wire::OpenaiResponses, "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    (
        "gemini",
        Wire::Gemini,
        "https://generativelanguage.googleapis.com",
        "GEMINI_BASE_URL",
        "GEMINI_API_KEY",
    ),
    ("deepseek", Wire::OpenaiChat, "https://api.deepseek.com/v1", "DEEPSEEK_BASE_URL", "DEEPSEEK_API_KEY"),
    (
        "openrouter",
        Wire::OpenaiChat,
        "https://openrouter.ai/api/v1",
        "OPENROUTER_BASE_URL",
        "OPENROUTER_API_KEY",
    ),
    (
        "qwen",
        Wire::OpenaiChat,
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_BASE_URL",
        "DASHSCOPE_API_KEY",
    ),
];

/// Most names that an error lists.
const NEAR_MAX: usize = 5;
/// Begins the name of a scripted model.
const SCRIPTED: &str = "scripted:";

/// Where a provider is and how it is spoken to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its name.
    pub name: String,
    /// Its wire.
    pub wire: Wire,
    /// Its address.
    pub base_url: String,
    /// Its key.
    pub key: Option<SecretString>,
    /// The variable that should hold its key.
    pub key_env: Option<String>,
    /// More headers; their values may be secret.
    pub headers: Headers,
}

/// Headers of the settings; `Debug` shows their names only.
#[derive(Clone, Default)]
pub struct Headers(pub Vec<(String, String)>);

impl std::fmt::Debug for Headers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Endpoint {
    /// Whether it can be asked: it has its key, needs none, or is on this machine.
    pub fn usable(&self) -> bool {
        self.key.is_some() || self.key_env.is_none() || is_loopback(&self.base_url)
    }
}

/// Why a model cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No provider of that name.
    #[error("there is no provider {provider:?}. Known: {known}. Add it to `providers` in settings.json.")]
    Provider {
        /// The name.
        provider: String,
        /// Those that there are.
        known: String,
    },
    /// No model of that name.
    #[error("there is no model {model:?}.{near} Name a model as provider/name.")]
    Model {
        /// The name.
        model: String,
        /// Near ones, as a sentence.
        near: String,
    },
    /// Several providers have a model of that name.
    #[error("{model:?} may be any of {all}. Name one as provider/name.")]
    Ambiguous {
        /// The name.
        model: String,
        /// The full names.
        all: String,
    },
    /// The key is missing.
    #[error("{provider} has no key. Set {key_env}, or store a key with /key {provider}.")]
    NoKey {
        /// The provider.
        provider: String,
        /// The variable.
        key_env: String,
    },
    /// A provider of the settings leaves out what it cannot do without.
    #[error("the provider {provider:?} of settings.json lacks `{lacks}`. {hint}")]
    Incomplete {
        /// The provider.
        provider: String,
        /// The key that is missing.
        lacks: &'static str,
        /// What to write.
        hint: &'static str,
    },
    /// The script cannot be used.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// A model, ready to be asked.
#[derive(Clone)]
pub struct Made {
    /// Its full name: `provider/name` or `scripted:FILE`.
    pub model: String,
    /// Its name at the provider, for `Ask::model`.
    pub name: String,
    /// What is known of it.
    pub card: ModelCard,
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// Its script, when it is a scripted model: for the label, and for children.
    pub script: Option<Scripted>,
}

/// The table.
pub struct Table {
    endpoints: Vec<Endpoint>,
    cards: BTreeMap<String, ModelCard>,
    waits: Waits,
    policy: Policy,
    scripts: Mutex<BTreeMap<String, Scripted>>,
}

impl Table {
    /// Builds the table. `env` reads the environment. A setting that cannot be used is told beside the table,
    /// which has all others.
    pub fn new(
        settings: &BTreeMap<String, ProviderSetting>,
        cards: BTreeMap<String, ModelCard>,
        env: &dyn Fn(&str) -> Option<String>,
        waits: Waits,
    ) -> (Self, Vec<ModelError>) {
        let env = |name: &str| env(name).map(|text| text.trim().to_string()).filter(|text| !text.is_empty());
        let mut endpoints: Vec<Endpoint> = BUILT_IN
            .iter()
            .map(|(name, wire, base, base_env, key_env)| Endpoint {
                name: name.to_string(),
                wire: *wire,
                base_url: env(base_env).unwrap_or_else(|| base.to_string()),
                key: env(key_env).map(SecretString::from),
                key_env: Some(key_env.to_string()),
                headers: Headers::default(),
            })
            .collect();
        let mut faults = Vec::new();
        for (name, setting) in settings {
            let old = endpoints.iter().position(|endpoint| endpoint.name == *name);
            match lay(name, setting, old.map(|at| &endpoints[at]), &env) {
                Ok(endpoint) => match old {
                    Some(at) => endpoints[at] = endpoint,
                    None => endpoints.push(endpoint),
                },
                Err(fault) => faults.push(fault),
            }
        }
        let table = Self { endpoints, cards, waits, policy: Policy::default(), scripts: Mutex::default() };
        (table, faults)
    }

    /// With another policy of tries.
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Every provider.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// Adds a provider (one found on loopback), or replaces the one of that name.
    pub fn add(&mut self, endpoint: Endpoint) {
        match self.endpoints.iter_mut().find(|old| old.name == endpoint.name) {
            Some(old) => *old = endpoint,
            None => self.endpoints.push(endpoint),
        }
    }

    /// Gives a provider its key; whether there is such a provider.
    pub fn set_key(&mut self, provider: &str, key: SecretString) -> bool {
        match self.endpoints.iter_mut().find(|endpoint| endpoint.name == provider) {
            Some(endpoint) => {
                endpoint.key = Some(key);
                true
            }
            None => false,
        }
    }

    /// The known models of the providers that can be asked, as full names, for the picker.
    pub fn models(&self) -> Vec<String> {
        let usable = self.endpoints.iter().filter(|endpoint| endpoint.usable());
        self.names(usable)
    }

    /// Known models of one provider by their full names, whether they can be used or not.
    pub fn models_of(&self, provider: &str) -> Vec<String> {
        self.names(self.endpoint(provider).into_iter())
    }

    /// What is known of a model by its full name.
    pub fn card(&self, model: &str) -> ModelCard {
        catalog::card(model, &self.cards)
    }

    /// The full name of a model: `provider/name`, or a name (or its beginning) that only one has.
    pub fn resolve(&self, model: &str) -> Result<String, ModelError> {
        if model.starts_with(SCRIPTED) {
            return Ok(model.to_string());
        }
        if let Some((provider, name)) = model.split_once('/')
            && !name.is_empty()
            && self.endpoint(provider).is_some()
        {
            return Ok(model.to_string());
        }
        let all = self.names(self.endpoints.iter());
        let usable = self.models();
        for names in [&usable, &all] {
            for fits in [equals, begins] {
                let found: Vec<&String> = names.iter().filter(|full| fits(full, model)).collect();
                match found.as_slice() {
                    [] => {}
                    [one] => return Ok(one.to_string()),
                    more => {
                        let all = more.iter().map(|full| full.as_str()).collect::<Vec<_>>().join(", ");
                        return Err(ModelError::Ambiguous { model: model.to_string(), all });
                    }
                }
            }
        }
        if let Some((provider, _)) = model.split_once('/') {
            let known: Vec<&str> = self.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
            return Err(ModelError::Provider { provider: provider.to_string(), known: known.join(", ") });
        }
        Err(ModelError::Model { model: model.to_string(), near: near(model, &all) })
    }

    /// Makes the model ready. A script is loaded once in a process: its place in it is shared.
    pub fn make(&self, model: &str) -> Result<Made, ModelError> {
        if let Some(file) = model.strip_prefix(SCRIPTED) {
            let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
            let script = match scripts.get(file) {
                Some(script) => script.clone(),
                None => {
                    let script = Scripted::load(Path::new(file))?;
                    scripts.insert(file.to_string(), script.clone());
                    script
                }
            };
            return Ok(scripted(script));
        }
        let model = self.resolve(model)?;
        let (provider, name) = model.split_once('/').unwrap_or((model.as_str(), ""));
        let Some(endpoint) = self.endpoint(provider) else {
            return Err(ModelError::Model { model, near: String::new() });
        };
        if !endpoint.usable() {
            let key_env = endpoint.key_env.clone().unwrap_or_default();
            return Err(ModelError::NoKey { provider: provider.to_string(), key_env });
        }
        let card = self.card(&model);
        let asked = Asked {
            endpoint: endpoint.clone(),
            model: model.clone(),
            card: card.clone(),
            waits: self.waits,
            policy: self.policy,
        };
        Ok(Made {
            name: name.to_string(),
            model: model.clone(),
            card,
            provider: Arc::new(asked),
            script: None,
        })
    }

    fn endpoint(&self, name: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.name == name)
    }

    fn names<'a>(&'a self, endpoints: impl Iterator<Item = &'a Endpoint>) -> Vec<String> {
        let mut all = Vec::new();
        for endpoint in endpoints {
            let own = self.cards.keys().filter(|full| {
                full.strip_prefix(endpoint.name.as_str()).is_some_and(|rest| rest.starts_with('/'))
            });
            let known = catalog::names(&endpoint.name).map(|name| format!("{}/{name}", endpoint.name));
            for full in own.cloned().chain(known) {
                if !all.contains(&full) {
                    all.push(full);
                }
            }
        }
        all
    }
}

/// A scripted model, ready (the rehearsal parses its own script).
pub fn scripted(script: Scripted) -> Made {
    Made {
        model: script.model().to_string(),
        name: script.model().to_string(),
        card: ModelCard { window: script.window(), ..ModelCard::default() },
        provider: Arc::new(script.clone()),
        script: Some(script),
    }
}

fn lay(
    name: &str,
    setting: &ProviderSetting,
    old: Option<&Endpoint>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Endpoint, ModelError> {
    let lacks = |lacks, hint| ModelError::Incomplete { provider: name.to_string(), lacks, hint };
    let wire = setting
        .wire
        .or(old.map(|old| old.wire))
        .ok_or_else(|| lacks("wire", "Write one of anthropic, openai-responses, openai-chat, gemini."))?;
    let base_url = setting
        .base_url
        .clone()
        .or(old.map(|old| old.base_url.clone()))
        .ok_or_else(|| lacks("base_url", "Write an address like http://127.0.0.1:8080/v1."))?;
    if reqwest::Url::parse(&base_url).is_err() {
        return Err(lacks("base_url", "Its value is no address: write one like http://127.0.0.1:8080/v1."));
    }
    let from_env = setting.key_env.as_deref().and_then(env).map(SecretString::from);
    let key = from_env.or_else(|| setting.key.clone()).or_else(|| old.and_then(|old| old.key.clone()));
    let key_env = setting.key_env.clone().or_else(|| old.and_then(|old| old.key_env.clone()));
    let headers = setting.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
    Ok(Endpoint { name: name.to_string(), wire, base_url, key, key_env, headers: Headers(headers.collect()) })
}

fn equals(full: &str, model: &str) -> bool {
    full == model || full.split_once('/').is_some_and(|(_, name)| name == model)
}

fn begins(full: &str, model: &str) -> bool {
    full.split_once('/').is_some_and(|(_, name)| name.starts_with(model))
}

/// Names like the one asked for, as a sentence.
fn near(model: &str, all: &[String]) -> String {
    let model = model.to_ascii_lowercase();
    let mut ranked: Vec<(usize, &String)> = all
        .iter()
        .filter_map(|full| {
            let name = full.split_once('/').map_or(full.as_str(), |(_, name)| name);
            let far = if name.contains(&model) { 0 } else { distance(name, &model) };
            (far * 2 <= model.len().max(4)).then_some((far, full))
        })
        .collect();
    ranked.sort();
    ranked.truncate(NEAR_MAX);
    if ranked.is_empty() {
        return String::new();
    }
    format!(" Near: {}.", ranked.iter().map(|(_, full)| full.as_str()).collect::<Vec<_>>().join(", "))
}

/// How many letters must change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<u8> = b.bytes().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().take(64).enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let swap = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = swap.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// A model behind a wire.
struct Asked {
    endpoint: Endpoint,
    model: String,
    card: ModelCard,
    waits: Waits,
    policy: Policy,
}

impl Provider for Asked {
    fn stream(&self, ask: Ask, control: Control, events: mpsc::Sender<StreamEvent>) -> Answering {
        let endpoint = self.endpoint.clone();
        let (model, card, waits, policy) = (self.model.clone(), self.card.clone(), self.waits, self.policy);
        Box::pin(async move {
            let target = Target { provider: &endpoint.name, base_url: &endpoint.base_url, card: &card };
            let request = request(endpoint.wire, &ask, &target);
            drop(ask);
            let seed = random();
            let exchange = Exchange {
                wire: endpoint.wire,
                provider: endpoint.name,
                model,
                request,
                headers: endpoint.headers.0,
                key: endpoint.key,
                waits,
                seed,
                decoder: decoder(endpoint.wire, seed),
            };
            run(exchange, policy, control, events).await;
        })
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
