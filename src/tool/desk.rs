//! What a call may do with the session's jobs. The engine is behind it; tools see this.
//!
//! Not here: the waiting (`law::wait` decides, `tool::wait` does it), the list itself (the record's board).

use std::path::PathBuf;
use std::sync::Arc;

use crate::api::command::JobAsk;
use crate::api::job::{JobNode, JobOutcome, JobRow, Starter};
use crate::base::{CallId, EntryId, JobId, Millis};
use crate::law::job::By;
use crate::process::Running;
use crate::tool::Later;

/// A command that becomes a job.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// The call that it comes from; its directory is the job's.
    pub call: CallId,
    /// The command line, as it was given.
    pub command: String,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Who started it. `Left`: the command itself has ended, others of its tree live on.
    pub by: Starter,
    /// Whether it is kept from the model.
    pub hidden: bool,
    /// Whether it has a terminal.
    pub terminal: bool,
    /// The newest entry when the command was started.
    pub after: Option<EntryId>,
    /// When the command was started.
    pub began: Millis,
    /// What it told before it became a job: bytes, lines, newest part.
    pub told: (u64, u64, String),
    /// Whether it seems to wait for input from its terminal.
    pub waiting: bool,
    /// Whether its own process is stopped.
    pub stopped: bool,
}

impl NewJob {
    /// What the command of this job left behind when it ended: a job of its own. It began at `began`.
    pub fn left_by(node: &JobNode, began: Millis, told: (u64, u64, String)) -> Self {
        Self {
            call: node.call.clone(),
            command: node.command.clone(),
            cwd: node.cwd.clone(),
            by: Starter::Left,
            hidden: node.hidden,
            terminal: false,
            after: node.after.clone(),
            began,
            waiting: false,
            stopped: false,
            told,
        }
    }
}

/// A place among the running jobs, held for one that is to be started. Given back when it is dropped.
pub struct Place(Option<Box<dyn FnOnce() + Send>>);

impl Place {
    /// One that is given back so.
    pub fn new(give_back: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(give_back)))
    }

    /// The job itself has it now.
    pub fn taken(mut self) {
        self.0 = None;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(give_back) = self.0.take() {
            give_back();
        }
    }
}

/// The jobs of a session.
pub trait Desk: Send + Sync {
    /// Holds a place for a job that is to be started; else why there is none: the limit, and who has the places.
    /// Never ends another.
    fn hold(&self) -> Result<Place, String>;
    /// A command goes on as a job: the session watches it from here on, also when nobody waits for the answer. One
    /// for which no place was held runs already, and is taken whatever the limit says.
    fn take(&self, running: Running, job: NewJob, place: Option<Place>) -> Later<'_, JobId>;
    /// All that run and all that ended and were not dismissed, hidden ones too.
    fn rows(&self) -> Vec<JobRow>;
    /// One of them.
    fn row(&self, job: JobId) -> Option<JobRow>;
    /// Does something with a job in somebody's name. Nothing, when it has ended.
    fn ask(&self, job: JobId, ask: JobAsk, by: By);
    /// Waits for its end; none when there is no such job. Cancel safe.
    fn ended(&self, job: JobId) -> Later<'_, Option<Arc<JobOutcome>>>;
}
