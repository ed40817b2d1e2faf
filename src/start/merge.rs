//! One merge for git or jj: the conflict viewer alone, over plain files.
//!
//! The exit code is what they go by: 0 when the result was written, 1 when it was left without.

use std::path::Path;

use crate::base::chain;
use crate::cli::host::TerminalHost;
use crate::cli::out::say;
use crate::config::Loaded;
use crate::front::merge::{self, Files};
use crate::store::Dirs;
use crate::ui::{Exit, UiError, UiOptions, wake_pair};

use super::screen::ui_options;

/// Runs the viewer until it is left; the exit code.
pub fn run(dirs: &Dirs, files: &Files, spoken: bool, load: &dyn Fn(Option<&Path>) -> Loaded) -> u8 {
    shown(dirs, files, spoken, load).unwrap_or_else(|(code, why)| {
        say(format_args!("windlass: {why}"));
        code
    })
}

fn shown(
    dirs: &Dirs,
    files: &Files,
    spoken: bool,
    load: &dyn Fn(Option<&Path>) -> Loaded,
) -> Result<u8, (u8, String)> {
    let loaded = load(None);
    let (wake_end, wake) =
        wake_pair().map_err(|error| (1, format!("the program could not start: {error}")))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut opened = merge::open(files, path, wake.clone()).map_err(|why| (2, why))?;
    let mut ui = UiOptions { alone: true, ask_trust: false, ..ui_options(&loaded, false) };
    ui.screen_reader |= spoken;
    let cwd = std::env::current_dir().unwrap_or_default();
    let (models, _) = super::ready::table(&loaded);
    let secrets = models.endpoints().iter().filter_map(|one| one.key_env.clone()).collect();
    let mut host = TerminalHost::new(dirs.state(), move || cwd.clone()).without(secrets);
    let shown = crate::ui::run(&mut opened.front, (&wake_end, wake), ui, &mut host);
    let written = opened.close();
    match shown {
        Err(UiError::NoTerminal(_)) => Err((
            2,
            "a merge is decided on the screen, and there is no terminal: run it in one, or without a screen \
             take a whole side, as with `git checkout --ours` or `--theirs`"
                .into(),
        )),
        Err(error) => Err((1, chain(&error))),
        Ok(left) => {
            let code = match left.exit {
                Exit::Ended(signal) => 128u8.saturating_add(u8::try_from(signal).unwrap_or(0)),
                Exit::Quit | Exit::Switch(_) | Exit::New | Exit::Rehearsal => u8::from(!written),
            };
            if code != 0 {
                let merged = files.shown().display();
                let stands = if written { "is written" } else { "was not written and is as it was" };
                say(format_args!("windlass: {merged} {stands}; ended with exit code {code}"));
            }
            Ok(code)
        }
    }
}
