//! What program and keeper say to each other over their socket: one JSON object a line.
//!
//! To a keeper go requests: frames of law P (`law::frame`) with an id and a type, each answered by one `Reply` that bears its
//! id. The first one is the launch. From a keeper come replies, and events, which nobody asked for. A socket that closes
//! is the program going. The keeper is the program's own binary, so both speak one version; it is checked all the same.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::api::screen::Size;
use crate::base::Millis;
use crate::law::frame::FrameId;
use crate::law::job::{By, JobLimits, Stage};
use crate::law::output::Truncation;
use crate::process::record::{LeftRecord, ProcessId, Record};
use crate::process::terminal::Frame;

/// Version of what is said here.
pub const WIRE_VERSION: u32 = 3;
/// Most bytes of a line, but for the launch.
pub const LINE_MAX: usize = 4 << 20;
/// Most bytes of the launch: no system starts a program with as much.
pub const LAUNCH_MAX: usize = 32 << 20;
/// Most bytes that one request types into a terminal.
pub const INPUT_MAX: usize = 256 << 10;
/// The types of requests.
pub const SERVED: &[&str] = &["launch", "hello", "kill", "signal", "keep", "input", "resize", "watch"];
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
    /// The hold that it enters first; none: it runs outside of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<InsideLine>,
}

/// A hold. Its namespaces are the keeper's standard output and error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsideLine {
    /// Where a command begins there.
    pub top: Text,
    /// What it must find there: device and inode of the copy. Anything else, and it does not begin.
    pub place: (u64, u64),
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

/// What is asked of a keeper.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToKeeper {
    /// Start this. The first request, and only the first.
    Launch(Box<LaunchLine>),
    /// The first request on the keeper's own socket.
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

/// A request, as it stands on its line.
#[derive(Serialize)]
struct Request<'a> {
    id: u64,
    #[serde(flatten)]
    what: &'a ToKeeper,
}

/// The line of a request; its id is one that this socket has not used.
pub fn request(id: u64, what: &ToKeeper) -> Vec<u8> {
    line(&Request { id, what })
}

/// How a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It was carried out.
    Ok,
    /// It was not.
    Error,
    /// Its id was used before: this is no reply to that one.
    Duplicate,
}

/// The one answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The request's.
    pub id: FrameId,
    /// How it went.
    pub status: Status,
    /// Why it was not carried out, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A line from a keeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromKeeper {
    /// The answer to a request.
    Reply(Reply),
    /// A line was no request, so none can be answered; what follows it is heard.
    Fault {
        /// What is wrong with it.
        why: String,
    },
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
    /// Whether its own process is stopped.
    Stopped {
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
    /// Whether its own process is stopped.
    #[serde(default)]
    pub stopped: bool,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::frame::{Admission, Gate, Line};

    #[test]
    fn each_request_passes_the_gate_and_comes_back() {
        let launch = LaunchLine {
            version: WIRE_VERSION,
            argv: vec![Text::Utf8("a".into()), Text::Bytes(vec![255])],
            environment: vec![(Text::Utf8("A".into()), Text::Bytes(vec![0, 1]))],
            cwd: Text::Utf8("/".into()),
            dir: Text::Utf8("/d".into()),
            limits: JobLimits::new(1 << 40, Some(Millis(5))).with_processes_max(7),
            truncation: Truncation::Off,
            kept: true,
            terminal: Some(Size { rows: 3, cols: 4 }),
            inside: Some(InsideLine { top: Text::Utf8("/t".into()), place: (1, 2) }),
        };
        let all = [
            ToKeeper::Launch(Box::new(launch)),
            ToKeeper::Hello { version: WIRE_VERSION, role: Role::Visitor },
            ToKeeper::Kill { by: By::Model },
            ToKeeper::Signal { signal: 2 },
            ToKeeper::Keep { on: true },
            ToKeeper::Input { bytes: "YQ==".into() },
            ToKeeper::Resize { size: Size { rows: 1, cols: 2 } },
            ToKeeper::Watch { on: false },
        ];
        let mut gate = Gate::new(SERVED);
        assert_eq!(all.len(), SERVED.len());
        for (n, what) in all.iter().enumerate() {
            let mut line = request(n as u64, what);
            assert_eq!(line.pop(), Some(b'\n'));
            let Admission::Run(frame) = gate.admit(Line::Whole(line)) else { panic!("{what:?}") };
            assert_eq!((frame.id, frame.kind.as_str()), (FrameId::Number(n as u64), SERVED[n]));
            let back: ToKeeper = serde_json::from_value(frame.body.into()).unwrap();
            assert_eq!(format!("{back:?}"), format!("{what:?}"));
        }
    }
}
