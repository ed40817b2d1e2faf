//! What a session is opened with, made of settings, environment and flags.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::api::access::Mode;
use crate::cli::args::Start;
use crate::start::models::TableModels;
use crate::config::{self, Loaded, Settings, Trust};
use crate::engine::{Limits, Models, Options, Which};
use crate::law::access::rule::{Rule, Rules, Scope};
use crate::provider::http::Waits;
use crate::provider::table::Table;
use crate::store::{self, Dirs};
use crate::tool::table::OutputSettings;

/// A session that can be opened, and what was found wrong on the way.
pub struct Ready {
    /// For the engine.
    pub options: Options,
    /// The models, also for the doctor and the first-run screen.
    pub models: Arc<TableModels>,
    /// No model can be used yet.
    pub first_run: bool,
}

/// Why a start is refused: a usage error (exit code 2), in words.
#[derive(Debug, PartialEq, Eq)]
pub struct Misuse(pub String);

/// Puts the options of a session together.
pub fn ready(loaded: &Loaded, dirs: &Dirs, start: &Start) -> Result<Ready, Misuse> {
    let settings = &loaded.settings;
    let (models, mut notices) = models(settings, dirs);
    notices.splice(0..0, loaded.problems.iter().map(ToString::to_string));
    let which = which(dirs, start)?;
    let first = settings.model.is_none() && start.model.is_none();
    let model = match (&start.model, &settings.model, &which) {
        (Some(model), _, _) => Some(model.clone()),
        // A session goes on with the model that it used last.
        (None, _, Which::Id(_) | Which::Newest) => None,
        (None, Some(model), Which::New) => Some(model.clone()),
        (None, None, Which::New) => models.first_usable(),
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
    let fallback = settings.model.clone().filter(|m| models.find(m).is_ok()).or_else(|| models.first_usable());
    let options = Options {
        dirs: dirs.clone(),
        cwd: Some(start.cwd.clone().map_or_else(std::env::current_dir, Ok).unwrap_or_default()),
        which,
        model,
        fallback,
        models: models.clone(),
        mode: start.approve.unwrap_or(settings.mode),
        thinking: settings.thinking,
        rules: rules(settings, &mut notices),
        keep_rule: keep_rule(dirs),
        keep_trust: keep_trust(loaded, dirs),
        trusted: loaded.project.as_ref().map(|project| project.trusted),
        environment: crate::process::environment::child_environment(
            std::env::vars_os(),
            &secret_names(settings),
        ),
        commands: loaded.commands.clone(),
        rehearsal: false,
        limits: limits(settings),
        notices,
    };
    Ok(Ready { options, models, first_run })
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
pub fn models(settings: &Settings, dirs: &Dirs) -> (Arc<TableModels>, Vec<String>) {
    let mut notices = Vec::new();
    let waits = Waits { idle: Duration::from_millis(settings.idle_timeout_ms), ..Waits::default() };
    let env = |name: &str| std::env::var(name).ok();
    let (mut table, faults) = Table::new(&settings.providers, settings.models.clone(), &env, waits);
    notices.extend(faults.iter().map(|fault| crate::base::chain(fault)));
    match config::keys::load(dirs.config()) {
        Ok(keys) => {
            for (provider, key) in keys {
                table.set_key_if_none(&provider, key.0.into());
            }
        }
        Err(problem) => notices.push(problem.to_string()),
    }
    (Arc::new(TableModels::new(table, dirs.config().to_path_buf())), notices)
}

fn rules(settings: &Settings, notices: &mut Vec<String>) -> Rules {
    let mut rules = Rules::default();
    for (scope, written) in [(Scope::User, &settings.user_rules), (Scope::Project, &settings.project_rules)] {
        let lists = [
            (&written.allow, &mut rules.allow),
            (&written.deny, &mut rules.deny),
            (&written.ask, &mut rules.ask),
        ];
        for (texts, list) in lists {
            for text in texts {
                match Rule::parse(text, scope) {
                    Ok(rule) => list.push(rule),
                    Err(why) => notices.push(format!("A rule is left out: {why}")),
                }
            }
        }
    }
    rules
}

fn keep_rule(dirs: &Dirs) -> Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync> {
    let config_dir = dirs.config().to_path_buf();
    Arc::new(move |rule| config::rule::allow_always(&config_dir, rule))
}

fn keep_trust(loaded: &Loaded, dirs: &Dirs) -> Arc<dyn Fn(bool) -> Result<(), String> + Send + Sync> {
    let root: Option<PathBuf> = loaded.project.as_ref().map(|project| project.root.clone());
    let state = dirs.state().to_path_buf();
    Arc::new(move |trusted| match &root {
        Some(root) => Trust::load(&state)?.set(root, trusted),
        None => Err("This directory has no settings of its own: there is nothing to trust.".into()),
    })
}

/// The variables whose values no command may see.
pub fn secret_names(settings: &Settings) -> Vec<String> {
    settings.providers.values().filter_map(|provider| provider.key_env.clone()).collect()
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
        reserve: if settings.compaction.auto { settings.compaction.reserve } else { 0 },
        keep_recent: settings.compaction.keep_recent_tokens,
    }
}

/// The mode that a rehearsal runs in: everything is asked.
pub const REHEARSAL_MODE: Mode = Mode::Ask;
