//! The bridge of law J: generated scripts run under real keepers and through the pure machine; what
//! both say, as text, must be the same. The real side looks at files, `/proc` and exit statuses only.
//!
//! It is the bridge of `job_ends_once`, `job_end_is_final`, `job_kill_keeps_output`, `job_kill_reaches_descendants` and
//! `job_end_names_its_cause`.

use std::fmt::Write as _;
use std::time::Duration;

use proptest::prelude::*;
use windlass::base::Millis;
use windlass::law::job::{By, End, Exit, Job, JobEffect, JobEvent, JobLimits};
use windlass::process::record::{self, LeftRecord};
use windlass::process::{News, Record};

use crate::commands::{Bench, carrying, mark, next, until};
use crate::scenarios::agree;

const GRACE_MS: u64 = 400;
/// More than the other processes of any scenario.
const PROCESSES_MAX: u32 = 12;

/// A process that the command starts and does not wait for.
#[derive(Clone, Copy, Debug)]
enum Child {
    Plain,
    Setsid,
    DoubleFork,
    Deaf,
    WithoutOutput,
}

/// How the command's own process goes on once it has started all that.
#[derive(Clone, Copy, Debug)]
enum Main {
    Exits(i32),
    Dies(i32),
    Waits,
    WaitsDeaf,
    /// Prints so many bytes more when it is asked to end, and exits.
    CleansUp(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ended {
    Itself,
    Kill(By),
    Time,
    Output,
    Count,
}

#[derive(Clone, Debug)]
struct Scenario {
    prints: Vec<usize>,
    children: Vec<Child>,
    main: Main,
    ended: Ended,
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let child = prop_oneof![
        Just(Child::Plain),
        Just(Child::Setsid),
        Just(Child::DoubleFork),
        Just(Child::Deaf),
        Just(Child::WithoutOutput)
    ];
    let main = prop_oneof![
        (0..4).prop_map(Main::Exits),
        prop_oneof![Just(2), Just(9), Just(11), Just(15)].prop_map(Main::Dies),
        Just(Main::Waits),
        Just(Main::WaitsDeaf),
        (0_usize..3000).prop_map(Main::CleansUp)
    ];
    let by = prop_oneof![Just(By::User), Just(By::Model), Just(By::Rewind)];
    let kill = prop_oneof![3 => by.prop_map(Ended::Kill), 1 => Just(Ended::Time), 1 => Just(Ended::Output), 1 => Just(Ended::Count)];
    (proptest::collection::vec(0_usize..3000, 0..4), proptest::collection::vec(child, 0..3), main, kill)
        .prop_map(|(prints, children, main, kill)| {
            let ended = match main {
                Main::Exits(_) | Main::Dies(_) => Ended::Itself,
                Main::Waits | Main::WaitsDeaf | Main::CleansUp(_) => kill,
            };
            Scenario { prints, children, main, ended }
        })
}

impl Scenario {
    /// Bytes that are printed before the command goes on as `main` says.
    fn bytes(&self) -> u64 {
        (self.prints.iter().sum::<usize>() + "ready\n".len()) as u64
    }
    fn limits(&self) -> JobLimits {
        let mut limits = JobLimits::new(1 << 20, None);
        limits.grace = Millis(GRACE_MS);
        match self.ended {
            Ended::Time => limits.time_limit = Some(Millis(700)),
            Ended::Output => limits.spool_max = self.bytes() - 1,
            Ended::Count => limits = limits.with_processes_max(PROCESSES_MAX),
            Ended::Itself | Ended::Kill(_) => {}
        }
        limits
    }
    fn script(&self, mark: &str) -> String {
        let mut script = String::new();
        for bytes in &self.prints {
            let _ = writeln!(script, "head -c {bytes} /dev/zero");
        }
        for child in &self.children {
            let _ = match child {
                Child::Plain => writeln!(script, "sleep {mark} &"),
                Child::Setsid => writeln!(script, "setsid sleep {mark} &"),
                Child::DoubleFork => writeln!(script, "(sleep {mark} &)"),
                Child::Deaf => writeln!(script, "(trap '' TERM; exec sleep {mark}) &"),
                Child::WithoutOutput => writeln!(script, "sleep {mark} >/dev/null 2>&1 &"),
            };
        }
        if matches!(self.main, Main::WaitsDeaf) {
            script.push_str("trap '' TERM\n");
        }
        if let Main::CleansUp(bytes) = self.main {
            // bash tells of the child that was ended with it
            let _ = writeln!(script, "exec 2>/dev/null; trap 'head -c {bytes} /dev/zero; exit 0' TERM");
        }
        script.push_str("echo ready\n");
        if self.ended == Ended::Count {
            let _ = writeln!(script, "for n in {{1..{PROCESSES_MAX}}}; do sleep {mark} & done");
        }
        let _ = match self.main {
            Main::Exits(code) => writeln!(script, "exit {code}"),
            Main::Dies(signal) => writeln!(script, "kill -{signal} $$; sleep {mark}"),
            Main::Waits | Main::WaitsDeaf => writeln!(script, "while :; do sleep {mark}; done"),
            // it waits where a signal is heard at once: a child that bash has just forked may swallow its own
            Main::CleansUp(_) => writeln!(script, "sleep {mark} & while :; do wait; done"),
        };
        script
    }
}

/// What a scenario shows, from whichever side.
fn transcript(
    end: &End,
    main: Option<Exit>,
    bytes: u64,
    left: (usize, Option<By>),
    (alive, survivors): (usize, usize),
) -> String {
    let (left, by) = left;
    format!(
        "end {end:?}\nmain {main:?}\nbytes {bytes}\nleft {left} ended by {by:?}\n{alive} alive, {survivors} named\n"
    )
}

/// The rule: the machine, told what such processes do.
fn rule(scenario: &Scenario) -> String {
    let mut job = Job::new(scenario.limits(), Millis(0));
    let mut now = Millis(0);
    let mut effects = job.step(JobEvent::Output(scenario.bytes()), now);
    match (scenario.ended, scenario.main) {
        (Ended::Itself, Main::Exits(code)) => {
            effects.extend(job.step(JobEvent::MainEnded(Exit::Code(code)), now))
        }
        (Ended::Itself, Main::Dies(signal)) => {
            effects.extend(job.step(JobEvent::MainEnded(Exit::Signal(signal)), now));
        }
        (Ended::Kill(by), _) => effects.extend(job.step(JobEvent::Kill(by), now)),
        (Ended::Time, _) => {
            now = job.due().unwrap();
            effects.extend(job.step(JobEvent::Tick, now));
        }
        (Ended::Count, _) => effects.extend(job.step(JobEvent::Processes(PROCESSES_MAX + 1), now)),
        (Ended::Output | Ended::Itself, _) => {}
    }
    let mut left = 0;
    if scenario.ended == Ended::Itself {
        if scenario.children.is_empty() {
            effects.extend(job.step(JobEvent::TreeEmpty, now));
        } else {
            now = job.due().unwrap();
            effects.extend(job.step(JobEvent::Tick, now));
            left = scenario.children.len();
            effects.extend(job.step(JobEvent::ProgramGone, now));
        }
    } else {
        // too many are not asked
        let first = if scenario.ended == Ended::Count { JobEffect::Destroy } else { JobEffect::Terminate };
        assert!(effects.contains(&first));
    }
    // SIGTERM ends who listens, SIGKILL the others; the command's own end first
    let deaf = matches!(scenario.main, Main::WaitsDeaf);
    if let (Main::CleansUp(bytes), true) = (scenario.main, scenario.ended != Ended::Count) {
        job.step(JobEvent::Output(bytes as u64), now);
        job.step(JobEvent::MainEnded(Exit::Code(0)), now);
    }
    if !job.over() && job.main().is_none() {
        let signal = if deaf || scenario.ended == Ended::Count { 9 } else { 15 };
        if deaf && scenario.ended != Ended::Count {
            now = job.due().unwrap();
            assert!(job.step(JobEvent::Tick, now).contains(&JobEffect::Destroy));
        }
        job.step(JobEvent::MainEnded(Exit::Signal(signal)), now);
    }
    if !job.over() {
        job.step(JobEvent::TreeEmpty, now);
    }
    assert!(job.over());
    let left_by = if left > 0 { job.ended_by() } else { None };
    transcript(job.end().unwrap(), job.main(), job.bytes(), (left, left_by), (0, 0))
}

/// The real thing.
async fn real(scenario: &Scenario) -> String {
    let mark = mark();
    let mut bench = Bench::new();
    bench.limits = scenario.limits();
    let mut running = bench.start(&scenario.script(&mark)).await;
    let mut asked = false;
    loop {
        let bytes = match next(&mut running).await.expect("an end is always told") {
            News::Ended { .. } => break,
            News::Output { bytes, .. } => bytes,
            News::Stage(_)
            | News::Waiting(_)
            | News::Stopped(_)
            | News::Screen(_)
            | News::Kept(_)
            | News::Left(_) => continue,
        };
        if let Ended::Kill(by) = scenario.ended
            && !asked
            && bytes >= scenario.bytes()
        {
            asked = true;
            running.kill(by).await;
        }
    }
    let dir = bench.record_dir();
    let told: Record = record::read(&dir, "end.json").unwrap().unwrap();
    drop(running);
    let took = until("nothing is left", || carrying(&mark).is_empty()).await;
    assert!(took < Duration::from_secs(3));
    let (mut left_by, mut survivors) = (None, told.survivors.len());
    if !told.left.is_empty() {
        until("the record", || dir.join("left.json").exists()).await;
        let left: LeftRecord = record::read(&dir, "left.json").unwrap().unwrap();
        left_by = left.by;
        survivors += left.survivors.len();
    }
    // what came after the end changes nothing of it
    let record: Record = record::read(&dir, "end.json").unwrap().unwrap();
    assert_eq!(record, told);
    let code = record.exit_code.map(Exit::Code);
    let main = code.or(record.exit_signal.map(Exit::Signal));
    assert_eq!(bench.spool().len() as u64, record.bytes.min(bench.limits.spool_max));
    let alive = carrying(&mark).len();
    transcript(&record.end, main, record.bytes, (record.left.len(), left_by), (alive, survivors))
}

#[tokio::test]
async fn job_ends_once_as_the_rule_says() {
    agree(scenario(), rule, |scenario| async move { real(&scenario).await }).await;
}
