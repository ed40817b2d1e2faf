//! The conversation pane by itself: a record that is written as an engine would, and what its rooms share.

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

mod back;
mod drawn;
mod long;
mod moves;
mod opens;
mod picks;
mod streams;

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
            open_conflicts: 0,
            conflicted: std::collections::BTreeMap::new(),
            counted: 0,
            untold_ends: 0,
        };
        Self(Record {
            path: Vec::new(),
            epoch: 0,
            live: Live::default(),
            calls: Board::default(),
            jobs: Board::default(),
            agents: crate::law::board::Board::default(),
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
        self.settle_bytes(id, (status, output), output.len() as u64, details);
    }
    /// The same of a call whose tool produced so many bytes.
    fn settle_bytes(&mut self, id: &str, told: (CallStatus, &str), kept: u64, details: Details) {
        let call = CallId::new(id);
        self.0.calls.end(&call);
        let (status, output) = told;
        let duration = Millis(12_400);
        let settle = CallSettle { kept, details, duration, ..CallSettle::new(call, status, output) };
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
        left: 0,
        told: None,
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
