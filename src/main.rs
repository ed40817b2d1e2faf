//! Parses, wires, runs, and gives the exit code. The only file that names every layer.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use windlass::api::event::ServerInfo;
use windlass::base::chain;
use windlass::base::visible::Form;
use windlass::cli::args::{Arguments, HandbackAction, JobsAction, Merge, Start, Take, Verb, Whose};
use windlass::cli::{ask, config, doctor, export, out, sessions};
use windlass::config::{Loaded, Sources, load};
use windlass::front::merge::Files;
use windlass::front::{attach, hand_back, jobs};
use windlass::provider::probe::{Found, USUAL, probe};
use windlass::provider::table::Endpoint;
use windlass::start::ready::table;
use windlass::start::{exec, merge, ready, screen};
use windlass::store::{self, Dirs};
use windlass::ui::keymap::Keymap;
use windlass::ui::theme;

fn main() -> ExitCode {
    bear_full_files();
    // before all else: a keeper is this binary too, and must start fast
    windlass::process::keeper::main_if_keeper();
    windlass::process::close_to_others();
    let arguments = Arguments::parse();
    if let Some(Verb::Completions { shell }) = arguments.verb {
        return ExitCode::from(u8::from(!out::print(&Arguments::completions(shell))));
    }
    match Dirs::from_environment() {
        Ok(dirs) => ExitCode::from(run(&arguments, &dirs)),
        Err(error) => {
            out::say(format_args!("windlass: {}", chain(&error)));
            ExitCode::FAILURE
        }
    }
}

/// A write past the limit of a file's size is an error like that of a full disk, not the end of the program.
fn bear_full_files() {
    // if that cannot be had, the limit kills as it always did
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Default::default());
}

fn run(arguments: &Arguments, dirs: &Dirs) -> u8 {
    match &arguments.verb {
        Some(Verb::Sessions { json, cwd }) => sessions::run(dirs, cwd.as_deref(), *json),
        Some(Verb::Export { id, jsonl, .. }) => export::run(dirs, id, *jsonl),
        Some(Verb::Jobs { action }) => jobs(dirs, action),
        Some(Verb::Handback { action }) => handback(dirs, action),
        Some(Verb::Merge(Merge { base, local, remote, merged, path, screen_reader })) => {
            let [base, local, remote, merged] = [base, local, remote, merged].map(Clone::clone);
            let files = Files { base, local, remote, merged, path: path.clone() };
            merge::run(dirs, &files, *screen_reader, &|cwd| loaded_for(dirs, cwd))
        }
        Some(Verb::Doctor) => {
            let loaded = loaded(dirs);
            doctor::run(&loaded, dirs, &found(&loaded))
        }
        Some(Verb::Config { action }) => {
            let loaded = loaded(dirs);
            let (_, problems) = table(&loaded);
            config::run(*action, &loaded, dirs.config(), &[problems, screen_problems(&loaded)].concat())
        }
        Some(Verb::Exec { start, json, prompt }) => {
            let loaded = loaded_for(dirs, start.cwd.as_deref());
            let ready = ready(&loaded, dirs, start);
            if *json || ready.is_err() {
                // no notice on standard error will say it
                config::warn(&loaded);
            }
            match ready {
                Ok(ready) => exec::run(ready, prompt, *json),
                Err(misuse) => exec::refuse(&misuse.0),
            }
        }
        Some(Verb::Resume { id, cwd, model, approve, screen_reader }) => {
            let start = Start {
                cwd: cwd.clone(),
                model: model.clone(),
                approve: *approve,
                resume_newest: id.is_none(),
                session: id.clone(),
                screen_reader: *screen_reader,
            };
            shown(dirs, start, None, false)
        }
        // Completions were printed before anything was looked at.
        Some(Verb::Completions { .. }) => 0,
        None => {
            let start = Start { screen_reader: arguments.screen_reader, ..arguments.start.clone() };
            shown(dirs, start, arguments.prompt.clone(), arguments.rehearsal)
        }
    }
}

/// Does something with jobs.
fn jobs(dirs: &Dirs, action: &JobsAction) -> u8 {
    let places = store::socket::places;
    let of = |whose: &Whose| jobs::Of::one(dirs, whose.session.as_deref(), whose.cwd.as_deref(), places());
    let form = if matches!(action, JobsAction::List { json: true, .. }) { Form::Json } else { Form::Text };
    let raw = matches!(action, JobsAction::Tail { raw: true, .. });
    let mut out = if raw { Box::new(std::io::stdout().lock()) } else { out::output(form) };
    let mut told = jobs::Told { out: &mut out, beside: &mut out::errors() };
    let done = match action {
        JobsAction::List { json, all: true, .. } => {
            jobs::list(&jobs::Of::all(dirs, places()), *json, &mut told)
        }
        JobsAction::List { whose, json, all: false } => {
            of(whose).and_then(|of| jobs::list(&of, *json, &mut told))
        }
        JobsAction::Tail { job, whose, lines, follow, .. } => {
            of(whose).and_then(|of| jobs::tail(&of, job, *lines, *follow, &mut told))
        }
        JobsAction::Attach { job, whose } => of(whose).and_then(|of| attach::attach(&of, job, &mut told)),
        JobsAction::Kill { job, whose } => of(whose).and_then(|of| jobs::kill(&of, job, &mut told)),
    };
    done.unwrap_or_else(|refused| {
        out::say(format_args!("windlass: {}", refused.why));
        refused.code
    })
}

/// Does something with what came back from agents.
fn handback(dirs: &Dirs, action: &HandbackAction) -> u8 {
    let of = |whose: &Whose| hand_back::Of::one(dirs, whose.session.as_deref(), whose.cwd.as_deref());
    let form =
        if matches!(action, HandbackAction::List { json: true, .. }) { Form::Json } else { Form::Text };
    let mut out = out::output(form);
    let mut told = jobs::Told { out: &mut out, beside: &mut out::errors() };
    let done = match action {
        HandbackAction::List { whose, json } => {
            of(whose).and_then(|of| hand_back::list(&of, *json, &mut told))
        }
        HandbackAction::Show { child, path, whose } => {
            of(whose).and_then(|of| hand_back::show(&of, child, path.as_deref(), &mut told))
        }
        HandbackAction::Resolve { child, path, whose, take, file, tool } => {
            let from = resolution(*take, file.as_deref(), tool.as_deref());
            of(whose).and_then(|of| hand_back::resolve(&of, child, path, &from, &mut told))
        }
        HandbackAction::Retry { child, whose } => {
            of(whose).and_then(|of| hand_back::retry(&of, child, &mut told))
        }
        HandbackAction::Revert { child, path, whose } => {
            of(whose).and_then(|of| hand_back::revert(&of, child, path, &mut told))
        }
        HandbackAction::Drop { child, whose, force } => of(whose).and_then(|of| {
            let mut yes = ask::yes;
            let ask: Option<&mut dyn FnMut(&str) -> bool> = if ask::can() { Some(&mut yes) } else { None };
            hand_back::drop_child(&of, child, *force, ask, &mut told)
        }),
    };
    done.unwrap_or_else(|refused| {
        out::say(format_args!("windlass: {}", refused.why));
        refused.code
    })
}

/// Where a resolution is from: one of the three is given.
fn resolution(take: Option<Take>, file: Option<&Path>, tool: Option<&str>) -> hand_back::From {
    match (take, file, tool) {
        (_, Some(file), _) => hand_back::From::File(file.into()),
        (_, _, Some(tool)) => hand_back::From::Tool(tool.into()),
        (Some(Take::Child), _, _) => hand_back::From::Child,
        (Some(Take::Base), _, _) => hand_back::From::Base,
        (Some(Take::Both), _, _) => hand_back::From::Both,
        (Some(Take::Earlier), _, _) => hand_back::From::Earlier,
        (Some(Take::Parent) | None, _, _) => hand_back::From::Parent,
    }
}

/// Shows the screen.
fn shown(dirs: &Dirs, start: Start, prompt: Option<String>, rehearsal: bool) -> u8 {
    let load = |cwd: Option<&Path>| loaded_for(dirs, cwd);
    screen::run(screen::Begin { dirs, start, prompt, rehearsal, load: &load })
}

/// The settings as they hold in the current directory.
fn loaded(dirs: &Dirs) -> Loaded {
    loaded_for(dirs, None)
}

/// The settings as they hold in the directory, else in the current one.
fn loaded_for(dirs: &Dirs, cwd: Option<&Path>) -> Loaded {
    let sources = Sources {
        config_dir: dirs.config().into(),
        state_dir: dirs.state().into(),
        cwd: cwd.map(Into::into).or_else(|| std::env::current_dir().ok()),
        ..Sources::default()
    };
    load(&sources.with_process_environment())
}

/// What is wrong in the user's themes and keymap.
fn screen_problems(loaded: &Loaded) -> Vec<String> {
    let own: Vec<(String, String)> =
        loaded.themes.iter().map(|theme| (theme.file.display().to_string(), theme.text.clone())).collect();
    let (themes, problems) = theme::all(&own, Default::default());
    let mut problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if let Some(own) = &loaded.keymap {
        let wrong = Keymap::default().merge(&own.text, &own.file.display().to_string());
        problems.extend(wrong.iter().map(ToString::to_string));
    }
    let name = &loaded.settings.theme;
    if !themes.iter().any(|theme| theme.name == *name) {
        let names: Vec<&str> = themes.iter().map(|theme| theme.name.as_str()).collect();
        problems.push(format!("theme: there is no theme {name:?}; there are {}", names.join(", ")));
    }
    problems
}

/// What the doctor is told of models and the screen.
fn found(loaded: &Loaded) -> doctor::Found {
    let (table, mut problems) = table(loaded);
    problems.extend(screen_problems(loaded));
    let state = |endpoint: &Endpoint| doctor::ProviderState {
        name: endpoint.name.clone(),
        key_env: endpoint.key_env.clone(),
        has_key: endpoint.key.is_some(),
        usable: endpoint.usable(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (servers, group, hold) = match runtime {
        Ok(runtime) => runtime.block_on(async {
            (probe(&USUAL).await, group().await, windlass::sandbox::hold::available().await)
        }),
        Err(error) => (Vec::new(), Err(error.to_string()), Err(error.to_string())),
    };
    let server = |found: Found| ServerInfo {
        kind: found.endpoint.name,
        base_url: found.endpoint.base_url,
        models: found.models,
    };
    let model = loaded.settings.model.as_deref();
    doctor::Found {
        providers: table.endpoints().iter().map(state).collect(),
        servers: servers.into_iter().map(server).collect(),
        problems,
        group,
        hold,
        model_problem: model.and_then(|model| table.make(model).err()).map(|error| chain(&error)),
    }
}

/// The kind of cgroup that commands have here, or why they have none.
async fn group() -> Result<String, String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    windlass::process::try_out(place.path()).await
}
