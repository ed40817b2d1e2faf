//! When an approval takes keys, told with plain numbers.

use super::{Screen, record};
use proptest::prelude::*;
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
            let mouse = Mouse { did: MouseDid::Press, column, row, button: 0, up: false };
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

#[test]
fn one_that_another_overlay_covered_begins_anew() {
    let mut screen = asked();
    screen.tell(Msg::Flushed);
    screen.now += 400;
    screen.keys("ctrl-p");
    screen.draw();
    screen.tell(Msg::Flushed);
    screen.now += 5000;
    screen.keys("esc");
    assert_eq!(screen.keys("y"), vec![], "it was not on the screen");
    screen.keys("backspace");
    screen.draw();
    screen.tell(Msg::Flushed);
    screen.now += 400;
    assert_eq!(screen.keys("y"), decided(Decision::Once));
}

#[test]
fn one_that_has_no_room_takes_no_key() {
    let mut record = record::empty();
    record::ask(&mut record, "c1", "rm -rf target");
    let mut screen = Screen::new(20, 1, record);
    screen.draw();
    screen.tell(Msg::Flushed);
    screen.now += 5000;
    assert_eq!(screen.keys("y"), vec![]);
}

#[test]
fn several_come_one_at_a_time_and_each_waits_anew() {
    let mut record = record::empty();
    for (call, command) in [("c1", "first"), ("c2", "second"), ("c3", "third")] {
        record::ask(&mut record, call, command);
    }
    let mut screen = Screen::new(80, 24, record);
    let shown = screen.shown();
    assert!(shown.contains("1 of 3") && shown.contains("first") && !shown.contains("second"), "{shown}");
    screen.tell(Msg::Flushed);
    screen.now += 400;
    assert_eq!(screen.keys("y"), decided(Decision::Once));
    assert_eq!(screen.keys("y"), vec![], "the second is not even drawn");
    screen.keys("backspace");
    let shown = screen.shown();
    assert!(shown.contains("1 of 2") && shown.contains("second"), "{shown}");
}

#[test]
fn a_key_turns_to_the_next_question_and_another_tells_the_keys() {
    let mut record = record::empty();
    for (call, command) in [("c1", "first"), ("c2", "second")] {
        record::ask(&mut record, call, command);
    }
    let mut screen = Screen::new(80, 24, record);
    let see = |screen: &mut Screen| {
        let shown = screen.shown();
        screen.tell(Msg::Flushed);
        screen.now += 400;
        shown
    };
    see(&mut screen);
    assert_eq!(screen.keys("]"), vec![]);
    assert!(see(&mut screen).contains("second"));
    // what else happens does not turn it back
    screen.change(|record| record::status(record, |status| status.open_conflicts = 1));
    let shown = see(&mut screen);
    assert!(shown.contains("second") && shown.contains("1 of 2") && !shown.contains("first"), "{shown}");
    screen.keys("?");
    let shown = screen.shown();
    assert!(shown.contains("Keys and commands") && shown.contains("In an approval"), "{shown}");
    screen.keys("esc");
    see(&mut screen);
    let second = windlass::base::CallId::new("c2");
    let answered = Effect::Send(Command::Decide { call: second, decision: Decision::Once });
    assert_eq!(screen.keys("y"), vec![answered]);
    assert!(see(&mut screen).contains("first"));
    screen.keys("]");
    assert!(screen.shown().contains("no other question waits"));
}

#[test]
fn a_long_rule_is_shown_whole() {
    let mut record = record::empty();
    record::ask(&mut record, "c1", "x");
    let rule = format!("bash(cargo {} --end:*)", "word ".repeat(40));
    std::sync::Arc::make_mut(&mut record.approvals)[0].rule = Some(rule.clone());
    let mut screen = Screen::new(60, 30, record);
    let shown = screen.shown();
    let told: String = shown.chars().filter(|c| c.is_alphanumeric()).collect();
    let wanted: String = rule.chars().filter(|c| c.is_alphanumeric()).collect();
    assert!(told.contains(&wanted), "{shown}");
}

#[test]
fn a_diff_is_shown_as_one() {
    let mut record = record::empty();
    record::ask(&mut record, "c1", "x");
    let diff = "--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n fn a() {\n-    old(\u{200b})\n+    new()\n";
    let approval = &mut std::sync::Arc::make_mut(&mut record.approvals)[0];
    approval.preview = windlass::api::access::Preview::Diff { diff: diff.into() };
    approval.class = windlass::api::access::Class::Write;
    let mut screen = Screen::new(80, 24, record);
    screen.draw();
    screen.tell(Msg::Flushed);
    screen.now += 400;
    insta::assert_snapshot!("approval-diff", format!("{}\n{}", screen.shown(), screen.clean().0));
}

#[test]
fn a_small_edit_is_seen_whole_at_50x15() {
    let mut record = record::full();
    record::ask(&mut record, "c2", "x");
    let diff =
        "--- a/src/lexer.rs\n+++ b/src/lexer.rs\n@@ -1,3 +1,3 @@\n fn a() {\n-    old()\n+    new()\n }\n";
    let approval = &mut std::sync::Arc::make_mut(&mut record.approvals)[0];
    approval.preview = windlass::api::access::Preview::Diff { diff: diff.into() };
    approval.class = windlass::api::access::Class::Write;
    approval.tool = "edit".into();
    approval.rule = Some("edit(src/lexer.rs)".into());
    let mut screen = Screen::new(50, 15, record);
    screen.draw();
    screen.tell(Msg::Flushed);
    screen.now += 400;
    insta::assert_snapshot!("approval-edit-50x15", screen.shown());
}

/// What can happen to a screen.
#[derive(Clone, Debug)]
enum Step {
    Key(&'static str),
    Flushed,
    Draw,
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    const KEYS: &[&str] = &[
        "y",
        "s",
        "a",
        "n",
        "r",
        "1",
        "2",
        "3",
        "4",
        "5",
        "enter",
        "space",
        "tab",
        "shift-tab",
        "left",
        "right",
        "up",
        "down",
        "esc",
        "alt-a",
        "f2",
        "ctrl-p",
        "ctrl-x",
        "m",
        "?",
        "backspace",
        "ctrl-c",
        "pagedown",
    ];
    prop_oneof![
        6 => prop::sample::select(KEYS).prop_map(Step::Key),
        1 => Just(Step::Flushed),
        1 => Just(Step::Draw),
        1 => (0u64..150).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(400), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_key_answers_within_400_ms_of_the_flush(
        before in prop::collection::vec(step(), 0..12), after in prop::collection::vec(step(), 0..40)
    ) {
        let mut screen = asked();
        let no_answer = |effects: Vec<Effect>| {
            !effects.iter().any(|e| matches!(e, Effect::Send(Command::Decide { .. })))
        };
        // before its flush, whatever is pressed and however long it takes
        for step in &before {
            match step {
                Step::Key(key) => prop_assert!(no_answer(screen.keys(key))),
                Step::Wait(ms) => screen.now += ms * 10,
                Step::Draw => drop(screen.draw()),
                Step::Flushed => {}
            }
        }
        let flushed = screen.now;
        screen.tell(Msg::Flushed);
        for step in &after {
            match step {
                Step::Key(key) => prop_assert!(no_answer(screen.keys(key))),
                Step::Wait(ms) => screen.now = (screen.now + ms).min(flushed + 399),
                Step::Draw => drop(screen.draw()),
                Step::Flushed => drop(screen.tell(Msg::Flushed)),
            }
        }
    }
}
