//! The emulator without a command: bytes in, pictures and answers out.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use proptest::prelude::*;

use super::*;
use crate::api::screen::{Colour, Modes, Mouse, MouseForm, Run, Style};

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
fn what_is_no_text_takes_its_place() {
    let bytes =
        b"Gr\xfc\xdfe an alle\r\n\xef\xbf\xbd|\xe6\x97|\r\n\x1b]2;a \xff title\x07\x1b[31m\xff\x1b[0m.";
    for cut in 0..=bytes.len() {
        let (mut terminal, _slave) = terminal(3, 20);
        let (first, rest) = bytes.split_at(cut);
        terminal.feed(first);
        terminal.feed(rest);
        let picture = terminal.picture();
        assert_eq!(
            text(&picture),
            ["Gr\u{fffd}\u{fffd}e an alle", "\u{fffd}|\u{fffd}|", "\u{fffd}."],
            "{cut}"
        );
        assert_eq!(picture.cursor, Some((2, 2)), "{cut}");
        assert!(picture.title.starts_with("a ") && picture.title.ends_with(" title"), "{:?}", picture.title);
    }
}

#[test]
fn a_character_that_becomes_wide_in_the_last_column_costs_no_picture() {
    let heart = "\u{2764}\u{fe0f}";
    for (cols, wanted) in [(1, "\u{2764}"), (3, "ab\u{2764}"), (4, "ab\u{2764}\u{fe0f}")] {
        let (mut terminal, _slave) = terminal(3, cols);
        let before = if cols == 1 { "" } else { "ab" };
        // what is written over it again is where the emulator fails otherwise
        terminal.feed(format!("\x1b]2;kept\x07\x1b[1;1H{before}{heart}\x1b[2;1H").as_bytes());
        terminal.feed(heart.as_bytes());
        let picture = terminal.picture();
        assert_eq!((picture.title.as_str(), text(&picture)[0].as_str()), ("kept", wanted), "{cols}");
        terminal.feed(format!("\x1b[1;{cols}Hx\x1b[1;1H{before}{heart}\x1b[?6l{before}y").as_bytes());
        assert_eq!(terminal.picture().title, "kept", "{cols}");
    }
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
        (b"\x1b[=c", b"\x1bP!|00000000\x1b\\"),
        (b"\x1b[?2026$p", b"\x1b[?2026;0$y"),
        (b"\x1b[?2004h\x1b[?2004$p", b"\x1b[?2004;1$y"),
        (b"\x1b[?1003$p", b"\x1b[?1003;2$y"),
        (b"\x1b[4$p", b"\x1b[4;0$y"),
        (b"\x1b[14t", b"\x1b[4;80;160t"),
        (b"\x1b[16t", b"\x1b[6;16;8t"),
        (b"\x1bP$qm\x1b\\", b"\x1bP0$r\x1b\\"),
        (b"\x1bP+q544e;52\x1b\\", b"\x1bP0+r544e\x1b\\\x1bP0+r52\x1b\\"),
        (b"\x1bP+q52\x1b\\\x1b[5n", b"\x1bP0+r52\x1b\\\x1b[0n"),
        // a name that is none is not typed in
        (b"\x1bP+qrm -r;52\x1b\\", b"\x1bP0+r52\x1b\\"),
        // behind the last column is no column
        (b"\x1b[1;20Hx\x1b[6n", b"\x1b[1;20R"),
        // the kitty keyboard is not here: only the question after it is answered
        (b"\x1b[?u\x1b[c", b"\x1b[?62;22c"),
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
            let mut read = Vec::new();
            // two answers may arrive one after the other
            while read.len() < answer.len() {
                let mut ready = [PollFd::new(slave.as_fd(), PollFlags::POLLIN)];
                assert_eq!(
                    poll(&mut ready, PollTimeout::from(10_000_u16)),
                    Ok(1),
                    "{}",
                    question.escape_ascii()
                );
                let mut some = [0; 64];
                let count = nix::unistd::read(&slave, &mut some).unwrap();
                read.extend_from_slice(&some[..count]);
            }
            assert_eq!(read, answer, "{}", question.escape_ascii());
        }
    }
}

#[test]
fn a_character_in_two_pieces_takes_nothing_with_it() {
    let whole = "я я é\u{1b}[1mü 日a日 🦀!🦀".as_bytes();
    for cut in 0..=whole.len() {
        let (mut terminal, _slave) = terminal(1, 40);
        terminal.feed(&whole[..cut]);
        terminal.feed(&whole[cut..]);
        assert_eq!(text(&terminal.picture()), ["я я éü 日a日 🦀!🦀"], "cut at {cut}");
    }
}

#[test]
fn that_typing_is_not_shown_is_told_though_nothing_is_written() {
    let (mut terminal, slave) = terminal(3, 10);
    assert!(terminal.picture().modes.echo && !terminal.echo_changed());
    let mut modes = tcgetattr(&slave).unwrap();
    modes.local_flags.remove(LocalFlags::ECHO);
    tcsetattr(&slave, SetArg::TCSANOW, &modes).unwrap();
    assert!(terminal.echo_changed());
    assert!(!terminal.picture().modes.echo && !terminal.echo_changed());
}

#[test]
fn a_fault_of_the_emulator_costs_the_picture_only() {
    let (mut terminal, _slave) = terminal(3, 10);
    terminal.feed(b"before");
    terminal.picture();
    terminal.emulate(|_| panic!("as an emulator may"));
    terminal.feed(b"after");
    let picture = terminal.picture();
    assert_eq!((text(&picture)[0].as_str(), picture.size), ("after", Size { rows: 3, cols: 10 }));
}

#[test]
fn a_frame_fits_into_a_line_of_the_wire_whatever_it_shows() {
    let run = |n: u32| {
        let [_, red, green, blue] = n.to_be_bytes();
        let style =
            Style { front: Colour::Rgb(red, green, blue), back: Colour::Index(7), ..Style::default() };
        Run { text: "\"".into(), style }
    };
    let screen = |rows: u16, cols: u16| Screen {
        size: Size { rows, cols },
        lines: (0..u32::from(rows))
            .map(|row| Arc::new((0..u32::from(cols)).map(|col| run(row << 10 | col)).collect()))
            .collect(),
        ..Screen::default()
    };
    let nothing = Screen::default();
    let large = Frame::between(&nothing, &screen(1000, 1000));
    assert!(serde_json::to_vec(&large).unwrap().len() < crate::process::wire::LINE_MAX - 4096);
    // one that a person may have, with a colour for each cell, is whole
    let usual = screen(100, 300);
    assert_eq!(Frame::between(&nothing, &usual).apply(&nothing), usual);
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The emulator itself, without the net below it: a fault would be seen here.
    #[test]
    fn no_bytes_and_no_sizes_are_a_fault_of_the_emulator(
        steps in proptest::collection::vec((
            (1_u16..12, 1_u16..30),
            proptest::collection::vec(prop_oneof![
                any::<u8>().prop_map(|byte| vec![byte]),
                proptest::sample::select(&["日", "e\u{301}", "🦀", "\r\n", "\t", "\x1b[?1049h", "\x1b[?1049l", "\x1b[2J", "\x1bM", "\x1b7", "\x1b8", "\x1bc"][..])
                    .prop_map(|text| text.as_bytes().to_vec()),
                (0_u16..40, 0_u16..40, proptest::sample::select(&b"@ABCDEFGHJKLMPSTX`bdfmrhlt"[..]))
                    .prop_map(|(a, b, last)| format!("\x1b[{a};{b}{}", char::from(last)).into_bytes()),
            ], 0..60),
        ), 1..6),
    ) {
        let mut emulator = emulator(Size { rows: 5, cols: 5 });
        let mut before = Screen::default();
        for ((rows, cols), bytes) in steps {
            let size = Size { rows, cols };
            emulator.screen_mut().set_size(super::rows(size), super::cols(size));
            emulator.process(&bytes.concat());
            before = picture::picture(emulator.screen(), String::new(), true, &before);
            prop_assert_eq!(before.lines.len(), usize::from(rows));
            prop_assert!(before.cursor.is_none_or(|(row, col)| row < rows && col < cols), "{:?}", before.cursor);
        }
    }
}

/// Found by random bytes: how many rows had scrolled off was another number where a part of them had waited.
#[test]
fn a_window_that_grows_leaves_what_it_shows_in_its_rows_however_that_came() {
    let feed = |pieces: &[&[u8]]| {
        let (mut terminal, _slave) = terminal(2, 3);
        pieces.iter().for_each(|bytes| terminal.feed(bytes));
        terminal.resize(Size { rows: 11, cols: 1 });
        terminal.picture()
    };
    let whole = b"\r\n\r\n\n\n\n\na\x08";
    let pieces: Vec<&[u8]> = whole.chunks(1).collect();
    let picture = feed(&[whole]);
    assert_eq!(picture, feed(&pieces));
    assert_eq!((picture.cursor, text(&picture)[1].as_str()), (Some((1, 0)), "a"));
}
