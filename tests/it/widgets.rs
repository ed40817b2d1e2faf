//! Each widget at every width from 1 to 200: what it shows fits, and nothing is lost.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use windlass::api::screen::{Run, Screen, Size, Style as Look};
use windlass::ui::widget::diff::{Diff, Shape};
use windlass::ui::widget::markdown::{Doc, lay};
use windlass::ui::widget::plain::{self, Pieces, Reading};
use windlass::ui::widget::row::{Role, Row};
use windlass::ui::widget::terminal;
use windlass::ui::widget::text::{ellipsis, fit, width};
use windlass::ui::widget::wrap::{Break, Prefix, Wrapper};

const WIDTHS: std::ops::RangeInclusive<usize> = 1..=200;

/// Everything that Markdown can be, in one text.
const MARKDOWN: &str = "# Head *one* `two`\n\nA paragraph with **bold words**, a [link](https://example.org/a/long/path), 日本語 \
and anextremelylongwordthatdoesnotfitintoanyrowofanarrowscreenbutmustbeseen.\n\n1. first\n   - nested\n     > quoted\n     >\n\
     > ```rust\n     > fn main() { println!(\"{}\", 1); }\n     > ```\n2. second\n- [x] done\n- [ ] open\n\n\
| key | value | number |\n|:--|:-:|--:|\n| 日本 | a long value that is to be wrapped | 1 |\n| `x` | 👩\u{200d}👧 | 22222 |\n\n\
---\n<details>\n<summary>Sum</summary>\ninside\n</details>\n\n    indented code\n\nend\n";

const DIFF: &str = "--- a/x.rs\n+++ b/x.rs\n@@ -9,4 +9,3 @@ fn of()\n fn a() {\n-    let old = 1; // 日本語 and a comment that is long\n\
+    let new = 1; // 日本語 and a comment that is longer\n-\tgone\n }\n@@ -30 +30,2 @@\n same\n+more 👩\u{200d}👧\n\
\\ No newline at end of file\n";

fn letters<'a>(rows: impl Iterator<Item = &'a str>) -> String {
    rows.flat_map(str::chars).filter(|c| c.is_alphanumeric()).collect()
}

/// Rows fit, their places grow, and drawn they leave what is beside them alone.
fn stand(what: &str, rows: &[Row], columns: usize) {
    let theme = windlass::ui::theme::Theme::default();
    let mut before: Option<u32> = None;
    for row in rows {
        assert!(width(&row.text) <= columns, "{what} at {columns}: {:?}", row.text);
        assert!(before.is_none_or(|before| before < row.at), "{what} at {columns}: places do not grow");
        before = Some(row.at);
        assert_eq!(
            row.runs.last().map_or(0, |(end, _)| *end as usize),
            row.text.len(),
            "{what} at {columns}"
        );
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns as u16 + 2, 1));
        buffer.set_string(columns as u16, 0, "||", Style::default());
        row.draw(&mut buffer, 0, 0, columns as u16, &theme);
        let beside: String = (columns..columns + 2).map(|x| buffer[(x as u16, 0)].symbol()).collect();
        assert_eq!(beside, "||", "{what} at {columns}: {:?}", row.text);
    }
}

#[test]
fn markdown_stands_at_every_width() {
    let mut doc = Doc::default();
    doc.finish(MARKDOWN);
    let at = |columns| -> Vec<Row> {
        let mut out = Vec::new();
        for block in doc.blocks() {
            let rows = lay(&doc, MARKDOWN, block, columns, Role::Text, &|_| None);
            stand("markdown", &rows, columns);
            out.extend(rows);
        }
        out
    };
    for columns in WIDTHS {
        let seen = letters(at(columns).iter().map(|row| row.text.as_str()));
        for word in
            ["anextremelylongwordthatdoesnotfit", "quoted", "println", "22222", "indentedcode", "inside"]
        {
            assert!(seen.contains(word), "{word} at {columns}: {seen}");
        }
    }
}

#[test]
fn a_diff_stands_at_every_width() {
    let diff = Diff::read(DIFF);
    for (columns, shape) in WIDTHS.flat_map(|columns| [(columns, Shape::Unified), (columns, Shape::Sides)]) {
        let lay = |piece| {
            diff.lay(DIFF, piece, columns, shape, &|_, _| Some(&[(2, Role::Keyword), (9, Role::String)]))
        };
        let rows: Vec<Row> = (0..diff.pieces()).flat_map(lay).collect();
        stand("diff", &rows, columns);
        let seen = letters(rows.iter().map(|row| row.text.as_str()));
        for letter in ["old", "new", "gone", "more"].iter().flat_map(|word| word.chars()) {
            assert!(seen.contains(letter), "{letter} at {columns}: {seen}");
        }
    }
}

#[test]
fn plain_text_stands_at_every_width() {
    let text = "one two  three\n\tfour 日本語 \x1b[31mfive\x1b[m\n\nsix\u{202e}seven";
    let pieces = Pieces::of(text);
    for (columns, reading) in
        WIDTHS.flat_map(|columns| [(columns, Reading::Prose), (columns, Reading::Output)])
    {
        let mut out = Wrapper::new(columns);
        let prefix = Prefix {
            first: vec![("❯ ".into(), Role::Accent.into())],
            rest: vec![("  ".into(), Role::Text.into())],
        };
        for piece in 0..pieces.len() {
            plain::lay(&mut out, &prefix, pieces.text(text, piece), Role::Text, reading);
        }
        let rows = out.rows();
        stand("plain", &rows, columns);
        let seen = letters(rows.iter().map(|row| row.text.as_str()));
        assert!(seen.contains("threefour") && seen.contains("five") && seen.contains("seven"), "{seen}");
    }
}

#[test]
fn what_is_cut_stands_at_every_width() {
    let text = "a日本語👩\u{200d}👧e\u{301} text";
    for columns in WIDTHS {
        assert!(fit(text, columns).1 <= columns && width(&ellipsis(text, columns)) <= columns);
        let mut out = Wrapper::new(columns);
        out.line(&Prefix::default(), &[(text.into(), Role::Text.into())], Break::Anywhere);
        stand("wrap", &out.rows(), columns);
    }
}

#[test]
fn a_picture_stands_at_every_width() {
    let line = Arc::new(vec![Run { text: "日本 and 👩 text ".repeat(20), style: Look::default() }]);
    let picture = Screen { size: Size { rows: 1, cols: 160 }, lines: vec![line], ..Screen::default() };
    for columns in WIDTHS {
        let columns = columns as u16;
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns + 1, 1));
        buffer.set_string(columns, 0, "|", Style::default());
        terminal::draw(&picture, Rect::new(0, 0, columns, 1), &mut buffer, Style::default());
        assert_eq!(buffer[(columns, 0)].symbol(), "|", "at {columns}");
    }
}
