//! Selecting text: what is taken is the source, at every width, by mouse and by keys.

use super::*;
use crate::ui::widget::select::{Step as Go, Unit};

fn at(state: &mut State, msg: Msg, ms: u64) -> Vec<Out> {
    update(state, msg, Millis(ms))
}

/// Presses on one place, goes to another, lets go.
fn drag(state: &mut State, from: (u16, u16), to: (i32, i32)) -> Option<String> {
    // no second click of one before
    state.pick = Default::default();
    at(state, Msg::Press { column: from.0, row: from.1 }, 0);
    at(state, Msg::Drag { column: to.0, row: to.1 }, 10);
    copied(at(state, Msg::Release, 20))
}

fn copied(out: Vec<Out>) -> Option<String> {
    out.into_iter().find_map(|out| match out {
        Out::Copy(text) => Some(text),
        Out::Ask { .. } => None,
    })
}

/// Where a text stands on the screen: column and row.
fn find(state: &mut State, width: u16, text: &str) -> (u16, u16) {
    let buffer = draw(state, width, 30);
    for (row, line) in lines(&buffer).iter().enumerate() {
        if let Some(byte) = line.find(text) {
            return (crate::ui::widget::text::width(&line[..byte]) as u16, row as u16);
        }
    }
    panic!("no {text:?} in {:?}", lines(&buffer));
}

const ANSWER: &str = "A first paragraph with **strong** words and a `code span` that is long enough to be wrapped.\n\n- one item\n- two items, the second of which is long enough to be wrapped as well\n\n```rust\nfn main() {\n\tlet x = 1;\n}\n```\n\nAnd the end.";

fn answered() -> State {
    let mut fake = Fake::new();
    fake.user("a question\n\twith a tab, and long enough to be wrapped at forty columns");
    fake.answer(vec![Body::Text(ANSWER.into())], Finish::Finished(Stop::End));
    synced(&fake)
}

#[test]
fn a_drag_takes_the_source_over_soft_wraps_at_every_width() {
    for width in [24, 30, 41, 66, 120] {
        let mut state = answered();
        let from = find(&mut state, width, "a question");
        draw(&mut state, width, 40);
        let mut end = find(&mut state, width, "columns");
        end.0 += 6;
        let taken = drag(&mut state, from, (end.0.into(), end.1.into()));
        let wanted = "a question\n\twith a tab, and long enough to be wrapped at forty columns";
        assert_eq!(taken.as_deref(), Some(wanted), "{width}");
    }
}

#[test]
fn markdown_that_is_selected_whole_is_taken_as_it_was_written_and_a_part_as_it_is_seen() {
    let mut state = answered();
    let from = find(&mut state, 50, "A first");
    let (column, row) = find(&mut state, 50, "And the end.");
    let whole = drag(&mut state, from, (i32::from(column) + 20, row.into()));
    assert_eq!(whole.as_deref(), Some(ANSWER));
    let part = find(&mut state, 50, "paragraph");
    let (column, row) = find(&mut state, 50, "span");
    let part = drag(&mut state, part, (i32::from(column) + 3, row.into()));
    assert_eq!(part.as_deref(), Some("paragraph with strong words and a code span"));
    // code alone is taken without its fences and without the blank before it
    let from = find(&mut state, 50, "fn main");
    let code = drag(&mut state, from, (40, i32::from(from.1) + 2));
    assert_eq!(code.as_deref(), Some("fn main() {\n\tlet x = 1;\n}"));
}

#[test]
fn two_clicks_take_a_word_and_three_a_paragraph() {
    let mut state = answered();
    let (column, row) = find(&mut state, 40, "strong");
    let click = |state: &mut State, ms| {
        at(state, Msg::Press { column: column + 1, row }, ms);
        copied(at(state, Msg::Release, ms))
    };
    assert_eq!(click(&mut state, 1_000), None);
    assert_eq!(click(&mut state, 1_100).as_deref(), Some("strong"));
    let paragraph = ANSWER.lines().next();
    assert_eq!(click(&mut state, 1_200).as_deref(), paragraph);
    // a word at a time, both ways
    at(&mut state, Msg::Press { column: column + 1, row }, 9_000);
    at(&mut state, Msg::Release, 9_000);
    at(&mut state, Msg::Press { column: column + 1, row }, 9_100);
    let (to, line) = find(&mut state, 40, "paragraph");
    at(&mut state, Msg::Drag { column: i32::from(to) + 1, row: line.into() }, 9_200);
    assert_eq!(copied(at(&mut state, Msg::Release, 9_300)).as_deref(), Some("paragraph with strong"));
}

#[test]
fn two_clicks_on_a_head_leave_it_as_it_was() {
    let mut state = synced(&full());
    let (column, row) = find(&mut state, 66, "lexer.rs");
    for ms in [1_000, 1_100] {
        at(&mut state, Msg::Press { column, row }, ms);
        let taken = copied(at(&mut state, Msg::Release, ms));
        assert_eq!(taken.as_deref(), (ms > 1_000).then_some("src/lexer.rs"));
    }
    assert!(!screen(&mut state, 66, 24).contains("new();"), "folded again");
}

#[test]
fn over_an_edge_the_view_scrolls_while_the_button_is_down() {
    let mut fake = Fake::new();
    let text: String = (0..200).map(|n| format!("line {n}\n")).collect();
    fake.user(&text);
    let mut state = synced(&fake);
    draw(&mut state, 40, 10);
    at(&mut state, Msg::Press { column: 39, row: 9 }, 0);
    at(&mut state, Msg::Drag { column: 3, row: -1 }, 10);
    let mut now = 10;
    while let Some(due) = state.pulls_at() {
        now = due.0.max(now);
        at(&mut state, Msg::Pull, now);
        draw(&mut state, 40, 10);
    }
    assert!(now >= 190 * 40, "one row at a time: {now}");
    assert_eq!(copied(at(&mut state, Msg::Release, now)), Some(text.trim_end().to_owned()));
    assert_eq!(state.pulls_at(), None);
    // the selection stays to be seen; the next press drops it
    assert!(state.picked().is_some());
    at(&mut state, Msg::Press { column: 3, row: 3 }, now + 5_000);
    assert!(state.picked().is_none());
}

#[test]
fn keys_select_and_take() {
    let mut state = answered();
    draw(&mut state, 40, 30);
    let pick = |state: &mut State, pick| copied(press(state, Msg::Pick(pick)));
    pick(&mut state, Pick::Enter);
    assert!(state.picks() && !state.marks());
    assert_eq!(pick(&mut state, Pick::Take).as_deref(), Some("a question"), "without a mark: the line");
    assert!(!state.picks());
    pick(&mut state, Pick::Enter);
    for way in [Go::Word, Go::Rows(1), Go::Begin, Go::Right, Go::Right, Go::Right, Go::Right] {
        pick(&mut state, Pick::Step(way));
    }
    pick(&mut state, Pick::Mark(Unit::Cell));
    for way in [Go::Word, Go::Word, Go::Word] {
        pick(&mut state, Pick::Step(way));
    }
    assert_eq!(pick(&mut state, Pick::Take).as_deref(), Some("with a tab,"));
    pick(&mut state, Pick::Enter);
    pick(&mut state, Pick::Mark(Unit::Line));
    pick(&mut state, Pick::Last);
    let all = pick(&mut state, Pick::Take).unwrap_or_default();
    assert!(all.starts_with("a question\n\twith a tab") && all.ends_with(ANSWER), "{all}");
    pick(&mut state, Pick::Enter);
    pick(&mut state, Pick::Leave);
    assert!(!state.picks());
}

#[test]
fn a_selection_stays_on_its_text_while_more_streams_in() {
    let mut fake = Fake::new();
    fake.user("first");
    fake.begin();
    fake.stream(PartKind::Text, "a second thing\n\n");
    let mut state = synced(&fake);
    let (column, row) = find(&mut state, 40, "second");
    at(&mut state, Msg::Press { column, row }, 0);
    at(&mut state, Msg::Drag { column: i32::from(column) + 5, row: row.into() }, 1);
    fake.stream(PartKind::Text, "and a third\n\n");
    fake.commit(EntryBody::Notice(Notice { level: Level::Info, text: "between".into() }));
    state.sync(&fake.0);
    draw(&mut state, 33, 30);
    assert_eq!(copied(at(&mut state, Msg::Release, 2)).as_deref(), Some("second"));
}

fn text() -> impl Strategy<Value = String> {
    "([a-z]{1,9}|日本|👩\u{200d}👧|🇩🇪|❤\u{fe0f}|e\u{301}|\t| |\n){0,60}"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn all_that_is_selected_is_the_source_whatever_the_width(text in text(), width in 8u16..70) {
        // blank lines at the end of an output are not shown
        let text = format!("a{}", text.trim_end_matches('\n'));
        let mut fake = Fake::new();
        fake.user(&text);
        fake.start("c1", "bash", json!({"command": "x"}));
        fake.settle("c1", CallStatus::Ok, &text, Details::None);
        let mut state = synced(&fake);
        press(&mut state, Msg::ToggleAll);
        draw(&mut state, width, 12);
        press(&mut state, Msg::Pick(Pick::Enter));
        press(&mut state, Msg::Pick(Pick::First));
        press(&mut state, Msg::Pick(Pick::Mark(Unit::Line)));
        press(&mut state, Msg::Pick(Pick::Last));
        draw(&mut state, width, 12);
        let taken = copied(press(&mut state, Msg::Pick(Pick::Take))).unwrap_or_default();
        let source = text.strip_suffix('\n').unwrap_or(&text);
        let (first, rest) = taken.split_once("\n\nbash   x\nx\n").unwrap_or((&taken, ""));
        prop_assert_eq!(first, source);
        prop_assert_eq!(rest, source);
    }
    #[test]
    fn every_cell_is_hit_as_it_is_drawn(text in text(), width in 8u16..50) {
        let mut fake = Fake::new();
        fake.user(&text);
        let mut state = synced(&fake);
        let buffer = draw(&mut state, width, 20);
        let gutter = state.gutter + 2;
        for row in 0..20 {
            for column in gutter..width {
                let Some(cell) = buffer.cell((column, row)) else { continue };
                if cell.symbol() == " " {
                    continue;
                }
                let span = state.hit(column, row.into()).map(|(_, line, cell)| line.cut(cell));
                prop_assert_eq!(span.as_deref(), Some(cell.symbol()), "{},{}", column, row);
            }
        }
    }
}

#[test]
fn what_one_key_takes_is_the_source_of_each_part() {
    let mut state = synced(&full());
    draw(&mut state, 66, 24);
    let names = |state: &State| state.pieces().into_iter().map(|piece| piece.name).collect::<Vec<_>>();
    assert_eq!(names(&state), ["message", "all of the conversation"]);
    press(&mut state, Msg::PreviousError);
    let pieces = state.pieces();
    assert_eq!(names(&state), ["command", "output", "input", "all of the conversation"]);
    assert_eq!(pieces[0].text, "cargo test\necho done");
    assert_eq!(pieces[1].text, "test lexer::eof ... FAILED\nmore\n");
    let mut fake = Fake::new();
    fake.answer(
        vec![Body::Text("Look:\n\n```rust\nfn a() {\n\tb();\n}\n```\n\nand\n\n```\nplain\n```\n".into())],
        Finish::Finished(Stop::End),
    );
    let state = synced(&fake);
    let pieces = state.pieces();
    assert_eq!(names(&state), ["message", "code 1 (rust)", "code 2", "all of the conversation"]);
    assert_eq!(pieces[1].text, "fn a() {\n\tb();\n}");
    assert_eq!(pieces[2].text, "plain");
}
