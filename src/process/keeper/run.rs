//! The keeper's loop: waits for output, for the program, for the ends of processes and for the time, tells
//! `law::job` what happened and carries out what it says.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal as NixSignal;
use nix::sys::signalfd::SignalFd;
use rustix::process::{WaitOptions, wait};

use super::begin::{Begun, prepare, wall_clock};
use super::clients::Clients;
use super::intake::{Intake, Taken};
use super::look::Look;
use super::socket::Socket;
use super::whole::{Whole, Whom};
use crate::base::Millis;
use crate::law::census::Census;
use crate::law::job::{End, Exit, Job, JobEffect, JobEvent, Stage};
use crate::law::output::Kept;
use crate::process::cgroup::Fence;
use crate::process::record::{
    END_FILE, KEEPER_FILE, KeeperRecord, LEFT_FILE, LeftRecord, ProcessId, RECORD_VERSION, Record,
    SOCKET_FILE, write_whole,
};
use crate::process::terminal::Terminal;
use crate::process::wire::{FromKeeper, LaunchLine, PROGRESS_EVERY, Standing, ToKeeper};

/// Processes that are reaped in one turn: a fork bomb's end without a pause, and must still be counted and ended.
const REAPED_MAX: usize = 256;
/// A cgroup is looked at so often when the keeper has no child and somebody is in it all the same.
const STRAYS_EVERY: Millis = Millis(50);
/// Time that the last lines have to reach the program.
const FAREWELL: Millis = Millis(2000);

/// Keeps the command that the socket's first line launches; the keeper's exit code.
pub fn keep(stream: UnixStream) -> i32 {
    let Ok(signals) = prepare() else { return 2 };
    let Ok((mut socket, request, launch)) = Socket::open(stream) else { return 2 };
    match Begun::new(&launch, &mut socket) {
        Ok(begun) => {
            socket.reply(&request, Ok(()));
            let mut keeper = Keeper::new(begun, &launch, signals);
            let mut clients = Clients::new(socket);
            if let Err(error) = clients.listen(&keeper.dir) {
                // it can be watched and ended by its program all the same, but not found again
                keeper.trouble = Some(format!("nobody else can speak with its keeper: {error}"));
            }
            keeper.run(&mut clients);
            0
        }
        Err(why) => {
            socket.send(&FromKeeper::Failed { why: why.clone() });
            socket.reply(&request, Err(why));
            1
        }
    }
}

struct Keeper {
    job: Job,
    intake: Intake,
    signals: SignalFd,
    dir: PathBuf,
    process: ProcessId,
    began: Millis,
    clock: Instant,
    whole: Whole,
    /// When the cgroup is looked at again: the keeper has no child, and somebody is in it.
    look_again: Option<Millis>,
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
    look: Look,
    census: Option<Census>,
    fence: Option<Fence>,
}

/// What was told of the output, and when.
#[derive(Default)]
struct Progress {
    bytes: u64,
    next: Millis,
}

impl Keeper {
    fn new(begun: Begun, launch: &LaunchLine, signals: SignalFd) -> Self {
        let most = launch.limits.processes_max;
        let fence = most.and_then(|most| begun.whole.fence(most));
        Self {
            census: most.map(|most| Census::new(most, fence.is_some(), Millis(0))),
            fence,
            job: Job::new(launch.limits, Millis(0)),
            intake: begun.intake,
            signals,
            dir: begun.dir,
            process: begun.process,
            began: begun.record.began,
            clock: begun.clock,
            whole: begun.whole,
            look_again: None,
            main_ended: None,
            tree_empty: false,
            left: false,
            progress: Progress::default(),
            trouble: None,
            over: false,
            record: begun.record,
            alone: false,
            look: Look::new(launch.terminal.is_some()),
        }
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
            self.count(clients);
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
        if let Some(fence) = self.fence.as_ref() {
            fds.push(PollFd::new(fence.fd(), PollFlags::POLLPRI));
        }
        let look = self.look.due(self.job.end().is_none(), clients.watched());
        let census = self.census.as_ref().map(Census::due);
        let timeout =
            match [self.job.due(), progress, look, self.look_again, census].into_iter().flatten().min() {
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
            let done = self.carry_out(wish.what, clients);
            clients.reply(wish.client, &wish.id, done);
        }
        if said.watch {
            self.look.stale = true;
        }
        self.alone = clients.program().is_none();
        if said.program_gone && !self.record.kept {
            self.tell(JobEvent::ProgramGone, clients);
        }
    }

    /// Does what was asked; else why not.
    fn carry_out(&mut self, what: ToKeeper, clients: &mut Clients) -> Result<(), String> {
        const NO_TERMINAL: &str = "the command has no terminal";
        match what {
            ToKeeper::Kill { by } => self.tell(JobEvent::Kill(by), clients),
            ToKeeper::Signal { signal } => return self.signal(signal),
            ToKeeper::Keep { on } => return self.keep(on, clients),
            ToKeeper::Input { bytes } => {
                self.look.something_came(self.now());
                let bytes = STANDARD.decode(bytes).map_err(|error| error.to_string())?;
                self.intake.terminal().ok_or(NO_TERMINAL)?.input(&bytes);
            }
            ToKeeper::Resize { size } => {
                self.look.something_came(self.now());
                self.intake.terminal().ok_or(NO_TERMINAL)?.resize(size);
            }
            // the clients' own
            ToKeeper::Launch(_) | ToKeeper::Hello { .. } | ToKeeper::Watch { .. } => {}
        }
        Ok(())
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
            stopped: self.look.stopped,
            ended: self.job.end().is_some(),
        }
    }

    /// Bytes and lines: of the command, after its end of what it left behind.
    fn counts(&self) -> (u64, u64) {
        if self.job.end().is_some() { (self.intake.left_bytes(), 0) } else { self.intake.counts() }
    }

    /// Whether the command outlives the program. It is written before it is told: a program that is gone
    /// the moment after finds it so.
    ///
    /// One that is being ended already is kept no more: whoever asks must not be told that it goes on.
    fn keep(&mut self, on: bool, clients: &mut Clients) -> Result<(), String> {
        if on && self.job.ended_by().is_some() {
            clients.send(&FromKeeper::Kept { on: self.record.kept });
            return Err("the command is being ended".to_owned());
        }
        let record = KeeperRecord { kept: on, ..self.record.clone() };
        let written = write_whole(&self.dir, KEEPER_FILE, &record);
        if written.is_ok() {
            self.record = record;
        }
        clients.send(&FromKeeper::Kept { on: self.record.kept });
        if self.alone && !self.record.kept {
            self.tell(JobEvent::ProgramGone, clients);
        }
        written.map_err(|error| format!("cannot write to {}: {error}", self.dir.display()))
    }

    fn look_at_terminal(&mut self, clients: &mut Clients) {
        let (now, runs) = (self.now(), self.job.end().is_none());
        if let Some(terminal) = self.intake.terminal() {
            self.look.at_terminal(terminal, runs, now, clients);
        }
    }

    /// Like a shell's: to the process group in front of its terminal, else to the one that the command leads.
    fn signal(&self, signal: i32) -> Result<(), String> {
        if self.main_ended.is_some() {
            return Err("the command's own process has ended".to_owned());
        }
        let number = NixSignal::try_from(signal).map_err(|_| format!("there is no signal {signal}"))?;
        let front = self.intake.terminal_ref().and_then(Terminal::in_front);
        // its leader is not reaped, so the group is its own
        let group = nix::unistd::Pid::from_raw(front.unwrap_or(self.process.pid));
        nix::sys::signal::killpg(group, number).map_err(|error| error.to_string())
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
            // not reaped, so the number is its own
            let process = Some(self.process.pid).filter(|_| self.main_ended.is_none());
            self.look.at_process(process, clients);
        }
    }

    fn reap(&mut self, clients: &mut Clients) {
        let mut main = None;
        let mut reaped = 0;
        let empty = loop {
            reaped += 1;
            if reaped > REAPED_MAX {
                break false;
            }
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
        if let Some(census) = &mut self.census {
            census.stirred(Millis(self.clock.elapsed().as_millis() as u64));
        }
        // whatever ended has written before it did
        self.drain(clients);
        if let Some(exit) = main {
            self.main_ended = Some(wall_clock());
            self.tell(JobEvent::MainEnded(exit), clients);
        }
        // nobody tells of those that have no parent here
        self.tree_empty = empty && !self.whole.strays();
        self.look_again = if reaped > REAPED_MAX {
            Some(self.now())
        } else {
            (empty && !self.tree_empty).then(|| self.now().plus(STRAYS_EVERY))
        };
        if self.tree_empty {
            self.tell(JobEvent::TreeEmpty, clients);
        } else {
            self.tell(JobEvent::OtherEnded, clients);
        }
    }

    fn keep_time(&mut self, clients: &mut Clients) {
        if self.look_again.is_some_and(|due| due <= self.now()) {
            self.reap(clients);
        }
        if self.job.due().is_some_and(|due| due <= self.now()) {
            self.drain(clients);
            self.tell(JobEvent::Tick, clients);
        }
    }

    /// Counts the processes when that is due, and hears of the system's own bound.
    fn count(&mut self, clients: &mut Clients) {
        let now = self.now();
        if self.fence.as_mut().is_some_and(Fence::reached) {
            // it tells no more, and nothing more need be told
            self.fence = None;
            self.tell(JobEvent::Processes(u32::MAX), clients);
        }
        if let Some(census) = self.census.as_mut().filter(|census| census.due() <= now) {
            let count = self.whole.count();
            census.counted(count, now);
            self.tell(JobEvent::Processes(count), clients);
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
                    let processes = self.whole.terminate(Whom::All);
                    clients.send(&FromKeeper::Stage(Stage::Asked { processes }));
                }
                JobEffect::TerminateOrphans => {
                    self.whole.terminate(Whom::Orphans);
                }
                JobEffect::Destroy => {
                    let processes = self.whole.destroy();
                    if processes > 0 {
                        clients.send(&FromKeeper::Stage(Stage::Destroyed { processes }));
                    }
                }
                JobEffect::Settle(end) => self.settle(end, clients),
                JobEffect::Leave => self.over = true,
            }
        }
    }

    fn settle(&mut self, end: End, clients: &mut Clients) {
        let (bytes, lines) = self.intake.counts();
        let spooled = self.intake.spooled();
        if bytes != self.progress.bytes {
            // the last lines are told before the end, however soon it came
            clients.send(&FromKeeper::Output { bytes, lines, tail: self.intake.tail() });
        }
        if let Some(terminal) = self.intake.terminal() {
            clients.show_last(&terminal.picture());
        }
        let kept = self.intake.end();
        let living = if self.tree_empty { Vec::new() } else { self.whole.living() };
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
            gone: if killed { self.whole.gone() } else { 0 },
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
            let survivors = if self.tree_empty { Vec::new() } else { self.whole.living() };
            let by = self.job.ended_by();
            let record = LeftRecord {
                version: RECORD_VERSION,
                by,
                ended: wall_clock(),
                bytes: self.intake.left_bytes(),
                gone: if by.is_some() { self.whole.gone() } else { 0 },
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
            for wish in clients.hear(|| self.standing()).wishes {
                clients.reply(wish.client, &wish.id, Err("the command is over".to_owned()));
            }
        }
        let _ = std::fs::remove_file(self.dir.join(SOCKET_FILE));
        self.whole.remove_group();
    }
}

fn ended_line(record: Record, kept: &Kept) -> FromKeeper {
    FromKeeper::Ended {
        record: Box::new(record),
        head: STANDARD.encode(&kept.head),
        tail: STANDARD.encode(&kept.tail),
        lines_kept: kept.lines_kept,
    }
}
