//! Golden screens: empty and full, at three widths.

use super::{Screen, record};

const SIZES: [(u16, u16); 4] = [(120, 40), (80, 24), (50, 15), (40, 20)];

#[test]
fn the_empty_screen_reads_well() {
    for (columns, rows) in SIZES {
        insta::assert_snapshot!(
            format!("empty-{columns}x{rows}"),
            Screen::new(columns, rows, record::empty()).shown()
        );
    }
}

#[test]
fn the_full_screen_reads_well() {
    for (columns, rows) in SIZES {
        let mut screen = Screen::new(columns, rows, record::full());
        screen.write("a draft");
        insta::assert_snapshot!(format!("full-{columns}x{rows}"), screen.shown());
    }
}

#[test]
fn an_approval_reads_well() {
    for (columns, rows) in SIZES {
        let mut record = record::full();
        record::ask(&mut record, "c2", "cargo test && echo '\u{202e}evil' \u{1b}[31m");
        let mut screen = Screen::new(columns, rows, record);
        screen.draw();
        screen.tell(windlass::ui::Msg::Flushed);
        screen.now += 500;
        insta::assert_snapshot!(format!("approval-{columns}x{rows}"), screen.shown());
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
