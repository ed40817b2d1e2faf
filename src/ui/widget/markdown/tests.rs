//! Markdown as rows: goldens, and any chunking of a stream ends in the same rows.

use proptest::prelude::*;

use super::*;
use crate::ui::widget::row::{EMPHASIS, Role, Row, STRIKE, STRONG};

fn rows(doc: &Doc, src: &str, columns: usize) -> Vec<Row> {
    doc.blocks().iter().flat_map(|block| lay(doc, src, block, columns, Role::Text, &|_| None)).collect()
}

fn whole(src: &str) -> Doc {
    let mut doc = Doc::default();
    doc.finish(src);
    doc
}

/// The rows as text, each piece that is not plain in its marks: `{Role+flags|text}`.
fn shown(src: &str, columns: usize) -> String {
    let mut out = String::new();
    for row in rows(&whole(src), src, columns) {
        for (text, look) in row.pieces() {
            if look.role == Role::Text && look.flags == 0 {
                out.push_str(text);
                continue;
            }
            let flags: String = [(STRONG, 'b'), (EMPHASIS, 'i'), (STRIKE, 's')]
                .iter()
                .filter(|(flag, _)| look.flags & flag != 0)
                .map(|(_, mark)| *mark)
                .collect();
            out.push_str(&format!("{{{:?}{flags}|{text}}}", look.role));
        }
        out.push_str(if row.soft { " ⏎\n" } else { "\n" });
    }
    out
}

fn plain(src: &str, columns: usize) -> Vec<String> {
    rows(&whole(src), src, columns).into_iter().map(|row| row.text).collect()
}

const SAMPLE: &str = "# A *plan* for `x`\n\nSome **bold**, _soft_ and ~~gone~~ text with `code`, a \
[link](https://example.org) and <https://example.org>.  \nHard break.\n\n- one\n- two\n  - deep 日本\n    1. deeper\n\
- [ ] open\n- [x] done\n\n> A quote\n> goes on\n>\n> - in it\n\n| a | number |\n|:--|--:|\n| x | 1 |\n| `y` | 22 |\n\n\
```rust\nfn main() {\n\tlet a = 1;\n}\n```\n---\nA note[^1].\n\n[^1]: The note.\n<div>\nraw\n</div>\n";

#[test]
fn a_sample_reads_well_at_80_columns() {
    insta::assert_snapshot!(shown(SAMPLE, 80));
}

#[test]
fn a_sample_reads_well_at_20_columns() {
    insta::assert_snapshot!(shown(SAMPLE, 20));
}

#[test]
fn a_sample_stands_at_40_and_at_1_column() {
    insta::assert_snapshot!(plain(SAMPLE, 40).join("\n"));
    assert!(plain(SAMPLE, 1).iter().all(|row| crate::ui::widget::text::width(row) <= 1));
}

#[test]
fn numbers_go_on_and_blocks_stay_in_their_item() {
    assert_eq!(
        plain("1. a\n1. b\n\n   more\n\n   ```\n   code\n   ```\n1. c\n", 40),
        ["1. a", "2. b", "", "   more", "", "    code", "3. c"]
    );
    assert_eq!(plain("text\n- a\n- b\n\nend", 40), ["text", "• a", "• b", "", "end"]);
    assert_eq!(plain("-\n- b", 40), ["• ", "• b"]);
    assert_eq!(plain("2019. was a year\nnot a list: 2. x", 40), ["2019. was a year not a list: 2. x"]);
}

#[test]
fn what_later_lines_could_change_is_shown_as_written() {
    assert_eq!(plain("[1]: http://x\n\n[a][1] and [2]", 60), ["[1]: http://x", "", "[a][1] and [2]"]);
}

#[test]
fn a_note_and_its_marks_are_told_apart_from_text() {
    assert_eq!(
        plain(
            "Text[^1] and[^a note] `[^1]` \\[^1].\n\n[^1]: The **note**\n    goes on\n\n    - a\n[^b]: Next.\n\nend",
            60
        ),
        [
            "Text[1] and[^a note] [^1] [^1].",
            "",
            "[1] The note goes on",
            "",
            "    • a",
            "[b] Next.",
            "",
            "end"
        ]
    );
    let marks = |src: &str| -> Vec<String> {
        let rows = rows(&whole(src), src, 60);
        let marked = rows.iter().flat_map(Row::pieces).filter(|(_, look)| look.role == Role::Accent);
        marked.map(|(text, _)| text.to_owned()).collect()
    };
    assert_eq!(marks("a[^1] **b[^x]**\n\n[^1]: c"), ["[1]", "[x]", "[1] "]);
}

/// A link leads to its address, and its text cannot hide which that is.
#[test]
fn links_lead_where_they_say() {
    use crate::ui::widget::link::Link;
    let led = |src: &str| -> Vec<(String, Option<String>)> {
        let all = rows(&whole(src), src, 90);
        let pieces = all.iter().flat_map(Row::pieces).filter(|(_, look)| look.link.is_some());
        pieces
            .map(|(text, look)| (text.to_owned(), look.link.and_then(Link::address).map(|to| to.to_string())))
            .collect()
    };
    let to = |address: &str| Some(address.to_owned());
    assert_eq!(led("<https://a.example/x>"), [("https://a.example/x".to_owned(), to("https://a.example/x"))]);
    assert_eq!(
        led("[https://good.example](https://evil.example)"),
        [
            ("https://good.example".to_owned(), to("https://evil.example")),
            ("https://evil.example".to_owned(), to("https://evil.example"))
        ]
    );
    assert_eq!(led("[a](src/x.rs) [b](javascript:x) [c](file:///etc/passwd)"), []);
    assert_eq!(plain("[a](src/x.rs)", 40), ["a (src/x.rs)"]);
}

#[test]
fn what_goes_over_lines_inside_a_paragraph_stays_in_its_row() {
    for src in ["<y><!--\n-->", "a <b\nc> <d\ne>", "<a\nb><c\nd>", "`a\nb` ``c\nd``", "[a\nb](<c> 'd\ne')"] {
        for row in rows(&whole(src), src, 80) {
            assert!(!row.text.contains('\n'), "{src:?}: {:?}", row.text);
        }
    }
}

#[test]
fn a_table_waits_for_its_end() {
    let src = "| a | b |\n|---|---|\n| 1 | 2 |\n";
    let mut doc = Doc::default();
    doc.grow(&src[..4]);
    assert_eq!(rows(&doc, src, 40).iter().map(|r| r.text.as_str()).collect::<Vec<_>>(), ["table · 0 rows …"]);
    doc.grow(src);
    assert_eq!(rows(&doc, src, 40).iter().map(|r| r.text.as_str()).collect::<Vec<_>>(), ["table · 1 row …"]);
    doc.finish(src);
    assert_eq!(
        rows(&doc, src, 40).iter().map(|r| r.text.as_str()).collect::<Vec<_>>(),
        ["a │ b", "──┼──", "1 │ 2"]
    );
}

#[test]
fn a_wide_table_folds_into_keys_and_values() {
    assert_eq!(
        plain("| key | value |\n|--|--|\n| 日本語 | a long value that |\n| b | c |\n", 16),
        ["key: 日本語", "value: a long", "  value that", "───", "key: b", "value: c"]
    );
}

#[test]
fn long_cells_are_wrapped_in_their_column() {
    let src = "| file | what it does |\n|--|--|\n| a.rs | a long value that is wrapped |\n| b.rs | short |\n";
    assert_eq!(
        plain(src, 24),
        [
            "file │ what it does",
            "─────┼──────────────────",
            "a.rs │ a long value that",
            "     │ is wrapped",
            "b.rs │ short"
        ]
        .map(|line| line.to_owned())
    );
}

/// The work of a token does not grow with what came before: only the tail is made anew.
#[test]
fn finished_blocks_are_never_touched_again() {
    let item = "- an item of a long list\n";
    let code = "let x = 1;\n";
    let text = "a line of one paragraph\n";
    for (head, line) in [
        ("", item),
        ("| a | b |\n|---|---|\n", "| one | two |\n"),
        ("```\n", code),
        ("", text),
        ("> ", "> quoted\n"),
        ("1. a\n   ```\n", "   code\n"),
    ] {
        let src = format!("{head}{}", line.repeat(5_000));
        let mut doc = Doc::default();
        let mut at = 0;
        while at < src.len() {
            at = (at + 2_000).min(src.len());
            doc.grow(&src[..at]);
            let open = doc.blocks().len() - doc.settled();
            let lines: usize = doc.blocks()[doc.settled()..].iter().map(|b| b.lines.len()).sum();
            assert!(open <= 2 && lines <= 256, "{line:?}: {open} blocks, {lines} lines are open");
        }
    }
}

#[test]
fn a_token_of_4_700_bytes_and_a_line_of_123_427_are_seen_once() {
    for src in
        ["x".repeat(4_700), "ab ".repeat(41_142), "日".repeat(30_000), format!("```\n{}", "y".repeat(90_000))]
    {
        let seen: String = plain(&src, 77).concat();
        let want: String = src.replace(['`', '\n', ' '], "");
        assert_eq!(seen.replace(' ', ""), want);
    }
}

fn markdown() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-z*_`~<>&\\[\\]()! |:#-]{0,24}",
        "( {0,5})(-|\\*|[0-9]{1,2}\\.) [a-z *`]{0,12}",
        " {0,4}(```|~~~)[a-z]{0,4}",
        "> {0,2}[a-z >*-]{0,10}",
        Just("| a | b |".to_owned()),
        Just("|---|:-:|".to_owned()),
        "#{1,7} [a-z*]{0,9}#{0,2}",
        Just("---".to_owned()),
        Just("===".to_owned()),
        Just(String::new()),
        Just("\t\tx\ty".to_owned()),
        "(日本|👩\u{200d}👧|e\u{301}|\u{202e}|[a-z ]){0,12}",
    ];
    (prop::collection::vec(line, 0..24), prop_oneof![Just("\n"), Just("\r\n")])
        .prop_map(|(lines, end)| lines.join(end))
}

fn long() -> impl Strategy<Value = String> {
    prop::collection::vec((markdown(), 1usize..400), 1..4).prop_map(|parts| {
        parts
            .into_iter()
            .map(|(text, n)| format!("{}\n", text.repeat(n.min(20_000 / (text.len() + 1)))))
            .collect()
    })
}

fn chunked(src: &str, cuts: &[usize]) -> Doc {
    let mut doc = Doc::default();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (src.len() + 1)).collect();
    cuts.sort_unstable();
    for mut cut in cuts {
        while !src.is_char_boundary(cut) {
            cut -= 1;
        }
        doc.grow(&src[..cut]);
    }
    doc.finish(src);
    doc
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_lowercase()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_chunking_ends_as_the_whole(src in markdown(), cuts in prop::collection::vec(any::<usize>(), 0..30)) {
        let (a, b) = (chunked(&src, &cuts), whole(&src));
        prop_assert_eq!(a.blocks(), b.blocks());
        prop_assert_eq!(rows(&a, &src, 30), rows(&b, &src, 30));
    }
    #[test]
    fn a_character_at_a_time_ends_as_the_whole(src in markdown()) {
        let cuts: Vec<usize> = (0..src.len()).collect();
        prop_assert_eq!(rows(&chunked(&src, &cuts), &src, 20), rows(&whole(&src), &src, 20));
    }
    #[test]
    fn every_row_fits(src in markdown(), columns in 1usize..60) {
        for row in rows(&whole(&src), &src, columns) {
            prop_assert!(crate::ui::widget::text::width(&row.text) <= columns, "{:?}", row.text);
        }
    }
    #[test]
    fn text_is_seen_exactly_once(
        words in prop::collection::vec("[a-z]{1,6}", 1..40), shape in prop::collection::vec(0usize..9, 40), columns in 8usize..50
    ) {
        let mut src = String::new();
        for (word, shape) in words.iter().zip(&shape) {
            match shape {
                0 => src.push_str(&format!("# {word}\n")),
                1 => src.push_str(&format!("- {word}\n")),
                2 => src.push_str(&format!("> {word}\n")),
                3 => src.push_str(&format!("```\n{word}\n```\n")),
                4 => src.push_str(&format!("\n**{word}**\n")),
                5 => src.push_str(&format!("\n| {word} | x |\n|-|-|\n\n")),
                6 => src.push_str(&format!("  `{word}` \n")),
                7 => src.push_str(&format!("3. {word}\n\n")),
                _ => src.push_str(&format!("{word} ")),
            }
        }
        let seen = letters(&plain(&src, columns).concat());
        prop_assert_eq!(seen, letters(&src));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn long_texts_end_the_same_too(src in long(), cuts in prop::collection::vec(any::<usize>(), 0..5)) {
        let (a, b) = (chunked(&src, &cuts), whole(&src));
        prop_assert_eq!(a.blocks(), b.blocks());
    }
}

#[test]
fn details_have_a_summary_and_stand_inside() {
    let src = "a\n\n<details>\n<summary>What <b>was</b> done</summary>\n\n- one\n\n<details open><summary>In</summary>\n\ndeep\n\n</details>\n</details>\n\nafter\n";
    let doc = whole(src);
    assert!(doc.folds() && !whole("a <details> b").folds());
    let all: Vec<(u8, String)> = doc
        .blocks()
        .iter()
        .map(|block| {
            let rows = lay(&doc, src, block, 40, Role::Text, &|_| None);
            (block.inside, rows.iter().map(|row| row.text.trim()).collect::<Vec<_>>().concat())
        })
        .collect();
    let seen: Vec<(u8, &str)> = all.iter().map(|(inside, text)| (*inside, text.as_str())).collect();
    assert_eq!(
        seen,
        [
            (0, "a"),
            (0, "▸ What was done"),
            (1, "• one"),
            (1, "▸ In"),
            (2, "deep"),
            (2, ""),
            (1, ""),
            (0, "after")
        ]
    );
    let head = &doc.blocks()[1];
    let open = unfolded(head, lay(&doc, src, head, 40, Role::Text, &|_| None));
    assert!(open.iter().any(|row| row.text == "▾ What was done"), "{open:?}");
    for other in ["<details>\n\nx", "<details>\nno summary\n</details>", "</details>\nx", "<details>"] {
        whole(other);
    }
}

/// Of a long text the end is read first; when the rest is read too, it is the same text, and each block is found in it.
#[test]
fn a_long_text_is_read_from_its_end_and_ends_as_the_whole() {
    let code = format!("{SAMPLE}\n```\n{}```\n\n", "let x = 1;\n".repeat(9_000));
    for page in
        [SAMPLE, "word ", "日本 words of a line\n", "- item\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", &code]
    {
        let src = page.repeat(700_000 / page.len());
        let mut doc = Doc::default();
        doc.finish_from_its_end(&src);
        assert!(doc.unread() && doc.finished());
        let begin = |doc: &Doc, block: &Block| {
            doc.text(&src, block).next().map(|line| line.as_ptr() as usize - src.as_ptr() as usize)
        };
        let before: Vec<Option<usize>> = doc.blocks().iter().map(|block| begin(&doc, block)).collect();
        assert!(before.iter().flatten().all(|at| src.len() - at < 70_000), "more than the end is read");
        let mut slices = 1;
        let moved = loop {
            if let Some(moved) = doc.read_on(&src) {
                break moved;
            }
            slices += 1;
        };
        assert_eq!(slices, src.len().div_ceil(256 * 1024));
        assert!(!doc.unread() && doc.blocks() == whole(&src).blocks());
        assert_eq!((moved.len(), moved[0]), (before.len(), 0));
        for (at, to) in before.iter().zip(&moved).skip(1) {
            let Some(at) = at else { continue };
            let next = doc.blocks()[to + 1..].iter().find_map(|block| begin(&doc, block));
            assert!(begin(&doc, &doc.blocks()[*to]).is_none_or(|begin| begin <= *at));
            assert!(next.is_none_or(|next| next > *at));
        }
    }
}

/// Rows of a long table are shown as they come, once its columns can be judged; none of them moves, and it ends as the
/// whole does.
#[test]
fn a_long_table_shows_its_rows_as_they_come_and_ends_as_the_whole() {
    let row = |n: usize| match n {
        50 => "| a cell that is wider than all before | 50 |\n".to_owned(),
        n => format!("| row | {n} |\n"),
    };
    let src: String =
        std::iter::once("| name | number |\n|---|--:|\n".to_owned()).chain((0..90).map(row)).collect();
    let texts = |doc: &Doc| -> Vec<String> { rows(doc, &src, 60).into_iter().map(|row| row.text).collect() };
    let (mut doc, mut before, mut shown) = (Doc::default(), Vec::new(), Vec::new());
    for to in 1..=src.len() {
        doc.grow(&src[..to]);
        let now = texts(&doc);
        let settled = now.len() - usize::from(now.last().is_some_and(|row| row.starts_with("table · ")));
        assert!(now.len() >= before.len() && now[..before.len()] == before, "a row moved or went: {now:?}");
        before = now[..settled].to_vec();
        shown.push(before.len());
    }
    // nothing of the first 32; then each as it comes, but those that wait for the columns of a wide one
    let waits = shown.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
    assert_eq!((shown[100], waits), (0, 2), "{shown:?}");
    assert_eq!(shown.last(), Some(&92));
    doc.finish(&src);
    assert_eq!(texts(&doc), before);
    assert_eq!(rows(&doc, &src, 60), rows(&whole(&src), &src, 60));
    assert_eq!(before[40], "row  │     38");
    assert!(before[52].starts_with("a cell that is wider than all before │     50"), "{}", before[52]);
    // too narrow for columns: all of it as keys and values
    let narrow: Vec<String> = rows(&whole(&src), &src, 10).into_iter().map(|row| row.text).collect();
    assert_eq!(narrow.iter().filter(|row| row.starts_with("number:")).count(), 90);
}
