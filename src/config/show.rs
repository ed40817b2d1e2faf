//! What `windlass config` prints: the effective values with their origin, and the schema.

use serde_json::{Map, Value, json};

use crate::api::provider::Wire;
use crate::config::load::Loaded;
use crate::config::read::{PRICES, THINKING_STYLES};
use crate::config::settings::Settings;
use crate::config::table::{Kind, ROWS};

/// Each setting with its effective value and its origin, a line each. Never a key, nor a header's value.
pub fn show(loaded: &Loaded) -> String {
    let values: Vec<(&str, String)> =
        ROWS.iter().map(|row| (row.key, (row.get)(&loaded.settings).to_string())).collect();
    let width = values.iter().map(|(key, value)| key.len() + value.len() + 3).filter(|w| *w <= 60).max();
    let width = width.unwrap_or(0);
    let mut out = String::new();
    for (key, value) in values {
        let origin = loaded.origins.get(key).filter(|origins| !origins.is_empty()).map_or_else(
            || "default".to_string(),
            |origins| origins.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        );
        let line = format!("{key} = {value}");
        out.push_str(&format!("{line:<width$}  # {origin}\n"));
    }
    if let Some(project) = &loaded.project {
        let word = if project.trusted { "trusted" } else { "not trusted: its settings are not read" };
        out.push_str(&format!("# the project's own settings in {}: {word}\n", project.root.display()));
    }
    out
}

/// The JSON schema of a settings file.
pub fn schema() -> Value {
    let defaults = Settings::default();
    let mut root = object_schema();
    for row in ROWS {
        let mut leaf = leaf(row.kind);
        if let Value::Object(map) = &mut leaf {
            map.insert("description".into(), json!(row.doc));
            map.insert("default".into(), (row.get)(&defaults));
        }
        let parts: Vec<&str> = row.key.split('.').collect();
        insert(&mut root, &parts, leaf);
    }
    let mut out = Map::new();
    out.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    out.insert("title".into(), json!("Windlass settings"));
    if let Value::Object(root) = root {
        out.extend(root);
    }
    if let Some(Value::Object(properties)) = out.get_mut("properties") {
        properties.insert("$schema".into(), json!({"type": "string"}));
    }
    Value::Object(out)
}

fn object_schema() -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": {}})
}

fn insert(node: &mut Value, path: &[&str], leaf: Value) {
    let [first, rest @ ..] = path else { return };
    let Some(Value::Object(properties)) = node.get_mut("properties") else { return };
    if rest.is_empty() {
        properties.insert((*first).into(), leaf);
    } else {
        insert(properties.entry(*first).or_insert_with(object_schema), rest, leaf);
    }
}

fn leaf(kind: Kind) -> Value {
    match kind {
        Kind::Bool => json!({"type": "boolean"}),
        Kind::Text => json!({"type": "string"}),
        Kind::Whole(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Choice(words) => json!({"type": "string", "enum": words}),
        Kind::Rules => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Providers => json!({"type": "object", "additionalProperties": {
        "type": "object", "additionalProperties": false, "properties": {
            "wire": {"type": "string", "enum": Wire::ALL.map(Wire::name)},
            "base_url": {"type": "string", "pattern": "^https?://"},
            "key_env": {"type": "string"},
            "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        }}}),
        Kind::Models => json!({"type": "object", "additionalProperties": {
        "type": "object", "additionalProperties": false, "properties": {
            "window": {"type": "integer", "minimum": 1},
            "max_output": {"type": "integer", "minimum": 1},
            "price": {"type": "object", "additionalProperties": false, "properties":
                PRICES.iter().map(|name| ((*name).to_string(), json!({"type": "number", "minimum": 0})))
                    .collect::<Map<_, _>>()},
            "images": {"type": "boolean"},
            "thinking": {"type": "string", "enum": THINKING_STYLES},
        }}}),
    }
}
