//! Jobs of an earlier program when their session is opened again: nothing waits until it is known how they stand.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use windlass::api::access::Mode;
use windlass::api::board::Record;
use windlass::api::command::{Command, JobAsk, Query};
use windlass::api::event::Event;
use windlass::api::job::{JobOutcome, JobState};
use windlass::base::JobId;
use windlass::engine::Which;
use windlass::law::job::{By, End};
use windlass::process::record::{self, KeeperRecord};

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
