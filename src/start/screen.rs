//! The screen, wired: sessions are opened and left until the person quits.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::api::access::Mode;
use crate::api::command::Command;
use crate::api::event::{Event, ModelInfo};
use crate::base::{Millis, SessionId, chain};
use crate::cli::args::Start;
use crate::cli::host::TerminalHost;
use crate::cli::out::say;
use crate::cli::rehearsal::{self, Scratch};
use crate::config::Loaded;
use crate::engine::{self, ModelInUse, Models, Options, Which};
use crate::link::Wake;
use crate::provider::scripted::Scripted;
use crate::provider::table::scripted;
use crate::store::Dirs;
use crate::ui::pane::conversation::Kept;
use crate::ui::widget::diff::Shape;
use crate::ui::{Exit, UiOptions, WakeEnd, wake_pair};

use super::models::in_use;
use super::{Ready, ready};

/// What the screen begins with.
pub struct Begin<'a> {
    /// Where everything is kept.
    pub dirs: &'a Dirs,
    /// Flags.
    pub start: Start,
    /// A message that is sent at once.
    pub prompt: Option<String>,
    /// Begin with the rehearsal.
    pub rehearsal: bool,
    /// Reads the settings as they hold in a directory.
    pub load: &'a dyn Fn(Option<&Path>) -> Loaded,
}

/// Runs the screen until it is left; the exit code.
pub fn run(begin: Begin<'_>) -> u8 {
    match Wired::new(begin).and_then(Wired::run) {
        Ok(code) => code,
        Err((code, why)) => {
            say(format_args!("windlass: {why}"));
            code
        }
    }
}

/// An exit code and why.
type Failed = (u8, String);

struct Wired<'a> {
    begin: Begin<'a>,
    runtime: tokio::runtime::Runtime,
    wake_end: WakeEnd,
    wake: Wake,
    /// Where one was in the sessions that were shown.
    places: BTreeMap<SessionId, Kept>,
}

/// A session to open, and how the screen is to show it.
struct Next {
    options: Options,
    ui: UiOptions,
    secrets: Vec<String>,
    scratch: Option<Scratch>,
}

impl<'a> Wired<'a> {
    fn new(begin: Begin<'a>) -> Result<Self, Failed> {
        let started = |error: std::io::Error| (1, format!("the program could not start: {error}"));
        let runtime = super::runtime().map_err(started)?;
        let (wake_end, wake) = wake_pair().map_err(started)?;
        Ok(Self { begin, runtime, wake_end, wake, places: BTreeMap::new() })
    }

    fn run(mut self) -> Result<u8, Failed> {
        // beside everything else: no frame waits for it
        self.runtime.spawn_blocking(rehearsal::sweep);
        let mut next = if self.begin.rehearsal { self.rehearsal()? } else { self.session(None)? };
        loop {
            let (exit, session) = self.show(next)?;
            next = match exit {
                Exit::Quit => {
                    self.say_how_to_resume(session);
                    return Ok(0);
                }
                Exit::Ended(signal) => {
                    self.say_how_to_resume(session);
                    return Ok(128u8.saturating_add(u8::try_from(signal).unwrap_or(0)));
                }
                Exit::Switch(id) => self.session(Some(id))?,
                Exit::New => {
                    self.begin.start.session = None;
                    self.begin.start.resume_newest = false;
                    self.session(None)?
                }
                Exit::Rehearsal => self.rehearsal()?,
            };
        }
    }

    /// A session by the flags, or this one.
    fn session(&mut self, id: Option<SessionId>) -> Result<Next, Failed> {
        let place = id.as_ref().and_then(|id| self.places.remove(id));
        if let Some(id) = id {
            self.begin.start.session = Some(id.as_str().to_owned());
            self.begin.start.resume_newest = false;
        }
        let loaded = (self.begin.load)(self.begin.start.cwd.as_deref());
        let Ready { mut options, secrets, first_run, .. } =
            ready(&loaded, self.begin.dirs, &self.begin.start).map_err(|misuse| (2, misuse.0))?;
        let mut ui = UiOptions { prompt: self.begin.prompt.take(), place, ..ui_options(&loaded, first_run) };
        ui.screen_reader |= self.begin.start.screen_reader;
        let asked = self.begin.start.model.is_some() || ui.prompt.is_some() || !loaded.origins.is_empty();
        ui.tour = options.which == Which::New && !asked && !ui.screen_reader && never_begun(self.begin.dirs);
        if options.trusted == Some(false) && !ui.ask_trust {
            options.notices.push(super::NOT_TRUSTED.into());
        }
        Ok(Next { options, ui, secrets, scratch: None })
    }

    /// The rehearsal: a scripted model, a scratch copy of a sample, and everything else as it is.
    fn rehearsal(&self) -> Result<Next, Failed> {
        let scratch = Scratch::make().map_err(|why| (1, why))?;
        let script = Scripted::parse(rehearsal::NAME, rehearsal::SCRIPT).map_err(|e| (1, chain(&e)))?;
        let loaded = (self.begin.load)(Some(scratch.project()));
        let dirs = Dirs::at(scratch.state_dir(), self.begin.dirs.config());
        let start = Start { cwd: Some(scratch.project().into()), ..Start::default() };
        let ready = ready(&loaded, &dirs, &start).map_err(|misuse| (2, misuse.0))?;
        let options = Options {
            dirs,
            model: Some(rehearsal::NAME.into()),
            models: Arc::new(OnlyScript(script)),
            mode: Mode::Ask,
            rules: Default::default(),
            keep_rule: Arc::new(|_| Err("rules are not kept in the rehearsal".into())),
            rehearsal: true,
            notices: Vec::new(),
            ..ready.options
        };
        let mut ui = UiOptions { draft: rehearsal::PROMPT.into(), ..ui_options(&loaded, false) };
        ui.screen_reader |= self.begin.start.screen_reader;
        Ok(Next { options, ui, secrets: ready.secrets, scratch: Some(scratch) })
    }

    /// Opens the session, shows it, and closes it when the screen is left. The session, if it is worth
    /// going on with.
    fn show(&mut self, next: Next) -> Result<(Exit, Option<SessionId>), Failed> {
        let state = next.options.dirs.state().to_path_buf();
        let usage = |error: engine::OpenError| match &error {
            engine::OpenError::Thread(_) => (1, chain(&error)),
            engine::OpenError::Store(_)
            | engine::OpenError::Directory(_)
            | engine::OpenError::Agent { .. }
            | engine::OpenError::Model(_) => (2, chain(&error)),
        };
        // the first frame waits for no journal
        let open = if next.options.which == Which::New { engine::open } else { engine::open_behind };
        let (tap, wake) = super::tapped(self.wake.clone());
        let dirs = next.options.dirs.clone();
        let config = dirs.config().to_path_buf();
        let mut opened = open(next.options, self.runtime.handle(), wake).map_err(usage)?;
        // the scratch sessions of the rehearsal are nowhere to be found by others
        let control =
            tap.filter(|_| next.scratch.is_none()).and_then(|tap| super::served(&opened.front, tap, dirs));
        let shared = opened.front.shared.clone();
        let at = shared.clone();
        let mut host = TerminalHost::new(state, move || at.read().status.cwd.clone()).without(next.secrets);
        host = host.keeping_in(&config);
        let waker = (&self.wake_end, self.wake.clone());
        let shown = crate::ui::run(&mut opened.front, waker, next.ui, &mut host);
        let leave_jobs = shown.as_ref().is_ok_and(|left| left.leave_jobs);
        if let Some(control) = &control {
            control.close_door();
        }
        let closed = close(opened, leave_jobs);
        drop(control);
        let record = shared.read();
        let worth = next.scratch.is_none() && !record.path.is_empty();
        let session = worth.then(|| record.status.session.clone());
        drop(record);
        if let Some(scratch) = next.scratch
            && let Err(why) = scratch.remove()
        {
            say(format_args!("windlass: {why}"));
        }
        closed.map_err(usage)?;
        if let (Some(id), Ok(left)) = (&session, &shown) {
            self.places.extend(left.place.clone().map(|place| (id.clone(), place)));
        }
        shown.map(|left| (left.exit, session)).map_err(|error| (1, chain(&error)))
    }

    fn say_how_to_resume(&self, session: Option<SessionId>) {
        if let Some(id) = session {
            // A terminal that is gone cannot be told.
            crate::cli::out::print(format!("To go on with this session: windlass resume {id}\n").as_bytes());
        }
    }
}

/// Closes a session, its jobs with it or not, and waits for its end; why it could not be opened, if so.
fn close(opened: engine::Opened, leave_jobs: bool) -> Result<(), engine::OpenError> {
    let engine::Opened { mut front, thread } = opened;
    if front.commands.blocking_send(Command::Close { leave_jobs }).is_ok() {
        while let Some(event) = front.events.blocking_recv() {
            if event == Event::Closed {
                break;
            }
        }
    }
    // A session's thread that panicked has said so itself.
    thread.join().unwrap_or(Ok(()))
}

/// Whether nothing was ever begun here; asked once, as a file in the state directory then says.
fn never_begun(dirs: &Dirs) -> bool {
    let kept = dirs.state().join(TOUR);
    if kept.exists() {
        return false;
    }
    let first = crate::store::list(dirs, None).is_empty();
    // where it cannot be kept, a person would be shown it at each start
    let made =
        crate::store::private::dir_all(dirs.state()).and_then(|()| crate::store::private::create(&kept));
    first && made.is_ok()
}

/// The file that says that the tour was offered.
const TOUR: &str = "tour";

pub(super) fn ui_options(loaded: &Loaded, first_run: bool) -> UiOptions {
    let settings = &loaded.settings;
    let environment = crate::ui::ENVIRONMENT
        .iter()
        .filter_map(|name| std::env::var(name).ok().map(|value| ((*name).to_owned(), value)))
        .collect();
    UiOptions {
        theme: if loaded.origins.contains_key("theme") { settings.theme.clone() } else { String::new() },
        themes: loaded
            .themes
            .iter()
            .map(|theme| (theme.file.display().to_string(), theme.text.clone()))
            .collect(),
        keymap: loaded.keymap.as_ref().map(|keymap| (keymap.file.display().to_string(), keymap.text.clone())),
        mouse: settings.mouse,
        notify: settings.notify,
        notify_after: Millis(settings.notify_after_ms),
        terminal_title: settings.terminal_title,
        reduced_motion: settings.reduced_motion,
        diff: Shape::named(&settings.diff),
        vi_keys: settings.vi_keys,
        no_color: false,
        depth: Default::default(),
        glyphs: settings.glyphs.clone(),
        ambiguous_wide: settings.ambiguous_wide,
        draft: String::new(),
        prompt: None,
        ask_trust: loaded.project.as_ref().is_some_and(|project| !project.trusted && !project.decided),
        place: None,
        first_run,
        tour: false,
        screen_reader: settings.screen_reader,
        alone: false,
        environment,
    }
}

/// The rehearsal's script and nothing else.
struct OnlyScript(Scripted);

impl Models for OnlyScript {
    fn find(&self, _: &str) -> Result<ModelInUse, String> {
        Ok(in_use(scripted(self.0.clone())))
    }
    fn list(&self) -> Vec<ModelInfo> {
        vec![ModelInfo {
            id: self.0.model().to_owned(),
            window: self.0.window(),
            price: None,
            usable: true,
            missing: None,
        }]
    }
    fn store_key(&self, _: &str, _: &str) -> Result<String, String> {
        Err("The rehearsal keeps no keys: leave it, and start windlass.".into())
    }
}
