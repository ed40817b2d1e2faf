//! The Responses wire: what its events mean, what goes back.

use super::*;
use crate::api::provider::ModelCard;
use crate::provider::StreamEvent;
use crate::provider::wire::tests::{accepts, answer, ask, body_of, decode, json_of, result, said};

const REASONING: &str = r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"gAAA"}"#;
const MESSAGE: &str = r#"{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hello","annotations":[]}]}"#;
const SEARCH: &str = r#"{"id":"ws_1","type":"web_search_call","action":{"n":1.50}}"#;
const CALL: &str =
    r#"{"id":"fc_1","type":"function_call","call_id":"call_1","name":"bash","arguments":"{\"n\": 1}"}"#;

fn stream() -> Vec<(&'static str, String)> {
    let done = |n: u32, item: &str| {
        format!(r#"{{"type":"response.output_item.done","output_index":{n},"item":{item}}}"#)
    };
    let added = |n: u32, item: &str| {
        format!(r#"{{"type":"response.output_item.added","output_index":{n},"item":{item}}}"#)
    };
    let all = vec![
        r#"{"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}"#.into(),
        added(0, r#"{"id":"rs_1","type":"reasoning","summary":[]}"#),
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"one"}"#.into(),
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"two"}"#.into(),
        done(0, REASONING),
        added(1, r#"{"id":"msg_1","type":"message","role":"assistant","content":[]}"#),
        r#"{"type":"response.content_part.added","output_index":1,"part":{"type":"output_text","text":""}}"#.into(),
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"Hel"}"#.into(),
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"lo"}"#.into(),
        done(1, MESSAGE),
        added(2, SEARCH),
        done(2, SEARCH),
        added(3, r#"{"id":"fc_1","type":"function_call","call_id":"call_1","name":"bash","arguments":""}"#),
        r#"{"type":"response.function_call_arguments.delta","output_index":3,"delta":"{\"n\":"}"#.into(),
        r#"{"type":"response.function_call_arguments.delta","output_index":3,"delta":" 1}"}"#.into(),
        done(3, CALL),
        r#"{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":20}}}}"#.into(),
    ];
    all.into_iter().map(|data| ("", data)).collect()
}

fn run(events: &[(&'static str, String)]) -> (Came, Vec<StreamEvent>, Step) {
    let refs: Vec<(&str, &str)> = events.iter().map(|(name, data)| (*name, data.as_str())).collect();
    decode(Wire::OpenaiResponses, &refs)
}

#[test]
fn a_stream_gives_items_raw_and_translated() {
    let (came, events, step) = run(&stream());
    assert_eq!((step, came.stop), (Step::Finished, Some(Stop::Calls)));
    let usage = came.usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output, usage.reasoning), (40, 60, 30, 20));
    let raws: Vec<&str> = came.blocks.iter().map(|block| block.raw.as_ref().unwrap().get()).collect();
    assert_eq!(raws, [REASONING, MESSAGE, SEARCH, CALL]);
    assert_eq!(came.blocks[0].body, Body::Thinking("one\n\ntwo".into()));
    assert_eq!(came.blocks[2].body, Body::Unknown);
    assert!(events.contains(&StreamEvent::Thinking("one\n\ntwo".into())), "{events:?}");
    assert!(events.contains(&StreamEvent::CallInput("{\"n\": 1}".into())));

    let own = answer("openai-responses", came.blocks);
    let ask = ask(vec![said("x"), Message::Answer(own), Message::Results(vec![result("call_1", "r")])]);
    let body = body_of(Wire::OpenaiResponses, &ask);
    assert!(body.contains(&[REASONING, MESSAGE, SEARCH, CALL].join(",")), "{body}");
    assert!(body.contains("\"store\":false") && body.contains("reasoning.encrypted_content"));
    for wire in Wire::ALL {
        let body = body_of(wire, &ask);
        accepts(wire, &body).unwrap();
        assert!(wire == Wire::OpenaiResponses || !body.contains("gAAA"));
    }
}

#[test]
fn a_stream_cut_after_any_event_goes_on_validly() {
    let all = stream();
    for cut in 0..all.len() {
        let (came, _, step) = run(&all[..cut]);
        assert_eq!(step, Step::More);
        let mut own = answer("openai-responses", came.blocks);
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
fn servers_that_send_no_deltas_or_only_the_whole() {
    let whole = format!(r#"{{"type":"response.completed","response":{{"output":[{MESSAGE},{CALL}]}}}}"#);
    let (came, events, _) = run(&[("", whole)]);
    assert_eq!(came.blocks.len(), 2);
    assert!(events.contains(&StreamEvent::Text("Hello".into())));
    let done = format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{CALL}}}"#);
    let (_, events, _) = run(&[("", done)]);
    assert!(events.contains(&StreamEvent::CallBegun { id: "call_1".into(), name: "bash".into() }));
    assert!(events.contains(&StreamEvent::CallInput("{\"n\": 1}".into())));
}

#[test]
fn errors_incomplete_and_refusals() {
    let step = |json: &str| run(&[("", json.to_string())]);
    let (_, _, failed) = step(
        r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"slow"}}}"#,
    );
    assert_eq!(failed, Step::Failed { status: Some(429), words: "slow (rate_limit_exceeded)".into() });
    let (_, _, failed) = step(r#"{"type":"error","code":"server_error","message":"oops","param":null}"#);
    assert_eq!(failed, Step::Failed { status: Some(500), words: "oops (server_error)".into() });
    let (_, _, failed) = step(r#"{"type":"error","error":{"code":null,"message":"oops"}}"#);
    assert_eq!(failed, Step::Failed { status: None, words: "oops".into() });
    let (came, _, _) = step(
        r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#,
    );
    assert_eq!(came.stop, Some(Stop::MaxTokens));
    let refusal = r#"{"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}}"#;
    let (came, _, _) = step(refusal);
    assert_eq!((came.stop, &came.blocks[0].body), (Some(Stop::Refused), &Body::Text("no".into())));
}

#[test]
fn items_go_with_their_reasoning_or_not_at_all() {
    let (came, _, _) = run(&stream());
    let own = answer("openai-responses", came.blocks);
    let ask = ask(vec![said("x"), Message::Answer(own), Message::Results(vec![result("call_1", "r")])]);
    let plain = ModelCard { thinking: Some(ThinkingStyle::None), ..ModelCard::default() };
    for (provider, card) in [("q", ModelCard::default()), ("p", plain)] {
        let body = request(&ask, &Target { provider, base_url: "http://h", card: &card }).body;
        accepts(Wire::OpenaiResponses, &body).unwrap();
        assert!(!body.contains("rs_1") && !body.contains("fc_1") && !body.contains("msg_1"), "{body}");
        assert!(body.contains("Hello") && body.contains("call_1"));
    }
}

#[test]
fn the_cache_key_is_for_openai_and_stays() {
    let card = ModelCard::default();
    let target = Target { provider: "openai", base_url: "https://api.openai.com/v1", card: &card };
    let first = request(&ask(vec![said("x")]), &target);
    let second = request(&ask(vec![said("x"), said("y")]), &target);
    let key =
        |made: &HttpRequest| serde_json::from_str::<Value>(&made.body).unwrap()["prompt_cache_key"].clone();
    assert_eq!(key(&first), key(&second));
    assert!(key(&first).is_string());
    assert!(json_of(Wire::OpenaiResponses, &ask(vec![said("x")]))["prompt_cache_key"].is_null());
}
