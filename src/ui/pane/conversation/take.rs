//! What can be taken of one item by a key: the message, each block of code, the command, the path, the result. Always
//! the source.

use super::State;
use super::item::{Body, Call, Item, Source};
use super::source::copied;
use crate::api::entry::{Details, EntryBody};
use crate::ui::widget::markdown::{Doc, Kind};
use crate::ui::widget::text::ellipsis;

/// Something that can be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub name: String,
    /// How much it is, and how it begins.
    pub note: String,
    /// It.
    pub text: String,
}

impl Piece {
    fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let (name, text) = (name.into(), text.into());
        let lines = text.lines().count();
        let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let first = ellipsis(first, 60);
        let note = if lines > 1 { format!("{lines} lines · {first}") } else { first.into_owned() };
        Self { name, note, text }
    }
}

impl State {
    /// What can be taken of the selected item; without one, of the last answer. Last: all of the conversation.
    pub fn pieces(&self) -> Vec<Piece> {
        let selected = self.selected.and_then(|id| self.items.iter().rposition(|item| item.id == id));
        let last = || self.items.iter().rposition(|item| matches!(item.body, Body::Prose { head: None, .. }));
        let mut out = match selected.or_else(last) {
            Some(index) => of_item(&self.items[index]),
            None => Vec::new(),
        };
        if !self.items.is_empty() {
            out.push(Piece::new("all of the conversation", self.transcript()));
        }
        out.retain(|piece| !piece.text.is_empty());
        out
    }
}

fn of_item(item: &Item) -> Vec<Piece> {
    match &item.body {
        Body::User { .. } => {
            let text = copied(item);
            let mut out = vec![Piece::new("message", text.as_ref())];
            out.extend(code(&text));
            out
        }
        Body::Prose { source, .. } => {
            let mut out = Vec::new();
            if let Source::Block(entry, _) = source
                && let EntryBody::Answer(answer) = &entry.body
            {
                let whole = answer.text();
                if whole != source.text() {
                    out.push(Piece::new("whole answer", whole));
                }
            }
            out.insert(0, Piece::new("message", source.text()));
            out.extend(code(source.text()));
            out
        }
        Body::Call(call) => of_call(call),
        Body::Report(report) => {
            let mut out = vec![Piece::new("answer", report.answer())];
            out.extend(code(report.answer()));
            out.push(Piece::new("report", report.source()));
            out
        }
        Body::Ended(ended) => {
            let path = ended.output.as_ref().map(|path| path.to_string_lossy().into_owned());
            vec![
                Piece::new("last lines", ended.last()),
                Piece::new("path of its output", path.unwrap_or_default()),
                Piece::new("message", ended.text.as_str()),
            ]
        }
        Body::Words { text, .. } => vec![Piece::new("message", text.as_str())],
    }
}

fn of_call(call: &Call) -> Vec<Piece> {
    let path = call.input.as_ref().and_then(|input| input.get("path")).and_then(|path| path.as_str());
    let result = match call.settled().map(|settle| &settle.details) {
        Some(Details::Diff { diff, .. }) if !diff.is_empty() => "diff",
        Some(Details::Command { .. }) => "output",
        Some(Details::None | Details::Diff { .. } | Details::Todo { .. } | Details::Agents { .. }) => {
            "result"
        }
        None => "output so far",
    };
    let dropped = call.settled().is_some_and(|settle| settle.dropped > 0) && call.whole.is_none();
    let result = if dropped { format!("{result}, as far as it is held") } else { result.to_owned() };
    let file = call.settled().and_then(|settle| settle.artifact.as_ref());
    let file = file.map(|path| path.to_string_lossy().into_owned());
    let input = call.input.as_ref().and_then(|input| serde_json::to_string_pretty(input).ok());
    vec![
        Piece::new("command", call.command().unwrap_or_default()),
        Piece::new("path", path.unwrap_or_default()),
        Piece::new(result, call.shown()),
        Piece::new("path of the whole output", file.unwrap_or_default()),
        Piece::new("input", input.unwrap_or_default()),
    ]
}

/// The blocks of code of a text.
fn code(text: &str) -> Vec<Piece> {
    let mut doc = Doc::default();
    doc.finish(text);
    let mut found: Vec<(u32, String, String)> = Vec::new();
    for block in doc.blocks() {
        let Kind::Code { lang, first, .. } = block.kind else { continue };
        let lines: Vec<&str> = doc.text(text, block).collect();
        let part = lines.join("\n");
        match found.last_mut() {
            Some((same, _, all)) if *same == first => {
                all.push('\n');
                all.push_str(&part);
            }
            Some(_) | None => {
                let lang = text.get(lang.0 as usize..lang.1 as usize).unwrap_or_default().trim().to_owned();
                found.push((first, lang, part));
            }
        }
    }
    let many = found.len() > 1;
    let name = |nth: usize, lang: &str| {
        let number = if many { format!(" {}", nth + 1) } else { String::new() };
        let lang = if lang.is_empty() { String::new() } else { format!(" ({lang})") };
        format!("code{number}{lang}")
    };
    found
        .iter()
        .enumerate()
        .map(|(nth, (_, lang, text))| Piece::new(name(nth, lang), text.as_str()))
        .collect()
}
