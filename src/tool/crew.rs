//! What a call may do with the session's subagents. The engine is behind it; tools see this.
//!
//! An agent is named by its path as the session at hand sees it: `lexer`, or `lexer/tests` for one of `lexer`'s own.
//! Not here: the waiting (`law::wait` decides, `tool::wait` does it), the list itself (the record's board).

use std::sync::Arc;

use crate::api::agent::{AgentEnd, AgentRow, Workspace};
use crate::tool::Later;

/// An agent that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAgent {
    /// Its name.
    pub name: String,
    /// What it is to do.
    pub prompt: String,
    /// Where it works.
    pub workspace: Workspace,
    /// Its model; none: that of who asks.
    pub model: Option<String>,
    /// The tools that it may use; none: those of who asks.
    pub tools: Option<Vec<String>>,
    /// Most tokens that it may use; none: any number.
    pub budget: Option<u64>,
}

/// How far the beginning of an agent is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stands {
    /// It waits for a place.
    Waiting {
        /// Its number in the line, from 1.
        number: usize,
    },
    /// Its copy is being made: files so far.
    #[default]
    Preparing,
    /// So much of its copy is there.
    Copying {
        /// Files and links made so far, in base and copy.
        files: u64,
        /// Of how many, in both; 0 while that is not known.
        of: u64,
    },
    /// It works.
    Works(Stood),
    /// It could not begin: why.
    Failed(String),
    /// It is not there any more; nothing of it is left.
    Gone,
}

/// What an agent began with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stood {
    /// In words: `isolated · 214 files · cloned`.
    pub words: String,
    /// What should be known of its copy.
    pub warnings: Vec<String>,
    /// Which paths of the directory are not in its copy, in words; one of the warnings.
    pub lacks: Option<String>,
}

/// While it lives, who asks waits for its agents and holds no place.
pub struct Rest(Option<Box<dyn FnOnce() + Send>>);

impl Rest {
    /// One that ends so.
    pub fn new(end: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(end)))
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

/// The agents of a session.
pub trait Crew: Send + Sync {
    /// Asks for one. It begins by itself once there is a place; else why not: nothing of it is there then.
    fn ask(&self, new: NewAgent) -> Result<(), String>;
    /// How far its beginning is: as it is now, or (with `since`) once it is another than that. Cancel safe.
    fn stands(&self, path: &str, since: Option<Stands>) -> Later<'_, Stands>;
    /// Who asked for it went away while its copy was being made: nothing of it is left. One that works is left alone.
    fn withdraw(&self, path: &str);
    /// All that are there and all that ended and were not dismissed, with those under them, by path.
    fn rows(&self) -> Vec<(String, AgentRow)>;
    /// One of them.
    fn row(&self, path: &str) -> Option<AgentRow>;
    /// Tells it something; what that means, or why it cannot be told.
    fn message(&self, path: &str, text: String) -> Result<&'static str, String>;
    /// Stops it, in the model's name. Nothing, when it has ended.
    fn stop(&self, path: &str);
    /// Waits for its end; none when there is no such agent, or the program goes. Cancel safe.
    fn ended(&self, path: &str) -> Later<'_, Option<Arc<AgentEnd>>>;
    /// Who asks waits for its agents from here on.
    fn rest(&self) -> Rest;
}

/// A session without agents, which has none to give.
#[derive(Debug)]
pub struct Nobody;

impl Crew for Nobody {
    fn ask(&self, _: NewAgent) -> Result<(), String> {
        Err("there are no agents here".to_owned())
    }
    fn stands(&self, _: &str, _: Option<Stands>) -> Later<'_, Stands> {
        Box::pin(std::future::ready(Stands::Gone))
    }
    fn withdraw(&self, _: &str) {}
    fn rows(&self) -> Vec<(String, AgentRow)> {
        Vec::new()
    }
    fn row(&self, _: &str) -> Option<AgentRow> {
        None
    }
    fn message(&self, path: &str, _: String) -> Result<&'static str, String> {
        Err(format!("there is no agent {path}"))
    }
    fn stop(&self, _: &str) {}
    fn ended(&self, _: &str) -> Later<'_, Option<Arc<AgentEnd>>> {
        Box::pin(std::future::ready(None))
    }
    fn rest(&self) -> Rest {
        Rest::new(|| ())
    }
}
