//! The conversation: an answer that streams, a long session that opens, resizes and scrolls.

use std::path::PathBuf;
use std::sync::Arc;

use super::sample::answer;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use windlass::api::access::Mode;
use windlass::api::board::{Context, Live, Part, PartKind, Phase, Record, Status};
use windlass::api::entry::{Entry, EntryBody, UserMessage};
use windlass::api::message::{Answer, Block, Body, Finish, Stop, Usage};
use windlass::base::{EntryId, Millis, SessionId};
use windlass::law::board::Board;
use windlass::ui::pane::conversation::{Msg, State, update, view};
use windlass::ui::theme::Theme;
use windlass::ui::widget::markdown::{Doc, lay};
use windlass::ui::widget::row::Role;

pub fn record() -> Record {
    let status = Status {
        session: SessionId::new("s"),
        title: String::new(),
        cwd: PathBuf::from("/p"),
        branch: None,
        model: String::new(),
        scripted: true,
        rehearsal: false,
        mode: Mode::Ask,
        profile: "unconfined".into(),
        trusted: None,
        read_only: None,
        phase: Phase::Streaming,
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
    Record {
        jobs: windlass::law::board::Board::default(),
        agents: windlass::law::board::Board::default(),
        path: Vec::new(),
        epoch: 0,
        live: Live { number: 1, parts: Vec::new() },
        calls: Board::default(),
        approvals: Arc::default(),
        status: Arc::new(status),
        revision: 1,
    }
}

fn draw(state: &mut State, buffer: &mut Buffer, theme: &Theme) {
    view(state, buffer.area, buffer, theme, Millis(0));
}

fn screen() -> Buffer {
    Buffer::empty(Rect::new(0, 0, 76, 36))
}

/// A text that streams in, `step` bytes a frame.
fn stream(text: &str, step: usize) {
    let (mut record, mut state) = (record(), State::default());
    record.live.parts.push(Part { kind: PartKind::Text, text: String::new() });
    let (mut buffer, theme) = (screen(), Theme::default());
    let mut at = 0;
    while at < text.len() {
        let mut to = (at + step).min(text.len());
        while !text.is_char_boundary(to) {
            to += 1;
        }
        record.live.parts[0].text.push_str(&text[at..to]);
        record.revision += 1;
        at = to;
        state.sync(&record);
        draw(&mut state, &mut buffer, &theme);
    }
}

/// 5 000 lines at 500 tokens a second: 64 bytes a frame.
#[divan::bench(sample_count = 3)]
fn stream_5000_lines_64_bytes_a_frame(bencher: divan::Bencher) {
    let text = answer(5_000);
    bencher.bench(|| stream(&text, 64));
}

/// 5 000 lines as fast as they come: 4 KiB a frame.
#[divan::bench(sample_count = 3)]
fn stream_5000_lines_4096_bytes_a_frame(bencher: divan::Bencher) {
    let text = answer(5_000);
    bencher.bench(|| stream(&text, 4_096));
}

/// One block of code of 5 000 lines, one list, one paragraph, one token of 120 KB.
#[divan::bench(sample_count = 3, args = ["code", "list", "paragraph", "token", "quote", "table"])]
fn stream_one_huge(bencher: divan::Bencher, what: &str) {
    let text = match what {
        "code" => format!("```\n{}", "let x = something(1, 2);\n".repeat(5_000)),
        "list" => "- an item of some words\n".repeat(5_000),
        "paragraph" => "words of one paragraph\n".repeat(5_000),
        "quote" => "> words of one quote\n".repeat(5_000),
        "table" => format!("| a | b |\n|---|---|\n{}", "| one | two words |\n".repeat(5_000)),
        _ => "x".repeat(120_000),
    };
    bencher.bench(|| stream(&text, 64));
}

/// The blocks and rows of 5 000 lines, laid out whole.
#[divan::bench(sample_count = 5)]
fn lay_out_5000_lines(bencher: divan::Bencher) {
    let text = answer(5_000);
    bencher.bench(|| {
        let mut doc = Doc::default();
        doc.finish(&text);
        doc.blocks()
            .iter()
            .map(|block| lay(&doc, &text, block, 76, Role::Text, &|_| None).len())
            .sum::<usize>()
    });
}

fn long() -> Record {
    let mut record = record();
    for n in 0..5_000 {
        let user = UserMessage { text: format!("question {n}"), ..UserMessage::default() };
        let blocks = vec![Block::plain(Body::Text(answer(20)))];
        let finish = Finish::Finished(Stop::End);
        let said = Answer { wire: "w".into(), model: "m".into(), blocks, finish, usage: None };
        for body in [EntryBody::User(user), EntryBody::Answer(said)] {
            let id = EntryId::new(format!("e{}", record.path.len()));
            record.path.push(Arc::new(Entry { id, parent: None, at: Millis(0), body }));
        }
    }
    record
}

#[divan::bench(sample_count = 10)]
fn open_10000_entries(bencher: divan::Bencher) {
    let record = long();
    bencher.bench(|| {
        let mut state = State::default();
        state.sync(&record);
        draw(&mut state, &mut screen(), &Theme::default());
    });
}

#[divan::bench(sample_count = 20)]
fn resize_among_10000_entries(bencher: divan::Bencher) {
    let (record, mut state, mut wide) = (long(), State::default(), false);
    state.sync(&record);
    draw(&mut state, &mut screen(), &Theme::default());
    update(&mut state, Msg::Pages(-40), Millis(0));
    bencher.bench_local(|| {
        wide = !wide;
        let mut buffer = Buffer::empty(Rect::new(0, 0, if wide { 120 } else { 60 }, 40));
        draw(&mut state, &mut buffer, &Theme::default());
    });
}

/// One frame of a scroll by a page through 10 000 entries.
#[divan::bench(sample_count = 400, sample_size = 1)]
fn scroll_a_page_of_10000_entries(bencher: divan::Bencher) {
    let (record, mut state, mut buffer) = (long(), State::default(), screen());
    state.sync(&record);
    draw(&mut state, &mut buffer, &Theme::default());
    update(&mut state, Msg::Top, Millis(0));
    bencher.bench_local(|| {
        update(&mut state, Msg::Pages(1), Millis(0));
        draw(&mut state, &mut buffer, &Theme::default());
    });
}

/// One frame in which nothing changed.
#[divan::bench(sample_count = 100)]
fn draw_again(bencher: divan::Bencher) {
    let (record, mut state, mut buffer) = (long(), State::default(), screen());
    state.sync(&record);
    bencher.bench_local(|| draw(&mut state, &mut buffer, &Theme::default()));
}
