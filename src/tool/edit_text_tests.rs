//! Tests of exact replacements.

use proptest::prelude::*;

use super::*;

fn edit(old: &str, new: &str) -> Edit {
    Edit { old: old.into(), new: new.into(), all: false }
}

fn applied(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    apply(bytes, edits).expect("it fits").0
}

#[test]
fn a_line_feed_in_old_matches_crlf_and_new_gets_crlf() {
    let text = b"one\r\ntwo\r\nthree\r\n";
    assert_eq!(applied(text, &[edit("one\ntwo", "1\n1b\n2")]), b"1\r\n1b\r\n2\r\nthree\r\n");
    assert_eq!(applied(text, &[edit("two", "2\n2b")]), b"one\r\n2\r\n2b\r\nthree\r\n");
    assert_eq!(applied(text, &[edit("two\r\n", "")]), b"one\r\nthree\r\n");
    assert_eq!(applied(b"a\nb\n", &[edit("a\r\nb", "c\r\nd")]), b"c\nd\n");
}

#[test]
fn mixed_line_ends_stay_as_they_are_around_the_change() {
    let text = b"a\nb\r\nc\nd\r\n";
    assert_eq!(applied(text, &[edit("a\nb\nc\nd", "a\nb\nC\nd")]), b"a\nb\r\nC\nd\r\n");
    assert_eq!(applied(text, &[edit("b", "b\nb2")]), b"a\nb\r\nb2\r\nc\nd\r\n");
    assert_eq!(applied(text, &[edit("c", "c\nc2")]), b"a\nb\r\nc\nc2\nd\r\n");
}

#[test]
fn bom_final_newline_and_bytes_that_are_not_utf8_stay() {
    assert_eq!(applied(b"\xef\xbb\xbfa\nb", &[edit("b", "c")]), b"\xef\xbb\xbfa\nc");
    assert_eq!(applied(b"\xff\xfe x \x80\n", &[edit("x", "y")]), b"\xff\xfe y \x80\n");
    assert_eq!(applied(b"no end", &[edit("end", "more\nlines")]), b"no more\nlines");
}

#[test]
fn edits_apply_in_order_and_all_or_none() {
    assert_eq!(applied(b"a b\n", &[edit("a", "b c"), edit("b c", "d")]), b"d b\n");
    let error = apply(b"a b\n", &[edit("a", "c"), edit("a", "d")]).expect_err("gone");
    assert!(error.starts_with("edits[1] (after the edits before it): `old` was not found"), "{error}");
    let all = Edit { all: true, ..edit("a", "aa") };
    assert_eq!(apply(b"a a a", &[all]), Ok((b"aa aa aa".to_vec(), 3)));
}

#[test]
fn errors_say_what_to_do() {
    let text = b"fn main() {\n    let depth = 1;\n    run(depth);\n}\n\nfn other() {\n    run(depth);\n}\n";
    let cases = [
        edit("", "x"),
        edit("x", "x"),
        edit("a\r\nb", "a\nb"),
        edit("run(depth)", "x"),
        edit("fn main() {\n  let depth = 1;", "x"),
        edit("let depht = 2;", "x"),
        edit("     2\t    let depth = 1;", "x"),
        edit("nothing of this kind at all", "x"),
    ];
    let errors: Vec<String> =
        cases.iter().map(|e| apply(text, std::slice::from_ref(e)).unwrap_err()).collect();
    insta::assert_snapshot!(errors.join("\n---\n"));
}

#[test]
fn overlapping_places_are_two_places() {
    assert!(apply(b"aXaXa", &[edit("aXa", "b")]).unwrap_err().contains("in 2 places (lines 1, 1)"));
}

/// Lines with any ends, a BOM or none, bytes that are no UTF-8, a final newline or none.
fn file_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\xff".to_vec()),
        Just(b"\xc3".to_vec()),
        Just("é".as_bytes().to_vec()),
        Just("\u{feff}".as_bytes().to_vec()),
        "[ab ]{0,4}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_outside_the_edit_are_identical(
        before in file_bytes(), after in file_bytes(), new in "[xy]{1,3}(\n[xy]{0,3}){0,3}", tail in "(\nQQ)?",
    ) {
        // `before` must not end inside a CRLF that `after` would complete
        let old = format!("ZZ{tail}");
        let there = if before.contains(&b'\r') { old.replace('\n', "\r\n") } else { old.clone() };
        let text = [before.as_slice(), there.as_bytes(), after.as_slice()].concat();
        let (out, places) = apply(&text, &[edit(&old, &new)]).expect("one place");
        prop_assert_eq!(places, 1);
        prop_assert!(out.starts_with(&before));
        prop_assert!(out.ends_with(&after));
        let middle = &out[before.len()..out.len() - after.len()];
        prop_assert_eq!(String::from_utf8_lossy(middle).replace("\r\n", "\n"), new);
    }

    #[test]
    fn line_ends_of_a_uniform_file_stay_uniform(
        lines in proptest::collection::vec("[abc]{0,3}", 1..12), at in 0_usize..12,
        new in "[x]{1,2}(\r?\n[x]{0,2}){0,3}",
    ) {
        let at = at % lines.len();
        let mut lines = lines;
        lines[at] = "KEY".into();
        for end in ["\n", "\r\n"] {
            let text = format!("{}{end}", lines.join(end));
            let (out, _) = apply(text.as_bytes(), &[edit("KEY", &new)]).expect("one place");
            let out = String::from_utf8(out).unwrap();
            let bare = out.replace("\r\n", "").contains(['\r', '\n']);
            let uniform = if end == "\n" { !out.contains('\r') } else { !bare };
            prop_assert!(uniform, "{:?}", out);
        }
    }

    #[test]
    fn applying_never_panics(text in file_bytes(), old in "[ab\r\n]{0,4}", new in "[ab\r\n]{0,4}", all: bool) {
        let _ = apply(&text, &[Edit { old, new, all }]);
    }
}
