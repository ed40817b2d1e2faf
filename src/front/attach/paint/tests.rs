//! What is painted, read back by a terminal emulator: it shows the picture.

use std::num::NonZeroU16;

use proptest::prelude::*;

use super::*;

fn size(rows: u16, cols: u16) -> Size {
    Size { rows, cols }
}

fn emulator(size: Size) -> vt100::Parser {
    let of = |n| NonZeroU16::new(n).unwrap();
    vt100::Parser::new(of(size.rows), of(size.cols), 0)
}

fn screen(size: Size, lines: Vec<Vec<Run>>, cursor: Option<(u16, u16)>) -> Screen {
    Screen { size, lines: lines.into_iter().map(Arc::new).collect(), cursor, ..Screen::default() }
}

fn plain(text: &str) -> Vec<Run> {
    vec![Run { text: text.into(), style: Style::default() }]
}

/// Rows of a picture as text, as far as they are shown.
fn shown(screen: &Screen, size: Size) -> Vec<String> {
    let line = |runs: &Line| {
        let (mut out, mut room) = (String::new(), usize::from(size.cols));
        for c in runs.iter().flat_map(|run| run.text.chars()) {
            let Some(left) = room.checked_sub(c.width().unwrap_or(0)) else { break };
            out.push(c);
            room = left;
        }
        out.trim_end().to_owned()
    };
    (0..usize::from(size.rows)).map(|at| screen.lines.get(at).map(line).unwrap_or_default()).collect()
}

fn read_back(parser: &vt100::Parser, size: Size) -> Vec<String> {
    parser.screen().rows(0, size.cols).map(|row| row.trim_end().to_owned()).collect()
}

#[test]
fn colours_and_looks_are_written_for_any_terminal() {
    let of = |style| {
        let mut out = String::new();
        look(&mut out, style);
        out
    };
    assert_eq!(of(Style::default()), "\x1b[0m");
    let style = Style {
        front: Colour::Index(3),
        back: Colour::Index(12),
        bold: true,
        inverse: true,
        ..Style::default()
    };
    assert_eq!(of(style), "\x1b[0;1;7;33;104m");
    let style = Style { front: Colour::Index(200), back: Colour::Rgb(1, 2, 3), ..Style::default() };
    assert_eq!(of(style), "\x1b[0;38;5;200;48;2;1;2;3m");
}

#[test]
fn only_what_changed_is_painted_and_a_note_goes_again() {
    let at = size(3, 10);
    let mut painter = Painter::new(at);
    let first = screen(at, vec![plain("one"), plain("two"), plain("three")], Some((1, 3)));
    let mut terminal = emulator(at);
    terminal.process(&painter.paint(&first, Some("^] leaves")));
    assert_eq!(read_back(&terminal, at), ["one", "two", "^] leaves"]);
    let after = painter.paint(&first, None);
    assert!(!String::from_utf8_lossy(&after).contains("one"));
    terminal.process(&after);
    assert_eq!(read_back(&terminal, at), ["one", "two", "three"]);
    assert_eq!(terminal.screen().cursor_position(), (1, 3));
    let mut second = first.clone();
    second.lines[1] = Arc::new(plain("2"));
    let painted = painter.paint(&second, None);
    terminal.process(&painted);
    assert_eq!(read_back(&terminal, at), ["one", "2", "three"]);
    assert!(!String::from_utf8_lossy(&painted).contains("three"));
}

#[test]
fn a_taller_picture_is_cut_about_its_cursor() {
    let at = size(2, 4);
    let mut painter = Painter::new(at);
    let tall = screen(size(5, 8), ["aaaaaaaa", "b", "c", "d", "e"].map(plain).to_vec(), Some((3, 7)));
    let mut terminal = emulator(at);
    terminal.process(&painter.paint(&tall, None));
    assert_eq!(read_back(&terminal, at), ["c", "d"]);
    assert_eq!(terminal.screen().cursor_position(), (1, 3));
}

#[test]
fn the_modes_of_the_program_are_set_and_cleared() {
    let at = size(2, 4);
    let mut painter = Painter::new(at);
    let mut wants = screen(at, Vec::new(), None);
    wants.modes = Modes {
        application_cursor: true,
        application_keypad: true,
        bracketed_paste: true,
        mouse: Mouse::Drag,
        mouse_form: MouseForm::Sgr,
        echo: false,
    };
    let mut terminal = emulator(at);
    terminal.process(&painter.paint(&wants, None));
    assert!(terminal.screen().application_cursor() && terminal.screen().application_keypad());
    assert!(terminal.screen().bracketed_paste() && terminal.screen().hide_cursor());
    assert_eq!(terminal.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::ButtonMotion);
    assert_eq!(terminal.screen().mouse_protocol_encoding(), vt100::MouseProtocolEncoding::Sgr);
    terminal.process(&painter.leave());
    assert!(!terminal.screen().application_cursor() && !terminal.screen().application_keypad());
    assert!(!terminal.screen().bracketed_paste() && !terminal.screen().hide_cursor());
    assert_eq!(terminal.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    assert_eq!(terminal.screen().mouse_protocol_encoding(), vt100::MouseProtocolEncoding::Default);
}

fn lines() -> impl Strategy<Value = Vec<Vec<Run>>> {
    let style = (0u8..18, any::<bool>()).prop_map(|(index, bold)| Style {
        front: if index < 17 { Colour::Index(index) } else { Colour::Own },
        bold,
        ..Style::default()
    });
    let run = ("[a-z漢é ]{0,6}", style).prop_map(|(text, style)| Run { text, style });
    proptest::collection::vec(proptest::collection::vec(run, 0..4), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]
    #[test]
    fn whatever_stood_there_before_the_picture_is_what_is_shown(
        pictures in proptest::collection::vec(lines(), 1..5),
        rows in 1u16..6,
        cols in 1u16..12,
    ) {
        let at = size(rows, cols);
        let (mut painter, mut terminal) = (Painter::new(at), emulator(at));
        for lines in pictures {
            let picture = screen(size(6, 30), lines, None);
            terminal.process(&painter.paint(&picture, None));
            prop_assert_eq!(read_back(&terminal, at), shown(&picture, at));
        }
    }
}
