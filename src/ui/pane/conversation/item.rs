//! What the conversation is made of: one item for each thing that was said, done or told.
//!
//! An item holds addresses of committed entries, not copies; only what streams in is copied.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::api::entry::{CallSettle, CallStart, CallStatus, Details, Entry, EntryBody};
use crate::api::message::Body as Block;
pub(super) use crate::api::title::one_line;
use crate::api::title::title;
use crate::base::CallId;
use crate::law::board::Progress;
use crate::ui::widget::diff::Diff;
use crate::ui::widget::markdown::{Doc, Kind};
use crate::ui::widget::plain::Pieces;
use crate::ui::widget::row::Role;

/// One item.
#[derive(Debug)]
pub(super) struct Item {
    /// Unique in this state, never used again.
    pub id: u64,
    /// What it is.
    pub body: Body,
    /// Whether the person opened or folded it.
    pub open: Option<bool>,
    /// Whether a blank row stands before it.
    pub gap: bool,
}

/// What an item is.
#[derive(Debug)]
pub(super) enum Body {
    /// A message of the person.
    User {
        /// Its entry.
        entry: Arc<Entry>,
        /// Its text in pieces, once needed.
        pieces: Option<Pieces>,
    },
    /// Markdown: text of an answer, or behind a head that opens it.
    Prose {
        /// Where the text is.
        source: Source,
        /// Its blocks so far.
        doc: Box<Doc>,
        /// The head that it is folded behind.
        head: Option<Head>,
    },
    /// A call.
    Call(Box<Call>),
    /// A job's end.
    Ended(Box<Ended>),
    /// An agent's end.
    Report(Box<super::report::Report>),
    /// Words of the program.
    Words {
        /// How it looks.
        role: Role,
        /// The words.
        text: String,
        /// A key and what it does, drawn behind the words.
        hint: Option<(&'static str, &'static str)>,
    },
}

/// The head of folded prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// The model's thinking.
    Thinking,
    /// A summary of older entries: tokens before and after.
    Compaction(u64, u64),
}

/// Where the text of an item is.
#[derive(Debug)]
pub(super) enum Source {
    /// It streams in.
    Live(String),
    /// A block of a committed answer.
    Block(Arc<Entry>, usize),
    /// A summary.
    Summary(Arc<Entry>),
}

impl Source {
    /// The text so far.
    pub fn text(&self) -> &str {
        match self {
            Source::Live(text) => text,
            Source::Block(entry, index) => match &entry.body {
                EntryBody::Answer(answer) => match answer.blocks.get(*index).map(|block| &block.body) {
                    Some(Block::Text(text) | Block::Thinking(text)) => text,
                    Some(Block::Call { .. } | Block::Unknown) | None => "",
                },
                _ => "",
            },
            Source::Summary(entry) => match &entry.body {
                EntryBody::Compaction(compaction) => &compaction.summary,
                _ => "",
            },
        }
    }
}

/// A job's end: a line of words that opens to its last lines.
#[derive(Debug)]
pub(super) struct Ended {
    /// How the line looks.
    pub role: Role,
    /// What happened.
    pub text: String,
    /// Its entry.
    pub entry: Arc<Entry>,
    /// The file with all of its output, where known.
    pub output: Option<PathBuf>,
    /// Its last lines in pieces, once needed.
    pub pieces: Option<Pieces>,
}

impl Ended {
    /// Its last lines.
    pub fn last(&self) -> &str {
        match &self.entry.body {
            EntryBody::JobEnd(end) => &end.outcome.last,
            _ => "",
        }
    }
    /// What it opens to, in pieces.
    pub fn pieces(&mut self) -> &Pieces {
        let Self { entry, pieces, .. } = self;
        let last = match &entry.body {
            EntryBody::JobEnd(end) => end.outcome.last.as_str(),
            _ => "",
        };
        pieces.get_or_insert_with(|| Pieces::of(last))
    }
}

/// A call: from the first fragment of its arguments to its settle.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// The provider's id.
    pub wire_id: String,
    /// The tool.
    pub tool: String,
    /// What it does, in a line.
    pub title: String,
    /// The input, once whole.
    pub input: Option<Value>,
    /// Bytes of arguments that streamed in so far.
    pub arguments: usize,
    /// Its id, once it began.
    pub id: Option<CallId>,
    /// Its progress while it runs.
    pub progress: Option<Progress>,
    /// Its settle.
    pub settle: Option<Arc<Entry>>,
    /// Lines of its output, once settled.
    pub lines: u64,
    /// The beginning of the whole output, when it is open and was read, and the whole size.
    pub whole: Option<(String, u64)>,
    /// Whether a newer list of things to do stands below this one.
    pub superseded: bool,
    /// Its diff, once needed.
    pub diff: Option<Diff>,
    /// Its output in pieces, once needed.
    pub pieces: Option<Pieces>,
}

impl Call {
    /// A call that an answer asks for.
    pub fn asked(wire_id: &str, tool: &str, input: &Value) -> Self {
        Self {
            wire_id: wire_id.into(),
            tool: tool.into(),
            title: title(tool, input),
            input: Some(input.clone()),
            ..Self::default()
        }
    }
    /// A call that began.
    pub fn begun(start: &CallStart) -> Self {
        Self { id: Some(start.call.clone()), ..Self::asked(&start.wire_id, &start.tool, &start.input) }
    }
    /// Its settle.
    pub fn settled(&self) -> Option<&CallSettle> {
        match self.settle.as_deref().map(|entry| &entry.body) {
            Some(EntryBody::CallSettle(settle)) => Some(settle),
            Some(_) | None => None,
        }
    }
    /// The text that it opens to: its diff, its output, or the newest of its output.
    pub fn shown(&self) -> &str {
        match self.settled() {
            Some(settle) => match &settle.details {
                Details::Diff { diff, .. } if !diff.is_empty() => diff,
                Details::None
                | Details::Diff { .. }
                | Details::Command { .. }
                | Details::Todo { .. }
                | Details::Agents { .. } => self.whole.as_ref().map_or(&settle.output, |(text, _)| text),
            },
            None => self.progress.as_ref().map_or("", |progress| progress.tail.as_str()),
        }
    }
    /// Whether it failed.
    pub fn failed(&self) -> bool {
        self.settled().is_some_and(|settle| settle.status == CallStatus::Error)
            || self.settled().is_some_and(|settle| settle.status == CallStatus::Interrupted)
    }
    /// The command line, for tools that have one.
    pub fn command(&self) -> Option<&str> {
        self.input.as_ref()?.get("command")?.as_str()
    }
}

/// What a call does, from arguments that may not be whole yet.
pub(super) fn partial_title(arguments: &str) -> Option<String> {
    for key in ["\"command\"", "\"pattern\"", "\"path\"", "\"name\""] {
        let Some((_, rest)) = arguments.split_once(key) else { continue };
        let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let mut escaped = false;
        let end = value.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let text: String = serde_json::from_str(&format!("\"{}\"", &value[..end?])).ok()?;
        return Some(one_line(&text));
    }
    None
}

impl Item {
    /// Whether it can be folded.
    pub fn folds(&self) -> bool {
        match &self.body {
            Body::Prose { head, doc, .. } => head.is_some() || doc.folds(),
            Body::Call(call) => call.settle.is_some() || call.progress.is_some(),
            Body::Ended(_) => true,
            Body::Report(report) => !report.answer().is_empty(),
            Body::User { .. } | Body::Words { .. } => false,
        }
    }
    /// Whether a block of it is a head that opens and folds it.
    pub fn is_head(&self, block: usize) -> bool {
        match &self.body {
            Body::Prose { head: None, doc, .. } => {
                doc.blocks().get(block).is_some_and(|block| block.kind == Kind::Fold)
            }
            Body::Prose { .. }
            | Body::User { .. }
            | Body::Call(_)
            | Body::Ended(_)
            | Body::Report(_)
            | Body::Words { .. } => block == 0,
        }
    }
    /// Whether it is open, where the person decided nothing: only the newest list of things to do is.
    pub fn opens_itself(&self) -> bool {
        match &self.body {
            Body::Call(call) => {
                !call.superseded
                    && matches!(call.settled().map(|settle| &settle.details), Some(Details::Todo { .. }))
            }
            Body::User { .. }
            | Body::Prose { .. }
            | Body::Ended(_)
            | Body::Report(_)
            | Body::Words { .. } => false,
        }
    }
    /// Whether it tells of something that failed.
    pub fn failed(&self) -> bool {
        match &self.body {
            Body::Call(call) => call.failed(),
            Body::Words { role, .. } => *role == Role::Error,
            Body::Report(report) => report.role == Role::Warning,
            Body::User { .. } | Body::Prose { .. } | Body::Ended(_) => false,
        }
    }
}
