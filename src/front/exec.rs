//! `windlass exec`: one prompt without a screen. A last line and an exit code always; a slow reader
//! loses nothing, for each line is written whole before the next is read off the record.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::api::access::Decision;
use crate::api::command::Command;
use crate::api::entry::TurnStatus;
use crate::api::event::Event;
use crate::api::job::JobRow;
use crate::base::CallId;
use crate::link::{AgentRecord, Front, Shared};

use super::control::Control;
use super::exec_events::{self, Reader};

/// The turn ended well.
pub const EXIT_DONE: u8 = 0;
/// The turn failed.
pub const EXIT_FAILED: u8 = 1;
/// The turn ended well, and what an agent changed did not come back: its hand-back failed.
pub const EXIT_NOT_BACK: u8 = 3;
/// An approval was needed that nobody could give.
pub const EXIT_APPROVAL: u8 = 4;
/// It was interrupted.
pub const EXIT_INTERRUPTED: u8 = 130;

/// What is run.
pub struct ExecOptions {
    /// The prompt.
    pub prompt: String,
    /// One JSON object a line; else text on standard output and a line for each call on standard error.
    pub json: bool,
    /// The other end of `out`, to see that nobody reads it any more; none where that cannot be seen.
    pub reader: Option<OwnedFd>,
    /// Woken when the record changed.
    pub woken: Arc<Notify>,
    /// The session's control socket, taken away before the session is closed.
    pub control: Option<Control>,
}

struct Run<'a> {
    front: Front,
    json: bool,
    out: &'a mut dyn Write,
    errors: &'a mut dyn Write,
    reader: Reader,
    broken: bool,
    /// Calls whose approval was refused; each is answered and told once.
    refused: BTreeSet<CallId>,
    interrupted: bool,
    /// The readers of its agents' records, by path.
    agents: BTreeMap<String, (Shared, Reader)>,
}

/// Runs the prompt to the end of its turn; the exit code.
pub async fn exec(front: Front, options: ExecOptions, out: &mut dyn Write, errors: &mut dyn Write) -> u8 {
    let reader = Reader::after(&front.shared.read());
    let mut run = Run {
        front,
        json: options.json,
        out,
        errors,
        reader,
        broken: false,
        refused: BTreeSet::new(),
        interrupted: false,
        agents: BTreeMap::new(),
    };
    let status = run.front.shared.read().status.clone();
    run.emit(&json!({
        "type": "session.started", "id": status.session, "cwd": exec_events::path_json(&status.cwd),
        "model": status.model,
    }));
    let prompt = Command::Send { text: options.prompt, images: Vec::new(), after_turn: false };
    run.command(prompt).await;
    let mut ends =
        [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()]
            .map(|kind| signal(kind).ok());
    let mut reader = options.reader.and_then(watched);
    while !run.pump().await {
        tokio::select! {
            () = options.woken.notified() => {}
            () = unread(&mut reader) => run.broken = true,
            () = any(&mut ends) => run.interrupt().await,
        }
    }
    if let Some(control) = &options.control {
        control.close_door();
    }
    run.close(&options.woken).await
}

/// The reader, watched for going away.
#[expect(
    deprecated,
    reason = "what takes its place is unsafe; an owned descriptor is the one it was made with"
)]
fn watched(reader: OwnedFd) -> Option<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(reader, Interest::ERROR).ok()
}

/// Waits until nobody reads what is written (once).
async fn unread(reader: &mut Option<AsyncFd<OwnedFd>>) {
    if let Some(fd) = reader {
        loop {
            match fd.ready(Interest::ERROR).await {
                Ok(guard) if guard.ready().is_error() => break,
                Ok(mut guard) => guard.clear_ready(),
                Err(_) => return std::future::pending().await,
            }
        }
        *reader = None;
    } else {
        std::future::pending::<()>().await;
    }
}

/// Waits for any of the signals.
async fn any(signals: &mut [Option<Signal>; 4]) {
    let [a, b, c, d] = signals;
    tokio::select! {
        () = one(a) => {}
        () = one(b) => {}
        () = one(c) => {}
        () = one(d) => {}
    }
}

async fn one(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

impl Run<'_> {
    async fn command(&mut self, command: Command) {
        // The owner loop outlives its front end; if it is gone, `Closed` says so.
        let _ = self.front.commands.send(command).await;
    }

    async fn interrupt(&mut self) {
        self.interrupted = true;
        self.command(Command::Interrupt).await;
    }

    /// Writes what is new; whether the turn is over.
    async fn pump(&mut self) -> bool {
        let mut closed = self.events();
        // what an agent did comes before its end
        self.agents();
        let (events, approvals, busy) = {
            let record = self.front.shared.read();
            let approvals = record.approvals.clone();
            // an end that the session did not take in yet may begin a turn
            let agents = record.status.untold_ends > 0 || record.agents.iter().any(|(_, row)| row.runs());
            let busy = record.status.phase.busy() || agents && !self.interrupted;
            (self.reader.read(&record), approvals, busy)
        };
        for event in &events {
            self.emit(event);
        }
        for approval in approvals.iter() {
            if !self.refused.insert(approval.call.clone()) {
                continue;
            }
            let mut event = json!({
                "type": "approval", "id": approval.call, "tool": approval.tool, "decision": "refused",
            });
            if let (Some(agent), Some(fields)) = (&approval.agent, event.as_object_mut()) {
                fields.insert("agent".into(), agent.as_str().into());
            }
            self.emit(&event);
            self.command(Command::Decide { call: approval.call.clone(), decision: Decision::Nobody }).await;
        }
        if self.broken && !self.interrupted {
            self.interrupt().await;
        }
        // A turn whose end could not be written (a full disk) is over all the same.
        closed |= (self.reader.turn.is_some() || self.reader.delivered) && !busy;
        closed
    }

    fn events(&mut self) -> bool {
        let mut over = false;
        while let Ok(event) = self.front.events.try_recv() {
            // A message that came back will not be answered: nothing is left to wait for.
            over |= matches!(event, Event::TakenBack { .. } | Event::Closed);
            if let Some(event) = exec_events::said(&event) {
                self.emit(&event);
            }
        }
        over
    }

    /// Writes what is new of its agents; each event says whose it is.
    fn agents(&mut self) {
        for (path, AgentRecord { shared, began }) in self.front.agents.all() {
            let known = self.agents.get(&path);
            if !known.is_some_and(|(known, _)| known.same(&shared)) {
                // a run of its own, with boards of its own
                let reader = Reader::of_run(began, known.map(|(_, reader)| reader));
                self.agents.insert(path.clone(), (shared, reader));
            }
            let Some((shared, reader)) = self.agents.get_mut(&path) else { continue };
            let events = reader.read(&shared.read());
            for mut event in events {
                if let Some(fields) = event.as_object_mut() {
                    fields.insert("agent".into(), path.as_str().into());
                }
                self.emit(&event);
            }
        }
    }

    /// Says what becomes of agents that have not ended.
    fn say_agents(&mut self) {
        let cut: Vec<String> = {
            let record = self.front.shared.read();
            record.agents.iter().filter(|(_, row)| row.runs()).map(|(path, _)| path.clone()).collect()
        };
        if !cut.is_empty() {
            let text = format!(
                "agents that still work are cut with the program: {}; open the session again to let them go on or to \
                 end them",
                cut.join(", ")
            );
            self.emit(&json!({"type": "notice", "level": "warning", "text": text}));
        }
    }

    /// Says what becomes of the jobs that run.
    fn say_jobs(&mut self) {
        let (ends, kept): (Vec<JobRow>, Vec<JobRow>) = {
            let record = self.front.shared.read();
            record.jobs.iter().map(|(_, row)| row.clone()).filter(JobRow::runs).partition(|row| !row.kept)
        };
        let names = |rows: &[JobRow]| {
            rows.iter()
                .map(|row| format!("{} ({})", row.node.id, row.node.command))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if !ends.is_empty() {
            let text = format!("jobs that still run are ended with the program: {}", names(&ends));
            self.emit(&json!({"type": "notice", "level": "warning", "text": text}));
        }
        if !kept.is_empty() {
            let text = format!("jobs that are kept go on: {}; `windlass jobs list` shows them", names(&kept));
            self.emit(&json!({"type": "notice", "level": "info", "text": text}));
        }
    }

    /// Whether what an agent, or one of its own, changed is in its copy only because its hand-back failed.
    fn has_work_not_back(&self) -> bool {
        let own = self.agents.values().map(|(_, reader)| reader);
        own.chain([&self.reader]).any(|reader| !reader.not_back.is_empty())
    }

    async fn close(mut self, woken: &Notify) -> u8 {
        self.say_jobs();
        self.say_agents();
        self.command(Command::Close { leave_jobs: false }).await;
        loop {
            match self.front.events.recv().await {
                Some(Event::Closed) | None => break,
                Some(event) => {
                    if let Some(event) = exec_events::said(&event) {
                        self.emit(&event);
                    }
                }
            }
        }
        woken.notify_one();
        self.agents();
        let (events, status) = {
            let record = self.front.shared.read();
            (self.reader.read(&record), record.status.clone())
        };
        for event in &events {
            self.emit(event);
        }
        self.emit(&exec_events::usage_event(&status.usage, status.cost));
        let turn = self.reader.turn.unwrap_or(TurnStatus::Failed);
        let exit = match turn {
            _ if self.interrupted => EXIT_INTERRUPTED,
            TurnStatus::Interrupted => EXIT_INTERRUPTED,
            TurnStatus::Failed => EXIT_FAILED,
            TurnStatus::Done if !self.refused.is_empty() => EXIT_APPROVAL,
            TurnStatus::Done if self.has_work_not_back() => EXIT_NOT_BACK,
            TurnStatus::Done => EXIT_DONE,
        };
        self.emit(&json!({"type": "session.ended", "status": turn.word(), "exit": exit}));
        exit
    }

    fn emit(&mut self, event: &Value) {
        let written = if self.json {
            writeln!(self.out, "{event}").and_then(|()| self.out.flush())
        } else {
            self.plain(event)
        };
        self.broken |= written.is_err();
    }

    fn plain(&mut self, event: &Value) -> std::io::Result<()> {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let text = event.get("text").and_then(Value::as_str).unwrap_or_default();
        // of agents only what they do, not what they say
        let own = event.get("agent").is_none();
        if kind == "text.delta" && own {
            self.out.write_all(text.as_bytes())?;
            return self.out.flush();
        }
        if kind == "message"
            && own
            && event.get("role").and_then(Value::as_str) == Some("assistant")
            && !text.is_empty()
        {
            return writeln!(self.out);
        }
        if let Some(line) = exec_events::line(event) {
            // What is said beside the answer may be closed without harm.
            let _ = writeln!(self.errors, "{line}");
        }
        Ok(())
    }
}
