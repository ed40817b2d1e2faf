//! The *Engine* harness: a real session (journal, tools, processes) with a scripted model, driven over
//! its link. Asserts on the record and on the journal; waits on conditions, never on time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use windlass::api::access::Mode;
use windlass::api::board::Record;
use windlass::api::command::Command;
use windlass::api::entry::{CallSettle, Entry, EntryBody, TurnStatus};
use windlass::api::event::{Event, ModelInfo};
use windlass::api::message::Thinking;
use windlass::api::provider::ModelCard;
use windlass::base::SessionId;
use windlass::engine::{self, Limits, ModelInUse, Models, Options, Which};
use windlass::link::Wake;
use windlass::process::use_keeper_program;
use windlass::provider::scripted::Scripted;
use windlass::store::Dirs;

/// The generous bound of every wait: past it something hangs.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A directory with a project and a state directory, removed at the end.
pub struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }
    /// One in memory, where there is such a place: for many sessions that only wait for a disk else.
    pub fn in_memory() -> Self {
        Self::of(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }
    fn of(dir: tempfile::TempDir) -> Self {
        use_keeper_program(env!("CARGO_BIN_EXE_windlass"));
        let place = Self { dir };
        std::fs::create_dir(place.cwd()).unwrap();
        place
    }
    pub fn cwd(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("project")
    }
    pub fn dirs(&self) -> Dirs {
        Dirs::at(self.dir.path().join("state"), self.dir.path().join("config"))
    }
    pub fn journal(&self, id: &SessionId) -> PathBuf {
        self.dirs().session(id).join("journal.jsonl")
    }
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.cwd().join(name), text).unwrap();
    }
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.cwd().join(name)).unwrap()
    }
    /// Opens a session with this script.
    pub fn open(&self, script: &str, mode: Mode, which: Which) -> Running {
        self.open_with(script, mode, which, |_| ())
    }
    pub fn open_with(
        &self,
        script: &str,
        mode: Mode,
        which: Which,
        change: impl FnOnce(&mut Options),
    ) -> Running {
        let mut options = self.options(script, mode, which);
        change(&mut options);
        Running::open(options)
    }
    /// What a session with this script is opened with.
    pub fn options(&self, script: &str, mode: Mode, which: Which) -> Options {
        let models = Arc::new(OneScript(Arc::new(Scripted::parse("test.json", script).unwrap())));
        Options {
            dirs: self.dirs(),
            cwd: Some(self.cwd()),
            held: None,
            which,
            model: Some("scripted:test.json".into()),
            models,
            fallback: None,
            mode,
            thinking: Thinking::Default,
            rules: Default::default(),
            keep_rule: Arc::new(|_| Ok(())),
            keep_trust: Arc::new(|_| Ok(())),
            trusted: None,
            environment: std::env::vars_os().collect(),
            commands: Vec::new(),
            drafts: true,
            rehearsal: false,
            limits: Limits {
                output: Default::default(),
                spool_max: 1 << 30,
                processes_max: 4096,
                blocking_budget: windlass::base::Millis(30_000),
                jobs_max: 64,
                jobs_kept: false,
                job_end_starts_turn: false,
                agents: windlass::law::children::Bounds { at_once: 6, depth: 2, stall: None },
                unheld_commands: false,
                agent_end_starts_turn: false,
                reserve: 20_000,
                keep_recent: 20_000,
            },
            notices: Vec::new(),
            child: None,
        }
    }
}

/// One script under every name.
struct OneScript(Arc<Scripted>);

impl Models for OneScript {
    fn find(&self, name: &str) -> Result<ModelInUse, String> {
        if !name.starts_with("scripted") {
            return Err(format!("there is no model {name}"));
        }
        Ok(ModelInUse {
            id: name.into(),
            name: name.into(),
            provider: self.0.clone(),
            card: ModelCard { window: self.0.window(), ..ModelCard::default() },
            scripted: true,
        })
    }
    fn list(&self) -> Vec<ModelInfo> {
        Vec::new()
    }
    fn store_key(&self, _: &str, _: &str) -> Result<String, String> {
        Err("no keys in tests".into())
    }
}

#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    ring: Condvar,
}

/// A session under test. Dropping it closes it and waits for its end.
pub struct Running {
    opened: Option<engine::Opened>,
    bell: Arc<Bell>,
    _runtime: tokio::runtime::Runtime,
    pub events: Vec<Event>,
}

impl Running {
    fn open(options: Options) -> Self {
        Self::try_open(options).unwrap_or_else(|e| panic!("{e}"))
    }
    pub fn try_open(options: Options) -> Result<Self, engine::OpenError> {
        Self::by(engine::open, options)
    }
    /// Answers before the session is open.
    pub fn open_behind(options: Options) -> Self {
        Self::by(engine::open_behind, options).unwrap()
    }
    fn by(
        open: fn(Options, &tokio::runtime::Handle, Wake) -> Result<engine::Opened, engine::OpenError>,
        options: Options,
    ) -> Result<Self, engine::OpenError> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let bell = Arc::new(Bell::default());
        let ringer = bell.clone();
        let wake: Wake = Arc::new(move || {
            *ringer.rung.lock().unwrap() = true;
            ringer.ring.notify_all();
        });
        let opened = open(options, runtime.handle(), wake)?;
        Ok(Self { opened: Some(opened), bell, _runtime: runtime, events: Vec::new() })
    }
    pub fn id(&self) -> SessionId {
        self.opened.as_ref().unwrap().front.shared.read().status.session.clone()
    }
    /// The records of its agents.
    pub fn agents(&self) -> windlass::link::AgentRecords {
        self.opened.as_ref().unwrap().front.agents.clone()
    }
    pub fn command(&self, command: Command) {
        self.opened.as_ref().unwrap().front.commands.blocking_send(command).unwrap();
    }
    pub fn send(&self, text: &str) {
        self.command(Command::Send { text: text.into(), images: Vec::new(), after_turn: false });
    }
    /// Waits until the record is so.
    pub fn until<T>(&mut self, what: &str, mut look: impl FnMut(&Record) -> Option<T>) -> T {
        let end = Instant::now() + WAIT_MAX;
        loop {
            let front = &mut self.opened.as_mut().unwrap().front;
            while let Ok(event) = front.events.try_recv() {
                self.events.push(event);
            }
            if let Some(found) = look(&front.shared.read()) {
                return found;
            }
            let rung = self.bell.rung.lock().unwrap();
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(rung);
                panic!("{what} never came; the record: {}", transcript(&self.path()));
            }
            let (mut rung, _) = self.bell.ring.wait_timeout_while(rung, left, |rung| !*rung).unwrap();
            *rung = false;
        }
    }
    /// Waits until the program says something that holds these words.
    pub fn until_said(&mut self, words: &str) {
        let said = |events: &[Event]| {
            events.iter().any(|e| matches!(e, Event::Said { text, .. } if text.contains(words)))
        };
        let end = Instant::now() + WAIT_MAX;
        while !said(&self.events) {
            assert!(Instant::now() < end, "{words} was never said: {:?}", self.events);
            let mut looked = false;
            self.until(words, |_| std::mem::replace(&mut looked, true).then_some(()));
        }
    }
    /// Looks at one moment of the record.
    pub fn look<T>(&self, look: impl FnOnce(&Record) -> T) -> T {
        look(&self.opened.as_ref().unwrap().front.shared.read())
    }
    /// Waits until the session is so, however many looks that takes.
    pub fn until_so(&mut self, what: &str, so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + WAIT_MAX;
        while !so(self) {
            assert!(Instant::now() < end, "{what} never came; the record: {}", transcript(&self.path()));
            let before = self.look(|record| record.revision);
            let mut first = true;
            self.until(what, |record| {
                (!std::mem::take(&mut first) || record.revision != before).then_some(())
            });
        }
    }
    pub fn path(&self) -> Vec<Arc<Entry>> {
        self.opened.as_ref().unwrap().front.shared.read().path.clone()
    }
    /// Waits for the end of the nth turn (from 1).
    pub fn turn_end(&mut self, nth: usize) -> TurnStatus {
        self.until("the turn's end", |record| {
            let ends = record.path.iter().filter_map(|e| match &e.body {
                EntryBody::TurnEnd(end) => Some(end.status),
                _ => None,
            });
            let idle = !record.status.phase.busy();
            ends.collect::<Vec<_>>().get(nth - 1).copied().filter(|_| idle)
        })
    }
    pub fn settles(&self) -> Vec<CallSettle> {
        self.path()
            .iter()
            .filter_map(|e| match &e.body {
                EntryBody::CallSettle(settle) => Some(settle.clone()),
                _ => None,
            })
            .collect()
    }
    /// Closes it and waits for its end; the events that came.
    pub fn close(mut self) -> Vec<Event> {
        self.end();
        std::mem::take(&mut self.events)
    }
    /// Closes it and waits for its end; why it could not be opened.
    pub fn failed(mut self) -> engine::OpenError {
        let mut opened = self.opened.take().unwrap();
        while let Some(event) = opened.front.events.blocking_recv() {
            self.events.push(event);
        }
        assert_eq!(self.events, [Event::Closed]);
        opened.thread.join().unwrap().unwrap_err()
    }
    fn end(&mut self) {
        if let Some(mut opened) = self.opened.take() {
            let _ = opened.front.commands.blocking_send(Command::Close { leave_jobs: false });
            while let Some(event) = opened.front.events.blocking_recv() {
                self.events.push(event);
            }
            opened.thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// The branch as a text that a test can compare: a word and the gist of each entry.
pub fn transcript(path: &[Arc<Entry>]) -> String {
    let mut out = String::new();
    for entry in path {
        let line = match &entry.body {
            EntryBody::User(m) => format!("user({:?}) {}", m.delivery, m.text),
            EntryBody::Answer(a) => format!("answer {:?} {}", a.finish, a.text()),
            EntryBody::CallStart(s) => format!("start {} {}", s.call, s.tool),
            EntryBody::CallSettle(s) => format!("settle {} {}", s.call, s.status.word()),
            EntryBody::Notice(n) => format!("notice {}", n.text),
            EntryBody::Compaction(c) => format!("compaction keep_from={:?}", c.keep_from),
            EntryBody::TurnEnd(t) => format!("turn {} {}", t.status.word(), t.why.as_deref().unwrap_or("")),
            EntryBody::Setting(s) => format!("setting {s:?}"),
            EntryBody::JobEnd(e) => format!("job_end {} {}", e.job, e.outcome.end.words()),
            EntryBody::Restore(r) => format!("restore {}", r.touched.len()),
            EntryBody::AgentEnd(e) => format!("agent_end {} {}", e.node.name, e.end.words()),
            EntryBody::Unknown(u) => format!("unknown {}", u.kind),
        };
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Whether a process is alive (a zombie is not).
pub fn alive(pid: i32) -> bool {
    std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with(['Z', 'X']))
}
