//! What ends while the window is not looked at is told in the way that was set, and nothing else is.

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
    let osc9: Vec<String> = text
        .split("\x1b]9;")
        .skip(1)
        .map(|rest| rest.split('\x07').next().unwrap_or_default().to_owned())
        .collect();
    let desktop = std::fs::read_to_string(home.path("desktop")).unwrap_or_default();
    let desktop: Vec<String> = desktop.lines().map(str::to_owned).collect();
    let rung = vec!["bell".to_owned(); bells(&program.bytes)];
    let (wanted, others) = match how {
        "bell" => (rung, osc9.len() + desktop.len()),
        "osc9" => (osc9, rung.len() + desktop.len()),
        "desktop" => (desktop, rung.len() + osc9.len()),
        _ => (Vec::new(), rung.len() + osc9.len() + desktop.len()),
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
