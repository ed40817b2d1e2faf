//! A turn: what a session does from a person's message to the end of the answer, and where each
//! message of the person goes meanwhile.
//!
//! Keeps the promise of `product.md`: every message is exactly one of delivered, waiting (visible,
//! editable) or given back to the composer. Asking, running calls and waiting are the shell's work;
//! it tells what came of them as events.

/// Most tries of one request after its stream broke off.
pub const TRIES_MAX: u32 = 4;

/// What the session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing.
    Idle,
    /// An answer is asked for, or streams.
    Asking,
    /// Calls of the answer are open.
    Calling {
        /// How many have not settled.
        open: u32,
    },
    /// A stream broke off; the next try waits.
    Pausing,
    /// Older entries are being summarised.
    Compacting {
        /// The person asked for it (else a turn needs it and goes on after it).
        by_hand: bool,
    },
    /// The person interrupted: what runs is being ended.
    Stopping {
        /// A stream has not ended yet.
        stream: bool,
        /// Calls that have not settled yet.
        open: u32,
        /// A turn is to be ended (a compaction by hand is none).
        turn: bool,
    },
}

/// How an answer ended, as far as the turn cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerEnd {
    /// Whole, with this many calls.
    Finished {
        /// Its calls.
        calls: u32,
    },
    /// Its stream broke off.
    Truncated,
    /// The provider failed; whether because the conversation does not fit its window.
    Failed {
        /// It does not fit.
        overflow: bool,
    },
    /// It was cancelled.
    Cancelled,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// All was said.
    Done,
    /// It failed.
    Failed,
    /// The person interrupted it.
    Interrupted,
}

/// How a message is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It begins a turn.
    Sent,
    /// Between two requests of a turn.
    Steered,
    /// After a turn that it waited for.
    Queued,
}

/// What happens to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The person sends message `id`.
    Send {
        /// The message.
        id: u64,
        /// It is to wait for the end of the turn.
        after_turn: bool,
    },
    /// The person wants a waiting message back (none: the newest).
    TakeBack {
        /// The message.
        id: Option<u64>,
    },
    /// The person interrupts.
    Interrupt,
    /// The answer ended.
    AnswerEnded(AnswerEnd),
    /// One call settled.
    CallSettled,
    /// The wait before a try is over, or the person cut it short, or asks for a failed request again.
    TryNow,
    /// Something happened that the model is to read of though the person said nothing: a job ended.
    GoOn,
    /// In place of asking: the conversation fills the window.
    WindowFull,
    /// The person wants older entries summarised.
    CompactAsked,
    /// The summary stands (or could not be had).
    CompactEnded {
        /// It stands.
        ok: bool,
    },
}

/// What the shell is to do, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A turn begins.
    BeginTurn,
    /// Commit the message as the person's.
    Deliver {
        /// The message.
        id: u64,
        /// How.
        how: How,
    },
    /// Put the message back into the composer.
    GiveBack {
        /// The message.
        id: u64,
    },
    /// Ask the model (or answer with `WindowFull` when it does not fit and was not compacted yet).
    Ask,
    /// Run the calls of the answer.
    RunCalls,
    /// Wait before try number `attempt`.
    Pause {
        /// From 2.
        attempt: u32,
    },
    /// Summarise older entries.
    Compact,
    /// Close the stream; it still ends with an event.
    CancelStream,
    /// End the open calls; each still settles.
    CancelCalls,
    /// The turn ended.
    EndTurn(TurnEnd),
    /// Say that this cannot be done while a turn runs.
    RefuseBusy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    id: u64,
    after_turn: bool,
}

/// A session's turn, between and within turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    phase: Phase,
    waiting: Vec<Waiting>,
    tries: u32,
    compacted: bool,
    failed: bool,
}

impl Default for Turn {
    fn default() -> Self {
        Self { phase: Phase::Idle, waiting: Vec::new(), tries: 1, compacted: false, failed: false }
    }
}

impl Turn {
    /// What it does now.
    pub fn phase(&self) -> Phase {
        self.phase
    }
    /// Whether this turn has been compacted already: at most once.
    pub fn compacted(&self) -> bool {
        self.compacted
    }
    /// Whether the last turn failed, so that `TryNow` repeats its request.
    pub fn failed(&self) -> bool {
        self.failed
    }
    /// Messages that wait, in order, and whether each waits for the turn's end.
    pub fn waiting(&self) -> impl Iterator<Item = (u64, bool)> {
        self.waiting.iter().map(|w| (w.id, w.after_turn))
    }

    /// One step. Total: what does not fit the phase changes nothing.
    pub fn step(&mut self, event: Event) -> Vec<Effect> {
        let mut out = Vec::new();
        match event {
            Event::Send { id, after_turn } => self.send(id, after_turn, &mut out),
            Event::TakeBack { id } => self.take_back(id, &mut out),
            Event::Interrupt => self.interrupt(&mut out),
            Event::AnswerEnded(end) => self.answer_ended(end, &mut out),
            Event::CallSettled => self.call_settled(&mut out),
            Event::TryNow => self.try_now(&mut out),
            Event::GoOn => match self.phase {
                Phase::Idle => {
                    self.begin(&mut out);
                    out.push(Effect::Ask);
                }
                // the request that comes next tells it
                Phase::Asking
                | Phase::Calling { .. }
                | Phase::Pausing
                | Phase::Compacting { .. }
                | Phase::Stopping { .. } => {}
            },
            Event::WindowFull => self.window_full(&mut out),
            Event::CompactAsked => match self.phase {
                Phase::Idle => {
                    self.phase = Phase::Compacting { by_hand: true };
                    out.push(Effect::Compact);
                }
                Phase::Asking
                | Phase::Calling { .. }
                | Phase::Pausing
                | Phase::Compacting { .. }
                | Phase::Stopping { .. } => out.push(Effect::RefuseBusy),
            },
            Event::CompactEnded { ok } => self.compact_ended(ok, &mut out),
        }
        out
    }

    fn send(&mut self, id: u64, after_turn: bool, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Idle => {
                self.begin(out);
                out.push(Effect::Deliver { id, how: How::Sent });
                out.push(Effect::Ask);
            }
            Phase::Asking
            | Phase::Calling { .. }
            | Phase::Pausing
            | Phase::Compacting { .. }
            | Phase::Stopping { .. } => self.waiting.push(Waiting { id, after_turn }),
        }
    }

    fn begin(&mut self, out: &mut Vec<Effect>) {
        self.tries = 1;
        self.compacted = false;
        self.failed = false;
        self.phase = Phase::Asking;
        out.push(Effect::BeginTurn);
    }

    fn take_back(&mut self, id: Option<u64>, out: &mut Vec<Effect>) {
        let at = match id {
            Some(id) => self.waiting.iter().position(|w| w.id == id),
            None => self.waiting.len().checked_sub(1),
        };
        if let Some(at) = at {
            out.push(Effect::GiveBack { id: self.waiting.remove(at).id });
        }
    }

    fn give_back_all(&mut self, out: &mut Vec<Effect>) {
        // the newest first: each is put before what stands, so that they stand in their order
        out.extend(self.waiting.drain(..).rev().map(|w| Effect::GiveBack { id: w.id }));
    }

    fn interrupt(&mut self, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Idle => {}
            Phase::Stopping { .. } => self.give_back_all(out),
            Phase::Asking => {
                self.phase = Phase::Stopping { stream: true, open: 0, turn: true };
                out.push(Effect::CancelStream);
                self.give_back_all(out);
            }
            Phase::Compacting { by_hand } => {
                self.phase = Phase::Stopping { stream: true, open: 0, turn: !by_hand };
                out.push(Effect::CancelStream);
                self.give_back_all(out);
            }
            Phase::Calling { open } => {
                self.phase = Phase::Stopping { stream: false, open, turn: true };
                out.push(Effect::CancelCalls);
                self.give_back_all(out);
            }
            Phase::Pausing => {
                self.give_back_all(out);
                self.end(TurnEnd::Interrupted, out);
            }
        }
    }

    fn answer_ended(&mut self, end: AnswerEnd, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Stopping { stream: true, open, turn } => self.stopped(open, turn, out),
            Phase::Asking => match end {
                AnswerEnd::Finished { calls: 0 } => {
                    if !self.steer(out) {
                        self.end(TurnEnd::Done, out);
                    }
                }
                AnswerEnd::Finished { calls } => {
                    self.tries = 1;
                    self.phase = Phase::Calling { open: calls };
                    out.push(Effect::RunCalls);
                }
                AnswerEnd::Truncated if self.tries < TRIES_MAX => {
                    self.tries += 1;
                    self.phase = Phase::Pausing;
                    out.push(Effect::Pause { attempt: self.tries });
                }
                AnswerEnd::Failed { overflow: true } if !self.compacted => self.compact(out),
                AnswerEnd::Truncated | AnswerEnd::Failed { .. } => self.fail(out),
                AnswerEnd::Cancelled => {
                    self.give_back_all(out);
                    self.end(TurnEnd::Interrupted, out);
                }
            },
            Phase::Idle
            | Phase::Calling { .. }
            | Phase::Pausing
            | Phase::Compacting { .. }
            | Phase::Stopping { stream: false, .. } => {}
        }
    }

    fn stopped(&mut self, open: u32, turn: bool, out: &mut Vec<Effect>) {
        if open > 0 {
            self.phase = Phase::Stopping { stream: false, open, turn };
        } else if turn {
            self.end(TurnEnd::Interrupted, out);
        } else {
            self.phase = Phase::Idle;
            self.next(out);
        }
    }

    fn call_settled(&mut self, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Calling { open } if open > 1 => self.phase = Phase::Calling { open: open - 1 },
            Phase::Calling { .. } => {
                if !self.steer(out) {
                    self.phase = Phase::Asking;
                    out.push(Effect::Ask);
                }
            }
            Phase::Stopping { stream, open, turn } if open > 0 => {
                if stream {
                    self.phase = Phase::Stopping { stream, open: open - 1, turn };
                } else {
                    self.stopped(open - 1, turn, out);
                }
            }
            Phase::Stopping { .. }
            | Phase::Idle
            | Phase::Asking
            | Phase::Pausing
            | Phase::Compacting { .. } => {}
        }
    }

    /// Delivers what steers and asks on; says whether there was anything.
    fn steer(&mut self, out: &mut Vec<Effect>) -> bool {
        let (steers, rest): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(|w| !w.after_turn);
        self.waiting = rest;
        if steers.is_empty() {
            return false;
        }
        out.extend(steers.iter().map(|w| Effect::Deliver { id: w.id, how: How::Steered }));
        self.phase = Phase::Asking;
        out.push(Effect::Ask);
        true
    }

    fn try_now(&mut self, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Pausing => {
                self.phase = Phase::Asking;
                out.push(Effect::Ask);
            }
            Phase::Idle if self.failed => {
                self.begin(out);
                out.push(Effect::Ask);
            }
            Phase::Idle
            | Phase::Asking
            | Phase::Calling { .. }
            | Phase::Compacting { .. }
            | Phase::Stopping { .. } => {}
        }
    }

    fn window_full(&mut self, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Asking if !self.compacted => self.compact(out),
            Phase::Asking => self.fail(out),
            Phase::Idle
            | Phase::Calling { .. }
            | Phase::Pausing
            | Phase::Compacting { .. }
            | Phase::Stopping { .. } => {}
        }
    }

    fn compact(&mut self, out: &mut Vec<Effect>) {
        self.compacted = true;
        self.phase = Phase::Compacting { by_hand: false };
        out.push(Effect::Compact);
    }

    fn compact_ended(&mut self, ok: bool, out: &mut Vec<Effect>) {
        match self.phase {
            Phase::Compacting { by_hand: true } => {
                self.phase = Phase::Idle;
                self.next(out);
            }
            Phase::Compacting { by_hand: false } if ok => {
                self.phase = Phase::Asking;
                out.push(Effect::Ask);
            }
            Phase::Compacting { by_hand: false } => self.fail(out),
            Phase::Stopping { stream: true, open, turn } => self.stopped(open, turn, out),
            Phase::Idle
            | Phase::Asking
            | Phase::Calling { .. }
            | Phase::Pausing
            | Phase::Stopping { stream: false, .. } => {}
        }
    }

    fn fail(&mut self, out: &mut Vec<Effect>) {
        self.give_back_all(out);
        self.end(TurnEnd::Failed, out);
    }

    fn end(&mut self, how: TurnEnd, out: &mut Vec<Effect>) {
        self.phase = Phase::Idle;
        self.failed = how == TurnEnd::Failed;
        out.push(Effect::EndTurn(how));
        self.next(out);
    }

    /// Idle: the oldest waiting message begins the next turn.
    fn next(&mut self, out: &mut Vec<Effect>) {
        if self.waiting.is_empty() {
            return;
        }
        let id = self.waiting.remove(0).id;
        self.begin(out);
        out.push(Effect::Deliver { id, how: How::Queued });
        out.push(Effect::Ask);
    }
}

#[cfg(test)]
mod tests;
