//! What program and keeper say to each other over their socket: one JSON object a line.
//!
//! The first line to a keeper is the launch. A socket that closes is the program going. The keeper is
//! the program's own binary, so both speak one version; it is checked all the same.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::api::screen::Size;
use crate::base::Millis;
use crate::law::job::{By, JobLimits, Stage};
use crate::law::output::Truncation;
use crate::process::record::{LeftRecord, ProcessId, Record};
use crate::process::terminal::Frame;

/// Version of what is said here.
pub const WIRE_VERSION: u32 = 2;
/// Most bytes of a line to a keeper.
pub const LINE_MAX: usize = 4 << 20;
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
    /// Whether it goes on when the program goes.
    #[serde(default)]
    pub kept: bool,
    /// The size of its own terminal; none: it has none.
    #[serde(default)]
    pub terminal: Option<Size>,
}

/// Who speaks to a keeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The session's program: a command that is not kept dies with it. There is one at a time.
    Program,
    /// Somebody who looks, asks and goes.
    Visitor,
}

/// A line to a keeper.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToKeeper {
    /// Start this. The first line, and only the first.
    Launch(Box<LaunchLine>),
    /// The first line on the keeper's own socket.
    Hello {
        /// `WIRE_VERSION`.
        version: u32,
        /// Who speaks.
        role: Role,
    },
    /// End the whole tree.
    Kill {
        /// Who asks.
        by: By,
    },
    /// Send this signal to the command's process group.
    Signal {
        /// Its number.
        signal: i32,
    },
    /// Let the command go on when the program goes, or not.
    Keep {
        /// Whether.
        on: bool,
    },
    /// Type this into its terminal.
    Input {
        /// The bytes, in base64.
        bytes: String,
    },
    /// Give its terminal this size.
    Resize {
        /// The size.
        size: Size,
    },
    /// Show its terminal's picture to who asks, from now on, or no longer.
    Watch {
        /// Whether.
        on: bool,
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
    /// How the command stands: the answer to a hello.
    Standing(Box<Standing>),
    /// The hello was refused; why, in words. Nothing follows.
    Refused {
        /// What is in the way.
        why: String,
    },
    /// A kill has come so far.
    Stage(Stage),
    /// Whether the command goes on when the program goes.
    Kept {
        /// Whether.
        on: bool,
    },
    /// Whether it seems to wait for input from its terminal.
    Waiting {
        /// Whether.
        on: bool,
    },
    /// What became of its terminal's picture since the last one; the first is whole.
    Screen(Box<Frame>),
    /// The processes that the command left behind are over too.
    Left(Box<LeftRecord>),
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

/// How a command stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Its own process.
    pub process: ProcessId,
    /// When it began.
    pub began: Millis,
    /// Bytes of output so far.
    pub bytes: u64,
    /// Lines of output so far.
    pub lines: u64,
    /// Its newest part as plain text.
    pub tail: String,
    /// Whether it goes on when the program goes.
    pub kept: bool,
    /// Whether it has a terminal.
    #[serde(default)]
    pub terminal: bool,
    /// Whether it seems to wait for input from it.
    #[serde(default)]
    pub waiting: bool,
    /// Whether it has ended, and only what it left behind lives.
    pub ended: bool,
}

/// A line, with its newline.
pub fn line<T: Serialize>(value: &T) -> Vec<u8> {
    // shapes of this file hold no map with keys that are not strings, so they always serialise
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
