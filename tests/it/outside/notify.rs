//! What ends or waits while the window is not looked at is told in the way that was set, and nothing else is. The
//! window's title says it all the time.

use serde_json::json;

use super::Home;
use crate::terminal::Program;

/// Bells that are no end of another sequence.
fn bells(bytes: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"\x1b]") {
            let rest = &bytes[at..];
            let ends = |w: &[u8]| w[0] == 7 || w == b"\x1b\\";
            at += rest.windows(2).skip(2).position(ends).map_or(rest.len(), |end| end + 3);
        } else {
            count += usize::from(bytes[at] == 7);
            at += 1;
        }
    }
    count
}

/// How often it was told so far.
fn told(how: &str, home: &Home, program: &Program) -> Vec<String> {
    let text = String::from_utf8_lossy(&program.bytes);
    let begin = match how {
        "osc777" => "\x1b]777;notify;",
        "osc99" => "\x1b]99;;",
        _ => "\x1b]9;",
    };
    let osc: Vec<String> = text
        .split(begin)
        .skip(1)
        .map(|rest| rest.split('\x07').next().unwrap_or_default().to_owned())
        .collect();
    let desktop = std::fs::read_to_string(home.path("desktop")).unwrap_or_default();
    let desktop: Vec<String> = desktop.lines().map(str::to_owned).collect();
    let rung = vec!["bell".to_owned(); bells(&program.bytes)];
    let (wanted, others) = match how {
        "bell" => (rung, osc.len() + desktop.len()),
        "osc9" | "osc777" | "osc99" => (osc, rung.len() + desktop.len()),
        "desktop" => (desktop, rung.len() + osc.len()),
        _ => (Vec::new(), rung.len() + osc.len() + desktop.len()),
    };
    assert_eq!(others, 0, "{how}: it is told in one way alone");
    wanted
}

#[test]
fn an_end_is_told_while_the_window_is_not_looked_at_in_the_way_that_was_set() {
    let job = "j1 exit 3 · until [ -e go ]; do sleep 0.05; done; exit 3";
    let turn = "the model has finished";
    for (how, words) in [
        ("bell", ["bell".to_owned(), "bell".to_owned()]),
        ("osc9", [job, turn].map(|words| format!("Windlass: {words}"))),
        ("osc777", [job, turn].map(|words| format!("Windlass;{words}"))),
        ("osc99", [job, turn].map(|words| format!("Windlass: {words}"))),
        ("desktop", [job, turn].map(|words| format!("--app-name=Windlass -- Windlass {words}"))),
        ("off", Default::default()),
    ] {
        let mut home = Home::new();
        home.write("config/windlass/settings.json", &json!({"notify": how, "mode": "auto"}).to_string());
        let send = format!("#!/bin/sh\necho \"$@\" >>{}\n", home.path("desktop").display());
        std::fs::create_dir(home.path("bin")).unwrap();
        crate::executable(&home.path("bin/notify-send"), send.as_bytes());
        home.set("PATH", &format!("{}:{}", home.path("bin").display(), std::env::var("PATH").unwrap()));
        let waits = "until [ -e go ]; do sleep 0.05; done; exit 3";
        let model = home.script(&json!({"turns": [
            {"calls": [{"tool": "bash", "input": {"command": waits, "background": true}}]},
            {"say": "first answer"}, {"say": "second answer"}, {"say": "third answer"}
        ]}));
        let mut program = home.show(&["--model", &model]);
        program.wait_for("Type a message");
        // it is looked at: nothing is told
        program.send("\x1b[Ione\r");
        program.wait_for("first answer");
        program.until("the turn is over", |p| !p.screen().contains("Esc interrupt"));
        assert_eq!(told(how, &home, &program), Vec::<String>::new());
        program.send("\x1b[O");
        // what is typed after it shows that it was heard
        program.send("two");
        program.wait_for("❯ two");
        home.write("work/go", "");
        program.wait_for("j1 ✗ exit 3");
        let count = usize::from(how != "off");
        program.until("the job's end is told", |p| told(how, &home, p).len() >= count);
        program.send("\r");
        program.wait_for("second answer");
        program.until("the turn's end is told", |p| told(how, &home, p).len() >= 2 * count);
        program.send("\x1b[Ithree\r");
        program.wait_for("third answer");
        program.until("the turn is over", |p| !p.screen().contains("Esc interrupt"));
        assert_eq!(told(how, &home, &program), words[..2 * count], "{how}");
        assert_eq!(super::rehearsal::quit(&mut program), 0);
    }
}

/// The titles that the window was given, without the one that is taken away at the end.
fn titles(program: &Program) -> Vec<String> {
    let text = String::from_utf8_lossy(&program.bytes).into_owned();
    let after = |rest: &str| rest.split('\x07').next().unwrap_or_default().to_owned();
    text.split("\x1b]2;").skip(1).map(after).filter(|title| !title.is_empty()).collect()
}

/// A home whose model asks for a command, and is told what it has to do at once.
fn asking(settings: serde_json::Value) -> (Home, String) {
    let home = Home::new();
    home.write("config/windlass/settings.json", &settings.to_string());
    let model = home.script(&json!({"turns": [
        {"calls": [{"tool": "bash", "input": {"command": "echo asked; until [ -e go ]; do sleep 0.02; done"}}]},
        {"say": "first answer"},
    ]}));
    (home, model)
}

#[test]
fn a_question_is_told_and_the_title_says_what_waits() {
    let (home, model) = asking(json!({"notify": "osc9", "notify_after_ms": 0, "mode": "ask"}));
    let mut program = home.show(&["--model", &model]);
    program.wait_for("Type a message");
    program
        .until("the place is in the title", |p| titles(p).last().is_some_and(|t| t.starts_with("work · ")));
    program.send("\x1b[Ogo\r");
    program.wait_for("echo asked");
    program.until("it is told", |p| !told("osc9", &home, p).is_empty());
    assert_eq!(told("osc9", &home, &program), ["Windlass: waits for you: bash"]);
    program.until("the title asks", |p| titles(p).last().is_some_and(|t| t.starts_with("? bash · work · ")));
    // somebody is there again, and answers
    program.send("\x1b[I");
    program
        .until("it takes the answer", |p| p.screen().contains("y once") && !p.screen().contains("a moment"));
    program.send("y");
    program.until("the title says that it works", |p| {
        titles(p).last().is_some_and(|t| t.starts_with("… work · "))
    });
    home.write("work/go", "");
    program.wait_for("first answer");
    program.until("the title asks no more", |p| titles(p).last().is_some_and(|t| t.starts_with("work · ")));
    assert_eq!(told("osc9", &home, &program).len(), 1, "what is looked at is not told");
    super::rehearsal::quit(&mut program);
    let text = String::from_utf8_lossy(&program.bytes).into_owned();
    let (set, back) = (text.rfind("\x1b]2;\x07"), text.rfind("\x1b[23;0t"));
    assert!(set.is_some() && set < back, "the title before comes back");
}

#[test]
fn where_the_focus_is_not_told_a_question_rings_after_a_while_without_a_key() {
    let (home, model) = asking(json!({"notify": "osc9", "notify_after_ms": 300, "mode": "ask"}));
    let mut program = home.show(&["--model", &model]);
    program.wait_for("Type a message");
    program.send("go\r");
    program.until("it is told", |p| !told("osc9", &home, p).is_empty());
    assert_eq!(told("osc9", &home, &program), ["Windlass: waits for you: bash"]);
}

#[test]
fn a_terminal_that_knows_no_titles_is_told_none() {
    for (name, value) in [("TERM", "linux"), ("", "")] {
        let (mut home, model) = asking(json!({"terminal_title": !name.is_empty()}));
        if !name.is_empty() {
            home.set(name, value);
        }
        let mut program = home.show(&["--model", &model]);
        program.wait_for("Type a message");
        program.send("go\r");
        program.wait_for("echo asked");
        super::rehearsal::quit(&mut program);
        let text = String::from_utf8_lossy(&program.bytes);
        assert!(!text.contains("\x1b]2;"), "{name}: {text:?}");
    }
}
