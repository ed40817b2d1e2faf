//! Writes one setting into the user's file in place: comments and layout stay.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstInputValue, CstRootNode};

use crate::config::load::{SETTINGS_FILE, text_of};
use crate::config::private;
use crate::config::read::options;

/// Sets the text `key` (of the first level) of the user's settings file, which is made if it is not there. The file;
/// `Err` says why not. Blocking.
pub fn keep_text(config_dir: &Path, key: &str, value: &str) -> Result<PathBuf, String> {
    let file = config_dir.join(SETTINGS_FILE);
    let text = text_of(&file).map_err(|problem| problem.to_string())?.unwrap_or_default();
    let changed = with_text(&text, key, value).map_err(|why| format!("{}: {why}", file.display()))?;
    private::replace_keeping_mode(&file, changed.as_bytes())?;
    Ok(file)
}

fn with_text(text: &str, key: &str, value: &str) -> Result<String, String> {
    let (bom, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let mend = "mend it (`windlass config check` says where), then choose again";
    let root = CstRootNode::parse(text, &options()).map_err(|error| format!("{error}; {mend}"))?;
    let object = root.object_value_or_create().ok_or(format!("is not an object of settings; {mend}"))?;
    let value = CstInputValue::String(value.into());
    match object.get(key) {
        Some(property) => property.set_value(value),
        None => drop(object.append(key, value)),
    }
    Ok(format!("{bom}{root}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_changed_in_place_and_comments_stay() {
        let text = "{\n  // mine\n  \"theme\": \"dark\", // for now\n  \"mouse\": false\n}\n";
        let changed = with_text(text, "theme", "nord").expect("can be changed");
        assert_eq!(changed, text.replace("dark", "nord"));
        let added =
            with_text("{\n  // mine\n  \"mouse\": false\n}\n", "theme", "nord").expect("can be added");
        assert!(added.contains("// mine") && added.contains("\"mouse\": false"), "{added}");
        assert!(added.contains("\"theme\": \"nord\""), "{added}");
        assert_eq!(
            with_text("", "theme", "x").expect("can be made").replace(char::is_whitespace, ""),
            "{\"theme\":\"x\"}"
        );
    }

    #[test]
    fn a_broken_file_is_left_alone() {
        let why = with_text("{\n  \"theme\": \n", "theme", "nord").expect_err("it is broken");
        assert!(why.contains("config check"), "{why}");
        assert!(with_text("[]", "theme", "nord").is_err());
    }
}
