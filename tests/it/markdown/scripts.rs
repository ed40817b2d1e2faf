//! Texts of other widths and directions, and tables of them: streamed, at every width, aligned.

use proptest::prelude::*;
use windlass::ui::widget::row::Role;
use windlass::ui::widget::text::{clusters, width};

use super::{rows, streams_to_the_whole, whole};

/// Words that terminals have trouble with. None stands in another.
const WORDS: [&str; 14] = [
    "日本語",
    "한국어",
    "ｆｕｌｌ",
    "❤\u{fe0f}",
    "✈\u{fe0e}",
    "👩\u{200d}👩\u{200d}👧",
    "🏳\u{fe0f}\u{200d}🌈",
    "🇩🇪",
    "1\u{fe0f}\u{20e3}",
    "👍🏽",
    "שלום",
    "مرحبا",
    "e\u{301}\u{323}",
    "नमस्ते",
];

fn samples() -> Vec<(&'static str, String)> {
    let all = WORDS.join(" ");
    let lines = |mark: &str| WORDS.map(|word| format!("{mark}{word}\n")).concat();
    let cells = WORDS.map(|word| format!("| {word} | **{word}** | `{word}` |\n")).concat();
    vec![
        ("paragraph", format!("{all} **{all}** *{all}* `{all}`\n\n[{all}](https://example.org)\n")),
        ("list", lines("- ")),
        ("numbers", lines("1. ")),
        ("quote", lines("> ")),
        ("heading", lines("## ")),
        ("code", format!("```text\n{}```\n", lines("\t"))),
        ("table", format!("| a | bold | code |\n|:--|:-:|--:|\n{cells}\nend\n")),
        ("deep", format!("> - {all}\n>   1. {all}\n>\n>      | {all} |\n>      |---|\n>      | {all} |\n")),
    ]
}

#[test]
fn other_scripts_cut_at_every_byte_end_as_the_whole() {
    for (name, src) in samples() {
        streams_to_the_whole(name, &src);
    }
}

/// On the way no word is shown more often than it came.
#[test]
fn no_word_is_seen_twice_on_the_way() {
    for (name, src) in samples() {
        let mut doc = windlass::ui::widget::markdown::Doc::default();
        for (cut, _) in src.char_indices() {
            let so_far = &src[..cut];
            doc.grow(so_far);
            let seen: String = rows(&doc, so_far, 200).into_iter().map(|row| row.text + "\n").collect();
            for word in WORDS {
                let (shown, came) = (seen.matches(word).count(), so_far.matches(word).count());
                assert!(shown <= came, "{name}: {word} {shown} times of {came} in {seen}");
            }
        }
    }
}

#[test]
fn other_scripts_stand_at_every_width() {
    for (name, src) in samples() {
        let doc = whole(&src);
        for columns in 1..=200 {
            let all = rows(&doc, &src, columns);
            for row in &all {
                assert!(width(&row.text) <= columns, "{name} at {columns}: {:?}", row.text);
            }
            let seen: String = all.iter().map(|row| row.content()).collect();
            let seen: Vec<&str> = clusters(&seen).collect();
            for word in WORDS {
                let parts: Vec<&str> = clusters(word).collect();
                // a cluster wider than the screen has a mark in its place
                let fits = parts.iter().all(|part| width(part) <= columns);
                let whole = |part: &&str| seen.iter().filter(|cluster| *cluster == part).count() >= 1;
                assert!(!fits || parts.iter().all(whole), "{name} at {columns}: {word} in {seen:?}");
            }
        }
    }
}

/// Where a table's bars stand: columns of each row.
fn bars(src: &str, columns: usize) -> Vec<Vec<usize>> {
    let doc = whole(src);
    let mut out = Vec::new();
    for row in rows(&doc, src, columns) {
        let (mut at, mut bars) = (0, Vec::new());
        for (piece, look) in row.pieces() {
            for cluster in clusters(piece) {
                if look.role == Role::Border && matches!(cluster, "│" | "┼") {
                    bars.push(at);
                }
                at += width(cluster);
            }
        }
        out.push(bars);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    /// The bars of a table stand below each other, whatever is in its cells.
    #[test]
    fn the_columns_of_a_table_are_straight(
        cells in prop::collection::vec(
            prop::collection::vec(prop_oneof!["[a-z ]{0,9}", proptest::sample::select(&WORDS[..]).prop_map(str::to_owned)], 3), 1..8),
        marks in prop::collection::vec(prop_oneof![Just("---"), Just(":-:"), Just("--:")], 3),
        columns in 1usize..200,
    ) {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let src = format!("| a | b | c |\n| {} |\n{}", marks.join(" | "), cells.iter().map(|row| line(row)).collect::<String>());
        let bars = bars(&src, columns);
        let folded = bars.iter().all(Vec::is_empty);
        prop_assert!(folded || bars.iter().all(|row| *row == bars[0] && row.len() == 2), "{:?}", bars);
        // three columns of 34 at most, and two bars
        prop_assert!(!folded || columns < 110);
        let doc = whole(&src);
        for row in rows(&doc, &src, columns) {
            prop_assert!(width(&row.text) <= columns, "{:?}", row.text);
        }
    }
}
