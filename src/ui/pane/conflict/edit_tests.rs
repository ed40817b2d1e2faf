//! The editor of a result: line ends, steps, and long texts.

use proptest::prelude::*;

use super::*;

fn editor(text: &str, at: usize) -> Editor {
    Editor::open(text.as_bytes(), at).expect("UTF-8")
}

fn text(editor: &Editor) -> String {
    String::from_utf8(editor.text()).expect("UTF-8")
}

#[test]
fn a_line_that_is_not_touched_keeps_its_end() {
    let mut editor = editor("a\r\nb\nc\r\nlast", 1);
    editor.paste("new\nx");
    assert_eq!(text(&editor), "a\r\nnew\r\nxb\r\nc\r\nlast");
    editor.act(Action::Bottom);
    editor.act(Action::LineEnd);
    editor.act(Action::ConflictEditNewline);
    assert_eq!(text(&editor), "a\r\nnew\r\nxb\r\nc\r\nlast\r\n");
    assert!(Editor::open(b"\xff\n", 0).is_none());
}

#[test]
fn a_line_that_is_changed_where_it_stands_keeps_its_end() {
    let mut editor = editor("a\r\nb\nc\r\n", 1);
    editor.insert('x');
    assert_eq!(text(&editor), "a\r\nxb\nc\r\n");
    assert_eq!((editor.was(1), editor.was(2)), ((Some(1), false), (Some(2), true)));
}

#[test]
fn what_is_typed_in_a_row_is_one_step() {
    let mut editor = editor("a\nb\n", 1);
    "new".chars().for_each(|c| editor.insert(c));
    editor.act(Action::ConflictEditNewline);
    editor.act(Action::Undo);
    assert_eq!((text(&editor).as_str(), editor.cursor()), ("a\nnewb\n", (1, 3)));
    editor.act(Action::Undo);
    assert_eq!((text(&editor).as_str(), editor.cursor()), ("a\nb\n", (1, 0)));
    assert!(!editor.is_touched());
    editor.act(Action::Redo);
    editor.act(Action::Redo);
    assert_eq!((text(&editor).as_str(), editor.cursor()), ("a\nnew\nb\n", (2, 0)));
}

#[test]
fn a_tab_is_what_the_text_indents_with() {
    let mut makefile = editor("all:\n\techo\n", 2);
    makefile.act(Action::ConflictEditTab);
    assert_eq!(text(&makefile), "all:\n\techo\n\t");
    let mut code = editor("fn a() {\n    b();\n}\n", 2);
    code.act(Action::ConflictEditTab);
    assert_eq!(text(&code), "fn a() {\n    b();\n    }\n");
}

/// The widget that it is made of counts lines and columns in 16 bits.
#[test]
fn a_key_lands_where_it_should_in_a_text_of_any_length() {
    for count in [10_000, 70_000] {
        let mut lines: Vec<String> = (0..count).map(|n| format!("line {n}")).collect();
        let whole = lines.join("\n") + "\n";
        let mut editor = editor(&whole, count - 5);
        assert_eq!(editor.cursor(), (count - 5, 0));
        editor.insert('x');
        lines[count - 5].insert(0, 'x');
        editor.act(Action::Bottom);
        editor.act(Action::Up);
        editor.act(Action::LineEnd);
        editor.insert('y');
        lines[count - 1].push('y');
        editor.view.rows = 40;
        for _ in 0..=count / 39 {
            editor.act(Action::PageUp);
        }
        assert_eq!(editor.cursor().0, 0);
        for n in 1..=count / 39 {
            editor.act(Action::PageDown);
            assert_eq!(editor.cursor().0, 39 * n);
        }
        assert_eq!(text(&editor), lines.join("\n") + "\n");
        editor.act(Action::Top);
        editor.act(Action::Undo);
        editor.act(Action::Undo);
        assert_eq!((text(&editor) == whole, editor.cursor().0), (true, count - 5));
    }
}

#[test]
fn a_line_and_a_paste_of_any_length_are_written_in() {
    let long = "ab\t".repeat(30_000);
    let mut one = editor(&format!("a\n{long}\nc\n"), 1);
    one.act(Action::LineEnd);
    assert_eq!(one.cursor(), (1, 90_000));
    one.insert('x');
    one.act(Action::Down);
    one.act(Action::Undo);
    assert_eq!(one.cursor(), (1, 90_000));
    assert_eq!(text(&one), format!("a\n{long}\nc\n"));
    let mut two = editor("a\nb\n", 1);
    let paste = "more\n".repeat(70_000);
    two.paste(&paste);
    assert_eq!(two.cursor(), (70_001, 0));
    two.insert('x');
    assert_eq!(text(&two), format!("a\n{paste}xb\n"));
}

fn action() -> impl Strategy<Value = Action> {
    proptest::sample::select(vec![
        Action::Up,
        Action::Down,
        Action::Left,
        Action::Right,
        Action::WordLeft,
        Action::WordRight,
        Action::LineStart,
        Action::LineEnd,
        Action::Top,
        Action::Bottom,
        Action::DeleteLeft,
        Action::DeleteRight,
        Action::DeleteWordLeft,
        Action::DeleteToEnd,
        Action::DeleteToStart,
        Action::Yank,
        Action::ConflictEditNewline,
        Action::ConflictEditTab,
        Action::Undo,
        Action::Redo,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_only_looked_at_stays_byte_for_byte(lines in proptest::collection::vec("[ab\t é]{0,3}(\n|\r\n)", 0..8), rest in "[ab]{0,2}") {
        let text = lines.concat() + &rest;
        let editor = Editor::open(text.as_bytes(), 0).expect("UTF-8");
        prop_assert_eq!(editor.text(), text.into_bytes());
    }

    /// What is held is always what is there, and every step can be taken back and made again.
    #[test]
    fn every_step_can_be_taken_back_and_made_again(lines in proptest::collection::vec("[ab é]{0,3}(\n|\r\n)", 0..6), actions in proptest::collection::vec((action(), any::<bool>()), 0..40)) {
        let whole = lines.concat();
        let mut editor = Editor::open(whole.as_bytes(), 0).expect("UTF-8");
        for (action, types) in actions {
            if types { editor.insert('x') } else { editor.act(action) }
            let held = editor.area.lines();
            prop_assert_eq!(held, &editor.lines[editor.held.clone()]);
            prop_assert_eq!(editor.lines.len(), editor.known.len());
        }
        let end = editor.text();
        let steps = editor.undo.len();
        (0..steps).for_each(|_| editor.act(Action::Undo));
        prop_assert_eq!(editor.text(), whole.into_bytes());
        (0..steps).for_each(|_| editor.act(Action::Redo));
        prop_assert_eq!(editor.text(), end);
    }
}
