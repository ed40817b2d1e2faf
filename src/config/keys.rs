//! Keys of providers kept in a private file (`keys.json`, mode 0600): provider's name → key.
//!
//! A file that others can read is refused with a word. Keys are never shown, logged or put into an error.

use std::collections::BTreeMap;
use std::path::Path;

use crate::api::command::Secret;
use crate::config::load::text_of;
use crate::config::private;
use crate::config::problem::Problem;

pub use crate::store::dirs::KEYS_FILE;

/// The stored keys by provider. `Err` says why the file is not used. Blocking.
pub fn load(config_dir: &Path) -> Result<BTreeMap<String, Secret>, Problem> {
    let file = config_dir.join(KEYS_FILE);
    let Some(text) = text_of(&file)? else { return Ok(BTreeMap::new()) };
    if let Some(why) = private::not_private(&file) {
        return Err(Problem::of_file(file, format!("{why}; its keys are not used until then")));
    }
    // serde's own words quote what they found, so a key could show: only the place is told
    let keys: BTreeMap<String, String> = serde_json::from_str(&text).map_err(|error| Problem {
        file: Some(file.clone()),
        line: error.line(),
        key: String::new(),
        text: "expected an object of texts, provider to key".into(),
    })?;
    Ok(keys.into_iter().map(|(name, key)| (name, Secret(key))).collect())
}

/// Stores a key; the file is made 0600. Other keys stay. Blocking.
pub fn store(config_dir: &Path, provider: &str, key: &Secret) -> Result<(), String> {
    if key.0.trim().is_empty() {
        return Err("the key is empty; nothing was stored".into());
    }
    let mut keys = load(config_dir).map_err(|problem| problem.to_string())?;
    keys.insert(provider.into(), Secret(key.0.trim().into()));
    let plain: BTreeMap<&str, &str> =
        keys.iter().map(|(name, key)| (name.as_str(), key.0.as_str())).collect();
    let text = serde_json::to_string_pretty(&plain).map_err(|error| error.to_string())?;
    private::replace(&config_dir.join(KEYS_FILE), format!("{text}\n").as_bytes())
}
