//! Rows of one block at a width. A pure function of the text, the block, the width and the colours.

use super::blocks::{Block, Container, Doc, Kind, Mark};
use super::html::untagged;
use super::inline::inline;
use super::table;
use crate::ui::widget::row::{EMPHASIS, Look, Role, Row, STRONG};
use crate::ui::widget::text::{ellipsis, tame, tame_from, tame_line};
use crate::ui::widget::wrap::{Break, Piece, Prefix, Wrapper};

/// Before the summary of what is folded.
const FOLDED: &str = "▸ ";
/// Before the summary of what is not.
const UNFOLDED: &str = "▾ ";

/// Most columns of a note's label.
const LABEL_COLUMNS: usize = 16;

/// Colours of a line of code: where each role ends, in bytes of the line.
pub type Colours<'a> = &'a dyn Fn(u32) -> Option<&'a [(u32, Role)]>;

/// The rows of a block. `colours` tells those of a line (counted from the start of its block of
/// code), where they are known.
pub fn lay(
    doc: &Doc,
    src: &str,
    block: &Block,
    columns: usize,
    base: Role,
    colours: Colours<'_>,
) -> Vec<Row> {
    let mut out = Wrapper::new(columns);
    if block.kind == Kind::FoldEnd {
        return out.rows();
    }
    let prefix = prefix(block, src);
    if block.gap {
        let shared: Vec<Piece> = prefix.rest[..usize::from(block.fresh).min(prefix.rest.len())]
            .iter()
            .filter(|(text, _)| !text.trim().is_empty())
            .cloned()
            .collect();
        out.line(&Prefix { first: shared, rest: Vec::new() }, &[], Break::Anywhere);
    }
    let quoted = block.place.contains(&Container::Quote);
    let base = Look::from(if quoted { Role::Quote } else { base });
    match &block.kind {
        Kind::Paragraph => paragraph(&mut out, &prefix, inline(lines(doc, src, block), base)),
        Kind::Heading(level) => heading(&mut out, &prefix, *level, inline(lines(doc, src, block), base)),
        Kind::Rule => {
            let width = columns.min(40);
            out.line(&prefix, &[("─".repeat(width), Role::Border.into())], Break::Anywhere);
        }
        Kind::Code { line, .. } => code(&mut out, &prefix, doc, src, block, *line, colours),
        Kind::Literal => {
            let mut prefix = prefix;
            for line in doc.text(src, block) {
                let (shown, tabs) = tame_line(line);
                out.tabs(tabs);
                let piece = (shown.into_owned(), Look { role: Role::Dim, ..base });
                out.line(&prefix, &[piece], Break::Anywhere);
                prefix = prefix.hanging();
            }
        }
        Kind::Table { first, widths } => {
            let rows: Vec<&str> = doc.text(src, block).collect();
            let first = doc.blocks().get(*first as usize).unwrap_or(block);
            let head: Vec<&str> = doc.text(src, first).take(2).collect();
            let begins = first.lines == block.lines;
            let rows = rows.get(if begins { 2 } else { 0 }..).unwrap_or_default();
            table::lay(&mut out, &prefix, (&head, rows, begins), widths, base);
        }
        Kind::Held(before) => {
            let head = if *before == 0 { 2 } else { 0 };
            let rows = *before as usize + block.lines.len().saturating_sub(head);
            let word = if rows == 1 { "row" } else { "rows" };
            out.line(&prefix, &[(format!("table · {rows} {word} …"), Role::Dim.into())], Break::Words);
        }
        Kind::Fold => {
            let text = untagged(lines(doc, src, block));
            let text = if text.is_empty() { "details" } else { &text };
            let mut line = vec![(FOLDED.to_owned(), Role::Accent.into())];
            line.extend(inline(std::iter::once(text), base.with(STRONG)).concat());
            out.line(&prefix, &line, Break::Words);
        }
        Kind::Unread(bytes) => {
            let words = format!("{} KB before this are being read …", bytes / 1_000);
            out.line(&prefix, &[(words, Role::Dim.into())], Break::Words);
        }
        Kind::Empty | Kind::FoldEnd => out.line(&prefix, &[], Break::Words),
    }
    out.rows()
}

/// Columns in which no cell of a table is wrapped.
const WIDE: usize = 4_096;

/// Adds the lines that a block shows, as if there were room for each: what a search looks into.
pub fn words(doc: &Doc, src: &str, block: &Block, out: &mut String) {
    let mut add = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    match &block.kind {
        Kind::Code { .. } | Kind::Literal => doc.text(src, block).for_each(add),
        Kind::Paragraph | Kind::Heading(_) => {
            for line in inline(lines(doc, src, block), Look::default()) {
                line.iter().for_each(|(text, _)| out.push_str(text));
                out.push('\n');
            }
        }
        Kind::Fold => add(&untagged(lines(doc, src, block))),
        Kind::Table { .. } => {
            lay(doc, src, block, WIDE, Role::Text, &|_| None).iter().for_each(|row| add(row.content()));
        }
        Kind::Rule | Kind::FoldEnd | Kind::Held(_) | Kind::Empty | Kind::Unread(_) => {}
    }
}

/// The rows of what can be folded, or stands in it, as it is when it is not folded.
pub fn unfolded(block: &Block, mut rows: Vec<Row>) -> Vec<Row> {
    let head = rows.iter_mut().find(|row| block.kind == Kind::Fold && row.content().starts_with(FOLDED));
    if let Some(row) = head {
        let at = row.indent as usize;
        row.text.replace_range(at..at + FOLDED.len(), UNFOLDED);
    }
    rows
}

fn lines<'a>(doc: &'a Doc, src: &'a str, block: &Block) -> impl Iterator<Item = &'a str> + Clone + 'a {
    block.lines.clone().map(move |index| doc.line(src, index))
}

fn paragraph(out: &mut Wrapper, prefix: &Prefix, lines: Vec<Vec<Piece>>) {
    let mut prefix = prefix.clone();
    for line in lines {
        out.line(&prefix, &line, Break::Words);
        prefix = prefix.hanging();
    }
}

fn heading(out: &mut Wrapper, prefix: &Prefix, level: u8, lines: Vec<Vec<Piece>>) {
    let flag = if level <= 2 { STRONG } else { EMPHASIS };
    let dress = |(text, look): Piece| {
        let role = if look.role == Role::Code || look.role == Role::Link { look.role } else { Role::Heading };
        (text, Look { role, ..look }.with(flag))
    };
    let marks = "#".repeat(usize::from(level));
    let mut lines: Vec<Vec<Piece>> =
        lines.into_iter().map(|line| line.into_iter().map(dress).collect()).collect();
    if let Some(first) = lines.first_mut() {
        first.insert(0, (format!("{marks} "), Look::from(Role::Heading).with(flag)));
    }
    paragraph(out, prefix, lines);
}

fn code(
    out: &mut Wrapper,
    prefix: &Prefix,
    doc: &Doc,
    src: &str,
    block: &Block,
    from: u32,
    colours: Colours<'_>,
) {
    out.ground(Role::CodeBlock);
    let pad = |mut pieces: Vec<Piece>| {
        pieces.push((" ".into(), Role::CodeBlock.into()));
        pieces
    };
    let mut prefix = Prefix { first: pad(prefix.first.clone()), rest: pad(prefix.rest.clone()) };
    if block.lines.is_empty() {
        out.line(&prefix, &[], Break::Anywhere);
    }
    for (offset, line) in doc.text(src, block).enumerate() {
        let pieces = match colours(from + offset as u32) {
            Some(runs) => coloured(line, runs),
            None => vec![(tame(line).into_owned(), Role::CodeBlock.into())],
        };
        if line.contains('\t') {
            out.tabs(tame_line(line).1);
        }
        out.line(&prefix, &pieces, Break::Anywhere);
        prefix = prefix.hanging();
    }
}

fn coloured(line: &str, runs: &[(u32, Role)]) -> Vec<Piece> {
    let (mut pieces, mut from) = (Vec::with_capacity(runs.len()), 0);
    let mut column = 0;
    for (end, role) in runs {
        let end = (*end as usize).min(line.len());
        let Some(text) = line.get(from..end) else { break };
        from = end;
        if text.is_empty() {
            continue;
        }
        pieces.push((tame_from(text, &mut column), Look::from(*role)));
    }
    if let Some(text) = line.get(from..).filter(|text| !text.is_empty()) {
        pieces.push((tame_from(text, &mut column), Role::CodeBlock.into()));
    }
    pieces
}

/// The marks and bars of what a block stands in.
fn prefix(block: &Block, src: &str) -> Prefix {
    let mut out = Prefix::default();
    let mut depth = 0;
    for (index, container) in block.place.iter().enumerate() {
        match container {
            Container::Quote => {
                out.first.push(("▎ ".into(), Role::Quote.into()));
                out.rest.push(("▎ ".into(), Role::Quote.into()));
            }
            Container::Item { .. } | Container::Note { .. } => {
                let text = match container {
                    Container::Item { mark: Mark::Number(number), .. } => format!("{number}. "),
                    Container::Item { mark: Mark::Task(true), .. } => "☑ ".into(),
                    Container::Item { mark: Mark::Task(false), .. } => "☐ ".into(),
                    Container::Note { label: (from, to) } => {
                        let label = src.get(*from as usize..*to as usize).unwrap_or_default();
                        format!("[{}] ", ellipsis(&tame(label), LABEL_COLUMNS))
                    }
                    Container::Item { mark: Mark::Bullet, .. } | Container::Quote => {
                        format!("{} ", ["•", "◦", "▪"][depth % 3])
                    }
                };
                depth += usize::from(matches!(container, Container::Item { .. }));
                let blank = " ".repeat(crate::ui::widget::text::width(&text));
                let fresh = index >= usize::from(block.fresh);
                let first =
                    if fresh { (text, Role::Accent.into()) } else { (blank.clone(), Look::default()) };
                out.first.push(first);
                out.rest.push((blank, Look::default()));
            }
        }
    }
    out
}
