//! Parses, wires, runs, and gives the exit code. The only file that names every layer.

use std::process::ExitCode;

use clap::Parser;

use windlass::base::chain;
use windlass::cli::args::{Arguments, Verb};
use windlass::cli::{config, doctor, export, out, sessions};
use windlass::config::{Loaded, Sources, load};
use windlass::store::Dirs;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(Verb::Completions { shell }) = arguments.verb {
        return ExitCode::from(u8::from(!out::print(&Arguments::completions(shell))));
    }
    match Dirs::from_environment() {
        Ok(dirs) => ExitCode::from(run(&arguments, &dirs)),
        Err(error) => {
            eprintln!("windlass: {}", chain(&error));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments, dirs: &Dirs) -> u8 {
    match &arguments.verb {
        Some(Verb::Sessions { json, cwd }) => sessions::run(dirs, cwd.as_deref(), *json),
        Some(Verb::Export { id, jsonl, .. }) => export::run(dirs, id, *jsonl),
        Some(Verb::Doctor) => doctor::run(&loaded(dirs), dirs, &[], &[]),
        Some(Verb::Config { action }) => config::run(*action, &loaded(dirs), dirs.config(), &[]),
        Some(Verb::Exec { .. } | Verb::Resume { .. } | Verb::Completions { .. }) | None => {
            eprintln!("windlass: this build has no engine");
            1
        }
    }
}

/// The settings as they hold in the current directory.
fn loaded(dirs: &Dirs) -> Loaded {
    let sources = Sources {
        config_dir: dirs.config().into(),
        state_dir: dirs.state().into(),
        cwd: std::env::current_dir().ok(),
        ..Sources::default()
    };
    load(&sources.with_process_environment())
}
