//! The lease of a session: a locked file, held for as long as the session is open.
//!
//! The system frees the lock when its holder is gone, by whatever way; a name in the file says to people who
//! holds it. Time plays no part. The decision is `law::lease`'s. Keeps `lease_reclaims_only_the_dead` and
//! `lease_refuses_second_holder`.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::Error;
use super::private;
use crate::law::lease::{self, Answer, Event, Holder};

/// The lease's name in the session's directory.
pub const LEASE: &str = "lease";
/// Most bytes of a name.
const NAME_MAX: u64 = 4096;
/// How often a lock whose holder is not seen is looked at, and how long after each look.
const LOOKS_MAX: u32 = 25;
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A lease that this program holds. Dropping it gives it back.
#[derive(Debug)]
pub struct Lease {
    file: File,
    path: PathBuf,
}

/// What came of asking for a lease.
#[derive(Debug)]
pub enum Taking {
    /// It is ours. With it, who had it before and did not give it back.
    Ours(Lease, Option<Option<Holder>>),
    /// Another program has it.
    Held(Option<Holder>),
}

impl Lease {
    /// Asks for the lease at this path.
    pub fn take(path: &Path) -> Result<Taking, Error> {
        let file = private::open_or_create(path)?;
        let (locked, text) = look(&file, path)?;
        let named = serde_json::from_str(&text).ok();
        let seen = match (locked, text.is_empty()) {
            (false, _) => lease::Lease::Held(named),
            (true, true) => lease::Lease::Free,
            (true, false) => lease::Lease::Abandoned(named),
        };
        let me = this()?;
        match lease::step(seen, Event::Open(me.clone())).1 {
            Answer::Yours => Self::named(file, path, &me).map(|lease| Taking::Ours(lease, None)),
            Answer::Reclaimed(before) => {
                Self::named(file, path, &me).map(|lease| Taking::Ours(lease, Some(before)))
            }
            Answer::Held(holder) => Ok(Taking::Held(holder)),
            Answer::Nothing => Ok(Taking::Held(None)),
        }
    }

    fn named(file: File, path: &Path, me: &Holder) -> Result<Lease, Error> {
        let lease = Lease { file, path: path.to_owned() };
        let text = serde_json::to_string(me).map_err(Error::Encode)?;
        let write = |mut file: &File| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(text.as_bytes())
        };
        write(&lease.file).map_err(Error::io("write", path))?;
        Ok(lease)
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Lease {
    /// Takes the name out and frees the lock; by itself the lock would last as long as any process that is just
    /// being started from this one. A name that cannot be taken out does no harm.
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// Tries the lock and reads the name. A lock whose named holder is gone, or that names nobody yet, is looked at
/// again for a moment: a process that its holder was just starting shares the lock until it runs its program,
/// and an opener needs a moment to write its name. Only the lock decides, however long that takes.
fn look(file: &File, path: &Path) -> Result<(bool, String), Error> {
    let mut looks = 0;
    loop {
        let locked = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(e)) => return Err(Error::io("lock", path)(e)),
        };
        let text = name(file).map_err(Error::io("read", path))?;
        let alive = || serde_json::from_str(&text).ok().filter(seems_alive).is_some();
        looks += 1;
        if locked || looks >= LOOKS_MAX || alive() {
            return Ok((locked, text));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Whether a holder's process is seen here. One of another boot or host cannot be seen, dead or alive.
fn seems_alive(holder: &Holder) -> bool {
    boot().is_some_and(|boot| boot == holder.boot) && start(holder.pid) == Some(holder.start)
}

fn name(mut file: &File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(NAME_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Who has the lease at this path, as far as its name tells; the lock is not touched, so that looking never
/// makes an opener's try fail. None when nobody is named or the named one is seen to be gone.
pub fn holder(path: &Path) -> Option<Holder> {
    let file = private::open(path).ok()?;
    let holder: Holder = serde_json::from_str(&name(&file).ok()?).ok()?;
    seems_alive(&holder).then_some(holder)
}

/// This program, as a holder.
pub fn this() -> Result<Holder, Error> {
    let pid = std::process::id();
    let missing = |path: &'static str| {
        move || Error::Io { what: "read", path: path.into(), source: std::io::ErrorKind::NotFound.into() }
    };
    let start = start(pid).ok_or_else(missing("/proc/self/stat"))?;
    Ok(Holder { pid, start, boot: boot().ok_or_else(missing(BOOT_ID))? })
}

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

fn boot() -> Option<String> {
    fs::read_to_string(BOOT_ID).ok().map(|text| text.trim().to_owned())
}

/// When a process started, in clock ticks since the boot: the 22nd field of its stat line, counted behind the
/// command's name, which may hold anything.
fn start(pid: u32) -> Option<u64> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}
