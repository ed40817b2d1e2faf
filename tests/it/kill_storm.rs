//! The kill storm: a real `windlass exec` with ten jobs, half of them kept by a visitor, is killed with SIGKILL at random
//! moments. Then exactly the kept ones live, and opening the session again tells the truth about all.
//!
//! A few moments in the usual suite; two hundred under `tests/run --long`.
//!
//! Keeps `job_dies_with_program_unless_kept`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use windlass::base::{JobId, SessionId};
use windlass::process::record::ProcessId;
use windlass::process::tree;
use windlass::process::visit::Visit;
use windlass::process::wire::{FromKeeper, ToKeeper};

use crate::commands::carrying;
use crate::job_lines;
use crate::killed_exec::{KilledExec, end_all, running, wait};

const JOBS: usize = 10;
const MOMENTS: usize = 4;
const MOMENTS_LONG: usize = 200;
/// Programs at the same time.
const AT_ONCE: usize = 2;
/// What is not kept is gone so soon after its program.
const GONE_MAX: Duration = Duration::from_secs(3);

/// When the program is killed: as it starts, or when all jobs run; so much later.
#[derive(Clone, Copy, Debug)]
struct Moment {
    all_run: bool,
    after: Duration,
    /// Some jobs ignore SIGTERM.
    deaf: bool,
}

/// Spread by a fixed rule, so that a run can be had again; the system adds its own chance.
fn moments(count: usize) -> Vec<Moment> {
    let spread = |n: usize, within: u64| Duration::from_micros((n as u64 * 7_919_993) % (within * 1000));
    let moment = |n: usize| {
        let all_run = n.is_multiple_of(2);
        let after = spread(n + 1, if all_run { 200 } else { 1500 });
        Moment { all_run, after, deaf: n.is_multiple_of(8) }
    };
    (0..count).map(moment).collect()
}

/// How a program was when it was killed.
struct Struck {
    asked: BTreeMap<usize, bool>,
    /// A process of each job that slept.
    lived: BTreeMap<usize, ProcessId>,
    at: Instant,
}

struct Storm {
    exec: KilledExec,
    moment: Moment,
}

/// What was asked of a job by the visitor who keeps every other one, and whether its keeper said that it is so.
type Asked = Mutex<BTreeMap<usize, bool>>;

impl Storm {
    fn new(moment: Moment) -> Self {
        let command = |n: usize, mark: &str| {
            let bytes = Self::bytes(n);
            let then = match n % 5 {
                0 => format!("setsid sleep {mark} & exec sleep {mark}"),
                1 => format!("(sleep {mark} &) ; exec sleep {mark}"),
                2 if moment.deaf => format!("trap '' TERM; while :; do sleep {mark}; done"),
                _ => format!("exec sleep {mark}"),
            };
            format!("head -c {bytes} /dev/zero; : >ready.{n}; {then}")
        };
        Self { exec: KilledExec::new(JOBS, command), moment }
    }

    fn bytes(n: usize) -> u64 {
        1000 + 37 * n as u64
    }

    /// The session, once there is one.
    fn session(&self) -> Option<SessionId> {
        let mut found = std::fs::read_dir(self.exec.dirs().sessions()).ok()?.flatten();
        found.find_map(|entry| Some(SessionId::new(entry.file_name().to_str()?)))
    }

    /// Keeps every other job as soon as it is there, until it is told to stop.
    fn visitor(&self, asked: &Asked, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            for n in (0..JOBS).step_by(2) {
                let Some(session) = self.session() else { break };
                if asked.lock().unwrap().contains_key(&n) || over.load(Ordering::Relaxed) {
                    continue;
                }
                let Ok((visit, _)) = Visit::open(&self.exec.job_dir(&session, n)) else { continue };
                asked.lock().unwrap().insert(n, false);
                if keep(visit) {
                    asked.lock().unwrap().insert(n, true);
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Runs the program up to its moment and kills it.
    fn strike(&self) -> Struck {
        let (asked, over) = (Asked::default(), AtomicBool::new(false));
        let (lived, at) = std::thread::scope(|scope| {
            let mut program = self.exec.start(Stdio::null());
            scope.spawn(|| self.visitor(&asked, &over));
            if self.moment.all_run {
                wait("all jobs run", || {
                    let kept = asked.lock().unwrap().values().filter(|kept| **kept).count();
                    kept == JOBS / 2 && !carrying(&self.exec.blocker).is_empty()
                });
            }
            std::thread::sleep(self.moment.after);
            let lived = self.living();
            program.kill().unwrap();
            let at = Instant::now();
            over.store(true, Ordering::Relaxed);
            program.wait().unwrap();
            (lived, at)
        });
        Struck { asked: asked.into_inner().unwrap(), lived, at }
    }

    /// One process of each job that sleeps.
    fn living(&self) -> BTreeMap<usize, ProcessId> {
        let one =
            |mark: &String| carrying(mark).into_iter().filter_map(tree::seen).map(|seen| seen.id).next();
        self.exec.marks.iter().enumerate().filter_map(|(n, mark)| Some((n, one(mark)?))).collect()
    }

    /// What must be gone is gone in time; which jobs go on, and how long the others took.
    fn aftermath(&self, struck: &Struck) -> (Vec<usize>, Duration) {
        let may_live = |n: &usize| struck.asked.contains_key(n);
        let dying: Vec<&String> = (0..JOBS)
            .filter(|n| !may_live(n))
            .map(|n| &self.exec.marks[n])
            .chain([&self.exec.blocker])
            .collect();
        wait("what is not kept is gone", || dying.iter().all(|mark| carrying(mark).is_empty()));
        let took = struck.at.elapsed();
        // whoever was asked and did not answer any more may be kept or not; it is decided by then
        if let Some(rest) = GONE_MAX.checked_sub(struck.at.elapsed()).filter(|_| !struck.all_answered()) {
            std::thread::sleep(rest);
        }
        let mut kept = Vec::new();
        for (n, answered) in &struck.asked {
            if *answered {
                // its shell may not have come to its sleep yet
                wait("what was kept sleeps", || !carrying(&self.exec.marks[*n]).is_empty());
            }
            let lives = !carrying(&self.exec.marks[*n]).is_empty();
            kept.extend(lives.then_some(*n));
            if let (true, Some(process)) = (lives, struck.lived.get(n)) {
                let same = tree::seen(process.pid).is_some_and(|seen| seen.id == *process);
                assert!(same, "{n} is another process now: {:?}", self.moment);
            }
        }
        // a keeper writes the end down when its last process is gone: until then it has not ended
        if let Some(session) = self.session() {
            for n in (0..JOBS).filter(|n| !kept.contains(n) && self.exec.job_dir(&session, *n).exists()) {
                let end = self.exec.job_dir(&session, n).join("end.json");
                wait("its end is recorded", || end.exists());
            }
        }
        (kept, took)
    }

    /// What the opened session says of each job, and what it must say.
    fn told(&self, session: &SessionId, kept: &[usize]) -> (String, String) {
        let open = self.exec.open(session, |_| ());
        let running = running(&open);
        end_all(open);
        let journal = self.exec.journal(session);
        let ends = job_lines::ends(&journal);
        let (mut real, mut rule) = (String::new(), String::new());
        // where the node does not stand yet it is still a call: that is settled as interrupted
        for n in (0..JOBS).filter(|n| self.exec.job_dir(session, *n).join("job.json").exists()) {
            let job = JobId(n as u32 + 1);
            let causes: Vec<&str> =
                ends.iter().filter(|end| end.job == job.0).map(|end| end.cause.as_str()).collect();
            let file =
                std::fs::metadata(self.exec.job_dir(session, n).join("output")).map_or(0, |meta| meta.len());
            let printed = self.exec.place.cwd().join(format!("ready.{n}")).exists();
            let whole = !printed || file == Self::bytes(n);
            let _ = writeln!(real, "{job} runs {} ends {causes:?} whole {whole}", running.contains(&job));
            let lives = kept.contains(&n);
            let cause = if lives { "user" } else { "program_gone" };
            let _ = writeln!(rule, "{job} runs {lives} ends {:?} whole true", [cause]);
        }
        (real, rule)
    }
}

impl Struck {
    fn all_answered(&self) -> bool {
        self.asked.values().all(|kept| *kept)
    }
}

/// Keeps a job; whether its keeper said so.
fn keep(mut visit: Visit) -> bool {
    if visit.say(&ToKeeper::Keep { on: true }).is_err() {
        return false;
    }
    loop {
        match visit.hear() {
            Ok(Some(FromKeeper::Kept { on })) => return on,
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return false,
        }
    }
}

/// One moment: how long what was not kept took to go, how many were kept, and how many jobs there were.
fn strike(moment: Moment) -> (Duration, usize, usize) {
    let storm = Storm::new(moment);
    let struck = storm.strike();
    let (kept, took) = storm.aftermath(&struck);
    let mut jobs = 0;
    if let Some(session) = storm.session().filter(|session| begun(&storm.exec.dirs().session(session))) {
        let (real, rule) = storm.told(&session, &kept);
        assert_eq!(rule, real, "{moment:?}");
        jobs = rule.lines().count();
    }
    for mark in &storm.exec.marks {
        wait("nothing is left", || carrying(mark).is_empty());
    }
    (took, kept.len(), jobs)
}

/// Whether anything of the session was committed.
fn begun(session: &Path) -> bool {
    std::fs::metadata(session.join("journal.jsonl")).is_ok_and(|meta| meta.len() > 0)
}

#[test]
fn job_dies_with_program_unless_kept() {
    storm(MOMENTS);
}

#[test]
#[ignore = "it takes minutes, and the whole machine: tests/run --long runs it alone"]
fn the_kill_storm_at_two_hundred_moments() {
    storm(MOMENTS_LONG);
}

fn storm(count: usize) {
    let moments = moments(count);
    let next = AtomicUsize::new(0);
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(moment) = moments.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = strike(*moment);
                    assert!(found.0 < GONE_MAX, "{:?} after the program: {moment:?}", found.0);
                    seen.lock().unwrap().push(found);
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), moments.len());
    let slowest = seen.iter().map(|(took, _, _)| *took).max().unwrap_or_default();
    let (kept, jobs) = seen.iter().fold((0, 0), |sum, (_, kept, jobs)| (sum.0 + kept, sum.1 + jobs));
    eprintln!(
        "{} moments, {jobs} jobs, {kept} kept and alive, the others gone within {slowest:?}",
        seen.len()
    );
}
