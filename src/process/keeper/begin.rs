//! How a keeper begins: it cuts itself off, writes down who it is, and starts the command.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{getpid, setsid};

use super::intake::Intake;
use super::socket::Socket;
use super::whole::Whole;
use crate::base::Millis;
use crate::process::cgroup::Group;
use crate::process::inside::Entry;
use crate::process::pre_exec::{Before, Born, spawn_into};
use crate::process::record::{KEEPER_FILE, KeeperRecord, ProcessId, RECORD_VERSION, write_whole};
use crate::process::tree;
use crate::process::wire::{FromKeeper, LaunchLine, WIRE_VERSION};

/// A session of its own, all descendants below it, signals as events.
pub fn prepare() -> io::Result<SignalFd> {
    // fails only when it leads one already
    let _ = setsid();
    prctl::set_child_subreaper(true)?;
    let _ = prctl::set_name(c"windlass-keeper");
    // no directory of the person is held busy
    let _ = std::env::set_current_dir("/");
    let mut mask = SigSet::empty();
    for signal in [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT] {
        mask.add(signal);
    }
    mask.thread_block()?;
    Ok(SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?)
}

/// A command that was started.
pub struct Begun {
    /// Its output.
    pub intake: Intake,
    /// Its directory.
    pub dir: PathBuf,
    /// Its own process.
    pub process: ProcessId,
    /// All of its processes.
    pub whole: Whole,
    /// What stands in its file of the keeper.
    pub record: KeeperRecord,
    /// When it began, on a clock that never goes back.
    pub clock: Instant,
}

impl Begun {
    /// Starts it; an error says what could not be started, and why.
    pub fn new(launch: &LaunchLine, socket: &mut Socket) -> Result<Self, String> {
        if launch.version != WIRE_VERSION {
            return Err(format!("the keeper speaks version {WIRE_VERSION}, not {}", launch.version));
        }
        let dir = PathBuf::from(launch.dir.clone());
        let in_dir = |error: io::Error| format!("cannot write to {}: {error}", dir.display());
        let keeper = identity(getpid().as_raw());
        let (mut group, no_group) = match Group::make(&keeper) {
            Ok(group) => (Some(group), None),
            Err(why) => (None, Some(why)),
        };
        let mut record = KeeperRecord {
            version: RECORD_VERSION,
            keeper,
            boot: crate::process::launch::boot(),
            began: wall_clock(),
            kept: launch.kept,
            group: group.as_ref().map(|group| group.record().clone()),
            no_group,
        };
        let begun = write_whole(&dir, KEEPER_FILE, &record).map_err(in_dir).and_then(|()| {
            let (intake, writer) =
                Intake::new(&dir, launch.limits.spool_max, launch.truncation, launch.terminal)
                    .map_err(in_dir)?;
            let command = Wanted::new(launch, writer).map_err(in_dir)?;
            let clock = Instant::now();
            let (pid, not_born) = command.start(group.as_ref())?;
            Ok((intake, clock, identity(pid), not_born))
        });
        let (intake, clock, process, not_born) = match begun {
            Ok(begun) => begun,
            Err(why) => {
                if let Some(group) = &group {
                    group.remove();
                }
                return Err(why);
            }
        };
        if let Some(why) = not_born
            && let Some(group) = group.take()
        {
            group.remove();
            (record.group, record.no_group) = (None, Some(format!("{}: {why}", group.record().kind.words())));
            // it names a group that is not there: who looks for its processes finds none in it
            let _ = write_whole(&dir, KEEPER_FILE, &record);
        }
        socket.send(&FromKeeper::Started { version: WIRE_VERSION, process: process.clone() });
        Ok(Self { intake, dir, process, whole: Whole::new(group), record, clock })
    }
}

/// A command that is to be started.
struct Wanted {
    command: Command,
    program: OsString,
    cwd: PathBuf,
    terminal: bool,
    inside: Option<Entry>,
}

impl Wanted {
    fn new(launch: &LaunchLine, writer: std::os::fd::OwnedFd) -> io::Result<Self> {
        let mut argv = launch.argv.iter().cloned().map(OsString::from);
        let program = argv.next().unwrap_or_default();
        let cwd = PathBuf::from(launch.cwd.clone());
        let stdin = match launch.terminal {
            Some(_) => Stdio::from(writer.try_clone()?),
            None => Stdio::null(),
        };
        let variables = launch.environment.iter().cloned();
        let mut command = Command::new(&program);
        command
            .args(argv)
            .env_clear()
            .envs(variables.map(|(name, value)| (OsString::from(name), OsString::from(value))))
            // a held one goes to its own inside
            .current_dir(if launch.inside.is_some() { Path::new("/") } else { &cwd })
            .stdin(stdin)
            .stderr(Stdio::from(writer.try_clone()?))
            .stdout(Stdio::from(writer));
        let inside = launch.inside.as_ref().map(Entry::take).transpose()?;
        Ok(Self { command, program, cwd, terminal: launch.terminal.is_some(), inside })
    }

    /// Its process, and why it is not in the group, if it is not. The pipe's writing end lives on in it alone.
    fn start(mut self, group: Option<&Group>) -> Result<(i32, Option<io::Error>), String> {
        let failed = |error: io::Error| {
            format!("cannot start {} in {}: {error}", self.program.display(), self.cwd.display())
        };
        let mut not_born = None;
        let entrance = match group {
            Some(group) if group.birthplace().is_none() => match group.entrance() {
                Ok(entrance) => Some(entrance),
                Err(error) => {
                    not_born = Some(error);
                    None
                }
            },
            Some(_) | None => None,
        };
        let enters = entrance.is_some();
        let before =
            Before { keeper: getpid(), terminal: self.terminal, entrance, inside: self.inside.take() };
        before.done_by(&mut self.command);
        if let Some(place) = group.and_then(Group::birthplace) {
            match spawn_into(&mut self.command, place) {
                Born::Yes(pid) => return Ok((pid, None)),
                Born::Failed(error) => return Err(failed(error)),
                Born::NotThere(error) => not_born = Some(error),
            }
        }
        let pid = self.command.spawn().map_err(failed)?.id() as i32;
        if enters && group.is_some_and(|group| !group.holds(pid)) {
            not_born = Some(io::ErrorKind::PermissionDenied.into());
        }
        Ok((pid, not_born))
    }
}

/// A process of ours that has not been reaped, so that its number is its own.
fn identity(pid: i32) -> ProcessId {
    tree::seen(pid).map_or(ProcessId { pid, start: 0 }, |seen| seen.id)
}

/// Milliseconds since the epoch.
pub fn wall_clock() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Millis(since.as_millis() as u64)
}
