//! Calls run: planned from an answer, begun in order (reads beside each other), settled once each.
//!
//! What a call's records are is the law's (`law::call`); this carries its effects out.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::api::access::Wish;
use crate::api::entry::{CallSettle, CallStart, CallStatus, Details, EntryBody, Level};
use crate::api::job::Starter;
use crate::api::message::{Answer, Usage};
use crate::base::CallId;
use crate::law::board::Progress;
use crate::law::call::{self, Call, Effect, Ending, Piece, Settle};
use crate::law::turn;
use crate::tool::site::Site;
use crate::tool::{CallContext, Report, Tool, ToolEnd, path, table};

use super::history::PERSON_HIDDEN;
use super::owner::{Owner, Word};
use super::report::Reporter;
use super::{clock, spawn};

/// A call of the newest answer.
pub(super) struct Run {
    pub start: CallStart,
    pub tool: Option<Arc<dyn Tool>>,
    pub law: Call<ToolEnd, Usage>,
    pub wish: Option<Wish>,
    pub cancel: CancellationToken,
    /// It goes on as a job.
    pub detach: CancellationToken,
    /// Counts for the turn (a command of the person's does not).
    pub of_turn: bool,
    reporter: Option<Arc<Reporter>>,
    task: Option<AbortHandle>,
    began: crate::base::Millis,
    /// Since when it waits for the person, and how long it did before.
    asked: (Option<crate::base::Millis>, crate::base::Millis),
    /// Its settle holds every byte of its output.
    whole: bool,
}

/// The calls that have not settled.
#[derive(Default)]
pub(super) struct Calls {
    queue: VecDeque<CallId>,
    runs: BTreeMap<CallId, Run>,
}

impl Calls {
    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
    /// Opens a call that the turn does not wait for; or one that it does, at the end of the queue.
    fn add(&mut self, run: Run) {
        let call = run.start.call.clone();
        if run.of_turn {
            self.queue.push_back(call.clone());
        }
        self.runs.insert(call, run);
    }
    /// An open call.
    pub fn get(&mut self, call: &CallId) -> Option<&mut Run> {
        self.runs.get_mut(call)
    }
    /// Lets a call go on without being waited for: the one that is named, else the oldest that can.
    /// Whether there was one.
    pub fn detach(&mut self, call: Option<&CallId>) -> bool {
        let can = |run: &&Run| {
            run.task.is_some()
                && matches!(run.start.tool.as_str(), "bash" | "jobs" | "spawn" | "agents")
                && !run.detach.is_cancelled()
        };
        let run = match call {
            Some(call) => self.runs.get(call).filter(can),
            None => self.runs.values().filter(can).min_by_key(|run| run.began),
        };
        run.inspect(|run| run.detach.cancel()).is_some()
    }
    /// All open calls.
    pub fn ids(&self) -> Vec<CallId> {
        self.runs.keys().cloned().collect()
    }
    /// The next queued call, if it may run beside those that run now.
    fn take_next(&mut self) -> Option<CallId> {
        let next = self.queue.front()?;
        let parallel = |run: &Run| run.tool.as_ref().is_none_or(|t| t.parallel());
        let running: Vec<&Run> = self
            .runs
            .iter()
            .filter(|(id, r)| !self.queue.contains(id) && r.of_turn)
            .map(|(_, r)| r)
            .collect();
        let free = running.is_empty()
            || (self.runs.get(next).is_some_and(parallel) && running.into_iter().all(parallel));
        if free { self.queue.pop_front() } else { None }
    }
}

impl Owner {
    /// Opens a call: one that the turn waits for, at the end of the queue, or one that it does not.
    pub(super) fn open_call(&mut self, wire_id: &str, tool: &str, input: Value, of_turn: bool) -> CallId {
        let call = self.store.mint_call();
        let start =
            CallStart { call: call.clone(), wire_id: wire_id.into(), tool: tool.into(), input, spool: None };
        self.calls.add(Run {
            start,
            tool: table::find(&self.tools, tool),
            law: Call::Fresh,
            wish: None,
            cancel: CancellationToken::new(),
            detach: CancellationToken::new(),
            of_turn,
            reporter: None,
            task: None,
            began: clock::now(),
            asked: (None, crate::base::Millis(0)),
            whole: false,
        });
        call
    }

    /// Plans the calls of an answer; how many they are.
    pub(super) fn plan_calls(&mut self, answer: &Answer) -> u32 {
        let mut calls = 0;
        for (_, wire_id, tool, input) in answer.calls() {
            self.open_call(wire_id, tool, input.clone(), true);
            calls += 1;
        }
        calls
    }

    /// Begins what may run now of the planned calls.
    pub(super) fn begin_calls(&mut self) {
        while let Some(call) = self.calls.take_next() {
            self.call_event(&call, call::Event::Begin);
        }
    }

    /// Steps one call and does what its law says.
    pub(super) fn call_event(&mut self, call: &CallId, event: call::Event<ToolEnd, Usage>) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let Some(run) = self.calls.runs.get_mut(call) else { return };
            let (law, effects) = call::step(std::mem::take(&mut run.law), event);
            run.law = law;
            for effect in effects {
                match effect {
                    Effect::CommitStart => events.push_back(self.commit_start(call)),
                    Effect::Launch => self.launch(call),
                    Effect::Show(_) => {}
                    Effect::Stop => self.stop_call(call),
                    Effect::CommitSettle(settle) => events.push_back(self.commit_settle(call, settle)),
                    Effect::Leave => self.leave(call),
                }
            }
        }
        self.give_up_on_disk(call);
    }

    /// Where the paths of calls lead.
    pub(super) fn site(&self) -> Site {
        Site::of(&self.cwd, self.options.held.as_ref())
    }

    fn commit_start(&mut self, call: &CallId) -> call::Event<ToolEnd, Usage> {
        let spool = self.store.call_dir(call);
        let Some(run) = self.calls.runs.get_mut(call) else { return call::Event::CommitFailed };
        run.began = clock::now();
        if run.start.tool == "bash" {
            run.start.spool = Some(spool.join(crate::process::record::OUTPUT_FILE));
        }
        let start = run.start.clone();
        let progress = Progress {
            tool: start.tool.clone(),
            title: run.tool.as_ref().map(|t| t.title(&start.input)).unwrap_or_default(),
            began: run.began,
            ..Progress::default()
        };
        match self.try_commit(EntryBody::CallStart(start)) {
            Some(_) => {
                self.shared.change(|record| record.calls.begin(call.clone(), progress));
                call::Event::Committed
            }
            None => {
                // Nothing of it is in the journal: it leaves without records, and the turn goes on
                // to find that the journal cannot be written.
                self.leave(call);
                call::Event::CommitFailed
            }
        }
    }

    /// Finds out what the call wants, beside the loop.
    fn launch(&mut self, call: &CallId) {
        let Some(run) = self.calls.runs.get(call) else { return };
        let Some(tool) = run.tool.clone() else {
            let names: Vec<&str> = self.tools.iter().map(|t| t.spec().name).collect();
            let text = format!("There is no tool {}. The tools are: {}.", run.start.tool, names.join(", "));
            return self.end_call(call, ToolEnd::text(CallStatus::Error, text));
        };
        let (cwd, real, site) = (self.cwd.clone(), self.cwd_real.clone(), self.site());
        let (input, id, lost) = (run.start.input.clone(), call.clone(), call.clone());
        spawn::blocking(
            self.words.clone(),
            move || match in_place(&cwd, &real) {
                Ok(()) => Word::Wished(id, tool.wish_in(&site, &input)),
                Err(why) => Word::Misplaced(id, why),
            },
            move || Word::CallLost(lost),
        );
    }

    pub(super) fn on_wish(&mut self, call: &CallId, wish: Result<Wish, String>) {
        let Some(run) = self.calls.runs.get_mut(call) else { return };
        if run.cancel.is_cancelled() {
            return self.call_event(call, call::Event::GiveUp);
        }
        match wish {
            Err(why) => self.end_call(call, ToolEnd::text(CallStatus::Error, why)),
            Ok(wish) => {
                run.wish = Some(wish.clone());
                self.misplaced = false;
                self.judge(call, wish);
            }
        }
    }

    /// Runs an allowed call.
    pub(super) fn run_call(&mut self, call: &CallId) {
        let call_dir = self.store.call_dir(call);
        let sight = self.sight();
        let crew = Arc::new(super::children::Asking::new(self.post.clone(), self.here()));
        let Some(run) = self.calls.runs.get_mut(call) else { return };
        let Some(tool) = run.tool.clone() else { return };
        // Its time counts from here: waiting for an approval is not running.
        run.began = clock::now();
        let began = run.began;
        self.shared.change(|record| record.calls.report(call, |p| p.began = began));
        let reporter = Arc::new(Reporter::new(call.clone(), self.shared.clone()));
        run.reporter = Some(reporter.clone());
        let context = CallContext {
            call: call.clone(),
            cwd: self.cwd.clone(),
            held: self.options.held.clone(),
            allowed: run.wish.as_ref().map(|wish| wish.paths.clone()).unwrap_or_default(),
            call_dir,
            blobs: Arc::new(self.store.blobs()),
            cancel: run.cancel.clone(),
            report: reporter as Arc<dyn Report>,
            truncation: table::truncation_for(&run.start.tool, &self.options.limits.output),
            spool_max: self.options.limits.spool_max,
            processes_max: self.options.limits.processes_max,
            environment: self.options.environment.clone(),
            sight,
            began,
            budget: self.options.limits.blocking_budget,
            detach: run.detach.clone(),
            desk: Arc::new(self.desk.clone()),
            crew,
            kept: self.options.limits.jobs_kept,
            by: if run.of_turn { Starter::Model } else { Starter::Person },
            hidden: run.start.wire_id == PERSON_HIDDEN,
            after: self.head.clone(),
        };
        let (input, id, lost) = (run.start.input.clone(), call.clone(), call.clone());
        let (words, real) = (self.words.clone(), self.cwd_real.clone());
        run.task = Some(spawn::telling(words.clone(), async move {
            let running = spawn::guarded(async move {
                // looked at again: an answer may have been long in coming
                match in_place(&context.cwd, &real) {
                    Ok(()) => Ok(tool.run(&context, &input).await),
                    Err(why) => Err(why),
                }
            });
            match running.await {
                Some(Ok(end)) => Word::CallEnded(id, end),
                Some(Err(why)) => Word::Misplaced(id, why),
                None => Word::CallLost(lost),
            }
        }));
    }

    pub(super) fn on_call_ended(&mut self, call: &CallId, end: ToolEnd) {
        self.end_call(call, end);
    }

    /// The session's directory is not where it was: the call fails, and the person is told once.
    pub(super) fn on_misplaced(&mut self, call: &CallId, why: &str) {
        if !std::mem::replace(&mut self.misplaced, true) {
            self.say(Level::Error, format!("{why}. No call can run until it is there again."));
        }
        let text = format!(
            "{why}: nothing can be read, changed or run in it. Stop, and tell the person; when it is there \
             again, this works again."
        );
        self.end_call(call, ToolEnd::text(CallStatus::Error, text));
    }

    pub(super) fn on_call_lost(&mut self, call: &CallId) {
        let text = "The tool failed inside Windlass; nothing more is known. This is a fault of Windlass.";
        self.end_call(call, ToolEnd::text(CallStatus::Error, text));
    }

    /// Settles a call with its own end.
    pub(super) fn end_call(&mut self, call: &CallId, end: ToolEnd) {
        self.absorb(call);
        self.call_event(call, call::Event::End(end));
    }

    /// Takes what the call told on the board into its law, so that a settle carries it.
    fn absorb(&mut self, call: &CallId) {
        let told = self.shared.read().calls.get(call).cloned();
        let Some(told) = told else { return };
        let used = self.calls.runs.get(call).and_then(|r| r.reporter.as_ref()).and_then(|r| r.used());
        let pieces = [Piece::Output { tail: told.tail, bytes: told.bytes, lines: told.lines }]
            .into_iter()
            .chain(told.warnings.into_iter().map(Piece::Warning))
            .chain(used.map(Piece::Usage));
        for piece in pieces {
            self.call_event(call, call::Event::Report(piece));
        }
    }

    /// It waits for the person from now on, or does no more.
    pub(super) fn asks(&mut self, call: &CallId, waits: bool) {
        if let Some(run) = self.calls.runs.get_mut(call) {
            let now = clock::now();
            if let Some(since) = run.asked.0.take() {
                run.asked.1 = run.asked.1.plus(now.since(since));
            }
            run.asked.0 = waits.then_some(now);
        }
        self.shared.change(|record| record.calls.report(call, |progress| progress.asking = waits));
    }

    fn commit_settle(
        &mut self,
        call: &CallId,
        settle: Settle<ToolEnd, Usage>,
    ) -> call::Event<ToolEnd, Usage> {
        let Some(run) = self.calls.runs.get(call) else { return call::Event::CommitFailed };
        let duration = clock::now().since(run.began);
        let mut record = settled(call, settle, run.start.spool.clone());
        record.duration = duration;
        let open = run.asked.0.map_or(crate::base::Millis(0), |since| clock::now().since(since));
        record.asked = run.asked.1.plus(open);
        for image in &mut record.images {
            if let Err(why) = self.keep_image(image) {
                record.warnings.push(format!("the image {} was left out: {why}", image.name));
            }
        }
        record.images.retain(|image| image.blob.is_some());
        let whole = record.artifact.is_none() && !goes_on(&record.details);
        if let Some(run) = self.calls.runs.get_mut(call) {
            run.whole = whole;
        }
        match self.try_commit(EntryBody::CallSettle(record)) {
            Some(_) => call::Event::Committed,
            None => call::Event::CommitFailed,
        }
    }

    /// Its records are durable, or there are none: it is no longer open.
    fn leave(&mut self, call: &CallId) {
        self.approvals.retain(|a| &a.call != call);
        let Some(run) = self.calls.runs.remove(call) else { return };
        self.forget_spool(call, &run);
        self.calls.queue.retain(|c| c != call);
        self.shared.change(|record| record.calls.end(call));
        if run.of_turn {
            self.begin_calls();
            self.turn_event(turn::Event::CallSettled);
        } else {
            self.publish_status();
        }
    }

    /// A spool whose output stands whole in the settle is not kept twice.
    fn forget_spool(&self, call: &CallId, run: &Run) {
        let whole = match &run.law {
            Call::Done => run.whole,
            Call::Fresh
            | Call::Starting { .. }
            | Call::Running { .. }
            | Call::Settling(_)
            | Call::Unsettled(_) => false,
        };
        if run.start.spool.is_none() || !whole {
            return;
        }
        let dir = self.store.call_dir(call);
        spawn::blocking(
            self.words.clone(),
            move || {
                if let Err(error) = crate::process::record::forget(&dir) {
                    tracing::warn!("{} stays: {error}", dir.display());
                }
                Word::Nothing
            },
            || Word::Nothing,
        );
    }

    fn stop_call(&mut self, call: &CallId) {
        let Some(run) = self.calls.runs.get_mut(call) else { return };
        run.cancel.cancel();
        let asking = self.approvals.iter().any(|a| &a.call == call);
        if asking {
            self.call_event(call, call::Event::GiveUp);
        }
    }

    /// Ends every open call; those not begun settle without running.
    pub(super) fn cancel_calls(&mut self) {
        let queued: Vec<CallId> = self.calls.queue.drain(..).collect();
        for call in self.calls.ids() {
            if !queued.contains(&call) {
                self.call_event(&call, call::Event::Cancel);
            }
        }
        for call in queued {
            if let Some(run) = self.calls.runs.get_mut(&call) {
                run.cancel.cancel();
            }
            self.call_event(&call, call::Event::Begin);
            self.call_event(&call, call::Event::GiveUp);
        }
    }

    /// Calls that did not end in time are settled from the board.
    pub(super) fn give_up_calls(&mut self) {
        for call in self.calls.ids() {
            if let Some(task) = self.calls.runs.get_mut(&call).and_then(|r| r.task.take()) {
                task.abort();
            }
            self.absorb(&call);
            self.call_event(&call, call::Event::GiveUp);
        }
    }

    /// Settles again what could not be committed.
    pub(super) fn settle_again(&mut self) {
        for call in self.calls.ids() {
            if self.calls.get(&call).is_some_and(|r| matches!(r.law, Call::Unsettled(_))) {
                self.call_event(&call, call::Event::GiveUp);
            }
        }
    }

    /// A settle that cannot be written is tried again for a while, but nothing waits for it while the
    /// person wants an end.
    fn give_up_on_disk(&mut self, call: &CallId) {
        if !self.calls.get(call).is_some_and(|r| matches!(r.law, Call::Unsettled(_))) {
            return;
        }
        self.unsettled_since.get_or_insert_with(tokio::time::Instant::now);
        if self.closing.is_some() || matches!(self.turn.phase(), turn::Phase::Stopping { .. }) {
            self.leave(call);
        }
    }

    /// Lets go of calls whose settle cannot be written: the next open settles them.
    pub(super) fn abandon_calls(&mut self) {
        self.unsettled_since = None;
        for call in self.calls.ids() {
            if self.calls.get(&call).is_some_and(|r| matches!(r.law, Call::Unsettled(_))) {
                self.leave(&call);
            }
        }
    }
}

/// Whether something of the call goes on as a job: its directory is the job's.
fn goes_on(details: &Details) -> bool {
    matches!(details, Details::Command { job: Some(_), .. })
}

/// Whether the session's directory is where it was; else what became of it.
pub(super) fn in_place(cwd: &Path, real: &Path) -> Result<(), String> {
    let what = match path::real(cwd) {
        Ok(_) if !cwd.is_dir() => "is gone".to_owned(),
        Ok(now) if now == real => return Ok(()),
        Ok(now) => format!("leads to {} now, another place than when the session began", now.display()),
        Err(why) => format!("cannot be found ({why})"),
    };
    Err(format!("The session's directory {} {what}", cwd.display()))
}

/// The settle record of a call.
pub(super) fn settled(call: &CallId, settle: Settle<ToolEnd, Usage>, spool: Option<PathBuf>) -> CallSettle {
    let told = settle.told;
    let usage = (told.usage != Usage::default()).then_some(told.usage);
    let (status, word) = match settle.ending {
        Ending::Ended(end) => {
            return CallSettle {
                kept: end.kept,
                dropped: end.dropped,
                artifact: end.artifact,
                images: end.images,
                details: end.details,
                warnings: told.warnings,
                touched: end.touched,
                usage,
                ..CallSettle::new(call.clone(), end.status, end.output)
            };
        }
        Ending::Cancelled => (CallStatus::Cancelled, "[cancelled by the person before it ended]"),
        Ending::Interrupted => (CallStatus::Interrupted, "[interrupted: the program ended while it ran]"),
    };
    let kept = told.tail.len() as u64;
    let dropped = told.bytes.saturating_sub(kept);
    let artifact = spool.filter(|path| path.exists());
    let mut output = told.tail;
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    if let Some(path) = &artifact {
        output.push_str(&format!("[the whole output: {}]\n", path.display()));
    }
    output.push_str(word);
    let warnings = told.warnings;
    CallSettle { kept, dropped, artifact, warnings, usage, ..CallSettle::new(call.clone(), status, output) }
}
