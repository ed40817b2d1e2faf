//! JSON as the wires write and keep it: a writer that puts raw values in verbatim, and objects whose
//! members keep their order and their bytes.
//!
//! Why not `serde_json::Value`: a provider's number or escape would come back changed, and bytes that
//! change break its prompt cache.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Writes JSON; puts commas where they belong.
#[derive(Debug, Default)]
pub(super) struct Json {
    out: String,
}

impl Json {
    /// Before a value or a key: a comma, unless one begins or a key stands before.
    fn part(&mut self) {
        if !matches!(self.out.as_bytes().last(), None | Some(b'{' | b'[' | b':')) {
            self.out.push(',');
        }
    }
    /// A member's key.
    pub(super) fn key(&mut self, key: &str) -> &mut Self {
        self.part();
        quote(&mut self.out, key);
        self.out.push(':');
        self
    }
    /// Opens an object or a list.
    pub(super) fn open(&mut self, bracket: char) -> &mut Self {
        self.part();
        self.out.push(bracket);
        self
    }
    /// Closes it.
    pub(super) fn close(&mut self, bracket: char) -> &mut Self {
        self.out.push(bracket);
        self
    }
    /// A string.
    pub(super) fn str(&mut self, text: &str) -> &mut Self {
        self.part();
        quote(&mut self.out, text);
        self
    }
    /// A string from pieces.
    pub(super) fn pieces(&mut self, pieces: &[&str]) -> &mut Self {
        self.part();
        self.out.push('"');
        for piece in pieces {
            escape(&mut self.out, piece);
        }
        self.out.push('"');
        self
    }
    /// JSON as it is.
    pub(super) fn raw(&mut self, json: &str) -> &mut Self {
        self.part();
        self.out.push_str(json);
        self
    }
    /// A value.
    pub(super) fn value(&mut self, value: &Value) -> &mut Self {
        let text = value.to_string();
        self.raw(&text)
    }
    /// A member that is a string.
    pub(super) fn member(&mut self, key: &str, text: &str) -> &mut Self {
        self.key(key).str(text)
    }
    /// What was written.
    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// A JSON string of the text.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote(&mut out, text);
    out
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    escape(out, text);
    out.push('"');
}

fn escape(out: &mut String, text: &str) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        if short.is_empty() {
            out.push_str(&format!("\\u{byte:04x}"));
        } else {
            out.push_str(short);
        }
        from = at + 1;
    }
    out.push_str(&text[from..]);
}

/// An object whose members keep their order and their bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct RawObject(pub(super) Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = RawObject;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(RawObject(all))
            }
        }
        from.deserialize_map(Members)
    }
}

impl RawObject {
    /// Parses an object.
    pub(super) fn parse(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
    /// A member's bytes.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v.get())
    }
    /// A member that is a string.
    pub(super) fn string(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }
    /// Sets a member, in its place or at the end.
    pub(super) fn set(&mut self, key: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(k, _)| k == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_string(), value)),
        }
    }
    /// The whole as JSON.
    pub(super) fn to_raw(&self) -> Option<Box<RawValue>> {
        let mut json = Json::default();
        json.open('{');
        for (key, value) in &self.0 {
            json.key(key).raw(value.get());
        }
        json.close('}');
        raw(json.finish())
    }
}

/// Text that is JSON, as such; nothing when it is not.
pub(super) fn raw(text: String) -> Option<Box<RawValue>> {
    RawValue::from_string(text).ok()
}

/// A call's arguments from the text that came: nothing means none, and what is no JSON stays text.
pub(super) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string()))
}

/// A call's arguments as the object that every wire demands.
pub(super) fn arguments_object(input: &Value) -> String {
    match input {
        Value::Object(_) => input.to_string(),
        Value::Null => "{}".into(),
        other => format!("{{\"not_an_object\":{other}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn objects_keep_order_and_bytes() {
        let text = r#"{"b":1.00,"a":{"x" : 12345678901234567890123},"c":"\u00e9"}"#;
        let mut object = RawObject::parse(text).unwrap();
        assert_eq!(object.to_raw().unwrap().get(), text);
        object.set("b", raw("2".into()).unwrap());
        object.set("d", raw(quoted("x")).unwrap());
        assert!(object.to_raw().unwrap().get().starts_with(r#"{"b":2,"a":"#));
        assert_eq!(object.string("c").as_deref(), Some("é"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn strings_come_back(text in any::<String>(), more in any::<String>()) {
            let back: String = serde_json::from_str(&quoted(&text)).unwrap();
            prop_assert_eq!(&back, &text);
            let mut json = Json::default();
            json.open('{').member(&text, &more).key("l").open('[').pieces(&[&text, &more]).raw("1").open('{').close('}').close(']').close('}');
            let value: Value = serde_json::from_str(&json.finish()).unwrap();
            prop_assert_eq!(value["l"][0].as_str().unwrap(), format!("{text}{more}"));
        }
    }
}
