//! Reads one settings file: JSON with comments. Each problem names the line and the key and says what
//! was expected; what is valid is used, also of a file whose JSON is broken somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::api::provider::{ModelCard, Price, ProviderSetting, ThinkingStyle, Wire};
use crate::base::near::nearest;
use crate::config::problem::Problem;
use crate::config::settings::BUILT_IN;
use crate::config::table::{Given, Kind, ROWS, Row};
use crate::law::access::rule::{Rule, Scope};

/// What a file holds: the values that fit, in order, and the problems.
#[derive(Default)]
pub struct FileRead {
    /// The rows and their values.
    pub given: Vec<(&'static Row, Given)>,
    /// The problems.
    pub problems: Vec<Problem>,
}

/// How strictly a file is read: JSON, with comments and trailing commas.
pub fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Reads a settings file's text. `file` only names it.
pub fn read(file: &Path, text: &str) -> FileRead {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reading = Reading { file, text, base: 0, out: FileRead::default() };
    match parse_to_ast(text, &CollectOptions::default(), &options()) {
        Ok(parsed) => match parsed.value {
            None => {}
            Some(Value::Object(object)) => reading.object("", &object),
            Some(other) => {
                reading.problem(other.range().start, "", "expected an object `{ … }` of settings".into())
            }
        },
        Err(error) => {
            reading.problem(
                error.range().start,
                "",
                format!("{}; the rest of the file is used", error.kind()),
            );
            reading.salvage();
        }
    }
    reading.out
}

struct Reading<'a> {
    file: &'a Path,
    text: &'a str,
    /// What positions are counted from, while one member of a broken file is read by itself.
    base: usize,
    out: FileRead,
}

impl Reading<'_> {
    fn problem(&mut self, at: usize, key: &str, text: String) {
        let at = self.base + at;
        let line = self.text.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1;
        self.out.problems.push(Problem { file: Some(self.file.into()), line, key: key.into(), text });
    }

    /// The file as a whole is no JSON: each member that can be read by itself is.
    fn salvage(&mut self) {
        for (start, member) in members(self.text) {
            let alone = format!("{{{member}}}");
            if let Ok(parsed) = parse_to_ast(&alone, &CollectOptions::default(), &options())
                && let Some(Value::Object(object)) = parsed.value
            {
                // one brace was put before the member
                self.base = start.saturating_sub(1);
                self.object("", &object);
            }
        }
    }

    fn object(&mut self, prefix: &str, object: &Object<'_>) {
        let mut seen = BTreeSet::new();
        for property in &object.properties {
            let name = property.name.as_str();
            let key = if prefix.is_empty() { name.to_string() } else { format!("{prefix}.{name}") };
            if !seen.insert(key.clone()) {
                self.problem(property.range.start, &key, "stands here twice; the last one counts".into());
            }
            self.property(&key, property);
        }
    }

    fn property(&mut self, key: &str, property: &ObjectProp<'_>) {
        if key == "$schema" {
            return;
        }
        let at = property.value.range().start;
        if let Some(row) = ROWS.iter().find(|row| row.key == key) {
            if let Some(given) = self.value(row.kind, key, &property.value) {
                self.out.given.push((row, given));
            }
            return;
        }
        let group = format!("{key}.");
        if ROWS.iter().any(|row| row.key.starts_with(&group)) {
            match &property.value {
                Value::Object(object) => self.object(key, object),
                other => {
                    self.problem(at, key, format!("expected an object `{{ … }}`, found {}", found(other)))
                }
            }
            return;
        }
        let near = nearest(key, known());
        let hint = near.map_or_else(
            || "`windlass config schema` lists the settings".to_string(),
            |near| format!("did you mean `{near}`?"),
        );
        self.problem(property.range.start, key, format!("there is no such setting; {hint}"));
    }

    fn value(&mut self, kind: Kind, key: &str, value: &Value<'_>) -> Option<Given> {
        let given = match (kind, value) {
            (Kind::Bool, Value::BooleanLit(lit)) => Some(Given::Bool(lit.value)),
            (Kind::Text, Value::StringLit(lit)) => Some(Given::Text(lit.value.to_string())),
            (Kind::Choice(words), Value::StringLit(lit)) if words.contains(&lit.value.as_ref()) => {
                Some(Given::Text(lit.value.to_string()))
            }
            (Kind::Whole(least, most), Value::NumberLit(lit)) => lit
                .value
                .parse::<u64>()
                .ok()
                .filter(|number| (least..=most).contains(number))
                .map(Given::Whole),
            (Kind::Rules, Value::Array(array)) => {
                let mut texts = Vec::new();
                for (at, element) in array.elements.iter().enumerate() {
                    match element {
                        Value::StringLit(lit) => match Rule::parse(&lit.value, Scope::User) {
                            Ok(rule) => texts.push(rule.text),
                            Err(why) => self.problem(lit.range.start, &format!("{key}[{at}]"), why),
                        },
                        other => self.problem(
                            other.range().start,
                            &format!("{key}[{at}]"),
                            format!("expected a rule as a text, found {}", found(other)),
                        ),
                    }
                }
                return Some(Given::Texts(texts));
            }
            (Kind::Providers, Value::Object(object)) => return Some(self.providers(key, object)),
            (Kind::Models, Value::Object(object)) => return Some(self.models(key, object)),
            _ => None,
        };
        if given.is_none() {
            let text = format!("expected {}, found {}", expected(kind), found(value));
            self.problem(value.range().start, key, text);
        }
        given
    }

    fn providers(&mut self, key: &str, object: &Object<'_>) -> Given {
        let mut out = BTreeMap::new();
        for property in &object.properties {
            let name = property.name.as_str().to_string();
            let key = format!("{key}.{name}");
            let Value::Object(fields) = &property.value else {
                let text = format!("expected an object `{{ … }}`, found {}", found(&property.value));
                self.problem(property.value.range().start, &key, text);
                continue;
            };
            if name.is_empty() || name.contains(['/', ':']) || name.chars().any(char::is_whitespace) {
                let text = "a provider's name has no `/`, no `:` and no blanks".to_string();
                self.problem(property.range.start, &key, text);
                continue;
            }
            let provider = self.provider(&key, fields);
            let whole =
                BUILT_IN.contains(&name.as_str()) || (provider.wire.is_some() && provider.base_url.is_some());
            if whole {
                out.insert(name, provider);
            } else {
                let text = "needs `wire` and `base_url`; the provider is left out".to_string();
                self.problem(property.range.start, &key, text);
            }
        }
        Given::Providers(out)
    }

    fn provider(&mut self, key: &str, fields: &Object<'_>) -> ProviderSetting {
        let mut provider = ProviderSetting::default();
        for field in &fields.properties {
            let name = field.name.as_str();
            let key = format!("{key}.{name}");
            let at = field.value.range().start;
            match (name, &field.value) {
                ("wire", value) => {
                    if let Some(Given::Text(text)) = self.value(Kind::Choice(WIRES), &key, value) {
                        provider.wire = Wire::named(&text);
                    }
                }
                ("base_url", Value::StringLit(lit)) => {
                    if lit.value.starts_with("http://") || lit.value.starts_with("https://") {
                        provider.base_url = Some(lit.value.trim_end_matches('/').to_string());
                    } else {
                        self.problem(at, &key, "expected a URL that begins with http:// or https://".into());
                    }
                }
                ("key_env", Value::StringLit(lit)) => provider.key_env = Some(lit.value.to_string()),
                ("headers", Value::Object(headers)) => provider.headers = self.headers(&key, headers),
                ("key" | "api_key", _) => {
                    let text = "a key does not belong into settings.json: name its environment variable with \
                                `key_env`, or put it into keys.json (mode 0600)";
                    self.problem(field.range.start, &key, text.into());
                }
                ("base_url" | "key_env", other) => {
                    self.problem(at, &key, format!("expected a text, found {}", found(other)));
                }
                ("headers", other) => {
                    self.problem(at, &key, format!("expected an object of texts, found {}", found(other)));
                }
                _ => self.unknown_field(field, &key, &["wire", "base_url", "key_env", "headers"]),
            }
        }
        provider
    }

    fn headers(&mut self, key: &str, headers: &Object<'_>) -> BTreeMap<String, String> {
        let mut out = BTreeMap::new();
        for header in &headers.properties {
            match &header.value {
                Value::StringLit(lit) => {
                    out.insert(header.name.as_str().to_string(), lit.value.to_string());
                }
                other => {
                    let key = format!("{key}.{}", header.name.as_str());
                    self.problem(
                        other.range().start,
                        &key,
                        format!("expected a text, found {}", found(other)),
                    );
                }
            }
        }
        out
    }

    fn models(&mut self, key: &str, object: &Object<'_>) -> Given {
        let mut out = BTreeMap::new();
        for property in &object.properties {
            let key = format!("{key}.{}", property.name.as_str());
            match &property.value {
                Value::Object(fields) => {
                    out.insert(property.name.as_str().to_string(), self.model(&key, fields));
                }
                other => {
                    let text = format!("expected an object `{{ … }}`, found {}", found(other));
                    self.problem(other.range().start, &key, text);
                }
            }
        }
        Given::Models(out)
    }

    fn model(&mut self, key: &str, fields: &Object<'_>) -> ModelCard {
        let mut model = ModelCard::default();
        for field in &fields.properties {
            let name = field.name.as_str();
            let key = format!("{key}.{name}");
            match (name, &field.value) {
                ("window" | "max_output", value) => {
                    if let Some(Given::Whole(number)) = self.value(Kind::Whole(1, TOKENS_MAX), &key, value) {
                        let place = if name == "window" { &mut model.window } else { &mut model.max_output };
                        *place = Some(number);
                    }
                }
                ("images", value) => {
                    if let Some(Given::Bool(images)) = self.value(Kind::Bool, &key, value) {
                        model.images = Some(images);
                    }
                }
                ("thinking", value) => {
                    if let Some(Given::Text(word)) = self.value(Kind::Choice(THINKING_STYLES), &key, value) {
                        model.thinking = thinking_style(&word);
                    }
                }
                ("price", Value::Object(prices)) => model.price = Some(self.price(&key, prices)),
                ("price", other) => {
                    let text = format!("expected an object `{{ … }}`, found {}", found(other));
                    self.problem(other.range().start, &key, text);
                }
                _ => self.unknown_field(field, &key, MODEL_FIELDS),
            }
        }
        model
    }

    fn price(&mut self, key: &str, prices: &Object<'_>) -> Price {
        let mut out = Price::default();
        for field in &prices.properties {
            let name = field.name.as_str();
            let key = format!("{key}.{name}");
            let place = match name {
                "input" => &mut out.input,
                "output" => &mut out.output,
                "cache_read" => &mut out.cache_read,
                "cache_write" => &mut out.cache_write,
                _ => {
                    self.unknown_field(field, &key, PRICES);
                    continue;
                }
            };
            let given: Option<f64> = match &field.value {
                Value::NumberLit(lit) => lit.value.parse().ok().filter(|price: &f64| *price >= 0.0),
                _ => None,
            };
            match given {
                Some(price) => *place = price,
                None => {
                    let text = format!("expected a price in dollars, found {}", found(&field.value));
                    self.problem(field.value.range().start, &key, text);
                }
            }
        }
        out
    }

    fn unknown_field(&mut self, field: &ObjectProp<'_>, key: &str, known: &[&str]) {
        self.problem(
            field.range.start,
            key,
            format!("there is no such field; expected one of {}", list(known)),
        );
    }
}

const MODEL_FIELDS: &[&str] = &["window", "max_output", "price", "images", "thinking"];
/// The fields of a model's price.
pub const PRICES: &[&str] = &["input", "output", "cache_read", "cache_write"];
/// The words of a model's `thinking`.
pub const THINKING_STYLES: &[&str] = &["none", "budget", "effort", "always"];
/// The words of a provider's `wire`; a test holds them equal to the wires.
const WIRES: &[&str] = &["anthropic", "openai-responses", "openai-chat", "gemini"];
/// No window is larger.
const TOKENS_MAX: u64 = 1_000_000_000;

fn thinking_style(word: &str) -> Option<ThinkingStyle> {
    match word {
        "none" => Some(ThinkingStyle::None),
        "budget" => Some(ThinkingStyle::Budget),
        "effort" => Some(ThinkingStyle::Effort),
        "always" => Some(ThinkingStyle::Always),
        _ => None,
    }
}

/// Keys and groups of keys, for "did you mean".
fn known() -> impl Iterator<Item = &'static str> {
    ROWS.iter().flat_map(|row| [Some(row.key), row.key.split_once('.').map(|(group, _)| group)]).flatten()
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// What a kind expects, in words.
pub fn expected(kind: Kind) -> String {
    match kind {
        Kind::Bool => "`true` or `false`".into(),
        Kind::Text => "a text".into(),
        Kind::Whole(least, most) => format!("a whole number from {least} to {most}"),
        Kind::Choice(words) => format!("one of {}", list(words)),
        Kind::Rules => "a list `[ … ]` of rules".into(),
        Kind::Providers | Kind::Models => "an object `{ … }`".into(),
    }
}

/// What was found, in words; long texts are cut.
fn found(value: &Value<'_>) -> String {
    match value {
        Value::StringLit(lit) => {
            let short: String = lit.value.chars().take(40).collect();
            let dots = if short.len() < lit.value.len() { "…" } else { "" };
            format!("the text {:?}", format!("{short}{dots}"))
        }
        Value::NumberLit(lit) => format!("the number {}", lit.value),
        Value::BooleanLit(lit) => format!("`{}`", lit.value),
        Value::Object(_) => "an object".into(),
        Value::Array(_) => "a list".into(),
        Value::NullKeyword(_) => "`null`".into(),
    }
}

/// The members of the outermost object of a text that need not be JSON: what stands between commas
/// outside of strings, comments and brackets, with where it begins. A string ends with its line.
fn members(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let (mut depth, mut start, mut at) = (0_usize, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at + 1 < bytes.len() && bytes[at + 1] != b'\n' {
                    at += 1;
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let rest = &bytes[at + 2..];
                at += 3 + rest.windows(2).position(|w| w == b"*/").unwrap_or(rest.len());
            }
            b'{' | b'[' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    out.extend(text.get(start..at).map(|member| (start, member)));
                    return out;
                }
            }
            b',' if depth == 1 => {
                out.extend(text.get(start..at).map(|member| (start, member)));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if depth > 0 {
        out.extend(text.get(start..).map(|member| (start, member)));
    }
    out
}
