//! Cells and places of a line agree, words are what people mean by them, a caret goes everywhere once.

use proptest::prelude::*;

use super::*;

/// Lines of these texts, wrapped at a width.
struct Lines(Vec<Line>);

fn wrapped(text: &str, width: usize) -> Line {
    let (shown, tabs) = crate::ui::widget::text::tame_line(text);
    let (mut rows, mut used, mut at) = (vec![0], 0, 0);
    for cluster in clusters(&shown) {
        let wide = cluster_width(cluster);
        if used + wide > width && used > 0 {
            rows.push(at);
            used = 0;
        }
        used += wide;
        at += cluster.len() as u32;
    }
    Line { text: shown.into_owned(), rows, tabs }
}

impl Lined for Lines {
    type At = usize;
    fn order(&self, one: usize, other: usize) -> Ordering {
        one.cmp(&other)
    }
    fn line(&mut self, at: usize) -> Option<Line> {
        self.0.get(at).cloned()
    }
    fn after(&mut self, at: usize) -> Option<usize> {
        (at + 1 < self.0.len()).then_some(at + 1)
    }
    fn before(&mut self, at: usize) -> Option<usize> {
        at.checked_sub(1)
    }
}

#[test]
fn a_word_is_a_path_or_an_address_without_the_stop_behind_it() {
    let word = |text: &str, at: usize| {
        let line = wrapped(text, 500);
        let bytes = line.word(line.cluster(at as u32));
        text[bytes.start as usize..bytes.end as usize].to_owned()
    };
    for (text, at, wanted) in [
        ("see src/lexer.rs:41:7.", 6, "src/lexer.rs:41:7"),
        ("(https://a.example/x?y=1&z=%20#top)", 9, "https://a.example/x?y=1&z=%20#top"),
        ("an end. And", 4, "end"),
        ("call skip_comments(depth)", 6, "skip_comments"),
        ("a  b", 1, "  "),
        ("x == y", 3, "=="),
        ("naïve Straße 日本語", 8, "Straße"),
        ("\"quoted\"", 0, "\""),
        ("e\u{301}tude!", 0, "e\u{301}tude"),
    ] {
        assert_eq!(word(text, at), wanted, "{text}");
    }
}

#[test]
fn clicks_are_counted_where_they_fall_together() {
    let mut picker = Picker::<usize>::default();
    let ms = Millis;
    assert_eq!(picker.clicks((3, 3), ms(1_000)), 1);
    assert_eq!(picker.clicks((4, 3), ms(1_300)), 2);
    assert_eq!(picker.clicks((4, 3), ms(1_600)), 3);
    assert_eq!(picker.clicks((4, 3), ms(1_900)), 1);
    assert_eq!(picker.clicks((4, 4), ms(2_000)), 1, "another row");
    assert_eq!(picker.clicks((4, 4), ms(2_500)), 1, "too late");
}

fn text() -> impl Strategy<Value = String> {
    "([a-z]{1,9}|日本|👩\u{200d}👧|🇩🇪|❤\u{fe0f}|e\u{301}|\t| |\\.|\u{5e9}\u{5dc}){0,30}"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_cell_is_of_the_cluster_that_is_shown_there(text in text(), width in 2usize..40) {
        let line = wrapped(&text, width);
        let mut at = 0;
        for cluster in clusters(&line.text) {
            let (row, column) = line.place(at);
            for over in 0..cluster_width(cluster) {
                prop_assert_eq!(line.cell(row, column + over), at..at + cluster.len() as u32);
            }
            at += cluster.len() as u32;
        }
    }
    #[test]
    fn what_is_cut_is_the_source(text in text(), width in 2usize..40, a in 0usize..40, b in 0usize..40) {
        let line = wrapped(&text, width);
        // where each cluster of the source is shown
        let (mut shown, mut column, mut places) = (0u32, 0, vec![]);
        for cluster in clusters(&text) {
            places.push(shown);
            let tab = cluster == "\t";
            let wide = if tab { 4 - column % 4 } else { cluster_width(cluster) };
            shown += if tab { wide as u32 } else { cluster.len() as u32 };
            column += wide;
        }
        places.push(shown);
        prop_assert_eq!(shown, line.len());
        let whole: Vec<&str> = clusters(&text).collect();
        let (a, b) = (a.min(whole.len()), b.min(whole.len()));
        let (a, b) = (a.min(b), a.max(b));
        prop_assert_eq!(line.cut(places[a]..places[b]), whole[a..b].concat());
    }
    #[test]
    fn a_caret_meets_every_cluster_once_on_the_way(texts in prop::collection::vec(text(), 1..5), width in 2usize..30) {
        let mut lines = Lines(texts.iter().map(|text| wrapped(text, width)).collect());
        let mut all = Vec::new();
        for (line, of) in lines.0.iter().enumerate() {
            let mut byte = 0;
            if of.is_empty() {
                all.push(Point { line, byte });
            }
            for cluster in clusters(&of.text) {
                all.push(Point { line, byte });
                byte += cluster.len() as u32;
            }
        }
        let mut goal = None;
        let mut at = all[0];
        for wanted in &all {
            prop_assert_eq!(at, *wanted);
            at = step(&mut lines, at, &mut goal, Step::Right);
        }
        for wanted in all.iter().rev() {
            prop_assert_eq!(at, *wanted);
            at = step(&mut lines, at, &mut goal, Step::Left);
        }
        // down and up by rows come back to where they began, and every step ends at a cluster
        let steps = [Step::Rows(1), Step::Word, Step::End, Step::Rows(7), Step::WordBack, Step::Begin, Step::Rows(-2)];
        for how in steps {
            at = step(&mut lines, at, &mut goal, how);
            prop_assert!(all.contains(&at), "{:?}: {:?}", how, at);
        }
    }
}
