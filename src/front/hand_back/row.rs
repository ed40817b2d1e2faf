//! A hand-back for other programs and for people: one JSON object, and lines.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::api::agent::HandBackReport;
use crate::law::hand_back::merge1::Verdict;
use crate::law::hand_back::plan::Planned;
use crate::law::hand_back::tree::{TreePath, Version};
use crate::workspace::child::hand_back::Record;
use crate::workspace::child::resolve::Resolved;
use crate::workspace::child::rooms::Standing;

fn is_conflict(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Conflict(_))
}

/// One that cannot be read, as JSON.
pub fn damaged(child: &str, dir: &Path, why: &str) -> Value {
    json!({"child": child, "state": "damaged", "dir": path(dir), "why": why})
}

fn path(dir: &Path) -> Value {
    crate::api::path::serialize(dir, serde_json::value::Serializer).unwrap_or_default()
}

/// The hand-back as JSON; its keys are a contract.
pub fn json(child: &str, dir: &Path, standing: &Standing) -> Value {
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
    put("child", child.into());
    let state = match (&standing.record, standing.cut, &standing.failed) {
        (Some(_), ..) => "handed_back",
        (None, _, Some(_)) => "failed",
        (None, true, None) => "cut",
        (None, false, None) => "at_work",
    };
    put("state", state.into());
    put("dir", path(dir));
    if let Some(why) = &standing.failed {
        put("why", why.as_str().into());
    }
    if let Some(record) = &standing.record {
        let with = |wanted: &dyn Fn(Verdict) -> bool| json!(record.with(wanted).collect::<Vec<&TreePath>>());
        put("taken", with(&|verdict| verdict == Verdict::Taken));
        put("same", with(&|verdict| verdict == Verdict::Same));
        put("conflicts", with(&is_conflict));
        put("open", json!(standing.open));
        put("special", with(&|verdict| verdict == Verdict::Special));
        put("left_out", json!(record.left_out));
        let kept = record.displaced.iter();
        put("kept", kept.map(|(path, version)| json!({"path": path, "version": version})).collect());
        let renames =
            record.renames.iter().map(|(from, to, alike)| json!({"from": from, "to": to, "alike": alike}));
        put("renames", renames.collect());
    }
    Value::Object(out)
}

/// The hand-back in short: a line for it, one for each conflict that is open.
pub fn lines(child: &str, standing: &Standing) -> String {
    let Some(record) = &standing.record else {
        let again = format!("`windlass handback retry {child}`");
        return match (&standing.failed, standing.cut) {
            (Some(why), _) => format!("{child}  has not handed back: {why}\n  {again} tries again\n"),
            (None, true) => format!(
                "{child}  handing back was begun and did not end; {again} ends it, and so does the session's next open\n"
            ),
            (None, false) => format!("{child}  has not handed back\n"),
        };
    };
    let count = |wanted: &dyn Fn(Verdict) -> bool| record.with(wanted).count();
    let conflicts = count(&is_conflict);
    let mut parts = Vec::new();
    let mut more = |number: usize, words: String| {
        if number > 0 {
            parts.push(format!("{number} {words}"));
        }
    };
    more(count(&|verdict| verdict == Verdict::Taken), "taken".into());
    more(count(&|verdict| verdict == Verdict::Same), "the same".into());
    let plural = if conflicts == 1 { "conflict" } else { "conflicts" };
    more(conflicts, format!("{plural}, {} open", standing.open.len()));
    more(count(&|verdict| verdict == Verdict::Special), "no files".into());
    more(record.left_out.len(), "left out".into());
    more(record.displaced.len(), "saved meanwhile and kept".into());
    let counts = if parts.is_empty() { HandBackReport::in_numbers([0; 4]) } else { parts.join(", ") };
    let mut text = format!("{child}  {counts}\n");
    for path in &standing.open {
        let words = record.path(path).map(|planned| words(planned.verdict)).unwrap_or_default();
        text.push_str(&format!("  {path}  {words}\n"));
    }
    text
}

/// Every path that an agent changed, a line each.
pub fn paths(record: &Record, resolved: &[Resolved]) -> String {
    let mut text: String = record
        .paths
        .iter()
        .map(|planned| format!("{}  {}\n", planned.path, state(planned, resolved)))
        .collect();
    for (from, to, alike) in &record.renames {
        text.push_str(&format!("{from} was moved to {to}, {alike} % the same\n"));
    }
    for path in &record.left_out {
        text.push_str(&format!("{path}  left out by the ignore rules\n"));
    }
    for (path, version) in &record.displaced {
        let place = match version {
            Version::File { hash, .. } => format!("in versions/{hash} of its workspace"),
            Version::Link { target } => format!("a link to {}", target.escape_ascii()),
            Version::Absent | Version::InTheWay(_) => "beside it".to_owned(),
        };
        text.push_str(&format!("{path}  was saved by somebody meanwhile; what was saved is kept: {place}\n"));
    }
    if text.is_empty() {
        text.push_str(&format!("{}\n", HandBackReport::in_numbers([0; 4])));
    }
    text
}

/// How one path stands, in words.
pub fn state(planned: &Planned, resolved: &[Resolved]) -> String {
    let mut stands: Vec<&Resolved> = Vec::new();
    for one in resolved.iter().filter(|one| one.path == planned.path) {
        if one.undoes {
            stands.pop();
        } else {
            stands.push(one);
        }
    }
    let words = words(planned.verdict);
    match (is_conflict(planned.verdict), stands.last()) {
        (true, None) => format!("open: {words}"),
        (true, Some(_)) => format!("resolved: {words}"),
        (false, None) => words.to_owned(),
        (false, Some(last)) if last.after == *planned.parent.tracked() => format!("{words}, then put back"),
        (false, Some(_)) => format!("{words}, then changed by hand"),
    }
}

fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Kept => "unchanged",
        Verdict::Taken => "taken",
        Verdict::Same => "the same here already",
        Verdict::Conflict(clash) => clash.words(),
        Verdict::Special => "no file: not brought over",
    }
}
