//! When an approval takes keys, told with plain numbers.

use super::{Screen, record};
use windlass::api::access::Decision;
use windlass::api::command::Command;
use windlass::base::CallId;
use windlass::ui::input::{Input, Mouse, MouseDid};
use windlass::ui::{Effect, Msg};

fn asked() -> Screen {
    let mut record = record::empty();
    record::ask(&mut record, "c1", "rm -rf target");
    let mut screen = Screen::new(80, 24, record);
    screen.draw();
    screen
}

fn decided(decision: Decision) -> Vec<Effect> {
    vec![Effect::Send(Command::Decide { call: CallId::new("c1"), decision })]
}

#[test]
fn what_is_typed_before_it_is_armed_goes_into_the_draft() {
    let mut screen = asked();
    assert_eq!(screen.keys("y"), vec![]);
    screen.tell(Msg::Flushed);
    screen.now += 399;
    assert_eq!(screen.keys("y 1 space"), vec![]);
    screen.now += 5000;
    assert_eq!(screen.keys("y"), vec![], "a draft stands: it must be focused on purpose");
    assert_eq!(screen.model.composer.draft.shown(), "yy1 y");
    screen.keys("alt-a");
    assert_eq!(screen.keys("y"), decided(Decision::Once));
    assert_eq!(screen.model.composer.draft.shown(), "yy1 y", "the draft survives");
}

#[test]
fn each_answer_has_its_key() {
    for (key, decision) in
        [("y", Decision::Once), ("s", Decision::Session), ("a", Decision::Always), ("n", Decision::No(None))]
    {
        let mut screen = asked();
        screen.tell(Msg::Flushed);
        screen.now += 400;
        assert_eq!(screen.keys(key), decided(decision));
        assert!(!screen.shown().contains("wants to run"), "it is gone at once");
        assert_eq!(screen.keys("y"), vec![], "a second key answers nothing");
    }
}

#[test]
fn no_with_a_reason_takes_the_reason() {
    let mut screen = asked();
    screen.tell(Msg::Flushed);
    screen.now += 400;
    assert_eq!(screen.keys("r"), vec![]);
    screen.write("use cargo clean");
    assert_eq!(screen.keys("enter"), decided(Decision::No(Some("use cargo clean".into()))));
}

#[test]
fn enter_takes_the_marked_answer_and_arrows_move_the_mark() {
    let mut screen = asked();
    screen.tell(Msg::Flushed);
    screen.now += 400;
    assert_eq!(screen.keys("right right right enter"), decided(Decision::No(None)));
}

#[test]
fn a_click_or_a_paste_answers_nothing() {
    let mut screen = asked();
    screen.tell(Msg::Flushed);
    screen.now += 400;
    for row in 0..24 {
        for column in 0..80 {
            let mouse = Mouse { did: MouseDid::Press, column, row };
            assert_eq!(screen.tell(Msg::Input(Input::Mouse(mouse))), vec![]);
        }
    }
    assert_eq!(screen.tell(Msg::Input(Input::Paste("y\n".into()))), vec![]);
    assert_eq!(screen.model.composer.draft.shown(), "y\n");
}

#[test]
fn escape_interrupts_while_a_question_is_open() {
    let mut record = record::full();
    record::ask(&mut record, "c2", "ls");
    let mut screen = Screen::new(80, 24, record);
    screen.draw();
    assert_eq!(screen.keys("esc"), vec![Effect::Send(Command::Interrupt)]);
    screen.tell(Msg::Flushed);
    screen.now += 400;
    assert_eq!(screen.keys("esc"), vec![Effect::Send(Command::Interrupt)]);
}

#[test]
fn what_could_deceive_is_shown_escaped() {
    let mut record = record::empty();
    record::ask(&mut record, "c1", "echo \u{202e}gnp\u{200b}.x\u{1b}[2K\rls");
    let mut screen = Screen::new(100, 30, record);
    let shown = screen.shown();
    for hidden in ['\u{202e}', '\u{200b}', '\u{1b}'] {
        assert!(!shown.contains(hidden), "{hidden:?}");
    }
    assert!(shown.to_lowercase().contains("202e"), "{shown}");
}

#[test]
fn keys_that_move_in_the_conversation_answer_nothing() {
    let mut screen = Screen::new(80, 24, record::full());
    screen.keys("ctrl-o");
    screen.change(|r| record::ask(r, "c2", "rm -rf target"));
    screen.draw();
    screen.tell(Msg::Flushed);
    screen.now += 5000;
    for key in ["n", "a", "enter", "j", "k", "G"] {
        assert_eq!(screen.keys(key), vec![], "{key}");
    }
    screen.keys("alt-a");
    assert_eq!(
        screen.keys("n"),
        vec![Effect::Send(Command::Decide { call: CallId::new("c2"), decision: Decision::No(None) })]
    );
}

#[test]
fn what_an_overlay_covers_is_not_seen() {
    let mut screen = asked();
    screen.keys("ctrl-p");
    screen.draw();
    screen.tell(Msg::Flushed);
    screen.now += 5000;
    screen.keys("esc");
    screen.draw();
    assert_eq!(screen.keys("y"), vec![], "it was only just uncovered");
}
