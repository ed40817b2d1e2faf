//! The program's side of a command: starts its keeper, hears of its output and its end, asks for a kill.
//!
//! Not here: confinement. `sandbox::spawn` is the one way that commands are started; it ends up here.

mod adopt;
mod found;
mod rest;
mod tried;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::api::screen::{Screen, Size};
use crate::law::job::{By, End, JobLimits, Stage};
use crate::law::output::{Kept, Truncation};
use crate::process::environment::with_terminal;
use crate::process::inside::Inside;
use crate::process::keeper::KEEPER_ARGUMENT;
use crate::process::record::{LEFT_FILE, LeftRecord, ProcessId, Record, make_dir};
use crate::process::tree;
use crate::process::wire::{FromKeeper, INPUT_MAX, LaunchLine, ToKeeper, WIRE_VERSION, request};

pub(super) use adopt::lives;
pub use adopt::{Adopted, adopt, boot, open_socket};
pub use found::read_bounded;
use found::{found, spooled};
pub use rest::end_left_over;
use rest::end_rest;
pub use tried::try_out;

/// A command to run, as its profile planned it.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs, absolute.
    pub cwd: PathBuf,
    /// Its directory: made 0700 here, before the launch. It is the record.
    pub dir: PathBuf,
    /// Its limits.
    pub limits: JobLimits,
    /// The bound of its output.
    pub truncation: Truncation,
    /// Whether it goes on when the program goes.
    pub kept: bool,
    /// The size of its own terminal; none: it has none.
    pub terminal: Option<Size>,
    /// The hold that it enters first; none: it runs outside of any.
    pub inside: Option<Arc<Inside>>,
}

/// Why a command could not be started.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// The directory to run in.
    #[error(
        "the directory {path} cannot be used ({why}): the command was not started. Make it again, or open a session in another directory"
    )]
    Cwd {
        /// The directory.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// The command's own directory.
    #[error("cannot make {path} for the command's output: the command was not started")]
    Dir {
        /// The directory.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The keeper.
    #[error("cannot start the keeper of the command ({program}): the command was not started")]
    Keeper {
        /// What was to be started.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The keeper went before it said anything.
    #[error("the keeper of the command ended before the command began; its directory is {dir}")]
    KeeperGone {
        /// The command's directory.
        dir: String,
    },
    /// The command.
    #[error("{why}")]
    Command {
        /// The keeper's words.
        why: String,
    },
}

/// What a keeper tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Output came; told seldom, each time with all counts so far.
    Output {
        /// Bytes so far.
        bytes: u64,
        /// Lines so far.
        lines: u64,
        /// Its newest part as plain text.
        tail: String,
    },
    /// A kill has come so far.
    Stage(Stage),
    /// It seems to wait for input from its terminal, or no longer.
    Waiting(bool),
    /// Its own process is stopped, or goes on.
    Stopped(bool),
    /// Its terminal's picture.
    Screen(Arc<Screen>),
    /// Whether it goes on when the program goes.
    Kept(bool),
    /// What it left behind is over too.
    Left(Box<LeftRecord>),
    /// The command ended. Exactly once.
    Ended {
        /// How.
        record: Box<Record>,
        /// What was kept of its output.
        kept: Kept,
    },
}

/// A command under its keeper. Dropping it is the program going: the keeper ends the tree.
#[derive(Debug)]
pub struct Running {
    stream: UnixStream,
    incoming: Vec<u8>,
    /// Requests so far: each has its number as id.
    asked: u64,
    process: ProcessId,
    dir: PathBuf,
    truncation: Truncation,
    ended: bool,
    gone: bool,
    /// Processes outlived the command, and nobody knows yet what became of them.
    left: bool,
    /// Its terminal's picture, as it was told last.
    screen: Arc<Screen>,
    /// The end of a command whose keeper was lost, being found out.
    lost: Option<JoinHandle<(Record, Kept)>>,
    keeper: Keeper,
}

/// The keeper's own process.
#[derive(Debug)]
enum Keeper {
    /// Started by this program.
    Child(Child),
    /// Found running.
    Found(ProcessId),
}

enum Program {
    Own(File),
    Named(PathBuf),
}

static PROGRAM: OnceLock<io::Result<Program>> = OnceLock::new();

/// Names the binary that is started as the keeper. For programs that are not it themselves (tests);
/// otherwise it is the running one, by an open descriptor, so that replacing the file does not matter.
/// Heard only before the first command.
pub fn use_keeper_program(path: impl Into<PathBuf>) {
    let _ = PROGRAM.set(Ok(Program::Named(path.into())));
}

fn keeper_program() -> Result<PathBuf, LaunchError> {
    match PROGRAM.get_or_init(|| File::open("/proc/self/exe").map(Program::Own)) {
        Ok(Program::Own(file)) => Ok(format!("/proc/self/fd/{}", file.as_raw_fd()).into()),
        Ok(Program::Named(path)) => Ok(path.clone()),
        Err(error) => Err(LaunchError::Keeper {
            program: "/proc/self/exe".to_owned(),
            source: error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error),
        }),
    }
}

/// Starts a command under a keeper.
pub async fn launch(launch: Launch) -> Result<Running, LaunchError> {
    check_cwd(&launch.cwd)?;
    let dir_error = |source| LaunchError::Dir { path: launch.dir.display().to_string(), source };
    make_dir(&launch.dir).map_err(dir_error)?;
    let program = keeper_program()?;
    let keeper_error = |source| LaunchError::Keeper { program: program.display().to_string(), source };
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(keeper_error)?;
    ours.set_nonblocking(true).map_err(keeper_error)?;
    let stream = UnixStream::from_std(ours).map_err(keeper_error)?;
    let keeper = keeper_command(&program, theirs, launch.inside.as_deref())
        .and_then(|mut command| command.spawn())
        .map_err(keeper_error)?;
    let mut running = Running {
        stream,
        incoming: Vec::new(),
        asked: 0,
        process: ProcessId { pid: 0, start: 0 },
        dir: launch.dir.clone(),
        truncation: launch.truncation,
        ended: false,
        gone: false,
        left: false,
        screen: Arc::default(),
        lost: None,
        keeper: Keeper::Child(keeper),
    };
    let gone = || LaunchError::KeeperGone { dir: launch.dir.display().to_string() };
    running.send(&ToKeeper::Launch(Box::new(launch_line(&launch)))).await.map_err(|_| gone())?;
    loop {
        match running.hear().await {
            None => return Err(gone()),
            Some(FromKeeper::Failed { why }) => return Err(LaunchError::Command { why }),
            Some(FromKeeper::Started { process, .. }) => {
                running.process = process;
                return Ok(running);
            }
            Some(_) => {}
        }
    }
}

fn keeper_command(
    program: &Path,
    socket: std::os::unix::net::UnixStream,
    inside: Option<&Inside>,
) -> io::Result<Command> {
    let mut command = std::process::Command::new(program);
    command.arg0("windlass-keeper").arg(KEEPER_ARGUMENT).env_clear();
    command.stdin(Stdio::from(OwnedFd::from(socket))).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(inside) = inside {
        inside.hand_over(&mut command)?;
    }
    Ok(command.into())
}

fn check_cwd(cwd: &Path) -> Result<(), LaunchError> {
    let why = match std::fs::metadata(cwd) {
        Ok(data) if data.is_dir() => return Ok(()),
        Ok(_) => "it is not a directory".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "it is gone".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(LaunchError::Cwd { path: cwd.display().to_string(), why })
}

fn launch_line(launch: &Launch) -> LaunchLine {
    let environment = launch.environment.clone();
    let environment = if launch.terminal.is_some() { with_terminal(environment) } else { environment };
    LaunchLine {
        version: WIRE_VERSION,
        argv: launch.argv.iter().cloned().map(Into::into).collect(),
        environment: environment
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            // the last one holds: one that came from a command around us is not ours
            .chain([(OsString::from(rest::MARK).into(), launch.dir.clone().into_os_string().into())])
            .collect(),
        cwd: launch.cwd.clone().into_os_string().into(),
        dir: launch.dir.clone().into_os_string().into(),
        limits: launch.limits,
        truncation: launch.truncation,
        kept: launch.kept,
        terminal: launch.terminal,
        inside: launch.inside.as_deref().map(Inside::line),
    }
}

impl Running {
    /// The command's own process.
    pub fn process(&self) -> &ProcessId {
        &self.process
    }
    /// The command's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the keeper tells next; none when it is gone, which it is after the end as soon as nothing of
    /// the tree is left. Cancel safe.
    pub async fn next(&mut self) -> Option<News> {
        loop {
            match self.hear().await {
                Some(FromKeeper::Output { bytes, lines, tail }) => {
                    return Some(News::Output { bytes, lines, tail });
                }
                Some(FromKeeper::Ended { record, head, tail, lines_kept }) => {
                    self.ended = true;
                    self.left = !record.left.is_empty();
                    let kept = self.kept(&record, &head, &tail, lines_kept);
                    return Some(News::Ended { record, kept });
                }
                Some(FromKeeper::Stage(stage)) => return Some(News::Stage(stage)),
                Some(FromKeeper::Kept { on }) => return Some(News::Kept(on)),
                Some(FromKeeper::Left(left)) => return Some(News::Left(left)),
                Some(FromKeeper::Waiting { on }) => return Some(News::Waiting(on)),
                Some(FromKeeper::Stopped { on }) => return Some(News::Stopped(on)),
                Some(FromKeeper::Screen(frame)) => {
                    self.screen = Arc::new(frame.apply(&self.screen));
                    return Some(News::Screen(self.screen.clone()));
                }
                Some(
                    FromKeeper::Started { .. }
                    | FromKeeper::Failed { .. }
                    | FromKeeper::Standing(_)
                    | FromKeeper::Reply(_)
                    | FromKeeper::Fault { .. }
                    | FromKeeper::Refused { .. },
                ) => {}
                None if self.ended => return None,
                None => {
                    let (record, kept) = self.lose().await;
                    self.ended = true;
                    return Some(News::Ended { record: Box::new(record), kept });
                }
            }
        }
    }

    /// Asks the keeper to end the whole tree. The end comes as news.
    pub async fn kill(&mut self, by: By) {
        // a keeper that is gone needs no kill: its command died with it
        let _ = self.send(&ToKeeper::Kill { by }).await;
    }

    /// Sends a signal to the command's process group.
    pub async fn signal(&mut self, signal: i32) {
        // as above
        let _ = self.send(&ToKeeper::Signal { signal }).await;
    }

    /// Lets the command go on when the program goes, or not. `News::Kept` answers.
    pub async fn keep(&mut self, on: bool) {
        // as above
        let _ = self.send(&ToKeeper::Keep { on }).await;
    }

    /// Types into its terminal.
    pub async fn input(&mut self, bytes: Vec<u8>) {
        // as above
        for piece in bytes.chunks(INPUT_MAX) {
            let _ = self.send(&ToKeeper::Input { bytes: STANDARD.encode(piece) }).await;
        }
    }

    /// Gives its terminal another size.
    pub async fn resize(&mut self, size: Size) {
        // as above
        let _ = self.send(&ToKeeper::Resize { size }).await;
    }

    /// Shows its terminal's picture as news from now on, or no longer.
    pub async fn watch(&mut self, on: bool) {
        self.screen = Arc::default();
        // as above
        let _ = self.send(&ToKeeper::Watch { on }).await;
    }

    /// Whether nothing of the command is left to watch. Does not wait.
    pub fn over(&mut self) -> bool {
        if !self.ended {
            return false;
        }
        let mut buffer = [0; 256];
        while !self.gone {
            match self.stream.try_read(&mut buffer) {
                Ok(0) => self.gone = true,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.gone = true,
            }
        }
        if self.gone && self.left && !self.dir.join(LEFT_FILE).exists() {
            // it says nothing more, but it may be about to end them
            if self.keeper_lives() {
                return false;
            }
            end_rest(&self.dir);
        }
        self.left &= !self.gone;
        self.gone
    }

    fn keeper_lives(&self) -> bool {
        match &self.keeper {
            // not reaped, so the number is its own
            Keeper::Child(child) => {
                child.id().is_some_and(|pid| tree::seen(pid as i32).is_some_and(|seen| !seen.ended()))
            }
            Keeper::Found(keeper) => adopt::lives(keeper),
        }
    }

    /// The keeper is gone before it told the end: what it watched is ended here. Cancel safe.
    async fn lose(&mut self) -> (Record, Kept) {
        let (dir, process, truncation) = (self.dir.clone(), self.process.clone(), self.truncation);
        let finding = self.lost.get_or_insert_with(|| {
            tokio::task::spawn_blocking(move || {
                let living = end_rest(&dir);
                let (mut record, kept) = found(&dir, &process, truncation);
                match record.end {
                    End::Lost => record.survivors = living,
                    End::Exited { .. } | End::Signalled { .. } | End::Killed { .. } | End::Ended => {
                        record.left = living
                    }
                }
                (record, kept)
            })
        });
        match finding.await {
            Ok(end) => end,
            Err(_) => found(&self.dir, &self.process, self.truncation),
        }
    }

    /// What becomes of it is told by events; its reply says no more.
    async fn send(&mut self, what: &ToKeeper) -> io::Result<()> {
        self.asked += 1;
        let bytes = request(self.asked, what);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            self.stream.writable().await?;
            match self.stream.try_write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next line; none when the keeper is gone. What is not understood is passed by.
    async fn hear(&mut self) -> Option<FromKeeper> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.incoming[searched..]) {
                let end = searched + at;
                let heard = serde_json::from_slice(&self.incoming[..end]).ok();
                self.incoming.drain(..=end);
                searched = 0;
                if heard.is_some() {
                    return heard;
                }
                continue;
            }
            searched = self.incoming.len();
            if self.gone {
                return None;
            }
            self.incoming.reserve(16 * 1024);
            if self.stream.readable().await.is_err() {
                self.gone = true;
                continue;
            }
            match self.stream.try_read_buf(&mut self.incoming) {
                Ok(0) => self.gone = true,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => self.gone = true,
            }
        }
    }

    fn kept(&self, record: &Record, head: &str, tail: &str, lines_kept: u64) -> Kept {
        if self.truncation == Truncation::Off {
            return spooled(&self.dir, self.truncation);
        }
        Kept {
            head: STANDARD.decode(head).unwrap_or_default(),
            tail: STANDARD.decode(tail).unwrap_or_default(),
            kept: record.kept,
            dropped: record.dropped,
            lines_kept,
            lines: record.lines,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // what a keeper still watches it ends itself, as soon as we are gone
        if !self.over() && !self.ended && !self.keeper_lives() {
            end_rest(&self.dir);
        }
    }
}
