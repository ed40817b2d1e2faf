//! The screen as a screen reader wants it: plain lines that are only ever added at the end. No boxes, no motion,
//! nothing drawn again, nothing said twice.
//!
//! The terminal stays in its own line mode: what is typed is echoed and edited by it, and the reader says it as it
//! says every line. The model, its update and its effects are those of the full screen; `voice` says what is new in
//! the record, `asks` what waits for the person, by numbers; `tree` and `merge` take what is typed for the tree and for
//! conflicts. Deliberately not here: the terminals of jobs, which are pictures; a line can be typed into one.

mod asks;
mod merge;
mod prose;
mod tree;
mod voice;

use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use asks::Asks;
use voice::Voice;

use crate::api::command::Command;
use crate::base::Millis;
use crate::link::{Front, Host, Leave, Next, Wake};
use crate::ui::begin::begin;
use crate::ui::clipboard::{Between, between, copy};
use crate::ui::glyphs::{self, Set};
use crate::ui::model::{Model, UiOptions};
use crate::ui::msg::{Effect, Exit, Left, Msg};
use crate::ui::overlay::Overlay;
use crate::ui::overlay::list::Goal;
use crate::ui::pane::{PaneId, composer, conflict};
use crate::ui::run::Clock;
use crate::ui::signals::{Signal, Signals};
use crate::ui::terminal::{Got, Terminal, UiError};
use crate::ui::update::update;
use crate::ui::wake::WakeEnd;
use crate::ui::{act, action, conflict_update, jobs_update};

/// Lines that come so soon after each other are one paste.
const PASTE_MS: u64 = 40;
/// Longest line that is taken.
const LINE_MAX: usize = 1 << 20;

/// Runs it until it is left.
pub fn run(
    front: &mut Front,
    wake: (&WakeEnd, Wake),
    options: &UiOptions,
    host: &mut dyn Host,
) -> Result<Left, UiError> {
    let mut lines = Lines::start(front, wake, options, host)?;
    lines.begin(options);
    loop {
        lines.say();
        if let Some(exit) = lines.leaving.take() {
            let draft = lines.model.composer.draft.whole().0;
            let _ = lines.front.send(Command::Draft(draft));
            if let Some(command) = conflict_update::keeps(&mut lines.model) {
                let _ = lines.front.send(command);
            }
            lines.print("");
            return Ok(Left { exit, leave_jobs: lines.leave_jobs, place: None });
        }
        lines.wait();
    }
}

struct Lines<'a> {
    front: &'a mut Front,
    host: &'a mut dyn Host,
    wake: &'a WakeEnd,
    terminal: Terminal,
    signals: Signals,
    model: Model,
    clock: Clock,
    between: Between,
    voice: Voice,
    asks: Asks,
    /// Bytes of a line that has not ended, and lines that wait whether more of the same paste come.
    half: Vec<u8>,
    typed: Vec<String>,
    typed_at: Millis,
    /// Whether something was said since a line was typed.
    spoke: bool,
    /// Whether the mark of the prompt is the last thing on the terminal.
    prompts: bool,
    /// What was not sent and came back, as it was told.
    draft: String,
    set: Set,
    leaving: Option<Exit>,
    leave_jobs: bool,
    gone: bool,
}

impl<'a> Lines<'a> {
    fn start(
        front: &'a mut Front,
        (wake, waker): (&'a WakeEnd, Wake),
        options: &UiOptions,
        host: &'a mut dyn Host,
    ) -> Result<Self, UiError> {
        let env = |name: &str| options.environment.get(name).cloned();
        let signals = Signals::listen().map_err(UiError::Signals)?;
        let terminal = Terminal::plain()?;
        let clock = Clock::start();
        let quiet = UiOptions { reduced_motion: true, no_color: true, ..options.clone() };
        let (model, problems) = Model::new(&quiet, &front.shared.read(), waker);
        let set = Set { glyphs: glyphs::by_environment(&options.glyphs, &env), wide: false };
        let mut lines = Self {
            front,
            host,
            wake,
            terminal,
            signals,
            model,
            clock,
            between: between(&env),
            voice: Voice::default(),
            asks: Asks::default(),
            half: Vec::new(),
            typed: Vec::new(),
            typed_at: Millis(0),
            spoke: false,
            prompts: false,
            draft: String::new(),
            set,
            leaving: None,
            leave_jobs: false,
            gone: false,
        };
        for problem in problems {
            lines.print(&problem.to_string());
        }
        Ok(lines)
    }

    fn begin(&mut self, options: &UiOptions) {
        if options.alone {
            return self.tell(Msg::Conflict(conflict::Msg::Enter));
        }
        let status = self.model.status.clone();
        let model = if status.model.is_empty() { "no model" } else { &status.model };
        let told = format!(
            "Windlass in {}, {model}, mode {}, commands {}. /help says what can be typed.",
            status.cwd.display(),
            status.mode.word(),
            status.profile
        );
        self.print(&told);
        let effects = begin(&mut self.model, options, self.clock.now());
        self.carry_out(effects);
    }

    /// Adds a line at the end.
    fn print(&mut self, line: &str) {
        self.spoke = true;
        let mut out = String::with_capacity(line.len() + 2);
        if std::mem::take(&mut self.prompts) {
            out.push('\n');
        }
        for cluster in
            crate::ui::widget::text::clusters(line).filter(|cluster| !cluster.starts_with(char::is_control))
        {
            out.push_str(glyphs::shown_in(cluster, self.set));
        }
        out.push('\n');
        self.terminal.write(out.as_bytes());
    }

    /// Says all that is new.
    fn say(&mut self) {
        let mut lines = {
            let record = self.front.shared.read();
            self.model.sync(&record);
            self.voice.hear(&record)
        };
        let now = self.clock.now();
        lines.extend(self.model.toast.take().map(|toast| toast.text));
        let draft = self.model.composer.draft.whole().0;
        if draft != self.draft && !draft.is_empty() {
            lines.push(format!("Your draft: {draft}"));
            lines.push("An empty line sends it, what you type takes its place.".to_owned());
        }
        self.draft = draft;
        if let Some(holder) = self.model.status.read_only.clone().filter(|_| lines.is_empty() && !self.gone) {
            lines.push(format!("The session is open in {holder}: it can be read here only."));
            self.gone = true;
        }
        lines.extend(self.asks.hear(&mut self.model, now));
        for line in lines {
            for part in line.split('\n') {
                self.print(part);
            }
        }
        self.hide_what_is_secret();
        let waits = !self.model.status.phase.busy() || !self.model.approvals.is_empty();
        if waits && self.spoke && !self.prompts && self.leaving.is_none() {
            self.terminal.write(b"> ");
            self.prompts = true;
        }
    }

    /// While a key is typed the terminal does not echo.
    fn hide_what_is_secret(&mut self) {
        let secret = matches!(self.model.overlays.last(), Some(Overlay::Line(line)) if line.secret());
        self.terminal.echo(!secret);
    }

    fn wait(&mut self) {
        let now = self.clock.now();
        // what goes on in the next line waits for that, not for the clock
        let waits = !self.typed.is_empty() && !self.goes_on();
        let ms = (self.typed_at.0 + PASTE_MS).saturating_sub(now.0).min(PASTE_MS);
        // what was chosen of a conflict is kept, and what others change is seen
        let due = self.model.conflict.due().map(|at| at.since(now).0.clamp(1, 60_000));
        let ms = match due {
            Some(due) if waits => due.min(ms),
            Some(due) => due,
            None => ms,
        };
        let timeout =
            (waits || due.is_some()).then_some(Timespec { tv_sec: 0, tv_nsec: (ms * 1_000_000) as i64 });
        let mut wanted = PollFlags::IN;
        if !self.terminal.flush() {
            wanted |= PollFlags::OUT;
        }
        let mut fds = [
            PollFd::new(&self.terminal, wanted),
            PollFd::from_borrowed_fd(self.signals.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.wake.as_fd(), PollFlags::IN),
        ];
        let _ = poll(&mut fds, timeout.as_ref());
        let (tty, signalled, woken) =
            (fds[0].revents(), !fds[1].revents().is_empty(), !fds[2].revents().is_empty());
        if woken {
            self.wake.take();
            self.drain();
        }
        if signalled {
            self.on_signals();
        }
        if tty.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            self.read(tty);
        }
        if !self.typed.is_empty() && !self.goes_on() && self.clock.now().since(self.typed_at).0 >= PASTE_MS {
            self.take();
        }
    }

    fn read(&mut self, tty: PollFlags) {
        let mut bytes = [0u8; 4096];
        loop {
            match self.terminal.read(&mut bytes) {
                Got::Bytes(n) => {
                    self.half.extend_from_slice(&bytes[..n]);
                    while let Some(end) = self.half.iter().position(|byte| *byte == b'\n') {
                        let line: Vec<u8> = self.half.drain(..=end).collect();
                        self.typed
                            .push(String::from_utf8_lossy(&line[..end]).trim_end_matches('\r').to_owned());
                        self.typed_at = self.clock.now();
                        // the terminal has ended the line itself
                        self.prompts = false;
                    }
                    self.half.truncate(LINE_MAX);
                }
                Got::Nothing if tty.contains(PollFlags::HUP) => return self.leaving = Some(Exit::Ended(1)),
                Got::Nothing => return,
                Got::Gone if tty.intersects(PollFlags::HUP | PollFlags::ERR) => {
                    return self.leaving = Some(Exit::Ended(1));
                }
                // the end of the input: Control-D on an empty line
                Got::Gone => {
                    let mut out = Vec::new();
                    jobs_update::leave(&mut self.model, Goal::Exit(Exit::Quit), &mut out);
                    return self.carry_out(out);
                }
            }
        }
    }

    fn asked(&self) -> bool {
        let looks = self.model.conflict.shown() || self.model.focus == PaneId::Tree;
        looks || !self.model.overlays.is_empty() || !self.model.approvals.is_empty()
    }
    /// Whether what was typed goes on in the next line, whenever that comes.
    fn goes_on(&self) -> bool {
        !self.asked() && self.typed.last().is_some_and(|line| line.ends_with('\\'))
    }

    /// Takes what was typed: several lines at once, where nothing is asked, are one message.
    fn take(&mut self) {
        let asked = self.asked();
        let typed = std::mem::take(&mut self.typed);
        self.spoke = false;
        let texts = if asked { typed } else { vec![joined(&typed)] };
        for text in texts {
            let now = self.clock.now();
            let mut out = Vec::new();
            let words = self.asks.typed(&mut self.model, &text, now, &mut out);
            let all = text.trim() == "/last";
            let words = if all { self.voice.last() } else { words };
            if all {
                out.clear();
            }
            self.carry_out(out);
            words.iter().for_each(|line| self.print(line));
        }
        self.draft = self.model.composer.draft.whole().0;
    }

    fn on_signals(&mut self) {
        for signal in self.signals.take() {
            match signal {
                Signal::Interrupt => self.interrupt(),
                Signal::Stop => self.carry_out(vec![Effect::Suspend]),
                Signal::Continue | Signal::Resize => {}
                Signal::Terminate => self.leaving = Some(Exit::Ended(15)),
                Signal::Quit => self.leaving = Some(Exit::Ended(3)),
                Signal::HangUp => self.leaving = Some(Exit::Ended(1)),
            }
        }
    }

    fn interrupt(&mut self) {
        self.half.clear();
        self.typed.clear();
        let now = self.clock.now();
        let mut out = Vec::new();
        if self.model.overlays.pop().is_none() {
            act::act(&mut self.model, action::Action::Cancel, now, &mut out);
            if self.model.quit_until.is_some() {
                self.print("Control-C again leaves.");
            }
        }
        self.carry_out(out);
    }

    fn drain(&mut self) {
        loop {
            match self.front.next_event() {
                Next::Event(event) => self.tell(Msg::Event(*event)),
                Next::Nothing => {
                    if self.model.conflict.compares() {
                        self.tell(Msg::Conflict(conflict::Msg::Compared));
                    }
                    return;
                }
                Next::Gone => {
                    self.leaving.get_or_insert(Exit::Ended(1));
                    return;
                }
            }
        }
    }

    fn tell(&mut self, msg: Msg) {
        let now = self.clock.now();
        let effects = update(&mut self.model, msg, now);
        self.carry_out(effects);
    }

    /// Lets another program have the terminal. Told to end meanwhile, it asks that one to end as well.
    fn outside<T>(&mut self, what: impl FnOnce(&mut dyn Host, Leave<'_>) -> T) -> T {
        let (leaving, signals, host) = (&mut self.leaving, &self.signals, &mut *self.host);
        let mut look = |came: Vec<Signal>| {
            for signal in came {
                match signal {
                    Signal::Terminate => *leaving = Some(Exit::Ended(15)),
                    Signal::HangUp => *leaving = Some(Exit::Ended(1)),
                    Signal::Resize | Signal::Continue | Signal::Stop | Signal::Interrupt | Signal::Quit => {}
                }
            }
            leaving.is_some()
        };
        let out = signals.with_children(|| what(host, &mut |ms| look(signals.wait(ms))));
        look(signals.take());
        self.prompts = false;
        out
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let said = match effect {
                Effect::Send(command) => {
                    if let Err(command) = self.front.send(command) {
                        self.tell(Msg::NotSent(command));
                    }
                    None
                }
                Effect::Copy(text) => Some(match copy(&text, self.between) {
                    Ok((bytes, said)) => {
                        self.terminal.write(&bytes);
                        said
                    }
                    Err(why) => why,
                }),
                Effect::Edit(text) => match self.outside(|host, leave| host.edit_text(&text, leave)) {
                    Ok(text) => {
                        self.tell(Msg::Composer(composer::Msg::Edited(text)));
                        None
                    }
                    Err(why) => Some(why),
                },
                Effect::Page(text) => self.outside(|host, leave| host.page_text(&text, leave)).err(),
                Effect::KeepTheme(name) => self.host.keep_theme(&name).err(),
                Effect::Suspend => {
                    self.outside(|host, _| host.suspend());
                    None
                }
                Effect::ReadImage(path) => match self.host.read_image(path.as_deref()) {
                    Ok(image) => {
                        self.tell(Msg::Composer(composer::Msg::Image(image)));
                        None
                    }
                    Err(why) => Some(why),
                },
                Effect::EditMerge(name, bytes) => {
                    match self.outside(|host, leave| host.edit_bytes(&name, &bytes, leave)) {
                        Ok(bytes) => {
                            self.tell(Msg::Conflict(conflict::Msg::Edited(bytes)));
                            None
                        }
                        Err(why) => Some(why),
                    }
                }
                // there is no picture here
                Effect::Dump | Effect::Redraw => None,
                Effect::Leave(exit) => {
                    (self.leaving, self.leave_jobs) = (Some(exit), false);
                    None
                }
                Effect::LeaveJobs(exit) => {
                    (self.leaving, self.leave_jobs) = (Some(exit), true);
                    None
                }
            };
            if let Some(said) = said {
                self.tell(Msg::Say(said));
            }
        }
    }
}

/// Lines as one message: a backslash at the end of one goes.
fn joined(lines: &[String]) -> String {
    let line = |(at, line): (usize, &String)| {
        let last = at + 1 == lines.len();
        if last { line.clone() } else { line.strip_suffix('\\').unwrap_or(line).to_owned() }
    };
    lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}
