//! The conversation pane: goldens at several sizes, scrolling, folding, and what streams in.

use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

use super::*;
use crate::api::access::Mode;
use crate::api::board::Record;
use crate::api::board::{Context, Live, Part, PartKind, Phase, Status};
use crate::api::entry::{
    CallSettle, CallStart, CallStatus, Compaction, Details, Entry, EntryBody, Level, Notice, TodoItem,
    TodoState, TurnEnd, TurnStatus, UserMessage,
};
use crate::api::message::{Answer, Block, Body, Finish, Stop, Usage};
use crate::base::{CallId, EntryId, Millis, SessionId};
use crate::law::board::{Board, Progress};
use crate::ui::theme::Theme;

/// A record that is written as an engine would.
struct Fake(Record);

impl Fake {
    fn new() -> Self {
        let status = Status {
            session: SessionId::new("s"),
            title: String::new(),
            cwd: PathBuf::from("/p"),
            branch: None,
            model: "m".into(),
            scripted: true,
            rehearsal: false,
            mode: Mode::Ask,
            profile: "unconfined".into(),
            trusted: None,
            read_only: None,
            phase: Phase::Idle,
            turn_began: None,
            context: Context::default(),
            usage: Usage::default(),
            cost: None,
            pending: Vec::new(),
        };
        Self(Record {
            path: Vec::new(),
            epoch: 0,
            live: Live::default(),
            calls: Board::default(),
            jobs: Board::default(),
            approvals: Arc::default(),
            status: Arc::new(status),
            revision: 1,
        })
    }
    fn commit(&mut self, body: EntryBody) {
        let id = EntryId::new(format!("e{}", self.0.path.len() + 1));
        self.0.path.push(Arc::new(Entry { id, parent: None, at: Millis(0), body }));
        self.0.revision += 1;
    }
    fn user(&mut self, text: &str) {
        self.commit(EntryBody::User(UserMessage { text: text.into(), ..UserMessage::default() }));
    }
    fn stream(&mut self, kind: PartKind, text: &str) {
        let parts = &mut self.0.live.parts;
        match parts.last_mut() {
            Some(part) if part.kind == kind => part.text.push_str(text),
            Some(_) | None => parts.push(Part { kind, text: text.into() }),
        }
        self.0.revision += 1;
    }
    fn begin(&mut self) {
        self.0.live = Live { number: self.0.live.number + 1, parts: Vec::new() };
        self.0.revision += 1;
    }
    fn answer(&mut self, blocks: Vec<Body>, finish: Finish) {
        let blocks = blocks.into_iter().map(Block::plain).collect();
        let answer = Answer { wire: "scripted".into(), model: "m".into(), blocks, finish, usage: None };
        self.0.live.parts.clear();
        self.commit(EntryBody::Answer(answer));
    }
    fn start(&mut self, id: &str, tool: &str, input: serde_json::Value) {
        let call = CallId::new(id);
        let start = CallStart {
            call: call.clone(),
            wire_id: format!("w{id}"),
            tool: tool.into(),
            input,
            spool: None,
        };
        self.commit(EntryBody::CallStart(start));
        let progress = Progress { tool: tool.into(), began: Millis(1_000), ..Progress::default() };
        self.0.calls.begin(call, progress);
        self.0.revision += 1;
    }
    fn settle(&mut self, id: &str, status: CallStatus, output: &str, details: Details) {
        let call = CallId::new(id);
        self.0.calls.end(&call);
        let settle = CallSettle {
            call,
            status,
            output: output.into(),
            kept: output.len() as u64,
            dropped: 0,
            artifact: None,
            images: Vec::new(),
            details,
            warnings: Vec::new(),
            touched: Vec::new(),
            usage: None,
            duration: Millis(12_400),
        };
        self.commit(EntryBody::CallSettle(settle));
    }
    fn call(id: &str, tool: &str, input: serde_json::Value) -> Body {
        Body::Call { id: format!("w{id}"), name: tool.into(), input }
    }
}

fn draw(state: &mut State, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    view(state, area, &mut buffer, &Theme::default(), Millis(13_000));
    buffer
}

fn lines(buffer: &Buffer) -> Vec<String> {
    (0..buffer.area.height)
        .map(|y| {
            let mut line = String::new();
            let mut x = 0;
            while x < buffer.area.width {
                let symbol = buffer.cell((x, y)).map_or(" ", |cell| cell.symbol());
                line.push_str(symbol);
                x += crate::ui::widget::text::width(symbol).max(1) as u16;
            }
            line.trim_end().to_owned()
        })
        .collect()
}

fn screen(state: &mut State, width: u16, height: u16) -> String {
    lines(&draw(state, width, height)).join("\n")
}

fn synced(fake: &Fake) -> State {
    let mut state = State::default();
    state.sync(&fake.0);
    state
}

fn press(state: &mut State, msg: Msg) -> Vec<Out> {
    update(state, msg, Millis(0))
}

const DIFF: &str =
    "--- a/src/lexer.rs\n+++ b/src/lexer.rs\n@@ -41,2 +41,2 @@\n fn skip() {\n-    old();\n+    new();\n";

/// A turn with everything in it.
fn full() -> Fake {
    let mut fake = Fake::new();
    fake.user("make the lexer skip nested comments,\nin parallel with docs");
    fake.answer(
        vec![
            Body::Thinking("First look at the lexer.\nThen at the tests.".into()),
            Body::Text("I'll split this in **two**:\n\n1. the lexer\n2. the manual".into()),
            Fake::call("c1", "bash", json!({"command": "cargo test\necho done"})),
            Fake::call("c2", "edit", json!({"path": "src/lexer.rs"})),
            Fake::call("c3", "todo", json!({"items": []})),
            Fake::call("c4", "bash", json!({"command": "sleep 300"})),
        ],
        Finish::Finished(Stop::Calls),
    );
    fake.start("c1", "bash", json!({"command": "cargo test\necho done"}));
    let details = Details::Command {
        end: "exit 101".into(),
        exit_code: Some(101),
        survivors: vec!["77 sleep".into()],
        job: None,
    };
    fake.settle("c1", CallStatus::Error, "test lexer::eof ... FAILED\nmore\n", details);
    fake.start("c2", "edit", json!({"path": "src/lexer.rs"}));
    fake.settle("c2", CallStatus::Ok, "ok", Details::Diff { diff: DIFF.into(), added: 1, removed: 1 });
    fake.start("c3", "todo", json!({"items": []}));
    let item = |text: &str, state| TodoItem { text: text.into(), state };
    let items = vec![item("lexer", TodoState::Done), item("manual", TodoState::Active)];
    fake.settle("c3", CallStatus::Ok, "", Details::Todo { items });
    fake.start("c4", "bash", json!({"command": "sleep 300"}));
    fake
}

#[test]
fn only_the_newest_list_of_things_to_do_stands_open() {
    let mut fake = Fake::new();
    let items = |state| vec![TodoItem { text: "mend the lexer".into(), state }];
    for (call, state) in [("t1", TodoState::Active), ("t2", TodoState::Done)] {
        fake.start(call, "todo", json!({}));
        fake.settle(call, CallStatus::Ok, "", Details::Todo { items: items(state) });
    }
    let mut state = synced(&fake);
    let shown = screen(&mut state, 60, 10);
    assert_eq!(shown.matches("mend the lexer").count(), 1, "{shown}");
    assert!(shown.contains("0 of 1 done") && shown.contains("1 of 1 done"), "{shown}");
    press(&mut state, Msg::ToggleAll);
    assert_eq!(screen(&mut state, 60, 10).matches("mend the lexer").count(), 2);
}

#[test]
fn a_turn_reads_well_at_66_columns() {
    let mut fake = full();
    let mut state = synced(&fake);
    fake.0.calls.report(&CallId::new("c4"), |progress| {
        progress.lines = 41;
        progress.tail = "test lexer::nested ... ok\n".into();
    });
    fake.0.revision += 1;
    assert!(state.sync(&fake.0) && state.animates());
    insta::assert_snapshot!("running", screen(&mut state, 66, 24));
    fake.settle("c4", CallStatus::Cancelled, "", Details::None);
    fake.commit(EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Interrupted, why: None }));
    fake.commit(EntryBody::Notice(Notice { level: Level::Warning, text: "the disk is nearly full".into() }));
    let summary = "## Goal\nA lexer.".to_owned();
    fake.commit(EntryBody::Compaction(Compaction {
        summary,
        keep_from: None,
        tokens_before: 120_000,
        tokens_after: 9_500,
    }));
    fake.commit(EntryBody::TurnEnd(TurnEnd {
        status: TurnStatus::Failed,
        why: Some("the key was refused".into()),
    }));
    state.sync(&fake.0);
    assert!(!state.animates());
    let shown = screen(&mut state, 66, 34);
    assert!(
        shown.contains("interrupted") && shown.contains("cancelled") && shown.contains("Alt-R tries again")
    );
    insta::assert_snapshot!("ended", shown);
    press(&mut state, Msg::ToggleAll);
    insta::assert_snapshot!("opened", screen(&mut state, 66, 60));
    press(&mut state, Msg::ToggleAll);
    insta::assert_snapshot!("narrow", screen(&mut state, 20, 60));
}

#[test]
fn every_size_from_1x1_can_be_drawn() {
    let mut state = synced(&full());
    press(&mut state, Msg::ToggleAll);
    for (width, height) in
        [(1, 1), (2, 1), (1, 9), (3, 3), (5, 2), (12, 4), (23, 5), (24, 5), (200, 2), (0, 0)]
    {
        draw(&mut state, width, height);
        draw(&mut State::default(), width, height);
    }
    assert!(screen(&mut State::default(), 60, 10).contains("Type a message"));
}

#[test]
fn an_answer_that_streams_becomes_the_committed_one_without_a_change() {
    let mut fake = Fake::new();
    fake.user("go");
    fake.begin();
    let mut state = synced(&fake);
    fake.stream(PartKind::Thinking, "hm");
    fake.stream(PartKind::Text, "Some **text**\n\nand more");
    state.sync(&fake.0);
    press(&mut state, Msg::PreviousUser);
    press(&mut state, Msg::Next);
    press(&mut state, Msg::Toggle);
    let before = screen(&mut state, 40, 12);
    assert!(before.contains("▾ thinking") && before.contains("and more"), "{before}");
    fake.answer(
        vec![Body::Thinking("hm".into()), Body::Text("Some **text**\n\nand more".into())],
        Finish::Finished(Stop::End),
    );
    state.sync(&fake.0);
    assert_eq!(screen(&mut state, 40, 12), before);
    // the next one forgets the parts of one that was never committed
    fake.begin();
    fake.stream(PartKind::Text, "lost");
    state.sync(&fake.0);
    assert!(screen(&mut state, 40, 12).contains("lost"));
    fake.begin();
    fake.stream(PartKind::Text, "second try");
    state.sync(&fake.0);
    let shown = screen(&mut state, 40, 12);
    assert!(!shown.contains("lost") && shown.contains("second try"));
}

#[test]
fn a_notice_while_an_answer_streams_stands_before_it_once() {
    let mut fake = Fake::new();
    fake.begin();
    fake.stream(PartKind::Text, "streaming");
    let mut state = synced(&fake);
    fake.commit(EntryBody::Notice(Notice { level: Level::Info, text: "noticed".into() }));
    fake.stream(PartKind::Text, " on");
    state.sync(&fake.0);
    let shown = screen(&mut state, 40, 5);
    assert_eq!(shown.matches("noticed").count(), 1);
    assert!(shown.contains("streaming on"));
    fake.0.epoch += 1;
    fake.0.path.clear();
    fake.0.live = Live { number: 9, parts: Vec::new() };
    fake.0.revision += 1;
    state.sync(&fake.0);
    assert!(screen(&mut state, 40, 8).contains("Nothing was said yet"));
}

#[test]
fn scrolled_up_stays_and_a_mark_tells_of_new_output() {
    let mut fake = Fake::new();
    fake.begin();
    for line in 0..50 {
        fake.stream(PartKind::Text, &format!("line {line}\n\n"));
    }
    let mut state = synced(&fake);
    draw(&mut state, 40, 10);
    press(&mut state, Msg::Lines(-20));
    let before = screen(&mut state, 40, 10);
    fake.stream(PartKind::Text, "and on and on\n\nmore");
    state.sync(&fake.0);
    let after = screen(&mut state, 40, 10);
    assert_eq!(after.lines().next(), before.lines().next());
    assert!(after.contains("new output"));
    let top = after.lines().next().unwrap_or_default().trim().to_owned();
    for width in [12, 100, 33, 40] {
        assert!(screen(&mut state, width, 10).lines().next().unwrap_or_default().contains(&top));
    }
    press(&mut state, Msg::Bottom);
    let end = screen(&mut state, 40, 10);
    assert!(end.contains("more") && !end.contains("new output"));
    press(&mut state, Msg::Top);
    assert!(screen(&mut state, 40, 10).starts_with(" line 0"));
    press(&mut state, Msg::Pages(1));
    assert!(!screen(&mut state, 40, 10).contains("line 0\n"));
}

#[test]
fn copies_are_source_and_a_click_opens() {
    let mut state = synced(&full());
    draw(&mut state, 66, 24);
    assert_eq!(
        press(&mut state, Msg::Copy),
        [Out::Copy("I'll split this in **two**:\n\n1. the lexer\n2. the manual".into())]
    );
    press(&mut state, Msg::NextUser);
    assert_eq!(
        press(&mut state, Msg::Copy),
        [Out::Copy("make the lexer skip nested comments,\nin parallel with docs".into())]
    );
    press(&mut state, Msg::NextError);
    assert_eq!(press(&mut state, Msg::Copy), [Out::Copy("test lexer::eof ... FAILED\nmore\n".into())]);
    let row = screen(&mut state, 66, 24).lines().position(|line| line.contains("edit")).unwrap();
    press(&mut state, Msg::Click { column: 9, row: row as u16 });
    assert!(screen(&mut state, 66, 24).contains("new();"));
    press(&mut state, Msg::Click { column: 9, row: row as u16 });
    assert!(!screen(&mut state, 66, 24).contains("new();"));
    let transcript = state.transcript();
    assert!(transcript.contains("❯ make the lexer") && transcript.contains("I'll split this in **two**"));
    assert!(transcript.contains("[bash · error] cargo test"));
}

#[test]
fn an_opened_call_asks_for_its_whole_output_and_drops_it_again() {
    let mut fake = Fake::new();
    fake.start("c1", "bash", json!({"command": "seq 9"}));
    fake.settle("c1", CallStatus::Ok, "1\n[… 8 lines]", Details::None);
    let mut cut = (*fake.0.path[1]).clone();
    if let EntryBody::CallSettle(settle) = &mut cut.body {
        settle.artifact = Some(PathBuf::from("/s/artifact"));
        settle.dropped = 16;
    }
    fake.0.path[1] = Arc::new(cut);
    let mut state = synced(&fake);
    draw(&mut state, 60, 20);
    let asked = press(&mut state, Msg::Toggle);
    let [Out::Ask { token, query: Query::Artifact { offset: 0, .. } }] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert!(screen(&mut state, 60, 20).contains("16 bytes more in /s/artifact"));
    let text: String = (1..10).map(|n| format!("{n}\n")).collect();
    press(&mut state, Msg::Answered { token: *token, reply: Reply::Artifact { text, size: 18 } });
    let shown = screen(&mut state, 60, 20);
    assert!(shown.contains("\n     9\n") && shown.contains("all of it is in /s/artifact"), "{shown}");
    assert!(press(&mut state, Msg::Toggle).is_empty());
    assert!(!screen(&mut state, 60, 20).contains("     9"));
}

#[test]
fn arguments_that_stream_name_what_they_are_for_as_soon_as_they_say_it() {
    let mut fake = Fake::new();
    fake.begin();
    fake.stream(PartKind::Call("write".into()), "{\"path\": \"src/ma");
    let mut state = synced(&fake);
    assert!(!screen(&mut state, 60, 3).contains("src"));
    fake.stream(PartKind::Call("write".into()), "in.rs\", \"content\": \"fn");
    state.sync(&fake.0);
    let shown = screen(&mut state, 60, 3);
    assert!(shown.contains("write  src/main.rs") && shown.contains("… 38 B"), "{shown}");
    fake.answer(
        vec![Fake::call("c1", "write", json!({"path": "src/main.rs", "content": "fn"}))],
        Finish::Finished(Stop::Calls),
    );
    state.sync(&fake.0);
    assert_eq!(screen(&mut state, 60, 9).matches("src/main.rs").count(), 1);
}

#[test]
fn a_search_finds_hits_in_folded_items_too() {
    let mut state = synced(&full());
    draw(&mut state, 66, 12);
    press(&mut state, Msg::Search("LEXER::EOF".into()));
    assert_eq!(state.hits(), Some((0, 0)));
    press(&mut state, Msg::Search("lexer::eof".into()));
    assert_eq!(state.hits(), Some((1, 1)));
    assert!(screen(&mut state, 66, 12).contains("lexer::eof"));
    press(&mut state, Msg::Search("lexer".into()));
    let (count, _) = state.hits().unwrap();
    let theme = Theme {
        hit_current: ratatui::style::Style::new().fg(ratatui::style::Color::Red),
        ..Theme::default()
    };
    for _ in 0..count {
        press(&mut state, Msg::SearchNext);
        let area = Rect::new(0, 0, 66, 12);
        let mut buffer = Buffer::empty(area);
        view(&mut state, area, &mut buffer, &theme, Millis(0));
        assert!(
            buffer.content.iter().any(|cell| cell.fg == ratatui::style::Color::Red),
            "{:?}",
            state.hits()
        );
    }
    press(&mut state, Msg::SearchPrevious);
    press(&mut state, Msg::Search(String::new()));
    assert_eq!(state.hits(), None);
}

#[test]
fn code_is_coloured_when_the_colours_come() {
    let (ring, bell) = std::sync::mpsc::sync_channel(64);
    let wake: crate::link::Wake = Arc::new(move || {
        let _ = ring.try_send(());
    });
    let mut fake = Fake::new();
    fake.begin();
    fake.stream(PartKind::Text, "```rust\nfn main() {}\nlet part");
    let mut state = State::new(wake);
    state.sync(&fake.0);
    let theme = Theme {
        syntax_keyword: ratatui::style::Style::new().fg(ratatui::style::Color::Blue),
        ..Theme::default()
    };
    let blue = |state: &mut State| {
        let area = Rect::new(0, 0, 40, 6);
        let mut buffer = Buffer::empty(area);
        view(state, area, &mut buffer, &theme, Millis(0));
        buffer.content.iter().filter(|cell| cell.fg == ratatui::style::Color::Blue).count()
    };
    assert_eq!(blue(&mut state), 0);
    bell.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert!(state.sync(&fake.0));
    assert_eq!(blue(&mut state), 2, "fn, and not the line that is not whole yet");
    fake.answer(
        vec![Body::Text("```rust\nfn main() {}\nlet part = 1;\n```".into())],
        Finish::Finished(Stop::End),
    );
    state.sync(&fake.0);
    assert_eq!(blue(&mut state), 2, "the colours stay when the answer is committed");
    bell.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert!(state.sync(&fake.0));
    assert_eq!(blue(&mut state), 5);
}

#[test]
fn ten_thousand_entries_lay_out_the_viewport_only() {
    let mut fake = Fake::new();
    for n in 0..5_000 {
        fake.user(&format!("question {n}"));
        fake.answer(
            vec![Body::Text(format!("answer {n} {}", "word ".repeat(80)))],
            Finish::Finished(Stop::End),
        );
    }
    let mut state = synced(&fake);
    assert!(screen(&mut state, 80, 40).contains("answer 4999"));
    assert!(state.cache.held() < 200, "{} rows were laid out", state.cache.held());
    press(&mut state, Msg::Top);
    assert!(screen(&mut state, 60, 40).contains("question 0"));
    for _ in 0..900 {
        press(&mut state, Msg::Pages(1));
        draw(&mut state, 60, 40);
    }
    assert!(state.cache.held() < 6_000, "{} rows are held", state.cache.held());
}

#[test]
fn a_line_of_123_427_characters_and_a_huge_message_are_drawn() {
    let mut fake = Fake::new();
    fake.user(&"x".repeat(123_427));
    fake.user(&"line\n".repeat(10_000));
    fake.answer(vec![Body::Text("y".repeat(123_427))], Finish::Truncated("cut".into()));
    let mut state = synced(&fake);
    for _ in 0..30 {
        draw(&mut state, 80, 40);
        press(&mut state, Msg::Pages(-1));
    }
    assert!(state.cache.held() < 2_000);
}

#[derive(Clone, Debug)]
enum Step {
    Text(String),
    Thinking(String),
    Commit,
    User,
    Notice,
    Sync,
    Draw(u16, u16),
    Scroll(i32),
    Toggle,
    Select(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop_oneof![
        "[a-z *`]{1,30}",
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\n```rust\n".to_owned()),
        Just("\n- item\n".to_owned()),
        Just("\n| a | b |\n|---|---|\n| 1 | 2 |\n".to_owned()),
    ];
    prop_oneof![
        8 => text.clone().prop_map(Step::Text),
        2 => text.prop_map(Step::Thinking),
        1 => Just(Step::Commit),
        1 => Just(Step::User),
        1 => Just(Step::Notice),
        4 => Just(Step::Sync),
        3 => (1u16..60, 1u16..20).prop_map(|(w, h)| Step::Draw(w, h)),
        2 => (-9i32..9).prop_map(Step::Scroll),
        1 => Just(Step::Toggle),
        1 => any::<bool>().prop_map(Step::Select),
    ]
}

fn take(fake: &mut Fake, step: &Step, state: &mut State) {
    match step {
        Step::Text(text) => fake.stream(PartKind::Text, text),
        Step::Thinking(text) => fake.stream(PartKind::Thinking, text),
        Step::Commit => {
            let blocks = fake.0.live.parts.iter().map(|part| match part.kind {
                PartKind::Thinking => Body::Thinking(part.text.clone()),
                PartKind::Text | PartKind::Call(_) => Body::Text(part.text.clone()),
            });
            let blocks = blocks.collect();
            fake.answer(blocks, Finish::Finished(Stop::End));
            fake.begin();
        }
        Step::User => fake.user("a *message*"),
        Step::Notice => fake.commit(EntryBody::Notice(Notice { level: Level::Info, text: "n".into() })),
        Step::Sync => {
            state.sync(&fake.0);
        }
        Step::Draw(width, height) => {
            draw(state, *width, *height);
        }
        Step::Scroll(rows) => drop(press(state, Msg::Lines(*rows))),
        Step::Toggle => drop(press(state, Msg::Toggle)),
        Step::Select(forward) => drop(press(state, if *forward { Msg::Next } else { Msg::Previous })),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_streaming_resizing_and_scrolling_equals_a_fresh_layout(
        steps in prop::collection::vec(step(), 0..60), width in 1u16..60, height in 1u16..24
    ) {
        let mut fake = Fake::new();
        fake.begin();
        let mut state = State::default();
        for step in &steps {
            take(&mut fake, step, &mut state);
        }
        state.sync(&fake.0);
        press(&mut state, Msg::Bottom);
        press(&mut state, Msg::Deselect);
        let mut fresh = synced(&fake);
        // the same folds
        let folds: Vec<Option<bool>> = state.items.iter().map(|item| item.open).collect();
        prop_assert_eq!(folds.len(), fresh.items.len());
        for (item, open) in fresh.items.iter_mut().zip(folds) {
            item.open = open;
        }
        prop_assert_eq!(draw(&mut state, width, height), draw(&mut fresh, width, height));
        press(&mut state, Msg::Top);
        press(&mut fresh, Msg::Top);
        prop_assert_eq!(draw(&mut state, width, height), draw(&mut fresh, width, height));
    }
    #[test]
    fn scrolling_through_shows_every_row_once(
        steps in prop::collection::vec(step(), 0..40), width in 8u16..50, height in 1u16..9
    ) {
        let (seen, all) = scrolled_through(&steps, width, height);
        prop_assert_eq!(seen, all);
    }
}

/// The rows that scrolling from the top to the end shows, and those of a view that holds all.
fn scrolled_through(steps: &[Step], width: u16, height: u16) -> (Vec<String>, Vec<String>) {
    let mut fake = Fake::new();
    fake.begin();
    let mut state = State::default();
    for step in steps {
        take(&mut fake, step, &mut state);
    }
    state.sync(&fake.0);
    press(&mut state, Msg::Deselect);
    press(&mut state, Msg::Bottom);
    if state.items.is_empty() {
        return Default::default();
    }
    let mut all = lines(&draw(&mut state, width, 700));
    draw(&mut state, width, height);
    press(&mut state, Msg::Top);
    let mut seen = lines(&draw(&mut state, width, height));
    for _ in 0..700 {
        if state.follows() {
            break;
        }
        press(&mut state, Msg::Lines(1));
        seen.extend(lines(&draw(&mut state, width, height)).pop());
    }
    for lines in [&mut seen, &mut all] {
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
    }
    (seen, all)
}

#[test]
fn a_blank_text_before_what_is_in_view_is_no_row_to_scroll_by() {
    let steps = [Step::Text(" ".into()), Step::Thinking("*".into())];
    let (seen, all) = scrolled_through(&steps, 8, 2);
    assert_eq!(seen, all);
}
