//! What program and keeper say to each other over their socket: one JSON object a line.
//!
//! The first line to a keeper is the launch. A socket that closes is the program going. The keeper is
//! the program's own binary, so both speak one version; it is checked all the same.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::base::Millis;
use crate::law::job::{By, JobLimits};
use crate::law::output::Truncation;
use crate::process::record::{ProcessId, Record};

/// Version of what is said here.
pub const WIRE_VERSION: u32 = 1;
/// Most bytes of a progress report's tail.
pub const TAIL_MAX: usize = 4096;
/// Progress is told at most once in this time.
pub const PROGRESS_EVERY: Millis = Millis(33);

/// Bytes of the system (an argument, a variable, a path): text where it is UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// UTF-8.
    Utf8(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl From<OsString> for Text {
    fn from(text: OsString) -> Self {
        text.into_string().map_or_else(|text| Text::Bytes(text.as_bytes().to_vec()), Text::Utf8)
    }
}

impl From<Text> for OsString {
    fn from(text: Text) -> Self {
        match text {
            Text::Utf8(text) => text.into(),
            Text::Bytes(bytes) => OsString::from_vec(bytes),
        }
    }
}

impl From<Text> for PathBuf {
    fn from(text: Text) -> Self {
        OsString::from(text).into()
    }
}

/// A command to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LaunchLine {
    /// `WIRE_VERSION`.
    pub version: u32,
    /// Program and arguments.
    pub argv: Vec<Text>,
    /// The whole environment.
    pub environment: Vec<(Text, Text)>,
    /// Where it runs.
    pub cwd: Text,
    /// Its directory: the record.
    pub dir: Text,
    /// Its limits.
    pub limits: JobLimits,
    /// The bound of what is told of its output at the end; `Off`: nothing but the counts.
    pub truncation: Truncation,
}

/// A line to a keeper.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToKeeper {
    /// Start this. The first line, and only the first.
    Launch(Box<LaunchLine>),
    /// End the whole tree.
    Kill {
        /// Who asks.
        by: By,
    },
}

/// A line from a keeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromKeeper {
    /// The command runs.
    Started {
        /// `WIRE_VERSION`.
        version: u32,
        /// The command's own process.
        process: ProcessId,
    },
    /// It could not be started; why, in words. Nothing follows.
    Failed {
        /// What happened, to what.
        why: String,
    },
    /// Output came.
    Output {
        /// Bytes so far.
        bytes: u64,
        /// Lines so far.
        lines: u64,
        /// Its newest part as plain text.
        tail: String,
    },
    /// The command ended.
    Ended {
        /// How, as it stands in its directory.
        record: Box<Record>,
        /// The kept beginning, in base64.
        head: String,
        /// The kept end, in base64.
        tail: String,
        /// Lines kept.
        lines_kept: u64,
    },
}

/// A line, with its newline.
pub fn line<T: Serialize>(value: &T) -> Vec<u8> {
    // shapes of this file hold no map with keys that are not strings, so they always serialise
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
