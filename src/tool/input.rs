//! Reads the input of a call strictly: what is missing, unknown or of the wrong kind is an error that
//! says what was expected. Not a schema validator: each tool reads its own fields with it.

use serde_json::{Map, Value};

/// The input of one call (or an object inside it), being read.
pub struct Input<'a> {
    tool: &'a str,
    /// Where in the input this object stands: empty, or `edits[2].`.
    at: String,
    fields: &'a Map<String, Value>,
}

/// What kind of JSON value this is, in words.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => format!("the boolean {flag}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.chars().count() <= 40 => format!("the string {text:?}"),
        Value::String(_) => "a long string".into(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".into(),
    }
}

impl<'a> Input<'a> {
    /// Takes an input whose fields must be among `known`; `shape` shows the whole input in an error.
    pub fn read(tool: &'a str, input: &'a Value, known: &[&str], shape: &str) -> Result<Self, String> {
        match input {
            Value::Object(fields) => {
                let input = Self { tool, at: String::new(), fields };
                input.only(known)?;
                Ok(input)
            }
            Value::String(text) => {
                let why = match serde_json::from_str::<Value>(text) {
                    Ok(_) => "they are a JSON string, not an object".to_owned(),
                    Err(error) => error.to_string(),
                };
                Err(format!("{tool}: the arguments are not valid JSON ({why}). Send one object: {shape}"))
            }
            other => Err(format!("{tool}: the arguments must be an object {shape}, not {}", kind(other))),
        }
    }

    fn only(&self, known: &[&str]) -> Result<(), String> {
        match self.fields.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(format!(
                "{}: unknown field `{}{key}`; it takes {}",
                self.tool,
                self.at,
                known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")
            )),
        }
    }

    fn wrong(&self, name: &str, expected: &str, value: &Value) -> String {
        format!("{}: `{}{name}` must be {expected}, not {}", self.tool, self.at, kind(value))
    }

    fn missing(&self, name: &str, expected: &str) -> String {
        format!("{}: `{}{name}` is missing; it must be {expected}", self.tool, self.at)
    }

    /// A field that is present and not null.
    fn given(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// A string that must be there.
    pub fn text(&self, name: &str) -> Result<&'a str, String> {
        self.text_opt(name)?.ok_or_else(|| self.missing(name, "a string"))
    }

    /// A string that may be absent or null.
    pub fn text_opt(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a string", other)),
        }
    }

    /// A whole number of at least `least` that may be absent or null.
    pub fn count_opt(&self, name: &str, least: u64) -> Result<Option<u64>, String> {
        match self.given(name) {
            None => Ok(None),
            Some(value) => match value.as_u64().filter(|count| *count >= least) {
                Some(count) => Ok(Some(count)),
                None => Err(self.wrong(name, &format!("a whole number of at least {least}"), value)),
            },
        }
    }

    /// A list of strings that may be absent or null.
    pub fn texts_opt(&self, name: &str) -> Result<Option<Vec<String>>, String> {
        let expected = "a list of strings";
        match self.given(name) {
            None => Ok(None),
            Some(Value::Array(items)) => {
                let text = |item: &Value| {
                    item.as_str().map(str::to_owned).ok_or_else(|| self.wrong(name, expected, item))
                };
                items.iter().map(text).collect::<Result<Vec<_>, _>>().map(Some)
            }
            Some(other) => Err(self.wrong(name, expected, other)),
        }
    }

    /// A boolean that may be absent or null (then false).
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.given(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// A list of objects that must be there, each with fields among `known`.
    pub fn objects(&self, name: &str, known: &[&str]) -> Result<Vec<Input<'a>>, String> {
        let expected = "a list of objects";
        let items = match self.given(name) {
            None => return Err(self.missing(name, expected)),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(self.wrong(name, expected, other)),
        };
        items
            .iter()
            .enumerate()
            .map(|(index, item)| match item {
                Value::Object(fields) => {
                    let input = Input { tool: self.tool, at: format!("{}{name}[{index}].", self.at), fields };
                    input.only(known)?;
                    Ok(input)
                }
                other => Err(self.wrong(&format!("{name}[{index}]"), "an object", other)),
            })
            .collect()
    }

    /// An error about a field of this input.
    pub fn error(&self, name: &str, what: &str) -> String {
        format!("{}: `{}{name}` {what}", self.tool, self.at)
    }
}

/// A string field of an input that may not fit, for titles.
pub fn peek<'a>(input: &'a Value, name: &str) -> &'a str {
    input.get(name).and_then(Value::as_str).unwrap_or("")
}

/// One line for the screen out of any text: no control characters, at most `most` characters.
pub fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    for c in chars.by_ref().take(most) {
        out.push(c);
    }
    if chars.next().is_some() {
        out.pop();
        out.push('…');
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(input: Value) -> String {
        let read = Input::read("edit", &input, &["path", "edits", "n", "all"], "{path, edits}");
        let outcome = read.and_then(|i| {
            i.text("path")?;
            i.count_opt("n", 1)?;
            i.flag("all")?;
            for edit in i.objects("edits", &["old"])? {
                edit.text("old")?;
            }
            Ok(())
        });
        outcome.expect_err("it does not fit")
    }

    #[test]
    fn an_input_that_does_not_fit_says_what_was_expected() {
        insta::assert_snapshot!(
            [
                json!("{\"path\": \"a"),
                json!([1]),
                json!({"edits": []}),
                json!({"path": 7, "edits": []}),
                json!({"path": "a", "file": "b"}),
                json!({"path": "a", "edits": {"old": "x"}}),
                json!({"path": "a", "edits": ["x"]}),
                json!({"path": "a", "edits": [{"old": "x"}, {"old": null}]}),
                json!({"path": "a", "edits": [{"old": "x", "replace": "y"}]}),
                json!({"path": "a", "n": 0, "edits": []}),
                json!({"path": "a", "n": 1.5, "edits": []}),
                json!({"path": "a", "all": "yes", "edits": []}),
            ]
            .map(error)
            .join("\n")
        );
    }

    #[test]
    fn null_means_absent_and_a_title_is_one_line() {
        let input = json!({"path": "a", "n": null});
        let read = Input::read("x", &input, &["path", "n"], "{}").expect("fits");
        assert_eq!(read.count_opt("n", 1), Ok(None));
        assert_eq!(one_line("a\nb\u{1b}[31mc", 6), "a b […");
    }
}
