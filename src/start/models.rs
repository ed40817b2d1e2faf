//! The models that a session may choose from: the provider table, with the keys that a person stores.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use secrecy::SecretString;

use crate::api::command::Secret;
use crate::api::event::ModelInfo;
use crate::base::chain;
use crate::config::keys;
use crate::engine::{ModelInUse, Models};
use crate::provider::probe::USUAL;
use crate::provider::table::{Endpoint, Made, Table};
use crate::store::{Dirs, private};

/// The provider table behind a lock: a stored key changes it while sessions read it.
pub struct TableModels {
    table: Mutex<Table>,
    /// Models of servers that were found on this machine, as `provider/name`.
    found: Mutex<Vec<String>>,
    config_dir: PathBuf,
    state_dir: PathBuf,
}

/// The file that remembers which model was chosen last.
const CHOSEN: &str = "model";

impl TableModels {
    /// The table, and where keys and the choice are stored. `named`: models that the settings name.
    pub fn new(table: Table, named: Vec<String>, dirs: &Dirs) -> Self {
        Self {
            table: Mutex::new(table),
            found: Mutex::new(named),
            config_dir: dirs.config().to_path_buf(),
            state_dir: dirs.state().to_path_buf(),
        }
    }
    /// The model that was chosen last, if it can still be used.
    pub fn chosen_last(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.state_dir.join(CHOSEN)).ok()?;
        let name = text.trim();
        self.find(name).ok().map(|model| model.id)
    }
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The first model that can be used now.
    pub fn first_usable(&self) -> Option<String> {
        self.table().models().into_iter().next()
    }
}

/// A made model as a session holds it.
pub fn in_use(made: Made) -> ModelInUse {
    ModelInUse {
        id: made.model,
        name: made.name,
        provider: made.provider,
        card: made.card,
        scripted: made.script.is_some(),
    }
}

impl Models for TableModels {
    fn find(&self, name: &str) -> Result<ModelInUse, String> {
        let mut table = self.table();
        // A server of this machine needs no setting: its usual place is known.
        let place = name.split_once('/').and_then(|(provider, _)| USUAL.iter().find(|p| p.name == provider));
        if let Some(place) = place
            && !table.endpoints().iter().any(|known| known.name == place.name)
        {
            table.add(place.endpoint());
        }
        table.make(name).map(in_use).map_err(|error| chain(&error))
    }

    fn chosen(&self, model: &str) {
        let kept = private::dir_all(&self.state_dir)
            .and_then(|()| private::replace(&self.state_dir.join(CHOSEN), model.as_bytes()));
        if let Err(error) = kept {
            tracing::warn!("the choice of {model} is not remembered: {}", chain(&error));
        }
    }

    fn list(&self) -> Vec<ModelInfo> {
        let table = self.table();
        let mut all = Vec::new();
        for endpoint in table.endpoints() {
            let usable = endpoint.usable();
            let missing = (!usable).then(|| match &endpoint.key_env {
                Some(name) => format!("{name} is not set"),
                None => "it has no key".to_owned(),
            });
            for id in table.models_of(&endpoint.name) {
                let card = table.card(&id);
                all.push(ModelInfo {
                    window: card.window,
                    price: card.price.map(|p| (p.input, p.output)),
                    id,
                    usable,
                    missing: missing.clone(),
                });
            }
        }
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for id in found.into_iter().filter(|id| !all.iter().any(|model| model.id == *id)).collect::<Vec<_>>()
        {
            let card = table.card(&id);
            all.push(ModelInfo { window: card.window, price: None, id, usable: true, missing: None });
        }
        all.sort_by_key(|model| !model.usable);
        all
    }

    fn found(&self, endpoint: &Endpoint, models: &[String]) {
        let mut table = self.table();
        if !table.endpoints().iter().any(|known| known.name == endpoint.name) {
            table.add(endpoint.clone());
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.retain(|id| id.split_once('/').is_none_or(|(provider, _)| provider != endpoint.name));
        found.extend(models.iter().map(|model| format!("{}/{model}", endpoint.name)));
    }

    fn store_key(&self, provider: &str, key: &str) -> Result<String, String> {
        keys::store(&self.config_dir, provider, &Secret(key.to_owned()))?;
        if !self.table().set_key(provider, SecretString::from(key.to_owned())) {
            return Err(format!("There is no provider {provider}; the key is kept for when there is one."));
        }
        Ok(format!("The key of {provider} is kept in {}.", self.config_dir.join("keys.json").display()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::api::provider::Wire;
    use crate::provider::Waits;

    #[test]
    fn a_model_of_a_server_found_here_can_be_chosen() {
        let (table, _) = Table::new(&BTreeMap::new(), BTreeMap::new(), &|_| None, Waits::default());
        let models = TableModels::new(table, Vec::new(), &Dirs::at("/nowhere/state", "/nowhere/config"));
        assert!(models.find("ollama2/qwen3").is_err());
        let endpoint = Endpoint {
            name: "ollama".into(),
            wire: Wire::OpenaiChat,
            base_url: "http://127.0.0.1:11434/v1".into(),
            key: None,
            key_env: None,
            headers: Default::default(),
        };
        for _ in 0..2 {
            models.found(&endpoint, &["qwen3".to_owned()]);
        }
        assert_eq!(models.find("ollama/qwen3").map(|model| model.id), Ok("ollama/qwen3".to_owned()));
        let listed = models.list();
        assert_eq!(listed.iter().filter(|model| model.id == "ollama/qwen3" && model.usable).count(), 1);
    }

    #[test]
    fn the_model_that_was_chosen_is_the_one_of_the_next_start() {
        let place = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(place.path().join("state"), place.path().join("config"));
        let models = || {
            let (table, _) = Table::new(&BTreeMap::new(), BTreeMap::new(), &|_| None, Waits::default());
            TableModels::new(table, Vec::new(), &dirs)
        };
        assert_eq!(models().chosen_last(), None);
        models().chosen("ollama/qwen3");
        assert_eq!(models().chosen_last(), Some("ollama/qwen3".to_owned()));
        models().chosen("nobody/x");
        assert_eq!(models().chosen_last(), None, "what cannot be used is not begun with");
    }
}
