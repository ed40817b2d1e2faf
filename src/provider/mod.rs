//! Models: one file for each wire format behind one trait and one table.
//!
//! A wire is pure: it writes a request and decodes events. One function does the HTTP of all of them,
//! one the retries. `scripted` is a provider like the others.

mod anthropic;
pub mod catalog;
mod failure;
mod gemini;
pub mod http;
mod json;
mod live;
mod openai_chat;
mod openai_chat_decode;
mod openai_responses;
pub mod probe;
pub mod scripted;
pub mod sse;
pub mod table;
mod tries;
pub mod wire;

pub use http::Waits;
pub use live::Live;

pub use tries::jitter;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::api::message::{Answer, Ask};
use crate::base::Millis;

/// Stream events that may wait for the engine.
pub const STREAM_MAX: usize = 256;

/// What comes while a model answers. `End` is always the last and comes exactly once.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The provider accepted the request.
    Begun,
    /// A piece of text. A new text block begins after any event of another kind, or after `BlockEnd`.
    Text(String),
    /// A piece of thinking.
    Thinking(String),
    /// A call begins.
    CallBegun {
        /// The provider's id of it.
        id: String,
        /// The tool.
        name: String,
    },
    /// A piece of the begun call's arguments (JSON text).
    CallInput(String),
    /// The block at hand is complete.
    BlockEnd,
    /// A try failed before anything came; the next one comes at `at` unless cut short.
    Retrying {
        /// Which try it will be, from 2.
        attempt: u32,
        /// When (since the epoch).
        at: Millis,
        /// Why, in the provider's words.
        why: String,
    },
    /// The answer, whole, however it ended.
    End {
        /// The answer; its `finish` says how it ended.
        answer: Answer,
        /// More on a failure.
        failure: Option<Failure>,
    },
}

/// What kind of failure a request met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The key is missing, wrong or may not do this.
    Key,
    /// The conversation does not fit the model's window.
    Overflow,
    /// A rate limit or an overload outlived all tries.
    Busy,
    /// The server could not be reached, or the connection broke.
    Connection,
    /// The request was refused as invalid.
    Invalid,
    /// Nothing came for too long.
    Silent,
    /// The script did not fit (scripted models only).
    Script,
    /// Anything else.
    Other,
}

/// A failure, for people and for the decision what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// The HTTP status, if it came to that.
    pub status: Option<u16>,
    /// What happened in the provider's own words, and what to do. Never holds a key.
    pub text: String,
}

/// Steers a running request.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Cancels it: the connection is closed at once.
    pub cancel: CancellationToken,
    /// Cuts a wait between tries short.
    pub retry_now: Arc<Notify>,
}

/// An answer under way: the caller spawns it. Dropping it closes the connection at once, without an `End`.
pub type Answering = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A model that can be asked.
pub trait Provider: Send + Sync {
    /// Asks. Events come over the channel (make it with [`STREAM_MAX`]) while the returned future is
    /// driven; dropping the receiver cancels too. Adapters spawn nothing, so the caller does.
    fn stream(&self, ask: Ask, control: Control, events: mpsc::Sender<StreamEvent>) -> Answering;

    /// Who is asked for the agent of this path; none: the same. A script has words of its own for each.
    fn for_agent(&self, path: &str) -> Option<Result<Arc<dyn Provider>, String>> {
        let _ = path;
        None
    }
}
