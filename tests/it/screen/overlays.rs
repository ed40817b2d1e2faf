//! Every overlay shows its choices at 80×12, and draws at every size.

use super::{Screen, record};
use windlass::api::command::{Command, Query};
use windlass::api::event::{Event, ModelInfo, Reply, ServerInfo, SessionInfo};
use windlass::base::{Millis, SessionId};
use windlass::ui::input::{Input, parse_key};
use windlass::ui::{Effect, Exit, Msg};

/// Answers the first question among the effects.
fn reply(screen: &mut Screen, effects: &[Effect], reply: Reply) {
    let number = effects
        .iter()
        .find_map(|e| match e {
            Effect::Send(Command::Ask { number, .. }) => Some(*number),
            _ => None,
        })
        .unwrap();
    screen.tell(Msg::Event(Event::Answered { number, reply }));
}

fn models() -> Reply {
    let model = |id: &str, usable: bool| ModelInfo {
        id: id.into(),
        window: Some(200_000),
        price: Some((3.0, 15.0)),
        usable,
        missing: (!usable).then(|| "ANTHROPIC_API_KEY is not set".to_owned()),
    };
    Reply::Models(vec![model("anthropic/opus", false), model("local/qwen", true), model("openai/gpt", true)])
}

fn open(what: &str, screen: &mut Screen) -> Vec<&'static str> {
    match what {
        "palette" => {
            screen.keys("ctrl-p");
            vec!["Commands", "Choose"]
        }
        "help" => {
            screen.keys("?");
            vec!["Keys and commands", "esc", "End what runs"]
        }
        "models" => {
            let effects = screen.keys("ctrl-x m");
            reply(screen, &effects, models());
            vec!["local/qwen", "openai/gpt", "anthropic/opus", "ANTHROPIC_API_KEY is not set"]
        }
        "sessions" => {
            let effects = screen.keys("ctrl-x s");
            let info = SessionInfo {
                id: SessionId::new("s2"),
                title: "the other one".into(),
                cwd: "/srv".into(),
                changed: Millis(0),
                bytes: 9,
                holder: None,
            };
            reply(screen, &effects, Reply::Sessions(vec![info]));
            vec!["the other one", "min ago"]
        }
        "themes" => {
            screen.keys("ctrl-x c");
            vec!["dark", "light", "ansi", "mono"]
        }
        "welcome" => {
            let effects = screen.tell(Msg::Welcome);
            let server = ServerInfo {
                kind: "Ollama".into(),
                base_url: "http://127.0.0.1:11434".into(),
                models: vec!["qwen3".into()],
            };
            reply(screen, &effects, Reply::Servers(vec![server]));
            vec![
                "Rehearsal",
                "Type an Anthropic key",
                "Type an OpenAI key",
                "Type a Gemini key",
                "Look around",
            ]
        }
        "trust" => {
            screen.write("/trust");
            screen.keys("enter");
            vec!["No", "Yes, I trust it"]
        }
        "quit" => {
            screen.change(|r| record::status(r, |s| s.phase = windlass::api::board::Phase::Streaming));
            screen.draw();
            screen.keys("ctrl-d");
            vec!["Stay", "Leave"]
        }
        "rename" => {
            screen.write("/rename");
            screen.keys("enter");
            vec!["Name of the session"]
        }
        _ => vec![],
    }
}

const ALL: [&str; 9] =
    ["palette", "help", "models", "sessions", "themes", "welcome", "trust", "quit", "rename"];

#[test]
fn every_overlay_shows_its_choices_at_80x12() {
    for what in ALL {
        let mut screen = Screen::new(80, 12, record::empty());
        let wanted = open(what, &mut screen);
        let shown = screen.shown();
        for text in wanted {
            assert!(shown.contains(text), "{what}: {text:?} is not in\n{shown}");
        }
    }
}

#[test]
fn an_approval_shows_its_choices_at_80x12() {
    let mut record = record::full();
    let long = (0..60).map(|n| format!("echo {n}\n")).collect::<String>();
    record::ask(&mut record, "c2", &long);
    let mut screen = Screen::new(80, 12, record);
    let shown = screen.shown();
    for wanted in
        ["once", "this session", "always: bash(cargo test:*)", " n no ", "no, because", "more lines"]
    {
        assert!(shown.contains(wanted), "{wanted:?} is not in\n{shown}");
    }
}

#[test]
fn everything_draws_at_every_size() {
    for what in ALL.into_iter().chain(["none", "approval"]) {
        let mut record = record::full();
        if what == "approval" {
            record::ask(&mut record, "c2", "ls");
        }
        let mut screen = Screen::new(80, 24, record);
        if what != "quit" {
            open(what, &mut screen);
        }
        for columns in [1, 2, 3, 5, 9, 20, 40, 71, 111] {
            for rows in [1, 2, 3, 4, 5, 7, 9, 12, 30] {
                screen.resize(columns, rows);
                let (seen, clean) = screen.clean();
                assert!(seen == clean, "{what} at {columns}x{rows}");
            }
        }
    }
}

#[test]
fn the_marked_theme_is_shown_at_once_and_escape_takes_it_back() {
    let mut screen = Screen::new(80, 24, record::empty());
    screen.keys("ctrl-x c down");
    assert_eq!(screen.model.look().name, "light");
    screen.keys("esc");
    assert_eq!(screen.model.look().name, "dark");
    screen.keys("ctrl-x c down enter");
    assert_eq!(screen.model.look().name, "light");
}

#[test]
fn a_key_is_neither_shown_nor_recorded() {
    let mut screen = Screen::new(80, 24, record::empty());
    screen.tell(Msg::Welcome);
    screen.keys("down enter");
    screen.write("sk-secret");
    screen.tell(Msg::Input(Input::Paste("-pasted".into())));
    let shown = screen.shown();
    assert!(!shown.contains("secret") && shown.contains("••••"), "{shown}");
    let effects = screen.keys("enter");
    match effects.as_slice() {
        [Effect::Send(Command::Ask { query: Query::StoreKey { provider, key }, .. })] => {
            assert_eq!((provider.as_str(), key.0.as_str()), ("anthropic", "sk-secret-pasted"));
        }
        other => panic!("{other:?}"),
    }
    let dump = screen.model.ring.dump();
    assert!(!dump.contains("secret") && !dump.contains("pasted") && !dump.contains("Char('k')"), "{dump}");
}

#[test]
fn the_first_run_screen_leads_to_the_rehearsal() {
    let mut screen = Screen::new(80, 24, record::empty());
    screen.tell(Msg::Welcome);
    assert_eq!(screen.keys("enter"), vec![Effect::Leave(Exit::Rehearsal)]);
}

#[test]
fn the_draft_survives_overlays_and_resizes() {
    let mut screen = Screen::new(80, 24, record::empty());
    screen.write("my draft");
    screen.keys("ctrl-p");
    screen.write("theme");
    screen.keys("esc ctrl-x c down esc");
    screen.resize(20, 5);
    screen.draw();
    screen.resize(120, 40);
    assert!(screen.shown().contains("my draft"));
}

#[test]
fn control_c_clears_then_asks_then_quits() {
    let mut screen = Screen::new(80, 24, record::empty());
    screen.write("draft");
    assert_eq!(screen.keys("ctrl-c"), vec![]);
    assert!(screen.model.composer.draft.is_empty());
    assert_eq!(screen.keys("ctrl-c"), vec![]);
    assert!(screen.shown().contains("again leaves"));
    assert_eq!(screen.keys("ctrl-c"), vec![Effect::Leave(Exit::Quit)]);
    assert!(parse_key("ctrl-c").is_some());
}

#[test]
fn a_dump_replayed_gives_the_same_screen() {
    let mut screen = Screen::new(90, 24, record::full());
    screen.write("hello ");
    screen.tell(Msg::Input(Input::Paste("one\ntwo".into())));
    screen.keys("left backspace ctrl-x c down enter ctrl-p esc pageup");
    let kept: Vec<(Millis, Msg)> = screen.model.ring.iter().cloned().collect();
    let mut again = Screen::new(90, 24, record::full());
    for (at, msg) in kept {
        again.now = at.0;
        again.tell(msg);
    }
    assert_eq!(again.shown(), screen.shown());
}
