//! Records as lines: one commit is one line is one record. Pure; the files are `journal`'s.
//!
//! The first line is the session's header, then come entries and records of other kinds:
//!
//! ```json
//! {"type":"session","v":1,"id":"0190…","cwd":"/home/ann/p","created":"2026-01-31T12:00:00.000Z"}
//! {"id":"e000000001","parent":null,"at":"2026-01-31T12:00:01.123Z","type":"user","body":{"role":"user","text":"hello"}}
//! {"type":"title","title":"the lexer"}
//! {"type":"head","to":"e000000001"}
//! {"type":"job","node":{"id":"j1","call":"c4","command":"npm run dev",…}}
//! {"type":"job_over","job":"j1"}
//! {"type":"agent","node":{"name":"lexer","session":"0190…","run":1,…},"words":"…"}
//! {"type":"agent_over","name":"lexer","run":1}
//! {"type":"agent_dismissed","agent":"lexer/tests","run":1}
//! ```
//!
//! A line is read in two steps, first its frame, then its body by its type, so that raw JSON of a provider
//! survives byte for byte. Ids are any strings. There is no checksum and no ordinal: a person may edit with
//! `jq`. Keeps `unknown_records_survive`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::error::Error;
use crate::api::agent::AgentNode;
use crate::api::entry::{Entry, EntryBody, UnknownEntry};
use crate::api::job::JobNode;
use crate::base::{EntryId, JobId, Millis, SessionId};

/// The format that this program writes.
pub const VERSION: u64 = 1;
/// Most bytes of a record that is written.
pub const RECORD_MAX: usize = 1 << 20;

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The format's version.
    pub v: u64,
    /// The session.
    pub id: SessionId,
    /// Its directory; none when the header names none or is damaged.
    pub cwd: Option<PathBuf>,
    /// When it was made.
    pub created: Millis,
    /// Whose agent's it is; none: a person's.
    pub of: Option<Parent>,
}

/// The session that an agent works for, and how it is called there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The session.
    pub session: SessionId,
    /// The agent's name.
    pub agent: String,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The header.
    Header(Header),
    /// An entry; with it, what could not be read of its body.
    Entry(Entry, Option<String>),
    /// An entry whose body stands in a blob.
    Beside(Beside),
    /// The session has this display name from here on.
    Title(String),
    /// The head moved.
    Head(Option<EntryId>),
    /// This job runs.
    Job(JobNode),
    /// This job runs no longer.
    JobOver(JobId),
    /// This agent has not ended; what it is to be told.
    Agent(AgentNode, String),
    /// This run of an agent is over.
    AgentOver(String, u32),
    /// This run of an agent, by its path, was taken off the list.
    AgentDismissed(String, u32),
    /// Something of a kind that this program does not know, outside the tree.
    Other,
    /// Nothing.
    Blank,
}

/// An entry whose body stands in a blob.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Its kind.
    pub kind: String,
    /// The entry, with the body that stands in the line.
    pub entry: Entry,
    /// The blob of the whole body.
    pub blob: String,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    parent: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    at: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    body: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    beside: Option<&'a RawValue>,
}

/// A field that is there, `null` included.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// A record that is no entry, as it is read and written.
#[derive(Serialize, Deserialize)]
struct Session {
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    #[serde(default = "first")]
    v: u64,
    id: SessionId,
    #[serde(default, with = "crate::api::path::maybe")]
    cwd: Option<PathBuf>,
    #[serde(default)]
    created: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
}

fn first() -> u64 {
    VERSION
}

#[derive(Serialize, Deserialize)]
struct Title {
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    title: String,
}

#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    to: Option<EntryId>,
}

#[derive(Serialize, Deserialize)]
struct Job {
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    node: JobNode,
}

#[derive(Serialize, Deserialize)]
struct JobOver {
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    job: JobId,
}

#[derive(Serialize, Deserialize)]
struct Agent {
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    node: AgentNode,
    #[serde(default)]
    words: String,
}

#[derive(Serialize, Deserialize)]
struct AgentOver {
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    name: String,
    run: u32,
}

#[derive(Serialize, Deserialize)]
struct AgentDismissed {
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    agent: String,
    run: u32,
}

/// Reads one line (without its newline). `Err` says why it is none of ours.
pub fn decode(line: &[u8]) -> Result<Record, String> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(Record::Blank);
    }
    let frame: Frame = serde_json::from_slice(line).map_err(|e| e.to_string())?;
    match &*frame.kind {
        "session" => {
            let read: Session = serde_json::from_slice(line).map_err(|e| e.to_string())?;
            let created = instant(&read.created).unwrap_or_default();
            let of = read.parent.map(|session| Parent { session, agent: read.agent.unwrap_or_default() });
            Ok(Record::Header(Header { v: read.v, id: read.id, cwd: read.cwd, created, of }))
        }
        "title" if frame.id.is_none() => {
            Ok(serde_json::from_slice::<Title>(line).map_or(Record::Other, |read| Record::Title(read.title)))
        }
        "head" if frame.id.is_none() => {
            Ok(serde_json::from_slice::<Head>(line).map_or(Record::Other, |read| Record::Head(read.to)))
        }
        "job" if frame.id.is_none() => {
            Ok(serde_json::from_slice::<Job>(line).map_or(Record::Other, |read| Record::Job(read.node)))
        }
        "job_over" if frame.id.is_none() => {
            Ok(serde_json::from_slice::<JobOver>(line)
                .map_or(Record::Other, |read| Record::JobOver(read.job)))
        }
        "agent" if frame.id.is_none() => Ok(serde_json::from_slice::<Agent>(line)
            .map_or(Record::Other, |read| Record::Agent(read.node, read.words))),
        "agent_over" if frame.id.is_none() => Ok(serde_json::from_slice::<AgentOver>(line)
            .map_or(Record::Other, |read| Record::AgentOver(read.name, read.run))),
        "agent_dismissed" if frame.id.is_none() => Ok(serde_json::from_slice::<AgentDismissed>(line)
            .map_or(Record::Other, |read| Record::AgentDismissed(read.agent, read.run))),
        _ => decode_entry(&frame),
    }
}

fn decode_entry(frame: &Frame<'_>) -> Result<Record, String> {
    let known = KINDS.contains(&&*frame.kind);
    // What has no place in the tree is passed by, when it is of an unknown kind.
    if !known && (frame.id.is_none() || frame.parent.is_none()) {
        return Ok(Record::Other);
    }
    let id: EntryId = read(frame.id).ok_or("it has no id")?.map_err(|e| format!("its id: {e}"))?;
    let parent: Option<EntryId> =
        read(frame.parent).transpose().map_err(|e| format!("its parent: {e}"))?.flatten();
    let at = frame.at.and_then(|at| serde_json::from_str::<Cow<str>>(at.get()).ok());
    let at = at.and_then(|at| instant(&at)).unwrap_or_default();
    let raw = frame.body.map_or("null", RawValue::get);
    if let Some(Ok(blob)) = read::<String>(frame.beside) {
        let body = unknown(&frame.kind, raw);
        let kind = frame.kind.clone().into_owned();
        return Ok(Record::Beside(Beside { kind, entry: Entry { id, parent, at, body }, blob }));
    }
    let (body, wrong) = decode_body(&frame.kind, raw);
    Ok(Record::Entry(Entry { id, parent, at, body }, wrong))
}

fn read<T: DeserializeOwned>(raw: Option<&RawValue>) -> Option<Result<T, serde_json::Error>> {
    raw.map(|raw| serde_json::from_str(raw.get()))
}

const KINDS: [&str; 11] = [
    "user",
    "answer",
    "call_start",
    "call_settle",
    "notice",
    "compaction",
    "turn_end",
    "setting",
    "job_end",
    "agent_end",
    "restore",
];

/// Reads a body by its kind. One that cannot be read is kept as it came, and the reason told.
pub fn decode_body(kind: &str, raw: &str) -> (EntryBody, Option<String>) {
    fn of<T: DeserializeOwned>(raw: &str, make: fn(T) -> EntryBody) -> Result<EntryBody, serde_json::Error> {
        serde_json::from_str(raw).map(make)
    }
    let read = match kind {
        "user" => of(raw, EntryBody::User),
        "answer" => of(raw, EntryBody::Answer),
        "call_start" => of(raw, EntryBody::CallStart),
        "call_settle" => of(raw, EntryBody::CallSettle),
        "notice" => of(raw, EntryBody::Notice),
        "compaction" => of(raw, EntryBody::Compaction),
        "turn_end" => of(raw, EntryBody::TurnEnd),
        "setting" => of(raw, EntryBody::Setting),
        "job_end" => of(raw, EntryBody::JobEnd),
        "agent_end" => of(raw, EntryBody::AgentEnd),
        "restore" => of(raw, EntryBody::Restore),
        _ => return (unknown(kind, raw), None),
    };
    match read {
        Ok(body) => (body, None),
        Err(e) => (unknown(kind, raw), Some(e.to_string())),
    }
}

fn unknown(kind: &str, raw: &str) -> EntryBody {
    let raw = RawValue::from_string(raw.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned());
    EntryBody::Unknown(UnknownEntry { kind: kind.to_owned(), raw })
}

/// The kind of an entry, as its line says it.
pub fn kind(body: &EntryBody) -> &str {
    match body {
        EntryBody::User(_) => "user",
        EntryBody::Answer(_) => "answer",
        EntryBody::CallStart(_) => "call_start",
        EntryBody::CallSettle(_) => "call_settle",
        EntryBody::Notice(_) => "notice",
        EntryBody::Compaction(_) => "compaction",
        EntryBody::TurnEnd(_) => "turn_end",
        EntryBody::Setting(_) => "setting",
        EntryBody::JobEnd(_) => "job_end",
        EntryBody::AgentEnd(_) => "agent_end",
        EntryBody::Restore(_) => "restore",
        EntryBody::Unknown(unknown) => &unknown.kind,
    }
}

/// The body of an entry as JSON, on one line.
pub fn encode_body(body: &EntryBody) -> Result<String, Error> {
    let json = |value: Result<String, serde_json::Error>| value.map_err(Error::Encode);
    let mut text = match body {
        EntryBody::User(body) => with_role("user", &json(serde_json::to_string(body))?),
        EntryBody::Answer(body) => with_role("assistant", &json(serde_json::to_string(body))?),
        EntryBody::CallStart(body) => json(serde_json::to_string(body))?,
        EntryBody::CallSettle(body) => json(serde_json::to_string(body))?,
        EntryBody::Notice(body) => json(serde_json::to_string(body))?,
        EntryBody::Compaction(body) => json(serde_json::to_string(body))?,
        EntryBody::TurnEnd(body) => json(serde_json::to_string(body))?,
        EntryBody::Setting(body) => json(serde_json::to_string(body))?,
        EntryBody::JobEnd(body) => json(serde_json::to_string(body))?,
        EntryBody::AgentEnd(body) => json(serde_json::to_string(body))?,
        EntryBody::Restore(body) => json(serde_json::to_string(body))?,
        EntryBody::Unknown(body) => body.raw.get().to_owned(),
    };
    // A line break can only stand between the tokens of raw JSON: inside strings they are escaped.
    if text.contains('\n') || text.contains('\r') {
        text = text.replace(['\n', '\r'], " ");
    }
    Ok(text)
}

/// Puts the role in front of the fields of an object. By hand: a flattened struct would not keep raw JSON.
fn with_role(role: &str, object: &str) -> String {
    let fields = object.strip_prefix('{').unwrap_or(object);
    let comma = if fields.starts_with('}') { "" } else { "," };
    format!("{{\"role\":\"{role}\"{comma}{fields}")
}

/// An entry as a line, newline included.
pub fn encode(entry: &Entry) -> Result<String, Error> {
    frame(entry, "body", &encode_body(&entry.body)?)
}

/// An entry whose body was kept in a blob, as a line. The role stays in the line.
pub fn encode_beside(entry: &Entry, blob: &str) -> Result<String, Error> {
    let role = match entry.body {
        EntryBody::User(_) => with_role("user", "{}"),
        EntryBody::Answer(_) => with_role("assistant", "{}"),
        EntryBody::CallStart(_)
        | EntryBody::CallSettle(_)
        | EntryBody::Notice(_)
        | EntryBody::Compaction(_)
        | EntryBody::TurnEnd(_)
        | EntryBody::Setting(_)
        | EntryBody::JobEnd(_)
        | EntryBody::AgentEnd(_)
        | EntryBody::Restore(_)
        | EntryBody::Unknown(_) => "{}".to_owned(),
    };
    frame(entry, "body", &format!("{role},\"beside\":{}", quoted(blob)?))
}

fn frame(entry: &Entry, name: &str, body: &str) -> Result<String, Error> {
    let (id, kind) = (quoted(entry.id.as_str())?, quoted(kind(&entry.body))?);
    let parent = entry.parent.as_ref().map_or(Ok("null".to_owned()), |parent| quoted(parent.as_str()))?;
    let at = stamp(entry.at);
    Ok(format!("{{\"id\":{id},\"parent\":{parent},\"at\":\"{at}\",\"type\":{kind},\"{name}\":{body}}}\n"))
}

fn quoted(text: &str) -> Result<String, Error> {
    serde_json::to_string(text).map_err(Error::Encode)
}

fn line(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map(|text| text + "\n").map_err(Error::Encode)
}

/// A header as a line.
pub fn encode_header(header: &Header) -> Result<String, Error> {
    line(&Session {
        kind: "session".into(),
        v: header.v,
        id: header.id.clone(),
        cwd: header.cwd.clone(),
        created: stamp(header.created),
        parent: header.of.as_ref().map(|of| of.session.clone()),
        agent: header.of.as_ref().map(|of| of.agent.clone()),
    })
}

/// A display name as a line.
pub fn encode_title(title: &str) -> Result<String, Error> {
    line(&Title { kind: "title".into(), title: title.to_owned() })
}

/// A move of the head as a line.
pub fn encode_head(to: Option<&EntryId>) -> Result<String, Error> {
    line(&Head { kind: "head".into(), to: to.cloned() })
}

/// A running job as a line.
pub fn encode_job(node: &JobNode) -> Result<String, Error> {
    line(&Job { kind: "job".into(), node: node.clone() })
}

/// The end of a job's node as a line.
pub fn encode_job_over(job: JobId) -> Result<String, Error> {
    line(&JobOver { kind: "job_over".into(), job })
}

/// An agent that has not ended, and what it is to be told, as a line.
pub fn encode_agent(node: &AgentNode, words: &str) -> Result<String, Error> {
    line(&Agent { kind: "agent".into(), node: node.clone(), words: words.to_owned() })
}

/// The end of an agent's run as a line.
pub fn encode_agent_over(name: &str, run: u32) -> Result<String, Error> {
    line(&AgentOver { kind: "agent_over".into(), name: name.to_owned(), run })
}

/// That an agent's run, by its path, was taken off the list, as a line.
pub fn encode_agent_dismissed(agent: &str, run: u32) -> Result<String, Error> {
    line(&AgentDismissed { kind: "agent_dismissed".into(), agent: agent.to_owned(), run })
}

/// An instant as RFC 3339 in UTC, with milliseconds.
pub fn stamp(at: Millis) -> String {
    let at = i64::try_from(at.0).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or_default();
    format!("{at:.3}")
}

/// The instant that RFC 3339 text says; none when it says none after 1970.
pub fn instant(text: &str) -> Option<Millis> {
    let at: Timestamp = text.parse().ok()?;
    u64::try_from(at.as_millisecond()).ok().map(Millis)
}

/// The header for a journal whose own cannot be read.
pub fn lost_header(id: SessionId) -> Header {
    Header { v: VERSION, id, cwd: None, created: Millis::default(), of: None }
}

/// A header for a new session.
pub fn new_header(id: SessionId, cwd: &Path, created: Millis) -> Header {
    Header { v: VERSION, id, cwd: Some(cwd.to_owned()), created, of: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::entry::UserMessage;
    use crate::api::message::{Answer, Block, Body, Finish, Stop};

    fn entry(body: EntryBody) -> Entry {
        Entry {
            id: EntryId::new("e2"),
            parent: Some(EntryId::new("e1")),
            at: Millis(1_769_860_801_123),
            body,
        }
    }

    #[test]
    fn an_entry_is_one_line_that_jq_and_people_can_read() {
        let line = encode(&entry(EntryBody::User(UserMessage { text: "hi\n".into(), ..Default::default() })));
        assert_eq!(
            line.unwrap(),
            "{\"id\":\"e2\",\"parent\":\"e1\",\"at\":\"2026-01-31T12:00:01.123Z\",\"type\":\"user\",\
             \"body\":{\"role\":\"user\",\"text\":\"hi\\n\",\"delivery\":\"sent\"}}\n"
        );
    }

    #[test]
    fn raw_json_of_a_provider_survives_byte_for_byte() {
        let raw = r#"{"b":1.0,  "a":[1e2,"\u00e9 \n"],"a":2}"#;
        let answer = |raw: &str| {
            EntryBody::Answer(Answer {
                wire: "anthropic".into(),
                model: "p/m".into(),
                blocks: vec![Block {
                    body: Body::Unknown,
                    raw: Some(RawValue::from_string(raw.to_owned()).unwrap()),
                }],
                finish: Finish::Finished(Stop::End),
                usage: None,
            })
        };
        for (given, kept) in [(raw, raw), ("{\n\"a\":\r\n1}", "{ \"a\":  1}")] {
            let line = encode(&entry(answer(given))).unwrap();
            assert_eq!(line.matches(['\n', '\r']).count(), 1, "{line}");
            assert_eq!(decode(line.trim_end().as_bytes()), Ok(Record::Entry(entry(answer(kept)), None)));
        }
    }
}
