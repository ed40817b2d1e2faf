//! Adds a permission rule to the user's settings in place ("always"): comments and layout stay.

use std::path::Path;

use jsonc_parser::cst::{CstInputValue, CstObject};

use crate::config::edit::edit;
use crate::law::access::rule::{Rule, Scope};

/// What the person does again once a broken file is mended.
const THEN: &str = "answer";

/// Adds `rule` to `permissions.allow` of the user's settings file, which is made if it is not there. A
/// rule that is there already is not added again. `Err` says why not. Blocking.
pub fn allow_always(config_dir: &Path, rule: &str) -> Result<(), String> {
    let rule = Rule::parse(rule, Scope::User)?.text;
    edit(config_dir, THEN, |settings| add(settings, &rule)).map(drop)
}

/// Adds the rule; whether it was not there.
fn add(settings: &CstObject, rule: &str) -> Result<bool, String> {
    let permissions =
        settings.object_value_or_create("permissions").ok_or("`permissions` is not an object")?;
    let allow = permissions.array_value_or_create("allow").ok_or("`permissions.allow` is not a list")?;
    let there = allow.elements().iter().any(|element| {
        element.as_string_lit().and_then(|lit| lit.decoded_value().ok()).is_some_and(|text| text == rule)
    });
    if !there {
        allow.ensure_multiline();
        allow.append(CstInputValue::String(rule.into()));
    }
    Ok(!there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::edit::edited;

    fn with_rule(text: &str, rule: &str) -> Result<Option<String>, String> {
        edited(text, THEN, |settings| add(settings, rule))
    }

    #[test]
    fn a_rule_is_added_in_place_and_comments_stay() {
        let text = "{\n  // my model\n  \"model\": \"x/y\", // here\n  \"permissions\": {\n    \"allow\": [\n      \
                    \"read\" // fine\n    ]\n  }\n}\n";
        let changed = with_rule(text, "bash(cargo test:*)").unwrap().unwrap();
        assert!(
            changed.contains("// my model") && changed.contains("// here") && changed.contains("// fine")
        );
        let read = crate::config::read::read(Path::new("s"), &changed);
        assert!(read.problems.is_empty(), "{:?}\n{changed}", read.problems);
        let mut settings = crate::config::Settings::default();
        for (row, given) in read.given {
            (row.set)(&mut settings, crate::config::table::Scope::User, given);
        }
        assert_eq!(settings.user_rules.allow, ["read", "bash(cargo test:*)"]);
        assert_eq!(with_rule(&changed, "bash(cargo test:*)").unwrap(), None);
    }

    #[test]
    fn an_empty_file_becomes_one_with_the_rule() {
        let changed = with_rule("", "bash(make)").unwrap().unwrap();
        assert_eq!(
            changed,
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"bash(make)\"\n    ]\n  }\n}\n"
        );
    }

    #[test]
    fn a_broken_file_is_left_alone() {
        assert!(with_rule("{ \"model\" }", "x").unwrap_err().contains("config check"));
        assert!(with_rule("{ \"permissions\": 4 }", "x").unwrap_err().contains("not an object"));
    }
}
