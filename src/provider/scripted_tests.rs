//! The scripted model: parsing with places, the order of a turn's events, failing, cutting, running out.

use super::*;
use crate::api::message::ToolResult;
use crate::provider::STREAM_MAX;

fn ask(messages: Vec<Message>) -> Ask {
    Ask {
        model: String::new(),
        system: String::new(),
        tools: Vec::new(),
        messages,
        volatile: String::new(),
        max_output: 0,
        thinking: crate::api::message::Thinking::Default,
    }
}

fn user(text: &str) -> Message {
    Message::User { text: text.into(), images: Vec::new() }
}

async fn all(script: &Scripted, ask: Ask) -> Vec<StreamEvent> {
    all_with(script, ask, Control::default()).await
}

async fn all_with(script: &Scripted, ask: Ask, control: Control) -> Vec<StreamEvent> {
    let (out, mut events) = mpsc::channel(STREAM_MAX);
    let running = tokio::spawn(script.stream(ask, control, out));
    let mut seen = Vec::new();
    while let Some(event) = events.recv().await {
        seen.push(event);
    }
    running.await.unwrap();
    seen
}

fn end(seen: &[StreamEvent]) -> (&Answer, Option<&Failure>) {
    let ends = seen.iter().filter(|event| matches!(event, StreamEvent::End { .. })).count();
    assert_eq!(ends, 1, "ends exactly once");
    match seen.last().unwrap() {
        StreamEvent::End { answer, failure } => (answer, failure.as_ref()),
        other => panic!("the last event is {other:?}"),
    }
}

fn script(text: &str) -> Scripted {
    Scripted::parse("s.json", text).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_turn_thinks_says_and_calls_at_its_pace() {
    let script = script(
        r#"{"window": 9, "turns": [{"think": "hm", "say": ["a", "b"], "pace_ms": 100,
            "calls": [{"tool": "bash", "input": {"command": "ls"}}], "usage": {"input": 3, "output": 4}}]}"#,
    );
    assert_eq!(script.window(), Some(9));
    let begin = tokio::time::Instant::now();
    let seen = all(&script, ask(vec![user("hi")])).await;
    assert_eq!(begin.elapsed().as_millis(), 300, "before each chunk and before the calls");
    let (answer, failure) = end(&seen);
    assert_eq!(failure, None);
    assert_eq!(answer.finish, Finish::Finished(Stop::Calls));
    assert_eq!(answer.text(), "ab");
    assert_eq!(answer.usage.unwrap().input, 3);
    let kinds: Vec<String> = seen.iter().map(|e| format!("{e:?}").chars().take(9).collect()).collect();
    assert_eq!(
        kinds,
        [
            "Begun",
            "Thinking(",
            "BlockEnd",
            "Text(\"a\")",
            "Text(\"b\")",
            "BlockEnd",
            "CallBegun",
            "CallInput",
            "BlockEnd",
            "End { ans"
        ]
    );
    let (_, id, name, input) = answer.calls().next().unwrap();
    assert!(id.ends_with("_1_1"));
    assert_eq!((name, input.to_string().as_str()), ("bash", r#"{"command":"ls"}"#));
}

#[tokio::test(start_paused = true)]
async fn a_failure_goes_through_the_tries_and_consumes_a_turn_each() {
    let script = script(
        r#"{"turns": [{"fail": {"status": 429, "message": "slow down", "retry_after_s": 2}},
            {"fail": {"status": 529}}, {"say": "ok"}, {"fail": {"status": 401, "message": "who are you"}}]}"#,
    );
    let begin = tokio::time::Instant::now();
    let seen = all(&script, ask(vec![user("hi")])).await;
    assert!(begin.elapsed() >= Duration::from_millis(2500));
    let waits: Vec<(u32, &str)> = seen
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Retrying { attempt, why, .. } => Some((*attempt, why.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(waits[0].0, 2);
    assert!(waits[0].1.contains("slow down"));
    assert_eq!(waits[1].0, 3);
    assert_eq!(end(&seen).0.text(), "ok");

    let seen = all(&script, ask(vec![user("hi")])).await;
    let (answer, failure) = end(&seen);
    assert_eq!(failure.unwrap().kind, FailureKind::Key);
    assert!(matches!(&answer.finish, Finish::Failed(text) if text.contains("who are you")));

    let seen = all(&script, ask(vec![user("hi")])).await;
    let (_, failure) = end(&seen);
    assert!(failure.unwrap().text.contains("has run out: it has 4 turns"));
}

#[tokio::test(start_paused = true)]
async fn expect_looks_at_the_newest_results_else_at_the_user() {
    let text = r#"{"turns": [{"expect": {"contains": "42"}, "say": "yes"}]}"#;
    let answer = Message::Answer(Answer {
        wire: "scripted".into(),
        model: "m".into(),
        blocks: vec![],
        finish: Finish::Finished(Stop::Calls),
        usage: None,
    });
    let results = |text: &str| {
        Message::Results(vec![ToolResult {
            id: "1".into(),
            name: "bash".into(),
            text: text.into(),
            images: vec![],
            error: false,
        }])
    };
    let seen = all(&script(text), ask(vec![user("x"), answer.clone(), results("it is 42")])).await;
    assert_eq!(end(&seen).0.text(), "yes");
    let seen = all(&script(text), ask(vec![user("say 42")])).await;
    assert_eq!(end(&seen).0.text(), "yes");
    let seen = all(&script(text), ask(vec![user("42"), answer, results("it is 41")])).await;
    let failure = end(&seen).1.unwrap();
    assert_eq!(failure.kind, FailureKind::Script);
    assert!(failure.text.contains("42") && failure.text.contains("it is 41"), "{}", failure.text);
}

#[tokio::test(start_paused = true)]
async fn a_cut_answer_is_truncated_on_a_character() {
    let script =
        script(r#"{"turns": [{"say": ["ab", "cdé"], "cut_after_bytes": 5, "calls": [{"tool": "bash"}]}]}"#);
    let seen = all(&script, ask(vec![user("hi")])).await;
    let (answer, failure) = end(&seen);
    assert_eq!(answer.text(), "abcd");
    assert!(matches!(answer.finish, Finish::Truncated(_)));
    assert_eq!(failure.unwrap().kind, FailureKind::Connection);
    assert_eq!(answer.calls().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn cancel_ends_a_wait_and_keeps_what_came() {
    let script = script(
        r#"{"turns": [{"say": ["a", "b"], "pace_ms": 1000000}, {"fail": {"status": 500, "retry_after_s": 3000}}, {"say": "now"}]}"#,
    );
    let control = Control::default();
    let cancel = control.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(1_500_000)).await;
        cancel.cancel();
    });
    let seen = all_with(&script, ask(vec![user("hi")]), control).await;
    let (answer, _) = end(&seen);
    assert_eq!((answer.text().as_str(), &answer.finish), ("a", &Finish::Cancelled));

    let control = Control::default();
    control.retry_now.notify_one();
    let begin = tokio::time::Instant::now();
    let seen = all_with(&script, ask(vec![user("hi")]), control).await;
    assert_eq!(end(&seen).0.text(), "now");
    assert!(begin.elapsed() < Duration::from_secs(1), "cut short");
}

#[test]
fn errors_name_file_line_key_and_what_was_expected() {
    let cases = [
        (
            "{\n \"turns\": [\n  {\"say\": 5}]}",
            "s.json:3:11: \"say\": invalid type: integer `5`, expected a string or a list of strings",
        ),
        (
            "{\"turns\": [{\"pace_ms\": \"x\"}]}",
            "s.json:1:26: \"pace_ms\": invalid type: string \"x\", expected u64",
        ),
        ("{\"turn\": []}", "s.json:1:12: missing field `turns`"),
        ("{\"turns\": [\n", "s.json:2:0: EOF while parsing a list"),
        ("{\"turns\": [{\"calls\": [{\"input\": {}}]}]}", "s.json:1:35: missing field `tool`"),
    ];
    for (text, want) in cases {
        let error = Scripted::parse("s.json", text).unwrap_err().to_string();
        assert!(error.starts_with(want), "{error}");
        assert!(error.contains("A script is"), "{error}");
    }
    let error = Scripted::load(Path::new("/nowhere/s.json")).unwrap_err().to_string();
    assert!(error.contains("cannot read the script /nowhere/s.json"), "{error}");
}

#[test]
fn agents_have_scripts_of_their_own() {
    let script = script(r#"{"turns": [], "agents": {"lexer": {"turns": [{"say": "x"}]}}}"#);
    assert_eq!(script.agent("lexer").unwrap().turns.len(), 1);
    assert!(script.agent("parser").is_none());
}
