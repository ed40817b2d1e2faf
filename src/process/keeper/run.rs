//! The keeper's loop: waits for output, for the program, for the ends of processes and for the time, tells
//! `law::job` what happened and carries out what it says.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal as NixSignal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{getpid, setsid};
use rustix::process::{Signal, WaitOptions, wait};

use super::clients::Clients;
use super::intake::{Intake, Taken};
use super::socket::Socket;
use crate::base::Millis;
use crate::law::job::{End, Exit, Job, JobEffect, JobEvent, Stage};
use crate::law::output::Kept;
use crate::process::pre_exec::lead_session_and_die_with;
use crate::process::record::{
    END_FILE, KEEPER_FILE, KeeperRecord, LEFT_FILE, LeftRecord, Named, ProcessId, RECORD_VERSION, Record,
    SOCKET_FILE, write_whole,
};
use crate::process::terminal::Terminal;
use crate::process::tree::{self, Sent};
use crate::process::wire::{FromKeeper, LaunchLine, PROGRESS_EVERY, Standing, ToKeeper, WIRE_VERSION};

/// Walks of the tree for one SIGKILL of all: a fork may outrun a walk, hardly two.
const WALKS_MAX: usize = 10;
/// A terminal is sampled so long after something came, and then every second.
const SAMPLE_AFTER: Millis = Millis(300);
const SAMPLE_EVERY: Millis = Millis(1000);
/// Time that the last lines have to reach the program.
const FAREWELL: Millis = Millis(2000);

/// Keeps the command that the socket's first line launches; the keeper's exit code.
pub fn keep(stream: UnixStream) -> i32 {
    let Ok(signals) = prepare() else { return 2 };
    let Ok((mut socket, launch)) = Socket::open(stream) else { return 2 };
    match Keeper::start(*launch, &mut socket, signals) {
        Ok(mut keeper) => {
            let mut clients = Clients::new(socket);
            if let Err(error) = clients.listen(&keeper.dir) {
                // it can be watched and ended by its program all the same, but not found again
                keeper.trouble = Some(format!("nobody else can speak with its keeper: {error}"));
            }
            keeper.run(&mut clients);
            0
        }
        Err(why) => {
            socket.send(&FromKeeper::Failed { why });
            1
        }
    }
}

/// A session of its own, all descendants below it, signals as events.
fn prepare() -> io::Result<SignalFd> {
    // fails only when it leads one already
    let _ = setsid();
    prctl::set_child_subreaper(true)?;
    let _ = prctl::set_name(c"windlass-keeper");
    // no directory of the person is held busy
    let _ = std::env::set_current_dir("/");
    let mut mask = SigSet::empty();
    for signal in
        [NixSignal::SIGCHLD, NixSignal::SIGTERM, NixSignal::SIGINT, NixSignal::SIGHUP, NixSignal::SIGQUIT]
    {
        mask.add(signal);
    }
    mask.thread_block()?;
    Ok(SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?)
}

struct Keeper {
    job: Job,
    intake: Intake,
    signals: SignalFd,
    dir: PathBuf,
    process: ProcessId,
    began: Millis,
    clock: Instant,
    /// Those that SIGTERM was sent to: nobody is asked twice.
    asked: HashSet<ProcessId>,
    /// When the command's own process ended.
    main_ended: Option<Millis>,
    /// Whether the system said that no process of the tree is left.
    tree_empty: bool,
    left: bool,
    progress: Progress,
    trouble: Option<String>,
    over: bool,
    /// What stands in its file of the keeper: whether it goes on without the program, above all.
    record: KeeperRecord,
    /// Whether the program is gone.
    alone: bool,
    /// Processes that a kill asked to end.
    gone: u32,
    look: Look,
}

/// What was told of the output, and when.
#[derive(Default)]
struct Progress {
    bytes: u64,
    next: Millis,
}

/// When a terminal is looked at.
struct Look {
    /// Its picture may have changed since it was shown.
    stale: bool,
    /// When it may be shown next.
    next: Millis,
    /// When it is found out next whether its program waits.
    sample: Millis,
    /// Whether it seemed to.
    waiting: bool,
    /// Whether there is a terminal.
    there: bool,
}

impl Look {
    fn new(there: bool) -> Self {
        Self { stale: true, next: Millis(0), sample: SAMPLE_AFTER, waiting: false, there }
    }
    fn something_came(&mut self, now: Millis) {
        self.stale = true;
        self.sample = now.plus(SAMPLE_AFTER);
    }
    fn due(&self, runs: bool, watched: bool) -> Option<Millis> {
        let show = Some(self.next).filter(|_| self.stale && watched);
        let sample = Some(self.sample).filter(|_| runs);
        [show, sample].into_iter().flatten().min().filter(|_| self.there)
    }
}

impl Keeper {
    fn start(launch: LaunchLine, socket: &mut Socket, signals: SignalFd) -> Result<Self, String> {
        if launch.version != WIRE_VERSION {
            return Err(format!("the keeper speaks version {WIRE_VERSION}, not {}", launch.version));
        }
        let began = wall_clock();
        let dir = PathBuf::from(launch.dir);
        let in_dir = |error: io::Error| format!("cannot write to {}: {error}", dir.display());
        let keeper = KeeperRecord {
            version: RECORD_VERSION,
            keeper: identity(getpid().as_raw()),
            boot: crate::process::launch::boot(),
            began,
            kept: launch.kept,
        };
        write_whole(&dir, KEEPER_FILE, &keeper).map_err(in_dir)?;
        let (intake, writer) =
            Intake::new(&dir, launch.limits.spool_max, launch.truncation, launch.terminal).map_err(in_dir)?;

        let mut argv = launch.argv.into_iter().map(OsString::from);
        let program = argv.next().unwrap_or_default();
        let cwd = PathBuf::from(launch.cwd);
        let writer_again = writer.try_clone().map_err(in_dir)?;
        let stdin = match launch.terminal {
            Some(_) => Stdio::from(writer.try_clone().map_err(in_dir)?),
            None => Stdio::null(),
        };
        let mut command = Command::new(&program);
        command
            .args(argv)
            .env_clear()
            .envs(
                launch
                    .environment
                    .into_iter()
                    .map(|(name, value)| (OsString::from(name), OsString::from(value))),
            )
            .current_dir(&cwd)
            .stdin(stdin)
            .stdout(Stdio::from(writer))
            .stderr(Stdio::from(writer_again));
        lead_session_and_die_with(&mut command, getpid(), launch.terminal.is_some());
        let clock = Instant::now();
        let child = command
            .spawn()
            .map_err(|error| format!("cannot start {} in {}: {error}", program.display(), cwd.display()))?;
        // the pipe's writing end lives on in the command alone
        drop(command);
        let process = identity(child.id() as i32);
        socket.send(&FromKeeper::Started { version: WIRE_VERSION, process: process.clone() });
        Ok(Self {
            job: Job::new(launch.limits, Millis(0)),
            intake,
            signals,
            dir,
            process,
            began,
            clock,
            asked: HashSet::new(),
            main_ended: None,
            tree_empty: false,
            left: false,
            progress: Progress::default(),
            trouble: None,
            over: false,
            record: keeper,
            alone: false,
            gone: 0,
            look: Look::new(launch.terminal.is_some()),
        })
    }

    fn now(&self) -> Millis {
        Millis(self.clock.elapsed().as_millis() as u64)
    }

    fn run(&mut self, clients: &mut Clients) {
        while !self.over {
            self.await_something(clients);
            if let Taken::Bytes(bytes) = self.intake.take() {
                self.look.something_came(self.now());
                self.tell(JobEvent::Output(bytes), clients);
            }
            self.hear_clients(clients);
            self.hear_signals(clients);
            self.keep_time(clients);
            self.tell_progress(clients);
            self.look_at_terminal(clients);
        }
        self.farewell(clients);
    }

    /// Sleeps until there is something to do.
    fn await_something(&self, clients: &Clients) {
        let mut fds = vec![PollFd::new(std::os::fd::AsFd::as_fd(&self.signals), PollFlags::POLLIN)];
        clients.fds(&mut fds);
        if let Some(pipe) = self.intake.fd() {
            fds.push(PollFd::new(pipe, PollFlags::POLLIN));
        }
        let progress = Some(self.progress.next).filter(|_| self.progress_waits() && clients.ready());
        if let Some(terminal) = self.intake.terminal_ref()
            && terminal.wants_write()
        {
            fds.push(PollFd::new(terminal.fd(), PollFlags::POLLOUT));
        }
        let look = self.look.due(self.job.end().is_none(), clients.watched());
        let timeout = match [self.job.due(), progress, look].into_iter().flatten().min() {
            None => PollTimeout::NONE,
            Some(due) => {
                let wait = due.since(self.now()).0.min(60_000);
                PollTimeout::try_from(wait).unwrap_or(PollTimeout::ZERO)
            }
        };
        // an error is a signal or a lack of memory: the loop looks at everything anyway
        let _ = poll(&mut fds, timeout);
    }

    fn hear_clients(&mut self, clients: &mut Clients) {
        let said = clients.hear(|| self.standing());
        for wish in said.wishes {
            match wish {
                ToKeeper::Kill { by } => self.tell(JobEvent::Kill(by), clients),
                ToKeeper::Signal { signal } => self.signal(signal),
                ToKeeper::Keep { on } => self.keep(on, clients),
                ToKeeper::Input { bytes } => {
                    self.look.something_came(self.now());
                    if let (Some(terminal), Ok(bytes)) = (self.intake.terminal(), STANDARD.decode(bytes)) {
                        terminal.input(&bytes);
                    }
                }
                ToKeeper::Resize { size } => {
                    self.look.something_came(self.now());
                    if let Some(terminal) = self.intake.terminal() {
                        terminal.resize(size);
                    }
                }
                // the clients' own
                ToKeeper::Launch(_) | ToKeeper::Hello { .. } | ToKeeper::Watch { .. } => {}
            }
        }
        if said.watch {
            self.look.stale = true;
        }
        self.alone = clients.program().is_none();
        if said.program_gone && !self.record.kept {
            self.tell(JobEvent::ProgramGone, clients);
        }
    }

    fn standing(&self) -> Standing {
        let (bytes, lines) = self.counts();
        Standing {
            process: self.process.clone(),
            began: self.began,
            bytes,
            lines,
            tail: self.intake.tail(),
            kept: self.record.kept,
            terminal: self.intake.terminal_ref().is_some(),
            waiting: self.look.waiting,
            ended: self.job.end().is_some(),
        }
    }

    /// Bytes and lines: of the command, after its end of what it left behind.
    fn counts(&self) -> (u64, u64) {
        if self.job.end().is_some() { (self.intake.left_bytes(), 0) } else { self.intake.counts() }
    }

    /// Whether the command outlives the program. It is written before it is told: a program that is gone
    /// the moment after finds it so.
    fn keep(&mut self, on: bool, clients: &mut Clients) {
        let record = KeeperRecord { kept: on, ..self.record.clone() };
        if write_whole(&self.dir, KEEPER_FILE, &record).is_ok() {
            self.record = record;
        }
        clients.send(&FromKeeper::Kept { on: self.record.kept });
        if self.alone && !self.record.kept {
            self.tell(JobEvent::ProgramGone, clients);
        }
    }

    /// Shows the terminal's picture to who watches, and finds out whether its program waits.
    fn look_at_terminal(&mut self, clients: &mut Clients) {
        let now = self.now();
        let Some(terminal) = self.intake.terminal() else { return };
        terminal.flush();
        if self.look.stale && clients.watched() && self.look.next <= now {
            self.look.next = now.plus(PROGRESS_EVERY);
            self.look.stale = !clients.show(&terminal.picture());
        }
        if self.look.sample <= now && self.job.end().is_none() {
            self.look.sample = now.plus(SAMPLE_EVERY);
            self.look.stale |= terminal.echo_changed();
            let waiting = terminal.waits();
            if std::mem::replace(&mut self.look.waiting, waiting) != waiting {
                clients.send(&FromKeeper::Waiting { on: waiting });
            }
        }
    }

    /// Like a shell's: to the process group in front of its terminal, else to the one that the command leads.
    fn signal(&self, signal: i32) {
        let front = self.intake.terminal_ref().and_then(Terminal::in_front);
        let number = NixSignal::try_from(signal);
        if let (Ok(signal), false) = (number, self.main_ended.is_some()) {
            // its leader is not reaped, so the group is its own
            let group = front.unwrap_or(self.process.pid);
            let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), signal);
        }
    }

    fn hear_signals(&mut self, clients: &mut Clients) {
        let mut children = false;
        while let Ok(Some(info)) = self.signals.read_signal() {
            if info.ssi_signo == NixSignal::SIGCHLD as u32 {
                children = true;
            } else {
                // someone ends the keeper itself (a shutdown): its tree must not outlive it
                self.tell(JobEvent::ProgramGone, clients);
            }
        }
        if children {
            self.reap(clients);
        }
    }

    fn reap(&mut self, clients: &mut Clients) {
        let mut main = None;
        let empty = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid.as_raw_nonzero().get() == self.process.pid && self.main_ended.is_none() {
                        let code = status.exit_status().map(Exit::Code);
                        let signal = status.terminating_signal().map(Exit::Signal);
                        main = code.or(signal);
                    }
                }
                Ok(None) => break false,
                Err(error) if error.raw_os_error() == nix::libc::EINTR => {}
                // no child is left
                Err(_) => break true,
            }
        };
        // whatever ended has written before it did
        self.drain(clients);
        if let Some(exit) = main {
            self.main_ended = Some(wall_clock());
            self.tell(JobEvent::MainEnded(exit), clients);
        }
        self.tree_empty = empty;
        if empty {
            self.tell(JobEvent::TreeEmpty, clients);
        } else {
            self.tell(JobEvent::OtherEnded, clients);
        }
    }

    fn keep_time(&mut self, clients: &mut Clients) {
        if self.job.due().is_some_and(|due| due <= self.now()) {
            self.drain(clients);
            self.tell(JobEvent::Tick, clients);
        }
    }

    fn drain(&mut self, clients: &mut Clients) {
        let bytes = self.intake.drain();
        if bytes > 0 {
            self.tell(JobEvent::Output(bytes), clients);
        }
    }

    fn tell(&mut self, event: JobEvent, clients: &mut Clients) {
        if self.trouble.is_none()
            && let Some(error) = self.intake.trouble()
        {
            self.trouble = Some(format!("the output cannot be written to {}: {error}", self.dir.display()));
            self.tell(JobEvent::SpoolFailed, clients);
        }
        let now = self.now();
        for effect in self.job.step(event, now) {
            match effect {
                JobEffect::Terminate => {
                    let processes = self.terminate(|_| true);
                    clients.send(&FromKeeper::Stage(Stage::Asked { processes }));
                }
                JobEffect::TerminateOrphans => {
                    let keeper = getpid().as_raw();
                    self.terminate(|seen| seen.parent == keeper);
                }
                JobEffect::Destroy => {
                    let processes = destroy();
                    if processes > 0 {
                        clients.send(&FromKeeper::Stage(Stage::Destroyed { processes }));
                    }
                }
                JobEffect::Settle(end) => self.settle(end, clients),
                JobEffect::Leave => self.over = true,
            }
        }
    }

    /// Asks processes of the tree to end, each once; how many.
    fn terminate(&mut self, which: impl Fn(&tree::Seen) -> bool) -> u32 {
        let mut asked = 0;
        for seen in tree::below(getpid().as_raw()) {
            if which(&seen) && self.asked.insert(seen.id.clone()) {
                tree::signal(&seen.id, Signal::TERM);
                asked += 1;
                // a stopped one must go on to end; looked at again, for it may have been stopped since
                if tree::seen(seen.id.pid).is_some_and(|now| now.stopped()) {
                    tree::signal(&seen.id, Signal::CONT);
                }
            }
        }
        self.gone += asked;
        asked
    }

    fn settle(&mut self, end: End, clients: &mut Clients) {
        let (bytes, lines) = self.intake.counts();
        let spooled = self.intake.spooled();
        if bytes != self.progress.bytes {
            // the last lines are told before the end, however soon it came
            clients.send(&FromKeeper::Output { bytes, lines, tail: self.intake.tail() });
        }
        let kept = self.intake.end();
        let living = if self.tree_empty { Vec::new() } else { living() };
        let killed = matches!(end, End::Killed { .. });
        let (survivors, left) = if killed { (living, Vec::new()) } else { (Vec::new(), living) };
        self.left = !left.is_empty();
        let exit = self.job.main();
        let mut record = Record {
            version: RECORD_VERSION,
            end,
            exit_code: exit.and_then(|exit| if let Exit::Code(code) = exit { Some(code) } else { None }),
            exit_signal: exit
                .and_then(|exit| if let Exit::Signal(signal) = exit { Some(signal) } else { None }),
            process: self.process.clone(),
            began: self.began,
            ended: if killed { wall_clock() } else { self.main_ended.unwrap_or_else(wall_clock) },
            bytes,
            lines,
            spooled,
            kept: kept.kept,
            dropped: kept.dropped,
            gone: if killed { self.gone } else { 0 },
            survivors,
            left,
            trouble: self.trouble.clone(),
        };
        if let Err(error) = write_whole(&self.dir, END_FILE, &record) {
            let dir = self.dir.display();
            record.trouble.get_or_insert_with(|| format!("the end cannot be recorded in {dir}: {error}"));
        }
        // what comes from here on is counted anew
        self.progress.bytes = 0;
        clients.send(&ended_line(record, &kept));
    }

    fn progress_waits(&self) -> bool {
        self.counts().0 != self.progress.bytes
    }

    fn tell_progress(&mut self, clients: &mut Clients) {
        let now = self.now();
        if self.progress_waits() && clients.ready() && self.progress.next <= now {
            let (bytes, lines) = self.counts();
            self.progress = Progress { bytes, next: now.plus(PROGRESS_EVERY) };
            clients.send_progress(&FromKeeper::Output { bytes, lines, tail: self.intake.tail() });
        }
    }

    /// Records what became of processes that outlived the command, and sees the last lines off.
    fn farewell(&mut self, clients: &mut Clients) {
        if self.left {
            let survivors = if self.tree_empty { Vec::new() } else { living() };
            let record = LeftRecord {
                version: RECORD_VERSION,
                by: self.job.ended_by(),
                ended: wall_clock(),
                bytes: self.intake.left_bytes(),
                survivors,
            };
            // nobody is left to be told of a failure
            let _ = write_whole(&self.dir, LEFT_FILE, &record);
            clients.send(&FromKeeper::Left(Box::new(record)));
        }
        let until = self.now().plus(FAREWELL);
        while !clients.idle() && !clients.alone() && self.now() < until {
            let mut fds = Vec::new();
            clients.fds(&mut fds);
            let _ = poll(&mut fds, PollTimeout::from(100u8));
            clients.hear(|| self.standing());
        }
        let _ = std::fs::remove_file(self.dir.join(SOCKET_FILE));
    }
}

/// Ends every process of the tree that may be ended; how many.
fn destroy() -> u32 {
    let mut hit = HashSet::new();
    for _ in 0..WALKS_MAX {
        let mut fresh = false;
        for seen in tree::below(getpid().as_raw()) {
            if hit.insert(seen.id.clone()) && tree::signal(&seen.id, Signal::KILL) == Sent::Yes {
                fresh = true;
            }
        }
        if !fresh {
            break;
        }
    }
    hit.len() as u32
}

/// What lives of the tree, for people.
fn living() -> Vec<Named> {
    tree::below(getpid().as_raw()).iter().map(|seen| tree::named(&seen.id)).collect()
}

fn ended_line(record: Record, kept: &Kept) -> FromKeeper {
    FromKeeper::Ended {
        record: Box::new(record),
        head: STANDARD.encode(&kept.head),
        tail: STANDARD.encode(&kept.tail),
        lines_kept: kept.lines_kept,
    }
}

/// A process of ours that has not been reaped, so that its number is its own.
fn identity(pid: i32) -> ProcessId {
    tree::seen(pid).map_or(ProcessId { pid, start: 0 }, |seen| seen.id)
}

fn wall_clock() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Millis(since.as_millis() as u64)
}
