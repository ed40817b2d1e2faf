//! The events of `exec --json` against the contract: order, keys, the last line, the exit codes.

use serde_json::{Value, json};

use super::Home;

/// Each event as its type and keys, sorted, with the values that tell what it is; deltas that follow
/// each other as one.
pub fn gist(events: &[Value]) -> String {
    let mut out: Vec<String> = Vec::new();
    for event in events {
        let object = event.as_object().unwrap();
        let mut keys: Vec<&String> = object.keys().filter(|key| *key != "type").collect();
        keys.sort();
        let mut line = event["type"].as_str().unwrap().to_owned();
        for key in keys {
            match (key.as_str(), &event[key]) {
                ("role" | "tool" | "status" | "level" | "decision", Value::String(value)) => {
                    line.push_str(&format!(" {key}={value}"));
                }
                _ => line.push_str(&format!(" {key}")),
            }
        }
        let again = line.contains(".delta") && out.last() == Some(&line);
        if !again {
            out.push(line);
        }
    }
    out.join("\n") + "\n"
}

fn call(tool: &str, input: Value) -> Value {
    json!({"calls": [{"tool": tool, "input": input}]})
}

#[test]
fn every_way_to_end_has_its_code_and_its_last_line() {
    let write = || call("write", json!({"path": "a", "content": "x"}));
    for (turns, code, status) in [
        (json!([{"say": "hello"}]), 0, "done"),
        (json!([{"fail": {"status": 400, "message": "the provider's own words"}}]), 1, "failed"),
        (json!([{"expect": {"contains": "no such thing"}, "say": "x"}]), 1, "failed"),
        (json!([]), 1, "failed"),
        (json!([write(), {"expect": {"contains": "nobody"}, "say": "so be it"}]), 4, "done"),
    ] {
        let home = Home::new();
        let model = home.script(&json!({"turns": turns}));
        let ran = home.run(&["exec", "--json", "--model", &model, "hello"]);
        assert_eq!(ran.code, Some(code), "{}\n{}", ran.out, ran.err);
        let events = ran.events();
        assert_eq!(events[0]["type"], "session.started");
        assert_eq!(events.iter().filter(|e| e["type"] == "turn.ended").count(), 1, "{}", ran.out);
        let last = events.last().unwrap();
        assert_eq!(*last, json!({"type": "session.ended", "status": status, "exit": code}), "{}", ran.out);
        assert!(!home.path("work/a").exists());
        if ran.out.contains("fail") && code == 1 {
            assert!(ran.of("notice").iter().any(|n| n["level"] == "error"), "it says why: {}", ran.out);
        }
    }
}

#[test]
fn a_refused_call_is_told_in_order() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [
        {"think": "hm", "say": "I write.", "calls": [{"tool": "write", "input": {"path": "a", "content": "x"}}]},
        {"say": "So be it."},
    ]}));
    let ran = home.run(&["exec", "--json", "--model", &model, "hello"]);
    assert_eq!(ran.code, Some(4));
    assert_eq!(
        gist(&ran.events()),
        "session.started cwd id model\n\
         message role=user text\n\
         thinking.delta text\n\
         text.delta text\n\
         message role=assistant text\n\
         call.started id input tool=write\n\
         approval decision=refused id tool=write\n\
         call.settled dropped id kept output status=refused warnings\n\
         text.delta text\n\
         message role=assistant text\n\
         turn.ended status=done\n\
         usage cache_read cache_write cost input output reasoning\n\
         session.ended exit status=done\n"
    );
    let (started, settled) = (&ran.of("call.started")[0], &ran.of("call.settled")[0]);
    assert_eq!(started["id"], settled["id"]);
    assert_eq!(ran.of("approval")[0]["id"], started["id"]);
}

#[test]
fn the_deltas_together_are_the_message_exactly_once() {
    let home = Home::new();
    let pieces: Vec<String> = (0..200).map(|n| format!("piece {n} of ünïcode; ")).collect();
    let model = home.script(&json!({"turns": [{"say": pieces, "pace_ms": 1}]}));
    let ran = home.run(&["exec", "--json", "--model", &model, "hello"]);
    let deltas: String =
        ran.of("text.delta").iter().map(|event| event["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(deltas, pieces.concat());
    assert_eq!(ran.of("message")[1]["text"], pieces.concat());
}

#[test]
fn a_dropped_output_names_an_artifact_that_is_whole() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [
        call("bash", json!({"command": "seq 1 200000"})), {"say": "done"},
    ]}));
    let ran = home.run(&["exec", "--json", "--approve", "auto", "--model", &model, "hello"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let settled = &ran.of("call.settled")[0];
    let whole: u64 = settled["kept"].as_u64().unwrap() + settled["dropped"].as_u64().unwrap();
    let artifact = std::fs::read_to_string(settled["artifact"].as_str().unwrap()).unwrap();
    assert_eq!(artifact.len() as u64, whole);
    assert_eq!(artifact.lines().last(), Some("200000"));
    assert!(settled["output"].as_str().unwrap().len() < 60 * 1024);
}
