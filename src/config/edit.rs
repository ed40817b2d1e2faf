//! Edits the user's settings file in place: comments, layout and a byte order mark stay.
//!
//! Not here: what is edited (`keep`, `rule`).

use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstObject, CstRootNode};

use crate::config::load::{SETTINGS_FILE, text_of};
use crate::config::private;
use crate::config::read::options;

/// Edits the settings file of a directory, which is made if it is not there. `change` tells whether it changed
/// something, or why it cannot; `then` is what the person does again after mending it (`choose`). The file; `Err` says
/// why not. Blocking.
pub(super) fn edit(
    config_dir: &Path,
    then: &str,
    change: impl FnOnce(&CstObject) -> Result<bool, String>,
) -> Result<PathBuf, String> {
    let file = config_dir.join(SETTINGS_FILE);
    let text = text_of(&file).map_err(|problem| problem.to_string())?.unwrap_or_default();
    let changed = edited(&text, then, change).map_err(|why| format!("{}: {why}", file.display()))?;
    if let Some(changed) = changed {
        private::replace_keeping_mode(&file, changed.as_bytes())?;
    }
    Ok(file)
}

/// The text as it is then; none: nothing is changed.
pub(super) fn edited(
    text: &str,
    then: &str,
    change: impl FnOnce(&CstObject) -> Result<bool, String>,
) -> Result<Option<String>, String> {
    let (bom, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let mend =
        |why: String| format!("{why}; mend it (`windlass config check` says where), then {then} again");
    let root = CstRootNode::parse(text, &options()).map_err(|error| mend(error.to_string()))?;
    let object =
        root.object_value_or_create().ok_or_else(|| mend("is not an object of settings".to_owned()))?;
    let changed = change(&object).map_err(mend)?;
    Ok(changed.then(|| format!("{bom}{root}")))
}
