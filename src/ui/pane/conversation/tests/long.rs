//! Messages so long that they are not read at once.

use super::*;

fn long() -> Fake {
    let mut fake = Fake::new();
    fake.user("go");
    let page = |n: usize| {
        format!("## Part {n}\n\nSome **text** of part {n}.\n\n- one\n- two\n\n```rust\nlet x = {n};\n```\n\n")
    };
    let text: String = (0..9_000).map(page).collect();
    fake.answer(vec![Body::Text(text)], Finish::Finished(Stop::End));
    fake
}

fn read(state: &mut State) -> usize {
    let mut slices = 0;
    while state.has_more() {
        press(state, Msg::More);
        draw(state, 60, 20);
        slices += 1;
    }
    slices
}

#[test]
fn the_end_of_a_long_message_is_there_at_once_and_stays_while_the_rest_is_read() {
    let mut state = synced(&long());
    let shown = screen(&mut state, 60, 20);
    assert!(shown.contains("Some text of part 8999."), "{shown}");
    assert!(state.has_more(), "all of it was read at once");
    press(&mut state, Msg::Pages(-3));
    let before = screen(&mut state, 60, 20);
    press(&mut state, Msg::Pick(Pick::Enter));
    press(&mut state, Msg::Pick(Pick::Step(crate::ui::widget::select::Step::Rows(4))));
    let caret = state.caret().map(|(spot, byte)| (spot.row, byte));
    assert!(read(&mut state) > 1, "it is read by slices");
    assert_eq!(screen(&mut state, 60, 20), before);
    assert_eq!(state.caret().map(|(spot, byte)| (spot.row, byte)), caret);
    press(&mut state, Msg::Top);
    assert!(screen(&mut state, 60, 20).contains("Some text of part 0."));
    // nothing is left to do
    assert!(!state.has_more());
}

#[test]
fn what_is_not_looked_at_is_not_read() {
    let mut fake = long();
    for n in 0..60 {
        fake.user(&format!("line {n}"));
    }
    let mut state = synced(&fake);
    draw(&mut state, 60, 20);
    assert!(!state.has_more());
    // looked at and left: it waits
    press(&mut state, Msg::Top);
    let shown = screen(&mut state, 60, 20);
    assert!(shown.contains("before this are being read") && state.has_more(), "{shown}");
    press(&mut state, Msg::Bottom);
    draw(&mut state, 60, 20);
    assert!(!state.has_more());
    press(&mut state, Msg::Top);
    draw(&mut state, 60, 20);
    read(&mut state);
    assert!(screen(&mut state, 60, 20).contains("Some text of part 0."));
}

#[test]
fn what_is_found_or_taken_of_a_long_message_is_of_all_of_it() {
    let mut state = synced(&long());
    draw(&mut state, 60, 20);
    press(&mut state, Msg::Search("text of part 17.".into()));
    assert!(screen(&mut state, 60, 20).contains("Some text of part 17."));
}

#[test]
fn one_comes_back_into_the_middle_of_a_long_message() {
    let fake = long();
    let mut state = synced(&fake);
    draw(&mut state, 60, 20);
    read(&mut state);
    press(&mut state, Msg::Pages(-900));
    let before = screen(&mut state, 60, 20);
    let mut again = State::default();
    again.come_back(state.kept(&fake.0.path), crate::ui::widget::diff::Shape::default());
    again.sync(&fake.0);
    assert_eq!(screen(&mut again, 60, 20), before);
    assert!(!again.has_more());
}

#[test]
fn what_was_read_for_a_search_is_not_read_again_and_again() {
    let mut state = synced(&long());
    draw(&mut state, 60, 20);
    assert!(state.has_more());
    // nothing is drawn between: something covers the conversation
    press(&mut state, Msg::Search("text of part 17.".into()));
    let mut steps = 0;
    while state.has_more() && steps < 1_000 {
        press(&mut state, Msg::More);
        steps += 1;
    }
    assert!(steps < 1_000, "it never ends");
}
