//! A diff in the conversation: of 10 000 lines over one of 100, in one column and side by side.
//!
//! What is to be flat: a frame of a long diff costs what a frame of a short one does. The slowest frame of a
//! scroll from end to end is the column `slowest`.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use windlass::api::entry::{CallSettle, CallStart, CallStatus, Details, Entry, EntryBody};
use windlass::base::{CallId, EntryId, Millis};
use windlass::ui::pane::conversation::{Msg, State, update, view};
use windlass::ui::theme::Theme;
use windlass::ui::widget::diff::{Diff, Shape};

/// A diff of so many lines: hunks of 40, of which a third changed.
fn diff(lines: usize) -> String {
    let mut out = "--- a/src/lexer.rs\n+++ b/src/lexer.rs\n".to_owned();
    for hunk in 0..lines.div_ceil(40) {
        let first = hunk * 100 + 1;
        out.push_str(&format!("@@ -{first},34 +{first},34 @@ fn part_{hunk}()\n"));
        for line in 0..28 {
            out.push_str(&format!("     let same_{line} = lexer.next(\"text\", {line});\n"));
        }
        (0..6).for_each(|line| {
            out.push_str(&format!("-    let token_{line} = lexer.old_name({line}); // why\n"))
        });
        (0..6).for_each(|line| {
            out.push_str(&format!("+    let token_{line} = lexer.new_name({line}); // why\n"))
        });
    }
    out
}

#[divan::bench(sample_count = 20, args = [100, 10_000])]
fn read(bencher: divan::Bencher, lines: usize) {
    let text = diff(lines);
    bencher.bench(|| Diff::read(&text).pieces());
}

/// The conversation with one edit, open at its beginning.
fn opened(lines: usize, columns: u16, shape: Shape) -> (State, Buffer) {
    let mut record = super::conversation::record();
    let call = CallId::new("c1");
    let start = CallStart {
        call: call.clone(),
        wire_id: "w1".into(),
        tool: "edit".into(),
        input: serde_json::json!({"path": "src/lexer.rs"}),
        spool: None,
    };
    let details = Details::Diff { diff: diff(lines), added: 0, removed: 0 };
    let settle = CallSettle { details, ..CallSettle::new(call, CallStatus::Ok, "edited") };
    for body in [EntryBody::CallStart(start), EntryBody::CallSettle(settle)] {
        let id = EntryId::new(format!("e{}", record.path.len()));
        record.path.push(Arc::new(Entry { id, parent: None, at: Millis(0), body }));
    }
    let mut state = State::default();
    state.show_diffs(shape);
    state.sync(&record);
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, 40));
    frame(&mut state, &mut buffer);
    for msg in [Msg::ToggleAll, Msg::Top] {
        update(&mut state, msg, Millis(0));
        frame(&mut state, &mut buffer);
    }
    (state, buffer)
}

fn frame(state: &mut State, buffer: &mut Buffer) {
    view(state, buffer.area, buffer, &Theme::default(), Millis(0));
}

/// A page down and its frame, from one end to the other and anew.
fn pages(bencher: divan::Bencher, lines: usize, shape: Shape) {
    let (mut state, mut buffer) = opened(lines, 160, shape);
    let mut page = 0;
    bencher.bench_local(|| {
        page += 1;
        let back = page % (lines / 39 + 2) == 0;
        update(&mut state, if back { Msg::Top } else { Msg::Pages(1) }, Millis(0));
        frame(&mut state, &mut buffer);
    });
}

#[divan::bench(sample_count = 600, sample_size = 1, args = [100, 10_000])]
fn a_page_in_one_column(bencher: divan::Bencher, lines: usize) {
    pages(bencher, lines, Shape::Unified);
}

#[divan::bench(sample_count = 600, sample_size = 1, args = [100, 10_000])]
fn a_page_side_by_side(bencher: divan::Bencher, lines: usize) {
    pages(bencher, lines, Shape::Sides);
}

/// The other shape, in the middle of the diff.
#[divan::bench(sample_count = 50, sample_size = 1, args = [100, 10_000])]
fn switched(bencher: divan::Bencher, lines: usize) {
    let (mut state, mut buffer) = opened(lines, 160, Shape::Unified);
    update(&mut state, Msg::Pages(lines as i32 / 80), Millis(0));
    frame(&mut state, &mut buffer);
    bencher.bench_local(|| {
        update(&mut state, Msg::Shape, Millis(0));
        frame(&mut state, &mut buffer);
    });
}
