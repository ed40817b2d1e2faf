//! A rewind, step by step: the turn ends, the files are looked at, the head moves, the jobs that were started since
//! end, the files are put back, and what came of it is told. The taking back of a restoring goes the same way without
//! turn, head and jobs.
//!
//! While one is under way, what would change the conversation waits for its end. Which jobs end is `law::jobs`',
//! which files are put back `law::rewind`'s; the files themselves are `restore`'s.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use crate::api::command::{Command, JobAsk};
use crate::api::entry::{EntryBody, Level, Restore, Stayed, Touched};
use crate::api::event::{Event, Reply, RewindPlan, Rewound};
use crate::base::{EntryId, JobId, Millis, chain};
use crate::law::job::By;
use crate::law::jobs::Stopping;
use crate::law::turn::Phase;
use crate::tool::desk::Desk as _;

use super::owner::{Owner, Word};
use super::restore::{Done, Note, Plan, Why};
use super::{clock, images, spawn};

/// How long a rewind waits for the jobs that it ends: the grace of a kill, and what follows it.
const STOP_WAIT: Millis = Millis(3000);
/// Commands that may wait for the end of a rewind.
const HELD_MAX: usize = 64;

/// A rewind, or the taking back of a restoring, that is under way.
pub struct Rewinding {
    why: Why,
    restore: bool,
    take_back: Option<EntryId>,
    stage: Stage,
    note: Option<Note>,
    /// Files that stay, where none is put back.
    stayed: Vec<Stayed>,
    done: Rewound,
}

/// How far it is.
enum Stage {
    /// What runs is ended first.
    Ending,
    /// The files are looked at.
    Planning,
    /// Jobs end.
    Stopping(Stopping),
    /// The files are put back.
    PuttingBack,
}

impl Owner {
    /// Moves the head to an entry of any branch. A turn that runs is ended first.
    pub(super) fn rewind(&mut self, to: Option<EntryId>, restore: bool, take_back: Option<EntryId>) {
        if let Some(id) = &to
            && self.tree.get(id).is_none()
        {
            return self.say(Level::Error, format!("There is no entry {id} in this session."));
        }
        self.rewinding = Some(Rewinding::new(Why::Rewind { to }, restore, take_back));
        if self.works() {
            self.interrupt();
            self.cancel_all();
        }
        self.go_on_rewinding();
    }

    /// Takes the newest restoring back, a taking back too.
    pub(super) fn undo_restore(&mut self) {
        if self.works() {
            let words = "What runs may use these files: interrupt it first, then undo.";
            return self.say(Level::Warning, words.into());
        }
        let newest = self.tree.entries.iter().rev().find_map(|entry| match &entry.body {
            EntryBody::Restore(restore) if !restore.touched.is_empty() => Some(entry.id.clone()),
            _ => None,
        });
        let Some(of) = newest else {
            return self.say(Level::Info, "No files were put back that could be changed again.".into());
        };
        self.rewinding = Some(Rewinding::new(Why::Undo { of }, true, None));
        self.go_on_rewinding();
    }

    /// Whether a turn or a call runs.
    fn works(&self) -> bool {
        self.turn.phase() != Phase::Idle || !self.calls.is_empty() || self.stream.is_some()
    }

    /// A command that must wait for the end of a rewind is kept until then; else it is given back.
    pub(super) fn hold(&mut self, command: Command) -> Option<Command> {
        let waits = matches!(
            command,
            Command::Send { .. }
                | Command::Shell { .. }
                | Command::Rewind { .. }
                | Command::UndoRestore
                | Command::Fork { .. }
                | Command::Retry
                | Command::Compact
                | Command::SetModel(_)
                | Command::SetMode(_)
        );
        if !waits || self.rewinding.is_none() || self.closing.is_some() {
            return Some(command);
        }
        if self.held.len() < HELD_MAX {
            self.held.push_back(command);
        } else {
            self.say(Level::Warning, "A rewind is under way: try again when it is done.".into());
            self.give_back_held(command);
        }
        None
    }

    fn give_back_held(&mut self, command: Command) {
        if let Command::Send { text, images, .. } = command {
            if self.closing.is_some() {
                self.left_over.push(text.clone());
            }
            self.event(Event::TakenBack { text, images });
        }
    }

    /// The session closes: a rewind that has changed nothing yet does not happen, and what waited for it comes back.
    pub(super) fn forgo_rewinding(&mut self) {
        if let Some(Rewinding { stage: Stage::Ending | Stage::Planning, .. }) = &self.rewinding {
            self.rewinding = None;
        }
        for command in std::mem::take(&mut self.held) {
            self.give_back_held(command);
        }
    }

    /// The first step, once nothing runs.
    pub(super) fn go_on_rewinding(&mut self) {
        let Some(Rewinding { stage: Stage::Ending, restore, .. }) = &self.rewinding else { return };
        let restore = *restore;
        if self.works() {
            return;
        }
        if !self.flush() {
            self.rewound();
            return self.say(Level::Error, "Nothing was rewound: the journal cannot be written.".into());
        }
        let touches = self.touches(restore);
        let Some(rewinding) = &mut self.rewinding else { return };
        rewinding.stage = Stage::Planning;
        if touches.is_empty() {
            return self.on_planned(Plan::default());
        }
        let blobs = self.store.blobs();
        spawn::blocking(
            self.words.clone(),
            move || Word::Planned(Box::new(Plan::of(&touches, &blobs))),
            || Word::Planned(Box::default()),
        );
    }

    /// What was touched since the target, or by the restoring that is taken back.
    fn touches(&self, restore: bool) -> Vec<Touched> {
        match self.rewinding.as_ref().map(|rewinding| &rewinding.why) {
            Some(Why::Rewind { to }) if restore => touched_since(self, to.as_ref()),
            Some(Why::Undo { of }) => match self.tree.get(of).map(|entry| &entry.body) {
                Some(EntryBody::Restore(restore)) => on_disk(self, restore.touched.clone()),
                _ => Vec::new(),
            },
            Some(Why::Rewind { .. }) | None => Vec::new(),
        }
    }

    /// The files were looked at: the note is written, the head moves, jobs end.
    pub(super) fn on_planned(&mut self, plan: Plan) {
        let Some(rewinding) = &mut self.rewinding else { return };
        if !matches!(rewinding.stage, Stage::Planning) {
            return;
        }
        let why = rewinding.why.clone();
        let plan = if matches!(why, Why::Undo { .. }) { plan.by_nobody() } else { plan };
        rewinding.stayed = plan.stayed().to_vec();
        if !plan.is_empty() {
            let after = self.tree.entries.last().map(|entry| entry.id.clone());
            let note = Note::new(after, self.head.clone(), why.clone(), plan);
            if let Err(why) = note.write(&self.session_dir) {
                self.rewound();
                let words = format!("Nothing was rewound: what is to be done could not be noted: {why}");
                return self.say(Level::Error, words);
            }
            rewinding.note = Some(note);
        }
        match why {
            Why::Undo { .. } => self.put_back(),
            Why::Rewind { to } => {
                let orphans = self.orphans(to.as_ref());
                let since = to.clone();
                if let Err(why) = self.move_head(to) {
                    Note::remove(&self.session_dir);
                    self.rewound();
                    return self.say(Level::Error, format!("The session could not be rewound: {why}"));
                }
                let agents = self.stop_agents_since(since.as_ref());
                for job in &orphans {
                    self.desk.ask(*job, JobAsk::Kill, By::Rewind);
                }
                if let Some(rewinding) = &mut self.rewinding {
                    rewinding.done.agents = agents;
                    rewinding.stage = Stage::Stopping(Stopping::new(orphans, clock::now(), STOP_WAIT));
                }
                self.rewinding_stopped(None);
            }
        }
    }

    fn move_head(&mut self, to: Option<EntryId>) -> Result<(), String> {
        self.store.move_head(to.as_ref()).map_err(|error| chain(&error))?;
        let path = self.tree.path(to.as_ref());
        // the entry was looked up
        let _ = self.tree.move_head(to.clone());
        self.head = to;
        self.recount(&path);
        self.shared.change(|record| {
            record.path = path;
            record.epoch += 1;
            record.live.parts.clear();
        });
        self.publish_status();
        Ok(())
    }

    /// A job ended, or time passed: what that means for a rewind under way.
    pub(super) fn rewinding_stopped(&mut self, ended: Option<JobId>) {
        let Some(Rewinding { stage: Stage::Stopping(stopping), done, .. }) = &mut self.rewinding else {
            return;
        };
        if let Some(jobs) = stopping.step(ended, clock::now()) {
            (done.stopped, done.stopping) = (jobs.stopped, jobs.stopping);
            self.put_back();
        }
    }

    /// When a rewind goes on at the latest.
    pub(super) fn rewinding_due(&self) -> Option<Instant> {
        let Some(Rewinding { stage: Stage::Stopping(stopping), .. }) = &self.rewinding else { return None };
        let due = stopping.due(clock::now())?;
        Some(Instant::now() + Duration::from_millis(due.0))
    }

    fn put_back(&mut self) {
        let Some(rewinding) = &mut self.rewinding else { return };
        rewinding.stage = Stage::PuttingBack;
        let Some(note) = rewinding.note.clone() else {
            let stayed = std::mem::take(&mut rewinding.stayed);
            return self.on_put_back(Some(Box::new(Done { touched: Vec::new(), stayed })));
        };
        let (blobs, cwd) = (self.store.blobs(), self.site().disk(&self.cwd_real));
        spawn::blocking(
            self.words.clone(),
            move || Word::PutBack(Some(Box::new(note.carry_out(&blobs, &cwd, false)))),
            || Word::PutBack(None),
        );
    }

    /// The last step: it is recorded and told, and what waited goes on.
    pub(super) fn on_put_back(&mut self, done: Option<Box<Done>>) {
        let Some(rewinding) = self.rewinding.take() else { return };
        let Rewinding { why, take_back, done: mut rewound, .. } = rewinding;
        match done {
            Some(done) => {
                let done = done.seen_by(&self.site());
                (rewound.restored, rewound.conflicts) = told(&done);
                self.record_restore(&why, done);
            }
            None => {
                let words =
                    "The restoring of files broke off inside Windlass; the next open goes on with it.";
                self.say(Level::Error, words.into());
            }
        }
        match why {
            Why::Undo { .. } => {
                let words = undone(&rewound.restored, &rewound.conflicts);
                self.say(Level::Info, words);
            }
            Why::Rewind { .. } => {
                self.take_back(take_back.as_ref());
                self.event(Event::Rewound(rewound));
            }
        }
        self.rewound();
    }

    /// The entry that tells of it, which takes the note's place.
    fn record_restore(&mut self, why: &Why, done: Done) {
        let undoes = match why {
            Why::Undo { of } => Some(of.clone()),
            Why::Rewind { .. } => None,
        };
        let Done { touched, stayed } = done;
        if !touched.is_empty() || !stayed.is_empty() && undoes.is_none() {
            self.commit(EntryBody::Restore(Restore { touched, undoes, stayed }));
        }
        if self.unwritten.is_empty() {
            Note::remove(&self.session_dir);
        }
    }

    /// A message that was rewound to before comes back into the composer.
    fn take_back(&mut self, message: Option<&EntryId>) {
        let Some(entry) = message.and_then(|id| self.tree.get(id)).cloned() else { return };
        if let EntryBody::User(message) = &entry.body {
            let mut message = message.clone();
            let blobs = self.store.blobs();
            message.images.iter_mut().for_each(|image| images::load(&blobs, image));
            self.event(Event::TakenBack { text: message.text, images: message.images });
        }
    }

    /// It is over: what waited goes on.
    fn rewound(&mut self) {
        self.rewinding = None;
        let held: VecDeque<Command> = std::mem::take(&mut self.held);
        for command in held {
            self.on_command(command);
        }
    }

    /// A crash came while files were put back: it is finished, and told.
    pub(super) fn finish_restoring(&mut self) {
        let note = match Note::read(&self.session_dir) {
            Ok(None) => return,
            Ok(Some(note)) => note,
            Err(why) => {
                let words = format!(
                    "Files were being put back when the program ended, and {why}. Look at them, then remove it."
                );
                return self.say(Level::Warning, words);
            }
        };
        let since = self.tree.since(note.after.as_ref());
        if since.iter().any(|entry| matches!(entry.body, EntryBody::Restore(_))) {
            return Note::remove(&self.session_dir);
        }
        if let Why::Rewind { to } = &note.why
            && self.head == note.head
            && let Err(why) = self.move_head(to.clone())
        {
            return self.say(Level::Error, format!("A rewind that was cut off could not be finished: {why}"));
        }
        let site = self.site();
        let done = note.carry_out(&self.store.blobs(), &site.disk(&self.cwd_real), true).seen_by(&site);
        let (restored, conflicts) = told(&done);
        self.record_restore(&note.why, done);
        let words = format!(
            "The program ended while files were put back; that is finished now: {}.",
            counted(&restored, "put back", &conflicts)
        );
        self.say(Level::Warning, words);
    }

    /// What a rewind would do; found out beside the loop.
    pub(super) fn rewind_plan(&self, to: Option<EntryId>) -> Box<dyn FnOnce() -> Reply + Send> {
        if let Some(id) = &to
            && self.tree.get(id).is_none()
        {
            let words = format!("There is no entry {id} in this session.");
            return Box::new(move || Reply::Failed(words));
        }
        let (touches, blobs) = (touched_since(self, to.as_ref()), self.store.blobs());
        let (stops, site) = (self.orphans(to.as_ref()), self.site());
        let agents = self.post.orphans(to.as_ref());
        let commands = self
            .tree
            .since(to.as_ref())
            .iter()
            .filter(|entry| matches!(&entry.body, EntryBody::CallStart(start) if start.tool == "bash"))
            .count();
        Box::new(move || {
            let plan = Plan::of(&touches, &blobs);
            let conflicts = plan.stayed().iter().map(|s| (site.seen(&s.path), s.why.clone())).collect();
            let restores = plan.restores().iter().map(|path| site.seen(path)).collect();
            Reply::RewindPlan(RewindPlan { stops, agents, restores, conflicts, commands })
        })
    }
}

impl Rewinding {
    fn new(why: Why, restore: bool, take_back: Option<EntryId>) -> Self {
        let (stage, note, stayed, done) = (Stage::Ending, None, Vec::new(), Rewound::default());
        Self { why, restore, take_back, stage, note, stayed, done }
    }
}

/// The files that tools and restorings touched since an entry was committed, oldest first: where they are on the disk.
fn touched_since(owner: &Owner, to: Option<&EntryId>) -> Vec<Touched> {
    let touched = |body: &EntryBody| match body {
        EntryBody::CallSettle(settle) => settle.touched.clone(),
        EntryBody::Restore(restore) => restore.touched.clone(),
        _ => Vec::new(),
    };
    let all = owner.tree.since(to).iter().flat_map(|entry| touched(&entry.body)).collect();
    on_disk(owner, all)
}

/// Where files are that an agent sees which may work in a copy.
fn on_disk(owner: &Owner, touched: Vec<Touched>) -> Vec<Touched> {
    let site = owner.site();
    touched.into_iter().map(|touched| Touched { path: site.disk(&touched.path), ..touched }).collect()
}

/// Files, and files that stay with the reason.
type Files = (Vec<PathBuf>, Vec<(PathBuf, String)>);

fn told(done: &Done) -> Files {
    let restored = done.touched.iter().map(|touched| touched.path.clone()).collect();
    (restored, done.stayed.iter().map(|stayed| (stayed.path.clone(), stayed.why.clone())).collect())
}

fn counted(restored: &[PathBuf], done: &str, conflicts: &[(PathBuf, String)]) -> String {
    let files = |n: usize| if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
    let mut words = format!("{} {done}", files(restored.len()));
    if let Some((path, why)) = conflicts.first() {
        words.push_str(&format!(", {} stayed ({} {why}", files(conflicts.len()), path.display()));
        words.push_str(if conflicts.len() > 1 { "; …)" } else { ")" });
    }
    words
}

/// What the taking back of a restoring did, in words.
fn undone(restored: &[PathBuf], conflicts: &[(PathBuf, String)]) -> String {
    match restored {
        [] if conflicts.is_empty() => "The files are so already: nothing was changed.".to_owned(),
        [] => format!("Nothing was changed: {}.", counted(restored, "changed again", conflicts)),
        _ => format!("Undone: {}. /undo takes this back.", counted(restored, "changed again", conflicts)),
    }
}
