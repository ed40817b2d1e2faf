//! The wires against servers that others wrote, when a variable names them; else these tests do nothing.
//!
//! `WINDLASS_TEST_LLM`: a llama.cpp server, which speaks three wires. `WINDLASS_TEST_MOCK`: a scripted server
//! of the measuring rig, which speaks four. `WINDLASS_TEST_REPLIES`: a folder of recorded Gemini replies.

use std::time::{Duration, Instant};

use windlass::api::message::{Ask, Finish, Message, Stop, ToolResult};
use windlass::api::provider::Wire;
use windlass::provider::table::Made;
use windlass::provider::{Control, FailureKind, Waits};

use crate::server::{Reply, Server};
use crate::wire_contract::{Ended, ask, made_with, quick, run, said};

fn outside(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

fn at(wire: Wire, url: &str) -> Made {
    made_with(wire, url, Waits { idle: Duration::from_secs(240), ..Waits::default() }, quick())
}

/// Asks, answers each call, and asks again.
async fn two_rounds(made: &Made, text: &str) -> (Ended, Ended) {
    // A tiny model would go on until its window is full.
    let short = |messages| Ask { max_output: 150, ..ask(messages) };
    let mut messages = vec![said(text)];
    let first = run(made, short(messages.clone()), Control::default()).await;
    messages.push(Message::Answer(first.answer.clone()));
    let results: Vec<ToolResult> = first
        .answer
        .calls()
        .map(|(_, id, name, _)| ToolResult {
            id: id.into(),
            name: name.into(),
            text: "Cargo.toml src".into(),
            images: Vec::new(),
            error: false,
        })
        .collect();
    if results.is_empty() {
        messages.push(said("And now say something else."));
    } else {
        messages.push(Message::Results(results));
    }
    let second = run(made, short(messages), Control::default()).await;
    (first, second)
}

#[tokio::test]
async fn a_real_model_server() {
    let Some(url) = outside("WINDLASS_TEST_LLM") else { return };
    for wire in [Wire::OpenaiChat, Wire::OpenaiResponses, Wire::Anthropic] {
        let base = if wire == Wire::Anthropic { url.clone() } else { format!("{url}/v1") };
        let mut made = at(wire, &base);
        made.name = "m".into();
        let begin = Instant::now();
        let (first, second) = two_rounds(&made, "List the files here with the tool.").await;
        eprintln!(
            "{wire:?} {:?}\n 1: {:?}\n    {:?}\n 2: {:?}\n    {:?}",
            begin.elapsed(),
            first.answer,
            first.failure,
            second.answer,
            second.failure
        );
        for ended in [&first, &second] {
            // What a tiny model writes may be no call at all, and the server then says so inside its stream.
            let told = ended.failure.as_ref().is_some_and(|failure| failure.status == Some(500));
            let finished = matches!(ended.answer.finish, Finish::Finished(_));
            assert!(finished || told, "{wire:?}: {:?}", ended.failure);
            assert!(told || ended.answer.usage.is_some_and(|usage| usage.output > 0 && usage.total() > 10));
        }

        let long = "word ".repeat(40_000);
        let over = run(&made, Ask { max_output: 20, ..ask(vec![said(&long)]) }, Control::default()).await;
        eprintln!("  overflow: {:?}", over.failure);
        assert_eq!(over.failure.map(|failure| failure.kind), Some(FailureKind::Overflow), "{wire:?}");

        let control = Control::default();
        let cancel = control.cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(700)).await;
            cancel.cancel();
        });
        let begin = Instant::now();
        let cancelled = run(&made, ask(vec![said("Tell a very long story without an end.")]), control).await;
        eprintln!("  cancelled after {:?}: {:?}", begin.elapsed(), cancelled.answer.finish);
    }
}

#[tokio::test]
async fn the_scripted_server_of_the_rig() {
    let Some(url) = outside("WINDLASS_TEST_MOCK") else { return };
    for wire in Wire::ALL {
        let base =
            if matches!(wire, Wire::Anthropic | Wire::Gemini) { url.clone() } else { format!("{url}/v1") };
        let made = at(wire, &base);
        let say = |text: &str| {
            let (made, text) = (made.clone(), text.to_string());
            async move { run(&made, ask(vec![said(&text)]), Control::default()).await }
        };
        let hello = say("say hello there").await;
        assert!(hello.answer.text().starts_with("hello there"), "{wire:?} {:?}", hello.failure);
        let thought = say("think 20 tokens").await;
        eprintln!("{wire:?} think: {:?}", thought.answer);
        let (first, second) = two_rounds(&made, "run bash: ls").await;
        assert_eq!(first.answer.finish, Finish::Finished(Stop::Calls), "{:?}", first.failure);
        assert!(matches!(second.answer.finish, Finish::Finished(Stop::End)), "{wire:?} {:?}", second.failure);
        let begin = Instant::now();
        let big = say("stream 5000 lines").await;
        eprintln!(
            "{wire:?} 5000 lines: {:?}, {} events, {} bytes",
            begin.elapsed(),
            big.events.len(),
            big.text().len()
        );
        assert_eq!(big.text(), big.answer.text());
        let retried = say(&format!("error 429 retry-after 0 times 2 {wire:?}")).await;
        eprintln!("{wire:?} 429: {} retries, {:?}", retried.retries(), retried.answer.finish);
        for text in ["cut after 20 tokens", "malformed sse"] {
            let ended = say(text).await;
            eprintln!("{wire:?} {text}: {:?} {:?}", ended.answer.finish, ended.failure);
            assert!(matches!(ended.answer.finish, Finish::Truncated(_)));
            assert!(!ended.answer.text().is_empty(), "what came is kept");
        }
        let failed = say("error 400").await;
        eprintln!("{wire:?} 400: {:?}", failed.failure);
    }
}

#[tokio::test]
async fn recorded_gemini_replies() {
    let Some(folder) = outside("WINDLASS_TEST_REPLIES") else { return };
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ext| ext != "responses") {
            continue;
        }
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let chunks = match &value["response"] {
                serde_json::Value::Array(chunks) => chunks.clone(),
                one => vec![one.clone()],
            };
            if !chunks.iter().any(|chunk| chunk["candidates"].is_array()) {
                continue;
            }
            let stream: String = chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect();
            let texts: String = chunks
                .iter()
                .flat_map(|chunk| {
                    chunk["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default()
                })
                .filter(|part| part["thought"] != true)
                .filter_map(|part| part["text"].as_str().map(str::to_string))
                .collect();
            let calls = stream.matches("\"functionCall\":").count();
            let server = Server::start(vec![Reply::whole(&stream)]).await;
            let ended = run(&at(Wire::Gemini, &server.url()), ask(vec![said("x")]), Control::default()).await;
            eprintln!("{}: {:?}, {} blocks", path.display(), ended.answer.finish, ended.answer.blocks.len());
            assert_eq!((ended.text(), ended.answer.calls().count()), (texts, calls));
            let ends = stream.contains("\"finishReason\"");
            assert_eq!(matches!(ended.answer.finish, Finish::Finished(_)), ends);
        }
    }
}
