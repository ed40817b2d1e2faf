//! The bridge of law J's record: a real `windlass exec` with jobs is killed with SIGKILL, its session is opened again
//! (twice), and what is found is compared with what the pure rule (`law::batch`) says of such jobs, as text.
//!
//! The real side looks at the journal's lines, the jobs' directories, `/proc`, and which jobs the session shows as
//! running. The rule's side knows what each job would do, and nothing of the session.
//!
//! Keeps `job_record_survives_crash`. Not here: the keeper alone (`adopt`, `keeper`).

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use windlass::api::access::Mode;
use windlass::api::command::{Command as Ask, JobAsk, Query};
use windlass::api::event::Event;
use windlass::api::job::JobState;
use windlass::base::{JobId, SessionId};
use windlass::engine::Which;
use windlass::law::batch::{Batch, Found, Node, Told, reopen, standing};
use windlass::process::keeper::KEEPER_ARGUMENT;
use windlass::store::Dirs;

use crate::commands::{LONG, binary, carrying, mark};
use crate::job_lines::{self, EndLine};
use crate::session::{Place, Running};

const SCENARIOS: usize = 300;
/// Scenarios that run at the same time.
const AT_ONCE: usize = 6;

/// What becomes of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// It ends by itself before the crash, with this code.
    Before(i32),
    /// It would run on.
    Runs,
    /// It ends by itself after the crash and before the next open, with this code, unless the crash ends it.
    After(i32),
    /// Its keeper is killed after the crash, unless the crash ends the job.
    KeeperDies,
}

#[derive(Clone, Debug)]
struct Scenario {
    /// Whether jobs go on without the program.
    kept: bool,
    /// Bytes that each prints before, and once more after its fate is told; and its fate.
    jobs: Vec<(usize, Fate)>,
    /// The program is killed before what it has to write is surely written.
    early: bool,
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let fate = prop_oneof![
        1 => (0..4).prop_map(Fate::Before),
        2 => Just(Fate::Runs),
        1 => (0..4).prop_map(Fate::After),
        1 => Just(Fate::KeeperDies),
    ];
    let jobs = proptest::collection::vec((0usize..3000, fate), 1..4);
    (proptest::bool::weighted(0.7), jobs, any::<bool>()).prop_map(|(kept, jobs, early)| Scenario {
        kept,
        jobs,
        early,
    })
}

/// How a job stands when the session is open again.
fn line(job: u32, state: &str, bytes: u64, ends: usize) -> String {
    format!("j{job}: {state}, {bytes} bytes in its file, its end told {ends} times\n")
}

fn rule(scenario: &Scenario) -> String {
    let mut out = String::new();
    let mut written = Batch::default();
    for (n, (bytes, fate)) in scenario.jobs.iter().enumerate() {
        let job = n as u32 + 1;
        written.add(Node::Began(job, ()));
        let bytes = *bytes as u64;
        let own = |code: i32| (Told::Ended(format!("exit {code}")), 2 * bytes);
        let (told, bytes) = match (fate, scenario.kept) {
            (Fate::Before(code), _) | (Fate::After(code), true) => own(*code),
            (Fate::Runs, true) => (Told::Running, bytes),
            (Fate::KeeperDies, true) => (Told::Nothing, bytes),
            (Fate::Runs | Fate::After(_) | Fate::KeeperDies, false) => {
                (Told::Ended("program_gone".to_owned()), bytes)
            }
        };
        let (state, ends) = match reopen(false, told) {
            Found::Adopt => ("running".to_owned(), 0),
            Found::Ended(end) => (end, 1),
            Found::Lost => ("lost".to_owned(), 1),
            Found::Known => ("told before".to_owned(), 1),
        };
        if ends > 0 {
            written.add(Node::Over(job));
        }
        out += &line(job, &state, bytes, ends);
    }
    let nodes = written.take().map_or_else(Vec::new, |write| write.nodes);
    let _ = writeln!(out, "nodes {:?}", standing(nodes).into_keys().collect::<Vec<_>>());
    out
}

/// The program under test, and what it leaves.
struct Crash<'a> {
    scenario: &'a Scenario,
    place: Place,
    marks: Vec<String>,
    blocker: String,
}

impl<'a> Crash<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let place = Place::new();
        let on_disconnect = if scenario.kept { "keep" } else { "end" };
        let settings = json!({"jobs": {"on_disconnect": on_disconnect}});
        let config = place.cwd().join("home/config/windlass");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("settings.json"), settings.to_string()).unwrap();
        let marks = scenario.jobs.iter().map(|_| mark()).collect();
        let crash = Self { scenario, place, marks, blocker: mark() };
        crash.place.write("script.json", &crash.script().to_string());
        crash
    }

    fn script(&self) -> Value {
        let mut turns = Vec::new();
        for (n, ((bytes, fate), mark)) in self.scenario.jobs.iter().zip(&self.marks).enumerate() {
            let prints = format!("head -c {bytes} /dev/zero");
            let then = match fate {
                Fate::Before(code) => format!("{prints}; exit {code}"),
                Fate::Runs | Fate::KeeperDies => format!("exec sleep {mark}"),
                Fate::After(code) => {
                    format!("while ! [ -e go ]; do read -t 0.01 <> <(:); done; {prints}; exit {code}")
                }
            };
            let input = json!({"command": format!("{prints}; : >ready.{n}; {then}"), "background": true});
            turns.push(json!({"calls": [{"tool": "bash", "input": input}]}));
        }
        let waits = json!({"command": format!("exec sleep {}", self.blocker)});
        turns.push(json!({"calls": [{"tool": "bash", "input": waits}]}));
        json!({"turns": turns})
    }

    fn home(&self, name: &str) -> PathBuf {
        self.place.cwd().join("home").join(name)
    }

    fn start(&self) -> Child {
        let script = self.place.cwd().join("script.json");
        Command::new(binary())
            .args(["exec", "--json", "--approve", "auto", "--model"])
            .arg(format!("scripted:{}", script.display()))
            .arg("begin")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home(""))
            .env("XDG_CONFIG_HOME", self.home("config"))
            .env("XDG_STATE_HOME", self.home("state"))
            .env("TMPDIR", self.home(""))
            .current_dir(self.place.cwd())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs the program up to its last call, and kills it there. The session.
    fn crash(&self) -> SessionId {
        let mut program = self.start();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let mut session = None;
        let mut settled = 0;
        while settled < self.scenario.jobs.len() {
            let line: Value = serde_json::from_str(&lines.next().expect("it goes on").unwrap()).unwrap();
            match line["type"].as_str().unwrap() {
                "session.started" => session = Some(SessionId::new(line["id"].as_str().unwrap())),
                "call.settled" => {
                    assert_eq!(line["status"], "detached", "{line}");
                    settled += 1;
                }
                _ => {}
            }
        }
        let session = session.unwrap();
        for (n, (_, fate)) in self.scenario.jobs.iter().enumerate() {
            let ready = self.place.cwd().join(format!("ready.{n}"));
            wait("a job has printed", || ready.exists());
            if let Fate::Before(_) = fate {
                self.wait_for_end(&session, n);
            }
        }
        if !self.scenario.early {
            wait("the last call", || !carrying(&self.blocker).is_empty());
        }
        program.kill().unwrap();
        program.wait().unwrap();
        session
    }

    fn dir(&self, session: &SessionId, n: usize) -> PathBuf {
        let jobs = self.dirs().session(session).join("jobs");
        jobs.join(format!("j{}", n + 1))
    }

    fn dirs(&self) -> Dirs {
        Dirs::at(self.home("state").join("windlass"), self.home("config").join("windlass"))
    }

    fn wait_for_end(&self, session: &SessionId, n: usize) {
        let end = self.dir(session, n).join("end.json");
        wait("the record of an end", || end.exists());
    }

    /// What happens between the crash and the next open.
    fn meanwhile(&self, session: &SessionId) {
        wait("the call that waited is over", || carrying(&self.blocker).is_empty());
        if self.scenario.kept {
            self.place.write("go", "");
        }
        for (n, (bytes, fate)) in self.scenario.jobs.iter().enumerate() {
            match (fate, self.scenario.kept) {
                (Fate::KeeperDies, true) => {
                    // what it printed is spooled before its keeper dies: else nobody ever had it
                    let spool = self.dir(session, n).join("output");
                    wait("its output", || std::fs::metadata(&spool).is_ok_and(|m| m.len() >= *bytes as u64));
                    let keeper = std::fs::read(self.dir(session, n).join("keeper.json")).unwrap();
                    let keeper: Value = serde_json::from_slice(&keeper).unwrap();
                    let pid = i32::try_from(keeper["keeper"]["pid"].as_i64().unwrap()).unwrap();
                    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
                    wait("the keeper is gone", || gone(pid));
                }
                (Fate::Runs, true) => {}
                (Fate::Before(_) | Fate::After(_), _) | (Fate::Runs | Fate::KeeperDies, false) => {
                    self.wait_for_end(session, n);
                }
            }
        }
    }

    fn open(&self, session: &SessionId) -> Running {
        let mut options = self.place.options(r#"{"turns": []}"#, Mode::Auto, Which::Id(session.clone()));
        options.dirs = self.dirs();
        options.limits.jobs_kept = self.scenario.kept;
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

    /// What is found; the session is left as a person leaves it.
    fn found(&self, session: &SessionId) -> String {
        let mut open = self.open(session);
        let running: Vec<u32> = open.until("the jobs", |record| {
            Some(record.jobs.iter().filter(|(_, row)| row.runs()).map(|(job, _)| job.0).collect())
        });
        for job in &running {
            assert!(!carrying(&self.marks[*job as usize - 1]).is_empty(), "j{job} is shown as running");
        }
        open.close();
        let journal = self.dirs().session(session).join("journal.jsonl");
        let ends = job_lines::ends(&journal);
        let mut out = String::new();
        for (n, mark) in self.marks.iter().enumerate() {
            let job = n as u32 + 1;
            let own: Vec<&EndLine> = ends.iter().filter(|end| end.job == job).collect();
            let state = match (running.contains(&job), own.first()) {
                (true, None) => "running".to_owned(),
                (false, Some(EndLine { cause, exit_code: Some(code), .. })) if cause == "exited" => {
                    format!("exit {code}")
                }
                (false, Some(end)) => end.cause.clone(),
                (runs, end) => format!("runs {runs} and {end:?}"),
            };
            // a process that was killed may take a moment to be gone
            wait("what is over is gone", || running.contains(&job) || carrying(mark).is_empty());
            let bytes = std::fs::metadata(self.dir(session, n).join("output")).unwrap().len();
            out += &line(job, &state, bytes, own.len());
        }
        let _ = writeln!(out, "nodes {:?}", job_lines::nodes(&journal).into_iter().collect::<Vec<_>>());
        out
    }

    /// Ends what runs on.
    fn clean(&self, session: &SessionId) {
        let mut open = self.open(session);
        let jobs: Vec<JobId> = open.until("the jobs", |record| {
            Some(record.jobs.iter().filter(|(_, row)| row.runs()).map(|(job, _)| *job).collect())
        });
        for job in &jobs {
            open.command(Ask::Job { job: *job, ask: JobAsk::Kill });
        }
        open.until("their ends", |record| record.jobs.iter().all(|(_, row)| !row.runs()).then_some(()));
        open.close();
        for (n, mark) in self.marks.iter().enumerate() {
            let living = carrying(mark).is_empty();
            assert!(living, "a kill ends the whole tree of {n}: {} {:?}", status(mark), self.scenario);
        }
    }
}

/// A test that fails leaves nothing behind either: a keeper that is told to go ends its tree.
impl Drop for Crash<'_> {
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

fn real(scenario: &Scenario) -> String {
    let crash = Crash::new(scenario);
    let session = crash.crash();
    crash.meanwhile(&session);
    let first = crash.found(&session);
    let second = crash.found(&session);
    assert_eq!(first, second, "opened once more, it is the same: {scenario:?}");
    crash.clean(&session);
    private(&crash.dirs().session(&session));
    first
}

/// What a crash leaves is closed to others too.
fn private(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let meta = entry.path().symlink_metadata().unwrap();
        assert!(
            meta.is_symlink() || meta.permissions().mode() & 0o077 == 0,
            "{} is open to others",
            entry.path().display()
        );
        if meta.is_dir() {
            private(&entry.path());
        }
    }
}

/// What the system says of who carries a mark.
fn status(mark: &str) -> String {
    let status = |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    carrying(mark).iter().map(status).collect()
}

/// Whether a process is over, also when nobody has read its end.
fn gone(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < LONG, "never: {what}");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

#[test]
fn job_record_survives_crash() {
    let mut runner = TestRunner::default();
    let scenarios: Vec<Scenario> =
        (0..SCENARIOS).map(|_| scenario().new_tree(&mut runner).unwrap().current()).collect();
    let next = AtomicUsize::new(0);
    let ran = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    assert_eq!(rule(scenario), real(scenario), "{scenario:#?}");
                    *ran.lock().unwrap() += 1;
                }
            });
        }
    });
    assert_eq!(ran.into_inner().unwrap(), SCENARIOS);
}
