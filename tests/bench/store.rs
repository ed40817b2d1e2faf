//! Opening a session: 10 000 entries of normal size are to be there within 60 ms.

use divan::Bencher;
use divan::counter::BytesCount;
use tempfile::TempDir;
use windlass::api::entry::{CallSettle, CallStart, CallStatus, Details, Entry, EntryBody, UserMessage};
use windlass::api::message::{Answer, Block, Body, Finish, Stop, Usage};
use windlass::base::{CallId, Millis, SessionId};
use windlass::store::{Dirs, Durability, Session, list, now, view};

/// The kinds of entry of a turn, in their order.
fn body(number: usize) -> EntryBody {
    let call = CallId::new(format!("c{}", number / 4 + 1));
    let input = serde_json::json!({"command": "cargo test -p lexer", "timeout_ms": 60000});
    match number % 4 {
        0 => EntryBody::User(UserMessage {
            text: "look at the lexer and mend it".into(),
            ..Default::default()
        }),
        1 => {
            let text = "I'll read the **lexer** first.\n\n- one\n- two é\n".repeat(12);
            let raw = serde_json::value::to_raw_value(&serde_json::json!({"type": "text", "text": text}));
            let call = Body::Call { id: format!("t{number}"), name: "bash".into(), input };
            EntryBody::Answer(Answer {
                wire: "anthropic".into(),
                model: "p/m".into(),
                blocks: vec![Block { body: Body::Text(text), raw: raw.ok() }, Block::plain(call)],
                finish: Finish::Finished(Stop::Calls),
                usage: Some(Usage::default()),
            })
        }
        2 => EntryBody::CallStart(CallStart {
            call,
            wire_id: "t".into(),
            tool: "bash".into(),
            input,
            spool: None,
        }),
        _ => EntryBody::CallSettle(CallSettle {
            kept: 1300,
            details: Details::Command {
                end: "exit 0".into(),
                exit_code: Some(0),
                survivors: Vec::new(),
                job: None,
                left: 0,
                told: None,
            },
            duration: Millis(12),
            ..CallSettle::new(call, CallStatus::Ok, "test lexer::nested ... ok\n".repeat(50))
        }),
    }
}

fn written(temp: &TempDir, entries: usize) -> (Dirs, SessionId, u64) {
    let dirs = Dirs::at(temp.path().join("state"), temp.path().join("config"));
    let mut session = Session::create(&dirs, temp.path()).unwrap();
    let mut parent = None;
    for number in 0..entries {
        let entry = Entry { id: session.mint_entry(), parent: parent.take(), at: now(), body: body(number) };
        session.commit(&entry, Durability::Buffered).unwrap();
        parent = Some(entry.id);
    }
    let bytes = std::fs::metadata(session.dir().join("journal.jsonl")).unwrap().len();
    (dirs, session.id().clone(), bytes)
}

#[divan::bench(sample_count = 5, args = [1_000, 10_000, 100_000])]
fn open_session(bencher: Bencher<'_, '_>, entries: usize) {
    let temp = TempDir::new().unwrap();
    let (dirs, id, bytes) = written(&temp, entries);
    bencher.counter(BytesCount::from(bytes)).bench(|| view(&dirs, &id).unwrap().branch().len());
}

#[divan::bench(sample_count = 10, args = [1_000])]
fn list_sessions(bencher: Bencher<'_, '_>, sessions: usize) {
    let temp = TempDir::new().unwrap();
    let dirs = Dirs::at(temp.path().join("state"), temp.path().join("config"));
    for _ in 0..sessions {
        let mut session = Session::create(&dirs, temp.path()).unwrap();
        let entry = Entry { id: session.mint_entry(), parent: None, at: now(), body: body(0) };
        session.commit(&entry, Durability::Buffered).unwrap();
    }
    bencher.bench(|| list(&dirs, Some(temp.path())).len());
}
