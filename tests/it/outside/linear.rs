//! The screen-reader mode from outside: plain lines that are only added, each said once, and questions that are
//! answered by numbers.

use serde_json::json;

use super::Home;
use crate::terminal::Program;

fn text(program: &Program) -> String {
    String::from_utf8_lossy(&program.bytes).replace("\r\n", "\n")
}

fn hear(program: &mut Program, words: &str) {
    program.until(&format!("{words:?}"), |program| text(program).contains(words));
}

/// Answers a question, again whenever it is said that it was no answer yet: none is taken before it could be heard.
fn answer(program: &mut Program, line: &str, then: &str) {
    let early = |program: &Program| text(program).matches("typed before the question was said").count();
    let mut known = early(program);
    program.send(line);
    program.until(&format!("{then:?}"), |program| {
        if early(program) > known {
            known += 1;
            program.send(line);
        }
        text(program).contains(then)
    });
}

#[test]
fn lines_are_added_and_nothing_is_drawn_or_said_twice() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [
        {"think": "hm", "say": ["# Plan\n\nFirst I wr", "ite **it**.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nlet x;\n```\n"],
         "calls": [{"tool": "write", "input": {"path": "a.txt", "content": "one\n"}}]},
        {"say": "", "calls": [{"tool": "bash", "input": {"command": "printf no; exit 3"}}]},
        {"say": "It failed as it should."},
    ]}));
    let mut program = home.show(&["--screen-reader", "--model", &model]);
    hear(&mut program, "/help says what can be typed.");
    program.send("go on\r");
    hear(&mut program, "May write run?");
    hear(&mut program, "Type a number.");
    answer(&mut program, "1\r", "May bash run?");
    answer(&mut program, "yes\r", "It failed as it should.");
    hear(&mut program, "Done.");
    assert_eq!(home.read("work/a.txt"), "one\n");
    program.send("/thinking\r");
    hear(&mut program, "5. high");
    program.send("5\r");
    hear(&mut program, "thinking: high");
    let said = text(&program);
    for once in [
        "Plan\n",
        "First I write it.\n",
        "Table of 2 columns:\n",
        "a: 1; b: 2\n",
        "Code:\nlet x;\nEnd of code.\n",
        "Changed: 1 line added, 0 removed.",
        "Failed: exit 3.",
        "It failed as it should.",
        "Done.",
    ] {
        assert_eq!(said.matches(once).count(), 1, "{once:?} in\n{said}");
    }
    let drawn = |c: char| {
        c == '\x1b' || ('\u{2500}'..='\u{259f}').contains(&c) || ('\u{2800}'..='\u{28ff}').contains(&c)
    };
    assert!(!said.contains(drawn), "{said:?}");
    program.send("\x04");
    program.until("the end", |program| matches!(program.child.try_wait(), Ok(Some(_))));
    assert!(program.child.wait().is_ok_and(|status| status.success()), "{}", text(&program));
}

#[test]
fn an_answer_that_was_typed_ahead_is_none_and_an_interrupt_is_said() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [
        {"say": "I ask.", "calls": [{"tool": "bash", "input": {"command": "touch made"}}]},
        {"say": "never"},
    ]}));
    home.write("config/windlass/settings.json", r#"{"screen_reader": true}"#);
    let mut program = home.show(&["--model", &model]);
    hear(&mut program, "> ");
    program.send("go\r");
    hear(&mut program, "May bash run?");
    program.send("1\r");
    // on a machine that is so busy that it came late, it is an answer
    program.until("a word", |program| {
        let said = text(program);
        said.contains("typed before the question was said") || said.contains("Call bash: touch made\nEnded")
    });
    if text(&program).contains("typed before") {
        assert!(!home.path("work/made").exists());
        program.send("\x03");
        hear(&mut program, "Interrupted.");
    }
}

#[test]
fn the_conversation_is_gone_back_in_by_numbers() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [{"say": "The first answer."}, {"say": "The second answer."}]}));
    let mut program = home.show(&["--screen-reader", "--model", &model]);
    hear(&mut program, "/help says what can be typed.");
    program.send("one\r");
    program.until("an answer", |program| text(program).contains("The first answer.\nDone."));
    program.send("two\r");
    program.until("an answer", |program| text(program).contains("The second answer.\nDone."));
    program.send("/tree\r");
    hear(&mut program, "Type a number to go back there");
    let said = text(&program);
    let line = said.lines().find(|line| line.ends_with("you: two")).unwrap_or_else(|| panic!("{said}"));
    let number = line.split('.').next().unwrap().to_owned();
    program.send("99\r");
    hear(&mut program, "There is no such line");
    program.send(&format!("{number}\r"));
    hear(&mut program, "before “two”");
    program.send("1\r");
    hear(&mut program, "The conversation goes on from another place now.");
    hear(&mut program, "Your draft: two");
}
