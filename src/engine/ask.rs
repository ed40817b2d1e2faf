//! A request is built: a stable prefix (instructions, tools, conversation), then what changes.

use std::sync::Arc;
use std::time::Duration;

use crate::api::entry::{EntryBody, Level, Notice};
use crate::api::job::JobRow;
use crate::api::message::{Answer, Ask, Body, Message, ToolSpec};
use crate::law::turn::{AnswerEnd, Event, Phase};
use crate::law::window;
use crate::provider::Control;
use crate::tool::Tool;
use crate::tool::jobs::row_in_words;
use crate::workspace::{git, instructions, prompt};

use super::options::evidence;
use super::owner::{Owner, Word};
use super::stream::{Purpose, Stream};
use super::{clock, spawn};

/// Running jobs that a request names; more are counted.
const JOBS_TOLD_MAX: usize = 20;
/// How long git may take to tell its state.
const GIT_MAX: Duration = Duration::from_secs(1);

impl Owner {
    /// Asks the model for the next answer of the conversation. An event says that it did not come to that.
    pub(super) fn ask(&mut self) -> Option<Event> {
        if self.turn.phase() != Phase::Asking {
            return Some(Event::AnswerEnded(AnswerEnd::Cancelled));
        }
        if !self.writable() {
            self.fail_why = Some("the journal could not be written".into());
            return Some(Event::AnswerEnded(AnswerEnd::Failed { overflow: false }));
        }
        let Some(model) = self.model.clone() else {
            self.fail_why = Some("no model is chosen; choose one with /model".into());
            return Some(Event::AnswerEnded(AnswerEnd::Failed { overflow: false }));
        };
        let used = self.used().unwrap_or(0);
        if window::full(used, model.card.window, self.options.limits.reserve) && !self.turn.compacted() {
            return Some(Event::WindowFull);
        }
        let messages = self.messages_for_model();
        self.heard();
        let ask = self.request(&model.name, messages, specs(&self.tools));
        self.start_stream(Purpose::Talk, ask, &model);
        None
    }

    /// Whether the journal takes what comes; after it did not, a word in it is the trial.
    fn writable(&mut self) -> bool {
        let trial = || {
            EntryBody::Notice(Notice { level: Level::Info, text: "The journal can be written again.".into() })
        };
        self.flush() && (!self.disk_failed || self.try_commit(trial()).is_some())
    }

    /// The conversation as a provider is told it, images loaded.
    pub(super) fn messages_for_model(&self) -> Vec<Message> {
        let mut messages = super::history::messages(&self.shared.read().path);
        let blobs = self.store.blobs();
        for image in super::history::images_mut(&mut messages) {
            super::images::load(&blobs, image);
        }
        messages
    }

    /// A request around these messages.
    pub(super) fn request(&mut self, model: &str, messages: Vec<Message>, tools: Vec<ToolSpec>) -> Ask {
        Ask {
            model: model.to_owned(),
            system: self.system(),
            tools,
            messages,
            volatile: self.volatile(),
            max_output: self.model.as_ref().and_then(|m| m.card.max_output).unwrap_or(0),
            thinking: self.thinking,
        }
    }

    pub(super) fn start_stream(&mut self, purpose: Purpose, ask: Ask, model: &super::ModelInUse) {
        self.control = Control::default();
        if purpose == Purpose::Talk {
            self.shared.change(|record| {
                record.live.number += 1;
                record.live.parts.clear();
            });
        }
        let (stream, sender) = Stream::new(purpose);
        self.stream = Some(stream);
        spawn::task(model.provider.stream(ask, self.control.clone(), sender));
    }

    /// The stable instructions; read once, so that they stay the same for the whole session.
    fn system(&mut self) -> String {
        if self.system.is_empty() {
            let home = std::env::home_dir();
            let view = self.options.held.as_ref().map(|held| held.view());
            let config = self.options.dirs.config();
            let found = instructions::read(&self.cwd, config, home.as_deref(), view.as_ref());
            for note in &found.notes {
                self.say(Level::Warning, note.clone());
            }
            self.system = prompt::system(&self.cwd, &found)
                + &self.options.child.as_ref().map_or_else(String::new, |child| {
                    super::children::as_agent(&child.name, self.options.held.as_deref())
                });
            self.instructions = found;
            self.meter.fixed_bytes = fixed_bytes(&self.system, &self.tools);
        }
        self.system.clone()
    }

    /// What changes from turn to turn.
    pub(super) fn volatile(&self) -> String {
        let date = jiff::ZonedDateTime::now().date().to_string();
        let mode = format!(
            "\n<session>\napproval mode: {}\nconfinement: {}\n</session>",
            self.mode.word(),
            evidence(self.options.held.as_deref())
        );
        prompt::volatile(&date, self.git.as_ref()) + &mode + &self.running_jobs() + &self.agents_told()
    }

    /// The jobs that run, for the model; nothing when none does. Those kept from it are not there.
    fn running_jobs(&self) -> String {
        let (record, now) = (self.shared.read(), clock::now());
        let rows: Vec<&JobRow> =
            record.jobs.iter().map(|(_, row)| row).filter(|row| row.runs() && !row.node.hidden).collect();
        if rows.is_empty() {
            return String::new();
        }
        let lines: Vec<String> = rows.iter().take(JOBS_TOLD_MAX).map(|row| row_in_words(row, now)).collect();
        let more = match rows.len().saturating_sub(JOBS_TOLD_MAX) {
            0 => String::new(),
            more => format!("and {more} more: `jobs` lists them\n"),
        };
        format!("\n<running-jobs>\n{}\n{more}</running-jobs>", lines.join("\n"))
    }

    /// Reads the git state beside the loop.
    pub(super) fn look_at_git(&self) {
        let cwd = self.site().disk(&self.cwd);
        spawn::blocking(self.words.clone(), move || Word::Git(git::state(&cwd, GIT_MAX)), || Word::Nothing);
    }
}

/// The tools as providers are told them.
pub(super) fn specs(tools: &[Arc<dyn Tool>]) -> Vec<ToolSpec> {
    tools.iter().map(|tool| tool.spec()).collect()
}

/// Bytes of instructions and tools.
pub(super) fn fixed_bytes(system: &str, tools: &[Arc<dyn Tool>]) -> u64 {
    let tools: usize =
        specs(tools).iter().map(|s| s.name.len() + s.description.len() + s.schema.to_string().len()).sum();
    (system.len() + tools) as u64
}

/// Bytes of an answer, for an estimate.
pub(super) fn answer_bytes(answer: &Answer) -> u64 {
    answer
        .blocks
        .iter()
        .map(|block| match &block.body {
            Body::Text(text) | Body::Thinking(text) => text.len(),
            Body::Call { name, input, .. } => name.len() + input.to_string().len(),
            Body::Unknown => block.raw.as_ref().map_or(0, |raw| raw.get().len()),
        })
        .sum::<usize>() as u64
}
