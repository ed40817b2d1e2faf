//! What an approval shows: the exact command, or the diff, as rows. Nothing in it can hide: control,
//! bidirectional and zero-width characters are escaped before anything else looks at the text.
//!
//! A long diff is laid out as far as it is looked at.

use crate::api::access::Preview;
use crate::ui::widget::diff::{Colours, Diff, Shape};
use crate::ui::widget::row::{Look, Role, Row, STRONG};
use crate::ui::widget::text::visible;
use crate::ui::widget::wrap::{Break, Prefix, Wrapper};

/// Rows for a width, and what is still to be laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct Laid {
    columns: usize,
    shape: Shape,
    rows: Vec<Row>,
    /// A diff, made visible, with the next of its pieces.
    diff: Option<(String, Diff, usize)>,
}

impl PartialEq for Laid {
    fn eq(&self, other: &Self) -> bool {
        (self.columns, self.shape, &self.rows) == (other.columns, other.shape, &other.rows)
    }
}

impl Eq for Laid {}

impl Laid {
    /// Lays out for a width and a shape, if it is not laid out for them; at least the first `wanted` rows.
    pub(super) fn lay(
        &mut self,
        preview: &Preview,
        (columns, shape): (usize, Shape),
        wanted: usize,
        colours: Colours<'_>,
    ) {
        if self.shape != shape {
            self.shape = shape;
            self.again();
        }
        if self.columns != columns {
            *self = Self { columns, shape, ..Self::default() };
            match preview {
                Preview::Command { command, cwd } => {
                    self.rows = command_rows(command, &cwd.to_string_lossy(), columns);
                }
                Preview::Diff { diff } => {
                    let text = visible(diff).into_owned();
                    let read = Diff::read(&text);
                    self.diff = Some((text, read, 0));
                }
                Preview::Text { text } => self.rows = plain_rows(text, columns),
            }
        }
        while let Some((text, diff, next)) = &mut self.diff {
            if self.rows.len() >= wanted || *next >= diff.pieces() {
                break;
            }
            self.rows.extend(diff.lay(text, *next, columns, shape, colours));
            *next += 1;
        }
    }
    /// A diff is laid out anew: its colours have come, or its shape is another.
    pub(super) fn again(&mut self) {
        if let Some((_, _, next)) = &mut self.diff {
            *next = 0;
            self.rows.clear();
        }
    }
    /// The diff, the text that it is of, and how many of its pieces are laid out.
    pub(super) fn diff(&self) -> Option<(&Diff, &str, usize)> {
        self.diff.as_ref().map(|(text, diff, next)| (diff, text.as_str(), *next))
    }
    /// The rows so far.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
    /// Whether these are all.
    pub(super) fn whole(&self) -> bool {
        self.diff.as_ref().is_none_or(|(_, diff, next)| *next >= diff.pieces())
    }
}

fn command_rows(command: &str, cwd: &str, columns: usize) -> Vec<Row> {
    let mut out = Wrapper::new(columns);
    let strong = Look::from(Role::Text).with(STRONG);
    for (at, line) in command.split('\n').enumerate() {
        let mark = if at == 0 { "$ " } else { "  " };
        let prefix = Prefix {
            first: vec![(mark.to_owned(), Role::User.into())],
            rest: vec![("  ".to_owned(), Role::Dim.into())],
        };
        out.line(&prefix, &[(visible(line).into_owned(), strong)], Break::Blanks);
    }
    let place = format!("in {}", visible(cwd).replace('\n', "␊"));
    out.line(&Prefix::default(), &[(place, Role::Dim.into())], Break::Anywhere);
    out.rows()
}

fn plain_rows(text: &str, columns: usize) -> Vec<Row> {
    let mut out = Wrapper::new(columns);
    for line in text.split('\n') {
        out.line(&Prefix::default(), &[(visible(line).into_owned(), Role::Text.into())], Break::Words);
    }
    out.rows()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rows: &[Row]) -> String {
        rows.iter().map(|row| format!("{}\n", row.text)).collect()
    }

    #[test]
    fn nothing_hides_in_a_command_or_in_a_diff() {
        let evil = "rm \u{202e}fdp.x\u{200b}\u{1b}[2K\r";
        let command = Preview::Command { command: evil.to_owned(), cwd: "/a\nb".into() };
        let diff = Preview::Diff { diff: format!("@@ -1 +1 @@\n-{evil}\n+{evil}\n") };
        for preview in [command, diff, Preview::Text { text: evil.to_owned() }] {
            let mut laid = Laid::default();
            laid.lay(&preview, (60, Shape::ByWidth), 100, &|_, _| None);
            let shown = text(laid.rows());
            for hidden in ['\u{202e}', '\u{200b}', '\u{1b}', '\r'] {
                assert!(!shown.contains(hidden), "{hidden:?} in {shown}");
            }
            for told in ["U+202E", "U+200B", "␛", "␍"] {
                assert!(shown.contains(told), "{told} is not in {shown}");
            }
        }
    }

    #[test]
    fn a_wrapped_command_is_shown_whole() {
        let command = "echo ".to_owned() + &"x".repeat(500) + "; rm -rf /";
        let mut laid = Laid::default();
        let preview = Preview::Command { command: command.clone(), cwd: "/".into() };
        laid.lay(&preview, (20, Shape::ByWidth), 1, &|_, _| None);
        let rows = laid.rows();
        let back: String = rows[..rows.len() - 1].iter().map(Row::content).collect();
        assert_eq!(back, command);
    }

    #[test]
    fn a_long_diff_is_laid_out_as_far_as_it_is_looked_at() {
        let body: String = (0..20_000).map(|n| format!("+line {n}\n")).collect();
        let preview = Preview::Diff { diff: format!("@@ -0,0 +1,20000 @@\n{body}") };
        let mut laid = Laid::default();
        laid.lay(&preview, (80, Shape::ByWidth), 30, &|_, _| None);
        assert!(laid.rows().len() < 200 && !laid.whole());
        laid.lay(&preview, (80, Shape::ByWidth), usize::MAX, &|_, _| None);
        assert_eq!(laid.rows().len(), 20_000);
        assert!(laid.whole());
    }

    #[test]
    fn a_diff_changes_its_shape_and_takes_its_colours() {
        let preview =
            Preview::Diff { diff: "+++ b/x.rs\n@@ -1 +1 @@\n-let old = 1;\n+let new = 1;\n".to_owned() };
        let mut laid = Laid::default();
        laid.lay(&preview, (160, Shape::ByWidth), 30, &|_, _| None);
        assert!(laid.rows().iter().any(|row| row.text.contains("old") && row.text.contains("new")));
        laid.lay(&preview, (160, Shape::Unified), 30, &|_, _| None);
        assert!(!laid.rows().iter().any(|row| row.text.contains("old") && row.text.contains("new")));
        laid.again();
        laid.lay(&preview, (160, Shape::Unified), 30, &|_, _| Some(&[(3, Role::Keyword)]));
        let keywords =
            laid.rows().iter().flat_map(Row::pieces).filter(|(_, look)| look.role == Role::Keyword);
        assert_eq!(keywords.map(|(text, _)| text).collect::<Vec<_>>(), ["let", "let"]);
    }
}
