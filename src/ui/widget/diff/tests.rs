//! A diff in both shapes: numbers, marks inside lines, colours; every line is shown exactly once.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::ui::theme::builtin;
use crate::ui::widget::row::{Look, Row};
use crate::ui::widget::text::width;

const DIFF: &str = "--- a/x.rs\n+++ b/x.rs\n@@ -9,4 +9,3 @@\n fn a() {\n-    let old = 1;\n+    let new = 1;\n--- not a head\n }\n@@ -30 +30,2 @@\n same\n+more\n\\ No newline at end of file\n";

fn none(_: Stream, _: u32) -> Option<&'static [(u32, Role)]> {
    None
}

fn rows(text: &str, columns: usize, shape: Shape) -> Vec<Row> {
    let diff = Diff::read(text);
    (0..diff.pieces()).flat_map(|piece| diff.lay(text, piece, columns, shape, &none)).collect()
}

fn texts(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.text.as_str()).collect()
}

fn of_role(row: &Row, role: Role) -> Vec<&str> {
    row.pieces().filter(|(_, look)| look.role == role).map(|(text, _)| text).collect()
}

#[test]
fn a_diff_has_numbers_and_marks_inside_lines() {
    let all = rows(DIFF, 60, Shape::Unified);
    assert_eq!(
        texts(&all),
        [
            "x.rs",
            " 9  9   fn a() {",
            "10    -     let old = 1;",
            "   10 +     let new = 1;",
            "11    - -- not a head",
            "12 11   }",
            "⋯",
            "30 30   same",
            "   31 + more",
            "\\ No newline at end of file"
        ]
    );
    assert_eq!(of_role(&all[3], Role::AddedStrong), ["new"]);
    assert!(of_role(&all[2], Role::Removed)[0].starts_with("10    - "), "{:?}", all[2]);
    assert!(of_role(&all[3], Role::Added)[0].starts_with("   10 + "), "{:?}", all[3]);
    assert_eq!(
        texts(&rows(DIFF, 30, Shape::Unified))[1..4],
        [" 9   fn a() {", "10 -     let old = 1;", "10 +     let new = 1;"]
    );
}

#[test]
fn old_and_new_stand_side_by_side() {
    let all = rows(DIFF, 53, Shape::Sides);
    assert_eq!(
        texts(&all),
        [
            "x.rs",
            " 9   fn a() {             │  9   fn a() {",
            "10 -     let old = 1;     │ 10 +     let new = 1;",
            "11 - -- not a head        │ ",
            "12   }                    │ 11   }",
            "⋯",
            "30   same                 │ 30   same",
            "                          │ 31 + more",
            "\\ No newline at end of file"
        ]
    );
    assert_eq!(
        (of_role(&all[2], Role::RemovedStrong), of_role(&all[2], Role::AddedStrong)),
        (vec!["old"], vec!["new"])
    );
    assert_eq!((all[2].ground, all[3].ground), (Role::Added, Role::Text));
}

#[test]
fn the_shape_goes_by_the_width_until_it_is_decided() {
    assert!(!Shape::ByWidth.sides(SIDES_FROM - 1) && Shape::ByWidth.sides(SIDES_FROM));
    assert_eq!((Shape::ByWidth.switched(80), Shape::ByWidth.switched(200)), (Shape::Sides, Shape::Unified));
    assert!(Shape::Sides.sides(80) && !Shape::Sides.sides(30), "what is too narrow has one column");
    assert_eq!(
        ["by_width", "one_column", "side_by_side"].map(Shape::named),
        [Shape::ByWidth, Shape::Unified, Shape::Sides]
    );
}

#[test]
fn each_side_of_a_hunk_is_coloured_by_its_files_language() {
    let diff = Diff::read(DIFF);
    let wanted = diff.wanted(0);
    let said: Vec<(u32, u32, &str, Vec<&str>)> = wanted
        .iter()
        .map(|(stream, end)| {
            (stream.number(), *end, diff.language(DIFF, *stream), diff.stream(DIFF, *stream, 0..*end))
        })
        .collect();
    assert_eq!(
        said,
        [
            (0, 4, "rs", vec!["fn a() {", "    let old = 1;", "-- not a head", "}"]),
            (1, 3, "rs", vec!["fn a() {", "    let new = 1;", "}"]),
            (2, 1, "rs", vec!["same"]),
            (3, 2, "rs", vec!["same", "more"]),
        ]
    );
    assert_eq!(diff.stream(DIFF, wanted[1].0, 1..2), ["    let new = 1;"]);
    assert_eq!(diff.pieces_of(3), 0..1);
    let named = |path: &str| {
        let text = format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n");
        let diff = Diff::read(&text);
        diff.language(&text, diff.wanted(0)[0].0).to_owned()
    };
    assert_eq!(
        ["a/b.c/Makefile", "x.tar.gz", ".bashrc", "/dev/null"].map(named),
        ["Makefile", "gz", ".bashrc", ""]
    );
}

/// Colours keep the ground that tells what was added, and what changed inside a line stays marked.
#[test]
fn colours_stand_on_the_ground_of_their_line() {
    let diff = Diff::read(DIFF);
    let runs: HashMap<(u32, u32), Vec<(u32, Role)>> = [
        ((1, 1), vec![(4, Role::CodeBlock), (7, Role::Keyword), (16, Role::CodeBlock)]),
        ((0, 0), vec![(2, Role::Keyword)]),
    ]
    .into();
    let colours = |stream: Stream, line: u32| runs.get(&(stream.number(), line)).map(Vec::as_slice);
    let all = diff.lay(DIFF, 0, 60, Shape::Unified, &colours);
    let pieces: Vec<(&str, Look)> = all[3].pieces().collect();
    assert!(pieces.contains(&("let", Look::from(Role::Keyword).on(Role::Added))), "{pieces:?}");
    assert!(pieces.contains(&("new", Role::AddedStrong.into())), "{pieces:?}");
    assert_eq!(all[3].content(), "    let new = 1;");
    for mut theme in builtin() {
        let keyword = Look::from(Role::Keyword).on(Role::Added).style(&theme);
        let added = Look::from(Role::Added).style(&theme);
        assert_eq!(keyword.bg, added.bg, "{}", theme.name);
        theme.added.bg = None;
        assert_eq!(
            Look::from(Role::Keyword).on(Role::Added).style(&theme),
            Look::from(Role::Added).style(&theme)
        );
        let plain = Look::from(Role::Keyword).on(Role::Text).style(&theme);
        assert_eq!(plain.bg, theme.text.bg, "{}", theme.name);
    }
}

#[test]
fn ten_thousand_lines_are_read_once_and_laid_out_by_piece() {
    let body: String = (0..10_000).map(|n| format!("-old {n}\n")).collect::<String>()
        + &(0..10_000).map(|n| format!("+new {n}\n")).collect::<String>();
    let text = format!("@@ -1,10000 +1,10000 @@\n{body}");
    let diff = Diff::read(&text);
    assert_eq!(diff.lines.len(), 20_001);
    for (shape, count) in [(Shape::Unified, 20_000), (Shape::Sides, 10_000)] {
        let laid = (0..diff.pieces()).map(|piece| diff.lay(&text, piece, 80, shape, &none).len());
        assert_eq!(laid.sum::<usize>(), count);
    }
}

#[test]
fn anything_can_be_read() {
    for text in
        ["", "\n", "@@", "+", "garbage\n@@ -x +y @@\n+a", "@@ -1,9 +1,9 @@\n", "@@ -4294967295,9 +1 @@\n-a\n"]
    {
        let diff = Diff::read(text);
        for piece in 0..diff.pieces() {
            diff.lay(text, piece, 1, Shape::Unified, &none);
            diff.lay(text, piece, 1, Shape::Sides, &none);
            diff.wanted(piece);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_line_is_shown_once_in_both_shapes(
        lines in prop::collection::vec(("[ +-]", "[a-z]{1,9}( 日本|\t| e\u{301}){0,9}"), 1..200),
        columns in 40usize..200,
    ) {
        let named: Vec<(String, String)> =
            lines.iter().enumerate().map(|(at, (mark, text))| (mark.clone(), format!("{at}q {text}"))).collect();
        let count = |other: &str| named.iter().filter(|(mark, _)| mark != other).count();
        let body: String = named.iter().map(|(mark, text)| format!("{mark}{text}\n")).collect();
        let text = format!("--- a/x.rs\n+++ b/x.rs\n@@ -1,{} +1,{} @@\n{body}", count("+"), count("-"));
        for (shape, twice) in [(Shape::Unified, 1), (Shape::Sides, 2)] {
            let diff = Diff::read(&text);
            let mut seen = String::new();
            for piece in 0..diff.pieces() {
                let rows = diff.lay(&text, piece, columns, shape, &none);
                prop_assert!(rows.windows(2).all(|pair| pair[0].at < pair[1].at));
                for row in rows {
                    prop_assert!(width(&row.text) <= columns, "{:?}", row.text);
                    seen.push_str(&row.text);
                }
            }
            for (at, (mark, _)) in named.iter().enumerate() {
                let wanted = if mark == " " { twice } else { 1 };
                let found = seen.match_indices(&format!("{at}q")).filter(|(from, _)| {
                    !seen[..*from].ends_with(|c: char| c.is_ascii_digit())
                }).count();
                prop_assert_eq!(found, wanted, "{} in {}", at, seen);
            }
        }
    }
}
