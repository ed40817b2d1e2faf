//! A real `windlass exec` with background jobs that carry marks, to be killed with SIGKILL and looked at afterwards: the
//! set-up of the kill storm and of the crash bridge.
//!
//! Not here: what the jobs do, when the program is killed, and what must hold then.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use windlass::api::access::Mode;
use windlass::api::command::{Command as Ask, JobAsk, Query};
use windlass::api::event::Event;
use windlass::api::job::JobState;
use windlass::base::{JobId, SessionId};
use windlass::engine::{Options, Which};
use windlass::process::keeper::KEEPER_ARGUMENT;
use windlass::store::Dirs;

use crate::commands::{LONG, binary, carrying, mark};
use crate::session::{Place, Running};

/// The program under test, and what it leaves. Dropping it ends all of that.
pub struct KilledExec {
    pub place: Place,
    /// What a process of each job carries.
    pub marks: Vec<String>,
    /// What the call carries that waits when all jobs were begun.
    pub blocker: String,
}

impl KilledExec {
    /// So many jobs; each runs what `command` says for its number and mark.
    pub fn new(jobs: usize, command: impl Fn(usize, &str) -> String) -> Self {
        let exec = Self { place: Place::new(), marks: (0..jobs).map(|_| mark()).collect(), blocker: mark() };
        let bash = |input: Value| json!({"calls": [{"tool": "bash", "input": input}]});
        let job =
            |(n, mark): (usize, &String)| bash(json!({"command": command(n, mark), "background": true}));
        let mut turns: Vec<Value> = exec.marks.iter().enumerate().map(job).collect();
        turns.push(bash(json!({"command": format!("exec sleep {}", exec.blocker)})));
        exec.place.write("script.json", &json!({"turns": turns}).to_string());
        exec
    }
    /// A directory of its home.
    pub fn home(&self, name: &str) -> PathBuf {
        self.place.cwd().join("home").join(name)
    }
    pub fn dirs(&self) -> Dirs {
        Dirs::at(self.home("state").join("windlass"), self.home("config").join("windlass"))
    }
    pub fn journal(&self, session: &SessionId) -> PathBuf {
        self.dirs().session(session).join("journal.jsonl")
    }
    /// The directory of a job, by its number from 0.
    pub fn job_dir(&self, session: &SessionId, n: usize) -> PathBuf {
        self.dirs().session(session).join("jobs").join(format!("j{}", n + 1))
    }
    /// Starts it; its events go to `out`.
    pub fn start(&self, out: Stdio) -> Child {
        Command::new(binary())
            .args(["exec", "--json", "--approve", "auto", "--model"])
            .arg(format!("scripted:{}", self.place.cwd().join("script.json").display()))
            .arg("begin")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home(""))
            .env("XDG_CONFIG_HOME", self.home("config"))
            .env("XDG_STATE_HOME", self.home("state"))
            .env("TMPDIR", self.home(""))
            .current_dir(self.place.cwd())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }
    /// Opens its session here, until it is known how each job stands.
    pub fn open(&self, session: &SessionId, change: impl FnOnce(&mut Options)) -> Running {
        let mut options = self.place.options(r#"{"turns": []}"#, Mode::Auto, Which::Id(session.clone()));
        options.dirs = self.dirs();
        change(&mut options);
        let mut open = Running::try_open(options).unwrap();
        // the jobs of before are listed before the first command is heard, and looked up beside it
        open.command(Ask::Ask { number: 1, query: Query::Prompts });
        while !open.events.iter().any(|event| matches!(event, Event::Answered { .. })) {
            let mut looked = false;
            open.until("an answer", |_| std::mem::replace(&mut looked, true).then_some(()));
        }
        open.until("how each stands", |record| {
            record.jobs.iter().all(|(_, row)| row.state != JobState::Sought).then_some(())
        });
        open
    }
}

/// The jobs that an open session shows as running.
pub fn running(open: &Running) -> Vec<JobId> {
    open.look(|record| record.jobs.iter().filter(|(_, row)| row.runs()).map(|(job, _)| *job).collect())
}

/// Ends the jobs that run, and closes the session.
pub fn end_all(mut open: Running) {
    for job in running(&open) {
        open.command(Ask::Job { job, ask: JobAsk::Kill });
    }
    open.until("their ends", |record| record.jobs.iter().all(|(_, row)| !row.runs()).then_some(()));
    open.close();
}

/// Waits until it holds.
pub fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A test that fails leaves nothing behind either: a keeper that is told to go ends its tree.
impl Drop for KilledExec {
    fn drop(&mut self) {
        let sessions = std::fs::read_dir(self.dirs().sessions()).into_iter().flatten().flatten();
        for session in sessions {
            for call in std::fs::read_dir(session.path().join("calls")).into_iter().flatten().flatten() {
                let keeper = std::fs::read(call.path().join("keeper.json")).unwrap_or_default();
                let keeper: Value = serde_json::from_slice(&keeper).unwrap_or_default();
                let pid = keeper["keeper"]["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
                if let Some(pid) = pid.filter(|_| !call.path().join("end.json").exists()) {
                    let argv = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                    let marked = KEEPER_ARGUMENT.as_bytes();
                    if argv.split(|byte| *byte == 0).any(|word| word == marked) {
                        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
                    }
                }
            }
        }
        for pid in self.marks.iter().chain([&self.blocker]).flat_map(|mark| carrying(mark)) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}
