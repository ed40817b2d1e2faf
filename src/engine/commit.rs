//! Durable, then told: an entry stands in the journal before anyone sees it.
//!
//! A commit that fails (a full disk) keeps its entry here; it is written before the next one. What the
//! record shows is what the journal holds.

use std::sync::Arc;

use crate::api::entry::{Entry, EntryBody, Level};
use crate::api::event::Event;
use crate::api::provider::Price;
use crate::base::EntryId;
use crate::law::window;
use crate::link::EVENTS_MAX;
use crate::provider::catalog;
use crate::store::Durability;

use super::clock;
use super::owner::Owner;

impl Owner {
    /// Commits an entry at the head and tells the world. On an error it is kept and tried again
    /// before the next; the person is told once.
    pub(super) fn commit(&mut self, body: EntryBody) {
        let entry = self.entry(body);
        self.unwritten.push(entry);
        self.flush();
    }

    /// Commits an entry now or not at all; none: nothing of it is in the journal, and the person is told.
    pub(super) fn try_commit(&mut self, body: EntryBody) -> Option<EntryId> {
        if !self.flush() {
            return None;
        }
        let entry = self.entry(body);
        let id = entry.id.clone();
        self.unwritten.push(entry);
        if self.flush() {
            return Some(id);
        }
        self.unwritten.clear();
        None
    }

    fn entry(&mut self, body: EntryBody) -> Entry {
        let parent = self.unwritten.last().map(|e| e.id.clone()).or_else(|| self.head.clone());
        Entry { id: self.store.mint_entry(), parent, at: clock::now(), body }
    }

    /// Writes what is not written yet; says whether all is.
    pub(super) fn flush(&mut self) -> bool {
        while !self.unwritten.is_empty() {
            let entry = &self.unwritten[0];
            if let Err(error) = self.store.commit(entry, durability(&entry.body)) {
                self.say_unwritten(&crate::base::chain(&error));
                return false;
            }
            let entry = Arc::new(self.unwritten.remove(0));
            self.disk_failed = false;
            self.tell(entry);
        }
        true
    }

    fn say_unwritten(&mut self, why: &str) {
        if self.disk_failed {
            return;
        }
        self.disk_failed = true;
        self.say(
            Level::Error,
            format!(
                "The session's journal could not be written: {why}. Nothing that was committed is lost. \
                 Make room or mend the directory; the next message tries again."
            ),
        );
    }

    fn tell(&mut self, entry: Arc<Entry>) {
        self.head = Some(entry.id.clone());
        self.tree.push(Arc::clone(&entry));
        self.count(&entry.body);
        let ends_stream = matches!(entry.body, EntryBody::Answer(_));
        let settles = match &entry.body {
            EntryBody::CallSettle(settle) => Some(settle.call.clone()),
            _ => None,
        };
        // with the entry, so that nobody sees a message of a turn that has not begun
        let phase = self.shown_phase();
        self.shared.change(|record| {
            Arc::make_mut(&mut record.status).phase = phase;
            if ends_stream {
                record.live.parts.clear();
            }
            if let Some(call) = &settles {
                record.calls.end(call);
            }
            record.path.push(entry);
        });
        self.publish_status();
    }

    /// What an entry spent is added; an answer has the price of its own model.
    pub(super) fn spend(&mut self, body: &EntryBody) {
        let (usage, cost) = match body {
            EntryBody::Answer(answer) => match answer.usage {
                Some(usage) => (usage, self.price(&answer.model).map(|price| catalog::cost(&price, &usage))),
                None => return,
            },
            EntryBody::CallSettle(settle) => match settle.usage {
                Some(usage) => (usage, None),
                None => return,
            },
            EntryBody::AgentEnd(end) if !end.again => (end.usage, end.cost),
            _ => return,
        };
        self.meter.usage.add(&usage);
        self.meter.cost += cost.unwrap_or(0.0);
        self.meter.cost_known &= cost.is_some() || usage.total() == 0;
    }

    /// The price of a model, where it is known; looked up once.
    pub(super) fn price(&mut self, model: &str) -> Option<Price> {
        if let Some(known) = self.meter.prices.get(model) {
            return *known;
        }
        let price = match &self.model {
            Some(own) if own.id == model => own.card.price,
            _ => self.options.models.find(model).ok().and_then(|found| found.card.price),
        };
        self.meter.prices.insert(model.to_owned(), price);
        price
    }

    /// What other branches spent was spent too.
    pub(super) fn spend_elsewhere(&mut self, branch: &[Arc<Entry>]) {
        let on: std::collections::HashSet<_> = branch.iter().map(|entry| &entry.id).collect();
        let others: Vec<_> = self.tree.entries.iter().filter(|e| !on.contains(&e.id)).cloned().collect();
        for entry in others {
            self.spend(&entry.body);
        }
    }

    /// Adds an entry to the meter: what it spent, and what it takes of the window.
    pub(super) fn count(&mut self, body: &EntryBody) {
        self.spend(body);
        match body {
            EntryBody::Answer(answer) => {
                if let Some(usage) = &answer.usage {
                    self.meter.counted = Some(usage.total());
                    self.meter.bytes_since = 0;
                } else {
                    self.meter.bytes_since += super::ask::answer_bytes(answer);
                }
            }
            EntryBody::Compaction(compaction) => {
                self.meter.counted = Some(compaction.tokens_after);
                self.meter.bytes_since = 0;
            }
            EntryBody::User(message) => self.meter.bytes_since += message.text.len() as u64,
            EntryBody::CallSettle(settle) => {
                self.meter.bytes_since += settle.output.len() as u64;
            }
            EntryBody::JobEnd(end) => {
                let told = super::history::job_ended(end, None);
                self.meter.bytes_since += told.map_or(0, |told| told.len() as u64);
            }
            EntryBody::AgentEnd(end) => {
                let told = super::history::agent_ended(end);
                self.meter.bytes_since += told.map_or(0, |told| told.len() as u64);
            }
            EntryBody::CallStart(_)
            | EntryBody::Notice(_)
            | EntryBody::TurnEnd(_)
            | EntryBody::Setting(_)
            | EntryBody::Restore(_)
            | EntryBody::Unknown(_) => {}
        }
    }

    /// Tokens in the window now, by the one counter; none before anything was sent.
    pub(super) fn used(&self) -> Option<u64> {
        if self.meter.counted.is_none() && self.meter.bytes_since == 0 {
            return None;
        }
        // before the first request the instructions were not read: then it is what Windlass says for itself
        let fixed = match (self.meter.counted, self.meter.fixed_bytes) {
            (Some(_), _) => 0,
            (None, 0) => super::ask::fixed_bytes(crate::workspace::prompt::SYSTEM, &self.tools),
            (None, bytes) => bytes,
        };
        Some(window::used(self.meter.counted, self.meter.bytes_since + fixed))
    }

    /// A word to the person that is not part of the conversation.
    pub(super) fn say(&mut self, level: Level, text: String) {
        self.event(Event::Said { level, text });
    }

    /// Sends an event. When the front end does not take its events, the newest are kept and sent
    /// with the next.
    pub(super) fn event(&mut self, event: Event) {
        self.unsent.push_back(event);
        if self.unsent.len() > EVENTS_MAX {
            // A front end that takes nothing: words go first, what is given back never.
            if let Some(at) = self.unsent.iter().position(|e| matches!(e, Event::Said { .. })) {
                self.unsent.remove(at);
            }
        }
        while let Some(event) = self.unsent.pop_front() {
            if let Err(tokio::sync::mpsc::error::TrySendError::Full(event)) = self.events.try_send(event) {
                self.unsent.push_front(event);
                break;
            }
        }
        self.shared.change(|_| ());
    }
}

/// Which entries are synced to the disk before they are told.
fn durability(body: &EntryBody) -> Durability {
    match body {
        EntryBody::User(_)
        | EntryBody::CallSettle(_)
        | EntryBody::TurnEnd(_)
        | EntryBody::Compaction(_)
        | EntryBody::JobEnd(_)
        | EntryBody::AgentEnd(_)
        | EntryBody::Restore(_) => Durability::Synced,
        EntryBody::Answer(_)
        | EntryBody::CallStart(_)
        | EntryBody::Notice(_)
        | EntryBody::Setting(_)
        | EntryBody::Unknown(_) => Durability::Buffered,
    }
}
