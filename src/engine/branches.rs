//! The tree of a session's entries, told row by row: what a person would want to go back to.
//!
//! A call and its result are one row, and so are an answer and the end of its turn. Where a row is rewound to is its
//! last entry. Not here: how it is drawn, and what a rewind does.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::api::entry::{CallSettle, CallStart, CallStatus, Entry, EntryBody, TurnStatus};
use crate::api::event::TreeEntry;
use crate::base::{CallId, EntryId};

/// Most characters of a row.
const TEXT_MAX: usize = 200;

/// The rows of all branches, in the order of their commits. `title` says what a call is about.
pub fn rows(
    entries: &[Arc<Entry>],
    head: Option<&EntryId>,
    title: &dyn Fn(&CallStart) -> String,
) -> Vec<TreeEntry> {
    let open = open_branch(entries, head);
    let mut children: HashMap<&EntryId, u32> = HashMap::new();
    for parent in entries.iter().filter_map(|entry| entry.parent.as_ref()) {
        *children.entry(parent).or_default() += 1;
    }
    let mut rows: Vec<TreeEntry> = Vec::with_capacity(entries.len());
    // the row that what follows an entry hangs on, and the row of a call that has not settled
    let mut row_of: HashMap<&EntryId, usize> = HashMap::with_capacity(entries.len());
    let mut calls: HashMap<&CallId, usize> = HashMap::new();
    // rows keep the number of the row before them until all are there, for their ids still change
    let mut before: Vec<Option<usize>> = Vec::with_capacity(entries.len());
    for entry in entries {
        let parent = entry.parent.as_ref().and_then(|id| row_of.get(id).copied());
        let is_only = entry.parent.as_ref().is_some_and(|id| children.get(id) == Some(&1));
        let joins = match &entry.body {
            EntryBody::CallSettle(settle) => calls.remove(&settle.call),
            EntryBody::TurnEnd(end) if end.status == TurnStatus::Done && is_only => parent,
            _ => None,
        };
        if let Some(at) = joins {
            rows[at].id = entry.id.clone();
            rows[at].open |= open.contains(&entry.id);
            if let EntryBody::CallSettle(settle) = &entry.body {
                rows[at].text.push_str(outcome(settle));
            }
            row_of.insert(&entry.id, parent.unwrap_or(at));
            continue;
        }
        if let EntryBody::CallStart(start) = &entry.body {
            calls.insert(&start.call, rows.len());
        }
        row_of.insert(&entry.id, rows.len());
        before.push(parent);
        rows.push(row(entry, open.contains(&entry.id), title));
    }
    for at in 0..rows.len() {
        rows[at].parent = before[at].map(|parent| rows[parent].id.clone());
    }
    rows
}

/// The entries of the branch that ends in the head.
fn open_branch<'a>(entries: &'a [Arc<Entry>], head: Option<&'a EntryId>) -> HashSet<&'a EntryId> {
    let parents: HashMap<&EntryId, Option<&EntryId>> =
        entries.iter().map(|entry| (&entry.id, entry.parent.as_ref())).collect();
    let mut open = HashSet::new();
    let mut next = head;
    while let Some(id) = next.filter(|id| open.insert(*id)) {
        next = parents.get(id).copied().flatten();
    }
    open
}

fn row(entry: &Entry, open: bool, title: &dyn Fn(&CallStart) -> String) -> TreeEntry {
    let (who, text) = match &entry.body {
        EntryBody::User(message) => ("you", message.text.clone()),
        EntryBody::Answer(answer) => ("model", answer.text()),
        EntryBody::CallStart(start) => ("call", format!("{} {}", start.tool, title(start))),
        EntryBody::CallSettle(settle) => {
            ("call", format!("the result of {}{}", settle.call, outcome(settle)))
        }
        EntryBody::Notice(notice) => ("note", notice.text.clone()),
        EntryBody::Compaction(compaction) => ("summary", compaction.summary.clone()),
        EntryBody::TurnEnd(end) => ("end", format!("the turn ended: {}", end.status.word())),
        EntryBody::Setting(setting) => {
            let model = setting.model.as_ref().map(|model| format!("model {model}"));
            let mode = setting.mode.map(|mode| format!("mode {}", mode.word()));
            ("setting", model.into_iter().chain(mode).collect::<Vec<_>>().join(" · "))
        }
        EntryBody::JobEnd(end) => {
            ("job", format!("{} {} · {}", end.job, end.outcome.end.words(), end.command))
        }
        EntryBody::AgentEnd(end) if end.again => ("agent", format!("{} handed back", end.node.name)),
        EntryBody::AgentEnd(end) => ("agent", format!("{} {}", end.node.name, end.end.words())),
        EntryBody::Restore(restore) => {
            let back = if restore.undoes.is_some() { "as before the rewind" } else { "put back" };
            ("files", format!("{} {back}", restore.touched.len()))
        }
        EntryBody::Unknown(unknown) => ("note", format!("a record of the kind {}", unknown.kind)),
    };
    TreeEntry {
        id: entry.id.clone(),
        parent: None,
        at: entry.at,
        who,
        text: line(&text),
        open,
        message: matches!(entry.body, EntryBody::User(_)).then(|| (entry.id.clone(), entry.parent.clone())),
    }
}

/// A word on how a call ended, where it did not simply work.
fn outcome(settle: &CallSettle) -> &'static str {
    match settle.status {
        CallStatus::Ok => "",
        CallStatus::Error => " · failed",
        CallStatus::Refused => " · refused",
        CallStatus::Cancelled => " · cancelled",
        CallStatus::Detached => " · goes on as a job",
        CallStatus::Interrupted => " · interrupted",
    }
}

/// The first line that says something, bounded.
fn line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut out: String = line.chars().take(TEXT_MAX).collect();
    if line.chars().nth(TEXT_MAX).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::entry::{TurnEnd, UserMessage};
    use crate::api::message::{Answer, Block, Body, Finish, Stop};
    use crate::base::Millis;

    fn entry(id: &str, parent: &str, body: EntryBody) -> Arc<Entry> {
        let parent = (!parent.is_empty()).then(|| EntryId::new(parent));
        Arc::new(Entry { id: EntryId::new(id), parent, at: Millis(0), body })
    }

    fn user(id: &str, parent: &str) -> Arc<Entry> {
        entry(
            id,
            parent,
            EntryBody::User(UserMessage { text: format!("\n {id} \nmore"), ..UserMessage::default() }),
        )
    }

    fn answer(id: &str, parent: &str) -> Arc<Entry> {
        let blocks = vec![Block::plain(Body::Text(id.to_owned()))];
        let finish = Finish::Finished(Stop::End);
        let (wire, model) = ("scripted".to_owned(), "m".to_owned());
        entry(id, parent, EntryBody::Answer(Answer { wire, model, blocks, finish, usage: None }))
    }

    fn done(id: &str, parent: &str) -> Arc<Entry> {
        entry(id, parent, EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Done, why: None }))
    }

    fn start(id: &str, parent: &str, call: &str) -> Arc<Entry> {
        let (call, wire_id) = (CallId::new(call), String::new());
        let input = serde_json::Value::Null;
        entry(
            id,
            parent,
            EntryBody::CallStart(CallStart { call, wire_id, tool: "read".into(), input, spool: None }),
        )
    }

    fn settle(id: &str, parent: &str, call: &str, status: CallStatus) -> Arc<Entry> {
        let settle = CallSettle::new(CallId::new(call), status, "");
        entry(id, parent, EntryBody::CallSettle(settle))
    }

    fn told(entries: &[Arc<Entry>], head: &str) -> String {
        let head = EntryId::new(head);
        let rows = rows(entries, Some(&head), &|start| start.call.to_string());
        let line = |row: &TreeEntry| {
            let parent = row.parent.as_ref().map(ToString::to_string).unwrap_or_default();
            let open = if row.open { "+" } else { "-" };
            format!("{open} {} <{parent} {}: {}\n", row.id, row.who, row.text)
        };
        rows.iter().map(line).collect()
    }

    #[test]
    fn a_call_and_its_result_are_one_row_whatever_runs_beside_it() {
        let entries = [
            user("u", ""),
            answer("a", "u"),
            start("s1", "a", "c1"),
            start("s2", "s1", "c2"),
            settle("r2", "s2", "c2", CallStatus::Ok),
            settle("r1", "r2", "c1", CallStatus::Error),
            answer("b", "r1"),
            done("t", "b"),
            user("v", "t"),
            start("s3", "v", "c3"),
        ];
        let wanted = "+ u < you: u\n+ a <u model: a\n+ r1 <a call: read c1 · failed\n+ r2 <r1 call: read c2\n\
                      + t <r2 model: b\n+ v <t you: v\n+ s3 <v call: read c3\n";
        assert_eq!(told(&entries, "s3"), wanted);
    }

    #[test]
    fn a_branch_that_was_left_is_told_and_an_end_that_others_follow_too_is_a_row() {
        let entries =
            [user("u", ""), answer("a", "u"), done("t", "a"), user("v", "t"), user("w", "a"), done("x", "w")];
        let wanted = "+ u < you: u\n+ a <u model: a\n- t <a end: the turn ended: done\n- v <t you: v\n\
                      + x <a you: w\n";
        assert_eq!(told(&entries, "w"), wanted);
        let message = rows(&entries, None, &|_| String::new()).pop().and_then(|row| row.message);
        assert_eq!(message, Some((EntryId::new("w"), Some(EntryId::new("a")))));
    }
}
