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
