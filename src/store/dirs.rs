//! Where things are kept: the state and the configuration directory, by XDG.
//!
//! Nothing is made here but on request; the layout inside a session's directory is `session`'s.

use std::path::{Path, PathBuf};

use directories::BaseDirs;

use super::error::Error;
use super::private;
use crate::base::SessionId;

/// The name of the file of keys in the configuration directory.
pub const KEYS_FILE: &str = "keys.json";

/// The program's directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dirs {
    state: PathBuf,
    config: PathBuf,
}

impl Dirs {
    /// As the environment says: `$XDG_STATE_HOME/windlass` and `$XDG_CONFIG_HOME/windlass`, or their defaults
    /// under the home directory.
    pub fn from_environment() -> Result<Dirs, Error> {
        let base = BaseDirs::new().ok_or(Error::NoHome)?;
        let state = base.state_dir().ok_or(Error::NoHome)?;
        Ok(Dirs { state: state.join("windlass"), config: base.config_dir().join("windlass") })
    }
    /// At these places.
    pub fn at(state: impl Into<PathBuf>, config: impl Into<PathBuf>) -> Dirs {
        Dirs { state: state.into(), config: config.into() }
    }
    /// The state directory: private.
    pub fn state(&self) -> &Path {
        &self.state
    }
    /// The configuration directory: the person's own.
    pub fn config(&self) -> &Path {
        &self.config
    }
    /// The private file of keys, beside the settings.
    pub fn keys(&self) -> PathBuf {
        self.config.join(KEYS_FILE)
    }
    /// Where sessions are.
    pub fn sessions(&self) -> PathBuf {
        self.state.join("sessions")
    }
    /// One session's directory.
    pub fn session(&self, id: &SessionId) -> PathBuf {
        self.sessions().join(id.as_str())
    }
    /// Where children's copies are.
    pub fn workspaces(&self) -> PathBuf {
        self.state.join("workspaces")
    }
    /// The copies of a session's children.
    pub fn workspaces_of(&self, parent: &SessionId) -> PathBuf {
        self.workspaces().join(parent.as_str())
    }
    /// One child's copy, base, versions and records.
    pub fn workspace(&self, parent: &SessionId, child: &str) -> PathBuf {
        self.workspaces_of(parent).join(child)
    }
    /// The log of the program itself.
    pub fn log(&self) -> PathBuf {
        self.state.join("log")
    }
    /// The resolutions of conflicts that are remembered.
    pub fn resolutions(&self) -> PathBuf {
        self.state.join("resolutions")
    }
    /// Makes the state directory and the sessions' directory in it, private.
    pub fn make(&self) -> Result<(), Error> {
        private::dir_all(&self.state)?;
        private::dir(&self.sessions())
    }
}
