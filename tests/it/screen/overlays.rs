//! Every overlay shows its choices at 80×12, and draws at every size.

use super::{Screen, record};
use windlass::api::account::{ContextPart, Ran, Share, Spent, TurnTimes, UsageReport};
use windlass::api::command::{Command, Query};
use windlass::api::event::{Event, ModelInfo, Reply, ServerInfo, SessionInfo};
use windlass::api::message::Usage;
use windlass::base::{Millis, SessionId};
use windlass::ui::input::{Input, parse_key};
use windlass::ui::{Effect, Exit, Msg};

/// Answers the first question among the effects.
pub(super) fn reply(screen: &mut Screen, effects: &[Effect], reply: Reply) {
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

fn parts() -> Reply {
    let part = |share, name: &str, tokens, note: &str| ContextPart {
        share,
        name: name.into(),
        tokens,
        note: note.into(),
    };
    Reply::Context(vec![
        part(Share::Instructions, "instructions", 1200, "of Windlass"),
        part(Share::Instructions, "AGENTS.md", 400, "/srv/parser/AGENTS.md"),
        part(Share::Results, "results of bash", 2000, "3 calls"),
    ])
}

fn spent() -> Reply {
    let spent = |input, output, cost| Spent {
        answers: 1,
        usage: Usage { input, output, cache_read: 30_000, ..Usage::default() },
        cost,
    };
    Reply::Usage(UsageReport {
        total: spent(14_000, 3000, None),
        models: vec![
            ("anthropic/opus".into(), spent(12_000, 2000, Some(0.42))),
            ("local/qwen".into(), spent(2000, 1000, None)),
        ],
        turns: vec![("mend the lexer".into(), spent(14_000, 3000, None))],
        agents: vec![],
    })
}

fn ran_when() -> Reply {
    let ran = |tool: Option<&str>, began, asked, ended, word| Ran {
        tool: tool.map(str::to_owned),
        title: "cargo test".into(),
        began: Millis(began),
        asked: Millis(asked),
        ended: Millis(ended),
        word,
        runs: false,
    };
    let turn = |title: &str, rows| TurnTimes {
        title: title.into(),
        began: Millis(0),
        ended: Millis(20_000),
        runs: false,
        rows,
    };
    let rows = vec![
        ran(None, 0, 0, 4000, ""),
        ran(Some("bash"), 4000, 6000, 14_000, ""),
        ran(Some("read"), 4100, 0, 4150, "error"),
        ran(None, 14_000, 0, 20_000, ""),
    ];
    Reply::Timeline(vec![turn("the first one", vec![]), turn("mend the lexer", rows)])
}

/// Opens one; what it shows then.
pub(super) fn open(what: &str, screen: &mut Screen) -> Vec<&'static str> {
    match what {
        "palette" => {
            screen.keys("ctrl-p");
            vec!["Commands", "Choose"]
        }
        "help" => {
            screen.keys("?");
            vec!["Keys and commands", "type to search", "In the composer", "Enter", "Send; while"]
        }
        "models" => {
            let effects = screen.keys("ctrl-x m");
            reply(screen, &effects, models());
            vec![
                "local/qwen",
                "openai/gpt",
                "anthropic/opus",
                "ANTHROPIC_API_KEY is not set",
                "How much it thinks",
            ]
        }
        "thinking" => {
            screen.keys("ctrl-x k");
            vec!["How much the model thinks", "default", "off", "low", "medium", "high"]
        }
        "context" => {
            let effects = screen.keys("ctrl-x x");
            reply(screen, &effects, parts());
            vec!["about 3600 tokens", "instructions", "AGENTS.md", "results", "98%", "█"]
        }
        "usage" => {
            screen.write("/usage");
            let effects = screen.keys("enter");
            reply(screen, &effects, spent());
            vec!["What was spent", "cost unknown", "By model", "anthropic/opus", "$0.42", "unknown"]
        }
        "timeline" => {
            screen.write("/timeline");
            let effects = screen.keys("enter");
            reply(screen, &effects, ran_when());
            vec![
                "turn 2 of 2",
                "mend the lexer",
                "waited for you 6.0 s",
                "░░",
                "10.0 s, asked 6.0 s",
                "error",
            ]
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
            let own = SessionInfo {
                id: SessionId::new("s1"),
                title: "this very one".into(),
                holder: Some("pid 4711".into()),
                ..info.clone()
            };
            reply(screen, &effects, Reply::Sessions(vec![info, own]));
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
                "Use qwen3",
                "Type an Anthropic key",
                "Type an OpenAI key",
                "Type a Gemini key",
                "Look around",
            ]
        }
        "trust" => {
            screen.write("/trust");
            screen.keys("enter");
            vec!["No", "Yes, I trust it", ".windlass/settings.json"]
        }
        "quit" => {
            screen.change(|r| record::status(r, |s| s.phase = windlass::api::board::Phase::Streaming));
            screen.draw();
            screen.keys("ctrl-d");
            vec!["Stay", "Leave"]
        }
        "tour" => {
            screen.write("/tour");
            screen.keys("enter");
            vec!["The screen · 1 of 5", "Top line", "Next", "Enough"]
        }
        "rename" => {
            screen.write("/rename");
            screen.keys("enter");
            vec!["Name of the session"]
        }
        _ => vec![],
    }
}

const ALL: [&str; 14] = [
    "palette", "help", "models", "thinking", "sessions", "themes", "welcome", "trust", "context", "quit",
    "rename", "tour", "usage", "timeline",
];

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
fn the_keys_of_lists_are_told_over_every_list() {
    for what in ["palette", "models", "themes", "trust", "tour"] {
        for key in ["f1", "?"] {
            let mut screen = Screen::new(100, 30, record::empty());
            open(what, &mut screen);
            let before = screen.shown();
            screen.keys(key);
            let shown = screen.shown();
            assert!(shown.contains("In lists") && shown.contains("Take the row"), "{what} {key}: {shown}");
            screen.keys("esc");
            assert_eq!(screen.shown(), before, "{what} {key}: the list is there again");
        }
    }
    let mut screen = Screen::new(100, 30, record::empty());
    open("palette", &mut screen);
    screen.write("x?");
    assert!(screen.shown().contains("› x?"), "a question mark amid what is typed is a letter");
}

#[test]
fn the_palette_leads_to_where_an_action_is_done_and_does_nothing_there() {
    let mut screen = Screen::new(120, 30, record::empty());
    screen.keys("ctrl-p");
    screen.write("end it with all its processes");
    let shown = screen.shown();
    assert!(shown.contains("in the list of jobs"), "{shown}");
    assert_eq!(screen.keys("enter"), vec![]);
    let shown = screen.shown();
    assert!(shown.contains("In the list of jobs: ") && shown.contains("End it with all"), "{shown}");
}

#[test]
fn the_tour_goes_on_by_enter_and_escape_ends_it() {
    let mut screen = Screen::new(80, 24, record::empty());
    open("tour", &mut screen);
    for card in 2..=5 {
        screen.keys("enter");
        assert!(screen.shown().contains(&format!("{card} of 5")));
    }
    screen.keys("enter");
    assert!(!screen.shown().contains(" of 5"), "the model is there: it is over");
    open("tour", &mut screen);
    screen.keys("enter esc");
    assert!(!screen.shown().contains(" of 5"));
}

#[test]
fn keys_lead_between_the_turns_of_the_timeline() {
    let mut screen = Screen::new(100, 24, record::empty());
    open("timeline", &mut screen);
    screen.keys("k");
    assert!(screen.shown().contains("the first one"));
    screen.keys("k j j");
    assert!(screen.shown().contains("mend the lexer"));
    screen.keys("q");
    assert!(!screen.shown().contains("What ran when"));
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

#[test]
fn help_is_searched_by_typing() {
    let mut screen = Screen::new(80, 24, record::empty());
    screen.keys("?");
    screen.write("every command");
    let shown = screen.shown();
    assert!(shown.contains("^P") && shown.contains("Everywhere"), "{shown}");
    assert!(!shown.contains("In the composer"), "{shown}");
    screen.keys("ctrl-u");
    assert!(screen.shown().contains("In the composer"));
    screen.write("ctrl-p");
    assert!(screen.shown().contains("Every command by name"), "a key is found by its name");
    screen.keys("ctrl-u");
    screen.keys("?");
    assert!(!screen.shown().contains("Keys and commands"), "? closes it again");
}

#[test]
fn a_session_of_the_list_is_renamed_where_it_stands() {
    let mut screen = Screen::new(80, 24, record::empty());
    open("sessions", &mut screen);
    screen.keys("ctrl-r");
    screen.write("better name");
    let effects = screen.keys("enter");
    let query = Query::Rename { session: SessionId::new("s2"), title: "better name".into() };
    assert!(matches!(&effects[..], [Effect::Send(Command::Ask { query: asked, .. })] if *asked == query));
    let effects = {
        let number = match &effects[0] {
            Effect::Send(Command::Ask { number, .. }) => *number,
            other => panic!("{other:?}"),
        };
        screen.tell(Msg::Event(Event::Answered { number, reply: Reply::Done("done".into()) }))
    };
    assert!(
        matches!(&effects[..], [Effect::Send(Command::Ask { query: Query::Sessions { all: false }, .. })]),
        "the list is asked for anew: {effects:?}"
    );
}

#[test]
fn a_draft_is_not_lost_without_a_question() {
    for what in ["ctrl-x n", "ctrl-x s"] {
        let mut screen = Screen::new(80, 24, record::empty());
        screen.write("half a thought");
        if what == "ctrl-x s" {
            open("sessions", &mut screen);
            assert_eq!(screen.keys("enter"), vec![]);
        } else {
            assert_eq!(screen.keys(what), vec![]);
        }
        assert!(screen.shown().contains("Leave your draft?"), "{what}");
        screen.keys("enter");
        assert_eq!(screen.model.composer.draft.shown(), "half a thought");
    }
    let mut screen = Screen::new(80, 24, record::empty());
    screen.write("half a thought");
    assert_eq!(screen.keys("ctrl-x n down enter"), vec![Effect::Leave(Exit::New)]);
}

#[test]
fn a_level_of_thinking_is_chosen_from_a_list() {
    let mut screen = Screen::new(80, 24, record::empty());
    assert_eq!(
        screen.keys("ctrl-x k down down enter"),
        vec![Effect::Send(Command::SetThinking(windlass::api::message::Thinking::Low))]
    );
}

#[test]
fn what_a_narrow_list_has_no_room_for_stands_below_it() {
    let mut screen = Screen::new(36, 20, record::empty());
    screen.tell(Msg::Welcome);
    screen.keys("down");
    assert!(screen.shown().contains("or set ANTHROPIC_API_KEY"), "{}", screen.shown());
}
