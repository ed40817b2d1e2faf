//! The conflict viewer: what a person typed, wrote or decided is never lost to what happens meanwhile.

use windlass::api::hand_back::HandBackAsk;
use windlass::law::merge::decision::Decision;
use windlass::ui::input::Input;
use windlass::ui::pane::conflict;
use windlass::ui::{Effect, Msg};

use super::conflict::{BASE, at_lexer, desk, lexer, open, select, written};
use super::desk::{Desk, There, file};
use super::{Screen, record};

/// A hand-back of one file, opened; nothing is answered yet.
fn opening(desk: &mut Desk) -> (Screen, Vec<Effect>) {
    let (parent, child) = lexer();
    desk.put("manual", "src/lexer.rs", file(BASE), file(parent), file(child));
    let mut screen = Screen::new(140, 45, record::full());
    screen.draw();
    let effects = screen.keys("ctrl-x h");
    (screen, effects)
}

#[test]
fn what_an_editor_left_half_outlives_other_choices_and_the_rest_is_taken() {
    let (mut desk, mut screen) = at_lexer();
    let edits = |effects: Vec<Effect>| match &effects[..] {
        [Effect::EditMerge(_, bytes)] => String::from_utf8(bytes.clone()).unwrap(),
        other => panic!("{other:?}"),
    };
    let marked = edits(desk.keys(&mut screen, "enter E"));
    let half = marked.replacen("    let mut depth = 1;\n", "    let mut depth = 7;\n", 1);
    let second = half.rfind("<<<<<<<").unwrap();
    let end = half.rfind(">>>>>>>").unwrap();
    let end = end + half[end..].find('\n').unwrap() + 1;
    let half = format!("{}    second();\n{}", &half[..second], &half[end..]);
    screen.tell(Msg::Conflict(conflict::Msg::Edited(half.clone().into_bytes())));
    assert!(screen.shown().contains("it stays open, the rest is taken; E goes on"), "{}", screen.shown());
    assert!(screen.shown().contains("1 open"), "{}", screen.shown());
    // a choice for another hunk
    desk.keys(&mut screen, "n p");
    let again = edits(desk.keys(&mut screen, "E"));
    assert!(again.contains("depth = 7") && again.contains("second();"), "{again}");
    assert!(again.contains("let start"), "{again}");
}

#[test]
fn what_is_being_written_by_hand_outlives_a_change_outside() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter p e m i n e");
    desk.change("manual", "src/lexer.rs", file(lexer().0.replace("a b", "a b c")));
    let effects = screen.tell(Msg::Input(Input::Focus(true)));
    desk.settle(&mut screen, effects);
    let shown = screen.shown();
    assert!(
        shown.contains("that is seen when you are done") && shown.contains("mine    assert_eq!"),
        "{shown}"
    );
    desk.keys(&mut screen, "space t o o esc");
    let shown = screen.shown();
    assert!(shown.contains("1 choice kept, 1 to be made again") && shown.contains("1 open"), "{shown}");
    desk.keys(&mut screen, "u w");
    assert!(written(&desk).contains("mine too    assert_eq!(lex(\"a b\"), 2);"), "{}", written(&desk));
}

/// Someone else changes the lexer, and the window is looked at again.
fn changed(desk: &mut Desk, screen: &mut Screen, to: There) -> String {
    desk.change("manual", "src/lexer.rs", to);
    let effects = screen.tell(Msg::Input(Input::Focus(true)));
    desk.settle(screen, effects);
    screen.shown()
}

#[test]
fn choices_are_kept_while_the_file_is_gone_and_fit_when_it_is_back() {
    for gone in [There::Absent, There::Directory, file(b"\0binary")] {
        let (mut desk, mut screen) = at_lexer();
        let parent = desk.parents("manual", "src/lexer.rs");
        desk.keys(&mut screen, "enter p e m i n e space esc x");
        let shown = changed(&mut desk, &mut screen, gone.clone());
        assert!(shown.contains("2 choices are kept for when the text is back"), "{shown}");
        // they are so with another path in between, and in the next run
        select(&mut desk, &mut screen, "link");
        let draft = desk.draft("manual", "src/lexer.rs").expect("a draft");
        assert!(draft.decisions.len() == 2 && draft.executable == Some(true), "{draft:?}");
        let mut next = open(&mut desk, 140, 45);
        select(&mut desk, &mut next, "src/lexer.rs");
        assert!(next.shown().contains("2 choices are kept for when the text is back"), "{}", next.shown());
        for screen in [&mut screen, &mut next] {
            select(&mut desk, screen, "src/lexer.rs");
            let shown = changed(&mut desk, screen, parent.clone());
            assert!(shown.contains("2 choices kept"), "{shown}");
            desk.keys(screen, "n n n");
            assert!(screen.shown().contains("mine     assert_eq!"), "{}", screen.shown());
            changed(&mut desk, screen, gone.clone());
        }
        // the steps are, too, where it is the same run
        changed(&mut desk, &mut screen, parent);
        desk.keys(&mut screen, "u");
        assert!(screen.shown().contains("1 open") && !screen.shown().contains("mine "), "{}", screen.shown());
        desk.keys(&mut screen, "u");
        assert!(screen.shown().contains("2 open"), "{}", screen.shown());
    }
}

#[test]
fn what_does_not_fit_is_counted_and_what_was_written_by_hand_is_one_step_back() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter c e m i n e space esc");
    let other = lexer().0.replace("a b", "a b c").replace("//! A lexer.", "//! The lexer.");
    let shown = changed(&mut desk, &mut screen, file(&other));
    assert!(shown.contains("1 choice kept, 1 to be made again; u shows what was written by hand"), "{shown}");
    assert!(!shown.contains("mine "), "{shown}");
    desk.keys(&mut screen, "u");
    assert!(screen.shown().contains("mine "), "{}", screen.shown());
    // what was changed elsewhere stays
    desk.keys(&mut screen, "w");
    let result = written(&desk);
    assert!(result.contains("mine ") && result.contains("//! The lexer."), "{result}");
    assert!(result.contains("self.nest"), "{result}");
}

#[test]
fn keys_are_for_the_hunk_that_was_looked_at_after_a_change_outside() {
    let (mut desk, mut screen) = at_lexer();
    // the fourth of four hunks; a fifth comes above it
    desk.keys(&mut screen, "enter n n");
    assert!(screen.shown().contains("hunk 4 of 4 · open"), "{}", screen.shown());
    let mine = lexer().0.replace("//! A lexer.", "//! My lexer.");
    let shown = changed(&mut desk, &mut screen, file(&mine));
    assert!(shown.contains("hunk 5 of 5 · open") && shown.contains("changed outside"), "{shown}");
    desk.keys(&mut screen, "c");
    let hunk = screen.model.conflict.keeps();
    let Some(HandBackAsk::KeepDraft { draft: Some(draft), .. }) = hunk else { panic!("{hunk:?}") };
    assert_eq!(draft.decisions.len(), 1);
    assert!(draft.decisions[0].parent.as_ref().is_some_and(|had| had.starts_with(b"    assert_eq!")));
}

#[test]
fn a_choice_typed_before_it_was_seen_that_its_hunk_is_gone_takes_nothing() {
    for gone in [file(lexer().0.replace("a b", "a b c")), There::Absent] {
        let (mut desk, mut screen) = at_lexer();
        desk.keys(&mut screen, "enter n n");
        let shown = changed(&mut desk, &mut screen, gone.clone());
        let said = match gone {
            There::Absent => "it is chosen for the whole path now",
            _ => "the hunk that you looked at is another one now",
        };
        assert!(shown.contains(said), "{shown}");
        desk.keys(&mut screen, "c");
        assert!(
            screen.shown().contains("nothing was chosen; look, and press it again"),
            "{}",
            screen.shown()
        );
        assert_eq!(screen.model.conflict.keeps(), None);
        desk.keys(&mut screen, "c");
        assert!(screen.model.conflict.keeps().is_some());
    }
    // who has moved since has looked
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter n n");
    changed(&mut desk, &mut screen, file(lexer().0.replace("a b", "a b c")));
    desk.keys(&mut screen, "N p");
    assert!(screen.model.conflict.keeps().is_some());
}

#[test]
fn words_to_a_key_go_with_the_next_one() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter f c");
    assert!(screen.shown().contains("the whole file: child"), "{}", screen.shown());
    desk.keys(&mut screen, "u");
    assert!(!screen.shown().contains("the whole file"), "{}", screen.shown());
    desk.keys(&mut screen, "g N");
    assert!(screen.shown().contains("no further change above"), "{}", screen.shown());
    desk.keys(&mut screen, "j");
    assert!(!screen.shown().contains("no further"), "{}", screen.shown());
    // what came by itself is to be read, whatever is typed
    changed(&mut desk, &mut screen, file(lexer().0.replace("a b", "a b c")));
    desk.keys(&mut screen, "j");
    assert!(screen.shown().contains("changed outside"), "{}", screen.shown());
    screen.now += 1600;
    desk.keys(&mut screen, "j");
    assert!(!screen.shown().contains("changed outside"), "{}", screen.shown());
}

#[test]
fn steps_are_taken_back_in_the_next_run_too() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter c e m i n e space esc f p q");
    let mut next = open(&mut desk, 140, 45);
    select(&mut desk, &mut next, "src/lexer.rs");
    assert!(next.shown().contains("all chosen"), "{}", next.shown());
    desk.keys(&mut next, "enter u n n");
    assert!(next.shown().contains("mine "), "{}", next.shown());
    desk.keys(&mut next, "u");
    assert!(
        next.shown().contains("hunk 4 of 4 · open · 1 open") && !next.shown().contains("mine "),
        "{}",
        next.shown()
    );
    desk.keys(&mut next, "u");
    assert!(next.shown().contains("2 open"), "{}", next.shown());
    desk.keys(&mut next, "u");
    assert!(next.shown().contains("nothing was chosen that could be taken back"), "{}", next.shown());
}

#[test]
fn what_is_being_written_by_hand_is_kept_when_the_program_ends() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter e m i n e");
    let kept = screen.model.conflict.keeps();
    let Some(HandBackAsk::KeepDraft { draft: Some(draft), .. }) = kept else {
        panic!("{kept:?}");
    };
    let by_hand = draft.decisions.iter().filter_map(Decision::by_hand);
    assert!(by_hand.clone().any(|text| text.starts_with(b"mine")), "{draft:?}");
}

#[test]
fn choices_are_kept_as_they_are_made() {
    let (mut desk, mut screen) = at_lexer();
    let decisions = |desk: &Desk| desk.draft("manual", "src/lexer.rs").map(|draft| draft.decisions.len());
    let pass = |desk: &mut Desk, screen: &mut Screen| {
        screen.now += 1000;
        let effects = screen.tell(Msg::Tick);
        desk.settle(screen, effects);
    };
    pass(&mut desk, &mut screen);
    assert_eq!(decisions(&desk), None);
    desk.keys(&mut screen, "enter c");
    assert_eq!(decisions(&desk), None);
    pass(&mut desk, &mut screen);
    assert_eq!(decisions(&desk), Some(1));
    // what is being written, too, which goes on
    desk.keys(&mut screen, "e m i n e");
    pass(&mut desk, &mut screen);
    assert_eq!(decisions(&desk), Some(2));
    assert!(screen.model.conflict.edits());
    desk.keys(&mut screen, "ctrl-c u");
    pass(&mut desk, &mut screen);
    assert_eq!(decisions(&desk), None);
}

#[test]
fn a_change_outside_is_seen_within_a_second_and_nothing_is_asked_when_nobody_looks() {
    let mut desk = desk();
    let mut screen = open(&mut desk, 140, 45);
    let pass = |desk: &mut Desk, screen: &mut Screen| {
        let at = screen.model.conflict.due().expect("something is due");
        assert!(at.0 <= screen.now + 800);
        screen.now += 800;
        let effects = screen.tell(Msg::Tick);
        desk.settle(screen, effects);
    };
    select(&mut desk, &mut screen, "src/lexer.rs");
    desk.keys(&mut screen, "enter c");
    (0..3).for_each(|_| pass(&mut desk, &mut screen));
    assert_eq!(desk.looked, 3);
    desk.change("manual", "src/lexer.rs", file(lexer().0.replace("a b", "a b c")));
    pass(&mut desk, &mut screen);
    assert!(screen.shown().contains("changed outside: 1 choice kept"), "{}", screen.shown());
    // and so is one while the result is written by hand: said once
    desk.keys(&mut screen, "e x");
    desk.change("manual", "src/lexer.rs", file(lexer().0));
    pass(&mut desk, &mut screen);
    assert!(screen.shown().contains("that is seen when you are done"), "{}", screen.shown());
    desk.keys(&mut screen, "esc");
    let looked = desk.looked;
    screen.tell(Msg::Input(Input::Focus(false)));
    // what was decided is kept all the same
    pass(&mut desk, &mut screen);
    assert_eq!((screen.model.conflict.due(), desk.looked), (None, looked));
    let effects = screen.tell(Msg::Input(Input::Focus(true)));
    desk.settle(&mut screen, effects);
    assert!(screen.model.conflict.due().is_some());
    desk.keys(&mut screen, "q");
    assert_eq!(screen.model.conflict.due(), None);
}

#[test]
fn a_long_text_is_compared_beside_the_screen_and_keys_wait_for_it() {
    let base: String = (0..20_000).map(|n| format!("line {n} of a long text\n")).collect();
    let (parent, child) = (base.replace("line 7 ", "parent's "), base.replace("line 7 ", "child's "));
    let mut desk = Desk::default();
    desk.put("manual", "long", file(&base), file(&parent), file(&child));
    let mut screen = Screen::new(140, 45, record::full());
    screen.draw();
    let effects = screen.keys("ctrl-x h");
    desk.answers(&mut screen, effects);
    assert!(screen.model.conflict.compares());
    assert!(screen.shown().contains("comparing…"), "{}", screen.shown());
    assert_eq!(screen.keys("c"), []);
    desk.settle(&mut screen, Vec::new());
    assert!(screen.shown().contains("all chosen"), "{}", screen.shown());
    // and when somebody else has saved it
    desk.change("manual", "long", file(parent.replace("line 9000 ", "another ")));
    let effects = screen.tell(Msg::Input(Input::Focus(true)));
    desk.answers(&mut screen, effects);
    assert!(screen.model.conflict.compares() && screen.shown().contains("comparing…"), "{}", screen.shown());
    assert_eq!(screen.keys("w"), []);
    desk.settle(&mut screen, Vec::new());
    let There::File(result, _) = desk.parents("manual", "long") else { panic!("no file") };
    assert!(result == child.replace("line 9000 ", "another ").into_bytes(), "{}", screen.shown());
    // who leaves meanwhile waits for nothing
    let mut screen = Screen::new(140, 45, record::full());
    desk.put("manual", "long", file(&base), file(&parent), file(&child));
    screen.draw();
    let effects = screen.keys("ctrl-x h");
    desk.answers(&mut screen, effects);
    screen.keys("q");
    assert!(!screen.model.conflict.compares() && !screen.shown().contains("Hand-back"), "{}", screen.shown());
}

#[test]
fn what_cannot_be_read_for_a_moment_loses_no_choice() {
    use windlass::api::event::{Event, Reply};
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter c");
    let effects = screen.tell(Msg::Input(Input::Focus(true)));
    let mut failed = Vec::new();
    for effect in effects {
        // the list, and then the path
        for effect in desk.list_only(&mut screen, effect) {
            let Effect::Send(windlass::api::command::Command::Ask { number, .. }) = effect else {
                panic!("{effect:?}")
            };
            let reply = Reply::Failed("no room".into());
            failed.extend(screen.tell(Msg::Event(Event::Answered { number, reply })));
        }
    }
    assert!(screen.shown().contains("no room"), "{}", screen.shown());
    desk.settle(&mut screen, failed);
    select(&mut desk, &mut screen, "link");
    select(&mut desk, &mut screen, "src/lexer.rs");
    assert!(screen.shown().contains("1 open"), "{}", screen.shown());
    desk.keys(&mut screen, "u");
    assert!(screen.shown().contains("2 open"), "{}", screen.shown());
}

#[test]
fn later_work_is_not_thrown_away_by_putting_a_path_back() {
    let mut desk = desk();
    let mut screen = open(&mut desk, 140, 45);
    desk.change("manual", "docs/lex.md", file("# Lexer\n\nnew\n\nand more\n"));
    select(&mut desk, &mut screen, "docs/lex.md");
    assert!(screen.shown().contains("and more"), "{}", screen.shown());
    desk.keys(&mut screen, "enter r");
    assert!(screen.shown().contains("would throw that away"), "{}", screen.shown());
    assert_eq!(desk.parents("manual", "docs/lex.md"), file("# Lexer\n\nnew\n\nand more\n"));
}

#[test]
fn what_was_written_and_changed_outside_since_can_be_resolved_anew() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter P w");
    desk.change("manual", "src/lexer.rs", file(lexer().0.replace("a b", "a b c")));
    select(&mut desk, &mut screen, "src/lexer.rs");
    desk.keys(&mut screen, "enter u");
    assert!(screen.shown().contains("was changed outside since it was written"), "{}", screen.shown());
    let effects = screen.tell(Msg::Input(Input::Focus(true)));
    desk.settle(&mut screen, effects);
    desk.keys(&mut screen, "C w");
    assert_eq!(desk.written.len(), 2, "{}", screen.shown());
    assert!(written(&desk).contains("lex(\"\"), 0);"), "{}", written(&desk));
}

#[test]
fn an_answer_is_for_the_hunks_that_were_asked_about() {
    let (mut desk, mut screen) = at_lexer();
    desk.keys(&mut screen, "enter w");
    assert!(screen.shown().contains("Write while 2 hunks are open?"), "{}", screen.shown());
    desk.change("manual", "src/lexer.rs", file(lexer().0.replace("a b", "a b c")));
    let effects = screen.tell(Msg::Input(Input::Focus(true)));
    desk.settle(&mut screen, effects);
    desk.keys(&mut screen, "down enter");
    assert!(desk.written.is_empty());
    assert!(
        screen.shown().contains("it changed meanwhile: nothing was written, w asks again"),
        "{}",
        screen.shown()
    );
}

#[test]
fn keys_that_come_before_the_versions_are_kept_for_them() {
    for (keys, holds) in [
        ("c p w", "self.nest += 1;"),
        ("a c w", "lex(\"\"), 0);"),
        ("p e n e w esc p w", "new"),
        ("C u P w down enter w", "while depth > 0"),
        ("p n p w down enter", "while depth > 0"),
    ] {
        let mut desk = Desk::default();
        let (mut screen, mut effects) = opening(&mut desk);
        effects.extend(screen.keys(keys));
        desk.settle(&mut screen, effects);
        assert_eq!(desk.written.len(), 1, "{keys}: {}", screen.shown());
        assert!(written(&desk).contains(holds), "{keys}: {}", written(&desk));
    }
}

#[test]
fn keys_behind_a_write_are_for_what_comes_after_it() {
    let mut desk = desk();
    let mut screen = open(&mut desk, 140, 45);
    select(&mut desk, &mut screen, "link");
    screen.draw();
    // the next path is old.rs, then run.sh
    let effects = screen.keys("c w p w");
    desk.settle(&mut screen, effects);
    let written: Vec<&str> = desk.written.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(written, ["link", "old.rs"], "{}", screen.shown());
    assert_eq!(desk.parents("manual", "old.rs"), There::Absent);
}

#[test]
fn keys_for_what_cannot_be_read_are_said_to_have_done_nothing() {
    use windlass::api::command::{Command, Query};
    use windlass::api::event::{Event, Reply};
    let mut desk = Desk::default();
    let (mut screen, effects) = opening(&mut desk);
    let effects: Vec<Effect> = effects.into_iter().chain(screen.keys("c w")).collect();
    let [Effect::Send(Command::Ask { number, query: Query::HandBack(HandBackAsk::List) })] = effects[..]
    else {
        panic!("{effects:?}");
    };
    let reply = Reply::Failed("no room".into());
    assert_eq!(screen.tell(Msg::Event(Event::Answered { number, reply })), []);
    let shown = screen.shown();
    assert!(shown.contains("no room · the keys pressed meanwhile did nothing"), "{shown}");
    // and who does not want to wait leaves
    let mut desk = Desk::default();
    let (mut screen, _) = opening(&mut desk);
    screen.keys("c q q");
    assert!(!screen.shown().contains("Hand-back"), "{}", screen.shown());
}

#[test]
fn a_word_to_the_person_hides_no_key() {
    for (columns, rows) in [(140, 45), (100, 30), (60, 20), (40, 12)] {
        let mut desk = desk();
        let mut screen = open(&mut desk, columns, rows);
        select(&mut desk, &mut screen, "link");
        desk.keys(&mut screen, "enter c w");
        let shown = screen.shown();
        assert!(shown.contains("link: written · 7 conflicts are open"), "{shown}");
        assert!(shown.contains("p parent") && shown.contains("? keys"), "{shown}");
    }
}

#[test]
fn a_result_of_any_length_is_edited_in_the_right_place() {
    for lines in [10_000, 70_000] {
        let base: String = (0..lines).map(|n| format!("line {n}\n")).collect();
        let at = lines - 7;
        let here = format!("line {at}\n");
        let mut desk = Desk::default();
        let parent = base.replace(&here, "parent's\n");
        desk.put("manual", "long", file(&base), file(&parent), file(base.replace(&here, "child's\n")));
        let mut screen = open(&mut desk, 100, 30);
        desk.keys(&mut screen, "e m i n e space");
        let shown = screen.shown();
        assert!(shown.contains("mine parent's") && shown.contains(&format!("{} ", at + 1)), "{shown}");
        desk.keys(&mut screen, "ctrl-end pageup pagedown up x esc w");
        let There::File(result, _) = desk.parents("manual", "long") else { panic!("no file") };
        let last = format!("line {}\n", lines - 1);
        let wanted = parent.replace("parent's", "mine parent's").replace(&last, &format!("x{last}"));
        assert!(result == wanted.as_bytes(), "{}", screen.shown());
    }
}
