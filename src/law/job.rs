//! Law J: how a command ends. One end, which says who and why.
//!
//! `Job` is the machine that the keeper of a command carries out: it is told what happened (output, the
//! command's own end, the end of its tree, a kill, the loss of the program, the time) and says what to
//! do. A kill is a signal; the end comes later, from the processes themselves.
//!
//! Keeps `job_ends_once`, `job_end_is_final`, `job_kill_keeps_output`, `job_end_names_its_cause`, and the
//! decisions of `job_kill_reaches_descendants` and `job_dies_with_program_unless_kept`.
//! Not here: finding processes, signalling, files, the bound of the output (`law::output`).

use serde::{Deserialize, Serialize};

use crate::base::Millis;

/// Who asked for an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The person.
    User,
    /// The model.
    Model,
    /// A rewind.
    Rewind,
    /// A limit of time.
    TimeLimit,
    /// A limit of output.
    OutputLimit,
    /// A limit of processes.
    ProcessLimit,
    /// The program went.
    ProgramGone,
}

/// How far the end of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// SIGTERM was sent to so many processes.
    Asked {
        /// How many.
        processes: u32,
    },
    /// SIGKILL was sent to so many that did not listen.
    Destroyed {
        /// How many.
        processes: u32,
    },
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum End {
    /// By itself, with this code.
    Exited {
        /// The exit code.
        code: i32,
    },
    /// By a signal that we did not send.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It was ended on purpose.
    Killed {
        /// By whom.
        by: By,
    },
    /// Processes that their command left behind ended by themselves.
    Ended,
    /// Its keeper is gone without a record.
    Lost,
}

impl End {
    /// The cause in one word, for scripts: `exit`, `signal`, `user`, `model`, `rewind`, `limit`,
    /// `program_gone`, `ended`, `lost`.
    pub fn cause(&self) -> &'static str {
        match self {
            End::Exited { .. } => "exit",
            End::Signalled { .. } => "signal",
            End::Killed { by: By::User } => "user",
            End::Killed { by: By::Model } => "model",
            End::Killed { by: By::Rewind } => "rewind",
            End::Killed { by: By::TimeLimit | By::OutputLimit | By::ProcessLimit } => "limit",
            End::Killed { by: By::ProgramGone } => "program_gone",
            End::Ended => "ended",
            End::Lost => "lost",
        }
    }
    /// In words: `exit 0`, `signal SIGTERM`, `time limit`.
    pub fn words(&self) -> String {
        match self {
            End::Exited { code } => format!("exit {code}"),
            End::Signalled { signal } => format!("signal {}", signal_name(*signal)),
            End::Killed { by } => by.words().to_owned(),
            End::Ended => "ended by themselves".to_owned(),
            End::Lost => "lost: its keeper is gone without a record".to_owned(),
        }
    }
}

impl By {
    /// In words, as an end.
    pub fn words(self) -> &'static str {
        match self {
            By::User => "stopped by you",
            By::Model => "killed by the model",
            By::Rewind => "stopped by a rewind",
            By::TimeLimit => "time limit",
            By::OutputLimit => "output limit",
            By::ProcessLimit => "process limit",
            By::ProgramGone => "the program went",
        }
    }
}

/// The name of a signal; its number where it has none.
pub fn signal_name(signal: i32) -> String {
    const NAMES: [&str; 32] = [
        "0", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU",
        "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    match usize::try_from(signal).ok().and_then(|at| NAMES.get(at)) {
        Some(name) if signal > 0 => format!("SIG{name}"),
        _ => signal.to_string(),
    }
}

/// How the command's own process ended, as the system tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// The limits of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobLimits {
    /// Most bytes of its spool.
    pub spool_max: u64,
    /// The command is ended after this time; none: never.
    pub time_limit: Option<Millis>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Millis,
    /// Time after SIGKILL until what is still there is named as surviving.
    pub last_wait: Millis,
    /// Time that the rest of the tree has to end by itself after the command's own process did.
    pub linger: Millis,
    /// Most processes at once; none: any number.
    #[serde(default)]
    pub processes_max: Option<u32>,
}

impl JobLimits {
    /// The bounds of law J: a grace of 2 s, and all of it within 3 s.
    pub fn new(spool_max: u64, time_limit: Option<Millis>) -> Self {
        Self {
            spool_max,
            time_limit,
            grace: Millis(2000),
            last_wait: Millis(500),
            linger: Millis(50),
            processes_max: None,
        }
    }
    /// When the wait after a SIGKILL at `now` is over, whoever still ends.
    fn last_end(&self, now: Millis) -> Millis {
        now.plus(Millis(self.last_wait.0.saturating_mul(LAST_WAITS)))
    }
    /// The same with a bound of the processes at once; 0: none.
    pub fn with_processes_max(self, most: u32) -> Self {
        Self { processes_max: (most > 0).then_some(most), ..self }
    }
}

/// What a keeper is told or sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEvent {
    /// So many bytes of output came.
    Output(u64),
    /// The command's own process ended; its output so far was told before.
    MainEnded(Exit),
    /// Another process of the tree ended, and some are left.
    OtherEnded,
    /// No process of the tree is left; all output was told before.
    TreeEmpty,
    /// Someone asks for the end.
    Kill(By),
    /// The program is gone.
    ProgramGone,
    /// The output cannot be spooled any more.
    SpoolFailed,
    /// So many processes of the tree live at once.
    Processes(u32),
    /// Time has passed.
    Tick,
}

/// What a keeper must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEffect {
    /// Ask every process of the tree to end (SIGTERM).
    Terminate,
    /// Ask those that lost their parent since to end (SIGTERM, once each).
    TerminateOrphans,
    /// End every process of the tree (SIGKILL).
    Destroy,
    /// Record the end and tell it. Never twice.
    Settle(End),
    /// Nothing is left to watch: the keeper goes.
    Leave,
}

/// A kill under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ending {
    by: By,
    /// When SIGKILL is due; once it was sent, when the wait is over.
    due: Millis,
    /// When SIGKILL goes out again.
    again: Millis,
    /// The wait after SIGKILL goes on while processes end, but not past this.
    last: Millis,
    destroyed: bool,
    given_up: bool,
}

/// The wait after SIGKILL goes on while processes end, for at most so many times its usual length.
const LAST_WAITS: u64 = 20;

/// SIGKILL is repeated this often while something is left: a fork can outrun a walk of the tree.
const AGAIN: Millis = Millis(20);

/// One command under its keeper.
#[derive(Clone, Debug)]
pub struct Job {
    limits: JobLimits,
    time_limit_at: Option<Millis>,
    bytes: u64,
    main: Option<Exit>,
    linger_until: Option<Millis>,
    ending: Option<Ending>,
    end: Option<End>,
    program_gone: bool,
    over: bool,
}

impl Job {
    /// The command was started at `now` (a clock that never goes back).
    pub fn new(limits: JobLimits, now: Millis) -> Self {
        Self {
            limits,
            time_limit_at: limits.time_limit.map(|limit| now.plus(limit)),
            bytes: 0,
            main: None,
            linger_until: None,
            ending: None,
            end: None,
            program_gone: false,
            over: false,
        }
    }

    /// The end, once there is one.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }
    /// How the command's own process ended, once it did.
    pub fn main(&self) -> Option<Exit> {
        self.main
    }
    /// Who is ending what is left, if anyone.
    pub fn ended_by(&self) -> Option<By> {
        self.ending.map(|ending| ending.by)
    }
    /// Whether the keeper may go.
    pub fn over(&self) -> bool {
        self.over
    }
    /// Bytes of output before the end.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When a `Tick` is due; none: not before something happens.
    pub fn due(&self) -> Option<Millis> {
        if self.over {
            return None;
        }
        let ending = match self.ending {
            Some(ending) if ending.given_up => None,
            Some(ending) if ending.destroyed => Some(ending.due.min(ending.again)),
            Some(ending) => Some(ending.due),
            None => self.time_limit_at.filter(|_| self.main.is_none()),
        };
        let linger = self.linger_until.filter(|_| self.end.is_none());
        [ending, linger].into_iter().flatten().min()
    }

    /// What is to be done about what happened.
    pub fn step(&mut self, event: JobEvent, now: Millis) -> Vec<JobEffect> {
        let mut effects = Vec::new();
        if self.over {
            return effects;
        }
        match event {
            JobEvent::Output(bytes) => self.output(bytes, now, &mut effects),
            JobEvent::MainEnded(exit) => self.main_ended(exit, now, &mut effects),
            JobEvent::OtherEnded => self.other_ended(now, &mut effects),
            JobEvent::TreeEmpty => self.tree_empty(&mut effects),
            JobEvent::Kill(by) => self.kill(by, now, &mut effects),
            JobEvent::ProgramGone => {
                self.program_gone = true;
                self.kill(By::ProgramGone, now, &mut effects);
                if self.ending.is_some_and(|ending| ending.given_up) {
                    self.leave(&mut effects);
                }
            }
            JobEvent::SpoolFailed => {
                if self.end.is_none() {
                    self.kill(By::OutputLimit, now, &mut effects);
                }
            }
            JobEvent::Processes(count) => self.counted(count, now, &mut effects),
            JobEvent::Tick => self.tick(now, &mut effects),
        }
        effects
    }

    fn output(&mut self, bytes: u64, now: Millis, effects: &mut Vec<JobEffect>) {
        if self.end.is_some() {
            return;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.limits.spool_max {
            self.kill(By::OutputLimit, now, effects);
        }
    }

    fn main_ended(&mut self, exit: Exit, now: Millis, effects: &mut Vec<JobEffect>) {
        if self.main.is_some() {
            return;
        }
        self.main = Some(exit);
        match self.ending {
            Some(_) => self.other_ended(now, effects),
            None => self.linger_until = Some(now.plus(self.limits.linger)),
        }
    }

    /// While the command's own process lives, what it starts after SIGTERM is its clean-up. Once it has
    /// ended, whoever lost its parent and was not asked yet (a fork between the walk and the signal) is.
    fn other_ended(&mut self, now: Millis, effects: &mut Vec<JobEffect>) {
        if let Some(ending) = self.ending.as_mut().filter(|ending| ending.destroyed) {
            // thousands that were killed take their time to end: as long as they do, none of them survives
            ending.due = ending.due.max(now.plus(self.limits.last_wait).min(ending.last));
        }
        if self.main.is_some() && self.ending.is_some_and(|ending| !ending.destroyed) {
            effects.push(JobEffect::TerminateOrphans);
        }
    }

    fn tree_empty(&mut self, effects: &mut Vec<JobEffect>) {
        // without its own process's end nothing is empty: the shell tells that end first
        if self.main.is_some() {
            self.settle(effects);
            self.leave(effects);
        }
    }

    fn kill(&mut self, by: By, now: Millis, effects: &mut Vec<JobEffect>) {
        if self.linger_until.is_some() {
            // the command's own end came before the kill: it stands
            self.settle(effects);
        }
        if self.ending.is_none() {
            let due = now.plus(self.limits.grace);
            self.ending = Some(Ending { by, due, again: due, last: due, destroyed: false, given_up: false });
            effects.push(JobEffect::Terminate);
        }
    }

    /// Too many are not asked: while they clean up they would go on to multiply.
    fn counted(&mut self, count: u32, now: Millis, effects: &mut Vec<JobEffect>) {
        if self.limits.processes_max.is_none_or(|most| count <= most) {
            return;
        }
        if self.linger_until.is_some() {
            self.settle(effects);
        }
        // the grace is theirs to die in: so many take a while
        let (by, due) = match self.ending {
            Some(ending) if ending.destroyed => return,
            Some(ending) => (ending.by, ending.due),
            None => (By::ProcessLimit, now.plus(self.limits.grace)),
        };
        let (due, again) = (due.plus(self.limits.last_wait), now.plus(AGAIN));
        let last = self.limits.last_end(now);
        self.ending = Some(Ending { by, due, again, last, destroyed: true, given_up: false });
        effects.push(JobEffect::Destroy);
    }

    fn tick(&mut self, now: Millis, effects: &mut Vec<JobEffect>) {
        if self.linger_until.is_some_and(|until| until <= now) {
            self.settle(effects);
        }
        match &mut self.ending {
            None => {
                let passed = self.time_limit_at.is_some_and(|at| at <= now);
                if passed && self.main.is_none() && self.end.is_none() {
                    self.kill(By::TimeLimit, now, effects);
                }
            }
            Some(ending) if ending.given_up => {}
            Some(ending) if !ending.destroyed => {
                if ending.due <= now {
                    ending.destroyed = true;
                    ending.due = now.plus(self.limits.last_wait);
                    ending.last = self.limits.last_end(now);
                    ending.again = now.plus(AGAIN);
                    effects.push(JobEffect::Destroy);
                }
            }
            Some(ending) if ending.due <= now => {
                ending.given_up = true;
                self.settle(effects);
                if self.program_gone {
                    self.leave(effects);
                }
            }
            Some(ending) => {
                if ending.again <= now {
                    ending.again = now.plus(AGAIN);
                    effects.push(JobEffect::Destroy);
                }
            }
        }
    }

    fn settle(&mut self, effects: &mut Vec<JobEffect>) {
        if self.end.is_some() {
            return;
        }
        self.linger_until = None;
        let end = match (self.ending, self.main) {
            (Some(ending), _) => End::Killed { by: ending.by },
            (None, Some(Exit::Code(code))) => End::Exited { code },
            (None, Some(Exit::Signal(signal))) => End::Signalled { signal },
            (None, None) => End::Lost,
        };
        self.end = Some(end.clone());
        effects.push(JobEffect::Settle(end));
    }

    fn leave(&mut self, effects: &mut Vec<JobEffect>) {
        self.over = true;
        effects.push(JobEffect::Leave);
    }
}

#[cfg(test)]
mod tests;
