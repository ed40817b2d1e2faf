//! `windlass exec`: wires a session to the front end that prints its events.

use std::io::Read;
use std::os::fd::AsFd;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::base::chain;
use crate::base::visible::Form;
use crate::cli::out::{errors, output, say};
use crate::engine;
use crate::front::{ExecOptions, exec};

use super::Ready;

/// Exit code of a usage error.
pub const EXIT_USAGE: u8 = 2;

/// Runs one prompt (`-`: standard input); the exit code.
pub fn run(mut ready: Ready, prompt: &str, json: bool) -> u8 {
    let prompt = match read_prompt(prompt) {
        Ok(prompt) => prompt,
        Err(why) => return refuse(&why),
    };
    if ready.options.model.is_none() && ready.options.fallback.is_none() {
        return refuse(
            "No model can be used: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, name a provider in \
             settings.json, or give --model. `windlass doctor` says more.",
        );
    }
    ready.options.drafts = false;
    if ready.options.trusted == Some(false) {
        ready.options.notices.push(super::NOT_TRUSTED.into());
    }
    let runtime = match super::runtime() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&format!("The runtime could not be started: {error}")),
    };
    let woken = Arc::new(Notify::new());
    let ringer = woken.clone();
    let (tap, wake) = super::tapped(Arc::new(move || ringer.notify_one()));
    let dirs = ready.options.dirs.clone();
    let opened = match engine::open(ready.options, runtime.handle(), wake) {
        Ok(opened) => opened,
        Err(error) => return refuse(&chain(&error)),
    };
    let control = tap.and_then(|tap| super::served(&opened.front, tap, dirs));
    let reader = std::io::stdout().as_fd().try_clone_to_owned().ok();
    let options = ExecOptions { prompt, json, reader, woken, control };
    let (mut out, mut errors) = (output(if json { Form::Json } else { Form::Text }), errors());
    let exit = runtime.block_on(exec(opened.front, options, &mut out, &mut errors));
    // A session's thread that panicked has said so itself.
    let _ = opened.thread.join();
    exit
}

fn read_prompt(prompt: &str) -> Result<String, String> {
    let mut text = prompt.to_owned();
    if prompt == "-" {
        text.clear();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| format!("The prompt could not be read from standard input: {error}"))?;
    }
    if text.trim().is_empty() {
        return Err("The prompt is empty: say what is to be done.".into());
    }
    Ok(text)
}

/// Says why nothing was run.
pub fn refuse(why: &str) -> u8 {
    say(format_args!("windlass: {why}"));
    EXIT_USAGE
}
