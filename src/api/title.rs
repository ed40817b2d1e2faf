//! What a call does, in one line, from its input: for who shows calls and does not know the tools.
//!
//! Not here: what a tool says of its own calls (`tool::Tool::title`), which knows its input better.

use serde_json::Value;

/// Most characters of a line.
const LINE_MAX: usize = 400;

/// How many files of a patch are named.
const NAMED_MAX: usize = 2;

/// A call's line; empty for one without an input.
pub fn title(tool: &str, input: &Value) -> String {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    if tool == "spawn" {
        let name = text("name").unwrap_or_default();
        return one_line(&format!("{name} {}", text("workspace").unwrap_or("shared")));
    }
    if let ("apply_patch", Some(patch)) = (tool, text("patch")) {
        return patched(patch);
    }
    if let Some(pattern) = text("pattern") {
        let place = text("path").filter(|path| !path.is_empty());
        return one_line(&place.map_or_else(|| pattern.to_owned(), |path| format!("{pattern} in {path}")));
    }
    let named = ["command", "path", "name", "url", "query", "action"].into_iter().find_map(text);
    let text = match (named, input) {
        (Some(text), _) => text.to_owned(),
        (None, Value::String(text)) => text.clone(),
        (None, Value::Null) => String::new(),
        (None, Value::Object(map)) if map.is_empty() => String::new(),
        (None, Value::Object(map)) => match map.values().next() {
            Some(Value::Array(items)) => format!("{} items", items.len()),
            Some(_) | None => input.to_string(),
        },
        (None, other) => other.to_string(),
    };
    one_line(&text)
}

/// The files that a patch is about: `src/a.rs, src/b.rs (+1)`; its first line where it names none.
pub fn patched(patch: &str) -> String {
    const MARKERS: [&str; 3] = ["*** Add File: ", "*** Delete File: ", "*** Update File: "];
    let of = |line: &str| MARKERS.iter().find_map(|marker| line.trim().strip_prefix(marker)).map(one_line);
    let mut names: Vec<String> = Vec::new();
    for name in patch.lines().filter_map(of) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    match (names.is_empty(), more) {
        (true, _) => one_line(patch),
        (false, 0) => names.join(", "),
        (false, more) => format!("{} (+{more})", names.join(", ")),
    }
}

/// The first line that says something, bounded.
pub fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(LINE_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_told_by_what_it_is_about() {
        let patch = |names: &[&str]| {
            let parts: Vec<String> =
                names.iter().map(|name| format!("*** Update File: {name}\n@@\n-a\n+b\n")).collect();
            json!({"patch": format!("*** Begin Patch\n{}*** End Patch\n", parts.concat())})
        };
        for (tool, input, told) in [
            ("bash", json!({"command": "\n  cargo test\nls"}), "cargo test"),
            ("spawn", json!({"name": "x", "prompt": "p"}), "x shared"),
            ("grep", json!({"path": "src", "pattern": "fn main"}), "fn main in src"),
            ("glob", json!({"pattern": "*.rs", "path": ""}), "*.rs"),
            ("todo", json!({"items": [1, 2]}), "2 items"),
            ("other", json!({"n": 1}), "{\"n\":1}"),
            ("other", json!({}), ""),
            ("apply_patch", patch(&["src/a.rs"]), "src/a.rs"),
            ("apply_patch", patch(&["src/a.rs", "src/b.rs"]), "src/a.rs, src/b.rs"),
            ("apply_patch", patch(&["src/a.rs", "src/b.rs", "src/a.rs", "c"]), "src/a.rs, src/b.rs (+1)"),
            ("apply_patch", json!({"patch": "no patch\nat all"}), "no patch"),
        ] {
            assert_eq!(title(tool, &input), told, "{tool} {input}");
        }
    }
}
