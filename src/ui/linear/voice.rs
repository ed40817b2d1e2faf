//! What is new in the record, as lines to be heard. Nothing is said twice; what was committed while an answer
//! streamed is said in its place.

use std::sync::Arc;

use super::prose::Prose;
use crate::api::board::{PartKind, Phase, Record};
use crate::api::entry::{CallSettle, CallStatus, Details, Entry, EntryBody, Level, TurnStatus};
use crate::api::message::{Body, Finish};
use crate::ui::widget::text::{tame, visible};

/// Most lines of an output, or of a diff, that are said unasked.
const LINES_MAX: usize = 12;
/// Entries of an earlier conversation that are said when it is opened.
const EARLIER: usize = 6;

/// What was said.
#[derive(Default)]
pub struct Voice {
    epoch: u64,
    seen: usize,
    opened: bool,
    live: u64,
    streams: Vec<Prose>,
    thinks: bool,
    attempt: u32,
    last: String,
}

impl Voice {
    /// The lines of what is new.
    pub fn hear(&mut self, record: &Record) -> Vec<String> {
        let mut out = Vec::new();
        if record.status.phase == Phase::Opening {
            return out;
        }
        if !self.opened {
            self.opened = true;
            (self.epoch, self.seen) = (record.epoch, record.path.len().saturating_sub(EARLIER));
            if self.seen > 0 {
                out.push(format!("{} earlier entries, then:", self.seen));
            }
            for entry in &record.path[self.seen..] {
                self.entry(entry, true, &mut out);
            }
            self.seen = record.path.len();
        }
        if self.epoch != record.epoch || self.seen > record.path.len() {
            out.push("The conversation goes on from another place now.".to_owned());
            (self.epoch, self.seen) = (record.epoch, record.path.len());
        }
        for entry in &record.path[self.seen..] {
            self.entry(entry, false, &mut out);
        }
        self.seen = record.path.len();
        if self.live != record.live.number {
            (self.live, self.thinks) = (record.live.number, false);
            self.streams.clear();
        }
        let thinks = record.live.parts.iter().any(|part| part.kind == PartKind::Thinking);
        // said before what it thought of, or not at all
        if thinks && !self.thinks && self.streams.is_empty() {
            self.thinks = true;
            out.push("The model thinks.".to_owned());
        }
        let texts = record.live.parts.iter().filter(|part| part.kind == PartKind::Text);
        for (at, part) in texts.enumerate() {
            if self.streams.len() <= at {
                self.streams.push(Prose::default());
            }
            out.extend(self.streams[at].hear(&part.text, false));
        }
        match &record.status.phase {
            Phase::Retrying { attempt, why, .. } if self.attempt != *attempt => {
                self.attempt = *attempt;
                out.push(format!("The request failed: {}. It is tried again by itself.", tame(why)));
            }
            Phase::Retrying { .. } => {}
            _ => self.attempt = 0,
        }
        out
    }

    /// All of the last result.
    pub fn last(&self) -> Vec<String> {
        match self.last.as_str() {
            "" => vec!["No call has a result yet.".to_owned()],
            text => text.lines().map(|line| visible(line).into_owned()).collect(),
        }
    }

    fn entry(&mut self, entry: &Arc<Entry>, earlier: bool, out: &mut Vec<String>) {
        match &entry.body {
            EntryBody::User(message) if earlier => out.extend(lines("You: ", &message.text)),
            // it was typed here: the terminal has it
            EntryBody::User(_) => {}
            EntryBody::Answer(answer) => {
                let mut streams = std::mem::take(&mut self.streams).into_iter();
                for block in &answer.blocks {
                    if let Body::Text(text) = &block.body {
                        out.extend(streams.next().unwrap_or_default().hear(text, true));
                    }
                }
                match &answer.finish {
                    Finish::Truncated(why) => out.push(format!("The answer was cut: {}", tame(why))),
                    Finish::Failed(why) => out.push(format!("The answer failed: {}", tame(why))),
                    Finish::Finished(_) | Finish::Cancelled => {}
                }
            }
            EntryBody::CallStart(start) => {
                let what =
                    ["command", "path", "pattern", "name"].iter().find_map(|key| start.input[*key].as_str());
                out.extend(lines(&format!("Call {}: ", start.tool), what.unwrap_or_default()));
            }
            EntryBody::CallSettle(settle) => self.settle(settle, out),
            EntryBody::Notice(notice) => {
                let level = match notice.level {
                    Level::Info => "Note: ",
                    Level::Warning => "Warning: ",
                    Level::Error => "Error: ",
                };
                out.extend(lines(level, &notice.text));
            }
            EntryBody::Compaction(_) => {
                out.push("Older messages are summarised for the model now.".to_owned())
            }
            EntryBody::TurnEnd(end) => out.push(match end.status {
                TurnStatus::Done => "Done.".to_owned(),
                TurnStatus::Failed => {
                    let why = tame(end.why.as_deref().unwrap_or("no reason was told")).into_owned();
                    format!("The turn failed: {why}. Type /retry to try it again.")
                }
                TurnStatus::Interrupted => "Interrupted.".to_owned(),
            }),
            EntryBody::Setting(setting) => {
                out.extend(setting.model.iter().map(|model| format!("The model is {} now.", tame(model))));
                out.extend(setting.mode.map(|mode| format!("The mode is {} now.", mode.word())));
            }
            EntryBody::JobEnd(end) => {
                out.push(format!("Job {} {}: {}", end.job, end.outcome.words(), tame(&end.command)));
            }
            EntryBody::AgentEnd(end) => {
                out.extend(lines(&format!("Agent {} {}. ", end.node.name, end.end.words()), &end.answer));
                out.extend(end.hand_back.as_ref().map(|back| format!("Handed back: {}.", back.words())));
            }
            EntryBody::Restore(restore) => {
                out.push(format!("{} files were put back.", restore.touched.len()))
            }
            EntryBody::Unknown(_) => {}
        }
    }

    fn settle(&mut self, settle: &CallSettle, out: &mut Vec<String>) {
        let how = match (&settle.details, settle.status) {
            (Details::Command { end, .. }, CallStatus::Error) => format!("Failed: {}.", tame(end)),
            (Details::Command { end, .. }, CallStatus::Ok) => format!("Ended: {}.", tame(end)),
            (Details::Diff { added, removed, .. }, CallStatus::Ok) => {
                let word = if *added == 1 { "line" } else { "lines" };
                format!("Changed: {added} {word} added, {removed} removed.")
            }
            (_, CallStatus::Ok) => "Ended well.".to_owned(),
            (_, CallStatus::Error) => "Failed.".to_owned(),
            (_, CallStatus::Refused) => "Refused.".to_owned(),
            (_, CallStatus::Cancelled) => "Cancelled.".to_owned(),
            (_, CallStatus::Detached) => "It goes on in the background.".to_owned(),
            (_, CallStatus::Interrupted) => "It was cut off by the end of the program.".to_owned(),
        };
        out.push(how);
        let text = match &settle.details {
            Details::Diff { diff, .. } => diff,
            _ => &settle.output,
        };
        text.clone_into(&mut self.last);
        let all: Vec<&str> = text.lines().collect();
        if all.len() > LINES_MAX {
            out.push(format!("The last {LINES_MAX} of {} lines; /last says all of them:", all.len()));
        }
        out.extend(all[all.len().saturating_sub(LINES_MAX)..].iter().map(|line| visible(line).into_owned()));
        out.extend(settle.warnings.iter().map(|warning| format!("Warning: {}", tame(warning))));
    }
}

/// A text in its lines, the first behind a word on it.
fn lines(before: &str, text: &str) -> Vec<String> {
    let mut out: Vec<String> = text.lines().map(|line| tame(line).into_owned()).collect();
    match out.first_mut() {
        Some(first) => first.insert_str(0, before),
        None => out.push(before.trim_end().trim_end_matches(':').to_owned()),
    }
    out
}
