//! `windlass jobs`: the jobs of a session from another terminal, whether a program has the session open or not.
//!
//! What is told comes from where it is true: the record of each job's directory, and its keeper while that
//! lives. So it cannot disagree with the program, which reads the same; what a person dismissed there is still
//! listed here. Only the person who started a job can look or ask (law A: private directories, the peer's uid).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::api::job::{JobNode, Starter};
use crate::base::{JobId, Millis, SessionId, chain};
use crate::law::job::{By, End, Stage};
use crate::process::record::{
    END_FILE, KeeperRecord, LEFT_FILE, LEFT_OUTPUT_FILE, LeftRecord, Named, OUTPUT_FILE, Record, read,
};
use crate::process::visit::{Visit, kept_alive};
use crate::process::wire::{FromKeeper, ToKeeper};
use crate::store::codec::stamp;
use crate::store::{self, Dirs};

/// The files in which a job's node stands: of a command, and of what one left behind.
pub const NODE_FILES: [&str; 2] = ["job.json", "left_job.json"];
/// How often a followed file is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// Why it was not done, and the exit code.
#[derive(Debug)]
pub struct Refused {
    /// What is wrong and what to do.
    pub why: String,
    /// 1 or 2.
    pub code: u8,
}

fn misuse(why: impl Into<String>) -> Refused {
    Refused { why: why.into(), code: 2 }
}

fn failed(why: impl Into<String>) -> Refused {
    Refused { why: why.into(), code: 1 }
}

/// The sessions whose jobs are meant.
pub struct Of {
    sessions: Vec<(SessionId, PathBuf)>,
}

impl Of {
    /// One session: the one that is named, else the newest of the directory.
    pub fn one(dirs: &Dirs, session: Option<&str>, cwd: Option<&Path>) -> Result<Self, Refused> {
        let id = match session {
            Some(text) => store::find(dirs, text).map_err(|error| misuse(chain(&error)))?,
            None => {
                let here = cwd.unwrap_or(Path::new("."));
                let real = std::fs::canonicalize(here).map_err(|error| {
                    misuse(format!("the directory {} cannot be used: {error}", here.display()))
                })?;
                store::newest_for(dirs, &real).ok_or_else(|| {
                    misuse(format!(
                        "{} has no session; name one with --session, or a directory with --cwd",
                        real.display()
                    ))
                })?
            }
        };
        let dir = dirs.session(&id);
        Ok(Self { sessions: vec![(id, dir)] })
    }
    /// All sessions.
    pub fn all(dirs: &Dirs) -> Self {
        let sessions = store::list(dirs, None).into_iter().map(|info| info.id);
        Self { sessions: sessions.map(|id| (id.clone(), dirs.session(&id))).collect() }
    }
}

/// A job, as its directory tells of it.
struct Seen {
    session: SessionId,
    node: JobNode,
    dir: PathBuf,
    kept: bool,
    pid: i32,
    /// None while it runs.
    end: Option<Ended>,
    bytes: u64,
}

struct Ended {
    end: End,
    exit_code: Option<i32>,
    exit_signal: Option<i32>,
    at: Option<Millis>,
    survivors: Vec<String>,
}

impl Seen {
    fn output(&self) -> PathBuf {
        self.dir.join(if self.node.by == Starter::Left { LEFT_OUTPUT_FILE } else { OUTPUT_FILE })
    }

    fn duration(&self) -> Millis {
        let until = self.end.as_ref().map_or(Some(store::now()), |end| end.at);
        until.unwrap_or(self.node.began).since(self.node.began)
    }

    fn json(&self) -> Value {
        let mut out = Map::new();
        out.insert("session".into(), json!(self.session));
        out.insert("job".into(), json!(self.node.id));
        out.insert("state".into(), if self.end.is_some() { "ended" } else { "running" }.into());
        out.insert("command".into(), self.node.command.clone().into());
        out.insert("pid".into(), self.pid.into());
        out.insert("began".into(), stamp(self.node.began).into());
        out.insert("duration_ms".into(), self.duration().0.into());
        if let Some(end) = &self.end {
            out.insert("cause".into(), end.end.cause().into());
            if let Some(code) = end.exit_code {
                out.insert("exit_code".into(), code.into());
            }
            if let Some(signal) = end.exit_signal {
                out.insert("signal".into(), signal.into());
            }
            if !end.survivors.is_empty() {
                out.insert("survivors".into(), json!(end.survivors));
            }
        }
        out.insert("bytes".into(), self.bytes.into());
        out.insert("kept".into(), self.kept.into());
        out.insert("left".into(), (self.node.by == Starter::Left).into());
        Value::Object(out)
    }

    fn line(&self) -> String {
        let state = match &self.end {
            None if self.kept => "running, kept".to_owned(),
            None => "running".to_owned(),
            Some(end) => end.end.words(),
        };
        let seconds = self.duration().0 / 1000;
        let command: String =
            self.node.command.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!(
            "{:<5} {state:<16} {:>4}:{:02}  {command}\n",
            self.node.id.to_string(),
            seconds / 60,
            seconds % 60
        )
    }
}

/// All jobs of a session, by number.
fn jobs(session: &SessionId, dir: &Path) -> Vec<Seen> {
    let Ok(names) = std::fs::read_dir(dir.join(store::session::JOBS)) else { return Vec::new() };
    let mut ids: Vec<JobId> =
        names.flatten().filter_map(|name| name.file_name().to_str()?.parse().ok()).collect();
    ids.sort_unstable();
    ids.into_iter().filter_map(|job| look(session, dir, job)).collect()
}

fn look(session: &SessionId, session_dir: &Path, job: JobId) -> Option<Seen> {
    let dir = session_dir.join(store::session::JOBS).join(job.to_string());
    let of = |name: &&str| read::<JobNode>(&dir, name).ok().flatten().filter(|node| node.id == job);
    let node = NODE_FILES.iter().find_map(of)?;
    // looked at before the records: one that ends meanwhile has its record then
    let alive = kept_alive(&dir);
    let keeper = read::<KeeperRecord>(&dir, crate::process::record::KEEPER_FILE).ok().flatten();
    let record = read::<Record>(&dir, END_FILE).ok().flatten();
    let left = read::<LeftRecord>(&dir, LEFT_FILE).ok().flatten();
    let lost = Ended { end: End::Lost, exit_code: None, exit_signal: None, at: None, survivors: Vec::new() };
    let end = match (node.by, &record, left) {
        (Starter::Left, _, Some(left)) => Some(Ended {
            end: left.by.map_or(End::Ended, |by| End::Killed { by }),
            at: Some(left.ended),
            survivors: left.survivors.iter().map(Named::words).collect(),
            ..lost
        }),
        (Starter::Model | Starter::Person, Some(record), _) => Some(Ended {
            end: record.end.clone(),
            exit_code: record.exit_code,
            exit_signal: record.exit_signal,
            at: Some(record.ended),
            survivors: record.survivors.iter().map(Named::words).collect(),
        }),
        (Starter::Left, _, None) | (Starter::Model | Starter::Person, None, _) if alive => None,
        (Starter::Left, _, None) | (Starter::Model | Starter::Person, None, _) => Some(lost),
    };
    let mut seen = Seen {
        session: session.clone(),
        node,
        kept: end.is_none() && keeper.is_some_and(|keeper| keeper.kept),
        pid: record.map_or(0, |record| record.process.pid),
        dir,
        end,
        bytes: 0,
    };
    seen.bytes = std::fs::metadata(seen.output()).map_or(0, |meta| meta.len());
    if seen.end.is_none()
        && let Ok((_, standing)) = Visit::open(&seen.dir)
    {
        (seen.pid, seen.kept) = (standing.process.pid, standing.kept);
    }
    Some(seen)
}

fn one(of: &Of, job: &str) -> Result<Seen, Refused> {
    let id: JobId = job.parse().map_err(misuse)?;
    let Some((session, dir)) = of.sessions.first() else { return Err(misuse("there is no session")) };
    look(session, dir, id).ok_or_else(|| {
        let names: Vec<String> = jobs(session, dir).iter().map(|seen| seen.node.id.to_string()).collect();
        let has = if names.is_empty() { "no jobs".to_owned() } else { names.join(", ") };
        misuse(format!("the session {session} has no job {id}; it has {has}"))
    })
}

/// Prints the jobs; the exit code.
pub fn list(of: &Of, json: bool, out: &mut dyn Write) -> Result<u8, Refused> {
    let mut none = true;
    for (session, dir) in &of.sessions {
        for seen in jobs(session, dir) {
            none = false;
            let line = if json { format!("{}\n", seen.json()) } else { seen.line() };
            written(out.write_all(line.as_bytes()))?;
        }
    }
    if none && !json {
        written(out.write_all(b"no jobs\n"))?;
    }
    written(out.flush()).map(|()| 0)
}

/// A reader that went away (`| head`) is no error.
fn written(result: io::Result<()>) -> Result<(), Refused> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(failed(format!("standard output cannot be written: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints the last lines of a job, and with `follow` what comes until it ends; the exit code.
pub fn tail(of: &Of, job: &str, lines: usize, follow: bool, out: &mut dyn Write) -> Result<u8, Refused> {
    let seen = one(of, job)?;
    let path = seen.output();
    let unreadable = |error: io::Error| failed(format!("{} cannot be read: {error}", path.display()));
    let mut file = loop {
        match File::open(&path) {
            Ok(file) => break file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !follow || over(&seen) {
                    return Ok(0);
                }
                std::thread::sleep(LOOK);
            }
            Err(error) => return Err(unreadable(error)),
        }
    };
    let from = last_lines(&mut file, lines).map_err(unreadable)?;
    file.seek(SeekFrom::Start(from)).map_err(unreadable)?;
    let mut buffer = vec![0; PIECE];
    loop {
        // asked first: what it wrote before its end is read then
        let over = !follow || over(&seen);
        loop {
            let count = file.read(&mut buffer).map_err(unreadable)?;
            if count == 0 {
                break;
            }
            if let Err(error) = out.write_all(&buffer[..count]).and_then(|()| out.flush()) {
                return written(Err(error)).map(|()| 0);
            }
        }
        if over {
            return Ok(0);
        }
        std::thread::sleep(LOOK);
    }
}

fn over(seen: &Seen) -> bool {
    seen.end.is_some() || !kept_alive(&seen.dir) || {
        let record = if seen.node.by == Starter::Left { LEFT_FILE } else { END_FILE };
        seen.dir.join(record).exists()
    }
}

/// Where the last lines of a file begin.
fn last_lines(file: &mut File, lines: usize) -> io::Result<u64> {
    let size = file.metadata()?.len();
    let (mut from, mut found) = (size, 0);
    let mut buffer = vec![0; PIECE];
    while from > 0 {
        let begin = from.saturating_sub(PIECE as u64);
        let piece = &mut buffer[..(from - begin) as usize];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(piece)?;
        for (at, _) in piece.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            let place = begin + at as u64 + 1;
            if place < size {
                found += 1;
            }
            if found == lines && place < size {
                return Ok(place);
            }
        }
        from = begin;
    }
    Ok(0)
}

/// Ends a job and tells how that goes; the exit code.
pub fn kill(of: &Of, job: &str, out: &mut dyn Write) -> Result<u8, Refused> {
    let seen = one(of, job)?;
    let id = seen.node.id;
    if let Some(end) = &seen.end {
        return Err(failed(format!("{id} has ended already: {}", end.end.words())));
    }
    let away = |error: io::Error| failed(format!("the keeper of {id} does not answer: {error}"));
    let (mut visit, _) = Visit::open(&seen.dir).map_err(away)?;
    visit.say(&ToKeeper::Kill { by: By::User }).map_err(away)?;
    let mut told = |text: String| written(writeln!(out, "{text}").and_then(|()| out.flush()));
    loop {
        let survivors = match visit.hear().map_err(away)? {
            Some(FromKeeper::Stage(Stage::Asked { processes })) => {
                told(format!("{id}: TERM sent to {processes}"))?;
                continue;
            }
            Some(FromKeeper::Stage(Stage::Destroyed { processes })) => {
                told(format!("{id}: KILL sent to {processes}"))?;
                continue;
            }
            Some(FromKeeper::Ended { record, .. }) if record.left.is_empty() => {
                told(format!("{id}: {}, {} processes gone", record.end.words(), record.gone))?;
                record.survivors
            }
            Some(FromKeeper::Left(left)) => {
                told(format!("{id}: gone"))?;
                left.survivors
            }
            Some(_) => continue,
            None => match look(&seen.session, &session_of(&seen), id).and_then(|seen| seen.end) {
                Some(end) => {
                    told(format!("{id}: {}", end.end.words()))?;
                    return Ok(u8::from(!end.survivors.is_empty()));
                }
                None => return Err(failed(format!("the keeper of {id} went without a record"))),
            },
        };
        if survivors.is_empty() {
            return Ok(0);
        }
        let names: Vec<String> = survivors.iter().map(Named::words).collect();
        return Err(failed(format!("{id}: could not be ended and may still run: {}", names.join("; "))));
    }
}

fn session_of(seen: &Seen) -> PathBuf {
    seen.dir.parent().and_then(Path::parent).map_or_else(PathBuf::new, Path::to_owned)
}
