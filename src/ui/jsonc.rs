//! JSON with comments, read into flat rows that know their line, for themes and keymaps.
//!
//! Deliberately not here: what a key means.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// Something wrong in a text that a person wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the person knows it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The key, as a path with dots; empty for the text as a whole.
    pub key: String,
    /// What was expected.
    pub expected: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.key.is_empty() {
            write!(f, "{}:{}: {}", self.file, self.line, self.expected)
        } else {
            write!(f, "{}:{}: {}: {}", self.file, self.line, self.key, self.expected)
        }
    }
}

/// One `"key": value` of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The keys from the outermost object to this one.
    pub path: Vec<String>,
    /// Its line, from 1.
    pub line: usize,
    /// Its value.
    pub value: Leaf,
}

/// The value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// A text.
    Text(String),
    /// `null`.
    Null,
    /// An object with nothing in it.
    Empty,
    /// Anything else, in words.
    Other(&'static str),
}

impl Row {
    /// The path with dots, as problems name it.
    pub fn key(&self) -> String {
        self.path.join(".")
    }
}

/// Reads an object of texts and objects of texts, in order. A text that cannot be parsed gives its problem alone.
pub fn rows(text: &str, file: &str) -> Result<Vec<Row>, Problem> {
    let options = ParseOptions::default();
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| Problem {
        file: file.to_owned(),
        line: error.line_display(),
        key: String::new(),
        expected: error.kind().to_string(),
    })?;
    let mut out = Vec::new();
    match &parsed.value {
        Some(Value::Object(object)) => {
            let lines = Lines::of(text);
            walk(object, &mut Vec::new(), &lines, &mut out);
            Ok(out)
        }
        None => Ok(out),
        Some(_) => Err(Problem {
            file: file.to_owned(),
            line: 1,
            key: String::new(),
            expected: "expected an object: { … }".to_owned(),
        }),
    }
}

/// Where lines begin, in bytes.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }
    fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|begin| *begin <= byte)
    }
}

fn walk(object: &jsonc_parser::ast::Object<'_>, path: &mut Vec<String>, lines: &Lines, out: &mut Vec<Row>) {
    for property in &object.properties {
        path.push(property.name.as_str().to_owned());
        let line = lines.at(property.range().start);
        let value = match &property.value {
            Value::Object(inner) if inner.properties.is_empty() => Leaf::Empty,
            Value::Object(inner) => {
                walk(inner, path, lines, out);
                path.pop();
                continue;
            }
            Value::StringLit(text) => Leaf::Text(text.value.to_string()),
            Value::NullKeyword(_) => Leaf::Null,
            Value::NumberLit(_) => Leaf::Other("a number"),
            Value::BooleanLit(_) => Leaf::Other("true or false"),
            Value::Array(_) => Leaf::Other("a list"),
        };
        out.push(Row { path: path.clone(), line, value });
        path.pop();
    }
}
