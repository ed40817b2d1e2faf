//! What the lines of a journal say of jobs, read as plain JSON: for bridges, which ask nobody else.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndLine {
    pub job: u32,
    pub cause: String,
    pub exit_code: Option<i64>,
}

fn lines(journal: &Path) -> Vec<Value> {
    // a session of which nothing is committed has none
    let text = if journal.exists() { std::fs::read_to_string(journal).unwrap() } else { String::new() };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(job: &str) -> u32 {
    job.strip_prefix('j').unwrap().parse().unwrap()
}

/// Every record of an end, in the order of the journal.
pub fn ends(journal: &Path) -> Vec<EndLine> {
    lines(journal).iter().filter_map(end).collect()
}

/// The end that a line tells, wherever in it that stands.
fn end(value: &Value) -> Option<EndLine> {
    match value {
        Value::Object(map) => {
            let of = |key: &str| map.get(key).and_then(Value::as_str);
            match (of("job"), of("cause")) {
                (Some(job), Some(cause)) => Some(EndLine {
                    job: number(job),
                    cause: match map.get("by").and_then(Value::as_str) {
                        Some(by) => by.to_owned(),
                        None => cause.to_owned(),
                    },
                    exit_code: map.get("exit_code").and_then(Value::as_i64),
                }),
                _ => map.values().find_map(end),
            }
        }
        Value::Array(values) => values.iter().find_map(end),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Jobs whose node stands.
pub fn nodes(journal: &Path) -> BTreeSet<u32> {
    let mut standing = BTreeSet::new();
    for line in lines(journal) {
        match line["type"].as_str() {
            Some("job") => {
                let job = number(line["node"]["id"].as_str().unwrap());
                assert!(standing.insert(job), "a second node of j{job}");
            }
            Some("job_over") => {
                let job = number(line["job"].as_str().unwrap());
                assert!(standing.remove(&job), "j{job} has no node that could end");
            }
            _ => {}
        }
    }
    standing
}
