//! The line machine: containers and the open leaf, after the algorithm of CommonMark, with long code,
//! lists and paragraphs given out in pieces; `rows` has the tables.
//!
//! Every line costs what its own length costs. A leaf is given out when it ends; code every
//! `CODE_PIECE` lines, a paragraph past `PIECE_MAX` bytes.

mod rows;

use std::sync::Arc;

use rows::OpenTable;

use super::blocks::{Block, Container, Kind, Mark, PIECE_MAX};
use super::html::{Fold, Html};
use super::line::{Cursor, Fence, Marker};

/// Lines of code, or of HTML, given out as one block.
const CODE_PIECE: u32 = 64;
/// Lines of a paragraph given out as one block.
const PARAGRAPH_LINES: u32 = 256;
/// Columns that the further lines of a note are indented by.
const NOTE_INDENT: usize = 4;
/// Deepest nesting; what is deeper is text.
const DEPTH_MAX: usize = 32;

/// What is open at the end of the line before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Leaf {
    #[default]
    None,
    Paragraph,
    Fence(OpenCode, FenceOf),
    Indented(OpenCode),
    Html(Html),
    Table(OpenTable),
}

/// A block of code that is open: its first block, and lines given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenCode {
    first: u32,
    line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FenceOf {
    mark: u8,
    len: usize,
    indent: usize,
    lang: (u32, u32),
}

impl FenceOf {
    fn fence(self) -> Fence {
        Fence { mark: self.mark, len: self.len, indent: self.indent, lang: self.lang }
    }
}

/// The last list at a depth, for the numbers of its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Listing {
    kind: u8,
    next: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Machine {
    stack: Vec<Container>,
    place: Option<Arc<[Container]>>,
    /// Containers of the stack whose beginning was given out.
    shown: usize,
    leaf: Leaf,
    from: u32,
    bytes: usize,
    blank: bool,
    gap: bool,
    lists: Vec<Option<Listing>>,
    /// What can be folded and is open here; and whether the open HTML is its head so far.
    inside: u8,
    head: bool,
    folds: bool,
    /// How wide the cells of the open table are: of all its rows, and of those that were given out.
    wide: Vec<u16>,
    safe: Arc<[u16]>,
    /// The line may go on: it decides nothing.
    partial: bool,
}

type Lines = Vec<(u32, u32)>;

/// What stands behind the containers of a line.
enum Rest {
    Nothing,
    Leaf,
    /// Words, whatever they look like.
    Text,
}

impl Machine {
    /// A whole line, or the first piece of a long one.
    pub fn line(&mut self, mut cur: Cursor<'_>, lines: &mut Lines, out: &mut Vec<Block>, src: &str) {
        let matched = self.matched(&mut cur);
        let all = matched == self.stack.len();
        if let (Leaf::Fence(code, fence), true) = (self.leaf, all) {
            return self.fence_line(cur, code, fence, lines, out);
        }
        if let (Leaf::Html(html), true) = (self.leaf, all)
            && (html != Html::Tag || !cur.blank())
        {
            return self.html_line(cur, html, lines, out);
        }
        if cur.blank() {
            return self.blank_line(cur, matched, lines, out);
        }
        if !all {
            let item = matches!(self.stack.get(matched), Some(Container::Item { .. }));
            if self.leaf == Leaf::Paragraph && !self.begins(&cur, item) {
                cur.take_indent();
                return self.add_text(cur, lines, out);
            }
            self.pop_to(matched, lines, out);
        }
        match self.containers(&mut cur, lines, out, src) {
            Rest::Nothing => {}
            Rest::Leaf => self.leaf_line(cur, lines, out, src),
            Rest::Text => {
                self.open(Leaf::Paragraph, lines);
                self.add_text(cur, lines, out);
            }
        }
    }
    /// A further piece of a long line.
    pub fn more(&mut self, cur: Cursor<'_>, lines: &mut Lines, out: &mut Vec<Block>, src: &str) {
        match self.leaf {
            Leaf::Fence(code, fence) => self.code_line(cur, code, Some(fence), lines, out),
            Leaf::Indented(code) => self.code_line(cur, code, None, lines, out),
            Leaf::Html(html) => self.html_line(cur, html, lines, out),
            Leaf::Table(_) => {
                lines.push((cur.pos as u32, cur.end as u32));
                self.measure(lines, src);
            }
            Leaf::None => {
                self.open(Leaf::Paragraph, lines);
                self.gap = false;
                self.add_text(cur, lines, out);
            }
            Leaf::Paragraph => self.add_text(cur, lines, out),
        }
    }
    /// What comes next may go on: no row of a table is given out for it.
    pub fn growing(&mut self) {
        self.partial = true;
    }
    /// Whether something that can be folded has begun.
    pub fn folds(&self) -> bool {
        self.folds
    }
    /// The text ends here, or (`tail`) may go on: gives out what is open.
    pub fn close(&mut self, lines: &mut Lines, out: &mut Vec<Block>, src: &str, tail: bool) {
        if tail {
            let table = match self.leaf {
                Leaf::Table(table) => Some(table.rows),
                _ => None,
            };
            let row = self.leaf == Leaf::Paragraph
                && lines.len() as u32 == self.from + 1
                && lines.last().is_some_and(|(from, to)| src[*from as usize..*to as usize].starts_with('|'));
            if table.is_some() || row {
                self.give(Kind::Held(table.unwrap_or(0)), self.from, lines.len() as u32, out);
                self.leaf = Leaf::None;
            }
        }
        self.pop_to(0, lines, out);
    }

    /// How many open containers the line goes on with; moves behind their marks.
    fn matched(&self, cur: &mut Cursor<'_>) -> usize {
        for (index, container) in self.stack.iter().enumerate() {
            let goes_on = match container {
                Container::Quote => cur.take_quote(),
                // an item that began with a blank line has no second one
                Container::Item { .. } if cur.blank() => self.shown > index || self.holds(index),
                Container::Note { .. } if cur.blank() => true,
                Container::Note { .. } => {
                    let fits = cur.indent().0 >= NOTE_INDENT;
                    if fits {
                        cur.take_columns(NOTE_INDENT);
                    }
                    fits
                }
                Container::Item { indent, .. } => {
                    let fits = cur.indent().0 >= usize::from(*indent);
                    if fits {
                        cur.take_columns(usize::from(*indent));
                    }
                    fits
                }
            };
            if !goes_on {
                return index;
            }
        }
        self.stack.len()
    }
    /// Whether the container has a leaf or a container in it that was not given out yet.
    fn holds(&self, index: usize) -> bool {
        self.leaf != Leaf::None || index + 1 < self.stack.len()
    }
    /// Whether the line begins a block that ends an open paragraph.
    fn begins(&self, cur: &Cursor<'_>, in_list: bool) -> bool {
        if cur.indent().0 > 3 {
            return false;
        }
        let mut quote = *cur;
        cur.rule()
            || cur.heading().is_some()
            || cur.fence().is_some()
            || cur.html(true).is_some()
            || quote.take_quote()
            || cur.note().is_some()
            || cur.marker().is_some_and(|marker| in_list || interrupts(&marker))
    }
    /// Opens the containers that begin in the line; what follows them.
    fn containers(
        &mut self,
        cur: &mut Cursor<'_>,
        lines: &mut Lines,
        out: &mut Vec<Block>,
        src: &str,
    ) -> Rest {
        while cur.indent().0 < 4 && self.stack.len() < DEPTH_MAX {
            if cur.take_quote() {
                self.end_leaf(lines, out);
                self.lists.truncate(self.stack.len());
                self.push(Container::Quote);
                continue;
            }
            if let Some((label, content)) = cur.note() {
                self.end_leaf(lines, out);
                self.lists.truncate(self.stack.len());
                self.push(Container::Note { label });
                cur.take_note(content);
                if cur.blank() {
                    return Rest::Nothing;
                }
                continue;
            }
            let text = self.leaf == Leaf::Paragraph;
            if cur.rule() || text && (cur.underline().is_some() || self.heads_table(cur, lines, src)) {
                break;
            }
            let Some(marker) = cur.marker() else { break };
            if text && !interrupts(&marker) {
                break;
            }
            self.end_leaf(lines, out);
            self.item(&marker);
            cur.take_marker(&marker);
            let task = self.task(cur);
            if cur.blank() {
                return Rest::Nothing;
            }
            if task {
                return Rest::Text;
            }
        }
        if self.leaf == Leaf::None && cur.blank() {
            return Rest::Nothing;
        }
        Rest::Leaf
    }
    fn item(&mut self, marker: &Marker) {
        let depth = self.stack.len();
        self.lists.resize(depth + 1, None);
        let before = self.lists[depth].filter(|list| list.kind == marker.kind);
        let number = before.map_or(marker.number.unwrap_or(0), |list| list.next);
        self.lists[depth] = Some(Listing { kind: marker.kind, next: number + 1 });
        let mark = if marker.number.is_some() { Mark::Number(number) } else { Mark::Bullet };
        self.push(Container::Item { indent: marker.indent as u16, mark });
    }
    /// Takes the box of a task off and makes it the item's mark; whether there was one.
    fn task(&mut self, cur: &mut Cursor<'_>) -> bool {
        let rest = cur.rest();
        if !rest.as_bytes().get(3).is_none_or(|after| matches!(after, b' ' | b'\t')) {
            return false;
        }
        let done = match rest.get(..3) {
            Some("[ ]") => false,
            Some("[x]" | "[X]") => true,
            Some(_) | None => return false,
        };
        if let Some(Container::Item { mark, .. }) = self.stack.last_mut() {
            *mark = Mark::Task(done);
            cur.pos += "[x] ".len().min(rest.len());
        }
        true
    }
    fn push(&mut self, container: Container) {
        if self.shown == self.stack.len() {
            self.gap = std::mem::take(&mut self.blank);
        }
        self.stack.push(container);
        self.place = None;
    }
    /// Ends the leaf and the containers from `depth` on. An item that had nothing shows its mark.
    fn pop_to(&mut self, depth: usize, lines: &mut Lines, out: &mut Vec<Block>) {
        self.end_leaf(lines, out);
        if self.shown < self.stack.len() && depth < self.stack.len() {
            let at = lines.len() as u32;
            self.give(Kind::Empty, at, at, out);
        }
        if depth < self.stack.len() {
            self.stack.truncate(depth);
            self.shown = self.shown.min(depth);
            self.place = None;
        }
    }
    fn blank_line(&mut self, cur: Cursor<'_>, matched: usize, lines: &mut Lines, out: &mut Vec<Block>) {
        if let Leaf::Indented(code) = self.leaf
            && matched == self.stack.len()
        {
            return self.code_line(cur, code, None, lines, out);
        }
        self.end_leaf(lines, out);
        if matched < self.stack.len() {
            self.pop_to(matched, lines, out);
        }
        self.blank = true;
    }
    fn fence_line(
        &mut self,
        mut cur: Cursor<'_>,
        code: OpenCode,
        fence: FenceOf,
        lines: &mut Lines,
        out: &mut Vec<Block>,
    ) {
        if cur.closes(&fence.fence()) {
            self.end_leaf(lines, out);
        } else {
            cur.take_columns(fence.indent.min(cur.indent().0));
            self.code_line(cur, code, Some(fence), lines, out);
        }
    }
    fn code_line(
        &mut self,
        cur: Cursor<'_>,
        code: OpenCode,
        fence: Option<FenceOf>,
        lines: &mut Lines,
        out: &mut Vec<Block>,
    ) {
        lines.push((cur.pos as u32, cur.end as u32));
        let count = lines.len() as u32 - self.from;
        if count >= CODE_PIECE {
            let lang = fence.map_or((0, 0), |fence| fence.lang);
            let kind = Kind::Code { lang, first: code.first, line: code.line };
            self.give(kind, self.from, lines.len() as u32, out);
            let code = OpenCode { line: code.line + count, ..code };
            self.leaf = fence.map_or(Leaf::Indented(code), |fence| Leaf::Fence(code, fence));
            self.from = lines.len() as u32;
        }
    }
    fn html_line(&mut self, cur: Cursor<'_>, html: Html, lines: &mut Lines, out: &mut Vec<Block>) {
        let fold = if html == Html::Tag { Fold::of(cur.rest()) } else { None };
        let head = self.head;
        if (head && fold != Some(Fold::Summary)) || matches!(fold, Some(Fold::Begins | Fold::Ends)) {
            self.give_html(lines, out);
        }
        lines.push((cur.pos as u32, cur.end as u32));
        match fold {
            Some(Fold::Begins) => {
                self.head = true;
                if cur.rest().to_ascii_lowercase().contains("<summary") {
                    self.give_html(lines, out);
                }
            }
            Some(Fold::Summary) if head => self.give_html(lines, out),
            Some(Fold::Ends) if self.inside > 0 => {
                self.give(Kind::FoldEnd, self.from, lines.len() as u32, out);
                self.from = lines.len() as u32;
                self.inside -= 1;
            }
            Some(Fold::Summary | Fold::Ends) | None => {}
        }
        if html.ends(cur.rest()) {
            self.end_leaf(lines, out);
        } else if lines.len() as u32 - self.from >= CODE_PIECE {
            self.give_html(lines, out);
        }
    }
    /// Gives the lines of HTML out that were not yet.
    fn give_html(&mut self, lines: &Lines, out: &mut Vec<Block>) {
        let (from, to) = (self.from, lines.len() as u32);
        self.from = to;
        if from < to && std::mem::take(&mut self.head) {
            self.give(Kind::Fold, from, to, out);
            self.inside = self.inside.saturating_add(1);
            self.folds = true;
        } else if from < to {
            self.give(Kind::Literal, from, to, out);
        }
    }
    fn leaf_line(&mut self, mut cur: Cursor<'_>, lines: &mut Lines, out: &mut Vec<Block>, src: &str) {
        let deep = cur.indent().0 >= 4;
        let text = self.leaf == Leaf::Paragraph;
        if deep && !text && !matches!(self.leaf, Leaf::Table(_)) {
            return self.indented(cur, lines, out);
        }
        if let Leaf::Indented(_) = self.leaf {
            self.end_leaf(lines, out);
        }
        if !deep {
            if text && cur.underline().is_some() && lines.len() as u32 > self.from {
                let level = cur.underline().unwrap_or(2);
                self.give(Kind::Heading(level), self.from, lines.len() as u32, out);
                self.leaf = Leaf::None;
                return;
            }
            if text && self.table(&cur, lines, out, src) {
                return;
            }
            if self.short_leaf(&cur, lines, out) {
                return;
            }
            if let Some(html) = cur.html(text) {
                self.end_leaf(lines, out);
                self.open(Leaf::Html(html), lines);
                return self.html_line(cur, html, lines, out);
            }
        }
        match self.leaf {
            Leaf::Table(open) => self.table_row(cur, open, lines, out, src),
            Leaf::None | Leaf::Paragraph | Leaf::Indented(_) | Leaf::Fence(..) | Leaf::Html(_) => {
                if self.leaf != Leaf::Paragraph {
                    self.open(Leaf::Paragraph, lines);
                }
                cur.take_indent();
                self.add_text(cur, lines, out);
            }
        }
    }
    /// Headings, rules and opening fences.
    fn short_leaf(&mut self, cur: &Cursor<'_>, lines: &mut Lines, out: &mut Vec<Block>) -> bool {
        let at = lines.len() as u32;
        if let Some((level, from, to)) = cur.heading() {
            self.end_leaf(lines, out);
            self.open(Leaf::None, lines);
            lines.push((from as u32, to as u32));
            self.give(Kind::Heading(level), at, at + 1, out);
        } else if let Some(fence) = cur.fence() {
            self.end_leaf(lines, out);
            let code = OpenCode { first: out.len() as u32, line: 0 };
            let Fence { mark, len, indent, lang } = fence;
            self.open(Leaf::Fence(code, FenceOf { mark, len, indent, lang }), lines);
        } else if cur.rule() {
            self.end_leaf(lines, out);
            self.open(Leaf::None, lines);
            self.give(Kind::Rule, at, at, out);
        } else {
            return false;
        }
        true
    }
    fn indented(&mut self, mut cur: Cursor<'_>, lines: &mut Lines, out: &mut Vec<Block>) {
        let code = match self.leaf {
            Leaf::Indented(code) => code,
            Leaf::None | Leaf::Paragraph | Leaf::Fence(..) | Leaf::Html(_) | Leaf::Table(_) => {
                self.end_leaf(lines, out);
                let code = OpenCode { first: out.len() as u32, line: 0 };
                self.open(Leaf::Indented(code), lines);
                code
            }
        };
        cur.take_columns(4);
        self.code_line(cur, code, None, lines, out);
    }
    fn add_text(&mut self, cur: Cursor<'_>, lines: &mut Lines, out: &mut Vec<Block>) {
        let long = cur.end - cur.pos;
        let count = lines.len() as u32 - self.from;
        if count > 0 && (self.bytes + long > PIECE_MAX || count >= PARAGRAPH_LINES) {
            self.end_leaf(lines, out);
            self.open(Leaf::Paragraph, lines);
            self.gap = false;
        }
        let mut cur = cur;
        if count == 0 {
            cur.take_indent();
        }
        self.bytes += long;
        lines.push((cur.pos as u32, cur.end as u32));
    }
    fn open(&mut self, leaf: Leaf, lines: &Lines) {
        let blank = std::mem::take(&mut self.blank);
        if self.shown == self.stack.len() {
            self.gap = blank;
            self.lists.truncate(self.stack.len());
        }
        self.leaf = leaf;
        self.from = lines.len() as u32;
        self.bytes = 0;
    }
    /// Gives the open leaf out.
    fn end_leaf(&mut self, lines: &mut Lines, out: &mut Vec<Block>) {
        let mut to = lines.len() as u32;
        let kind = match self.leaf {
            Leaf::None => return,
            Leaf::Paragraph => Kind::Paragraph,
            Leaf::Html(_) => {
                self.leaf = Leaf::None;
                return self.give_html(lines, out);
            }
            Leaf::Table(open) if open.rows > 0 && to == self.from => {
                self.leaf = Leaf::None;
                return;
            }
            Leaf::Table(open) => self.rows_of(open),
            Leaf::Fence(code, fence) => Kind::Code { lang: fence.lang, first: code.first, line: code.line },
            Leaf::Indented(code) => {
                while to > self.from && blank(lines[to as usize - 1]) {
                    to -= 1;
                    self.blank = true;
                }
                Kind::Code { lang: (0, 0), first: code.first, line: code.line }
            }
        };
        self.leaf = Leaf::None;
        let empty = to == self.from;
        let unseen = self.shown < self.stack.len();
        match kind {
            Kind::Code { line, .. } if empty && line > 0 => {}
            Kind::Paragraph if empty && !unseen => {}
            kind => self.give(kind, self.from, to, out),
        }
    }
    fn give(&mut self, kind: Kind, from: u32, to: u32, out: &mut Vec<Block>) {
        let place = self.place.get_or_insert_with(|| Arc::from(self.stack.as_slice())).clone();
        let fresh = self.shown.min(self.stack.len()) as u8;
        let gap = std::mem::take(&mut self.gap) && !out.is_empty();
        self.shown = self.stack.len();
        out.push(Block { kind, lines: from..to, place, fresh, gap, inside: self.inside });
    }
}

fn blank((from, to): (u32, u32)) -> bool {
    from == to
}

/// Whether an item with this mark may end a paragraph.
fn interrupts(marker: &Marker) -> bool {
    !marker.empty && marker.number.is_none_or(|number| number == 1)
}
