//! One file for each confinement profile, and the one way to start a command.
//!
//! A profile turns a command into a plan: argv, environment, and the words that the screen shows for it.
//! `spawn` plans and launches; nothing else of the program starts a command for the model or the person.
//!
//! Profiles that confine come with their own files; a profile that cannot be provided is refused. An agent that works in a
//! copy has its commands held in it besides, whatever the profile (`hold`).

pub mod hold;
mod off;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use self::hold::Held;
use crate::api::screen::Size;
use crate::law::job::JobLimits;
use crate::law::output::Truncation;
use crate::process::{Launch, LaunchError, Running, launch};

/// How a command is confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Not at all.
    #[default]
    Off,
}

impl Profile {
    /// The name in settings.
    pub fn word(self) -> &'static str {
        match self {
            Profile::Off => "off",
        }
    }
    /// What the title says: the confinement as it is.
    pub fn evidence(self) -> &'static str {
        self.plan(Vec::new(), Vec::new()).evidence
    }
    /// What starts for this command.
    pub fn plan(self, argv: Vec<OsString>, environment: Vec<(OsString, OsString)>) -> Plan {
        match self {
            Profile::Off => off::plan(argv, environment),
        }
    }
}

/// What a profile makes of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The confinement in words.
    pub evidence: &'static str,
}

/// A command that someone wants to run.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// The environment that may cross (`process::child_environment`).
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs, absolute.
    pub cwd: PathBuf,
    /// Its private directory: the record of its run.
    pub dir: PathBuf,
    /// Its limits.
    pub limits: JobLimits,
    /// The bound of its output.
    pub truncation: Truncation,
    /// Whether it goes on when the program goes.
    pub kept: bool,
    /// The size of its own terminal; none: it has none.
    pub terminal: Option<Size>,
    /// The agent's hold; none: it works in its directory itself.
    pub held: Option<Arc<Held>>,
}

/// Starts a command under a profile and a keeper.
pub async fn spawn(profile: Profile, wanted: Wanted) -> Result<Running, LaunchError> {
    let mut wanted = wanted;
    let mut inside = None;
    if let Some(held) = &wanted.held {
        inside = held.inside().await.map_err(|why| LaunchError::Command { why })?;
        wanted.environment = hold::environment(wanted.environment);
        wanted.cwd = held.cwd().to_owned();
    }
    let plan = profile.plan(wanted.argv, wanted.environment);
    launch(Launch {
        argv: plan.argv,
        environment: plan.environment,
        cwd: wanted.cwd,
        dir: wanted.dir,
        limits: wanted.limits,
        truncation: wanted.truncation,
        kept: wanted.kept,
        terminal: wanted.terminal,
        inside,
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn off_changes_nothing_and_says_unconfined() {
        let argv = vec![OsString::from("bash"), OsString::from("-c")];
        let environment = vec![(OsString::from("A"), OsString::from("b"))];
        let plan = Profile::Off.plan(argv.clone(), environment.clone());
        assert_eq!(plan, Plan { argv, environment, evidence: "unconfined" });
        assert_eq!(Profile::default().evidence(), "unconfined");
    }
}
