//! `windlass jobs`: the jobs of a session from another terminal.
//!
//! The program that has the session open is asked by its control socket, so that what is told here is what its pane
//! shows. Where there is none (or it does not answer, which is said), the record of each job's directory tells, and
//! its keeper while that lives. Only the person who started a job can look or ask (law A: private directories, the
//! peer's user).
//!
//! Not here: attaching (`front::attach`).
//!
//! In reading order: `row` (a job as JSON and as a line), `seen` (the way by the directories), `tail`.

pub mod row;
pub mod seen;
mod tail;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::api::job::{JobOutcome, JobState};
use crate::base::{JobId, SessionId, chain};
use crate::front::control::ask::{Asking, Failed, Reached, reach};
use crate::law::job::{By, End, Stage};
use crate::process::record::Named;
use crate::process::visit::Visit;
use crate::process::wire::{FromKeeper, ToKeeper};
use crate::store::{self, Dirs};

use seen::Seen;

/// Why it was not done, and the exit code.
#[derive(Debug)]
pub struct Refused {
    /// What is wrong and what to do.
    pub why: String,
    /// 1 or 2.
    pub code: u8,
}

pub(in crate::front) fn misuse(why: impl Into<String>) -> Refused {
    Refused { why: why.into(), code: 2 }
}

pub(in crate::front) fn failed(why: impl Into<String>) -> Refused {
    Refused { why: why.into(), code: 1 }
}

/// What the program refused, or that it went.
fn by_program(failure: Failed) -> Refused {
    match failure {
        Failed::Refused(why, code) => Refused { why, code },
        Failed::Away(error) => {
            failed(format!("the program that has the session open does not answer any more: {error}"))
        }
    }
}

/// Where it is told.
pub struct Told<'a> {
    /// What was asked for.
    pub out: &'a mut dyn Write,
    /// What should be known beside it.
    pub beside: &'a mut dyn Write,
}

impl Told<'_> {
    pub(in crate::front) fn line(&mut self, text: &str) -> Result<(), Refused> {
        written(writeln!(self.out, "{text}").and_then(|()| self.out.flush()))
    }
}

/// The session that is named, else the newest of the directory.
pub(in crate::front) fn session(
    dirs: &Dirs,
    named: Option<&str>,
    cwd: Option<&Path>,
) -> Result<SessionId, Refused> {
    if let Some(text) = named {
        return store::find(dirs, text).map_err(|error| misuse(chain(&error)));
    }
    let here = cwd.unwrap_or(Path::new("."));
    let real = std::fs::canonicalize(here)
        .map_err(|error| misuse(format!("the directory {} cannot be used: {error}", here.display())))?;
    store::newest_for(dirs, &real).ok_or_else(|| {
        misuse(format!(
            "{} has no session; name one with --session, or a directory with --cwd",
            real.display()
        ))
    })
}

/// The sessions whose jobs are meant.
pub struct Of {
    sessions: Vec<(SessionId, PathBuf)>,
    places: Vec<PathBuf>,
}

impl Of {
    /// One session: the one that is named, else the newest of the directory. Its program is looked for in `places`.
    pub fn one(
        dirs: &Dirs,
        session: Option<&str>,
        cwd: Option<&Path>,
        places: Vec<PathBuf>,
    ) -> Result<Self, Refused> {
        let id = self::session(dirs, session, cwd)?;
        let dir = dirs.session(&id);
        Ok(Self { sessions: vec![(id, dir)], places })
    }
    /// All sessions.
    pub fn all(dirs: &Dirs, places: Vec<PathBuf>) -> Self {
        let sessions = store::list(dirs, None).into_iter().map(|info| info.id);
        Self { sessions: sessions.map(|id| (id.clone(), dirs.session(&id))).collect(), places }
    }

    /// The program that has this session open, if one has. One that does not answer is told of.
    fn program(&self, session: &SessionId, told: &mut Told<'_>) -> Option<Asking> {
        match reach(&self.places, session) {
            Reached::Program(asking) => Some(asking),
            Reached::Nobody => None,
            Reached::Unclear(why) => {
                // nobody can be told where that is gone
                let _ = writeln!(told.beside, "windlass: {why}; what follows is what the keepers say");
                None
            }
        }
    }

    /// A job as its directory and its keeper tell.
    pub(super) fn seen(&self, job: JobId) -> Result<Seen, Refused> {
        let (session, dir) = self.only()?;
        one(session, dir, job)
    }

    fn only(&self) -> Result<&(SessionId, PathBuf), Refused> {
        self.sessions.first().ok_or_else(|| misuse("there is no session"))
    }
}

/// One job as its directory tells.
fn one(session: &SessionId, dir: &Path, job: JobId) -> Result<Seen, Refused> {
    let there = || seen::all(dir).into_iter().map(|seen| seen.row.node.id);
    seen::look(dir, job).ok_or_else(|| misuse(row::no_job(session, job, there())))
}

/// Prints the jobs; the exit code.
pub fn list(of: &Of, json: bool, told: &mut Told<'_>) -> Result<u8, Refused> {
    let mut none = true;
    for (session, dir) in &of.sessions {
        let rows = match of.program(session, told) {
            Some(mut program) => rows(program.ask("jobs.list", &[], &mut |_| ()).map_err(by_program)?),
            None => {
                let now = store::now();
                seen::all(dir).iter().map(|seen| row::json(session, &seen.row, now)).collect()
            }
        };
        none &= rows.is_empty();
        let mut text = String::new();
        if json {
            text.extend(rows.iter().map(|row| format!("{row}\n")));
        } else {
            if of.sessions.len() > 1 && !rows.is_empty() {
                text = format!("session {session}\n");
            }
            text.push_str(&row::lines(&rows));
        }
        written(told.out.write_all(text.as_bytes()))?;
    }
    if none && !json {
        written(told.out.write_all(b"no jobs\n"))?;
    }
    written(told.out.flush()).map(|()| 0)
}

fn rows(mut reply: Map<String, Value>) -> Vec<Value> {
    match reply.remove("jobs") {
        Some(Value::Array(rows)) => rows,
        _ => Vec::new(),
    }
}

/// A reader that went away (`| head`) is no error.
pub(in crate::front) fn written(result: io::Result<()>) -> Result<(), Refused> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(failed(format!("standard output cannot be written: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints the last lines of a job, and with `follow` what comes until it ends; the exit code.
pub fn tail(of: &Of, job: &str, lines: usize, follow: bool, told: &mut Told<'_>) -> Result<u8, Refused> {
    let id: JobId = job.parse().map_err(misuse)?;
    let (session, dir) = of.only()?;
    let spool = match of.program(session, told) {
        Some(mut program) => {
            let mut reply =
                program.ask("jobs.tail", &[("job", json!(id))], &mut |_| ()).map_err(by_program)?;
            let path = reply.remove("path").unwrap_or_default();
            crate::api::path::deserialize(path)
                .map_err(|error| failed(format!("the program named no file of {id}: {error}")))?
        }
        None => one(session, dir, id)?.row.spool,
    };
    tail::print(&spool, lines, follow, told.out)
}

/// Ends a job and tells how that goes; the exit code.
pub fn kill(of: &Of, job: &str, told: &mut Told<'_>) -> Result<u8, Refused> {
    let id: JobId = job.parse().map_err(misuse)?;
    let (session, dir) = of.only()?;
    match of.program(session, told) {
        Some(program) => kill_by_program(program, id, told),
        None => kill_by_keeper(&one(session, dir, id)?, dir, told),
    }
}

fn kill_by_program(mut program: Asking, id: JobId, told: &mut Told<'_>) -> Result<u8, Refused> {
    let text = |fields: &Map<String, Value>, key: &str| {
        fields.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut lines = Ok(());
    let mut step = |step: &Map<String, Value>| {
        let line = format!("{id}: {}", text(step, "words"));
        lines = std::mem::replace(&mut lines, Ok(())).and_then(|()| told.line(&line));
    };
    let reply = program.ask("jobs.kill", &[("job", json!(id))], &mut step).map_err(by_program)?;
    lines?;
    let row = reply.get("job").and_then(Value::as_object).cloned().unwrap_or_default();
    told.line(&format!("{id}: {}", text(&row, "words")))?;
    let survivors: Vec<String> = row
        .get("survivors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    survived(id, &survivors)
}

/// The exit code, by what could not be ended.
fn survived(id: JobId, survivors: &[String]) -> Result<u8, Refused> {
    if survivors.is_empty() {
        return Ok(0);
    }
    Err(failed(format!("{id}: could not be ended and may still run: {}", survivors.join("; "))))
}

fn kill_by_keeper(seen: &Seen, session_dir: &Path, told: &mut Told<'_>) -> Result<u8, Refused> {
    let id = seen.row.node.id;
    if let JobState::Ended(outcome) = &seen.row.state {
        return Err(failed(format!("{id} has ended already: {}", outcome.words())));
    }
    let away = |error: io::Error| failed(format!("the keeper of {id} does not answer: {error}"));
    let (mut visit, _) = Visit::open(&seen.dir).map_err(away)?;
    visit.say(&ToKeeper::Kill { by: By::User }).map_err(away)?;
    let mut processes = 0;
    loop {
        match visit.hear().map_err(away)? {
            Some(FromKeeper::Stage(stage)) => {
                let (Stage::Asked { processes: so_many } | Stage::Destroyed { processes: so_many }) = stage;
                processes = processes.max(so_many);
                told.line(&format!("{id}: {}", JobState::Ending { by: By::User, stage }.words()))?;
            }
            Some(FromKeeper::Ended { record, .. }) if record.left.is_empty() => {
                return ended(id, record.end, record.gone, &record.survivors, told);
            }
            Some(FromKeeper::Left(left)) => {
                let end = left.by.map_or(End::Ended, |by| End::Killed { by });
                return ended(id, end, processes, &left.survivors, told);
            }
            Some(_) => {}
            None => {
                let seen = seen::look(session_dir, id);
                let Some(JobState::Ended(outcome)) = seen.map(|seen| seen.row.state) else {
                    return Err(failed(format!("the keeper of {id} went without a record")));
                };
                told.line(&format!("{id}: {}", outcome.words()))?;
                return survived(id, &outcome.survivors);
            }
        }
    }
}

/// Tells the end of a job that its keeper told of.
fn ended(id: JobId, end: End, gone: u32, survivors: &[Named], told: &mut Told<'_>) -> Result<u8, Refused> {
    let survivors: Vec<String> = survivors.iter().map(Named::words).collect();
    let words = JobOutcome::words_of(&end, gone, &survivors);
    told.line(&format!("{id}: {words}"))?;
    survived(id, &survivors)
}
