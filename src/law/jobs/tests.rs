//! Law J: the jobs of a session over random histories, against a plain list of what happened.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Act {
    /// An entry is committed.
    Commit,
    /// A command is started.
    Command,
    /// One of the commands that run goes on as a job.
    Detach(usize),
    /// One of the jobs that run ends.
    End(usize),
    /// The session goes back to one of its entries (none: before the first); the ends of the jobs that this ends
    /// come at once, or never.
    Rewind(Option<usize>, bool),
    /// The program ends and the session is opened again: its jobs go on.
    Reopen,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => Just(Act::Commit),
        2 => Just(Act::Command),
        3 => (0usize..9).prop_map(Act::Detach),
        1 => (0usize..9).prop_map(Act::End),
        1 => (proptest::option::weighted(0.9, 0usize..99), any::<bool>()).prop_map(|(to, now)| Act::Rewind(to, now)),
        1 => Just(Act::Reopen),
    ]
}

/// What happened, as a plain list: the moment of each commit and start.
#[derive(Default)]
struct History {
    moment: u64,
    commits: Vec<u64>,
    /// Commands that are no jobs yet: moment of the start, newest entry then.
    commands: Vec<(u64, Option<u64>)>,
    /// Running jobs: moment of the start, newest entry then.
    jobs: Vec<(JobId, u64, Option<u64>)>,
    minted: BTreeSet<JobId>,
}

impl History {
    fn newest(&self) -> Option<u64> {
        (self.commits.len() as u64).checked_sub(1)
    }
}

/// Carries a history out; after each rewind `check` sees the orphans, the target's moment and what ran.
fn carry_out(acts: Vec<Act>, mut check: impl FnMut(&[JobId], Option<u64>, &[(JobId, u64, Option<u64>)])) {
    let mut jobs = Jobs::new(0, 64);
    let mut history = History::default();
    for act in acts {
        history.moment += 1;
        match act {
            Act::Commit => history.commits.push(history.moment),
            Act::Command => history.commands.push((history.moment, history.newest())),
            Act::Detach(which) if !history.commands.is_empty() => {
                let (moment, after) = history.commands.remove(which % history.commands.len());
                let job = jobs.mint();
                assert!(history.minted.insert(job), "{job} was given before");
                jobs.began(job, after);
                history.jobs.push((job, moment, after));
            }
            Act::End(which) if !history.jobs.is_empty() => {
                let (job, ..) = history.jobs.remove(which % history.jobs.len());
                assert_eq!(jobs.ended(job), Ended::Listed { dismissed: None });
                assert_eq!(jobs.ended(job), Ended::Ignored, "an end is final");
            }
            Act::Rewind(to, at_once) => {
                let target = to.filter(|_| !history.commits.is_empty()).map(|to| to % history.commits.len());
                let before = jobs.clone();
                let orphans = jobs.orphans(target.map(|at| at as u64));
                assert_eq!(jobs, before, "a kill is no end");
                check(&orphans, target.map(|at| history.commits[at]), &history.jobs);
                if at_once {
                    for job in orphans {
                        jobs.ended(job);
                        history.jobs.retain(|(other, ..)| *other != job);
                    }
                }
            }
            Act::Reopen => {
                history.commands.clear();
                let last = history.minted.iter().next_back().map_or(0, |job| job.0);
                jobs = Jobs::new(last, 64);
                for (job, _, after) in &history.jobs {
                    jobs.began(*job, *after);
                }
            }
            Act::Detach(_) | Act::End(_) => {}
        }
        assert!(jobs.running().eq(history.jobs.iter().map(|(job, ..)| *job).collect::<BTreeSet<_>>()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rewind_stops_orphans(acts in proptest::collection::vec(act(), 0..120)) {
        carry_out(acts, |orphans, target, running| {
            for (job, started, _) in running {
                let later = target.is_none_or(|target| *started > target);
                assert!(!later || orphans.contains(job), "{job} was started at {started}, the target is {target:?}");
            }
        });
    }

    #[test]
    fn rewind_keeps_target_jobs(acts in proptest::collection::vec(act(), 0..120)) {
        carry_out(acts, |orphans, target, running| {
            for (job, started, _) in running {
                let earlier = target.is_some_and(|target| *started < target);
                assert!(!earlier || !orphans.contains(job), "{job} of {started}, the target is {target:?}");
            }
            for job in orphans {
                assert!(running.iter().any(|(other, ..)| other == job), "{job} does not run");
            }
        });
    }

    /// One budget for all of them; who ended in time is named as stopped, the others as stopping.
    #[test]
    fn a_rewind_answers_within_one_budget(
        ends in proptest::collection::vec(proptest::option::of(0u64..200), 0..6),
        budget in 0u64..150,
    ) {
        let ids: Vec<JobId> = (1..).map(JobId).take(ends.len()).collect();
        let mut stopping = Stopping::new(ids.iter().copied(), Millis(0), Millis(budget));
        let mut moments: Vec<(u64, Option<JobId>)> =
            ends.iter().zip(&ids).filter_map(|(at, job)| at.map(|at| (at, Some(*job)))).collect();
        moments.extend([(0, None), (budget, None), (budget, Some(JobId(99)))]);
        moments.sort();
        let mut answer = None;
        for (at, job) in moments {
            if let Some(said) = stopping.step(job, Millis(at)) {
                prop_assert!(answer.is_none(), "once");
                answer = Some((said, at));
            }
        }
        let (said, at) = answer.expect("an answer comes");
        prop_assert!(at <= budget);
        for (job, end) in ids.iter().zip(&ends) {
            prop_assert!(said.stopped.contains(job) != said.stopping.contains(job), "each is named once");
            if said.stopping.contains(job) {
                prop_assert!(end.is_none_or(|end| end >= at), "it had ended");
                prop_assert_eq!(at, budget, "there was time left");
            } else {
                prop_assert!(end.is_some_and(|end| end <= at), "it had not ended");
            }
        }
    }

    /// The limit refuses the next start, whoever comes and goes; it ends none, and what runs already is taken in
    /// whatever it says. Places are held in one step: starts at the same moment do not pass the limit together.
    #[test]
    fn the_limit_refuses_the_next_and_ends_none(
        limit in 0u32..5, acts in proptest::collection::vec((0u8..5, 0usize..9), 0..80)
    ) {
        let mut jobs = Jobs::new(7, limit);
        let mut running: Vec<JobId> = Vec::new();
        let mut held = 0;
        for (act, which) in acts {
            match act {
                0 => {
                    let expected =
                        if running.len() + held < limit as usize { Ok(()) } else { Err(Full { limit }) };
                    prop_assert_eq!(jobs.hold(), expected);
                    held += usize::from(expected.is_ok());
                }
                1 if held > 0 => {
                    let job = jobs.mint();
                    jobs.began_in_place(job, None);
                    running.push(job);
                    held -= 1;
                }
                2 if held > 0 => {
                    jobs.give_back();
                    held -= 1;
                }
                3 => {
                    let job = jobs.mint();
                    jobs.began(job, None);
                    running.push(job);
                }
                4 if !running.is_empty() => {
                    jobs.ended(running.remove(which % running.len()));
                }
                _ => {}
            }
            prop_assert!(jobs.running().eq(running.iter().copied()));
        }
    }
}

#[test]
fn names_are_never_given_twice_also_after_opening_again() {
    let mut jobs = Jobs::new(3, 64);
    assert_eq!(jobs.mint(), JobId(4));
    jobs.began(JobId(9), None);
    jobs.let_go(JobId(9));
    assert!(!jobs.runs(JobId(9)) && jobs.listed().count() == 0);
    assert_eq!(jobs.mint(), JobId(10));
    jobs.began(JobId(12), None);
    assert_eq!(jobs.mint(), JobId(13));
}

#[test]
fn the_list_of_ended_jobs_is_bounded_and_loses_its_oldest() {
    let mut jobs = Jobs::new(0, 64);
    for number in 1..=3 * ENDED_MAX as u32 {
        let job = jobs.mint();
        jobs.began(job, None);
        let dismissed = number.checked_sub(ENDED_MAX as u32).filter(|n| *n > 0).map(JobId);
        assert_eq!(jobs.ended(job), Ended::Listed { dismissed });
        assert!(jobs.listed().count() <= ENDED_MAX && jobs.running().count() == 0);
    }
    assert!(jobs.dismiss(JobId(700)) && !jobs.dismiss(JobId(700)));
    assert_eq!(jobs.listed().count(), ENDED_MAX - 1);
    let job = jobs.mint();
    jobs.began(job, None);
    assert!(!jobs.dismiss(job), "one that runs stays");
    assert!(jobs.runs(job));
}

#[test]
fn an_ended_job_does_not_begin_again() {
    let mut jobs = Jobs::new(0, 64);
    let job = jobs.mint();
    jobs.began(job, Some(3));
    jobs.began(job, None);
    assert_eq!(jobs.orphans(Some(4)), [], "the first start counts");
    jobs.ended(job);
    jobs.began(job, Some(9));
    assert!(!jobs.runs(job));
    assert_eq!(jobs.listed().count(), 1);
}

#[test]
fn jobs_that_ended_before_are_listed_again_within_the_bound() {
    let mut jobs = Jobs::new(0, 64);
    jobs.began(JobId(2), None);
    for job in 1..=ENDED_MAX as u32 + 5 {
        jobs.ended_before(JobId(job));
        jobs.ended_before(JobId(job));
    }
    assert_eq!(jobs.listed().count(), ENDED_MAX);
    assert!(jobs.runs(JobId(2)) && jobs.listed().all(|job| job != JobId(2)));
    assert_eq!(jobs.mint(), JobId(ENDED_MAX as u32 + 6), "their names are not given again");
    // the oldest leaves for one that ends now, as if it had ended here
    assert_eq!(jobs.ended(JobId(2)), Ended::Listed { dismissed: Some(JobId(1)) });
    assert!(jobs.dismiss(JobId(3)) && !jobs.dismiss(JobId(3)));
}
