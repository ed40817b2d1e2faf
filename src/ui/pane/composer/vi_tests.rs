//! The keys of vi in the composer: what they leave to it, and that folded pastes and clusters go as a whole.

use proptest::prelude::*;

use super::*;
use crate::ui::input::parse_key;
use crate::ui::pane::composer::{Msg, Out, update};

fn state() -> State {
    State { vi: Some(Vi::default()), ..State::default() }
}

fn named(name: &str) -> Key {
    parse_key(name).expect("a key")
}

/// Presses keys as a person does; `<…>` is a key by its name.
fn press(state: &mut State, keys: &str) -> Vec<Out> {
    let mut rest = keys;
    let mut out = Vec::new();
    while let Some(c) = rest.chars().next() {
        let (name, len) = match rest.strip_prefix('<').and_then(|named| named.split_once('>')) {
            Some((name, _)) => (name.to_owned(), name.len() + 2),
            None if c == ' ' => ("space".to_owned(), 1),
            None => (c.to_string(), c.len_utf8()),
        };
        rest = &rest[len..];
        let pressed = named(&name);
        out.extend(match key(state, pressed, false) {
            Took::Done => Vec::new(),
            Took::Does(action) => update(state, Msg::Do(action), false),
            Took::No => match (pressed.code, pressed.typed()) {
                (Code::Enter, _) => update(state, Msg::Do(Action::Send), false),
                (_, Some(c)) => update(state, Msg::Insert(c), false),
                _ => Vec::new(),
            },
        });
    }
    out
}

#[test]
fn a_draft_is_written_and_changed_with_the_keys_of_vi() {
    let mut state = state();
    press(&mut state, "one two<esc>");
    assert_eq!(state.draft.cursor(), (0, 6));
    press(&mut state, "0cwsix<esc>");
    assert_eq!(state.draft.shown(), "six two");
    assert_eq!(state.vi.as_ref().map(Vi::words).as_deref(), Some("normal"));
    press(&mut state, "w2d");
    assert_eq!(state.vi.as_ref().map(Vi::words).as_deref(), Some("normal 2d"));
    press(&mut state, "<esc>yyp");
    assert_eq!(state.draft.shown(), "six two\nsix two");
    press(&mut state, "VkJu");
    assert_eq!((state.draft.shown().as_str(), state.draft.cursor().0), ("six two\nsix two", 0));
    press(&mut state, "u");
    assert_eq!(state.draft.shown(), "six two");
    press(&mut state, "uu<ctrl-r>");
    assert_eq!(state.draft.shown(), "one two");
    press(&mut state, "viw");
    assert_eq!(selected(&mut state), Some(((0, 0), (0, 3))));
}

#[test]
fn what_is_no_key_of_vi_keeps_its_meaning() {
    let mut empty = state();
    assert_eq!(key(&mut empty, named("esc"), true), Took::No, "it interrupts");
    assert_eq!(key(&mut empty, named("esc"), false), Took::Done);
    assert_eq!(key(&mut empty, named("esc"), true), Took::No, "it interrupts from normal mode too");
    for name in ["enter", "ctrl-c", "ctrl-p", "ctrl-x", "tab", "pageup", "?", "f1"] {
        assert_eq!(key(&mut empty, named(name), false), Took::No, "{name}");
    }
    assert_eq!(key(&mut empty, named("k"), false), Took::Does(Action::Up));
    let mut off = State::default();
    assert_eq!(key(&mut off, named("esc"), false), Took::No);
}

#[test]
fn enter_sends_from_normal_mode_and_the_next_is_written() {
    let mut state = state();
    let sent = press(&mut state, "first<esc><enter>");
    assert!(matches!(sent.as_slice(), [Out::Send { text, .. }] if text == "first"), "{sent:?}");
    press(&mut state, "second<esc>k");
    assert_eq!(state.draft.shown(), "first", "the history is above");
    press(&mut state, "xj");
    assert_eq!(state.draft.shown(), "second");
    press(&mut state, "uu");
    assert_eq!(state.draft.shown(), "second", "nothing of another draft comes back");
    // a letter and its line break are no message
    press(&mut state, "0lr<enter>");
    assert_eq!(state.draft.shown(), "s\ncond");
}

#[test]
fn a_command_is_begun_in_an_empty_draft() {
    let mut state = state();
    press(&mut state, "<esc>/he");
    assert_eq!(state.draft.shown(), "/he");
    assert!(state.popup.is_some());
    press(&mut state, "<esc>");
    assert!(state.popup.is_none());
    assert_eq!(state.draft.cursor(), (0, 2));
}

#[test]
fn a_folded_paste_is_one_unit() {
    let mut state = state();
    press(&mut state, "a ");
    let paste = "line\n".repeat(40);
    update(&mut state, Msg::Paste(paste.clone()), false);
    press(&mut state, " e\u{301}x<esc>0wxx");
    assert_eq!(state.draft.whole().0, "a e\u{301}x");
    press(&mut state, "u");
    assert_eq!(state.draft.whole().0, "a  e\u{301}x");
    press(&mut state, "u");
    assert_eq!(state.draft.whole().0, format!("a {paste} e\u{301}x"));
    press(&mut state, "$hx");
    assert_eq!(state.draft.whole().0, format!("a {paste} x"));
    // what is pasted in normal mode is a step as well
    update(&mut state, Msg::Paste("more".into()), false);
    press(&mut state, "u");
    assert_eq!(state.draft.whole().0, format!("a {paste} x"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_keys_leave_a_draft_and_u_brings_all_of_it_back(
        text in "([a-c ]|日|e\u{301}|👩\u{200d}🚀|\n){0,20}",
        keys in "([hlwbe0$^gGxXdcyDCpPuvVriaoOIA~fT;,%.J 23\"(]|iw|ap|<esc>|<ctrl-r>|<left>|<delete>){0,30}",
    ) {
        let mut state = state();
        update(&mut state, Msg::Paste(text), false);
        update(&mut state, Msg::Paste("x\n".repeat(30)), false);
        let before = state.draft.whole().0;
        press(&mut state, "<esc>");
        // what was pasted stays
        state.vi.as_mut().expect("the keys of vi").replaced();
        press(&mut state, &keys);
        press(&mut state, "<esc><esc>");
        let (row, column) = state.draft.cursor();
        prop_assert!(row < state.draft.area.lines().len());
        prop_assert!(column <= state.draft.area.lines()[row].chars().count());
        press(&mut state, "999u");
        prop_assert_eq!(state.draft.whole().0, before);
    }
}
