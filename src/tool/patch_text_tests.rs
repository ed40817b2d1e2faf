//! Tests of patches applied to bytes.

use proptest::prelude::*;

use super::*;
use crate::tool::patch::{Operation, parse};

fn chunks(body: &str) -> Vec<Chunk> {
    let patch = format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch");
    match parse(&patch).expect("a patch").remove(0) {
        Operation::Update { chunks, .. } => chunks,
        other => panic!("{other:?}"),
    }
}

fn applied(bytes: &[u8], body: &str) -> Vec<u8> {
    apply(bytes, &chunks(body)).expect("it fits")
}

#[test]
fn changes_apply_in_order_after_their_context() {
    let text = b"fn a() {\n    x();\n}\nfn b() {\n    x();\n}\n";
    assert_eq!(
        applied(text, "@@ fn b() {\n-    x();\n+    y();"),
        b"fn a() {\n    x();\n}\nfn b() {\n    y();\n}\n"
    );
    assert_eq!(
        applied(text, "@@\n-    x();\n+    1;\n@@\n-    x();\n+    2;"),
        b"fn a() {\n    1;\n}\nfn b() {\n    2;\n}\n"
    );
    assert_eq!(
        applied(text, "@@ fn b() {\n+    new();"),
        b"fn a() {\n    x();\n}\nfn b() {\n    new();\n    x();\n}\n"
    );
    assert_eq!(applied(text, "@@\n }\n+// end\n*** End of File"), [&text[..], b"// end\n"].concat());
    assert_eq!(applied(text, "@@\n+// end"), [&text[..], b"// end\n"].concat());
}

#[test]
fn context_is_kept_as_it_stands_when_it_matched_loosely() {
    let text = "a \u{201C}q\u{201D} \u{2014} z  \nold\n".as_bytes();
    let out = applied(text, "@@\n a \"q\" - z\n-old\n+new");
    assert_eq!(out, "a \u{201C}q\u{201D} \u{2014} z  \nnew\n".as_bytes());
}

#[test]
fn another_indentation_is_no_match_and_says_so() {
    let error = apply(b"    if ready:\n        run()\n", &chunks("@@\n if ready:\n-    run()\n+    stop()"))
        .unwrap_err();
    insta::assert_snapshot!(error);
}

#[test]
fn line_ends_bom_and_missing_newlines_stay() {
    assert_eq!(applied(b"a\r\nb\r\n", "@@\n-b\n+c\n+d"), b"a\r\nc\r\nd\r\n");
    assert_eq!(applied(b"\xef\xbb\xbfa\r\n\xffb\r\n", "@@\n-a\n+c"), b"\xef\xbb\xbfc\r\n\xffb\r\n");
    assert_eq!(applied(b"a\nb", "@@\n-a\n+A\n b"), b"A\nb");
    assert_eq!(applied(b"a\nb", "@@\n-b\n+B"), b"a\nB\n");
    assert_eq!(applied(b"a\nb", "@@\n b\n+c"), b"a\nb\nc\n");
    assert_eq!(applied(b"a\nb\rc\n", "@@\n b\n-c\n+C"), b"a\nb\rC\n");
    assert_eq!(applied(b"a\nb\rc\n", "@@\n-b\rc\n+x"), b"a\nx\n");
}

#[test]
fn an_empty_last_line_may_stand_for_the_final_newline() {
    assert_eq!(applied(b"a\nb\n", "@@\n-b\n-\n+c\n+"), b"a\nc\n");
    assert_eq!(applied(b"a\nb\n", "@@\n a\n-b\n+c\n "), b"a\nc\n");
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[ab ]{0,4}".prop_map(String::into_bytes),
        Just(b"\xff\xfe".to_vec()),
        Just("né".as_bytes().to_vec()),
    ]
}

fn lines() -> impl Strategy<Value = Vec<u8>> {
    let end = prop_oneof![Just(&b"\n"[..]), Just(&b"\r\n"[..])];
    proptest::collection::vec((line(), end), 0..10).prop_map(|lines| {
        lines.into_iter().map(|(text, end)| [&text, end].concat()).collect::<Vec<_>>().concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_outside_the_change_are_identical(
        before in lines(), end in prop_oneof![Just("\n"), Just("\r\n")], after in lines(), open in line(), bom: bool,
    ) {
        let bom = if bom { BOM } else { b"" };
        let text = [bom, &before, b"KEY", end.as_bytes(), &after, &open].concat();
        let out = apply(&text, &chunks("@@\n-KEY\n+new 1\n+new 2")).expect("one place");
        let head = [bom, before.as_slice()].concat();
        let tail = [after.as_slice(), open.as_slice()].concat();
        prop_assert!(out.starts_with(&head));
        prop_assert!(out.ends_with(&tail));
        let middle = String::from_utf8(out[head.len()..out.len() - tail.len()].to_vec()).unwrap();
        prop_assert_eq!(middle.replace("\r\n", "\n"), "new 1\nnew 2\n");
    }

    #[test]
    fn applying_never_panics(text in lines(), body in "(@@\n)?([ +-][ab\r]{0,2}\n){1,6}(@@ a\n[ +-]b\n)?") {
        let patch = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch");
        if let Ok(operations) = parse(&patch)
            && let [Operation::Update { chunks, .. }] = operations.as_slice()
        {
            let _ = apply(&text, chunks);
        }
    }
}
