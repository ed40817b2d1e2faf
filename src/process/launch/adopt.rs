//! Commands of an earlier program are found again: by the keeper's number, start and boot, never by a name and
//! never because time passed.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

use tokio::net::UnixStream;

use super::rest::end_rest;
use super::{Keeper, Running};
use crate::law::output::Truncation;
use crate::process::record::{
    END_FILE, KEEPER_FILE, KeeperRecord, LEFT_FILE, LeftRecord, ProcessId, Record, SOCKET_FILE, read,
};
use crate::process::tree;
use crate::process::wire::{FromKeeper, Role, Standing, ToKeeper, WIRE_VERSION};

/// Whether this very process lives.
pub(in crate::process) fn lives(process: &ProcessId) -> bool {
    tree::seen(process.pid).is_some_and(|seen| seen.id == *process && !seen.ended())
}

/// What is known of a command of an earlier program.
#[derive(Debug)]
pub enum Adopted {
    /// It runs (or what it left behind does): it is watched again from here on, as by who started it.
    Running(Box<Running>, Box<Standing>),
    /// It has ended; what it left behind too, if it left something.
    Ended(Box<Record>, Option<Box<LeftRecord>>),
    /// Its keeper is gone without a record; what lived of it was ended.
    Lost,
}

/// How long a keeper is asked again whose program seems to be there. Who asks has the session, so that program is gone;
/// but a process that it was starting when it went holds its connection for a moment longer.
const TAKEOVER_MAX: Duration = Duration::from_secs(1);
/// The time between two of these.
const TAKEOVER_EVERY: Duration = Duration::from_millis(20);
/// How long a keeper may take to answer a hello: long, for nothing else waits for it.
const HELLO_MAX: Duration = Duration::from_secs(30);

/// Takes over the command of this directory from a program that is gone. Its keeper is known by its number, its
/// start and its boot. An `Err` says why it can be neither watched nor called ended.
pub async fn adopt(dir: &Path, truncation: Truncation) -> Result<Adopted, String> {
    let at = |error: io::Error| format!("{}: {error}", dir.display());
    let keeper = read::<KeeperRecord>(dir, KEEPER_FILE).map_err(at)?;
    let alive = keeper.filter(|record| record.boot == boot() && lives(&record.keeper));
    let mut why = None;
    if let Some(record) = &alive {
        match takeover(dir, &record.keeper, truncation).await {
            Ok((running, standing)) => return Ok(Adopted::Running(Box::new(running), Box::new(standing))),
            // it may have ended at this moment: its record tells
            Err(error) => why = Some(at(error)),
        }
    }
    let ended = read::<Record>(dir, END_FILE).map_err(at)?;
    let left = read::<LeftRecord>(dir, LEFT_FILE).map_err(at)?;
    match (ended, left) {
        (Some(record), left) if record.left.is_empty() || left.is_some() => {
            Ok(Adopted::Ended(Box::new(record), left.map(Box::new)))
        }
        _ if alive.as_ref().is_some_and(|record| lives(&record.keeper)) => {
            Err(why.unwrap_or_else(|| format!("{}: its keeper does not answer", dir.display())))
        }
        (Some(record), _) => {
            end_rest(dir);
            Ok(Adopted::Ended(Box::new(record), None))
        }
        (None, _) => {
            end_rest(dir);
            Ok(Adopted::Lost)
        }
    }
}

/// The boot of this machine.
pub fn boot() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.trim_end().to_owned()
}

/// Opens the socket of a keeper, whatever the length of its path. Blocking, but nothing waits there.
pub fn open_socket(dir: &Path) -> io::Result<std::os::unix::net::UnixStream> {
    let dir = File::open(dir)?;
    std::os::unix::net::UnixStream::connect(format!("/proc/self/fd/{}/{SOCKET_FILE}", dir.as_raw_fd()))
}

/// Connects as the program of a command whose own is gone.
async fn takeover(dir: &Path, keeper: &ProcessId, truncation: Truncation) -> io::Result<(Running, Standing)> {
    let begun = tokio::time::Instant::now();
    loop {
        match connect(dir, keeper, truncation).await {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && begun.elapsed() < TAKEOVER_MAX => {
                tokio::time::sleep(TAKEOVER_EVERY).await;
            }
            answer => return answer,
        }
    }
}

async fn connect(dir: &Path, keeper: &ProcessId, truncation: Truncation) -> io::Result<(Running, Standing)> {
    let stream = open_socket(dir)?;
    stream.set_nonblocking(true)?;
    let mut running = Running {
        stream: UnixStream::from_std(stream)?,
        incoming: Vec::new(),
        asked: 0,
        process: ProcessId { pid: 0, start: 0 },
        dir: dir.to_owned(),
        truncation,
        ended: false,
        gone: false,
        left: false,
        screen: std::sync::Arc::default(),
        lost: None,
        keeper: Keeper::Found(keeper.clone()),
    };
    running.send(&ToKeeper::Hello { version: WIRE_VERSION, role: Role::Program }).await?;
    let answer = async {
        loop {
            match running.hear().await {
                Some(FromKeeper::Standing(standing)) => return Ok(*standing),
                Some(FromKeeper::Refused { why }) => {
                    return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
                }
                Some(_) => {}
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    };
    let standing = tokio::time::timeout(HELLO_MAX, answer).await.map_err(io::Error::from)??;
    running.process = standing.process.clone();
    (running.ended, running.left) = (standing.ended, standing.ended);
    Ok((running, standing))
}
