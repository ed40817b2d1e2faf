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
use std::path::Path;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proptest::prelude::*;
use serde_json::{Value, json};
use windlass::base::SessionId;
use windlass::law::batch::{Batch, Found, Node, Told, reopen, standing};

use crate::commands::carrying;
use crate::job_lines::{self, EndLine};
use crate::killed_exec::{KilledExec, end_all, running, wait};
use crate::scenarios::on_threads;
use crate::session::Running;

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
    exec: KilledExec,
}

impl<'a> Crash<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let command = |n: usize, mark: &str| {
            let (bytes, fate) = &scenario.jobs[n];
            let prints = format!("head -c {bytes} /dev/zero");
            let then = match fate {
                Fate::Before(code) => format!("{prints}; exit {code}"),
                Fate::Runs | Fate::KeeperDies => format!("exec sleep {mark}"),
                Fate::After(code) => {
                    format!("while ! [ -e go ]; do read -t 0.01 <> <(:); done; {prints}; exit {code}")
                }
            };
            format!("{prints}; : >ready.{n}; {then}")
        };
        let exec = KilledExec::new(scenario.jobs.len(), command);
        let on_disconnect = if scenario.kept { "keep" } else { "end" };
        let settings = json!({"jobs": {"on_disconnect": on_disconnect}});
        let config = exec.home("config/windlass");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("settings.json"), settings.to_string()).unwrap();
        Self { scenario, exec }
    }

    /// Runs the program up to its last call, and kills it there. The session.
    fn crash(&self) -> SessionId {
        let mut program = self.exec.start(Stdio::piped());
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
            let ready = self.exec.place.cwd().join(format!("ready.{n}"));
            wait("a job has printed", || ready.exists());
            if let Fate::Before(_) = fate {
                self.wait_for_end(&session, n);
            }
        }
        if !self.scenario.early {
            wait("the last call", || !carrying(&self.exec.blocker).is_empty());
        }
        program.kill().unwrap();
        program.wait().unwrap();
        session
    }

    fn wait_for_end(&self, session: &SessionId, n: usize) {
        let end = self.exec.job_dir(session, n).join("end.json");
        wait("the record of an end", || end.exists());
    }

    /// What happens between the crash and the next open.
    fn meanwhile(&self, session: &SessionId) {
        wait("the call that waited is over", || carrying(&self.exec.blocker).is_empty());
        if self.scenario.kept {
            self.exec.place.write("go", "");
        }
        for (n, (bytes, fate)) in self.scenario.jobs.iter().enumerate() {
            match (fate, self.scenario.kept) {
                (Fate::KeeperDies, true) => {
                    // what it printed is spooled before its keeper dies: else nobody ever had it
                    let spool = self.exec.job_dir(session, n).join("output");
                    wait("its output", || std::fs::metadata(&spool).is_ok_and(|m| m.len() >= *bytes as u64));
                    let keeper = std::fs::read(self.exec.job_dir(session, n).join("keeper.json")).unwrap();
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
        self.exec.open(session, |options| options.limits.jobs_kept = self.scenario.kept)
    }

    /// What is found; the session is left as a person leaves it.
    fn found(&self, session: &SessionId) -> String {
        let open = self.open(session);
        let running: Vec<u32> = running(&open).iter().map(|job| job.0).collect();
        for job in &running {
            assert!(!carrying(&self.exec.marks[*job as usize - 1]).is_empty(), "j{job} is shown as running");
        }
        open.close();
        let journal = self.exec.journal(session);
        let ends = job_lines::ends(&journal);
        let mut out = String::new();
        for (n, mark) in self.exec.marks.iter().enumerate() {
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
            let bytes = std::fs::metadata(self.exec.job_dir(session, n).join("output")).unwrap().len();
            out += &line(job, &state, bytes, own.len());
        }
        let _ = writeln!(out, "nodes {:?}", job_lines::nodes(&journal).into_iter().collect::<Vec<_>>());
        out
    }

    /// Ends what runs on.
    fn clean(&self, session: &SessionId) {
        end_all(self.open(session));
        for (n, mark) in self.exec.marks.iter().enumerate() {
            let living = carrying(mark).is_empty();
            assert!(living, "a kill ends the whole tree of {n}: {} {:?}", status(mark), self.scenario);
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
    private(&crash.exec.dirs().session(&session));
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

#[test]
fn job_record_survives_crash() {
    for (scenario, real) in on_threads(&scenario(), real) {
        assert_eq!(rule(&scenario), real, "{scenario:#?}");
    }
}
