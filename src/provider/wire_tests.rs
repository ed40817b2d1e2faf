//! What holds for every wire: prefixes that stay the same to the byte, conversations that a server accepts,
//! streams cut anywhere.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::api::message::{Finish, Image, Thinking, ToolSpec};

#[path = "../../tests/it/server/accepts.rs"]
mod accepts;

pub(in crate::provider) fn ask(messages: Vec<Message>) -> Ask {
    Ask {
        model: "m".into(),
        system: "Be terse. \"Quote\" \u{1f600}".into(),
        tools: vec![
            ToolSpec { name: "bash", description: "runs", schema: serde_json::json!({"type": "object"}) },
            ToolSpec { name: "read", description: "reads", schema: serde_json::json!({"type": "object"}) },
        ],
        messages,
        volatile: "now: noon".into(),
        max_output: 0,
        thinking: Thinking::Default,
    }
}

pub(in crate::provider) fn said(text: &str) -> Message {
    Message::User { text: text.into(), images: Vec::new() }
}

pub(in crate::provider) fn image() -> Image {
    Image { media_type: "image/png".into(), data: "AAAA".into(), blob: None, name: "x.png".into() }
}

pub(in crate::provider) fn result(id: &str, text: &str) -> ToolResult {
    ToolResult { id: id.into(), name: "bash".into(), text: text.into(), images: Vec::new(), error: false }
}

pub(in crate::provider) fn answer(wire: &str, blocks: Vec<Block>) -> Answer {
    let finish = Finish::Finished(Stop::End);
    Answer { wire: wire.into(), model: "p/m".into(), blocks, finish, usage: None }
}

pub(in crate::provider) fn call(id: &str) -> Block {
    let input = serde_json::json!({"command": "ls"});
    Block::plain(Body::Call { id: id.into(), name: "bash".into(), input })
}

pub(in crate::provider) fn body_of(wire: Wire, ask: &Ask) -> String {
    let card = ModelCard::default();
    request(wire, ask, &Target { provider: "p", base_url: "http://127.0.0.1:1", card: &card }).body
}

pub(in crate::provider) fn json_of(wire: Wire, ask: &Ask) -> Value {
    serde_json::from_str(&body_of(wire, ask)).unwrap()
}

/// Decodes a stream of (name, data) events to its end.
pub(in crate::provider) fn decode(
    wire: Wire,
    events: &[(&str, &str)],
) -> (Came, Vec<super::super::StreamEvent>, Step) {
    let (mut decoder, mut live, mut step) = (decoder(wire, 7), Live::default(), Step::More);
    for (name, data) in events {
        if step == Step::More {
            step = decoder.event(name, data, &mut live);
        }
    }
    if step == Step::More && decoder.complete() {
        step = Step::Finished;
    }
    (decoder.take(), live.drain().collect(), step)
}

/// Whether a strict server would take the request.
pub(in crate::provider) fn accepts(wire: Wire, body: &str) -> Result<(), String> {
    accepts::accepts(wire.name(), body)
}

#[test]
fn prefixes_are_the_same_to_the_byte() {
    for wire in Wire::ALL {
        let own = answer(wire.name(), vec![Block::plain(Body::Text("on it".into())), call("c1"), call("c2")]);
        let mut first = ask(vec![said("do it")]);
        let mut second = ask(vec![
            said("do it"),
            Message::Answer(own),
            Message::Results(vec![result("c1", "a"), result("c2", "b")]),
        ]);
        second.volatile = "now: one past noon".into();
        let mut third = second.clone();
        third
            .messages
            .push(Message::Answer(answer(wire.name(), vec![Block::plain(Body::Text("done".into()))])));
        third.messages.push(said("more"));
        third.volatile = "now: two".into();
        first.volatile = "now: noon".into();
        // Cache marks move, and are no content.
        let mark = ",\"cache_control\":{\"type\":\"ephemeral\"}";
        let bodies = [first, second, third].map(|ask| body_of(wire, &ask).replace(mark, ""));
        for pair in bodies.windows(2) {
            let same = pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
            let volatile = pair[0].find("now: ").unwrap();
            let between = &pair[0][same..volatile.max(same)];
            // Nothing but the volatile part's own wrapping lies between the common prefix and it.
            assert!(between.len() <= 60 && same > 100, "{wire:?}: {between}\n{}\n{}", pair[0], pair[1]);
        }
    }
}

#[test]
fn images_errors_and_volatile_on_every_wire() {
    for wire in Wire::ALL {
        let own = answer("other", vec![call("c1"), call("c 2/x")]);
        let mut failed = result("c1", "it broke");
        failed.error = true;
        let mut seen = result("c 2/x", "a picture");
        seen.images.push(image());
        let ask = ask(vec![
            Message::User { text: "look".into(), images: vec![image()] },
            Message::Answer(own),
            Message::Results(vec![failed, seen]),
        ]);
        let body = body_of(wire, &ask);
        accepts(wire, &body).unwrap_or_else(|why| panic!("{wire:?}: {why}\n{body}"));
        assert_eq!(body.matches("AAAA").count(), 2, "{wire:?}: {body}");
        assert!(body.contains("it broke") && body.contains("rror"), "{body}");
        assert!(body.rfind("now: noon") > body.rfind("a picture"), "{wire:?}");
    }
}

#[test]
fn ids_fit_every_server_and_stay_distinct() {
    assert_eq!(call_id("toolu_01AbC-9"), "toolu_01AbC-9");
    let ids = ["", "a b", "a/b", "é", &"x".repeat(41), &"x".repeat(42)];
    let made: std::collections::BTreeSet<String> = ids.iter().map(|id| call_id(id).into_owned()).collect();
    assert_eq!(made.len(), ids.len());
    assert!(made.iter().all(|id| id.len() <= 40 && call_id(id) == *id));
}

#[test]
fn addresses() {
    assert_eq!(join("http://h:1", "/v1", "/x"), "http://h:1/v1/x");
    assert_eq!(join("http://h:1/", "/v1", "/x"), "http://h:1/v1/x");
    assert_eq!(join("http://h:1/v1/", "/v1", "/x"), "http://h:1/v1/x");
    let url = |wire, base_url| {
        let card = ModelCard::default();
        request(wire, &ask(vec![said("x")]), &Target { provider: "p", base_url, card: &card }).url
    };
    assert_eq!(url(Wire::Anthropic, "https://api.anthropic.com"), "https://api.anthropic.com/v1/messages");
    assert_eq!(url(Wire::Anthropic, "http://h/v1"), "http://h/v1/messages");
    assert_eq!(url(Wire::Gemini, "http://h"), "http://h/v1beta/models/m:streamGenerateContent?alt=sse");
    assert_eq!(
        url(Wire::Gemini, "http://h/v1beta/"),
        "http://h/v1beta/models/m:streamGenerateContent?alt=sse"
    );
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        "[ a\n]{0,4}".prop_map(|text| Block::plain(Body::Text(text))),
        "[a-c]{0,3}".prop_map(|text| Block::plain(Body::Thinking(text))),
        (
            "[a-d]{1}",
            prop_oneof![Just("{}"), Just("\"{\\\"a\""), Just("null"), Just("[1]"), Just("{\"x\":1}")]
        )
            .prop_map(|(id, json)| {
                let input = serde_json::from_str(json).unwrap();
                Block::plain(Body::Call { id, name: "bash".into(), input })
            }),
        Just(Block::plain(Body::Unknown)),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let wires = prop_oneof![
        Just("anthropic"),
        Just("openai-chat"),
        Just("openai-responses"),
        Just("gemini"),
        Just("scripted")
    ];
    prop_oneof![
        "[ a\n]{0,3}".prop_map(|text| said(&text)),
        Just(Message::User { text: String::new(), images: vec![image()] }),
        (wires, proptest::collection::vec(block(), 0..4), any::<bool>()).prop_map(|(wire, blocks, cut)| {
            // Ids are unique within an answer.
            let mut blocks = blocks;
            for (at, block) in blocks.iter_mut().enumerate() {
                if let Body::Call { id, .. } = &mut block.body {
                    id.push_str(&at.to_string());
                }
            }
            let mut answer = answer(wire, blocks);
            if cut {
                answer.finish = Finish::Truncated("cut".into());
            }
            Message::Answer(answer)
        }),
        proptest::collection::vec("[a-d][0-3]", 0..3)
            .prop_map(|ids| Message::Results(ids.iter().map(|id| result(id, "r")).collect())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_conversation_makes_a_request_that_servers_accept(
        messages in proptest::collection::vec(message(), 0..9), volatile in "(|v)"
    ) {
        for wire in Wire::ALL {
            let mut ask = ask(messages.clone());
            ask.volatile = volatile.clone();
            let body = body_of(wire, &ask);
            if let Err(why) = accepts(wire, &body) {
                prop_assert!(false, "{:?}: {}\n{}", wire, why, body);
            }
        }
    }
}
