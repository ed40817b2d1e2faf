//! The owner's part of jobs: their nodes in the journal, their ends in the conversation, what a person asks.
//!
//! Nodes are written in batches (`law::batch`): nobody waits for them, and a job that begins and ends within
//! one leaves none, for its directory has both.

use std::time::Duration;

use tokio::time::Instant;

use crate::api::command::JobAsk;
use crate::api::entry::{EntryBody, Level};
use crate::api::job::{JobNode, JobRow};
use crate::base::{CallId, EntryId, JobId, chain};
use crate::law::batch::{Batch, Node, Write};
use crate::law::job::By;
use crate::law::turn::{self, Phase};
use crate::store::codec;
use crate::tool::desk::Desk as _;

use super::desk::JobNews;
use super::watch::Ending;
use crate::engine::owner::Owner;

/// How long nodes are gathered before they are written.
const GATHER: Duration = Duration::from_millis(50);
/// The nodes that wait to be written.
#[derive(Default)]
pub struct Nodes {
    batch: Batch<JobId, JobNode>,
    /// When they are.
    pub due: Option<Instant>,
}

impl Nodes {
    /// The node of this job stands in the journal already.
    pub fn found(&mut self, job: JobId) {
        self.batch.found(job);
    }
}

impl Owner {
    /// Takes in what happened to jobs.
    pub(in crate::engine) fn on_jobs(&mut self) {
        for news in self.desk.news() {
            match news {
                JobNews::Began(node) => {
                    let job = node.id;
                    self.node(Node::Began(job, node));
                    // it was on its way when the session began to close
                    if self.closing.is_some() {
                        self.end_job(job);
                    }
                }
                JobNews::Ended(end, ending) => {
                    self.node(Node::Over(end.job));
                    // one that came while nobody looked waits for the person's word
                    let tells = ending == Ending::Seen
                        && !end.hidden
                        && end.outcome.end != (crate::law::job::End::Killed { by: By::Rewind });
                    let job = end.job;
                    self.commit(EntryBody::JobEnd(*end));
                    self.rewinding_stopped(Some(job));
                    let free = self.closing.is_none() && self.rewinding.is_none();
                    if tells && free && self.options.limits.job_end_starts_turn {
                        self.start_turn();
                    }
                }
                JobNews::Trouble(why) => self.say(Level::Warning, why),
            }
        }
        self.publish_status();
    }

    /// A turn begins for what happened while nothing was said: the model reads of it. While one runs its last request may
    /// have gone already: whether it had is known at its end.
    pub(in crate::engine) fn start_turn(&mut self) {
        if self.turn.phase() != Phase::Idle {
            self.owed.unheard = true;
            // an agent is not over before it has heard
            return self.post.owe(self.turns_ended() + 2);
        }
        if self.model.is_some() && self.post.goes_on(self.turns_ended()) {
            self.turn_event(turn::Event::GoOn);
        }
    }

    /// What was unheard is told by the request that goes now, or nobody waits for it any more.
    pub(in crate::engine) fn heard(&mut self) {
        if std::mem::take(&mut self.owed.unheard) {
            self.post.owe(self.turns_ended() + 1);
        }
    }

    fn turns_ended(&self) -> usize {
        self.shared.read().path.iter().filter(|entry| matches!(entry.body, EntryBody::TurnEnd(_))).count()
    }

    pub(super) fn node(&mut self, node: Node<JobId, JobNode>) {
        self.nodes.batch.add(node);
        self.nodes.due.get_or_insert_with(|| Instant::now() + GATHER);
    }

    /// Writes the nodes that wait.
    pub(in crate::engine) fn write_nodes(&mut self) {
        self.nodes.due = None;
        let mut write = self.nodes.batch.take();
        while let Some(Write { nodes }) = &write {
            let lines: Result<Vec<String>, _> = nodes.iter().map(line).collect();
            let done = lines.and_then(|lines| self.store.put_jobs(&lines));
            if let Err(error) = &done
                && nodes.len() == 1
            {
                let what = match &nodes[0] {
                    Node::Began(job, _) => format!("that {job} runs"),
                    Node::Over(job) => format!("that {job} runs no longer"),
                };
                let why = chain(error);
                self.say(
                    Level::Warning,
                    format!("The journal does not say {what}: {why}. The job's own directory does."),
                );
            }
            write = self.nodes.batch.wrote(done.is_ok());
        }
    }

    /// Running jobs that a rewind to this entry ends.
    pub(in crate::engine) fn orphans(&self, to: Option<&EntryId>) -> Vec<JobId> {
        self.desk.orphans(to)
    }

    /// Does what a person asks of a job.
    pub(in crate::engine) fn job(&mut self, job: JobId, ask: JobAsk) {
        match self.desk.row(job) {
            None => self.say(Level::Warning, format!("There is no job {job}.")),
            Some(row)
                if !row.runs() && !matches!(ask, JobAsk::Dismiss | JobAsk::Watch(_) | JobAsk::Resize(_)) =>
            {
                self.say(Level::Info, format!("{job} has ended already."));
            }
            Some(_) => self.desk.ask(job, ask, By::User),
        }
    }

    /// Lets a running command go on as a job.
    pub(in crate::engine) fn detach(&mut self, call: Option<CallId>) {
        if !self.calls.detach(call.as_ref()) {
            self.say(Level::Info, "No command runs that could go on in the background.".into());
        }
    }

    /// Ends every running job that is not kept, with the program as its cause; they have until the
    /// session's own end.
    pub(in crate::engine) fn end_jobs(&mut self, leave: bool) {
        self.leave_jobs = leave;
        for node in self.desk.running() {
            self.end_job(node.id);
        }
    }

    /// Ends a job with the session, or leaves it running, as the person said.
    fn end_job(&self, job: JobId) {
        let kept = self.desk.row(job).is_some_and(|row: JobRow| row.kept);
        match (self.leave_jobs, kept) {
            (true, false) => self.desk.ask(job, JobAsk::Keep(true), By::User),
            (false, false) => self.desk.ask(job, JobAsk::Kill, By::ProgramGone),
            (_, true) => {}
        }
    }
}

fn line(node: &Node<JobId, JobNode>) -> Result<String, crate::store::Error> {
    match node {
        Node::Began(_, node) => codec::encode_job(node),
        Node::Over(job) => codec::encode_job_over(*job),
    }
}
