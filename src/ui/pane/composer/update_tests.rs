//! Tests of the composer.

use super::*;
use crate::api::message::Image;

fn typed(text: &str) -> State {
    let mut state = State::default();
    for c in text.chars() {
        if c == '\n' {
            update(&mut state, Msg::Do(Action::Newline), false);
        } else {
            update(&mut state, Msg::Insert(c), false);
        }
    }
    state
}

fn sent(text: &str) -> Vec<Out> {
    vec![Out::Send { text: text.into(), images: vec![], after_turn: false }]
}

#[test]
fn enter_sends_and_backslash_enter_makes_a_line() {
    let mut state = typed("one\\");
    assert_eq!(update(&mut state, Msg::Do(Action::Send), false), vec![]);
    update(&mut state, Msg::Insert('2'), false);
    assert_eq!(update(&mut state, Msg::Do(Action::Send), false), sent("one\n2"));
    assert!(state.draft.is_empty());
}

#[test]
fn a_large_paste_folds_to_one_token_that_is_sent_whole() {
    let mut state = typed("see ");
    let long = (1..=120).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
    update(&mut state, Msg::Paste(long.clone()), false);
    assert_eq!(state.draft.shown(), "see [paste 1: 120 lines]");
    let mut other = typed("x");
    update(&mut other, Msg::Paste(long.clone()), false);
    update(&mut other, Msg::Do(Action::DeleteLeft), false);
    assert_eq!(other.draft.shown(), "x", "the token goes as a whole");
    update(&mut other, Msg::Do(Action::Undo), false);
    assert_eq!(other.draft.whole().0, format!("x{long}"));
    assert_eq!(update(&mut state, Msg::Do(Action::Send), false), sent(&format!("see {long}")));
}

#[test]
fn a_small_paste_is_text_and_sends_nothing() {
    let mut state = State::default();
    assert_eq!(update(&mut state, Msg::Paste("one\r\ntwo\n\x1b[31m".into()), false), vec![]);
    assert_eq!(state.draft.shown(), "one\ntwo\n[31m");
}

#[test]
fn a_cluster_is_deleted_whole() {
    let mut state = typed("a👩\u{200d}🚀");
    update(&mut state, Msg::Do(Action::DeleteLeft), false);
    assert_eq!(state.draft.shown(), "a");
}

#[test]
fn what_comes_back_stands_before_the_draft() {
    let mut state = typed("mine");
    update(&mut state, Msg::TakenBack("theirs".into(), vec![]), false);
    assert_eq!(state.draft.shown(), "theirs\nmine");
}

#[test]
fn up_takes_pending_back_and_history_keeps_the_draft() {
    let mut state = State::default();
    assert_eq!(update(&mut state, Msg::Do(Action::Up), true), vec![Out::TakeBack]);
    let mut state = typed("first");
    update(&mut state, Msg::Do(Action::Send), false);
    update(&mut state, Msg::Insert('d'), false);
    update(&mut state, Msg::Do(Action::Up), false);
    assert_eq!(state.draft.shown(), "first");
    update(&mut state, Msg::Do(Action::Down), false);
    assert_eq!(state.draft.shown(), "d");
}

#[test]
fn files_are_suggested_after_the_sign() {
    let mut state = State::default();
    assert_eq!(update(&mut state, Msg::Insert('@'), false), vec![Out::AskFiles]);
    update(&mut state, Msg::Files(vec!["src/main.rs".into(), "README.md".into()]), false);
    update(&mut state, Msg::Insert('m'), false);
    update(&mut state, Msg::Insert('a'), false);
    update(&mut state, Msg::Do(Action::Complete), false);
    assert_eq!(state.draft.shown(), "@src/main.rs ");
}

#[test]
fn commands_run_and_unknown_ones_keep_the_draft() {
    let mut state = typed("/comp");
    assert_eq!(
        update(&mut state, Msg::Do(Action::Send), false),
        vec![Out::Slash("compact".into(), String::new())]
    );
    let mut state = typed("/nonsense x");
    assert!(matches!(update(&mut state, Msg::Do(Action::Send), false).as_slice(), [Out::Say(_)]));
    assert_eq!(state.draft.shown(), "/nonsense x");
    let mut state = typed("/usr/bin/x fails");
    assert_eq!(update(&mut state, Msg::Do(Action::Send), false), sent("/usr/bin/x fails"));
    let mut state = typed("!!ls -l");
    assert_eq!(
        update(&mut state, Msg::Do(Action::Send), false),
        vec![Out::Shell { command: "ls -l".into(), hidden: true }]
    );
}

#[test]
fn a_dropped_image_is_read_and_becomes_a_token() {
    let mut state = State::default();
    assert_eq!(
        update(&mut state, Msg::Paste("'/tmp/a b.png' ".into()), false),
        vec![Out::ReadImage(Some("/tmp/a b.png".into()))]
    );
    let image =
        Image { media_type: "image/png".into(), data: "x".into(), blob: None, name: "/tmp/a b.png".into() };
    update(&mut state, Msg::Image(image.clone()), false);
    assert_eq!(state.draft.shown(), "[image 1: a b.png] ");
    assert_eq!(state.draft.whole().1, vec![image]);
}
