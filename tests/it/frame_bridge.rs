//! The bridge of law P over a real control socket: generated frames, cut anywhere, go to a served session and through
//! the splitter and the gate; what both answer, as text, must be the same. The real side reads its socket and the
//! session's commands only.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;
use windlass::api::command::{Command, JobAsk};
use windlass::api::event::Event;
use windlass::api::job::{JobNode, JobRow, JobState, Starter};
use windlass::base::{CallId, JobId, Millis, SessionId};
use windlass::front::control::{Control, LINE_MAX, SERVED, Tap};
use windlass::law::frame::{Admission, FrameId, Gate, Splitter};
use windlass::link::{COMMANDS_MAX, EVENTS_MAX, Front, Shared};
use windlass::store::Dirs;
use windlass::store::socket::SocketDir;

use crate::screen::record;

const SCENARIOS: u32 = 300;
const PATIENCE: Duration = Duration::from_secs(30);

/// A session that is no more than its record, with a job that runs, and its control socket.
pub struct Served {
    control: Option<Control>,
    pub front: Front,
    commands: mpsc::Receiver<Command>,
    _events: mpsc::Sender<Event>,
    pub place: PathBuf,
    _dir: TempDir,
}

/// A job that runs.
pub fn running(job: u32) -> JobRow {
    let node = JobNode {
        id: JobId(job),
        call: CallId::new("c1"),
        command: "sleep 300".into(),
        cwd: "/srv/parser".into(),
        by: Starter::Model,
        hidden: false,
        terminal: false,
        after: None,
        began: Millis(1),
    };
    JobRow {
        node,
        pid: 1,
        state: JobState::Running,
        kept: false,
        bytes: 0,
        lines: 0,
        tail: String::new(),
        waiting: false,
        stopped: false,
        screen: None,
        spool: "/srv/output".into(),
    }
}

impl Served {
    pub fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let place = dir.path().join("sockets");
        let dirs = Dirs::at(dir.path().join("state"), dir.path().join("config"));
        let tap = Tap::new().unwrap();
        let wake = tap.over(Arc::new(|| ()));
        let mut first = record::empty();
        first.jobs.begin(JobId(1), running(1));
        let shared = Shared::new(first, wake);
        let (commands, taken) = mpsc::channel(COMMANDS_MAX);
        let (_events, events) = mpsc::channel(EVENTS_MAX);
        let front = Front { commands, events, shared, agents: Default::default() };
        let control = Some(Control::serve(&front, tap, vec![place.clone()], dirs).unwrap());
        Self { control, front, commands: taken, _events, place, _dir: dir }
    }

    /// Where its socket is.
    pub fn socket(&self) -> PathBuf {
        self.place.join("s1")
    }

    /// Connects, once the socket is there.
    pub fn connect(&self) -> UnixStream {
        let begun = std::time::Instant::now();
        loop {
            if let Some(dir) = SocketDir::look(&self.place).unwrap()
                && let Some(stream) = dir.connect(&SessionId::new("s1")).unwrap()
            {
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                stream.set_write_timeout(Some(PATIENCE)).unwrap();
                return stream;
            }
            assert!(begun.elapsed() < PATIENCE, "the socket did not come");
            std::thread::yield_now();
        }
    }

    /// The commands that the session was given.
    pub fn commands(&mut self) -> Vec<Command> {
        std::iter::from_fn(|| self.commands.try_recv().ok()).collect()
    }

    /// Takes the socket away.
    pub fn end(&mut self) {
        self.control = None;
    }
}

/// A line that somebody sends.
#[derive(Clone, Debug)]
enum Sent {
    Frame { id: u64, text_id: bool, kind: Option<&'static str>, length: usize, id_first: bool },
    Junk(&'static [u8]),
}

const JUNK: &[&[u8]] = &[
    b"",
    b"{",
    b"[]",
    b"{\"type\":\"jobs.list\"}",
    b"{\"id\":-1,\"type\":\"jobs.list\"}",
    b"{\"id\":1,\"type\":\"jobs.list\"} {}",
    b"\xff\xfe",
];

fn sent() -> impl Strategy<Value = Sent> {
    let kind = prop_oneof![
        6 => proptest::sample::select(SERVED).prop_map(Some),
        1 => Just(Some("jobs.eat")),
        1 => Just(None),
    ];
    let length = prop_oneof![
        12 => 0usize..400,
        1 => LINE_MAX - 2..LINE_MAX + 3,
        1 => LINE_MAX..2 * LINE_MAX,
    ];
    let frame = (0u64..40, any::<bool>(), kind, length, prop::bool::weighted(0.9)).prop_map(
        |(id, text_id, kind, length, id_first)| Sent::Frame { id, text_id, kind, length, id_first },
    );
    prop_oneof![19 => frame, 1 => proptest::sample::select(JUNK).prop_map(Sent::Junk)]
}

impl Sent {
    fn line(&self) -> Vec<u8> {
        let Sent::Frame { id, text_id, kind, length, id_first } = self else {
            let Sent::Junk(junk) = self else { unreachable!("there are two kinds") };
            return junk.to_vec();
        };
        let id = if *text_id { format!("\"id\":\"{id}\"") } else { format!("\"id\":{id}") };
        let kind = kind.map_or(String::new(), |kind| format!("\"type\":\"{kind}\","));
        // a job that is there for what changes nothing of it, and one that is not
        let job = if kind.contains("kill") { "j9" } else { "j1" };
        let rest = format!("{kind}\"job\":\"{job}\",\"on\":false,");
        let pad = "x".repeat(length.saturating_sub("{,\"pad\":\"\"}".len() + id.len() + rest.len()));
        if *id_first {
            format!("{{{id},{rest}\"pad\":\"{pad}\"}}").into_bytes()
        } else {
            format!("{{\"pad\":\"{pad}\",{rest}{id}}}").into_bytes()
        }
    }
}

#[derive(Clone, Debug)]
struct Scenario {
    sent: Vec<Sent>,
    cuts: Vec<usize>,
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let cut = prop_oneof![3 => 1usize..40, 1 => 1usize..20_000];
    (proptest::collection::vec(sent(), 1..25), proptest::collection::vec(cut, 1..8))
        .prop_map(|(sent, cuts)| Scenario { sent, cuts })
}

fn stream(scenario: &Scenario) -> Vec<u8> {
    scenario.sent.iter().flat_map(|sent| [sent.line(), b"\n".to_vec()].concat()).collect()
}

/// What is answered (sorted: a reply that waits for a job holds no other one back), and what the session is asked for.
#[derive(Debug, Default, PartialEq)]
struct Transcript {
    answers: Vec<String>,
    carried_out: usize,
}

/// The rule: the splitter and the gate, the stream in one piece.
fn rule(scenario: &Scenario) -> Transcript {
    let (mut splitter, mut gate) = (Splitter::new(LINE_MAX), Gate::new(SERVED));
    let mut transcript = Transcript::default();
    for line in splitter.push(&stream(scenario)) {
        let said = |id: &FrameId, status: &str| format!("{} {status}", serde_json::to_string(id).unwrap());
        match gate.admit(line) {
            Admission::Fault(fault) => {
                transcript.answers.push(format!("null fault {}", fault.words()));
                break;
            }
            Admission::Refuse(id, refusal) => transcript.answers.push(said(&id, refusal.status())),
            Admission::Run(frame) => {
                assert!(gate.replied(&frame.id));
                transcript.carried_out += usize::from(frame.kind == "jobs.keep");
                let status = if frame.kind == "jobs.kill" { "error" } else { "ok" };
                transcript.answers.push(said(&frame.id, status));
            }
        }
    }
    transcript.answers.sort_unstable();
    transcript
}

/// The real thing.
fn real(scenario: &Scenario, served: &mut Served) -> Transcript {
    let bytes = stream(scenario);
    let mut socket = served.connect();
    let mut reads = socket.try_clone().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut heard, mut piece) = (Vec::new(), [0; 4096]);
        // it closes what it does not trust, whatever still stands in it
        while let Ok(count @ 1..) = reads.read(&mut piece) {
            heard.extend_from_slice(&piece[..count]);
        }
        heard
    });
    let mut rest = &bytes[..];
    let mut cuts = scenario.cuts.iter().cycle();
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
        if socket.write_all(piece).is_err() {
            break;
        }
        rest = behind;
    }
    let _ = socket.shutdown(Shutdown::Write);
    let heard = String::from_utf8(reader.join().unwrap()).unwrap();
    let answer = |line: &str| {
        let reply: Value = serde_json::from_str(line).unwrap();
        let status = reply["status"].as_str().unwrap();
        match status {
            "fault" => format!("{} fault {}", reply["id"], reply["why"].as_str().unwrap()),
            _ => format!("{} {status}", reply["id"]),
        }
    };
    let keeps = served
        .commands()
        .into_iter()
        .filter(|command| matches!(command, Command::Job { job: JobId(1), ask: JobAsk::Keep(false) }));
    let carried_out = keeps.count();
    let mut answers: Vec<String> = heard.lines().map(answer).collect();
    answers.sort_unstable();
    Transcript { carried_out, answers }
}

/// Runs generated scenarios; what both sides say.
fn bridge(check: impl Fn(&Scenario, &Transcript, &Transcript) -> Result<(), TestCaseError>) {
    let served = std::cell::RefCell::new(Served::new());
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(SCENARIOS) };
    let ran = TestRunner::new(config).run(&scenario(), |scenario| {
        let real = real(&scenario, &mut served.borrow_mut());
        check(&scenario, &rule(&scenario), &real)
    });
    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

#[test]
fn proto_one_reply_each() {
    bridge(|_, rule, real| {
        prop_assert_eq!(rule, real);
        Ok(())
    });
}

#[test]
fn proto_runs_only_accepted() {
    bridge(|_, rule, real| {
        prop_assert!(real.carried_out <= rule.carried_out, "{real:?}");
        Ok(())
    });
}

#[test]
fn proto_runs_every_accepted() {
    bridge(|_, rule, real| {
        prop_assert!(real.carried_out >= rule.carried_out, "{real:?}");
        Ok(())
    });
}

#[test]
fn proto_rejects_oversize() {
    bridge(|scenario, rule, real| {
        let oversized = scenario.sent.iter().any(|sent| sent.line().len() > LINE_MAX);
        prop_assert_eq!(oversized, stream(scenario).split(|b| *b == b'\n').any(|l| l.len() > LINE_MAX));
        prop_assert_eq!(&rule.answers, &real.answers);
        Ok(())
    });
}
