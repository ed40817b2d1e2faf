//! The loop: one thread, one `poll` over the terminal, the wake, the signals and a deadline.
//!
//! It drains all that came, then draws once. It never waits for anything else; with nothing to do it
//! has no deadline at all. It is the only place of the screen that reads a clock. Not here: what the model wants done
//! outside of itself (`carry_out`).

mod carry_out;

use std::os::fd::AsFd as _;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::api::board::Phase;
use crate::api::command::Command;
use crate::api::job::Notify;
use crate::base::Millis;
use crate::link::{Front, Host, Next};
use crate::ui::agent_view;
use crate::ui::begin::begin;
use crate::ui::clipboard::{Between, between};
use crate::ui::conflict_update;
use crate::ui::depth::{Depth, depth, links, titled};
use crate::ui::ends;
use crate::ui::glyphs;
use crate::ui::input::{Input, Reader};
use crate::ui::job_view;
use crate::ui::linear;
use crate::ui::model::{Model, UiOptions};
use crate::ui::msg::{Effect, Exit, Left, Msg};
use crate::ui::pace::{Motion, Pacer};
use crate::ui::pane::conflict;
use crate::ui::select_update::RAW;
use crate::ui::signals::{Signal, Signals};
use crate::ui::terminal::{Got, Terminal, UiError, Wanted};
use crate::ui::update::update;
use crate::ui::view::view;
use crate::ui::wake::WakeEnd;
use crate::ui::window::Window;
use crate::ui::writer::Writer;

/// Most bytes of one read.
const READ_BYTES: usize = 16 * 1024;

/// Runs the screen until it is left. `wake` is the screen's end of the wake that the engine calls.
pub fn run(
    front: &mut Front,
    wake: (&WakeEnd, crate::link::Wake),
    options: UiOptions,
    host: &mut dyn Host,
) -> Result<Left, UiError> {
    if options.screen_reader {
        return linear::run(front, wake, &options, host);
    }
    let mut screen = Screen::start(front, wake, &options, host)?;
    screen.draw();
    let effects = begin(&mut screen.model, &options, screen.clock.now());
    screen.carry_out(effects);
    loop {
        if let Some(exit) = screen.turn() {
            // What is typed outlives the screen. A session that is gone has kept what it knew.
            let _ = screen.front.send(Command::Draft(screen.model.composer.draft.whole().0));
            // and so does what was chosen of a conflict
            if let Some(command) = conflict_update::keeps(&mut screen.model) {
                let _ = screen.front.send(command);
            }
            let place = screen.model.conversation.kept(&screen.front.shared.read().path);
            return Ok(Left { exit, leave_jobs: screen.leave_jobs, place });
        }
    }
}

/// The clock of the screen: wall time at the start, and monotonic from then on.
pub(super) struct Clock {
    began: Instant,
    at: u64,
}

impl Clock {
    pub(super) fn start() -> Self {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
        Self { began: Instant::now(), at }
    }
    pub(super) fn now(&self) -> Millis {
        Millis(self.at + self.began.elapsed().as_millis() as u64)
    }
}

struct Screen<'a> {
    front: &'a mut Front,
    host: &'a mut dyn Host,
    wake: &'a WakeEnd,
    terminal: Terminal,
    signals: Signals,
    reader: Reader,
    writer: Writer,
    pacer: Pacer,
    model: Model,
    buffer: Buffer,
    clock: Clock,
    between: Between,
    /// What tells of an end, and of what waits, while the window is not looked at.
    notify: Notify,
    /// What the terminal was told beside its frames.
    window: Window,
    /// When the terminal last sent a byte.
    read_at: Millis,
    /// An approval was drawn and waits for its flush.
    owes_flush: bool,
    events_closed: bool,
    leaving: Option<Exit>,
    /// Every job goes on when the screen is left.
    leave_jobs: bool,
    /// The raw view is what the terminal shows.
    raw: bool,
    /// The turn was interrupted: that this was heard, and that it is over, is drawn at once.
    stopping: bool,
}

impl<'a> Screen<'a> {
    fn start(
        front: &'a mut Front,
        (wake, waker): (&'a WakeEnd, crate::link::Wake),
        options: &UiOptions,
        host: &'a mut dyn Host,
    ) -> Result<Self, UiError> {
        let env = |name: &str| options.environment.get(name).cloned();
        let term = env("TERM").unwrap_or_default();
        let colors = depth(options.no_color, &env);
        let mut adapted = UiOptions { depth: colors, ..options.clone() };
        if colors == Depth::None {
            adapted.no_color = true;
        }
        let shown = glyphs::by_environment(&options.glyphs, &env);
        glyphs::choose(glyphs::Set { glyphs: shown, wide: options.ambiguous_wide });
        let signals = Signals::listen().map_err(UiError::Signals)?;
        let wanted = Wanted {
            // with mouse reports on, GNU screen holds a lone Escape back until the next key
            mouse: options.mouse && (env("STY").is_none() || env("TMUX").is_some()),
            other_keys: env("TMUX").is_some() || env("XTERM_VERSION").is_some(),
            alt_escapes: env("XTERM_VERSION").is_some() && env("TMUX").is_none() && env("STY").is_none(),
            // the console knows no such question, and old ones write it out
            ask_ground: adapted.theme.is_empty() && !adapted.no_color && term != "linux",
            // tmux says that it tells, and does so with `focus-events` alone
            ask_focus: titled(&env) && env("TMUX").is_none(),
            title: options.terminal_title && titled(&env),
        };
        let window = Window::new(wanted.title);
        let terminal = Terminal::enter(wanted)?;
        let clock = Clock::start();
        let (mut model, problems) = Model::new(&adapted, &front.shared.read(), waker);
        model.size = terminal.size();
        if let Some(problem) = problems.first() {
            let more = if problems.len() > 1 {
                format!(" (and {} more)", problems.len() - 1)
            } else {
                String::new()
            };
            model.say(format!("{problem}{more}"), clock.now());
        }
        let erases = !term.starts_with("screen") || env("TMUX").is_some();
        Ok(Self {
            front,
            host,
            wake,
            terminal,
            signals,
            reader: Reader::default(),
            writer: Writer::new(colors, erases).telling_links(links(&env)),
            pacer: Pacer::default(),
            model,
            buffer: Buffer::default(),
            read_at: clock.now(),
            clock,
            between: between(&env),
            notify: options.notify,
            window,
            owes_flush: false,
            events_closed: false,
            leaving: None,
            leave_jobs: false,
            raw: false,
            stopping: false,
        })
    }

    fn tell(&mut self, msg: Msg) {
        let now = self.clock.now();
        let effects = update(&mut self.model, msg, now);
        self.carry_out(effects);
    }

    /// One round: wait, drain, draw. Some: the screen is left.
    fn turn(&mut self) -> Option<Exit> {
        let (tty, woken, signalled) = self.wait();
        if woken {
            self.wake.take();
        }
        if signalled {
            self.on_signals();
        }
        if tty.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            self.read_terminal(tty);
        }
        self.settle_input();
        // a frame takes what came while it was held back
        if woken || (self.frame_due() && self.wake.take_pending()) {
            self.drain_session();
        }
        let now = self.clock.now();
        if self.model.toast.as_ref().is_some_and(|t| t.until <= now)
            || self.model.quit_until.is_some_and(|at| at <= now)
        {
            self.pacer.input();
            self.tell(Msg::Tick);
        }
        if self.model.pulls_at().is_some_and(|at| at <= now) {
            self.pacer.input();
            self.tell(Msg::Tick);
        }
        if self.model.conflict.due().is_some_and(|at| at <= now) {
            self.tell(Msg::Tick);
        }
        if self.model.approve.arms_at().is_some_and(|at| at <= now && now.since(at).0 < 50) {
            self.pacer.input();
        }
        if let Some(exit) = self.leaving.take() {
            return Some(exit);
        }
        self.notify();
        self.terminal.flush();
        if self.terminal.flushed() {
            if self.owes_flush {
                self.see_flush();
            }
            if self.frame_due() {
                self.draw();
            }
        }
        None
    }

    fn frame_due(&self) -> bool {
        let now = self.clock.now().0;
        self.terminal.flushed() && self.pacer.due(now).is_some_and(|at| at <= now)
    }

    /// Waits for something to happen: what the terminal has, whether a wake and whether a signal came.
    fn wait(&self) -> (PollFlags, bool, bool) {
        let now = self.clock.now();
        let mut deadline = self.model.deadline(now).map(|at| at.0);
        let mut also = |at: Option<u64>| deadline = [deadline, at].into_iter().flatten().min();
        also(self.reader.wait_ms().map(|ms| self.read_at.0 + ms));
        let mut wanted = PollFlags::IN;
        if self.terminal.flushed() {
            also(self.pacer.due(now.0));
            if self.owes_flush && self.reader.wait_ms().is_none() {
                also(Some(now.0));
            }
        } else {
            wanted |= PollFlags::OUT;
        }
        let wait = deadline
            .map(|at| at.saturating_sub(now.0))
            .map(|ms| Timespec { tv_sec: (ms / 1000) as i64, tv_nsec: ((ms % 1000) * 1_000_000) as i64 });
        let mut fds = [
            PollFd::new(&self.terminal, wanted),
            PollFd::from_borrowed_fd(self.signals.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.wake.as_fd(), PollFlags::IN),
        ];
        // while a frame is owed anyway, tokens wake nobody: it takes them all. What answers a key does.
        let held =
            self.terminal.flushed() && self.pacer.owes_stream() && !self.model.attached() && !self.stopping;
        let polled = if held { &mut fds[..2] } else { &mut fds[..] };
        let _ = poll(polled, wait.as_ref());
        (fds[0].revents(), !fds[2].revents().is_empty(), !fds[1].revents().is_empty())
    }

    fn read_terminal(&mut self, tty: PollFlags) {
        let mut bytes = [0u8; READ_BYTES];
        let mut came = Vec::new();
        loop {
            match self.terminal.read(&mut bytes) {
                Got::Bytes(n) => {
                    self.read_at = self.clock.now();
                    self.reader.read(&bytes[..n], self.read_at.0, &mut came);
                }
                Got::Nothing => {
                    if tty.contains(PollFlags::HUP) {
                        self.leaving = Some(Exit::Ended(1));
                    }
                    break;
                }
                Got::Gone => {
                    self.leaving = Some(Exit::Ended(1));
                    break;
                }
            }
        }
        self.take_inputs(came);
    }

    /// What is held of the input is taken for what it is once its wait is over.
    fn settle_input(&mut self) {
        let now = self.clock.now();
        if let Some(ms) = self.reader.wait_ms()
            && now.since(self.read_at).0 >= ms
        {
            let mut came = Vec::new();
            self.reader.time_out(&mut came);
            self.take_inputs(came);
        }
    }

    fn take_inputs(&mut self, came: Vec<Input>) {
        for input in came {
            if !matches!(input, Input::Focus(_) | Input::Reply(_)) {
                self.pacer.input();
            }
            if input == Input::Focus(true) {
                self.terminal.ask_ground();
            }
            let theme = self.model.theme;
            self.tell(Msg::Input(input));
            if theme != self.model.theme {
                self.pacer.input();
            }
        }
    }

    fn on_signals(&mut self) {
        for signal in self.signals.take() {
            match signal {
                Signal::Resize => {
                    let (columns, rows) = self.terminal.size();
                    self.pacer.input();
                    self.tell(Msg::Resize(columns, rows));
                }
                // someone else stopped and continued us: the terminal may be in any state
                Signal::Continue => self.reenter(),
                Signal::Stop => self.carry_out(vec![Effect::Suspend]),
                Signal::Interrupt => self.leaving = Some(Exit::Ended(2)),
                Signal::Terminate => self.leaving = Some(Exit::Ended(15)),
                Signal::Quit => self.leaving = Some(Exit::Ended(3)),
                Signal::HangUp => self.leaving = Some(Exit::Ended(1)),
            }
        }
    }

    fn drain_session(&mut self) {
        loop {
            match self.front.next_event() {
                Next::Event(event) => {
                    self.pacer.input();
                    self.tell(Msg::Event(*event));
                }
                Next::Nothing => break,
                Next::Gone => {
                    if !std::mem::replace(&mut self.events_closed, true) {
                        self.tell(Msg::Say("the session has ended; leave with ^C ^C".to_owned()));
                        self.pacer.input();
                    }
                    break;
                }
            }
        }
        if self.model.conflict.compares() {
            self.pacer.input();
            self.tell(Msg::Conflict(conflict::Msg::Compared));
        }
        let record = self.front.shared.read();
        let phase = &record.status.phase;
        let heard = self.stopping && *phase != self.model.status.phase;
        self.stopping &= !heard || *phase == Phase::Stopping;
        // what answers a key is not held back
        if heard || job_view::answers(&self.model, &record) {
            self.pacer.input();
        } else {
            self.pacer.stream();
        }
    }

    /// A frame with an approval is on the terminal; it counts when no input waits.
    fn see_flush(&mut self) {
        let mut fds = [PollFd::new(&self.terminal, PollFlags::IN)];
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let waits = matches!(poll(&mut fds, Some(&zero)), Ok(1..)) || self.reader.wait_ms().is_some();
        if !waits {
            self.owes_flush = false;
            self.tell(Msg::Flushed);
        }
    }

    fn draw(&mut self) {
        self.model.sync(&self.front.shared.read());
        agent_view::sync(&mut self.model, &self.front.agents);
        self.notify();
        let beside = self.window.beside(&self.model);
        self.terminal.write(&beside);
        let now = self.clock.now();
        if self.draw_raw(now) {
            return;
        }
        let (columns, rows) = self.model.size;
        let area = Rect::new(0, 0, columns.max(1), rows.max(1));
        if self.buffer.area == area {
            self.buffer.reset();
        } else {
            self.buffer = Buffer::empty(area);
            self.writer.forget();
        }
        let cursor = view(&mut self.model, &mut self.buffer, now);
        let bytes = self.writer.draw(&self.buffer, cursor);
        if !bytes.is_empty() {
            self.terminal.write(bytes);
        }
        // what the answer changes is a frame of its own
        if let Some(command) = self.model.wants() {
            self.send(command);
        }
        self.owes_flush = self.model.approve.unflushed() && !self.model.covered();
        let motion = self.model.motion();
        let counting = matches!(self.model.status.phase, Phase::Retrying { .. });
        self.pacer.drawn(now.0, if counting { motion.max(Motion::Clock) } else { motion });
    }

    /// Draws the raw view, past the buffer; whether it is shown.
    fn draw_raw(&mut self, now: Millis) -> bool {
        let shown = self.model.raw.is_some();
        if shown != self.raw {
            self.raw = shown;
            self.terminal.mouse(!shown);
            self.writer.forget();
        }
        let size = self.model.size;
        let page = self.model.raw.as_mut().and_then(|raw| raw.page(size, RAW));
        if let Some(bytes) = page {
            self.terminal.write(&bytes);
        }
        if shown {
            self.owes_flush = false;
            self.pacer.drawn(now.0, Motion::Still);
        }
        shown
    }

    /// Tells of what ended or waits while nobody looks.
    fn notify(&mut self) {
        let Some(text) = self.model.ends.take(self.clock.now()) else { return };
        let bytes = ends::bytes(self.notify, &text, self.between);
        if !bytes.is_empty() {
            self.terminal.write(&bytes);
        }
        if self.notify == Notify::Desktop
            && let Err(why) = self.host.notify(&text)
        {
            // said once: what rings in its place is heard
            self.notify = Notify::Bell;
            self.tell(Msg::Say(why));
        }
    }

    fn reenter(&mut self) {
        if self.terminal.resume().is_err() {
            self.leaving = Some(Exit::Ended(1));
        }
        self.model.size = self.terminal.size();
        self.window.forget();
        self.writer.forget();
        // the modes were set anew, the mouse's among them
        self.raw = false;
        if let Some(raw) = &mut self.model.raw {
            raw.forget();
        }
        self.reader = Reader::default();
        self.pacer.input();
    }
}
