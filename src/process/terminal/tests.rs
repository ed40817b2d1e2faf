//! The emulator without a command: bytes in, pictures and answers out.

use proptest::prelude::*;

use super::*;
use crate::api::screen::{Colour, Modes, Mouse, MouseForm};

fn terminal(rows: u16, cols: u16) -> (Terminal, OwnedFd) {
    Terminal::open(Size { rows, cols }).unwrap()
}

fn text(screen: &Screen) -> Vec<String> {
    screen.lines.iter().map(|line| line.iter().map(|run| run.text.as_str()).collect()).collect()
}

#[test]
fn a_picture_is_what_a_person_would_see() {
    let (mut terminal, _slave) = terminal(3, 10);
    terminal.feed(b"plain\r\n\x1b[1;31mred\x1b[0m \xe6\x97\xa5x\x1b]2;a title\x07");
    let picture = terminal.picture();
    assert_eq!(text(&picture), ["plain", "red 日x", ""]);
    let red = &picture.lines[1][0];
    assert!(red.style.bold && red.style.front == Colour::Index(1) && red.text == "red");
    assert_eq!((picture.cursor, picture.title.as_str()), (Some((1, 7)), "a title"));
    terminal.feed(b"\x1b[?25l\x1b[?1049h\x1b[?1h\x1b[?2004h\x1b[?1002h\x1b[?1006h");
    let picture = terminal.picture();
    assert!(picture.alternate && picture.cursor.is_none());
    let modes = Modes {
        application_cursor: true,
        application_keypad: false,
        bracketed_paste: true,
        mouse: Mouse::Drag,
        mouse_form: MouseForm::Sgr,
        echo: true,
    };
    assert_eq!(picture.modes, modes);
}

#[test]
fn rows_that_did_not_change_are_shared() {
    let (mut terminal, _slave) = terminal(3, 10);
    terminal.feed(b"one\r\ntwo");
    let first = terminal.picture();
    terminal.feed(b"!");
    let second = terminal.picture();
    assert!(Arc::ptr_eq(&first.lines[0], &second.lines[0]));
    assert!(!Arc::ptr_eq(&first.lines[1], &second.lines[1]));
    assert!(Arc::ptr_eq(&second, &terminal.picture()), "nothing came: it is the same picture");
}

#[test]
fn what_programs_ask_is_answered_however_the_question_is_cut() {
    for (question, answer) in [
        (&b"ab\x1b[6n"[..], &b"\x1b[1;3R"[..]),
        (b"\x1b[5n", b"\x1b[0n"),
        (b"\x1b[c", b"\x1b[?62;22c"),
        (b"\x1b[>c", b"\x1b[>1;10;0c"),
        (b"\x1b[>q", b"\x1bP>|windlass\x1b\\"),
        (b"\x1b]11;?\x07", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
        (b"\x1b[?2026$p", b"\x1b[?2026;0$y"),
        (b"\x1b[?u", b"\x1b[?0u"),
        (b"\x1b[18t", b"\x1b[8;5;20t"),
    ] {
        for cut in 0..=question.len() {
            let (mut terminal, slave) = terminal(5, 20);
            // a terminal that echoes would show the answers, and one that edits lines would keep them back
            let mut modes = tcgetattr(&slave).unwrap();
            nix::sys::termios::cfmakeraw(&mut modes);
            tcsetattr(&slave, SetArg::TCSANOW, &modes).unwrap();
            terminal.feed(&question[..cut]);
            terminal.feed(&question[cut..]);
            assert!(!terminal.wants_write());
            let mut read = vec![0; 64];
            let count = nix::unistd::read(&slave, &mut read).unwrap();
            assert_eq!(&read[..count], answer, "{}", question.escape_ascii());
        }
    }
}

#[test]
fn a_size_has_bounds_and_reaches_the_command() {
    let (mut terminal, slave) = terminal(0, 5000);
    let size = |slave: &OwnedFd| rustix::termios::tcgetwinsize(slave).map(|w| (w.ws_row, w.ws_col)).unwrap();
    assert_eq!(size(&slave), (1, 1000));
    terminal.resize(Size { rows: 7, cols: 9 });
    assert_eq!(size(&slave), (7, 9));
    assert_eq!(terminal.picture().size, Size { rows: 7, cols: 9 });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_in_any_cuts_give_one_picture(
        bytes in proptest::collection::vec(prop_oneof![any::<u8>(), proptest::sample::select(&b"\x1b[];?hmHJK0123456789\r\n\xe6\x97\xa5"[..])], 0..400),
        cut in 0_usize..400,
        (rows, cols) in (1_u16..12, 1_u16..30),
    ) {
        let (mut whole, _one) = terminal(rows, cols);
        let (mut pieces, _two) = terminal(rows, cols);
        let cut = cut.min(bytes.len());
        whole.feed(&bytes);
        pieces.feed(&bytes[..cut]);
        let halfway = pieces.picture();
        pieces.feed(&bytes[cut..]);
        let (whole, pieces) = (whole.picture(), pieces.picture());
        prop_assert_eq!(&*whole, &*pieces);
        prop_assert!(pieces.lines.iter().flat_map(|l| l.iter()).all(|run| !run.text.chars().any(char::is_control)));
        // and who watches ends with the same picture
        let nothing = Screen::default();
        let first = Frame::between(&nothing, &halfway).apply(&nothing);
        prop_assert_eq!(&first, &*halfway);
        let frame: Frame = serde_json::from_str(&serde_json::to_string(&Frame::between(&first, &pieces)).unwrap()).unwrap();
        prop_assert_eq!(&frame.apply(&first), &*pieces);
    }
}
