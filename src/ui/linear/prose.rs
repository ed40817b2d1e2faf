//! Markdown as plain lines to be heard: no boxes, no marks that are drawn, a table as `column: cell`.
//!
//! A block is said when it is whole, so nothing is said twice and nothing that was said changes.

use crate::ui::widget::markdown::{Container, Doc, Kind, lay};
use crate::ui::widget::row::Role;

/// Columns of a line: none is wrapped, for the reader does that.
const COLUMNS: usize = 1 << 14;

/// A text that streams, and how much of it was said.
#[derive(Default)]
pub struct Prose {
    doc: Doc,
    text: String,
    said: usize,
    /// Whether the last thing said was a line of code.
    code: bool,
}

impl Prose {
    /// Takes the text so far; the lines that can be said now. `whole`: it does not grow any more.
    /// A text that does not begin with what came before is another one.
    pub fn hear(&mut self, text: &str, whole: bool) -> Vec<String> {
        if !text.starts_with(&self.text) {
            *self = Self::default();
        }
        if whole {
            self.doc.finish(text);
        } else {
            self.doc.grow(text);
        }
        text.clone_into(&mut self.text);
        let mut out = Vec::new();
        for block in &self.doc.blocks()[self.said..self.doc.settled()] {
            let code = matches!(block.kind, Kind::Code { .. });
            if code != self.code {
                out.push(if code { "Code:" } else { "End of code." }.to_owned());
                self.code = code;
            }
            match &block.kind {
                Kind::Rule | Kind::FoldEnd => {}
                Kind::Table { first, .. } => {
                    let rows: Vec<&str> = self.doc.text(text, block).collect();
                    let first = self.doc.blocks().get(*first as usize).unwrap_or(block);
                    let head = self.doc.text(text, first).next().unwrap_or_default();
                    table(head, &rows, first.lines == block.lines, &mut out);
                }
                _ => {
                    let rows = lay(&self.doc, text, block, COLUMNS, Role::Text, &|_| None);
                    let quoted = !code && block.place.contains(&Container::Quote);
                    out.extend(
                        rows.iter()
                            .map(|row| said(if code { row.content() } else { &row.text }, code, quoted))
                            .filter(|line| !line.is_empty()),
                    );
                }
            }
        }
        self.said = self.doc.settled();
        if whole && std::mem::take(&mut self.code) {
            out.push("End of code.".to_owned());
        }
        out
    }
}

/// A row without what is only drawn.
fn said(row: &str, code: bool, quoted: bool) -> String {
    if code {
        return row.trim_end().to_owned();
    }
    let line = row.replace("▎ ", "").replace("☑ ", "done: ").replace("☐ ", "open: ");
    let line = line.replace(['•', '◦', '▪'], "-").replace(['▸', '▾'], "").replace('…', "...");
    let line = line.trim().trim_start_matches('#').trim_start();
    if quoted && !line.is_empty() { format!("Quote: {line}") } else { line.to_owned() }
}

/// Each row as its cells behind the names of their columns. `begins`: the header and the delimiters are among them.
fn table(head: &str, rows: &[&str], begins: bool, out: &mut Vec<String>) {
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let head = cells(head);
    if begins {
        out.push(format!("Table of {} column{}:", head.len(), if head.len() == 1 { "" } else { "s" }));
    }
    for row in rows.iter().skip(if begins { 2 } else { 0 }) {
        let pairs = cells(row).into_iter().enumerate().map(|(at, cell)| match head.get(at) {
            Some(name) if !name.is_empty() => format!("{name}: {cell}"),
            Some(_) | None => cell,
        });
        out.push(pairs.collect::<Vec<_>>().join("; "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Head\n\nSome **strong** `code`.\n\n- one\n- [x] two\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n\nEnd.";

    #[test]
    fn what_is_drawn_is_said_in_words() {
        let lines = Prose::default().hear(TEXT, true);
        assert_eq!(
            lines,
            [
                "Head",
                "Some strong code.",
                "- one",
                "done: two",
                "Quote: quoted",
                "Table of 2 columns:",
                "a: 1; b: 2",
                "Code:",
                "fn main() {}",
                "End of code.",
                "End.",
            ]
        );
    }

    #[test]
    fn what_streams_is_said_once_and_as_the_whole() {
        let whole = Prose::default().hear(TEXT, true);
        let mut prose = Prose::default();
        let mut said = Vec::new();
        for end in 0..TEXT.len() {
            said.extend(prose.hear(&TEXT[..end], false));
        }
        said.extend(prose.hear(TEXT, true));
        assert_eq!(said, whole);
        assert!(prose.hear(TEXT, true).is_empty());
    }
}
