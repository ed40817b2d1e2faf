//! A hold: an agent works in a copy of a directory, and its commands see the copy in that directory's place.
//!
//! Bubblewrap makes it once, the commands enter it: each is its keeper's own child all the same, so that its exit, its
//! signals, its terminal and its tree are those of any command (`docs/decisions/hold.md`). Whether it can be made is
//! found out by making one and running something in it. Where it cannot, nothing runs unheld unless the person allows
//! that.
//!
//! Not here: the file tools, which map each path themselves (`law::path_map`); making the copy (`workspace::child`).

mod builder;
mod facts;
mod mounts;
mod plan;
mod probe;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::law::path_map::View;
use crate::process::Inside;
use crate::store::Dirs;

pub use facts::GIT;
pub use probe::available;

/// Variables that lead git elsewhere than to the repository of its directory.
const GIT_VARIABLES: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
];

/// How an agent's commands run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commands {
    /// Held.
    Held,
    /// In the copy, but free to go anywhere: the person allows it where nothing can be held.
    Unheld,
    /// Not at all, for this reason.
    Refused(String),
}

impl Commands {
    /// What is done where commands can be held, or cannot.
    pub fn choose(available: &Result<(), String>, unheld: bool) -> Commands {
        match available {
            Ok(()) => Commands::Held,
            Err(_) if unheld => Commands::Unheld,
            Err(why) => Commands::Refused(why.clone()),
        }
    }
}

/// An agent's hold.
#[derive(Debug)]
pub struct Held {
    recipe: Recipe,
    commands: Commands,
    inside: OnceCell<Arc<Inside>>,
}

/// What a hold is made for.
#[derive(Clone, Debug)]
struct Recipe {
    /// The directory that the agent sees, and its copy: real paths.
    seen: PathBuf,
    copy: PathBuf,
    /// Where the copy's records are.
    room: PathBuf,
    /// What is private to Windlass.
    dirs: Dirs,
    /// The agent's own session.
    session: Option<PathBuf>,
}

impl Held {
    /// A hold for an agent that sees `seen` (a real path, which need not be there any more) and works in `copy`, which
    /// is in the directory `room` with its records. Nothing is made yet. Blocking.
    pub fn new(dirs: &Dirs, seen: &Path, room: &Path, copy: &Path, commands: Commands) -> io::Result<Held> {
        let recipe = Recipe {
            seen: seen.to_owned(),
            copy: copy.canonicalize()?,
            room: room.canonicalize()?,
            dirs: dirs.clone(),
            session: None,
        };
        Ok(Held { recipe, commands, inside: OnceCell::new() })
    }

    /// The same for the agent's session, whose own directory it may read.
    pub fn of_session(&self, dir: &Path) -> Held {
        let recipe = Recipe { session: Some(dir.to_owned()), ..self.recipe.clone() };
        Held { recipe, commands: self.commands.clone(), inside: OnceCell::new() }
    }

    /// The directory that the agent sees.
    pub fn seen(&self) -> &Path {
        &self.recipe.seen
    }
    /// Its copy.
    pub fn copy(&self) -> &Path {
        &self.recipe.copy
    }
    /// The directory of the agent's own session, once it has one.
    pub fn session(&self) -> Option<&Path> {
        self.recipe.session.as_deref()
    }
    /// How its commands run.
    pub fn commands(&self) -> &Commands {
        &self.commands
    }
    /// How the agent's paths are mapped.
    pub fn view(&self) -> View {
        View { parent: self.recipe.seen.clone(), copy: self.recipe.copy.clone(), from: PathBuf::new() }
    }

    /// In words, for the status.
    pub fn evidence(&self) -> &'static str {
        match self.commands {
            Commands::Held => "held",
            Commands::Unheld => "not held",
            Commands::Refused(_) => "held, no commands",
        }
    }

    /// What commands enter; made when it is first asked for, and anew when that failed. None: they run unheld. An
    /// `Err` says why no command runs.
    pub async fn inside(&self) -> Result<Option<Arc<Inside>>, String> {
        match &self.commands {
            Commands::Held => {}
            Commands::Unheld => return Ok(None),
            Commands::Refused(why) => return Err(refused(why)),
        }
        let make = || async {
            let recipe = self.recipe.clone();
            let made = tokio::task::spawn_blocking(move || builder::build(&facts::gather(&recipe)?)).await;
            let made = made.unwrap_or_else(|_| Err("the hold could not be made".to_owned()));
            made.map(Arc::new)
        };
        match self.inside.get_or_try_init(make).await {
            Ok(inside) => Ok(Some(inside.clone())),
            Err(why) => Err(format!("the command cannot be held in its copy, so it was not started: {why}")),
        }
    }

    /// Where its commands begin.
    pub fn cwd(&self) -> &Path {
        if self.commands == Commands::Unheld { self.copy() } else { self.seen() }
    }
}

/// The environment of a command that works in a copy.
pub fn environment(given: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    given.into_iter().filter(|(name, _)| !GIT_VARIABLES.iter().any(|known| name == known)).collect()
}

fn refused(why: &str) -> String {
    format!(
        "no command was started: this agent works in a copy, and on this machine commands cannot be held in it ({why}). \
         Use the file tools. (The person can install bubblewrap, or allow it with the setting agents.unheld_commands.)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_runs_unheld_unless_that_is_allowed() {
        let missing = Err("bubblewrap is not there".to_owned());
        assert_eq!(Commands::choose(&Ok(()), true), Commands::Held);
        assert_eq!(Commands::choose(&missing, true), Commands::Unheld);
        let Commands::Refused(why) = Commands::choose(&missing, false) else { panic!("it would run") };
        assert!(refused(&why).contains("bubblewrap is not there"));
    }

    #[test]
    fn no_variable_leads_git_elsewhere() {
        let given = ["GIT_DIR", "GIT_AUTHOR_NAME", "GIT_WORK_TREE", "PATH"];
        let given = given.map(|name| (OsString::from(name), OsString::from("x"))).into();
        let names: Vec<OsString> = environment(given).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["GIT_AUTHOR_NAME", "PATH"]);
    }
}
