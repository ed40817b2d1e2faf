//! The channel ends that the engine and a front end both hold: the shared record with its wake, and
//! the two queues.
//!
//! The record stands behind one lock that is held for moments only, never across an await. A writer
//! changes it and wakes the readers; a reader looks when it likes. So a slow screen slows nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::api::board::Record;
use crate::api::command::Command;
use crate::api::event::Event;

/// Commands that may wait for the owner loop.
pub const COMMANDS_MAX: usize = 256;
/// Events that may wait for a front end.
pub const EVENTS_MAX: usize = 1024;

/// Wakes a front end. Called often: it must be cheap, must not block and should coalesce.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The record, shared.
#[derive(Clone)]
pub struct Shared {
    record: Arc<Mutex<Record>>,
    wake: Wake,
}

impl Shared {
    /// Shares a record; `wake` is called after every change.
    pub fn new(record: Record, wake: Wake) -> Self {
        Self { record: Arc::new(Mutex::new(record)), wake }
    }
    /// Whether both are the same record, not one in the place of the other.
    pub fn same(&self, other: &Shared) -> bool {
        Arc::ptr_eq(&self.record, &other.record)
    }
    /// What is called after every change.
    pub fn wake(&self) -> Wake {
        Arc::clone(&self.wake)
    }
    /// Reads one moment of the record. Hold the guard for moments only.
    pub fn read(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Changes the record, counts the change and wakes the readers.
    pub fn change<T>(&self, change: impl FnOnce(&mut Record) -> T) -> T {
        let out = {
            let mut record = self.read();
            record.revision += 1;
            change(&mut record)
        };
        (self.wake)();
        out
    }
}

/// The record of an agent's run.
#[derive(Clone)]
pub struct AgentRecord {
    /// It.
    pub shared: Shared,
    /// Entries that were in it when it could be read first: they are of earlier runs.
    pub began: usize,
}

/// The records of a session's subagents, by their paths: each is a session of its own.
#[derive(Clone, Default)]
pub struct AgentRecords(Arc<Mutex<BTreeMap<String, Result<AgentRecord, String>>>>);

impl AgentRecords {
    /// The record of one; none: it is not here (yet), or it was never looked at (`AgentAsk::Look`).
    pub fn get(&self, path: &str) -> Option<Shared> {
        self.all_of().get(path)?.as_ref().ok().map(|record| record.shared.clone())
    }
    /// Why that of one cannot be read; none: it can, or nobody looked at it.
    pub fn why_not(&self, path: &str) -> Option<String> {
        self.all_of().get(path)?.as_ref().err().cloned()
    }
    /// Those that are here, by path.
    pub fn all(&self) -> Vec<(String, AgentRecord)> {
        let here = |(path, record): (&String, &Result<AgentRecord, String>)| {
            Some((path.clone(), record.as_ref().ok()?.clone()))
        };
        self.all_of().iter().filter_map(here).collect()
    }
    /// Lets the record of one be read, in the place of an earlier one.
    pub fn put(&self, path: String, shared: Shared) {
        let began = shared.read().path.len();
        self.all_of().insert(path, Ok(AgentRecord { shared, began }));
    }
    /// The record of one cannot be read: why.
    pub fn refuse(&self, path: String, why: String) {
        self.all_of().insert(path, Err(why));
    }
    fn all_of(&self) -> MutexGuard<'_, BTreeMap<String, Result<AgentRecord, String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a front end holds of a session.
pub struct Front {
    /// Commands to the owner loop. `try_send` never waits.
    pub commands: mpsc::Sender<Command>,
    /// Events from it.
    pub events: mpsc::Receiver<Event>,
    /// The record.
    pub shared: Shared,
    /// The records of its subagents.
    pub agents: AgentRecords,
}

/// What a look at the events brought.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// The next event.
    Event(Box<Event>),
    /// None now.
    Nothing,
    /// The session's owner loop is gone; none will come.
    Gone,
}

impl Front {
    /// Gives the session a command; never waits. The command comes back when it could not be given.
    pub fn send(&self, command: Command) -> Result<(), Box<Command>> {
        self.commands.try_send(command).map_err(|error| match error {
            mpsc::error::TrySendError::Full(command) | mpsc::error::TrySendError::Closed(command) => {
                Box::new(command)
            }
        })
    }
    /// The next event, if one waits; never waits itself.
    pub fn next_event(&mut self) -> Next {
        match self.events.try_recv() {
            Ok(event) => Next::Event(Box::new(event)),
            Err(mpsc::error::TryRecvError::Empty) => Next::Nothing,
            Err(mpsc::error::TryRecvError::Disconnected) => Next::Gone,
        }
    }
}

/// Waits at most so many milliseconds (the end of a child cuts it short); whether the program was told to end.
pub type Leave<'a> = &'a mut dyn FnMut(u32) -> bool;

/// What a screen asks of the program around it: things that need the whole terminal or other
/// processes. Every function may block; the screen has left the terminal before it calls.
pub trait Host {
    /// Opens the text in the person's `$VISUAL` or `$EDITOR`; the changed text, or why not. Once `leave` says
    /// so, the editor is ended.
    fn edit_text(&mut self, text: &str, leave: Leave<'_>) -> Result<String, String>;
    /// Opens bytes in the person's editor as a file of this name, so that it knows what they are; the changed ones,
    /// or why not; `leave` as above.
    fn edit_bytes(&mut self, name: &str, bytes: &[u8], leave: Leave<'_>) -> Result<Vec<u8>, String>;
    /// Shows the text in `$PAGER`; `leave` as above.
    fn page_text(&mut self, text: &str, leave: Leave<'_>) -> Result<(), String>;
    /// Stops the program until it is continued (`^Z`).
    fn suspend(&mut self);
    /// Keeps a dump (the ring of messages) in the state directory; the file, or why not.
    fn keep_dump(&mut self, text: &str) -> Result<String, String>;
    /// Keeps the theme of this name in the person's settings; the file, or why not.
    fn keep_theme(&mut self, _name: &str) -> Result<String, String> {
        Err("nothing is kept here".into())
    }
    /// Tells of something on the desktop. The screen has not left the terminal: it must not wait, and nothing
    /// may write there. Why not, if it cannot.
    fn notify(&mut self, text: &str) -> Result<(), String>;
    /// Reads an image for the composer: from the clipboard, or from a file; the image, or why not.
    fn read_image(&mut self, path: Option<&str>) -> Result<crate::api::message::Image, String>;
}
