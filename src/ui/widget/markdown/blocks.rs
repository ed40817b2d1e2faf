//! Which blocks a text has so far. The text itself stays with its owner; a `Doc` holds ranges of it.
//!
//! Deliberately not here: the rules (`machine`), and looks (`layout`).

use std::ops::Range;
use std::sync::Arc;

use super::line::Cursor;
use super::machine::Machine;
use super::unread::Unread;

/// Longest piece of a line, and of a paragraph, that is laid out as one: bounds the cost of a token.
pub(super) const PIECE_MAX: usize = 16 * 1024;
/// Most bytes of a line that are marks of what it stands in, when it is taken as it was written.
const MARKS_MAX: usize = 400;
/// Bytes that must follow before a long line is cut, so that the cut depends on the text alone.
const AHEAD: usize = 64;

/// The mark of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A bullet.
    Bullet,
    /// A number.
    Number(u64),
    /// Something to do: done or not.
    Task(bool),
}

/// What a block stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// A quote.
    Quote,
    /// A list item.
    Item {
        /// Columns of the source that its content is indented by.
        indent: u16,
        /// Its mark.
        mark: Mark,
    },
    /// A note, with its label as a range of the text.
    Note {
        /// The label.
        label: (u32, u32),
    },
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text that is wrapped.
    Paragraph,
    /// A heading of a level from 1 to 6.
    Heading(u8),
    /// A rule.
    Rule,
    /// Some lines of a block of code.
    Code {
        /// Its language, as a range of the text.
        lang: (u32, u32),
        /// The block that begins it: pieces of the same block of code share it.
        first: u32,
        /// The number of this piece's first line within it.
        line: u32,
    },
    /// Lines shown as they are.
    Literal,
    /// The summary of what can be folded: `<details>`.
    Fold,
    /// `</details>`: shows nothing.
    FoldEnd,
    /// Some rows of a table. The first of its blocks has the header and the delimiters too.
    Table {
        /// That block.
        first: u32,
        /// How wide the cells of each column are up to here.
        widths: Arc<[u16]>,
    },
    /// The end of a table whose end has not come, and how many of its rows were given out.
    Held(u32),
    /// A list item without content.
    Empty,
    /// So many bytes that are not read yet.
    Unread(u32),
}

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// Its lines, as a range of `Doc::lines`.
    pub lines: Range<u32>,
    /// What it stands in, outermost first.
    pub place: Arc<[Container]>,
    /// The containers from this index on begin with this block.
    pub fresh: u8,
    /// Whether a blank row stands before it.
    pub gap: bool,
    /// In how much it stands that can be folded.
    pub inside: u8,
}

/// The blocks of a growing text.
#[derive(Clone, Debug, Default)]
pub struct Doc {
    pub(super) lines: Vec<(u32, u32)>,
    pub(super) blocks: Vec<Block>,
    settled: usize,
    settled_lines: usize,
    machine: Machine,
    eaten: usize,
    mid: bool,
    folds: bool,
    finished: bool,
    /// What stands before these blocks is being read.
    pub(super) unread: Option<Box<Unread>>,
}

impl Doc {
    /// The blocks so far.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }
    /// How many of them never change again.
    pub fn settled(&self) -> usize {
        self.settled
    }
    /// Whether the end was told.
    pub fn finished(&self) -> bool {
        self.finished
    }
    /// Whether nothing of a text was taken yet.
    pub(super) fn untouched(&self) -> bool {
        self.eaten == 0
    }
    /// Whether something in it can be folded.
    pub fn folds(&self) -> bool {
        self.folds
    }
    /// Bytes of the text that stand in whole lines: of an open block of code, only those are coloured.
    pub fn whole(&self) -> usize {
        self.eaten
    }
    /// The text of line `index` of a block.
    pub fn line<'a>(&self, src: &'a str, index: u32) -> &'a str {
        let (from, to) = self.lines[index as usize];
        &src[from as usize..to as usize]
    }
    /// The lines of a block.
    pub fn text<'a>(&'a self, src: &'a str, block: &Block) -> impl Iterator<Item = &'a str> + 'a {
        block.lines.clone().map(move |index| self.line(src, index))
    }
    /// The lines of a block as they were written, with the marks of what it stands in; none where they cannot be told
    /// from others: a piece of a line that is laid out in pieces. `around`: with the fences of a block of code.
    pub fn written<'a>(&self, src: &'a str, block: &Block, around: bool) -> Option<&'a str> {
        let lines = self.lines.get(block.lines.start as usize..block.lines.end as usize)?;
        let (first, last) = (lines.first()?.0 as usize, lines.last()?.1 as usize);
        let line_begin = |at: usize| src[..at].rfind('\n').map_or(0, |at| at + 1);
        let line_end = |at: usize| src[at..].find('\n').map_or(src.len(), |long| at + long);
        let (mut from, mut to) = (line_begin(first), line_end(last));
        if first - from > MARKS_MAX || to - last > MARKS_MAX {
            return None;
        }
        let fences = |line: &str| {
            let bare = line.trim_matches(|c: char| c.is_whitespace() || c == '>');
            bare.contains("```") || bare.contains("~~~")
        };
        if let (true, Kind::Code { .. }) = (around, &block.kind) {
            let before = from.checked_sub(1).map(line_begin).filter(|at| fences(&src[*at..from]));
            from = before.unwrap_or(from);
            let next = (to + 1).min(src.len());
            let after = Some(line_end(next)).filter(|end| fences(&src[next..*end]));
            to = after.unwrap_or(to);
        }
        Some(src[from..to].trim_end_matches('\r'))
    }
    /// Takes a text that begins with all that was given before. A text of 4 GiB or more is cut.
    pub fn grow(&mut self, src: &str) {
        if self.finished || src.len() > u32::MAX as usize {
            return;
        }
        self.read(src);
        let settled = (self.blocks.len(), self.lines.len());
        let partial = Cursor::new(src, self.eaten, src.len());
        let machine = self.machine.clone();
        let decided = self.mid || !partial.undecided();
        self.machine.growing();
        if decided && !partial.rest().is_empty() {
            self.feed(src, self.eaten, src.len());
        }
        self.machine.close(&mut self.lines, &mut self.blocks, src, true);
        self.folds = self.machine.folds();
        self.machine = machine;
        (self.settled, self.settled_lines) = settled;
    }
    /// Takes the whole lines of such a text. What is open at its end is not among the blocks.
    pub(super) fn read(&mut self, src: &str) {
        self.blocks.truncate(self.settled);
        self.lines.truncate(self.settled_lines);
        self.whole_lines(src);
        (self.settled, self.settled_lines) = (self.blocks.len(), self.lines.len());
    }
    /// The blocks of a text from a place on, behind one that says that what is before it is not read.
    pub(super) fn from(eaten: usize) -> Self {
        let kind = Kind::Unread(eaten as u32);
        let block = Block { kind, lines: 0..0, place: [].into(), fresh: 0, gap: false, inside: 0 };
        Self { blocks: vec![block], settled: 1, eaten, ..Self::default() }
    }
    /// The text is whole: its last block ends.
    pub fn finish(&mut self, src: &str) {
        if self.finished {
            return;
        }
        self.grow(src);
        self.blocks.truncate(self.settled);
        self.lines.truncate(self.settled_lines);
        if self.eaten < src.len() {
            self.feed(src, self.eaten, src.len());
        }
        self.machine.close(&mut self.lines, &mut self.blocks, src, false);
        self.folds = self.machine.folds();
        self.machine = Machine::default();
        self.settled = self.blocks.len();
        self.settled_lines = self.lines.len();
        self.lines.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.finished = true;
    }
    fn whole_lines(&mut self, src: &str) {
        loop {
            let rest = &src.as_bytes()[self.eaten..];
            let window = &rest[..rest.len().min(PIECE_MAX + AHEAD)];
            if let Some(len) = memchr::memchr(b'\n', window) {
                let to = self.eaten + len;
                self.feed(src, self.eaten, to);
                self.eaten = to + 1;
                self.mid = false;
            } else if rest.len() >= PIECE_MAX + AHEAD {
                let to = self.eaten + cut(&src[self.eaten..]);
                self.feed(src, self.eaten, to);
                self.eaten = to;
                self.mid = true;
            } else {
                return;
            }
        }
    }
    fn feed(&mut self, src: &str, from: usize, to: usize) {
        let to = if src[from..to].ends_with('\r') { to - 1 } else { to };
        let cursor = Cursor::new(src, from, to);
        if self.mid {
            self.machine.more(cursor, &mut self.lines, &mut self.blocks, src);
        } else {
            self.machine.line(cursor, &mut self.lines, &mut self.blocks, src);
        }
    }
}

/// Where a long line is cut: at a space if one is near, else between characters.
fn cut(rest: &str) -> usize {
    let mut limit = PIECE_MAX;
    while !rest.is_char_boundary(limit) {
        limit -= 1;
    }
    let near = limit.saturating_sub(1024);
    match rest.as_bytes()[near..limit].iter().rposition(|byte| *byte == b' ') {
        Some(space) => near + space + 1,
        None => limit,
    }
}
