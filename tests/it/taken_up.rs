//! Jobs of an earlier program when their session is opened again: nothing waits until it is known how they stand.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use windlass::api::access::Mode;
use windlass::api::board::Record;
use windlass::api::command::{Command, JobAsk, Query};
use windlass::api::event::Event;
use windlass::api::job::{JobOutcome, JobRow, JobState};
use windlass::base::{JobId, SessionId};
use windlass::engine::Which;
use windlass::front::jobs::{row, seen};
use windlass::law::job::{By, End};
use windlass::process::record::{self, KeeperRecord};
use windlass::store::now;

use crate::commands::{carrying, mark};
use crate::session::{Place, Running};

/// A keeper that does not answer for a while.
struct Silent(Pid);

impl Silent {
    fn new(keeper: i32) -> Self {
        let keeper = Pid::from_raw(keeper);
        kill(keeper, Signal::SIGSTOP).unwrap();
        Self(keeper)
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

fn state(record: &Record, job: u32) -> Option<JobState> {
    record.jobs.get(&JobId(job)).map(|row| row.state.clone())
}

fn ended(open: &mut Running, job: u32) -> JobOutcome {
    open.until("its end", |record| match state(record, job) {
        Some(JobState::Ended(outcome)) => Some((*outcome).clone()),
        _ => None,
    })
}

#[test]
fn a_keeper_that_does_not_answer_holds_up_neither_the_person_nor_the_other_jobs() {
    let place = Place::new();
    let mark = mark();
    let start = json!({"tool": "bash", "input": {"command": format!("sleep {mark}"), "background": true}});
    let script = json!({"turns": [{"calls": [start, start]}, {"say": "They run."}]}).to_string();
    let kept = |options: &mut windlass::engine::Options| options.limits.jobs_kept = true;
    let mut first = place.open_with(&script, Mode::Auto, Which::New, kept);
    first.send("start");
    first.turn_end(1);
    first.until("both are kept", |record| record.jobs.iter().all(|(_, row)| row.kept).then_some(()));
    let (id, dir) = (first.id(), place.dirs().session(&first.id()));
    first.close();
    assert_eq!(carrying(&mark).len(), 2, "they go on");

    let keeper: KeeperRecord = record::read(&dir.join("jobs/j1"), "keeper.json").unwrap().unwrap();
    let silent = Silent::new(keeper.keeper.pid);
    let mut open = place.open_with(&script, Mode::Auto, Which::Id(id), kept);
    open.command(Command::Ask { number: 1, query: Query::Prompts });
    while !open.events.iter().any(|event| matches!(event, Event::Answered { .. })) {
        let mut looked = false;
        open.until("an answer", |_| std::mem::replace(&mut looked, true).then_some(()));
    }
    open.until("the other one is found", |record| {
        (state(record, 2) == Some(JobState::Running)).then(|| {
            assert_eq!(state(record, 1), Some(JobState::Sought));
        })
    });
    // what is asked meanwhile waits for the answer
    open.command(Command::Job { job: JobId(1), ask: JobAsk::Kill });
    open.command(Command::Job { job: JobId(2), ask: JobAsk::Kill });
    assert_eq!(ended(&mut open, 2).end, End::Killed { by: By::User });
    open.until("it is still looked up", |record| (state(record, 1) == Some(JobState::Sought)).then_some(()));
    drop(silent);
    assert_eq!(ended(&mut open, 1).end, End::Killed { by: By::User });
    open.close();
    assert_eq!(carrying(&mark), Vec::<i32>::new());
}

/// The rows as another terminal is told them: by the program that has the session open, or by the directories alone.
fn told<'a>(session: &SessionId, rows: impl Iterator<Item = &'a JobRow>) -> Vec<Value> {
    rows.map(|row| row::json(session, row, now())).collect()
}

fn by_program(open: &mut Running) -> Vec<Value> {
    let id = open.id();
    open.until("the rows", |record| Some(told(&id, record.jobs.iter().map(|(_, row)| row))))
}

fn by_directories(place: &Place, id: &SessionId) -> Vec<Value> {
    let seen = seen::all(&place.dirs().session(id));
    told(id, seen.iter().map(|seen| &seen.row))
}

#[test]
fn an_ended_job_stays_listed_over_sessions_until_a_person_takes_it_off() {
    let place = Place::new();
    let mark = mark();
    let bash = |command: &str| json!({"tool": "bash", "input": {"command": command, "background": true}});
    let calls = [
        bash("echo one; exit 3"),
        bash("echo two; kill $$"),
        bash(&format!("echo three; sleep {mark}")),
        bash(&format!("echo four; sleep {mark}")),
        bash(&format!("sleep {mark} & echo five")),
    ];
    let script = json!({"turns": [{"calls": calls}, {"say": "They run."}]}).to_string();
    let mut first = place.open_with(&script, Mode::Auto, Which::New, |_| ());
    first.send("start");
    first.turn_end(1);
    let (id, dir) = (first.id(), place.dirs().session(&first.id()));
    ended(&mut first, 1);
    ended(&mut first, 2);
    ended(&mut first, 5);
    // it sleeps, then its keeper dies
    until_sleeping(&mark, 3);
    first.command(Command::Job { job: JobId(3), ask: JobAsk::Kill });
    let keeper: KeeperRecord = record::read(&dir.join("jobs/j4"), "keeper.json").unwrap().unwrap();
    kill(Pid::from_raw(keeper.keeper.pid), Signal::SIGKILL).unwrap();
    let lost = ended(&mut first, 4);
    assert_eq!(lost.end, End::Lost);
    assert!(lost.duration > windlass::base::Millis(0), "it was seen: {lost:?}");
    ended(&mut first, 3);
    first.command(Command::Job { job: JobId(6), ask: JobAsk::Kill });
    ended(&mut first, 6);
    let listed = by_program(&mut first);
    assert_eq!(listed.len(), 6);
    first.close();
    assert_eq!(carrying(&mark), Vec::<i32>::new());
    assert_eq!(by_directories(&place, &id), listed);

    let mut open = place.open(&script, Mode::Auto, Which::Id(id.clone()));
    assert_eq!(by_program(&mut open), listed, "opened again they stand as they stood");
    open.until("the last lines and the whole output", |record| {
        let row = record.jobs.get(&JobId(1))?;
        assert_eq!(
            (row.tail.as_str(), std::fs::read(&row.spool).unwrap().as_slice()),
            ("one", &b"one\n"[..])
        );
        Some(())
    });
    for job in [1, 4, 6] {
        open.command(Command::Job { job: JobId(job), ask: JobAsk::Dismiss });
    }
    open.until("they are off the list", |record| (record.jobs.iter().count() == 3).then_some(()));
    let left = by_program(&mut open);
    let journal = std::fs::read(place.journal(&id)).unwrap();
    open.close();
    assert_eq!(by_directories(&place, &id), left);
    let mut again = place.open(&script, Mode::Auto, Which::Id(id.clone()));
    assert_eq!(by_program(&mut again), left, "what was taken off stays off");
    again.close();
    assert_eq!(std::fs::read(place.journal(&id)).unwrap(), journal, "looking changes nothing");
}

fn until_sleeping(mark: &str, count: usize) {
    let begun = std::time::Instant::now();
    while carrying(mark).len() < count {
        assert!(begun.elapsed() < std::time::Duration::from_secs(30), "they never sleep");
        std::thread::yield_now();
    }
}
