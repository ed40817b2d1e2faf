//! An agent's end in the conversation: a line of words, what came back from its copy, and its answer, folded.

use std::sync::Arc;

use super::State;
use super::item::Body;
use super::lay::{count, piece, words};
use crate::api::agent::{AgentEnd, HandBackReport};
use crate::api::entry::{Entry, EntryBody};
use crate::ui::pane::agents::{self, Conflicted};
use crate::ui::pane::live::elapsed;
use crate::ui::widget::markdown::{self, Doc};
use crate::ui::widget::row::{Role, Row};
use crate::ui::widget::text::tame;
use crate::ui::widget::wrap::{Break, Prefix, Wrapper};

/// The key that shows what came back, and what it is for.
const VIEWER: (&str, &str) = ("^X h", "resolves");

/// An agent's end.
#[derive(Debug)]
pub(super) struct Report {
    /// How the line looks.
    pub role: Role,
    /// What happened.
    pub text: String,
    entry: Arc<Entry>,
    /// Its answer as Markdown, once needed.
    doc: Doc,
    /// Whose conflicts are open, of it and of its agents; none: they were not counted yet.
    conflicted: Option<Conflicted>,
}

impl Report {
    fn of(entry: &Arc<Entry>, end: &AgentEnd) -> Self {
        let (role, text) = Self::line(end, None);
        Self { role, text, entry: Arc::clone(entry), doc: Doc::default(), conflicted: None }
    }
    /// Its line, and how that looks. `conflicted`: the open conflicts, where they were counted.
    fn line(end: &AgentEnd, conflicted: Option<&Conflicted>) -> (Role, String) {
        let (mark, look) = agents::ended(end, conflicted.is_none_or(|open| end.is_open(open)));
        let name = end.node.hand_back_name();
        let open = name.zip(conflicted).map(|(name, open)| open.get(&name).copied().unwrap_or(0));
        // one that went well is no matter; the others are looked at
        let role = if look == Role::Ok { Role::Dim } else { Role::Warning };
        if end.again {
            return (
                role,
                format!("agent {} {mark} handed back: {}", end.node.name, agents::told(end, open)),
            );
        }
        let tokens = match end.usage.total() {
            0 => String::new(),
            tokens => format!("{} tokens", count(tokens)),
        };
        let facts = [agents::told(end, open), agents::calls(end.calls), tokens];
        let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
        let (name, took) = (&end.node.name, elapsed(end.duration));
        (role, format!("agent {name} {mark} {} · {took}", facts.join(" · ")))
    }
    /// The open conflicts were counted: whether anything of it is told differently now.
    pub fn count(&mut self, conflicted: &Conflicted) -> bool {
        let Some(end) = self.end() else { return false };
        if !end.hand_back.as_ref().is_some_and(HandBackReport::has_conflicts) {
            return false;
        }
        let (role, text) = Self::line(end, Some(conflicted));
        let own = |(name, open): &(&String, &usize)| end.is_open(&[((*name).clone(), **open)].into());
        let now = Some(conflicted.iter().filter(own).map(|(name, open)| (name.clone(), *open)).collect());
        let changed = self.conflicted != now || self.text != text;
        (self.role, self.text, self.conflicted) = (role, text, now);
        changed
    }
    fn end(&self) -> Option<&AgentEnd> {
        match &self.entry.body {
            EntryBody::AgentEnd(end) => Some(end),
            _ => None,
        }
    }
    /// Whether something that it did was in conflict.
    pub fn conflicts(&self) -> bool {
        let report = self.end().and_then(|end| end.hand_back.as_ref());
        report.is_some_and(|report| !report.conflicts.is_empty())
    }
    /// What it said last.
    pub fn answer(&self) -> &str {
        self.end().map_or("", |end| end.answer.trim_end())
    }
    /// What is said of it also when it is folded: trouble, and what came back.
    fn notes(&self) -> Vec<(&'static str, String, Role)> {
        let Some(end) = self.end() else { return Vec::new() };
        let trouble = end.trouble.iter().map(|trouble| ("!", tame(trouble).into_owned(), Role::Warning));
        trouble.chain(agents::lists(end, self.conflicted.as_ref())).collect()
    }
    /// The notes as text, one a line.
    pub fn noted(&self) -> String {
        self.notes().into_iter().map(|(mark, words, _)| format!("{mark} {words}\n")).collect()
    }
    /// All of it as text.
    pub fn source(&self) -> String {
        format!("{}\n{}{}", self.text, self.noted(), self.answer())
    }
    /// Blocks of its rows.
    pub fn blocks(&mut self, open: bool) -> usize {
        2 + if open { self.finished().blocks().len() } else { 0 }
    }
    fn finished(&mut self) -> &Doc {
        if !self.doc.finished() {
            let answer = match &self.entry.body {
                EntryBody::AgentEnd(end) => end.answer.trim_end(),
                _ => "",
            };
            self.doc.finish(answer);
        }
        &self.doc
    }
    /// The rows of a block: its line, the notes, then its answer.
    pub fn lay(&mut self, block: usize, open: bool, columns: usize) -> Vec<Row> {
        let mark = match (self.answer().is_empty(), open) {
            (true, _) => "· ",
            (false, true) => "▾ ",
            (false, false) => "▸ ",
        };
        match block {
            0 => words((mark, self.role), &self.text, None, columns),
            1 => self.lay_notes(columns),
            block => {
                self.finished();
                let Some(of) = self.doc.blocks().get(block - 2) else { return Vec::new() };
                markdown::lay(&self.doc, self.answer(), of, columns, Role::Text, &|_| None)
            }
        }
    }
    fn lay_notes(&self, columns: usize) -> Vec<Row> {
        let mut out = Wrapper::new(columns);
        for (mark, words, role) in self.notes() {
            let rest = vec![piece("    ", Role::Dim)];
            let prefix =
                Prefix { first: vec![piece("  ", Role::Dim), piece(format!("{mark} "), role)], rest };
            let plain = if mark == "⚑" || mark == "!" { role } else { Role::Dim };
            let mut line = vec![piece(words, plain)];
            if mark == "⚑" {
                let (key, does) = VIEWER;
                line.extend([
                    piece(" · ", Role::Dim),
                    piece(key, Role::Key),
                    piece(format!(" {does}"), Role::Dim),
                ]);
            }
            out.line(&prefix, &line, Break::Words);
        }
        out.rows()
    }
}

impl State {
    /// The open conflicts were counted; whether a report tells something else now.
    pub(super) fn count_conflicts(&mut self, conflicted: &Conflicted) -> bool {
        let mut changed = false;
        for item in &mut self.items {
            if let Body::Report(report) = &mut item.body
                && report.count(conflicted)
            {
                self.cache.forget(item.id);
                changed = true;
            }
        }
        changed
    }
    /// An agent ended.
    pub(super) fn agent_end(&mut self, entry: &Arc<Entry>, end: &AgentEnd) {
        self.add(Body::Report(Box::new(Report::of(entry, end))));
    }
}
