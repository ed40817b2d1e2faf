//! The jobs pane by itself: order, selection by id, rows.

use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::api::job::{JobNode, JobOutcome, Starter};
use crate::base::{CallId, Millis};
use crate::law::board::Board;
use crate::law::job::{By, End, Stage};

fn row(id: u32, command: &str) -> JobRow {
    JobRow {
        node: JobNode {
            id: JobId(id),
            call: CallId::new(format!("c{id}")),
            command: command.into(),
            cwd: PathBuf::from("/srv"),
            by: Starter::Model,
            hidden: false,
            terminal: false,
            after: None,
            began: Millis(0),
        },
        pid: 7,
        state: JobState::Running,
        kept: false,
        bytes: 2150,
        lines: 3,
        tail: "one\ntwo\n".into(),
        waiting: false,
        stopped: false,
        screen: None,
        spool: PathBuf::from("/srv/out"),
    }
}

fn over(end: End, at: u64) -> JobState {
    JobState::Ended(Arc::new(JobOutcome {
        end,
        exit_code: None,
        exit_signal: None,
        ended: Millis(at),
        duration: Millis(9000),
        bytes: 12,
        lines: 1,
        last: "last line\n".into(),
        gone: 0,
        survivors: Vec::new(),
        trouble: None,
    }))
}

fn taken(state: &mut State, board: &Board<JobId, JobRow>) {
    state.picture.update(board);
    state.arrange();
}

#[test]
fn running_jobs_stand_first_by_id_then_the_newest_end() {
    let mut board = Board::default();
    for id in 1..=5 {
        board.begin(JobId(id), row(id, "x"));
    }
    board.report(&JobId(1), |row| row.state = over(End::Exited { code: 0 }, 10));
    board.report(&JobId(4), |row| row.state = over(End::Exited { code: 1 }, 20));
    let mut state = State::default();
    taken(&mut state, &board);
    assert_eq!(state.listed(), [2, 3, 5, 4, 1].map(JobId));
}

#[test]
fn a_key_after_the_selected_job_left_the_list_hits_no_other() {
    let mut board = Board::default();
    for id in 1..=3 {
        board.begin(JobId(id), row(id, "x"));
    }
    let mut state = State::default();
    taken(&mut state, &board);
    state.list.choose(1);
    board.end(&JobId(2));
    taken(&mut state, &board);
    assert!(matches!(update(&mut state, Msg::Do(Action::JobKill), Millis(0))[..], [Out::Say(_)]));
    update(&mut state, Msg::List(list::Msg::Move(1)), Millis(0));
    assert_eq!(state.selected(), Some(JobId(3)), "one goes on from where it was");
}

#[test]
fn what_ended_is_not_killed_and_what_runs_is_not_dismissed() {
    let mut board = Board::default();
    board.begin(JobId(1), row(1, "x"));
    let mut state = State::default();
    taken(&mut state, &board);
    state.entered();
    let one = |state: &mut State, action| update(state, Msg::Do(action), Millis(0)).remove(0);
    assert!(matches!(one(&mut state, Action::JobDismiss), Out::Say(_)));
    assert_eq!(one(&mut state, Action::JobKill), Out::Ask(JobId(1), JobAsk::Kill));
    assert_eq!(one(&mut state, Action::JobKeep), Out::Ask(JobId(1), JobAsk::Keep(true)));
    assert!(matches!(one(&mut state, Action::JobAttach), Out::Say(_)), "it has no terminal");
    board.report(&JobId(1), |row| row.state = over(End::Lost, 3));
    taken(&mut state, &board);
    for action in [Action::JobKill, Action::JobSignal, Action::JobKeep, Action::JobAttach] {
        assert!(matches!(one(&mut state, action), Out::Say(_)));
    }
    assert_eq!(one(&mut state, Action::JobDismissAll), Out::Ask(JobId(1), JobAsk::Dismiss));
    assert_eq!(one(&mut state, Action::JobCopyLast), Out::Copy("last line".into()));
}

#[test]
fn every_end_is_said_with_who_and_why() {
    let mut job = row(1, "x");
    job.state = JobState::Sought;
    assert_eq!((words::stands(&job).0, words::note(&job).0.as_str()), ("…", "being looked up"));
    job.state = JobState::Ending { by: By::User, stage: Stage::Asked { processes: 3 } };
    assert_eq!(words::note(&job).0, "TERM sent to 3");
    job.state = JobState::Ending { by: By::User, stage: Stage::Destroyed { processes: 1 } };
    assert_eq!(words::note(&job).0, "KILL sent to 1");
    job.state = over(End::Killed { by: By::User }, 1);
    if let JobState::Ended(outcome) = &mut job.state {
        Arc::get_mut(outcome).expect("ours alone").gone = 3;
    }
    assert_eq!(words::note(&job).0, "stopped by you, 3 processes gone");
    assert_eq!(words::bytes(999), "999");
    assert_eq!(words::bytes(2150), "2.0K");
    assert_eq!(words::bytes(18 << 10), "18K");
    assert_eq!(words::bytes(1 << 40), "1.0T");
    assert!(words::bytes(u64::MAX).len() <= 5);
}

#[derive(Clone, Debug)]
enum Step {
    Begin,
    End(u32),
    Gone(u32),
    Move(i32),
    Page(i32),
    Search(&'static str),
    Key(Action),
}

fn step() -> impl Strategy<Value = Step> {
    let keys = vec![Action::JobKill, Action::JobKeep, Action::JobDismiss, Action::JobOpen, Action::JobSignal];
    prop_oneof![
        3 => Just(Step::Begin),
        2 => (1..30u32).prop_map(Step::End),
        2 => (1..30u32).prop_map(Step::Gone),
        3 => (-3..4i32).prop_map(Step::Move),
        1 => (-2..3i32).prop_map(Step::Page),
        1 => proptest::sample::select(vec!["", "even", "j1"]).prop_map(Step::Search),
        4 => proptest::sample::select(keys).prop_map(Step::Key),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever moves and ends: a key is for the job that was marked when it was last moved there, or for none.
    #[test]
    fn a_key_is_for_the_marked_job_or_for_none(steps in proptest::collection::vec(step(), 1..60)) {
        let (mut board, mut state, mut next) = (Board::default(), State::default(), 1);
        let mut marked = None;
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Step::Begin => {
                    board.begin(JobId(next), row(next, if next % 2 == 0 { "even" } else { "odd" }));
                    next += 1;
                }
                Step::End(id) => {
                    board.report(&JobId(id), |row| row.state = over(End::Ended, at as u64));
                }
                Step::Gone(id) => drop(board.end(&JobId(id))),
                Step::Move(by) => drop(update(&mut state, Msg::List(list::Msg::Move(by)), Millis(0))),
                Step::Page(by) => drop(update(&mut state, Msg::List(list::Msg::Page(by)), Millis(0))),
                Step::Search(text) => drop(update(&mut state, Msg::Search(text.into()), Millis(0))),
                Step::Key(action) => {
                    for out in update(&mut state, Msg::Do(action), Millis(0)) {
                        match out {
                            Out::Ask(job, _) | Out::Open(job, _) | Out::Signals(job) => {
                                prop_assert_eq!(Some(job), marked);
                            }
                            Out::Say(_) => {}
                            other => prop_assert!(false, "{:?}", other),
                        }
                    }
                    continue;
                }
            }
            let moved = !matches!(step, Step::Begin | Step::End(_) | Step::Gone(_));
            taken(&mut state, &board);
            if moved {
                marked = state.selected();
            } else {
                prop_assert!(state.selected().is_none() || state.selected() == marked);
            }
        }
    }
}
