//! Steering, queueing, taking back, approvals and Esc, by keys in a terminal.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::rehearsal::quit;
use super::wires::{Served, calls, hangs, says};
use super::{Home, until};
use crate::server::scene::Scene;
use crate::server::{Reply, Then};
use crate::terminal::Program;

const WIRE: &str = "openai-chat";

/// The texts of a request's messages of the person, in order.
fn said(body: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(body).unwrap();
    let of = |m: &Value| {
        let parts = m["content"].as_array().cloned().unwrap_or_default();
        let text: String = parts.iter().map(|p| p["text"].as_str().unwrap_or_default()).collect();
        m["content"].as_str().map_or(text, str::to_owned)
    };
    value["messages"].as_array().unwrap().iter().filter(|m| m["role"] == "user").map(of).collect()
}

#[test]
fn a_message_steers_or_waits_or_comes_back() {
    let mut home = Home::new();
    let wait = "while [ ! -e go ]; do sleep 0.02; done; echo went";
    let server = Served::start(
        WIRE,
        vec![
            calls(WIRE, "I wait.", "bash", json!({"command": wait})),
            says(WIRE, "first done"),
            says(WIRE, "second done"),
        ],
    );
    home.serve(WIRE, &server.url());
    let mut program = home.show(&["--approve", "auto", "begin"]);
    program.wait_for("I wait.");
    program.send("steer-this\r");
    program.wait_for("steer-this");
    program.send("queue-this\x1b\r");
    program.wait_for("queue-this");
    program.send("take-this-back\r");
    program.wait_for("take-this-back");
    // up on an empty line takes the newest waiting message back
    program.send("\x1b[A");
    program.until("the draft", |p| p.screen().contains("❯ take-this-back"));
    program.send("\x03");
    home.write("work/go", "");
    program.wait_for("second done");
    let seen = server.valid();
    assert_eq!(seen.len(), 3);
    assert!(said(&seen[0].body).last().unwrap().starts_with("begin"));
    assert!(seen[1].body.contains("steer-this") && !seen[1].body.contains("queue-this"));
    assert!(seen[2].body.contains("queue-this"));
    assert!(seen.iter().all(|request| !request.body.contains("take-this-back")));
    assert_eq!(quit(&mut program), 0);
}

#[test]
fn an_interrupt_brings_what_waited_back_into_the_composer() {
    let mut home = Home::new();
    let server = Served::start(WIRE, vec![hangs(WIRE, "I think"), says(WIRE, "answered")]);
    home.serve(WIRE, &server.url());
    let mut program = home.show(&["begin"]);
    program.wait_for("I think");
    program.send("one more\r");
    program.wait_for("one more");
    program.send("\x1b");
    program.wait_for("interrupted");
    program.until("the draft", |p| p.screen().contains("❯ one more"));
    program.send("\r");
    program.wait_for("answered");
    let seen = server.valid();
    assert_eq!(said(&seen[1].body).iter().filter(|text| text.contains("one more")).count(), 1);
    assert_eq!(quit(&mut program), 0);
}

#[test]
fn a_draft_survives_an_approval_and_an_early_key_answers_none() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [
        {"say": "I write.", "pace_ms": 600, "calls": [{"tool": "write", "input": {"path": "a", "content": "x"}}]},
        {"say": "so it is"},
    ]}));
    let mut program = home.show(&["--model", &model, "begin"]);
    program.wait_for("I write.");
    program.send("my dra");
    program.wait_for("y once");
    program.send("ft y");
    program.wait_for("❯ my draft y");
    program.send("1 ");
    program.wait_for("❯ my draft y1");
    assert!(!home.path("work/a").exists());
    assert!(program.screen().contains("y once"), "it is still open:\n{}", program.screen());
    // turned to on purpose it takes its key, and the draft stands
    program.send("\x1ba");
    program.wait_for("Enter answer");
    program.send("y");
    program.wait_for("so it is");
    assert_eq!(home.read("work/a"), "x");
    assert!(program.screen().contains("❯ my draft y1"), "{}", program.screen());
    program.send("\x03");
    program.wait_gone("my draft");
    assert_eq!(quit(&mut program), 0);
}

#[test]
fn a_key_typed_before_the_question_was_drawn_does_not_answer_it() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [
        {"say": "I write.", "pace_ms": 300, "calls": [{"tool": "write", "input": {"path": "a", "content": "x"}}]},
        {"say": "so it is"},
    ]}));
    let mut program = home.show(&["--model", &model]);
    program.wait_for("Enter send");
    // the answer-to-be is typed before the question
    program.send("begin\r");
    program.wait_for("Esc interrupt");
    program.send("y");
    program.wait_for("y once");
    assert!(program.screen().contains("❯ y"), "it is a draft:\n{}", program.screen());
    assert!(!home.path("work/a").exists());
    program.send("\x1ba");
    program.wait_for("Enter answer");
    program.send("n");
    program.wait_for("so it is");
    assert!(!home.path("work/a").exists());
    program.send("\x03");
    program.wait_gone("❯ y");
    assert_eq!(quit(&mut program), 0);
}

/// Presses Esc and waits for the word; it must be heard at once.
fn esc(program: &mut Program, what: &str) {
    let pressed = Instant::now();
    program.send("\x1b");
    program.until(what, |p| p.screen().contains("interrupted") || !p.screen().contains("Esc interrupt"));
    assert!(pressed.elapsed() < Duration::from_millis(1500), "{what}: {:?}", pressed.elapsed());
}

#[test]
fn esc_is_heard_in_every_phase() {
    let stream = Scene::say("x").stream(WIRE);
    let phases: Vec<(&str, Vec<Reply>, &[&str], &str)> = vec![
        ("waiting", vec![Reply::part(&stream, 0, Then::Silence)], &["begin"], "Esc interrupt"),
        ("streaming", vec![hangs(WIRE, "I think")], &["begin"], "I think"),
        (
            "calling",
            vec![calls(WIRE, "I run.", "bash", json!({"command": "echo it-runs; sleep 300"}))],
            &["--approve", "auto", "begin"],
            "it-runs",
        ),
        ("retrying", vec![Reply::error(429, &["retry-after: 60"], "slow down")], &["begin"], "slow down"),
        (
            "approval",
            vec![calls(WIRE, "I ask.", "bash", json!({"command": "rm -rf x"}))],
            &["begin"],
            "y once",
        ),
    ];
    for (phase, mut replies, line, sign) in phases {
        let mut home = Home::new();
        replies.push(says(WIRE, "I am here."));
        let server = Served::start(WIRE, replies);
        home.serve(WIRE, &server.url());
        let mut program = home.show(line);
        program.wait_for(sign);
        if phase == "approval" {
            // an approval may take Esc as "turn away" first
            until("armed", || {
                program.read(Duration::from_millis(20));
                !program.screen().contains("a moment")
            });
            program.send("\x1b");
            program.read(Duration::from_millis(300));
            if program.screen().contains("y once") {
                program.send("\x1b");
            }
            program.wait_gone("y once");
            program.wait_for("interrupted");
        } else {
            esc(&mut program, phase);
        }
        program.send("are you there\r");
        program.wait_for("I am here.");
        server.valid();
        assert_eq!(quit(&mut program), 0, "{phase}");
    }
}

#[test]
fn esc_is_heard_while_older_entries_are_summarised() {
    let mut home = Home::new();
    let server = Served::start(
        WIRE,
        vec![says(WIRE, "first answer"), hangs(WIRE, "a summ"), says(WIRE, "I am here.")],
    );
    home.serve(WIRE, &server.url());
    let settings = home.read("config/windlass/settings.json");
    let settings = settings.replacen('{', "{\"compaction\": {\"keep_recent_tokens\": 0},", 1);
    home.write("config/windlass/settings.json", &settings);
    let mut program = home.show(&["begin"]);
    program.wait_for("first answer");
    program.send("/compact\r");
    server.asked(2);
    // not the turn before, of which older frames still tell
    program.wait_for("summarising");
    program.send("\x1b");
    program.wait_gone("summarising");
    program.send("are you there\r");
    program.wait_for("I am here.");
    server.valid();
    assert_eq!(quit(&mut program), 0);
}
