//! What a session is opened with, made of settings, environment and flags.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::base::Millis;
use crate::cli::args::Start;
use crate::config::{self, Loaded, Settings, Trust};
use crate::engine::{KeepRule, KeepTrust, Limits, Models, Options, Which};
use crate::law::children::Bounds;
use crate::law::retry::Policy;
use crate::provider::Waits;
use crate::provider::table::Table;
use crate::start::models::TableModels;
use crate::store::{self, Dirs};
use crate::tool::table::OutputSettings;

/// A session that can be opened, and what was found wrong on the way.
pub struct Ready {
    /// For the engine.
    pub options: Options,
    /// The models, also for the doctor and the first-run screen.
    pub models: Arc<TableModels>,
    /// Variables that hold keys.
    pub secrets: Vec<String>,
    /// No model can be used yet.
    pub first_run: bool,
}

/// Why a start is refused: a usage error (exit code 2), in words.
#[derive(Debug, PartialEq, Eq)]
pub struct Misuse(pub String);

/// Puts the options of a session together.
pub fn ready(loaded: &Loaded, dirs: &Dirs, start: &Start) -> Result<Ready, Misuse> {
    let settings = &loaded.settings;
    let (table, faults) = table(loaded);
    let notices_of_settings = loaded.problems.iter().map(ToString::to_string);
    let mut notices: Vec<String> = notices_of_settings.chain(faults).collect();
    let secrets: Vec<String> = table.endpoints().iter().filter_map(|e| e.key_env.clone()).collect();
    let named = settings.model.iter().cloned().collect();
    let models = Arc::new(TableModels::new(table, named, dirs));
    let which = which(dirs, start)?;
    let first = settings.model.is_none() && start.model.is_none();
    let model = match (&start.model, &settings.model, &which) {
        (Some(model), _, _) => Some(model.clone()),
        // A session goes on with the model that it used last.
        (None, _, Which::Id(_) | Which::Newest) => None,
        (None, Some(model), Which::New) => Some(model.clone()),
        (None, None, Which::New) => models.chosen_last().or_else(|| models.first_usable()),
    };
    let first_run = first && which == Which::New && model.is_none();
    if let Some(model) = &model
        && let Err(why) = models.find(model)
    {
        if start.model.is_some() {
            return Err(Misuse(why));
        }
        notices.push(why);
    }
    let model = model.filter(|model| models.find(model).is_ok());
    let fallback = settings
        .model
        .clone()
        .filter(|m| models.find(m).is_ok())
        .or_else(|| models.chosen_last())
        .or_else(|| models.first_usable());
    let options = Options {
        dirs: dirs.clone(),
        cwd: Some(here(start)),
        held: None,
        which,
        model,
        fallback,
        models: models.clone(),
        mode: start.approve.unwrap_or(settings.mode),
        thinking: settings.thinking,
        rules: loaded.rules(),
        keep_rule: keep_rule(dirs),
        keep_trust: keep_trust(loaded, dirs),
        trusted: loaded.project.as_ref().map(|project| project.trusted),
        environment: crate::process::child_environment(std::env::vars_os(), &secrets),
        commands: loaded.commands.clone(),
        drafts: true,
        rehearsal: false,
        limits: limits(settings),
        notices,
        child: None,
    };
    Ok(Ready { options, models, secrets, first_run })
}

/// The directory that is meant, in full; empty where the current one is gone.
fn here(start: &Start) -> PathBuf {
    let current = std::env::current_dir().unwrap_or_default();
    start.cwd.as_ref().map_or_else(|| current.clone(), |dir| current.join(dir))
}

fn which(dirs: &Dirs, start: &Start) -> Result<Which, Misuse> {
    match &start.session {
        Some(text) => {
            store::find(dirs, text).map(Which::Id).map_err(|error| Misuse(crate::base::chain(&error)))
        }
        None if start.resume_newest => Ok(Which::Newest),
        None => Ok(Which::New),
    }
}

/// The provider table of the settings, the environment and the stored keys, and what is wrong with it.
pub fn table(loaded: &Loaded) -> (Table, Vec<String>) {
    let settings = &loaded.settings;
    let waits = Waits { idle: Duration::from_millis(settings.idle_timeout_ms), ..Waits::default() };
    let policy = Policy { tries_max: settings.retry_tries, ..Policy::default() };
    let env = |name: &str| std::env::var(name).ok();
    let (table, faults) = Table::new(&loaded.providers(), settings.models.clone(), &env, waits);
    (table.with_policy(policy), faults.iter().map(|fault| crate::base::chain(fault)).collect())
}

fn keep_rule(dirs: &Dirs) -> Arc<KeepRule> {
    let config_dir = dirs.config().to_path_buf();
    Arc::new(move |rule| config::rule::allow_always(&config_dir, rule))
}

fn keep_trust(loaded: &Loaded, dirs: &Dirs) -> Arc<KeepTrust> {
    let root: Option<PathBuf> = loaded.project.as_ref().map(|project| project.root.clone());
    let state = dirs.state().to_path_buf();
    Arc::new(move |trusted| match &root {
        Some(root) => Trust::load(&state)?.set(root, trusted),
        None => Err("This directory has no settings of its own: there is nothing to trust.".into()),
    })
}

fn limits(settings: &Settings) -> Limits {
    let output = &settings.output;
    let default = crate::law::output::DEFAULT_LIMITS;
    Limits {
        output: OutputSettings {
            off: !output.bounded,
            bytes: (output.bytes != default.bytes).then_some(output.bytes),
            lines: (output.lines != default.lines).then_some(output.lines),
            keep: output.keep,
            tools: Default::default(),
        },
        spool_max: output.spool_max,
        blocking_budget: Millis(settings.tool_blocking_budget_ms),
        processes_max: settings.jobs.processes_max,
        jobs_max: settings.jobs.limit,
        jobs_kept: settings.jobs.keep_on_disconnect,
        job_end_starts_turn: settings.jobs.end_starts_turn,
        agents: Bounds {
            at_once: settings.agents.at_once,
            depth: settings.agents.depth,
            stall: (settings.agents.stall_ms > 0).then_some(Millis(settings.agents.stall_ms)),
        },
        unheld_commands: settings.agents.unheld_commands,
        agent_end_starts_turn: settings.agents.end_starts_turn,
        reserve: if settings.compaction.auto { settings.compaction.reserve } else { 0 },
        keep_recent: settings.compaction.keep_recent_tokens,
    }
}
