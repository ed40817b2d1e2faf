//! The rule's side of the bridge of law C: a shell without a session around `law::call` and `law::turn`,
//! told what each call would do. It reads nothing and waits for nothing.

use std::collections::{BTreeSet, VecDeque};

use windlass::api::access::Mode;
use windlass::api::message::Usage;
use windlass::law::call::{self, Call, Effect, Ending, Event, Piece, Settle};
use windlass::law::turn::{self, AnswerEnd, Turn, TurnEnd};

use super::{BOUND, Cut, Kind, READ_LINE, SPOOL_MAX, Scenario, Shown, Told};

/// How a tool ended.
#[derive(Clone, Debug)]
struct End {
    status: &'static str,
    /// Bytes that it produced; none: words of the program.
    bytes: Option<u64>,
}

struct Shell<'a> {
    scenario: &'a Scenario,
    turn: Turn,
    calls: Vec<Call<End, Usage>>,
    /// Planned and not begun.
    queue: VecDeque<usize>,
    /// Launched: their tools run.
    running: VecDeque<usize>,
    board: BTreeSet<usize>,
    asks: usize,
    answered: usize,
    told: Told,
}

/// What the rules say of a scenario.
pub(super) fn run(scenario: &Scenario) -> Told {
    let mut shell = Shell::new(scenario);
    shell.turn_event(turn::Event::Send { id: 1, after_turn: false });
    shell.pump();
    let held = scenario.calls.iter().position(|kind| kind.held());
    if let Some(held) = held {
        let before = &shell.told.calls[held];
        shell.told.at_the_cut = Some((before.starts, before.settles.len()));
    }
    match scenario.cut {
        None => return shell.end(),
        Some(Cut::Interrupt) => {
            shell.turn_event(turn::Event::Interrupt);
            if let Some(held) = held
                && let Kind::Waits(bytes) = scenario.calls[held]
            {
                shell.call_event(held, Event::End(End { status: "cancelled", bytes: Some(bytes as u64) }));
            }
        }
        Some(Cut::Crash) => shell.crash(),
    }
    shell.turn_event(turn::Event::Send { id: 2, after_turn: false });
    shell.pump();
    shell.end()
}

impl<'a> Shell<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let count = scenario.calls.len();
        Self {
            scenario,
            turn: Turn::default(),
            calls: vec![Call::Fresh; count],
            queue: VecDeque::new(),
            running: VecDeque::new(),
            board: BTreeSet::new(),
            asks: 0,
            answered: 0,
            told: Told { calls: vec![Shown::default(); count], ..Told::default() },
        }
    }

    fn end(mut self) -> Told {
        self.told.left = self.board.len();
        self.told
    }

    /// The model answers, and tools come to their ends, until nothing moves by itself.
    fn pump(&mut self) {
        loop {
            if self.asks > self.answered {
                self.answer();
            } else if let Some(n) = self.running.pop_front() {
                self.run_tool(n);
            } else {
                return;
            }
        }
    }

    fn answer(&mut self) {
        self.answered += 1;
        let first = !self.told.order.iter().any(|word| word == "answer");
        let calls = if first { self.calls.len() } else { 0 };
        if !first {
            for (n, call) in self.told.calls.iter_mut().enumerate() {
                // every call has one result: its settle, or a word that there is none
                let ok =
                    matches!(&self.calls[n], Call::Done) && call.settles.iter().all(|s| s.starts_with("ok"));
                if call.results.is_empty() {
                    call.results.push(!ok);
                }
            }
        }
        self.told.order.push("answer".into());
        self.queue = (0..calls).collect();
        self.turn_event(turn::Event::AnswerEnded(AnswerEnd::Finished { calls: calls as u32 }));
    }

    fn run_tool(&mut self, n: usize) {
        let kind = self.scenario.calls[n];
        let commands = matches!(kind, Kind::Prints(_) | Kind::Fails(_) | Kind::Refused);
        let end = if commands && self.scenario.mode == Mode::Plan {
            End { status: "refused", bytes: None }
        } else {
            let (status, bytes) = match kind {
                Kind::Read(lines) => ("ok", Some(lines * READ_LINE)),
                Kind::ReadPastLimit => {
                    self.call_event(n, Event::Report(Piece::Warning("too much".into())));
                    ("ok", Some(SPOOL_MAX.div_ceil(READ_LINE) * READ_LINE))
                }
                Kind::Prints(bytes) => ("ok", Some(bytes as u64)),
                Kind::Fails(bytes) => ("error", Some(bytes as u64)),
                Kind::Refused => ("refused", None),
                Kind::Mismatch | Kind::Unknown | Kind::BadInput => ("error", None),
                Kind::Waits(bytes) => return self.show(n, bytes as u64),
                Kind::Asks => return,
            };
            End { status, bytes }
        };
        if let Some(bytes) = end.bytes {
            self.show(n, bytes);
        }
        self.call_event(n, Event::End(end));
    }

    fn show(&mut self, n: usize, bytes: u64) {
        self.call_event(n, Event::Report(Piece::Output { tail: String::new(), bytes, lines: 0 }));
    }

    fn call_event(&mut self, n: usize, event: Event<End, Usage>) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let (call, effects) = call::step(std::mem::take(&mut self.calls[n]), event);
            self.calls[n] = call;
            for effect in effects {
                match effect {
                    Effect::CommitStart => {
                        self.told.calls[n].starts += 1;
                        self.told.order.push(format!("start {n}"));
                        self.board.insert(n);
                        events.push_back(Event::Committed);
                    }
                    // a tool that is not there ends at once
                    Effect::Launch if self.scenario.calls[n] == Kind::Unknown => self.run_tool(n),
                    Effect::Launch => self.running.push_back(n),
                    Effect::Show(_) => {}
                    // a question is withdrawn; a tool takes its time
                    Effect::Stop if self.scenario.calls[n] == Kind::Asks => events.push_back(Event::GiveUp),
                    Effect::Stop => {}
                    Effect::CommitSettle(settle) => {
                        self.settle(n, &settle);
                        events.push_back(Event::Committed);
                    }
                    Effect::Leave => {
                        self.board.remove(&n);
                        self.running.retain(|running| *running != n);
                        self.begin_calls();
                        self.turn_event(turn::Event::CallSettled);
                    }
                }
            }
        }
    }

    fn settle(&mut self, n: usize, settle: &Settle<End, Usage>) {
        let bytes = match &settle.ending {
            Ending::Ended(end) => end.bytes,
            Ending::Cancelled | Ending::Interrupted => Some(settle.told.bytes),
        };
        let (status, file) = match &settle.ending {
            Ending::Ended(end) => (end.status, end.bytes.is_some_and(|bytes| bytes > BOUND)),
            Ending::Cancelled => ("cancelled", false),
            // the spool of a command that ran is there, whatever it holds
            Ending::Interrupted => ("interrupted", settle.told.bytes > 0),
        };
        let produced = bytes.map_or("words".to_owned(), |bytes| format!("{bytes} bytes"));
        let file = if file { "all of it in a file" } else { "no file" };
        let usage = if settle.told.usage == Usage::default() { "null" } else { "told" };
        let warnings = settle.told.warnings.len();
        self.told.calls[n]
            .settles
            .push(format!("{status}, {produced}, {file}, {warnings} warnings, usage {usage}"));
        self.told.order.push(format!("settle {n}"));
    }

    /// Reads, and what is no tool, run beside each other; all else alone, in the order of the answer.
    fn begin_calls(&mut self) {
        let beside = |n: usize| {
            let kind = self.scenario.calls[n];
            matches!(kind, Kind::Read(_) | Kind::ReadPastLimit | Kind::BadInput | Kind::Unknown)
        };
        let Some(next) = self.queue.front().copied() else { return };
        if self.board.iter().all(|n| beside(*n)) && (self.board.is_empty() || beside(next)) {
            self.queue.pop_front();
            self.call_event(next, Event::Begin);
            self.begin_calls();
        }
    }

    fn turn_event(&mut self, event: turn::Event) {
        for effect in self.turn.step(event) {
            match effect {
                turn::Effect::BeginTurn => {}
                turn::Effect::Deliver { .. } => self.told.order.push("user".into()),
                turn::Effect::Ask => self.asks += 1,
                turn::Effect::RunCalls => self.begin_calls(),
                turn::Effect::CancelCalls => self.cancel_calls(),
                turn::Effect::EndTurn(end) => {
                    let word = match end {
                        TurnEnd::Done => "done",
                        TurnEnd::Failed => "failed",
                        TurnEnd::Interrupted => "interrupted",
                    };
                    self.told.order.push(format!("turn {word}"));
                }
                turn::Effect::GiveBack { .. }
                | turn::Effect::Pause { .. }
                | turn::Effect::Compact
                | turn::Effect::CancelStream
                | turn::Effect::RefuseBusy => panic!("{effect:?} does not belong to these scenarios"),
            }
        }
    }

    /// What runs is asked to stop; what was not begun gets both records and does not run.
    fn cancel_calls(&mut self) {
        let queued = std::mem::take(&mut self.queue);
        for n in self.board.clone() {
            self.call_event(n, Event::Cancel);
        }
        for n in queued {
            self.call_event(n, Event::Begin);
            self.call_event(n, Event::GiveUp);
        }
    }

    /// The program is gone and another finds its journal: what has a start and no settle is settled from
    /// what is durable, and the open turn ends.
    fn crash(&mut self) {
        self.turn = Turn::default();
        self.queue.clear();
        self.running.clear();
        for n in std::mem::take(&mut self.board) {
            let bytes = match self.scenario.calls[n] {
                Kind::Waits(bytes) => bytes as u64,
                _ => 0,
            };
            self.calls[n] = Call::found(call::Told { bytes, ..call::Told::nothing() });
            self.call_event(n, Event::Recover);
        }
        self.told.order.push("turn interrupted".into());
    }
}
