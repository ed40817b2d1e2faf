//! What a session tells of itself when it is asked: what was spent on what, what ran when, and what fills the window.
//! Plain data; the screen draws it.

use crate::api::message::Usage;
use crate::base::Millis;

/// Tokens and dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    /// Answers that they were for.
    pub answers: u64,
    /// The tokens.
    pub usage: Usage,
    /// Dollars; none: the price of some of them is not known.
    pub cost: Option<f64>,
}

impl Default for Spent {
    fn default() -> Self {
        Self { answers: 0, usage: Usage::default(), cost: Some(0.0) }
    }
}

impl Spent {
    /// Adds more. What costs nobody knows how much makes the whole unknown.
    pub fn add(&mut self, more: &Spent) {
        self.answers += more.answers;
        self.usage.add(&more.usage);
        self.cost = match (self.cost, more.cost) {
            (Some(cost), Some(more)) => Some(cost + more),
            (cost, None) if more.usage.total() == 0 => cost,
            (None, _) | (_, None) => None,
        };
    }

    /// What is left without a part of it. Where the price of either is not known, so is what is left.
    pub fn without(&self, part: &Spent) -> Spent {
        let (all, less) = (&self.usage, &part.usage);
        Spent {
            answers: self.answers.saturating_sub(part.answers),
            usage: Usage {
                input: all.input.saturating_sub(less.input),
                output: all.output.saturating_sub(less.output),
                cache_read: all.cache_read.saturating_sub(less.cache_read),
                cache_write: all.cache_write.saturating_sub(less.cache_write),
                reasoning: all.reasoning.saturating_sub(less.reasoning),
            },
            cost: self.cost.zip(part.cost).map(|(all, less)| (all - less).max(0.0)),
        }
    }
}

/// What an agent used.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSpent {
    /// Its path.
    pub path: String,
    /// What it used, its own agents included.
    pub spent: Spent,
    /// Whether it runs: what it used so far is added to the session's at its end.
    pub runs: bool,
}

/// What a session spent, on all its branches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageReport {
    /// In all: what the title says.
    pub total: Spent,
    /// By model, those that were used first, first; then what agents used.
    pub models: Vec<(String, Spent)>,
    /// By turn, in order: what was said first, and what it used, the agents that ended in it included.
    pub turns: Vec<(String, Spent)>,
    /// By agent, in the order of their ends, those that run last.
    pub agents: Vec<AgentSpent>,
}

/// One turn: what ran in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnTimes {
    /// What was said first.
    pub title: String,
    /// When it began.
    pub began: Millis,
    /// When it ended; of one that runs, now.
    pub ended: Millis,
    /// Whether it runs.
    pub runs: bool,
    /// What ran, in the order of the beginnings.
    pub rows: Vec<Ran>,
}

/// One thing that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The tool; none: the model.
    pub tool: Option<String>,
    /// What it did, in a line.
    pub title: String,
    /// When it began.
    pub began: Millis,
    /// How long it waited for the person, from its beginning on.
    pub asked: Millis,
    /// When it ended; of one that runs, now.
    pub ended: Millis,
    /// How it ended, in a word; empty: well, or it runs.
    pub word: &'static str,
    /// Whether it runs.
    pub runs: bool,
}

/// What a part of the window is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Instructions: of the program, of the person, of the project.
    Instructions,
    /// What the tools are, for the model.
    Tools,
    /// A summary of older entries.
    Summary,
    /// What the person said.
    Person,
    /// What the model said, thought, and called.
    Model,
    /// What calls brought back.
    Results,
    /// What is not told by these.
    Rest,
}

/// A part of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextPart {
    /// What it is of.
    pub share: Share,
    /// `instructions`, `AGENTS.md`, `tools`, `messages`, `results of bash`, …
    pub name: String,
    /// Its size in tokens, estimated.
    pub tokens: u64,
    /// Where it comes from.
    pub note: String,
}
