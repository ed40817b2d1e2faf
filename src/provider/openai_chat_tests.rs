//! Chat Completions: the dialects of its servers, what goes back.

use serde_json::Value;

use super::*;
use crate::api::message::{Finish, Stop};
use crate::api::provider::ModelCard;
use crate::provider::StreamEvent;
use crate::provider::wire::Step;
use crate::provider::wire::tests::{accepts, answer, ask, body_of, decode, image, json_of, result, said};

fn chunk(delta: &str) -> String {
    format!(
        r#"{{"id":"c","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#
    )
}

fn finish(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

fn run(events: &[String]) -> (crate::provider::wire::Came, Vec<StreamEvent>, Step) {
    let refs: Vec<(&str, &str)> = events.iter().map(|data| ("", data.as_str())).collect();
    decode(Wire::OpenaiChat, &refs)
}

fn calls(events: &[String]) -> Vec<(String, String, String)> {
    let (came, _, _) = run(events);
    let answer = answer("openai-chat", came.blocks);
    answer.calls().map(|(_, id, name, input)| (id.into(), name.into(), input.to_string())).collect()
}

fn stream() -> Vec<String> {
    vec![
        chunk(r#"{"role":"assistant","content":null}"#),
        chunk(r#"{"reasoning_content":"hm"}"#),
        chunk(r#"{"reasoning_content":"m","content":null}"#),
        chunk(r#"{"content":"Hel"}"#),
        chunk(r#"{"content":"lo"}"#),
        chunk(r#"{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"bash","arguments":""}}]}"#),
        chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\":"}}]}"#),
        chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":" 1.0}"},"extra_content":{"sig":"Z"}}]}"#),
        chunk(r#"{"tool_calls":[{"index":2,"id":"call_b","type":"function","function":{"name":"read","arguments":"{}"}}]}"#),
        finish("tool_calls"),
        r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":3}}}"#.into(),
        "[DONE]".into(),
    ]
}

#[test]
fn a_stream_gives_a_message_and_goes_back_the_same() {
    let (came, events, step) = run(&stream());
    assert_eq!((step, came.stop.clone()), (Step::Finished, Some(Stop::Calls)));
    let usage = came.usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output, usage.reasoning), (36, 64, 9, 3));
    assert!(
        events.contains(&StreamEvent::Text("Hello".into()))
            && events.contains(&StreamEvent::Thinking("hmm".into()))
    );
    let ends = events.iter().filter(|event| **event == StreamEvent::BlockEnd).count();
    assert_eq!(ends, 4, "thinking, text and two calls: {events:?}");
    let own = answer("openai-chat", came.blocks);
    assert_eq!(own.calls().map(|(_, id, _, _)| id).collect::<Vec<_>>(), ["call_a", "call_b"]);
    let ask = ask(vec![
        said("x"),
        Message::Answer(own),
        Message::Results(vec![result("call_a", "r"), result("call_b", "s")]),
    ]);
    let body = body_of(Wire::OpenaiChat, &ask);
    assert!(body.contains(r#"{"role":"assistant","content":"Hello","reasoning_content":"hmm","tool_calls":[{"id":"call_a","type":"function","function":{"name":"bash","arguments":"{\"n\": 1.0}"},"extra_content":{"sig":"Z"}},{"id":"call_b","type":"function","function":{"name":"read","arguments":"{}"}}]}"#), "{body}");
    for wire in Wire::ALL {
        accepts(wire, &body_of(wire, &ask)).unwrap();
    }
}

#[test]
fn a_stream_cut_after_any_event_goes_on_validly() {
    let all = stream();
    for cut in 0..all.len() {
        let (came, _, step) = run(&all[..cut]);
        assert_eq!(step == Step::Finished, cut > 9, "complete from the reason to finish on");
        let mut own = answer("openai-chat", came.blocks);
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
fn calls_of_servers_with_habits() {
    let one = |delta: &str| chunk(&format!(r#"{{"tool_calls":[{delta}]}}"#));
    // Ollama: whole calls, arguments as an object, all under one index or under none, with or without ids.
    let seen = calls(&[
        one(r#"{"index":0,"function":{"name":"a","arguments":{"x":1}}}"#),
        one(r#"{"index":0,"function":{"name":"b","arguments":{}}}"#),
        finish("stop"),
    ]);
    assert_eq!(
        seen.iter().map(|c| (c.1.as_str(), c.2.as_str())).collect::<Vec<_>>(),
        [("a", r#"{"x":1}"#), ("b", "{}")]
    );
    assert_ne!(seen[0].0, seen[1].0);
    assert!(!seen[0].0.is_empty());
    let seen = calls(&[
        one(r#"{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}"#),
        one(r#"{"index":0,"id":"2","function":{"name":"a","arguments":"{}"}}"#),
        finish("tool_calls"),
    ]);
    assert_eq!(seen.len(), 2);
    // Id and name repeated in each piece.
    let seen = calls(&[
        one(r#"{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}"#),
        one(r#"{"index":0,"id":"1","function":{"name":"a","arguments":":1}"}}"#),
        finish("tool_calls"),
    ]);
    assert_eq!(seen, [("1".into(), "a".into(), r#"{"x":1}"#.into())]);
    // Neither index nor id on the pieces.
    let seen = calls(&[
        one(r#"{"id":"1","function":{"name":"a"}}"#),
        one(r#"{"function":{"arguments":"{\"x\":"}}"#),
        one(r#"{"function":{"arguments":"1}"}}"#),
        finish("tool_calls"),
    ]);
    assert_eq!(seen, [("1".into(), "a".into(), r#"{"x":1}"#.into())]);
    // Pieces of two calls, alternating.
    let seen = calls(&[
        one(r#"{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}"#),
        one(r#"{"index":1,"id":"2","function":{"name":"b","arguments":"{\"y\""}}"#),
        one(r#"{"index":0,"function":{"arguments":":1}"}}"#),
        one(r#"{"index":1,"function":{"arguments":":2}"}}"#),
        finish("tool_calls"),
    ]);
    assert_eq!((seen[0].2.as_str(), seen[1].2.as_str()), (r#"{"x":1}"#, r#"{"y":2}"#));
    // No arguments at all, and arguments that are no JSON.
    let seen =
        calls(&[one(r#"{"index":0,"id":"1","function":{"name":"a","arguments":""}}"#), finish("tool_calls")]);
    assert_eq!(seen[0].2, "{}");
    let seen =
        calls(&[one(r#"{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x"}}"#), finish("length")]);
    assert_eq!(seen[0].2, r#""{\"x""#);
}

#[test]
fn reasoning_details_go_back_as_a_list() {
    let (came, events, _) = run(&[
        chunk(
            r#"{"content":"","reasoning":"th","reasoning_details":[{"type":"reasoning.text","text":"th","index":0,"format":"f"}]}"#,
        ),
        chunk(
            r#"{"content":"","reasoning":"ink","reasoning_details":[{"type":"reasoning.text","text":"ink","index":0,"signature":null}]}"#,
        ),
        chunk(r#"{"reasoning_details":[{"type":"reasoning.text","signature":"S","index":0}]}"#),
        chunk(r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"D","index":1}]}"#),
        chunk(r#"{"content":"ok","annotations":[{"x":1}]}"#),
        finish("stop"),
    ]);
    assert_eq!(came.blocks[0].body, Body::Thinking("think".into()));
    assert!(events.contains(&StreamEvent::Thinking("think".into())), "{events:?}");
    let body =
        body_of(Wire::OpenaiChat, &ask(vec![said("x"), Message::Answer(answer("openai-chat", came.blocks))]));
    let want = r#""content":"ok","annotations":[{"x":1}],"reasoning_details":[{"type":"reasoning.text","text":"think","index":0,"format":"f","signature":"S"},{"type":"reasoning.encrypted","data":"D","index":1}]"#;
    assert!(body.contains(want), "{body}");
}

#[test]
fn ends_errors_and_usage_in_their_variants() {
    let (came, _, step) = run(&[chunk(r#"{"content":"a"}"#), finish("stop")]);
    assert_eq!((step, came.stop, came.usage), (Step::Finished, Some(Stop::End), None));
    let (_, _, step) = run(&[chunk(r#"{"content":"a"}"#)]);
    assert_eq!(step, Step::More, "no reason to finish and no [DONE]: truncated");
    let (came, _, _) = run(&[chunk(r#"{"content":"a"}"#), finish("length"), "[DONE]".into()]);
    assert_eq!(came.stop, Some(Stop::MaxTokens));
    let (_, _, step) = run(&[r#"{"error":{"message":"Overloaded","code":502}}"#.into()]);
    assert_eq!(step, Step::Failed { status: Some(502), words: "Overloaded".into() });
    let (_, _, step) = run(&[r#"{"error":"boom"}"#.into()]);
    assert_eq!(step, Step::Failed { status: None, words: "boom".into() });
    assert_eq!(run(&["{\"choices\":[".into()]).2, Step::Garbled);
    let deepseek =
        r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":8}}"#;
    let (came, _, _) = run(&[deepseek.into(), finish("stop")]);
    assert_eq!(came.usage.map(|usage| (usage.input, usage.cache_read)), Some((2, 8)));
    let (came, _, _) = run(&[
        chunk(
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"}]}"#,
        ),
        finish("stop"),
    ]);
    assert_eq!(came.blocks.len(), 2, "content in parts");
}

#[test]
fn parameters_go_to_those_who_know_them() {
    let card = ModelCard::default();
    let json = |base_url, thinking| -> Value {
        let mut ask = ask(vec![said("x")]);
        (ask.max_output, ask.thinking) = (100, thinking);
        serde_json::from_str(&request(&ask, &Target { provider: "p", base_url, card: &card }).body).unwrap()
    };
    let openai = json("https://api.openai.com/v1", Thinking::High);
    assert_eq!(
        (openai["max_completion_tokens"].as_u64(), openai["reasoning_effort"].as_str()),
        (Some(100), Some("high"))
    );
    assert!(openai["prompt_cache_key"].is_string());
    let local = json("http://127.0.0.1:8080/v1", Thinking::Default);
    assert_eq!(local["max_tokens"], 100);
    assert!(local["prompt_cache_key"].is_null() && local["reasoning_effort"].is_null());
    assert_eq!(json("https://api.deepseek.com/v1", Thinking::Off)["thinking"]["type"], "disabled");
}

#[test]
fn images_follow_the_results_that_cannot_hold_them() {
    let mut seen = result("c", "a picture");
    seen.images.push(image());
    let own = answer("openai-chat", vec![crate::provider::wire::tests::call("c")]);
    let json =
        json_of(Wire::OpenaiChat, &ask(vec![said("x"), Message::Answer(own), Message::Results(vec![seen])]));
    assert_eq!(json["messages"][3]["content"], "a picture");
    assert_eq!(json["messages"][4]["content"][0]["image_url"]["url"], "data:image/png;base64,AAAA");
    assert_eq!(json["messages"][4]["content"][2]["text"], "now: noon");
}
