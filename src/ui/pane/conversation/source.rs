//! The source text of items: for copies, the search and the transcript. No wraps, no gutters.

use std::borrow::Cow;

use super::State;
use super::item::{Body, Call, Head, Item, Source};
use crate::api::entry::{Details, EntryBody, TodoItem, TodoState};
use crate::ui::widget::markdown::{self, Doc};

/// What is copied of an item: its source.
pub(super) fn copied(item: &Item) -> Cow<'_, str> {
    match &item.body {
        Body::User { entry, .. } => match &entry.body {
            EntryBody::User(message) => Cow::Borrowed(message.text.as_str()),
            _ => Cow::Borrowed(""),
        },
        Body::Prose { source, .. } => Cow::Borrowed(source.text()),
        Body::Call(call) => called(call),
        Body::Report(report) => Cow::Owned(report.source()),
        Body::Ended(ended) if ended.last().is_empty() => Cow::Borrowed(ended.text.as_str()),
        Body::Ended(ended) => Cow::Owned(format!("{}\n{}", ended.text, ended.last())),
        Body::Words { text, .. } => Cow::Borrowed(text.as_str()),
    }
}

fn called(call: &Call) -> Cow<'_, str> {
    match call.settled().map(|settle| &settle.details) {
        Some(Details::Todo { items }) => Cow::Owned(todo(items)),
        Some(Details::None | Details::Diff { .. } | Details::Command { .. } | Details::Agents { .. }) => {
            Cow::Borrowed(call.shown())
        }
        None if call.shown().is_empty() => Cow::Borrowed(call.command().unwrap_or(&call.title)),
        None => Cow::Borrowed(call.shown()),
    }
}

fn todo(items: &[TodoItem]) -> String {
    let line = |item: &TodoItem| {
        let mark = match item.state {
            TodoState::Open => "[ ]",
            TodoState::Active => "[>]",
            TodoState::Done => "[x]",
        };
        format!("{mark} {}\n", item.text)
    };
    items.iter().map(line).collect()
}

/// The words of Markdown as they are shown, without its marks. `doc`: its blocks, if they are known.
fn shown(text: &str, doc: &Doc) -> String {
    let mut read = Doc::default();
    let known = doc.finished() && !doc.unread();
    if !known {
        read.finish(text);
    }
    let doc = if known { doc } else { &read };
    let mut out = String::with_capacity(text.len());
    doc.blocks().iter().for_each(|block| markdown::words(doc, text, block, &mut out));
    out
}

/// The texts of an item that a search looks into, in the order they are drawn.
pub(super) fn searched(item: &Item) -> Vec<Cow<'_, str>> {
    match &item.body {
        Body::Call(call) => {
            let head = Cow::Owned(format!("{} {}", call.tool, call.title));
            let command = call.command().map(Cow::Borrowed);
            [Some(head), command, Some(called(call))].into_iter().flatten().collect()
        }
        Body::Ended(ended) => vec![Cow::Borrowed(ended.text.as_str()), Cow::Borrowed(ended.last())],
        Body::Report(report) => {
            vec![
                Cow::Borrowed(report.text.as_str()),
                Cow::Owned(report.noted()),
                Cow::Owned(shown(report.answer(), &Doc::default())),
            ]
        }
        Body::Prose { source, doc, .. } => vec![Cow::Owned(shown(source.text(), doc))],
        Body::User { .. } | Body::Words { .. } => vec![copied(item)],
    }
}

/// About how many bytes those are: it changes when they do.
pub(super) fn weighs(item: &Item) -> usize {
    match &item.body {
        Body::User { .. } | Body::Prose { .. } | Body::Words { .. } => copied(item).len(),
        Body::Call(call) => call.title.len() + call.shown().len() + call.tool.len(),
        Body::Ended(ended) => ended.text.len() + ended.last().len(),
        Body::Report(report) => report.text.len() + report.answer().len(),
    }
}

impl State {
    /// The source of the selected item; without one, of the last answer.
    pub(super) fn copy(&self) -> Option<String> {
        if let Some(id) = self.selected {
            return self.items.iter().find(|item| item.id == id).map(|item| copied(item).into_owned());
        }
        let last = self.items.iter().rposition(|item| matches!(item.body, Body::Prose { head: None, .. }))?;
        match &self.items[last].body {
            Body::Prose { source: Source::Block(entry, _), .. } => match &entry.body {
                EntryBody::Answer(answer) => Some(answer.text()),
                _ => None,
            },
            Body::Prose { .. }
            | Body::User { .. }
            | Body::Call(_)
            | Body::Ended(_)
            | Body::Report(_)
            | Body::Words { .. } => Some(copied(&self.items[last]).into_owned()),
        }
    }
    /// The whole transcript as plain text, for the pager.
    pub fn transcript(&self) -> String {
        let mut out = String::new();
        self.items.iter().for_each(|item| write(item, true, &mut out));
        out
    }
    /// The same without marks before lines, and which of its lines is at the top of the view.
    pub fn plain(&mut self) -> (String, usize) {
        let height = self.height;
        let scroll = self.scroll;
        let top = scroll.top(&mut self.lay(), height).item;
        let (mut out, mut line) = (String::new(), 0);
        for (index, item) in self.items.iter().enumerate() {
            if index == top {
                line = out.lines().count();
            }
            write(item, false, &mut out);
        }
        (out, line)
    }
}

/// Adds an item as plain text; `marks`: a message of the person has its mark before it.
fn write(item: &Item, marks: bool, out: &mut String) {
    if item.gap {
        out.push('\n');
    }
    match &item.body {
        Body::User { .. } if marks => {
            for (index, line) in copied(item).lines().enumerate() {
                out.push_str(if index == 0 { "❯ " } else { "  " });
                out.push_str(line);
                out.push('\n');
            }
        }
        Body::User { .. } => push_lines(out, &copied(item)),
        Body::Prose { source, head, .. } => {
            match head {
                Some(Head::Thinking) => out.push_str("[thinking]\n"),
                Some(Head::Compaction(..)) => out.push_str("[older messages were summarised]\n"),
                None => {}
            }
            push_lines(out, source.text());
        }
        Body::Call(call) => {
            let status = call.settled().map_or("running", |settle| settle.status.word());
            let what = call.command().unwrap_or(&call.title);
            out.push_str(&format!("[{} · {status}] {what}\n", call.tool));
            push_lines(out, &called(call));
            if let Some(path) = call.settled().and_then(|settle| settle.artifact.as_ref()) {
                out.push_str(&format!("[all of it: {}]\n", path.display()));
            }
        }
        Body::Ended(ended) => {
            push_lines(out, &copied(item));
            if let Some(path) = &ended.output {
                out.push_str(&format!("[all of it: {}]\n", path.display()));
            }
        }
        Body::Report(report) => push_lines(out, &report.source()),
        Body::Words { text, .. } => push_lines(out, text),
    }
}

/// Adds a text and the newline that it may lack.
fn push_lines(out: &mut String, text: &str) {
    out.push_str(text);
    if !text.is_empty() && !text.ends_with('\n') {
        out.push('\n');
    }
}
