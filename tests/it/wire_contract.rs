//! The contract of every provider, over real connections to loopback servers: it streams, calls tools, is
//! cancelled, is cut anywhere, tells errors in their own words, tries again, and ends exactly once.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc;
use windlass::api::message::{Answer, Ask, Body, Finish, Message, Stop, Thinking, ToolResult, ToolSpec};
use windlass::api::provider::{ModelCard, ProviderSetting, Wire};
use windlass::base::Millis;
use windlass::law::retry::Policy;
use windlass::provider::table::{Made, Table};
use windlass::provider::wire::{Target, request};
use windlass::provider::{Control, Failure, FailureKind, STREAM_MAX, StreamEvent, Waits};

use crate::server::accepts::accepts;
use crate::server::scene::Scene;
use crate::server::{Reply, Server, Then};

const KEY: &str = "sk-very-secret";

pub fn quick() -> Policy {
    Policy { base: Millis(1), wait_max: Millis(5), ..Policy::default() }
}

pub fn made_with(wire: Wire, url: &str, waits: Waits, policy: Policy) -> Made {
    let setting = ProviderSetting {
        wire: Some(wire),
        base_url: Some(url.to_string()),
        key_env: Some("KEY".into()),
        key: None,
        headers: BTreeMap::from([("x-team".to_string(), "blue-team".to_string())]),
    };
    let settings = BTreeMap::from([("p".to_string(), setting)]);
    let env = |name: &str| (name == "KEY").then(|| KEY.to_string());
    let (table, faults) = Table::new(&settings, BTreeMap::new(), &env, waits);
    assert!(faults.is_empty());
    table.with_policy(policy).make("p/m").unwrap_or_else(|error| panic!("{error}"))
}

fn made(wire: Wire, server: &Server) -> Made {
    made_with(wire, &server.url(), Waits::default(), quick())
}

pub fn ask(messages: Vec<Message>) -> Ask {
    let schema = serde_json::json!({"type": "object", "properties": {"command": {"type": "string"}}});
    Ask {
        model: "m".into(),
        system: "Be terse.".into(),
        tools: vec![ToolSpec { name: "bash", description: "Runs a command.", schema }],
        messages,
        volatile: "It is noon.".into(),
        max_output: 0,
        thinking: Thinking::Default,
    }
}

pub fn said(text: &str) -> Message {
    Message::User { text: text.into(), images: Vec::new() }
}

pub struct Ended {
    pub events: Vec<StreamEvent>,
    pub answer: Answer,
    pub failure: Option<Failure>,
}

impl Ended {
    pub fn text(&self) -> String {
        self.events.iter().fold(String::new(), |all, event| match event {
            StreamEvent::Text(text) => all + text,
            _ => all,
        })
    }
    pub fn retries(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, StreamEvent::Retrying { .. })).count()
    }
}

pub async fn run(made: &Made, ask: Ask, control: Control) -> Ended {
    run_until(made, ask, control, |_| {}).await
}

async fn run_until(made: &Made, ask: Ask, control: Control, mut each: impl FnMut(&StreamEvent)) -> Ended {
    let (out, mut incoming) = mpsc::channel(STREAM_MAX);
    let running = tokio::spawn(made.provider.stream(ask, control, out));
    let mut events = Vec::new();
    while let Some(event) = incoming.recv().await {
        each(&event);
        events.push(event);
    }
    running.await.unwrap();
    let ends = events.iter().filter(|event| matches!(event, StreamEvent::End { .. })).count();
    assert_eq!(ends, 1, "ends exactly once: {events:?}");
    match events.pop().unwrap() {
        StreamEvent::End { answer, failure } => Ended { events, answer, failure },
        other => panic!("the last event is {other:?}"),
    }
}

#[tokio::test]
async fn every_wire_streams_thinks_and_calls() {
    for wire in Wire::ALL {
        let scene = Scene::full();
        let stream = scene.stream(wire.name());
        let pieces = stream.as_bytes().chunks(7).map(<[u8]>::to_vec).collect();
        let server = Server::start(vec![Reply::stream(pieces, Duration::ZERO, Then::End)]).await;
        let ended = run(&made(wire, &server), ask(vec![said("hi")]), Control::default()).await;
        assert_eq!(ended.answer.finish, Finish::Finished(Stop::Calls), "{wire:?}");
        assert_eq!((ended.failure.as_ref(), ended.events[0].clone()), (None, StreamEvent::Begun));
        assert_eq!(ended.text(), scene.text(), "{wire:?}");
        assert_eq!(ended.answer.text(), scene.text());
        let calls: Vec<(String, serde_json::Value)> =
            ended.answer.calls().map(|(_, _, name, input)| (name.to_string(), input.clone())).collect();
        assert_eq!(calls, scene.calls, "{wire:?}");
        assert!(matches!(&ended.answer.blocks[0].body, Body::Thinking(text) if text == "hm\n"));
        let usage = ended.answer.usage.unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.output), (9, 4, 7), "{wire:?}");
        assert_eq!((ended.answer.wire.as_str(), ended.answer.model.as_str()), (wire.name(), "p/m"));
        let seen = server.seen().remove(0);
        accepts(wire.name(), &seen.body).unwrap();
        assert!(seen.head.contains(KEY) && seen.head.contains("x-team: blue-team"), "{}", seen.head);
        assert!(!seen.body.contains(KEY));
    }
}

#[tokio::test]
async fn cancel_closes_the_connection_and_keeps_what_came() {
    for wire in Wire::ALL {
        let stream = Scene::say("only the beginning").stream(wire.name());
        let text = stream.find("beginning").unwrap();
        let end = text + stream[text..].find("\n\n").or(stream[text..].find("\r\n\r\n")).unwrap() + 4;
        let server = Server::start(vec![Reply::part(&stream, end.min(stream.len()), Then::Silence)]).await;
        let control = Control::default();
        let cancel = control.cancel.clone();
        let ended = run_until(&made(wire, &server), ask(vec![said("hi")]), control, |event| {
            if matches!(event, StreamEvent::Text(_)) {
                cancel.cancel();
            }
        })
        .await;
        assert_eq!((&ended.answer.finish, &ended.failure), (&Finish::Cancelled, &None), "{wire:?}");
        assert_eq!(ended.answer.text(), "only the beginning");
        server.client_gone().await;
    }
}

#[tokio::test]
async fn dropping_the_receiver_or_the_future_closes_the_connection_too() {
    let stream = Scene::say("x").stream("anthropic");
    let server = Server::start(vec![Reply::part(&stream, 200, Then::Silence)]).await;
    let made = made(Wire::Anthropic, &server);
    let (out, mut incoming) = mpsc::channel(STREAM_MAX);
    let running = tokio::spawn(made.provider.stream(ask(vec![said("hi")]), Control::default(), out));
    assert_eq!(incoming.recv().await, Some(StreamEvent::Begun));
    drop(incoming);
    server.client_gone().await;
    running.await.unwrap();
    let (out, mut incoming) = mpsc::channel(STREAM_MAX);
    let running = tokio::spawn(made.provider.stream(ask(vec![said("hi")]), Control::default(), out));
    assert_eq!(incoming.recv().await, Some(StreamEvent::Begun));
    running.abort();
    server.client_gone().await;
}

/// A stream cut at every byte: never finished before its time, never a panic, and the next request is valid.
async fn cut_at_every_byte(wire: Wire) {
    let scene = Scene::full();
    let stream = scene.stream(wire.name());
    let end = match wire {
        Wire::Anthropic => stream.rfind("message_stop\"}").unwrap() + "message_stop\"}\n\n".len(),
        // A CR alone ends the blank line already.
        Wire::OpenaiResponses => stream.len() - 1,
        // From the reason to finish on, a stream may lack the rest.
        Wire::OpenaiChat => stream.find("\"finish_reason\":\"tool_calls\"").unwrap(),
        Wire::Gemini => stream.find("\"finishReason\"").unwrap(),
    };
    let replies = (0..stream.len()).map(|bytes| Reply::part(&stream, bytes, Then::Cut)).collect();
    let server = Server::start(replies).await;
    let made = made_with(wire, &server.url(), Waits::default(), Policy { tries_max: 1, ..quick() });
    let card = ModelCard::default();
    let target = Target { provider: "p", base_url: "http://127.0.0.1:1", card: &card };
    for bytes in 0..stream.len() {
        let ended = run(&made, ask(vec![said("hi")]), Control::default()).await;
        let came =
            ended.events.iter().any(|event| *event != StreamEvent::Begun) || !ended.answer.blocks.is_empty();
        match &ended.answer.finish {
            Finish::Truncated(why) => assert!(!why.is_empty()),
            Finish::Finished(_) => assert!(bytes >= end, "{wire:?}: finished at {bytes} of {end}"),
            Finish::Failed(_) => assert!(!came, "{wire:?}: what came at {bytes} is kept"),
            Finish::Cancelled => panic!("nobody cancelled"),
        }
        assert!(scene.text().starts_with(&ended.answer.text()));
        let results = ended.answer.calls().map(|(_, id, name, _)| ToolResult {
            id: id.into(),
            name: name.into(),
            text: "interrupted".into(),
            images: Vec::new(),
            error: true,
        });
        let results = Message::Results(results.collect());
        let next = ask(vec![said("hi"), Message::Answer(ended.answer.clone()), results, said("go on")]);
        for other in [wire, Wire::ALL[bytes % 4]] {
            let body = request(other, &next, &target).body;
            accepts(other.name(), &body)
                .unwrap_or_else(|why| panic!("{wire:?} at {bytes}, {other:?}: {why}\n{body}"));
        }
    }
}

#[tokio::test]
async fn anthropic_cut_at_every_byte() {
    cut_at_every_byte(Wire::Anthropic).await;
}

#[tokio::test]
async fn openai_responses_cut_at_every_byte() {
    cut_at_every_byte(Wire::OpenaiResponses).await;
}

#[tokio::test]
async fn openai_chat_cut_at_every_byte() {
    cut_at_every_byte(Wire::OpenaiChat).await;
}

#[tokio::test]
async fn gemini_cut_at_every_byte() {
    cut_at_every_byte(Wire::Gemini).await;
}

#[tokio::test]
async fn an_error_is_told_in_its_own_words_without_the_key() {
    for wire in Wire::ALL {
        let body = format!(r#"{{"error":{{"message":"bad key {KEY} of blue-team","type":"auth"}}}}"#);
        let server = Server::start(vec![Reply::error(401, &["content-type: application/json"], &body)]).await;
        let ended = run(&made(wire, &server), ask(vec![said("hi")]), Control::default()).await;
        let failure = ended.failure.unwrap();
        assert_eq!((failure.kind, failure.status), (FailureKind::Key, Some(401)));
        assert!(
            failure.text.contains("bad key ••• of •••") && failure.text.contains("Check the key"),
            "{}",
            failure.text
        );
        assert_eq!((ended.answer.finish, ended.events.len()), (Finish::Failed(failure.text), 0));
        assert_eq!(server.seen().len(), 1, "not tried again");
    }
}

#[tokio::test]
async fn tries_again_until_it_works_and_tells_each() {
    for wire in Wire::ALL {
        let server = Server::start(vec![
            Reply::error(429, &["retry-after: 0"], r#"{"error":{"message":"slow down"}}"#),
            Reply::error(529, &["retry-after: Sun, 06 Nov 1994 08:49:37 GMT"], "overloaded"),
            Reply::Drop,
            Reply::part("", 0, Then::Cut),
            Reply::error(503, &[], "<h1>busy</h1>"),
            Reply::whole(&Scene::say("at last").stream(wire.name())),
        ])
        .await;
        let ended = run(&made(wire, &server), ask(vec![said("hi")]), Control::default()).await;
        assert_eq!((ended.answer.text().as_str(), ended.retries()), ("at last", 5), "{wire:?}");
        assert_eq!(ended.events.iter().filter(|event| **event == StreamEvent::Begun).count(), 1);
        let StreamEvent::Retrying { attempt, why, .. } = &ended.events[0] else {
            panic!("{:?}", ended.events)
        };
        assert!(*attempt == 2 && why.contains("slow down"), "{why}");
        let bodies: Vec<String> = server.seen().into_iter().map(|seen| seen.body).collect();
        assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "each try sends the same bytes");
    }
}

#[tokio::test]
async fn gives_up_after_its_tries_and_a_wait_is_cut_short_or_cancelled() {
    let server = Server::start(vec![Reply::error(500, &[], r#"{"error":"broken"}"#)]).await;
    let ended = run(&made(Wire::OpenaiChat, &server), ask(vec![said("hi")]), Control::default()).await;
    assert_eq!((ended.retries(), server.seen().len()), (5, 6));
    assert!(ended.failure.unwrap().text.contains("Tried 6 times"));

    let slow = vec![
        Reply::error(429, &["retry-after: 3000"], "later"),
        Reply::whole(&Scene::say("now").stream("openai-chat")),
    ];
    let server = Server::start(slow).await;
    let control = Control::default();
    let retry_now = control.retry_now.clone();
    let made_ = made(Wire::OpenaiChat, &server);
    let ended = run_until(&made_, ask(vec![said("hi")]), control, |event| {
        if matches!(event, StreamEvent::Retrying { .. }) {
            retry_now.notify_one();
        }
    })
    .await;
    assert_eq!(ended.answer.text(), "now");

    let server = Server::start(vec![Reply::error(429, &["retry-after: 3000"], "later")]).await;
    let control = Control::default();
    let cancel = control.cancel.clone();
    let ended = run_until(&made(Wire::OpenaiChat, &server), ask(vec![said("hi")]), control, |event| {
        if matches!(event, StreamEvent::Retrying { .. }) {
            cancel.cancel();
        }
    })
    .await;
    assert_eq!(ended.answer.finish, Finish::Cancelled);
}

#[tokio::test]
async fn a_silent_stream_ends_and_a_comment_is_life() {
    let waits = Waits { idle: Duration::from_millis(400), ..Waits::default() };
    for wire in Wire::ALL {
        let stream = Scene::full().stream(wire.name());
        let middle = stream.len() / 2;
        let server = Server::start(vec![Reply::part(&stream, middle, Then::Silence)]).await;
        let ended =
            run(&made_with(wire, &server.url(), waits, quick()), ask(vec![said("hi")]), Control::default())
                .await;
        assert!(matches!(ended.answer.finish, Finish::Truncated(_)), "{:?}", ended.answer.finish);
        assert_eq!(ended.failure.unwrap().kind, FailureKind::Silent);
        server.client_gone().await;

        let mut pieces = vec![b": keep-alive\n\n".to_vec(); 6];
        pieces.push(Scene::say("alive").stream(wire.name()).into_bytes());
        let server = Server::start(vec![Reply::stream(pieces, Duration::from_millis(100), Then::End)]).await;
        let ended =
            run(&made_with(wire, &server.url(), waits, quick()), ask(vec![said("hi")]), Control::default())
                .await;
        assert_eq!(ended.answer.text(), "alive");
    }
}

#[tokio::test]
async fn nobody_there_is_told_with_the_address_left_out() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/s3cret-path", listener.local_addr().unwrap().port());
    drop(listener);
    let ended = run(
        &made_with(Wire::OpenaiChat, &url, Waits::default(), quick()),
        ask(vec![said("hi")]),
        Control::default(),
    )
    .await;
    let failure = ended.failure.unwrap();
    assert_eq!(
        (failure.kind, ended.answer.finish),
        (FailureKind::Connection, Finish::Failed(failure.text.clone()))
    );
    assert!(failure.text.contains("refused") && !failure.text.contains("s3cret"), "{}", failure.text);
}

#[tokio::test]
async fn errors_inside_a_stream() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let good = Scene::say("ok").stream("anthropic");
    let server = Server::start(vec![Reply::whole(overloaded), Reply::whole(&good)]).await;
    let ended = run(&made(Wire::Anthropic, &server), ask(vec![said("hi")]), Control::default()).await;
    assert_eq!((ended.retries(), ended.answer.text().as_str()), (1, "ok"), "nothing had come: tried again");

    let cut = good.find("event: content_block_stop").unwrap();
    let server = Server::start(vec![Reply::whole(&format!("{}{overloaded}", &good[..cut]))]).await;
    let ended = run(&made(Wire::Anthropic, &server), ask(vec![said("hi")]), Control::default()).await;
    assert!(matches!(&ended.answer.finish, Finish::Failed(why) if why.contains("Overloaded")));
    assert_eq!(ended.answer.text(), "ok", "what came is kept");

    let json =
        Reply::error(200, &["content-type: application/json"], r#"{"error":{"message":"no stream here"}}"#);
    let server = Server::start(vec![json]).await;
    let ended = run(&made(Wire::OpenaiChat, &server), ask(vec![said("hi")]), Control::default()).await;
    assert!(ended.failure.unwrap().text.contains("no stream here"));

    let garbled = format!("{}data: {{oops\n\n", &Scene::say("a").stream("openai-chat")[..120]);
    let server = Server::start(vec![Reply::whole(&garbled)]).await;
    let ended = run(&made(Wire::OpenaiChat, &server), ask(vec![said("hi")]), Control::default()).await;
    assert!(!matches!(ended.answer.finish, Finish::Finished(_)));
}

#[tokio::test]
async fn servers_on_loopback_are_found_within_a_bound() {
    use windlass::provider::probe::{Place, probe};
    let tags = Reply::error(200, &["content-type: application/json"], r#"{"models":[{"name":"qwen3:4b"}]}"#);
    let models = Reply::error(200, &["content-type: application/json"], r#"{"data":[{"id":"org/m"}]}"#);
    let (ollama, vllm) = (Server::start(vec![tags]).await, Server::start(vec![models]).await);
    let page = Server::start(vec![Reply::error(200, &[], "<html>")]).await;
    let silent = Server::start(vec![Reply::part("x", 1, Then::Silence)]).await;
    let begin = std::time::Instant::now();
    let found = probe(&[
        Place { name: "ollama", port: ollama.port, path: "/api/tags" },
        Place { name: "vllm", port: vllm.port, path: "/v1/models" },
        Place { name: "page", port: page.port, path: "/v1/models" },
        Place { name: "silent", port: silent.port, path: "/v1/models" },
    ])
    .await;
    assert!(begin.elapsed() < Duration::from_secs(5));
    let names: Vec<(&str, &str)> =
        found.iter().map(|found| (found.endpoint.name.as_str(), found.models[0].as_str())).collect();
    assert_eq!(names, [("ollama", "qwen3:4b"), ("vllm", "org/m")]);
    assert_eq!(found[0].endpoint.base_url, format!("http://127.0.0.1:{}/v1", ollama.port));
}
