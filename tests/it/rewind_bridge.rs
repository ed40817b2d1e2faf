//! The bridge of law J's rewind: generated conversations with jobs are carried out by a real session with real
//! processes and by the pure rule (`law::jobs`); after each rewind what both say, as text, must be the same.
//!
//! The real side looks at `/proc`, at the lines of the journal and at what a person is told. The rule's side knows the
//! order in which a turn commits and starts, and nothing of the session.
//!
//! Keeps `rewind_stops_orphans`, `rewind_keeps_target_jobs`. Not here: files (`rewind`), what a rewind may go to.

use std::fmt::Write as _;
use std::sync::OnceLock;

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass::api::access::Mode;
use windlass::api::command::Command;
use windlass::api::entry::{Entry, EntryBody};
use windlass::api::event::{Event, Rewound};
use windlass::base::{EntryId, JobId};
use windlass::engine::Which;
use windlass::law::jobs::{Ended, Jobs};

use crate::commands::{carrying, mark};
use crate::job_lines;
use crate::scenarios::{SCENARIOS, on_threads};
use crate::session::{Place, Running};

/// A place in a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Point {
    Message,
    CallStart,
    CallSettle,
    End,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A turn without a job.
    Say,
    /// A turn whose call goes on as a job; `quick`: that soon ends by itself.
    Job { quick: bool },
    /// Back to a place of a turn of the branch (counted from its end; none: before the first).
    Rewind(Option<(usize, Point)>),
}

fn step() -> impl Strategy<Value = Step> {
    let point =
        prop_oneof![Just(Point::Message), Just(Point::CallStart), Just(Point::CallSettle), Just(Point::End)];
    prop_oneof![
        2 => Just(Step::Say),
        4 => proptest::bool::weighted(0.15).prop_map(|quick| Step::Job { quick }),
        3 => proptest::option::weighted(0.9, (0usize..4, point)).prop_map(Step::Rewind),
    ]
}

fn scenario() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(step(), 2..8).prop_map(|mut steps| {
        steps.push(Step::Rewind(Some((1, Point::End))));
        steps
    })
}

/// What a scenario shows, from whichever side.
#[derive(Default)]
struct Told(String);

impl Told {
    fn rewound(&mut self, stopped: &[JobId], alive: &[usize], by_rewind: &[usize]) {
        let _ =
            writeln!(self.0, "stopped {stopped:?}, alive {alive:?}, ended by a rewind so far {by_rewind:?}");
    }
}

/// A turn of the branch: what stands at its places.
type Turn<T> = Vec<(Point, T)>;

/// Where a rewind goes, and what of the branch is left.
fn target<T: Clone>(branch: &mut Vec<Turn<T>>, to: Option<(usize, Point)>) -> Option<T> {
    let Some((back, point)) = to.filter(|_| !branch.is_empty()) else {
        branch.clear();
        return None;
    };
    branch.truncate(branch.len() - back.min(branch.len() - 1));
    let turn = branch.last_mut().unwrap();
    let at = turn.iter().position(|(p, _)| *p == point).unwrap_or(0);
    turn.truncate(at + 1);
    Some(turn[at].1.clone())
}

fn rule(steps: &[Step]) -> String {
    let mut told = Told::default();
    let mut jobs = Jobs::new(0, 64);
    let mut committed = 0_u64;
    let mut commit = || {
        committed += 1;
        committed
    };
    let mut branch: Vec<Turn<u64>> = Vec::new();
    let (mut alive, mut by_rewind) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Say => {
                let (message, _answer, end) = (commit(), commit(), commit());
                branch.push(vec![(Point::Message, message), (Point::End, end)]);
            }
            Step::Job { quick } => {
                let (message, _answer, start) = (commit(), commit(), commit());
                let job = jobs.mint();
                jobs.began(job, Some(start));
                let (settle, _answer, end) = (commit(), commit(), commit());
                branch.push(vec![
                    (Point::Message, message),
                    (Point::CallStart, start),
                    (Point::CallSettle, settle),
                    (Point::End, end),
                ]);
                if *quick {
                    assert_eq!(jobs.ended(job), Ended::Listed { dismissed: None });
                    commit();
                } else {
                    alive.push(job);
                }
            }
            Step::Rewind(to) => {
                let orphans = jobs.orphans(target(&mut branch, *to));
                for job in &orphans {
                    jobs.ended(*job);
                    alive.retain(|other| other != job);
                    by_rewind.push(*job);
                    commit();
                }
                by_rewind.sort_unstable();
                let number = |jobs: &[JobId]| jobs.iter().map(|job| job.0 as usize).collect::<Vec<_>>();
                told.rewound(&orphans, &number(&alive), &number(&by_rewind));
            }
        }
    }
    told.0
}

/// The answers of the model, in the order in which they are asked for.
fn script(steps: &[Step], marks: &[String]) -> Value {
    let mut marks = marks.iter();
    let mut turns = Vec::new();
    for step in steps {
        match step {
            Step::Say => turns.push(json!({"say": "yes"})),
            Step::Job { quick } => {
                let mark = marks.next().unwrap();
                let command = if *quick { "true".to_owned() } else { format!("sleep {mark}") };
                let input = json!({"command": command, "background": true});
                turns.push(json!({"calls": [{"tool": "bash", "input": input}]}));
                turns.push(json!({"say": "it runs"}));
            }
            Step::Rewind(_) => {}
        }
    }
    json!({"turns": turns})
}

/// The newest turn of the record, once it has ended.
fn turn(path: &[std::sync::Arc<Entry>], text: &str) -> Option<Turn<EntryId>> {
    let from = path.iter().position(|e| matches!(&e.body, EntryBody::User(m) if m.text == text))?;
    let point = |body: &EntryBody| match body {
        EntryBody::User(_) => Some(Point::Message),
        EntryBody::CallStart(_) => Some(Point::CallStart),
        EntryBody::CallSettle(_) => Some(Point::CallSettle),
        EntryBody::TurnEnd(_) => Some(Point::End),
        _ => None,
    };
    let turn: Turn<EntryId> =
        path[from..].iter().filter_map(|entry| Some((point(&entry.body)?, entry.id.clone()))).collect();
    turn.iter().any(|(point, _)| *point == Point::End).then_some(turn)
}

/// Numbers of the jobs whose end in the journal is a rewind's.
fn ended_by_rewind(journal: &std::path::Path) -> Vec<usize> {
    let ends = job_lines::ends(journal).into_iter().filter(|end| end.cause == "rewind");
    let mut jobs: Vec<usize> = ends.map(|end| end.job as usize).collect();
    jobs.sort_unstable();
    jobs
}

fn last_rewound(events: &[Event]) -> Option<&Rewound> {
    events.iter().rev().find_map(|event| match event {
        Event::Rewound(rewound) => Some(rewound),
        _ => None,
    })
}

fn real(steps: &[Step]) -> String {
    let mut told = Told::default();
    let marks: Vec<String> =
        steps.iter().filter(|step| matches!(step, Step::Job { .. })).map(|_| mark()).collect();
    let place = Place::new();
    let mut session = place.open(&script(steps, &marks).to_string(), Mode::Auto, Which::New);
    let journal = place.journal(&session.id());
    let mut branch: Vec<Turn<EntryId>> = Vec::new();
    let mut jobs = 0;
    for (n, step) in steps.iter().enumerate() {
        match step {
            Step::Say | Step::Job { .. } => {
                let text = format!("message {n}");
                session.send(&text);
                let turn = session.until("the turn's end", |record| {
                    turn(&record.path, &text).filter(|_| !record.status.phase.busy())
                });
                branch.push(turn);
                if let Step::Job { quick } = step {
                    jobs += 1;
                    began(&mut session, JobId(jobs), *quick, &marks[jobs as usize - 1]);
                }
            }
            Step::Rewind(to) => {
                let to = target(&mut branch, *to);
                session.events.clear();
                session.command(Command::Rewind { to, restore: false, take_back: None });
                while last_rewound(&session.events).is_none() {
                    let mut looked = false;
                    session.until("the rewind", |_| std::mem::replace(&mut looked, true).then_some(()));
                }
                let rewound = last_rewound(&session.events).unwrap();
                let stopped: Vec<JobId> = [&rewound.stopped[..], &rewound.stopping[..]].concat();
                let living = (1..=jobs as usize).filter(|job| !carrying(&marks[job - 1]).is_empty());
                told.rewound(&stopped, &living.collect::<Vec<_>>(), &ended_by_rewind(&journal));
            }
        }
    }
    drop(session);
    assert!(marks.iter().all(|mark| carrying(mark).is_empty()), "the end of the session ends its jobs");
    told.0
}

/// Waits until a job runs, or has run.
fn began(session: &mut Running, job: JobId, quick: bool, mark: &str) {
    session.until("the job", |record| record.jobs.get(&job).filter(|row| quick != row.runs()).map(drop));
    if quick {
        session.until("its end", |record| {
            let ended = |e: &Entry| matches!(&e.body, EntryBody::JobEnd(end) if end.job == job);
            record.path.iter().any(|entry| ended(entry)).then_some(())
        });
    } else {
        let begin = std::time::Instant::now();
        while carrying(mark).is_empty() {
            assert!(begin.elapsed() < crate::commands::LONG, "{job} never ran");
            std::thread::yield_now();
        }
    }
}

/// Every scenario with what the rule and the session said of it: run once for all tests here.
fn ran() -> &'static [(Vec<Step>, String, String)] {
    static RAN: OnceLock<Vec<(Vec<Step>, String, String)>> = OnceLock::new();
    RAN.get_or_init(|| {
        let both = |steps: &Vec<Step>| (rule(steps), real(steps));
        on_threads(&scenario(), both).into_iter().map(|(steps, (rule, real))| (steps, rule, real)).collect()
    })
}

#[test]
fn rewind_stops_orphans() {
    for (steps, rule, real) in ran() {
        let stopped = |told: &str| -> Vec<String> {
            told.lines().map(|line| line.split(", alive").next().unwrap().to_owned()).collect()
        };
        assert_eq!(stopped(rule), stopped(real), "{steps:?}\n{real}");
    }
    assert_eq!(ran().len(), SCENARIOS);
}

#[test]
fn rewind_keeps_target_jobs() {
    for (steps, rule, real) in ran() {
        assert_eq!(rule, real, "{steps:?}");
    }
}
