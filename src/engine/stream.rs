//! An answer comes in: onto the record as it streams, into the journal when it ended.

use tokio::sync::mpsc;

use crate::api::board::{Part, PartKind, Phase as Shown};
use crate::api::entry::EntryBody;
use crate::api::message::{Answer, Finish};
use crate::law::turn::{AnswerEnd, Event};
use crate::provider::{Failure, FailureKind, STREAM_MAX, StreamEvent};

use super::owner::Owner;

/// An answer under way.
pub(super) struct Stream {
    events: mpsc::Receiver<StreamEvent>,
    /// What it is for.
    pub purpose: Purpose,
    began: bool,
    /// Bytes of it so far.
    bytes: usize,
    /// The block before is complete.
    fresh: bool,
}

/// Most bytes of an answer: past it, it is stopped.
const ANSWER_MAX: usize = 16 << 20;

/// Bytes that an event brings.
fn length(event: &StreamEvent) -> usize {
    match event {
        StreamEvent::Text(text) | StreamEvent::Thinking(text) | StreamEvent::CallInput(text) => text.len(),
        StreamEvent::Begun
        | StreamEvent::CallBegun { .. }
        | StreamEvent::BlockEnd
        | StreamEvent::Retrying { .. }
        | StreamEvent::End { .. } => 0,
    }
}

/// What an answer is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The conversation.
    Talk,
    /// A summary of older entries; what stays verbatim from where.
    Summary { keep_from: Option<crate::base::EntryId>, tokens_before: u64, kept_tokens: u64 },
}

impl Stream {
    /// A stream and the end that its provider writes to.
    pub fn new(purpose: Purpose) -> (Self, mpsc::Sender<StreamEvent>) {
        let (sender, events) = mpsc::channel(STREAM_MAX);
        (Self { events, purpose, began: false, bytes: 0, fresh: false }, sender)
    }
    /// Whether anything came.
    pub fn began(&self) -> bool {
        self.began
    }
    /// The next event; waits for ever without a stream. `None`: its task is gone without an end.
    pub async fn next(stream: &mut Option<Stream>) -> Option<StreamEvent> {
        match stream {
            Some(stream) => stream.events.recv().await,
            None => std::future::pending().await,
        }
    }
}

impl Owner {
    /// Takes an event and all that have come after it meanwhile, then shows them at once.
    pub(super) fn on_stream(&mut self, event: Option<StreamEvent>) {
        let mut batch = Vec::new();
        let mut next = event;
        loop {
            match next {
                Some(StreamEvent::End { answer, failure }) => {
                    self.show(batch);
                    return self.answer_ended(answer, failure);
                }
                Some(event) => batch.push(event),
                None => {
                    self.show(batch);
                    return self.stream_lost();
                }
            }
            next = match self.stream.as_mut().map(|s| s.events.try_recv()) {
                Some(Ok(event)) => Some(event),
                Some(Err(mpsc::error::TryRecvError::Empty)) | None => break,
                Some(Err(mpsc::error::TryRecvError::Disconnected)) => None,
            };
        }
        self.show(batch);
    }

    fn show(&mut self, batch: Vec<StreamEvent>) {
        let Some(stream) = self.stream.as_mut() else { return };
        if batch.is_empty() {
            return;
        }
        stream.bytes += batch.iter().map(length).sum::<usize>();
        if stream.bytes > ANSWER_MAX && !self.control.cancel.is_cancelled() {
            self.control.cancel.cancel();
            let text = format!("The answer was stopped: it is longer than {} MiB.", ANSWER_MAX >> 20);
            self.event(crate::api::event::Event::Said { level: crate::api::entry::Level::Error, text });
        }
        let Some(stream) = self.stream.as_mut() else { return };
        let talk = stream.purpose == Purpose::Talk;
        let mut status = false;
        for event in &batch {
            match event {
                StreamEvent::Retrying { attempt, at, why } => {
                    stream.began = false;
                    status = true;
                    self.retrying = Some(Shown::Retrying { attempt: *attempt, at: *at, why: why.clone() });
                }
                StreamEvent::Begun => status |= self.retrying.take().is_some(),
                StreamEvent::Text(_)
                | StreamEvent::Thinking(_)
                | StreamEvent::CallBegun { .. }
                | StreamEvent::CallInput(_)
                | StreamEvent::BlockEnd
                | StreamEvent::End { .. } => {
                    status |= !stream.began || self.retrying.take().is_some();
                    stream.began = true;
                }
            }
        }
        if talk {
            let fresh = &mut stream.fresh;
            self.shared.change(|record| {
                for event in batch {
                    append(&mut record.live.parts, fresh, event);
                }
            });
        }
        if status {
            self.publish_status();
        }
    }

    /// The provider's task ended without a word: it was cancelled or it panicked.
    fn stream_lost(&mut self) {
        let (wire, model) = self.model.as_ref().map(|m| (String::new(), m.id.clone())).unwrap_or_default();
        let cancelled = self.control.cancel.is_cancelled();
        let finish = if cancelled {
            Finish::Cancelled
        } else {
            Finish::Failed("The provider's task ended without an answer. Send the message again.".into())
        };
        self.answer_ended(Answer { wire, model, blocks: Vec::new(), finish, usage: None }, None);
    }

    fn answer_ended(&mut self, mut answer: Answer, failure: Option<Failure>) {
        let Some(stream) = self.stream.take() else { return };
        self.retrying = None;
        if let Some(model) = &self.model {
            answer.model.clone_from(&model.id);
        }
        if let Purpose::Summary { keep_from, tokens_before, kept_tokens } = stream.purpose {
            let ok = self.summary_ended(answer, failure, keep_from, tokens_before, kept_tokens);
            self.turn_event(Event::CompactEnded { ok });
            return;
        }
        let end = self.read_end(&answer, failure);
        if answer.blocks.is_empty() && !matches!(answer.finish, Finish::Finished(_)) {
            self.shared.change(|record| record.live.parts.clear());
        } else {
            self.commit(EntryBody::Answer(answer));
        }
        self.turn_event(Event::AnswerEnded(end));
    }

    fn read_end(&mut self, answer: &Answer, failure: Option<Failure>) -> AnswerEnd {
        match &answer.finish {
            Finish::Finished(_) => AnswerEnd::Finished { calls: self.plan_calls(answer) },
            Finish::Truncated(why) => {
                self.fail_why = Some(why.clone());
                AnswerEnd::Truncated
            }
            Finish::Cancelled => AnswerEnd::Cancelled,
            Finish::Failed(why) => {
                let text = failure.as_ref().map_or_else(|| why.clone(), |f| f.text.clone());
                self.fail_why = Some(text);
                AnswerEnd::Failed { overflow: failure.is_some_and(|f| f.kind == FailureKind::Overflow) }
            }
        }
    }
}

/// Puts what came onto the parts of the answer; `fresh`: the block before is complete.
fn append(parts: &mut Vec<Part>, fresh: &mut bool, event: StreamEvent) {
    match event {
        StreamEvent::Text(text) => grow(parts, std::mem::take(fresh), PartKind::Text, &text),
        StreamEvent::Thinking(text) => grow(parts, std::mem::take(fresh), PartKind::Thinking, &text),
        StreamEvent::CallBegun { name, .. } => {
            *fresh = false;
            parts.push(Part { kind: PartKind::Call(name), text: String::new() });
        }
        StreamEvent::CallInput(text) => {
            if let Some(part) = parts.last_mut() {
                part.text.push_str(&text);
            }
        }
        StreamEvent::Retrying { .. } => parts.clear(),
        StreamEvent::BlockEnd => *fresh = true,
        StreamEvent::Begun | StreamEvent::End { .. } => {}
    }
}

fn grow(parts: &mut Vec<Part>, fresh: bool, kind: PartKind, text: &str) {
    match parts.last_mut() {
        Some(part) if part.kind == kind && !fresh => part.text.push_str(text),
        _ => parts.push(Part { kind, text: text.to_owned() }),
    }
}
