//! Commands that go on as jobs, and the `jobs` tool, with real commands and a small desk that really watches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use windlass::api::access::Mode;
use windlass::api::command::{Command, JobAsk};
use windlass::api::entry::{CallStatus, Details, EntryBody, TurnStatus};
use windlass::api::event::ModelInfo;
use windlass::api::job::{JobNode, JobOutcome, JobRow, JobState, Starter};
use windlass::api::message::Ask;
use windlass::api::provider::ModelCard;
use windlass::base::{CallId, JobId, Millis};
use windlass::engine::{ModelInUse, Models, Which};
use windlass::law::job::{By, End};
use windlass::process::record::Named;
use windlass::process::{News, Record, Running};
use windlass::provider::scripted::Scripted;
use windlass::provider::{Answering, Control, Provider, StreamEvent};
use windlass::tool::desk::{Desk, NewJob, Place as Held};
use windlass::tool::jobs::Jobs;
use windlass::tool::{Later, Tool, ToolEnd};

use crate::bash::Session;
use crate::commands::{LONG, carrying, mark, until};
use crate::session::{Place, transcript};

/// A desk of so many jobs at most.
pub struct SmallDesk {
    limit: usize,
    slots: Arc<Mutex<BTreeMap<JobId, Slot>>>,
    tasks: Mutex<Vec<AbortHandle>>,
}

impl Drop for SmallDesk {
    fn drop(&mut self) {
        for task in self.tasks.lock().unwrap().drain(..) {
            task.abort();
        }
    }
}

struct Slot {
    row: JobRow,
    asks: mpsc::Sender<(JobAsk, By)>,
    end: watch::Receiver<Option<Arc<JobOutcome>>>,
}

impl SmallDesk {
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, slots: Arc::default(), tasks: Mutex::default() })
    }
    fn change(slots: &Mutex<BTreeMap<JobId, Slot>>, job: JobId, change: impl FnOnce(&mut JobRow)) {
        change(&mut slots.lock().unwrap().get_mut(&job).unwrap().row);
    }
    fn begin(&self, mut running: Running, new: NewJob) -> JobId {
        let id = JobId(self.slots.lock().unwrap().len() as u32 + 1);
        let (asks, mut asked) = mpsc::channel(8);
        let (told, end) = watch::channel(None);
        let (bytes, lines, tail) = new.told;
        let node = JobNode {
            id,
            call: new.call,
            command: new.command,
            cwd: new.cwd,
            by: new.by,
            hidden: new.hidden,
            terminal: new.terminal,
            after: new.after,
            began: new.began,
        };
        let spool = running.dir().join(if new.by == Starter::Left { "left" } else { "output" });
        let pid = running.process().pid;
        let row = JobRow {
            node,
            pid,
            state: JobState::Running,
            kept: false,
            bytes,
            lines,
            tail: tail.clone(),
            waiting: new.waiting,
            stopped: false,
            screen: None,
            spool,
        };
        self.slots.lock().unwrap().insert(id, Slot { row, asks, end });
        let slots = Arc::clone(&self.slots);
        let task = tokio::spawn(async move {
            let mut last = tail;
            let ended = loop {
                let news = tokio::select! {
                    news = running.next() => news,
                    Some((ask, by)) = asked.recv() => {
                        match ask {
                            JobAsk::Kill => running.kill(by).await,
                            JobAsk::Keep(on) => running.keep(on).await,
                            JobAsk::Input(keys) => running.input(keys.0).await,
                            _ => panic!("{ask:?}"),
                        }
                        continue;
                    }
                };
                match news {
                    Some(News::Output { bytes, lines, tail }) => {
                        last.clone_from(&tail);
                        Self::change(&slots, id, |row| {
                            (row.bytes, row.lines, row.tail) = (bytes, lines, tail)
                        });
                    }
                    Some(News::Ended { record, .. }) => break Some(outcome(&record, &last)),
                    Some(News::Stopped(stopped)) => Self::change(&slots, id, |row| row.stopped = stopped),
                    Some(News::Waiting(waiting)) => Self::change(&slots, id, |row| row.waiting = waiting),
                    Some(News::Left(_)) | None => break None,
                    Some(_) => {}
                }
            };
            let lost = || JobOutcome {
                end: End::Ended,
                exit_code: None,
                exit_signal: None,
                ended: Millis(0),
                duration: Millis(0),
                bytes: 0,
                lines: 0,
                last,
                gone: 0,
                survivors: Vec::new(),
                trouble: None,
            };
            let outcome = Arc::new(ended.unwrap_or_else(lost));
            Self::change(&slots, id, |row| row.state = JobState::Ended(outcome.clone()));
            let _ = told.send(Some(outcome));
        });
        self.tasks.lock().unwrap().push(task.abort_handle());
        id
    }
}

fn outcome(record: &Record, tail: &str) -> JobOutcome {
    JobOutcome {
        end: record.end.clone(),
        exit_code: record.exit_code,
        exit_signal: record.exit_signal,
        ended: record.ended,
        duration: record.ended.since(record.began),
        bytes: record.bytes,
        lines: record.lines,
        last: tail.to_owned(),
        gone: record.gone,
        survivors: record.survivors.iter().map(Named::words).collect(),
        trouble: record.trouble.clone(),
    }
}

impl Desk for SmallDesk {
    fn hold(&self) -> Result<Held, String> {
        let running = self.slots.lock().unwrap().values().filter(|slot| slot.row.runs()).count();
        if running < self.limit {
            Ok(Held::new(|| ()))
        } else {
            Err(format!("{} jobs run, which is the limit (jobs.limit)", self.limit))
        }
    }
    fn take(&self, running: Running, new: NewJob, place: Option<Held>) -> Later<'_, JobId> {
        let id = self.begin(running, new);
        if let Some(place) = place {
            place.taken();
        }
        Box::pin(async move { id })
    }
    fn rows(&self) -> Vec<JobRow> {
        self.slots.lock().unwrap().values().map(|slot| slot.row.clone()).collect()
    }
    fn row(&self, job: JobId) -> Option<JobRow> {
        self.slots.lock().unwrap().get(&job).map(|slot| slot.row.clone())
    }
    fn ask(&self, job: JobId, ask: JobAsk, by: By) {
        self.slots.lock().unwrap()[&job].asks.try_send((ask, by)).unwrap();
    }
    fn ended(&self, job: JobId) -> Later<'_, Option<Arc<JobOutcome>>> {
        let end = self.slots.lock().unwrap().get(&job).map(|slot| slot.end.clone());
        Box::pin(async move { end?.wait_for(Option::is_some).await.ok()?.clone() })
    }
}

fn of(call: u32, budget: u64) -> Session {
    let mut session = Session::new();
    session.context.call = CallId::new(format!("c{call}"));
    session.context.budget = Millis(budget);
    session
}

async fn jobs(session: &Session, input: Value) -> ToolEnd {
    Jobs.wish(&session.context.cwd, &input).unwrap();
    tokio::time::timeout(LONG, Jobs.run(&session.context, &input)).await.unwrap()
}

fn job_of(end: &ToolEnd) -> Option<JobId> {
    match end.details {
        Details::Command { job, .. } => job,
        _ => None,
    }
}

#[tokio::test]
async fn a_command_past_the_budget_goes_on_as_a_job() {
    let session = of(1, 300);
    let mark = mark();
    let end = session.command(&format!("echo begun; cd /; sleep {mark}")).await;
    assert_eq!(end.status, CallStatus::Detached);
    let spool = session.context.call_dir.join("output");
    let expected = format!(
        "begun\n[detached after 300 ms: it goes on as job j1; all of its output goes to {}. You are told when it \
         ends; `jobs` reads it, waits for it, kills it]\n[ran in {}; the next command starts there again: a cd \
         does not persist]",
        spool.display(),
        session.cwd()
    );
    assert_eq!(end.output, expected);
    assert_eq!((end.kept, end.dropped, end.artifact), (6, 0, Some(spool)));
    let details = Details::Command {
        end: "detached".into(),
        exit_code: None,
        survivors: vec![],
        job: Some(JobId(1)),
        left: 0,
        told: None,
    };
    assert_eq!(end.details, details);
    assert_eq!(carrying(&mark).len(), 1, "it goes on");

    let listed = jobs(&session, json!({"action": "list"})).await.output;
    assert!(listed.starts_with("j1 runs since ") && listed.contains("6 bytes of output"), "{listed}");
    assert!(listed.ends_with("\n    begun"), "{listed}");
    let waited = jobs(&session, json!({"action": "wait", "job": "j1", "timeout_ms": 50})).await;
    assert!(waited.output.starts_with("Waited 50 ms.\nj1 runs since "), "{}", waited.output);
    assert_eq!(waited.status, CallStatus::Ok);

    let killed = jobs(&session, json!({"action": "kill", "job": "j1"})).await;
    assert!(killed.output.contains("ended: killed by the model after "), "{}", killed.output);
    assert_eq!(carrying(&mark), Vec::<i32>::new());
    let output = jobs(&session, json!({"action": "output", "job": "j1"})).await;
    assert!(output.output.starts_with("begun\n[j1 ended: killed by the model"), "{}", output.output);
    assert_eq!((output.kept, output.dropped), (6, 0));
}

#[tokio::test]
async fn a_command_started_in_the_background_is_a_job_at_once() {
    let session = of(1, 30_000);
    let end = session.run(json!({"command": "sleep 0.2; echo done; exit 3", "background": true})).await;
    assert_eq!(end.status, CallStatus::Detached);
    assert!(
        end.output.starts_with("[started in the background as job j1; all of its output goes to"),
        "{}",
        end.output
    );
    let waited = jobs(&session, json!({"action": "wait", "job": "j1"})).await;
    assert!(waited.output.contains("ended: exit 3 after "), "{}", waited.output);
    assert!(waited.output.contains("Its newest output:\ndone\n"), "{}", waited.output);
    // what has ended is told again, and killed no more
    let killed = jobs(&session, json!({"action": "kill", "job": "j1"})).await;
    assert!(killed.output.contains("ended: exit 3 after "), "{}", killed.output);
}

#[tokio::test]
async fn the_person_sends_a_command_to_the_background() {
    let session = of(1, 30_000);
    let mark = mark();
    let input = json!({"command": format!("echo out; sleep {mark}")});
    let hand = async {
        session.seen.woken.notified().await;
        session.context.detach.cancel();
    };
    let (end, ()) = tokio::join!(session.run(input), hand);
    assert_eq!(end.status, CallStatus::Detached);
    assert!(end.output.starts_with("out\n[detached by the person after "), "{}", end.output);
    assert_eq!(job_of(&end), Some(JobId(1)));
    until("it goes on", || carrying(&mark).len() == 1).await;
    drop(session);
    until("it ends with the session", || carrying(&mark).is_empty()).await;
}

#[tokio::test]
async fn at_the_limit_nothing_is_started_and_nothing_is_ended() {
    let mut session = of(1, 100);
    session.context.desk = SmallDesk::new(1);
    let mark = mark();
    let first = session.run(json!({"command": format!("sleep {mark}"), "background": true})).await;
    assert_eq!(first.status, CallStatus::Detached);
    session.context.call_dir = session.context.call_dir.with_file_name("c2");
    let second = session.run(json!({"command": "touch ran", "background": true})).await;
    assert_eq!(second.status, CallStatus::Error);
    assert_eq!(second.output, "1 jobs run, which is the limit (jobs.limit)");
    assert!(!session.context.cwd.join("ran").exists());
    // one that runs is not held up at its budget: it goes on, one more than the limit
    let third = session.run(json!({"command": format!("sleep {mark}; echo out")})).await;
    assert_eq!((third.status, job_of(&third)), (CallStatus::Detached, Some(JobId(2))), "{}", third.output);
    assert!(third.output.starts_with("[detached after 100 ms: it goes on as job j2"), "{}", third.output);
    until("both run", || carrying(&mark).len() == 2).await;
}

#[test]
fn the_limit_refuses_the_next_start_by_name_and_no_wait_passes_its_budget_for_it() {
    let place = Place::new();
    let mark = mark();
    let start = |more: &str| json!({"tool": "bash", "input": {"command": format!("sleep {mark}{more}"), "background": true}});
    let waits = json!({"tool": "bash", "input": {"command": format!("sleep {mark}; echo never")}});
    let script = json!({"turns": [
        {"calls": [start(""), start("; echo second"), waits, start("; echo fourth")]},
        {"say": "Full."}
    ]});
    let mut session = place.open_with(&script.to_string(), Mode::Auto, Which::New, |options| {
        options.limits.jobs_max = 1;
        options.limits.blocking_budget = Millis(200);
    });
    session.send("start");
    assert_eq!(session.turn_end(1), TurnStatus::Done, "{}", transcript(&session.path()));
    let settles = session.settles();
    let statuses: Vec<CallStatus> = settles.iter().map(|settle| settle.status).collect();
    use CallStatus::{Detached, Error};
    assert_eq!(statuses, [Detached, Error, Detached, Error], "{settles:#?}");
    let refused = |names: &str| {
        format!(
            "no more than 1 jobs may run at once (jobs.limit), and so many do: {names}. Nothing was started: end one \
             of them, or wait for an end"
        )
    };
    assert_eq!(settles[1].output, refused(&format!("j1 sleep {mark}")));
    assert!(settles[2].output.contains("detached after 200 ms: it goes on as job j2"), "{:?}", settles[2]);
    assert_eq!(settles[3].output, refused(&format!("j1 sleep {mark}; j2 sleep {mark}; echo never")));
    for job in [1, 2] {
        session.command(Command::Job { job: JobId(job), ask: JobAsk::Kill });
    }
    session.until("their ends", |record| record.jobs.iter().all(|(_, row)| !row.runs()).then_some(()));
    session.close();
    assert_eq!(carrying(&mark), Vec::<i32>::new());
}

#[tokio::test]
async fn what_a_command_left_behind_is_a_job_of_its_own() {
    let session = of(1, 30_000);
    let mark = mark();
    let end = session.command(&format!("sleep {mark} & echo started")).await;
    assert_eq!(end.status, CallStatus::Ok);
    assert_eq!(job_of(&end), Some(JobId(1)));
    let listed = jobs(&session, json!({"action": "list"})).await.output;
    assert!(listed.contains(": left behind by sleep "), "{listed}");
    jobs(&session, json!({"action": "kill", "job": "j1"})).await;
    assert_eq!(carrying(&mark), Vec::<i32>::new());
}

#[tokio::test]
async fn jobs_says_what_cannot_be_done() {
    let mut session = of(1, 30_000);
    let none = jobs(&session, json!({"action": "output", "job": "j9"})).await;
    assert_eq!(
        (none.status, none.output.as_str()),
        (CallStatus::Error, "there is no job j9: there are none")
    );
    assert_eq!(jobs(&session, json!({"action": "list"})).await.output, "No jobs.");
    session.run(json!({"command": "sleep 300", "background": true})).await;
    let typed = jobs(&session, json!({"action": "input", "job": "j1", "text": "y\n"})).await;
    assert_eq!(typed.status, CallStatus::Error);
    assert!(typed.output.contains("job j1 has no terminal"), "{}", typed.output);
    // what the person keeps from the model is not there for it
    session.context.call_dir = session.context.call_dir.with_file_name("c2");
    session.context.hidden = true;
    session.run(json!({"command": "sleep 300", "background": true})).await;
    for action in ["output", "kill", "wait"] {
        let end = jobs(&session, json!({"action": action, "job": "j2"})).await;
        assert_eq!(end.output, "there is no job j2: there are j1", "{action}");
    }
    assert!(!jobs(&session, json!({"action": "list"})).await.output.contains("j2"));
}

#[tokio::test]
async fn a_wait_that_is_stopped_leaves_the_job_alone() {
    let session = of(1, 30_000);
    let mark = mark();
    session.run(json!({"command": format!("sleep {mark}"), "background": true})).await;
    let cancel = async { session.context.cancel.cancel() };
    let (end, ()) = tokio::join!(jobs(&session, json!({"action": "wait", "job": "j1"})), cancel);
    assert_eq!(end.status, CallStatus::Cancelled);
    until("it goes on", || carrying(&mark).len() == 1).await;
}

#[tokio::test]
async fn a_command_that_waits_for_input_is_a_job_that_can_be_answered() {
    let session = of(1, 30_000);
    let command = r#"test -t 0 && test -t 1 && read -p 'name? ' name && echo "hello $name" && exit 7"#;
    let end = session.run(json!({"command": command, "terminal": true})).await;
    assert_eq!(end.status, CallStatus::Detached);
    assert!(end.output.starts_with("name? \n[after "), "{}", end.output);
    assert!(
        end.output.contains("ms it seems to wait for input: it goes on as job j1; `jobs` with `input`"),
        "{}",
        end.output
    );
    let listed = jobs(&session, json!({"action": "list"})).await.output;
    assert!(
        listed.contains(", seems to wait for input,") && listed.contains(", has a terminal: "),
        "{listed}"
    );
    let typed = jobs(&session, json!({"action": "input", "job": "j1", "text": "ann\n"})).await;
    assert_eq!(typed.status, CallStatus::Ok, "{}", typed.output);
    let waited = jobs(&session, json!({"action": "wait", "job": "j1"})).await;
    assert!(waited.output.contains("ended: exit 7 after "), "{}", waited.output);
    let output = jobs(&session, json!({"action": "output", "job": "j1"})).await;
    assert!(output.output.starts_with("name? ann\nhello ann\n[j1 ended: exit 7"), "{}", output.output);
}

#[tokio::test]
async fn a_command_on_a_terminal_that_asks_nothing_settles_with_its_end() {
    let mut session = of(1, 30_000);
    session.context.by = Starter::Person;
    let end = session.command("tty >/dev/null && printf 'a\\n\\033[31mb\\033[0m\\n'; echo $TERM").await;
    assert_eq!((end.status, end.output.as_str()), (CallStatus::Ok, "a\nb\nxterm-256color\n"));
}

#[test]
fn the_model_is_told_of_running_jobs_and_once_of_an_end() {
    let place = Place::new();
    let wait = "until [ -e go ]; do sleep 0.02; done; echo over; exit 3";
    let script = json!({"turns": [
        {"calls": [{"tool": "bash", "input": {"command": wait, "background": true}}]},
        {"expect": {"contains": "started in the background as job j1"}, "say": "It runs."},
        {"expect": {"contains": "exit 3 after "}, "say": "I know."},
        {"expect": {"contains": "thanks"}, "say": "Yes."}
    ]});
    let asked = Asked::default();
    let mut options = place.options(&script.to_string(), Mode::Auto, Which::New);
    let script = Arc::new(Scripted::parse("test.json", &script.to_string()).unwrap());
    options.models = Arc::new(OneModel(Arc::new(Listening { script, asked: asked.clone() })));
    let mut session = crate::session::Running::try_open(options).unwrap();
    session.send("start it");
    assert_eq!(session.turn_end(1), TurnStatus::Done, "{}", transcript(&session.path()));
    place.write("go", "");
    session.until("the end stands in the conversation", |record| {
        record.path.iter().find(|e| matches!(e.body, EntryBody::JobEnd(_))).map(|_| ())
    });
    session.send("and now?");
    assert_eq!(session.turn_end(2), TurnStatus::Done, "{}", transcript(&session.path()));
    session.send("thanks");
    assert_eq!(session.turn_end(3), TurnStatus::Done, "{}", transcript(&session.path()));
    let ends = session.path().iter().filter(|e| matches!(e.body, EntryBody::JobEnd(_))).count();
    assert_eq!(ends, 1);
    let asked = asked.lock().unwrap();
    let jobs: Vec<bool> =
        asked.iter().map(|ask| ask.volatile.contains("<running-jobs>\nj1 runs since ")).collect();
    assert_eq!(jobs, [false, true, false, false], "told while it runs");
    let told = format!("{:?}", asked[3].messages);
    assert_eq!(told.matches("[job j1 (").count(), 1, "{told}");
    let words = format!(
        "its last lines:\\nover\\nthe whole output: {}",
        place.dirs().session(&session.id()).display()
    );
    assert!(told.contains(&words), "{told}");
    // what stood in the earlier request stands in the later one, byte for byte
    let earlier = format!("{:?}", &asked[1].messages);
    assert!(told.starts_with(earlier.trim_end_matches(']')), "{told}");
    assert!(asked.iter().all(|ask| ask.system == asked[0].system));
}

#[test]
fn the_end_of_a_job_that_the_model_killed_or_waited_for_is_told_to_it_once() {
    let place = Place::new();
    let start = |command: &str| json!({"tool": "bash", "input": {"command": command, "background": true}});
    let jobs = |action: &str, job: &str| json!({"tool": "jobs", "input": {"action": action, "job": job}});
    let script = json!({"turns": [
        {"calls": [start("sleep 300"), start("sleep 0.3; exit 4")]},
        {"calls": [jobs("kill", "j1"), jobs("wait", "j2")]},
        {"say": "Both ended."},
        {"say": "Yes."}
    ]});
    let asked = Asked::default();
    let mut options = place.options(&script.to_string(), Mode::Auto, Which::New);
    let script = Arc::new(Scripted::parse("test.json", &script.to_string()).unwrap());
    options.models = Arc::new(OneModel(Arc::new(Listening { script, asked: asked.clone() })));
    let mut session = crate::session::Running::try_open(options).unwrap();
    session.send("begin");
    assert_eq!(session.turn_end(1), TurnStatus::Done, "{}", transcript(&session.path()));
    session.until("both ends stand in the conversation", |record| {
        let ends = record.path.iter().filter(|e| matches!(e.body, EntryBody::JobEnd(_))).count();
        (ends == 2).then_some(())
    });
    session.send("again");
    assert_eq!(session.turn_end(2), TurnStatus::Done, "{}", transcript(&session.path()));
    let asked = asked.lock().unwrap();
    for messages in asked[2..].iter().map(|ask| format!("{:?}", ask.messages)) {
        assert_eq!(messages.matches("killed by the model").count(), 1, "{messages}");
        assert_eq!(messages.matches("exit 4 after").count(), 1, "{messages}");
        assert!(!messages.contains("[job j"), "{messages}");
    }
}

/// A scripted model that keeps what it, and its agents' models, were asked.
pub struct Listening {
    pub script: Arc<dyn Provider>,
    pub asked: Asked,
}

pub type Asked = Arc<Mutex<Vec<Ask>>>;

impl Provider for Listening {
    fn stream(&self, ask: Ask, control: Control, events: mpsc::Sender<StreamEvent>) -> Answering {
        self.asked.lock().unwrap().push(ask.clone());
        self.script.stream(ask, control, events)
    }
    fn for_agent(&self, path: &str) -> Option<Result<Arc<dyn Provider>, String>> {
        let asked = Arc::clone(&self.asked);
        let of = self.script.for_agent(path)?;
        Some(of.map(|script| Arc::new(Listening { script, asked }) as Arc<dyn Provider>))
    }
}

/// The only model there is.
pub struct OneModel(pub Arc<dyn Provider>);

impl Models for OneModel {
    fn find(&self, name: &str) -> Result<ModelInUse, String> {
        let (provider, card) = (self.0.clone(), ModelCard::default());
        Ok(ModelInUse { id: name.into(), name: name.into(), provider, card, scripted: true })
    }
    fn list(&self) -> Vec<ModelInfo> {
        Vec::new()
    }
    fn store_key(&self, _: &str, _: &str) -> Result<String, String> {
        Err("no keys in tests".into())
    }
}

#[test]
fn a_command_of_the_turn_is_sent_to_the_background_by_a_key() {
    let place = Place::new();
    let script = json!({"turns": [
        {"calls": [{"tool": "bash", "input": {"command": "echo begun; sleep 300"}}]},
        {"expect": {"contains": "detached by the person"}, "say": "Then it goes on."}
    ]});
    let mut session = place.open(&script.to_string(), Mode::Auto, Which::New);
    session.send("start it");
    session.until("it runs", |record| record.calls.iter().any(|(_, p)| p.bytes > 0).then_some(()));
    session.command(Command::Detach { call: None });
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    assert_eq!(session.settles().len(), 1, "it settles once");
    let node = session.until("a job", |record| record.jobs.iter().next().map(|(_, row)| row.node.clone()));
    assert_eq!((node.by, node.command.as_str()), (Starter::Model, "echo begun; sleep 300"));
}
