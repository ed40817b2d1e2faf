//! Law P: frames. Bytes become lines, each line passes one gate, each gets exactly one answer.
//!
//! `Splitter` cuts whatever comes into lines of a bounded length. `Gate` decides on each line, in order, before
//! anything of it is carried out: run it, refuse it, or call it no frame at all. It also keeps the book of what still
//! waits for its reply.
//!
//! A frame is a JSON object on one line with an `id` (a number or a short text) and a `type`, best as its first two
//! keys: of an oversized one only the head is read.
//!
//! Not here: sockets and pipes, what a type means, the form of replies.
//!
//! Keeps `proto_one_reply_each`, `proto_runs_only_accepted`, `proto_runs_every_accepted`, `proto_rejects_oversize`.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Bytes of an oversized line that are read.
pub const HEAD_MAX: usize = 4096;
/// Ids that are remembered.
pub const IDS_MAX: usize = 1024;
/// Frames that may wait for their reply; `Gate::full` says that it is reached, and nothing more is read until one is
/// answered.
pub const OPEN_MAX: usize = 256;
/// Longest text that is taken as an id, in bytes.
pub const ID_BYTES_MAX: usize = 256;

/// A line, without its newline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// All of it.
    Whole(Vec<u8>),
    /// It is longer than the limit; its head. The rest is dropped up to its newline.
    Oversized {
        /// At most `HEAD_MAX` bytes.
        head: Vec<u8>,
    },
}

/// Cuts reads into lines.
#[derive(Clone, Debug)]
pub struct Splitter {
    line_max: usize,
    buffer: Vec<u8>,
    dropping: bool,
}

impl Splitter {
    /// Lines of at most so many bytes.
    pub fn new(line_max: usize) -> Self {
        Self { line_max, buffer: Vec::new(), dropping: false }
    }

    /// Bytes came: the lines that they end, and one that they make too long. How the bytes are cut changes nothing.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while !bytes.is_empty() {
            let newline = memchr::memchr(b'\n', bytes);
            let piece = &bytes[..newline.unwrap_or(bytes.len())];
            if !self.dropping {
                self.take(piece, &mut lines);
            }
            if newline.is_some() {
                if self.dropping {
                    self.dropping = false;
                } else {
                    lines.push(Line::Whole(std::mem::take(&mut self.buffer)));
                }
            }
            bytes = newline.map_or(&[], |at| &bytes[at + 1..]);
        }
        lines
    }

    fn take(&mut self, piece: &[u8], lines: &mut Vec<Line>) {
        if self.buffer.len().saturating_add(piece.len()) <= self.line_max {
            return self.buffer.extend_from_slice(piece);
        }
        let mut head = std::mem::take(&mut self.buffer);
        // where the line was cut into reads must not show
        let head_max = HEAD_MAX.min(self.line_max);
        head.truncate(head_max);
        head.extend_from_slice(&piece[..piece.len().min(head_max - head.len())]);
        lines.push(Line::Oversized { head });
        self.dropping = true;
    }

    /// Bytes of a line that has no newline yet (at the end of a stream: of a line that was cut off and is none).
    pub fn unfinished(&self) -> usize {
        self.buffer.len()
    }
}

/// What a frame is answered by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FrameId {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
}

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameId::Number(number) => write!(f, "{number}"),
            FrameId::Text(text) => f.write_str(text),
        }
    }
}

/// A frame that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// What its reply bears.
    pub id: FrameId,
    /// Its type: one that is served.
    pub kind: String,
    /// All of it.
    pub body: Map<String, Value>,
}

/// What becomes of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// It is carried out; its result or error is its one reply (`Gate::replied`).
    Run(Frame),
    /// It is answered with this, at once, and nothing is carried out.
    Refuse(FrameId, Refusal),
    /// It is no frame that an answer could name. The stream cannot be trusted any more.
    Fault(Fault),
}

/// Why a frame is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is longer than the limit.
    Oversized,
    /// Its id was used before.
    Duplicate,
    /// It has no type.
    NoType,
    /// Nobody serves its type.
    NotServed(String),
}

/// What is no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not UTF-8.
    NotUtf8,
    /// It is no JSON object with an id.
    NotAFrame,
    /// It is longer than the limit and its head has no id.
    OversizedWithoutId,
}

impl Refusal {
    /// The word of the reply's status: `duplicate` must not be taken for the reply of the first of that id.
    pub fn status(&self) -> &'static str {
        match self {
            Refusal::Duplicate => "duplicate",
            Refusal::Oversized | Refusal::NoType | Refusal::NotServed(_) => "error",
        }
    }
    /// In words.
    pub fn words(&self) -> String {
        match self {
            Refusal::Oversized => {
                "the frame is longer than its limit; nothing of it was carried out".to_owned()
            }
            Refusal::Duplicate => "a frame with this id came before; this one was not carried out".to_owned(),
            Refusal::NoType => "the frame has no `type`".to_owned(),
            Refusal::NotServed(kind) => format!("`{}` is no type that is served here", kind.escape_debug()),
        }
    }
}

impl Fault {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Fault::NotUtf8 => "a line is not UTF-8",
            Fault::NotAFrame => "a line is no frame: a JSON object with an `id` (a number or a short text)",
            Fault::OversizedWithoutId => "a line is longer than its limit and does not begin with an `id`",
        }
    }
}

/// Decides on each line, in order.
#[derive(Clone, Debug)]
pub struct Gate {
    served: &'static [&'static str],
    /// The newest ids, oldest first.
    order: VecDeque<FrameId>,
    seen: BTreeSet<FrameId>,
    /// Accepted and not replied to.
    open: BTreeSet<FrameId>,
}

impl Gate {
    /// A gate for these types.
    pub fn new(served: &'static [&'static str]) -> Self {
        Self { served, order: VecDeque::new(), seen: BTreeSet::new(), open: BTreeSet::new() }
    }

    /// What becomes of the next line. A used id goes first: an error under the id of a frame that is still being
    /// carried out would pass for that one's reply.
    pub fn admit(&mut self, line: Line) -> Admission {
        let (head, body) = match line {
            Line::Oversized { head } => {
                let Some(id) = head_id(&head) else { return Admission::Fault(Fault::OversizedWithoutId) };
                (id, None)
            }
            Line::Whole(bytes) => {
                let Ok(text) = std::str::from_utf8(&bytes) else { return Admission::Fault(Fault::NotUtf8) };
                let Some(body) = serde_json::from_str::<Map<String, Value>>(text).ok() else {
                    return Admission::Fault(Fault::NotAFrame);
                };
                let Some(id) = body.get("id").and_then(id_of) else {
                    return Admission::Fault(Fault::NotAFrame);
                };
                (id, Some(body))
            }
        };
        if self.seen.contains(&head) || self.open.contains(&head) {
            return Admission::Refuse(head, Refusal::Duplicate);
        }
        self.remember(head.clone());
        let Some(body) = body else { return Admission::Refuse(head, Refusal::Oversized) };
        let Some(kind) = body.get("type").and_then(Value::as_str).map(str::to_owned) else {
            return Admission::Refuse(head, Refusal::NoType);
        };
        if !self.served.contains(&kind.as_str()) {
            return Admission::Refuse(head, Refusal::NotServed(kind));
        }
        self.open.insert(head.clone());
        Admission::Run(Frame { id: head, kind, body })
    }

    fn remember(&mut self, id: FrameId) {
        self.order.push_back(id.clone());
        self.seen.insert(id);
        if self.order.len() > IDS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
    }

    /// An accepted frame is about to be replied to: whether it may be. Once for each.
    pub fn replied(&mut self, id: &FrameId) -> bool {
        self.open.remove(id)
    }

    /// Accepted frames that still wait for their reply.
    pub fn open(&self) -> impl Iterator<Item = &FrameId> {
        self.open.iter()
    }

    /// Whether so many wait for their reply that nothing more should be read now.
    pub fn full(&self) -> bool {
        self.open.len() >= OPEN_MAX
    }
}

fn id_of(value: &Value) -> Option<FrameId> {
    match value {
        Value::Number(number) => number.as_u64().map(FrameId::Number),
        Value::String(text) if text.len() <= ID_BYTES_MAX => Some(FrameId::Text(text.clone())),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The id in the head of an object that is cut off somewhere: among the keys whose values stand whole in it.
fn head_id(head: &[u8]) -> Option<FrameId> {
    let mut rest = after(head, b'{')?;
    loop {
        let (key, behind) = value(rest)?;
        let (found, behind) = value(after(behind, b':')?)?;
        // a number at the very end may go on behind it
        let ends = behind.trim_ascii_start();
        if ends.is_empty() {
            return None;
        }
        if key.as_str()? == "id" {
            return id_of(&found);
        }
        rest = after(ends, b',')?;
    }
}

/// What follows this byte, which is the first that is no space.
fn after(bytes: &[u8], byte: u8) -> Option<&[u8]> {
    bytes.trim_ascii_start().strip_prefix(&[byte])
}

/// The JSON value at the start, and what follows it.
fn value(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, bytes.get(values.byte_offset()..)?))
}

#[cfg(test)]
mod tests;
