//! What a frame is answered: at once, or when a job has come so far.
//!
//! A reply bears the frame's `id` and a `status`: `ok`, `error` (with `code` and `why`), `duplicate` for an id that
//! was used before. What is no frame at all is told once, as `fault`.

use serde_json::{Map, Value, json};

use crate::api::command::{Command, JobAsk};
use crate::api::job::{JobRow, JobState};
use crate::base::{JobId, SessionId};
use crate::front::jobs::row;
use crate::law::frame::{Fault, Frame, FrameId, Refusal};
use crate::store;

use super::Link;

/// Version of what is spoken.
pub const VERSION: u64 = 1;
/// The types that are served.
pub const SERVED: &[&str] = &["hello", "jobs.list", "jobs.tail", "jobs.kill", "jobs.keep"];

/// What a job is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// That it has ended.
    Ended,
    /// That it is kept, or not.
    Kept(bool),
}

/// An answer.
pub enum Answer {
    /// This, at once.
    Now(Value),
    /// How the job stands, when it has come so far; the command has it come there.
    Later(JobId, Until, Command),
}

/// Answers a frame that was accepted.
pub fn answer(frame: &Frame, session: &SessionId, link: &Link) -> Answer {
    let id = &frame.id;
    match frame.kind.as_str() {
        "hello" => Answer::Now(ok(
            id,
            [
                ("version", json!(VERSION)),
                ("session", json!(session)),
                ("pid", json!(std::process::id())),
                ("program", json!(concat!("windlass ", env!("CARGO_PKG_VERSION")))),
            ],
        )),
        "jobs.list" => {
            let rows: Vec<JobRow> = link.shared.read().jobs.iter().map(|(_, row)| row.clone()).collect();
            let now = store::now();
            let jobs: Vec<Value> = rows.iter().map(|row| row::json(session, row, now)).collect();
            Answer::Now(ok(id, [("jobs", Value::Array(jobs))]))
        }
        kind => match named(frame, session, link) {
            Ok(row) => of_job(kind, frame, &row, session),
            Err(why) => Answer::Now(error(id, 2, &why)),
        },
    }
}

fn of_job(kind: &str, frame: &Frame, row: &JobRow, session: &SessionId) -> Answer {
    let (id, job) = (&frame.id, row.node.id);
    let ended = match &row.state {
        JobState::Ended(outcome) => Some(format!("{job} has ended already: {}", outcome.words())),
        JobState::Sought | JobState::Running | JobState::Ending { .. } => None,
    };
    match (kind, ended) {
        ("jobs.tail", _) => {
            let path = crate::front::exec_events::path_json(&row.spool);
            Answer::Now(ok(id, [("job", row::json(session, row, store::now())), ("path", path)]))
        }
        ("jobs.kill" | "jobs.keep", Some(why)) => Answer::Now(error(id, 1, &why)),
        ("jobs.kill", None) => Answer::Later(job, Until::Ended, Command::Job { job, ask: JobAsk::Kill }),
        ("jobs.keep", None) => match frame.body.get("on").and_then(Value::as_bool) {
            Some(on) => Answer::Later(job, Until::Kept(on), Command::Job { job, ask: JobAsk::Keep(on) }),
            None => Answer::Now(error(id, 2, "`on` must be true or false")),
        },
        // the gate lets nothing else in
        (kind, _) => Answer::Now(error(id, 2, &format!("`{kind}` is not served"))),
    }
}

/// The row of the job that a frame names.
fn named(frame: &Frame, session: &SessionId, link: &Link) -> Result<JobRow, String> {
    let text = frame.body.get("job").and_then(Value::as_str).ok_or("`job` must name one: j1, j2, …")?;
    let job: JobId = text.parse()?;
    let record = link.shared.read();
    record
        .jobs
        .get(&job)
        .cloned()
        .ok_or_else(|| row::no_job(session, job, record.jobs.iter().map(|(id, _)| *id)))
}

/// A reply that says how the job stands now.
pub fn stands(id: &FrameId, row: &JobRow, session: &SessionId) -> Value {
    ok(id, [("job", row::json(session, row, store::now()))])
}

/// A step on the way to a reply; it bears the frame's id as `of`, for it is none.
pub fn step(of: &FrameId, job: JobId, state: &JobState) -> Option<Value> {
    let JobState::Ending { stage, .. } = state else { return None };
    let (stage, processes) = row::stage(*stage);
    if processes == 0 {
        return None;
    }
    Some(json!({
        "event": "jobs.step", "of": of, "job": job, "stage": stage, "processes": processes,
        "words": state.words(),
    }))
}

fn ok<const N: usize>(id: &FrameId, fields: [(&str, Value); N]) -> Value {
    let mut reply = Map::new();
    reply.insert("id".into(), json!(id));
    reply.insert("status".into(), "ok".into());
    reply.extend(fields.into_iter().map(|(key, value)| (key.to_owned(), value)));
    Value::Object(reply)
}

/// A reply that says why not. The code is that of the command line: 2 for what was asked wrongly.
pub fn error(id: &FrameId, code: u8, why: &str) -> Value {
    json!({"id": id, "status": "error", "code": code, "why": why})
}

/// The reply to a frame that the gate refused.
pub fn refused(id: &FrameId, refusal: &Refusal) -> Value {
    json!({"id": id, "status": refusal.status(), "code": 2, "why": refusal.words()})
}

/// What is told of a line that is no frame, before its peer is sent away.
pub fn fault(fault: Fault) -> Value {
    json!({"id": null, "status": "fault", "code": 2, "why": fault.words()})
}
