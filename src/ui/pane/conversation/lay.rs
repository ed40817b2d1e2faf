//! Rows of one block of one item, laid out when they are needed and kept in the cache.

use std::rc::Rc;

use super::cache::Cache;
use super::colours::Colours;
use super::item::{Body, Call, Ended, Head, Item, one_line};
use crate::api::entry::{CallSettle, CallStatus, Delivery, Details, EntryBody, TodoItem, TodoState};
use crate::ui::widget::diff::{self, Diff, Shape};
use crate::ui::widget::markdown;
use crate::ui::widget::plain::{self, Pieces, Reading};
use crate::ui::widget::row::{Look, Role, Row, STRIKE, STRONG};
use crate::ui::widget::scroll::Layout;
use crate::ui::widget::text::{ellipsis, output_line, tame};
use crate::ui::widget::wrap::{Break, Piece, Prefix, Wrapper};

/// Columns that a call's row and what it opens to are indented by.
const INDENT: &str = "  ";
/// What a diff is indented by.
const DIFF_INDENT: &str = "    ";
/// Blocks of a call before what it opens to: its row, and what is always said.
pub(super) const CALL_BLOCKS: usize = 2;

/// The items with all that laying them out needs.
pub(super) struct Lay<'a> {
    pub items: &'a mut [Item],
    pub cache: &'a mut Cache,
    pub colours: &'a Colours,
    /// What all items were last told to be: open or folded.
    pub all: Option<bool>,
    /// How diffs are shown.
    pub shape: Shape,
}

impl Layout for Lay<'_> {
    fn items(&self) -> usize {
        self.items.len()
    }
    fn blocks(&mut self, item: usize) -> usize {
        let open = self.open(item);
        match self.items.get_mut(item) {
            Some(item) => blocks(item, open),
            None => 0,
        }
    }
    fn height(&mut self, item: usize, block: usize) -> usize {
        self.rows(item, block).len()
    }
    fn at(&mut self, item: usize, block: usize, row: usize) -> u32 {
        self.rows(item, block).get(row).map_or(0, |row| row.at)
    }
    fn row(&mut self, item: usize, block: usize, at: u32) -> usize {
        self.rows(item, block).partition_point(|row| row.at <= at).saturating_sub(1)
    }
}

impl Lay<'_> {
    /// Whether an item is open.
    pub fn open(&self, item: usize) -> bool {
        self.items.get(item).is_some_and(|item| item.open.or(self.all).unwrap_or_else(|| item.opens_itself()))
    }
    /// The rows of a block.
    pub fn rows(&mut self, item: usize, block: usize) -> Rc<[Row]> {
        let open = self.open(item);
        let columns = self.cache.width();
        let Some(item) = self.items.get_mut(item) else { return Rc::from([]) };
        if let Some(rows) = self.cache.get(item.id, block) {
            return rows;
        }
        let mut rows = lay(item, block, open, (columns, self.shape), self.colours);
        if block == 0 && item.gap && !rows.is_empty() {
            rows.iter_mut().for_each(|row| row.at += 1);
            rows.insert(0, Row::default());
        }
        let rows: Rc<[Row]> = Rc::from(rows);
        self.cache.put(item.id, block, Rc::clone(&rows));
        rows
    }
}

fn blocks(item: &mut Item, open: bool) -> usize {
    match &mut item.body {
        Body::User { entry, pieces } => {
            let text = user_text(&entry.body);
            pieces.get_or_insert_with(|| Pieces::of(text)).len() + 1
        }
        Body::Prose { source, doc, head } => {
            if head.is_some() && !open {
                return 1;
            }
            finish(source, doc);
            doc.blocks().len() + usize::from(head.is_some())
        }
        Body::Call(call) if open => CALL_BLOCKS + body_blocks(call) + 1,
        Body::Call(_) => CALL_BLOCKS,
        // its line, its last lines, where all of it is
        Body::Report(report) => report.blocks(open),
        Body::Ended(ended) if open => ended.pieces().len() + 2,
        Body::Ended(_) => 1,
        Body::Words { .. } => 1,
    }
}

fn finish(source: &super::item::Source, doc: &mut markdown::Doc) {
    if !matches!(source, super::item::Source::Live(_)) && !doc.finished() {
        doc.finish_from_its_end(source.text());
    }
}

fn user_text(body: &EntryBody) -> &str {
    match body {
        EntryBody::User(message) => &message.text,
        _ => "",
    }
}

/// Columns that the diff of a call has, of those that the conversation has.
pub(super) fn diff_columns(columns: usize) -> usize {
    columns.saturating_sub(DIFF_INDENT.len()).max(1)
}

fn lay(
    item: &mut Item,
    block: usize,
    open: bool,
    (columns, shape): (usize, Shape),
    colours: &Colours,
) -> Vec<Row> {
    let id = item.id;
    match &mut item.body {
        Body::User { entry, pieces } => {
            let pieces = pieces.get_or_insert_with(|| Pieces::of(user_text(&entry.body)));
            user(&entry.body, pieces, block, columns)
        }
        Body::Prose { source, doc, head } => {
            let block = match (head.as_ref(), block) {
                (Some(head), 0) => return prose_head(*head, source.text(), open, columns),
                (Some(_), block) => block - 1,
                (None, block) => block,
            };
            finish(source, doc);
            let base = if *head == Some(Head::Thinking) { Role::Thinking } else { Role::Text };
            let Some(of) = doc.blocks().get(block) else { return Vec::new() };
            let known = |line: u32| match of.kind {
                markdown::Kind::Code { first, .. } => colours.line((id, first), line),
                _ => None,
            };
            if of.inside > 0 && !open {
                return Vec::new();
            }
            let rows = markdown::lay(doc, source.text(), of, columns, base, &known);
            if open { markdown::unfolded(of, rows) } else { rows }
        }
        Body::Call(call) => match block {
            0 => call_head(call, columns),
            1 => call_notes(call, open, columns),
            block => {
                let known = |stream, line| colours.of_diff(id, stream, line);
                call_body(call, block - CALL_BLOCKS, (columns, shape), &known)
            }
        },
        Body::Ended(ended) => match block {
            0 => words((if open { "▾ " } else { "▸ " }, ended.role), &ended.text, None, columns),
            block => ended_body(ended, block - 1, columns),
        },
        Body::Report(report) => report.lay(block, open, columns),
        Body::Words { role, text, hint } => {
            let mark = match role {
                Role::Error => "✗ ",
                Role::Warning => "! ",
                _ => "· ",
            };
            words((mark, *role), text, *hint, columns)
        }
    }
}

pub(super) fn piece(text: impl Into<String>, look: impl Into<Look>) -> Piece {
    (text.into(), look.into())
}

fn user(body: &EntryBody, pieces: &Pieces, block: usize, columns: usize) -> Vec<Row> {
    let EntryBody::User(message) = body else { return Vec::new() };
    let mut out = Wrapper::new(columns);
    let mark = if block == 0 { "❯ " } else { "  " };
    let prefix = Prefix { first: vec![piece(mark, Role::Accent)], rest: vec![piece("  ", Role::Text)] };
    if block < pieces.len() {
        plain::lay(&mut out, &prefix, pieces.text(&message.text, block), Role::User, Reading::Prose);
        return out.rows();
    }
    for image in &message.images {
        let name = if image.name.is_empty() { image.media_type.as_str() } else { image.name.as_str() };
        out.line(&prefix.hanging(), &[piece(format!("image: {}", tame(name)), Role::Dim)], Break::Words);
    }
    let how = match message.delivery {
        Delivery::Sent => return out.rows(),
        Delivery::Steered => "sent while the model worked",
        Delivery::Queued => "queued until the turn had ended",
    };
    out.line(&prefix.hanging(), &[piece(how, Role::Dim)], Break::Words);
    out.rows()
}

fn prose_head(head: Head, text: &str, open: bool, columns: usize) -> Vec<Row> {
    let mut out = Wrapper::new(columns);
    let mark = if open { "▾ " } else { "▸ " };
    let (name, rest, role) = match head {
        Head::Thinking => ("thinking", one_line(text), Role::Thinking),
        Head::Compaction(before, after) => {
            let words = format!("{} → {} tokens", count(before), count(after));
            ("older messages were summarised", words, Role::Dim)
        }
    };
    let rest = if open && head == Head::Thinking { String::new() } else { rest };
    let room = columns.saturating_sub(name.len() + 4);
    let line = [
        piece(mark, Role::Accent),
        piece(name, Look::from(role).with(STRONG)),
        piece(format!("  {}", ellipsis(&tame(&rest), room)), role),
    ];
    let fitting: &[Piece] = if room < 8 { &line[..2] } else { &line };
    out.whole(fitting, 0);
    out.rows()
}

/// A number as people read it: `950`, `12.3K`, `1.5M`.
pub fn count(number: u64) -> String {
    let short = |unit: u64, name: &str| {
        let tenths = number / (unit / 10);
        if tenths.is_multiple_of(10) {
            format!("{}{name}", tenths / 10)
        } else {
            format!("{}.{}{name}", tenths / 10, tenths % 10)
        }
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => short(1_000, "K"),
        1_000_000.. => short(1_000_000, "M"),
    }
}

/// The row of a call without its state, which `view` draws over its end.
fn call_head(call: &Call, columns: usize) -> Vec<Row> {
    let mut out = Wrapper::new(columns);
    let title = match call.settled().map(|settle| &settle.details) {
        Some(Details::Todo { items }) => progress(items),
        Some(_) if call.tool == "spawn" => spawned(call),
        Some(_) | None => tame(&call.title).into_owned(),
    };
    // a command of the person's own is marked as it was written
    let own = matches!(call.wire_id.as_str(), "!" | "!!");
    let (name, role) = if own { (&call.wire_id, Role::User) } else { (&call.tool, Role::Tool) };
    let tool = format!("{:<6} ", tame(name));
    let indent = if columns < 24 { "" } else { INDENT };
    out.whole(&[piece(indent, Role::Text), piece(tool, role), piece(title, Role::Text)], indent.len() as u32);
    out.rows()
}

/// Which agent was asked for, and how it stands: `lexer  isolated · 214 files · cloned`.
fn spawned(call: &Call) -> String {
    let said = call.settled().and_then(|settle| settle.output.lines().next()).unwrap_or_default();
    match said.split_once(" works: ") {
        Some((name, how)) => tame(&format!("{name}  {how}")).into_owned(),
        None => tame(&call.title).into_owned(),
    }
}

/// What is said of a call also when it is folded; when open, its command in full.
fn call_notes(call: &Call, open: bool, columns: usize) -> Vec<Row> {
    let mut out = Wrapper::new(columns);
    let prefix = Prefix { first: vec![piece("    ", Role::Dim)], rest: vec![piece("    ", Role::Dim)] };
    let note = |out: &mut Wrapper, role: Role, text: &str| {
        out.line(&prefix, &[piece(tame(text).into_owned(), role)], Break::Words);
    };
    if open && let Some(command) = call.command() {
        let mut before = Prefix { first: vec![piece("  $ ", Role::Accent)], rest: prefix.rest.clone() };
        for line in command.lines() {
            let text = crate::ui::widget::text::visible(line).into_owned();
            out.line(&before, &[piece(text, Role::Code)], Break::Anywhere);
            before = before.hanging();
        }
    }
    if call.wire_id == "!!" {
        note(&mut out, Role::Dim, "not shown to the model");
    }
    if call.progress.as_ref().is_some_and(|progress| progress.asking) {
        note(&mut out, Role::Warning, "waits for your approval");
    }
    let Some(settle) = call.settled() else {
        for warning in call.progress.iter().flat_map(|progress| &progress.warnings) {
            note(&mut out, Role::Warning, warning);
        }
        return out.rows();
    };
    if !open && matches!(settle.status, CallStatus::Error | CallStatus::Refused) {
        let line = last_words(settle);
        if !line.is_empty() {
            let text = ellipsis(&line, columns.saturating_sub(4).max(8)).into_owned();
            note(&mut out, Role::Error, &text);
        }
    }
    for warning in &settle.warnings {
        note(&mut out, Role::Warning, warning);
    }
    if let Details::Command { survivors, .. } = &settle.details {
        for survivor in survivors {
            note(&mut out, Role::Error, &format!("still runs: {survivor}"));
        }
    }
    out.rows()
}

/// The line of a failed call that says most: of a command's output the last, else the first.
fn last_words(settle: &CallSettle) -> String {
    let mut said = settle.output.lines().filter(|line| !line.trim().is_empty());
    let line = match &settle.details {
        // remarks in brackets say how it ended, which its row says too
        Details::Command { .. } => said.rfind(|line| !(line.starts_with('[') && line.ends_with(']'))),
        Details::None | Details::Diff { .. } | Details::Todo { .. } | Details::Agents { .. } => said.next(),
    };
    one_line(&output_line(line.unwrap_or_default()))
}

fn body_blocks(call: &mut Call) -> usize {
    match call.settled().map(|settle| &settle.details) {
        Some(Details::Todo { .. }) => 1,
        Some(Details::Diff { diff, .. }) if !diff.is_empty() => {
            if call.diff.is_none() {
                call.diff = Some(Diff::read(call.shown()));
            }
            call.diff.as_ref().map_or(0, Diff::pieces)
        }
        Some(Details::None | Details::Diff { .. } | Details::Command { .. } | Details::Agents { .. })
        | None => {
            if call.pieces.is_none() {
                call.pieces = Some(Pieces::of(call.shown()));
            }
            call.pieces.as_ref().map_or(0, Pieces::len)
        }
    }
}

fn call_body(
    call: &mut Call,
    block: usize,
    (columns, shape): (usize, Shape),
    colours: diff::Colours<'_>,
) -> Vec<Row> {
    let count = body_blocks(call);
    if block >= count {
        return footer(call, columns);
    }
    if let Some(Details::Todo { items }) = call.settled().map(|settle| &settle.details) {
        return todo(items, columns);
    }
    if let Some(diff) = &call.diff {
        let mut rows = diff.lay(call.shown(), block, diff_columns(columns), shape, colours);
        if columns > 2 * DIFF_INDENT.len() {
            rows.iter_mut().for_each(|row| indent(row, DIFF_INDENT));
        }
        return rows;
    }
    let Some(pieces) = &call.pieces else { return Vec::new() };
    let text = pieces.text(call.shown(), block);
    if text.is_empty() {
        return Vec::new();
    }
    output(text, columns)
}

fn indent(row: &mut Row, by: &str) {
    let len = by.len() as u32;
    row.text.insert_str(0, by);
    row.runs.iter_mut().for_each(|(end, _)| *end += len);
    row.runs.insert(0, (len, Look::default()));
    row.indent += len;
}

fn footer(call: &Call, columns: usize) -> Vec<Row> {
    let mut out = Wrapper::new(columns);
    let prefix = Prefix { first: vec![piece("    ", Role::Dim)], rest: vec![piece("    ", Role::Dim)] };
    if let Some(settle) = call.settled() {
        if let Some(path) = &settle.artifact {
            let gone = match &call.whole {
                Some((text, size)) => size.saturating_sub(text.len() as u64),
                None => settle.dropped,
            };
            let path = path.to_string_lossy();
            let text = match gone {
                0 => format!("all of it is in {}", tame(&path)),
                gone => format!("{} bytes more in {}", count(gone), tame(&path)),
            };
            out.line(&prefix, &[piece(text, Role::Accent)], Break::Words);
        }
        for image in &settle.images {
            out.line(&prefix, &[piece(format!("image: {}", tame(&image.name)), Role::Dim)], Break::Words);
        }
    }
    out.rows()
}

/// How far a list of things to do has come.
fn progress(items: &[TodoItem]) -> String {
    let done = items.iter().filter(|item| item.state == TodoState::Done).count();
    format!("{done} of {} done", items.len())
}

fn todo(items: &[TodoItem], columns: usize) -> Vec<Row> {
    let mut out = Wrapper::new(columns);
    for item in items {
        let (mark, look) = match item.state {
            TodoState::Open => ("☐ ", Look::from(Role::Text)),
            TodoState::Active => ("▸ ", Look::from(Role::Accent).with(STRONG)),
            TodoState::Done => ("☑ ", Look::from(Role::Dim).with(STRIKE)),
        };
        let first = vec![piece("    ", Role::Text), piece(mark, Role::Accent)];
        let prefix = Prefix { first, rest: vec![piece("      ", Role::Text)] };
        out.line(&prefix, &[piece(tame(&item.text).into_owned(), look)], Break::Words);
    }
    out.rows()
}

/// What a job's end opens to: its last lines, and the file with all of its output.
fn ended_body(ended: &mut Ended, block: usize, columns: usize) -> Vec<Row> {
    let last = ended.last().to_owned();
    let pieces = ended.pieces();
    if block < pieces.len() {
        let text = pieces.text(&last, block);
        return if text.is_empty() { Vec::new() } else { output(text, columns) };
    }
    let text = match (&ended.output, last.is_empty()) {
        (Some(path), _) => format!("all of it is in {}", tame(&path.to_string_lossy())),
        (None, true) => "it printed nothing".to_owned(),
        (None, false) => return Vec::new(),
    };
    let mut out = Wrapper::new(columns);
    let prefix = Prefix { first: vec![piece("    ", Role::Dim)], rest: vec![piece("    ", Role::Dim)] };
    out.line(&prefix, &[piece(text, Role::Accent)], Break::Words);
    out.rows()
}

/// Rows of an output, indented.
fn output(text: &str, columns: usize) -> Vec<Row> {
    let mut out = Wrapper::new(columns);
    let prefix = Prefix { first: vec![piece("    ", Role::Dim)], rest: vec![piece("    ", Role::Dim)] };
    plain::lay(&mut out, &prefix, text, Role::Dim, Reading::Output);
    out.rows()
}

/// A line of words behind a mark.
pub(super) fn words(
    (mark, role): (&str, Role),
    text: &str,
    hint: Option<(&str, &str)>,
    columns: usize,
) -> Vec<Row> {
    let mut out = Wrapper::new(columns);
    let mut prefix = Prefix { first: vec![piece(mark, role)], rest: vec![piece("  ", role)] };
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let mut pieces = vec![piece(tame(line).into_owned(), role)];
        if let (None, Some((key, what))) = (lines.peek(), hint) {
            pieces.push(piece(" · ", Role::Dim));
            pieces.push(piece(key, Role::Key));
            pieces.push(piece(format!(" {what}"), Role::Dim));
        }
        out.line(&prefix, &pieces, Break::Words);
        prefix = prefix.hanging();
    }
    out.rows()
}
