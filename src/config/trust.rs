//! Which directories the user trusts: only their own settings and commands are read.
//!
//! The list is a private file of the state directory. A directory is trusted by its exact, resolved path;
//! what lies beneath it is not trusted with it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::private;

/// The list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    #[serde(default)]
    trusted: Vec<PathBuf>,
    /// Directories that the person was asked about and does not trust.
    #[serde(default)]
    declined: Vec<PathBuf>,
    #[serde(skip)]
    file: PathBuf,
}

impl Trust {
    /// Reads the list; an empty one where there is none. `Err` says why it cannot be used.
    pub fn load(state_dir: &Path) -> Result<Self, String> {
        let file = state_dir.join("trusted.json");
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { file, ..Self::default() });
            }
            Err(error) => return Err(format!("{} cannot be read: {error}", file.display())),
        };
        if let Some(why) = private::not_private(&file) {
            return Err(format!("{} {why}; no directory is trusted until then", file.display()));
        }
        let mut trust: Trust = serde_json::from_str(&text).map_err(|error| {
            format!("{}: {error}; no directory is trusted. Mend or remove it", file.display())
        })?;
        trust.file = file;
        Ok(trust)
    }

    /// Whether the person has answered for this directory, either way.
    pub fn is_decided(&self, dir: &Path) -> bool {
        std::fs::canonicalize(dir)
            .is_ok_and(|dir| self.trusted.contains(&dir) || self.declined.contains(&dir))
    }

    /// Whether the directory is trusted.
    pub fn is_trusted(&self, dir: &Path) -> bool {
        std::fs::canonicalize(dir).is_ok_and(|dir| self.trusted.contains(&dir))
    }

    /// Trusts a directory, or stops to, and writes the list.
    pub fn set(&mut self, dir: &Path, trusted: bool) -> Result<(), String> {
        let dir = std::fs::canonicalize(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        self.trusted.retain(|other| *other != dir);
        self.declined.retain(|other| *other != dir);
        if trusted {
            self.trusted.push(dir);
        } else {
            self.declined.push(dir);
        }
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        private::replace(&self.file, format!("{text}\n").as_bytes())
    }
}
