//! The conflict viewer on the screen: how it reads at every size, each of its keys, and that nothing is ever lost.

use proptest::prelude::*;
use windlass::law::merge::resolution::Choice;
use windlass::ui::input::{Input, Mouse, MouseDid};
use windlass::ui::pane::conflict;
use windlass::ui::{Effect, Msg};

use super::desk::{Desk, There, file};
use super::{Screen, record};

pub(super) const BASE: &str = "\
//! A lexer.

use std::iter::Peekable;

/// Skips what is no token.
fn skip(&mut self) {
    while self.peek() {
        self.bump();
    }
}

fn peek(&self) -> bool {
    !self.rest.is_empty()
}

fn token(&mut self) -> Token {
    let start = self.at;
    self.bump();
    Token::new(start, self.at)
}

#[test]
fn nested() {
    assert_eq!(lex(\"a\"), 1);
}
";

/// The parent's and the child's: two hunks that both changed, one each that one changed.
pub(super) fn lexer() -> (String, String) {
    let parent = BASE
        .replace("use std::iter::Peekable;", "use std::iter::Peekable;\nuse std::mem;")
        .replace("    while self.peek() {", "    let mut depth = 1;\n    while depth > 0 {")
        .replace("assert_eq!(lex(\"a\"), 1);", "assert_eq!(lex(\"a b\"), 2);");
    let child = BASE
        .replace("    while self.peek() {\n        self.bump();", "    // nested since the manual says so\n    while self.peek() {\n        self.nest += 1;\n        self.bump();")
        .replace("    let start = self.at;\n", "")
        .replace("assert_eq!(lex(\"a\"), 1);", "assert_eq!(lex(\"/* a */\"), 1);\n    assert_eq!(lex(\"\"), 0);");
    (parent, child)
}

/// A hand-back with something of everything.
pub(super) fn desk() -> Desk {
    let mut desk = Desk::default();
    let (parent, child) = lexer();
    desk.put("manual", "docs/lex.md", file("old\n"), file("old\n"), file("# Lexer\n\nnew\n"));
    desk.put("manual", "docs/toc.md", There::Absent, There::Absent, file("toc\n"));
    desk.put("manual", "README.md", file("a\n"), file("b\n"), file("b\n"));
    desk.put("manual", "src/lexer.rs", file(BASE), file(parent), file(child));
    desk.put("manual", "assets/logo.png", file(b"\0one"), file(b"\0two two"), file(b"\0three"));
    desk.put(
        "manual",
        "run.sh",
        There::File(b"#!\n".to_vec(), false),
        There::File(b"#!!\n".to_vec(), false),
        There::File(b"#!\n".to_vec(), true),
    );
    desk.put("manual", "tool.sh", There::Absent, file("#!\n"), There::File(b"#!\n".to_vec(), true));
    desk.put("manual", "old.rs", file("fn old() {}\n"), There::Absent, file("fn old() { new() }\n"));
    desk.put("manual", "gone.rs", file("fn gone() {}\n"), file("fn gone() { kept() }\n"), There::Absent);
    desk.put("manual", "link", There::Link("a"), There::Link("b"), There::Link("c"));
    desk.put("manual", "target", There::Absent, There::Directory, file("x\n"));
    desk.rename("manual", "docs/old-toc.md", "docs/toc.md");
    desk.leave_out("target.log");
    desk
}

pub(super) fn open(desk: &mut Desk, columns: u16, rows: u16) -> Screen {
    let mut screen = Screen::new(columns, rows, record::full());
    screen.change(|record| std::sync::Arc::make_mut(&mut record.status).open_conflicts = 6);
    screen.draw();
    let effects = screen.keys("ctrl-x h");
    desk.settle(&mut screen, effects);
    screen
}

/// Selects a path by its place in the list.
pub(super) fn select(desk: &mut Desk, screen: &mut Screen, name: &str) {
    for _ in 0..40 {
        desk.keys(screen, "[");
    }
    for _ in 0..40 {
        let shown = screen.shown();
        let second = shown.lines().nth(1).unwrap_or_default();
        let heads = [format!(" {name} ·"), format!("┌ {name} ")];
        let cut = format!("…/{}", name.rsplit('/').next().unwrap_or(name));
        let first = second.split("  ").next().unwrap_or_default().trim();
        let narrow = first == name || first == cut;
        if narrow || heads.iter().any(|head| second.contains(head)) {
            return;
        }
        desk.keys(screen, "]");
    }
    panic!("{name} is not in\n{}", screen.shown());
}

/// The lexer's path opened, where everything is seen.
pub(super) fn at_lexer() -> (Desk, Screen) {
    let mut desk = desk();
    let mut screen = open(&mut desk, 140, 45);
    select(&mut desk, &mut screen, "src/lexer.rs");
    (desk, screen)
}

/// The lexer's result as it was written.
pub(super) fn written(desk: &Desk) -> String {
    match desk.parents("manual", "src/lexer.rs") {
        There::File(bytes, _) => String::from_utf8(bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_viewer_reads_well_at_every_size() {
    for (columns, rows) in [(140, 45), (100, 30), (60, 20), (40, 12)] {
        let mut desk = desk();
        let mut screen = open(&mut desk, columns, rows);
        select(&mut desk, &mut screen, "src/lexer.rs");
        insta::assert_snapshot!(format!("conflict-{columns}x{rows}"), screen.shown());
        desk.keys(&mut screen, "enter c");
        insta::assert_snapshot!(format!("conflict-chosen-{columns}x{rows}"), screen.shown());
        desk.keys(&mut screen, "e");
        insta::assert_snapshot!(format!("conflict-edited-{columns}x{rows}"), screen.shown());
        desk.keys(&mut screen, "esc d tab");
        insta::assert_snapshot!(format!("conflict-paths-{columns}x{rows}"), screen.shown());
    }
}

#[test]
fn what_is_no_text_has_a_form_of_its_own() {
    for name in [
        "assets/logo.png",
        "run.sh",
        "tool.sh",
        "old.rs",
        "gone.rs",
        "link",
        "target",
        "docs/lex.md",
        "README.md",
    ] {
        let mut desk = desk();
        let mut screen = open(&mut desk, 100, 24);
        select(&mut desk, &mut screen, name);
        insta::assert_snapshot!(format!("conflict-form-{}", name.replace(['/', '.'], "-")), screen.shown());
    }
}

#[test]
fn a_base_that_is_no_text_is_not_taken_for_nothing() {
    let mut desk = Desk::default();
    desk.put("manual", "data", file(b"\0\x01\x02base\0"), file("mine\n"), file("theirs\n"));
    let mut screen = open(&mut desk, 140, 45);
    let shown = screen.shown();
    assert!(shown.contains("take the base's: ") && !shown.contains("hunk 1 of"), "{shown}");
    desk.keys(&mut screen, "o w");
    assert_eq!(desk.parents("manual", "data"), file(b"\0\x01\x02base\0"));
}

#[test]
fn nothing_yet_and_many_children_read_well() {
    let mut empty = Desk::default();
    let mut screen = open(&mut empty, 80, 12);
    insta::assert_snapshot!("conflict-nothing", screen.shown());
    let mut desk = desk();
    desk.put("docs", "a.md", file("a\n"), file("a\n"), file("b\n"));
    let mut screen = open(&mut desk, 80, 12);
    insta::assert_snapshot!("conflict-children", screen.shown());
    desk.keys(&mut screen, "j enter");
    assert!(screen.shown().contains("docs →"), "{}", screen.shown());
    desk.keys(&mut screen, "esc");
    assert!(screen.shown().contains("Hand-backs"), "{}", screen.shown());
    // who waits is not hidden behind who was looked at last
    desk.keys(&mut screen, "j enter");
    assert!(screen.shown().contains("docs →"), "{}", screen.shown());
    desk.keys(&mut screen, "q");
    desk.keys(&mut screen, "ctrl-x h");
    assert!(screen.shown().contains("Hand-backs"), "{}", screen.shown());
    desk.keys(&mut screen, "enter");
    assert!(screen.shown().contains("manual →"), "{}", screen.shown());
    desk.keys(&mut screen, "q");
    desk.keys(&mut screen, "ctrl-x h");
    assert!(screen.shown().contains("manual →"), "{}", screen.shown());
    let mut late = Desk::default();
    late.put("docs", "a.md", file("a\n"), file("a\n"), file("b\n"));
    late.put("manual", "a.md", file("a\n"), file("b\n"), file("c\n"));
    let mut screen = open(&mut late, 80, 12);
    late.keys(&mut screen, "enter");
    assert!(screen.shown().contains("manual →"), "{}", screen.shown());
}

#[test]
fn it_draws_at_every_size() {
    for name in ["src/lexer.rs", "old.rs", "tool.sh", "docs/lex.md"] {
        let mut desk = desk();
        let mut screen = open(&mut desk, 140, 45);
        select(&mut desk, &mut screen, name);
        for (columns, rows) in [
            (1, 1),
            (2, 2),
            (3, 1),
            (1, 9),
            (9, 3),
            (20, 5),
            (40, 12),
            (59, 7),
            (60, 9),
            (61, 16),
            (99, 8),
            (100, 9),
            (100, 11),
            (140, 5),
            (230, 60),
        ] {
            for keys in ["v", "d", "e", "esc", "z", "tab", "z", "tab", "d"] {
                screen.resize(columns, rows);
                desk.keys(&mut screen, keys);
                let (seen, clean) = screen.clean();
                assert_eq!(seen, clean, "{columns}x{rows} {keys}");
            }
        }
    }
}

#[test]
fn each_key_chooses_what_it_says() {
    let (parent, child) = lexer();
    let both = "    assert_eq!(lex(\"a b\"), 2);\n    assert_eq!(lex(\"/* a */\"), 1);\n    assert_eq!(lex(\"\"), 0);\n";
    let turned = "    assert_eq!(lex(\"/* a */\"), 1);\n    assert_eq!(lex(\"\"), 0);\n    assert_eq!(lex(\"a b\"), 2);\n";
    // the first of the two hunks that wait gets the parent's each time
    for (keys, holds) in [
        ("p p w", "lex(\"a b\")"),
        ("p c w", "lex(\"\"), 0);"),
        ("p b w", both),
        ("p B w", turned),
        ("p o w", "assert_eq!(lex(\"a\"), 1);"),
        ("P w", "lex(\"a b\")"),
        ("C w", "self.nest += 1;"),
        ("a p w", "while depth > 0"),
        ("a c w", "self.nest += 1;"),
        ("a b w", both),
        ("a B w", turned),
        ("a o w", "assert_eq!(lex(\"a\"), 1);"),
        ("p c u p w", "lex(\"a b\")"),
        ("f p w", parent.as_str()),
        ("f c w", child.as_str()),
        ("f o w", BASE),
        ("p e home n e w enter esc p w", "new\n"),
    ] {
        let (mut desk, mut screen) = at_lexer();
        desk.keys(&mut screen, "enter");
        desk.keys(&mut screen, keys);
        assert_eq!(desk.written.len(), 1, "{keys}: {}", screen.shown());
        assert!(written(&desk).contains(holds), "{keys}: {}", written(&desk));
    }
}

#[test]
fn what_waits_next_is_shown_at_once_and_what_is_open_is_asked_about() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter");
    assert!(screen.shown().contains("hunk 2 of 4 · open · 2 open"), "{}", screen.shown());
    desk.keys(&mut screen, "p");
    assert!(screen.shown().contains("hunk 4 of 4 · open · 1 open"), "{}", screen.shown());
    desk.keys(&mut screen, "w");
    assert!(screen.shown().contains("Write while 1 hunk is open?"), "{}", screen.shown());
    desk.keys(&mut screen, "esc");
    assert!(desk.written.is_empty());
    desk.keys(&mut screen, "w down down enter");
    assert!(written(&desk).contains("lex(\"\"), 0);"), "{}", written(&desk));
    assert_eq!(desk.written[0].1.as_ref().map(|all| all.contains(&Choice::Open)), Some(false));
    // and the next path that waits
    assert!(!screen.shown().contains("src/lexer.rs ·"), "{}", screen.shown());
    select(&mut desk, &mut screen, "src/lexer.rs");
    assert!(screen.shown().contains("resolved"), "{}", screen.shown());
    desk.keys(&mut screen, "u");
    assert_eq!(written(&desk), lexer().0);
    assert!(screen.shown().contains("taken back · "), "{}", screen.shown());
}

#[test]
fn a_change_outside_is_said_and_the_choices_are_kept() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter c p");
    let other = lexer().0.replace("//! A lexer.", "//! The lexer.").replace("a b", "a b c");
    desk.change("manual", "src/lexer.rs", file(&other));
    desk.keys(&mut screen, "w");
    assert!(desk.written.is_empty());
    let shown = screen.shown();
    assert!(
        shown.contains("nothing was written") && shown.contains("1 choice kept, 1 to be made again"),
        "{shown}"
    );
    desk.keys(&mut screen, "space p w");
    let result = written(&desk);
    assert!(
        result.contains("//! The lexer.") && result.contains("a b c") && result.contains("self.nest"),
        "{result}"
    );
    // another program resolves it while the window is not looked at
    select(&mut desk, &mut screen, "run.sh");
    desk.change("manual", "run.sh", file("mine\n"));
    let effects = screen.tell(Msg::Input(Input::Focus(true)));
    desk.settle(&mut screen, effects);
    assert!(screen.shown().contains("run.sh was changed outside"), "{}", screen.shown());
}

#[test]
fn choices_that_are_not_written_are_kept_and_gone_on_with() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter c q");
    assert!(!screen.shown().contains("Hand-back ·"), "{}", screen.shown());
    assert!(desk.draft("manual", "src/lexer.rs").is_some());
    let mut again = open(&mut desk, 140, 45);
    select(&mut desk, &mut again, "src/lexer.rs");
    assert!(again.shown().contains("1 open"), "{}", again.shown());
    select(&mut desk, &mut again, "link");
    desk.keys(&mut again, "enter c");
    select(&mut desk, &mut again, "src/lexer.rs");
    let whole = desk.draft("manual", "link").and_then(|draft| draft.whole);
    assert_eq!(whole.map(|(_, choice)| choice), Some(Choice::Child));
    select(&mut desk, &mut again, "link");
    assert!(again.shown().contains("● c"), "{}", again.shown());
    desk.keys(&mut again, "w");
    assert_eq!(desk.parents("manual", "link"), There::Link("c"));
}

#[test]
fn a_taken_path_is_put_back_and_taken_again() {
    let mut desk = desk();
    let mut screen = open(&mut desk, 140, 45);
    select(&mut desk, &mut screen, "docs/lex.md");
    desk.keys(&mut screen, "enter p");
    assert!(screen.shown().contains("it is taken"), "{}", screen.shown());
    desk.keys(&mut screen, "r");
    assert_eq!(desk.parents("manual", "docs/lex.md"), file("old\n"));
    assert!(screen.shown().contains("put back as it was"), "{}", screen.shown());
    desk.keys(&mut screen, "u");
    assert_eq!(desk.parents("manual", "docs/lex.md"), file("# Lexer\n\nnew\n"));
}

#[test]
fn half_of_a_rename_that_is_put_back_leads_to_the_other() {
    let mut desk = Desk::default();
    desk.put("manual", "a/new.rs", There::Absent, There::Absent, file("x\n"));
    desk.put("manual", "b/old.rs", file("x\n"), file("x\n"), There::Absent);
    desk.rename("manual", "b/old.rs", "a/new.rs");
    let mut screen = open(&mut desk, 140, 45);
    select(&mut desk, &mut screen, "a/new.rs");
    desk.keys(&mut screen, "enter r");
    assert_eq!(desk.parents("manual", "a/new.rs"), There::Absent);
    let shown = screen.shown();
    assert!(shown.contains("this is the other half of its rename: r puts it back too"), "{shown}");
    desk.keys(&mut screen, "r");
    assert_eq!(desk.parents("manual", "b/old.rs"), file("x\n"));
    assert!(!screen.shown().contains("other half"), "{}", screen.shown());
}

#[test]
fn an_editor_gets_markers_and_what_it_leaves_half_is_gone_on_with() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter");
    let edits = |effects: Vec<Effect>| match &effects[..] {
        [Effect::EditMerge(name, bytes)] => (name.clone(), String::from_utf8(bytes.clone()).unwrap()),
        other => panic!("{other:?}"),
    };
    let (name, marked) = edits(desk.keys(&mut screen, "E"));
    assert_eq!(name, "lexer.rs");
    assert_eq!(marked.matches("<<<<<<< parent").count(), 2);
    let half = marked.replacen("    let mut depth = 1;\n", "    let mut depth = 7;\n", 1);
    screen.tell(Msg::Conflict(conflict::Msg::Edited(half.clone().into_bytes())));
    assert!(screen.shown().contains("still has a marker"), "{}", screen.shown());
    assert_eq!(edits(desk.keys(&mut screen, "E")).1, half);
    let block = |text: &str, with: &str| {
        let (from, to) = (text.find("<<<<<<<").unwrap(), text.find(">>>>>>>").unwrap());
        let end = to + text[to..].find('\n').unwrap() + 1;
        format!("{}{with}{}", &text[..from], &text[end..])
    };
    let done = block(&block(&half, "    mine();\n"), "    second();\n");
    screen.tell(Msg::Conflict(conflict::Msg::Edited(done.clone().into_bytes())));
    desk.keys(&mut screen, "w");
    assert_eq!(written(&desk), done);
}

#[test]
fn a_proposal_is_shown_as_one_and_taken_back() {
    let mut desk = desk();
    let (parent, child) = lexer();
    desk.earlier = Some(child.clone().into_bytes());
    desk.proposal = Some(parent.clone().into_bytes());
    let mut screen = open(&mut desk, 140, 45);
    select(&mut desk, &mut screen, "src/lexer.rs");
    desk.keys(&mut screen, "enter R");
    assert!(screen.shown().contains("proposal, as it was resolved before"), "{}", screen.shown());
    desk.keys(&mut screen, "u");
    assert!(screen.shown().contains("2 open"), "{}", screen.shown());
    // a merge that leaves a hunk open decides the others
    let half = parent
        .replacen("    let mut depth = 1;\n", "<<<<<<< a\n    let mut depth = 1;\n", 1)
        .replacen("    while depth > 0 {\n", "    while depth > 0 {\n=======\nnested\n>>>>>>> b\n", 1);
    desk.proposal = Some(half.into_bytes());
    desk.keys(&mut screen, "M");
    let shown = screen.shown();
    assert!(shown.contains("of mergiraf: 1 hunk still open") && !shown.contains("<<<<<<<"), "{shown}");
    desk.keys(&mut screen, "u");
    desk.proposal = Some(b"<<<<<<< a\n".to_vec());
    desk.keys(&mut screen, "M");
    assert!(screen.shown().contains("half a conflict in it"), "{}", screen.shown());
    desk.proposal = Some(parent.clone().into_bytes());
    desk.keys(&mut screen, "M w");
    assert_eq!(written(&desk), parent);
}

#[test]
fn a_result_is_edited_where_its_hunk_begins() {
    let (mut desk, mut screen) = at_lexer();
    // a hunk before it leaves nothing: it has a row in the result, and no line
    desk.keys(&mut screen, "enter p e x");
    insta::assert_snapshot!("conflict-edited-below-an-empty-hunk", screen.shown());
    desk.keys(&mut screen, "esc w");
    let result = written(&desk);
    assert!(result.contains("\nx    assert_eq!(lex(\"a b\"), 2);\n"), "{result}");
    assert!(!result.contains("let start"), "{result}");
}

#[test]
fn a_click_selects_and_the_wheel_scrolls() {
    let mut desk = desk();
    let mut screen = open(&mut desk, 140, 24);
    let mouse = |screen: &mut Screen, desk: &mut Desk, did, column, row| {
        let effects = screen.tell(Msg::Input(Input::Mouse(Mouse { did, column, row, button: 0, up: false })));
        desk.settle(screen, effects);
    };
    let shown = screen.shown();
    let row = shown.lines().position(|line| line.contains("⚑ src/lexer.rs")).expect("its row") as u16;
    mouse(&mut screen, &mut desk, MouseDid::Press, 4, row);
    assert!(screen.shown().contains("src/lexer.rs ·"), "{}", screen.shown());
    let before = screen.shown();
    mouse(&mut screen, &mut desk, MouseDid::WheelDown, 60, 10);
    assert_ne!(before, screen.shown());
}

fn key() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "p",
        "c",
        "b",
        "B",
        "o",
        "P",
        "C",
        "a p",
        "a c",
        "a b",
        "a B",
        "a o",
        "f p",
        "f c",
        "f o",
        "R",
        "M",
        "u",
        "u",
        "n",
        "N",
        "space",
        "]",
        "[",
        "tab",
        "enter",
        "j",
        "k",
        "G",
        "g",
        "pagedown",
        "pageup",
        "h",
        "l",
        "d",
        "W",
        "v",
        "z",
        "x",
        "r",
        "esc",
        "e x esc",
        "e enter y ctrl-c",
        "q",
        "ctrl-x h",
        "w",
        "w down enter",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(40), max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is pressed: base and child stay, the parent's file is the old one or what was written, the screen equals
    /// a clean redraw.
    #[test]
    fn no_key_loses_a_version(keys in proptest::collection::vec(key(), 1..30), size in proptest::sample::select(vec![(140, 45), (100, 30), (60, 20), (40, 12)])) {
        let mut desk = desk();
        desk.earlier = Some(b"as before\n".to_vec());
        desk.proposal = Some(lexer().1.into_bytes());
        let before = desk.untouched();
        let mut screen = open(&mut desk, size.0, size.1);
        for names in keys {
            let old = written(&desk);
            let count = desk.written.len();
            desk.keys(&mut screen, names);
            prop_assert_eq!(desk.untouched(), before.clone());
            if desk.written.len() == count && !names.contains('u') && names != "r" {
                prop_assert_eq!(written(&desk), old, "{}", names);
            }
        }
        let (seen, clean) = screen.clean();
        prop_assert_eq!(seen, clean);
    }
}
