//! What a session is opened with: plain values that `main` makes of settings and flags.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::api::access::Mode;
use crate::api::event::{CustomCommand, ModelInfo};
use crate::api::message::{Thinking, Usage};
use crate::api::provider::ModelCard;
use crate::base::{Millis, SessionId};
use crate::law::access::rule::Rules;
use crate::law::children::Bounds;
use crate::provider::Provider;
use crate::sandbox::hold::Held;
use crate::store::Dirs;
use crate::tool::table::OutputSettings;

/// Which session is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// A new one.
    New,
    /// This one.
    Id(SessionId),
    /// The newest of the directory; a new one where it has none.
    Newest,
}

/// A model that is in use.
#[derive(Clone)]
pub struct ModelInUse {
    /// `provider/name`.
    pub id: String,
    /// Its name at the provider.
    pub name: String,
    /// Who is asked.
    pub provider: Arc<dyn Provider>,
    /// What is known of it.
    pub card: ModelCard,
    /// Whether it is a script.
    pub scripted: bool,
}

impl ModelInUse {
    /// What these tokens cost in dollars, where the price is known.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        self.card.price.map(|price| crate::provider::catalog::cost(&price, usage))
    }
}

/// The models that a session may choose from.
pub trait Models: Send + Sync {
    /// The model of this name; else what is wrong and which names are near.
    fn find(&self, name: &str) -> Result<ModelInUse, String>;
    /// All that are known, for the picker.
    fn list(&self) -> Vec<ModelInfo>;
    /// The person chose this model: it is remembered for the next new session.
    fn chosen(&self, model: &str) {
        let _ = model;
    }
    /// Stores a key for a provider; where it stands now, or why not.
    fn store_key(&self, provider: &str, key: &str) -> Result<String, String>;
    /// A server that answers on this machine, with its models: they can be chosen from now on. One that is
    /// known by that name already stays as it is.
    fn found(&self, _endpoint: &crate::provider::table::Endpoint, _models: &[String]) {}
}

/// The numbers of a session.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The bounds of outputs.
    pub output: OutputSettings,
    /// Most bytes of a spool.
    pub spool_max: u64,
    /// How long a call waits for its command.
    pub blocking_budget: Millis,
    /// Most processes of one command at once; 0: any number.
    pub processes_max: u32,
    /// Most jobs that run at once.
    pub jobs_max: u32,
    /// Whether jobs go on when the program goes.
    pub jobs_kept: bool,
    /// Whether the end of a job begins a turn when none runs.
    pub job_end_starts_turn: bool,
    /// How many agents work at once, how deep they may have agents, and when one is given up.
    pub agents: Bounds,
    /// Whether an agent in a copy runs commands where they cannot be held in it.
    pub unheld_commands: bool,
    /// Whether the end of an agent begins a turn when none runs.
    pub agent_end_starts_turn: bool,
    /// Tokens of the window kept free for the answer.
    pub reserve: u64,
    /// Tokens of the newest entries that stay verbatim in a compaction.
    pub keep_recent: u64,
}

/// Writes a rule to the person's settings; why not.
pub type KeepRule = dyn Fn(&str) -> Result<(), String> + Send + Sync;
/// Trusts the directory, or stops to; why not.
pub type KeepTrust = dyn Fn(bool) -> Result<(), String> + Send + Sync;

/// What a session is opened with.
#[derive(Clone)]
pub struct Options {
    /// Where sessions are.
    pub dirs: Dirs,
    /// The directory it works in; none: the one that the session names.
    pub cwd: Option<PathBuf>,
    /// The hold of an agent that works in a copy of that directory; none: it works there itself.
    pub held: Option<Arc<Held>>,
    /// Which session.
    pub which: Which,
    /// The model; none: the one that the session used last, else none yet.
    pub model: Option<String>,
    /// The model where neither a flag nor the session names one that can be used.
    pub fallback: Option<String>,
    /// The models.
    pub models: Arc<dyn Models>,
    /// The mode.
    pub mode: Mode,
    /// How much to think.
    pub thinking: Thinking,
    /// Rules of the user and, in a trusted directory, of the project.
    pub rules: Rules,
    /// Writes an "always" rule to the user's settings; why not.
    pub keep_rule: Arc<KeepRule>,
    /// Trusts the directory, or stops to; why not.
    pub keep_trust: Arc<KeepTrust>,
    /// Whether the directory's own settings are read; none where it has none.
    pub trusted: Option<bool>,
    /// Environment of commands.
    pub environment: Vec<(OsString, OsString)>,
    /// Custom commands.
    pub commands: Vec<CustomCommand>,
    /// Whether drafts are kept and given back: there is a composer.
    pub drafts: bool,
    /// The rehearsal.
    pub rehearsal: bool,
    /// The numbers.
    pub limits: Limits,
    /// Things to say at once: problems of the settings.
    pub notices: Vec<String>,
    /// Whose session it is, when it is an agent's.
    pub child: Option<super::ChildOf>,
}

/// How commands are confined, in words.
pub(super) fn evidence(held: Option<&Held>) -> &'static str {
    held.map_or_else(|| crate::sandbox::Profile::default().evidence(), Held::evidence)
}
