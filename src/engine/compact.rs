//! Compaction: older entries are summarised by the model, the newest stay verbatim.

use crate::api::entry::{Compaction, Entry, EntryBody, Level};
use crate::api::message::{Answer, Finish, Message};
use crate::base::EntryId;
use crate::law::turn::Event;
use crate::law::window;
use crate::provider::Failure;

use super::owner::Owner;
use super::stream::Purpose;

/// What the model is asked for a summary.
const PROMPT: &str = include_str!("../../assets/compact.md");

impl Owner {
    /// Asks for a summary. An event says that it did not come to that.
    pub(super) fn compact(&mut self) -> Option<Event> {
        let Some(model) = self.model.clone() else {
            self.say(Level::Warning, "No model is chosen: choose one with /model, then compact.".into());
            return Some(Event::CompactEnded { ok: false });
        };
        let path = self.shared.read().path.clone();
        let sizes: Vec<(u64, bool)> = path.iter().map(|e| (tokens(e), may_begin(e))).collect();
        let mut cut = window::cut(&sizes, self.options.limits.keep_recent);
        // What the person just said is never replaced by a summary, however long it is.
        if let Some(at) = unanswered(&path)
            && cut.is_none_or(|cut| cut > at)
        {
            cut = Some(at);
        }
        let keep_from: Option<EntryId> = cut.map(|at| path[at].id.clone());
        let kept_tokens = cut.map_or(0, |at| sizes[at..].iter().map(|s| s.0).sum());
        let older = cut.unwrap_or(path.len());
        if !path[..older].iter().any(|e| matches!(e.body, EntryBody::User(_) | EntryBody::Answer(_))) {
            // A turn goes on: whether it fits is for the provider to say.
            let in_turn = self.turn_began.is_some();
            if !in_turn {
                self.say(Level::Info, "There is nothing to summarise yet: all of it is recent.".into());
            }
            return Some(Event::CompactEnded { ok: in_turn });
        }
        let mut messages = super::history::messages(&path[..older]);
        messages.push(Message::User { text: PROMPT.trim().to_owned(), images: Vec::new() });
        for message in &mut messages {
            strip_images(message);
        }
        let ask = self.request(&model.name, messages, super::ask::specs(&self.tools));
        let tokens_before = self.used().unwrap_or(0);
        self.start_stream(Purpose::Summary { keep_from, tokens_before, kept_tokens }, ask, &model);
        None
    }

    /// The summary came, or did not. Says whether it stands.
    pub(super) fn summary_ended(
        &mut self,
        answer: Answer,
        failure: Option<Failure>,
        keep_from: Option<EntryId>,
        tokens_before: u64,
        kept_tokens: u64,
    ) -> bool {
        if let Some(usage) = &answer.usage {
            self.meter.usage.add(usage);
            if let Some(cost) = self.model.as_ref().and_then(|m| m.cost(usage)) {
                self.meter.cost += cost;
            }
        }
        let summary = answer.text();
        let why = match (&answer.finish, failure) {
            (Finish::Finished(_), _) if !summary.trim().is_empty() => None,
            (Finish::Finished(_), _) => Some("the model gave no summary".to_owned()),
            (Finish::Cancelled, _) => return false,
            (Finish::Truncated(why) | Finish::Failed(why), failure) => {
                Some(failure.map_or_else(|| why.clone(), |f| f.text))
            }
        };
        if let Some(why) = why {
            self.fail_why = Some(format!("the conversation could not be summarised: {why}"));
            self.say(Level::Error, format!("The conversation could not be summarised: {why}"));
            return false;
        }
        let tokens_after = window::estimate(self.meter.fixed_bytes + summary.len() as u64) + kept_tokens;
        self.commit(EntryBody::Compaction(Compaction { summary, keep_from, tokens_before, tokens_after }));
        true
    }
}

/// An entry's tokens, estimated.
fn tokens(entry: &Entry) -> u64 {
    let bytes = match &entry.body {
        EntryBody::User(message) => message.text.len() as u64,
        EntryBody::Answer(answer) => super::ask::answer_bytes(answer),
        EntryBody::CallSettle(settle) => settle.output.len() as u64,
        EntryBody::Compaction(compaction) => compaction.summary.len() as u64,
        EntryBody::CallStart(_)
        | EntryBody::Notice(_)
        | EntryBody::TurnEnd(_)
        | EntryBody::Setting(_)
        | EntryBody::JobEnd(_)
        | EntryBody::AgentEnd(_)
        | EntryBody::Restore(_)
        | EntryBody::Unknown(_) => 0,
    };
    window::estimate(bytes)
}

/// Whether a conversation may begin with it: never with a result.
fn may_begin(entry: &Entry) -> bool {
    match &entry.body {
        EntryBody::User(_) | EntryBody::Answer(_) => true,
        EntryBody::CallStart(_)
        | EntryBody::CallSettle(_)
        | EntryBody::Notice(_)
        | EntryBody::Compaction(_)
        | EntryBody::TurnEnd(_)
        | EntryBody::Setting(_)
        | EntryBody::JobEnd(_)
        | EntryBody::AgentEnd(_)
        | EntryBody::Restore(_)
        | EntryBody::Unknown(_) => false,
    }
}

/// The newest message of the person, if no answer came after it.
fn unanswered(path: &[std::sync::Arc<Entry>]) -> Option<usize> {
    let at = path.iter().rposition(|e| matches!(e.body, EntryBody::User(_)))?;
    let answered = path[at..].iter().any(|e| matches!(e.body, EntryBody::Answer(_)));
    (!answered).then_some(at)
}

fn strip_images(message: &mut Message) {
    match message {
        Message::User { images, .. } => images.clear(),
        Message::Results(results) => results.iter_mut().for_each(|r| r.images.clear()),
        Message::Answer(_) => {}
    }
}
