//! Writes one setting into the user's file in place: comments and layout stay.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstInputValue, CstObject};

use crate::config::edit::edit;

/// What the person does again once a broken file is mended.
const THEN: &str = "choose";

/// Sets the text `key` (of the first level) of the user's settings file, which is made if it is not there. The file;
/// `Err` says why not. Blocking.
pub fn keep_text(config_dir: &Path, key: &str, value: &str) -> Result<PathBuf, String> {
    edit(config_dir, THEN, |settings| Ok(set(settings, key, value)))
}

fn set(settings: &CstObject, key: &str, value: &str) -> bool {
    let value = CstInputValue::String(value.into());
    match settings.get(key) {
        Some(property) => property.set_value(value),
        None => drop(settings.append(key, value)),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::edit::edited;

    fn with_text(text: &str, key: &str, value: &str) -> Result<String, String> {
        edited(text, THEN, |settings| Ok(set(settings, key, value))).map(Option::unwrap_or_default)
    }

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
