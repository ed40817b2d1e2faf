//! Markdown held by texts that others wrote: the examples of CommonMark, read as it says and cut at every
//! byte; the same for scripts of other widths and directions, and for tables of them.

mod examples;
mod reading;
mod scripts;

use examples::{Example, examples};
use windlass::ui::widget::markdown::{Block, Doc, lay};
use windlass::ui::widget::row::{Role, Row};
use windlass::ui::widget::text::width;

/// The files of examples, and how many of them there are at least.
const FILES: [(&str, usize); 7] = [
    ("spec", 652),
    ("table", 28),
    ("gfm_table", 9),
    ("gfm_tasklist", 2),
    ("gfm_strikethrough", 3),
    ("footnotes", 26),
    ("regression", 212),
];

/// What we read otherwise than pulldown-cmark does, and why.
const OTHERWISE: [(&str, &str); 9] = [
    ("table_test_13", "a table may follow a line of text, as on GitHub"),
    ("table_test_15", "a backslash at the end of a head is no hard break"),
    ("table_test_17", "a cell too many is shown in the last column: nothing is lost"),
    ("table_test_19", "a lone bar is an empty row"),
    ("table_test_20", "a lone bar is an empty row"),
    ("gfm_table_test_7", "a cell too many is shown in the last column: nothing is lost"),
    ("regression_test_23", "a table may follow a line of text, as on GitHub"),
    ("regression_test_48", "a control character is made visible"),
    ("regression_test_66", "a tag over lines whose second begins with `=`"),
];

/// The whole text, read at once.
pub fn whole(src: &str) -> Doc {
    let mut doc = Doc::default();
    doc.finish(src);
    doc
}

/// The rows of what was read.
pub fn rows(doc: &Doc, src: &str, columns: usize) -> Vec<Row> {
    doc.blocks().iter().flat_map(|block| lay(doc, src, block, columns, Role::Text, &|_| None)).collect()
}

/// The blocks, each with its lines.
fn read<'a>(doc: &'a Doc, src: &'a str) -> Vec<(&'a Block, Vec<&'a str>)> {
    doc.blocks().iter().map(|block| (block, doc.text(src, block).collect())).collect()
}

/// As much of a text as is whole characters in its first `cut` bytes.
fn head(src: &str, mut cut: usize) -> &str {
    while !src.is_char_boundary(cut) {
        cut -= 1;
    }
    &src[..cut]
}

/// Cut anywhere, a text ends as it would read at once; what stands on the way depends on the text alone,
/// and what is settled stays.
pub fn streams_to_the_whole(name: &str, src: &str) {
    let (all, mut streamed) = (whole(src), Doc::default());
    let end = read(&all, src);
    for cut in 0..=src.len() {
        let so_far = head(src, cut);
        let mut fresh = Doc::default();
        fresh.grow(so_far);
        streamed.grow(so_far);
        assert_eq!(read(&streamed, so_far), read(&fresh, so_far), "{name}: {so_far:?}");
        let settled = streamed.settled();
        assert_eq!(read(&streamed, so_far)[..settled], end[..settled], "{name}: settled in {so_far:?}");
        fresh.finish(src);
        assert_eq!(read(&fresh, src), end, "{name}: cut behind {so_far:?}");
    }
    streamed.finish(src);
    assert_eq!(read(&streamed, src), end, "{name}: by characters");
    for columns in [20, 80] {
        assert_eq!(rows(&streamed, src, columns), rows(&all, src, columns), "{name}");
    }
}

#[test]
fn the_examples_of_commonmark_are_read_as_it_says() {
    let mut wrong = Vec::new();
    for (file, least) in FILES.iter().filter(|(file, _)| *file != "footnotes") {
        let all = examples(file);
        assert!(all.len() >= *least, "{file}: {} examples", all.len());
        for Example { name, text } in all {
            // what a definition names is known only when it has come; notes and what folds are no CommonMark
            let beyond = ["]:", "[^", "<details"].iter().any(|mark| text.contains(mark));
            let listed = OTHERWISE.iter().any(|(other, _)| *other == name);
            let (ours, theirs) = (reading::ours(&text), reading::theirs(&text));
            if (ours == theirs) == listed && !beyond {
                wrong.push(format!("{name}: {text:?}\nours:   {ours:?}\ntheirs: {theirs:?}\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_examples_of_commonmark_cut_at_every_byte_end_as_the_whole() {
    for (file, least) in FILES {
        let all = examples(file);
        assert!(all.len() >= least, "{file}: {} examples", all.len());
        for Example { name, text } in all {
            // a few are long, and the cuts of a text cost its square
            let text = head(&text, text.len().min(1_500));
            streams_to_the_whole(&name, text);
        }
    }
}

#[test]
fn every_example_stands_at_every_width() {
    for (file, _) in FILES {
        for Example { name, text } in examples(file) {
            let doc = whole(&text);
            for columns in (1..=24).chain([80, 200]) {
                for row in rows(&doc, &text, columns) {
                    assert!(width(&row.text) <= columns, "{name} at {columns}: {:?}", row.text);
                    assert!(row.indent as usize <= row.text.len(), "{name} at {columns}: {row:?}");
                }
            }
        }
    }
}
