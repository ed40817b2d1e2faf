//! The model's tools: one file each, behind one trait and one table with schema, permission class and
//! output bounds.

pub mod agent_words;
pub mod agents;
pub mod apply_patch;
pub mod bash;
mod bash_end;
mod blocking;
pub mod change;
mod change_call;
pub mod crew;
pub mod desk;
mod diff;
pub mod edit;
mod edit_text;
pub mod glob;
pub mod grep;
pub mod input;
pub mod jobs;
mod kind;
mod patch;
mod patch_text;
pub mod path;
pub mod put_back;
pub mod read;
mod sink;
pub mod site;
pub mod spawn;
mod spot;
pub mod table;
pub mod todo;
pub mod wait;
mod walk;
pub mod write;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::api::access::Wish;
use crate::api::entry::{CallStatus, Details, Touched};
use crate::api::job::Starter;
use crate::api::message::{Image, ToolSpec, Usage};
use crate::base::{CallId, EntryId, Millis};
use crate::law::access::sight::Sight;
use crate::law::output::Truncation;
use crate::sandbox::hold::Held;
use crate::tool::desk::Desk;
use crate::tool::site::Site;

/// A boxed future, for the trait below.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where a running call reports to: the board. After the call's end nothing reported here is seen.
pub trait Report: Send + Sync {
    /// Output came: its newest part (bounded by the reporter) and the totals so far.
    fn output(&self, tail: &str, bytes: u64, lines: u64);
    /// A warning, shown at once and carried by the settle.
    fn warn(&self, text: String);
    /// Tokens that the call used.
    fn usage(&self, usage: Usage);
}

/// What a call may use.
pub struct CallContext {
    /// The call.
    pub call: CallId,
    /// The session's directory, absolute.
    pub cwd: PathBuf,
    /// The hold of an agent that works in a copy of that directory; none: it works there itself.
    pub held: Option<Arc<Held>>,
    /// The paths of the wish that was allowed: the tool touches no others, wherever its input leads now.
    pub allowed: Vec<PathBuf>,
    /// A private directory of this call for spools and artifacts; made (0700) on first use by who needs it.
    pub call_dir: PathBuf,
    /// Keeps the earlier bytes of files that change.
    pub blobs: Arc<dyn Blobs>,
    /// Ends the call: it must return soon, with what it has.
    pub cancel: CancellationToken,
    /// The board.
    pub report: Arc<dyn Report>,
    /// The bound of its output, resolved.
    pub truncation: Truncation,
    /// Most bytes of a spool.
    pub spool_max: u64,
    /// Most processes of a command at once; 0: any number.
    pub processes_max: u32,
    /// Environment of commands: what was allowed to cross.
    pub environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// What closes files to its searches.
    pub sight: Sight,
    /// When it began to run.
    pub began: Millis,
    /// How long it may wait for its command.
    pub budget: Millis,
    /// Its command goes on without being waited for any longer.
    pub detach: CancellationToken,
    /// The session's jobs.
    pub desk: Arc<dyn Desk>,
    /// The session's agents.
    pub crew: Arc<dyn crew::Crew>,
    /// Whether its command goes on when the program goes.
    pub kept: bool,
    /// Who runs it.
    pub by: Starter,
    /// Whether it is kept from the model.
    pub hidden: bool,
    /// The newest entry of the session when it began.
    pub after: Option<EntryId>,
}

/// Bytes kept beside the journal by content hash.
pub trait Blobs: Send + Sync {
    /// Keeps bytes; their SHA-256 in hex. Blocking.
    fn keep(&self, bytes: &[u8]) -> Result<String, String>;
    /// The bytes of a hash. Blocking.
    fn load(&self, hash: &str) -> Result<Vec<u8>, String>;
}

/// How a call ended: all that the settle carries.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolEnd {
    /// `Ok`, `Error`, `Cancelled` (the cancel came) or `Detached`.
    pub status: CallStatus,
    /// What the model reads.
    pub output: String,
    /// Bytes kept of what the tool produced.
    pub kept: u64,
    /// Bytes dropped.
    pub dropped: u64,
    /// The file with every byte, when some were dropped.
    pub artifact: Option<PathBuf>,
    /// Images for the model, with data.
    pub images: Vec<Image>,
    /// For the screen.
    pub details: Details,
    /// Files changed.
    pub touched: Vec<Touched>,
}

impl ToolEnd {
    /// An end with this output and nothing else.
    pub fn text(status: CallStatus, output: impl Into<String>) -> Self {
        let output = output.into();
        Self {
            status,
            kept: output.len() as u64,
            output,
            dropped: 0,
            artifact: None,
            images: Vec::new(),
            details: Details::None,
            touched: Vec::new(),
        }
    }
}

/// A tool of the model.
pub trait Tool: Send + Sync {
    /// Name, description, schema.
    fn spec(&self) -> ToolSpec;
    /// One line for a person: what this call does (a command, a path). Never fails.
    fn title(&self, input: &Value) -> String;
    /// Whether calls of it may run at the same time as other such calls of one answer.
    fn parallel(&self) -> bool;
    /// What this call wants to do, before anything runs. `Err` says what is wrong with the input; it
    /// settles the call as an error without asking anyone. Blocking (reads files for the diff).
    fn wish(&self, cwd: &std::path::Path, input: &Value) -> Result<Wish, String>;
    /// The same where the directory may be a copy: for tools whose input has paths, and for commands.
    fn wish_in(&self, site: &Site, input: &Value) -> Result<Wish, String> {
        self.wish(site.cwd(), input)
    }
    /// Runs it.
    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd>;
}
