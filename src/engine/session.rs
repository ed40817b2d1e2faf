//! What a person changes of the session itself: its model and its name.

use crate::api::entry::{EntryBody, Level, Setting};

use super::owner::Owner;

impl Owner {
    pub(super) fn set_model(&mut self, name: &str) {
        match self.options.models.find(name) {
            Ok(model) => {
                let id = model.id.clone();
                if !model.scripted {
                    self.options.models.chosen(&id);
                }
                let changed = self.model.as_ref().is_none_or(|m| m.id != id);
                self.model = Some(model);
                // Another model counts in other tokens: what it reads is estimated until it has counted.
                if changed && self.head.is_some() {
                    self.commit(EntryBody::Setting(Setting { model: Some(id), mode: None }));
                }
            }
            Err(why) => self.say(Level::Error, why),
        }
        self.publish_status();
    }

    pub(super) fn rename(&mut self, title: String) {
        match self.store.rename(&title) {
            Ok(()) => self.title = self.store.title().to_owned(),
            Err(error) => {
                let why = crate::base::chain(&error);
                self.say(Level::Error, format!("The session could not be renamed: {why}"));
            }
        }
        self.publish_status();
    }

    /// Counts the window anew from a branch. What was spent stays spent.
    pub(super) fn recount(&mut self, path: &[std::sync::Arc<crate::api::entry::Entry>]) {
        let spent = std::mem::take(&mut self.meter);
        self.meter.prices.clone_from(&spent.prices);
        for entry in path {
            self.count(&entry.body);
        }
        self.meter.usage = spent.usage;
        self.meter.cost = spent.cost;
        self.meter.cost_known = spent.cost_known;
        self.meter.prices = spent.prices;
        self.meter.fixed_bytes = spent.fixed_bytes;
    }
}
