//! What people report of screens like this one, and no other test here holds: spinners that rewrite what is
//! theirs not, motion that was asked to stop, dialogs without room for their choices.

use std::sync::Arc;

use windlass::api::event::Reply;
use windlass::ui::overlay::{Overlay, catalog};
use windlass::ui::pace::{CLOCK_MS, Motion, SPIN_MS};
use windlass::ui::pane::jobs::SIGNALS;
use windlass::ui::{Model, UiOptions};

use super::{Screen, record, tree};
use crate::terminal::show;

/// What no cell of a frame holds.
const UNTOUCHED: &str = "~";

/// The cells that the bytes of a frame write to or erase, on a terminal whose cursor stands at `from`.
fn touched(bytes: &[u8], columns: u16, rows: u16, from: (u16, u16)) -> Vec<(u16, u16)> {
    let mut terminal = super::terminal(columns, rows);
    for row in 1..=rows {
        terminal.process(format!("\x1b[{row};1H{}", UNTOUCHED.repeat(columns.into())).as_bytes());
    }
    terminal.process(format!("\x1b[{};{}H", from.0 + 1, from.1 + 1).as_bytes());
    show(&mut terminal, bytes);
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    all.filter(|(row, column)| {
        terminal.screen().cell(*row, *column).is_some_and(|cell| cell.contents() != UNTOUCHED)
    })
    .collect()
}

fn is_spinner(text: &str) -> bool {
    text.chars().all(|c| ('\u{2800}'..='\u{28ff}').contains(&c)) && !text.is_empty()
}

#[test]
fn a_spinner_touches_its_own_cells_only() {
    for (columns, rows) in [(160, 40), (80, 24), (40, 12)] {
        let mut screen = Screen::new(columns, rows, record::full());
        let mut turned = 0;
        // within a second of the clocks
        screen.now += 200;
        screen.draw();
        for _ in 0..5 {
            screen.now += SPIN_MS;
            let at = screen.terminal.screen().cursor_position();
            let spins = |screen: &Screen| {
                let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
                let cell = |(row, column): &(u16, u16)| screen.terminal.screen().cell(*row, *column);
                all.filter(|at| cell(at).is_some_and(|cell| is_spinner(cell.contents()))).collect::<Vec<_>>()
            };
            let before = spins(&screen);
            let bytes = screen.frame();
            assert_eq!(spins(&screen), before, "{columns}x{rows}: they stay where they are");
            let cells = touched(&bytes, columns, rows, (at.0, at.1));
            assert!(
                cells.iter().all(|cell| before.contains(cell)),
                "{columns}x{rows}: {cells:?}, {before:?}"
            );
            turned += cells.len();
        }
        assert!(turned > 0, "{columns}x{rows}: none turned");
    }
}

#[test]
fn where_less_motion_is_wanted_only_times_go_on() {
    let mut screen = Screen::new(120, 40, record::full());
    screen.draw();
    assert_eq!(screen.model.motion(), Motion::Spin, "else it would turn");
    let options = UiOptions { reduced_motion: true, ..UiOptions::default() };
    screen.model = Model::new(&options, &screen.record, Arc::new(|| {})).0;
    screen.resize(120, 40);
    let shown = screen.shown();
    assert!(!shown.contains(|c| is_spinner(&String::from(c))), "{shown}");
    assert_eq!(screen.model.motion(), Motion::Clock);
    for _ in 0..4 {
        screen.now += SPIN_MS;
        assert_eq!(screen.draw(), 0, "within a second nothing is drawn");
    }
    screen.now += CLOCK_MS;
    let bytes = screen.draw();
    assert!((1..200).contains(&bytes), "the times alone: {bytes} bytes");
}

#[test]
fn a_search_that_is_typed_on_finds_in_a_conversation_that_does_not_change() {
    let mut screen = Screen::new(80, 24, record::full());
    screen.draw();
    screen.keys("tab /");
    screen.write("lexer");
    screen.keys("enter");
    assert!(screen.model.conversation.hits().is_some_and(|(all, _)| all > 0));
    screen.keys("n n N");
    assert!(screen.model.conversation.hits().is_some_and(|(_, at)| at > 0));
}

/// That the screen shows all of these.
fn shows(what: &str, screen: &mut Screen, wanted: &[&str]) {
    let shown = screen.shown();
    for words in wanted {
        assert!(shown.contains(words), "{what}: {words:?} is not in\n{shown}");
    }
}

#[test]
fn every_dialog_that_asks_shows_its_choices_at_80x12() {
    let mut screen = tree::asks_to_rewind(80, 12);
    shows("rewind", &mut screen, &["Rewind and put the files back", "Rewind only", "Stay"]);
    for open in [1, 12] {
        let mut screen = Screen::new(80, 12, record::empty());
        screen.model.overlays.push(Overlay::List(catalog::write_open(open)));
        let wanted = ["Choose first", "the parent's lines there", "the child's lines there", "both there"];
        shows("write while hunks are open", &mut screen, &wanted);
    }
    let mut screen = Screen::new(80, 12, record::empty());
    let effects = screen.keys("ctrl-r");
    let prompts = ["make it so", "two\nlines of it"].map(str::to_owned).to_vec();
    super::overlays::reply(&mut screen, &effects, Reply::Prompts(prompts));
    shows("history", &mut screen, &["make it so", "two ⏎ lines of it"]);
    // of more than have room the marked one is there
    let mut jobs = record::empty();
    super::jobs::job(&mut jobs, 1, "npm run dev");
    let mut screen = Screen::new(80, 12, jobs);
    screen.keys("ctrl-x j s");
    for (_, name, _) in SIGNALS {
        shows("signals", &mut screen, &["npm run dev", name]);
        screen.keys("down");
    }
}

#[test]
fn every_line_that_is_asked_for_is_seen_at_80x12() {
    let running = || {
        let mut record = record::full();
        super::jobs::job(&mut record, 1, "npm run dev");
        record
    };
    let mut asks = record::empty();
    record::ask(&mut asks, "c1", "rm -rf target");
    for (what, record, keys) in [
        ("find", record::full(), "tab /"),
        ("find a job", running(), "ctrl-x j /"),
        ("find in a log", running(), "ctrl-x j enter /"),
        ("a name", record::empty(), "/ r e n a m e enter"),
        ("a reason", asks, "r"),
    ] {
        let mut screen = Screen::new(80, 12, record);
        screen.draw();
        screen.tell(windlass::ui::Msg::Flushed);
        screen.now += 1000;
        screen.keys(keys);
        let line = matches!(screen.model.overlays.last(), Some(Overlay::Line(_)));
        assert!(line, "{what}: no line is asked for:\n{}", screen.shown());
        screen.write("zebra stripes");
        let shown = screen.shown();
        assert!(shown.contains("zebra stripes"), "{what}:\n{shown}");
    }
}

#[test]
fn what_the_rig_looks_for_is_there() {
    let mut screen = Screen::new(120, 40, record::full());
    let shown = screen.shown();
    for wanted in ["❯", "Esc interrupt", "interrupted", "cargo test", "1 queued"] {
        assert!(shown.contains(wanted), "{wanted:?} is not in\n{shown}");
    }
}
