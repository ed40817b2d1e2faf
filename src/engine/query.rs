//! Queries are answered beside the loop: none of them holds it up.

use std::collections::{BTreeSet, HashMap};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::api::account::{ContextPart, Share, Spent};
use crate::api::agent::AgentRow;
use crate::api::command::Query;
use crate::api::entry::{CallStart, Entry, EntryBody};
use crate::api::event::{EarlierPrompt, Reply, ServerInfo};
use crate::api::message::Usage;
use crate::base::chain;
use crate::law::window;
use crate::provider::{catalog, probe};
use crate::store::{self, Dirs};
use crate::workspace::files;

use crate::tool::Tool;
use crate::tool::desk::Desk as _;

use super::account::Running;
use super::owner::{Owner, Word};
use super::{account, spawn};

/// Most files that are offered for `@`.
const FILES_MAX: usize = 50_000;
/// Most bytes of an artifact in one reply.
const PIECE_MAX: u64 = 1 << 20;
/// Sessions whose prompts are remembered.
const PROMPT_SESSIONS: usize = 20;
/// The same, where those of all directories are looked for.
const PROMPT_SESSIONS_OF_ALL: usize = 100;
/// Prompts that are remembered.
const PROMPTS_MAX: usize = 500;

impl Owner {
    /// The files for `@`, found beside the loop.
    fn files(&self) -> Box<dyn FnOnce() -> Reply + Send> {
        let disk = self.site().disk(&self.cwd);
        Box::new(move || Reply::Files(list_files(&disk)))
    }

    pub(super) fn ask_query(&mut self, number: u64, query: Query) {
        let (cwd, dirs) = (self.cwd.clone(), self.options.dirs.clone());
        let models = self.options.models.clone();
        let work: Box<dyn FnOnce() -> Reply + Send> = match query {
            Query::Files => self.files(),
            Query::Sessions { all } => Box::new(move || sessions(&dirs, (!all).then_some(cwd.as_path()))),
            Query::Models => Box::new(move || Reply::Models(models.list())),
            Query::Artifact { path, offset, limit } => {
                let mut dirs = vec![self.session_dir.clone()];
                dirs.extend(self.origins.iter().cloned());
                Box::new(move || piece(&dirs, &path, offset, limit))
            }
            Query::Context => {
                let parts = self.context_parts();
                Box::new(move || Reply::Context(parts))
            }
            Query::Usage => self.usage(),
            Query::Timeline => self.timeline(),
            Query::JobLog { job, offset, limit } => match self.desk.row(job) {
                Some(row) => Box::new(move || super::jobs::log::piece(&row.spool, offset, limit)),
                None => Box::new(move || Reply::Failed(format!("There is no job {job}."))),
            },
            Query::JobSearch { job, text, from, back } => match self.desk.row(job) {
                Some(row) => Box::new(move || super::jobs::log::search(&row.spool, &text, from, back)),
                None => Box::new(move || Reply::Failed(format!("There is no job {job}."))),
            },
            Query::Tree => self.tree_rows(),
            Query::RewindPlan { to } => self.rewind_plan(to),
            Query::HandBack(ask) => return self.ask_hand_back(number, ask),
            Query::Servers => {
                spawn::telling(self.words.clone(), async move {
                    let found = probe::probe(&probe::USUAL).await;
                    for server in &found {
                        models.found(&server.endpoint, &server.models);
                    }
                    Word::Replied(number, Reply::Servers(found.into_iter().map(server).collect()))
                });
                return;
            }
            Query::Commands => {
                let commands = self.options.commands.clone();
                Box::new(move || Reply::Commands(commands))
            }
            Query::PromptsOfAll => Box::new(move || prompts_of(&dirs, None)),
            Query::Prompts => Box::new(move || prompts_of(&dirs, Some(&cwd))),
            Query::Export(path) => {
                let to = cwd.join(path);
                let id = self.session_id.clone();
                Box::new(move || export(&dirs, &id, &to))
            }
            Query::Rename { session, title } => {
                Box::new(move || match store::rename(&dirs, &session, &title) {
                    Ok(()) => Reply::Done(format!("the session is called {title} now")),
                    Err(e) => Reply::Failed(format!("It was not renamed: {}", chain(&e))),
                })
            }
            Query::StoreKey { provider, key } => {
                Box::new(move || match models.store_key(&provider, &key.0) {
                    Ok(place) => Reply::Done(place),
                    Err(why) => Reply::Failed(why),
                })
            }
        };
        spawn::blocking(
            self.words.clone(),
            move || Word::Replied(number, work()),
            move || Word::Replied(number, Reply::Failed("The query failed inside Windlass.".into())),
        );
    }

    fn tree_rows(&self) -> Box<dyn FnOnce() -> Reply + Send> {
        let (entries, head, title) = (self.tree.entries.clone(), self.head.clone(), self.titles());
        Box::new(move || Reply::Tree(super::branches::rows(&entries, head.as_ref(), &title)))
    }

    /// What a call does, in a line.
    fn titles(&self) -> impl Fn(&CallStart) -> String + Send + use<> {
        let tools: HashMap<&str, Arc<dyn Tool>> =
            self.tools.iter().map(|tool| (tool.spec().name, Arc::clone(tool))).collect();
        move |start: &CallStart| {
            tools.get(start.tool.as_str()).map(|tool| tool.title(&start.input)).unwrap_or_default()
        }
    }

    /// What was spent on all branches, with the agents that run.
    fn usage(&mut self) -> Box<dyn FnOnce() -> Reply + Send> {
        let entries = self.tree.entries.clone();
        let models: BTreeSet<&str> = entries.iter().filter_map(|entry| model(entry)).collect();
        for model in models {
            self.price(model);
        }
        let prices = self.meter.prices.clone();
        let spent = |row: &AgentRow| Spent { answers: 0, usage: row.usage, cost: row.cost };
        let record = self.shared.read();
        let rows = record.agents.iter().filter(|(path, row)| row.runs() && !path.contains('/'));
        let running: Vec<Running> = rows
            .map(|(path, row)| Running {
                path: path.clone(),
                session: row.node.session.clone(),
                spent: spent(row),
            })
            .collect();
        drop(record);
        Box::new(move || {
            let price = |model: &str, usage: &Usage| Some(catalog::cost(&(*prices.get(model)?)?, usage));
            Reply::Usage(account::usage(&entries, &price, running))
        })
    }

    /// What ran when on the branch at hand.
    fn timeline(&self) -> Box<dyn FnOnce() -> Reply + Send> {
        let (path, running) = {
            let record = self.shared.read();
            let running: Vec<_> = record.calls.iter().map(|(call, of)| (call.clone(), of.clone())).collect();
            (record.path.clone(), running)
        };
        let (title, now) = (self.titles(), super::clock::now());
        Box::new(move || Reply::Timeline(account::timeline(&path, &running, &title, now)))
    }

    fn context_parts(&self) -> Vec<ContextPart> {
        let mut parts = Vec::new();
        let mut part = |share, name: &str, bytes: usize, note: String| {
            parts.push(ContextPart {
                share,
                name: name.into(),
                tokens: window::estimate(bytes as u64),
                note,
            });
        };
        let own: usize = self.instructions.parts.iter().map(|part| part.text.len()).sum();
        let system = self.system.len().max(crate::workspace::prompt::SYSTEM.len() + own);
        part(Share::Instructions, "instructions", system - own, "of Windlass".into());
        for own in &self.instructions.parts {
            let name = own.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            part(Share::Instructions, &name, own.text.len(), own.path.display().to_string());
        }
        let mut tools: Vec<(usize, &str)> = super::ask::specs(&self.tools)
            .iter()
            .map(|s| (s.name.len() + s.description.len() + s.schema.to_string().len(), s.name))
            .collect();
        tools.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        let large: Vec<&str> = tools.iter().take(3).map(|(_, name)| *name).collect();
        let note = format!("{}, the largest {}", tools.len(), large.join(", "));
        part(Share::Tools, "tools", tools.iter().map(|(bytes, _)| bytes).sum(), note);
        part(Share::Rest, "this moment", self.volatile().len(), "date, git, mode, what runs".into());
        let record = self.shared.read();
        let (summary, entries) = super::history::visible(&record.path);
        parts.extend(account::messages(&entries, summary.map_or(0, |summary| summary.summary.len() as u64)));
        drop(record);
        if let Some(used) = self.used() {
            account::agree(&mut parts, used);
        }
        parts
    }
}

/// The model of an answer that tells what it used.
fn model(entry: &Arc<Entry>) -> Option<&str> {
    match &entry.body {
        EntryBody::Answer(answer) if answer.usage.is_some() => Some(&answer.model),
        _ => None,
    }
}

/// A server that answered, for the screen.
fn server(found: probe::Found) -> ServerInfo {
    ServerInfo { kind: found.endpoint.name, base_url: found.endpoint.base_url, models: found.models }
}

fn list_files(cwd: &Path) -> Vec<String> {
    files::list(cwd, FILES_MAX, &AtomicBool::new(false)).paths
}

/// A piece of a file that lies in the session's own directory, or where it was forked from.
fn piece(dirs: &[PathBuf], path: &Path, offset: u64, limit: u64) -> Reply {
    let dirs: Vec<PathBuf> = dirs.iter().filter_map(|dir| dir.canonicalize().ok()).collect();
    let inside = path.canonicalize().ok().filter(|path| dirs.iter().any(|dir| path.starts_with(dir)));
    let Some(path) = inside else {
        return Reply::Failed(format!("{} is no artifact of this session, or it is gone.", path.display()));
    };
    let read = || -> std::io::Result<(Vec<u8>, u64)> {
        let mut file = std::fs::File::open(&path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(limit.min(PIECE_MAX)).read_to_end(&mut bytes)?;
        Ok((bytes, size))
    };
    match read() {
        Ok((bytes, size)) => Reply::Artifact { text: String::from_utf8_lossy(&bytes).into_owned(), size },
        Err(error) => Reply::Failed(format!("{} could not be read: {error}", path.display())),
    }
}

/// The sessions of a directory, or of all.
fn sessions(dirs: &Dirs, cwd: Option<&Path>) -> Reply {
    Reply::Sessions(store::list(dirs, cwd))
}

/// Earlier prompts of a directory, or of all.
fn prompts_of(dirs: &Dirs, cwd: Option<&Path>) -> Reply {
    match cwd {
        Some(_) => {
            let found = prompts(dirs, cwd, PROMPT_SESSIONS);
            Reply::Prompts(found.into_iter().map(|prompt| prompt.text).collect())
        }
        None => Reply::PromptsOfAll(prompts(dirs, None, PROMPT_SESSIONS_OF_ALL)),
    }
}

/// The person's earlier prompts in the newest of so many sessions, newest first, each once.
fn prompts(dirs: &Dirs, cwd: Option<&Path>, sessions: usize) -> Vec<EarlierPrompt> {
    let mut found: Vec<EarlierPrompt> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for info in store::list(dirs, cwd).into_iter().take(sessions) {
        let Ok(opened) = store::view(dirs, &info.id) else { continue };
        for entry in opened.tree.entries.iter().rev() {
            if let EntryBody::User(message) = &entry.body
                && found.len() < PROMPTS_MAX
                && seen.insert(message.text.clone())
            {
                found.push(EarlierPrompt { text: message.text.clone(), cwd: info.cwd.clone() });
            }
        }
    }
    found
}

fn export(dirs: &Dirs, id: &crate::base::SessionId, to: &Path) -> Reply {
    let opened = match store::view(dirs, id) {
        Ok(opened) => opened,
        Err(error) => return Reply::Failed(crate::base::chain(&error)),
    };
    // A file of the person's is never overwritten.
    let written = std::fs::File::create_new(to)
        .and_then(|mut file| file.write_all(store::markdown(&opened).as_bytes()));
    match written {
        Ok(()) => Reply::Done(to.display().to_string()),
        Err(error) => {
            Reply::Failed(format!("{} could not be written: {error}. Choose another name.", to.display()))
        }
    }
}
