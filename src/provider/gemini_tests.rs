//! The Gemini wire: what its chunks mean, what goes back.

use super::*;
use crate::api::message::Finish;
use crate::provider::StreamEvent;
use crate::provider::wire::tests::{accepts, answer, ask, body_of, call, decode, json_of, result, said};

fn chunk(parts: &str) -> String {
    format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0}}]}}"#)
}

fn run(events: &[String]) -> (Came, Vec<StreamEvent>, Step) {
    let refs: Vec<(&str, &str)> = events.iter().map(|data| ("", data.as_str())).collect();
    decode(Wire::Gemini, &refs)
}

fn stream() -> Vec<String> {
    vec![
        chunk(r#"{"text":"h","thought":true}"#),
        chunk(r#"{"text":"m","thought":true}"#),
        chunk(r#"{"text":"Hel"}"#),
        chunk(r#"{"text":"lo"}"#),
        chunk(r#"{"text":"","thoughtSignature":"S1"}"#),
        chunk(r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#),
        chunk(r#"{"functionCall":{"name":"bash","args":{"n":1.50}},"thoughtSignature":"S2"},{"functionCall":{"id":"g7","name":"read"}}"#),
        r#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":7,"thoughtsTokenCount":5}}"#.into(),
    ]
}

#[test]
fn a_stream_gives_parts_raw_and_translated() {
    let (came, events, step) = run(&stream());
    assert_eq!((step, came.stop.clone()), (Step::Finished, Some(Stop::Calls)));
    let usage = came.usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output, usage.reasoning), (60, 40, 12, 5));
    let raws: Vec<&str> = came.blocks.iter().map(|block| block.raw.as_ref().unwrap().get()).collect();
    assert_eq!(
        raws,
        [
            r#"{"text":"hm","thought":true}"#,
            r#"[{"text":"Hello"},{"text":"","thoughtSignature":"S1"}]"#,
            r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#,
            r#"{"functionCall":{"name":"bash","args":{"n":1.50}},"thoughtSignature":"S2"}"#,
            r#"{"functionCall":{"id":"g7","name":"read"}}"#,
        ]
    );
    assert_eq!(came.blocks[1].body, Body::Text("Hello".into()));
    assert_eq!(came.blocks[2].body, Body::Unknown);
    assert!(events.contains(&StreamEvent::Text("Hello".into())));
    let own = answer("gemini", came.blocks);
    let ids: Vec<String> = own.calls().map(|(_, id, _, _)| id.to_string()).collect();
    assert!(ids[0].starts_with(MINTED) && ids[1] == "g7");
    let results = ids.iter().map(|id| result(id, "r")).collect();
    let ask = ask(vec![said("x"), Message::Answer(own), Message::Results(results)]);
    let body = body_of(Wire::Gemini, &ask);
    assert!(
        body.contains(r#"{"text":"Hello"},{"text":"","thoughtSignature":"S1"},{"executableCode""#),
        "{body}"
    );
    assert!(body.contains(r#"{"functionResponse":{"id":"g7""#) && !body.contains(MINTED), "{body}");
    for wire in Wire::ALL {
        accepts(wire, &body_of(wire, &ask)).unwrap();
    }
}

#[test]
fn a_stream_cut_after_any_event_goes_on_validly() {
    let all = stream();
    for cut in 0..all.len() {
        let (came, _, step) = run(&all[..cut]);
        assert_eq!(step, Step::More);
        let mut own = answer("gemini", came.blocks);
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
fn a_signed_part_is_never_put_together_with_others() {
    let (came, _, _) = run(&[
        chunk(r#"{"text":"a"}"#),
        chunk(r#"{"text":"b","thoughtSignature":"S"}"#),
        chunk(r#"{"text":"c"}"#),
        chunk(r#"{"text":"d"}"#),
    ]);
    assert!(came.blocks[0].raw.is_none(), "cut off");
    assert_eq!(came.blocks[0].body, Body::Text("abcd".into()));
    let (came, _, _) = run(&[
        chunk(r#"{"text":"a"}"#),
        chunk(r#"{"text":"b","thoughtSignature":"S"}"#),
        chunk(r#"{"text":"c"},{"text":"d"}"#),
        r#"{"candidates":[{"finishReason":"STOP"}]}"#.into(),
    ]);
    let raw = came.blocks[0].raw.as_ref().unwrap().get();
    assert_eq!(raw, r#"[{"text":"a"},{"text":"b","thoughtSignature":"S"},{"text":"cd"}]"#);
    let (came, _, _) = run(&[chunk(r#"{"text":"","thoughtSignature":"S"}"#)]);
    assert_eq!(came.blocks[0].body, Body::Thinking(String::new()));
}

#[test]
fn reasons_refusals_and_errors() {
    let finish = |reason: &str| run(&[format!(r#"{{"candidates":[{{"finishReason":"{reason}"}}]}}"#)]).0.stop;
    assert_eq!(finish("STOP"), Some(Stop::End));
    assert_eq!(finish("MAX_TOKENS"), Some(Stop::MaxTokens));
    assert_eq!(finish("SAFETY"), Some(Stop::Refused));
    assert_eq!(finish("MALFORMED_FUNCTION_CALL"), Some(Stop::Other("MALFORMED_FUNCTION_CALL".into())));
    let (came, _, step) = run(&[r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#.into()]);
    assert_eq!((came.stop, step), (Some(Stop::Refused), Step::Finished));
    for body in [
        r#"{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}"#,
        r#"[{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}]"#,
    ] {
        let want = Step::Failed { status: Some(503), words: "Overloaded (UNAVAILABLE)".into() };
        assert_eq!(run(&[body.into()]).2, want);
    }
}

#[test]
fn calls_of_other_models_bear_the_documented_mark() {
    let mut ask = ask(vec![
        said("x"),
        Message::Answer(answer("anthropic", vec![call("a"), call("b")])),
        Message::Results(vec![result("a", "1"), result("b", "2")]),
    ]);
    assert!(!body_of(Wire::Gemini, &ask).contains(UNSIGNED));
    ask.model = "gemini-3-pro-preview".into();
    assert_eq!(body_of(Wire::Gemini, &ask).matches(UNSIGNED).count(), 1);
    ask.thinking = Thinking::High;
    let json = json_of(Wire::Gemini, &ask);
    assert_eq!(json["generationConfig"]["thinkingConfig"]["thinkingLevel"], "high");
    ask.model = "gemini-2.5-flash".into();
    let json = json_of(Wire::Gemini, &ask);
    assert_eq!(json["generationConfig"]["thinkingConfig"]["thinkingBudget"], 24_576);
}
