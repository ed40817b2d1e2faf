//! Model servers on this machine: who listens on the usual ports, and with which models.
//!
//! Only loopback is asked, all ports at once, each within a bound. Not here: choosing one.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;

use super::http::direct;
use super::table::{Endpoint, Headers};
use crate::api::provider::Wire;

/// How long a server may take.
const PATIENCE: Duration = Duration::from_millis(300);
/// Most bytes of its list.
const LIST_MAX: usize = 1 << 20;

/// A server that may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The provider's name, when it is there.
    pub name: &'static str,
    /// Its port.
    pub port: u16,
    /// The path of its list of models.
    pub path: &'static str,
}

impl Place {
    /// How to speak to the server there.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint {
            name: self.name.to_string(),
            wire: Wire::OpenaiChat,
            base_url: format!("http://127.0.0.1:{}/v1", self.port),
            key: None,
            key_env: None,
            headers: Headers::default(),
        }
    }
}

/// The usual ones.
pub const USUAL: [Place; 4] = [
    Place { name: "ollama", port: 11434, path: "/api/tags" },
    Place { name: "llamacpp", port: 8080, path: "/v1/models" },
    Place { name: "lmstudio", port: 1234, path: "/v1/models" },
    Place { name: "vllm", port: 8000, path: "/v1/models" },
];

/// A server that is there.
#[derive(Clone, Debug)]
pub struct Found {
    /// How to speak to it.
    pub endpoint: Endpoint,
    /// Its models.
    pub models: Vec<String>,
}

/// Looks at all places at once; takes a third of a second at most.
pub async fn probe(places: &[Place]) -> Vec<Found> {
    let all = join_all(
        places
            .iter()
            .map(|place| async move { tokio::time::timeout(PATIENCE, look(place)).await.ok().flatten() }),
    );
    all.await.into_iter().flatten().collect()
}

async fn look(place: &Place) -> Option<Found> {
    let client = direct().ok()?;
    let response = client.get(format!("http://127.0.0.1:{}{}", place.port, place.path)).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(bytes) = stream.next().await {
        body.extend_from_slice(&bytes.ok()?);
        if body.len() > LIST_MAX {
            return None;
        }
    }
    let models = models(&body)?;
    let endpoint = place.endpoint();
    Some(Found { endpoint, models })
}

/// The names in a list; llama.cpp sends its list twice, in both forms.
fn models(body: &[u8]) -> Option<Vec<String>> {
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    let items = value.get("data").or_else(|| value.get("models"))?.as_array()?;
    let name = |item: &serde_json::Value| {
        ["id", "name", "model"].iter().find_map(|key| item.get(*key)?.as_str()).map(str::to_string)
    };
    Some(items.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_each_server() {
        assert_eq!(models(br#"{"models":[{"name":"qwen3:4b","model":"qwen3:4b"}]}"#).unwrap(), ["qwen3:4b"]);
        assert_eq!(
            models(br#"{"object":"list","data":[{"id":"a"},{"id":"b"}],"models":[]}"#).unwrap(),
            ["a", "b"]
        );
        assert!(models(b"<html>").is_none());
        assert!(models(b"{}").is_none());
    }
}
