//! The jobs on the screen: the pane, its keys, the strip of counts, leaving while they run, and what is
//! told of an end while the window is not looked at.

use std::path::PathBuf;
use std::sync::Arc;

use windlass::api::board::{Phase, Record};
use windlass::api::command::{Command, JobAsk};
use windlass::api::entry::{EntryBody, TurnEnd, TurnStatus};
use windlass::api::job::{JobEnd, JobNode, JobOutcome, JobRow, JobState, Starter};
use windlass::base::{CallId, JobId, Millis};
use windlass::law::job::{By, End, Stage};
use windlass::ui::input::{Input, Mouse, MouseDid};
use windlass::ui::{Effect, Exit, Msg};

use super::{Screen, record};

/// A running job.
pub fn job(record: &mut Record, id: u32, command: &str) {
    let row = JobRow {
        node: JobNode {
            id: JobId(id),
            call: CallId::new(format!("c{id}")),
            command: command.into(),
            cwd: PathBuf::from("/srv/parser"),
            by: Starter::Model,
            hidden: false,
            terminal: false,
            after: None,
            began: Millis(750_000 + u64::from(id) * 1000),
        },
        pid: 4000 + id as i32,
        state: JobState::Running,
        kept: false,
        bytes: 2150 * u64::from(id),
        lines: 40,
        tail: format!("first of {command}\n\u{1b}[32mready\u{1b}[m at 3000\n"),
        waiting: false,
        stopped: false,
        screen: None,
        spool: PathBuf::from("/srv/out"),
    };
    record.jobs.begin(JobId(id), row);
}

/// How one ended.
pub(super) fn outcome(end: End, id: u32) -> JobOutcome {
    JobOutcome {
        exit_code: if let End::Exited { code } = end { Some(code) } else { None },
        exit_signal: matches!(end, End::Killed { .. }).then_some(15),
        gone: if matches!(end, End::Killed { .. }) { 3 } else { 0 },
        end,
        ended: Millis(900_000 + u64::from(id)),
        duration: Millis(9_000),
        bytes: 12_000,
        lines: 3,
        last: "one\nthe last line\n".into(),
        survivors: Vec::new(),
        trouble: None,
    }
}

/// A job ends.
pub fn end(record: &mut Record, id: u32, end: End) {
    let state = JobState::Ended(Arc::new(outcome(end, id)));
    record.jobs.report(&JobId(id), |row| row.state = state);
}

/// Jobs in every state.
pub(super) fn some() -> Record {
    let mut record = record::full();
    job(&mut record, 1, "cargo build --release");
    job(&mut record, 2, "seq 1 10");
    job(&mut record, 3, "npm run dev");
    job(&mut record, 4, "python3 -i");
    job(&mut record, 5, "sh -c 'trap \"\" TERM; sleep 300'");
    job(&mut record, 6, "make \u{202e}文書の検索 && true");
    end(&mut record, 1, End::Exited { code: 101 });
    end(&mut record, 2, End::Exited { code: 0 });
    end(&mut record, 6, End::Killed { by: By::User });
    record.jobs.report(&JobId(3), |row| row.kept = true);
    record.jobs.report(&JobId(4), |row| row.waiting = true);
    record.jobs.report(&JobId(5), |row| {
        row.state = JobState::Ending { by: By::User, stage: Stage::Asked { processes: 3 } };
    });
    record
}

#[test]
fn the_jobs_draw_at_every_size_and_are_clean() {
    for columns in (1..=20).chain([40, 69, 70, 109, 110, 130]) {
        for rows in (1..=14).chain([40]) {
            let mut screen = Screen::new(columns, rows, some());
            screen.keys("ctrl-x j j j");
            screen.draw();
            screen.keys("G");
            let (seen, clean) = screen.clean();
            assert_eq!(seen, clean, "{columns}x{rows}");
        }
    }
}

#[test]
fn every_key_does_what_it_says_to_the_selected_job() {
    let mut screen = Screen::new(120, 40, some());
    screen.keys("ctrl-x j k");
    let ask = |job: u32, ask: JobAsk| Effect::Send(Command::Job { job: JobId(job), ask });
    assert_eq!(screen.keys("x"), [ask(3, JobAsk::Kill)]);
    assert_eq!(screen.keys("P"), [ask(3, JobAsk::Keep(false))]);
    assert_eq!(screen.keys("y"), [Effect::Copy("npm run dev".into())]);
    assert_eq!(screen.keys("Y"), [Effect::Copy("first of npm run dev\nready at 3000".into())]);
    assert_eq!(screen.keys("s h u p enter"), [ask(3, JobAsk::Signal(1))]);
    assert_eq!(screen.keys("j P"), [ask(4, JobAsk::Keep(true))]);
    assert_eq!(screen.keys("d"), [], "it runs");
    assert_eq!(screen.keys("G d"), [ask(1, JobAsk::Dismiss)]);
    assert_eq!(screen.keys("D").len(), 3);
    assert_eq!(screen.keys("z"), [], "a letter without a meaning begins no draft");
    assert!(screen.model.composer.draft.is_empty());
    screen.keys("/ n p m enter");
    assert!(screen.shown().contains("Jobs (3) /npm"));
    assert_eq!(screen.keys("x"), [ask(3, JobAsk::Kill)]);
    screen.keys("esc");
    assert!(screen.shown().contains("Jobs (3) ─"));
    screen.keys("esc");
    screen.write("hello");
    assert!(!screen.model.composer.draft.is_empty());
}

#[test]
fn a_click_selects_a_job() {
    let mut screen = Screen::new(120, 40, some());
    let shown = screen.shown();
    let row = shown.lines().position(|line| line.contains("j5 ◐")).expect("the job's row") as u16;
    screen.tell(Msg::Input(Input::Mouse(Mouse {
        did: MouseDid::Press,
        column: 100,
        row,
        button: 0,
        up: false,
    })));
    let kill = Command::Job { job: JobId(5), ask: JobAsk::Kill };
    assert_eq!(screen.keys("x"), [Effect::Send(kill)]);
}

#[test]
fn a_running_call_goes_to_the_background_and_without_one_the_key_moves() {
    let mut screen = Screen::new(120, 40, record::full());
    assert!(screen.shown().contains("^B background"));
    assert_eq!(screen.keys("ctrl-b"), [Effect::Send(Command::Detach { call: None })]);
    let mut screen = Screen::new(120, 40, record::empty());
    screen.write("ab");
    screen.keys("ctrl-b");
    screen.write("x");
    assert_eq!(screen.model.composer.draft.whole().0, "axb");
}

#[test]
fn leaving_asks_while_jobs_run() {
    for way in ["ctrl-d", "ctrl-c ctrl-c", "ctrl-x n"] {
        let exit = if way == "ctrl-x n" { Exit::New } else { Exit::Quit };
        let open = || {
            let mut again = record::empty();
            job(&mut again, 1, "npm run dev");
            job(&mut again, 2, "cargo watch");
            again.jobs.report(&JobId(2), |row| row.kept = true);
            let mut screen = Screen::new(80, 12, again);
            assert_eq!(screen.keys(way), [], "{way}");
            screen
        };
        let mut screen = open();
        let shown = screen.shown();
        for wanted in ["j1 npm run dev", "j2 cargo watch (kept)", "Stay", "Kill all", "Leave them running"] {
            assert!(shown.contains(wanted), "{way}: {wanted} is not in\n{shown}");
        }
        assert_eq!(screen.keys("enter"), [], "one stays unless one says otherwise");
        let kill = Effect::Send(Command::Job { job: JobId(2), ask: JobAsk::Kill });
        assert_eq!(open().keys("down enter"), [kill, Effect::Leave(exit.clone())]);
        assert_eq!(open().keys("down down enter"), [Effect::LeaveJobs(exit.clone())]);
        assert_eq!(open().keys("down down down enter"), [Effect::Leave(exit)]);
    }
}

#[test]
fn what_ends_is_told_only_while_the_window_is_not_looked_at() {
    let mut opened = record::empty();
    record::status(&mut opened, |s| s.phase = Phase::Opening);
    let mut screen = Screen::new(80, 24, opened);
    let ended = |record: &mut Record| {
        let end = End::Exited { code: 1 };
        let body = JobEnd {
            job: JobId(3),
            call: CallId::new("c3"),
            command: "make\nall".into(),
            hidden: false,
            left: false,
            outcome: outcome(end, 3),
        };
        record::push(record, EntryBody::JobEnd(body));
    };
    screen.tell(Msg::Input(Input::Focus(false)));
    screen.change(|record| {
        ended(record);
        record::status(record, |s| s.phase = Phase::Idle);
    });
    screen.draw();
    assert_eq!(screen.model.ends.take(Millis(0)), None, "what was there at the opening is no news");
    screen.change(ended);
    screen.draw();
    assert_eq!(screen.model.ends.take(Millis(0)).as_deref(), Some("j3 exit 1 · make"));
    screen.draw();
    assert_eq!(screen.model.ends.take(Millis(0)), None, "once");
    let turn = |status| EntryBody::TurnEnd(TurnEnd { status, why: None });
    screen.change(|record| record::push(record, turn(TurnStatus::Done)));
    screen.draw();
    assert_eq!(screen.model.ends.take(Millis(0)).as_deref(), Some("the model has finished"));
    screen.tell(Msg::Input(Input::Focus(true)));
    screen.change(ended);
    screen.draw();
    assert_eq!(screen.model.ends.take(Millis(0)), None, "the window is looked at");
}

#[test]
fn a_job_that_waits_for_input_is_told_once_until_the_next_key() {
    let mut screen = Screen::new(100, 30, some());
    let waits = |screen: &mut Screen, waiting| {
        screen.change(|record| record.jobs.report(&JobId(4), |row| row.waiting = waiting));
        screen.draw();
        screen.model.ends.take(Millis(0))
    };
    waits(&mut screen, false);
    screen.tell(Msg::Input(Input::Focus(false)));
    let told = waits(&mut screen, true).unwrap_or_default();
    assert!(told.starts_with("j4 waits for input · "), "{told}");
    assert!(windlass::ui::window::title(&screen.model).starts_with("? input for j4 · "));
    assert_eq!((waits(&mut screen, false), waits(&mut screen, true)), (None, None), "it rang already");
    screen.tell(Msg::Input(Input::Focus(true)));
    screen.tell(Msg::Input(Input::Focus(false)));
    waits(&mut screen, false);
    assert_eq!(waits(&mut screen, true), Some(told), "somebody was there meanwhile");
}

#[test]
fn the_list_is_entered_at_a_job_that_waits_and_what_is_typed_beside_it_is_told_nowhere() {
    let mut screen = Screen::new(100, 30, some());
    screen.keys("ctrl-x j");
    assert_eq!(screen.model.jobs.selected(), Some(JobId(4)));
    // a password that was meant for it: letters with a meaning here and others
    let effects = screen.keys("s w o r d f esc w o r 7 z w");
    let paste = screen.tell(Msg::Input(Input::Paste("tr0ub4dor".into())));
    assert_eq!(paste, [], "it becomes no draft either");
    let shown = screen.shown();
    assert!(shown.contains("nothing of that went to j4, which waits for input: a attaches to it"), "{shown}");
    for told in [screen.model.ring.dump(), format!("{effects:?}"), shown] {
        for secret in ["'w'", "'7'", "'f'", "`w`", "`7`", "tr0ub4dor"] {
            assert!(!told.contains(secret), "{secret} in\n{told}");
        }
    }
    assert!(screen.model.composer.draft.is_empty());
    // where no job waits the keys are told
    screen.change(|record| record.jobs.report(&JobId(4), |row| row.waiting = false));
    screen.draw();
    screen.keys("esc esc ctrl-x j w");
    assert!(screen.model.ring.dump().contains("'w'") && screen.shown().contains("`w` does nothing here"));
    assert_eq!(screen.model.jobs.selected(), Some(JobId(4)), "else it is where it was");
}

#[test]
fn a_job_that_is_stopped_is_said_to_be() {
    let mut stopped = record::empty();
    job(&mut stopped, 1, "npm run dev");
    stopped.jobs.report(&JobId(1), |row| row.stopped = true);
    let mut screen = Screen::new(120, 30, stopped);
    screen.keys("ctrl-x j");
    let shown = screen.shown();
    assert!(shown.contains("j1 ○ npm run dev") && shown.contains("stopped"), "{shown}");
    screen.keys("enter");
    let shown = screen.shown();
    assert!(shown.contains("stopped until a signal (CONT) continues it"), "{shown}");
}

#[test]
fn a_job_that_was_lost_shows_the_time_that_is_known_or_none() {
    let mut lost = record::empty();
    for id in [1, 2] {
        job(&mut lost, id, "npm run dev");
        end(&mut lost, id, End::Lost);
    }
    lost.jobs.report(&JobId(2), |row| {
        let outcome = JobOutcome { duration: Millis(0), ..outcome(End::Lost, 2) };
        row.state = JobState::Ended(Arc::new(outcome));
    });
    let mut screen = Screen::new(120, 30, lost);
    screen.keys("ctrl-x j");
    let shown = screen.shown();
    assert!(shown.contains("lost  0:09") && !shown.contains("0:00"), "{shown}");
}
