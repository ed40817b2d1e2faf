//! The laws of a job's end, over generated histories and exhaustively over short ones.

use proptest::prelude::*;

use super::*;

const LIMITS: JobLimits = JobLimits {
    spool_max: 100,
    time_limit: Some(Millis(1000)),
    grace: Millis(200),
    last_wait: Millis(50),
    linger: Millis(5),
    processes_max: Some(10),
};

fn event() -> impl Strategy<Value = JobEvent> {
    let by = prop_oneof![Just(By::User), Just(By::Model), Just(By::Rewind)];
    prop_oneof![
        4 => (0_u64..60).prop_map(JobEvent::Output),
        2 => (0..3).prop_map(|code| JobEvent::MainEnded(Exit::Code(code))),
        1 => Just(JobEvent::MainEnded(Exit::Signal(9))),
        1 => Just(JobEvent::OtherEnded),
        1 => Just(JobEvent::TreeEmpty),
        2 => by.prop_map(JobEvent::Kill),
        1 => Just(JobEvent::ProgramGone),
        1 => Just(JobEvent::SpoolFailed),
        2 => (0_u32..14).prop_map(JobEvent::Processes),
        4 => Just(JobEvent::Tick),
    ]
}

fn history() -> impl Strategy<Value = Vec<(JobEvent, u64)>> {
    proptest::collection::vec((event(), 0_u64..120), 0..40)
}

/// Runs a history; every effect with the time and the event that it answers.
fn run(limits: JobLimits, history: &[(JobEvent, u64)]) -> (Job, Vec<(Millis, JobEvent, JobEffect)>) {
    let mut now = Millis(0);
    let mut job = Job::new(limits, now);
    let mut effects = Vec::new();
    for (event, wait) in history {
        now = now.plus(Millis(*wait));
        effects.extend(job.step(*event, now).into_iter().map(|effect| (now, *event, effect)));
    }
    (job, effects)
}

/// Ends whatever is still there, as the system would: ticks while something is due, then the processes' end.
fn finish(job: &mut Job, mut now: Millis) -> Vec<JobEffect> {
    let mut effects = job.step(JobEvent::ProgramGone, now);
    for _ in 0..200 {
        let Some(due) = job.due() else { break };
        now = now.max(due);
        effects.extend(job.step(JobEvent::Tick, now));
    }
    effects
}

fn settles(effects: &[(Millis, JobEvent, JobEffect)]) -> Vec<&End> {
    effects
        .iter()
        .filter_map(|(_, _, e)| if let JobEffect::Settle(end) = e { Some(end) } else { None })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn job_ends_once(history in history()) {
        let (mut job, effects) = run(LIMITS, &history);
        let more = finish(&mut job, Millis(1_000_000));
        let later = more.iter().filter(|e| matches!(e, JobEffect::Settle(_))).count();
        prop_assert_eq!(settles(&effects).len() + later, 1);
        prop_assert!(job.over(), "a program that went leaves no keeper behind");
    }

    #[test]
    fn job_end_is_final(history in history()) {
        let mut now = Millis(0);
        let mut job = Job::new(LIMITS, now);
        let mut first: Option<(End, u64)> = None;
        for (event, wait) in &history {
            now = now.plus(Millis(*wait));
            job.step(*event, now);
            match (&first, job.end()) {
                (None, Some(end)) => first = Some((end.clone(), job.bytes())),
                (Some((end, bytes)), later) => {
                    prop_assert_eq!(Some(end), later);
                    prop_assert_eq!(*bytes, job.bytes());
                }
                (None, None) => {}
            }
        }
    }

    #[test]
    fn job_kill_keeps_output(history in history()) {
        // every byte told before the end counts, those after a kill too
        let mut expected = 0;
        let mut job = Job::new(LIMITS, Millis(0));
        let mut now = Millis(0);
        for (event, wait) in &history {
            now = now.plus(Millis(*wait));
            if let (JobEvent::Output(bytes), None) = (event, job.end()) {
                expected += bytes;
            }
            job.step(*event, now);
        }
        prop_assert_eq!(job.bytes(), expected);
    }

    #[test]
    fn job_end_names_its_cause(history in history()) {
        let (job, effects) = run(LIMITS, &history);
        let Some(end) = settles(&effects).first().copied() else { return Ok(()) };
        match end {
            End::Exited { code } => prop_assert_eq!(job.main(), Some(Exit::Code(*code))),
            End::Signalled { signal } => prop_assert_eq!(job.main(), Some(Exit::Signal(*signal))),
            End::Killed { by } => {
                // the first that asked; and someone did
                prop_assert_eq!(Some(*by), job.ended_by());
                let asked = history.iter().any(|(event, _)| match by {
                    By::User | By::Model | By::Rewind => *event == JobEvent::Kill(*by),
                    By::TimeLimit => *event == JobEvent::Tick,
                    By::ProcessLimit => matches!(event, JobEvent::Processes(count) if *count > 10),
                    By::OutputLimit => matches!(event, JobEvent::Output(_) | JobEvent::SpoolFailed),
                    By::ProgramGone => *event == JobEvent::ProgramGone,
                });
                prop_assert!(asked, "nobody asked for {:?}", by);
            }
            End::Ended | End::Lost => prop_assert!(false, "a keeper never says this of a command"),
        }
    }

    #[test]
    fn a_kill_asks_first_and_ends_within_its_bounds(history in history()) {
        let (mut job, effects) = run(LIMITS, &history);
        let asked = effects.iter().filter(|(_, _, e)| *e == JobEffect::Terminate).count();
        prop_assert!(asked <= 1);
        let first = effects.iter().find(|(_, _, e)| *e == JobEffect::Terminate).map(|(at, _, _)| *at);
        // too many are not asked
        let crowd = history.iter().any(|(event, _)| matches!(event, JobEvent::Processes(11..)));
        for (at, _, effect) in &effects {
            if *effect == JobEffect::Destroy && !crowd {
                let first = first.expect("SIGKILL comes after SIGTERM");
                prop_assert!(at.since(first) >= LIMITS.grace);
            }
        }
        // from any state: 3 s after the program went the keeper has gone, whatever the processes do
        let start = Millis(1_000_000);
        job.step(JobEvent::ProgramGone, start);
        let mut now = start;
        while let Some(due) = job.due() {
            now = now.max(due);
            job.step(JobEvent::Tick, now);
        }
        prop_assert!(job.over());
        prop_assert!(now.since(start) <= LIMITS.grace.plus(LIMITS.last_wait));
    }
}

/// A process of a tree as the system has it.
#[derive(Clone, Copy, Debug)]
struct Process {
    /// Ignores SIGTERM.
    deaf: bool,
    /// Cannot be signalled at all.
    immortal: bool,
    /// Forks one more so often (ms), as long as it lives and so many are left.
    forks: Option<(u64, u32)>,
    /// It has lost its parent.
    orphan: bool,
    asked: bool,
    alive: bool,
    /// When it ends, of itself or of a signal.
    ends: Option<Millis>,
}

fn process() -> impl Strategy<Value = Process> {
    let forks = proptest::option::weighted(0.3, (1u64..60, 1u32..30));
    (any::<bool>(), proptest::bool::weighted(0.1), forks, any::<bool>()).prop_map(
        |(deaf, immortal, forks, orphan)| Process {
            deaf,
            immortal,
            forks,
            orphan,
            asked: false,
            alive: true,
            ends: None,
        },
    )
}

/// A tree under its keeper: the machine, and a system that does what it says. The first process is the command's own.
struct Tree {
    job: Job,
    processes: Vec<Process>,
    now: Millis,
    left: bool,
}

impl Tree {
    fn tell(&mut self, event: JobEvent) {
        for effect in self.job.step(event, self.now) {
            let soon = |ms: u64| Some(self.now.plus(Millis(ms)));
            for (n, process) in self.processes.iter_mut().enumerate().filter(|(_, p)| p.alive && !p.immortal)
            {
                let slow = (n as u64 * 7) % 30;
                match effect {
                    JobEffect::Terminate => {
                        process.asked = true;
                        process.ends = if process.deaf { process.ends } else { soon(slow) };
                    }
                    JobEffect::TerminateOrphans if process.orphan && !process.asked => {
                        process.asked = true;
                        process.ends = if process.deaf { process.ends } else { soon(slow) };
                    }
                    JobEffect::Destroy => process.ends = soon(slow / 10),
                    JobEffect::TerminateOrphans | JobEffect::Settle(_) | JobEffect::Leave => {}
                }
            }
            let mortal = self.processes.iter().filter(|p| p.alive && !p.immortal).count();
            match effect {
                JobEffect::Settle(End::Killed { .. }) => assert_eq!(mortal, 0, "called gone while it lives"),
                JobEffect::Leave => {
                    assert_eq!(mortal, 0, "left alone while it lives");
                    self.left = true;
                }
                JobEffect::Settle(_)
                | JobEffect::Terminate
                | JobEffect::TerminateOrphans
                | JobEffect::Destroy => {}
            }
        }
    }

    /// A millisecond goes by.
    fn pass(&mut self) {
        self.now = self.now.plus(Millis(1));
        let mut born = Vec::new();
        for process in self.processes.iter_mut().filter(|p| p.alive) {
            if let Some((every, left)) = &mut process.forks
                && *left > 0
                && self.now.0.is_multiple_of(*every)
            {
                *left -= 1;
                // whoever is born to a parent that then ends has lost it
                born.push(Process { forks: None, orphan: true, asked: false, ends: None, ..*process });
            }
        }
        self.processes.extend(born);
        for n in 0..self.processes.len() {
            let process = &mut self.processes[n];
            if process.alive && process.ends.is_some_and(|at| at <= self.now) {
                process.alive = false;
                self.tell(if n == 0 { JobEvent::MainEnded(Exit::Signal(15)) } else { JobEvent::OtherEnded });
            }
        }
        if self.processes.iter().all(|p| !p.alive) {
            self.tell(JobEvent::TreeEmpty);
        }
        if self.job.due().is_some_and(|due| due <= self.now) {
            self.tell(JobEvent::Tick);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A kill at any moment of any tree: whoever may be signalled is gone in the end, also those who are deaf, who were
    /// born after the first signal, and who outlived the command's own process.
    #[test]
    fn job_kill_reaches_descendants(
        main in process(),
        others in proptest::collection::vec(process(), 0..6),
        ends in proptest::option::weighted(0.3, 1u64..300),
        kill in 0u64..300,
        by in prop_oneof![Just(JobEvent::Kill(By::User)), Just(JobEvent::Kill(By::Model)), Just(JobEvent::ProgramGone)],
    ) {
        let limits = JobLimits { processes_max: None, time_limit: None, last_wait: Millis(100), ..LIMITS };
        let main = Process { ends: ends.map(Millis), immortal: false, orphan: false, ..main };
        let processes: Vec<Process> = [main].into_iter().chain(others).collect();
        let mut tree = Tree { job: Job::new(limits, Millis(0)), processes, now: Millis(0), left: false };
        while tree.now.0 < kill {
            tree.pass();
        }
        tree.tell(by);
        while tree.now.0 < kill + limits.grace.0 + LAST_WAITS * limits.last_wait.0 + 100 {
            tree.pass();
        }
        let living: Vec<&Process> = tree.processes.iter().filter(|p| p.alive).collect();
        prop_assert!(living.iter().all(|p| p.immortal), "{:?}", living);
        prop_assert!(tree.job.end().is_some());
        // who cannot be ended keeps its keeper only while there is a program to name it to
        prop_assert_eq!(tree.left, living.is_empty() || by == JobEvent::ProgramGone);
    }

    /// Told that its program is gone, a job asks or ends all that lives, and is over in time; a kept one is not told, and
    /// then nothing but a person, a model or a limit touches it.
    #[test]
    fn job_dies_with_program_unless_kept(history in history(), kept in any::<bool>()) {
        let mut job = Job::new(JobLimits { time_limit: None, ..LIMITS }, Millis(0));
        let mut now = Millis(0);
        let nobody = |event: &JobEvent| matches!(
            event,
            JobEvent::MainEnded(_) | JobEvent::OtherEnded | JobEvent::TreeEmpty | JobEvent::Tick
        );
        let mut touched = false;
        for (event, wait) in history.iter().filter(|(event, _)| nobody(event)) {
            now = now.plus(Millis(*wait));
            touched |= job.step(*event, now).iter().any(|effect| {
                matches!(effect, JobEffect::Terminate | JobEffect::TerminateOrphans | JobEffect::Destroy)
            });
        }
        prop_assert!(!touched);
        if kept {
            return Ok(());
        }
        let empty = job.over();
        let effects = job.step(JobEvent::ProgramGone, now);
        prop_assert_eq!(effects.contains(&JobEffect::Terminate), !empty);
        let (start, mut destroyed) = (now, false);
        while let Some(due) = job.due() {
            now = now.max(due);
            destroyed |= job.step(JobEvent::Tick, now).contains(&JobEffect::Destroy);
        }
        prop_assert!(job.over() && (empty || destroyed));
        prop_assert!(now.since(start) <= LIMITS.grace.plus(LIMITS.last_wait));
    }
}

/// Every history of up to six of these events, one step of time each.
#[test]
fn every_short_history_ends_once_and_for_good() {
    let events = [
        JobEvent::Output(60),
        JobEvent::MainEnded(Exit::Code(0)),
        JobEvent::OtherEnded,
        JobEvent::TreeEmpty,
        JobEvent::Kill(By::User),
        JobEvent::ProgramGone,
        JobEvent::Tick,
    ];
    fn go(job: &Job, depth: usize, now: Millis, settled: usize, events: &[JobEvent]) -> usize {
        if depth == 0 {
            return 1;
        }
        let mut count = 0;
        for event in events {
            let mut job = job.clone();
            let before = job.end().cloned();
            let effects = job.step(*event, now);
            let settled = settled + effects.iter().filter(|e| matches!(e, JobEffect::Settle(_))).count();
            assert!(settled <= 1);
            assert_eq!(settled == 1, job.end().is_some());
            assert!(before.is_none() || before.as_ref() == job.end());
            assert!(!job.over() || job.end().is_some(), "a keeper goes after the end is recorded");
            assert!(job.over() || job.main().is_some() || job.end().is_none() || job.ended_by().is_some());
            count += go(&job, depth - 1, now.plus(Millis(100)), settled, events);
        }
        count
    }
    assert_eq!(go(&Job::new(LIMITS, Millis(0)), 6, Millis(0), 0, &events), 7_usize.pow(6));
}

#[test]
fn a_command_that_ends_alone_settles_at_once() {
    let mut job = Job::new(LIMITS, Millis(0));
    job.step(JobEvent::MainEnded(Exit::Code(3)), Millis(10));
    let effects = job.step(JobEvent::TreeEmpty, Millis(10));
    assert_eq!(effects, [JobEffect::Settle(End::Exited { code: 3 }), JobEffect::Leave]);
}

#[test]
fn what_outlives_the_command_is_watched_and_goes_with_the_program() {
    let mut job = Job::new(LIMITS, Millis(0));
    job.step(JobEvent::MainEnded(Exit::Code(0)), Millis(10));
    assert_eq!(job.due(), Some(Millis(15)));
    assert_eq!(job.step(JobEvent::Tick, Millis(15)), [JobEffect::Settle(End::Exited { code: 0 })]);
    assert_eq!((job.due(), job.over()), (None, false));
    assert_eq!(job.step(JobEvent::ProgramGone, Millis(20)), [JobEffect::Terminate]);
    assert_eq!(job.step(JobEvent::TreeEmpty, Millis(21)), [JobEffect::Leave]);
}

#[test]
fn a_clean_up_is_left_alone_until_its_command_has_ended() {
    let mut job = Job::new(LIMITS, Millis(0));
    assert_eq!(job.step(JobEvent::Kill(By::User), Millis(1)), [JobEffect::Terminate]);
    assert_eq!(job.step(JobEvent::OtherEnded, Millis(2)), []);
    assert_eq!(job.step(JobEvent::MainEnded(Exit::Signal(15)), Millis(3)), [JobEffect::TerminateOrphans]);
    assert_eq!(job.step(JobEvent::OtherEnded, Millis(4)), [JobEffect::TerminateOrphans]);
    let end = End::Killed { by: By::User };
    assert_eq!(job.step(JobEvent::TreeEmpty, Millis(5)), [JobEffect::Settle(end), JobEffect::Leave]);
}

#[test]
fn limits_end_a_command_with_their_names() {
    let mut job = Job::new(LIMITS, Millis(0));
    assert_eq!(job.step(JobEvent::Output(100), Millis(1)), [], "what fits is no reason");
    assert_eq!(job.step(JobEvent::Output(1), Millis(1)), [JobEffect::Terminate]);
    assert_eq!(job.ended_by(), Some(By::OutputLimit));
    let mut job = Job::new(LIMITS, Millis(0));
    assert_eq!(job.step(JobEvent::Processes(10), Millis(1)), [], "so many may be");
    assert_eq!(job.step(JobEvent::Processes(11), Millis(1)), [JobEffect::Destroy]);
    assert_eq!(job.step(JobEvent::Processes(12), Millis(2)), [], "it is under way");
    assert_eq!(job.ended_by(), Some(By::ProcessLimit));
    let mut job = Job::new(LIMITS, Millis(0));
    assert_eq!(job.step(JobEvent::Kill(By::User), Millis(1)), [JobEffect::Terminate]);
    assert_eq!(job.step(JobEvent::Processes(11), Millis(2)), [JobEffect::Destroy], "no grace to multiply in");
    assert_eq!(job.ended_by(), Some(By::User));
    let mut job = Job::new(LIMITS, Millis(0));
    assert_eq!(job.due(), Some(Millis(1000)));
    assert_eq!(job.step(JobEvent::Tick, Millis(1000)), [JobEffect::Terminate]);
    assert_eq!(job.ended_by(), Some(By::TimeLimit));
}

#[test]
fn who_still_ends_after_sigkill_is_no_survivor() {
    let mut job = Job::new(LIMITS, Millis(0));
    job.step(JobEvent::Processes(11), Millis(0));
    assert_eq!(job.step(JobEvent::Tick, Millis(240)), [JobEffect::Destroy]);
    assert_eq!(job.step(JobEvent::OtherEnded, Millis(240)), []);
    assert_eq!(job.step(JobEvent::Tick, Millis(280)), [JobEffect::Destroy]);
    let settled = |job: &mut Job, at| {
        job.step(JobEvent::Tick, Millis(at))
            .contains(&JobEffect::Settle(End::Killed { by: By::ProcessLimit }))
    };
    let mut forks = job.clone();
    assert!(settled(&mut job, 290), "nothing ends any more");
    // one that forks without end is named all the same
    let named = (290..2000).step_by(10).find(|at| {
        forks.step(JobEvent::OtherEnded, Millis(*at));
        settled(&mut forks, *at)
    });
    assert_eq!(named, Some(1000));
}

#[test]
fn ends_have_words() {
    assert_eq!(End::Exited { code: 0 }.words(), "exit 0");
    assert_eq!(End::Signalled { signal: 15 }.words(), "signal SIGTERM");
    assert_eq!(End::Signalled { signal: 40 }.words(), "signal 40");
    assert_eq!(End::Killed { by: By::TimeLimit }.words(), "time limit");
    assert_eq!(signal_name(0), "0");
}
