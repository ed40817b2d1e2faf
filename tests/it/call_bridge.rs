//! The bridge of law C: generated answers with calls are carried out by a real session and by the pure
//! rules (`law::call`, `law::turn`); what both say, as text, must be the same.
//!
//! The real side reads the lines of the journal, the files that they name, the board, and what the model
//! is asked next. The rule's side knows what each call would do, and nothing of the session. Not here: a
//! journal that cannot be written (`journal`, `law::call`), tools that report usage (there is none yet).
//!
//! Keeps `call_journals_two`, `call_settles_once`, `call_settle_carries_all`, `every_call_gets_a_result`,
//! `board_silent_after_end`.

mod rule;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use windlass::api::access::{Decision, Mode};
use windlass::api::board::Record;
use windlass::api::command::Command;
use windlass::api::entry::EntryBody;
use windlass::api::message::{Ask, Message};
use windlass::base::CallId;
use windlass::engine::{Options, Which};
use windlass::law::output::{Keep, OutputLimits, Truncation};
use windlass::provider::scripted::Scripted;
use windlass::provider::{Answering, Control, Provider, StreamEvent};
use windlass::store::Dirs;

use crate::jobs_tool::OneModel;
use crate::session::{Place, Running};

const SCENARIOS: usize = 300;
/// Scenarios that run at the same time.
const AT_ONCE: usize = 6;
/// Bytes of a result that are kept.
const BOUND: u64 = 64;
/// Bytes of a spool.
const SPOOL_MAX: u64 = 2048;
/// What commands print: it stands in no path and in no word of the program.
const PRINTED: &str = "~";
/// A line of the file that is read takes this many bytes of the result.
const READ_LINE: u64 = 15;

/// A call that comes to its own end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Reads so many lines.
    Read(u64),
    /// Reads more than may be kept: with a warning.
    ReadPastLimit,
    /// A command that prints so many bytes.
    Prints(usize),
    /// One that prints so many and fails.
    Fails(usize),
    /// An edit of words that are not there.
    Mismatch,
    /// A command that the person says no to.
    Refused,
    /// A tool that is not there.
    Unknown,
    /// An input that the tool does not take.
    BadInput,
    /// A command that prints so many bytes and waits. Only the cut ends it.
    Waits(usize),
    /// A command that nobody has answered for. Only the cut ends it.
    Asks,
}

/// What ends the turn before its calls do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    Interrupt,
    Crash,
}

#[derive(Clone, Debug)]
struct Scenario {
    mode: Mode,
    calls: Vec<Kind>,
    cut: Option<Cut>,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        2 => (1_u64..12).prop_map(Kind::Read),
        1 => Just(Kind::ReadPastLimit),
        2 => (0_usize..200).prop_map(Kind::Prints),
        1 => (0_usize..200).prop_map(Kind::Fails),
        1 => Just(Kind::Mismatch),
        1 => Just(Kind::Refused),
        1 => Just(Kind::Unknown),
        1 => Just(Kind::BadInput),
    ]
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let mode = prop_oneof![3 => Just(Mode::Auto), 2 => Just(Mode::Ask), 1 => Just(Mode::Plan)];
    let held = prop_oneof![3 => (1_usize..200).prop_map(Kind::Waits), 1 => Just(Kind::Asks)];
    let cut = prop_oneof![Just(None), Just(Some(Cut::Interrupt)), Just(Some(Cut::Crash))];
    (mode, proptest::collection::vec(kind(), 1..4), 0_usize..3, held, cut).prop_map(
        |(mut mode, mut calls, at, held, cut)| {
            if cut.is_some() {
                let at = at.min(calls.len() - 1);
                calls[at] = held;
                mode = if mode == Mode::Plan { Mode::Auto } else { mode };
            }
            if calls.iter().any(|kind| matches!(kind, Kind::Asks | Kind::Refused)) && mode == Mode::Auto {
                mode = Mode::Ask;
            }
            Scenario { mode, calls, cut }
        },
    )
}

impl Kind {
    /// Its tool and its input.
    fn call(self) -> (&'static str, Value) {
        let printing = |bytes: usize, then: &str| {
            ("bash", json!({"command": format!("printf %s '{}'{then}", PRINTED.repeat(bytes))}))
        };
        match self {
            Kind::Read(lines) => ("read", json!({"path": "a.txt", "limit": lines})),
            Kind::ReadPastLimit => ("read", json!({"path": "a.txt"})),
            Kind::Prints(bytes) => printing(bytes, ""),
            Kind::Fails(bytes) => printing(bytes, "; exit 3"),
            Kind::Mismatch => ("edit", json!({"path": "a.txt", "edits": [{"old": "nowhere", "new": "x"}]})),
            Kind::Refused => printing(9, "; echo refused"),
            Kind::Unknown => ("frobnicate", json!({})),
            Kind::BadInput => ("read", json!({"pth": 1})),
            Kind::Waits(bytes) => printing(bytes, "; sleep 300"),
            Kind::Asks => printing(9, "; echo asked"),
        }
    }
    /// Whether only the cut ends it.
    fn held(self) -> bool {
        matches!(self, Kind::Waits(_) | Kind::Asks)
    }
    /// Whether its tool, once it runs, makes an output of its own (else it ends with words of the program).
    fn produces(self) -> bool {
        match self {
            Kind::Read(_) | Kind::ReadPastLimit | Kind::Prints(_) | Kind::Fails(_) => true,
            Kind::Waits(_) | Kind::Asks => true,
            Kind::Mismatch | Kind::Refused | Kind::Unknown | Kind::BadInput => false,
        }
    }
}

/// What one call shows, from whichever side.
#[derive(Clone, Debug, Default)]
struct Shown {
    starts: usize,
    settles: Vec<String>,
    /// Its results in the next request to the model: whether each is an error.
    results: Vec<bool>,
}

/// What a scenario shows, from whichever side.
#[derive(Clone, Debug, Default)]
struct Told {
    /// The entries in the order of the journal.
    order: Vec<String>,
    calls: Vec<Shown>,
    /// Starts and settles of the call that was cut, when the cut came.
    at_the_cut: Option<(usize, usize)>,
    /// Times that a call stood on the board after its settle.
    late: usize,
    /// Calls on the board at the end.
    left: usize,
}

impl Told {
    /// Calls that run beside each other settle in any order.
    fn sorted(mut self) -> Self {
        for run in self.order.chunk_by_mut(|a, b| a.starts_with("settle") && b.starts_with("settle")) {
            run.sort();
        }
        self
    }

    fn print(&self) -> String {
        let mut out = format!("{}\n", self.order.join(", "));
        if let Some((starts, settles)) = self.at_the_cut {
            let _ = writeln!(out, "at the cut: {starts} start, {settles} settle");
        }
        for (n, call) in self.calls.iter().enumerate() {
            let _ = writeln!(out, "call {n}: {} start, {} settle", call.starts, call.settles.len());
            for settle in &call.settles {
                let _ = writeln!(out, "  {settle}");
            }
            for error in &call.results {
                let _ = writeln!(out, "  result of the next request, error {error}");
            }
        }
        let _ = writeln!(out, "on the board: {} after a settle, {} at the end", self.late, self.left);
        out
    }
}

/// A scripted model that keeps what it was asked.
struct Listening {
    script: Arc<Scripted>,
    asked: Asked,
}

type Asked = Arc<Mutex<Vec<Vec<Message>>>>;

impl Provider for Listening {
    fn stream(&self, ask: Ask, control: Control, events: mpsc::Sender<StreamEvent>) -> Answering {
        self.asked.lock().unwrap().push(ask.messages.clone());
        self.script.stream(ask, control, events)
    }
}

/// The session under test and what is noted of it.
struct Bridge<'a> {
    scenario: &'a Scenario,
    place: Place,
    asked: Asked,
    told: Told,
}

/// What the session came to.
enum Came {
    Question(CallId),
    Held,
    Ended,
}

impl<'a> Bridge<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let place = Place::new();
        place.write("a.txt", &format!("{}\n", PRINTED.repeat(7)).repeat(200));
        let told = Told { calls: vec![Shown::default(); scenario.calls.len()], ..Told::default() };
        Self { scenario, place, asked: Asked::default(), told }
    }

    fn options(&self, script: &Value, which: Which) -> Options {
        let mut options = self.place.options(r#"{"turns": []}"#, self.scenario.mode, which);
        let script = Arc::new(Scripted::parse("test.json", &script.to_string()).unwrap());
        options.models = Arc::new(OneModel(Arc::new(Listening { script, asked: self.asked.clone() })));
        let keep = |keep| Truncation::On(OutputLimits { bytes: BOUND, lines: 2000, keep });
        options.limits.output.tools.insert("read".into(), keep(Keep::Head));
        options.limits.output.tools.insert("bash".into(), keep(Keep::Ends));
        options.limits.spool_max = SPOOL_MAX;
        options
    }

    /// Answers questions until the turn ends or the call that is to be cut is where it waits.
    fn drive(&mut self, session: &mut Running) -> Came {
        let mut answered = BTreeSet::new();
        loop {
            let calls = &self.scenario.calls;
            let late = &mut self.told.late;
            let came = session.until("a question, the cut or the end", |record| {
                *late += late_on(record);
                for approval in record.approvals.iter() {
                    match calls[number(&approval.call)] {
                        Kind::Asks => return Some(Came::Held),
                        _ if !answered.contains(&approval.call) => {
                            return Some(Came::Question(approval.call.clone()));
                        }
                        _ => {}
                    }
                }
                let waits = record.calls.iter().any(|(call, progress)| {
                    matches!(calls[number(call)], Kind::Waits(bytes) if progress.bytes >= bytes as u64)
                });
                let ended = record.path.iter().any(|e| matches!(e.body, EntryBody::TurnEnd(_)));
                match (waits, ended && !record.status.phase.busy()) {
                    (true, _) => Some(Came::Held),
                    (false, true) => Some(Came::Ended),
                    (false, false) => None,
                }
            });
            let Came::Question(call) = came else { return came };
            let decision = match calls[number(&call)] {
                Kind::Refused => Decision::No(Some("not this".into())),
                _ => Decision::Once,
            };
            session.command(Command::Decide { call: call.clone(), decision });
            answered.insert(call);
        }
    }

    /// Waits for the end of the nth turn (from 1).
    fn turn_end(&mut self, session: &mut Running, nth: usize) {
        let late = &mut self.told.late;
        session.until("the turn's end", |record| {
            *late += late_on(record);
            let ends = record.path.iter().filter(|e| matches!(e.body, EntryBody::TurnEnd(_))).count();
            (ends == nth && !record.status.phase.busy()).then_some(())
        });
    }

    /// The next message, so that the model is asked again.
    fn go_on(&mut self, session: &mut Running) {
        session.send("and now?");
        self.turn_end(session, 2);
        self.look(session);
    }

    fn run(mut self) -> Told {
        let calls: Vec<Value> = (self.scenario.calls.iter().map(|kind| kind.call()))
            .map(|(tool, input)| json!({"tool": tool, "input": input}))
            .collect();
        let script = json!({"turns": [{"calls": calls}, {"say": "next"}]});
        let mut session = Running::try_open(self.options(&script, Which::New)).unwrap();
        let id = session.id();
        session.send("go");
        let came = self.drive(&mut session);
        let mut journal = self.place.journal(&id);
        let elsewhere = tempfile::tempdir().unwrap();
        match (came, self.scenario.cut) {
            (Came::Ended, None) => self.look(&mut session),
            (Came::Held, Some(Cut::Interrupt)) => {
                self.note_the_cut(&journal);
                session.command(Command::Interrupt);
                self.turn_end(&mut session, 1);
                self.go_on(&mut session);
            }
            (Came::Held, Some(Cut::Crash)) => {
                self.note_the_cut(&journal);
                let dirs = Dirs::at(elsewhere.path().join("state"), elsewhere.path().join("config"));
                copy(&self.place.dirs().session(&id), &dirs.session(&id));
                journal = dirs.session(&id).join("journal.jsonl");
                self.asked.lock().unwrap().clear();
                let mut options = self.options(&json!({"turns": [{"say": "next"}]}), Which::Id(id));
                options.dirs = dirs;
                let mut recovered = Running::try_open(options).unwrap();
                self.go_on(&mut recovered);
            }
            (Came::Ended, Some(_)) => panic!("the turn ended before the cut"),
            (Came::Held | Came::Question(_), _) => panic!("a call waits that should not"),
        }
        let (told, wires) = self.read(&std::fs::read_to_string(journal).unwrap());
        self.told = Told { order: told.order, calls: told.calls, ..self.told };
        self.results(&wires);
        self.told.sorted()
    }

    /// While a call waits for the cut, the journal has its start and no settle.
    fn note_the_cut(&mut self, journal: &Path) {
        let held = self.scenario.calls.iter().position(|kind| kind.held()).unwrap();
        let (now, _) = self.read(&std::fs::read_to_string(journal).unwrap());
        self.told.at_the_cut = Some((now.calls[held].starts, now.calls[held].settles.len()));
    }

    /// What is left on the board when nothing runs.
    fn look(&mut self, session: &mut Running) {
        self.told.left = session.until("a look", |record| Some(record.calls.iter().count()));
    }

    /// The journal's lines, and the provider's ids of the calls.
    fn read(&self, journal: &str) -> (Told, Vec<String>) {
        let mut told = Told { calls: vec![Shown::default(); self.scenario.calls.len()], ..Told::default() };
        let mut wires: Vec<String> = Vec::new();
        let mut ids: Vec<(String, usize)> = Vec::new();
        for line in journal.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let body = &line["body"];
            let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
            match line["type"].as_str().unwrap() {
                "session" => {}
                "answer" => {
                    let blocks = body["blocks"].as_array().unwrap();
                    wires.extend(
                        blocks
                            .iter()
                            .filter(|b| b["kind"] == "call")
                            .map(|b| b["id"].as_str().unwrap().into()),
                    );
                    told.order.push("answer".into());
                }
                "call_start" => {
                    let n = wires.iter().position(|wire| *wire == text("wire_id")).unwrap();
                    ids.push((text("call"), n));
                    told.calls[n].starts += 1;
                    told.order.push(format!("start {n}"));
                }
                "call_settle" => {
                    let n = ids.iter().find(|(call, _)| *call == text("call")).unwrap().1;
                    let settle = settle(self.scenario.calls[n], body);
                    told.calls[n].settles.push(settle);
                    told.order.push(format!("settle {n}"));
                }
                "turn_end" => told.order.push(format!("turn {}", text("status"))),
                other => told.order.push(other.to_owned()),
            }
        }
        (told, wires)
    }

    /// What the model was told of each call, the next time that it was asked.
    fn results(&mut self, wires: &[String]) {
        let asked = self.asked.lock().unwrap();
        let next =
            asked.iter().find(|messages| messages.iter().any(|m| matches!(m, Message::Answer(_)))).unwrap();
        for message in next {
            let Message::Results(results) = message else { continue };
            for result in results {
                let n = wires.iter().position(|wire| *wire == result.id).unwrap();
                self.told.calls[n].results.push(result.error);
            }
        }
    }
}

/// Which call of the answer it is.
fn number(call: &CallId) -> usize {
    call.as_str().trim_start_matches('c').parse::<usize>().unwrap() - 1
}

/// Calls that have settled and stand on the board.
fn late_on(record: &Record) -> usize {
    let settled = record.path.iter().filter_map(|entry| match &entry.body {
        EntryBody::CallSettle(settle) => Some(&settle.call),
        _ => None,
    });
    settled.filter(|call| record.calls.get(call).is_some()).count()
}

/// What a settle's line says. What it leaves out is said to be missing.
fn settle(kind: Kind, body: &Value) -> String {
    let status = body["status"].as_str().unwrap();
    let output = body["output"].as_str().unwrap();
    let (kept, dropped) = (body["kept"].as_u64().unwrap(), body["dropped"].as_u64().unwrap());
    let words = status == "refused" || (matches!(status, "ok" | "error") && !kind.produces());
    let shown = output.matches(PRINTED).count() as u64;
    let commands = matches!(kind, Kind::Prints(_) | Kind::Fails(_) | Kind::Waits(_));
    let produced = if words && dropped == 0 && kept == output.len() as u64 && kept > 0 {
        "words".to_owned()
    } else if !words && (!commands || shown == kept) {
        format!("{} bytes", kept + dropped)
    } else {
        format!("{kept} kept, {dropped} dropped, {shown} shown")
    };
    let file = match body["artifact"].as_str().map(|path| std::fs::metadata(Path::new(path))) {
        None => "no file".to_owned(),
        Some(Ok(meta)) if meta.len() == kept + dropped => "all of it in a file".to_owned(),
        Some(Ok(meta)) => format!("{} bytes in a file", meta.len()),
        Some(Err(error)) => format!("its file: {error}"),
    };
    let warnings = body["warnings"].as_array().map_or(0, Vec::len);
    format!("{status}, {produced}, {file}, {warnings} warnings, usage {}", body["usage"])
}

/// What a crash leaves: all files as they are. Sockets are none.
fn copy(from: &Path, to: &Path) {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else if kind.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Every scenario with what the rules and the session said of it: run once for all tests here.
fn ran() -> &'static [(Scenario, Told, Told)] {
    static RAN: OnceLock<Vec<(Scenario, Told, Told)>> = OnceLock::new();
    RAN.get_or_init(|| {
        let mut runner = TestRunner::default();
        let scenarios: Vec<Scenario> =
            (0..SCENARIOS).map(|_| scenario().new_tree(&mut runner).unwrap().current()).collect();
        let next = AtomicUsize::new(0);
        let ran = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let real = Bridge::new(scenario).run();
                        ran.lock().unwrap().push((scenario.clone(), rule::run(scenario).sorted(), real));
                    }
                });
            }
        });
        ran.into_inner().unwrap()
    })
}

/// The rules and the session say the same.
fn same(part: fn(&Told) -> String) {
    for (scenario, rule, real) in ran() {
        assert_eq!(part(rule), part(real), "{scenario:?} was\n{}", real.print());
    }
    assert_eq!(ran().len(), SCENARIOS);
}

#[test]
fn call_settles_once() {
    same(Told::print);
}

#[test]
fn call_journals_two() {
    same(|told| {
        let counts = told.calls.iter().map(|call| format!("{} and {}", call.starts, call.settles.len()));
        counts.collect::<Vec<_>>().join(", ")
    });
}

#[test]
fn call_settle_carries_all() {
    same(|told| told.calls.iter().flat_map(|call| call.settles.clone()).collect::<Vec<_>>().join("\n"));
}

#[test]
fn every_call_gets_a_result() {
    same(|told| told.calls.iter().map(|call| format!("{:?}", call.results)).collect::<Vec<_>>().join(", "));
    for (scenario, _, real) in ran() {
        assert!(real.calls.iter().all(|call| call.results.len() == 1), "{scenario:?} was\n{}", real.print());
    }
}

#[test]
fn board_silent_after_end() {
    same(|told| format!("{} late, {} left", told.late, told.left));
}
