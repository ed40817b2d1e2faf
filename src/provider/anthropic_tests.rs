//! The Anthropic wire: what its events mean, what goes back, how it is told to think.

use super::*;
use crate::api::message::Finish;
use crate::api::provider::ModelCard;
use crate::provider::StreamEvent;
use crate::provider::wire::tests::{accepts, answer, ask, body_of, call, decode, json_of, result, said};

const STREAM: &[(&str, &str)] = &[
    (
        "message_start",
        r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}"#,
    ),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    ),
    ("ping", r#"{"type":"ping"}"#),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm\n"}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Sig="}}"#,
    ),
    ("content_block_stop", r#"{"type":"content_block_stop","index":0}"#),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"XX"}}"#,
    ),
    ("content_block_stop", r#"{"type":"content_block_stop","index":1}"#),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"","citations":null}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Hel"}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"lo"}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"n":1}}}"#,
    ),
    ("content_block_stop", r#"{"type":"content_block_stop","index":2}"#),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"q\":1}"}}"#,
    ),
    ("content_block_stop", r#"{"type":"content_block_stop","index":3}"#),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"brand_new","x":[1.50],"text":"a"}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"new_delta","text":"b","x":[2],"n":null}}"#,
    ),
    ("content_block_stop", r#"{"type":"content_block_stop","index":4}"#),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"t1","name":"bash","input":{},"caller":{"type":"direct"}}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"{\"n\": 1.0"}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"0}"}}"#,
    ),
    ("content_block_stop", r#"{"type":"content_block_stop","index":5}"#),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":6,"content_block":{"type":"tool_use","id":"t2","name":"read","input":{}}}"#,
    ),
    ("content_block_stop", r#"{"type":"content_block_stop","index":6}"#),
    (
        "message_delta",
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}"#,
    ),
    ("message_stop", r#"{"type":"message_stop"}"#),
];

#[test]
fn a_stream_gives_blocks_raw_and_translated() {
    let (came, events, step) = decode(Wire::Anthropic, STREAM);
    assert_eq!(step, Step::Finished);
    assert_eq!(came.stop, Some(Stop::Calls));
    let usage = came.usage.unwrap();
    assert_eq!((usage.input, usage.cache_write, usage.cache_read, usage.output), (10, 5, 7, 42));
    let raws: Vec<&str> = came.blocks.iter().map(|block| block.raw.as_ref().unwrap().get()).collect();
    assert_eq!(
        raws,
        [
            r#"{"type":"thinking","thinking":"hm\n","signature":"Sig="}"#,
            r#"{"type":"redacted_thinking","data":"XX"}"#,
            r#"{"type":"text","text":"Hello","citations":[{"n":1}]}"#,
            r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":1}}"#,
            r#"{"type":"brand_new","x":[1.5,2],"text":"ab","n":null}"#,
            r#"{"type":"tool_use","id":"t1","name":"bash","input":{"n": 1.00},"caller":{"type":"direct"}}"#,
            r#"{"type":"tool_use","id":"t2","name":"read","input":{}}"#,
        ]
    );
    assert_eq!(came.blocks[0].body, Body::Thinking("hm\n".into()));
    assert_eq!(came.blocks[1].body, Body::Thinking(String::new()));
    assert_eq!(came.blocks[4].body, Body::Unknown);
    assert_eq!(events.iter().filter(|e| matches!(e, StreamEvent::CallBegun { .. })).count(), 2);
    assert!(events.contains(&StreamEvent::Text("Hello".into())), "joined: {events:?}");

    // Back to the same wire byte for byte; to another provider without what was signed.
    let own = answer("anthropic", came.blocks);
    let results = Message::Results(vec![result("t1", "1"), result("t2", "2")]);
    let ask = ask(vec![said("x"), Message::Answer(own.clone()), results]);
    let body = body_of(Wire::Anthropic, &ask);
    assert!(body.contains(&raws_joined(&own)), "{body}");
    accepts(Wire::Anthropic, &body).unwrap();
    let card = ModelCard::default();
    let other = Target { provider: "q", base_url: "http://h", card: &card };
    let body = request(&ask, &other).body;
    assert!(!body.contains("Sig=") && !body.contains("brand_new") && body.contains("Hello"));
    for wire in [Wire::OpenaiChat, Wire::OpenaiResponses, Wire::Gemini] {
        let body = body_of(wire, &ask);
        accepts(wire, &body).unwrap();
        assert!(body.contains("Hello") && !body.contains("Sig="));
    }
}

fn raws_joined(answer: &Answer) -> String {
    answer.blocks.iter().map(|block| block.raw.as_ref().unwrap().get()).collect::<Vec<_>>().join(",")
}

#[test]
fn a_stream_cut_after_any_event_goes_on_validly() {
    for cut in 0..STREAM.len() {
        let (came, _, step) = decode(Wire::Anthropic, &STREAM[..cut]);
        assert_eq!(step, Step::More, "never finished");
        let mut own = answer("anthropic", came.blocks);
        own.finish = Finish::Truncated("cut".into());
        let results = own.calls().map(|(_, id, _, _)| result(id, "interrupted")).collect();
        let ask = ask(vec![said("x"), Message::Answer(own), Message::Results(results), said("go on")]);
        for wire in Wire::ALL {
            let body = body_of(wire, &ask);
            accepts(wire, &body).unwrap_or_else(|why| panic!("cut at {cut}, {wire:?}: {why}\n{body}"));
        }
    }
}

#[test]
fn errors_inside_the_stream_keep_their_words() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let (_, _, step) = decode(Wire::Anthropic, &[("error", error)]);
    assert_eq!(step, Step::Failed { status: Some(529), words: "Overloaded (overloaded_error)".into() });
    assert_eq!(decode(Wire::Anthropic, &[("x", "{oops")]).2, Step::Garbled);
    assert_eq!(decode(Wire::Anthropic, &[("x", r#"{"type":"brand_new"}"#)]).2, Step::More);
}

#[test]
fn arguments_that_are_no_json_are_kept_and_still_go_back_as_an_object() {
    let events = [
        (
            "",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"bash","input":{}}}"#,
        ),
        (
            "",
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a"}}"#,
        ),
        ("", r#"{"type":"content_block_stop","index":0}"#),
        ("", r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{}}"#),
        ("", r#"{"type":"message_stop"}"#),
    ];
    let (came, _, _) = decode(Wire::Anthropic, &events);
    assert_eq!(came.stop, Some(Stop::MaxTokens));
    assert!(matches!(&came.blocks[0].body, Body::Call { input: Value::String(text), .. } if text == "{\"a"));
    let ask =
        ask(vec![said("x"), Message::Answer(answer("anthropic", came.blocks)), Message::Results(vec![])]);
    accepts(Wire::Anthropic, &body_of(Wire::Anthropic, &ask)).unwrap();
}

#[test]
fn cache_marks_stand_before_what_changes() {
    let own = answer("anthropic", vec![call("c")]);
    let ask = ask(vec![said("a"), Message::Answer(own), Message::Results(vec![result("c", "r")])]);
    let json = json_of(Wire::Anthropic, &ask);
    assert!(json["tools"][1]["cache_control"].is_object() && json["tools"][0]["cache_control"].is_null());
    assert!(json["system"][0]["cache_control"].is_object());
    assert!(json["messages"][0]["content"][0]["cache_control"].is_object());
    let last = &json["messages"][2]["content"];
    assert!(last[0]["cache_control"].is_object() && last[1]["cache_control"].is_null());
    assert_eq!(last[1]["text"], "now: noon");
}

#[test]
fn thinking_in_each_style() {
    let with = |style, thinking, messages: Vec<Message>| {
        let card = ModelCard { thinking: Some(style), max_output: Some(64_000), ..ModelCard::default() };
        let mut ask = ask(messages);
        ask.thinking = thinking;
        let made = request(&ask, &Target { provider: "p", base_url: "http://h", card: &card });
        let json: Value = serde_json::from_str(&made.body).unwrap();
        (json["thinking"].clone(), json["output_config"]["effort"].clone(), made.headers.len())
    };
    let one = || vec![said("x")];
    let (thinking, _, headers) = with(ThinkingStyle::Budget, Thinking::High, one());
    assert_eq!((thinking["budget_tokens"].as_u64(), headers), (Some(28_672), 2));
    let (thinking, effort, _) = with(ThinkingStyle::Effort, Thinking::Low, one());
    assert_eq!((thinking["type"].as_str(), effort.as_str()), (Some("adaptive"), Some("low")));
    assert!(with(ThinkingStyle::None, Thinking::High, one()).0.is_null());
    assert!(with(ThinkingStyle::Budget, Thinking::Default, one()).0.is_null());
    assert_eq!(with(ThinkingStyle::Budget, Thinking::Off, one()).0["type"], "disabled");
    // Open calls of an answer without thinking, as after a change of model in mid-turn.
    let open = vec![
        said("x"),
        Message::Answer(answer("gemini", vec![call("c")])),
        Message::Results(vec![result("c", "r")]),
    ];
    assert!(with(ThinkingStyle::Budget, Thinking::High, open).0.is_null());
}
