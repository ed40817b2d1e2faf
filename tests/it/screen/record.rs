//! Records to draw.

use std::path::PathBuf;
use std::sync::Arc;

use windlass::api::access::{Approval, Class, Mode, Preview};
use windlass::api::board::{Context, Live, Part, PartKind, Pending, Phase, Record, Status};
use windlass::api::entry::{
    CallSettle, CallStart, CallStatus, Entry, EntryBody, TurnEnd, TurnStatus, UserMessage,
};
use windlass::api::message::{Answer, Block, Body, Finish, Stop, Usage};
use windlass::base::{CallId, EntryId, Millis, SessionId};
use windlass::law::board::{Board, Progress};

/// Nothing was said yet.
pub fn empty() -> Record {
    Record {
        jobs: windlass::law::board::Board::default(),
        agents: windlass::law::board::Board::default(),
        path: Vec::new(),
        epoch: 0,
        live: Live::default(),
        calls: Board::default(),
        approvals: Arc::new(Vec::new()),
        status: Arc::new(Status {
            session: SessionId::new("s1"),
            title: String::new(),
            cwd: PathBuf::from("/srv/parser"),
            branch: Some("main*".into()),
            model: "anthropic/claude-sonnet".into(),
            scripted: false,
            rehearsal: false,
            mode: Mode::Ask,
            profile: "unconfined".into(),
            trusted: None,
            read_only: None,
            phase: Phase::Idle,
            turn_began: None,
            context: Context { used: Some(68_000), window: Some(200_000) },
            usage: Usage::default(),
            cost: Some(0.42),
            pending: Vec::new(),
            open_conflicts: 0,
            conflicted: std::collections::BTreeMap::new(),
            counted: 0,
            untold_ends: 0,
        }),
        revision: 0,
    }
}

/// Adds an entry.
pub fn push(record: &mut Record, body: EntryBody) {
    let number = record.path.len() + 1;
    let parent = record.path.last().map(|e| e.id.clone());
    let id = EntryId::new(format!("e{number}"));
    record.path.push(Arc::new(Entry { id, parent, at: Millis(900_000 + number as u64), body }));
}

/// A message of the person.
pub fn user(record: &mut Record, text: &str) {
    push(record, EntryBody::User(UserMessage { text: text.into(), ..UserMessage::default() }));
}

/// An answer.
pub fn answer(record: &mut Record, text: &str) {
    let answer = Answer {
        wire: "scripted".into(),
        model: "scripted/x".into(),
        blocks: vec![Block::plain(Body::Text(text.into()))],
        finish: Finish::Finished(Stop::End),
        usage: None,
    };
    push(record, EntryBody::Answer(answer));
}

/// A call of a tool that went well.
pub fn settled(record: &mut Record, call: &str, tool: &str, input: serde_json::Value, output: &str) {
    command(record, call, "", output, true);
    let at = record.path.len() - 2;
    let mut start = (*record.path[at]).clone();
    if let EntryBody::CallStart(begun) = &mut start.body {
        (begun.tool, begun.input) = (tool.into(), input);
    }
    record.path[at] = Arc::new(start);
}

/// A settled command.
pub fn command(record: &mut Record, call: &str, command: &str, output: &str, ok: bool) {
    push(
        record,
        EntryBody::CallStart(CallStart {
            call: CallId::new(call),
            wire_id: call.into(),
            tool: "bash".into(),
            input: serde_json::json!({ "command": command }),
            spool: None,
        }),
    );
    push(
        record,
        EntryBody::CallSettle(CallSettle {
            kept: output.len() as u64,
            duration: Millis(1200),
            ..CallSettle::new(CallId::new(call), if ok { CallStatus::Ok } else { CallStatus::Error }, output)
        }),
    );
}

/// Changes the status.
pub fn status(record: &mut Record, change: impl FnOnce(&mut Status)) {
    change(Arc::make_mut(&mut record.status));
}

/// A running command.
pub fn running(record: &mut Record, call: &str, command: &str, tail: &str) {
    record.calls.begin(
        CallId::new(call),
        Progress {
            tool: "bash".into(),
            title: command.into(),
            began: Millis(988_000),
            bytes: tail.len() as u64,
            lines: tail.lines().count() as u64,
            tail: tail.into(),
            warnings: Vec::new(),
            asking: false,
        },
    );
    push(
        record,
        EntryBody::CallStart(CallStart {
            call: CallId::new(call),
            wire_id: call.into(),
            tool: "bash".into(),
            input: serde_json::json!({ "command": command }),
            spool: None,
        }),
    );
}

/// An open question about a command.
pub fn ask(record: &mut Record, call: &str, command: &str) {
    let approval = Approval {
        call: CallId::new(call),
        agent: None,
        tool: "bash".into(),
        class: Class::Execute,
        why: "mode ask: commands are asked for".into(),
        preview: Preview::Command { command: command.into(), cwd: PathBuf::from("/srv/parser") },
        rule: Some("bash(cargo test:*)".into()),
    };
    Arc::make_mut(&mut record.approvals).push(approval);
}

/// Text streams in.
pub fn stream(record: &mut Record, text: &str) {
    if record.live.parts.is_empty() {
        record.live.number += 1;
        record.live.parts.push(Part { kind: PartKind::Text, text: String::new() });
    }
    record.live.parts[0].text.push_str(text);
}

/// A conversation in the middle of its work.
pub fn full() -> Record {
    let mut record = empty();
    user(&mut record, "make the lexer skip nested comments, in parallel with docs");
    answer(
        &mut record,
        "I'll split this in two. One agent edits the **lexer**, one the manual.\n\n- first `src/lexer.rs`\n- then 文書 and the table\n\n| file | lines |\n|---|---|\n| a.rs | 10 |\n| b.rs | 200 |\n",
    );
    command(&mut record, "c1", "cargo test lexer", "running 2 tests\ntest ok\nFAILED\n", false);
    push(&mut record, EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Interrupted, why: None }));
    user(&mut record, "go on");
    running(&mut record, "c2", "cargo test", "test lexer::nested ... ok\ntest lexer::eof ... FAILED\n");
    status(&mut record, |s| {
        s.phase = Phase::Calling;
        s.turn_began = Some(Millis(980_000));
        s.pending = vec![Pending { id: 1, text: "and the docs, please".into(), after_turn: true }];
    });
    record
}
