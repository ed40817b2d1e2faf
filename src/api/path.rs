//! How a path stands in JSON: a string, or `{"bytes": "base64…"}` where it is not UTF-8. For `#[serde(with)]`.
//!
//! Not here: resolving or checking paths.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserializer, Serializer};

/// Writes a path.
pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => to.serialize_str(text),
        None => {
            let mut map = to.serialize_map(Some(1))?;
            map.serialize_entry("bytes", &STANDARD.encode(path.as_os_str().as_bytes()))?;
            map.end()
        }
    }
}

/// Reads a path.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    from.deserialize_any(PathVisitor)
}

struct PathVisitor;

impl<'de> Visitor<'de> for PathVisitor {
    type Value = PathBuf;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path: a string, or {\"bytes\": \"base64\"}")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<PathBuf, E> {
        Ok(PathBuf::from(text))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PathBuf, A::Error> {
        let mut path = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == "bytes" {
                let text: String = map.next_value()?;
                let bytes = STANDARD.decode(text).map_err(A::Error::custom)?;
                path = Some(PathBuf::from(OsString::from_vec(bytes)));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        path.ok_or_else(|| A::Error::missing_field("bytes"))
    }
}

/// The same for a path that may be missing (`null`).
pub mod maybe {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes a path or `null`.
    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        match path {
            Some(path) => super::serialize(path, to),
            None => to.serialize_none(),
        }
    }

    /// Reads a path or `null`.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        #[derive(Deserialize)]
        struct Written(#[serde(with = "super")] PathBuf);
        Ok(Option::<Written>::deserialize(from)?.map(|written| written.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Both {
        #[serde(with = "crate::api::path")]
        sure: PathBuf,
        #[serde(default, with = "crate::api::path::maybe", skip_serializing_if = "Option::is_none")]
        unsure: Option<PathBuf>,
    }

    #[test]
    fn a_path_survives_whatever_its_bytes() {
        let odd = PathBuf::from(OsString::from_vec(b"/a/\xff\xfe b".to_vec()));
        for both in [
            Both { sure: "/plain/ü".into(), unsure: None },
            Both { sure: odd.clone(), unsure: Some(odd) },
            Both { sure: "/x".into(), unsure: Some("/y".into()) },
        ] {
            let text = serde_json::to_string(&both).unwrap();
            assert_eq!(serde_json::from_str::<Both>(&text).unwrap(), both, "{text}");
        }
    }
}
