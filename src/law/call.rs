//! Law C, one call: a start and a settle in the journal, and nothing else.
//!
//! `step` is told what happens to a call and answers what the shell must do. It holds what the call
//! has told, so that a settle carries it however the call ends: by its own result, by a cancel that
//! nothing answers, or by the recovery after a crash. Committing, launching and the board are the
//! shell's.
//!
//! Keeps `call_journals_two`, `call_settles_once`, `call_settle_carries_all`.

/// Counts that add up, such as tokens.
pub trait Sum: Clone + Default {
    /// Adds what came on top.
    fn add(&mut self, more: &Self);
}

/// What a call has told while it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told<U> {
    /// The newest part of its output, bounded by the reporter.
    pub tail: String,
    /// Bytes of its output so far.
    pub bytes: u64,
    /// Lines of its output so far.
    pub lines: u64,
    /// Its warnings, in order.
    pub warnings: Vec<String>,
    /// All that it used.
    pub usage: U,
}

/// One thing told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<U> {
    /// Output came.
    Output {
        /// Its newest part.
        tail: String,
        /// Bytes so far.
        bytes: u64,
        /// Lines so far.
        lines: u64,
    },
    /// A warning.
    Warning(String),
    /// Something was used.
    Usage(U),
}

/// How a call ended. `E` is what its tool gave: the result or the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending<E> {
    /// The tool's own end.
    Ended(E),
    /// It was cancelled, and its tool gave no end: the settle is made from what was told.
    Cancelled,
    /// The program went while it ran: found at the next open.
    Interrupted,
}

/// The second record: all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle<E, U> {
    /// How it ended.
    pub ending: Ending<E>,
    /// What was told up to then.
    pub told: Told<U>,
}

/// Where a call stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Call<E, U> {
    /// Nothing was committed.
    #[default]
    Fresh,
    /// The start is being committed. A cancel may have come already.
    Starting {
        /// Whether it came.
        cancelled: bool,
    },
    /// The start is committed, the tool runs.
    Running {
        /// What it told.
        told: Told<U>,
        /// Whether it was asked to stop.
        stopping: bool,
    },
    /// The settle is being committed.
    Settling(Settle<E, U>),
    /// The settle could not be committed; it is kept for another try, as it was.
    Unsettled(Settle<E, U>),
    /// Both records are committed.
    Done,
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<E, U> {
    /// It is to begin.
    Begin,
    /// The record under way is durable.
    Committed,
    /// The record under way could not be written; nothing of it is in the journal.
    CommitFailed,
    /// The tool told something.
    Report(Piece<U>),
    /// The tool came to its end.
    End(E),
    /// The person (or the program's end) wants it to stop.
    Cancel,
    /// It was asked to stop and did not answer in time; or its settle is to be tried again.
    GiveUp,
    /// The journal was opened and holds its start without a settle.
    Recover,
}

/// What the shell must do, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<E, U> {
    /// Commit the start.
    CommitStart,
    /// Put it on the board and run the tool.
    Launch,
    /// Put what was told on the board.
    Show(Piece<U>),
    /// Ask the tool to stop.
    Stop,
    /// Commit the settle together with the result.
    CommitSettle(Settle<E, U>),
    /// Take it off the board: its settle is durable.
    Leave,
}

impl<E, U: Sum> Call<E, U> {
    /// A call whose start was found in a journal without a settle; `told` is what is durable of it.
    pub fn found(told: Told<U>) -> Self {
        Call::Running { told, stopping: true }
    }
}

/// The answer to every event in every state.
pub fn step<E: Clone, U: Sum>(call: Call<E, U>, event: Event<E, U>) -> (Call<E, U>, Vec<Effect<E, U>>) {
    match call {
        Call::Fresh => fresh(event),
        Call::Starting { cancelled } => starting(cancelled, event),
        Call::Running { told, stopping } => running(told, stopping, event),
        Call::Settling(settle) => settling(settle, event),
        Call::Unsettled(settle) => unsettled(settle, event),
        Call::Done => (Call::Done, Vec::new()),
    }
}

type Answer<E, U> = (Call<E, U>, Vec<Effect<E, U>>);

fn fresh<E: Clone, U: Sum>(event: Event<E, U>) -> Answer<E, U> {
    match event {
        Event::Begin => (Call::Starting { cancelled: false }, vec![Effect::CommitStart]),
        Event::Committed
        | Event::CommitFailed
        | Event::Report(_)
        | Event::End(_)
        | Event::Cancel
        | Event::GiveUp
        | Event::Recover => (Call::Fresh, Vec::new()),
    }
}

fn starting<E: Clone, U: Sum>(cancelled: bool, event: Event<E, U>) -> Answer<E, U> {
    match event {
        Event::Committed if cancelled => settle(Ending::Cancelled, Told::nothing()),
        Event::Committed => (Call::Running { told: Told::nothing(), stopping: false }, vec![Effect::Launch]),
        Event::CommitFailed => (Call::Fresh, Vec::new()),
        Event::Cancel | Event::GiveUp => (Call::Starting { cancelled: true }, Vec::new()),
        Event::Begin | Event::Report(_) | Event::End(_) | Event::Recover => {
            (Call::Starting { cancelled }, Vec::new())
        }
    }
}

fn running<E: Clone, U: Sum>(mut told: Told<U>, stopping: bool, event: Event<E, U>) -> Answer<E, U> {
    match event {
        Event::Report(piece) => {
            told.take(&piece);
            (Call::Running { told, stopping }, vec![Effect::Show(piece)])
        }
        Event::End(end) => settle(Ending::Ended(end), told),
        Event::Cancel if stopping => (Call::Running { told, stopping }, Vec::new()),
        Event::Cancel => (Call::Running { told, stopping: true }, vec![Effect::Stop]),
        Event::GiveUp => settle(Ending::Cancelled, told),
        Event::Recover => settle(Ending::Interrupted, told),
        Event::Begin | Event::Committed | Event::CommitFailed => {
            (Call::Running { told, stopping }, Vec::new())
        }
    }
}

fn settling<E: Clone, U: Sum>(settle: Settle<E, U>, event: Event<E, U>) -> Answer<E, U> {
    match event {
        Event::Committed => (Call::Done, vec![Effect::Leave]),
        Event::CommitFailed => (Call::Unsettled(settle), Vec::new()),
        Event::Begin | Event::Report(_) | Event::End(_) | Event::Cancel | Event::GiveUp | Event::Recover => {
            (Call::Settling(settle), Vec::new())
        }
    }
}

fn unsettled<E: Clone, U: Sum>(settle: Settle<E, U>, event: Event<E, U>) -> Answer<E, U> {
    match event {
        Event::Cancel | Event::GiveUp | Event::Recover => {
            (Call::Settling(settle.clone()), vec![Effect::CommitSettle(settle)])
        }
        Event::Begin | Event::Committed | Event::CommitFailed | Event::Report(_) | Event::End(_) => {
            (Call::Unsettled(settle), Vec::new())
        }
    }
}

fn settle<E: Clone, U: Sum>(ending: Ending<E>, told: Told<U>) -> Answer<E, U> {
    let settle = Settle { ending, told };
    (Call::Settling(settle.clone()), vec![Effect::CommitSettle(settle)])
}

impl<U: Sum> Told<U> {
    /// Nothing was told.
    pub fn nothing() -> Self {
        Told { tail: String::new(), bytes: 0, lines: 0, warnings: Vec::new(), usage: U::default() }
    }

    fn take(&mut self, piece: &Piece<U>) {
        match piece {
            Piece::Output { tail, bytes, lines } => {
                self.tail.clone_from(tail);
                self.bytes = *bytes;
                self.lines = *lines;
            }
            Piece::Warning(text) => self.warnings.push(text.clone()),
            Piece::Usage(more) => self.usage.add(more),
        }
    }
}

#[cfg(test)]
mod tests;
