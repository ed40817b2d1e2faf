//! Tests of the decoder.

use super::*;
use crate::ui::input::{Mouse, MouseDid, key_name};
use proptest::prelude::*;

fn decode(bytes: &[u8]) -> Vec<Input> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    decoder.feed(bytes, &mut out);
    decoder.time_out(&mut out);
    out
}

fn names(bytes: &[u8]) -> String {
    decode(bytes)
        .into_iter()
        .map(|input| match input {
            Input::Key(key) => key_name(key),
            other => format!("{other:?}"),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn keys_have_their_meaning() {
    for (bytes, wanted) in [
        (&b"a"[..], "a"),
        (b"\r", "enter"),
        (b"\n", "ctrl-j"),
        (b"\x1b\r", "alt-enter"),
        (b"\x1b[A", "up"),
        (b"\x1bOA", "up"),
        (b"\x1b[1;5C", "ctrl-right"),
        (b"\x1b[1;3D", "alt-left"),
        (b"\x1b[3~", "delete"),
        (b"\x1b[5;2~", "shift-pageup"),
        (b"\x1b[Z", "shift-tab"),
        (b"\x1b[13;2u", "shift-enter"),
        (b"\x1b[27u", "esc"),
        (b"\x1b[99;5u", "ctrl-c"),
        (b"\x1b[97;2u", "A"),
        (b"\x1b[97;5:3u", ""),
        (b"\x1b[27;2;13~", "shift-enter"),
        (b"\x1b[27;5;105~", "ctrl-i"),
        (b"\x1bOP\x1b[24~\x1b[[B", "f1 f12 f2"),
        (b"\x1bx", "alt-x"),
        (b"\x1b\x7f", "alt-backspace"),
        (b"\x1b", "esc"),
        (b"\x1b\x1b", "esc esc"),
        (b"\x1b[", "alt-["),
        (b"\x1b]x", "alt-] x"),
        (b"\x1f\x1c", "ctrl-_ ctrl-\\"),
        (b"\x1b[200", ""),
        (b"\x1b[<0;3", ""),
        (b"\xff\xc3", ""),
        ("é日\u{1F600}".as_bytes(), "é 日 \u{1F600}"),
        (b"\x1b\xc3\xa9", "alt-é"),
        (b"\x1b\xc2\x9bx\xc2\x9b", "x"),
        (b"\x1b[12;40R", "Reply(Other)"),
        (b"\x1b[?62;22c", "Reply(Attributes)"),
        (b"\x1b[>41;354;0c", "Reply(Other)"),
        (b"\x1b[?1u", "Reply(Kitty(1))"),
        (b"\x1b[?2026;2$y", "Reply(Mode(2026, 2))"),
        (b"\x1b[?997;1n\x1b[?997;2n\x1b[?997;3n", "Reply(Scheme(false)) Reply(Scheme(true)) Reply(Other)"),
        (b"\x1b]11;rgb:1e/1e/2e\x1b\\", "Reply(Color(11, \"rgb:1e/1e/2e\"))"),
        (b"\x1b]10;rgb:ff/ff/ff\x07", "Reply(Color(10, \"rgb:ff/ff/ff\"))"),
        (b"\x1bP1$r0m\x1b\\z", "Reply(Other) z"),
        (b"\x1b[I\x1b[O", "Focus(true) Focus(false)"),
    ] {
        assert_eq!(names(bytes), wanted, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn the_mouse_is_read() {
    let at = |did, button, up| Input::Mouse(Mouse { did, column: 9, row: 4, button, up });
    assert_eq!(decode(b"\x1b[<0;10;5M"), [at(MouseDid::Press, 0, false)]);
    assert_eq!(decode(b"\x1b[<0;10;5m"), [at(MouseDid::Release, 0, true)]);
    assert_eq!(decode(b"\x1b[<64;10;5M"), [at(MouseDid::WheelUp, 64, false)]);
    assert_eq!(decode(b"\x1b[<65;10;5M"), [at(MouseDid::WheelDown, 65, false)]);
    assert_eq!(decode(b"\x1b[<32;10;5M"), [at(MouseDid::Drag, 32, false)]);
}

#[test]
fn a_paste_is_one_event_with_plain_line_ends() {
    assert_eq!(decode(b"\x1b[200~a\r\nb\rc\nd\x1b[A\x1b[201~"), [Input::Paste("a\nb\nc\nd\x1b[A".into())]);
}

#[test]
fn a_paste_that_never_ends_is_given_after_its_wait() {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    decoder.feed(b"\x1b[200~text\x1b[20", &mut out);
    assert_eq!(out, []);
    assert_eq!(decoder.wait_ms(), Some(PASTE_WAIT_MS));
    decoder.time_out(&mut out);
    assert_eq!(out, [Input::Paste("text\x1b[20".into())]);
    assert_eq!(decoder.wait_ms(), None);
}

#[test]
fn a_string_without_end_holds_no_memory() {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    decoder.feed(b"\x1b]52;c;", &mut out);
    for _ in 0..100 {
        decoder.feed(&[b'A'; 1000], &mut out);
        assert!(decoder.held.len() <= SEQUENCE_MAX + 1000);
    }
    decoder.feed(b"\x1b", &mut out);
    decoder.feed(b"\\x", &mut out);
    assert_eq!(out, [Input::Key(Key::plain(Code::Char('x')))]);
}

#[test]
fn a_sequence_that_is_too_long_is_swallowed_to_its_end_however_it_is_cut() {
    let digits = "1".repeat(SEQUENCE_MAX * 2);
    for (sequence, rest) in [
        (format!("\x1b[{digits}A"), ""),
        (format!("\x1b[<{digits}M"), ""),
        // what is none of its bytes stands for itself
        (format!("\x1b[{digits}"), "\x1b[B"),
        (format!("\x1b[{digits}"), "\r"),
        (format!("\x1b[{digits}"), "é"),
        (format!("\x1b]11;{digits}\x1b\\"), ""),
        (format!("\x1bP>|{digits}\x07"), ""),
        (format!("\x1b]11;{digits}"), "\x1b[B"),
    ] {
        let bytes = format!("{sequence}{rest}x").into_bytes();
        let wanted = decode(format!("{rest}x").as_bytes());
        for read in [1, 7, 1000, SEQUENCE_MAX, SEQUENCE_MAX + 1, bytes.len()] {
            let mut decoder = Decoder::default();
            let mut out = Vec::new();
            for bytes in bytes.chunks(read) {
                decoder.feed(bytes, &mut out);
                assert!(decoder.held.len() <= SEQUENCE_MAX + read);
            }
            decoder.time_out(&mut out);
            assert_eq!(out, wanted, "{rest:?} in reads of {read}");
        }
    }
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let fixed: Vec<&[u8]> = vec![
        b"\x1b[A",
        b"\x1b[1;5C",
        b"\x1b[13;2u",
        b"\x1bOP",
        b"\x1b[<0;10;5M",
        b"\x1b[<64;1;1M",
        b"\x1b[I",
        b"\x1b]11;rgb:1e/1e/2e\x1b\\",
        b"\x1b[?62c",
        b"\x1b[?2026;2$y",
        b"\x1b[200~a\r\nb\x1b[A\x1b[201~",
        b"\x1b[200~\x1b[20\x1b[201~",
        b"\x1b",
        b"\x1bx",
        b"\r",
        b"\n",
        b"\x7f",
        b"\x1bP>|kitty\x1b\\",
        b"\x1b[[C",
        b"\x1b[M abc",
        b"\x1b_Gi=1;OK\x1b\\",
        b"\xff",
        b"\xe6\x97",
        b"\x1b[12",
        b"\x1bO",
        b"\x1b]",
        b"\x1b\x1b[B",
    ];
    prop_oneof![
        proptest::sample::select(fixed).prop_map(<[u8]>::to_vec),
        "[a-z]{1,3}|é|日本|\u{1F469}\u{200D}\u{1F680}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 1..4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_cut_gives_the_same_events(
        pieces in proptest::collection::vec(piece(), 1..12),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes = pieces.concat();
        let whole = decode(&bytes);
        let mut at: Vec<usize> = cuts.iter().map(|i| i.index(bytes.len() + 1)).collect();
        at.sort_unstable();
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        let mut from = 0;
        for to in at {
            decoder.feed(&bytes[from..to], &mut out);
            from = to;
        }
        decoder.feed(&bytes[from..], &mut out);
        decoder.time_out(&mut out);
        prop_assert_eq!(&out, &whole);
        let mut single = Decoder::default();
        let mut each = Vec::new();
        for byte in &bytes {
            single.feed(&[*byte], &mut each);
        }
        single.time_out(&mut each);
        prop_assert_eq!(&each, &whole);
    }
}
