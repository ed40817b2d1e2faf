//! A visitor of a keeper: looks, asks and goes. Blocking; for the command line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::process::open_socket;
use crate::process::record::{KEEPER_FILE, KeeperRecord, read};
use crate::process::wire::{FromKeeper, LINE_MAX, Role, Standing, ToKeeper, WIRE_VERSION, line};

/// How long a keeper may take for a hello.
const HELLO_MAX: Duration = Duration::from_secs(5);

/// A visit.
pub struct Visit {
    stream: BufReader<UnixStream>,
}

impl Visit {
    /// Says hello to the keeper of the command of this directory.
    pub fn open(dir: &Path) -> io::Result<(Self, Standing)> {
        let stream = open_socket(dir)?;
        stream.set_read_timeout(Some(HELLO_MAX))?;
        let mut visit = Self { stream: BufReader::new(stream) };
        visit.say(&ToKeeper::Hello { version: WIRE_VERSION, role: Role::Visitor })?;
        loop {
            match visit.hear()? {
                Some(FromKeeper::Standing(standing)) => {
                    visit.stream.get_ref().set_read_timeout(None)?;
                    return Ok((visit, *standing));
                }
                Some(FromKeeper::Refused { why }) => return Err(io::Error::other(why)),
                Some(_) => {}
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// Asks for something.
    pub fn say(&mut self, what: &ToKeeper) -> io::Result<()> {
        self.stream.get_mut().write_all(&line(what))
    }

    /// What the keeper tells next; none when it is gone. What is not understood is passed by.
    pub fn hear(&mut self) -> io::Result<Option<FromKeeper>> {
        loop {
            let mut bytes = Vec::new();
            let count = self.stream.by_ref().take(LINE_MAX as u64).read_until(b'\n', &mut bytes)?;
            if count == 0 {
                return Ok(None);
            }
            if let Ok(heard) = serde_json::from_slice(&bytes) {
                return Ok(Some(heard));
            }
        }
    }
}

/// Whether the keeper of this directory lives, by its number, start and boot.
pub fn kept_alive(dir: &Path) -> bool {
    let record = read::<KeeperRecord>(dir, KEEPER_FILE).ok().flatten();
    record.is_some_and(|record| record.boot == super::launch::boot() && super::launch::lives(&record.keeper))
}
