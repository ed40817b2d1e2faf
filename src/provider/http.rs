//! Requests over HTTP: one client in the process, made on first use; a stream that goes silent ends; a
//! cancel closes the connection at once, because the response is dropped.
//!
//! Not here: what is sent and what comes back mean (the wires), tries and waits (`tries`). No text that
//! leaves this file holds a key.

use std::sync::OnceLock;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::live::Live;
use super::sse::{Sse, TooLong};
use super::tries::{Attempt, Ending, Outlet, Source, now};
use super::wire::{Came, Decoder, HttpRequest, Step, decoder};
use super::{Failure, FailureKind, failure};
use crate::api::message::{Answer, Finish, Stop};
use crate::api::provider::Wire;
use crate::base::{Millis, chain};
use crate::law::retry::{Cause, retry_after};

/// Most bytes read of an error's body.
const ERROR_BODY_MAX: usize = 64 << 10;
/// Most bytes that are taken in before their events are sent.
const AT_ONCE_MAX: usize = 64 << 10;
/// How long a finished stream may take to close, so that its connection can be used again.
const LINGER: Duration = Duration::from_millis(20);

/// Waits of a request.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// For a connection.
    pub connect: Duration,
    /// For the next byte of a stream (comments count), and for the answer's head.
    pub idle: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(30), idle: Duration::from_secs(300) }
    }
}

/// One request to a provider.
pub(super) struct Exchange {
    pub(super) wire: Wire,
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) request: HttpRequest,
    pub(super) headers: Vec<(String, String)>,
    pub(super) key: Option<SecretString>,
    pub(super) waits: Waits,
    pub(super) seed: u64,
    pub(super) decoder: Box<dyn Decoder>,
}

/// Why reading stopped.
#[derive(Debug, PartialEq)]
enum Stopped {
    Finished,
    /// The stream's end, and why, when it was not a clean one.
    Eof(Option<String>),
    Failed {
        status: Option<u16>,
        words: String,
    },
    Garbled,
    TooLong(TooLong),
}

/// A stream under way.
#[derive(Default)]
struct Reading {
    sse: Sse,
    live: Live,
}

impl Reading {
    fn take(&mut self, bytes: &[u8], decoder: &mut dyn Decoder) -> Option<Stopped> {
        let (mut step, live) = (Step::More, &mut self.live);
        let pushed = self.sse.push(bytes, |event| {
            if step == Step::More {
                step = decoder.event(event.name, event.data, live);
            }
        });
        match step {
            Step::More => pushed.err().map(Stopped::TooLong),
            Step::Finished => Some(Stopped::Finished),
            Step::Failed { status, words } => Some(Stopped::Failed { status, words }),
            Step::Garbled => Some(Stopped::Garbled),
        }
    }
}

impl Source for Exchange {
    async fn attempt(&mut self, outlet: &mut Outlet) -> Attempt {
        self.decoder = decoder(self.wire, self.seed);
        let response = match self.open().await {
            Ok(response) => response,
            Err(attempt) => return attempt,
        };
        outlet.begun().await;
        self.read(response, outlet).await
    }

    fn answer(&mut self, ending: &Ending) -> Answer {
        let Came { blocks, stop, usage } = self.decoder.take();
        let finish = match ending {
            Ending::Finished => Finish::Finished(stop.unwrap_or(Stop::End)),
            Ending::Truncated(failure) => Finish::Truncated(failure.text.clone()),
            Ending::Cancelled => Finish::Cancelled,
            Ending::Failed(failure) => Finish::Failed(failure.text.clone()),
        };
        Answer { wire: self.wire.name().into(), model: self.model.clone(), blocks, finish, usage }
    }
}

impl Exchange {
    /// Sends the request; a response with status 200, or what this try came to.
    async fn open(&self) -> Result<reqwest::Response, Attempt> {
        let client = client(&self.request.url, self.waits.connect)
            .map_err(|why| self.refused(FailureKind::Connection, None, &why, Cause::Final, None))?;
        let headers = self
            .header_map()
            .map_err(|why| self.refused(FailureKind::Key, None, &why, Cause::Final, None))?;
        let send = client.post(&self.request.url).headers(headers).body(self.request.body.clone()).send();
        let response = match tokio::time::timeout(self.waits.idle, send).await {
            Err(_) => {
                let words = format!("no answer for {} s", self.waits.idle.as_secs());
                return Err(self.refused(FailureKind::Silent, None, &words, Cause::Final, None));
            }
            Ok(Err(error)) => {
                let cause = if error.is_builder() { Cause::Final } else { Cause::Connection };
                return Err(self.refused(FailureKind::Connection, None, &reason(error), cause, None));
            }
            Ok(Ok(response)) => response,
        };
        let streams = response.status().is_success()
            && !content_type(response.headers()).starts_with("application/json");
        if streams { Ok(response) } else { Err(self.said_no(response).await) }
    }

    async fn said_no(&self, response: reqwest::Response) -> Attempt {
        let status = response.status().as_u16();
        let asked = asked(response.headers());
        let mut body = Vec::new();
        let mut stream = response.bytes_stream();
        while let Ok(Some(Ok(bytes))) = tokio::time::timeout(self.waits.idle, stream.next()).await {
            body.extend_from_slice(&bytes);
            if body.len() >= ERROR_BODY_MAX {
                break;
            }
        }
        let words = failure::words(&body);
        if (200..300).contains(&status) {
            let told =
                serde_json::from_slice::<serde_json::Value>(&body).ok().and_then(|v| failure::said(&v));
            let words = told.unwrap_or_else(|| "it answered with a document, not with a stream".into());
            return self.refused(FailureKind::Other, None, &words, Cause::Final, None);
        }
        let kind = failure::kind_of(status, &words);
        let final_busy = kind == FailureKind::Other;
        let cause = if final_busy { Cause::Final } else { Cause::Status(status) };
        self.refused(kind, Some(status), &words, cause, asked)
    }

    async fn read(&mut self, response: reqwest::Response, outlet: &mut Outlet) -> Attempt {
        let mut stream = Box::pin(response.bytes_stream());
        let mut reading = Reading::default();
        loop {
            let mut next = match tokio::time::timeout(self.waits.idle, stream.next()).await {
                Ok(next) => Some(next),
                Err(_) => {
                    let words = format!("the stream was silent for {} s", self.waits.idle.as_secs());
                    return self.broke(&reading.live, FailureKind::Silent, &words);
                }
            };
            // A server sends piece by piece: what has arrived already is taken in before anything is told.
            let mut room = AT_ONCE_MAX;
            let stop = loop {
                match next {
                    None => break None,
                    Some(Some(Ok(bytes))) => {
                        room = room.saturating_sub(bytes.len());
                        if let Some(stop) = reading.take(&bytes, self.decoder.as_mut()) {
                            break Some(stop);
                        }
                    }
                    Some(None) => break Some(Stopped::Eof(None)),
                    Some(Some(Err(error))) => break Some(Stopped::Eof(Some(reason(error)))),
                }
                next = if room == 0 { None } else { stream.next().now_or_never() };
            };
            for event in reading.live.drain() {
                outlet.send(event).await;
            }
            if let Some(stop) = stop {
                if stop == Stopped::Finished {
                    // The close stands right behind: read to it, so that the connection can be used again.
                    let rest = async { while stream.next().await.is_some() {} };
                    let _late = tokio::time::timeout(LINGER, rest).await;
                }
                return self.stopped(stop, &reading.live);
            }
        }
    }

    fn stopped(&self, stop: Stopped, live: &Live) -> Attempt {
        match stop {
            Stopped::Finished => Attempt::Over(Ending::Finished),
            Stopped::Eof(_) if self.decoder.complete() => Attempt::Over(Ending::Finished),
            Stopped::Eof(None) => {
                self.broke(live, FailureKind::Connection, "the stream ended before the answer did")
            }
            Stopped::Eof(Some(why)) => self.broke(live, FailureKind::Connection, &why),
            Stopped::Failed { status, words } => self.failed(live, status, &words),
            Stopped::Garbled => {
                self.broke(live, FailureKind::Connection, "the stream held an event that is no JSON")
            }
            Stopped::TooLong(error) => self.broke(live, FailureKind::Other, &error.to_string()),
        }
    }

    /// The stream broke: tried again when nothing had come, else what came is kept.
    fn broke(&self, live: &Live, kind: FailureKind, words: &str) -> Attempt {
        if live.came() {
            let failure = self.failure(kind, None, words);
            return Attempt::Over(Ending::Truncated(failure));
        }
        let cause = if kind == FailureKind::Connection { Cause::Connection } else { Cause::Final };
        self.refused(kind, None, words, cause, None)
    }

    /// The provider told an error inside the stream.
    fn failed(&self, live: &Live, status: Option<u16>, words: &str) -> Attempt {
        let kind = status.map_or(FailureKind::Other, |status| failure::kind_of(status, words));
        if live.came() {
            return Attempt::Over(Ending::Failed(self.failure(kind, status, words)));
        }
        let cause = status.map_or(Cause::Final, Cause::Status);
        self.refused(kind, status, words, cause, None)
    }

    fn refused(
        &self,
        kind: FailureKind,
        status: Option<u16>,
        words: &str,
        cause: Cause,
        asked: Option<Millis>,
    ) -> Attempt {
        Attempt::Refused { failure: self.failure(kind, status, words), cause, asked }
    }

    fn failure(&self, kind: FailureKind, status: Option<u16>, words: &str) -> Failure {
        let text = failure::text(&self.provider, status, words, kind);
        Failure { kind, status, text: self.scrub(text) }
    }

    /// Takes the key and every header of the settings out of a text.
    fn scrub(&self, text: String) -> String {
        let key = self.key.as_ref().map(|key| key.expose_secret());
        let secrets = key.into_iter().chain(self.headers.iter().map(|(_, value)| value.as_str()));
        secrets.filter(|secret| secret.len() >= 4).fold(text, |text, secret| text.replace(secret, "•••"))
    }

    fn header_map(&self) -> Result<HeaderMap, String> {
        let mut map = HeaderMap::new();
        map.insert("content-type", HeaderValue::from_static("application/json"));
        map.insert("accept", HeaderValue::from_static("text/event-stream"));
        for (name, value) in &self.request.headers {
            let value =
                HeaderValue::from_str(value).map_err(|_| format!("the header {name} has no valid value"))?;
            map.insert(*name, value);
        }
        if let Some(key) = &self.key {
            let (name, before) = match self.wire {
                Wire::Anthropic => ("x-api-key", ""),
                Wire::OpenaiResponses | Wire::OpenaiChat => ("authorization", "Bearer "),
                Wire::Gemini => ("x-goog-api-key", ""),
            };
            let mut value = HeaderValue::from_str(&format!("{before}{}", key.expose_secret().trim()))
                .map_err(|_| "the key holds characters that no header may hold".to_string())?;
            value.set_sensitive(true);
            map.insert(name, value);
        }
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(name.as_str())
                .map_err(|_| format!("the setting `headers` has no valid name {name:?}"))?;
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| format!("the setting `headers` has no valid value for {name}"))?;
            value.set_sensitive(true);
            map.insert(name, value);
        }
        Ok(map)
    }
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The wait that the server asks for.
fn asked(headers: &HeaderMap) -> Option<Millis> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let ms = text("retry-after-ms").and_then(|ms| ms.trim().parse::<f64>().ok());
    match ms.filter(|ms| ms.is_finite() && *ms >= 0.0) {
        Some(ms) => Some(Millis(ms as u64)),
        None => retry_after(text("retry-after")?, now()),
    }
}

/// Why a request failed: what broke, and the innermost cause. Without its address, which may hold a secret.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let what = if error.is_timeout() {
        "it took too long to connect"
    } else if error.is_connect() {
        "cannot connect"
    } else if error.is_body() || error.is_decode() {
        "the connection broke"
    } else {
        return chain(&error);
    };
    let mut cause: &dyn std::error::Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    format!("{what}: {cause}")
}

/// Whether an address is on this machine.
pub(super) fn is_loopback(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The client of the process for this address.
fn client(url: &str, connect: Duration) -> Result<reqwest::Client, String> {
    static OUTSIDE: OnceLock<Result<reqwest::Client, String>> = OnceLock::new();
    if is_loopback(url) {
        return direct();
    }
    OUTSIDE.get_or_init(|| made(|builder| builder.connect_timeout(connect))).clone()
}

/// The client for what is on this machine: no proxy is ever asked for it.
pub(super) fn direct() -> Result<reqwest::Client, String> {
    static DIRECT: OnceLock<Result<reqwest::Client, String>> = OnceLock::new();
    DIRECT.get_or_init(|| made(|builder| builder.no_proxy())).clone()
}

fn made(
    with: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
) -> Result<reqwest::Client, String> {
    // Another part of the process may have installed it first; either is the same one.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
        .tcp_nodelay(true)
        .redirect(reqwest::redirect::Policy::none());
    with(builder).build().map_err(|error| format!("the HTTP client cannot be made: {}", reason(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_known_by_its_address() {
        for url in [
            "http://127.0.0.1:1/v1",
            "http://localhost/v1",
            "http://[::1]:8080",
            "http://127.9.9.9",
            "http://a.localhost",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["https://api.anthropic.com", "http://10.0.0.1", "http://localhost.evil.org", "nonsense"] {
            assert!(!is_loopback(url), "{url}");
        }
    }

    #[test]
    fn both_clients_can_be_made() {
        for url in ["https://api.anthropic.com", "http://127.0.0.1:1"] {
            let made = client(url, Duration::from_secs(1));
            assert!(made.is_ok(), "{made:?}");
        }
    }

    #[test]
    fn what_a_server_asks_for() {
        let map = |name: &'static str, value: &'static str| {
            let mut map = HeaderMap::new();
            map.insert(name, HeaderValue::from_static(value));
            map
        };
        assert_eq!(asked(&map("retry-after-ms", "1500.5")), Some(Millis(1500)));
        assert_eq!(asked(&map("retry-after", "2")), Some(Millis(2000)));
        assert_eq!(asked(&map("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")), Some(Millis(0)));
        assert_eq!(asked(&map("retry-after", "-1")), None);
        assert_eq!(asked(&HeaderMap::new()), None);
    }
}
